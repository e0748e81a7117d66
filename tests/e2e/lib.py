"""What the end-to-end tests share: a bed (one temporary world), the daemon and agents as processes, HTTP over the Unix
socket, the event stream, the database read-only, and a tap on the wire. Nothing here waits for a fixed time: it waits for
a condition, and the bound only turns a hang into a failure."""
import functools
import http.client
import json
import os
import select
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from tap import Tap  # noqa: E402  (the path has to be known first)
from tied import tied  # noqa: E402

BOUND_S = 60
QUIESCED = os.environ.get("QS_QUIESCED", "quiesced")
QUIESCE = os.environ.get("QS_QUIESCE", "quiesce")
AGENT = os.environ.get("QS_AGENT", "quiesce-agent")
PROGRAMS = os.environ.get("QS_PROGRAMS", ".")
SANITIZER = ("AddressSanitizer", "LeakSanitizer", "runtime error:")
SLOW = "a callback of the loop took"  # the daemon's own watch: 100 ms of processor time, which no neighbour adds to
RELEASE = bool(os.environ.get("QS_RELEASE"))  # elsewhere sanitizers take the time


class Failed(Exception):
    """A condition that did not come true. The text says which."""


def until(what, condition, bound_s=BOUND_S, pause_s=0.01):
    """The first true value of condition(); Failed where none comes."""
    end = time.monotonic() + bound_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"waited {bound_s} s in vain: {what}")
        time.sleep(pause_s)


def program(name):
    return os.path.join(PROGRAMS, name)


def alive(pid):
    """Runs, and is no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def carrying(mark):
    """The live processes whose environment holds `mark`: a benchmark hands it to everything that it starts."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if mark.encode() in f.read() and alive(pid):
                    found.append(int(pid))
        except OSError:
            continue
    return found


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(child) for child in f.read().split()]
    except FileNotFoundError:
        return []


def agent_below(pid):
    """The agent of a `quiesce-agent` that was started as this process, which only supervises it."""
    def named(child):
        try:
            with open(f"/proc/{child}/comm", encoding="utf-8", errors="replace") as f:
                return f.read().startswith("quiesce-agent")
        except FileNotFoundError:
            return False
    return until(f"process {pid} has its agent", lambda: [child for child in children(pid) if named(child)])[0]


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, bound_s=BOUND_S):
        super().__init__("localhost", timeout=bound_s)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)

    def want(self, *statuses):
        if self.status not in statuses:
            raise Failed(f"HTTP {self.status}, wanted {statuses}: {self.text[:2000]}")
        return self


class Event:
    def __init__(self, number, kind, data):
        self.id, self.kind, self.data = number, kind, data

    def __repr__(self):
        return f"{self.id} {self.kind} {json.dumps(self.data)}"


class Events:
    """A stream of server-sent events, read by a thread of its own until it ends."""

    def __init__(self, path, target):
        self.seen, self.ended, self.lock = [], False, threading.Condition()
        self.connection = UnixConnection(path, bound_s=600)
        self.connection.request("GET", target, headers={"Accept": "text/event-stream"})
        self.response = self.connection.getresponse()
        if self.response.status != 200:
            raise Failed(f"HTTP {self.response.status} for {target}: {self.response.read()[:500]}")
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        fields = {}
        try:
            for raw in self.response:
                line = raw.decode().rstrip("\r\n")
                if line:
                    key, _, value = line.partition(":")
                    fields[key] = value.removeprefix(" ")
                elif "event" in fields:
                    event = Event(int(fields.get("id", 0)), fields["event"], json.loads(fields["data"]))
                    with self.lock:
                        self.seen.append(event)
                        self.lock.notify_all()
                    fields = {}
                else:
                    fields = {}
        except (OSError, http.client.HTTPException, ValueError):
            pass
        with self.lock:
            self.ended = True
            self.lock.notify_all()

    def wait(self, what, wanted, bound_s=BOUND_S):
        """The first event, past ones included, for which wanted(event) holds."""
        with self.lock:
            if not self.lock.wait_for(lambda: any(wanted(e) for e in self.seen) or self.ended, bound_s):
                raise Failed(f"waited {bound_s} s in vain for the event: {what}; last: {self.seen[-3:]}")
            for event in self.seen:
                if wanted(event):
                    return event
        raise Failed(f"the stream ended without the event: {what}; last: {self.seen[-3:]}")

    def end(self, bound_s=BOUND_S):
        with self.lock:
            if not self.lock.wait_for(lambda: self.ended, bound_s):
                raise Failed(f"the stream goes on; last: {self.seen[-3:]}")
        return self.seen

    def close(self):
        try:
            self.connection.sock.shutdown(socket.SHUT_RDWR)
        except (OSError, AttributeError):
            pass


