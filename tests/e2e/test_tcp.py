#!/usr/bin/env python3
"""Agents behind sockets: TCP with TLS, where both sides prove the key of the device's enrolment, and Unix sockets. Whatever is not as it
should be is refused with words that say what to do."""
import os
import re
import shutil
import socket
import stat
import subprocess
import threading

from lib import AGENT, BOUND_S, Bed, run_cases, until, with_tls
from psk import Broken, Tls, enrolled, read_enrolled

AGENT_WITHOUT = os.environ["QS_AGENT_WITHOUT_TLS"]
ECDHE_PSK_AES, PSK_CHACHA20 = 0xC037, 0xCCAB
JOB = {"quiesce": 1, "benchmarks": [{"name": "true", "argv": ["true"]}],
       "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 2}, "warmup": {"iterations": 1}, "until": {"interval": 0}},
       "conditions": {"gate": "none", "bounds": "none"}}


def key(bed, name, device="board", secret=None, mode=0o600):
    path = os.path.join(bed.path, name)
    enrolled(path, device, secret, mode)
    return path


def listening(bed, key_file, address="127.0.0.1", *options):
    """An agent on a port that the kernel chose: (process, port)."""
    agent = bed.agent(f"tcp:{address}:0", "--key-file", key_file, *options)
    return agent, int(until("the agent says its port", lambda: re.search(r"port (\d+), with TLS", agent.text))[1])


def farm(port, key_file, host="127.0.0.1"):
    return {"heartbeat": "200ms", "devices": {"board": {"link": "tcp", "address": f"{host}:{port}", "key_file": key_file}}}


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=BOUND_S)


def refused(port, name, secret, **how):
    """Whether the handshake fails."""
    try:
        with Tls(connect(port), name, secret, **how) as tls:
            tls.shake()
        return False
    except (Broken, OSError):
        return True


class Relay:
    """Carries bytes between the daemon and an agent, and keeps them."""

    def __init__(self, bed, port):
        self.agent_port, self.seen, self.of_host, self.of_agent = port, bytearray(), bytearray(), bytearray()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()
        bed.taps.append(self)

    def close(self):
        self.server.close()

    def _serve(self):
        while True:
            try:
                host, _ = self.server.accept()
                agent = connect(self.agent_port)
            except OSError:
                return
            self.of_host.clear()
            self.of_agent.clear()
            for pair in ((host, agent, self.of_host), (agent, host, self.of_agent)):
                threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source, to, kept):
        try:
            while data := source.recv(1 << 16):
                self.seen += data
                kept += data
                to.sendall(data)
        except OSError:
            pass
        for s in (source, to):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def device(daemon):
    (one,) = daemon.get("/devices").want(200).json["devices"]
    return one


def why_down(daemon, word):
    """What the device says of itself, once it is down and says that."""
    def said():
        one = device(daemon)
        return one["state"] != "ready" and word in (one["why"] or "") and one["why"]
    return until(f"the device says `{word}`", said)


@with_tls
def the_right_key(tap):
    """With the same key on both sides a job runs over TCP, and its silence is claimed as far as it is proven"""
    with Bed() as bed:
        key_file = key(bed, "board.key")
        _, port = listening(bed, key_file)
        daemon = bed.daemon(farm(port, key_file))
        daemon.device_ready("board")
        tap.equal(daemon.ended(daemon.job(JOB))["state"], "done", "a job ends well")
        tap.equal(bed.one("SELECT count(*) FROM v_iteration WHERE block > 0"), 2, "its iterations are stored")
        silence = {s for (s,) in bed.sql("SELECT silence FROM v_window")}
        tap.ok(silence <= {"observed", "proven"}, "the link was silent in every window", [silence])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


