#!/usr/bin/env python3
"""The client as a person meets it, against a daemon that is a script: requests, streams, exit codes, start and end.

usage: client.py QUIESCE            the tests
       client.py --embedded ...     plays the daemon that `quiesce run` starts
"""
import hashlib
import json
import os
import shlex
import signal
import socket
import socketserver
import stat
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "tools"))
from tap import Tap  # noqa: E402

DIGEST = hashlib.sha256
COMPARISON = {"job": 7, "state": "done", "stopped": "interval", "seed": "1", "db": "/tmp/x.db", "elapsed_ns": 5,
              "results": [{"point": 0, "label": "p", "device": "local", "blocks": 10, "arms": [
                  {"arm": 0, "name": "a", "command": "x", "runs": 10, "iterations": 10, "warnings": []},
                  {"arm": 1, "name": "b", "command": "y", "runs": 10, "iterations": 10, "warnings": []}],
                  "metrics": [{"metric": "duration_ns", "unit": "ns", "arms": [{"arm": 0, "name": "a", "median": 1e6},
                                                                               {"arm": 1, "name": "b", "median": 2e6}]}],
                  "comparisons": [{"base_arm": "a", "candidate_arm": "b", "metric": "duration_ns", "unit": "ns", "units_of": "blocks",
                                   "judged_lo": 1.9, "judged_hi": 2.1, "judged_level": 0.95, "base": {"units": 10},
                                   "verdict": "regression", "margin_ratio": 0.02,
                                   "sentence": "b takes 90–110 % longer than a"}], "warnings": []}]}


class Farm:
    """What the pretended daemon knows and has seen."""

    def __init__(self):
        self.seen, self.files, self.keys = [], {}, []
        self.events = [("job.start", {"device": "local", "seed": "1"}),
                       ("job.progress", {"block": 7, "blocks_max": 30, "next_look": 10, "half_width_ratio": 0.012,
                                         "goal_ratio": 0.01, "eta_ns": 8500000000, "points": 1}),
                       ("job.result", {"exit": 5}), ("job.state", {"state": "done", "reason": None})]
        self.cut_after = None  # so many events, then the connection breaks (once)
        self.dies = False  # when it breaks: the daemon itself, at once, so that nobody meets it again
        self.hold_after = None  # so many events, then nothing until the job is cancelled
        self.cancelled = threading.Event()
        self.deaf = False  # cancelling is answered, and the job goes on
        self.series = [{"id": f"{i:064x}", "benchmark": name, "device": device, "arm": "tip", "sessions": 3}
                       for i, (name, device) in enumerate((("image/blur", "pixel6"), ("sort", "local"), ("sort big", "local")))]
        self.asked, self.unknown, self.version = [], None, "9.9"
        self.notice = None
        self.late = None  # before there is a file of this name, only what a daemon answers in a silence is answered


