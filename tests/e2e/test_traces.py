#!/usr/bin/env python3
"""Traced windows: a tracer beside the last windows of a run, its trace kept with the run, and nothing of it in any number. A command
of the job's own always; perf and ftrace where this machine has them."""
import contextlib
import csv
import io
import os
import shutil
import subprocess

from lib import Bed, program, run_cases, whole

PLAN = {"seed": 3, "blocks": 3, "window": {"iterations": 4}, "warmup": {"iterations": 1}, "until": {"interval": 0}}
QUIET = {"gate": "none", "bounds": "none"}
# It says whom it looks at, and goes on until it is told to end. Its trap is set before its file is there.
TRACER = """#!/bin/sh
trap 'rm -f "$3"; echo told >>"$2"; exit 0' INT
[ -z "$3" ] || : >"$3"
echo "looks at $1: $(cat "/proc/$1/comm")" >"$2"
while :; do sleep 0.02; done
"""
ROOT = "/sys/kernel/tracing"


def traced(bed, daemon, tracer, benchmark=None, **plan):
    """A job with this `trace:`, what the API says of it, and its number."""
    job = daemon.job({"quiesce": 1, "benchmarks": [{"name": "it", **(benchmark or {"argv": ["/bin/true"]})}], "plan": {**PLAN, **plan},
                      "conditions": QUIET, "trace": tracer})
    return daemon.ended(job), job


def traces(bed, job):
    return [dict(zip(("run", "name", "window", "started_ns", "stopped_ns", "sha256", "why"), row)) for row in bed.sql(
        "SELECT run, tool, window, started_ns, stopped_ns, sha256, why FROM v_trace WHERE job = ? ORDER BY run, idx", job)]


def content(daemon, trace):
    return daemon.get(f"/files/{trace['sha256']}").want(200).body