@with_tls
def nothing_to_read(tap):
    """Nothing of a job can be read on the way, and what was heard there is of no use to anybody"""
    with Bed() as bed:
        key_file = key(bed, "board.key")
        _, port = listening(bed, key_file)
        relay = Relay(bed, port)
        daemon = bed.daemon(farm(relay.port, key_file))
        daemon.device_ready("board")
        marked = "a-marked-argument-that-nobody-else-may-read"
        job = daemon.job({**JOB, "benchmarks": [{"name": "true", "argv": ["true", marked]}]})
        tap.equal(daemon.ended(job)["state"], "done", "the job ends well")
        seen = bytes(relay.seen)
        tap.ok(len(seen) > 4000, "the relay has seen the session", [len(seen)])
        shown = [text for text in (marked.encode(), b"quiesce", b"QS\x01", b"true", os.uname().release.encode(), read_enrolled(key_file)[1]) if text in seen]
        tap.equal(shown, [], "nothing of it, not even the frames' magic or the kernel's release, can be read on the wire")
        tap.ok(b"board" in seen, "but the device's name, which TLS 1.2 shows")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        with connect(port) as s:
            s.sendall(bytes(relay.of_host))
            s.settimeout(BOUND_S)
            answer, data = b"", b"?"
            while data:
                try:
                    data = s.recv(1 << 16)
                except ConnectionError:
                    data = b""
                answer += data
        tap.ok(len(answer) < 400, "what the host had sent, sent once more, ends in the handshake", [len(answer)])
        stored, of_agent = bed.one("SELECT count(*) FROM v_iteration"), bytes(relay.of_agent)
        server = socket.create_server(("127.0.0.1", 0))
        server.settimeout(BOUND_S)
        daemon = bed.daemon(farm(server.getsockname()[1], key_file))
        with server.accept()[0] as host:
            host.settimeout(BOUND_S)
            host.sendall(of_agent)
            why = why_down(daemon, "board: ")
        tap.ok("key" in why, "nor does the daemon take what the agent had sent", [why])
        tap.equal(bed.one("SELECT count(*) FROM v_iteration"), stored, "and stores nothing of it")


@with_tls
def the_wrong_key(tap):
    """With another key, or that of another device, nobody measures: the device is down, the reason is the key, and a job says what it waits for"""
    with Bed() as bed:
        agent, port = listening(bed, key(bed, "agent.key"))
        daemon = bed.daemon(farm(port, key(bed, "host.key")))
        tap.ok("board: the agent's key is another one" in why_down(daemon, "key"), "the device's why names the key", [device(daemon)["why"]])
        job = daemon.job(JOB)
        shown = daemon.show(job)
        tap.equal(shown["state"], "queued", "a job waits")
        tap.ok("connected" in (shown["why"] or ""), "and says why", [shown["why"]])
        tap.ok(agent.runs(), "the agent goes on listening")
        tap.equal(bed.one("SELECT count(*) FROM boot"), 0, "nothing of it is stored")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


@with_tls
def another_device(tap):
    """Who stands between leads the daemon to another device: it is refused even where both have one secret, for the name is part of the handshake"""
    with Bed() as bed:
        secret = os.urandom(32)
        _, port = listening(bed, key(bed, "other.key", "other", secret))
        daemon = bed.daemon(farm(Relay(bed, port).port, key(bed, "board.key", "board", secret)))
        tap.ok("another device's key" in why_down(daemon, "another device"), "the device is down and says so", [device(daemon)["why"]])
        tap.equal(bed.one("SELECT count(*) FROM boot"), 0, "nothing of the other one is stored")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
    with Bed() as bed:
        key_file = key(bed, "other.key", "other")
        daemon = bed.daemon(farm(1, key_file))
        why = why_down(daemon, "key")
        tap.equal([w for w in (f"{key_file} is that of the device `other`", "quiesce devices enroll board") if w not in why], [],
                  f"the key file of another device is not tried at all: {why}")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        key(bed, "twin.key", "twin", read_enrolled(key_file)[1])
        path = bed.file("twins.yaml", f"""devices:
  other: {{link: tcp, address: "127.0.0.1:1", key_file: {key_file}}}
  twin: {{link: tcp, address: "127.0.0.1:2", key_file: {bed.path}/twin.key}}
""")
        for option in ("--check-config", "--config"):
            told = subprocess.run([os.environ["QS_QUIESCED"], option, path, "--socket", f"{bed.path}/twins.sock"], capture_output=True, text=True, timeout=BOUND_S, check=False, env=bed.env)
            tap.ok(told.returncode != 0 and "`other` and `twin` have the same key" in told.stderr, f"two devices with one key are no farm ({option})", [told.stderr])


