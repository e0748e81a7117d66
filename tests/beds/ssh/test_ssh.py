#!/usr/bin/env python3
"""Boards by ssh, through a real sshd: the agent is brought there and a whole job measured; an agent that is not whole is brought again; what is
refused, and in which words."""
import hashlib
import os
import re
import signal
import subprocess
import sys

sys.path += [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

import sshd
from lib import Bed, run_cases, until
from tap import Tap

JOB = {"quiesce": 1, "benchmarks": [{"name": "nap", "argv": ["sleep", "0.01"]}],
       "plan": {"seed": 1, "blocks": 5, "window": {"iterations": 4}, "warmup": {"iterations": 0}, "until": {"interval": 0}},
       "conditions": {"gate": "none", "bounds": "none"}}
DONE = "SELECT count(*), count(DISTINCT run || ':' || seq) FROM v_iteration WHERE block > 0 AND run IN (SELECT run FROM v_run WHERE state = 'done')"
STATIC = os.environ["QS_AGENT_STATIC"]


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def of(daemon):
    (board,) = daemon.get("/devices").want(200).json["devices"]
    return board


def why(daemon, before=None):
    return until("it says why it is down", lambda: (lambda w: w != before and w)(of(daemon).get("why")))


def agents_of(path):
    """The processes that run the program at this path, deleted or not."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)") == path:
                found.append(int(pid))
        except OSError:
            continue
    return found


def a_whole_job(tap):
    """The agent is brought there once, a job is measured through it, and nothing of it runs on when the daemon ends"""
    with Bed() as bed, sshd.Board(bed) as board:
        with open(f"{board.cache}/quiesce-agent-of-another-version", "w", encoding="ascii") as f:
            f.write("old")
        daemon = bed.daemon(board.farm())
        device = daemon.device_ready("board")
        tap.equal((device["link"], device["local"], device["facts"]["libc"]), ("ssh", False, "static, not glibc"), "the static agent runs there")
        there = board.lies_there()
        tap.equal(there, f"{board.cache}/quiesce-agent-{digest(STATIC)}", "it alone lies there, by the name of its content")
        tap.equal((digest(there), os.stat(there).st_mode & 0o7777), (digest(STATIC), 0o700), "whole, and private")
        tap.equal(device["facts"]["spool"], f"{board.home}/.local/state/quiesce-agent/control", "what is measured is kept there until we have it")
        tap.equal(daemon.ended(daemon.job(JOB))["state"], "done", "a job is done")
        tap.equal(bed.sql(DONE), [(20, 20)], "each iteration is stored once")
        tap.equal({s for (s,) in bed.sql("SELECT DISTINCT silence FROM v_window")}, {"observed"}, "its windows are silent on our side")
        ours = agents_of(there)
        tap.ok(ours, "its processes are seen")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        until("nothing of the agent runs on", lambda: not agents_of(there))
        before = os.stat(there)
        daemon = bed.daemon(board.farm())
        daemon.device_ready("board")
        after = os.stat(there)
        tap.equal((after.st_ino, after.st_mtime_ns), (before.st_ino, before.st_mtime_ns), "the next daemon brings it no second time")
        tap.ok("before the agent spoke" not in daemon.text, "there is no noise", daemon.text)
        tap.equal(daemon.stop(), 0, "it ends well, too")


def brought_again(tap):
    """An agent that was killed is there again; one whose file is cut, or is another one, is brought again; the job goes on"""
    with Bed() as bed, sshd.Board(bed) as board:
        daemon = bed.daemon(board.farm())
        daemon.device_ready("board")
        there = board.lies_there()
        job = daemon.job({**JOB, "plan": {**JOB["plan"], "blocks": 60}})
        stored = 0
        whole = os.path.getsize(STATIC)
        for what, change in (("killed", None), ("cut", lambda data: data[:-100]), ("another", lambda data: b"x" * len(data))):
            until("more is stored", lambda: bed.one("SELECT count(*) FROM v_iteration") > stored)
            inode = os.stat(there).st_ino
            if change:
                with open(there, "rb") as f:
                    data = change(f.read())
                os.unlink(there)  # it runs: a file that is executed cannot be written
                with open(there, "wb") as f:
                    f.write(data)
                inode = os.stat(there).st_ino
            for pid in agents_of(there):
                os.kill(pid, signal.SIGKILL)
            until("its end is noticed", lambda: of(daemon)["state"] in ("down", "connecting"))
            daemon.device_ready("board")
            tap.equal((os.path.getsize(there), digest(there)), (whole, digest(STATIC)), f"whole after it was {what}")
            tap.equal(os.stat(there).st_ino != inode, change is not None, "brought again where it was not")
            stored = bed.one("SELECT count(*) FROM v_iteration")
        tap.equal(daemon.ended(job)["state"], "done", "the job comes to its end")
        tap.equal(bed.sql("SELECT count(DISTINCT block) FROM v_run WHERE state = 'done' AND block > 0"), [(60,)], "with every block")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def noise(tap):
    """What a profile prints before the agent is told once; a login that is none is quoted"""
    with Bed() as bed:
        with sshd.Board(bed, "ForceCommand echo Have a nice day.; eval \"$SSH_ORIGINAL_COMMAND\"\n") as board:
            daemon = bed.daemon(board.farm())
            daemon.device_ready("board")
            told = ('its command printed 17 bytes before the agent spoke: "Have a nice day."; '
                    "see that no profile prints anything for non-interactive shells")
            tap.equal(daemon.text.count(told), 1, "how much, and its first line")
            tap.equal(daemon.ended(daemon.job(JOB))["state"], "done", "a job is done")
            tap.equal(daemon.stop(), 0, "quiesced ends well")
    with Bed() as bed, sshd.Board(bed, "ForceCommand echo This account is not available.; exit 1\n") as board:
        daemon = bed.daemon(board.farm())
        tap.equal(why(daemon), f"{sshd.find('ssh')} ended with exit code 1; it said instead: This account is not available.", "as it was said")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def one_command(tap):
    """`quiesce run --on ssh:HOST` needs no farm file: the board gets the agent and the programs, is measured and named by its host"""
    with Bed() as bed, sshd.Board(bed) as board:
        argv = board.farm()["devices"]["board"]["argv"]
        os.makedirs(f"{bed.path}/bin")
        words = " ".join(argv[1:])
        bed.file("bin/ssh", f'#!/bin/sh\nexec {argv[0]} {words} -oHostName=127.0.0.1 "$@"\n', 0o755)  # as ~/.ssh/config would say it
        bed.env["PATH"] = f"{bed.path}/bin:{bed.env['PATH']}"
        daemon = bed.daemon({"agents": board.agents, "devices": {"pretend": {"link": "sim"}}})
        bed.file("old", "#!/bin/sh\nexec sleep 0.01\n", 0o755)
        bed.file("new", "#!/bin/sh\nexec sleep 0.05\n", 0o755)
        done = bed.cli("run", "--on", f"ssh:{board.user}@bench", "--runs", "6", "--iterations", "1", "--warmup", "1", "--a", "./old", "--b", "./new")
        tap.ok(done.returncode == 0 and re.search("^  b takes .* than a", done.stdout, re.M), "it is measured and compared", [done.stdout, done.stderr])
        tap.equal(bed.sql("SELECT DISTINCT device FROM v_run"), [(f"{board.user}-bench",)], "on the board, by its name")
        tap.ok(board.lies_there(), "which has the agent")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def refusals(tap):
    """A host that is another one or unknown, a key that lets nobody in, a name that is none, a port where nobody is, no agent: each with advice"""
    with Bed() as bed, sshd.Board(bed) as board, sshd.bound() as nobody:
        for what, known, farm, words in (
                ("another host's key", board.other_key, board.farm(), ["Host key verification failed", "its host key is not known here, or is another one"]),
                ("an unknown host", "", board.farm(), ["Host key verification failed", "log in once by hand"]),
                ("a key that it does not know", board.host_key, board.farm(key="other_key"), ["Permission denied (", "ssh-copy-id"]),
                ("no such host", board.host_key, board.farm(host="no.such.host.invalid"), ["Could not resolve hostname", "correct `host`"]),
                ("nobody at the port", board.host_key, board.farm(port=nobody.getsockname()[1]), ["Connection refused", "no sshd listens"]),
                ("no agent here", board.host_key, {**board.farm(), "agents": "/nowhere"}, ["the agent for", "./dev agent"])):
            board.know(known)
            daemon = bed.daemon(farm)
            told = why(daemon)
            tap.ok(all(word in told for word in words), what, told)
            tap.equal(daemon.stop(), 0, "quiesced ends well")
        tap.equal(os.listdir(board.cache), [], "nothing was brought there")


def no_place(tap):
    """A file system that is full, or from which nothing runs"""
    tried = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        tap.skip("two file systems of a board", "nothing can be mounted here: " + tried.stderr.strip())
        return
    for mount, words in (("size=64k", ["cannot write", "No space left on device", "free space in the home of its user"]),
                         ("noexec", ["cannot run", "Permission denied", "not mounted noexec"])):
        with Bed() as bed, sshd.Board(bed, mount=mount) as board:
            daemon = bed.daemon(board.farm())
            told = why(daemon)
            tap.ok(all(word in told for word in words), mount, told)
            tap.equal(daemon.stop(), 0, "quiesced ends well")


if sshd.lacking():
    t = Tap()
    t.skip("a board by ssh", sshd.lacking())
    sys.exit(t.done())
run_cases(a_whole_job, brought_again, noise, one_command, refusals, no_place)
