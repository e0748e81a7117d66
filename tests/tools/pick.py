#!/usr/bin/env python3
"""Chooses meson tests: prints their names, and writes what tally.py needs to know about all tests of the build.

usage: pick.py BUILDDIR [--suite S]... [--no-suite S]... [--units DIR] [--out FILE] [NAME...]

A test is chosen when it has one of the suites, none of the unwanted ones, and, where names are given, when one of
them is its name or one of its suites. --units adds as suites the folders below DIR (tests/unit).
"""
import argparse
import json
import os
import subprocess
import sys


def suites_of(test):
    """Meson writes `project:suite`; the project's bare name is no suite."""
    return {suite.partition(":")[2] for suite in test["suite"]} - {""}


def chosen(test, suites, unwanted, names):
    own = suites_of(test)
    if suites and not own & suites or own & unwanted:
        return False
    return not names or test["name"] in names or bool(own & names)


def unknown(tests, names):
    """Names that are neither a test nor a suite: a spelling mistake must not pass as a success."""
    known = {test["name"] for test in tests}.union(*(suites_of(test) for test in tests))
    return sorted(names - known)


def main(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("builddir")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("--no-suite", action="append", default=[])
    parser.add_argument("--units")
    parser.add_argument("--out")
    args = parser.parse_intermixed_args(argv)
    listing = subprocess.run(["meson", "introspect", "--tests", args.builddir], check=True, capture_output=True)
    tests = json.loads(listing.stdout)
    suites = set(args.suite)
    if args.units:
        suites.update(entry.name for entry in os.scandir(args.units) if entry.is_dir())
    names = set(args.names)
    wrong = unknown(tests, names)
    if wrong:
        print(f"no test and no suite is called {', '.join(wrong)}", file=sys.stderr)
        return 2
    rows = [{"name": t["name"], "cmd": t["cmd"], "protocol": t["protocol"],
             "wanted": chosen(t, suites, set(args.no_suite), names)} for t in tests]
    if args.out:
        with open(args.out, "w", encoding="utf-8") as f:
            json.dump(rows, f, indent=1)
    for name in sorted({row["name"] for row in rows if row["wanted"]}):
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
