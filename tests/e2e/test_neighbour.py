#!/usr/bin/env python3
"""A busy neighbour: the gate waits or taints, and names it in the events, in the database and in the comparison."""
import os
import shutil
import sys
import time

from lib import Bed, Failed, Process, program, run_cases, until, whole

NAME = "qs-neighbour"  # as /proc and the agent see it: at most 15 bytes


def busy_ticks():
    """(all, busy) of every CPU since the start."""
    with open("/proc/stat", encoding="ascii") as f:
        user, nice, system, idle, wait, irq, soft, steal = map(int, f.readline().split()[1:9])
    return user + nice + system + idle + wait + irq + soft + steal, user + nice + system + irq + soft + steal


def ended_in_quiet(daemon, number):
    """The job, once it has ended; None where the machine was kept busy by others for two minutes. A gate stays shut beside them,
    rightly, so only the seconds count against the job in which nobody does; of those it needs a few at most."""
    quiet_s, noisy_s, before = 0, 0, busy_ticks()
    while (shown := daemon.show(number))["state"] in ("queued", "running"):
        time.sleep(0.5)
        now = busy_ticks()
        if now[1] - before[1] < 0.6 * (now[0] - before[0]):
            quiet_s += 0.5
        else:
            noisy_s += 0.5
        before = now
        if quiet_s > 60:
            raise Failed(f"the machine was quiet for a minute, and the job has not ended: {shown}")
        if noisy_s > 120:
            return None
    return shown


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


# The share is the neighbour's alone: what our own processes take beside it is left out, so it stays well below 100 %.
def job(gate, **plan):
    return {"quiesce": 1, "name": "beside", "benchmarks": [{"name": "true", "argv": ["true"]}],
            "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 2}, "warmup": {"iterations": 1}, "until": {"interval": 0}, **plan},
            "conditions": {"gate": [{"sensor": "cpu.busy_ratio_ppm", "below": "80%", **gate}], "bounds": "none"}}


def beside_ours(bed, daemon, on_timeout):
    """A job whose gates were all shut by our neighbour: (its number, its gates). Whoever else is busy on this machine may be
    the busiest for a while, and 100 ms of /proc/stat may catch a breath, so some jobs are tried."""
    for _ in range(40):
        number = daemon.job(job({"timeout": "300ms", "on_timeout": on_timeout}))
        daemon.ended(number)
        rows = bed.sql("SELECT g.outcome, g.busiest, w.taint & 1 FROM gate g JOIN window w ON w.id = g.window_id "
                       "JOIN run r ON r.id = w.run_id WHERE r.job_id = ? ORDER BY w.id", number)
        if rows and all(outcome != "open" and NAME in (busiest or "") for outcome, busiest, _ in rows):
            break
    return number, rows


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
        tap.ok(event.data["value"] > 800000 == event.data["hi"], "its value and its bound", [event])
        neighbour.end()
        shown = ended_in_quiet(daemon, number)
        if shown is None:
            tap.skip("the job ends well once it is gone", "others keep this machine busy")
            return
        tap.equal(shown["state"], "done", "the job ends well once it is gone")
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
        number, rows = beside_ours(bed, daemon, "taint")
        tap.equal(daemon.show(number)["state"], "done", "the job is done all the same")
        tap.ok(rows and all(o == "tainted" and NAME in b and t for o, b, t in rows), "the database names it", rows)
        seen = [e.data["busiest"] for e in daemon.events(number).end() if e.kind == "gate.timeout"]
        tap.equal(seen, [b for _, b, _ in rows], "the events name it")
        readings = bed.sql("SELECT sensor, status, value > 800000 FROM v_gate WHERE job = ?", number)
        tap.equal(set(readings), {("cpu.busy_ratio_ppm", "ok", 1)}, "the deciding readings are kept")
        compared = daemon.get(f"/jobs/{number}/compare").want(200).json
        tap.ok(any(t["code"].startswith("gate") and NAME in (t["busiest"] or "") for t in compared["taints"]),
               "the comparison names it", [compared["taints"]])
        neighbour.end()


def the_gate_fails(tap):
    """on_timeout: fail ends the job and names the neighbour"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        neighbour = Neighbour(bed)
        number, _ = beside_ours(bed, daemon, "fail")
        shown = daemon.show(number)
        tap.ok(shown["state"] == "failed" and NAME in shown["reason"], "the job fails and says because of whom", [shown["reason"]])
        (result,) = [e.data for e in daemon.events(number).end() if e.kind == "job.result"]
        tap.equal(result["exit"], 4, "a client learns that it was a precondition")
        neighbour.end()
        shown = ended_in_quiet(daemon, daemon.job(job({"timeout": "1h"})))
        if shown is None:
            tap.skip("the next job runs", "others keep this machine busy")
        else:
            tap.equal(shown["state"], "done", "the next job runs")


def a_deferred_job_comes_back(tap):
    """on_timeout: requeue gives the device back, lets another job go first, and ends well later"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        flag = os.path.join(bed.path, "flag")
        neighbour = Neighbour(bed)
        number = daemon.job(job({"timeout": "200ms", "on_timeout": "requeue"}))
        until("it is given back", lambda: "tried again" in daemon.text)
        tap.ok("busiest: " in daemon.text, "the log says who was busy", daemon.text.splitlines())
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
