#!/usr/bin/env python3
"""Functions of at most 60 lines, .c files of at most 500, headers of at most 150: in production and in tests.

clang-format (tests/lint/format.py) puts the braces of a function, and of nothing else, alone in the first column,
so a function ends where they say. Where universal-ctags is installed, a function that it finds and these braces
do not is reported: nothing escapes by its layout.
"""
import os
import re
import shutil
import subprocess
import tempfile

from lintlib import is_c, run, without_comments

MAX_FUNCTION, MAX_SOURCE, MAX_HEADER = 60, 500, 150
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")


def functions_of(text):
    """(name, first line, lines) per function: from the first line of its declaration to its closing brace."""
    lines = without_comments(text, strings=True).split("\n")
    found, start = [], None
    for i, line in enumerate(lines):
        if line.rstrip() == "{":
            start = i
        elif line.rstrip() == "}" and start is not None:
            first = start
            while first > 0 and lines[first - 1].strip() and not re.match(r"[}#]|.*;\s*$", lines[first - 1]):
                first -= 1
            name = re.search(r"(\w+)\s*\(", ATTRIBUTE.sub("", " ".join(lines[first:start])))
            found.append((name[1] if name else "?", first + 1, i - first + 1))
            start = None
    return found


def seen_by_ctags(tree):
    """(path, name) per function, or None where universal-ctags is missing."""
    version = shutil.which("ctags") and subprocess.run(["ctags", "--version"], capture_output=True, text=True).stdout
    if not version or "Universal" not in version:
        return None
    with tempfile.TemporaryDirectory() as top:
        for path, text in tree.items():
            os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
            with open(os.path.join(top, path), "w", encoding="utf-8") as f:
                f.write(text)
        out = subprocess.run(["ctags", "-x", "--_xformat=%F\t%N", "--languages=C", "--langmap=C:.c.h", "--kinds-C=f",
                              "-L", "-"], cwd=top, input="\n".join(tree), capture_output=True, text=True, check=True)
    return {tuple(line.split("\t")) for line in out.stdout.splitlines()}


def check(tree):
    tree = {path: text for path, text in tree.items() if is_c(path)}
    problems, mine = [], set()
    for path, text in sorted(tree.items()):
        limit = MAX_HEADER if path.endswith(".h") else MAX_SOURCE
        count = text.count("\n")
        if count > limit:
            problems.append(f"{path}: {count} lines, at most {limit}: split it by meaning")
        for name, first, lines in functions_of(text):
            mine.add((path, name))
            if lines > MAX_FUNCTION:
                problems.append(f"{path}:{first}: {name}() has {lines} lines, at most {MAX_FUNCTION}")
    for path, name in sorted((seen_by_ctags(tree) or set()) - mine):
        if re.search(rf"^#\s*define {name}\(", tree[path], re.M):
            continue  # the use of a macro that stands for whole functions
        problems.append(f"{path}: {name}() is not laid out as a function: run ./dev fmt")
    return problems


def spread(tree):
    for what, wanted in (("production", lambda p: not p.startswith("tests/")), ("tests", lambda p: p.startswith("tests/"))):
        sizes = sorted(lines for path, text in tree.items() if is_c(path) and wanted(path)
                       for _, _, lines in functions_of(text))
        if sizes:
            at = lambda p: sizes[min(len(sizes) - 1, int(p * len(sizes)))]
            yield f"{what}: {len(sizes)} functions, median {at(.5)} lines, p90 {at(.9)}, longest {sizes[-1]}"


def body(lines):
    return "static int f(int a,\n             int b)\n{\n" + "    a++;\n" * (lines - 4) + "}\n"


BAD = [
    ("a function of 61 lines", {"daemon/base/a.c": "int x;\n\n" + body(61)}, "a.c:3: f() has 61 lines"),
    ("a long function in a test", {"tests/unit/a.c": body(70)}, "70 lines"),
    ("a source of 501 lines", {"agent/a.c": "int x;\n" * 501}, "501 lines, at most 500"),
    ("a header of 151 lines", {"proto/a.h": "int x;\n" * 151}, "151 lines, at most 150"),
]
if seen_by_ctags({}) is not None:
    BAD.append(("a function hidden by its layout", {"agent/a.c": "int f(void) {\n  return 1;\n  }\n"}, "run ./dev fmt"))
GOOD = [
    ("a function of 60 lines", {"a/a.c": body(60)}),
    ("a brace in a comment and in a string", {"a/a.c": "/*\n{\n*/\n" + body(59) + "const char *s = \"\\\n{\\\n\";\n"}),
    ("an attribute before the name and one with arguments of its own", {"a/a.c":
     "static int __attribute__((format(printf, 1, 2)))\nf(const char *s, ...)\n{\n    return 1;\n}\n\n"
     "__attribute__((no_sanitize(\"address\"))) static int g(void)\n{\n    return 1;\n}\n"}),
    ("a long table", {"a/a.c": "static const int t[] = {\n" + "    1,\n" * 90 + "};\n"}),
]

if __name__ == "__main__":
    run("functions, sources and headers are small", check, BAD, GOOD, spread)
