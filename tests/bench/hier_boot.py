#!/usr/bin/env python3
"""Hierarchical bootstrap of a ratio, 10 000 resamples of 2 x 30 runs x 50 iterations: qs_hier_boot_ratio against R's
boot on the same values, CPU time, in rounds whose order is drawn. Goal: at least 50 times faster. hier_boot.py PROGRAM SCRIPT"""
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

RUNS, ITERATIONS, RESAMPLES, ROUNDS = (5, 5, 200, 1) if "QS_BENCH_SMOKE" in os.environ else (30, 50, 10000, 7)


def write_values(path, rng):
    with open(path, "w", encoding="ascii") as f:
        for centre in (1000, 1050):
            for _ in range(RUNS):
                run = rng.gauss(centre, 10)
                f.writelines(f"{run + 20 * rng.expovariate(1)!r}\n" for _ in range(ITERATIONS))


def timed(command, path):
    out = subprocess.run([*command, path, str(RUNS), str(ITERATIONS), str(RESAMPLES)], check=True, capture_output=True,
                         text=True).stdout
    return [float(field) for field in out.split()]


def r_command(script):
    rscript = shutil.which("Rscript")
    if not rscript:
        return None
    has_boot = subprocess.run([rscript, "-e", "library(boot)"], capture_output=True, check=False).returncode == 0
    return [rscript, "--vanilla", script] if has_boot else None


def spread(values):
    return f"{statistics.median(values):.4g} ({min(values):.4g} to {max(values):.4g})"


def main():
    program, script = (os.path.abspath(path) for path in sys.argv[1:])
    sides, r = {"quiesce": [program]}, r_command(script)
    if r:
        sides |= {f"R boot, {form}": [*r, form] for form in ("plain", "fast")}
    else:
        print("hier_boot: R with its package boot is not here (Debian: r-base-core, r-cran-boot); our side alone follows")
    rng = random.Random(1)
    got = {name: [] for name in sides}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "values.txt")
        write_values(path, rng)
        for _ in range(ROUNDS):
            for name in rng.sample(list(sides), len(sides)):
                got[name].append(timed(sides[name], path))
    print(f"{RESAMPLES} resamples of 2 x {RUNS} x {ITERATIONS}, {ROUNDS} rounds; median (least to most)")
    ours = got["quiesce"]
    width = ours[0][2] - ours[0][1]
    for name, rows in got.items():
        print(f"  {name:13s} {spread([row[0] for row in rows])} CPU s, interval {rows[0][1]:.5f} to {rows[0][2]:.5f}")
        if name == "quiesce":
            continue
        print(f"    times slower (goal >= 50): {spread([row[0] / our[0] for our, row in zip(ours, rows)])}")
        apart = max(abs(ours[0][i] - rows[0][i]) for i in (1, 2)) / width
        if apart > 0.1 and "QS_BENCH_SMOKE" not in os.environ:
            sys.exit(f"hier_boot: the bounds are apart by {100 * apart:.1f} % of the interval: not the same resampling")


if __name__ == "__main__":
    main()
