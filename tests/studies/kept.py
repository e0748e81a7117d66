"""Studies whose results are the database of a quiesced of their own, which they keep: each trial is a job of one run, and its key says which trial
it is. Started again, a study goes on where it was; a run that was interrupted is repeated by the daemon itself."""
import contextlib
import json
import os
import signal
import sqlite3
import sys
import time

import trials

RUNS = """
SELECT j.name, r.id, r.stop_reason, r.warmup_n, r.ended_wall_ns - r.started_wall_ns,
  (SELECT sum(t.duration_ns) FROM window w JOIN iteration t ON t.window_id = w.id WHERE w.run_id = r.id AND w.phase = 1),
  (SELECT e.before FROM window w JOIN evidence e ON e.window_id = w.id JOIN sensor s ON s.id = e.sensor_id
   WHERE w.run_id = r.id AND s.name = 'load1_milli' ORDER BY w.first_seq LIMIT 1)
FROM job j JOIN run r ON r.job_id = j.id WHERE j.state = 'done' AND r.state = 'done' ORDER BY r.id"""
DURATIONS = """
SELECT t.duration_ns FROM window w JOIN iteration t ON t.window_id = w.id WHERE w.run_id = ? AND w.phase = 1 AND (w.taint | t.taint) = 0
ORDER BY w.first_seq, t.i"""


class Run:
    """What the database has of one; `kept` are the accepted iterations that count, in ns."""

    def __init__(self, db, row):
        name, self.id, self.stop_reason, self.warmup_n, self.elapsed_ns, self.measured_ns, load1_milli = row
        self.case, _, number = name.rpartition(" #")
        self.number, self.load1, self.db = int(number), (load1_milli or 0) / 1000, db

    def all(self):
        return [ns for (ns,) in self.db.execute(DURATIONS, (self.id,))]

    def kept(self):
        return self.all()[self.warmup_n:]


def database(folder):
    return os.path.join(folder, "own.db")


@contextlib.contextmanager
def runs_of(folder):
    """The runs that are there, in the order in which they were made."""
    if not os.path.exists(database(folder)):
        yield []
        return
    with contextlib.closing(sqlite3.connect(f"file:{database(folder)}?mode=ro", uri=True, timeout=20)) as db:
        yield [Run(db, row) for row in db.execute(RUNS)]


def measure(args, cases, done):
    """Sends what is not in `done`, one job after the other. A case has a name and job(build, seed)."""
    build = os.path.abspath(args.build)
    with trials.daemon_of(build, args.out) as own:
        end = time.monotonic() + args.minutes * 60 if args.minutes else float("inf")
        for case, number in trials.plan(cases, args.trials, args.seed, done):
            if time.monotonic() >= end:
                break
            name = f"{case.name} #{number}"
            job = case.job(build, trials.seed_of(args.seed, case.name, number))
            own.submit({"name": name, **job}, "--wait", "--key", name.replace(" ", "_"))


def check(name, folder, wanted):
    """A folder belongs to one study with one set of settings."""
    path = os.path.join(folder, "study.json")
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as f:
            json.dump(wanted, f)
    with open(path, encoding="utf-8") as f:
        found = json.load(f)
    if found != wanted:
        sys.exit(f"{name}: {folder} belongs to another study: {json.dumps(found)}")


def study(name, args, cases, report):
    """Measures what is left unless only the report is wanted, and prints report(settings, runs)."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(f"{name}: ended by SIGTERM; start it again to go on"))
    if not args.report:
        check(name, args.out, {"study": name, "version": 1, "seed": args.seed, "machine": trials.machine(),
                               "cases": {c.name: c.job("", 0) for c in cases}})
        with runs_of(args.out) as runs:
            done = [{"series": run.case, "trial": run.number} for run in runs]
        measure(args, cases, done)
    with runs_of(args.out) as runs:
        if not runs:
            sys.exit(f"{name}: there is no trial in {args.out}")
        with open(os.path.join(args.out, "study.json"), encoding="utf-8") as f:
            print(report(json.load(f), runs))
