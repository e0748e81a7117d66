#!/usr/bin/env python3
"""The static agent at rest, as it runs on devices: what it keeps resident after a job, and how often it wakes up while a host is connected that wants nothing.
Neither depends on speed: both are counted by the kernel."""
import os
import time

from lib import Bed, agent_below, children, run_cases

STATIC = os.path.join(os.environ["QS_BUILD"], "agent", "quiesce-agent-static")
RESIDENT_KIB = 2048
LOOK_S = 5


def status(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def resident_kib(pid):
    return int(status(pid)["VmRSS"].split()[0])


def wakes(pid):
    return int(status(pid)["voluntary_ctxt_switches"])


def at_rest(tap):
    """After a job of thousands of iterations, with a host that only asks whether it is there"""
    if not os.path.exists(STATIC):
        tap.skip("at rest", "there is no static agent: musl-gcc is not installed (musl-tools)")
        return
    with Bed() as bed:
        daemon = bed.daemon({"devices": {"local": {"link": "exec", "argv": [STATIC, "--stdio"]}}})
        daemon.device_ready()
        number = daemon.job({"quiesce": 1, "benchmarks": [{"name": "b", "argv": ["true"]}],
                             "plan": {"seed": 1, "blocks": 2, "window": {"iterations": 1000}, "until": {"interval": 0}},
                             "conditions": {"gate": "none", "bounds": "none"}})
        tap.equal(daemon.ended(number)["state"], "done", "a job has run")
        tap.ok(bed.one("SELECT count(*) FROM v_iteration WHERE job = ?", number) >= 2000, "of two thousand iterations")
        (supervisor,) = children(daemon.pid)
        agent = agent_below(supervisor)
        kib = resident_kib(agent) + resident_kib(supervisor)
        tap.ok(kib <= RESIDENT_KIB, f"agent and supervisor have at most {RESIDENT_KIB} KiB resident", [f"{kib} KiB"])
        time.sleep(1)  # what follows the job's end is over
        before, began = (wakes(agent), wakes(supervisor)), time.monotonic()
        time.sleep(LOOK_S)
        after, seconds = (wakes(agent), wakes(supervisor)), time.monotonic() - began
        tap.ok(after[0] - before[0] <= seconds + 1, "the agent wakes up at most once a second", [f"{after[0] - before[0]} times in {seconds:.1f} s"])
        tap.equal(after[1] - before[1], 0, "its supervisor never")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


run_cases(at_rest)
