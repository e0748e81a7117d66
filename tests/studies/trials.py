"""What studies of harness programs share: trials, each one run of one program through a quiesced and an agent of their own, a line of
JSON each as soon as it is known; started again, a study goes on where it was."""
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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from own_daemon import machine, own_daemon  # noqa: E402

WINDOW = 4096  # iterations, the most that one window has


class Series:
    """One program with its parameters; a trial is one process of it and so many iterations, each of one evaluation."""

    def __init__(self, name, program, iterations, layout="random", benchmark=None, **params):
        self.name, self.program, self.iterations = name, program, iterations
        self.layout, self.benchmark, self.params = layout, benchmark, params

    def told(self):
        return {k: v for k, v in vars(self).items() if k not in ("name", "made_of")}

    def argv(self, build, seed):
        del seed
        return [os.path.join(build, self.program)]

    def plan(self):
        return {"window": {"iterations": min(WINDOW, self.iterations)}, "stop": {"fixed": {"iterations": self.iterations}},
                "caps": {"iterations": self.iterations, "time": "60s"}}

    def job(self, build, seed):
        """One run, as the tools of the papers would have it: no gate, and no window is repeated for what happened in it."""
        which = {"benchmark": self.benchmark} if self.benchmark else {}
        return {"quiesce": 1, "conditions": {"gate": "none", "bounds": "none"},
                "benchmarks": [{"name": self.name, "mode": "harness", "evals": 1, "layout": self.layout, "params": self.params, **which,
                                "argv": self.argv(build, seed)}],
                "plan": {"seed": seed, "blocks": 1, "until": {"interval": 0}, "warmup": {"iterations": 0}, **self.plan()}}


def arguments(text, trials, out="results, one JSON line per trial", **more):
    p = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default="build", help="folder of the release build (build)")
    p.add_argument("--out", required=True, help=out)
    p.add_argument("--trials", type=int, default=trials, help=f"of each series ({trials})")
    p.add_argument("--seed", type=int, default=1, help="of the order of the trials and of their layouts (1)")
    p.add_argument("--minutes", type=float, help="start no trial after so long")
    p.add_argument("--report", action="store_true", help="print the tables of --out, and measure nothing")
    for name, (fallback, what) in more.items():
        p.add_argument(f"--{name}", type=type(fallback), default=fallback, help=f"{what} ({fallback})")
    return p.parse_args()


def mend(path):
    """Takes back a last line that was cut: what is appended must begin a line of its own."""
    with open(path, "rb+") as f:
        data = f.read()
        f.truncate(data.rfind(b"\n") + 1)


def read(path):
    """(the study's settings, its trials in order)"""
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(text) for text in f if text.endswith("\n")]
    return (lines[0], lines[1:]) if lines else (None, [])


def plan(series, trials, seed, done):
    """(series, number) of what is left; each round has every series once, in an order that is drawn."""
    seen = {(t["series"], t["trial"]) for t in done}
    for number in range(trials):
        for one in random.Random(f"{seed} {number}").sample(series, len(series)):
            if (one.name, number) not in seen:
                yield one, number


def seed_of(seed, name, number):
    """Of one trial: what its job draws."""
    return random.Random(f"{seed} {name} {number}").getrandbits(48)


def trial(own, build, one, seed, number):
    line = {"series": one.name, "trial": number, "load1": os.getloadavg()[0], "seed": seed_of(seed, one.name, number)}
    began = time.monotonic()
    job = own.submit(one.job(build, line["seed"]), "--wait")["job"]
    line["elapsed_s"] = round(time.monotonic() - began, 4)
    line["ns"] = [ns for (ns,) in own.rows("SELECT t.duration_ns FROM run r JOIN window w ON w.run_id = r.id JOIN iteration t ON t.window_id = w.id "
                                           "WHERE r.job_id = ? AND w.phase = 1 ORDER BY w.first_seq, t.i", job)][:one.iterations]
    return line


def daemon_of(build, folder):
    """The daemon of a build, with its static agent where there is one."""
    agents = [os.path.join(build, "agent", name) for name in ("quiesce-agent-static", "quiesce-agent")]
    return own_daemon(os.path.join(build, "daemon/quiesced"), os.path.join(build, "daemon/ctl/quiesce"), folder,
                      "--agent", next(filter(os.path.exists, agents), agents[-1]))


def measure(args, series, done):
    build = os.path.abspath(args.build)
    end = time.monotonic() + args.minutes * 60 if args.minutes else float("inf")
    with tempfile.TemporaryDirectory() as folder, open(args.out, "a", encoding="utf-8") as out, daemon_of(build, folder) as own:
        for one, number in plan(series, args.trials, args.seed, done):
            if time.monotonic() >= end:
                break
            line = trial(own, build, one, args.seed, number)
            print(json.dumps(line), file=out, flush=True)
            done.append(line)


def study(name, args, series, report):
    """Measures what is left unless only the report is wanted, and prints report(settings, trials)."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(f"{name}: ended by SIGTERM; start it again to go on"))
    settings, done = None, []
    if os.path.exists(args.out):
        mend(args.out)
        settings, done = read(args.out)
    if not args.report:
        wanted = {"study": name, "version": 1, "seed": args.seed, "machine": machine(), "series": {s.name: s.told() for s in series}}
        if settings and settings != wanted:
            sys.exit(f"{name}: {args.out} belongs to another study: {json.dumps(settings)}")
        if not settings:
            with open(args.out, "w", encoding="utf-8") as f:
                print(json.dumps(wanted), file=f)
        settings = wanted
        measure(args, series, done)
    if not done:
        sys.exit(f"{name}: there is no trial in {args.out}")
    print(report(settings, done))


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def load_of(trials):
    loads = sorted(t["load1"] for t in trials)
    return f"load before a trial {loads[0]:.1f} to {loads[-1]:.1f}, median {loads[len(loads) // 2]:.1f}"


@contextlib.contextmanager
def lines_file(lists):
    """A file with a list of numbers a line, as the programs of studies read it."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        for numbers in lists:
            print(*numbers, file=f)
        f.flush()
        yield f.name


def said(program, *argv):
    """The JSON that a program of a study prints."""
    done = subprocess.run([program, *map(str, argv)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{os.path.basename(program)} ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)
