#!/usr/bin/env python3
"""Breaks the code, one small change at a time, and says which breaks no test notices.

usage: mutate.py [--count N] [--seed S] [--least SHARE] [--build DIR] [--jobs N] FILE[:FIRST-LAST]...
       mutate.py [...] --change BASE      the lines that differ from a commit
       mutate.py [...] --all              any line of proto, agent and daemon
       mutate.py --list FILE...           what would be broken, and nothing more

A break flips a comparison or a connective (of a descriptor with 0, and of a lesser or greater one: turns it round), negates a condition,
drops a call, shifts a bound by one, turns a sum into a difference, or returns the opposite. The tree is copied to DIR (build-mutate), so
that the checkout stays as it is. Each break runs the unit tests of its folder, where those are content once more with sanitizers, and then
the whole programs. A break that does not compile, or that gcc or clang (asked about what nobody noticed) compile to the same optimized
code, is drawn again. What only a timeout noticed is told: it may have been the machine. Suites that fail without any break end the run. All
tests run in a process namespace of their own: a break may make the agent kill every process that it can see. Exit: 0 when at least SHARE
(0.95) of the breaks were noticed, 1 when not, 2 wrong usage, 3 nothing could be tried.

The tests that notice are found by folder, so nothing here has to be kept when tests or sources change.
"""
import argparse
import collections
import filecmp
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lint"))
from lintlib import C_TOKENS, line_of, list_files  # noqa: E402

TOP = os.path.abspath(os.path.join(HERE, "..", ".."))
Mutant = collections.namedtuple("Mutant", "path line begin end old new what")
SOURCES = re.compile(r"(proto|agent|daemon)/.*\.c$")
FLIPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
OF_DESCRIPTOR = re.compile(r"fd(?:\[\w+\])? (<|>=) 0\b")  # "is there one": 0 is standard input, which is never free
LESSER = re.compile(r"(\S+) ([<>]=?) (\S+) \? (?:\1 : \3|\3 : \1)(?!\w)")  # of equals either will do
QUIET = re.compile(r"qs_log|assert|static_assert|free\b|pthread_\w+_destroy")  # what only tells, or what a leak check alone could miss
HANG_S = 600
HUNG = 99
LATE = ", late"
NO_CELL = "no break is tried: this machine allows no process namespace (unshare --pid), and a break may kill every process that it can see"


def blanked(text):
    """The same length without comments, strings and preprocessor lines."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match[0])
    code = C_TOKENS.sub(spaces, text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", spaces, code, flags=re.M)


def bodies(code):
    """Begin and end of each function's body: its braces stand in the first column."""
    return [(m.start(), m.end()) for m in re.finditer(r"^\{.*?^\}$", code, re.M | re.S)
            if re.search(r"\)\s*$", code[:m.start()])]


def mutants_of(path, text):
    """All breaks of a source file."""
    code, found = blanked(text), []

    def add(begin, end, new, what):
        found.append(Mutant(path, line_of(text, begin), begin, end, text[begin:end], new, what))
    for low, high in bodies(code):
        body = code[low:high]

        def each(pattern, low=low, body=body):
            for m in re.finditer(pattern, body, re.M):
                yield m, low + m.start(1), low + m.end(1)
        asks = {low + m.start(1) for m in OF_DESCRIPTOR.finditer(body)} | {low + m.start(2) for m in LESSER.finditer(body)}
        for m, a, b in each(r" (<=?|>=?|==|!=|&&|\|\|) "):
            add(a, b, (OPPOSITE if a in asks else FLIPS)[m[1]], "comparison or connective")
        for m, a, b in each(r"^ +(?:\} else )?if \((.*)\)(?: \{)?$"):
            add(a, b, f"!({text[a:b]})", "condition")
        for m, a, b in each(r"^ +((?:\(void\))?([a-z]\w*(?:(?:->|\.)\w+)*)\(.*\);)$"):
            if not QUIET.match(m[2]) and m[2] not in ("return", "sizeof"):
                add(a, b, ";", "call")
        for m, a, b in each(r" [<>]=? (\d+)\b"):
            if low + m.start() + 1 not in asks:
                add(a, b, str(int(m[1]) + 1), "bound")
        for m, a, b in each(r"(?<=[\w)\]]) ([+-]) (?=[\w(])"):
            add(a, b, "-" if m[1] == "+" else "+", "sum")
        for m, a, b in each(r"\breturn (true|false);"):
            add(a, b, "false" if m[1] == "true" else "true", "result")
    return found


def suites_of(path):
    """The suites that should notice, in the order in which they are asked."""
    parts = path.split("/")
    if parts[0] == "daemon":
        return {"device": ["device", "farm"]}.get(parts[1], [parts[1]]) if len(parts) > 2 else ["main"]  # a farm drives whole devices
    return ["proto", "agent", "device"] if parts[0] == "proto" else ["agent"]


