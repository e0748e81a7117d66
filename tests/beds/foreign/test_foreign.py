#!/usr/bin/env python3
"""A static agent for another processor, under QEMU's user mode: what it says of itself, and whole jobs. What it measures is native, because QEMU leaves
execve to the kernel. Usage: test_foreign.py ARCHITECTURE"""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e"))
from lib import AGENT, Bed, Failed, program, run_cases  # noqa: E402  (the path has to be known first)

ARCHITECTURE = sys.argv.pop(1)
EMULATOR, MACHINE = {"arm64": ("qemu-aarch64-static", "aarch64"), "armhf": ("qemu-arm-static", "armv7l"),
                     "riscv64": ("qemu-riscv64-static", "riscv64")}[ARCHITECTURE]
FOREIGN = os.environ["QS_AGENT_FOREIGN"]


def said(*words, only=None):
    """What the agent writes, on these processors alone."""
    def keep():
        if only:
            os.sched_setaffinity(0, only)
    done = subprocess.run([EMULATOR, FOREIGN, *words], capture_output=True, text=True, timeout=60, check=False, preexec_fn=keep)
    if done.returncode != 0:
        raise Failed(f"{words} ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def facts(text):
    return dict(line.split(": ", 1) for line in text.splitlines())


def itself(tap):
    """Its version is the native agent's, and its facts are this machine's, whichever processors it may use"""
    tap.equal(said("--version"), subprocess.run([AGENT, "--version"], capture_output=True, text=True, check=True).stdout, "the version")
    tap.equal(said("--dump-states"), subprocess.run([AGENT, "--dump-states"], capture_output=True, text=True, check=True).stdout, "its table of states")
    first = min(os.sched_getaffinity(0))
    fact = facts(said("--facts", only={first}))
    tap.equal(fact["machine"], MACHINE, "the machine")
    with open("/sys/devices/system/cpu/online", encoding="ascii") as f:
        tap.equal((fact["cpus_online"], fact["cpus_allowed"]), (f.read().strip(), str(first)), "processors that are there, and those that it may use")
    with open("/proc/meminfo", encoding="ascii") as f:
        tap.equal(int(fact["memory_bytes"]), int(f.readline().split()[1]) * 1024, "memory, of which the number has more than 32 bits")
    tap.equal((int(fact["page_bytes"]), fact["simulated"]), (os.sysconf("SC_PAGESIZE"), "no"), "pages")


def job(arms, **more):
    return {"quiesce": 1, "benchmarks": [{"name": "b", **more}], "arms": arms, "conditions": {"gate": "none", "bounds": "none"},
            "plan": {"seed": 1, "blocks": {"min": 2, "max": 2}, "window": {"iterations": 3}, "warmup": {"iterations": 0}, "until": {"interval": 0}}}


def whole_jobs(tap):
    """Jobs of commands and of a harness program: all windows, their values, how commands end"""
    with Bed() as bed:
        daemon = bed.daemon({"devices": {"board": {"link": "exec", "argv": [EMULATOR, FOREIGN, "--stdio"]}}})
        daemon.device_ready("board")
        numbers = [daemon.job(job({"short": {"argv": ["sleep", "0.02"]}, "long": {"argv": ["sleep", "0.05"]}})),
                   daemon.job(job({"a": {"env": {"A": "a"}}, "b": {"env": {"A": "b"}}}, mode="harness", argv=[program("bench")], evals=1,
                                  params={"work_ns": [20000]})),
                   daemon.job(job({"bad": {"shell": "exit 7"}}))]
        tap.equal([daemon.ended(number)["state"] for number in numbers], ["done"] * 3, "all end well")
        rows = bed.sql("SELECT arm, block, count(*), min(duration_ns), max(duration_ns) FROM v_iteration WHERE job = ? AND block > 0"
                       " GROUP BY 1, 2 ORDER BY 1, 2", numbers[0])
        tap.equal([row[:3] for row in rows], [("long", 1, 3), ("long", 2, 3), ("short", 1, 3), ("short", 2, 3)], "each iteration is there")
        tap.ok(all(row[3] >= (50_000_000 if row[0] == "long" else 20_000_000) for row in rows), "none is shorter than its sleep", rows)
        tap.equal(bed.sql("SELECT arm, block, count(*), min(duration_ns) >= 20000 FROM v_iteration WHERE job = ? AND block > 0 GROUP BY 1, 2 ORDER BY 1, 2",
                          numbers[1]), [("a", 1, 3, 1), ("a", 2, 3, 1), ("b", 1, 3, 1), ("b", 2, 3, 1)], "those of the program, too")
        tap.equal(bed.sql("SELECT DISTINCT status FROM v_iteration WHERE job = ?", numbers[2]), [(7,)], "a command that fails is seen")


if shutil.which(EMULATOR):
    run_cases(itself, whole_jobs)
else:
    print(f"1..0 # SKIP {EMULATOR} of the package qemu-user-static is not installed")
