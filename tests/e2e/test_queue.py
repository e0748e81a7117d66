#!/usr/bin/env python3
"""Several jobs at once: one measures, the others wait and say why; cancelling; the same submission twice; a daemon that is stopped; the end of
an embedded one, and its log."""
import os
import pty
import select
import signal
import subprocess
import time

from lib import BOUND_S, QUIESCE, Bed, carrying, run_cases, until, whole


def job(name, argv=("sleep", "0"), blocks=1, iterations=1, **more):
    bench = {"name": name, "argv": list(argv), **more.pop("bench", {})}
    return {"quiesce": 1, "name": name, "benchmarks": [bench],
            "plan": {"seed": 1, "blocks": blocks, "window": {"iterations": iterations}, "warmup": {"iterations": 1},
                     "until": {"interval": 0}}, "conditions": {"gate": "none", "bounds": "none"}, **more}


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read()
    except OSError:
        return b""


def waits_and_says_why(tap):
    """The second of two jobs waits, says for whom, and runs when its turn comes; jobs run in the order of submission"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        first = daemon.job(job("first", bench={"setup": {"shell": "while [ ! -e go ]; do sleep 0.01; done"}, "dir": bed.path}))
        until("the first runs", lambda: daemon.show(first)["state"] == "running")
        others = [daemon.job(job(f"other{i}")) for i in range(3)]
        shown = [daemon.show(other) for other in others]
        tap.equal([s["state"] for s in shown], ["queued"] * 3, "the others are queued")
        tap.ok(f"job {first}" in shown[0]["why"] and "first" in shown[0]["why"], "and say which job they wait for", [shown[0]["why"]])
        tap.ok(shown[0]["why_code"] == "queue", "for a program it is the queue", [str(shown[0]["why_code"])])
        tap.equal([s["position"] for s in shown], [1, 2, 3], "and at which place")
        queued = [e for e in daemon.events(others[0]).seen if e.kind in ("job.queued", "job.state")]
        tap.ok(all(e.data.get("state", "queued") == "queued" for e in queued), "their events know nothing else", queued)
        with open(f"{bed.path}/go", "w", encoding="ascii"):
            pass
        tap.equal([daemon.ended(j)["state"] for j in [first, *others]], ["done"] * 4, "all of them end well")
        order = [j for (j,) in bed.sql("SELECT job_id FROM run GROUP BY job_id ORDER BY min(id)")]
        tap.equal(order, [first, *others], "in the order of submission")
        overlap = bed.sql("SELECT a.job_id, b.job_id FROM session a JOIN session b ON a.id < b.id AND "
                          "b.started_wall_ns < a.ended_wall_ns")
        tap.equal(overlap, [], "one at a time")


def a_held_device(tap):
    """On a device that a person holds no job begins, under the next daemon either; the job says why, and runs when it is released"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        told = bed.cli("devices", "hold", "local", "its fan is changed")
        tap.equal((told.returncode, told.stderr), (0, ""), "it is held")
        tap.ok(told.stdout.startswith("local is held: its fan is changed (by "), "as is said", told.stdout.splitlines())
        tap.equal(bed.one("SELECT until_wall_ns FROM device_word WHERE kind = 'hold'"), None, "without an end")
        bed.cli("devices", "note", "local", "under the desk")
        bed.cli("devices", "tag", "local", "place=desk", "old")
        number = daemon.job(job("waits", devices={"where": 'label.place == "desk"'}))
        why = daemon.show(number)["why"]
        tap.ok("held (local, by " in why and "its fan is changed" in why, "a job says why it waits", [why])
        listed = bed.cli("devices", env={"COLUMNS": "200"}).stdout
        tap.ok("ready, held" in listed and "its fan is changed (by " in listed and "; under the desk\n" in listed, "and so does the list", listed.splitlines())
        daemon.kill(signal.SIGTERM)
        daemon.wait()
        away = bed.cli("devices", "--json").stdout
        tap.ok('"its fan is changed"' in away, "it is known where no daemon runs", [away])
        daemon = bed.daemon()
        daemon.device_ready()
        tap.equal(daemon.show(number)["state"], "queued", "the next daemon holds it as well")
        page = bed.cli("devices", "show", "local").stdout
        tap.ok("under the desk" in page and "old=true, place=desk" in page, "and shows the rest", page.splitlines())
        refused = bed.cli("devices", "release", "nobody")
        tap.ok(refused.returncode == 2 and "no device `nobody`" in refused.stderr, "a device that is not there is refused", refused.stderr.splitlines())
        tap.equal(bed.cli("devices", "release", "local").returncode, 0, "it is released")
        tap.equal(daemon.ended(number)["state"], "done", "and the job runs")
        kinds = [kind for (kind,) in bed.sql("SELECT kind FROM event WHERE kind LIKE 'device.%' ORDER BY id")]
        tap.equal(kinds, ["device.hold", "device.note", "device.tags", "device.release"], "each has its event")