def cell():
    """The words before a command that may kill nobody outside; None where this machine allows none."""
    for mine in ([], ["--user", "--map-current-user"]):
        words = ["unshare", *mine, "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh"]  # sh reaps the orphans
        try:
            if subprocess.run([*words, "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0:
                return words
        except FileNotFoundError:
            pass
    return None


class Build:
    """A build of the copied sources, set up when it is asked first."""

    def __init__(self, top, folder, jobs, options, within=(), compiler=None):
        self.top, self.build, self.jobs, self.options, self.within = top, folder, jobs, options, list(within)
        self.env = {**os.environ, "CC": compiler} if compiler else None
        self.sound, self.failed, self.tests, self.objects = {}, [], None, {}
        self.only_late = False  # nothing but timeouts failed in the last suite that was asked

    def run(self, *command, wanted=False):
        try:
            done = subprocess.run(command, cwd=self.top, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG_S, check=False,
                                  env=self.env)
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(command, HUNG, "", "")
        if wanted and done.returncode:
            sys.exit(f"mutate: {' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def set_up(self):
        if self.tests is not None:
            return
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            self.run("meson", "setup", self.build, self.top, *self.options, wanted=True)
        self.run("ninja", "-C", self.build, "build.ninja", wanted=True)  # sources may have moved since it was set up
        listing = self.run("meson", "introspect", "--tests", self.build, wanted=True).stdout
        self.tests = [(t["name"], {s.partition(":")[2] for s in t["suite"]}) for t in json.loads(listing)]
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as f:
            for entry in json.load(f):
                if re.match(r"(proto|agent|daemon)/", entry["output"]):  # those of tests that compile it once more are left out
                    path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), self.top)
                    self.objects.setdefault(path, []).append(entry["output"])

    def compiled(self, path):
        """Its machine code, without what tells of lines; None where it does not compile."""
        self.set_up()
        targets = self.objects.get(path, [])
        if not targets or self.run("ninja", "-C", self.build, "-j", self.jobs, *targets).returncode:
            return None
        return [self.run("objdump", "-drs", "--no-show-raw-insn", os.path.join(self.build, t)).stdout.split("\n", 3)[-1] for t in targets]

    def passes(self, suite):
        """Whether all tests of the suite do; `failed` has those that did not."""
        self.set_up()
        names = [name for name, suites in self.tests if suite in suites and "slow" not in suites]
        built = self.run("ninja", "-C", self.build, "-j", self.jobs).returncode if suite == "e2e" else 0  # one of them installs everything
        self.only_late = built == HUNG
        if built:
            return False
        out = names and self.run(*self.within, "meson", "test", "-C", self.build, "--maxfail", "1", "--suite", suite, "--no-suite",
                                 "slow", "--num-processes", str(3 * int(self.jobs)))
        failed = re.findall(r"^ *\d+/\d+ (\S+ / \S+) +(FAIL|ERROR|TIMEOUT)", out.stdout, re.M) if names else []
        self.failed = [name for name, _ in failed]
        self.only_late = bool(names) and (out.returncode == HUNG or (bool(failed) and all(how == "TIMEOUT" for _, how in failed)))
        return not names or out.returncode == 0

    def must_be_sound(self, suite):
        """Ends the run where the suite does not pass without any break."""
        if suite not in self.sound:
            self.sound[suite] = self.passes(suite) or self.passes(suite)  # a busy machine may fail one once
        if not self.sound[suite]:
            sys.exit(f"mutate: suite {suite} fails without any break ({', '.join(self.failed) or 'it does not build'}): mend that first")


class Tree:
    """A copy of the sources and its builds: an optimized one, which is quick and shows what changes nothing, one with sanitizers, and one by
    another compiler, which shows what changes nothing although the first did not see it."""

    def __init__(self, folder, jobs, within):
        self.top = os.path.join(folder, "tree")
        for path in list_files(TOP):
            to = os.path.join(self.top, path)
            if not os.path.exists(to) or not filecmp.cmp(os.path.join(TOP, path), to, shallow=False):
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copyfile(os.path.join(TOP, path), to)
                shutil.copymode(os.path.join(TOP, path), to)
        self.quick = Build(self.top, os.path.join(folder, "quick"), jobs, ["-Dbuildtype=plain", "-Doptimization=2"], within)
        self.checked = Build(self.top, os.path.join(folder, "checked"), jobs,
                             ["-Dbuildtype=debugoptimized", "-Doptimization=1", "-Db_sanitize=address,undefined"], within)
        self.other = Build(self.top, os.path.join(folder, "other"), jobs, ["-Dbuildtype=plain", "-Doptimization=2"],
                           compiler="clang") if shutil.which("clang") else None

    def asked(self, suites, programs):
        """Who is asked, in this order."""
        return [(self.quick, s) for s in suites] + [(self.checked, s) for s in suites + programs]

    def write(self, path, text):
        with open(os.path.join(self.top, path), "w", encoding="utf-8") as f:
            f.write(text)

    def differ(self, build, path, texts):
        """Whether both compile, to different code; None where one does not compile."""
        code = []
        for text in texts:
            self.write(path, text)
            code.append(build.compiled(path))
        return None if None in code else code[0] != code[1]

    def try_one(self, mutant, suites, programs):
        """noticed by a suite (`SUITE, late` where that was a timeout), `nobody`, or `same` where there is nothing to notice."""
        path = mutant.path
        with open(os.path.join(self.top, path), encoding="utf-8") as f:
            text = f.read()
        broken = text[:mutant.begin] + mutant.new + text[mutant.end:]
        try:
            if not self.differ(self.quick, path, (text, broken)):
                return "same"
            for build, suite in self.asked(suites, programs):
                self.write(path, text)
                build.must_be_sound(suite)
                self.write(path, broken)
                if not build.passes(suite):
                    return suite + LATE * build.only_late
            return "same" if self.other and self.differ(self.other, path, (text, broken)) is False else "nobody"
        finally:
            self.write(path, text)


def lines_changed_since(base):
    """{path: [(first, last)]} of the working tree."""
    out = subprocess.run(["git", "-C", TOP, "diff", "-U0", base, "--", "*.c"], check=True, capture_output=True, text=True).stdout
    found, path = {}, None
    for line in out.splitlines():
        if line.startswith("+++ "):
            path = line[6:]
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            found.setdefault(path, []).append((first, first + count - 1))
    return found


def wanted_ranges(args):
    if args.change:
        return lines_changed_since(args.change)
    if args.all:
        return {path: None for path in list_files(TOP) if SOURCES.match(path)}
    ranges = {}
    for name in args.files:
        match = re.fullmatch(r"(.+?\.c)(?::(\d+)-(\d+))?", name)
        path = match and os.path.relpath(os.path.abspath(match[1]), TOP)
        if not match or not os.path.isfile(os.path.join(TOP, path)):
            sys.exit(f"mutate: {name} is no source file; --help lists the forms")
        if match[2] is None:
            ranges[path] = None
        elif ranges.get(path, ()) is not None:
            ranges.setdefault(path, []).append((int(match[2]), int(match[3])))
    return ranges


def candidates(ranges):
    found = []
    for path, lines in sorted(ranges.items()):
        if SOURCES.match(path) and os.path.isfile(os.path.join(TOP, path)):
            with open(os.path.join(TOP, path), encoding="utf-8") as f:
                found += [m for m in mutants_of(path, f.read()) if lines is None or any(a <= m.line <= b for a, b in lines)]
    return found


def said(m):
    return f"{m.path}:{m.line}: {m.what}: `{m.old}` -> `{m.new}`"


def try_all(tree, drawn, count, programs, tell=print):
    """Goes through the drawn breaks until `count` meant something; returns (break, who noticed)."""
    outcome = []
    for mutant in drawn:
        if len(outcome) == count:
            break
        who = tree.try_one(mutant, suites_of(mutant.path), programs)
        tell(f"  {'NOT NOTICED' if who == 'nobody' else 'no change' if who == 'same' else 'noticed by ' + who}: {said(mutant)}")
        if who != "same":
            outcome.append((mutant, who))
    return outcome


def interval(k, n):
    """Of a share of k in n, 95 % (Wilson 1927)."""
    z = 1.959964
    centre, half = (k + z * z / 2) / (n + z * z), z / (n + z * z) * math.sqrt(k * (n - k) / n + z * z / 4)
    return centre - half, centre + half


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--change")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=0.95)
    parser.add_argument("--build", default=os.path.join(TOP, "build-mutate"))
    parser.add_argument("--jobs", default=str(os.cpu_count()))
    parser.add_argument("--units-only", action="store_true", help="never ask the whole programs")
    args = parser.parse_args(argv)
    if not (args.files or args.change or args.all):
        parser.error("which lines? FILE..., --change BASE or --all")
    drawn = candidates(wanted_ranges(args))
    if args.list:
        print("\n".join(said(m) for m in drawn))
        return 0
    random.Random(args.seed).shuffle(drawn)
    print(f"{len(drawn)} breaks are possible; {min(args.count, len(drawn))} are tried, seed {args.seed}")
    sys.stdout.reconfigure(line_buffering=True)
    within = cell()
    if within is None:
        print(NO_CELL)
        return 3
    outcome = try_all(Tree(os.path.abspath(args.build), args.jobs, within), drawn, args.count, [] if args.units_only else ["e2e"])
    missed = [said(m) for m, who in outcome if who == "nobody"]
    if not outcome:
        print("no break could be tried")
        return 3
    noticed, late = len(outcome) - len(missed), sum(who.endswith(LATE) for _, who in outcome)
    low, high = interval(noticed, len(outcome))
    print(f"noticed {noticed} of {len(outcome)} ({100 * noticed / len(outcome):.0f} %, of all that are possible {100 * low:.0f} to {100 * high:.0f} %), "
          f"{late} of them by a timeout alone")
    for line in missed:
        print(f"  not noticed: {line}")
    return 0 if len(missed) <= (1 - args.least) * len(outcome) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
