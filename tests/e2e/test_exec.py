#!/usr/bin/env python3
"""Commands whose output begins with what a login or a profile prints, as a link to an agent."""
from lib import AGENT, Bed, run_cases, until

JOB = {"quiesce": 1, "benchmarks": [{"name": "true", "argv": ["true"]}],
       "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 2}, "warmup": {"iterations": 1}, "until": {"interval": 0}},
       "conditions": {"gate": "none", "bounds": "none"}}
DONE = "SELECT count(*) FROM v_iteration WHERE block > 0 AND run IN (SELECT run FROM v_run WHERE state = 'done')"
BANNER = "\nLast login: Mon Nov 16 from desk\nQS of the day: be quiet\n"


def farm(command):
    return {"devices": {"board": {"link": "exec", "argv": [command]}}}


def a_banner_before_the_agent(tap):
    """What a profile prints before the agent speaks is skipped and told once; a whole job runs behind it, its windows silent"""
    with Bed() as bed:
        command = bed.file("board", f"#!/bin/sh\ncat {bed.file('banner', BANNER)}\nexec {AGENT} --stdio\n", 0o755)
        daemon = bed.daemon(farm(command))
        daemon.device_ready("board")
        told = (f'device=board its command printed {len(BANNER)} bytes before the agent spoke: "Last login: Mon Nov 16 from desk"; '
                "see that no profile prints anything for non-interactive shells")
        tap.ok(told in daemon.text, "how much it was, its first line, and what to do", daemon.text)
        tap.equal(daemon.ended(daemon.job(JOB))["state"], "done", "the job ends well")
        tap.equal(bed.one(DONE), 2, "its iterations are stored")
        tap.equal(bed.one("SELECT count(*) FROM v_window WHERE silence NOT IN ('proven', 'observed')"), 0, "its windows were silent")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        tap.equal(daemon.text.count("before the agent spoke"), 1, "told once")


def no_agent_behind_it(tap):
    """Where a login is all that there is, its words are in the reason"""
    with Bed() as bed:
        command = bed.file("board", "#!/bin/sh\necho 'This account is currently not available.'\nexit 1\n", 0o755)
        daemon = bed.daemon(farm(command))

        def why():
            (board,) = daemon.get("/devices").want(200).json["devices"]
            return board.get("why")
        tap.equal(until("the device is down", why),
                  f"{command} ended with exit code 1; it said instead: This account is currently not available.", "as it was said")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


run_cases(a_banner_before_the_agent, no_agent_behind_it)
