#!/usr/bin/env python3
"""Agents at the end of a serial line: two pseudo-terminals whose far ends are tied together, as by a null modem cable. Nobody hears the
other side hang up on such a line; only silence tells."""
import os
import select
import subprocess
import threading
import tty

from lib import AGENT, Agent, Bed, agent_below, run_cases, until

JOB = {"quiesce": 1, "benchmarks": [{"name": "true", "argv": ["true"]}],
       "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 2}, "warmup": {"iterations": 1}, "until": {"interval": 0}},
       "conditions": {"gate": "none", "bounds": "none"}}


class Cable:
    """Its two ends are paths of terminals, which stay open here, so that no end is ever hung up."""

    def __init__(self):
        pairs = [os.openpty(), os.openpty()]
        self.far, self.near = [p[0] for p in pairs], [p[1] for p in pairs]
        self.ends = [os.ttyname(fd) for fd in self.near]
        for fd in self.near:
            tty.setraw(fd)
        self.pulled, self.pull = os.pipe()
        self.thread = threading.Thread(target=self.carry, daemon=True)
        self.thread.start()

    def carry(self):
        while True:
            ready, _, _ = select.select([*self.far, self.pulled], [], [])
            if self.pulled in ready:
                return
            for fd in ready:
                data = os.read(fd, 4096)
                to = self.far[1 - self.far.index(fd)]
                while data:
                    data = data[os.write(to, data):]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.write(self.pull, b"x")
        self.thread.join()
        for fd in (*self.far, *self.near, self.pulled, self.pull):
            os.close(fd)


class Respawned:
    """An agent that is started again whenever it ends, as init does with a getty."""

    def __init__(self, bed, line):
        self.bed, self.line, self.count, self.over = bed, line, 0, False
        self.now = None
        self.thread = threading.Thread(target=self.keep, daemon=True)
        self.thread.start()

    def keep(self):
        while not self.over:
            self.now = Agent(self.bed, "agent", [AGENT, "--serial", self.line])
            self.count += 1
            self.now.child.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over = True
        until("the last agent ends", lambda: self.now.kill(15) or not self.thread.is_alive())


DONE = "SELECT count(*) FROM v_iteration WHERE block > 0 AND run IN (SELECT run FROM v_run WHERE state = 'done')"


def farm(line):
    return {"devices": {"board": {"link": "serial", "address": line}}}


def terminal_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return int(f.read().rpartition(")")[2].split()[4])


def a_job_over_the_line(tap):
    """A whole job runs over a serial line; the agent is nobody's terminal session, and ends with its session like a getty"""
    with Bed() as bed, Cable() as cable:
        agent = Agent(bed, "agent", [AGENT, "--serial", cable.ends[0]])
        daemon = bed.daemon(farm(f"{cable.ends[1]},921600"))
        daemon.device_ready("board")
        (board,) = daemon.get("/devices").want(200).json["devices"]
        tap.equal((board["link"], board["local"]), ("serial", False), "it is told as what it is")
        tap.equal([terminal_of(pid) for pid in (agent.pid, agent_below(agent.pid))], [0, 0], "the line is not the agent's terminal")
        tap.equal(daemon.ended(daemon.job(JOB))["state"], "done", "the job ends well")
        tap.equal(bed.one(DONE), 2, "its iterations are stored")
        tap.equal({s for (s,) in bed.sql("SELECT DISTINCT silence FROM v_window")}, {"observed"}, "silence was observed on our side")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        tap.equal(agent.wait(), 0, "and the agent after it")


def nobody_hangs_up(tap):
    """A daemon that dies leaves a line that says nothing: the agent ends by that silence, and the next one serves the next daemon"""
    with Bed() as bed, Cable() as cable, Respawned(bed, cable.ends[0]) as board:
        daemon = bed.daemon(farm(cable.ends[1]))
        daemon.device_ready("board")
        first = board.count
        daemon.kill()
        daemon = bed.daemon(farm(cable.ends[1]))
        daemon.device_ready("board")
        tap.ok(board.count > first, "another agent serves", [first, board.count])
        tap.equal(daemon.ended(daemon.job(JOB))["state"], "done", "a job ends well")
        tap.equal(bed.one(DONE), 2, "its iterations are stored")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def refusals(tap):
    """What is no serial line, a second way to be reached and a key are refused, and the words say what to do"""
    with Bed() as bed:
        for argv, words in ((["--serial", "/dev/null"], ["cannot talk over the serial line /dev/null"]),
                            (["--serial", f"{bed.path}/none"], ["none", "No such file"]),
                            (["--serial", "/dev/null", "--stdio"], ["choose one of --stdio, --serial PATH, --listen ADDRESS and --usb"]),
                            (["--serial", "/dev/null", "--key-file", "x"], ["no key on a --serial link", "--key-file"])):
            told = subprocess.run([AGENT, *argv], capture_output=True, text=True, timeout=60, check=False, env=bed.env, stdin=subprocess.DEVNULL)
            tap.ok(told.returncode in (2, 3) and all(word in told.stderr for word in words), " ".join(argv[:1] + argv[2:]), [told.returncode, told.stderr])


run_cases(a_job_over_the_line, nobody_hangs_up, refusals)
