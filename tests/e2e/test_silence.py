#!/usr/bin/env python3
"""What is claimed of a window's silence, and the counters that show it: on a TCP link no segment passes between QUIET and CLOSED on
either side, and what passes on purpose is caught. On this machine the daemon writes nothing and answers next to nobody meanwhile."""
import json
import os
import re
import select
import socket
import struct
import threading

from lib import HEADER, Bed, UnixConnection, run_cases, until, with_tls
from psk import Broken, Tls, enrolled

LINK = 4  # the taint bit: schema/README.md
PING, QUIET = 4, 17
# Each process takes the next number, says so, and stays while a file of that number forbids it to end.
WAITER = """#!/bin/sh
cd "$1" || exit 9
n=$(ls in | wc -l)
: > "in/$n"
while [ -e "hold-$n" ]; do sleep 0.02; done
"""


def crc32c(data, table=[]):  # noqa: B006  (made once)
    if not table:
        for byte in range(256):
            for _ in range(8):
                byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
            table.append(byte)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def frame(kind, payload, seq):
    head = struct.pack("<HBBII", 0x5351, 1, kind, len(payload), seq)
    return head + struct.pack("<I", crc32c(head + payload)) + payload


class Meddler:
    """Stands in a loopback TCP link, owns the key, and can put a frame of its own into it: what follows is numbered anew."""

    def __init__(self, bed, agent_port, key):
        self.agent_port, self.open, self.sides, self.key = agent_port, True, {}, key
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(0.2)
        self.port = self.server.getsockname()[1]
        self.lock = threading.Lock()
        threading.Thread(target=self._serve, daemon=True).start()
        bed.taps.append(self)

    def close(self):
        self.open = False
        self.server.close()

    def _serve(self):
        while self.open:
            try:
                host, _ = self.server.accept()
                agent = socket.create_connection(("127.0.0.1", self.agent_port))
            except OSError:
                continue
            for s in (host, agent):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                host, agent = Tls(host, "board", self.key, server=True).shake(), Tls(agent, "board", self.key).shake()
            except (Broken, OSError):
                continue
            with self.lock:
                self.sides = {"agent": [agent, 0, 0], "host": [host, 0, 0]}  # socket, next number, frames put in
            threads = [threading.Thread(target=self._carry, args=(a, b), daemon=True) for a, b in ((host, "agent"), (agent, "host"))]
            for t in threads:
                t.start()
            for t in threads:
                t.join()

    def _carry(self, source, to):
        buffer = bytearray()
        try:
            while self.open:
                data = source.recv(1 << 16)
                if not data:
                    break
                buffer += data
                while len(buffer) >= HEADER.size and len(buffer) >= HEADER.size + HEADER.unpack_from(buffer)[3]:
                    _, _, kind, length, _, _ = HEADER.unpack_from(buffer)
                    whole = bytes(buffer[:HEADER.size + length])
                    del buffer[:len(whole)]
                    self._pass(to, kind, whole)
        except (Broken, OSError):
            pass
        for side in self.sides.values():
            try:
                side[0].sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _pass(self, to, kind, whole):
        with self.lock:
            side = self.sides[to]
            if side[2]:
                whole = frame(kind, whole[HEADER.size:], side[1])
            side[0].sendall(whole)
            side[1] += 1

    def put_ping(self, to):
        with self.lock:
            side = self.sides[to]
            side[0].sendall(frame(PING, struct.pack("<Qq", 99, 1), side[1]))
            side[1] += 1
            side[2] += 1

    def probe(self, to):
        """The kernel asks whether the peer lives: segments without a byte, once a second."""
        with self.lock:
            s = self.sides[to][0].sock
        for option, value in ((socket.TCP_KEEPIDLE, 1), (socket.TCP_KEEPINTVL, 1)):
            s.setsockopt(socket.IPPROTO_TCP, option, value)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sent = self._segments_out(s)
        until("a probe is sent", lambda: self._segments_out(s) > sent)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 0)

    @staticmethod
    def _segments_out(s):
        """tcpi_segs_out of struct tcp_info (linux/tcp.h)."""
        return struct.unpack_from("<I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 136)[0]


class Windows:
    """The benchmark whose processes wait for the test."""

    def __init__(self, bed, held=()):
        self.path = os.path.join(bed.path, "windows")
        os.makedirs(os.path.join(self.path, "in"))
        self.program = bed.file("waiter", WAITER, 0o755)
        for n in held:
            self.hold(n)

    def hold(self, n):
        with open(os.path.join(self.path, f"hold-{n}"), "wb"):
            pass

    def free(self, n):
        os.unlink(os.path.join(self.path, f"hold-{n}"))

    def inside(self, n):
        until(f"process {n} runs", lambda: os.path.exists(os.path.join(self.path, "in", str(n))))

    def job(self, blocks=1, iterations=1):
        return {"quiesce": 1, "benchmarks": [{"name": "waiter", "argv": [self.program, self.path]}],
                "plan": {"seed": 1, "blocks": blocks, "window": {"iterations": iterations}, "warmup": {"iterations": 1},
                         "until": {"interval": 0}},
                "conditions": {"gate": "none", "bounds": "none"}}


def tcp_bed(bed, meddle):
    key = os.path.join(bed.path, "agent.key")
    secret = enrolled(key, "board")
    agent = bed.agent("tcp:127.0.0.1:0", "--key-file", key)
    port = int(until("the agent says its port", lambda: re.search(r"port (\d+)", agent.text))[1])
    meddler = Meddler(bed, port, secret) if meddle else None
    daemon = bed.daemon({"heartbeat": "200ms", "devices": {"board": {
        "link": "tcp", "address": f"127.0.0.1:{meddler.port if meddler else port}", "key_file": key}}})
    daemon.device_ready("board")
    return daemon, meddler


def evidence(bed, window):
    return {kind: (before, after) for kind, before, after in bed.sql("SELECT kind, before, after FROM v_evidence WHERE window_id = ?", window)}


def moved(pair):
    return None if None in pair else pair[1] - pair[0]


@with_tls
def segments_stand_still(tap):
    """On a loopback TCP link the segment counters of both sides do not move between QUIET and CLOSED"""
    with Bed() as bed:
        daemon, _ = tcp_bed(bed, meddle=False)
        job = daemon.job({**Windows(bed).job(blocks=12), "benchmarks": [{"name": "sleep", "argv": ["sleep", "0.05"]}]})
        tap.equal(daemon.ended(job)["state"], "done", "the job ends well")
        claims = bed.sql("SELECT id, silence, taint FROM v_window WHERE job = ?", job)
        tap.ok(len(claims) >= 13, "it has a window per block", [len(claims)])
        wrong = []
        for window, claim, taint in claims:
            e = evidence(bed, window)
            if taint & LINK:
                wrong.append((window, "tainted", e))
            for kind in ("agent.tcp.in_segments", "agent.tcp.out_segments", "host.link.in_bytes", "host.link.out_bytes",
                         "agent.link.in_frames", "agent.link.unread_bytes"):
                if moved(e[kind]) != 0:
                    wrong.append((window, kind, e[kind]))
            if claim == "proven":
                # What CLOSED brought, and nothing else: every segment in carries data, nothing but its acknowledgement goes out.
                came, data = moved(e["host.tcp.in_segments"]), moved(e["host.tcp.in_data_segments"])
                if came != data or data < 1 or moved(e["host.tcp.out_data_segments"]) != 0 or moved(e["host.tcp.out_segments"]) > data:
                    wrong.append((window, "host", e))
        tap.equal(wrong, [], "no counter moves in any window, and the host's move by CLOSED alone")
        tap.ok(any(claim == "proven" for _, claim, _ in claims), "the silence is proven", claims)
        run = bed.one("SELECT run FROM v_window WHERE job = ? ORDER BY id DESC LIMIT 1", job)
        (shown,) = daemon.get(f"/runs/{run}").want(200).json["windows"]
        tap.ok({e["kind"] for e in shown["evidence"]} >= {"agent.tcp.in_segments", "host.tcp.in_segments"}, "the API tells the counters")
        text = bed.cli("show", run).stdout
        tap.ok(re.search(r"silence +(proven|observed)", text), "quiesce show tells the claim", text.splitlines())
        arms = daemon.get(f"/jobs/{job}/compare").want(200).json["results"][0]["arms"]
        tap.equal(sum(arms[0]["silence"].values()), 12, f"the comparison counts the claims of its windows: {arms[0]['silence']}")


def interfere(title, act, code, agent_moves):
    """A case: something is sent on purpose while the measured process runs."""
    def case(tap):
        with Bed() as bed:
            windows = Windows(bed, held=[1])
            daemon, meddler = tcp_bed(bed, meddle=True)
            job = daemon.job(windows.job())
            windows.inside(1)  # 0 was the pilot's
            act(meddler)
            windows.free(1)
            tap.equal(daemon.ended(job)["state"], "done", "the job ends well")
            first, *again = bed.sql("SELECT id, silence, taint FROM v_window WHERE job = ? AND block = 1 ORDER BY id", job)
            tap.equal(first[1], "none", "nothing is claimed of the window")
            tap.ok(first[2] & LINK, "it is tainted", [first])
            codes = [c for (c,) in bed.sql("SELECT code FROM taint WHERE window_id = ?", first[0])]
            tap.ok(code in codes, f"the taint says what it was: {code}", codes)
            e = evidence(bed, first[0])
            tap.equal(moved(e["agent.tcp.in_segments"]) > 0, agent_moves, f"the agent's segments moved: {agent_moves}")
            tap.ok(again and not again[-1][2], "the window is repeated, in silence", [again])
    case.__doc__ = title
    case.__name__ = act.__name__
    return with_tls(case)


def frame_to_the_agent(meddler):
    meddler.put_ping("agent")


def frame_to_the_host(meddler):
    meddler.put_ping("host")


def bare_segment(meddler):
    meddler.probe("agent")


def nothing_is_written(tap):
    """While a window is open on this machine no commit is made, and nobody but health, version and cancel is answered"""
    with Bed() as bed:
        windows = Windows(bed, held=[1, 2])
        daemon = bed.daemon()
        daemon.device_ready("local")
        job = daemon.job(windows.job(blocks=2))
        windows.inside(1)
        files = [bed.db, bed.db + "-wal"]

        def state():
            return [(s.st_size, s.st_mtime_ns) for s in map(os.stat, files)]
        before = state()
        # A commit and two reads are asked for; nobody is answered while the window is open.
        asked = [UnixConnection(daemon.socket) for _ in range(3)]
        asked[0].request("POST", "/api/v1/jobs", body='{"text": "{}", "name": "x.yaml"}', headers={"Content-Type": "application/json"})
        asked[1].request("GET", "/api/v1/jobs")
        asked[2].request("GET", f"/api/v1/jobs/{job}")
        tap.equal(daemon.get("/healthz").status, 200, "health is answered in the window")
        tap.equal(daemon.get("/version").status, 200, "so is the version")
        for connection in asked:
            connection.sock.settimeout(0.3)
            try:
                connection.sock.recv(1, socket.MSG_PEEK)
                tap.ok(False, "a request is held", [connection.sock])
            except TimeoutError:
                tap.ok(True, "a request is held")
            connection.sock.settimeout(60)
        tap.equal(state(), before, "neither the database nor its log was written")
        windows.free(1)
        tap.equal([c.getresponse().status for c in asked], [400, 200, 200], "all are answered afterwards")
        windows.inside(2)
        tap.ok(state() != before, "the commit came when the window was over")
        tap.equal(daemon.ask("POST", f"/jobs/{job}:cancel").status, 200, "a job is cancelled inside its window")
        tap.equal(daemon.ended(job)["state"], "cancelled", "and ends without it")
        how, silence, taint = bed.sql("SELECT how, silence, taint FROM v_window WHERE job = ? AND block = 2", job)[0]
        tap.equal((how, silence, taint & LINK), ("cancelled", "none", LINK), "the window ends as cancelled, and is not called silent")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def a_window_gets_its_turn(tap):
    """Clients that never stop reading do not keep a window of this machine from opening"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready("local")
        plan = {"blocks": 1, "until": {"interval": 0}, "warmup": {"iterations": 0}}
        job = {"quiesce": 1, "benchmarks": [{"name": "true", "argv": ["true"]}], "conditions": {"gate": "none", "bounds": "none"}}
        big = daemon.job({**job, "plan": {**plan, "window": {"iterations": 500}}})
        daemon.ended(big)
        end, read = threading.Event(), []

        def reader():
            while not end.is_set():
                read.append(len(daemon.get(f"/jobs/{big}/export?format=csv").body))
        readers = [threading.Thread(target=reader) for _ in range(6)]
        for thread in readers:
            thread.start()
        try:
            until("the readers read", lambda: len(read) > 6)
            before = len(read)
            small = daemon.job({**job, "plan": {**plan, "blocks": 3, "window": {"iterations": 5}}})
            tap.equal(daemon.ended(small)["state"], "done", "the job ends beside them")
            until("the readers read on", lambda: len(read) > before + 6)
        finally:
            end.set()
            for thread in readers:
                thread.join()
        tap.equal(len(set(read)), 1, "each reader got the whole export each time")


def start_analysis(daemon):
    """The connection of an analysis that would take minutes; it is on its way."""
    rows = "\n".join(f"s{series},{i // 10},{1000 + i * 7919 % 97}" for series in range(100) for i in range(2000))
    connection = UnixConnection(daemon.socket)
    connection.request("POST", "/api/v1/analyze", headers={"Content-Type": "application/json"}, body=json.dumps(
        {"files": [{"name": "a.csv", "text": "name,run,value\n" + rows}], "options": {"resamples": 100000}}))
    return connection


def answered(connection):
    return bool(select.select([connection.sock], [], [], 0)[0])


def reading_yields(tap):
    """Analyses keep neither a window nor a request nor a commit waiting, and end with their clients"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        analyses = [start_analysis(daemon) for _ in range(5)]
        job = daemon.job({**Windows(bed).job(blocks=4, iterations=3), "benchmarks": [{"name": "sleep", "argv": ["sleep", "0.02"]}]})
        tap.equal(daemon.ended(job)["state"], "done", "a job on this machine ends beside five analyses")
        tap.equal([answered(a) for a in analyses], [False] * 5, "none of which has ended")
        for analysis in analyses:
            analysis.close()
        again = start_analysis(daemon)
        daemon.get("/jobs").want(200)
        again.close()
        tap.equal(daemon.stop(), 0, "the daemon ends: nobody computes for clients that left")


run_cases(segments_stand_still,
          interfere("A frame that reaches the agent in the window is caught and taints", frame_to_the_agent, "link.frames", True),
          interfere("A frame that reaches the host in the window is caught and taints", frame_to_the_host, "link.host_frames", False),
          interfere("A bare segment, without a byte, is caught and taints", bare_segment, "link.segments", True),
          nothing_is_written, a_window_gets_its_turn, reading_yields)
