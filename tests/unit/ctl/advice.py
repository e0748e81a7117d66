#!/usr/bin/env python3
"""Advice that a program gives is accepted by its own parser: every option named in a text of the sources, every `quiesce ...` between
backticks, and every command line in the golden pages.

usage: advice.py QUIESCE QUIESCED AGENT SOURCE_ROOT
"""
import glob
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "tools"))
from tap import Tap  # noqa: E402

QUIESCE, QUIESCED, AGENT, ROOT = sys.argv[1:5]
FOLDERS = ("ctl", "api", "base", "config", "device", "farm", "link", "report", "store", "formats")
# Options of other programs, which the texts show as examples.
FOREIGN = {"--fast", "--stdio", "--strict", "--its-options", "--norc", "--benchmark_format", "--txt", "--export-", "--activity-clear-task"}
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def tell(program, *argv):
    return subprocess.run([program, *argv], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "COLUMNS": "200"}, stdin=subprocess.DEVNULL)


def texts():
    """(file, text) of every string literal; neighbours are one."""
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(ROOT, "daemon", folder, "**", "*.[ch]"), recursive=True) +
                           glob.glob(os.path.join(ROOT, "daemon", folder, "*.def"))):
            with open(path, encoding="utf-8") as f:
                source = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
            source = re.sub(r'"\s*(?:PRI[diux]64)\s*"', "7", re.sub(r'"\s*\n\s*"', "", source))
            for match in LITERAL.finditer(source):
                yield os.path.relpath(path, ROOT), match.group(1).replace("\\n", "\n").replace('\\"', '"')


def known_options():
    found, commands = set(), re.findall(r"^  ([a-z]+) ", tell(QUIESCE, "--help").stdout, re.M)
    pages = [tell(QUIESCE, command, "--help").stdout for command in commands if command != "quiesce"]
    for page in pages + [tell(QUIESCED, "--help").stdout, tell(AGENT, "--help").stdout]:
        found |= set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", page))
    return found, commands


def parsed(command_line):
    """Read by the parser up to --help, which does nothing."""
    lexer = shlex.shlex(command_line, posix=True, punctuation_chars="|>")
    lexer.whitespace_split = True
    words = []
    for word in lexer:
        if word in ("|", ">"):
            break
        words.append(word)
    cut = words.index("--") if "--" in words else len(words)
    told = tell(QUIESCE, *words[1:cut], "--help")
    return told.returncode == 0, told.stderr


def filled(text):
    """A format as it may come out."""
    text = re.sub(r"%\.?\*?[0-9]*l*[dus]", "7", text)
    return re.sub(r"\b(JOB|RUN|NAME|DEVICE|FILE|COMMAND)\b", "7", text)


def check_sources(t):
    known, commands = known_options()
    t.ok(len(known) > 60 and "run" in commands, f"the helps list options: {len(known)}")
    unknown, refused, seen = [], [], 0
    for path, text in texts():
        for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9_-]+", text):
            if option not in known | FOREIGN:
                unknown.append(f"{path}: {option}: {text[:80]}")
        for line in re.findall(r"`(quiesce [a-z][^`]*)`", text):
            seen += 1
            ok, why = parsed(filled(line))
            if not ok:
                refused.append(f"{path}: {line}: {why}")
    t.equal(unknown, [], "every option that a text names is one")
    t.equal(refused, [], "every command line between backticks is read")
    t.ok(seen > 5, f"there are such lines: {seen}")


def check_pages(t):
    refused, seen = [], 0
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "golden", "ctl", "*.utf8.txt"))):
        with open(path, encoding="utf-8") as f:
            page = re.sub(r"\s*\n\s+", " ", f.read())
        for option in re.findall(r"--runs \d+", page):
            seen += 1
            ok, why = parsed(f"quiesce run {option}")
            if not ok:
                refused.append(f"{path}: {option}: {why}")
    t.equal(refused, [], "what the pages advise is accepted")
    t.ok(seen > 3, f"the pages advise: {seen}")


def check_examples(t):
    """The examples of each help."""
    _, commands = known_options()
    refused = []
    for command in commands:
        page = tell(QUIESCE, command, "--help").stdout
        for line in re.findall(r"^  (quiesce .*)$", page.partition("\nExamples\n")[2], re.M):
            ok, why = parsed(line)
            if not ok:
                refused.append(f"{line}: {why}")
    t.equal(refused, [], "every example is read")


def main():
    t = Tap()
    check_sources(t)
    check_pages(t)
    check_examples(t)
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
