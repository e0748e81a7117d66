#!/usr/bin/env python3
"""The artifacts of a run: its output, files of the device, the kernel's log, the notice of a core dump; bounded, kept by
content, linked to the run."""
import hashlib
import os
import subprocess

from lib import Bed, run_cases

PLAN = {"seed": 1, "blocks": 1, "window": {"iterations": 1}, "warmup": {"iterations": 1}, "until": {"interval": 0}}


def measure(bed, daemon, benchmark):
    """One counted run of the benchmark: what the API says of it."""
    job = daemon.job({"quiesce": 1, "benchmarks": [{"name": "it", "output": "capture", **benchmark}], "plan": PLAN,
                      "conditions": {"gate": "none", "bounds": "none"}})
    ended = daemon.ended(job)
    run = bed.one("SELECT lower(hex(uid)) FROM run WHERE job_id = ? ORDER BY id DESC LIMIT 1", job)
    return ended, run, daemon.get(f"/runs/{run}").want(200).json


def artifacts(shown):
    return {(a["kind"], a["name"]): a for a in shown["artifacts"]}


def content(daemon, artifact):
    return daemon.get(f"/files/{artifact['sha256']}").want(200).body


def output_and_files(tap):
    """Output and declared files are kept byte by byte up to their bounds; what cannot be had says why"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready("local")
        work = os.path.join(bed.path, "work")
        os.makedirs(os.path.join(work, "folder"))
        os.mkfifo(os.path.join(work, "pipe"))
        big = bytes(range(256)) * 200
        with open(os.path.join(work, "big.src"), "wb") as f:
            f.write(big)
        program = bed.file("leaves", "#!/bin/sh\nprintf 'out\\0%s' \"$1\"\nprintf err >&2\ncp big.src big.bin\n: > empty\n", 0o755)
        ended, run, shown = measure(bed, daemon, {
            "argv": [program, "{n}"], "dir": work, "params": {"n": [7]}, "limits": {"artifact": "20000B"},
            "artifacts": ["big.bin", "missing.{n}", "pipe", "folder", "empty"]})
        tap.equal(ended["state"], "done", "the job ends well")
        it = artifacts(shown)
        output, errors = it[("output", "stdout")], it[("output", "stderr")]
        tap.equal(content(daemon, output), b"out\x007", "standard output is kept byte by byte")
        tap.equal(content(daemon, errors), b"err", "and standard error beside it")
        tap.equal((output["kept_bytes"], output["total_bytes"], errors["total_bytes"]), (5, 5, 3), "with their lengths")
        kept = it[("file", "big.bin")]
        tap.equal((kept["kept_bytes"], kept["total_bytes"]), (20000, len(big)), "a file is cut at its bound, its length is known")
        tap.ok(content(daemon, kept) == big[:20000], "its beginning is what is kept")
        tap.equal(kept["sha256"], hashlib.sha256(big[:20000]).hexdigest(), "by its content's hash")
        for name, word in (("missing.7", "No such file"), ("pipe", "not a regular file"), ("folder", "not a regular file"), ("empty", "empty")):
            one = it[("file", name)]
            tap.ok(not one["sha256"] and word in one["why"], f"{name}: {one['why']}")
        text = bed.cli("show", run)
        tap.ok("19.5 KiB of 50.0 KiB" in text.stdout and "No such file" in text.stdout, "quiesce show lists it", text.stdout.splitlines())
        raw = subprocess.run([os.environ["QS_QUIESCE"], "show", run, "--artifact", "big.bin"], capture_output=True, check=False, env=bed.env,
                             timeout=60)
        tap.equal((raw.returncode, len(raw.stdout), raw.stdout == big[:20000]), (0, 20000, True), "and prints one of them")
        none = bed.cli("show", run, "--artifact", "missing.7")
        tap.ok(none.returncode != 0 and "No such file" in none.stderr, "or says why there is nothing to print", [none.stderr])
        tap.equal(daemon.get("/files/" + "0" * 64).status, 404, "no such content")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def older_files(tap):
    """A file that an earlier run has left is kept with a word on that"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready("local")
        program = bed.file("once", "#!/bin/sh\necho now >always\n[ -e once ] || echo once >once\nsleep 0.1\n", 0o755)
        work = os.path.join(bed.path, "work")
        os.makedirs(work)
        _, run, shown = measure(bed, daemon, {"argv": [program], "dir": work, "artifacts": ["always", "once"]})
        it = artifacts(shown)
        tap.equal((content(daemon, it[("file", "always")]), it[("file", "always")]["why"]), (b"now\n", None), "what the run has written")
        once = it[("file", "once")]
        tap.equal(content(daemon, once), b"once\n", "what was there before is kept")
        tap.ok("older than the run" in once["why"], f"and told apart: {once['why']}")
        text = bed.cli("show", run).stdout
        tap.ok("5 B, but it is older than the run" in " ".join(text.split()), "quiesce show says so", text.splitlines())
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def kernel_log(tap):
    """Lines that the kernel logged in the run are kept; where the log is not for us, that is recorded"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready("local")
        mark = f"quiesce-test-{os.getpid()}"
        _, _, shown = measure(bed, daemon, {"shell": f"echo {mark} > /dev/kmsg 2>/dev/null || echo denied"})
        log = artifacts(shown).get(("kernel-log", "kernel-log"))
        try:
            os.close(os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK))
            readable = True
        except OSError:
            readable = False
        denied = b"denied" in content(daemon, artifacts(shown)[("output", "stdout")]) if ("output", "stdout") in artifacts(shown) else False
        if not readable:
            tap.ok(log and not log["sha256"] and log["why"], "an unreadable log is recorded as missing", [log])
        elif denied:
            tap.ok(log is None or log["sha256"], "a quiet log leaves nothing", [log])
        else:
            lines = content(daemon, log).decode(errors="replace").splitlines() if log else []
            tap.ok(any(mark in line for line in lines), "the line is there", lines[:5])
            _, _, quiet = measure(bed, daemon, {"argv": ["true"]})
            other = artifacts(quiet).get(("kernel-log", "kernel-log"))
            tap.ok(other is None or mark.encode() not in content(daemon, other), "another run does not have it")


def core_dump(tap):
    """A process that a signal ends is tainted, and a core dump is told where the kernel made one"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready("local")
        crash = "ulimit -c unlimited; kill -SEGV $$"
        status = os.waitstatus_to_exitcode
        pid = os.posix_spawn("/bin/sh", ["sh", "-c", f"cd {bed.path}; {crash}"], os.environ)
        _, raw = os.waitpid(pid, 0)
        tap.equal(status(raw), -11, "the shell dies of it")
        ended, _, _ = measure(bed, daemon, {"shell": crash, "dir": bed.path, "exit": "any"})
        codes = {c for (c,) in bed.sql("SELECT code FROM taint")}
        tap.ok("signalled" in codes, "the signal is a taint", [codes, ended])
        tap.equal("core-dumped" in codes, os.WCOREDUMP(raw), "a core dump is told exactly where there is one")


run_cases(output_and_files, older_files, kernel_log, core_dump)
