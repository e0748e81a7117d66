#!/usr/bin/env python3
"""Junge's reactive benchmarking on this machine: reliability (how far the means of repetitions are apart), validity (their ratio to the mean
of all repetitions of 10 000 iterations), what is left of autocorrelation, and the time that each rule spends. See ../README.md.

    tests/studies/reactive/reactive.py --build build --out reactive.jsonl
    tests/studies/reactive/reactive.py --out reactive.jsonl --report
    tests/studies/reactive/reactive.py --out reactive.jsonl --report --series FILE   # the first 3000 iterations of all, for stop_study

A trial is one repetition: one process of one kernel, through the real daemon and agent in mode harness, recorded from its first iteration
on for 10 000 iterations and for longer than the rules want; the daemon's own stop rules are then replayed on what was recorded.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import trials as t  # noqa: E402

LEAST, LEAST_S, MOST, SHORT_NS, STOP = 10000, 2.5, 80000, 250e3, 3000
BLUR, THIN, FFT, MEMORY = (f"tests/kernels/kernel_{name}" for name in ("blur", "thin", "fft", "memory"))


def series():
    def one(name, program, **params):
        return t.Series(name, program, LEAST, least_s=LEAST_S, most=MOST, **params)
    return [one("fft 2^11", FFT, **{"log2-points": 11}), one("thin 64x48", THIN, size="64x48"),
            one("chase 1 MiB", MEMORY, benchmark="chase", kib=1024, steps=5000), one("blur 192x144", BLUR, size="192x144"),
            one("chase 1 MiB, long", MEMORY, benchmark="chase", kib=1024, steps=20000),
            one("manyallocs", "tests/studies/minimum_work", benchmark="manyallocs", repeat=100),
            one("thin 192x144", THIN, size="192x144"), one("blur 384x288", BLUR, size="384x288"),
            one("blur 320x240", BLUR, size="320x240"), one("chase 16 MiB", MEMORY, benchmark="chase", kib=16384, steps=12000)]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def judged(study, settings, done):
    """{kernel: {rule: what reactive_study says}}"""
    found = {}
    for name in settings["series"]:
        lists = [line["ns"] for line in done if line["series"] == name]
        if len(lists) >= 2:
            with t.lines_file(lists) as path:
                found[name] = {row["rule"]: {**row, "repetitions": len(lists)} for row in t.said(study, path)}
    return found


def detail(found):
    yield f"{'kernel':18s} {'rule':27s} {'mean':>10s} {'RSD of means':>12s} {'ratio':>7s} {'farthest':>8s} {'r1':>6s} {'iterations':>10s} {'time':>8s} restarted, ran out"
    for name, rules in found.items():
        for rule, r in rules.items():
            yield (f"{name:18s} {rule:27s} {r['mean_ns'] / 1e3:7.1f} us {100 * r['rsd']:10.2f} % {r['ratio']:7.3f} {100 * r['farthest']:6.1f} % {r['r1']:6.2f} "
                   f"{r['iterations']:10.0f} {r['measured_ns'] / 1e9:6.3f} s {r['restarted']:3d} {r['capped']:3d} of {r['repetitions']}")


def summary(found):
    baseline = {name: rules["fixed 10000"]["mean_ns"] for name, rules in found.items()}
    groups = {"all": list(found), "below 250 us": [n for n in found if baseline[n] < SHORT_NS], "above": [n for n in found if baseline[n] >= SHORT_NS]}
    yield f"{'rule':27s} {'kernels':15s} {'RSD of means':>12s} {'|ratio - 1|':>11s} {'worst':>7s} {'r1':>6s} {'time':>8s} ran out"
    for rule in next(iter(found.values())):
        for group, names in groups.items():
            if names:
                rows = [found[n][rule] for n in names]
                yield (f"{rule:27s} {group:15s} {100 * mean(r['rsd'] for r in rows):10.2f} % {100 * mean(abs(r['ratio'] - 1) for r in rows):9.2f} % "
                       f"{100 * max(abs(r['ratio'] - 1) for r in rows):5.1f} % {mean(r['r1'] for r in rows):6.2f} "
                       f"{sum(r['measured_ns'] for r in rows) / 1e9:6.2f} s {sum(r['capped'] for r in rows)} of {sum(r['repetitions'] for r in rows)}")


def report(study, path):
    def tables(settings, done):
        if path:
            with open(path, "w", encoding="utf-8") as f:
                for line in done:
                    print(*line["ns"][:STOP], file=f)
        found = judged(study, settings, done)
        head = f"reactive, seed {settings['seed']}; {settings['machine']}; {t.load_of(done)}"
        return "\n".join([head, *summary(found), "", *detail(found)])
    return tables


def main():
    args = t.arguments(__doc__, 15, series=("", "write the first 3000 iterations of each repetition to this file"))
    t.study("reactive", args, series(), report(os.path.join(os.path.abspath(args.build), "tests/studies/reactive_study"), args.series))


if __name__ == "__main__":
    main()
