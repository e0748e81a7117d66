#!/usr/bin/env python3
"""What each command asks of the daemon, word by word, and what it says and ends with then: tests/golden/ctl/commands.txt. The daemon is a
table of answers; large documents are those that the layouts are tested with.

usage: commands.py QUIESCE GOLDEN_FOLDER
"""
import difflib
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import threading
import time
from socketserver import ThreadingMixIn, UnixStreamServer

import client
from client import Client, Handler, Tap

RUN = "ab" * 16
SHA = "12" * 32
EVENTS = [("job.start", {"device": "local", "seed": "1"}),
          ("job.push", {"files": 2, "bytes": 3 << 20}), ("job.pushed", {"files": 2, "bytes": 3 << 20, "elapsed_ns": 5}),
          ("job.plan", {"point": 0, "iterations_per_run": 5, "predicted_window_ns": 4, "predicted_block_ns": 2500000000}),
          ("job.plan", {"point": 0, "predicted_block_ns": 2500000000}),
          ("job.planned", {"point": 0, "iterations_per_run": 5, "blocks": 12, "half_width_ratio": 0.0123, "attainable": False}),
          ("block.repeat", {"point": 0, "block": 3, "attempt": 1, "why": "the link broke"}),
          ("job.lost", {"device": "local", "why": "cable pulled"}), ("job.back", {"device": "local", "boot": "b"}),
          ("job.progress", {"block": 7, "blocks_max": 30, "next_look": 10, "half_width_ratio": 0.012, "goal_ratio": 0.01,
                            "eta_ns": 8500000000, "points": 1}),
          ("job.result", {"exit": 0}), ("job.state", {"state": "done", "reason": None})]
FOUND = {"evals": 10, "evaluation_ns": 45, "precision_ns": 20, "accuracy_ns": 41, "tries": 64, "table_evals": 205, "logistic_evals": 190}
TRACES = [{"arm_name": "a", "device": "local", "point": 1, "fastest": {"duration_ns": 2500000, "evals": 5, "block": 2, "seq": 3, "run": "cd" * 16},
           "slowest": {"duration_ns": 9000000, "block": 4, "seq": 1, "trace": {"name": "trace-4", "run": RUN}},
           "traced_fastest": {"duration_ns": 3000000, "block": 5, "seq": 2, "trace": {"name": "trace-5", "offset_ns": 1500000}}, "traced_slowest": None}]
FULL_JOB = {"id": 6, "name": "whole", "state": "running", "reason": "a reason", "why": "the hub is in use", "runs": 30, "runs_tainted": 4, "iterations": 90,
            "progress": {"block": 3, "blocks_max": 9}, "arms": [{"name": "a"}, {"name": "b"}], "points": [{"label": "n=1"}, "n=2"], "seed": 18, "owner": "me",
            "evaluations": [{"label": "n=1", "device": "local", "evaluations": {**FOUND, "how": "tuned"}},
                            {"label": "n=2", "device": "board", "evaluations": {**FOUND, "how": "cached", "found_by": RUN, "precision_ns": 0}},
                            {"label": "n=3", "device": "board", "evaluations": {"evals": 1, "how": "once"}}],
            "submitted_wall_ns": 10**18, "started_wall_ns": 2 * 10**18, "ended_wall_ns": 3 * 10**18, "traces": TRACES,
            "waits": {"gates": 3, "waited_ns": 166 * 10**9, "longest": [
                {"block": 2, "arm_name": "b", "device": "board", "waited_ns": 63 * 10**9, "sensors": [
                    {"sensor": "load1_milli", "from": "1.20", "to": "0.90", "trace": [[0, 1200], [1000, 900]]},
                    {"sensor": "thermal:cpu", "from": "70.0 \u00b0C", "to": "45.1 \u00b0C",
                     "trace": [[0, 70000], [21000, 58000], [42000, 50000], [63000, 45100]]},
                    {"sensor": "z_milli", "from": "1.20", "to": "0.90", "trace": [[0, 1200], [1000, 900]]}]}]}}
