#!/usr/bin/env python3
"""Programs that crash, hang, fork, shout, read, close and refuse to die. Each ends in its documented taint or failure, and
daemon and agent stay healthy: the next job runs."""
import os

from lib import Bed, carrying, program, run_cases, whole

HOSTILE = program("hostile")
EXIT, TIMEOUT, CHILDREN = 8, 16, 32  # taint bits (schema/README.md)


def job(argv, iterations=2, warmup=1, **benchmark):
    return {"quiesce": 1, "name": argv[1],
            "benchmarks": [{"name": argv[1], "argv": argv, **benchmark}],
            "plan": {"seed": 1, "blocks": 1, "window": {"iterations": iterations}, "warmup": {"iterations": warmup},
                     "until": {"interval": 0}},
            "conditions": {"gate": "none", "bounds": "none", "repeat_tainted": 0}}


def healthy(tap, bed, daemon, after):
    """The next job runs to its end on the same device."""
    shown = daemon.ended(daemon.job(job(["true", "x"])))
    tap.equal(shown["state"], "done", f"after {after}: the next job runs")
    tap.equal([p for (j,) in bed.sql("SELECT id FROM job") for p in whole(bed, j)], [], f"after {after}: the database holds together")


def taints(bed, number):
    """(run state, taint of the window and iteration, status) of what counts."""
    return sorted({(s, w | i, c) for s, w, i, c in bed.sql(
        "SELECT r.state, w.taint, i.taint, coalesce(s.status, 0) FROM run r JOIN window w ON w.run_id = r.id "
        "JOIN iteration i ON i.window_id = w.id LEFT JOIN iteration_status s ON s.window_id = i.window_id AND s.i = i.i "
        "WHERE r.job_id = ?", number)})


def fails(tap, bed, daemon, title, text, *reasons):
    """A job that must fail in its first, uncounted run, with words that say why."""
    number = daemon.job(text)
    shown = daemon.ended(number)
    tap.equal(shown["state"], "failed", f"{title}: the job fails")
    for reason in reasons:
        tap.ok(reason in (shown["reason"] or ""), f"{title}: the reason says {reason}", [shown["reason"]])
    return number


def crashes_and_exits(tap):
    """A program that crashes or exits with another code fails the job in its first run, and says how"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        number = fails(tap, bed, daemon, "SIGSEGV", job([HOSTILE, "crash"]), "signal 11", "Segmentation fault")
        tap.equal(taints(bed, number), [("failed", EXIT, -11)], "SIGSEGV: kept and tainted, with the signal as status")
        number = fails(tap, bed, daemon, "exit 7", job([HOSTILE, "exit", "7"]), "exited with code 7")
        tap.equal(taints(bed, number), [("failed", EXIT, 7)], "exit 7: kept and tainted, with its code")
        number = daemon.job(job([HOSTILE, "exit", "7"], exit=[7]))
        tap.equal((daemon.ended(number)["state"], taints(bed, number)), ("done", [("done", 0, 7)]), "an expected code is no failure")
        number = daemon.job(job([HOSTILE, "exit", "9"], exit="any"))
        tap.equal(daemon.ended(number)["state"], "done", "exit: any takes every code")
        number = fails(tap, bed, daemon, "no such program", job(["/nowhere/program", "x"]), "/nowhere/program")
        tap.ok(bed.one("SELECT count(*) FROM iteration i JOIN window w ON w.id = i.window_id JOIN run r ON r.id = w.run_id "
                       "WHERE r.job_id = ?", number) == 0, "no such program: nothing was measured")
        healthy(tap, bed, daemon, "crashes")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def fails_later(tap):
    """A program that begins to fail in the middle: the failures are kept and tainted, the successes count"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        text = job([HOSTILE, "fail-after", "4"], iterations=4, env={"HOSTILE_COUNT": os.path.join(bed.path, "count")})
        number = daemon.job(text)
        tap.equal(daemon.ended(number)["state"], "done", "the job goes on")
        rows = bed.sql("SELECT i.i, i.taint, coalesce(s.status, 0) FROM run r JOIN window w ON w.run_id = r.id JOIN iteration i "
                       "ON i.window_id = w.id LEFT JOIN iteration_status s ON s.window_id = i.window_id AND s.i = i.i "
                       "WHERE r.block > 0 ORDER BY i.i")
        tap.equal(rows, [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, EXIT, 4)], "three of four count; the last is kept with its code")
        shown = daemon.get(f"/jobs/{number}/compare").want(200).json["results"][0]["arms"][0]
        tap.equal(shown["iterations_tainted"], 1, "the comparison says so")


