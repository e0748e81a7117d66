#!/usr/bin/env python3
"""Spread of a fixed 1 ms loop in mode harness: with the daemon of this machine idle, with it busy elsewhere and silent in the windows,
and with it busy elsewhere and not silent. Window by window in drawn order, by one daemon, one agent and one program.

    silence.py QUIESCED QUIESCE AGENT LOOP

Busy: CLIENTS ask for a job of 100 000 iterations as CSV over and over (on processor 0, which the loop leaves), and a
simulated device measures, so that its windows are stored. Without silence: the same agent is a second device that the
farm file says is not on this machine (`local: false`), in whose windows the daemon may go on.
"""
import contextlib
import http.client
import json
import multiprocessing
import os
import random
import socket
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from own_daemon import machine, own_daemon  # noqa: E402
from through_daemon import interval  # noqa: E402

SMOKE = "QS_BENCH_SMOKE" in os.environ
ROUNDS, ITERATIONS, CLIENTS, DRAWS = (1, 5, 1, 10) if SMOKE else (40, 200, 4, 4000)
CASES = {"idle": ("silent", False), "busy, silent": ("silent", True), "busy, not silent": ("open", True)}  # device, load


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def read_on(path, job, answers_bytes, end):
    """One client; counts what it gets."""
    os.sched_setaffinity(0, {0})
    connection = Unix(path)
    while not end.is_set():
        connection.request("GET", f"/api/v1/jobs/{job}/export?format=csv")
        response = connection.getresponse()
        while data := response.read(1 << 16):
            with answers_bytes.get_lock():
                answers_bytes.value += len(data)


def job_of(device, benchmark, blocks, iterations):
    return {"quiesce": 1, "benchmarks": [benchmark], "devices": {"where": f'name == "{device}"'}, "conditions": {"gate": "none", "bounds": "none"},
            "plan": {"blocks": blocks, "until": {"interval": 0}, "window": {"iterations": iterations}, "warmup": {"iterations": 0}}}


class Bed:
    def __init__(self, own, loop):
        self.own, self.loop, self.rounds = own, loop, 400000
        self.filler = own.submit(job_of("silent", self.benchmark(100), *((1, 50) if SMOKE else (25, 4000))), "--wait")["job"]
        durations, _ = self.window("silent", 50)
        self.rounds = round(self.rounds * 1e6 / statistics.median(durations))

    def benchmark(self, rounds):
        return {"name": "loop", "mode": "harness", "argv": [self.loop], "params": {"rounds": rounds}}

    def window(self, device, iterations):
        """Its durations in ns, and what is claimed of its silence."""
        job = self.own.submit(job_of(device, self.benchmark(self.rounds), 1, iterations), "--wait")["job"]
        rows = self.own.rows("SELECT duration_ns FROM v_iteration WHERE job = ? ORDER BY seq", job)
        ((claim,),) = self.own.rows("SELECT silence FROM v_window WHERE job = ? AND phase = 'measure'", job)
        return [ns for (ns,) in rows], claim

    @contextlib.contextmanager
    def busy(self):
        """What the daemon has to do elsewhere; yields what its clients have got."""
        answers_bytes, end = multiprocessing.Value("q", 0), multiprocessing.Event()
        clients = [multiprocessing.Process(target=read_on, args=(self.own.socket, self.filler, answers_bytes, end)) for _ in range(CLIENTS)]
        simulated = self.own.submit(job_of("pretend", {"name": "other", "argv": ["other"]}, 10000, 50))["id"]
        for client in clients:
            client.start()
        try:
            yield answers_bytes
        finally:
            end.set()
            for client in clients:
                client.join(60)
            self.own.said("cancel", str(simulated))

    def measure(self, case):
        device, load = CASES[case]
        with self.busy() if load else contextlib.nullcontext() as answers_bytes:
            durations, claim = self.window(device, ITERATIONS)
            got_bytes = answers_bytes.value if load else 0
        return {"cov": statistics.stdev(durations) / statistics.mean(durations), "median_ns": statistics.median(durations),
                "max_ns": max(durations), "answer_bytes": got_bytes, "claim": claim}


def middle(rounds, case, what):
    return statistics.median(r[case][what] for r in rounds)


def report(rounds, rng):
    draws = [rng.choices(rounds, k=len(rounds)) for _ in range(DRAWS)]
    print(f"a loop of 1 ms, {len(rounds)} windows of {ITERATIONS} iterations a case, order drawn; medians over windows; {machine()}, load {os.getloadavg()[0]:.1f}")
    for case in CASES:
        claims = {c: sum(r[case]["claim"] == c for r in rounds) for c in sorted({r[case]["claim"] for r in rounds})}
        print(f"  {case:18s} CoV {100 * middle(rounds, case, 'cov'):6.2f} %, {interval([100 * middle(d, case, 'cov') for d in draws])}; "
              f"longest iteration {middle(rounds, case, 'max_ns') / 1e6:.2f} ms, median {middle(rounds, case, 'median_ns') / 1e6:.3f} ms; "
              f"{middle(rounds, case, 'answer_bytes') / 1e6:.1f} MB answered; claimed: {', '.join(f'{k} ({n})' for k, n in claims.items())}")
    for over, under in (("busy, not silent", "busy, silent"), ("busy, silent", "idle"), ("busy, not silent", "idle")):
        def ratio(some):
            return middle(some, over, "cov") / middle(some, under, "cov")
        print(f"  CoV of {over} over {under}: {ratio(rounds):.2f}, {interval([ratio(d) for d in draws])}")


def main():
    quiesced, quiesce, agent, loop = (os.path.abspath(path) for path in sys.argv[1:])
    rng, rounds = random.Random(1), []
    with tempfile.TemporaryDirectory() as folder:
        farm = os.path.join(folder, "farm.json")
        device = {"link": "exec", "argv": [agent, "--stdio"]}
        with open(farm, "w", encoding="utf-8") as f:
            json.dump({"devices": {"silent": device, "open": {**device, "local": False}, "pretend": {"link": "sim", "sim_seed": 1}}}, f)
        with own_daemon(quiesced, quiesce, folder, "--config", farm) as own:
            bed = Bed(own, loop)
            for _ in range(ROUNDS):
                rounds.append({case: bed.measure(case) for case in rng.sample(list(CASES), len(CASES))})
    report(rounds, rng)


if __name__ == "__main__":
    main()
