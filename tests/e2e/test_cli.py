#!/usr/bin/env python3
"""The command line: `run` with no configuration at all, two at once, exit codes, and the same integers as everywhere else."""
import csv
import json
import os
import pwd
import select
import signal
import subprocess

from lib import BOUND_S, QUIESCE, QUIESCED, Bed, carrying, program, run_cases, until, whole

QUICK = ("--runs", "2", "--iterations", "3", "--warmup", "1")


def start(bed, *argv):
    return subprocess.Popen([QUIESCE, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=bed.path,
                            env={**bed.env, "QUIESCED": QUIESCED}, stdin=subprocess.DEVNULL)


def gone(bed):
    """The daemon that `run` started ends by itself."""
    until("the embedded daemon has ended", lambda: not os.path.exists(bed.socket) and not os.path.exists(bed.db + "-lock"))


def from_nothing(tap):
    """`quiesce run` works with nothing prepared: the daemon starts, the result is told, the data are kept, the daemon ends"""
    with Bed() as bed:
        told = bed.cli("run", *QUICK, "--a", "sleep 0.001", "--b", "sleep 0.002")
        tap.equal(told.returncode, 0, f"it works: {told.stderr[-500:]}")
        tap.ok("b takes" in told.stdout, "the result is a sentence about b", told.stdout.splitlines())
        tap.ok(bed.db.replace(bed.path, "~") in told.stdout, "it says where the data are", told.stdout.splitlines())
        tap.ok("\x1b" not in told.stdout + told.stderr, "no terminal, no escape sequences")
        tap.equal(bed.sql("SELECT state, name IS NOT NULL FROM job"), [("done", 1)], "one job is in the database")
        tap.equal(whole(bed, 1), [], "the database holds together")
        gone(bed)
        tap.equal(bed.one("SELECT count(*) FROM v_iteration WHERE block > 0"), 2 * 2 * 3, "two blocks of three, for both arms")


def the_same_integers(tap):
    """What --json and the exports of the command line say are the integers of the database"""
    with Bed() as bed:
        told = bed.cli("run", *QUICK, "--json", "--export-csv", "out.csv", "--", "sleep", "0.001")
        tap.equal(told.returncode, 0, f"it works: {told.stderr[-500:]}")
        rows = bed.sql("SELECT run, seq, duration_ns FROM v_iteration WHERE block > 0 ORDER BY run, seq")
        arm = json.loads(told.stdout)["results"][0]["metrics"][0]["arms"][0]
        tap.equal((arm["min"], arm["max"]), (min(r[2] for r in rows), max(r[2] for r in rows)), "smallest and largest in --json")
        with open(f"{bed.path}/out.csv", encoding="utf-8", newline="") as f:
            table = sorted((r["run"], int(r["seq"]), int(r["duration_ns"])) for r in csv.DictReader(f))
        tap.equal([row for row in table if row in rows], rows, "every one of them in the CSV")


def as_tables(tap):
    """Tables for a page: Markdown, AsciiDoc and Org mode have the same cells, whatever signs the commands have"""
    with Bed() as bed:
        told = bed.cli("run", *QUICK, "--style", "none", "--export-markdown", "a.md", "--export-asciidoc", "a.adoc", "--export-orgmode",
                       "a.org", "-S", "sh", "true | true", "sleep 0.3 # *x*")
        tap.equal((told.returncode, told.stdout, told.stderr), (0, "", ""), "nothing is said, for --style none")

        def rows(name):
            with open(f"{bed.path}/{name}", encoding="utf-8") as f:
                return [line for line in f.read().splitlines() if line.startswith("| a: ") or line.startswith("| b: ")]

        table = {name: rows(name) for name in ("a.md", "a.adoc", "a.org")}
        tap.equal([len(r) for r in table.values()], [2, 2, 2], f"a row for each arm: {table}")
        tap.ok(table["a.md"][0].startswith("| a: `sh -c 'true \\| true'` | "), "Markdown: code, its bar escaped", table["a.md"])
        tap.ok(table["a.adoc"][1].startswith("| b: `sh -c 'sleep 0.3 &#35; &#42;x&#42;'` | "), "AsciiDoc: no bold", table["a.adoc"])
        tap.ok(table["a.org"][0].startswith("| a: sh -c 'true \\vert{} true' | "), "Org: an entity for the bar", table["a.org"])
        tap.ok(table["a.org"][1].startswith("| b: ~sh -c 'sleep 0.3 # *x*'~ | "), "Org: verbatim where that can be", table["a.org"])
        cells = [[cell.strip() for cell in row.split(" | ")][1:5] for row in (table["a.md"][1], table["a.adoc"][1], table["a.org"][1])]
        tap.ok(cells[0] == cells[1] == cells[2] and "ms" in cells[0][0], "the same numbers in all", cells)
        with open(f"{bed.path}/a.adoc", encoding="utf-8") as f:
            text = f.read()
        tap.equal(text.count("\n|===\n"), 2, "an AsciiDoc table begins and ends")


def second_opinions(tap):
    """`compare --rule` shows what the rules of others say of the same iterations; a name that is none is refused"""
    with Bed() as bed:
        told = bed.cli("run", *QUICK, "--a", "sleep 0.001", "--b", "sleep 0.3")
        tap.equal(told.returncode, 0, f"a job to look at: {told.stderr[-500:]}")
        told = bed.cli("compare", "1", "--rule", "skia", "--rule", "judge", "--json")
        opinions = {o["rule"]: o for o in json.loads(told.stdout)["results"][0]["comparisons"][0]["opinions"]}
        tap.equal(sorted(opinions), ["judge", "skia"], "those that were asked for")
        numbers = {n["name"]: n["value"] for n in opinions["judge"]["numbers"]}
        least = [bed.one(f"SELECT min(duration_ns) FROM v_iteration WHERE block > 0 AND arm = '{arm}'") for arm in "ab"]
        tap.equal([numbers["baseline_best"], numbers["candidate_best"]], least, "the judge looks at the least iterations of the database")
        tap.equal(opinions["judge"]["answer"], "regression", "0.3 s more of sleep are one")
        shown = bed.cli("compare", "1", "--rule", "all").stdout
        for rule in ("judge", "android", "kalibera2005", "futhark", "rancid", "perfherder", "skia"):
            tap.ok(f"\n  {rule}: " in shown, f"{rule} is on the page", shown.splitlines())
        tap.equal(bed.cli("compare", "1", "--rule", "jury").returncode, 2, "no such rule")
        tap.equal(bed.cli("compare", "1", "--rule", "all", "--csv").returncode, 2, "the CSV has no place for it")


def reports(tap):
    """`show job` and `show run` report what the database has, interval first; views leave out what they say and store nothing"""
    with Bed() as bed:
        told = bed.cli("run", "--runs", "12", "--iterations", "10", "--warmup", "1", "--a", "sleep 0.001", "--b", "sleep 0.002")
        tap.equal(told.returncode, 0, f"a job to look at: {told.stderr[-500:]}")
        page = bed.cli("show", "job", "1").stdout
        for words in ("% interval, 12 runs", "in the order of time", "Where the variance comes from", "outliers are flagged"):
            tap.ok(words in page, f"the page has `{words}`", page.splitlines())
        doc = json.loads(bed.cli("show", "1", "--json").stdout)
        report, used = doc["report"], bed.one("SELECT count(*) FROM v_iteration WHERE block > 0 AND arm = 'b'")
        arms = {a["name"]: a for a in report["results"][0]["arms"]}
        times = {name: arm["metrics"][0] for name, arm in arms.items()}
        tap.equal([m["metric"] for m in arms["a"]["metrics"]], ["duration_ns"], "the duration is a metric")
        tap.equal(times["b"]["values"] + times["b"]["sample"]["dropped"].get("tainted", 0), used, "every iteration is used or counted")
        tap.equal([lv["level"] for lv in report["points"][0]["levels"]], ["device", "boot", "session", "block", "run", "iteration"], "all levels")
        tap.ok(len(times["a"]["covariates"]["rows"]) > 0, "covariates were looked at", times["a"]["covariates"])
        tap.equal(times["a"]["covariates"]["meaning"], "association, not cause", "and are called what they are")
        tap.ok("bootstrap_mean" in times["a"]["sample"], "--json has every statistic")
        seen = json.loads(bed.cli("show", "1", "--discard-first", "2", "--last", "5", "--json").stdout)["report"]["results"][0]["arms"][1]
        tap.equal([v["view"] for v in seen["metrics"][0]["views"]], ["discard-first", "last"], "views in the order given")
        tap.equal(seen["iterations"], 5 * seen["runs"], "five of each run are left")
        run = bed.one("SELECT run FROM v_run WHERE block = 1 AND arm = 'b'")
        rows = bed.sql(f"SELECT duration_ns, taint FROM v_iteration WHERE run = '{run}' ORDER BY seq")
        clean = [r[0] for r in rows if r[1] == 0] or [r[0] for r in rows]
        one = json.loads(bed.cli("show", "run", run, "--json").stdout)["report"]["metrics"][0]
        tap.equal((one["strip"]["n"], one["strip"]["median"]), (len(rows), [r[0] for r in rows]), "the strip has every iteration")
        tap.equal((one["sample"]["describe"]["min"], one["sample"]["describe"]["max"]), (min(clean), max(clean)), "the sample those that count")
        last = json.loads(bed.cli("show", "run", run, "--last", "1", "--json").stdout)["report"]["metrics"][0]
        tap.equal(last["sample"]["describe"]["median"], clean[-1], "the last one alone")
        tap.equal(bed.one("SELECT count(*) FROM v_iteration WHERE block > 0 AND arm = 'b'"), used, "nothing stored has changed")
        tap.ok("View of b: last 3 leaves" in bed.cli("compare", "1", "--last", "3").stdout, "a comparison has views, too")
        for wrong in (("show", "run", "1"), ("show", "job", run), ("show", "1", "--last", "0"), ("compare", "1", "--fenced", "--csv")):
            tap.equal(bed.cli(*wrong).returncode, 2, f"no: {' '.join(wrong)}")


def to_a_file(tap):
    """`--output FILE` has what the last process printed, standard error is kept beside it; what cannot be written is said first"""
    with Bed() as bed:
        os.mkdir(f"{bed.path}/sub")
        with open(f"{bed.path}/sub/log", "w", encoding="utf-8") as f:
            f.write("longer than anything that is printed, and of another time\n")
        told = bed.cli("run", *QUICK, "--dir", "/", "--output", "./sub/log", "--shell", "default", "--", "echo printed; echo trouble >&2")
        tap.equal(told.returncode, 0, f"it works: {told.stderr[-500:]}")
        with open(f"{bed.path}/sub/log", encoding="utf-8") as f:
            tap.equal(f.read(), "printed\n", "beside the caller, whatever --dir is: the last process's, and nothing else")
        tap.equal(bed.sql("SELECT DISTINCT w.output FROM window w JOIN run r ON r.id = w.run_id WHERE r.block > 0"), [("trouble\n" * 3,)],
                  "standard error is kept")
        tap.equal(bed.sql("SELECT DISTINCT kind, name FROM v_artifact WHERE kind = 'output'"), [("output", "stderr")], "and called what it is")
        jobs = bed.one("SELECT count(*) FROM job")
        for where, why in (("./nowhere/log", "No such file or directory"), ("./sub", "Is a directory"), ("log", "./NAME")):
            told = bed.cli("run", *QUICK, "--output", where, "--", "true")
            tap.ok(told.returncode == 2 and why in told.stderr, f"{where}: {why}", told.stderr)
        tap.equal(bed.one("SELECT count(*) FROM job"), jobs, "nothing was asked for")
        with open(f"{bed.path}/job.yaml", "w", encoding="utf-8") as f:
            f.write("quiesce: 1\nbenchmarks:\n  - {name: b, argv: [echo, x], dir: /tmp, output: {file: qs-nowhere/log}}\n")
        told = bed.cli("submit", "--wait", "job.yaml")
        tap.equal(told.returncode, 1, f"the agent refuses it: {told.stderr[-500:]}")
        tap.ok("cannot write standard output to 'qs-nowhere/log', seen from /tmp: No such file or directory" in " ".join(told.stderr.split()),
               "and says why", told.stderr.splitlines())
        tap.equal(bed.one("SELECT count(*) FROM v_iteration WHERE job = 2"), 0, "nothing was measured")


def as_somebody_else(tap):
    """`--user` runs the commands as that user; a user that is not there, or may not be taken, is told before anything runs"""
    with Bed() as bed:
        own = str(os.geteuid())
        told = bed.cli("run", *QUICK, "--user", own, "--shell", "default", "--", f"test $(id -u) = {own}")
        tap.equal(told.returncode, 0, f"as oneself: {told.stderr[-500:]}")
        home = pwd.getpwuid(os.geteuid()).pw_dir
        line = f"test -z $SECRET && test $HOME = {home} && test $GIVEN = yes"
        told = bed.cli("run", *QUICK, "--user", own, "--env", "GIVEN=yes", "--shell", "default", "--", line,
                       env={"SECRET": "x", "HOME": "/elsewhere"})
        tap.equal(told.returncode, 0, f"with that user's home and none of our variables: {told.stderr[-500:]}")
        told = bed.cli("run", *QUICK, "--user", "no-such-user", "--", "true")
        tap.ok(told.returncode != 0 and "there is no user 'no-such-user'" in told.stderr, "nobody has this name", told.stderr)
        other, line = ("65534", "test $(id -u) = 65534") if own == "0" else ("0", "true")
        told = bed.cli("run", *QUICK, "--user", other, "--dir", "/", "--setup", line, "--shell", "default", "--", line)
        if own == "0":
            tap.equal(told.returncode, 0, f"as nobody, the setup too: {told.stderr[-500:]}")
            os.chmod(bed.path, 0o700)
            told = bed.cli("run", *QUICK, "--user", other, "--", "true")
            tap.ok(told.returncode != 0 and "enter the working directory" in told.stderr, "who may not enter is told", told.stderr)
        else:
            tap.ok(told.returncode != 0 and "only root" in told.stderr, "only an agent of root's can", told.stderr)
    with Bed() as bed:
        bed.env.update(SECRET="x", HOME="/elsewhere")
        daemon = bed.daemon()
        daemon.device_ready()
        for user, see in (({"user": own}, f"test -z $SECRET && test $HOME = {home} && test -n \"$PATH\" && test $MINE = 1"),
                          ({}, "test $SECRET = x && test $HOME = /elsewhere")):
            job = daemon.job({"quiesce": 1, "benchmarks": [{"name": "see", "argv": ["sh", "-c", see], "env": {"MINE": "1"}, **user}],
                              "plan": {"blocks": 1, "window": {"iterations": 1}, "warmup": {"iterations": 1}, "until": {"interval": 0}},
                              "conditions": {"gate": "none", "bounds": "none"}})
            ended = daemon.ended(job)
            tap.equal((ended["state"], ended["reason"]), ("done", "blocks"), f"a job's environment with {user or 'no user'}")


def two_at_once(tap):
    """Two `quiesce run` at the same time: the second one queues, says so, and both end well under one daemon"""
    with Bed() as bed:
        go = os.path.join(bed.path, "go")
        first = start(bed, "run", *QUICK, "--setup", f"while [ ! -e {go} ]; do sleep 0.01; done", "--", "true")
        until("the first one runs", lambda: os.path.exists(bed.db) and bed.sql(
            "SELECT 1 FROM sqlite_master WHERE name = 'job'") and bed.sql("SELECT 1 FROM job WHERE state = 'running'"))
        second = start(bed, "run", *QUICK, "--", "true")
        until("the second one is queued", lambda: bed.sql("SELECT 1 FROM job WHERE state = 'queued'"))
        pid = bed.embedded_pid()
        heard = []

        def says_so():
            readable, _, _ = select.select([second.stderr], [], [], 0)
            heard.append(os.read(second.stderr.fileno(), 65536).decode() if readable else "")
            return "job 1" in "".join(heard)

        until(f"the second one says for whom it waits: {heard}", says_so)
        with open(go, "w", encoding="ascii"):
            pass
        codes = []
        for process in (first, second):
            process.communicate(timeout=BOUND_S)
            codes.append(process.returncode)
        tap.equal(codes, [0, 0], "both end well")
        tap.ok(any(word in "".join(heard) for word in ("queued", "waits", "waiting")), "it is called waiting", heard)
        tap.equal(len(set(bed.sql("SELECT job_id FROM session"))), 2, "each measured")
        tap.equal(bed.embedded_pid(), pid, "under one daemon")


def exit_codes(tap):
    """Exit codes tell apart what people have to tell apart"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        hostile = program("hostile")
        job = {"quiesce": 1, "benchmarks": [{"name": "x", "argv": ["sleep", "{s}"], "params": {}}],
               "arms": {"a": {"params": {"s": 0.001}}, "b": {"params": {"s": 0.3}}},
               "compare": {"fail_on": "regression"},
               "plan": {"seed": 1, "blocks": 6, "window": {"iterations": 1}, "warmup": {"iterations": 1}, "until": {"interval": 0}},
               "conditions": {"gate": "none", "bounds": "none"}}
        job["benchmarks"][0].pop("params")
        cases = [
            ("good", 0, ("run", *QUICK, "--", "true"), ""),
            ("a command that fails", 1, ("run", *QUICK, "--", hostile, "exit", "3"), "code 3"),
            ("a command that is not there", 2, ("run", *QUICK, "--", "no-such-program"), "no-such-program"),
            ("an unknown option", 2, ("run", "--rnus", "2", "--", "true"), "--runs"),
            ("a metacharacter", 2, ("run", "--a", "echo x | cat", "--b", "true"), "--shell"),
            ("a mistaken job file", 2, ("submit", bed.file("bad.yaml", "quiesce: 1\nbenchmarks: 7\n")), "bad.yaml:2"),
            ("no such job", 2, ("show", "99"), "99"),
            ("a gate that never opens", 4, ("submit", "--wait", bed.file("gate.json", {**job, "conditions": {"gate": [
                {"sensor": "cpu.busy_ratio_ppm", "band": ["99.9%", "100%"], "dwell": "1h", "timeout": "100ms",
                 "on_timeout": "fail"}]}})), "gate"),
            ("a regression", 5, ("submit", "--wait", bed.file("slower.json", job)), "b"),
        ]
        for title, code, argv, word in cases:
            told = bed.cli(*argv)
            tap.equal(told.returncode, code, f"{title}: {code}; it said: {(told.stdout + told.stderr)[-300:]!r}")
            tap.ok(word in told.stdout + told.stderr, f"{title}: `{word}` is named", (told.stdout + told.stderr).splitlines())
        down = bed.cli("--socket", f"{bed.path}/nowhere.sock", "jobs")
        tap.ok(down.returncode in (2, 3), "no daemon: not a success", [down.returncode, down.stderr])


def now_and_then(tap):
    """A command that fails in some of its iterations: they are left out and counted, the job is done, and the exit code is 1"""
    with Bed() as bed:
        bed.file("flaky", "#!/bin/sh\nn=$(cat n 2>/dev/null || echo 0)\necho $((n + 1)) > n\n[ $((n % 4)) -ne 3 ] || exit 7\n", 0o755)
        told = bed.cli("run", "--runs", "4", "--iterations", "3", "--warmup", "1", "--", "./flaky")  # iterations 3, 7 and 11 of 0 to 12 fail
        said, page = " ".join(told.stderr.split()), " ".join(told.stdout.split())
        tap.equal(told.returncode, 1, f"the exit code is 1: {said[-400:]}")
        tap.ok("job 1 is done, but commands failed in it: what they measured is left out, and the exit code is 1 (--ignore-failure with run,"
               in said, "it says why, and how to accept it", [said])
        tap.ok("3 iterations had an exit code that is not accepted: left out (first: block 1, window 0: exit code 7)" in page,
               "the page counts them and names the first", [page])
        tap.ok("job 1: 4 blocks, 4 runs, 12 iterations " in page, "and says how many were measured, on a busy machine and on a quiet one", [page])
        tap.equal(bed.one("SELECT state FROM job"), "done", "the job is done")
        told = bed.cli("compare", "1", "--json")
        tap.equal((told.returncode, json.loads(told.stdout)["results"][0]["arms"][0]["iterations"]), (0, 9), "a comparison later has the same")
        told = bed.cli("run", "--runs", "4", "--iterations", "3", "--warmup", "1", "--ignore-failure", "--", "./flaky")
        tap.equal(told.returncode, 0, f"--ignore-failure accepts them: {told.stderr[-300:]}")
        tap.ok("4 runs, 12 iterations " in told.stdout and "exit code" not in told.stdout, "and counts all", told.stdout.splitlines())


def interrupted(tap):
    """Ctrl-C on `quiesce run` cancels the job and leaves nothing running"""
    with Bed() as bed:
        mark = f"QS_MARK=interrupt-{os.getpid()}"
        client = start(bed, "run", *QUICK, "--env", mark, "--", "sleep", "1000")
        until("the benchmark runs", lambda: carrying(mark))
        client.send_signal(signal.SIGINT)
        _, said = client.communicate(timeout=BOUND_S)
        tap.equal(client.returncode, 130, f"its exit code says so: {said[-300:]!r}")
        until("the job has ended", lambda: bed.one("SELECT state FROM job") == "cancelled")
        tap.equal(carrying(mark), [], "nothing goes on")


run_cases(from_nothing, the_same_integers, as_tables, reports, to_a_file, as_somebody_else, second_opinions, two_at_once, exit_codes, now_and_then, interrupted)