def hangs(tap):
    """A program that hangs, with and without SIGTERM ignored, is killed at its limit"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        for how in ("hang", "stubborn", "leave-and-hang"):
            mark = f"QS_MARK={how}-{os.getpid()}"
            text = job([HOSTILE, how], limits={"iteration": "100ms"}, env=dict([mark.split("=")]))
            number = fails(tap, bed, daemon, how, text, "limit")
            state, taint, status = taints(bed, number)[0]
            tap.ok(state == "failed" and taint & TIMEOUT and status < 0, f"{how}: kept, tainted, ended by a signal",
                   [state, taint, status])
            tap.equal(carrying(mark), [], f"{how}: no process of it survives")
        healthy(tap, bed, daemon, "hanging")


def leaves_children(tap):
    """A program that leaves children, one of them a daemon of its own: they are found and ended, the iteration is tainted"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        mark = f"QS_MARK=leave-{os.getpid()}"
        number = daemon.job(job([HOSTILE, "leave"], env=dict([mark.split("=")])))
        shown = daemon.ended(number)
        tap.equal(carrying(mark), [], "no process of that session survives")
        tap.equal({taint for _, taint, _ in taints(bed, number)}, {CHILDREN}, "every iteration is tainted")
        tap.ok(shown["state"] in ("failed", "done"), "the job has an end", [shown])
        tap.ok(shown["state"] == "done" or "taint" in shown["reason"], "and it points at the taints", [shown["reason"]])
        run = daemon.get(f"/jobs/{number}/runs").want(200).json["runs"][-1]
        tap.ok("children" in run["taint"], "the API names the taint", [run["taint"]])
        healthy(tap, bed, daemon, "children")


def shouts(tap):
    """Megabytes of output are bounded and counted, and do not stop the program"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        megabytes = 3 * 1024 * 1024
        text = job([HOSTILE, "print", str(megabytes)], iterations=2, output="capture", limits={"output": "1KiB"})
        number = daemon.job(text)
        shown = daemon.ended(number)
        rows = bed.sql("SELECT w.output_bytes, length(w.output), w.taint, w.n FROM window w JOIN run r ON r.id = w.run_id "
                       "WHERE r.job_id = ? AND w.phase = 1", number)
        tap.equal([(total, kept) for total, kept, _, _ in rows], [(2 * megabytes, 1024)], "all of it counted, 1 KiB kept")
        codes = {code for (code,) in bed.sql("SELECT t.code FROM taint t JOIN window w ON w.id = t.window_id JOIN run r "
                                             "ON r.id = w.run_id WHERE r.job_id = ?", number)}
        tap.ok(any("output" in code for code in codes) or shown["state"] == "done", "what was cut is said", [codes])
        tap.equal(shown["state"], "done", "output is no failure")
        number = daemon.job(job([HOSTILE, "print", str(megabytes)], name="quiet"))
        tap.equal(daemon.ended(number)["state"], "done", "discarded output neither")
        healthy(tap, bed, daemon, "shouting")


def reads_and_closes(tap):
    """Standard input is empty or the file that was named, from its beginning each time; closed descriptors hurt nobody"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        source = bed.file("input.txt", "quiet please")
        for title, text in (
                ("/dev/null", job([HOSTILE, "expect-input", ""])),
                ("a file", job([HOSTILE, "expect-input", "quiet please"], iterations=3, stdin=source)),
                ("close-all", job([HOSTILE, "close-all"])),
                ("nothing else is inherited", job([HOSTILE, "count-descriptors"]))):
            number = daemon.job(text)
            shown = daemon.ended(number)
            tap.equal((shown["state"], taints(bed, number)), ("done", [("done", 0, 0)]), f"{title}: as it should be")
        fails(tap, bed, daemon, "no such input", job([HOSTILE, "expect-input", "x"], stdin=f"{bed.path}/missing"), "missing")
        healthy(tap, bed, daemon, "reading and closing")


def hooks(tap):
    """Hooks that fail: setup fails the job, cleanup runs all the same and is warned about, prepare taints"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        trace = os.path.join(bed.path, "trace")
        number = fails(tap, bed, daemon, "setup", job(["true", "x"], setup={"shell": "echo broken setup; exit 3"},
                       cleanup={"shell": f"echo cleaned >> {trace}"}), "setup", "code 3", "broken setup")
        with open(trace, encoding="utf-8") as f:
            tap.equal(f.read(), "cleaned\n", "setup: cleanup runs after the failure")
        number = daemon.job(job(["true", "x"], cleanup={"shell": "exit 4"}))
        tap.equal(daemon.ended(number)["state"], "done", "cleanup: the job is done all the same")
        warnings = [e.data["text"] for e in daemon.events(number).end() if e.kind == "job.warning"]
        tap.ok(any("cleanup" in w and "code 4" in w for w in warnings), "cleanup: a warning names it", warnings)
        number = daemon.job(job(["true", "x"], prepare={"shell": "exit 5"}))
        shown = daemon.ended(number)
        tap.ok(all(taint & 128 for _, taint, _ in taints(bed, number)), "prepare: every iteration is tainted", taints(bed, number))
        tap.ok(shown["state"] in ("done", "failed"), "prepare: the job has an end", [shown])
        healthy(tap, bed, daemon, "broken hooks")


run_cases(crashes_and_exits, fails_later, hangs, leaves_children, shouts, reads_and_closes, hooks)
