#!/usr/bin/env python3
"""Identical commands, equal time, trial by trial: how often does a tool call them different, and how often does it
find a true +5 %? `quiesce run` by its own verdict, hyperfine (one command after the other) by a Welch test at .05 on
its exported times. See README.md beside this file.

    tests/studies/aa/aa.py --build build --out aa.jsonl --trials 60
    tests/studies/aa/aa.py --out aa.jsonl --report

One line per trial goes to --out as soon as it is known; started again, the study goes on where it was.
"""
import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import aa_report as report

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from trials import machine, mend, own_daemon  # noqa: E402

CONDITIONS = [(noise, effect) for noise in ("quiet", "noisy") for effect in ("same", "slower")]
WARMUP = 2  # of hyperfine, as many as quiesce leaves uncounted


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default="build", help="folder of the release build (build)")
    p.add_argument("--out", required=True, help="results, one JSON line per trial")
    p.add_argument("--trials", type=int, default=60, help="of each condition (60)")
    p.add_argument("--conditions", default="quiet,noisy", help="quiet, noisy or both (both)")
    p.add_argument("--effects", default="same,slower", help="same, slower or both (both)")
    p.add_argument("--seed", type=int, default=1, help="of the order of everything (1)")
    p.add_argument("--rounds", type=int, default=700, help="size of the work (700: some 10 ms)")
    p.add_argument("--command", help="measure this command instead, against itself (no +5 %%)")
    p.add_argument("--max-time", help="of each quiesce run, such as 4s (its own 20 s)")
    p.add_argument("--busy-ms", type=int, default=300, help="mean of the neighbour's busy times (300)")
    p.add_argument("--idle-ms", type=int, default=700, help="mean of its pauses (700)")
    p.add_argument("--minutes", type=float, help="start no trial after so long")
    p.add_argument("--keep", help="folder for the database and the log of quiesced (a temporary one)")
    p.add_argument("--report", action="store_true", help="print the table of --out, and measure nothing")
    return p.parse_args()


def settings_of(args):
    a = args.command or f"aa_work {args.rounds}"
    b = args.command or f"aa_work {round(args.rounds * report.SLOWER_RATIO)}"
    return {"study": "aa", "version": 1, "seed": args.seed, "a": a, "b": b, "busy_ms": args.busy_ms,
            "idle_ms": args.idle_ms, "max_time": args.max_time, "machine": machine()}


@contextlib.contextmanager
def neighbour(settings, build, noise, seed):
    process = None
    if noise == "noisy":
        process = subprocess.Popen([os.path.join(build, "tests/studies/aa_neighbour"), str(seed),
                                    str(settings["busy_ms"]), str(settings["idle_ms"])])
    try:
        yield
    finally:
        if process:
            process.kill()
            process.wait()


def run_quiesce(build, env, a, b, seed, max_time):
    limit = ["--max-time", max_time] if max_time else []
    done = subprocess.run([os.path.join(build, "daemon/ctl/quiesce"), "run", "--json", "--seed", str(seed), *limit,
                           "--a", a, "--b", b], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"aa: quiesce run ended with {done.returncode}: {done.stderr.strip()}")
    document = json.loads(done.stdout)
    return dict(report.of_quiesce(document), block_ratios=report.block_ratios(document["db"], document["job"]))


