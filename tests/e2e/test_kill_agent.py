#!/usr/bin/env python3
"""kill -9 of the agent and of the benchmark: what was measured is tainted or failed with a reason, the job goes on."""
import os
import signal
import sys

from killing import BLOCKS, JOB, farm, judge, moves, reach
from lib import AGENT, Bed, agent_below, carrying, children, run_cases, until, whole


def agents_of(daemon):
    """The live agents below the daemon's children, which are their supervisors."""
    return [agent_below(pid) for pid in children(daemon.pid)]


def exec_agent_is_relaunched(tap):
    """An agent that is the daemon's child and is killed, in any state, is started again, and the job goes on"""
    with Bed() as bed:
        daemon = bed.daemon(farm({"link": "exec", "argv": [AGENT, "--stdio"]}), "--log-level", "debug")
        daemon.device_ready()
        lost = 0
        for state in ("setup", "gate", "window", "cleanup"):
            before = len(moves(daemon))
            job = daemon.job(JOB)
            until(f"the job run is in {state}", lambda: state in moves(daemon)[before:], pause_s=0.002)
            (agent,) = agents_of(daemon)
            os.kill(agent, signal.SIGKILL)
            shown = daemon.ended(job)
            tap.equal(shown["state"], "done", f"killed in {state}: the job goes on to its end")
            kinds = [e.kind for e in daemon.events(job).end()]
            tap.ok("job.lost" in kinds and "job.back" in kinds, f"killed in {state}: the events say so", [kinds])
            tap.equal(judge(bed, job, set()), [], f"killed in {state}: blocks are whole, interrupted ones are tainted")
            (successor,) = agents_of(daemon)
            tap.ok(successor != agent, f"killed in {state}: another agent runs")
            lost += 1
        tap.equal(bed.one("SELECT count(*) FROM event WHERE kind = 'job.lost'"), lost, "one loss for each kill")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def benchmark_dies_with_its_agent(tap):
    """A benchmark does not outlive its agent, nor does what it has started: nothing goes on that nobody measures"""
    with Bed() as bed:
        mark = f"QS_MARK=orphan-{os.getpid()}"
        bench = {"name": "long", "argv": ["sh", "-c", "sleep 1000 & setsid sleep 1000 & wait"], "env": dict([mark.split("=")])}
        daemon = bed.daemon(farm({"link": "exec", "argv": [AGENT, "--stdio"]}), "--log-level", "debug")
        daemon.device_ready()
        job = daemon.job({**JOB, "benchmarks": [bench]})
        reach(daemon, "window")
        for name, victim in (("agent", lambda: agents_of(daemon)[0]), ("supervisor", lambda: children(daemon.pid)[0])):
            before = set(until("the benchmark runs", lambda: len(carrying(mark)) >= 3 and carrying(mark)))
            os.kill(victim(), signal.SIGKILL)
            until(f"the {name} was killed, and the benchmark has ended", lambda b=before: not b & set(carrying(mark)))
        until("another agent measures", lambda: carrying(mark))
        daemon.ask("POST", f"/jobs/{job}:cancel").want(200)
        tap.equal(daemon.ended(job)["state"], "cancelled", "a job that runs is cancelled")
        tap.equal(carrying(mark), [], "and its benchmark is gone")
        tap.equal(whole(bed, job), [], "the database holds together")


def unix_agent_that_dies(tap):
    """An agent with a life of its own that is killed: its job waits for the next one and goes on"""
    with Bed() as bed:
        agent = bed.agent()
        daemon = bed.daemon(farm({"link": "unix", "address": f"{bed.path}/agent.sock"}), "--log-level", "debug")
        daemon.device_ready()
        job = daemon.job(JOB)
        reach(daemon, "window", 3)
        agent.kill()
        reach(daemon, "lost")
        tap.equal(daemon.show(job)["state"], "running", "the job is still running while nobody answers")
        bed.agent()
        tap.equal(daemon.ended(job)["state"], "done", "and ends well")
        tap.equal(judge(bed, job, set()), [], "blocks are whole, interrupted ones are tainted")


def killed_benchmark(tap):
    """kill -9 of the benchmark: the iteration is tainted with its signal, the job goes on"""
    with Bed() as bed:
        daemon = bed.daemon(None, "--log-level", "debug")
        daemon.device_ready()
        mark = f"QS_MARK=victim-{os.getpid()}"
        bench = {"name": "victim", "argv": ["sleep", "0.2"], "env": dict([mark.split("=")])}
        plan = {**JOB["plan"], "window": {"iterations": 2}}
        job = daemon.job({**JOB, "benchmarks": [bench], "plan": plan})
        reach(daemon, "window", 3)  # behind the pilots of both arms
        (victim,) = until("the benchmark runs", lambda: carrying(mark))
        os.kill(victim, signal.SIGKILL)
        shown = daemon.ended(job)
        tap.equal(shown["state"], "done", "the job goes on to its end")
        killed = bed.sql("SELECT taint & 8, status, count(*) FROM v_iteration WHERE status <> 0 GROUP BY 1, 2")
        tap.equal(killed, [(8, -9, 1)], "one iteration is tainted with signal 9")
        tap.equal(whole(bed, job), [], "the database holds together")
        told = daemon.get(f"/jobs/{job}/compare").want(200).json["results"][0]["arms"]
        tap.equal(sum(a["iterations_tainted"] for a in told), 1, "the comparison says so")


def leaves_for_the_next_start(tap):
    """SIGTERM in the middle of a job: the daemon ends at once and well, the next one goes on with the job"""
    with Bed() as bed:
        bed.agent()
        config = farm({"link": "unix", "address": f"{bed.path}/agent.sock"})
        daemon = bed.daemon(config, "--log-level", "debug")
        daemon.device_ready()
        job = daemon.job(JOB)
        reach(daemon, "window", 4)
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        tap.ok(not os.path.exists(bed.socket), "and takes its socket away")
        tap.equal(bed.one("SELECT state FROM job"), "running", "the job is left where it was")
        daemon = bed.daemon(config, "--log-level", "debug")
        tap.equal(daemon.ended(job)["state"], "done", "the job ends well under the next daemon")
        tap.equal(judge(bed, job, set()), [], "blocks are whole, interrupted ones are tainted")
        tap.equal(len({b for b in bed.sql("SELECT block FROM run WHERE block > 0")}), BLOCKS, "as many blocks as were asked for")


CASES = {"exec": [exec_agent_is_relaunched],
         "rest": [benchmark_dies_with_its_agent, unix_agent_that_dies, killed_benchmark, leaves_for_the_next_start]}

if __name__ == "__main__":
    wanted = CASES.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if wanted:
        sys.argv = sys.argv[:1]
    run_cases(*(wanted or sum(CASES.values(), [])))
