#!/usr/bin/env python3
"""The kernels give right results: against slow ones written here, and all builds and devices the same.

usage: test_kernels.py small|large BLUR THIN FFT MEMORY BLUR-O1 BLUR-O3 [PICTURES_CL]
"""
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from tap import Tap  # noqa: E402

WHAT, BLUR, THIN, FFT, MEMORY, *REST = sys.argv[1:]
BUILDS, PICTURES_CL = REST[:2], REST[2:]


def call(program, *args):
    return subprocess.run([program, *args], capture_output=True, text=True)


def metrics(t, program, *args):
    """name -> [metrics of each iteration] of the benchmarks of one program."""
    got = call(program, "--json", *args)
    name = f"{os.path.basename(program)} {' '.join(args)}"
    t.ok(got.returncode == 0, f"{name}: its own check passes", [got.stderr])
    if got.returncode:
        return {}
    times = ("start_ns", "duration_ns")
    found = {b["name"]: [{k: v for k, v in i.items() if k not in times} for i in b["iterations"]]
             for b in json.loads(got.stdout)["benchmarks"]}
    t.ok(all(i == rows[0] for rows in found.values() for i in rows), f"{name}: every iteration gives the same", [found])
    return {b: rows[0] for b, rows in found.items()}


def checksum(values):
    total = 2166136261
    for value in values:
        total = (total ^ value) * 16777619 % 2**32
    return total


def blurred(width, height, radius):
    """Both directions at once, pixel by pixel."""
    shape = [math.exp(-((i / (radius / 2)) ** 2) / 2) for i in range(-radius, radius + 1)]
    weights = [int(s / math.fsum(shape) * 65536) for s in shape]
    weights[radius] += 65536 - sum(weights)
    grey = [[(x * 7 + y * 13 + x * y // 32) % 256 for x in range(width)] for y in range(height)]
    near = lambda i, n: min(max(i, 0), n - 1)
    rows = [[sum(w * row[near(x + i - radius, width)] for i, w in enumerate(weights)) >> 8 for x in range(width)] for row in grey]
    return [(sum(w * rows[near(y + i - radius, height)][x] for i, w in enumerate(weights)) + 2**23) >> 24
            for y in range(height) for x in range(width)]


def deletes(p, second):
    """The rule as its authors give it: p[0] is P2, the northern neighbour, and on clockwise."""
    rises = sum(not a and b for a, b in zip(p, p[1:] + p[:1]))
    north, east, south, west = p[0], p[2], p[4], p[6]
    three = (north and east and west, north and south and west) if second else (north and east and south, east and south and west)
    return 2 <= sum(p) <= 6 and rises == 1 and not any(three)


def thinned(width, height):
    inside = [(x, y) for y in range(1, height - 1) for x in range(1, width - 1)]
    on = {(x, y) for x, y in inside if (x + y // 2) % 64 < 17 or (y + x // 3) % 83 < 9}
    around = [(0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1)]
    passes, changed = 0, True
    while changed:
        passes, changed = passes + 1, False
        for second in (False, True):
            gone = {(x, y) for x, y in on if deletes([(x + dx, y + dy) in on for dx, dy in around], second)}
            on, changed = on - gone, changed or bool(gone)
    picture = [int((x, y) in on) for y in range(height) for x in range(width)]
    return {"checksum": checksum(picture), "passes": passes, "left": len(on)}


def small(t):
    few = ("--iterations", "3")
    for size, radius in (((61, 33), 5), ((16, 40), 1), ((9, 8), 32)):
        want = {"blur": {"checksum": checksum(blurred(*size, radius))}}
        for program in (BLUR, *BUILDS):
            args = (*few, "--size", "%dx%d" % size, "--radius", str(radius))
            t.equal(metrics(t, program, *args), want, f"{os.path.basename(program)} {size} radius {radius}: as computed here")
    for size in ((97, 61), (8, 8), (64, 90)):
        t.equal(metrics(t, THIN, *few, "--size", "%dx%d" % size), {"thin": thinned(*size)}, f"thin {size}: as computed here")
    for points in ("4", "10"):
        t.ok("checksum" in metrics(t, FFT, *few, "--log2-points", points).get("fft", {}), f"fft of 2^{points} points")
    got = metrics(t, MEMORY, *few, "--kib", "12", "--steps", "192", "--evals", "2")
    t.equal(got.get("chase"), {"checksum": 0}, "a chase of all lines comes back to its beginning")
    t.equal(got.get("triad"), {"checksum": sum(i % 1000 + 3 * (i % 7) for i in range(512))}, "the triad's sum")
    for program, args, words in ((BLUR, ("--size", "7x8"), "size: `7x8` is not"), (THIN, ("--size", "100"), "size: `100` is not"),
                                 (BLUR, ("--size", "16x16x16"), "is not WIDTHxHEIGHT"), (BLUR, ("--radius", "33"), "1 to 32")):
        got = call(program, *args)
        t.ok(got.returncode and words in got.stderr, f"{os.path.basename(program)} {' '.join(args)} is explained", [got.stderr])


def large(t):
    """The picture of the publication."""
    few = ("--iterations", "2", "--warmup", "0")
    want = metrics(t, BLUR, *few)
    for program in BUILDS:
        t.equal(metrics(t, program, *few), want, f"{os.path.basename(program)}: the same picture")
    thin = metrics(t, THIN, *few)
    metrics(t, FFT, *few)
    metrics(t, MEMORY, *few)
    if not PICTURES_CL:
        t.skip("OpenCL", "no OpenCL to build with (apt: ocl-icd-opencl-dev pocl-opencl-icd)")
        return
    got = metrics(t, PICTURES_CL[0], *few)
    t.equal(got.get("blur"), want.get("blur"), "OpenCL blurs to the same picture")
    t.equal(got.get("thin"), {k: v for k, v in thin.get("thin", {}).items() if k != "left"}, "OpenCL thins to the same picture in as many passes")
    got = metrics(t, PICTURES_CL[0], *few, "--size", "100x60", "--radius", "32")
    t.equal(got.get("blur"), metrics(t, BLUR, *few, "--size", "100x60", "--radius", "32").get("blur"), "a blur wider than half of the picture")


def main():
    t = Tap()
    (small if WHAT == "small" else large)(t)
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