def own_tracer(tap):
    """A command traces the runs of every second block; its trace is kept, and its windows are in no number"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        # A traced iteration is a hundred times as long: it would show in every number.
        mark = os.path.join(bed.path, "mark")
        slow = bed.file("slow", f"#!/bin/sh\n[ ! -e {mark} ] || sleep 0.2\n", 0o755)
        shown, job = traced(bed, daemon, {"tool": "command", "argv": [bed.file("tracer", TRACER, 0o755), "{pid}", "{output}", mark], "every": 2, "settle": "3s"},
                            {"argv": [slow]})
        tap.equal(shown["state"], "done", "the job ends well")
        tap.equal(whole(bed, job), [], "the database holds together")
        phases = dict(bed.sql("SELECT phase, count(*) FROM v_iteration WHERE job = ? GROUP BY 1", job))
        tap.equal(phases, {"warmup": 1, "measure": 12, "traced": 8}, "two of three blocks have a traced window")
        longest = bed.one("SELECT max(duration_ns) FROM v_iteration WHERE job = ? AND phase = 'measure'", job)
        shortest = bed.one("SELECT min(duration_ns) FROM v_iteration WHERE job = ? AND phase = 'traced'", job)
        tap.ok(shortest >= 200000000, f"a traced iteration is slow: {shortest}")
        kept = traces(bed, job)
        tap.equal([(t["name"], t["window"], t["why"]) for t in kept], [("command.1", 1, None)] * 2, "each has its trace")
        agents = {content(daemon, t).decode() for t in kept}
        tap.ok(all(a.startswith("looks at ") and a.endswith("told\n") and "quiesce-agent" in a for a in agents),
               f"the tracer looked at the agent, whose children the iterations are, and ended when told: {agents}")
        inside = bed.one("SELECT count(*) FROM v_iteration i JOIN v_trace t ON t.run = i.run AND t.window = i.window WHERE i.job = ? "
                         "AND i.start_ns > t.started_ns AND i.start_ns + i.duration_ns < t.stopped_ns", job)
        tap.equal(inside, 8, "every traced iteration lies inside its trace, by the same clock")
        report = daemon.get(f"/jobs/{job}/compare").want(200).text
        exported = list(csv.DictReader(io.StringIO(daemon.get(f"/jobs/{job}/export?format=csv").want(200).text)))
        tap.equal(sum(1 for r in exported if r["phase"] == "traced"), 8, "the export has them, with their phase")
        arm = daemon.get(f"/jobs/{job}/compare").want(200).json["results"][0]["metrics"][0]["arms"][0]
        tap.ok(arm["max"] == longest and str(shortest) not in report, "the report knows nothing of them", [arm])
        tap.equal(bed.one("SELECT count(*) FROM run WHERE job_id = ? AND taint <> 0", job), 0, "no run is tainted by them")
        links = daemon.get(f"/jobs/{job}").want(200).json["traces"]
        tap.equal(len(links), 1, "one arm, one point, one device")
        slowest = links[0]["slowest"]
        tap.equal((slowest["duration_ns"], links[0]["traced_fastest"]["duration_ns"]), (longest, shortest),
                  "the slowest measured and the fastest traced iteration are named")
        tap.ok(slowest["trace"] and slowest["trace"]["name"] == "command.1", "with a trace to look at", [slowest])
        of = links[0]["traced_slowest"]
        tap.ok(0 < of["trace"]["offset_ns"] == of["start_ns"] - of["trace"]["started_ns"], "and where in the trace it is")
        text = bed.cli("show", str(job))
        tap.ok("slowest traced" in text.stdout and "command.1" in text.stdout, "quiesce show names them", text.stdout.splitlines())
        run = slowest["trace"]["run"]
        raw = subprocess.run([os.environ["QS_QUIESCE"], "show", run, "--artifact", "command.1"], capture_output=True, check=False,
                             env=bed.env, timeout=60)
        tap.ok(raw.returncode == 0 and raw.stdout.startswith(b"looks at"), "and prints a trace", [raw.stdout, raw.stderr])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def program_traced(tap):
    """In mode harness the tracer looks at the program itself"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        shown, job = traced(bed, daemon, {"tool": "command", "argv": [bed.file("tracer", TRACER, 0o755), "{pid}", "{output}"], "every": 0,
                                          "windows": 2}, {"mode": "harness", "argv": [program("bench")]}, blocks=2)
        tap.equal(shown["state"], "done", "the job ends well")
        kept = traces(bed, job)
        tap.equal([t["name"] for t in kept], ["command.1", "command.2"], "two traced windows of the first block alone")
        tap.ok(all(content(daemon, t).split(b"\n")[0].endswith(b": bench") for t in kept), "of the program")
        tap.equal(dict(bed.sql("SELECT phase, count(*) FROM v_iteration WHERE job = ? AND block > 0 GROUP BY 1", job)),
                  {"measure": 8, "traced": 8}, "all in one process")


