#!/usr/bin/env python3
"""make.py N [OUT]: the database of version N (2 and up): an empty one brought to N by the numbered migrations of schema/, the rows of v1.db,
which that version's program wrote, and rows in what N has beyond version 1. What is committed here is never made again."""
import hashlib
import json
import os
import sqlite3
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "..", "..", "..", "schema")


def migrate(db, version):
    names = sorted(n for n in os.listdir(SCHEMA) if n.endswith(".sql"))[:version]
    assert len(names) == version, f"there are {len(names)} migrations"
    for name in names:
        with open(os.path.join(SCHEMA, name), encoding="ascii") as f:
            db.executescript(f.read())


def columns(db, table, schema="main"):
    return [row[1] for row in db.execute(f"PRAGMA {schema}.table_info({table})")]


def copy_first(db):
    """The rows of version 1; metrics that the migration has put are there already."""
    for (table,) in db.execute("SELECT name FROM old.sqlite_master WHERE type = 'table' ORDER BY rowid").fetchall():
        names = ", ".join(columns(db, table, "old"))
        db.execute(f"INSERT OR IGNORE INTO main.{table}({names}) SELECT {names} FROM old.{table}")


def add_pilot(db):
    """Run 3, of the pilot, which no statistic reads: what versions have beyond the first is said of it."""
    db.execute("INSERT INTO run(id, uid, job_id, arm_idx, point_idx, session_id, block, pos, attempt, state, taint, started_wall_ns)"
               " VALUES(3, ?, 1, 0, 0, (SELECT session_id FROM run WHERE id = 1), 0, 0, 0, 'interrupted', 256, 20)", (bytes([3] + [0] * 15),))
    for ord in range(3):
        db.execute("INSERT INTO window(id, run_id, ord, attempt, phase, first_seq, n, opened_ns, closed_ns, evals, silence, taint, how, output_bytes)"
                   " VALUES(?, 3, ?, 0, ?, ?, 2, ?, ?, 1, 2, 0, 'done', 0)", (7 + ord, ord, min(ord, 1), 2 * ord, 10**6 * ord, 10**6 * ord + 999))
        db.executemany("INSERT INTO iteration VALUES(?, ?, ?, ?, 0)", [(7 + ord, i, 400 * i, 300 + 10 * ord + i) for i in range(2)])


def content(text):
    return hashlib.sha256(text.encode()).digest()


def file_row(db, text):
    db.execute("INSERT INTO file VALUES(?, ?)", (content(text), len(text)))
    return content(text)


def version_2(db):
    db.execute("UPDATE run SET warmup_n = 2 WHERE id = 3")


def version_3(db):
    db.executemany("INSERT INTO artifact(run_id, idx, kind, name, sha256, total_bytes, why) VALUES(?, ?, ?, ?, ?, ?, ?)",
                   [(3, 0, "output", "output", file_row(db, "said\n"), 5, None), (3, 1, "file", "core", None, 123456789, "too big"),
                    (2, 0, "kernel-log", "kernel-log", file_row(db, "oops\n"), 7, "cut")])


def version_4(db):
    db.execute("UPDATE run SET harness = ? WHERE id = 3", (json.dumps({"layout": "random", "stack": 4096}),))


def version_5(db):
    db.execute("UPDATE window SET evals_step = 1, evals = 3 WHERE id = 7")
    depends = json.dumps({"device": "bench", "executable": "ab" * 32, "benchmark": "gzip"})
    db.execute("INSERT INTO tuning VALUES(?, ?, 3, 'logistic', 1, 25, 3, 1234567, 10, 17, 17, 77)", (content(depends), depends))


def version_6(db):
    db.execute("INSERT INTO metric(name, unit, lower_is_better, deterministic) VALUES('instructions', 'count', 1, 1)")


def version_7(db):
    db.execute("UPDATE window SET traced = 1 WHERE id = 8")
    db.execute("INSERT INTO artifact(run_id, idx, kind, name, sha256, total_bytes) VALUES(3, 2, 'trace', 'perf', ?, 4)",
               (file_row(db, "perf"),))
    db.execute("INSERT INTO trace VALUES(3, 2, 8, 1, 500, 990000)")


def version_8(db):
    db.execute("UPDATE run SET stream = ? WHERE id = 3", (json.dumps({"format": "numbers", "unit": "ms"}),))
    db.execute("UPDATE window SET device_n = 1 WHERE id = 9")
    db.execute("UPDATE iteration SET start_off_ns = -1 WHERE window_id = 9")


def version_9(db):
    db.execute("INSERT INTO run_median VALUES(1, 0, 1, 1001006.5, 14, 0), (3, 1, 1, NULL, 0, 1)")


def version_10(db):
    db.execute("INSERT INTO build(id, label, content) VALUES(1, 'r42', ?)", (content("r42"),))
    db.execute("UPDATE arm SET build_id = 1 WHERE name = 'b'")
    window = db.execute("SELECT id FROM window WHERE run_id = 2 ORDER BY id").fetchone()[0]  # the first of arm b
    db.execute("INSERT INTO gate(window_id, began_ns, decided_ns, outcome, polls) VALUES(?, 1, 2, 'open', 1)", (window,))
    db.execute("INSERT INTO sensor(name) VALUES('cpu.busy_ratio_ppm')")
    db.execute("INSERT INTO evidence VALUES(?, (SELECT max(id) FROM sensor), 3, 4)", (window,))
    db.execute("INSERT INTO taint VALUES(?, 0, NULL, 'gate', 5, 4)", (window,))
    db.execute("INSERT INTO artifact(run_id, idx, kind, name, sha256, total_bytes) VALUES(2, 1, 'trace', 'perf', NULL, 0)")
    db.execute("INSERT INTO trace VALUES(2, 1, ?, 0, 0, 0)", (window,))
    db.execute("INSERT INTO tuning SELECT zeroblob(32), depends, 2, oracle, precision_ns, accuracy_ns, tries, evaluation_ps, table_evals,"
               " logistic_evals, evals, found_wall_ns FROM tuning")
    db.execute("UPDATE job SET verdict = ?", (json.dumps({"text": "b 3.1 % slower", "verdict": "regression"}),))


