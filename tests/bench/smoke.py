#!/usr/bin/env python3
"""A benchmark still works: it ends well and prints the figure that it is there for. The figure itself is not looked at.

usage: smoke.py NAME FIGURE COMMAND...

FIGURE is a regular expression of what must be printed. The command gets QS_BENCH_SMOKE=1 and measures as little as it can.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from tap import Tap  # noqa: E402


def main(name, figure, *command):
    t = Tap()
    if command[0].endswith(".py"):
        command = (sys.executable, *command)
    out = subprocess.run(command, env=dict(os.environ, QS_BENCH_SMOKE="1"), stdin=subprocess.DEVNULL, capture_output=True,
                         text=True, check=False)
    t.equal(out.returncode, 0, f"{name} ends well")
    t.say(out.stderr.splitlines()[-20:])
    t.ok(re.search(figure, out.stdout), f"{name} prints its figure", [f"no `{figure}` in:", *out.stdout.splitlines()])
    return t.done()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
