#!/usr/bin/env python3
"""What was measured and not acknowledged is on the device's disk: it outlives the agent (kill -9), the daemon, a restart of the device (another
boot id), and comes back over another kind of link. The ledger is the spool itself (spooled.py), and what the benchmark has written down of each of
its processes."""
import os
import random
import re
import signal
import subprocess
import time

from killing import JOB, farm, judge, ledger, open_runs, reach
from lib import AGENT, Agent, Bed, WireTap, agent_below, children, run_cases, stored, unlock, until, with_tls
from psk import enrolled
from spooled import files_of, spooled

BOOT = "/proc/sys/kernel/random/boot_id"


def other_boot(bed):
    """Before a command line: it is told another identity of the boot. Nothing, where this user may not do that."""
    path = bed.file("boot_id", "12345678-aaaa-bbbb-cccc-123456789abc\n")
    under = ["unshare", "-rm", "sh", "-c", f'mount --bind "$1" {BOOT} && shift && exec "$@"', "sh", path]
    return under if subprocess.run([*under, "true"], capture_output=True, check=False).returncode == 0 else []


class Device:
    """Its agents have one folder, over whatever link they are reached."""

    def __init__(self, bed):
        self.bed, self.state, self.agent, self.kept = bed, f"{bed.path}/device", None, {}
        self.key = f"{bed.path}/agent.key"
        enrolled(self.key, "local")
        self.processes = f"{bed.path}/processes"

    def up(self, kind, under=()):
        """An agent, where the link does not start it, and the farm file that reaches it."""
        argv = [AGENT, "--state", self.state]
        if kind == "exec":
            self.agent = None
            return farm({"link": "exec", "argv": [*argv, "--stdio"]})
        if kind == "unix":
            path = f"{self.bed.path}/agent.sock"
            self.agent = Agent(self.bed, "agent", [*under, *argv, "--listen", f"unix:{path}"])
            until("the agent listens", lambda: "listens on" in self.agent.text)
            return farm({"link": "unix", "address": path})
        self.agent = Agent(self.bed, "agent", [*argv, "--listen", "tcp:127.0.0.1:0", "--key-file", self.key])
        port = until("the agent says its port", lambda: re.search(r"port (\d+)", self.agent.text))[1]
        return farm({"link": "tcp", "address": f"127.0.0.1:{port}", "key_file": self.key})

    def kill(self, daemon):
        """kill -9 of the agent; its supervisor ends then. What lies in its folder is remembered."""
        if self.agent:
            self.agent.kill()
        else:
            os.kill(agent_below(children(daemon.pid)[0]), signal.SIGKILL)
        self.remember()

    def remember(self):
        for (_, run), rows in spooled(self.state).items():
            self.kept.setdefault(run, {}).update(rows)

    def job(self):
        """As in killing.py, and each process leaves a line behind."""
        bench = {**JOB["benchmarks"][0], "argv": ["sh", "-c", 'echo . >>"$LEDGER"; exec sleep 0.05'], "env": {"LEDGER": self.processes}}
        return {**JOB, "benchmarks": [bench]}

    def lost(self):
        """What was kept and is not in the database as it was kept; problems, as text."""
        problems = []
        for run, rows in self.kept.items():
            have = stored(self.bed, run)
            problems += [f"run {run} seq {seq}: kept as {ns} ns, stored as {have.get(seq)}" for seq, ns in rows.items() if have.get(seq) != ns]
        return problems

    def uncounted(self, cut):
        """Each iteration is a process that has run; each process an iteration, but for those of so many windows that were cut."""
        with open(self.processes, encoding="ascii") as f:
            ran = len(f.readlines())
        iterations = self.bed.one("SELECT count(*) FROM v_iteration")
        per = JOB["plan"]["window"]["iterations"]
        return [] if iterations <= ran <= iterations + per * cut else [f"{ran} processes, {iterations} iterations, {cut} windows were cut"]


def unacknowledged(bed, daemon, device, nth=1):
    """A window is closed, on the device's disk, and cannot be committed: the database is locked, by what is returned."""
    reach(daemon, "window", nth)
    locked = bed.lock()
    reach(daemon, "evidence", nth)
    until("the window is on the device's disk", lambda: spooled(device.state))
    return locked