def version_12(db):
    """The point of job 1 as it is stored from now on, and an arm with conditions of its own."""
    controls = {}
    db.execute("INSERT INTO point(id, benchmark_id, params, conditions) SELECT 2, benchmark_id, params, ? FROM point WHERE id = 1",
               (json.dumps({"name": "default", "controls": controls, "gate": []}, separators=(",", ":")),))
    db.execute("UPDATE job_point SET point_id = 2")
    db.execute("UPDATE arm SET conditions = ? WHERE name = 'b'",
               (json.dumps({"name": "pinned", "controls": {**controls, "affinity": "2"}, "gate": []}, separators=(",", ":")),))


def version_14(db):
    """A board of one system and a newer one of another; a file that was set, and put back after run 3."""
    db.executemany("INSERT INTO device_board VALUES(1, ?, ?, ?)", [("6.1.0 Bench", json.dumps({"version": 1, "notes": ["old"]}), 70),
                                                                   ("6.6.0 Bench", json.dumps({"version": 1, "notes": []}), 80)])
    session, path = "(SELECT session_id FROM run WHERE id = 1)", "devices/system/cpu/cpufreq/policy0/scaling_max_freq"
    db.execute(f"INSERT INTO control VALUES({session}, 0, NULL, 'set', ?, '1800000', '2400000', '1800000', 'set', 0, 90000000000)", (path,))
    db.execute(f"INSERT INTO control VALUES({session}, 1, 3, 'restore', ?, '2400000', NULL, NULL, 'refused', 13, 91000000000)", (path,))


def version_15(db):
    """A sensor, its curve, and one that does not fit."""
    rows = [("sensor", "", "thermal:cpu", "ok", None, *[None] * 7, 31000, 78000, None, 30, 29, None),
            ("cools", "big", "thermal:cpu", "fits", None, 50, 48.5, 52, 31000, 30000, 32000, 120, 31500, 78000, None, 300, 299, "[[0,78000],[1000,77000]]"),
            ("cools", "big", "thermal:skin", "short", "it bends too little", *[None] * 7, 30000, 33000, None, 300, 299, None)]
    db.executemany("INSERT INTO device_model VALUES(1, '6.6.0 Bench', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 95000000000)", rows)


def version_16(db):
    """A deciding reading that somebody had overridden."""
    db.execute("INSERT INTO sensor(name) VALUES('thermal:dumpsys.battery')")
    db.execute("INSERT INTO reading VALUES((SELECT max(window_id) FROM gate), 0, (SELECT max(id) FROM sensor), 4, 0, 5)")


def version_17(db):
    """What the first gate's sensor said while it waited."""
    db.execute("UPDATE gate SET trace = '[[0,0,41000],[1000,0,40500],[2000,1,7]]' WHERE window_id = (SELECT max(window_id) FROM gate)")


def version_18(db):
    """A frequency that can be held, and a switch that was refused."""
    rows = [("policy0", "cpu", "", "yes", "yes", None, None, 600000, 1500000, 600000, 1500000, 2.48),
            ("idle:cpu0.1", "idle", "devices/system/cpu/cpu0/cpuidle/state1/disable", "refused", "unknown", "Permission denied", *[None] * 6)]
    db.executemany("INSERT INTO device_knob VALUES(1, '6.6.0 Bench', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 96000000000)", rows)


def version_19(db):
    """A hold that ends, and a tag of a device that never came."""
    db.executemany("INSERT INTO device_word VALUES(?, ?, ?, ?, ?, ?, ?)",
                   [("bench", "hold", "", "its battery is changed", "ann", 97 * 10**9, 98 * 10**9), ("absent", "tag", "rack", "3", "bob", 99 * 10**9, None)])


MORE = {2: version_2, 3: version_3, 4: version_4, 5: version_5, 6: version_6, 7: version_7, 8: version_8, 9: version_9, 10: version_10, 12: version_12,
        14: version_14, 15: version_15, 16: version_16, 17: version_17, 18: version_18, 19: version_19}


def make(version, out):
    if os.path.exists(out):
        sys.exit(f"make.py: {out} is there: what was released is never made again")
    db = sqlite3.connect(out, isolation_level=None)
    db.execute("PRAGMA page_size = 512")  # small: two dozen tables of a few rows
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("ATTACH ? AS old", (os.path.join(HERE, "v1.db"),))
    migrate(db, version)
    db.execute("BEGIN")
    copy_first(db)
    add_pilot(db)
    for number in range(2, version + 1):
        MORE.get(number, lambda db: None)(db)
    db.execute("COMMIT")
    (application,) = db.execute("PRAGMA old.application_id").fetchone()
    db.execute("DETACH old")
    db.execute(f"PRAGMA application_id = {application}")
    db.execute(f"PRAGMA user_version = {version}")
    db.execute("VACUUM")
    assert db.execute("PRAGMA foreign_key_check").fetchall() == [] and db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


number = int(sys.argv[1])
make(number, sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, f"v{number}.db"))
