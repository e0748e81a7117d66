#!/usr/bin/env python3
"""The real adb: its server, and a real adbd in a box (box.py), with the real daemon and the static agent. A whole job; and whatever is between
us and the phone is killed in the middle of one."""
import os
import signal
import sys

sys.path += [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

import box
from lib import Bed, run_cases, until
from tap import Tap

NAME = "127.0.0.1-5555"
JOB = {"quiesce": 1, "benchmarks": [{"name": "nap", "argv": ["sleep", "0.02"]}], "devices": {"where": "link == \"adb\""},
       "plan": {"seed": 1, "blocks": 10, "window": {"iterations": 5}, "warmup": {"iterations": 0}, "until": {"interval": 0}},
       "conditions": {"gate": "none", "bounds": "none"}}
DONE = "SELECT count(*), count(DISTINCT run || ':' || seq), min(seq) FROM v_iteration WHERE run IN (SELECT run FROM v_run WHERE state = 'done')"
STORED = "SELECT count(*) FROM v_iteration"


def measured(tap):
    """A job over adb, with the servers of two versions: the phone is found, given the agent, measured"""
    for newer in (False, True):
        with Bed() as bed, box.Box(bed) as phone:
            phone.start_adbd()
            phone.start_server(newer)
            daemon = bed.daemon(phone.farm())
            device = daemon.device_ready(NAME)
            version = "of Debian 13" if newer else "of Debian 12"
            tap.equal((device["link"], device["facts"]["libc"]), ("adb", "static, not glibc"), f"the static agent runs there (server {version})")
            tap.equal(daemon.ended(daemon.job(JOB))["state"], "done", "a job is done")
            tap.equal(bed.sql(DONE), [(50, 50, 0)], "each iteration is stored once")
            kept = [name for name in os.listdir(f"{phone.root}/data/local/tmp") if name.startswith("quiesce-agent-")]
            tap.equal(len(kept), 1, "one agent lies there, and no part of one")


def killed(tap):
    """adbd, adb's server and the agent are killed in the middle of a job, which goes on"""
    with Bed() as bed, box.Box(bed) as phone:
        phone.start_adbd()
        phone.start_server()
        daemon = bed.daemon(phone.farm())
        daemon.device_ready(NAME)
        first = phone.pid()
        job = daemon.job(JOB)
        until("something is stored", lambda: bed.one(STORED) >= 5)
        for name, process, again, more in (("adbd", phone.adbd, phone.start_adbd, 15), ("the server", phone.server, phone.start_server, 25)):
            phone.end(process)
            until(f"the loss of {name} is noticed", lambda: daemon.get("/devices").json["devices"][0]["state"] == "down")
            again()
            daemon.device_ready(NAME)
            tap.equal(phone.pid(), first, f"the agent has outlived {name}")
            until("more is stored", lambda more=more: bed.one(STORED) >= more)
        os.kill(first, signal.SIGKILL)
        until("another one runs", lambda: phone.pid() not in (0, first))
        tap.equal(daemon.ended(job)["state"], "done", "the job is done all the same")
        tap.equal(bed.sql(DONE), [(50, 50, 0)], "all of its iterations, each once")


def others(tap):
    """Another client of adb in a window: that window is tainted, and no other one"""
    with Bed() as bed, box.Box(bed) as phone:
        phone.start_adbd()
        phone.start_server()
        daemon = bed.daemon(phone.farm())
        daemon.device_ready(NAME)
        job = daemon.job({**JOB, "benchmarks": [{"name": "nap", "argv": ["sleep", "0.3"]}], "plan": {**JOB["plan"], "blocks": 5},
                          "conditions": {**JOB["conditions"], "repeat_tainted": 0}})
        until("a window is stored", lambda: bed.one(STORED) >= 5)
        while bed.one(STORED) < 10:
            box.run("adb", "-P", box.PORT, "shell", "true", env=bed.env)
        tap.equal(daemon.ended(job)["state"], "done", "the job is done")
        grown = dict(bed.sql("SELECT window_id, after - before FROM evidence JOIN sensor ON id = sensor_id WHERE name = 'link.relay_cpu_us' ORDER BY window_id"))
        over = [by > 100 for by in grown.values()]
        tap.equal((len(over), over[:2], over[3:]), (5, [False, True], [False, False]), f"adbd ran in the second window ({grown})")
        tap.equal(bed.sql("SELECT window_id, code, value, bound FROM taint ORDER BY window_id"),
                  [(window, "link.relay_cpu_us", by, 100) for window, by in grown.items() if by > 100], "which is tainted")


if __name__ == "__main__":
    try:
        box.packages()  # from the network, which is not there inside
        box.enter()
    except box.Missing as why:
        tap = Tap()
        tap.skip("a real adbd", str(why))
        sys.exit(tap.done())
    run_cases(measured, killed, others)