FULL_RUN = {"uid": "cd" * 16, "job": 6, "state": "failed", "arm_name": "a", "device": "local", "block": 2, "pos": 1, "attempt": 3, "n": 9, "n_tainted": 2,
            "warmup_n": 4, "taint": ["gate", "exit"], "harness": {"evals": {"evals": 10, "how": "given"}},
            "stream": {"format": "numbers", "unit": "ms", "better": "higher", "file": "out.txt"},
            "windows": [{"silence": "none", "silence_why": "why not"}, {"silence": "proven"}, {"silence": "none"}], "stop_reason": "settled(5)",
            "error": "it ended", "exe_path": "/bin/work", "exe_sha256": SHA, "started_wall_ns": 10**18,
            "artifacts": [{"name": "output", "kept_bytes": 1 << 20, "total_bytes": 3 << 20, "why": "its beginning"},
                          {"name": "core", "kept_bytes": 5, "total_bytes": 5}, {"name": "trace", "kept_bytes": 0, "total_bytes": 7, "why": "it was lost"}],
            "traces": [{**TRACES[0], "slowest": {"duration_ns": 9000000, "block": 4, "seq": 1}, "traced_fastest": None}]}
HELD = {"text": "its battery is changed", "by": "ann", "since_wall_ns": 10**18, "until_wall_ns": 10**18 + 7200 * 10**9}
EXECUTABLES = [{"arm": arm, "device": device, "path": path, "sha256": sha, "of_job": of_job}
               for arm, device, path, sha, of_job in (("gone", "local", "/no/such/program", SHA, False), ("same", "local", "PROGRAM", None, False),
                                                      ("new", "local", "PROGRAM", SHA, False), ("far", "board", "/no/such/program", SHA, False),
                                                      ("own", "local", "/no/such/program", SHA, True))]


# Errors as a daemon may tell them, by the number of the job that is asked for.
ERROR = {"code": "usage", "message": "what is wrong", "advice": "what to do"}
ODD_JOBS = {20: (200, b"no JSON"), 21: (500, b"oops"), 22: (418, {"error": {}}), 23: (400, {"error": {**ERROR, "advice": ""}}),
            24: (400, {"error": {**ERROR, "problems": [{"path": "a.b", "what": "is odd", "suggestion": "did you mean even?"}, {"what": "no path"}, {}]}}),
            25: (400, {"error": {**ERROR, "text": "line one\nline two \x1b[31m: what to do\n"}}), 26: (400, {"error": {"code": "precondition"}}),
            27: (400, {"error": {**ERROR, "code": "command"}}), 28: (500, {"error": {**ERROR, "code": "internal"}}),
            29: (400, {"error": {**ERROR, "code": "from-the-future"}}), 30: (404, {"error": {**ERROR, "text": "end without a line end"}}),
            31: (404, {"error": ERROR, "text": "text beside"}), 33: (299, {"id": 33}), 34: (300, {"id": 34})}


