#!/usr/bin/env python3
"""Phones that adb reaches: found by themselves, given the agent, measured, lost and found again; and all that adb says instead. The daemon and
the agent are as they are; adb's server is a stand-in (fake.py), so that it can be told to misbehave. test_adbd.py has the real one."""
import os
import random
import signal
import socket
import subprocess
import sys

sys.path += [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

from fake import Phone, Server
from killing import reach
from lib import AGENT, QUIESCE, QUIESCED, Bed, alive, run_cases, stored, tied, unlock, until, whole
from spooled import spooled

JOB = {"quiesce": 1, "benchmarks": [{"name": "true", "argv": ["true"]}], "devices": {"where": "link == \"adb\""},
       "plan": {"seed": 1, "blocks": 3, "window": {"iterations": 5}, "warmup": {"iterations": 0}, "until": {"interval": 0}},
       "conditions": {"gate": "none", "bounds": {"link.relay_cpu_us": "600s"}}}  # here it is this process that relays, and it does more than that
DONE = "SELECT count(*), count(DISTINCT run || ':' || seq), min(seq) FROM v_iteration WHERE run IN (SELECT run FROM v_run WHERE state = 'done')"


class Shelf:
    """A bed with adb's server and phones, whose agents end with it."""

    def __init__(self, bed, *serials, serving=True):
        self.bed = bed
        self.agents = os.path.join(bed.path, "agents")
        os.mkdir(self.agents)
        os.symlink(AGENT, os.path.join(self.agents, "quiesce-agent-static"))
        self.server = Server()
        self.phones = [Phone(os.path.join(bed.path, f"phone{i}-{os.getpid()}"), serial) for i, serial in enumerate(serials)]
        self.server.phones = list(self.phones)
        bed.env["ANDROID_ADB_SERVER_PORT"] = str(self.server.port)
        if not serving:
            self.server.close()

    def farm(self, **more):
        return {"heartbeat": "200ms", "agents": self.agents, "discover": ["adb"], **more}

    def upgrade(self):
        """The daemon's agents are of another version from now on."""
        with open(AGENT, "rb") as f, open(os.path.join(self.bed.path, "other"), "wb") as to:
            to.write(f.read() + b"another version")
        os.chmod(to.name, 0o755)
        os.unlink(os.path.join(self.agents, "quiesce-agent-static"))
        os.rename(to.name, os.path.join(self.agents, "quiesce-agent-static"))

    def pid(self, phone):
        try:
            with open(os.path.join(phone.folder, "quiesce-agent.pid"), encoding="ascii") as f:
                return int(f.read())
        except (OSError, ValueError):
            return 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for phone in self.phones:
            pid = self.pid(phone)
            if pid and alive(pid):
                os.kill(pid, signal.SIGTERM)
                until("the phone's agent has ended", lambda pid=pid: not alive(pid))


def devices(daemon):
    return {d["name"]: d for d in daemon.get("/devices").json["devices"]}


def why(daemon, name, words):
    """Waits until a device says so."""
    return until(f"{name} says `{words}`: {devices(daemon)}", lambda: words in (devices(daemon).get(name, {}).get("why") or ""))


def found_and_measured(tap):
    """A phone on adb becomes a device: the agent is pushed once, started, and measures"""
    with Bed() as bed, Shelf(bed, "21131FDF6000A1") as shelf:
        phone = shelf.phones[0]
        daemon = bed.daemon(shelf.farm())
        device = until("the phone is ready", lambda: devices(daemon).get("21131FDF6000A1", {}).get("state") == "ready" and devices(daemon)["21131FDF6000A1"])
        tap.equal((device["link"], device["simulated"]), ("adb", False), "it is a device of link adb")
        tap.equal(set(device["labels"]), {"serial=21131FDF6000A1", "model=Pixel_6", "product=oriole", "device=oriole"}, "adb's words are its labels")
        tap.equal(daemon.ended(daemon.job(JOB))["state"], "done", "a job is done on it")
        tap.equal(bed.sql(DONE), [(15, 15, 0)], "each iteration is stored once")
        tap.equal((phone.count("SEND"), oct(os.stat(os.path.join(phone.folder, "quiesce-agent.key")).st_mode & 0o777)), (1, "0o600"), "the agent was pushed once, and its key is its own")
        pid = shelf.pid(phone)
        daemon.stop()
        tap.ok(alive(pid), "the agent outlives the daemon")
        daemon = bed.daemon(shelf.farm())
        daemon.device_ready("21131FDF6000A1")
        tap.equal((phone.count("SEND"), shelf.pid(phone)), (1, pid), "the next daemon finds it, and pushes nothing")
        os.kill(pid, signal.SIGKILL)
        until("it was started again", lambda: shelf.pid(phone) not in (0, pid))
        daemon.device_ready("21131FDF6000A1")
        tap.equal(phone.count("SEND"), 1, "an agent that is killed is started again, not pushed")
        shelf.upgrade()
        pid = shelf.pid(phone)
        daemon.stop()
        daemon = bed.daemon(shelf.farm())
        daemon.device_ready("21131FDF6000A1")
        names = [name for name in os.listdir(phone.folder) if name.startswith("quiesce-agent-")]
        tap.equal((phone.count("SEND"), len(names), alive(pid)), (2, 1, False), "another version replaces it")


def replaced_while_it_keeps(tap):
    """Another version of the agent takes over what the one before had measured: it may be replaced at any time, and nothing is lost"""
    with Bed() as bed, Shelf(bed, "F6") as shelf:
        phone = shelf.phones[0]
        state = os.path.join(phone.folder, "quiesce-agent.files")
        daemon = bed.daemon(shelf.farm(), "--log-level", "debug")
        daemon.device_ready("F6")
        number = daemon.job({**JOB, "benchmarks": [{"name": "nap", "argv": ["sleep", "0.05"]}]})
        reach(daemon, "window", 3)
        locked = bed.lock()
        reach(daemon, "evidence", 3)
        until("a window is kept", lambda: spooled(state))
        daemon.kill()
        unlock(locked)
        pid, ((_, run), rows) = shelf.pid(phone), *spooled(state).items()
        tap.equal((len(rows), stored(bed, run)), (5, {}), "five iterations are on the phone, and not in the database")
        shelf.upgrade()
        daemon = bed.daemon(shelf.farm())
        tap.equal(daemon.ended(number)["state"], "done", "the job goes on to its end")
        tap.equal((phone.count("SEND"), alive(pid)), (2, False), "under another version of the agent")
        tap.equal(stored(bed, run), rows, "which had them, each once, as they were")
        tap.equal((spooled(state), whole(bed, number)), ({}, []), "nothing is kept any more")


def runs_and_does_not_answer(tap):
    """An agent that runs and is not reached is started again"""
    with Bed() as bed, Shelf(bed, "E5") as shelf:
        phone = shelf.phones[0]
        daemon = bed.daemon(shelf.farm())
        daemon.device_ready("E5")
        first, name = shelf.pid(phone), next(n for n in os.listdir(phone.folder) if n.startswith("quiesce-agent-"))
        daemon.stop()
        os.kill(first, signal.SIGTERM)
        until("it has ended", lambda: not alive(first))
        deaf = subprocess.Popen(tied(["tail", "-f", "/dev/null", os.path.join(phone.folder, name)]), stdout=subprocess.DEVNULL)
        with open(os.path.join(phone.folder, "quiesce-agent.pid"), "w", encoding="ascii") as f:
            f.write(str(deaf.pid))
        daemon = bed.daemon(shelf.farm())
        until("what does not answer is ended", lambda: deaf.poll() is not None)
        daemon.device_ready("E5")
        tap.ok(shelf.pid(phone) not in (0, deaf.pid, first), "another one is started in its place")
        tap.equal(phone.count("SEND"), 1, "and nothing is pushed")


def states(tap):
    """What adb says of a phone is what the device says, with what to do"""
    with Bed() as bed, Shelf(bed, "A1", "B2") as shelf:
        a, b = shelf.phones
        a.state, b.state = "unauthorized", "offline"
        daemon = bed.daemon(shelf.farm())
        why(daemon, "A1", "device unauthorized.: unlock it, and allow USB debugging from this computer")
        why(daemon, "B2", "device offline: plug it in again")
        tap.equal([devices(daemon)[n]["state"] for n in ("A1", "B2")], ["down", "down"], "neither can be used")
        a.state, b.state = "device", "recovery"
        shelf.server.changed()
        daemon.device_ready("A1")
        why(daemon, "B2", "it is in recovery")
        b.state, b.abi = "device", "mips"
        why(daemon, "B2", "mips")
        b.abi, b.full = "x86_64", True
        why(daemon, "B2", "No space left on device")
        b.full, b.garbage = False, True
        why(daemon, "B2", "not what it was asked for")
        b.mute = True  # an attempt that has begun still ends in garbage, and not in a start that is waited for longer
        why(daemon, "B2", "it has not answered for 20 s (what runs there)")
        tap.equal(devices(daemon)["A1"]["state"], "ready", "one that does not answer holds up no other")
        b.mute = b.garbage = False
        daemon.device_ready("B2")
        tap.ok(True, "each is told, and none stands in the way of the next")
        shelf.server.phones.remove(a)
        shelf.server.changed()
        until("a phone that adb lost is no device any more", lambda: "A1" not in devices(daemon))
        shelf.server.phones.append(a)
        shelf.server.changed()
        daemon.device_ready("A1")
        tap.ok(True, "and is one again")


def old_and_alike(tap):
    """A phone without shell_v2 is reached, and two with one serial, or one that has none, are told apart by their places"""
    with Bed() as bed, Shelf(bed, "0123456789", "0123456789", "(no serial number)") as shelf:
        a, b, c = shelf.phones
        a.features = "cmd"
        for phone, place in ((b, "usb:2-1"), (c, "usb:3-1")):
            phone.attributes = phone.attributes.replace("usb:1-4.2", place)
        daemon = bed.daemon(shelf.farm())
        names = ["usb-1-4.2", "usb-2-1", "usb-3-1"]
        for name in names:
            daemon.device_ready(name)
        tap.equal(sorted(devices(daemon)), names, "the place on the bus is their name")
        tap.ok(not any(label.startswith("serial=") for label in devices(daemon)["usb-3-1"]["labels"]), "no serial number is none")
        tap.ok(a.count("exec:") > 0 and a.count("shell,v2") == 0 and b.count("shell,v2") > 0, "each by what it can", [str(a.asked), str(b.asked)])


def without_a_server(tap):
    """adb's server is neither started nor ended: it is waited for, and survived"""
    with Bed() as bed, Shelf(bed, "C3", "X9", serving=False) as shelf:
        other, asked = shelf.server.phones.pop(), []
        daemon = bed.daemon(shelf.farm(devices={"here": {"link": "adb", "address": "C3"}}))
        why(daemon, "here", "no adb server is running on this machine: `adb start-server` starts one")
        for _ in range(2):
            shelf.server, phones = Server(shelf.server.port), shelf.server.phones
            shelf.server.phones = phones
            daemon.device_ready("here")
            shelf.server.close()
            asked += shelf.server.asked
            until("its end is noticed", lambda: devices(daemon)["here"]["state"] == "down")
        tap.ok(True, "a server that comes, goes and comes again")
        shelf.server = Server(shelf.server.port)
        shelf.server.phones = shelf.phones
        daemon.device_ready(other.serial)
        tap.equal(sorted(devices(daemon)), ["X9", "here"], "what is declared is not found once more, as another is")
        host = {text for text in asked + shelf.server.asked if text.startswith("host:") and not text.startswith("host:transport:")}
        tap.equal(host, {"host:track-devices-l"}, "it is asked for its list, and never told to end")


def no_server(tap):
    """What listens where adb's server should, and is none, is told apart"""
    with Bed() as bed, Shelf(bed, serving=False), socket.create_server(("127.0.0.1", 0)) as door:
        bed.env["ADB_SERVER_SOCKET"] = f"tcp:127.0.0.1:{door.getsockname()[1]}"
        daemon = bed.daemon({"devices": {"here": {"link": "adb", "address": "C3"}}})
        s, _ = door.accept()
        s.sendall(b"SSH-2.0-x")
        why(daemon, "here", 'what listens where the adb server should is none: it answered "SSH-"')
        s.close()
        s, _ = door.accept()
        s.sendall(b"FAILzzzz")
        why(daemon, "here", 'it answered "zzzz"')
        s.close()
        s, _ = door.accept()
        s.sendall(b"OKAYxxxx")
        why(daemon, "here", "not what it was asked for")
        s.close()
        tap.equal(daemon.stop(), 0, "the daemon goes on")


def one_command(tap):
    """A phone gives a verdict with one command and no configuration: it is found, told that it has to be allowed, given agent and program, and measured"""
    with Bed() as bed, Shelf(bed, "21131FDF6000A1") as shelf:
        phone = shelf.phones[0]
        phone.state = "unauthorized"
        for name, times in (("old", 1), ("new", 2)):
            bed.file(name, f"#!/bin/sh\nexit 0 # {times}\n", 0o755)
        words = ["run", "--on", "pixel", "--runs", "6", "--iterations", "1", "--warmup", "1", "--a", "./old", "--b", "./new"]
        client = subprocess.Popen([QUIESCE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=bed.path,
                                  env={**bed.env, "QUIESCED": QUIESCED}, stdin=subprocess.DEVNULL)
        said = ""
        while "plug it in again" not in said:
            line = client.stderr.readline()
            said += line
            if not line:
                break
        tap.ok("21131FDF6000A1 is down: " in said and "device unauthorized" in said, "it says what to do", said)
        phone.state = "device"
        shelf.server.changed()
        out, rest = client.communicate(timeout=120)
        tap.ok(client.returncode == 0 and "b takes" in out, "and answers once that is done", [out, said + rest])
        tap.ok("takes along ./old" in rest and "pushing 2 files" in rest, "the programs went along", rest)
        tap.equal(bed.sql("SELECT DISTINCT device FROM v_run"), [("21131FDF6000A1",)], "it is the phone's")
        tap.equal(bed.one("SELECT count(*) FROM v_run WHERE block > 0 AND state = 'done'"), 12, "all its runs are stored")


def pulled(tap):
    """However often the cable is pulled, each iteration is stored once"""
    seed = int(os.environ.get("QS_SEED", "1"))
    draw = random.Random(seed)
    with Bed() as bed, Shelf(bed, "D4") as shelf:
        phone = shelf.phones[0]
        daemon = bed.daemon(shelf.farm())
        daemon.device_ready("D4")
        job = daemon.job({**JOB, "benchmarks": [{"name": "nap", "argv": ["sleep", "0.01"]}], "plan": {**JOB["plan"], "blocks": 12}})
        for cut in range(1, 6):
            phone.cut_after = draw.randrange(1, 4000)
            until("the cable is pulled, or the job is done", lambda cut=cut: phone.cuts == cut or daemon.show(job)["state"] == "done")
        phone.cut_after = None
        tap.equal(daemon.ended(job)["state"], "done", f"the job is done all the same (seed {seed})")
        tap.equal(bed.sql(DONE), [(60, 60, 0)], "all of its iterations, each once")
        tap.equal(phone.cuts, 5, "it was pulled five times")


if __name__ == "__main__":
    run_cases(one_command, found_and_measured, replaced_while_it_keeps, runs_and_does_not_answer, states, old_and_alike, without_a_server, no_server, pulled)