@with_tls
def a_stranger(tap):
    """Who connects without the key gets nothing out of the agent, and does not keep the daemon out"""
    with Bed() as bed:
        key_file = key(bed, "board.key")
        name, secret = read_enrolled(key_file)
        agent, port = listening(bed, key_file)
        for noise in (b"", b"GET / HTTP/1.1\r\n\r\n", os.urandom(8192), b"\x16\x03\x03\xff\xff" + bytes(200), b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
                      b"\x15\x03\x03\x00\x02\x02\x00", b"QS\x01\x01" + bytes(60)):
            with connect(port) as s:
                s.sendall(noise)
        for n in (1, 4, 5, 6, 30, 60, 100):
            with connect(port) as s:
                s.sendall(first_flight(name, secret)[:n])
        tap.ok(refused(port, name, os.urandom(32)), "another secret is refused")
        tap.ok(refused(port, "other", secret), "so is another name")
        tap.ok(refused(port, "", secret), "and none")
        tap.ok(refused(port, name, secret, suites=(PSK_CHACHA20, ECDHE_PSK_AES)), "so is an older way of TLS")
        told = [int(n) for n in re.findall(r"refused a client \(number (\d+)\): no handshake with our key\n", agent.text)]
        tap.ok(len(told) >= 3 and told == [2**i for i in range(len(told))], "the agent tells of some of them, always fewer", [agent.text])
        tap.ok(not refused(port, name, secret), "the right key stands")
        daemon = bed.daemon(farm(port, key_file))
        daemon.device_ready("board")
        tap.equal(daemon.ended(daemon.job(JOB))["state"], "done", "a job runs afterwards")
        tap.ok(agent.runs(), "the agent lives")
        with connect(port) as s:
            tap.ok(b"another session holds this agent" in s.recv(1000), "who comes meanwhile is told so")


