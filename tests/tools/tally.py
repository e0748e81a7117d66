#!/usr/bin/env python3
"""Counts what meson ran, one by one, and prints the closing line of ./dev test.

usage: tally.py [--skip 'NAME: REASON']... [--fail 'NAME: REASON']... [LABEL=]BUILDDIR:PICKED ...

BUILDDIR holds meson-logs/testlog*.json, where * is a wrapper's name; who runs the tests removes older ones. PICKED is
the file that pick.py wrote about its tests. A test that was wanted and left no record counts as failed. A TAP test
counts case by case, any other as one. What a test prints proves nothing when the test itself ended badly: a crash, a
timeout, a missing plan or an exit code without a failed case adds one failed case.

The closing line is `N passed, N failed` or `N passed, N failed, N skipped`; the exit code is 1 where something failed
or where nothing ran.
"""
import glob
import json
import os
import re
import sys

TAIL_LINES = 30
CASE = re.compile(r"(not )?ok\b\s*(?:\d+)?\s*(?:- )?([^#]*)(?:#\s*(\S*)\s*(.*))?$")
EXCUSE = "TO" "DO"  # TAP's word for a failure that is expected; here nothing is excused
WHY = "# why: "
PLAN = re.compile(r"1\.\.(\d+)\s*(?:#\s*SKIP\S*\s*(.*))?$", re.I)


class Tally:
    def __init__(self):
        self.passed = 0
        self.failures = []  # (test, what, tail)
        self.skips = []     # (test, reason)

    def closing(self):
        text = f"{self.passed} passed, {len(self.failures)} failed"
        return text + (f", {len(self.skips)} skipped" if self.skips else "")

    def exit_code(self):
        return 1 if self.failures or self.passed == 0 else 0


def tail_of(record):
    """The end of what a test printed; its passed cases are left out, they explain nothing. A failed case often leaks as
    well: the report of that, on the other stream, leaves room for what the case said."""
    out, err = ([line for line in record.get(stream, "").splitlines() if line.strip() and not re.match(r"ok \d", line)]
                for stream in ("stdout", "stderr"))
    out = out[-max(TAIL_LINES // 2, TAIL_LINES - len(err)):]
    return out + err[len(out) - TAIL_LINES:]


def count_tap(tally, name, record):
    """Counts the cases of one TAP test; returns how many failed and whether the output is whole."""
    planned, seen, failed, why = None, 0, 0, None
    for line in record.get("stdout", "").splitlines():
        plan, case = PLAN.match(line), CASE.match(line)
        if line.startswith("Bail out!"):
            return failed, False
        if plan:
            planned = int(plan[1]) if planned is None else -1  # two plans are no plan
            if planned == 0:
                tally.skips.append((name, plan[2] or "no reason given"))
        elif line.startswith(WHY):
            why = line.removeprefix(WHY)
            continue
        elif case:
            seen += 1
            title = f"{name}: {case[2].strip() or seen}"
            directive = (case[3] or "").upper()
            # cmocka 1.1 writes a skipped case as "not ok N # SKIP name".
            if directive.startswith("SKIP"):
                # cmocka has no room for the reason: the test prints it just before.
                tally.skips.append((f"{name}: {case[4]}", why) if case[1] and why else (title, case[4] or "no reason given"))
            elif case[1] or directive == EXCUSE:
                failed += 1
                tally.failures.append((title, "failed", []))
            else:
                tally.passed += 1
            why = None
    return failed, planned == seen


def count_record(tally, name, protocol, record):
    result, code = record["result"], record.get("returncode") or 0
    if protocol == "tap":
        failed, whole = count_tap(tally, name, record)
        ended = {"TIMEOUT": "timeout", "INTERRUPT": "interrupted"}.get(result)
        if ended is None and (code != 0 and not failed or code < 0):
            ended = f"crashed with signal {-code}" if code < 0 else f"exit code {code} after its last case"
        if ended is None and not whole:
            ended = "its TAP output is not whole"
        if ended:
            tally.failures.append((name, ended, tail_of(record)))
        elif failed:  # the tail once, at the last failed case of this test
            title, what, _ = tally.failures[-1]
            tally.failures[-1] = (title, what, tail_of(record))
    elif result in ("OK", "EXPECTEDFAIL"):
        tally.passed += 1
    elif result == "SKIP":
        tally.skips.append((name, (tail_of(record) or ["no reason given"])[-1]))
    else:
        tally.failures.append((name, f"{result.lower()}, exit code {code}", tail_of(record)))


def same_test(row, record):
    """A wrapper (valgrind) stands in front of the command; equal names in two suites differ in their command."""
    return row["name"] == bare_name(record) and record["command"][-len(row["cmd"]):] == row["cmd"]


def bare_name(record):
    """Meson logs `project:suite / name` where a build has several suites, else `name`."""
    return record["name"].rpartition(" / ")[2]


def shown_name(record):
    return record["name"].rpartition(":")[2]


def count_build(tally, label, builddir, rows):
    """Adds what is on record in one build directory, and what is missing there. `rows` comes from pick.py."""
    records = []
    for log in glob.glob(os.path.join(glob.escape(builddir), "meson-logs", "testlog*.json")):
        with open(log, encoding="utf-8", errors="replace") as f:
            records += [json.loads(line) for line in f if line.strip()]
    for record in records:
        row = next((row for row in rows if same_test(row, record)), None)
        count_record(tally, label + shown_name(record), row["protocol"] if row else "exitcode", record)
    for row in rows:
        if row["wanted"] and not any(same_test(row, record) for record in records):
            tally.failures.append((label + row["name"], "left no record: it was not run to its end", []))


def read_rows(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def report(tally, out):
    for name, what, tail in tally.failures:
        print(f"FAILED {name}: {what}", file=out)
        for line in tail:
            print(f"    {line}", file=out)
    for name, reason in tally.skips:
        print(f"skipped {name}: {reason}", file=out)
    if tally.passed == 0 and not tally.failures:
        print("nothing ran", file=out)
    print(tally.closing(), file=out, flush=True)


def main(argv):
    tally = Tally()
    args = iter(argv)
    for arg in args:
        if arg in ("--skip", "--fail"):
            name, _, reason = next(args).partition(": ")
            if arg == "--skip":
                tally.skips.append((name, reason))
            else:
                tally.failures.append((name, reason, []))
            continue
        label, _, place = arg.rpartition("=")
        builddir, _, rows = place.rpartition(":")
        count_build(tally, f"{label}: " if label else "", builddir, read_rows(rows))
    report(tally, sys.stdout)
    return tally.exit_code()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