def no_tracer(tap):
    """A tracer that is missing is recorded with its reason, and the job goes on; unless it is required"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        shown, job = traced(bed, daemon, {"tool": "command", "argv": ["/nonexistent/tracer", "{output}"]})
        tap.equal(shown["state"], "done", "the job goes on")
        kept = traces(bed, job)
        tap.ok(len(kept) == 3 and all("no file '/nonexistent/tracer'" in t["why"] for t in kept), "each run says why", kept)
        tap.equal(bed.one("SELECT count(*) FROM v_window WHERE job = ? AND phase = 'traced'", job), 0, "no window was traced for nothing")
        tap.equal(bed.one("SELECT count(*) FROM event WHERE job_id = ? AND body LIKE '%no trace by command%'", job), 1,
                  "people are told once")
        text = bed.cli("show", kept[0]["run"])
        tap.ok("/nonexistent/tracer" in text.stdout, "quiesce show says it", text.stdout.splitlines())
        shown, job = traced(bed, daemon, {"tool": "command", "argv": ["/bin/false", "{output}"], "settle": "60s", "required": True})
        tap.ok(shown["state"] == "failed" and "code 1" in shown["reason"], "where it is required the job fails", [shown])


def perf(tap):
    """perf record, where it is installed and permitted"""
    if not shutil.which("perf"):
        tap.skip("perf", "it is not installed here")
        return
    with Bed() as bed:
        own = os.path.join(bed.path, "own.data")
        tried = subprocess.run(["perf", "record", "-o", own, "-k", "CLOCK_MONOTONIC_RAW", "--", "true"], capture_output=True, check=False,
                               text=True, timeout=60)
        if tried.returncode != 0:
            tap.skip("perf", f"it does not work here: {tried.stderr.strip().splitlines()[-1:]}")
            return
        daemon = bed.daemon()
        daemon.device_ready()
        shown, job = traced(bed, daemon, {"tool": "perf", "every": 0, "settle": "3s"},
                            {"shell": "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"}, blocks=1, window={"iterations": 2})
        tap.equal(shown["state"], "done", "the job ends well")
        kept = traces(bed, job)
        tap.ok(len(kept) == 1 and kept[0]["sha256"], "a trace was made", kept)
        data = os.path.join(bed.path, "perf.data")
        with open(data, "wb") as f:
            f.write(content(daemon, kept[0]))
        script = subprocess.run(["perf", "script", "-i", data, "-F", "comm,time"], capture_output=True, check=False, text=True, timeout=120)
        times = [float(line.split()[-1].rstrip(":")) for line in script.stdout.splitlines() if line.split()[:1] == ["sh"]]
        spans = bed.sql("SELECT start_ns / 1e9, (start_ns + duration_ns) / 1e9 FROM v_iteration WHERE job = ? AND phase = 'traced'", job)
        tap.equal(len(spans), 2, "two iterations were traced")
        counts = [sum(1 for t in times if a <= t <= b) for a, b in spans]
        tap.ok(all(n > 0 for n in counts), f"perf has samples of each of them, at its time: {counts} of {len(times)}", [script.stderr])


@contextlib.contextmanager
def tracefs():
    """Where the kernel's tracer is, mounted for the test where nobody has; or why it is not."""
    if os.path.isdir(f"{ROOT}/instances"):
        yield ""
        return
    mounted = os.geteuid() == 0 and os.path.isdir(ROOT) and subprocess.run(
        ["mount", "-t", "tracefs", "nodev", ROOT], capture_output=True, check=False).returncode == 0
    try:
        yield "" if mounted else "tracefs is not mounted, and cannot be by this user"
    finally:
        if mounted:
            subprocess.run(["umount", ROOT], check=False)


def ftrace(tap):
    """The kernel's tracer, where tracefs is or can be mounted"""
    with tracefs() as why:
        if why:
            tap.skip("ftrace", why)
            return
        with Bed() as bed:
            daemon = bed.daemon()
            daemon.device_ready()
            shown, job = traced(bed, daemon, {"tool": "ftrace", "events": ["sched:sched_process_exec"], "every": 0, "settle": "3s"}, blocks=1)
            tap.equal(shown["state"], "done", "the job ends well")
            kept = traces(bed, job)
            tap.ok(len(kept) == 1 and kept[0]["sha256"], "a trace was made", kept)
            lines = [line.split(":")[0].split()[-1] for line in content(daemon, kept[0]).decode().splitlines()
                     if "sched_process_exec: filename=/bin/true" in line]
            times = [float(t) for t in lines]
            spans = bed.sql("SELECT start_ns / 1e9, (start_ns + duration_ns) / 1e9 FROM v_iteration WHERE job = ? AND phase = 'traced'", job)
            found = [sum(1 for t in times if a - 1e-5 <= t <= b + 1e-5) for a, b in spans]
            tap.equal(found, [1] * 4, "each traced iteration is found by its time")
            tap.equal([n for n in os.listdir(f"{ROOT}/instances") if n.startswith("quiesce-")], [], "the instance is gone")


run_cases(own_tracer, program_traced, no_tracer, perf, ftrace)
