#!/usr/bin/env python3
"""Junge's reactive benchmarking on this machine, live: reliability (how far the means of repetitions are apart), validity (their ratio to the
mean of 15 repetitions of 10 000 iterations), what is left of autocorrelation, and the time that each rule spends. See ../README.md.

    tests/studies/reactive/reactive.py --build build --out reactive --minutes 5      # as often as it takes
    tests/studies/reactive/reactive.py --out reactive --report
    tests/studies/reactive/reactive.py --out reactive --report --series FILE         # all runs of 10 000 iterations, for stop_study

A trial is one repetition: a job of one run of one kernel, a fresh process, which the daemon ends by the rule that the job names. Rules and kernels
take turns in an order that is drawn. `--out` is the folder of the daemon's database, from which the report reads all it says.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kept  # noqa: E402
import trials as t  # noqa: E402

SHORT_NS, BASELINE, RECORDED = 250e3, "fixed 10000", "recorded"
RULES = {"fixed 10": {"fixed": {"iterations": 10}}, BASELINE: {"fixed": {"iterations": 10000}}, "reactive": {"futhark": {"metrics": "original"}},
         "strictness 2, 1 s": {"futhark": {"metrics": "original", "strictness": 2, "initial": "1s"}},
         "cube root": {"futhark": {"metrics": "original", "root": "cube"}}}
RECORDED_ONLY = ("table", "fft 2^9")
BLUR, FFT, MEMORY, THIN = (f"tests/kernels/kernel_{name}" for name in ("blur", "fft", "memory", "thin"))
WORK = "tests/studies/reactive_work"


class Case(t.Series):
    """A kernel under a rule, which is asked after every window of so many iterations."""

    def __init__(self, kernel, rule, cap, program, window, **more):
        super().__init__(f"{kernel} | {rule}", program, window, **more)
        self.stop, self.cap = RULES[BASELINE if rule == RECORDED else rule], cap

    def plan(self):
        if "fixed" in self.stop:
            n = self.stop["fixed"]["iterations"]
            return {"window": {"iterations": min(self.iterations, n)}, "stop": self.stop, "caps": {"iterations": n, "time": "300s"}}
        return {"window": {"iterations": self.iterations}, "stop": self.stop, "caps": {"iterations": 1000000, "time": self.cap}}


def kernels():
    """{name: (program, iterations of a window, more)}: windows of 10 to 40 ms. The last two are above 250 us."""
    return {"chase 1 MiB": (MEMORY, 2500, {"benchmark": "chase", "kib": 1024, "steps": 800}), "arena": (WORK, 1000, {"benchmark": "arena"}),
            "memo": (WORK, 1000, {"benchmark": "memo"}), "table": (WORK, 1000, {"benchmark": "table"}), "fft 2^9": (FFT, 1000, {"log2-points": 9}),
            "blur 192x144": (BLUR, 200, {"size": "192x144"}), "thin 192x144": (THIN, 100, {"size": "192x144"}),
            "blur 448x336": (BLUR, 50, {"size": "448x336"})}


def cases(only, cap):
    """Kernels under every rule. Short ones are recorded 15 times more for stop_study, and two of them for nothing else."""
    for name, (program, window, more) in kernels().items():
        if not only or name in only.split(","):
            for rule in [*([BASELINE] if name in RECORDED_ONLY else RULES), *([RECORDED] if window >= 200 else [])]:
                yield Case(name, rule, cap, program, window, **more)


def figures(study, lists, rule=BASELINE):
    told = RULES[rule].get("futhark", {})
    with t.lines_file(lists) as path:
        return t.said(study, told.get("strictness", 1), told.get("root", "square"), path)


def outcome(study, runs, rule):
    """Of the runs of one kernel under one rule. `escaped`: stopped with an error that is too large for a correlation just above 0."""
    of = figures(study, (run.kept() for run in runs), rule)
    means = [one["mean_ns"] for one in of]
    return {"means": means, "mean_ns": t.mean(means), "rsd": statistics.stdev(means) / t.mean(means) if len(means) > 1 else float("nan"),
            "r1": t.mean(one["r1"] for one in of), "runs": len(runs),
            "escaped": sum(run.stop_reason.startswith("futhark") and one["wants_more"] for run, one in zip(runs, of)),
            "iterations": t.mean(run.warmup_n + one["n"] for run, one in zip(runs, of)),
            "measured_ns": t.mean(run.measured_ns for run in runs), "elapsed_ns": t.mean(run.elapsed_ns for run in runs),
            "capped": sum(run.stop_reason.startswith("cap of ") for run in runs), "restarted": sum(run.warmup_n > 1 for run in runs)}


def judged(study, runs):
    """{kernel: {rule: outcome}} of the kernels that have all rules. `ratio` is to the mean of all runs of 10 000 iterations, `warm` to that of
    their last thirds."""
    found = {}
    for run in runs:
        kernel, _, rule = run.case.partition(" | ")
        found.setdefault(kernel, {}).setdefault(rule, []).append(run)
    of = {}
    for kernel, by in found.items():
        if set(RULES) <= set(by):
            of[kernel] = {rule: outcome(study, by[rule], rule) for rule in RULES}
            warm_ns = t.mean(one["mean_ns"] for one in figures(study, (run.all()[-(10000 // 3):] for run in by[BASELINE])))
            base_ns = of[kernel][BASELINE]["mean_ns"]
            for r in of[kernel].values():
                r["ratio"], r["warm"], r["farthest"] = r["mean_ns"] / base_ns, r["mean_ns"] / warm_ns, max(abs(mean / base_ns - 1) for mean in r["means"])
    return of


def detail(found):
    yield (f"{'kernel':13s} {'rule':18s} {'mean':>10s} {'RSD of means':>12s} {'ratio':>7s} {'farthest':>8s} {'warm':>7s} {'r1':>5s} {'iterations':>10s} "
           f"{'measured':>9s} {'run took':>8s} began again, capped, of")
    for name, rules in found.items():
        for rule, r in rules.items():
            yield (f"{name:13s} {rule:18s} {r['mean_ns'] / 1e3:7.2f} us {100 * r['rsd']:10.2f} % {r['ratio']:7.3f} {100 * r['farthest']:6.1f} % {r['warm']:7.3f} "
                   f"{r['r1']:5.2f} {r['iterations']:10.0f} {r['measured_ns'] / 1e9:7.3f} s {r['elapsed_ns'] / 1e9:6.2f} s "
                   f"{r['restarted']:3d} {r['capped']:3d} {r['runs']:3d}")


def off(rows, key):
    return sorted(100 * abs(r[key] - 1) for r in rows)


def summary(found):
    groups = {"all": list(found), "below 250 us": [n for n in found if found[n][BASELINE]["mean_ns"] < SHORT_NS],
              "above": [n for n in found if found[n][BASELINE]["mean_ns"] >= SHORT_NS]}
    yield (f"{'rule':18s} {'kernels':12s} {'RSD of means':>12s} {'|ratio - 1|':>11s} {'worst':>8s} {'|warm - 1|':>10s} {'worst':>8s} {'r1':>5s} {'measured':>9s} "
           f"{'runs took':>9s} capped, stopped by r1 <= 0, of")
    for rule in RULES:
        for group, names in groups.items():
            rows = [found[n][rule] for n in names]
            if rows:
                far, warm = off(rows, "ratio"), off(rows, "warm")
                yield (f"{rule:18s} {group:12s} {100 * t.mean(r['rsd'] for r in rows):10.2f} % {statistics.median(far):9.2f} % {far[-1]:6.1f} % "
                       f"{statistics.median(warm):8.2f} % {warm[-1]:6.1f} % {t.mean(r['r1'] for r in rows):5.2f} "
                       f"{sum(r['measured_ns'] for r in rows) / 1e9:7.2f} s {sum(r['elapsed_ns'] for r in rows) / 1e9:7.2f} s "
                       f"{sum(r['capped'] for r in rows):3d} {sum(r['escaped'] for r in rows):3d} {sum(r['runs'] for r in rows):3d}")


def report(study, series, only):
    def tables(settings, runs):
        runs = [run for run in runs if not only or run.case.partition(" | ")[0] in only.split(",")]
        if series:
            with open(series, "w", encoding="utf-8") as f:
                for run in runs:
                    if run.case.endswith((BASELINE, RECORDED)):
                        print(*run.all(), file=f)
        found = judged(study, runs)
        head = f"reactive, seed {settings['seed']}; {settings['machine']}; {t.load_of([vars(run) for run in runs])}; {len(runs)} runs"
        return "\n".join([head, *summary(found), "", *detail(found)])
    return tables


def main():
    args = t.arguments(__doc__, 15, out="folder of the results, a daemon's database", only=("", "of the kernels, names between commas; without it, all"),
                       cap=("4s", "measured time that ends a run whatever its rule says"),
                       series=("", "write each run of 10 000 iterations to this file, one a line"))
    program = os.path.join(os.path.abspath(args.build), "tests/studies/reactive_study")
    kept.study("reactive", args, list(cases(args.only, args.cap)), report(program, args.series, args.only))


if __name__ == "__main__":
    main()
