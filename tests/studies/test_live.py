#!/usr/bin/env python3
"""The studies' scripts with a real daemon and agent, as small as they can be: what a trial is, ended in the middle, gone on with, and reported.
Usage: test_live.py TOP BUILD KERNEL CAP_MS"""
import argparse
import collections
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TOP, BUILD, KERNEL, CAP_MS = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(TOP, "tests/tools"), HERE]

import kept  # noqa: E402
import trials  # noqa: E402
from tap import Tap  # noqa: E402

TRIALS, BOUND_S = 2, 240
CAP = f"cap of {int(CAP_MS) / 1000:g} s"
REACTIVE = [sys.executable, os.path.join(HERE, "reactive/reactive.py"), "--build", BUILD]
SMALL = ["--only", KERNEL, "--cap", f"{CAP_MS}ms", "--trials", str(TRIALS)]


def rows(folder, statement):
    with contextlib.closing(sqlite3.connect(f"file:{kept.database(folder)}?mode=ro", uri=True, timeout=20)) as db:
        return db.execute(statement).fetchall()


def done_jobs(folder):
    try:
        return [name for (name,) in rows(folder, "SELECT name FROM job WHERE state = 'done' ORDER BY id")]
    except sqlite3.OperationalError:
        return []


def reactive(*options):
    return subprocess.run([*REACTIVE, *options], capture_output=True, text=True, timeout=BOUND_S, check=False)


def broken_off(tap, folder):
    """The names of the jobs that were done when it was told to end."""
    with subprocess.Popen([*REACTIVE, "--out", folder, *SMALL], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as study:
        end = time.monotonic() + BOUND_S
        while len(done_jobs(folder)) < 2 and study.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        study.send_signal(signal.SIGTERM)
        said = study.communicate(timeout=BOUND_S)[1]
    done = done_jobs(folder)
    tap.ok("start it again to go on" in said and 2 <= len(done) < 6 * TRIALS, "a study ends when it is told to", [said, done])
    return done


def whole(tap, folder, before):
    told = reactive("--out", folder, *SMALL)
    tap.equal((told.returncode, told.stderr), (0, ""), "started again, it goes on to its end")
    names = done_jobs(folder)
    tap.ok(names[:len(before)] == before and len(set(names)) == len(names) == 6 * TRIALS, "what was done is not done again", [before, names])
    with kept.runs_of(folder) as runs:
        found = collections.defaultdict(list)
        for run in runs:
            found[run.case].append(run)
        by = {case.partition(" | ")[2]: of for case, of in found.items()}
        tap.ok(len(by) == 6 and all(sorted(run.number for run in of) == list(range(TRIALS)) for of in by.values()), "every rule has every repetition", [str(found)])
        tap.equal([(r.stop_reason, len(r.kept())) for r in by["fixed 10"]], [("fixed(10)", 10)] * TRIALS, "ten iterations, and why")
        tap.equal([(r.stop_reason, len(r.kept())) for r in by["fixed 10000"] + by["recorded"]], [("fixed(10000)", 10000)] * 2 * TRIALS, "ten thousand")
        # A busy machine may take longer than that for its last window, which the rule may then judge.
        early = [(r.stop_reason, r.measured_ns) for r in by["strictness 2, 1 s"] if r.stop_reason != CAP and r.measured_ns < 1e9]
        tap.equal(early, [], "a first phase of a second does not fit under this cap")
        rules = [r.stop_reason for r in by["reactive"] + by["cube root"]]
        tap.ok(all(reason.startswith(("futhark(", CAP)) for reason in rules), "the others stop by themselves or there", rules)
        least = [r.measured_ns for r in by["reactive"] + by["cube root"]]
        tap.ok(min(least) >= 1e6 * min(500, int(CAP_MS)), "and not before the first phase or the cap is over", least)
        tap.ok(all(r.elapsed_ns > r.measured_ns > 0 for of in by.values() for r in of), "times are the database's")
    tap.equal(rows(folder, "SELECT DISTINCT evals FROM window"), [(1,)], "each iteration is one evaluation")
    return told.stdout


def reported(tap, folder, text):
    series = os.path.join(folder, "series.txt")
    told = reactive("--out", folder, *SMALL, "--report", "--series", series)
    tap.equal((told.returncode, told.stdout), (0, text), "the report is the same when it is asked for again")
    detail = [line for line in text.splitlines() if line.startswith(KERNEL)]
    tap.ok(len(detail) == 5 and all("nan" not in line for line in detail), "it has a row for each rule", [text])
    with open(series, encoding="utf-8") as f:
        tap.equal([len(line.split()) for line in f], [10000] * 2 * TRIALS, "and writes the runs of 10 000")
    other = reactive("--out", folder, *SMALL, "--seed", "2")
    tap.ok(other.returncode != 0 and "belongs to another study" in other.stderr, "a folder belongs to one seed", [other.stderr])


def lines(tap, folder):
    """The other studies keep lines of JSON."""
    args = argparse.Namespace(build=BUILD, out=os.path.join(folder, "lines.jsonl"), trials=2, seed=1, minutes=None)
    done = []
    trials.measure(args, [trials.Series("sumindex", "tests/studies/minimum_work", 200, benchmark="sumindex", repeat=1)], done)
    with open(args.out, encoding="utf-8") as f:
        tap.equal([json.loads(line) for line in f], done, "each trial is a line of JSON")
    tap.equal([len(line["ns"]) for line in done], [200, 200], "of all its iterations")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "reactive")
        os.mkdir(out)
        reported(tap, out, whole(tap, out, broken_off(tap, out)))
        lines(tap, folder)
    return tap.done()


sys.exit(main())
