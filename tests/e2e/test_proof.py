#!/usr/bin/env python3
"""What stands between the daemon and an agent behind a Unix socket gains nothing: where both sides prove a key, whoever relays their proofs or
plays them again is refused; where there is none, a frame that is too long ends its connection alone."""
import os
import re
import select
import socket
import struct
import threading

from lib import BOUND_S, Bed, agent_below, run_cases, until
from spooled import crc32c

JOB = {"quiesce": 1, "benchmarks": [{"name": "true", "argv": ["true"]}],
       "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 2}, "warmup": {"iterations": 1}, "until": {"interval": 0}},
       "conditions": {"gate": "none", "bounds": "none"}}


class Keyed:
    """An agent that asks for a key at its socket, and the farm file that reaches it at another path, where somebody stands between."""

    def __init__(self, bed):
        self.door, self.between = f"{bed.path}/agent.sock", f"{bed.path}/between.sock"
        self.key = bed.file("agent.key", os.urandom(24).hex(), 0o600)
        self.agent = bed.agent(f"unix:{self.door}", "--key-file", self.key)
        self.farm = {"heartbeat": "200ms", "devices": {"board": {"link": "unix", "address": self.between, "key_file": self.key}}}


def listens(path):
    if os.path.exists(path):
        os.unlink(path)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    server.settimeout(BOUND_S)
    return server


def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(BOUND_S)
    s.connect(path)
    return s


def read_frame(sock):
    whole = b""
    while len(whole) < 16 or len(whole) < 16 + struct.unpack_from("<I", whole, 4)[0]:
        want = 16 if len(whole) < 16 else 16 + struct.unpack_from("<I", whole, 4)[0]
        data = sock.recv(want - len(whole))
        assert data, "the side has hung up"
        whole += data
    return whole


def device(daemon):
    (one,) = daemon.get("/devices").want(200).json["devices"]
    return one


def a_relay(tap):
    """Somebody at the path that the daemon calls passes both proofs on, and then speaks himself: the agent runs nothing, the session ends"""
    with Bed() as bed:
        keyed, owned = Keyed(bed), os.path.join(bed.path, "owned")
        server = listens(keyed.between)
        daemon = bed.daemon(keyed.farm)
        host = server.accept()[0]
        host.settimeout(BOUND_S)
        with connect(keyed.door) as to_agent, host:
            sides, number = {"host": (host, to_agent), "agent": (to_agent, host)}, 0
            for side in ("host", "agent", "host", "agent", "agent"):  # HELLO_HOST, HELLO_AGENT, AUTH, AUTH, HELD
                whole = read_frame(sides[side][0])
                sides[side][1].sendall(whole)
                number += side == "host"
            texts = [struct.pack("<H", len(t)) + t for t in (b"/bin/sh", b"-c", f"id > {owned}".encode())]
            hook = struct.pack("<IH", 7, 3) + b"".join(texts) + struct.pack("<HHqIH", 0, 0, 5 * 10**9, 1000, 0)
            head = struct.pack("<HBBII", 0x5351, 1, 12, len(hook), number)
            to_agent.sendall(head + struct.pack("<I", crc32c(head + hook)) + hook)
            last = to_the_end(to_agent)
        tap.ok(b"does not carry the seal of this session" in last, "the agent says why it closes", [last[-300:]])
        tap.ok(not os.path.exists(owned), "and has run nothing")
        tap.ok(keyed.agent.runs() and daemon.runs(), "both go on")


class Recorder:
    """Passes one connection on, and keeps what each side has said."""

    def __init__(self, keyed):
        self.server, self.said = listens(keyed.between), {"host": b"", "agent": b""}
        self.thread = threading.Thread(target=self.carry, args=(keyed.door,), daemon=True)
        self.thread.start()

    def carry(self, door):
        host = self.server.accept()[0]
        with host, connect(door) as agent:
            while True:
                for one in select.select([host, agent], [], [])[0]:
                    side, to = ("host", agent) if one is host else ("agent", host)
                    data = one.recv(65536)
                    if not data:
                        return
                    self.said[side] += data
                    to.sendall(data)


def to_the_end(sock):
    """All that comes until the other side hangs up."""
    got = b""
    try:
        while data := sock.recv(65536):
            got += data
    except ConnectionResetError:
        pass
    return got


