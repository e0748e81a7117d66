#!/usr/bin/env python3
"""quiesce/bench.h under every compiler, language and width that is here: no warning, one layout. Usage: check_compile.py ROOT"""
import os
import subprocess
import sys
import tempfile

import compilers

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
from tap import Tap  # noqa: E402


def check_layout(t, mode, here, include, top, seen):
    out = os.path.join(top, "layout")
    wrong = compilers.build(mode, os.path.join(here, "layout.c"), out, include)
    if wrong:
        t.ok(False, f"{mode[0]}: compiles without a warning", wrong)
        return
    got = subprocess.run([out], capture_output=True, text=True, check=True).stdout
    seen.setdefault(got, mode[0])
    t.ok(len(seen) == 1, f"{mode[0]}: compiles without a warning, the same layout", [f"{name}\n{text}" for text, name in seen.items()])


def main():
    root, here, t, seen = sys.argv[1], os.path.dirname(os.path.abspath(__file__)), Tap(), {}
    with tempfile.TemporaryDirectory() as top:
        for mode in compilers.modes():
            if mode[4]:
                t.skip(mode[0], mode[4])
            else:
                check_layout(t, mode, here, os.path.join(root, "agent", "include"), top, seen)
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