def first_flight(name, secret):
    """A ClientHello, as bytes."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with theirs:
        tls = Tls(ours, name, secret)
        try:
            tls.shake()
        except BlockingIOError:
            pass
        return theirs.recv(4096)


@with_tls
def many_strangers(tap):
    """Forty connections that never end their handshakes: the oldest is displaced, and the host gets in at once"""
    with Bed() as bed:
        key_file = key(bed, "board.key")
        name, secret = read_enrolled(key_file)
        agent, port = listening(bed, key_file)
        hello, waiting = first_flight(name, secret), []
        for i in range(40):
            s = connect(port)
            s.sendall(hello if i % 2 else hello[:40])
            if i % 2:
                tap.ok(s.recv(5)[:1] == b"\x16", f"stranger {i} is answered") if i in (1, 39) else s.recv(5)
            waiting.append(s)
        waiting[0].settimeout(BOUND_S)
        tap.ok(b"too many wait" in waiting[0].recv(1000), "the oldest is told, in plain words where nothing was said before")
        gone = b"?"
        while gone:
            gone = waiting[1].recv(1 << 16)
        tap.ok(True, "and one in its handshake is closed")
        tap.ok(not refused(port, name, secret), "who has the key gets in")
        daemon = bed.daemon(farm(port, key_file))
        daemon.device_ready("board")
        for s in waiting:
            s.close()
        tap.equal(daemon.ended(daemon.job(JOB))["state"], "done", "a job runs")
        tap.ok(agent.runs(), "the agent lives")


@with_tls
def nothing_of_its_own(tap):
    """A session that stands answers no wish for another handshake, and sends nothing where it breaks"""
    with Bed() as bed:
        key_file = key(bed, "board.key")
        name, secret = read_enrolled(key_file)
        agent, port = listening(bed, key_file)
        with Tls(connect(port), name, secret).shake() as tls:
            before = len(tls.raw)
            tls.renegotiate()
            tap.equal(tls.sock.recv(100), b"", "the session ends without a word")
            tap.equal(len(tls.raw), before, "nothing came before")
        with Tls(connect(port), name, secret).shake() as tls:
            tls.sock.sendall(b"\x17\x03\x03\x00\x20" + bytes(32))
            tap.equal(tls.sock.recv(100), b"", "so it does at a record that is not the host's")
        tap.ok(agent.runs(), "the agent lives")


@with_tls
def refusals(tap):
    """A key file that others can read, one that is too short, one of no device, no key: each is refused and says what to do"""
    with Bed() as bed:
        good, open_to_all = key(bed, "good.key"), key(bed, "open.key", mode=0o644)
        raw = os.path.join(bed.path, "raw.key")
        with open(raw, "wb") as f:
            f.write(os.urandom(48))
        os.chmod(raw, 0o600)

        def agent(*argv, program=AGENT):
            return subprocess.run([program, *argv], capture_output=True, text=True, timeout=BOUND_S, check=False, env=bed.env)

        for title, argv, words in (
                ("mode 0644", ["--listen", "tcp:127.0.0.1:0", "--key-file", open_to_all], ["open.key", "0600"]),
                ("of no device", ["--listen", "tcp:127.0.0.1:0", "--key-file", raw], ["raw.key", "quiesce devices enroll"]),
                ("no such key", ["--listen", "tcp:127.0.0.1:0", "--key-file", f"{bed.path}/none"], ["none"]),
                ("no key", ["--listen", "tcp:0.0.0.0:0"], ["--key-file", "quiesce devices enroll"]),
                ("a name", ["--listen", "tcp:board:7151", "--key-file", good], ["board", "numeric address"])):
            told = agent(*argv)
            tap.ok(told.returncode in (2, 3), f"agent, {title}: refused", [told.returncode])
            tap.equal([w for w in words if w not in told.stderr], [], f"agent, {title}: says what and why")
        for address in ("127.0.0.1:0", "0.0.0.0:0", "[::1]:0"):
            told = agent("--listen", f"tcp:{address}", "--key-file", good, program=AGENT_WITHOUT)
            tap.ok(told.returncode == 3 and "built without TLS" in told.stderr, f"agent without TLS: no TCP at all, {address}", [told.stderr])
        plain = subprocess.Popen([AGENT_WITHOUT, "--listen", f"unix:{bed.path}/plain.sock"], stderr=subprocess.PIPE, text=True, env=bed.env)
        tap.ok("plain.sock" in plain.stderr.readline(), "agent without TLS: a Unix socket is taken")
        plain.terminate()
        plain.wait()
        plain.stderr.close()
        _, port = listening(bed, good)
        for title, path, words in (("mode 0644", open_to_all, ["open.key", "600"]), ("no such key", f"{bed.path}/none", ["none"]),
                                   ("of no device", raw, ["raw.key", "quiesce devices enroll board"])):
            daemon = bed.daemon(farm(port, path))
            why = until("the device says why", lambda: device(daemon)["why"])
            tap.equal([w for w in words if w not in why], [], f"quiesced, {title}: the device is down and says what and why ({why})")
            tap.equal(daemon.stop(), 0, f"quiesced, {title}: it serves all the same")


@with_tls
def enrolment(tap):
    """One command makes a device's key, as a file that nobody else may read, and says all that is to be done with it; it never shows the key"""
    with Bed() as bed:
        told = bed.cli("devices", "enroll", "board")
        path = re.search(r"key_file: (/.*\.key)}", told.stdout)[1]
        tap.equal(told.returncode, 0, "it ends well")
        tap.equal((stat.S_IMODE(os.stat(path).st_mode), stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode)), (0o600, 0o700), "modes 0600 and 0700")
        name, secret = read_enrolled(path)
        tap.equal((name, len(secret)), ("board", 32), "the file has the name and 32 bytes")
        tap.ok(secret.hex() not in told.stdout + told.stderr, "the key is not shown")
        with open(path, "rb") as f:
            first = f.read()
        again = bed.cli("devices", "enroll", "board")
        tap.ok(again.returncode == 2 and "stays as it is" in again.stderr, "it is made once", [again.stderr])
        with open(path, "rb") as f:
            tap.equal(f.read(), first, "and stays")
        bed.cli("devices", "enroll", "other", "--output", f"{bed.path}/other.key")
        tap.ok(read_enrolled(f"{bed.path}/other.key")[1] != secret, "the next device has another one")
        tap.equal(stat.S_IMODE(os.stat(f"{bed.path}/other.key").st_mode), 0o600, "also where --output says")
        shown = bed.cli("devices", "enroll", "third", "--output", "-")
        tap.ok(shown.returncode == 2 and "a key is not printed" in shown.stderr and not shown.stdout, "it is not printed on request either", [shown.stderr])
        os.makedirs(f"{bed.path}/all")
        os.chmod(f"{bed.path}/all", 0o777)
        loose = bed.cli("devices", "enroll", "third", "--output", f"{bed.path}/all/third.key")
        tap.ok(loose.returncode == 2 and not os.path.exists(f"{bed.path}/all/third.key"), "nor written where others could exchange it", [loose.stderr])
        os.mkdir(f"{bed.path}/my keys", 0o700)
        odd = bed.cli("devices", "enroll", "it's", "--output", f"{bed.path}/my keys/it's.key")
        brought = subprocess.run(["sh", "-c", "cat " + re.search(r"cat > quiesce\.key' (<.*)", odd.stdout)[1]], capture_output=True, text=True, check=False)
        with open(f"{bed.path}/my keys/it's.key", encoding="ascii") as f:
            tap.equal(brought.stdout, f.read(), "a shell takes the command for a file of any name")
        entry = odd.stdout.partition("farm file:\n")[2].replace("ADDRESS", "127.0.0.1")
        checked = subprocess.run([os.environ["QS_QUIESCED"], "--check-config", bed.file("odd.yaml", entry)], capture_output=True, text=True, timeout=BOUND_S, check=False, env=bed.env)
        tap.ok((checked.returncode, checked.stderr) == (0, ""), "and a farm file takes the entry", [entry, checked.stderr])
        for name in ("a b", "a/b", "..:1", "", "a\033[2J", "x" * 65):
            none = bed.cli("devices", "enroll", name, "--output", f"{bed.path}/none.key")
            tap.ok(none.returncode == 2 and "cannot have the name" in none.stderr and not os.path.exists(f"{bed.path}/none.key"), f"{name!r} is no name", [none.stderr])
        shutil.copy2(path, f"{bed.path}/quiesce.key")  # the device's file
        _, port = listening(bed, f"{bed.path}/quiesce.key", "0.0.0.0")
        daemon = bed.daemon(farm(port, path))
        daemon.device_ready("board")
        tap.equal(daemon.ended(daemon.job(JOB))["state"], "done", "a job runs with it")


