#!/usr/bin/env python3
"""What a virtual board is like, as a job finds it: the time constant and the surroundings of the board's model lie in the intervals, and what was found is not
measured again."""
import os
import time

from boards import Board, skip_without_boards
from lib import AGENT, Bed, run_cases

TAU_S = 15  # of the board's processors (agent/sim/board/heat.c)
SPEED = 10  # the board's time runs so many times as fast


def farm(board):
    return {"devices": {"board": {"link": "exec", "argv": [AGENT, "--stdio", "--sysfs", board.path]}}}


def job(**times):
    return {"quiesce": 1, "characterize": times}


def follow(board, daemon, number, until_phase=None):
    """The board cannot see what keeps this machine's processors busy: it has that load while the job says so. To the job's end, or to a phase."""
    loaded, seen, stream = False, 0, daemon.events(number)
    while True:
        events = [e.data for e in list(stream.seen) if e.kind == "job.characterizing"]
        for event in events[seen:]:
            wanted = event["phase"] == "warms"
            if wanted != loaded:
                board.tell("load 100" if wanted else "load rest")
                loaded = wanted
            if (event["domain"], event["phase"]) == until_phase:
                return event
        seen = len(events)
        if stream.ended:
            return daemon.ended(number)
        time.sleep(0.002)


def models(daemon, kind, domain):
    shown = daemon.get("/devices/board").want(200).json
    return {m["sensor"]: m for m in shown["models"] if m["kind"] == kind and m["domain"] == domain}


def found_as_it_is(tap):
    """Time constant and surroundings of the board's model lie in the intervals that a job finds, and a sensor that is stuck is told"""
    with Bed() as bed, Board(bed, "rpi4b", "--speed", str(SPEED)) as board:
        daemon = bed.daemon(farm(board))
        daemon.device_ready("board")
        (rest,) = [mc for zone, mc in board.report("mc").items() if "cpu" in zone]
        shown = follow(board, daemon, daemon.job(job(rest="1s", heat="6s", cool="9s", every="100ms")))
        tap.equal((shown["state"], shown["reason"]), ("done", "characterized"), "the job ends well")
        curve = models(daemon, "cools", "all")["thermal:cpu-thermal"]
        told = [str({k: v for k, v in curve.items() if k != "trace"})]
        tap.equal(curve["says"], "fits", "it cools down along a curve")
        # the interval knows the sensor's errors; when a reading was taken is known to some milliseconds of 1.5 s
        tap.ok(curve["tau_lo_s"] * SPEED * 0.99 <= TAU_S <= curve["tau_hi_s"] * SPEED * 1.01, "its time constant lies in the interval", told)
        tap.ok(curve["tau_hi_s"] < 1.2 * curve["tau_lo_s"], "which is narrow", told)
        tap.ok(curve["end_lo_mc"] - 100 <= rest <= curve["end_hi_mc"] + 100, "so does where it ends: at rest, as the witness said before", [*told, str(rest)])
        tap.ok(len(curve["trace"]) == curve["readings"] > 50, "with its readings", told)
        warms = models(daemon, "warms", "all")["thermal:cpu-thermal"]
        tap.ok(warms["high_mc"] > rest + 15000, "it was warm", [str(warms)[:300]])
        sensor = models(daemon, "sensor", "")["thermal:cpu-thermal"]
        tap.equal(sensor["says"], "ok", "the sensor is to be relied on")
        tap.ok(rest - 1000 <= sensor["low_mc"] <= rest + 1000, "its lowest value is that at rest", [str(sensor), str(rest)])
        page = bed.cli("devices", "show", "board")
        tap.ok("cools down with a time constant of 1." in page.stdout and page.returncode == 0, "the page has it", [page.stdout[-1500:]])
        tap.equal(bed.one("SELECT count(*) FROM v_run"), 0, "no benchmark was run")
        shown = follow(board, daemon, daemon.job(job(rest="1s", heat="6s", cool="9s")))
        tap.equal((shown["state"], bed.one("SELECT max(job) FROM v_model")), ("done", 1), "a second job has nothing left to do")
        board.tell("stuck class/thermal/thermal_zone0/temp")
        follow(board, daemon, daemon.job(job(rest="1s", heat="2s", cool="2s", every="100ms", again=True)))
        tap.equal((models(daemon, "cools", "all")["thermal:cpu-thermal"]["says"], bed.one("SELECT min(job) FROM v_model")), ("flat", 3), "unless it is to do all again")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def not_all_processors(tap):
    """Processors of the board that this machine does not have cannot be kept busy: that is said, and what all of them do is known"""
    if os.cpu_count() > 4:
        tap.ok(True, "this machine has them all")
        return
    with Bed() as bed, Board(bed, "rock5b-rk3588", "--speed", str(SPEED)) as board:
        daemon = bed.daemon(farm(board))
        daemon.device_ready("board")
        number = daemon.job(job(rest="1s", heat="2s", cool="2s", every="100ms"))
        shown = follow(board, daemon, number)
        tap.equal((shown["state"], shown["reason"]), ("done", "characterized"), "the job ends well")
        warned = [e.data["text"] for e in daemon.events(number).end() if e.kind == "job.warning"]
        kinds = [w for w in warned if "may not use all of them" in w]
        tap.ok(len(kinds) == 2 and len(warned) == 3, "of each kind it is said why not", warned)
        tap.ok(any("cannot be tried: its agent changes nothing" in w for w in warned), "and that nothing could be tried, for want of a folder", warned)
        tap.equal(bed.sql("SELECT DISTINCT domain FROM v_model WHERE kind = 'cools'"), [("all",)], "all processors together are known")
        number = daemon.job(job(rest="60s", again=True))
        follow(board, daemon, number, until_phase=("all", "rest"))
        daemon.ask("POST", f"/jobs/{number}:cancel").want(200)
        tap.equal(daemon.ended(number)["state"], "cancelled", "a job is cancelled between two readings")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


if __name__ == "__main__":
    skip_without_boards("a virtual board is characterized")
    run_cases(found_as_it_is, not_all_processors)