def lines(path):
    with open(path, encoding="ascii") as f:
        return len(f.readlines())


def a_replay(tap):
    """A session that somebody has recorded is worth nothing when it is played again, to the agent or to the daemon"""
    with Bed() as bed:
        keyed, ran = Keyed(bed), os.path.join(bed.path, "ran")
        recorder = Recorder(keyed)
        daemon = bed.daemon(keyed.farm)
        counted = {**JOB, "benchmarks": [{"name": "count", "argv": ["sh", "-c", f"echo x >> {ran}"]}]}
        tap.equal(daemon.ended(daemon.job(counted))["state"], "done", "a job is recorded")
        daemon.stop()
        recorder.thread.join(BOUND_S)
        before, stored = lines(ran), bed.one("SELECT count(*) FROM v_iteration")
        tap.equal(before, stored, "each process is stored")
        played = recorder.said["host"]
        for title, noise, wait in (("at once", b"", 0), ("behind a banner", b"Welcome!\n", 0), ("as it is answered", b"", 1)):
            with connect(keyed.door) as again:
                first = 16 + struct.unpack_from("<I", played, 4)[0] if wait else len(played)
                again.sendall(noise + played[:first])
                told = b""
                if wait:
                    told = read_frame(again)
                    again.sendall(played[first:first + 48])  # a proof
                told += to_the_end(again)
            tap.ok(b"proof is wrong" in told, f"{title}: the agent refuses the daemon's words", [told[-300:]])
        tap.ok(lines(ran) == before and keyed.agent.runs(), "it runs nothing, and goes on")
        server = listens(keyed.between)
        daemon = bed.daemon(keyed.farm)
        host = server.accept()[0]
        with host:
            host.settimeout(BOUND_S)
            host.sendall(recorder.said["agent"])
            to_the_end(host)
        why = until("the device says why", lambda: device(daemon)["why"])
        tap.ok("another session" in why or "key" in why, "the daemon refuses the agent's words", [why])
        tap.equal(bed.one("SELECT count(*) FROM v_iteration"), stored, "and stores nothing")
        tap.ok(why in daemon.text, "the log says why", [why])


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])


def a_giant(tap):
    """A frame that announces 4 GiB ends its connection, on either side, and nothing else"""
    announced = struct.pack("<HBBIII", 0x5351, 1, 4, 0xFFFFFFFF, 1, 0)
    with Bed() as bed:
        path, other, false = (f"{bed.path}/{name}.sock" for name in ("agent", "other", "false"))
        agent = bed.agent(f"unix:{path}")
        bed.agent(f"unix:{other}")
        server = listens(false)
        daemon = bed.daemon({"devices": {"board": {"link": "unix", "address": path}, "false": {"link": "unix", "address": false}}})
        before = resident_kib(daemon.pid)
        host = server.accept()[0]
        with host:
            host.settimeout(BOUND_S)
            hello = read_frame(host)
            with connect(other) as real:  # whose greeting it is
                real.sendall(hello)
                host.sendall(read_frame(real) + announced + bytes(4096))
            to_the_end(host)
        until("the log says why", lambda: "false: the stream is broken: a frame longer than agreed" in daemon.text)
        daemon.device_ready("board")
        tap.equal(daemon.ended(daemon.job({**JOB, "devices": {"where": 'name == "board"'}}))["state"], "done", "the other device measures")
        tap.ok(resident_kib(daemon.pid) < before + 128 * 1024, "quiesced has not made room for it", [before, resident_kib(daemon.pid)])
        daemon.stop()
        below = agent_below(agent.pid)
        before = resident_kib(below)
        with connect(path) as stranger:
            stranger.sendall(hello + announced + bytes(4096))
            told = to_the_end(stranger)
        tap.ok(b"a frame longer than agreed" in told, "the agent says why it closes", [told[-300:]])
        tap.ok(agent.runs() and resident_kib(below) < before + 16 * 1024, "and goes on", [before, resident_kib(below)])
        daemon = bed.daemon({"devices": {"board": {"link": "unix", "address": path}}})
        daemon.device_ready("board")
        tap.ok(True, "the next session stands")


run_cases(a_relay, a_replay, a_giant)
