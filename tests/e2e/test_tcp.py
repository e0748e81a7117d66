#!/usr/bin/env python3
"""Agents behind sockets: loopback TCP where both sides prove that they know the key, and Unix sockets. Whatever is not as it should be
is refused with words that say what to do."""
import os
import re
import select
import socket
import stat
import struct
import subprocess
import threading

from lib import AGENT, BOUND_S, Bed, agent_below, run_cases, until

JOB = {"quiesce": 1, "benchmarks": [{"name": "true", "argv": ["true"]}],
       "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 2}, "warmup": {"iterations": 1}, "until": {"interval": 0}},
       "conditions": {"gate": "none", "bounds": "none"}}


def key(bed, name, mode=0o600, length=48):
    path = os.path.join(bed.path, name)
    with open(path, "wb") as f:
        f.write(os.urandom(length))
    os.chmod(path, mode)
    return path


def listening(bed, key_file):
    """An agent on a port that the kernel chose: (process, port)."""
    agent = bed.agent("tcp:127.0.0.1:0", "--key-file", key_file)
    return agent, int(until("the agent says its port", lambda: re.search(r"loopback port (\d+)", agent.text))[1])


def farm(port, key_file):
    return {"heartbeat": "200ms", "devices": {"board": {"link": "tcp", "address": f"127.0.0.1:{port}", "key_file": key_file}}}


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


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


def the_right_key(tap):
    """With the same key on both sides a job runs over loopback TCP, and its silence is claimed as far as it is proven"""
    with Bed() as bed:
        key_file = key(bed, "agent.key")
        _, port = listening(bed, key_file)
        daemon = bed.daemon(farm(port, key_file))
        daemon.device_ready("board")
        job = daemon.job(JOB)
        tap.equal(daemon.ended(job)["state"], "done", "the job ends well")
        tap.equal(bed.one("SELECT count(*) FROM v_iteration WHERE block > 0"), 2, "its iterations are stored")
        silence = {s for (s,) in bed.sql("SELECT silence FROM v_window")}
        tap.ok(silence <= {"observed", "proven"}, "the link was silent in every window", [silence])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def the_wrong_key(tap):
    """With another key nobody measures: the device is down, the reason is the key, and a job says what it waits for"""
    with Bed() as bed:
        agent, port = listening(bed, key(bed, "agent.key"))
        daemon = bed.daemon(farm(port, key(bed, "host.key")))
        down = until("the device says why", lambda: (lambda d: d["state"] != "ready" and "key" in (d["why"] or "") and d)(device(daemon)))
        tap.ok("key" in down["why"], "the device's why names the key", [down["why"]])
        job = daemon.job(JOB)
        shown = daemon.show(job)
        tap.equal(shown["state"], "queued", "a job waits")
        tap.ok("connected" in (shown["why"] or ""), "and says why", [shown["why"]])
        tap.ok(agent.runs(), "the agent goes on listening")
        tap.equal(bed.one("SELECT count(*) FROM boot"), 0, "nothing of it is stored")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def a_stranger(tap):
    """Who connects without the key gets nothing out of the agent, and does not keep the daemon out"""
    with Bed() as bed:
        key_file = key(bed, "agent.key")
        agent, port = listening(bed, key_file)
        for noise in (b"", b"GET / HTTP/1.1\r\n\r\n", os.urandom(8192)):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
                s.sendall(noise)
        daemon = bed.daemon(farm(port, key_file))
        daemon.device_ready("board")
        tap.equal(daemon.ended(daemon.job(JOB))["state"], "done", "a job runs afterwards")
        tap.ok(agent.runs(), "the agent lives")


def refusals(tap):
    """A key file that others can read, one that is too short, an address that is not loopback: each is refused and says what to do"""
    with Bed() as bed:
        good, open_to_all, short = key(bed, "good.key"), key(bed, "open.key", 0o644), key(bed, "short.key", length=8)

        def agent(*argv):
            return subprocess.run([AGENT, *argv], capture_output=True, text=True, timeout=60, check=False, env=bed.env)

        for title, argv, words in (
                ("mode 0644", ["--listen", "tcp:127.0.0.1:0", "--key-file", open_to_all], ["open.key", "0600"]),
                ("too short", ["--listen", "tcp:127.0.0.1:0", "--key-file", short], ["short.key", "32"]),
                ("no such key", ["--listen", "tcp:127.0.0.1:0", "--key-file", f"{bed.path}/none"], ["none"]),
                ("no key", ["--listen", "tcp:127.0.0.1:0"], ["--key-file"]),
                ("every address", ["--listen", "tcp:0.0.0.0:7151", "--key-file", good], ["0.0.0.0", "loopback"]),
                ("another address", ["--listen", "tcp:192.0.2.1:7151", "--key-file", good], ["192.0.2.1", "loopback"])):
            told = agent(*argv)
            tap.ok(told.returncode in (2, 3), f"agent, {title}: refused", [told.returncode])
            tap.equal([w for w in words if w not in told.stderr], [], f"agent, {title}: says what and why")
        _, port = listening(bed, good)
        for title, path, words in (("mode 0644", open_to_all, ["open.key", "600"]), ("no such key", f"{bed.path}/none", ["none"])):
            daemon = bed.daemon(farm(port, path))
            why = until("the device says why", lambda: device(daemon)["why"])
            tap.equal([w for w in words if w not in why], [], f"quiesced, {title}: the device is down and says what and why ({why})")
            tap.equal(daemon.stop(), 0, f"quiesced, {title}: it serves all the same")