def replies(version):
    """What it answers, by path: tests/e2e/test_canned.py holds the fields against the real daemon's."""
    return {"/healthz": {"ok": True},
            "/api/v1/version": {"version": version, "db": "/tmp/x.db", "embedded": version == "0.0.1", "pid": 4711},
            "/api/v1/jobs": {"jobs": [{"id": 7, "name": "demo", "state": "done", "verdict": {"text": "b 3.1 % slower"}, "runs": 3, "iterations": 9}],
                             "notice": None},
            "/api/v1/jobs/7": {"id": 7, "name": "demo", "state": "done", "runs": 3, "iterations": 9, "spec": "text"},
            "/api/v1/jobs/7/compare": COMPARISON,
            "/api/v1/jobs/7/runs": {"runs": [{"uid": "00" * 16, "arm": 1, "point": 0},
                                             {"uid": "ab" * 16, "arm": 1, "point": 0}]},
            "/api/v1/runs/" + "ab" * 16: {"windows": [{"output": "first"}, {"output": "last words"}]},
            "/api/v1/devices": {"notice": None, "devices": [{"name": "local", "state": "ready", "link": "exec", "local": True,
                                             "agent": "quiesce-agent 0.1.0 (linux, x86_64, static)",
                                             "cache": {"bytes": 12 << 20, "most_bytes": 1 << 30, "free_bytes": 5}},
                                            {"name": "other", "state": "lost", "link": "tcp", "cache": None}]}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def address_string(self):
        return "unix"

    def reply(self, status, body, kind="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def fail(self, status, code, message, **more):
        self.reply(status, {"error": {"code": code, "blame": "operator", "message": message, "advice": "try again",
                                      **more}})

    def parse_request(self):
        good, late = super().parse_request(), getattr(getattr(self.server, "farm", None), "late", None)
        while good and late and self.path not in ("/healthz", "/api/v1/version") and not os.path.exists(late) and alive(os.getppid()):
            time.sleep(0.01)
        return good

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_HEAD(self):
        self.reply(200 if self.path.rsplit("/", 1)[1] in self.server.farm.files else 404, b"")

    def do_PUT(self):
        data, name = self.body(), self.path.rsplit("/", 1)[1]
        good = DIGEST(data).hexdigest() == name
        self.server.farm.files[name] = data
        self.reply(201 if good else 409, {"ok": good})

    def do_POST(self):
        farm, data = self.server.farm, self.body()
        farm.seen.append((self.path, data))
        if self.path.startswith("/api/v1/jobs:validate"):
            if b"bad" in data:
                self.fail(400, "job", "job.yaml has 1 mistake", text="job.yaml:1:1: bad: unknown key\n    1 | bad: \x1b[31m\n")
            else:
                self.reply(200, {"ok": True, "files": [{"path": "in.bin", "name": "in.bin"}] if b"inputs" in data else []})
        elif self.path == "/api/v1/jobs":
            farm.keys.append(self.headers.get("Idempotency-Key"))
            self.reply(201, {"id": 7, "state": "queued", "position": 0})
        elif self.path.endswith(":cancel"):
            if not farm.deaf:
                farm.cancelled.set()
            self.reply(200, {"id": 7, "state": "cancelled"})
        else:
            self.fail(404, "not-found", "nothing here")

    def do_GET(self):
        farm = self.server.farm
        path, _, query = self.path.partition("?")
        if path in (table := replies(farm.version)):
            notice = {"notice": farm.notice} if "notice" in table[path] else {}
            self.reply(200, {**table[path], **notice})
        elif path == "/api/v1/jobs/7/export":
            self.reply(200, f"exported {query}".encode(), "text/plain")
        elif path == "/api/v1/jobs/7/events":
            self.stream(int(query.partition("=")[2] or 0))
        elif path == "/api/v1/history":
            self.history(urllib.parse.parse_qs(query))
        elif path.startswith("/api/v1/history/"):
            self.reply(200, {"metrics": ["time", "max_rss_bytes"], "points": [{"build": "v8", "started_wall_ns": 5}]})
        elif path == "/api/v1/compare" or path.startswith("/api/v1/jobs/10"):
            self.begin_only(1000 if "cut" in query else 0, "refused" in query)
        elif path.startswith("/api/v1/jobs/8"):
            self.fail(409, "conflict", "job 8 runs")
        else:
            self.fail(404, "not-found", f"no such thing: {path}")

    def begin_only(self, missing, refused):
        """How far an answer is, and nothing more, though so many bytes more were announced; or that there will be none."""
        said = b'event: progress\ndata: {"stage": "judge", "done_ratio": 0.5}\n\n'
        if refused:
            said += b'event: error\ndata: {"error": {"code": "data", "message": "build x has no runs", "advice": "measure it"}}\n\n'
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(said) + missing))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(said)
        self.close_connection = True

    def history(self, query):
        """As an old daemon, or as one with these series."""
        farm = self.server.farm
        farm.asked.append(self.path)
        if farm.unknown == "address":
            self.fail(404, "not-found", "there is nothing at this address", routes=["GET /healthz"])
        elif farm.unknown == "query":
            self.fail(400, "usage", "/api/v1/history has no `limit` in its query, only: text ")
        else:
            word, metric = query.get("text", [""])[0], query.get("metric", ["time"])[0]
            of_time = int(query.get("since", ["0"])[0]) <= 5 and query.get("build", ["v"])[0] in "v8"
            self.reply(200, {"series": [s for s in farm.series if word in s["benchmark"] and metric in ("time", "max_rss_bytes")
                                        and of_time and all(query.get(key, [s[key]])[0] == s[key] for key in ("device", "arm"))]})

    def stream(self, after):
        farm = self.server.farm
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b": hello\n\n")
        for i, (kind, data) in enumerate(farm.events, 1):
            if i <= after:
                continue
            if farm.cut_after is not None and i > farm.cut_after:
                if farm.dies:
                    os._exit(1)
                farm.cut_after = None
                return
            if farm.hold_after is not None and i > farm.hold_after:
                self.wfile.flush()
                farm.cancelled.wait(20)
                kind, data = "job.state", {"state": "cancelled", "reason": "by a person"}
                self.wfile.write(f"id: {i}\nevent: {kind}\ndata: {json.dumps(data)}\n\n".encode())
                return
            self.wfile.write(f"id: {i}\nevent: {kind}\ndata: {json.dumps(data)}\n\n".encode())


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that leaves is no news."""

    def __init__(self, path, dies=False, mark=None):
        self.farm = Farm()
        self.farm.dies, self.farm.cut_after = dies, 2 if dies else None
        super().__init__(path, Handler)
        if mark:  # that it was there, before what it serves can end it
            with open(mark, "w", encoding="ascii"):
                pass
        threading.Thread(target=self.serve_forever, daemon=True).start()


def play_daemon(argv):
    """Until the test says so or is gone itself, however it ended. One that starts late must not outlive it either."""
    path, top, test = argv[argv.index("--socket") + 1], os.environ["QS_TEST_TOP"], int(os.environ["QS_TEST_PID"])

    def wanted():
        return os.path.isdir(top) and not os.path.exists(os.path.join(top, "over")) and alive(test)

    if not wanted():
        os._exit(1)
    if "--second" in argv:
        os.unlink(path)
    Server(path, dies="--short" in argv and "--second" not in argv, mark=os.path.join(top, f"daemon-{os.getpid()}"))
    while wanted():
        time.sleep(0.05)
    os._exit(0)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def end_daemons(top):
    """The played daemons are nobody's children: they have ended before their folder goes."""
    with open(os.path.join(top, "over"), "w", encoding="ascii"):
        pass
    pids = [int(name.removeprefix("daemon-")) for name in os.listdir(top) if name.startswith("daemon-")]
    while any(alive(pid) for pid in pids):
        time.sleep(0.02)
    return len(pids)


