#!/usr/bin/env python3
"""Reading needs no daemon: commands that only read make nothing, own nothing, and say what a daemon would say. An embedded daemon
makes room for the one that an operator starts."""
import json
import os
import signal
import sqlite3
import subprocess

from lib import AGENT, BOUND_S, QUIESCE, QUIESCED, SANITIZER, Bed, alive, run_cases, until
from tied import tied

SQLITES = ("-wal", "-shm")
QUICK = ("--runs", "2", "--iterations", "3", "--warmup", "1")


def files_of(bed):
    """Every file of this world, but for what a test wrote itself."""
    return sorted(os.path.join(folder, name) for part in ("state", "run") for folder, _, names in os.walk(os.path.join(bed.path, part))
                  for name in names)


def readers(bed):
    """The daemons that read in this world, whoever started them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f, open(f"/proc/{pid}/environ", "rb") as g:
                if b"--reading" in f.read().split(b"\0") and f"HOME={bed.path}".encode() in g.read().split(b"\0") and alive(int(pid)):
                    found.append(int(pid))
        except OSError:
            continue
    return found


def an_empty_state(tap):
    """Reading an empty state answers that nothing is there, and makes nothing"""
    with Bed() as bed:
        for argv, code, words in (
                (("jobs",), 0, "There are no jobs yet"), (("history",), 0, "There is no series yet"), (("builds",), 0, "Nothing has been measured yet"), (("show", "1"), 2, "no job 1"),
                (("compare", "1"), 2, "no job 1"), (("devices",), 0, "no daemon answers"), (("reproduce", "1", "--dry-run"), 2, "no job 1"),
                (("analyze", bed.file("a.txt", "1\n2\n3\n4\n5\n")), 0, "median")):
            told = bed.cli(*argv)
            said = told.stdout + told.stderr
            tap.ok(told.returncode == code and words in said, f"{argv[0]}: {code}, `{words}`", [told.returncode, *said.splitlines()])
            tap.equal(os.listdir(f"{bed.path}/run") + [n for n in os.listdir(bed.path) if n not in ("run", "a.txt")], [],
                      f"{argv[0]} leaves nothing")
        tap.equal(json.loads(bed.cli("jobs", "--json").stdout), {"jobs": [], "notice": None}, "as JSON, too")
        until("whoever answered has ended", lambda: not readers(bed))


def the_same_answers(tap):
    """What is read without a daemon is, byte for byte, what a daemon says; nobody owns the database meanwhile"""
    with Bed() as bed:
        daemon = bed.daemon()
        told = bed.cli("run", *QUICK, "--a", "true", "--b", "sleep 0.01")
        tap.equal(told.returncode, 0, f"a job to look at: {told.stderr[-300:]}")
        run = bed.one("SELECT run FROM v_run WHERE block = 1 AND arm = 'b'")
        asked = [("jobs",), ("jobs", "--json"), ("show", "1"), ("show", "1", "--json"), ("show", "run", run), ("compare", "1"),
                 ("compare", "1", "--json"), ("compare", "1", "--csv"), ("compare", "1:a", "1:b"), ("history",), ("builds",), ("show", "2")]

        def answers():
            return {argv: (told.returncode, told.stdout, told.stderr) for argv in asked for told in (bed.cli(*argv),)}

        with_daemon = answers()
        tap.equal(daemon.stop(), 0, "the daemon ends")
        before, alone = files_of(bed), answers()
        for argv in asked:
            tap.equal(alone[argv], with_daemon[argv], f"quiesce {' '.join(argv)}")
        tap.ok(alone[("jobs",)][1].count("\n") >= 2 and '"jobs":[{"id":1,' in alone[("jobs", "--json")][1], "there was something to say",
               [alone[("jobs",)], alone[("jobs", "--json")]])
        tap.equal(files_of(bed), before, "no file has come or gone: no lock, no log")
        other = f"{bed.path}/other.sock"
        owner = bed.daemon(None, "--socket", other, wait=False)
        owner.socket = other
        owner.ready()
        told = bed.cli("jobs")
        tap.equal((told.returncode, told.stdout, told.stderr), alone[("jobs",)], "beside a daemon that owns the database elsewhere, too")
        tap.equal(owner.get("/healthz").status, 200, "which notices nothing")


def what_waits(tap):
    """A job whose daemon was killed is told as one that waits for a daemon; reading does not take it up"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        daemon.job({"quiesce": 1, "name": "left", "benchmarks": [{"name": "left", "argv": ["sleep", "60"]}], "plan": {"blocks": 1}})
        until("it runs", lambda: daemon.show(1)["state"] == "running")
        daemon.kill()
        for argv in (("jobs", "--json"), ("show", "1", "--json")):
            doc = json.loads(bed.cli(*argv).stdout)
            job = doc["jobs"][0] if "jobs" in doc else doc.get("job", doc)
            tap.equal((job["state"], job["why"]), ("running", "no daemon answers: the job continues as soon as one runs"), " ".join(argv))
        tap.equal(bed.embedded_pid(), 0, "nobody has taken the database")
        tap.equal(bed.one("SELECT state FROM job"), "running", "nor the job")


