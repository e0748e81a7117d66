#!/usr/bin/env python3
"""Mode stream from the job file to the database: a number per line, a pattern, Google Benchmark; programs that are wrong or
hostile; and a daemon that is killed between the window's end and its commit."""
import http.client
import json
import os
import signal
import threading

from lib import PROGRAMS, Bed, WireTap, run_cases, stored, unlock, until, whole

PLAN = {"seed": 3, "blocks": 2, "warmup": {"iterations": 1}, "until": {"interval": 0}}
QUIET = {"gate": "none", "bounds": "none"}
WHY = "the program writes while it measures"
MS = 1_000_000


def text(benchmark, **more):
    return {"quiesce": 1, "benchmarks": [{"name": "it", "mode": "stream", **benchmark}], "plan": {**PLAN, **more.pop("plan", {})},
            "conditions": QUIET, **more}


def durations(bed, job, arm=None):
    """The values of each counted run, in order."""
    found = {}
    for run, ns in bed.sql("SELECT run, duration_ns FROM v_iteration WHERE job = ? AND block > 0 AND (? IS NULL OR arm = ?) "
                           "ORDER BY run, seq", job, arm, arm):
        found.setdefault(run, []).append(ns)
    return list(found.values())


def content(daemon, bed, run, kind, name):
    sums = dict(((k, n), s) for k, n, s in bed.sql("SELECT kind, name, sha256 FROM v_artifact WHERE run = ?", run))
    return daemon.get(f"/files/{sums[(kind, name)]}").want(200).body.decode()


