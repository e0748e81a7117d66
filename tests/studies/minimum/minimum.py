#!/usr/bin/env python3
"""Chen & Revels on this machine: do the minimum, the median and the mean of a trial say the same thing each time? Four programs like the
paper's, through the real daemon and agent in mode harness. See ../README.md.

    tests/studies/minimum/minimum.py --build build --out minimum.jsonl
    tests/studies/minimum/minimum.py --out minimum.jsonl --report

A trial of `NAME` is 10 000 measurements in one fresh process, each of as many evaluations as Algorithm 1 finds for it (section IV-B);
one of `NAME scan` is that algorithm: one measurement of 1, 2, .. 1000 evaluations each (figure 2).
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import trials as t  # noqa: E402

PROGRAM = "tests/studies/minimum_work"
MEASUREMENTS, EVALUATIONS = 10000, 1000
REPEAT = {"sumindex": 983, "pushall": 280, "branchsum": 965, "manyallocs": 250}  # what Algorithm 1 finds on the machine of the last results
ESTIMATORS = ("mean", "mean of 5 to 95 %", "median", "minimum")


def series():
    found = [t.Series(name, PROGRAM, MEASUREMENTS, benchmark=name, repeat=n) for name, n in REPEAT.items()]
    return found + [t.Series(f"{name} scan", PROGRAM, EVALUATIONS, benchmark=name, repeat=0) for name in REPEAT]


def lists_of(done, name):
    return [line["ns"] for line in done if line["series"] == name]


def trials_table(study, done):
    yield f"{'program':11s} {'trials':>6s}  {'estimator':18s} {'median':>11s} {'CoV':>8s} {'most/least':>10s}  {'modes':>5s} {'mvalue':>6s}  distribution over trials"
    for name, repeat in REPEAT.items():
        lists = lists_of(done, name)
        if len(lists) < 2:
            continue
        with t.lines_file(lists) as path:
            found = t.said(study, "trials", path)
        for estimator in ESTIMATORS:
            e = found[estimator]
            mvalue = "-" if e["mvalue"] is None else f"{e['mvalue']:.2f}"
            yield (f"{name:11s} {found['trials']:6d}  {estimator:18s} {e['median_ns'] / repeat:8.2f} ns {100 * e['cov']:6.2f} % "
                   f"{e['range_ratio']:10.3f}  {e['modes'] or '-':>5} {mvalue:>6s}  {e['modality']}")


def scan_table(study, done):
    yield "T/n over experiments, as ratios to the least of all: least, median, most"
    for name in REPEAT:
        lists = lists_of(done, f"{name} scan")
        if len(lists) < 2:
            continue
        with t.lines_file(lists) as path:
            found = t.said(study, "scan", path)
        floor = min(point["min_ns"] for point in found["curve"])
        yield f"{name}: {found['experiments']} experiments, least T/n {floor:.2f} ns"
        for point in found["curve"]:
            yield (f"    n {point['n']:4d}   " + "   ".join(f"{point[k] / floor:8.4f}" for k in ("min_ns", "median_ns", "max_ns")))
        e = found["estimate"]
        yield (f"    Algorithm 1: {e['median_ns']:.2f} ns, CoV {100 * e['cov']:.2f} %, most over least {e['range_ratio']:.4f}, {e['modality']}; "
               f"evaluations {found['evals'][0]:.0f} to {found['evals'][1]:.0f}")


def report(study):
    def tables(settings, done):
        head = f"minimum, seed {settings['seed']}; {settings['machine']}; {t.load_of(done)}"
        return "\n".join([head, *trials_table(study, done), "", *scan_table(study, done)])
    return tables


def main():
    args = t.arguments(__doc__, 100)
    t.study("minimum", args, series(), report(os.path.join(os.path.abspath(args.build), "tests/studies/minimum_study")))


if __name__ == "__main__":
    main()