def an_owner_elsewhere(tap):
    """Of a daemon that listens elsewhere it is said where; its job runs and waits for nothing"""
    with Bed() as bed:
        other = f"{bed.path}/other.sock"
        daemon = bed.daemon(None, "--socket", other, wait=False)
        daemon.socket = other
        daemon.ready().device_ready()
        daemon.job({"quiesce": 1, "name": "left", "benchmarks": [{"name": "left", "argv": ["sleep", "60"]}], "plan": {"blocks": 1}})
        until("it runs", lambda: daemon.show(1)["state"] == "running")
        words = f"the daemon at {daemon.socket} has this database: --socket {daemon.socket}"
        job = json.loads(bed.cli("jobs", "--json").stdout)
        tap.equal((job["jobs"][0]["state"], job["jobs"][0]["why"], job["notice"]), ("running", None, words), "jobs --json")
        job = json.loads(bed.cli("show", "1", "--json").stdout)
        job = job.get("job", job)
        tap.equal((job["state"], job["why"], job["notice"]), ("running", None, words), "show 1 --json")
        told = bed.cli("jobs", env={"COLUMNS": "250"})
        tap.ok("running" in told.stdout and "waiting" not in told.stdout and words in " ".join(told.stderr.split()), "jobs",
               [*told.stdout.splitlines(), *told.stderr.splitlines()])
        tap.equal(json.loads(bed.cli("devices", "--json").stdout)["notice"], words, "devices")
        daemon.kill()
        tap.ok("no daemon answers" in json.loads(bed.cli("devices", "--json").stdout)["notice"], "what one that was killed noted is out of date")


def only_reading(tap):
    """`quiesced --reading` by hand: it answers, refuses what would change something, and ends with its input"""
    with Bed() as bed:
        process = subprocess.Popen(tied([QUIESCED, "--reading"]), env=bed.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True)
        until("its socket is there", lambda: os.path.exists(bed.socket))
        told = bed.cli("submit", bed.file("job.yaml", "quiesce: 1\nbenchmarks: [{name: x, argv: ['true']}]\n"))
        tap.ok(told.returncode == 2 and "this quiesced only reads" in told.stderr, "a submission", told.stderr.splitlines())
        told = bed.cli("cancel", "1")
        tap.ok(told.returncode == 2 and "this quiesced only reads" in told.stderr, "a cancellation", told.stderr.splitlines())
        tap.ok(not os.path.exists(bed.db), "no database was made")
        out, _ = process.communicate(timeout=BOUND_S)
        tap.equal(process.returncode, 0, f"it ends with its input: {out[-500:]}")
        process = subprocess.run([QUIESCED, "--reading", "--embedded"], env=bed.env, capture_output=True, text=True, timeout=BOUND_S, check=False)
        tap.ok(process.returncode == 2 and "give one of them" in process.stderr, "not both", process.stderr.splitlines())


def nothing_left_of_a_failed_start(tap):
    """What fails once it has begun ends as it would have ended: no socket stays, nothing leaks"""
    with Bed() as bed:
        process = subprocess.run([QUIESCED, "--reading"], env=bed.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=BOUND_S,
                                 check=False)
        tap.equal((process.returncode, process.stderr.splitlines()),
                  (2, ["quiesced: --reading ends with standard input: descriptor 0 is not a pipe, socket or terminal: its end cannot be waited for",
                       "  see --help for the accepted forms"]), "an input that has no end to wait for")
        tap.equal(files_of(bed), [], "which leaves nothing")
        tap.equal(bed.daemon().stop(), 0, "a daemon makes a database")
        with sqlite3.connect(bed.db) as connection:
            connection.executescript("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; ALTER TABLE session RENAME TO gone")
        connection.close()
        before = [name for name in files_of(bed) if not name.endswith(SQLITES)]
        process = subprocess.run([QUIESCED, "--agent", AGENT], env=bed.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 timeout=BOUND_S, check=False)
        tap.ok(process.returncode == 3 and "no such table" in process.stderr and not any(word in process.stderr for word in SANITIZER),
               "a farm that cannot start", [process.returncode, *process.stderr.splitlines()])
        tap.equal([name for name in files_of(bed) if not name.endswith(SQLITES)], before, "leaves neither socket nor lock")


