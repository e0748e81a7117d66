#!/usr/bin/env python3
"""Kalibera, Bulej and Tuma on this machine: how much more do iterations of different processes differ than those of one, does subtracting
each process's mean take that away (tables 1 and 3), and what does linking in another order add (table 2)? See ../README.md.

    tests/studies/impact/impact.py --build build --out impact.jsonl
    tests/studies/impact/impact.py --out impact.jsonl --report

A trial is one process of one kernel, through the real daemon and agent in mode harness. `NAME relinked`: each process is of another
program, linked from the same objects in an order of its own; `NAME linked once`: always the first of these.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import relink  # noqa: E402
import trials as t  # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
WARM = 100  # iterations of a process that are left out
FFT, MEMORY = "tests/kernels/kernel_fft", "tests/kernels/kernel_memory"
RELINKED = {"fft 2^9": (["fft.c", "picture.c"], {"log2-points": 9}), "triad 24 KiB": (["memory.c"], {"benchmark": "triad", "kib": 24})}


def kernels():
    def one(name, program, iterations, **params):
        return t.Series(name, program, iterations + WARM, **params)
    return [one("fft 2^10", FFT, 1000, **{"log2-points": 10}), one("fft 2^14", FFT, 500, **{"log2-points": 14}),
            one("fft 2^10, fixed layout", FFT, 1000, layout="fixed", **{"log2-points": 10}),
            one("chase 1 MiB", MEMORY, 1000, benchmark="chase", kib=1024, steps=5000),
            one("chase 16 MiB", MEMORY, 500, benchmark="chase", kib=16384, steps=12000),
            one("triad 768 KiB", MEMORY, 1000, benchmark="triad", kib=768), one("triad 12 MiB", MEMORY, 200, benchmark="triad", kib=12288)]


class Relinked(t.Series):
    """Of each trial another program, or always the same; no other layout is drawn. made_of: a folder, and the objects in it."""

    def __init__(self, name, once, made_of, params):
        super().__init__(f"{name} {'linked once' if once else 'relinked'}", name, 1000 + WARM, layout="fixed", **params)
        self.once, self.made_of = once, made_of

    def argv(self, build, seed):
        folder, objects = self.made_of
        return [relink.linked(objects, os.path.join(folder, "once" if self.once else "again"), 0 if self.once else seed)]


def relinked(folder):
    for number, (name, (sources, params)) in enumerate(RELINKED.items()):
        place = os.path.join(folder, str(number))
        os.makedirs(place)
        objects = relink.compiled([os.path.join(TOP, "tests/kernels", s) for s in sources], place,
                                  [os.path.join(TOP, "agent/include"), os.path.join(TOP, "tests")])
        for once in (True, False):
            yield Relinked(name, once, (place, objects), params)


def rows(study, settings, done):
    yield (f"{'kernel':24s} {'processes':>9s} {'mean':>11s} {'impact':>7s} {'transformed':>11s} {'sqrt(1+T2/T1)':>13s}  {'additive':9s} "
           f"{'sd within':>9s} {'between':>8s} {'share':>6s} {'eq. 8':>6s} {'as printed':>10s}")
    for name in settings["series"]:
        lists = [line["ns"] for line in done if line["series"] == name]
        if len(lists) < 4:
            continue
        with t.lines_file(lists) as path:
            f = t.said(study, WARM, path)
        n = ["-" if f[key] is None else f"{f[key]:.0f}" for key in ("optimal", "optimal_2005")]
        numbers = ["-" if f[key] is None else f"{f[key]:.2f}" for key in ("raw", "transformed", "analytic")]
        yield (f"{name:24s} {f['runs']:9d} {f['mean_ns'] / 1e3:8.2f} us {numbers[0]:>7s} {numbers[1]:>11s} {numbers[2]:>13s}  {f['additive']:9s} "
               f"{100 * f['sd_within_ratio']:7.2f} % {100 * f['sd_between_ratio']:6.2f} % {100 * (f['between_share'] or 0):4.0f} % {n[0]:>6s} {n[1]:>10s}")


def report(study):
    def table(settings, done):
        head = f"impact, seed {settings['seed']}; {settings['machine']}; {t.load_of(done)}; the first {WARM} iterations of a process left out"
        return "\n".join([head, *rows(study, settings, done)])
    return table


def main():
    args = t.arguments(__doc__, 120)
    with tempfile.TemporaryDirectory() as folder:
        series = [] if args.report else kernels() + list(relinked(folder))
        t.study("impact", args, series, report(os.path.join(os.path.abspath(args.build), "tests/studies/impact_study")))


if __name__ == "__main__":
    main()
