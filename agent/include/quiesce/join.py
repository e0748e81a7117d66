#!/usr/bin/env python3
"""Joins quiesce/bench.h and its parts into the one file that benchmark programs copy: to OUT, or to standard output.

usage: join.py [OUT]
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PART = re.compile(r'#include "quiesce/(\S+)"')
SYSTEM = re.compile(r"#include <\S+>")
GUARD = re.compile(r"\A(/\*.*?\*/\n)#ifndef (\w+)\n#define \2\n(.*)#endif\n\Z", re.S)


def lines_of(name, seen):
    """Lines of a header, those of its parts in the place of their first mention; `seen` are parts and system headers so far."""
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        text = f.read()
    if name.startswith("parts/"):
        guard = GUARD.match(text)
        if not guard:
            raise SystemExit(f"{name}: not a comment, a guard, and what it guards")
        text = guard[1] + guard[3]
    for line in text.splitlines():
        part = PART.match(line)
        what = part[1] if part else line
        if part and what not in seen:
            seen.add(what)
            yield ""
            yield from lines_of(what, seen)
        elif not part and (what not in seen or not SYSTEM.match(line)):
            if SYSTEM.match(line):
                seen.add(line)
            yield line


def main():
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines_of("bench.h", set())) + "\n")
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", encoding="utf-8") as f:
            f.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