class Client:
    def __init__(self, program, top):
        self.program, self.top = os.path.abspath(program), top
        self.env = {**os.environ, "XDG_RUNTIME_DIR": top, "XDG_STATE_HOME": os.path.join(top, "state"),
                    "LC_ALL": "C.UTF-8", "TERM": "dumb", "QS_TEST_PID": str(os.getpid()), "QS_TEST_TOP": top}
        for name in ("QUIESCE_SOCKET", "QUIESCED", "COLUMNS"):
            self.env.pop(name, None)

    def __call__(self, *args, env=None, cwd=None):
        out = subprocess.run([self.program, *args], capture_output=True, text=True, timeout=60, cwd=cwd or self.top,
                             env={**self.env, **(env or {})})
        return out.returncode, out.stdout, out.stderr


def test_reading(t, q, server):
    code, out, _ = q("jobs")
    t.ok(code == 0 and "demo" in out, "jobs lists jobs", [out])
    code, out, _ = q("jobs", "--json")
    t.ok(json.loads(out)["jobs"][0]["id"] == 7, "jobs --json is the daemon's document")
    code, out, _ = q("show", "7")
    t.ok(code == 0 and "job 7: demo, done" in out, "show shows a job", [out])
    t.equal(q("show", "7", "--spec")[1], "text\n", "show --spec prints the job file")
    code, out, _ = q("devices")
    t.ok(code == 0 and "this machine" in out, "devices lists devices", [out])
    out = q("devices", env={"COLUMNS": "80"})[1]
    lines = out.splitlines()
    t.ok("cache" in lines[0] and "12.0 MiB" in out and max(map(len, lines)) <= 80, "with what their caches hold, in 80 columns", lines)
    server.farm.notice = "a reader keeps a transaction open"
    for word in ("jobs", "devices"):
        code, out, err = q(word)
        t.ok(code == 0 and err == "quiesce: a reader keeps a transaction open\n", f"{word} shows what an operator should know", [out, err])
    t.equal((q("jobs", "--json")[2], json.loads(q("jobs", "--json")[1])["notice"]), ("", server.farm.notice), "in JSON it is a field")
    server.farm.notice = None
    code, out, _ = q("version")
    t.ok(code == 0 and "quiesced 9.9" in out, "version names both", [out])
    code, out, err = q("show", "9")
    t.ok(code == 2 and "no such thing" in err and "try again" in err, "what is not there is said with advice", [err])
    code, out, err = q("show", "9", "--json")
    t.ok(code == 2 and json.loads(out)["error"]["code"] == "not-found" and err == "", "also as JSON", [out, err])