@with_tls
def two_hosts(tap):
    """The agent in a network of its own, reached over an address that is not loopback: a whole job, not called local"""
    if os.geteuid() != 0 or not shutil.which("ip"):
        tap.skip("a whole job between two networks", "a network of its own takes root and iproute2")
        return
    with Bed() as bed:
        name, end = f"qs{os.getpid()}", f"qv{os.getpid() % 100000}"

        def ip(*words):
            return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)

        if ip("netns", "add", name).returncode != 0:
            tap.skip("a whole job between two networks", "no network namespace can be made here")
            return
        try:
            subnet = f"10.{os.getpid() // 250 % 250}.{os.getpid() % 250}"
            made = [ip("link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", name), ip("addr", "add", f"{subnet}.1/24", "dev", end),
                    ip("link", "set", end, "up"), ip("-n", name, "addr", "add", f"{subnet}.2/24", "dev", "eth0"), ip("-n", name, "link", "set", "eth0", "up")]
            if any(m.returncode for m in made):
                tap.skip("a whole job between two networks", f"no pair of network devices can be made here: {[m.stderr for m in made]}")
                return
            key_file = key(bed, "board.key")
            agent = subprocess.Popen(["ip", "netns", "exec", name, AGENT, "--listen", "tcp:0.0.0.0:7151", "--key-file", key_file, "--cache", f"{bed.path}/c"], env=bed.env,
                                     stderr=subprocess.PIPE, text=True)
            try:
                tap.ok("port 7151, with TLS" in agent.stderr.readline(), "the agent listens on all of its addresses")
                daemon = bed.daemon(farm(7151, key_file, f"{subnet}.2"))
                daemon.device_ready("board")
                job = daemon.job({**JOB, "plan": {**JOB["plan"], "blocks": 3}})
                tap.equal(daemon.ended(job)["state"], "done", "the job ends well")
                tap.equal(bed.one("SELECT count(*) FROM v_iteration WHERE block > 0"), 6, "its iterations are stored")
                silence = {s for (s,) in bed.sql("SELECT silence FROM v_window")}
                tap.ok(silence <= {"observed", "proven"}, "the link was silent in every window", [silence])
                tap.equal(daemon.stop(), 0, "quiesced ends well")
            finally:
                agent.terminate()
                agent.wait()
                agent.stderr.close()
        finally:
            ip("link", "del", end)
            ip("netns", "del", name)


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


run_cases(the_right_key, nothing_to_read, the_wrong_key, another_device, a_stranger, many_strangers, nothing_of_its_own, refusals, enrolment, two_hosts, unix_socket)
