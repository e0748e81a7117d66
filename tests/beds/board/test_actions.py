#!/usr/bin/env python3
"""What a job does beside measuring, on a virtual board: the daemon and its agent as they are. What the board really did is asked of its
witness, and what is left on it when they are gone is compared with what was there before."""
import os
import signal

from boards import POLICY, Board, skip_without_boards
from lib import Bed, run_cases, until
from test_control import MAX, farm, knobs, name_of, processes, writes
from test_gates import SENSOR, heaters


def started(bed, board):
    daemon = bed.daemon(farm(bed, board))
    daemon.device_ready("board")
    return daemon


def job(argv, actions, blocks=1):
    return {"quiesce": 1, "benchmarks": [{"name": "b", "argv": argv}],
            "plan": {"seed": 1, "blocks": blocks, "window": {"iterations": 1}, "warmup": {"iterations": 0}, "until": {"interval": 0}},
            "conditions": {"gate": "none", "bounds": "none", "repeat_tainted": 0}, "actions": actions}


def write_max(khz):
    return {"write": {"file": POLICY % 0 + MAX, "value": str(khz)}}


def stages(bed):
    """What was done, as it is kept with the job."""
    return bed.sql("SELECT body ->> '$.stage', body ->> '$.outcome', body ->> '$.did[0]' FROM event WHERE kind = 'action.stage' ORDER BY id")


def read(path):
    with open(path, encoding="ascii") as f:
        return f.read()


