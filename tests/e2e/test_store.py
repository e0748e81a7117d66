#!/usr/bin/env python3
"""The database through the real quiesced: what it is, and what happens to one that it must not touch. The writer's own pragmas are
read in tests/unit/store/test_open.c."""
import hashlib
import os
import sqlite3

from lib import Bed, run_cases, until

JOB = {"quiesce": 1, "benchmarks": [{"name": "true", "argv": ["true"]}],
       "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 2}, "warmup": {"iterations": 1}, "until": {"interval": 0}},
       "conditions": {"gate": "none", "bounds": "none"}}


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def refused(tap, bed, title, word):
    """quiesced does not start, says why, and leaves every byte where it was."""
    folder = os.path.dirname(bed.db)
    before = {name: sha256(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.startswith("quiesce.db")
              and os.path.isfile(os.path.join(folder, name))}
    daemon = bed.daemon(None, wait=False)
    tap.ok(daemon.wait() in (2, 3), f"{title}: refused", [daemon.child.returncode, daemon.text])
    tap.ok(word in daemon.text and bed.db in daemon.text, f"{title}: it says why and which file", daemon.text.splitlines())
    after = {name: sha256(os.path.join(folder, name)) for name in before}
    tap.equal(after, before, f"{title}: no byte has changed")
    tap.ok(not os.path.exists(bed.socket), f"{title}: it never listened")


def databases_of_others(tap):
    """A newer database, one of another program and a file that is none are refused and left as they are"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        daemon.ended(daemon.job(JOB))
        daemon.stop()
        connection = sqlite3.connect(bed.db)
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute(f"PRAGMA user_version={version + 1}")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        refused(tap, bed, "newer", "newer")
        connection = sqlite3.connect(bed.db)
        connection.execute(f"PRAGMA user_version={version}")
        connection.execute("PRAGMA application_id=1")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        refused(tap, bed, "another program's", "")
        with open(bed.db, "wb") as f:
            f.write(b"This is no database, and somebody may want to keep it.\n" * 100)
        for leftover in ("-wal", "-shm"):
            if os.path.exists(bed.db + leftover):
                os.unlink(bed.db + leftover)
        refused(tap, bed, "no database", "")


def people_may_read(tap):
    """Anybody can read the database while the daemon measures, and it is whole and in WAL mode"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        job = daemon.job({**JOB, "plan": {**JOB["plan"], "blocks": 20}})
        connection = sqlite3.connect(f"file:{bed.db}?mode=ro", uri=True, timeout=20)
        seen = 0
        while daemon.show(job)["state"] in ("queued", "running"):
            (now,) = connection.execute("SELECT count(*) FROM v_iteration").fetchone()
            tap.ok(now >= seen, "iterations only become more", [seen, now]) if now < seen else None
            seen = now
        tap.equal(connection.execute("PRAGMA journal_mode").fetchone(), ("wal",), "write-ahead log")
        tap.equal(connection.execute("PRAGMA integrity_check").fetchone(), ("ok",), "whole")
        tap.equal(connection.execute("PRAGMA foreign_key_check").fetchall(), [], "no row points nowhere")
        (done,) = connection.execute("SELECT count(*) FROM v_iteration").fetchone()
        tap.equal(done, 1 + 20 * 2, "everything is there")
        tap.equal(oct(os.stat(bed.db).st_mode & 0o077), "0o0", "others may not: it tells what a machine runs")
        connection.close()


def a_reader_that_stays_open(tap):
    """A transaction that somebody keeps open is told once, where devices are shown too, and slows nothing; its end is noticed"""
    def notice(daemon):
        return daemon.get("/devices").want(200).json["notice"]
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        tap.equal(notice(daemon), None, "nothing to say")
        reader = sqlite3.connect(f"file:{bed.db}?mode=ro", uri=True, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM job").fetchall()
        large = {"name": "true", "argv": ["true"], "env": {f"A{i}": "y" * 60000 for i in range(60)}}
        jobs = 0
        while not notice(daemon) and jobs < 40:
            daemon.job({**JOB, "name": f"n{jobs}", "benchmarks": [large]})
            jobs += 1
        said = notice(daemon) or ""
        tap.ok(f"lsof {bed.db}-wal" in said and "268 MB" in said, "it is told who can be found how, and what follows", said)
        tap.ok("keeps a transaction open" in bed.cli("devices").stderr, "quiesce devices says it")
        tap.equal(daemon.ended(daemon.job(JOB), bound_s=240)["state"], "done", "jobs go on")
        tap.equal(daemon.text.count("keeps a transaction open"), 1, "the log says it once")
        reader.close()
        until("the daemon notices that there is room", lambda: not notice(daemon))
        tap.ok("the log has room again (0 bytes)" in daemon.text, "and says that, too", daemon.text.splitlines()[-3:])


run_cases(databases_of_others, people_may_read, a_reader_that_stays_open)
