#!/usr/bin/env python3
"""The analyses of the studies of harness programs, on trials whose answers are known; what is left of a study; programs that are linked
again. Usage: test_studies.py TOP MINIMUM_STUDY IMPACT_STUDY REACTIVE_STUDY STOP_STUDY"""
import os
import random
import re
import subprocess
import sys
import tempfile

TOP, MINIMUM, IMPACT, REACTIVE, STOP = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(TOP, "tests/tools"), HERE, *(os.path.join(HERE, d) for d in ("minimum", "impact", "reactive"))]

import impact  # noqa: E402
import kept  # noqa: E402
import minimum  # noqa: E402
import reactive  # noqa: E402
import relink  # noqa: E402
import trials  # noqa: E402
from tap import Tap  # noqa: E402


def done_of(lists):
    """Trials as a study has them: {series: [values of each trial]}."""
    return [{"series": name, "trial": i, "load1": 0.5, "ns": ns} for name, of in lists.items() for i, ns in enumerate(of)]


def settings_of(lists):
    return {"seed": 1, "machine": "none", "series": {name: {} for name in lists}}


def minima(tap):
    rng = random.Random(1)
    # two moods of the machine for whole trials, a floor that is always reached
    moods = [rng.choice((1000, 1300)) for _ in range(100)]
    lists = {"sumindex": [[1000 + rng.randrange(4)] * 2 + [mood + 100 + rng.randrange(100) for _ in range(40)] for mood in moods],
             "sumindex scan": [[100 * n + 500 + rng.randrange(300) for n in range(1, 1001)] for _ in range(20)]}
    text = minimum.report(MINIMUM)(settings_of(lists), done_of(lists)).splitlines()
    found = {name: next(line for line in text if re.match(rf"sumindex +\d+  {name}  ", line)) for name in minimum.ESTIMATORS}
    tap.ok("multimodal" in found["mean"] and "multimodal" in found["median"], "means and medians of trials have two modes", text)
    tap.ok("unimodal" in found["minimum"] and " 1.0" in found["minimum"], "minima have one", text)
    tap.ok("100.5" in text[-1] and "evaluations 943 to 943" in text[-1], "Algorithm 1 finds 100 ns and its evaluations", text)
    curve = [float(line.split()[2]) for line in text if line.startswith("    n ")]
    tap.ok(curve == sorted(curve, reverse=True) and curve[0] > 5 and curve[-1] < 1.01, "the minimum over n converges", text)


def factors(tap):
    rng = random.Random(2)
    lists = {"apart": [[1000 + shift + rng.gauss(0, 1) for _ in range(200)] for shift in (rng.gauss(0, 20) for _ in range(40))],
             "alike": [[1000 + rng.gauss(0, 1) for _ in range(200)] for _ in range(40)], "few": [[1000.0] * 200] * 3}
    text = impact.report(IMPACT)(settings_of(lists), done_of(lists)).splitlines()
    rows = {line.split()[0]: line.split() for line in text[2:]}
    tap.equal(sorted(rows), ["alike", "apart"], "three runs have no impact factor")
    raw, transformed, analytic = map(float, rows["apart"][4:7])
    tap.ok(10 < raw < 40 and 0.9 < transformed < 1.1 and abs(analytic / raw - 1) < 0.2 and rows["apart"][7] == "well", "a constant a run is found, and taken away",
           text)
    tap.ok(abs(float(rows["alike"][4]) - 1) < 0.05 and rows["alike"][7] == "no-effect", "runs that are alike have none", text)


class MadeRun(kept.Run):
    """A run as the database has it, of values that are given."""

    def __init__(self, case, number, values, warmup_n=0, reason="futhark"):
        super().__init__(None, (f"{case} #{number}", number, reason, warmup_n, 2 * sum(values), sum(values), 1500))
        self.values = values

    def all(self):
        return self.values