def cancelling(tap):
    """A queued job is cancelled at once, a running one ends its benchmark and runs its clean-up; twice is a conflict"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        mark = f"QS_MARK=cancel-{os.getpid()}"
        bench = {"env": {"QS_MARK": mark.split("=")[1]}, "setup": {"shell": "while [ ! -e go ]; do sleep 0.01; done"},
                 "cleanup": {"shell": "echo cleaned > cleaned"}, "dir": bed.path}
        running = daemon.job(job("running", ("sleep", "1000"), bench=bench))
        queued = daemon.job(job("queued"))
        tap.equal(daemon.ask("POST", f"/jobs/{queued}:cancel").want(200).json["state"], "cancelled", "queued: at once")
        tap.equal(daemon.ended(queued)["state"], "cancelled", "queued: and for good")
        tap.equal(daemon.ask("POST", f"/jobs/{queued}:cancel").status, 409, "queued: twice is a conflict")
        with open(f"{bed.path}/go", "w", encoding="ascii"):
            pass
        until("its benchmark runs", lambda: any(b"sleep\0001000" in command(pid) for pid in carrying(mark)))
        # A window is open: whatever can wait is not looked at, but this is.
        daemon.ask("POST", f"/jobs/{running}:cancel").want(200)
        tap.equal(daemon.ended(running)["state"], "cancelled", "running: it ends")
        tap.equal(carrying(mark), [], "running: its benchmark is gone")
        tap.ok(os.path.exists(f"{bed.path}/cleaned"), "running: the clean-up ran")
        states = [e.data["state"] for e in daemon.events(running).end() if e.kind == "job.state"]
        tap.equal(states[-1:], ["cancelled"], "running: the last event says so")
        tap.equal({s for (s,) in bed.sql("SELECT state FROM run")}, {"cancelled"}, "running: so does its run")
        tap.equal(whole(bed, running), [], "the database holds together")
        tap.equal(daemon.ask("POST", "/jobs/999:cancel").status, 404, "a job that never was is not found")
        endless = daemon.job(job("endless", bench={**bench, "setup": {"shell": "sleep 3000 & sleep 3000"}}))
        until("its setup runs", lambda: [pid for pid in carrying(mark) if b"sleep\0003000" in command(pid)])
        daemon.ask("POST", f"/jobs/{endless}:cancel").want(200)
        tap.equal(daemon.ended(endless)["state"], "cancelled", "in a setup before any run: it ends")
        tap.equal(carrying(mark), [], "in a setup before any run: nothing of it is left")
        tap.equal(daemon.ended(daemon.job(job("next")))["state"], "done", "the next job runs")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def cancelled_for_good(tap):
    """kill -9 of the daemon as soon as a cancel is answered: the job does not come back"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        mark = f"QS_MARK=for-good-{os.getpid()}"
        bench = {"env": {"QS_MARK": mark.split("=")[1]}, "setup": {"shell": "while [ ! -e go ]; do sleep 0.01; done"}, "dir": bed.path}
        running = daemon.job(job("running", ("sleep", "1000"), bench=bench))
        queued = daemon.job(job("queued"))
        tap.equal(daemon.ask("POST", f"/jobs/{queued}:cancel").want(200).json["state"], "cancelled", "queued: told so")
        daemon.kill()
        with open(f"{bed.path}/go", "w", encoding="ascii"):
            pass
        daemon = bed.daemon()
        tap.equal(daemon.ended(queued)["state"], "cancelled", "queued: it is")
        until("its benchmark runs", lambda: any(b"sleep\0001000" in command(pid) for pid in carrying(mark)))
        tap.equal(daemon.ask("POST", f"/jobs/{running}:cancel").want(200).json["state"], "cancelling", "running: told so")
        daemon.kill()
        daemon = bed.daemon()
        tap.equal(daemon.ended(running)["state"], "cancelled", "running: it is")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def the_same_twice(tap):
    """The same submission with the same Idempotency-Key is one job, across a restart too"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        first = daemon.submit(job("once"), key="key-1").want(201).json["id"]
        again = daemon.submit(job("once"), key="key-1").want(200).json["id"]
        other = daemon.submit(job("once"), key="key-2").want(201).json["id"]
        tap.ok(first == again != other, "the same key is the same job, another key another", [first, again, other])
        for number in (first, other):
            daemon.ended(number)
        daemon.kill()
        daemon = bed.daemon()
        daemon.device_ready()
        tap.equal(daemon.submit(job("once"), key="key-1").want(200).json["id"], first, "the next daemon knows the key")
        tap.equal(bed.one("SELECT count(*) FROM job"), 2, "two jobs in all")


def stopped(tap):
    """A client of a daemon that was stopped says so, and says it again; once the daemon goes on it has its answer"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.kill(signal.SIGSTOP)
        for argv in (("jobs",), ("analyze", bed.file("a.txt", "1\n2\n3\n4\n5\n"))):
            mine, theirs = pty.openpty()
            client = subprocess.Popen([QUIESCE, *argv], env={**bed.env, "QUIESCE_SOCKET": bed.socket}, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=theirs)
            os.close(theirs)
            screen, hint = [], f"the daemon is stopped; `kill -CONT {daemon.pid}` resumes it"

            def said():
                if select.select([mine], [], [], 0)[0]:
                    screen.append(os.read(mine, 4096).decode())
                return "".join(screen).count(hint) == 2

            until(f"it says twice that `{hint}`: {screen}", said)
            lines = "".join(screen).splitlines()
            tap.ok(lines[0].startswith("  no answer since ") and lines[1].startswith("  still no answer, since "), f"{argv[0]}: twice", lines)
            daemon.kill(signal.SIGCONT)
            out, _ = client.communicate(timeout=BOUND_S)
            os.close(mine)
            tap.ok(client.returncode == 0 and len(out) > 10, f"{argv[0]}: then it has its answer", [client.returncode, out])
            daemon.kill(signal.SIGSTOP)
        daemon.kill(signal.SIGCONT)