def a_relay(tap):
    """Somebody on the port that the daemon dials passes both proofs on, and then speaks himself: the agent runs nothing, the session ends"""
    with Bed() as bed:
        key_file = key(bed, "agent.key")
        agent, port = listening(bed, key_file)
        server = socket.create_server(("127.0.0.1", 0))
        server.settimeout(BOUND_S)
        owned = os.path.join(bed.path, "owned")
        daemon = bed.daemon(farm(server.getsockname()[1], key_file))
        host = server.accept()[0]
        with socket.create_connection(("127.0.0.1", port)) as to_agent, host:
            for s in (host, to_agent):
                s.settimeout(BOUND_S)
            sides, number = {"host": (host, to_agent), "agent": (to_agent, host)}, 0
            for side in ("host", "agent", "host", "agent", "agent"):  # HELLO_HOST, HELLO_AGENT, AUTH, AUTH, HELD
                whole = read_frame(sides[side][0])
                sides[side][1].sendall(whole)
                number += side == "host"
            texts = [struct.pack("<H", len(t)) + t for t in (b"/bin/sh", b"-c", f"id > {owned}".encode())]
            hook = struct.pack("<IH", 7, 3) + b"".join(texts) + struct.pack("<HHqIH", 0, 0, 5 * 10**9, 1000, 0)
            head = struct.pack("<HBBII", 0x5351, 1, 12, len(hook), number)
            to_agent.sendall(head + struct.pack("<I", crc32c(head + hook)) + hook)
            last = b""
            while data := to_agent.recv(65536):
                last += data
        tap.ok(b"does not carry the seal of this session" in last, "the agent says why it closes", [last[-300:]])
        tap.ok(not os.path.exists(owned), "and has run nothing")
        tap.ok(agent.runs() and daemon.runs(), "both go on")


class Recorder:
    """Passes one connection on, and keeps what each side has said."""

    def __init__(self, port):
        self.server, self.said = socket.create_server(("127.0.0.1", 0)), {"host": b"", "agent": b""}
        self.port = self.server.getsockname()[1]
        self.thread = threading.Thread(target=self.carry, args=(port,), daemon=True)
        self.thread.start()

    def carry(self, port):
        host = self.server.accept()[0]
        with host, socket.create_connection(("127.0.0.1", port)) as agent:
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
        key_file, ran = key(bed, "agent.key"), os.path.join(bed.path, "ran")
        agent, port = listening(bed, key_file)
        recorder = Recorder(port)
        daemon = bed.daemon(farm(recorder.port, key_file))
        counted = {**JOB, "benchmarks": [{"name": "count", "argv": ["sh", "-c", f"echo x >> {ran}"]}]}
        tap.equal(daemon.ended(daemon.job(counted))["state"], "done", "a job is recorded")
        daemon.stop()
        recorder.thread.join(BOUND_S)
        before, stored = lines(ran), bed.one("SELECT count(*) FROM v_iteration")
        tap.equal(before, stored, "each process is stored")
        played = recorder.said["host"]
        for title, noise, wait in (("at once", b"", 0), ("behind a banner", b"Welcome!\n", 0), ("as it is answered", b"", 1)):
            with socket.create_connection(("127.0.0.1", port), timeout=BOUND_S) as again:
                first = 16 + struct.unpack_from("<I", played, 4)[0] if wait else len(played)
                again.sendall(noise + played[:first])
                told = b""
                if wait:
                    told = read_frame(again)
                    again.sendall(played[first:first + 48])  # a proof
                told += to_the_end(again)
            tap.ok(b"proof is wrong" in told, f"{title}: the agent refuses the daemon's words", [told[-300:]])
        tap.ok(lines(ran) == before and agent.runs(), "it runs nothing, and goes on")
        server = socket.create_server(("127.0.0.1", 0))
        server.settimeout(BOUND_S)
        daemon = bed.daemon(farm(server.getsockname()[1], key_file))
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
        server = socket.socket(socket.AF_UNIX)
        server.bind(false)
        server.listen()
        server.settimeout(BOUND_S)
        daemon = bed.daemon({"devices": {"board": {"link": "unix", "address": path}, "false": {"link": "unix", "address": false}}})
        before = resident_kib(daemon.pid)
        host = server.accept()[0]
        with host:
            host.settimeout(BOUND_S)
            hello = read_frame(host)
            with socket.socket(socket.AF_UNIX) as real:  # whose greeting it is
                real.connect(other)
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
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.settimeout(BOUND_S)
            stranger.connect(path)
            stranger.sendall(hello + announced + bytes(4096))
            told = to_the_end(stranger)
        tap.ok(b"a frame longer than agreed" in told, "the agent says why it closes", [told[-300:]])
        tap.ok(agent.runs() and resident_kib(below) < before + 16 * 1024, "and goes on", [before, resident_kib(below)])
        daemon = bed.daemon({"devices": {"board": {"link": "unix", "address": path}}})
        daemon.device_ready("board")
        tap.ok(True, "the next session stands")


def unix_socket(tap):
    """An agent's Unix socket is for its user alone; a second agent on it is refused; a leftover socket is no obstacle"""
    with Bed() as bed:
        path = f"{bed.path}/agent.sock"
        first = bed.agent(f"unix:{path}")
        tap.equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "mode 0600")
        second = subprocess.run([AGENT, "--listen", f"unix:{path}"], capture_output=True, text=True, timeout=60, check=False)
        tap.ok(second.returncode == 3 and "another agent" in second.stderr, "a second agent is refused", [second.stderr])
        first.kill()
        tap.ok(os.path.exists(path), "a killed agent leaves its socket behind")
        bed.agent(f"unix:{path}")
        daemon = bed.daemon({"devices": {"board": {"link": "unix", "address": path}}})
        daemon.device_ready("board")
        tap.equal(daemon.ended(daemon.job(JOB))["state"], "done", "the next agent takes its place")


run_cases(the_right_key, the_wrong_key, a_stranger, a_relay, a_replay, a_giant, refusals, unix_socket)
