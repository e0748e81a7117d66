#!/usr/bin/env python3
"""A job over TCP on a bad line: host and device in networks of their own, and between them packets that are delayed, lost, duplicated, reordered
and corrupted: by the kernel's netem, or where it has none by line.py. Each process that ran is one iteration in the database."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e"))
from lib import AGENT, QUIESCED, Agent, Bed, Daemon, Failed, Process, run_cases, until  # noqa: E402  (the path has to be known first)
from psk import enrolled  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
HOST, DEVICE, PORT, AGENT_PORT = "10.77.1.1", "10.77.1.2", 7152, 7151
NETEM = ["netem", "delay", "10ms", "5ms", "loss", "3%", "duplicate", "2%", "reorder", "5%", "corrupt", "2%"]
LONG_S, BLOCKS, CUTS = 240, 6, 3


def missing():
    """Why there can be no such networks here; '' where there can."""
    if os.geteuid() != 0:
        return "networks of their own need root"
    for tool in ("ip", "tc", "unshare", "nsenter"):
        if not shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
            return f"there is no {tool} (iproute2, util-linux)"
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True, check=False)
    return "" if tried.returncode == 0 else f"no network of its own can be made: {tried.stderr.strip()}"


class Network:
    """It lives as long as the process that holds it."""

    def __init__(self, bed, name, address):
        self.bed, self.address, self.device = bed, address, f"qs-{name}"
        self.holder = Process(bed, f"network-{name}", ["unshare", "--net", "sleep", "infinity"])
        ours = os.readlink("/proc/self/ns/net")
        until("there is a network", lambda: os.readlink(f"/proc/{self.holder.pid}/ns/net") != ours)
        self.ip("link", "set", "lo", "up")

    def inside(self, *argv):
        return ["nsenter", "-t", str(self.holder.pid), "-n", *argv]

    def run(self, *argv):
        return subprocess.run(self.inside(*argv), capture_output=True, text=True, check=False)

    def ip(self, *words):
        told = self.run("ip", *words)
        if told.returncode != 0:
            raise Failed(f"ip {' '.join(words)}: {told.stderr}")

    def up(self, peer):
        self.ip("addr", "add", self.address, "peer", peer.address, "dev", self.device)
        self.ip("link", "set", self.device, "up")

    def forward(self, source, to):
        process = Process(self.bed, "forward", self.inside(sys.executable, os.path.join(HERE, "forward.py"), source, to))
        until("the forwarder listens", lambda: "listens" in process.text or not process.runs())
        return process


class Line:
    """Between two networks. told() ends it, and says what happened on it."""

    def __init__(self, bed, left, right):
        self.sides, self.process = (left, right), None
        left.ip("link", "add", left.device, "type", "veth", "peer", "name", right.device, "netns", str(right.holder.pid))
        self.netem = all(side.run("tc", "qdisc", "add", "dev", side.device, "root", *NETEM).returncode == 0 for side in self.sides)
        if not self.netem:
            left.ip("link", "del", left.device)
            places = [f"{side.holder.pid}:{side.device}" for side in self.sides]
            self.process = Process(bed, "line", [sys.executable, os.path.join(HERE, "line.py"), "1", *places], stdin=subprocess.PIPE)
            until("the line carries", lambda: "carries" in self.process.text or not self.process.runs())
        left.up(right)
        right.up(left)

    def told(self):
        if self.netem:
            return " ".join(" ".join(side.run("tc", "-s", "qdisc", "show", "dev", side.device).stdout.split()) for side in self.sides)
        self.process.child.stdin.close()
        self.process.wait()
        return self.process.text


def job(bed):
    """Each process leaves a line: an independent count of what ran."""
    return {"quiesce": 1, "benchmarks": [{"name": "count", "argv": ["sh", "-c", f"echo $$ >> {bed.path}/ran"]}],
            "arms": {"a": {"env": {"A": "x"}}, "b": {"env": {"A": "y"}}},
            "plan": {"seed": 1, "blocks": BLOCKS, "window": {"iterations": 5}, "warmup": {"iterations": 1}, "until": {"interval": 0}},
            "conditions": {"gate": "none", "bounds": "none"}}


def ran(bed):
    try:
        with open(f"{bed.path}/ran", encoding="ascii") as f:
            return len(f.readlines())
    except FileNotFoundError:
        return 0


def check(tap, bed, number, daemon):
    shown = daemon.ended(number, bound_s=LONG_S)
    tap.equal(shown["state"], "done", "the job is done")
    until("what the agent kept is stored", lambda: bed.one("SELECT count(*) FROM v_iteration") >= ran(bed))
    tap.equal(bed.one("SELECT count(*) FROM v_iteration"), ran(bed), "as many iterations as processes ran")
    tap.equal(bed.one("SELECT count(*) FROM (SELECT DISTINCT run, seq FROM v_iteration)"), ran(bed), "none of them twice")
    tap.equal(bed.sql("SELECT run FROM v_iteration GROUP BY run HAVING min(seq) <> 0 OR max(seq) <> count(*) - 1"), [], "no gap in any run")
    tap.equal(bed.one("SELECT count(DISTINCT run) FROM v_iteration WHERE block > 0 AND taint & 256 = 0"), 2 * BLOCKS, "each arm in each block, whole")


def bad_line(tap, cuts):
    why = missing()
    if why:
        tap.skip("a job over a bad line", why)
        return
    with Bed() as bed:
        host, device = Network(bed, "host", HOST), Network(bed, "device", DEVICE)
        line = Line(bed, host, device)
        key = os.path.join(bed.path, "agent.key")
        enrolled(key, "board")
        agent = Agent(bed, "agent", device.inside(AGENT, "--listen", f"tcp:127.0.0.1:{AGENT_PORT}", "--key-file", key))
        until("the agent listens", lambda: "listens on port" in agent.text or not agent.runs())
        device.forward(f"{DEVICE}:{PORT}", f"127.0.0.1:{AGENT_PORT}")
        near = host.forward(f"127.0.0.1:{PORT}", f"{DEVICE}:{PORT}")
        config = {"heartbeat": "1s", "devices": {"board": {"link": "tcp", "address": f"127.0.0.1:{PORT}", "key_file": key}}}
        daemon = Daemon(bed, host.inside(QUIESCED, "--config", bed.file("farm.yaml", config))).ready()
        until("the device is ready", lambda: daemon.device_ready("board"), LONG_S)
        number = daemon.job(job(bed))
        for cut in range(cuts):
            least = 12 * (cut + 1)
            until("some of it has run", lambda: ran(bed) >= least, LONG_S)
            near.kill()
            near = host.forward(f"127.0.0.1:{PORT}", f"{DEVICE}:{PORT}")
        check(tap, bed, number, daemon)
        if cuts:
            tap.ok(bed.one("SELECT count(*) FROM run WHERE state = 'interrupted'") > 0, "blocks were interrupted, and repeated")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        told = line.told()
        tap.say([("netem: " if line.netem else "line.py: ") + told.replace("\n", " ")])
        if not line.netem:
            tap.equal([what for what, n in re.findall(r"(\w+)=(\d+)", told) if int(n) == 0], [], "each of these has happened")


def a_bad_line(tap):
    """A whole job over TCP while packets are delayed, lost, duplicated, reordered and corrupted"""
    bad_line(tap, 0)


def a_bad_line_that_is_cut(tap):
    """The same while its connection is cut three times"""
    bad_line(tap, CUTS)


run_cases(a_bad_line, a_bad_line_that_is_cut)