class Process:
    """A child with its output in a file that is judged at the end. It does not outlive the test."""

    def __init__(self, bed, name, argv, env=None, stdin=subprocess.DEVNULL):
        self.name, self.argv = name, argv
        bed.count += 1
        self.log_path = os.path.join(bed.path, f"{bed.count:02d}-{name}.log")
        self.log = open(self.log_path, "wb")
        self.child = subprocess.Popen(tied(argv), stdin=stdin, stdout=self.log, stderr=subprocess.STDOUT, env=env or bed.env,
                                      start_new_session=True)
        self.pid = self.child.pid
        bed.processes.append(self)

    @property
    def text(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def runs(self):
        return self.child.poll() is None

    def kill(self, signum=signal.SIGKILL):
        if self.runs():
            os.kill(self.pid, signum)
        if signum == signal.SIGKILL:
            self.child.wait(BOUND_S)

    def wait(self, bound_s=BOUND_S):
        try:
            return self.child.wait(bound_s)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} does not end; its output ends in: {self.text[-1500:]}") from None


class Agent(Process):
    """What was started is its supervisor, which ends as it does. Only SIGTERM goes through that one."""

    def kill(self, signum=signal.SIGKILL):
        if self.runs() and signum != signal.SIGTERM:
            os.kill(agent_below(self.pid), signum)
            if signum == signal.SIGKILL:
                self.child.wait(BOUND_S)
        else:
            super().kill(signum)


class Daemon(Process):
    def __init__(self, bed, argv):
        super().__init__(bed, "quiesced", argv)
        self.bed, self.socket, self.db = bed, bed.socket, bed.db

    def ready(self):
        def answers():
            if not self.runs():
                raise Failed(f"quiesced ended with {self.child.returncode}: {self.text[-1500:]}")
            try:
                return self.get("/healthz", bound_s=10).status == 200
            except (OSError, http.client.HTTPException):
                return False
        until("quiesced answers /healthz", answers)
        return self

    def device_ready(self, name="local"):
        def looks():
            devices = {d["name"]: d for d in self.get("/devices").json["devices"]}
            return devices.get(name, {}).get("state") in ("ready", "busy") and devices[name]
        return until(f"device {name} is ready", looks)

    def ask(self, method, target, body=None, headers=None, bound_s=BOUND_S):
        connection = UnixConnection(self.socket, bound_s)
        try:
            if isinstance(body, (dict, list)):
                body, headers = json.dumps(body), {"Content-Type": "application/json", **(headers or {})}
            connection.request(method, target if target == "/healthz" else "/api/v1" + target, body=body, headers=headers or {})
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def get(self, target, **more):
        return self.ask("GET", target, **more)

    def submit(self, text, name="job.yaml", files=None, key=None):
        text = text if isinstance(text, str) else json.dumps(text)
        headers = {"Idempotency-Key": key} if key else {}
        return self.ask("POST", "/jobs", {"text": text, "name": name, "files": files or {}}, headers=headers)

    def job(self, text, **more):
        """Submits a job and returns its number."""
        return self.submit(text, **more).want(200, 201).json["id"]

    def show(self, job):
        return self.get(f"/jobs/{job}").want(200).json

    def events(self, job=None, after=0):
        return Events(self.socket, f"/api/v1/jobs/{job}/events?after={after}" if job else f"/api/v1/events?after={after}")

    def ended(self, job, bound_s=BOUND_S):
        """The job, once it has ended."""
        return until(f"job {job} ends (it is {self.show(job)})",
                     lambda: (lambda j: j["state"] not in ("queued", "running") and j)(self.show(job)), bound_s, 0.05)

    def stop(self):
        """As an operator would; the exit code."""
        self.kill(signal.SIGTERM)
        return self.wait()