def log_is_bounded(tap):
    """The log of the daemon that a command starts is cut where it has grown"""
    with Bed() as bed:
        path, megabyte = os.path.join(os.path.dirname(bed.db), "quiesced.log"), 1 << 20
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="ascii") as f:
            f.writelines(f"old line {i}\n" for i in range(600000))
        tap.ok(os.path.getsize(path) > 8 * megabyte, "there is a long one")
        told = bed.cli("submit", bed.file("bad.yaml", "quiesce: 1\nbenchmarks: 7\n"))
        tap.ok(told.returncode == 2 and "bad.yaml:2" in told.stderr, "a command starts a daemon", told.stderr.splitlines())
        with open(path, encoding="ascii") as f:
            text = f.read()
        tap.ok(megabyte < len(text) <= 4 * megabyte, f"half of what it may have is kept: {len(text)}")
        tap.ok(text.startswith("[older lines were dropped]\nold line ") and "\nold line 599999\n" in text and " ready\n" in text,
               "the newer half, and what the daemon said", [text[:200], text[-400:]])


def embedded(tap):
    """An embedded daemon ends by itself when queue and clients are gone, and not before"""
    idle_s = 5  # so long it waits for somebody (daemon/main.c)
    with Bed() as heard, Bed() as left:
        listened = heard.daemon(None, "--embedded")
        stream = listened.events()
        number = listened.job(job("work", ("sleep", "0.1"), blocks=2))
        working = left.daemon(None, "--embedded")
        working.job(job("long", bench={"setup": {"shell": "while [ ! -e go ]; do sleep 0.01; done"}, "dir": left.path}))
        listened.ended(number)
        time.sleep(idle_s + 1.5)  # in which nothing may happen, on any machine
        tap.ok(listened.runs(), "it runs while somebody listens, although nothing is to be done")
        tap.ok(working.runs(), "and while something is to be done, although nobody listens")
        tap.ok(listened.get("/version").json["embedded"], "and says what it is")
        stream.close()
        left.file("go", "")
        for daemon, bed in ((listened, heard), (working, left)):
            tap.equal(daemon.wait(), 0, "it ends by itself, and well")
            tap.ok(not os.path.exists(bed.socket), "its socket is gone")
            tap.equal(bed.one("SELECT state FROM job"), "done", "its work is in the database")


def one_daemon_for_one_database(tap):
    """A second daemon on the same socket or database is refused with the reason; the first one notices nothing"""
    with Bed() as bed:
        daemon = bed.daemon()
        for options, word in ((("--db", f"{bed.path}/other.db"), "listens"), (("--socket", f"{bed.path}/other.sock"), "owns")):
            second = bed.daemon(None, *options, wait=False)
            tap.ok(second.wait() in (2, 3), f"{options[0]} alone does not make it another one")
            tap.ok(word in second.text, f"{options[0]}: it says why", second.text.splitlines())
        tap.equal(daemon.get("/healthz").status, 200, "the first one goes on")


run_cases(waits_and_says_why, a_held_device, cancelling, cancelled_for_good, the_same_twice, stopped, log_is_bounded, embedded, one_daemon_for_one_database)