def test_compare(t, q):
    code, out, _ = q("compare", "7")
    t.ok(code == 5 and "b takes 90–110 % longer than a" in out, "compare ends with 5 on a regression", [out])
    code, out, _ = q("compare", "7", env={"LC_ALL": "C"})
    t.ok("90-110 %" in out and out.isascii(), "without UTF-8 it is ASCII", [out])
    code, out, _ = q("compare", "7", "--json")
    t.ok(code == 5 and json.loads(out) == COMPARISON, "compare --json is the document as it is")
    t.equal([q("compare", "7", "--fail-on", w)[0] for w in ("never", "regression", "probable")], [0, 5, 5], "--fail-on says what ends a build")
    t.ok(q("compare", "7", "--fail-on", "bad")[0] == 2, "in words that there are")
    t.equal(q("compare", "7", "--csv")[:2], (5, "exported format=csv\n"), "compare --csv exports")
    t.ok(q("compare", "8")[0] == 2, "a job that runs has no comparison yet")
    for words, code, said in ((("build:cut", "build:b"), "daemon", "broke: Transferred a partial file"),
                              (("build:a", "build:b"), "daemon", "ended before its answer"),
                              (("build:refused", "build:b"), "data", "build x has no runs"), (("10",), "internal", "is not JSON")):
        got, out, _ = q("compare", *words, "--json")
        error = json.loads(out)["error"]
        t.ok(got == (2 if code == "data" else 3) and error["code"] == code and said in error["message"] and "disk" not in error["advice"],
             f"an answer without its document is a failure: {said}", [got, out])


def test_history(t, q, server):
    code, out, err = q("history", "sort")
    t.ok(code == 0 and out.count("sort") == 2 and err == "", "a part of the name finds its series", [out, err])
    for words, code, says in ((("blurr",), 2, "no series has `blurr` in its name did you mean `blur`?"),
                              (("sort", "--device", "pixel7"), 2, "no series is of device `pixel7` did you mean `pixel6`?"),
                              (("--arm", "zebra"), 2, "no series is of arm `zebra` `quiesce history` lists all"),
                              (("--metric", "max_rss_byte"), 2, "no series has the metric `max_rss_byte` did you mean `max_rss_bytes`?"),
                              (("sort", "--device", "pixel6"), 2, "no series has all of `sort`, --device `pixel6`"),
                              (("--build", "w8"), 2, "no series has a session with `w8` in the label of its build did you mean `v8`?"),
                              (("sort", "--since", "2026-01-01"), 2, "no series of `sort` has a session in this time"),
                              (("--since", "2026-01-01"), 2, "no series has a session in this time"),
                              (("abcdef",), 2, "no series has `abcdef` in its name `quiesce history` lists all")):
        got, out, err = q("history", *words)
        t.ok(got == code and says in " ".join(err.split()) and out == "", f"history {' '.join(words)}", [out, err])
    server.farm.asked.clear()
    q("history", "sort", "--build", "v8", "--level", "99%", "--until", "2100-01-01")
    asked = urllib.parse.parse_qs(server.farm.asked[0].partition("?")[2])
    t.equal([asked[key] for key in ("text", "build", "level")], [["sort"], ["v8"], ["0.990000"]], "several series are narrowed as one is")
    t.ok("until" in asked, "by time, too", server.farm.asked)
    code, out, err = q("history", "blurr", "--json")
    told = json.loads(out)["error"]
    t.ok(code == 2 and told["code"] == "not-found" and "`blurr`" in told["message"] and "`blur`" in told["advice"] and err == "",
         "also as JSON", [out, err])
    server.farm.series, kept = [], server.farm.series
    code, out, err = q("history", "blur")
    t.ok(code == 2 and "`blur`" in err and "quiesce run" in err, "a name in an empty store", [err])
    code, out, err = q("history")
    t.ok(code == 0 and "no series yet" in out and err == "", "an empty store without a name is no mistake", [out, err])
    server.farm.series = kept


def test_other_version(t, q, server):
    farm = server.farm
    for version, unknown, says in (("0.0.1", "address", "(version 0.0.1) is older than this client"),
                                   ("0.0.1", "query", "(version 0.0.1) is older than this client"),
                                   ("9.9.0", "address", "(version 9.9.0) is newer than this client")):
        farm.version, farm.unknown = version, unknown
        code, out, err = q("history", "sort")
        err = " ".join(err.split())
        t.ok(code == 3 and says in err and "nothing at this address" not in err, f"a daemon of {version} lacks the {unknown}", [err])
        t.equal("`kill 4711`" in err, version == "0.0.1", "how to end an old one is said")
    farm.version = json.loads(q("version", "--json")[1])["version"]
    code, out, err = q("history", "--json")
    told = json.loads(out)["error"]
    t.ok(code == 3 and told["code"] == "version" and "a different build" in told["message"], "equal versions are told as other builds", [out])
    farm.version, farm.unknown = "9.9", None
    t.equal(q("show", "9")[0], 2, "a thing that is not there is nobody's version")