class Bed:
    """One temporary world: folders, the environment, and everything that was started in it."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="qs-e2e-", dir="/tmp")
        self.env = {**os.environ, "HOME": self.path, "XDG_STATE_HOME": f"{self.path}/state",
                    "XDG_RUNTIME_DIR": f"{self.path}/run", "TMPDIR": self.path, "LC_ALL": "C.UTF-8",
                    "PATH": os.path.dirname(AGENT) + ":" + os.environ.get("PATH", "/usr/bin:/bin")}
        for variable in ("QUIESCE_SOCKET", "XDG_CONFIG_HOME"):
            self.env.pop(variable, None)
        os.makedirs(f"{self.path}/run", mode=0o700)
        self.socket, self.db = f"{self.path}/run/quiesce/api.sock", f"{self.path}/state/quiesce/quiesce.db"
        self.processes, self.taps, self.count = [], [], 0

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        for tap in self.taps:
            tap.close()
        for process in reversed(self.processes):
            process.kill(signal.SIGCONT)
            process.kill()
            process.log.close()
        self._end_embedded()
        broken = [p for p in self.processes if any(word in p.text for word in SANITIZER)]
        if kind or broken:
            for process in self.processes:
                print(f"# --- {process.name} {process.pid}")
                for line in process.text[-6000:].splitlines()[-40:]:
                    print(f"# {line}")
        texts = [p.text for p in broken]
        slow = self._slow_callbacks() if RELEASE else []
        if os.environ.get("QS_KEEP"):
            print(f"# kept: {self.path}")
        else:
            shutil.rmtree(self.path, ignore_errors=True)
        if texts and not kind:
            raise Failed(f"a sanitizer reported: {texts[0][-3000:]}")
        if slow and not kind:
            raise Failed("the daemon's loop stood still: " + "; ".join(slow))

    def _slow_callbacks(self):
        """What any daemon of this bed said of callbacks that kept its loop, those that the command line started included."""
        found = []
        for folder, _, files in os.walk(self.path):
            for name in (n for n in files if n.endswith(".log")):
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
                    found += [line.strip() for line in f if SLOW in line]
        return found

    def embedded_pid(self):
        """The daemon that owns the database, whoever started it; 0 where there is none."""
        try:
            with open(self.db + "-lock", encoding="ascii") as f:
                pid = int(f.readline() or 0)
        except FileNotFoundError:
            return 0
        return pid if pid and alive(pid) else 0

    def _end_embedded(self):
        """A daemon that the command line started is nobody's child: it must not outlive its folder."""
        pid = self.embedded_pid()
        if pid:
            os.kill(pid, signal.SIGTERM)
            until("the embedded daemon has ended", lambda: not alive(pid))

    def file(self, name, text, mode=0o644):
        path = os.path.join(self.path, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text if isinstance(text, str) else json.dumps(text))
        os.chmod(path, mode)
        return path

    def daemon(self, config=None, *options, wait=True):
        argv = [QUIESCED, "--agent", AGENT, *options]
        if config is not None:
            argv += ["--config", self.file("farm.yaml", config)]
        daemon = Daemon(self, argv)
        return daemon.ready() if wait else daemon

    def agent(self, listen=None, *options):
        """An agent of its own, at a Unix socket unless told otherwise."""
        listen = listen or f"unix:{self.path}/agent.sock"
        agent = Agent(self, "agent", [AGENT, "--listen", listen, *options])
        if listen.startswith("unix:"):
            until("the agent listens", lambda: os.path.exists(listen[5:]) or not agent.runs())
        return agent

    def cli(self, *arguments, bound_s=BOUND_S, env=None, cwd=None):
        return subprocess.run([QUIESCE, *arguments], capture_output=True, text=True, timeout=bound_s, check=False,
                              env={**self.env, "QUIESCED": QUIESCED, **(env or {})}, cwd=cwd or self.path,
                              stdin=subprocess.DEVNULL)

    def sql(self, statement, *values):
        """Rows of the database, read while the daemon runs, as anybody may."""
        connection = sqlite3.connect(f"file:{self.db}?mode=ro", uri=True, timeout=20)
        try:
            return connection.execute(statement, values).fetchall()
        finally:
            connection.close()

    def one(self, statement, *values):
        return self.sql(statement, *values)[0][0]

    def lock(self):
        """Holds the database's write lock, so that the daemon's next commit waits (for up to 5 s)."""
        connection = sqlite3.connect(self.db, timeout=20, isolation_level=None)
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("BEGIN IMMEDIATE")
        return connection