def run_hyperfine(folder, a, b, seconds, one_s):
    """Both commands for about `seconds` together; one_s is what one run takes."""
    path = os.path.join(folder, "hyperfine.json")
    runs = max(2, round(seconds / 2 / one_s) - WARMUP)
    began = time.monotonic()
    subprocess.run(["hyperfine", "-N", "--style", "none", "--warmup", str(WARMUP), "--runs", str(runs), "--export-json",
                    path, a, b], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    with open(path, encoding="utf-8") as f:
        result = report.of_hyperfine(json.load(f))
    result["elapsed_s"] = time.monotonic() - began
    return result, result["elapsed_s"] / 2 / (runs + WARMUP)


class Study:
    """What one tool leaves for the other: the time that quiesce took last, and what a run of the command takes."""

    def __init__(self, settings, build, folder, env):
        self.settings, self.build, self.folder, self.env = settings, build, folder, env
        self.seconds, self.recent = {}, []

    def command(self, name):
        """The work is found beside the study's other programs, wherever the build is."""
        return self.settings[name].replace("aa_work ", os.path.join(self.build, "tests/studies/aa_work "), 1)

    def hyperfine(self, a, b, seconds, one_s):
        """What a run takes is known from the last few times: a machine's mood must not decide who gets more time."""
        line, one_s = run_hyperfine(self.folder, a, b, seconds, one_s)
        self.recent = self.recent[-6:] + [one_s]
        return line

    def calibrate(self):
        self.hyperfine(self.command("a"), self.command("a"), 1.0, 0.02)

    def trial(self, noise, effect, number):
        seed = random.Random(f"{self.settings['seed']} {noise} {effect} {number}").getrandbits(48)
        a, b = self.command("a"), self.command("b" if effect == "slower" else "a")
        # whoever goes first meets another machine: the order is drawn as well
        hyperfine_first = seed % 2 == 1 and (noise, effect) in self.seconds
        line = {"noise": noise, "effect": effect, "trial": number, "seed": seed,
                "first": "hyperfine" if hyperfine_first else "quiesce", "load1": os.getloadavg()[0]}
        with neighbour(self.settings, self.build, noise, seed):
            for tool in report.TOOLS[::-1] if hyperfine_first else report.TOOLS:
                if tool == "quiesce":
                    line[tool] = run_quiesce(self.build, self.env, a, b, seed, self.settings["max_time"])
                    self.seconds[noise, effect] = line[tool]["elapsed_s"]
                else:
                    line[tool] = self.hyperfine(a, b, self.seconds[noise, effect],
                                                report.fig.median(self.recent))
        return line


def plan(args, done):
    """The conditions take turns, so that the machine's hours are shared by all."""
    seen = {(t["noise"], t["effect"], t["trial"]) for t in done}
    effects = ["same"] if args.command else args.effects.split(",")
    for number in range(args.trials):
        for noise, effect in CONDITIONS:
            if noise in args.conditions.split(",") and effect in effects and (noise, effect, number) not in seen:
                yield noise, effect, number


def measure(args, settings, done):
    build = os.path.abspath(args.build)
    end = time.monotonic() + args.minutes * 60 if args.minutes else float("inf")
    with contextlib.ExitStack() as stack:
        folder = args.keep or stack.enter_context(tempfile.TemporaryDirectory())
        os.makedirs(folder, mode=0o700, exist_ok=True)
        out = stack.enter_context(open(args.out, "a", encoding="utf-8"))
        own = stack.enter_context(own_daemon(os.path.join(build, "daemon/quiesced"), os.path.join(build, "daemon/ctl/quiesce"), folder,
                                             "--agent", os.path.join(build, "agent/quiesce-agent-static")))
        study = Study(settings, build, own.folder, own.env)
        study.calibrate()
        for noise, effect, number in plan(args, done):
            if time.monotonic() >= end:
                break
            line = study.trial(noise, effect, number)
            print(json.dumps(line), file=out, flush=True)
            done.append(line)
            print(f"{noise} {effect} {number}: {line['quiesce']['verdict']} in {line['quiesce']['elapsed_s']:.1f} s, "
                  f"hyperfine p = {line['hyperfine']['p']:.3g}", file=sys.stderr)


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("aa: ended by SIGTERM; start it again to go on"))
    settings, done = (None, [])
    if os.path.exists(args.out):
        mend(args.out)
        settings, done = report.read(args.out)
    if not args.report:
        wanted = settings_of(args)
        if settings and settings != wanted:
            sys.exit(f"aa: {args.out} belongs to another study: {json.dumps(settings)}")
        if not settings:
            with open(args.out, "w", encoding="utf-8") as f:
                print(json.dumps(wanted), file=f)
        settings = wanted
        measure(args, settings, done)
    if not settings:
        sys.exit(f"aa: there is nothing in {args.out}")
    print(report.table(settings, done))


if __name__ == "__main__":
    main()