class Table:
    """Answers by method and path; a path without its query where the whole has none."""

    def __init__(self, golden, top):
        def doc(name):
            with open(os.path.join(golden, name + ".json"), encoding="utf-8") as f:
                return json.load(f)
        program = os.path.join(top, "program")
        with open(program, "wb") as f:
            f.write(b"#!/bin/sh\n")
        plan = {"job": 7, "seed": "5", "where": "all(local, board)", "files": [{"path": "in.bin", "sha256": SHA, "here": True}],
                "executables": [{**e, "path": e["path"].replace("PROGRAM", program),
                                 "sha256": e["sha256"] or client.DIGEST(b"#!/bin/sh\n").hexdigest()} for e in EXECUTABLES]}
        job = {"id": 7, "name": "demo", "state": "done", "runs": 3, "iterations": 9, "spec": "text", "arms": []}
        run = {"uid": RUN, "job": 7, "arm_name": "a", "block": 2, "state": "done", "windows": [],
               "artifacts": [{"name": "trace", "sha256": None, "why": "it was too large"}, {"name": "kernel-log", "sha256": SHA}]}
        self.events, self.computed, self.seen = EVENTS, {}, []
        self.answers = {**{("GET", path): body for path, body in client.replies("9.9").items()},
                        ("GET", "/api/v1/jobs/7"): job, ("GET", "/api/v1/runs/" + RUN): run,
                        ("GET", "/api/v1/jobs/9/reproduce"): {**plan, "job": 9, "files": [{"path": "in.bin", "sha256": SHA, "here": False}]},
                        ("GET", "/api/v1/jobs/7/reproduce"): plan,
                        ("GET", "/api/v1/jobs/8/reproduce"): {**plan, "job": 8, "executables": []},
                        ("POST", "/api/v1/jobs/8:reproduce"): {"id": 7},
                        ("GET", "/api/v1/jobs/7/reproduction"): doc("reproduction"),
                        ("GET", "/api/v1/jobs/6"): FULL_JOB, ("GET", "/api/v1/runs/" + "cd" * 16): FULL_RUN,
                        ("POST", "/api/v1/jobs:validate"): {"ok": True, "files": [], "stops": [{"conditions": "default", "stop": "settled(400, 2 %)", "cap_iterations": 9, "cap_time_ns": 3 * 10**11}, {"conditions": "cold", "stop": None}]},
                        ("POST", "/api/v1/jobs/7:cancel"): {"id": 7, "state": "cancelling"},
                        ("GET", "/api/v1/devices/pixel6"): doc("device"),
                        ("GET", "/api/v1/devices/pixel6:read"): doc("device")["now"],
                        ("GET", "/api/v1/devices/pixel6:profile"): {"device": "pixel6", "profile": "pixel6-2", "tried": True, "text": "profile: \"pixel6-2\"\n"},
                        ("GET", "/api/v1/devices/sly:profile"): {"device": "sly", "profile": "../sly", "tried": True, "text": "profile: x\n"},
                        ("GET", "/api/v1/devices/empty:profile"): {"device": "empty", "profile": None, "tried": False, "text": None},
                        ("POST", "/api/v1/devices/local:clean"): {"freed_bytes": 3 << 20},
                        ("POST", "/api/v1/devices/local:hold"): {"device": "local", "held": HELD, "note": None, "tags": {}},
                        ("POST", "/api/v1/devices/empty:hold"): {"device": "empty", "held": {**HELD, "text": "", "until_wall_ns": None}, "note": None, "tags": {}},
                        ("POST", "/api/v1/devices/local:release"): {"device": "local", "held": None, "note": None, "tags": {}},
                        ("POST", "/api/v1/devices/local:note"): {"device": "local", "held": HELD, "note": {"text": "the screen is cracked", "by": "bob"}, "tags": {}},
                        ("POST", "/api/v1/devices/empty:note"): {"device": "empty", "held": None, "note": None, "tags": {}},
                        ("POST", "/api/v1/devices/local:tag"): {"device": "local", "held": None, "note": None, "tags": {"rack": "3", "rooted": "true"}},
                        ("POST", "/api/v1/devices/empty:tag"): {"device": "empty", "held": None, "note": None, "tags": {}},
                        ("GET", "/api/v1/files/" + SHA): b"what the kernel said\n",
                        ("GET", "/api/v1/jobs/7/export"): b"exported\n"}
        self.computed = {"/api/v1/jobs/7/report": doc("report-job"), f"/api/v1/runs/{RUN}/report": doc("report-run"),
                         "/api/v1/compare": doc("sides"), "/api/v1/analyze": doc("file"), "/api/v1/analyze:compare": doc("two-files"),
                         "/api/v1/history/" + "00" * 32: doc("series")}
        self.answers[("GET", "/api/v1/history")] = {"series": [{"id": "00" * 32, "benchmark": "sort", "device": "local", "arm": "tip", "sessions": 3}]}
        counts = {"sessions": 2, "runs": 40, "jobs": [3, 4], "devices": ["local"], "benchmarks": ["sort"]}
        self.answers[("GET", "/api/v1/builds")] = {"builds": [{"build": "v1.5", "first_night": "2026-11-20", "last_night": "2026-11-21", **counts}],
                                                   "nights": [{"night": "2026-11-21", "builds": ["v1.5"], **counts}]}
        self.answers |= {("POST", f"/api/v1/jobs:validate?name={name}.yaml"): {"ok": True, "files": [{"path": path}]}
                         for name, path in (("folder", "."), ("large", "large.bin"), ("none", "none"))}
        self.answers |= {("GET", f"/api/v1/jobs/{n}"): answer for n, answer in ODD_JOBS.items()}
        self.answers |= {("POST", f"/api/v1/jobs/{n}:cancel"): answer for n, answer in ODD_JOBS.items()}
        for n, ended in ((10, {"state": "failed", "runs": 1, "iterations": 1, "runs_tainted": 1}), (11, {"state": "done", "runs": 0, "iterations": 0})):
            self.answers[("POST", f"/api/v1/jobs/{n}:cancel")] = {"id": n, "state": ended["state"]}
            self.answers[("GET", f"/api/v1/jobs/{n}")] = {"id": n, "name": "other", "spec": {"text": "of a file"} if n == 10 else {"a": 1}, **ended}
        self.answers[("GET", "/api/v1/history?limit=1000&text=two")] = {"series": [{"id": c * 64, "benchmark": "two", "device": c, "arm": "x", "sessions": 1} for c in "ab"]}
        self.answers[("GET", "/api/v1/history?limit=1000")] = {"series": [{"id": c * 64, "benchmark": "two " + c, "device": c, "arm": "x", "sessions": 1} for c in "ab"]}
        self.answers[("GET", "/api/v1/builds?limit=20&text=v1.4")] = {"builds": [], "nights": []}
        self.tables = "| a | table |\n"
        self.slow = False