def unlock(connection):
    connection.execute("ROLLBACK")
    connection.close()


ITERATIONS, ACK, HELD = 21, 22, 8
HEADER = struct.Struct("<HBBIII")


class WireTap:
    """Stands between the daemon and an agent's Unix socket, passes every byte on, and remembers what was measured and
    what was acknowledged: the ledger that no side of the program keeps. on_ack(run, next_seq) is called before the ACK
    is passed on."""

    def __init__(self, bed, agent_socket, on_ack=None):
        self.path, self.agent_socket, self.on_ack = os.path.join(bed.path, "tap.sock"), agent_socket, on_ack
        self.acked, self.sent, self.held, self.links, self.faults = {}, {}, [], 0, []
        self.open = True
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(self.path)
        self.server.listen(4)
        self.server.settimeout(0.2)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()
        bed.taps.append(self)

    def close(self):
        self.open = False
        self.server.close()

    def _serve(self):
        while self.open:
            try:
                host, _ = self.server.accept()
            except OSError:
                continue
            agent = socket.socket(socket.AF_UNIX)
            try:
                agent.connect(self.agent_socket)
                self.links += 1
                self._carry(host, agent)
            except OSError:
                pass
            finally:
                host.close()
                agent.close()

    def _carry(self, host, agent):
        buffers = {host: bytearray(), agent: bytearray()}
        while self.open:
            ready, _, _ = select.select([host, agent], [], [], 0.2)
            for side in ready:
                data = side.recv(1 << 16)
                if not data:
                    return
                buffers[side] += data
                self._frames(buffers[side], agent if side is host else host)

    def _frames(self, buffer, to):
        """Whole frames only: each is understood before it goes on."""
        while len(buffer) >= HEADER.size:
            magic, _, kind, length, _, _ = HEADER.unpack_from(buffer)
            if magic != 0x5351:
                self.faults.append(f"bytes that are no frame: {bytes(buffer[:16]).hex()}")
                to.sendall(buffer)
                buffer.clear()
                return
            end = HEADER.size + length
            if len(buffer) < end:
                return
            self._note(kind, bytes(buffer[HEADER.size:end]))
            to.sendall(buffer[:end])
            del buffer[:end]

    def _note(self, kind, payload):
        if kind == ACK:
            run, (next_seq,) = payload[:16].hex(), struct.unpack_from("<Q", payload, 16)
            if self.on_ack:
                try:
                    self.on_ack(run, next_seq)
                except Exception:  # noqa: BLE001  (told at the end: the bytes must go on)
                    self.faults.append(traceback.format_exc())
            self.acked[run] = max(self.acked.get(run, 0), next_seq)
        elif kind == ITERATIONS:
            run, seq, durations = iterations_of(payload)
            kept = self.sent.setdefault(run, {})
            for i, duration in enumerate(durations):
                if kept.setdefault(seq + i, duration) != duration:
                    self.faults.append(f"run {run} seq {seq + i}: sent as {kept[seq + i]} and as {duration}")
        elif kind == HELD:
            (count,) = struct.unpack_from("<H", payload)
            for i in range(count):
                run, first, following = struct.unpack_from("<16sQQ", payload, 2 + 32 * i)
                self.held.append((run.hex(), first, following))


