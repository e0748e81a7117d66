#!/usr/bin/env python3
"""tally.py and pick.py: what ends up in the closing line of ./dev test."""
import io
import json
import os
import sys
import tempfile

import pick
import tally
from tap import Tap


def record(stdout="", result="OK", code=0, name="t", stderr=""):
    return {"name": name, "command": ["/build/" + name], "stdout": stdout, "stderr": stderr, "result": result,
            "returncode": code}


def counted(protocol, rec):
    t = tally.Tally()
    tally.count_record(t, rec["name"], protocol, rec)
    return t


TABLE = [
    # name, protocol, record, passed, failed, skipped
    ("every TAP case counts", "tap", record("1..2\nok 1 - a\nok 2 - b\n"), 2, 0, 0),
    ("a plan may come last", "tap", record("ok 1 - a\nok 2 - b\n1..2\n"), 2, 0, 0),
    ("a failed case counts once", "tap", record("1..2\nok 1 - a\nnot ok 2 - b\n", "FAIL", 1), 1, 1, 0),
    ("cmocka's skipped case is a skip", "tap", record("1..2\nok 1 - a\nnot ok 2 # SKIP b\n", "FAIL"), 1, 0, 1),
    ("a skip with a reason", "tap", record("1..1\nok 1 - a # SKIP no valgrind\n"), 0, 0, 1),
    ("a whole file skipped by its plan", "tap", record("1..0 # SKIP no kvm\n", "SKIP"), 0, 0, 1),
    ("an excuse does not hide a failure", "tap", record("1..1\nnot ok 1 - a # TO" "DO later\n", "EXPECTEDFAIL"), 0, 1, 0),
    ("a leak after the last case", "tap", record("1..1\nok 1 - a\n", "ERROR", 1), 1, 1, 0),
    ("a case whose name holds a #", "tap", record("1..2\nok 1 - issue #3\nnot ok 2 - # 4\n", "FAIL", 1), 1, 1, 0),
    ("a crash in the middle", "tap", record("1..3\nok 1 - a\n", "ERROR", -11), 1, 1, 0),
    ("a crash after a failed case is a second failure", "tap", record("1..2\nnot ok 1 - a\n", "ERROR", -6), 0, 2, 0),
    ("a timeout", "tap", record("1..3\nok 1 - a\nok 2 - b\n", "TIMEOUT", -15), 2, 1, 0),
    ("fewer cases than planned", "tap", record("1..3\nok 1 - a\n", "ERROR"), 1, 1, 0),
    ("no output at all", "tap", record("", "OK"), 0, 1, 0),
    ("no plan", "tap", record("ok 1 - a\n", "OK"), 1, 1, 0),
    ("two plans", "tap", record("1..1\nok 1 - a\n1..1\nok 2 - b\n", "ERROR"), 2, 1, 0),
    ("a bail-out", "tap", record("1..1\nok 1 - a\nBail out! no device\n", "ERROR"), 1, 1, 0),
    ("a program without TAP is one case", "exitcode", record("noise\nok 1\n"), 1, 0, 0),
    ("a program without TAP that fails", "exitcode", record("", "FAIL", 3), 0, 1, 0),
    ("a program without TAP that hangs", "exitcode", record("", "TIMEOUT", -15), 0, 1, 0),
    ("a program without TAP that skips", "exitcode", record("no kvm here\n", "SKIP", 77), 0, 0, 1),
]


def check_table(t):
    for name, protocol, rec, passed, failed, skipped in TABLE:
        got = counted(protocol, rec)
        t.equal((got.passed, len(got.failures), len(got.skips)), (passed, failed, skipped), name)


def check_reasons(t):
    got = counted("tap", record("1..1\nok 1 - a # SKIP no valgrind\n"))
    t.equal(got.skips, [("t: a", "no valgrind")], "a skipped case keeps its reason")
    got = counted("tap", record("1..2\n# why: not root\nnot ok 1 # SKIP a\nnot ok 2 # SKIP b\n", "FAIL"))
    t.equal(got.skips, [("t: a", "not root"), ("t: 2", "b")], "what cmocka skips has the reason printed before it, and no other")
    got = counted("exitcode", record("looking\nno kvm here\n", "SKIP", 77))
    t.equal(got.skips, [("t", "no kvm here")], "the last line of a skipped program is its reason")
    got = counted("tap", record("1..2\nok 1 - a\nnot ok 2 - b\n# 1 != 2\n", "FAIL", 1, stderr="at line 8\n"))
    t.equal(got.failures, [("t: b", "failed", ["1..2", "not ok 2 - b", "# 1 != 2", "at line 8"])],
            "a failure shows the tail of both streams without the passed cases")
    noise = "".join(f"frame {i}\n" for i in range(200))
    got = counted("tap", record("1..1\nnot ok 1 - b\n# 1 != 2\n", "FAIL", 1, stderr=noise)).failures[0][2]
    t.equal((got[:3], got[3], len(got), got[-1]), (["1..1", "not ok 1 - b", "# 1 != 2"], "frame 173", 30, "frame 199"),
            "a long report of leaks does not push out what the case said")
    got = counted("tap", record("1..1\nnot ok 1 - b\n" + noise, "FAIL", 1, stderr="x\n")).failures[0][2]
    t.equal((len(got), got[-2:]), (30, ["frame 199", "x"]), "and what one stream does not need the other gets")