def test_submit(t, q, server):
    farm = server.farm
    with open(os.path.join(q.top, "job.yaml"), "w", encoding="utf-8") as f:
        f.write("inputs: [in.bin]\n")
    with open(os.path.join(q.top, "in.bin"), "wb") as f:
        f.write(b"\0content" * 100000)
    digest = DIGEST(b"\0content" * 100000).hexdigest()
    code, out, err = q("submit", os.path.join(q.top, "job.yaml"), cwd="/")
    t.ok(code == 0 and out == "job 7 is queued\n", "submit says the job's number", [out, err])
    t.ok(digest in farm.files, "the file went by its content, found beside the job file")
    body = json.loads(farm.seen[-1][1])
    t.equal(body["files"], {"in.bin": digest}, "the job binds path to hash")
    t.ok(len(farm.keys[-1]) == 32, "with an idempotency key")
    q("submit", "--key", "mine", "job.yaml")
    t.equal(farm.keys[-1], "mine", "or with a given one")
    os.remove(os.path.join(q.top, "in.bin"))
    count = len(farm.keys)
    code, out, err = q("submit", "job.yaml")
    t.ok(code == 2 and "in.bin" in err and len(farm.keys) == count, "a missing file: nothing is submitted", [err])
    with open(os.path.join(q.top, "bad.yaml"), "w", encoding="utf-8") as f:
        f.write("bad: 1\n")
    code, out, err = q("submit", "bad.yaml")
    t.ok(code == 2 and "job.yaml:1:1: bad: unknown key" in err and "\x1b" not in err and len(farm.keys) == count,
         "mistakes are shown at their place, escaped", [err])
    with open(os.path.join(q.top, "good.yaml"), "w", encoding="utf-8") as f:
        f.write("x: 1\n")
    code, out, err = q("submit", "--wait", "good.yaml")
    t.ok(code == 0 and "Regression" in out, "submit --wait ends with the comparison", [out, err])
    t.ok("block 7 of 10–30, ±1.2 % (goal ±1 %), ≤ 9 s left" in err, "progress is on standard error", [err])
    t.equal(q("submit", "--wait", "--fail-on", "regression", "good.yaml")[0], 5, "--fail-on regression ends with 5")
    code, out, _ = q("submit", "--wait", "--json", "good.yaml")
    t.ok(code == 0 and json.loads(out) == COMPARISON, "with --json nothing but the document")


def test_streams(t, q, server):
    code, out, err = q("watch", "7")
    t.ok(code == 0 and "job 7 is done" in out, "watch follows to the end", [out, err])
    code, out, _ = q("watch", "7", "--json")
    t.equal([json.loads(line)["event"] for line in out.splitlines()], [kind for kind, _ in server.farm.events],
            "watch --json: an event a line")
    code, out, err = q("watch", "9")
    t.ok(code == 2 and out == "" and "no such thing" in err and "try again" in err, "a job that is not there is nobody's to watch", [out, err])
    server.farm.cut_after = 2
    code, out, err = q("watch", "7", "--json")
    t.ok(code == 0 and [json.loads(line)["id"] for line in out.splitlines()] == [1, 2, 3, 4],
         "a broken stream is taken up where it broke", [out, err])
    usual = server.farm.events
    for exit_code, state, want in ((1, "failed", 1), (3, "failed", 3), (4, "failed", 4), (0, "done", 0), (5, "done", 0), (1, "done", 1)):
        server.farm.events = [("job.result", {"exit": exit_code}), ("job.state", {"state": state, "reason": "why"})]
        t.equal(q("watch", "7")[0], want, f"a {state} job with result {exit_code} ends with {want}")
    server.farm.events = [("job.result", {"exit": 1}), ("job.state", {"state": "done", "reason": "blocks"})]
    _, out, err = q("watch", "7")
    t.ok("job 7 is done, but commands failed in it" in err and "--ignore-failure" in err, "a job that is no success says why", [out, err])
    server.farm.events = [("job.result", {"exit": 1}), ("job.state", {"state": "failed", "reason": "setup failed; it wrote: one\ntwo\x07"})]
    _, out, err = q("watch", "7")
    t.ok("  job 7 failed: setup failed; it wrote: one\n  two\\x07\n" in err, "what a program wrote keeps its lines, below ours", [out, err])
    bad = "\x1b]0;X\x07\x9b2J"
    server.farm.events = [("job.start", {"device": bad, "seed": "1"}), ("job.waiting", {"device": bad, "why": bad, "sensor": bad, "busiest": bad}),
                          ("job.warning", {"text": bad, "device": bad, "why": bad}), ("job.result", {"exit": 1}),
                          ("job.state", {"state": "failed", "reason": f"it wrote {bad}"})]
    _, out, err = q("watch", "7")
    t.ok(r"job 7 failed: it wrote \x1b]0;X\x07\xc2\x9b2J" in err and not any(c in out + err for c in "\x1b\x07\x9b"),
         "what a device or a program wrote reaches the terminal escaped", [out, err])
    server.farm.events = usual