def terminal_as_it_was(tap):
    """A terminal is not left non-blocking by a daemon that reads, even one that was killed"""
    with Bed() as bed:
        master, terminal = os.openpty()
        process = subprocess.Popen(tied([QUIESCED, "--reading"]), env=bed.env, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        until("its socket is there", lambda: os.path.exists(bed.socket))
        tap.ok(os.get_blocking(terminal), "while it runs")
        os.write(master, b"\n")
        tap.equal(bed.cli("jobs").returncode, 0, "a line is no end")
        process.kill()
        process.communicate()
        tap.ok(os.get_blocking(terminal), "and after it was killed")
        os.close(terminal)
        os.close(master)


def client_killed(tap):
    """A reading command that is killed leaves nothing that runs"""
    with Bed() as bed:
        fifo = os.path.join(bed.path, "out")
        os.mkfifo(fifo)
        process = subprocess.Popen([QUIESCE, "jobs"], env={**bed.env, "QUIESCED": QUIESCED}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until("its daemon runs", lambda: readers(bed) or process.poll() is not None)
        process.kill()
        process.communicate()
        until("that has ended", lambda: not readers(bed))
        tap.equal(files_of(bed), [], "and left nothing")


def idle_embedded_yields(tap):
    """An operator's daemon that starts while an embedded one is idle takes over, although somebody listens there"""
    with Bed() as bed:
        embedded = bed.daemon(None, "--embedded")
        embedded.device_ready()
        stream = embedded.events()
        operators = bed.daemon(None, wait=False)
        tap.equal(embedded.wait(), 0, "the embedded one ends, and well")
        operators.ready()
        told = operators.get("/version").json
        tap.equal((told["embedded"], told["pid"], told["db"]), (False, operators.pid, bed.db), "the operator's has socket and database")
        tap.ok(f"process {embedded.pid}" in operators.text and "it is embedded and makes room" in operators.text, "it said for whom it waits",
               operators.text.splitlines())
        stream.close()
        refused = bed.daemon(None, wait=False)
        tap.ok(refused.wait() in (2, 3) and f"process {operators.pid}" in refused.text, "an operator's own makes room for nobody",
               refused.text.splitlines())
        tap.equal(operators.ask("POST", "/daemon:yield").status, 409, "and says so")


def embedded_yields_after_its_job(tap):
    """While a job runs the operator's daemon waits for its end; a job that is queued begins under the operator's"""
    with Bed() as bed:
        embedded = bed.daemon(None, "--embedded")
        embedded.device_ready()
        go = os.path.join(bed.path, "go")
        wait = {"quiesce": 1, "name": "first", "benchmarks": [{"name": "x", "argv": ["true"], "setup": {
            "shell": f"while [ ! -e {go} ]; do sleep 0.01; done"}}], "plan": {"blocks": 1, "window": {"iterations": 1},
            "warmup": {"iterations": 1}, "until": {"interval": 0}}, "conditions": {"gate": "none", "bounds": "none"}}
        clients = [subprocess.Popen([QUIESCE, "submit", "--wait", bed.file(f"{name}.json", {**wait, "name": name})],
                                    env={**bed.env, "QUIESCED": QUIESCED}, cwd=bed.path, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for name in ("first", "second")
                   if name == "first" or until("the first runs", lambda: bed.sql("SELECT 1 FROM job WHERE state = 'running'"))]
        until("the second is queued", lambda: bed.sql("SELECT 1 FROM job WHERE state = 'queued'"))
        operators = bed.daemon(None, wait=False)
        until("the operator's waits", lambda: "it is embedded and makes room" in operators.text)
        tap.equal(embedded.show(2)["why"], "another quiesced is about to take over: the job begins there", "the second job says what it waits for")
        tap.ok(embedded.runs() and operators.runs(), "both are there while the job runs")
        with open(go, "w", encoding="ascii"):
            pass
        tap.equal(embedded.wait(), 0, "the embedded one ends")
        operators.ready()
        for client in clients:
            out, err = client.communicate(timeout=BOUND_S)
            tap.equal(client.returncode, 0, f"its client has its result: {(out + err)[-400:]}")
        tap.equal(bed.sql("SELECT state FROM job ORDER BY id"), [("done",), ("done",)], "both jobs are done")
        tap.ok("job=2 taken over" in operators.text and "job=1 taken over" not in operators.text, "the first there, the second here",
               operators.text.splitlines())
        tap.equal(bed.one("SELECT count(*) FROM run WHERE state <> 'done'"), 0, "no run was interrupted")
        operators.kill(signal.SIGTERM)
        tap.equal(operators.wait(), 0, "it ends well")


run_cases(an_empty_state, the_same_answers, what_waits, an_owner_elsewhere, only_reading, nothing_left_of_a_failed_start, terminal_as_it_was, client_killed, idle_embedded_yields, embedded_yields_after_its_job)
