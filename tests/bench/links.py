#!/usr/bin/env python3
"""What Quiesce adds to the ways by which it reaches devices, against the same way with `cat` at its end, in the same run: the least of eight round
trips, and a file of 32 MiB that is pushed (and checked by SHA-256 on its way) against as many bytes into a file there that is synced."""
import json
import os
import statistics
import subprocess
import sys
import time

sys.path += [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", place) for place in ("e2e", "beds/ssh")]

import sshd
from lib import Bed, until

ROUNDS, TRIPS, MIB = 5, 8, 32
JOB = {"quiesce": 1, "benchmarks": [{"name": "true", "argv": ["true"], "inputs": {"big": "big"}}], "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 1},
       "warmup": {"iterations": 0}, "until": {"interval": 0}}, "conditions": {"gate": "none", "bounds": "none"}}
PUSHED = ("SELECT b.wall_ns - a.wall_ns FROM event a JOIN event b ON a.job_id = b.job_id AND a.kind = 'job.push' AND b.kind = 'job.pushed' "
          "WHERE a.job_id = (SELECT max(id) FROM job)")


def line(what, ours, theirs, unit, scale, name):
    a, b = statistics.median(ours) * scale, statistics.median(theirs) * scale
    print(f"{what:46s} {a:9.2f} {unit}   {name} {b:9.2f} {unit}   ratio {a / b:.2f}   (of {len(ours)}, {min(ours) * scale:.2f} to {max(ours) * scale:.2f})")


def raw_trip_s(argv):
    """The least of some round trips of 64 bytes through a command that gives them back."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as child:
        def trip():
            before = time.perf_counter()
            child.stdin.write(b"x" * 63 + b"\n")
            got = 0
            while got < 64:
                got += len(child.stdout.read(64 - got))
            return time.perf_counter() - before
        trip()  # it has started
        least = min(trip() for _ in range(TRIPS))
        child.stdin.close()
    return least


def raw_rate(argv, blob, folder):
    """Bytes a second into a file, by a command that says when it lies on the disk; its start and end are not in it."""
    there = f"{folder}/quiesce-bench-{os.getpid()}"
    with subprocess.Popen([*argv, f"echo; head -c {len(blob)} >{there}; sync {there}; echo; rm {there}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as child:
        child.stdout.read(1)
        before = time.perf_counter()
        child.stdin.write(blob)
        child.stdin.flush()
        child.stdout.read(1)
        after = time.perf_counter()
        child.stdin.close()
    return len(blob) / (after - before)


def trip_s(bed, farm, name):
    daemon = bed.daemon(farm)
    daemon.device_ready(name)
    least = until("its clock is known", lambda: next(d for d in daemon.get("/devices").json["devices"] if d["name"] == name).get("clock_rtt_ns"))
    daemon.stop()
    return least / 1e9


def rate(bed, daemon, blob):
    with open(f"{bed.path}/big", "wb") as f:
        f.write(blob)
    done = bed.cli("submit", bed.file("job.yaml", json.dumps(JOB)), "--wait")
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    return len(blob) / (bed.one(PUSHED) / 1e9)


def compare(bed, what, farm, name, shell, folder="/tmp"):
    """shell: how this way is gone by hand; a command line for a shell comes behind it. folder: there, for a file."""
    pairs = [(trip_s(bed, farm, name), raw_trip_s([*shell, "cat"])) for _ in range(ROUNDS)]
    line(f"{what}: round trip", [p[0] for p in pairs], [p[1] for p in pairs], "ms", 1000, "raw")
    daemon = bed.daemon(farm)
    daemon.device_ready(name)
    blobs = [os.urandom(MIB << 20) for _ in range(ROUNDS)]  # each is new there
    pairs = [(rate(bed, daemon, blob), raw_rate(shell, blob, folder)) for blob in blobs]
    line(f"{what}: push of {MIB} MiB", [p[0] for p in pairs], [p[1] for p in pairs], "MB/s", 1e-6, "raw")
    daemon.stop()


def main():
    with Bed() as bed:
        agent = os.environ["QS_AGENT_STATIC"]
        compare(bed, "exec", {"devices": {"here": {"link": "exec", "argv": [agent, "--stdio"]}}}, "here", ["sh", "-c"])
    if sshd.lacking():
        print(f"no figures of ssh: {sshd.lacking()}")
        return
    with Bed() as bed, sshd.Board(bed) as board:
        farm = board.farm()
        entry = farm["devices"]["board"]
        compare(bed, "ssh", farm, "board", [*entry["argv"], "-T", "-oBatchMode=yes", entry["host"]])


if __name__ == "__main__":
    main()