def iterations_of(payload):
    """(run, first seq, durations) of an ITERATIONS payload (proto/PROTOCOL.md)."""
    run, _, seq, _, metrics = struct.unpack_from("<16sIQIH", payload)
    at = struct.calcsize("<16sIQIH") + 2 * metrics
    (rows,) = struct.unpack_from("<H", payload, at)
    row = struct.Struct(f"<qqIi{metrics}q")
    return run.hex(), seq, [row.unpack_from(payload, at + 2 + row.size * i)[1] for i in range(rows)]


def stored(bed, run):
    """{seq: duration} of one run as the database has it. A seq that is there twice is an error."""
    rows = bed.sql("SELECT seq, duration_ns FROM v_iteration WHERE run = ? ORDER BY seq", run)
    if len({seq for seq, _ in rows}) != len(rows):
        raise Failed(f"run {run} has an iteration twice: {rows}")
    return dict(rows)


def whole(bed, job):
    """What holds of every job that has ended: problems, as text. Sequence numbers of a run are contiguous from 0, no
    run and no session is open, a device's sessions follow each other, windows know how many iterations they have."""
    problems = []
    for (run,) in bed.sql("SELECT lower(hex(uid)) FROM run WHERE job_id = ?", job):
        seqs = list(stored(bed, run))
        if seqs != list(range(len(seqs))):
            problems.append(f"run {run}: seq {seqs}")
    problems += [f"run {r}: still {s}" for r, s in
                 bed.sql("SELECT lower(hex(uid)), state FROM run WHERE job_id = ? AND state = 'running'", job)]
    problems += [f"session {s} {'has no end' if e is None else 'ended after the next one had begun'}" for s, e in bed.sql(
        "SELECT id, ended_wall_ns FROM (SELECT s.id, s.job_id, s.ended_wall_ns, lead(s.started_wall_ns) OVER (PARTITION BY b.device_id "
        "ORDER BY s.started_wall_ns, s.id) AS next_ns FROM session s JOIN boot b ON b.id = s.boot_id) "
        "WHERE job_id = ? AND (ended_wall_ns IS NULL OR ended_wall_ns > next_ns)", job)]
    problems += [f"window {w}: n is {n}, rows are {m}" for w, n, m in bed.sql(
        "SELECT w.id, w.n, count(i.i) FROM window w LEFT JOIN iteration i ON i.window_id = w.id GROUP BY w.id "
        "HAVING w.n <> count(i.i)")]
    return problems


def blocks(bed, job):
    """{(point, block): [(attempt, pos, arm, state, taint)]} of the counted blocks."""
    found = {}
    for point, block, *rest in bed.sql("SELECT point_idx, block, attempt, pos, arm_idx, state, taint FROM run "
                                       "WHERE job_id = ? AND block > 0 ORDER BY block, attempt, pos", job):
        found.setdefault((point, block), []).append(tuple(rest))
    return found


def with_tls(case):
    """A case that takes an agent with TLS: a static one has none where the library's source could not be fetched, which is a failure of its own in --slow."""
    @functools.wraps(case)
    def run(tap):
        if os.environ.get("QS_AGENT_TLS", "1"):
            case(tap)
        else:
            tap.skip(case.__doc__.splitlines()[0], "this build's agent has no TLS: the source of Mbed TLS was not fetched (agent/source.sh)")
    return run


def run_cases(*cases):
    """Runs each case, a function of the Tap, as `main` of a test file; its first line of documentation is its name."""
    tap = Tap()
    only = sys.argv[1:]
    for case in cases:
        if only and case.__name__ not in only:
            continue
        name = (case.__doc__ or case.__name__).strip().split("\n")[0].rstrip(".")
        try:
            case(tap)
        except Exception:  # noqa: BLE001  (a case that breaks is a case that fails; the others go on)
            tap.ok(False, name, traceback.format_exc().splitlines())
        else:
            tap.ok(True, name)
    sys.exit(tap.done())
