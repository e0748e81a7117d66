#!/usr/bin/env python3
"""What `command` prints, through the real daemon: a job without a gate submitted to `quiesced` by `quiesce`, against
hyperfine -N and the bare loops, round by round in drawn order; medians, excesses, and a bootstrap over rounds.

    through_daemon.py QUIESCED QUIESCE AGENT BENCH_COMMAND NOOP
"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from own_daemon import own_daemon  # noqa: E402

ROUNDS, RUNS, WARMUP, DRAWS = (2, 5, 1, 10) if "QS_BENCH_SMOKE" in os.environ else (25, 120, 10, 4000)
SIDES = ("bare", "quiesce", "hyperfine")


class Bed:
    def __init__(self, own, bench):
        self.own, self.bench = own, bench

    def said(self, *argv):
        return subprocess.run(argv, env=self.own.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=True).stdout

    def job(self, command):
        """The job of `quiesce run`, with one window and nothing to wait for."""
        job = json.loads(self.own.said("run", "--print-job", "--runs", "1", "--iterations", str(RUNS),
                                   "--warmup", str(WARMUP), "--", command))
        job["conditions"]["gate"] = "none"
        return job

    def measure(self, side, command, job):
        """Medians in us: of both bare loops (posix_spawn, vfork), or of one tool."""
        if side == "bare":
            return [float(us) for us in self.said(self.bench, "--bare", command).split()]
        if side == "quiesce":
            document = self.own.submit(job, "--wait")
            arm = document["results"][0]["arms"][0]
            if arm["iterations"] != RUNS:
                sys.exit(f"through_daemon: {arm['iterations']} iterations instead of {RUNS}")
            return document["results"][0]["metrics"][0]["arms"][0]["median"] / 1e3
        export = os.path.join(self.own.folder, "export.json")
        self.said("hyperfine", "-N", "--style", "none", "--warmup", str(WARMUP), "--runs", str(RUNS), "--export-json",
                  export, command)
        with open(export, encoding="utf-8") as f:
            return 1e6 * statistics.median(json.load(f)["results"][0]["times"])


def interval(draws):
    draws = sorted(draws)
    return f"95 % interval {draws[int(0.025 * len(draws))]:.2f} to {draws[int(0.975 * len(draws))]:.2f}"


def report(command, rounds, rng):
    print(f"command {command} through quiesced: {len(rounds)} rounds of {RUNS} runs a side, order drawn; medians")
    names = {"spawn": "bare posix_spawn + wait4", "vfork": "bare vfork + wait4", "quiesce": "quiesced and its agent",
             "hyperfine": "hyperfine -N"}
    for side, name in names.items():
        print(f"  {name:28s} {statistics.median(r[side] for r in rounds):8.2f} us")
    for floor in ("spawn", "vfork"):
        def excess(some, side):
            return statistics.median(r[side] - r[floor] for r in some)
        draws = [rng.choices(rounds, k=len(rounds)) for _ in range(DRAWS)]
        print(f" excess over {names[floor]}")
        for side in ("quiesce", "hyperfine"):
            print(f"  {names[side]:28s} {excess(rounds, side):8.2f} us  {interval([excess(d, side) for d in draws])}")
        print(f"  {'ratio (goal <= 0.5)':28s} {excess(rounds, 'quiesce') / excess(rounds, 'hyperfine'):8.2f}     "
              f"{interval([excess(d, 'quiesce') / excess(d, 'hyperfine') for d in draws])}")


def main():
    quiesced, quiesce, agent, bench, noop = (os.path.abspath(path) for path in sys.argv[1:])
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder, own_daemon(quiesced, quiesce, folder, "--agent", agent) as own:
        bed = Bed(own, bench)
        for command in (noop, "/bin/true"):
            job, rounds = bed.job(command), []
            for _ in range(ROUNDS):
                got = {side: bed.measure(side, command, job) for side in rng.sample(SIDES, len(SIDES))}
                got["spawn"], got["vfork"] = got.pop("bare")
                rounds.append(got)
            report(command, rounds, rng)


if __name__ == "__main__":
    main()