def written_and_put_back(tap):
    """A file is written before it is measured, journalled, read back, stored, and put back at the end; and when the agent is killed"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        before = knobs(board, (0,))
        daemon = started(bed, board)
        mark = os.path.join(bed.path, "mark")
        number = daemon.job(job(["cp", board.file(POLICY % 0 + MAX), mark],
                                {"before_session": [write_max(1000000)], "before_window": [write_max(600000)], "after_window": [write_max(700000)]}))
        tap.equal(daemon.ended(number)["state"], "done", "the job ends well")
        tap.equal(read(mark), "600000\n", "what is written before the window stands in it")
        rows = bed.sql("SELECT kind, wanted, before, outcome, run = '' FROM v_control ORDER BY seq")
        tap.equal(rows, [("set", "1000000", "1500000", "set", 1), ("set", "600000", "1000000", "set", 0), ("set", "700000", "600000", "set", 0),
                         ("restore", "1500000", "1500000", "set", 1)], "each write is stored, with its run, and what was put back")
        tap.equal(knobs(board, (0,)), before, "the board is as before")
        nap = ["sleep", "60", str(60 + os.getpid() / 10**8)]
        number = daemon.job(job(nap, {"before_session": [write_max(800000)]}))
        until("a window is open", lambda: processes(nap[2]))
        for pid in processes(board.path):  # the agent and its supervisor, which has another name
            if name_of(pid) == "quiesce-agent":
                os.kill(pid, signal.SIGKILL)
        until("the next session has written it again", lambda: writes(board, MAX).count("800000") == 2 and processes(nap[2]))
        tap.equal(writes(board, MAX)[-3:], ["800000", "1500000", "800000"], "an agent that is killed: its supervisor puts it back, the next session writes it again")
        daemon.ask("POST", f"/jobs/{number}:cancel").want(200)
        daemon.ended(number)
        tap.equal(knobs(board, (0,)), before, "a job that was cancelled leaves nothing")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def cools_down_first(tap):
    """A hot board is left alone until it has cooled down, before a session and between windows; the job says what it waits for"""
    with Bed() as bed, Board(bed, "rpi4b", "--speed", "30") as board:
        board.tell("ambient 50", "heat 75")  # it stays above 70
        daemon = started(bed, board)
        mark = os.path.join(bed.path, "mark")
        cool = {"cool_down": {"sensor": SENSOR, "below": "45C"}}
        number = daemon.job(job(["cp", board.file(".board/mc"), mark], {"before_session": [cool], "before_window": [cool], "after_window": [cool]}))
        shown = until("the job says what it waits for", lambda: (lambda j: SENSOR in (j.get("why") or "") and j)(daemon.show(number)))
        tap.ok(" 7" in shown["why"] and "45.0 °C" in shown["why"], "and how hot it is", [shown["why"]])
        tap.ok(not os.path.exists(mark), "nothing was measured meanwhile")
        board.tell("ambient 20")  # towards 41.7
        tap.equal(daemon.ended(number)["state"], "done", "then it measures")
        witness = int(read(mark).split()[1])
        tap.ok(41000 < witness <= 45000, "in its window the board was as cool, by its witness", [str(witness)])
        tap.equal([(stage, outcome) for stage, outcome, _ in stages(bed)],
                  [("before_session", "done"), ("before_window", "done"), ("after_window", "done")], "each stage is kept")
        tap.equal(bed.one("SELECT max(taint) FROM window"), 0, "nothing is marked")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def warms_up_and_branches(tap):
    """A cold board: the right branch is taken, its processors are kept busy until it is warm, and nothing of that is left in the window"""
    with Bed() as bed, Board(bed, "rpi4b", "--speed", "5") as board:
        board.tell("ambient 0", "heat 20")  # towards 16.7; under load towards 71.7
        mark = os.path.join(bed.path, "mark")
        daemon = started(bed, board)
        warm = {"warm_up": {"sensor": SENSOR, "above": "40C", "timeout": "5min"}}
        number = daemon.job(job(["cp", board.file(".board/mc"), mark], {
            "before_window": [{"if": {"sensor": SENSOR, "below": "30C"}, "then": [{"print": "cold"}, warm], "else": [{"print": "warm"}]},
                              {"if": {"sensor": SENSOR, "below": "30C"}, "then": [{"print": "still cold"}], "else": [{"print": "warm now"}]},
                              {"if": {"sensor": "thermal:nothing", "below": "30C"}, "then": [{"print": "?"}], "unreadable": "else"}]}))
        heated = [False]

        def follow():
            """This machine's work is the board's."""
            if (heaters(daemon.pid) > 0) != heated[-1]:
                heated.append(not heated[-1])
                board.tell("load 100" if heated[-1] else "load rest")
                tap.ok(not heated[-1] or not os.path.exists(mark), "nothing is measured before it heats")
            return daemon.show(number)["state"] not in ("queued", "running")
        until("the job has ended", follow)
        tap.equal(daemon.ended(number)["state"], "done", "it is measured")
        tap.ok(len(heated) > 2 and not heated[-1], "when what heated it has ended", [str(heated)])
        tap.ok(int(read(mark).split()[1]) > 30000, "and it is warm, by its witness", [read(mark)])
        said = [text for (text,) in bed.sql("SELECT body ->> '$.text' FROM event WHERE kind = 'action.print' ORDER BY id")]
        tap.equal(said, ["cold", "warm now"], "the right branches")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def after_a_failure(tap):
    """What comes after a run, a session and a job is done when the benchmark fails, too; a sensor that cannot be read fails the job"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        before = knobs(board, (0,))
        daemon = started(bed, board)
        log = os.path.join(bed.path, "log")

        def note(word):
            return {"run": {"shell": f"echo {word} >>{log}"}}
        failing = job(["false"], {"before_job": [note("before_job")], "before_run": [note("before_run"), write_max(600000)], "after_window": [note("after_window")],
                                  "after_run": [note("after_run")], "after_session": [note("after_session")], "after_job": [note("after_job")]})
        failing["plan"]["warmup"] = {"iterations": 1}
        shown = daemon.ended(daemon.job(failing))
        tap.equal(shown["state"], "failed", "the job fails")
        tap.equal(read(log).split(), ["before_job", "before_run", "after_window", "after_run", "after_session", "after_job"], "and everything is done")
        tap.equal(knobs(board, (0,)), before, "the board is as before")
        shown = daemon.ended(daemon.job(job(["true"], {"before_run": [{"cool_down": {"sensor": "thermal:nothing", "below": "45C"}}]})))
        tap.ok(shown["state"] == "failed" and "before_run[0]: thermal:nothing cannot be read" in shown["reason"], "an unknown sensor is no passed one",
               [shown["reason"]])
        board.tell("vanish class/thermal/thermal_zone0/temp")
        shown = daemon.ended(daemon.job(job(["true"], {"before_run": [{"cool_down": {"sensor": SENSOR, "below": "45C"}}]})))
        tap.ok(shown["state"] == "failed" and "cannot be read" in shown["reason"], "nor one that has vanished", [shown["reason"]])
        shown = daemon.ended(daemon.job(job(["true"], {"before_run": [{"write": {"file": "class/nothing/here", "value": "1"}}]})))
        tap.ok(shown["state"] == "failed" and "the device has no such file" in shown["reason"], "and a file that is not there cannot be written", [shown["reason"]])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


if __name__ == "__main__":
    skip_without_boards("actions on a virtual board")
    run_cases(written_and_put_back, cools_down_first, warms_up_and_branches, after_a_failure)