def both_die(bed, daemon, device, nth=1):
    """kill -9 of agent and daemon between CLOSED and ACK."""
    locked = unacknowledged(bed, daemon, device, nth)
    device.kill(daemon)
    daemon.kill()
    unlock(locked)


def outlives_everybody(tap):
    """kill -9 of agent and daemon between CLOSED and ACK, and a restart of the device: its iterations are stored by the next ones, once"""
    with Bed() as bed:
        device = Device(bed)
        under = other_boot(bed)
        wire = WireTap(bed, f"{bed.path}/agent.sock")
        config = farm({"link": "unix", "address": wire.path})
        device.up("unix")
        daemon = bed.daemon(config, "--log-level", "debug")
        daemon.device_ready()
        job = daemon.job(device.job())
        both_die(bed, daemon, device, 3)
        dead = open_runs(bed)
        tap.equal([len(rows) for rows in device.kept.values()], [3], "one window of three is kept")
        tap.equal(set(device.kept) - dead, set(), "of the run that was open")
        tap.equal([stored(bed, run) for run in device.kept], [{}], "and nothing of it is in the database")
        first = bed.one("SELECT max(id) FROM boot")
        device.up("unix", under)
        daemon = bed.daemon(config, "--log-level", "debug")
        tap.equal(daemon.ended(job)["state"], "done", "the job goes on to its end")
        tap.equal(device.lost(), [], "what was kept is stored as it was")
        tap.equal(judge(bed, job, dead) + ledger(bed, wire, True) + device.uncounted(1), [], "each iteration once, the block repeated, its first try tainted")
        (run,) = device.kept
        tap.equal(bed.sql("SELECT DISTINCT s.boot_id FROM run r JOIN session s ON s.id = r.session_id WHERE lower(hex(r.uid)) = ?", run), [(first,)],
                  "what was kept belongs to the boot in which it was measured")
        if under:
            tap.equal(bed.one("SELECT count(DISTINCT boot_id) FROM session"), 2, "the rest to another boot")
        else:
            tap.skip("the rest to another boot", "no other boot identity can be shown to a process here (unshare -rm)")
        tap.equal(spooled(device.state), {}, "nothing is kept any more")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        until("and no file is left", lambda: not files_of(device.state))


def comes_back_to_a_daemon_that_lives(tap):
    """kill -9 of the agent between CLOSED and ACK: the daemon that has its iterations already stores them once"""
    with Bed() as bed:
        device = Device(bed)
        wire = WireTap(bed, f"{bed.path}/agent.sock")
        device.up("unix")
        daemon = bed.daemon(farm({"link": "unix", "address": wire.path}), "--log-level", "debug")
        daemon.device_ready()
        job = daemon.job(device.job())
        locked = unacknowledged(bed, daemon, device, 3)
        device.kill(daemon)
        reach(daemon, "lost")
        unlock(locked)
        device.up("unix")
        tap.equal(daemon.ended(job)["state"], "done", "the job goes on to its end")
        tap.equal(device.lost() + judge(bed, job, set()) + ledger(bed, wire, True) + device.uncounted(1), [], "each iteration once, nothing is lost")
        tap.equal(spooled(device.state), {}, "nothing is kept any more")


@with_tls
def by_another_kind_of_link(tap):
    """The same device over a Unix socket, then TCP, then a command, then the socket again, agent and daemon killed each time"""
    draw = random.Random(os.environ.get("QS_SEED", "7"))
    with Bed() as bed:
        device = Device(bed)
        job = None
        for kind in ("unix", "tcp", "exec"):
            daemon = bed.daemon(device.up(kind), "--log-level", "debug")
            daemon.device_ready()
            job = job or daemon.job(device.job())
            before = len(device.kept)
            both_die(bed, daemon, device, draw.randrange(1, 3))
            tap.equal(len(device.kept), before + 1, f"{kind}: a window is kept")
        daemon = bed.daemon(device.up("unix"), "--log-level", "debug")
        tap.equal(daemon.ended(job)["state"], "done", "the job goes on to its end")
        tap.equal(device.lost() + judge(bed, job, set()) + device.uncounted(3), [], "each iteration once, nothing is lost")
        tap.equal(spooled(device.state), {}, "nothing is kept any more")