def test_interrupt(t, q, server):
    farm = server.farm
    farm.hold_after = 2
    child = subprocess.Popen([q.program, "run", "--", "true"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env=q.env, cwd=q.top)
    while True:
        line = child.stderr.readline()
        if "block 7" in line or not line:
            break
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    t.ok(farm.cancelled.is_set() and child.returncode == 130, "Ctrl-C cancels what run started", [err])
    t.ok("kept: 3 runs with 9 iterations" in err and out == "", "and says what was kept", [out, err])
    farm.cancelled.clear()
    for argv in (("watch", "7"), ("submit", "--wait", "plain.yaml")):
        child = subprocess.Popen([q.program, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=q.env, cwd=q.top)
        while True:
            line = child.stderr.readline()
            if "block 7" in line or not line:
                break
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
        t.ok(child.returncode == 130 and "job 7 goes on" in err, f"Ctrl-C ends {argv[0]} with 130", [child.returncode, out, err])
        t.ok(not farm.cancelled.is_set(), "and leaves the job alone")
    twice(t, q, farm)
    farm.hold_after = None
    farm.cancelled.set()


def twice(t, q, farm):
    farm.deaf = True
    child = subprocess.Popen([q.program, "run", "--", "true"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=q.env, cwd=q.top)
    for mark in ("block 7", "Ctrl-C again"):
        while mark not in (line := child.stderr.readline()) and line:
            pass
        child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    asked = sum(path.endswith(":cancel") for path, _ in farm.seen[-2:])
    t.ok(child.returncode == 130 and "job 7 goes on" in err and asked == 1, "Ctrl-C again ends run with 130, where the job does not end",
         [child.returncode, out, err, farm.seen[-2:]])
    farm.deaf = False


def test_run(t, q, server):
    with open(os.path.join(q.top, "plain.yaml"), "w", encoding="ascii") as f:
        f.write("quiesce: 1\n")
    code, out, err = q("run", "--export-json", "out.json", "--export-csv", "-", "--", "true")
    t.ok(code == 0 and "Regression" in err, "run ends with the comparison", [out, err])
    t.equal(out, "exported format=csv\n", "which leaves standard output to an export that asked for it")
    with open(os.path.join(q.top, "out.json"), encoding="utf-8") as f:
        t.equal(f.read(), "exported format=json\n", "and with the exports")
    job = json.loads(json.loads(server.farm.seen[-1][1])["text"])
    t.equal(job["benchmarks"][0]["dir"], os.path.realpath(q.top), "the job runs where the person is")
    t.equal(job["benchmarks"][0]["env"]["LC_ALL"], "C.UTF-8", "in the person's environment")
    t.equal(q("run", "--fail-on", "regression", "--", "true")[0], 5, "run --fail-on regression ends with 5")
    out = q("run", "--show-output", "--", "true")[1]
    t.ok("Output of b" in out and "| last words" in out and "Output of a" not in out, "--show-output shows the last window's",
         [out])
    t.equal(q("run", "--style", "none", "--", "true")[1:], ("", ""), "--style none prints nothing")
    t.equal(q("run", "--style", "none", "--export-orgmode", "-", "--", "true")[1:], ("exported format=orgmode\n", ""),
            "but the export that was asked for")
    t.equal(q("submit", "--wait", "--style", "none", "plain.yaml")[1:], ("", ""), "in submit --wait, too")
    t.ok("Output of b" not in q("run", "--output", "pipe", "--", "true")[1], "--output pipe keeps and does not show")
    t.ok("Output of b" in q("run", "--output", "inherit", "--", "true")[1], "--output inherit shows")
    seen = len(server.farm.seen)
    for argv, words in ((("--export-json", "/no/such/folder/x"), "/no/such/folder/x: No such file"),
                        (("--export-markdown", "."), ". is a folder"),
                        (("--export-json", "-", "--export-csv", "-"), "go to the same place"),
                        (("--export-json", "x", "--export-csv", "x"), "go to the same place"),
                        (("--json", "--export-csv", "-"), "both go to standard output")):
        code, out, err = q("run", *argv, "--", "true")
        t.ok(code == 2 and words in err and out == "", f"run {' '.join(argv)} is refused", [out, err])
    t.equal(len(server.farm.seen), seen, "before anything is sent")
    t.ok(not os.path.exists(os.path.join(q.top, "x.part")), "and nothing is left where it was tried")


def test_output(t, q):
    with open("/dev/full", "w", encoding="ascii") as full:
        for argv in (("jobs",), ("compare", "7"), ("run", "--", "true"), ("--help",)):
            done = subprocess.run([q.program, *argv], stdout=full, stderr=subprocess.PIPE, text=True, env=q.env, timeout=60, check=False)
            t.ok(done.returncode == 3 and "quiesce: standard output: " in done.stderr, f"a full disk is no success: {argv[0]}",
                 [done.returncode, done.stderr])
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([q.program, "jobs"], stdout=writer, stderr=subprocess.PIPE, text=True, env=q.env, timeout=60, check=False)
    os.close(writer)
    t.equal((done.returncode, done.stderr), (0, ""), "who closes the pipe has read enough")


THIS = f"exec {shlex.quote(sys.executable)} {shlex.quote(os.path.abspath(__file__))}"


def write_program(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, stat.S_IRWXU)
    return path


def test_start(t, q):
    code, _, err = q("jobs", env={"QUIESCE_SOCKET": os.path.join(q.top, "none.sock")})
    t.ok(code == 3 and "no daemon answers" in err, "a socket that was named and is silent ends reading with 3", [err])
    code, _, err = q("jobs", env={"QUIESCED": "/no/such/daemon"})
    t.ok(code == 3 and "/no/such/daemon" in err, "without a name reading wants to start a daemon", [err])
    code, _, err = q("watch", "7")
    t.ok(code == 3, "and so does watching, at once")
    broken = write_program(os.path.join(q.top, "broken"), "#!/bin/sh\necho 'the disk is full' >&2\nexit 9\n")
    code, _, err = q("run", "--", "true", env={"QUIESCED": broken})
    t.ok(code == 3 and "exit code 9" in err and "the disk is full" in err, "a daemon that fails shows its log", [err])
    code, _, err = q("run", "--", "true", env={"QUIESCED": "/no/such/daemon"})
    t.ok(code == 3 and "/no/such/daemon" in err, "a daemon that is not there is named", [err])
    good = write_program(os.path.join(q.top, "good"), f"#!/bin/sh\n{THIS} \"$@\"\n")
    pair = [subprocess.Popen([q.program, "run", "--", "true"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**q.env, "QUIESCED": good}) for _ in range(2)]
    ends = [child.communicate(timeout=60) for child in pair]
    t.ok(all(child.returncode == 0 for child in pair) and all("Regression" in out for out, _ in ends),
         "two runs at once start one daemon and both end well", [str(ends)])


def test_denied(t, q):
    """A daemon that is another's is no daemon that has to be started."""
    path = os.path.join(q.top, "locked.sock")
    door = socket.socket(socket.AF_UNIX)
    door.bind(path)
    door.listen(1)
    os.chmod(path, 0)
    other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}  # root may open it
    try:
        done = subprocess.run([q.program, "jobs", "--socket", path], capture_output=True, text=True, timeout=60, cwd="/", env=q.env,
                              check=False, **other)
    except PermissionError:
        t.skip("a socket that may not be opened", "another user cannot run the program here")
    else:
        t.ok(done.returncode == 2 and f"you may not open the daemon's socket {path}: Permission denied" in " ".join(done.stderr.split())
             and "start" not in done.stderr, "a socket that may not be opened: that is said, and not to start a daemon",
             [done.returncode, done.stderr])
    door.close()
    os.unlink(path)


class FullQueue:
    """A daemon that takes no connection, and whose queue has no place left."""

    def __init__(self, path):
        self.path, self.held = path, []
        self.door = socket.socket(socket.AF_UNIX)
        self.door.bind(path)
        self.door.listen(0)
        while True:
            self.held.append(socket.socket(socket.AF_UNIX))
            self.held[-1].setblocking(False)
            try:
                self.held[-1].connect(path)
            except BlockingIOError:
                return

    def answer_all(self):
        """Takes each who comes, until there is one who asks for jobs."""
        for guest in self.held:
            guest.close()
        while True:
            guest = self.door.accept()[0]
            asked = guest.recv(65536)
            if asked:
                body = json.dumps(replies("9.9")["/api/v1/jobs"]).encode()
                guest.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n"
                              b"Content-Length: %d\r\n\r\n" % len(body) + body)
            guest.close()
            if b"/api/v1/jobs" in asked:
                return


def test_full_queue(t, q):
    stays, moves = (FullQueue(os.path.join(q.top, name)) for name in ("stays.sock", "moves.sock"))
    busy, late = (subprocess.Popen([q.program, "jobs"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**q.env, "QUIESCE_SOCKET": queue.path}) for queue in (stays, moves))
    time.sleep(0.5)  # it has been refused by then, or has an easier time
    threading.Thread(target=moves.answer_all, daemon=True).start()
    out, err = late.communicate(timeout=60)
    t.ok(late.returncode == 0 and "demo" in out, "a full queue keeps a client waiting", [out, err])
    out, err = busy.communicate(timeout=60)
    t.ok(busy.returncode == 3 and "is busy" in err and "no daemon answers" not in err, "and is not told as nobody's", [out, err])


def test_late_answer(t, q, server, hurry):
    """A window on this machine holds every answer, for as long as it takes: no limit ends the client before."""
    server.farm.late = late = os.path.join(q.top, "ten-minutes")
    env = {"LD_PRELOAD": hurry, "QS_HURRY": late, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
    with open(os.path.join(q.top, "late.yaml"), "w", encoding="utf-8") as f:
        f.write("quiesce: 1\ninputs: in.bin\n")
    with open(os.path.join(q.top, "in.bin"), "w", encoding="utf-8") as f:
        f.write("x" * 3000000)
    for words in (["jobs"], ["submit", "late.yaml"], ["watch", "7"]):
        code, out, err = q(*words, env=env)
        waited = os.path.exists(late)
        t.ok(waited and code in (0, 5) and "broke" not in err, f"`quiesce {words[0]}` waits ten minutes for its answer",
             [str(code), out, err])
        if waited:
            os.unlink(late)
    server.farm.late = None


def test_restart(t, q):
    """The first daemon breaks the stream and goes; the second one has the rest of the job."""
    once = os.path.join(q.top, "once")
    program = write_program(os.path.join(q.top, "daemon"),
                            f"#!/bin/sh\nif [ -e {once} ]; then set -- \"$@\" --second; fi\n: >{once}\n"
                            f"{THIS} --short \"$@\"\n")
    code, out, err = q("run", "--", "true", env={"QUIESCED": program})
    t.ok(code == 0 and "Regression" in out and "started it again" in err, "run starts a daemon that died anew", [out, err])


def main():
    if "--embedded" in sys.argv:
        return play_daemon(sys.argv)
    t = Tap()
    with tempfile.TemporaryDirectory() as top:
        test_start(t, Client(sys.argv[1], top))
        t.equal(end_daemons(top), 1, "one daemon was played, and it has ended")
    with tempfile.TemporaryDirectory() as top:
        test_restart(t, Client(sys.argv[1], top))
        t.equal(end_daemons(top), 2, "two were, one after the other")
    with tempfile.TemporaryDirectory() as top:
        test_full_queue(t, Client(sys.argv[1], top))
    with tempfile.TemporaryDirectory() as top:
        q = Client(sys.argv[1], top)
        os.mkdir(os.path.join(top, "quiesce"))
        server = Server(os.path.join(top, "quiesce", "api.sock"))
        test_reading(t, q, server)
        test_denied(t, q)
        test_compare(t, q)
        test_history(t, q, server)
        test_other_version(t, q, server)
        test_submit(t, q, server)
        test_streams(t, q, server)
        test_run(t, q, server)
        test_output(t, q)
        test_late_answer(t, q, server, os.path.abspath(sys.argv[2]))
        test_interrupt(t, q, server)
        server.shutdown()
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
