#!/usr/bin/env python3
"""quiesce/bench.h under every compiler, language and width that is here: no warning, one layout, programs that run; and the
example of its README. It is the joined file, copied to where none of its parts is; the parts in the tree work as well.

usage: check_compile.py ROOT JOINED quick|full
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import compilers

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
from tap import Tap  # noqa: E402

RUNS = [(["probe.c"], ["--benchmark", "all", "--iterations", "2"], "all: 2 iterations"),
        (["add.c"], ["--iterations", "2", "--evals", "1"], "add: 2 iterations of 1 evaluation,")]


def check_layout(t, mode, here, include, top, seen):
    out = os.path.join(top, "layout")
    wrong = compilers.build(mode, os.path.join(here, "layout.c"), out, include)
    if wrong:
        t.ok(False, f"{mode[0]}: the layout compiles without a warning", wrong)
        return
    got = subprocess.run([out], capture_output=True, text=True, check=True).stdout
    seen.setdefault(got, mode[0])
    t.ok(len(seen) == 1, f"{mode[0]}: one layout", [f"{name}\n{text}" for text, name in seen.items()])


def check_program(t, mode, sources, include, top):
    """Each compiler's first mode is built without optimisation as well: that finds other warnings."""
    first = mode[3] == [f"-std={'c99' if mode[2] == 'c' else 'c++11'}"]
    for optimise in ("-O0", "-O2") if first else ("-O2",):
        for (name,), args, words in RUNS:
            out = os.path.join(top, "program")
            wrong = compilers.build(mode, sources[name], out, include, optimise)
            got = None if wrong else subprocess.run([out, *args], capture_output=True, text=True)
            t.ok(not wrong and got.returncode == 0 and words in got.stdout, f"{mode[0]} {optimise}: {name} compiles without a warning and runs",
                 wrong or [got.stdout, got.stderr])


def check_order(t, include, top):
    """Strict C hides the clock from a program that includes another header first: said in words."""
    source = os.path.join(top, "order.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write('#include <stdio.h>\n#include "quiesce/bench.h"\nint main(void) { return 0; }\n')
    got = subprocess.run(["gcc", "-std=c99", "-fsyntax-only", f"-I{include}", source], capture_output=True, text=True)
    t.ok(got.returncode and "include quiesce/bench.h before all others" in got.stderr, "a wrong order under -std=c99 is explained", [got.stderr])


def copied(joined, top):
    """A folder to include from that holds the one file and nothing else."""
    include = os.path.join(top, "include")
    os.makedirs(os.path.join(include, "quiesce"))
    shutil.copy(joined, os.path.join(include, "quiesce", "bench.h"))
    return include


def check_source(t, root, joined, sources, top):
    """For those who have the source tree: its parts, and the one file without a build."""
    with open(joined, encoding="utf-8") as f:
        text = f.read()
    mode = next(compilers.modes(True))
    check_program(t, ("parts, " + mode[0], *mode[1:]), sources, os.path.join(root, "agent", "include"), top)
    got = subprocess.run([os.path.join(root, "dev"), "bench.h"], capture_output=True, text=True)
    t.ok(got.stdout == text, "./dev bench.h writes what the build joins", [got.stderr])
    t.ok("quiesce/parts" not in text, "the one file names no part")


def example(root, top):
    with open(os.path.join(root, "agent", "include", "quiesce", "README.md"), encoding="utf-8") as f:
        text = re.search(r"```c\n(.*?)```", f.read(), re.S)[1]
    path = os.path.join(top, "add.c")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path, text.count("\n")


def main():
    (root, joined, depth), here, t, seen = sys.argv[1:], os.path.dirname(os.path.abspath(__file__)), Tap(), {}
    with tempfile.TemporaryDirectory() as top:
        include = copied(joined, top)
        path, lines = example(root, top)
        sources = {"probe.c": os.path.join(here, "probe.c"), "add.c": path}
        t.ok(lines <= 18, "the README's example is short", [f"{lines} lines"])
        check_order(t, include, top)
        for mode in compilers.modes(depth == "quick"):
            if mode[4]:
                t.skip(mode[0], mode[4])
            else:
                check_layout(t, mode, here, include, top, seen)
                check_program(t, mode, sources, include, top)
        check_source(t, root, joined, sources, top)
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