def numbers(tap):
    """A script's numbers are iterations as they are; comments and blank lines are none; nothing is claimed of the silence"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        script = bed.file("suite", "#!/bin/sh\necho '# times'\necho\necho \"$((ARM + 1)).25 # first\"\necho '  12.5'\necho 1e1\n"
                          "echo progress >&2\n", 0o755)
        job = daemon.job(text({"format": "numbers", "unit": "ms", "argv": [script]},
                              arms={"a": {"env": {"ARM": "10"}}, "b": {"env": {"ARM": "20"}}}))
        tap.equal(daemon.ended(job)["state"], "done", "the job ends well")
        tap.equal(whole(bed, job), [], "the database holds together")
        tap.equal(durations(bed, job, "a"), [[11250000, 12500000, 10000000]] * 2, "the values of one arm, exactly")
        tap.equal(durations(bed, job, "b"), [[21250000, 12500000, 10000000]] * 2, "and of the other")
        tap.equal(bed.sql("SELECT DISTINCT silence, device_n, n, evals, taint FROM window"), [(0, 1, 3, 1, 0)],
                  "nothing is claimed, nothing is tainted, one process a window")
        tap.equal(bed.sql("SELECT DISTINCT start_ns FROM v_iteration"), [(None,)], "no start is made up")
        tap.ok(bed.one("SELECT min(change) FROM v_evidence WHERE kind = 'process.wall_ns'") > 0, "how long the process took is evidence")
        run = bed.one("SELECT run FROM v_run WHERE job = ? AND block = 1 AND arm = 'a'", job)
        shown = daemon.get(f"/runs/{run}").want(200).json
        tap.equal([(w["silence"], w["silence_why"]) for w in shown["windows"]], [("none", WHY)], "JSON says why")
        tap.equal(shown["stream"], {"format": "numbers", "unit": "ms"}, "and how the document was read")
        for_people = " ".join(bed.cli("show", run).stdout.split())
        tap.ok(WHY in for_people, "quiesce show says it too", [for_people])
        tap.ok("values the program's own, kept as they are: numbers in ms, read from its standard output" in for_people,
               "and whose times they are", [for_people])
        with_json = json.loads(bed.cli("show", run, "--json").stdout)
        tap.equal((with_json["stream"], {w["silence"] for w in with_json["windows"]}), ({"format": "numbers", "unit": "ms"}, {"none"}),
                  "and so does its JSON")
        tap.ok(content(daemon, bed, run, "output", "stdout").startswith("# times\n\n11.25"), "the document is kept")
        tap.equal(content(daemon, bed, run, "output", "output"), "progress\n", "beside the output")
        compared = json.loads(bed.cli("compare", str(job), "--json").stdout)
        arms = compared["results"][0]["arms"]
        tap.equal([arm["name"] for arm in arms], ["a", "b"], "compare works on it")
        tap.ok("not-silent" in json.dumps(compared), "and marks it as not silent")
        lines = bed.cli("compare", str(job)).stdout
        tap.ok("not silent" in lines, "for people as well", lines.splitlines())
        csv = daemon.get(f"/jobs/{job}/export?format=csv").want(200).text.splitlines()
        tap.ok(sum(",11250000," in line for line in csv) == 3, "the export has every value", csv[:4])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def patterns(tap):
    """The group of a pattern is the value; a file of the program is read instead of its output, and taken away"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        work = os.path.join(bed.path, "work")
        os.makedirs(work)
        script = bed.file("suite", "#!/bin/sh\necho 'starting 3'\nfor i in 1 2 3; do echo \"run $i: time=$i.5 us, 7 allocations\"; done\n",
                          0o755)
        job = daemon.job(text({"format": "pattern", "unit": "us", "pattern": "time=([0-9.]+) us", "argv": [script]}))
        tap.equal(daemon.ended(job)["state"], "done", "the job ends well")
        tap.equal(durations(bed, job), [[1500, 2500, 3500]] * 2, "the values")
        writes = bed.file("writes", "#!/bin/sh\necho noise 99\nprintf '3\\n4\\n' > out.txt\n", 0o755)
        filed = {"format": "numbers", "unit": "s", "argv": [writes], "dir": work, "output": {"file": "out.txt"}}
        job = daemon.job(text(filed))
        tap.equal(daemon.ended(job)["state"], "done", "the job with a file ends well")
        tap.equal(durations(bed, job), [[3000 * MS, 4000 * MS]] * 2, "its values")
        tap.equal(os.listdir(work), [], "the file was taken away")
        run = bed.one("SELECT run FROM v_run WHERE job = ? AND block = 1", job)
        tap.equal(content(daemon, bed, run, "file", "out.txt"), "3\n4\n", "and is kept as an artifact")
        with open(os.path.join(work, "out.txt"), "w", encoding="ascii") as f:
            f.write("1\n")
        stale = daemon.ended(daemon.job(text(filed)))
        tap.ok(stale["state"] == "failed" and "is there before the program has run" in stale["reason"],
               "an old file is no result of this program", [stale["reason"]])
        tap.equal(os.listdir(work), ["out.txt"], "and is left alone")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def rates(tap):
    """Values that are no times: a metric with unit and direction, of a process that the agent timed; several of them count as their median"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        script = bed.file("suite", "#!/bin/sh\necho $x >> n\nn=$(grep -c \"^$x$\" n)\necho $((x * 100 + n)).5; echo $((x * 500)); echo $((x * 10))\n",
                          0o755)
        rate = {"format": "numbers", "unit": "MB/s", "better": "higher", "metric": "rate", "argv": [script], "dir": bed.path}
        job = daemon.job(text(rate, arms={"a": {"env": {"x": "1"}}, "b": {"env": {"x": "2"}}}, plan={"blocks": 6, "warmup": {"iterations": 0},
                                                                                               "window": {"iterations": 1}}))
        tap.equal(daemon.ended(job)["state"], "done", "the job ends well")
        tap.equal(whole(bed, job), [], "the database holds together")
        kept = bed.sql("SELECT r.arm, v.value FROM v_run r JOIN run k ON lower(hex(k.uid)) = r.run JOIN window w ON w.run_id = k.id "
                       "JOIN iteration_metric v ON v.window_id = w.id WHERE r.job = ? AND k.block > 0 ORDER BY 1, 2", job)
        want = [(arm, (x * 100 + n) * 1000000 + 500000) for arm, x in (("a", 1), ("b", 2)) for n in range(1, 7)]
        tap.equal(kept, want, "the median of each document, in millionths")
        tap.equal(bed.sql("SELECT name, unit, lower_is_better FROM metric WHERE id > 9"), [("rate_MB/s_micro", "1e-6 MB/s", 0)], "with its unit and direction")
        tap.equal(bed.sql("SELECT DISTINCT silence, device_n, n, evals, taint FROM window"), [(0, 1, 1, 1, 0)], "one process is one iteration")
        tap.equal(bed.one("SELECT count(*) FROM v_iteration WHERE start_ns IS NULL OR duration_ns <= 0"), 0, "with its start and time")
        tap.equal(bed.sql("SELECT DISTINCT change FROM v_evidence WHERE kind = 'process.values'"), [(3,)], "the number of its values is kept")
        document = json.loads(bed.cli("compare", f"{job}:a", f"{job}:b", "--json").stdout)
        found = {one["metric"]: one for one in document["results"][0]["devices"][0]["comparisons"]}
        tap.ok("rate_MB/s_micro" in found, "compare judges the metric", list(found))
        one = found.get("rate_MB/s_micro", {})
        tap.equal((one.get("verdict"), one.get("lower_is_better")), ("improvement", False), "twice as many is better")
        shown = bed.cli("compare", str(job)).stdout
        tap.ok("104.0 MB/s" in shown and "104000000" not in shown, "a person is not shown millionths", shown.splitlines())
        run = bed.one("SELECT run FROM v_run WHERE job = ? AND block = 1 AND arm = 'a'", job)
        shown = " ".join(bed.cli("show", run).stdout.split())
        tap.ok("numbers in MB/s (higher is better), read from its standard output" in shown, "quiesce show says what they are", [shown])
        tap.equal(daemon.get(f"/runs/{run}").want(200).json["stream"],
                  {"format": "numbers", "unit": "MB/s", "metric": "rate", "better": "higher"}, "and JSON")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def command_line(tap):
    """quiesce run --stream needs no job file; nobody is told a count of iterations that is not known"""
    with Bed() as bed:
        bed.daemon().device_ready()
        script = bed.file("suite", "#!/bin/sh\necho 7.5\necho 8.5\necho 9.5\n", 0o755)
        told = bed.cli("run", "--stream", "numbers", "--stream-unit", "ms", "--runs", "2", "--", script)
        tap.ok(told.returncode == 0, "it ends well", [told.stderr])
        tap.ok("one process per run, with the values that it writes, a block takes about" in " ".join(told.stderr.split()), "the progress tells the truth",
               told.stderr.splitlines())
        tap.ok("iteration a run" not in told.stderr and "iterations a run" not in told.stderr, "and no count", told.stderr.splitlines())
        tap.equal(durations(bed, 1), [[7500000, 8500000, 9500000]] * 2, "the values are stored as they are")
        tap.ok("suite takes 8.500 ms" in told.stdout, "and shown", told.stdout.splitlines())
        refused = bed.cli("run", "--stream", "numbers", "--", script)
        tap.equal(refused.returncode, 2, "without a unit it is a usage error")
        tap.ok("the unit of the values is missing" in refused.stderr and "--stream-unit ms" in refused.stderr, "that says what to add",
               [refused.stderr])
        shown = bed.cli("run", "--help").stdout
        tap.ok("quiesce run --stream google-benchmark" in shown and "--stream FORMAT" in shown, "help has an example", shown.splitlines())


def google_benchmark(tap):
    """Google Benchmark's own times are kept: repetitions are iterations, evaluations are what it ran, aggregates are left out"""
    suite = os.path.join(PROGRAMS, "suite")
    if not os.path.exists(suite):
        tap.skip("Google Benchmark's document", "Google Benchmark is not installed")
        return
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        flags = ["--benchmark_format=json", "--benchmark_min_time=0.01", "--benchmark_repetitions=3"]
        sums = {"format": "google-benchmark", "argv": [suite, *flags, "--benchmark_filter=BM_sum"], "params": {"n": [100, 400]},
                "benchmark": "BM_sum/{n}"}
        job = daemon.job(text(sums))
        tap.equal(daemon.ended(job)["state"], "done", "the job ends well")
        runs = bed.sql("SELECT run, point FROM v_run WHERE job = ? AND block > 0 ORDER BY run", job)
        tap.equal(len(runs), 4, "two blocks of two points")
        wrong = []
        for run, point in runs:
            name = "BM_sum/" + point.split("n=")[1]
            rows = [row for row in json.loads(content(daemon, bed, run, "output", "stdout"))["benchmarks"]
                    if row["run_type"] == "iteration" and row["run_name"] == name]
            kept = bed.sql("SELECT duration_ns, evals FROM v_iteration WHERE run = ? ORDER BY seq", run)
            evals = min(row["iterations"] for row in rows)
            want = [(round(row["real_time"] * 1000 * evals), evals) for row in rows]
            wrong += [] if kept == want else [(run, kept, want)]
        tap.equal(wrong, [], "each repetition's time of all evaluations, to the nanosecond")
        metrics = bed.sql("SELECT DISTINCT m.name, m.unit FROM iteration_metric i JOIN metric m ON m.id = i.metric_id ORDER BY 1")
        tap.equal(metrics, [("cpu_time_ps", "ps"), ("items_per_second_micro", "1e-6/s"), ("ratio_micro", "1e-6")], "counters are metrics")
        tap.equal(bed.sql("SELECT DISTINCT value FROM iteration_metric i JOIN metric m ON m.id = i.metric_id WHERE m.name = 'ratio_micro'"),
                  [(250000,)], "in millionths")
        nothing = daemon.job(text({"format": "google-benchmark", "argv": [suite, *flags, "--benchmark_filter=nothing"]}))
        tap.equal(daemon.ended(nothing)["state"], "done", "a benchmark of less than a nanosecond ends well")
        mean = bed.one("SELECT mean_ns FROM v_run WHERE job = ? AND block = 1", nothing)
        tap.ok(0 < mean < 1000, f"its time has more digits than nanoseconds: {mean}")
        several = daemon.ended(daemon.job(text({**sums, "benchmark": "BM_none", "params": {}})))
        tap.ok("no benchmark is called `BM_none`: there are BM_sum/100, BM_sum/400" in several["reason"], "a wrong name names the right ones",
               [several["reason"]])
        failed = daemon.ended(daemon.job(text({"format": "google-benchmark", "argv": [suite, *flags, "--benchmark_filter=BM_fails"]})))
        tap.ok(failed["state"] == "failed" and "`BM_fails` failed: no such file: lena.ppm" in failed["reason"], "a failure is one",
               [failed["reason"]])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def hostile(tap):
    """What is wrong with a document or its program is said with its place; no half of it is stored"""
    cases = [
        ("no value", "echo '# nothing'", {}, "stdout: there is no number in it"),
        ("silence", ":", {}, "the file is empty"),
        ("a word", "echo 1; echo; echo abc", {}, "stdout:3:1: `abc` is not a number"),
        ("an infinity", "echo 1; echo inf", {}, "stdout:2:1: `inf` is not a finite number"),
        ("a negative time", "echo '-1'", {}, "stdout:1:1: `-1` is negative, so not a duration"),
        ("below the clock", "echo 0.0000000003", {}, "rounding would change it by more than 0.1 %"),
        ("no text", "printf '1\\n\\377\\n'", {}, "the byte 0xff is not UTF-8"),
        ("too much", "seq 100000", {"limits": {"document": "1KiB"}}, "more than the 1024 bytes that `limits.document` allows"),
        ("a flood", "exec yes 1", {"limits": {"document": "64KiB", "iteration": "20s"}}, "limits.document"),
        ("a failure", "echo 1; exit 3", {}, "exited with code 3"),
        ("a failure in words", "echo usage: suite; exit 3", {}, "the program exited with code 3: stdout:1:1: `usage: suite` is not a number"),
        ("a crash", "echo 1; kill -SEGV $$", {}, "was ended by signal 11"),
        ("no end", "echo 1; sleep 600", {"limits": {"iteration": "300ms"}}, "did not end within its limit"),
        ("no file", "echo 1", {"output": {"file": "out.txt"}}, "out.txt: the program did not write it: No such file"),
        ("a folder", "mkdir out.txt", {"output": {"file": "out.txt"}, "cleanup": ["rmdir", "out.txt"]}, "not a regular file"),
        ("another's file", "ln -s /etc/passwd out.txt", {"output": {"file": "out.txt"}}, "symbolic link"),
        ("no match", "echo time: 3", {"format": "pattern", "pattern": "time=([0-9]+)"}, "no line matches `time=([0-9]+)`"),
        ("no number", "echo time=x", {"format": "pattern", "pattern": "time=(.)"}, "stdout:1:6: `x` is not a number"),
        ("a long line", "head -c 5000 /dev/zero | tr '\\0' x", {"format": "pattern", "pattern": "(x*)y"}, "a line of more than 1024 bytes"),
        ("a seek far away", "perl -e 'syswrite(STDOUT, \"1\\n\"); sysseek(STDOUT, 1 << 50, 0)'", {}, "limits.document"),
        ("no JSON", "echo '{\"benchmarks\": ['", {"format": "google-benchmark", "unit": None}, "not JSON"),
        ("deep JSON", "head -c 30000 /dev/zero | tr '\\0' '['", {"format": "google-benchmark", "unit": None}, "not JSON"),
    ]
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        jobs = []
        for name, line, more, want in cases:
            benchmark = {"format": "numbers", "unit": "s", "shell": line, "dir": bed.path, **more}
            jobs.append(daemon.job(text({k: v for k, v in benchmark.items() if v is not None})))
            ended = daemon.ended(jobs[-1])
            tap.ok(ended["state"] == "failed" and want in ended["reason"], f"{name}: {want}", [ended["state"], ended["reason"]])
        tap.equal(bed.one("SELECT count(*) FROM v_iteration WHERE taint = 0"), 0, "no value of them counts")
        tap.equal(bed.sql("SELECT how, count(*) FROM window WHERE n = 0 AND failure IS NULL GROUP BY 1"), [], "an empty window says why")
        tap.equal([whole(bed, job) for job in jobs], [[]] * len(cases), "the database holds together")
        tap.equal(bed.one("SELECT count(*) FROM window WHERE how = 'failed' AND silence = 0 AND device_n = 1 AND n = 0 AND failure IS NOT NULL") > 0,
                  True, "each failed window is there, with its process")
        kept = bed.sql("SELECT name, coalesce(why, 'whole') FROM v_artifact WHERE run IN (SELECT run FROM v_run WHERE job = ?) AND name = 'stdout'", jobs[2])
        tap.equal(kept, [("stdout", "whole")], "the wrong document is kept")
        left = bed.one("SELECT run FROM v_run WHERE job = ?", jobs[2])
        tap.equal(content(daemon, bed, left, "output", "stdout"), "1\n\nabc\n", "as the program wrote it")
        shown = daemon.get(f"/runs/{left}").want(200).json
        tap.ok("`abc` is not a number" in shown["windows"][0]["failure"] and shown["n"] == 0, "and the run can be asked why", [shown["windows"]])
        tap.ok(not os.path.exists(os.path.join(bed.path, "out.txt")), "what they wrote is gone")
        later = daemon.job(text({"format": "numbers", "unit": "s", "dir": bed.path,
                                 "shell": "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; [ $n -eq 1 ] && echo bad || echo 5"}))
        ended = daemon.ended(later)
        tap.equal(ended["state"], "done", "a document that is wrong once costs a repeat, not the job")
        tap.equal(bed.sql("SELECT state, error_code FROM run WHERE job_id = ? AND block = 1 ORDER BY attempt", later),
                  [("failed", "data"), ("done", None)], "the failed run says why")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


