#!/usr/bin/env python3
"""The analysis of the study: its statistics against R, its counting on a recorded study."""
import json
import math
import os
import subprocess
import sys
import tempfile

TOP = sys.argv[1]
sys.path.insert(0, os.path.join(TOP, "tests/tools"))

import aa  # noqa: E402
import aa_figures as fig  # noqa: E402
import aa_report as report  # noqa: E402
from tap import Tap  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def near(got, want, rel):
    return abs(got - want) <= rel * abs(want)


def against_r(tap):
    with open(os.path.join(TOP, "tests/data/reference-r.json"), encoding="utf-8") as f:
        r = json.load(f)
    for name, case in r["two_sample"].items():
        t, df, p = fig.welch(case["x"], case["y"])
        want = case["welch"]
        tap.ok(near(t, want["t"], 1e-10) and near(df, want["df"], 1e-10) and near(p, want["p"], 1e-9),
               f"Welch of {name} is R's", [f"got {t!r} {df!r} {p!r}", f"want {want}"])
    for case in r["distributions"]["pt"]:
        tail = fig.t_two_sided(case["t"], case["df"]) / 2
        tap.ok(near(tail if case["t"] < 0 else 1 - tail, case["p"], 1e-12), f"pt({case['t']}, {case['df']}) is R's")
    for df, want in r["distributions"]["qt975"].items():
        tap.ok(near(fig.t_quantile(0.975, float(df)), want, 1e-9), f"qt(0.975, {df}) is R's")
    tap.equal(fig.welch([1, 1, 1], [1, 1])[2], 1.0, "equal constants do not differ")
    tap.equal(fig.welch([1, 1, 1], [2, 2])[2], 0.0, "different constants do")


def against_tables(tap):
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3
    for k, n, lo, hi in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)):
        got = fig.wilson(k, n)
        tap.ok(all(abs(g - w) < 5.1e-5 for g, w in zip(got, (lo, hi))), f"Wilson's interval of {k} of {n}", [str(got)])
    tap.equal((fig.median([3, 1, 2]), fig.median([4, 1, 2, 3])), (2, 2.5), "medians")


def counting(tap):
    document = {"job": 1, "stopped": "interval", "elapsed_ns": 1500000000, "results": [
        {"blocks_tainted": 1, "iterations_per_run": 5, "comparisons": [
            {"verdict": "x", "ratio": 1.1, "lo": 1.0, "hi": 1.2, "p": 0.01, "base": {"units": 15}}]}]}
    for verdict, different, slower in (("regression", 1, 1), ("probable-regression", 1, 1), ("improvement", 1, 0),
                                       ("probable-improvement", 1, 0), ("negligible", 0, 0), ("equivalent", 0, 0),
                                       ("inconclusive", 0, 0)):
        document["results"][0]["comparisons"][0]["verdict"] = verdict
        got = report.of_quiesce(document)
        tap.equal((got["different"], got["slower"]), (bool(different), bool(slower)), f"{verdict} counts as it should")
    slow, fast = [1.05, 1.06, 1.04, 1.05], [1.0, 1.01, 0.99, 1.0]
    got = report.of_hyperfine({"results": [{"times": fast}, {"times": slow}]})
    tap.ok(got["different"] and got["slower"], "hyperfine's slower second command is found")
    got = report.of_hyperfine({"results": [{"times": slow}, {"times": fast}]})
    tap.ok(got["different"] and not got["slower"], "a faster one is different, not slower")
    got = report.of_hyperfine({"results": [{"times": fast}, {"times": fast}]})
    tap.ok(not got["different"], "the same times are not different")


def coins(tap):
    logs = [0.001 * v for v in (3, -2, 1, 4, -1, 2, 5, -3, 2, 1)]
    tap.ok(not report.called_different(logs), "a small difference below the margin is none")
    tap.ok(report.called_different([v + 0.05 for v in logs]), "five percent are one")
    blocks = [[math.exp(40 * v), False] for v in logs]
    mean, _ = report.sign_flips([{"quiesce": {"block_ratios": blocks}}] * 2)
    tap.ok(0.02 < mean < 0.09, "coins for signs call wide blocks different in some five percent", [str(mean)])
    strict, _ = report.sign_flips([{"quiesce": {"block_ratios": blocks}}] * 2, alpha=0.01)
    tap.ok(strict < mean, "and less often at a stricter level", [str(strict)])
    narrow = [[math.exp(v), False] for v in logs]
    tap.equal(report.sign_flips([{"quiesce": {"block_ratios": narrow}}] * 2, added=math.log(1.05))[0], 1.0,
              "an added five percent is found in narrow blocks")


def recorded(tap):
    path = os.path.join(HERE, "recorded.jsonl")
    settings, trials = report.read(path)
    with open(os.path.join(HERE, "recorded.txt"), encoding="utf-8") as f:
        want = f.read()
    tap.equal(report.table(settings, trials) + "\n", want, "the table of a recorded study")
    args = type("Args", (), {"trials": 4, "conditions": "quiet,noisy", "effects": "same,slower", "command": None})
    left = list(aa.plan(args, trials))
    seen = {(t["noise"], t["effect"], t["trial"]) for t in trials}
    tap.ok(seen and not seen & set(left) and len(left) + len(seen) == 16, "a study goes on where it was")


def interrupted(tap):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cut.jsonl")
        with open(os.path.join(HERE, "recorded.jsonl"), encoding="utf-8") as f:
            text = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(text[:-20])
        whole = report.read(os.path.join(HERE, "recorded.jsonl"))[1]
        tap.equal(report.read(path)[1], whole[:-1], "a line that was cut is left out")
        done = subprocess.run([sys.executable, os.path.join(HERE, "aa.py"), "--out", path, "--report"],
                              capture_output=True, text=True, check=False)
        tap.ok(done.returncode == 0 and "hyperfine" in done.stdout, "and the report is printed", [done.stderr])
        with open(path, encoding="utf-8") as f:
            tap.ok(f.read().endswith("}\n"), "and what is appended begins a line of its own")


tap = Tap()
for case in (against_r, against_tables, counting, coins, recorded, interrupted):
    case(tap)
sys.exit(tap.done())
