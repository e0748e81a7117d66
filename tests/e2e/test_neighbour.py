#!/usr/bin/env python3
"""A busy neighbour: the gate waits or taints, and names it in the events, in the database and in the comparison."""
import os
import shutil
import sys

from lib import Bed, Process, program, run_cases, until, whole

NAME = "qs-neighbour"  # as /proc and the agent see it: at most 15 bytes


class Neighbour:
    """One process that is busier than anything else on the machine, until it is ended."""

    def __init__(self, bed):
        path = os.path.join(bed.path, NAME)
        shutil.copy(program("hostile"), path)
        self.process = Process(bed, "neighbour", [path, "spin", str(8 * (os.cpu_count() or 1))])
        until("the neighbour is busy", lambda: self.used_s() > 1)

    def used_s(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as f:
            fields = f.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.kill()


def job(gate, **plan):
    return {"quiesce": 1, "name": "beside", "benchmarks": [{"name": "true", "argv": ["true"]}],
            "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 2}, "warmup": {"iterations": 1}, "until": {"interval": 0}, **plan},
            "conditions": {"gate": [{"sensor": "cpu.busy_ratio_ppm", "below": "50%", **gate}], "bounds": "none"}}


def the_gate_waits(tap):
    """While every CPU is busy the gate waits and says for whom; when it is gone the window opens, untainted"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        neighbour = Neighbour(bed)
        number = daemon.job(job({"timeout": "1h", "on_timeout": "fail"}))
        stream = daemon.events(number)
        event = stream.wait("gate.waiting", lambda e: e.kind == "gate.waiting" and NAME in (e.data["busiest"] or ""))
        tap.equal(event.data["sensor"], "cpu.busy_ratio_ppm", "the event names the sensor")
        tap.ok(event.data["value"] > 500000 == event.data["hi"], "its value and its bound", [event])
        neighbour.end()
        tap.equal(daemon.ended(number)["state"], "done", "the job ends well once it is gone")
        tap.equal(bed.sql("SELECT DISTINCT outcome FROM gate"), [("open",)], "every gate was open in the end")
        tap.equal(bed.one("SELECT max(taint) FROM window"), 0, "and nothing is tainted")
        tap.ok(bed.one("SELECT max(polls) FROM gate") > 1, "the wait is a record")
        tap.equal(whole(bed, number), [], "the database holds together")


def the_gate_taints(tap):
    """When the neighbour stays, the window is measured and tainted, and events, database and comparison name it"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        neighbour = Neighbour(bed)
        number = daemon.job(job({"timeout": "300ms", "on_timeout": "taint"}))
        shown = daemon.ended(number)
        tap.equal(shown["state"], "done", "the job is done all the same")
        seen = [e for e in daemon.events(number).end() if e.kind == "gate.timeout"]
        tap.ok(seen and all(NAME in e.data["busiest"] for e in seen), "the events name him", seen)
        rows = bed.sql("SELECT g.outcome, g.busiest, w.taint & 1 FROM gate g JOIN window w ON w.id = g.window_id")
        tap.ok(rows and all(o == "tainted" and NAME in b and t for o, b, t in rows), "the database names it", rows)
        readings = bed.sql("SELECT sensor, status, value > 500000 FROM v_gate")
        tap.equal(set(readings), {("cpu.busy_ratio_ppm", "ok", 1)}, "the deciding readings are kept")
        compared = daemon.get(f"/jobs/{number}/compare").want(200)
        tap.ok("gate" in compared.text and NAME in compared.text, "the comparison names it", [compared.text[:3000]])
        neighbour.end()


def the_gate_fails(tap):
    """on_timeout: fail ends the job and names the neighbour"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        neighbour = Neighbour(bed)
        number = daemon.job(job({"timeout": "300ms", "on_timeout": "fail"}))
        shown = daemon.ended(number)
        tap.ok(shown["state"] == "failed" and NAME in shown["reason"], "the job fails and says because of whom", [shown["reason"]])
        (result,) = [e.data for e in daemon.events(number).end() if e.kind == "job.result"]
        tap.equal(result["exit"], 4, "a client learns that it was a precondition")
        neighbour.end()
        tap.equal(daemon.ended(daemon.job(job({"timeout": "1h"})))["state"], "done", "the next job runs")


def a_deferred_job_comes_back(tap):
    """on_timeout: requeue gives the device back, lets another job go first, and ends well later"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        flag = os.path.join(bed.path, "flag")
        neighbour = Neighbour(bed)
        number = daemon.job(job({"timeout": "200ms", "on_timeout": "requeue"}))
        until("it is given back", lambda: "tried again" in daemon.text)
        tap.ok(NAME in daemon.text, "the log names the neighbour", daemon.text.splitlines())
        tap.ok("given back" in (daemon.show(number).get("why") or ""), "the waiting job says why", [daemon.show(number)])
        other = daemon.job({**job({}), "benchmarks": [{"name": "touch", "argv": ["touch", flag]}], "conditions": {"gate": "none"}})
        tap.equal(daemon.ended(other)["state"], "done", "another job goes first")
        neighbour.end()
        daemon.ask("POST", f"/jobs/{number}:cancel").want(200)
        tap.equal(daemon.ended(number)["state"], "cancelled", "a job that waits is cancelled")


if __name__ == "__main__":
    only = {"wait": [the_gate_waits], "rest": [the_gate_taints, the_gate_fails, a_deferred_job_comes_back]}
    chosen = only.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if chosen:
        sys.argv = sys.argv[:1]
    run_cases(*(chosen or sum(only.values(), [])))