class Teller(Handler):
    def answer(self, body=b""):
        table = self.server.table
        table.seen.append(f"{self.command} {self.path} {body.decode(errors='replace')}".rstrip())
        path = self.path.partition("?")[0]
        found = table.answers.get((self.command, self.path), table.answers.get((self.command, path)))
        if "tables=markdown" in self.path or b'"tables":"markdown"' in body:
            found = {**table.computed.get(path, found), "tables": table.tables}
        else:
            found = table.computed.get(path, found)
        if path in table.computed:
            self.events([("progress", {"stage": "change_points", "done_ratio": 0.25}), ("result", found)])
        elif path == "/api/v1/jobs/7/events":
            self.events(table.events)
        elif found is None:
            self.fail(404, "not-found", f"no such thing: {path}")
        else:
            self.reply(*(found if isinstance(found, tuple) else (200, found)))

    def events(self, events):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for i, (kind, data) in enumerate(events, 1):
            if self.server.table.slow:
                time.sleep(0.6)  # a computation that is over sooner shows no progress
            self.wfile.write(f"id: {i}\nevent: {kind}\ndata: {json.dumps(data)}\n\n".encode())

    def do_GET(self):
        self.answer()

    def do_POST(self):
        self.answer(self.body())


class TellerServer(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True


# Words are split at spaces; TOP is the folder of this test.
CASES = ("version", "jobs --limit 3 --before 5", "builds", "builds v1. --device pixel6 --benchmark so/rt --since 2026-11-01 --until 2026-11-02T03:00 --limit 3",
         "builds v1.4", "builds --since yesterday", "builds a b", "cancel 7", "cancel x", "cancel 8", "devices clean local", "devices show pixel6", "devices show nobody", "devices show a/b", "devices clean a/b", "devices dirty local",
         "devices hold local", "devices hold empty", "devices hold local lunch", "devices hold local lunch --for 90.5s", "devices hold a/b lunch", "devices hold local two words", "devices hold",
         "devices hold nobody lunch", "devices release local", "devices release local now", "devices note local cracked", "devices note local", "devices note empty EMPTY",
         "devices tag local", "devices tag local rack=3 rooted a=b=c d= old- -", "devices tag empty old-", "devices show local --for 1h", "devices --for 1h", "devices hold local --output x",
         "devices add pixel6", "devices add pixel6", "devices add pixel6 --output TOP/a.txt", "devices add pixel6 --output TOP/p.yaml", "devices add pixel6 --output /no/such/folder/x",
         "devices add pixel6 --output -", "devices add sly", "devices add nobody", "devices show pixel6 --output x", "devices --output x", "devices add empty",
         "show 7", "show job 7 --discard-first 10 --fenced --metric cycles --metric faults", "show run 7", "show job " + RUN, "show " + RUN,
         f"show run {RUN} --artifact kernel-log", f"show {RUN} --artifact trace", f"show {RUN} --artifact nothing", "show 8", "show 6", "show " + "cd" * 16,
         "compare build:a night:2026-11-20 --margin 5% --level 99% --metric time --metric rss --allow-diff=kernel --rule skia --rule judge --last 3",
         "compare 7 9 --allow-diff --markdown", "compare 7 9 --junit", "compare 7 9 --seed 3", "compare 7:a,8 9 --output TOP/sides.txt",
         "compare a.txt b.txt --level 90% --margin 1% --per iteration --better lower --seed 7 --resamples 500 --resolution 0.5",
         "compare a.txt b.txt --markdown", "compare a.txt b.txt --metric x", "compare a.txt", "compare 7 --rule skia --csv", "compare 7 --fenced --csv", "compare 7 --margin 1%",
         "compare 7 --markdown", "compare 7 --junit", "compare 7 9 --output /no/such/folder/x", "compare 8 --output TOP/sides.txt",
         "analyze a.txt --format numbers --discard-first 2 --fenced --window 30 --p-max 0.01", "analyze bad.txt", "analyze none.txt",
         "history sort --metric rss --build v8 --window 30 --p-max 0.01 --margin 3% --level 99%", "history sort --csv", "history sort --all",
         "history sort local", "history --csv", "submit --check a.txt", "submit none.txt", "watch 7", "watch 8", "reproduce 7", "reproduce 7 --dry-run", "reproduce 9 --dry-run --allow-diff",
         "reproduce 7 --dry-run --allow-diff", "reproduce 8", f"reproduce {RUN} --dry-run", "reproduce x", "help nothing", "hepl", "jobs now",
         "show", "jobs -- x")
# Less of the documents than of what is said: whole.
WHOLE_CASES = tuple(f"{word} {n}" for n in ODD_JOBS for word in ("show", "cancel")) + (
    "cancel 10", "cancel 11", "show 10 --spec", "show 11 --spec", "show 10", "help", "help version", "help help", "version --help", "version -h", "--help", "-V", "--version", "version now",
    "version --jason", "version -x", "version --style none", "version --style odd", "version --json=yes", "cancel", "cancel 0", "cancel -1", "cancel 9223372036854775808",
    "cancel 1 2", "help run now", "jobs --limit", "jobs --limit 3 --limit 4", "analyze", "analyze none.txt b.txt", "analyze nul.txt", "analyze wide.txt", "history a.txt --device x",
    "history sort --seed 1", "history sort --since never", "history two", "history two --csv", "history --csv", "history", "history aaaa", "history aaaa --csv", "history bbbb --all", "compare 7 a.txt", "compare 12: 7",
    "compare build: 7", "compare x 7", "compare 7x 7", "compare a.txt b.txt --csv", "compare 7 9 --csv", "compare 7 --csv", "compare 7 --format csv", "compare 7 9 --fail-on never --output -",
    "compare 7 --output .", "compare 7 --last 2 --csv", "compare 7 --metric rss --csv", "compare 7 --rule judge --junit", "submit .", "submit folder.yaml", "submit large.yaml", "submit none.yaml",  "submit bad.txt", "submit --check bad.txt", "submit a.txt b.txt",
    "submit a.txt --fail-on odd", "watch x", "watch 7 --fail-on regression --style none", "builds --limit 0", "builds v1.4 --device none", "devices clean", "devices clean local now", "devices none", "devices show",
    "reproduce 12", "reproduce", "version --socket /no/such/socket", "jobs --socket /no/such/socket", "version --socket " + "x" * 120, "version --json --socket /no/such/socket",
    "run", "run --print-job", "run --", "run -- ", "run --check 1", "run a --reference", "show 7 --artifact x", "show " + RUN + " --spec", "compare 7 --show-output", "compare 7 --show-output --json", "jobs --limit 1", "jobs --before 1", "watch 7 --style none", "devices --json", "run a b c --parameter-list x 1,2 --print-jb")
JSON_CASES = ("cancel 7", "devices show pixel6", "devices add pixel6", "submit --check a.txt", "devices clean local", "show 7", "compare 7 9", "analyze a.txt", "reproduce 7 --dry-run", "history sort")


def plain(text, top):
    text = text.replace(os.path.realpath(top), "TOP").replace(top, "TOP")
    return re.sub(r"\b\d+ s(?=[,; ])", "N s", re.sub(r"\(version \S+\)|quiesce \d\S+", "VERSION", text))


def short(text):
    """Documents are tested with their layouts: here is which one came. Jobs and runs have none."""
    lines = text.splitlines()
    if text.startswith(("job 6", "run cd")):
        return text
    return "\n".join(lines[:6] + ([f"... {len(lines)} lines"] if len(lines) > 6 else []))[:700]


def told(q, table, words, extra=(), cut=short):
    table.seen.clear()
    code, out, err = q(*[w.replace("TOP", q.top).replace("EMPTY", "") for w in words.split()], *extra)
    parts = [f"$ quiesce {' '.join([*words.split(), *extra])}", *(f"> {line[:900]}" for line in table.seen), f"= {code}"]
    for mark, text in (("|", out), ("!", err)):
        parts += [f"{mark} {line}".rstrip() for line in plain(cut(text), q.top).splitlines()]
        parts += [f"{mark} (the last line has no end)"] if text and not text.endswith("\n") else []
    return "\n".join(parts) + "\n"


def on_terminal(q, table, words):
    """What a person sees who waits: lines that are drawn over."""
    table.seen.clear()
    ours, theirs = pty.openpty()
    child = subprocess.Popen([q.program, *words.split()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, cwd=q.top,
                             env={**q.env, "TERM": "xterm", "COLUMNS": "100"})
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:
        pass  # its end
    os.close(ours)
    child.communicate(timeout=60)
    text = plain(shown.decode(), q.top).replace("\x1b", "ESC").replace("\r\n", "\n").replace("\r", "CR").replace("ESC[K", "ESC[K\n")
    return f"$ quiesce {words} (on a terminal)\n= {child.returncode}\n" + "".join(f"! {line}\n" for line in text.splitlines())


def transcript(q, table):
    parts = [told(q, table, words) for words in CASES] + [told(q, table, words, ("--json",)) for words in JSON_CASES]
    parts += [told(q, table, words, cut=short if words.startswith(("compare", "history")) else str) for words in WHOLE_CASES]
    parts += [told(q, table, words, ("--json",), cut=str) for words in ("cancel 21", "cancel 24", "cancel 7", "show 10", "version", "watch 7")]
    with open(os.path.join(q.top, "sides.txt"), encoding="utf-8") as f:
        parts.append(f"sides.txt has\n{plain(short(f.read()), q.top)}\n")
    parts.append(on_terminal(q, table, "watch 7"))
    table.slow = True
    parts.append(on_terminal(q, table, "show 7"))
    return "".join(parts)


def main(quiesce, golden):
    t = Tap()
    with tempfile.TemporaryDirectory() as top:
        q = Client(quiesce, top)
        os.mkdir(os.path.join(top, "quiesce"))
        for name, text in (("a.txt", b"1 \xc2\xb5s\n2\n"), ("b.txt", b"2\n3\n"), ("bad.txt", b"1\n2\xff3\n"), ("nul.txt", b"12\0"), ("wide.txt", b"1\n\n\xc2\xb5\xc3"),
                           ("folder.yaml", b"inputs: .\n"), ("large.yaml", b"inputs: large.bin\n"), ("none.yaml", b"inputs: none\n")):
            with open(os.path.join(top, name), "wb") as f:
                f.write(text)
        with open(os.path.join(top, "large.bin"), "wb") as f:
            f.truncate((1 << 30) + 1)
        server = TellerServer(os.path.join(top, "quiesce", "api.sock"), Teller)
        server.table = Table(golden, top)
        server.farm = client.Farm()  # which keeps nobody waiting
        threading.Thread(target=server.serve_forever, daemon=True).start()
        got = transcript(q, server.table)
        server.shutdown()
    try:
        with open(os.path.join(golden, "commands.txt"), encoding="utf-8") as f:
            want = f.read()
    except OSError:
        want = ""
    if got != want:
        with open("commands.got", "w", encoding="utf-8") as f:
            f.write(got)
    t.ok(got == want, "each command asks and says what commands.txt has (else compare it with commands.got)",
         list(difflib.unified_diff(want.splitlines(), got.splitlines(), lineterm="", n=1))[:60])
    return t.done()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