def killed_at_any_moment(tap):
    """kill -9 of the agent again and again, wherever it is: nothing that it had closed is lost, nothing is there twice"""
    draw = random.Random(os.environ.get("QS_SEED", "11"))
    with Bed() as bed:
        device = Device(bed)
        wire = WireTap(bed, f"{bed.path}/agent.sock")
        device.up("unix")
        daemon = bed.daemon(farm({"link": "unix", "address": wire.path}), "--log-level", "debug")
        daemon.device_ready()
        job = daemon.job({**device.job(), "plan": {**JOB["plan"], "blocks": 2}})
        for kills in range(1, 5):
            reach(daemon, "window", 2 * kills - 1)
            time.sleep(draw.random() * 0.3)
            device.kill(daemon)
            device.up("unix")
        tap.equal(daemon.ended(job)["state"], "done", "the job goes on to its end")
        tap.equal(device.lost() + judge(bed, job, set()) + ledger(bed, wire, False) + device.uncounted(4), [], "each iteration once, nothing is lost")
        tap.equal(spooled(device.state), {}, "nothing is kept any more")


def another_farm(tap):
    """What is kept for one farm is neither given to another nor erased by it, though that one measures on the device meanwhile"""
    with Bed() as bed:
        device = Device(bed)
        config = device.up("unix")
        daemon = bed.daemon(config, "--log-level", "debug")
        daemon.device_ready()
        job = daemon.job(device.job())
        both_die(bed, daemon, device)
        kept = spooled(device.state)
        device.up("unix")
        other = bed.daemon(config, "--db", f"{bed.path}/other.db")
        other.device_ready()
        tap.equal(other.ended(other.job(JOB))["state"], "done", "the other farm measures")
        tap.ok("kept by the agent" not in other.text, "it is offered nothing", [other.text[-500:]])
        tap.equal(spooled(device.state), kept, "and erases nothing")
        tap.equal(other.stop(), 0, "quiesced ends well")
        daemon = bed.daemon(config, "--log-level", "debug")
        tap.equal(daemon.ended(job)["state"], "done", "the job of the first one goes on")
        tap.equal(device.lost() + judge(bed, job, set()), [], "with what was kept")
        tap.equal(spooled(device.state), {}, "nothing is kept any more")


def damage_is_told(tap):
    """A record that is damaged is dropped with a word, and the job goes on without it; without --state nothing is on the disk, and that is a fact"""
    with Bed() as bed:
        device = Device(bed)
        config = device.up("unix")
        daemon = bed.daemon(config, "--log-level", "debug")
        daemon.device_ready()
        job = daemon.job(device.job())
        both_die(bed, daemon, device)
        (name,) = files_of(device.state)
        with open(f"{device.state}/{name}", "r+b") as f:
            f.seek(120)
            f.write(b"!")
        device.up("unix")
        tap.ok(f"quiesce-agent: kept in {device.state}; {name} was torn or damaged and is dropped" in device.agent.text, "the agent says so",
               [device.agent.text])
        daemon = bed.daemon(config, "--log-level", "debug")
        facts = daemon.device_ready()["facts"]
        tap.equal(facts["spool"], f"{device.state}; {name} was torn or damaged and is dropped", "and so does the fact")
        tap.equal(daemon.ended(job)["state"], "done", "the job goes on to its end")
        tap.equal(judge(bed, job, set()), [], "and the block is repeated")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        plain = subprocess.run([AGENT, "--facts"], env=bed.env, capture_output=True, text=True, check=True).stdout
        tap.ok("\nspool: none: without --state what is measured is kept in memory alone until the host has it\n" in plain, "a fact", [plain])


if __name__ == "__main__":
    run_cases(outlives_everybody, comes_back_to_a_daemon_that_lives, by_another_kind_of_link, killed_at_any_moment, another_farm, damage_is_told)