class Held(WireTap):
    """Keeps a CLOSED back until it is told to go on."""

    def __init__(self, bed, agent_socket):
        self.armed, self.came, self.go = False, threading.Event(), threading.Event()
        super().__init__(bed, agent_socket)

    def _note(self, kind, payload):
        if kind == 20 and self.armed:
            self.armed = False
            self.came.set()
            self.go.wait(60)
        super()._note(kind, payload)


def ask_once(daemon, request):
    try:
        daemon.submit(request, key="once")
    except (OSError, http.client.HTTPException):
        pass  # it is killed; the same key asks again


def killed(tap):
    """kill -9 of the daemon between the window's end and its commit: values and document come again, nothing is lost or doubled"""
    with Bed() as bed:
        agent = bed.agent()
        wire = Held(bed, f"{bed.path}/agent.sock")
        farm = {"heartbeat": "1min", "devices": {"local": {"link": "unix", "address": wire.path}}}
        daemon = bed.daemon(farm)
        daemon.device_ready()
        script = bed.file("suite", "#!/bin/sh\necho x >> ran\nseq 1 20000\n", 0o755)
        wire.armed = True
        request = text({"format": "numbers", "unit": "us", "argv": [script], "dir": bed.path})
        asker = threading.Thread(target=ask_once, args=(daemon, request))  # on a busy machine it is answered after the window
        asker.start()
        tap.ok(wire.came.wait(60), "the window's end is on its way")
        locked = bed.lock()
        wire.go.set()
        until("the daemon has the window", lambda: any(wire.sent.values()))
        daemon.kill(signal.SIGKILL)
        asker.join()
        unlock(locked)
        tap.equal(bed.one("SELECT count(*) FROM iteration"), 0, "it died before it stored anything")
        tap.equal(wire.acked, {}, "and had acknowledged nothing")
        first = next(iter(wire.sent))
        daemon = bed.daemon(farm)
        daemon.device_ready()
        job = daemon.job(request, key="once")
        tap.equal(daemon.ended(job)["state"], "done", "the job goes on and ends")
        tap.equal([held[0] for held in wire.held], [first], "the agent had kept the window")
        tap.equal(list(stored(bed, first).values()), [1000 * i for i in range(1, 20001)], "all its values are stored, once")
        tap.equal(bed.sql("SELECT w.taint & 256, w.n, w.device_n, w.how FROM window w JOIN run r ON r.id = w.run_id "
                          "WHERE lower(hex(r.uid)) = ?", first), [(256, 20000, 1, "done")], "marked as interrupted")
        tap.equal(content(daemon, bed, first, "output", "stdout"), "".join(f"{i}\n" for i in range(1, 20001)), "with their document")
        tap.equal(wire.acked[first], 1, "and the process is acknowledged")
        tap.equal((whole(bed, job), wire.faults), ([], []), "the database holds together")
        with open(os.path.join(bed.path, "ran"), encoding="ascii") as f:
            tap.equal(len(f.read().split()), bed.one("SELECT count(*) FROM window WHERE n > 0"), "each process that ran has its window")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        agent.kill(signal.SIGTERM)
        tap.equal(agent.wait(), 0, "and the agent")


run_cases(numbers, patterns, rates, command_line, google_benchmark, hostile, killed)