def rules(tap):
    rng = random.Random(3)

    def cold(n, ns):
        return [ns * (1 + 0.5 * (i < 50)) * (1 + rng.gauss(0, 0.005)) for i in range(n)]
    runs = []
    for i in range(5):
        for kernel, ns in (("short", 1e5), ("long", 1e6)):
            runs += [MadeRun(f"{kernel} | fixed 10", i, cold(10, ns), reason="fixed(10)"), MadeRun(f"{kernel} | {reactive.BASELINE}", i, cold(10000, ns)),
                     MadeRun(f"{kernel} | reactive", i, cold(800, ns), 50), MadeRun(f"{kernel} | strictness 2, 1 s", i, cold(900, ns), reason="cap of 4 s"),
                     MadeRun(f"{kernel} | cube root", i, [ns, 2 * ns] * 20)]
    runs.append(MadeRun("other | recorded", 0, cold(10000, 1e3)))
    found = reactive.judged(REACTIVE, runs)
    tap.equal(sorted(found), ["long", "short"], "a kernel that lacks a rule is in no table")
    ten, new, strict, cube = (found["short"][name] for name in ("fixed 10", "reactive", "strictness 2, 1 s", "cube root"))
    tap.ok(abs(ten["ratio"] - 1.5) < 0.02 and abs(ten["warm"] - 1.5) < 0.01, "ten iterations of a cold program are half as much again", [str(ten)])
    tap.ok(new["restarted"] == 5 and abs(new["warm"] - 1) < 0.001 and new["r1"] < 0.1 < found["short"][reactive.BASELINE]["r1"],
           "a rule that sets the first ones aside drops dependence with them", [str(new)])
    tap.equal((new["iterations"], new["capped"], new["elapsed_ns"]), (800, 0, 2 * new["measured_ns"]), "which are iterations and time all the same")
    tap.equal((strict["capped"], strict["escaped"], strict["restarted"]), (5, 0, 0), "what a cap ended is no escape")
    tap.equal((cube["escaped"], cube["runs"], new["escaped"]), (5, 5, 0), "what alternates stops at any error")
    with tempfile.NamedTemporaryFile(suffix=".txt") as f:
        text = reactive.report(REACTIVE, f.name, "")({"seed": 1, "machine": "none"}, runs).splitlines()
        rows = [line for line in text if line.startswith("fixed 10000")]
        tap.ok([row.split()[2] for row in rows] == ["all", "below", "above"], "kernels below and above 250 us are told apart", text)
        table = subprocess.run([STOP, f.name], capture_output=True, text=True, check=True).stdout
        tap.ok(table.startswith("11 series") and "| fixed 50 | 50 / 50 | 0.0 % |" in table, "and all of 10 000 iterations go to stop_study", [table])


def what_is_left(tap):
    series = [trials.Series(name, "x", 100) for name in "abc"]
    whole = [(one.name, n) for one, n in trials.plan(series, 3, 1, [])]
    tap.equal(sorted(whole), sorted((s, n) for s in "abc" for n in range(3)), "every series, every trial")
    tap.ok([n for _, n in whole] == sorted(n for _, n in whole) and len({tuple(s for s, m in whole if m == n) for n in range(3)}) > 1,
           "in rounds whose order is drawn", whole)
    done = [{"series": s, "trial": n} for s, n in whole[:4]]
    tap.equal([(one.name, n) for one, n in trials.plan(series, 3, 1, done)], whole[4:], "what is done is not done again")
    job = trials.Series("a", "p", 10000, benchmark="x", n=3).job("/build", 7)
    tap.equal((job["benchmarks"][0]["argv"], job["plan"]["stop"]), (["/build/p"], {"fixed": {"iterations": 10000}}), "its job")


def symbols_of(path):
    lines = subprocess.run(["nm", "-n", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split()[-1] for line in lines if " t " in line and line.split()[-1].startswith(("quiesce_", "run_", "setup_"))]


def linking(tap):
    with tempfile.TemporaryDirectory() as folder:
        objects = relink.compiled([os.path.join(TOP, "tests/kernels/memory.c")], folder, [os.path.join(TOP, "agent/include"), os.path.join(TOP, "tests")])
        made = [relink.linked(objects, os.path.join(folder, f"p{i}"), seed) for i, seed in enumerate((1, 2, 1))]
        order = [symbols_of(path) for path in made]
        tap.ok(len(order[0]) > 10 and sorted(order[0]) == sorted(order[1]) and order[0] != order[1], "another seed is another order of the same functions", order)
        tap.equal(order[0], order[2], "the same seed is the same order")
        said = subprocess.run([made[1], "--benchmark", "triad", "--iterations", "3"], capture_output=True, text=True, check=False)
        tap.ok(said.returncode == 0 and "triad: 3 iterations" in said.stdout, "and the program works", [said.stderr])


tap = Tap()
for case in (minima, factors, rules, what_is_left, linking):
    case(tap)
sys.exit(tap.done())