def run_build(rows, records, extra=(), log="testlog.json"):
    """Runs the whole of tally.py over a build directory made here; returns its exit code and its lines."""
    with tempfile.TemporaryDirectory() as top:
        os.mkdir(os.path.join(top, "meson-logs"))
        if records is not None:
            with open(os.path.join(top, "meson-logs", log), "w", encoding="utf-8") as f:
                f.writelines(json.dumps(r) + "\n" for r in records)
        with open(os.path.join(top, "picked"), "w", encoding="utf-8") as f:
            json.dump(rows, f)
        out, sys.stdout = sys.stdout, io.StringIO()
        try:
            code = tally.main([*extra, f"gcc={top}:{top}/picked"])
            text = sys.stdout.getvalue()
        finally:
            sys.stdout = out
    return code, text.splitlines()


def row(name, wanted=True, protocol="tap"):
    return {"name": name, "cmd": ["/build/" + name], "protocol": protocol, "wanted": wanted}


def check_closing(t):
    good = record("1..1\nok 1 - x\n", name="a")
    t.equal(run_build([row("a")], [good]), (0, ["1 passed, 0 failed"]), "a clean run says nothing but the closing line")
    code, lines = run_build([row("a"), row("b")], [good])
    t.equal((code, lines[-1]), (1, "1 passed, 1 failed"), "a wanted test without a record fails")
    t.equal(run_build([row("a"), row("b", False)], [good])[0], 0, "a test that was not wanted may be missing")
    t.equal(run_build([row("a")], None)[0], 1, "a build that wrote no log fails")
    t.equal(run_build([], [])[0], 1, "nothing ran: the exit code is 1")
    skip = record("1..0 # SKIP no kvm\n", "SKIP", name="a")
    code, lines = run_build([row("a")], [skip])
    t.equal((code, lines[-1]), (1, "0 passed, 0 failed, 1 skipped"), "only skips: the exit code is 1")
    t.ok("skipped gcc: a: no kvm" in lines, "a skip is printed with label, name and reason", lines)
    code, lines = run_build([row("a")], [good], ["--skip", "tsan: the kernel maps too high"])
    t.equal((code, lines[-1]), (0, "1 passed, 0 failed, 1 skipped"), "--skip adds a skip")
    code, lines = run_build([row("a")], [good], ["--fail", "clang: the build failed"])
    t.equal((code, lines[-1]), (1, "1 passed, 1 failed"), "--fail adds a failure")
    wrapped = dict(good, command=["valgrind", "-q", "/build/a"])
    t.equal(run_build([row("a")], [wrapped], log="testlog-valgrind.json")[0], 0, "a wrapper before the command is seen through")
    suited = dict(good, name="quiesce:base / a")
    t.equal(run_build([row("a")], [suited])[0], 0, "meson's name with project and suite is understood")
    code, lines = run_build([row("a")], [dict(suited, stdout="1..0 # SKIP why\n")])
    t.ok("skipped gcc: base / a: why" in lines, "and shown without the project", lines)
    twins = [dict(row("a"), cmd=["/build/x/a"]), dict(row("a"), cmd=["/build/y/a"])]
    code, lines = run_build(twins, [dict(good, command=["/build/x/a"])])
    t.equal((code, lines[-1]), (1, "1 passed, 1 failed"), "two tests of one name are told apart by their command")


def check_pick(t):
    test = {"name": "loop", "suite": ["quiesce:base", "quiesce:slow"]}
    t.equal(pick.suites_of(test), {"base", "slow"}, "suites lose the project's name")
    t.ok(pick.chosen(test, {"base"}, set(), set()), "a suite chooses")
    t.ok(not pick.chosen(test, {"base"}, {"slow"}, set()), "an unwanted suite wins")
    t.ok(not pick.chosen(test, {"store"}, set(), set()), "another suite does not choose")
    t.ok(pick.chosen(test, set(), set(), {"loop"}), "a name chooses")
    t.ok(pick.chosen(test, set(), set(), {"base"}), "a suite may stand for a name")
    t.ok(not pick.chosen(test, set(), set(), {"lop"}), "another name does not choose")
    t.equal(pick.unknown([test], {"lop", "base"}), ["lop"], "a misspelt name is reported")


def main():
    t = Tap()
    for check in (check_table, check_reasons, check_closing, check_pick):
        check(t)
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
