#!/usr/bin/env python3
"""Whole jobs on a virtual board: the daemon and its agent as they are, which see nothing but `--sysfs DIR`. What the board really did is
asked of its witness."""
import errno
import os
import re

from boards import POLICY, WORK, ZONE, Board, skip_without_boards
from lib import AGENT, Bed, run_cases, until

SENSOR = "thermal:cpu-thermal"


def farm(board):
    return {"probe": "never", "devices": {"board": {"link": "exec", "argv": [AGENT, "--stdio", "--sysfs", board.path]}}}


def started(bed, board):
    daemon = bed.daemon(farm(board))
    daemon.device_ready("board")
    return daemon


def job(argv, gate="none", bounds="none"):
    return {"quiesce": 1, "benchmarks": [{"name": "b", "argv": argv}],
            "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 1}, "warmup": {"iterations": 0}, "until": {"interval": 0}},
            "conditions": {"gate": gate, "bounds": bounds}}


def below(degrees, **more):
    return [{"sensor": SENSOR, "below": f"{degrees}C", "timeout": "10min", "on_timeout": "fail", **more}]


def readings(daemon):
    return {r["sensor"]: r.get("value") for r in daemon.get("/devices/board:read").want(200).json["readings"]}


def shown_as_it_is(tap):
    """What the agent reads is what the files say: temperatures, frequencies, cooling states"""
    with Bed() as bed, Board(bed, "rock5b-rk3588") as board:
        daemon = started(bed, board)
        said = readings(daemon)
        tap.equal({name: said[name] for name in ("thermal:package-thermal", "thermal:gpu-thermal", "freq:policy0_khz", "freq:policy6_khz",
                                                 "cooling:pwm-fan")},
                  {"thermal:package-thermal": 41615, "thermal:gpu-thermal": 39769, "freq:policy0_khz": 1008000, "freq:policy6_khz": 1200000,
                   "cooling:pwm-fan": 0}, "of a board at rest")
        board.put(POLICY % 6 + "scaling_governor", "performance")
        said = readings(daemon)
        tap.equal((said["freq:policy6_khz"], said["freq:policy4_khz"]), (2400000, 1200000), "and of one whose clock was raised")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def opens_when_it_is_cool(tap):
    """A hot board waits at its gate, says how hot it is, and is measured only when it has cooled down"""
    with Bed() as bed, Board(bed, "rpi4b", "--speed", "30") as board:
        board.tell("ambient 50", "heat 75")  # it stays above 70
        daemon = started(bed, board)
        mark = os.path.join(bed.path, "mark")
        number = daemon.job(job(["cp", board.file(".board/mc"), mark], below(45)))
        shown = until("the job says what it waits for", lambda: (lambda j: SENSOR in (j.get("why") or "") and j)(daemon.show(number)))
        tap.ok(" 7" in shown["why"], "and how hot it is", [shown["why"]])
        tap.ok(not os.path.exists(mark), "nothing was measured meanwhile")
        board.tell("ambient 20")  # towards 41.7
        tap.equal(daemon.ended(number)["state"], "done", "then it measures")
        ((outcome, polls, sensor, status, value),) = bed.sql("SELECT outcome, polls, sensor, status, value FROM v_gate WHERE job = ?", number)
        tap.equal((outcome, sensor, status), ("open", SENSOR, "ok"), "the gate's record: open")
        tap.ok(polls > 1 and 41000 < value <= 45000, "after some looks, with the reading that opened it", [f"{polls} {value}"])
        with open(mark, encoding="ascii") as f:
            witness = int(f.read().split()[1])
        tap.ok(41000 < witness <= value, "in its window the board was as cool, by its witness", [f"{witness} {value}"])
        tap.equal(bed.one("SELECT max(taint) FROM window"), 0, "and nothing is marked")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def comes_back_down(tap):
    """Once a board was too hot, its gate wants more than the upper bound: it opens where the job wants it back"""
    with Bed() as bed, Board(bed, "rpi4b", "--speed", "30") as board:
        board.tell("ambient 21.7", "heat 44")  # towards 43.4, below the bound
        daemon = started(bed, board)
        mark = os.path.join(bed.path, "mark")
        number = daemon.job(job(["cp", board.file(".board/mc"), mark], below(45, back_to="40C")))
        tap.equal(daemon.ended(number)["state"], "done", "a board that was not too hot is measured")
        tap.equal(bed.sql("SELECT DISTINCT outcome, value > 42000 FROM v_gate WHERE job = ?", number), [("open", 1)], "although it is above what it would come back to")
        board.tell("ambient 60", "heat 75")  # towards 81.7: it is too hot for as long as it takes until its gate looks
        number = daemon.job(job(["cp", board.file(".board/mc"), mark], below(45, back_to="40C")))
        until("the gate has seen it too hot", lambda: "wanted at most 45" in str(daemon.show(number)))
        board.tell("ambient 10", "heat 75")  # towards 31.7
        tap.equal(daemon.ended(number)["state"], "done", "one that was")
        ((value,),) = bed.sql("SELECT DISTINCT max(value) FROM v_gate WHERE job = ?", number)
        with open(mark, encoding="ascii") as f:
            witness = int(f.read().split()[1])
        tap.ok(witness <= value <= 40000, "is measured when it has come back, by its witness, too", [f"{witness} {value}"])
        board.tell("ambient 60", "heat 75")
        number = daemon.job(job(["true"], [{"sensor": SENSOR, "below": "50C", "back_to": "40C", "timeout": "20s", "on_timeout": "fail"}]))
        until("the gate has seen it too hot", lambda: "wanted at most 50" in str(daemon.show(number)))
        board.tell("ambient 26.7", "heat 75")  # towards 48.4: below the upper bound, above what it is to come back to
        shown = daemon.ended(number)
        tap.ok(shown["state"] == "failed" and "wanted at most 40" in shown["reason"], "and one that does not come back fails, with the bound that it lacks", [shown["reason"]])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def heaters(top):
    """Processes that the agent below `top` heats with."""
    found, below = 0, [top]
    while below:
        try:
            with open(f"/proc/{below[0]}/task/{below[0]}/children", encoding="ascii") as f:
                below += [int(word) for word in f.read().split()]
            with open(f"/proc/{below[0]}/comm", encoding="ascii") as f:
                found += f.read() == "qs-heater\n"
        except OSError:
            pass
        below.pop(0)
    return found


def heats_what_is_too_cold(tap):
    """A board in winter: the agent works until it is warm, and measures when it has stopped"""
    with Bed() as bed, Board(bed, "rpi4b", "--speed", "5") as board:
        board.tell("ambient 0", "heat 20")  # towards 16.7; under load towards 71.7
        mark = os.path.join(bed.path, "mark")
        daemon = started(bed, board)
        gate = [{"sensor": "cpu.busy_ratio_ppm", "below": "99%", "timeout": "2min"},
                {"sensor": SENSOR, "band": ["40C", "60C"], "timeout": "5min", "on_timeout": "fail", "heat": True}]
        number = daemon.job(job(["cp", board.file(".board/mc"), mark], gate))
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
        with open(mark, encoding="ascii") as f:
            witness = int(f.read().split()[1])
        tap.ok(40000 <= witness <= 60000, "and the board was warm in its window, by its witness", [str(witness)])
        rows = bed.sql("SELECT outcome, sensor, value BETWEEN 40000 AND 60000 FROM v_gate WHERE job = ? AND sensor = ?", number, SENSOR)
        tap.equal(rows, [("open", SENSOR, 1)], "the gate's record: open")
        tap.equal(bed.one("SELECT max(taint) FROM window"), 0, "and nothing is marked: what heated left nothing behind")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def busy_until_fast(tap):
    """`frequency: hold`: the agent works until the board's clock is at its highest, and nothing is written"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        board.tell("load 5")
        mark = os.path.join(bed.path, "mark")
        daemon = started(bed, board)
        wanted = job(["cp", board.file(".board/khz"), mark], "none")
        wanted["conditions"]["frequency"] = "hold"
        number = daemon.job(wanted)
        until("it keeps processors busy", lambda: heaters(daemon.pid) > 0)
        tap.ok(not os.path.exists(mark), "nothing is measured before")
        board.tell("load 100")  # this machine's work is the board's
        tap.equal(daemon.ended(number)["state"], "done", "it is measured")
        with open(mark, encoding="ascii") as f:
            tap.equal(f.read(), "policy0 1500000\n", "at the highest frequency, by its witness")
        tap.equal(bed.one("SELECT max(taint) FROM window"), 0, "and nothing is marked")
        tap.equal(bed.sql("SELECT value FROM v_gate WHERE sensor = 'freq:policy0_khz'"), [(1500000,)], "the clock was read when the window began")
        tap.equal(board.get(".board/log"), "", "no file of the board was written")
        tap.equal(heaters(daemon.pid), 0, "nothing is kept busy any more")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def ends_as_it_says(tap):
    """A gate that cannot be reached ends as its on_timeout says: marked, failed, given back"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        board.tell("ambient 50", "heat 71.7")
        daemon = started(bed, board)
        number = daemon.job(job(["true"], below(45, timeout="100ms", on_timeout="taint")))
        tap.equal(daemon.ended(number)["state"], "done", "taint: it measures all the same")
        # A window that was marked is repeated; each keeps its record.
        rows = bed.sql("SELECT DISTINCT outcome, sensor, status, value > 70000 FROM v_gate WHERE job = ?", number)
        tap.equal(rows, [("tainted", SENSOR, "ok", 1)], "its record has the temperature that marked it")
        tap.equal(bed.sql("SELECT DISTINCT taint <> 0 FROM v_iteration WHERE job = ?", number), [(1,)], "and all its iterations are marked")
        number = daemon.job(job(["true"], below(45, timeout="100ms", on_timeout="fail")))
        shown = daemon.ended(number)
        said = re.fullmatch(r"the gate did not open within 1\d\d ms: (\S+) is 7\d(\.\d+)? °C, wanted at most 45(\.0)? °C(; busiest: .*)?\. Let .*`timeout`.*`on_timeout: taint` .*", shown["reason"])
        tap.ok(shown["state"] == "failed" and said and said[1] == SENSOR, "fail: it fails, and says which sensor, its value, its range and what to do",
               [shown["reason"]])
        (event,) = [e.data for e in daemon.events(number).end() if e.kind == "gate.timeout"]
        tap.ok(event["sensor"] == SENSOR and event["value"] > 70000, "the event has the sensor and how hot it was", [str(event)])
        tap.equal(bed.one("SELECT count(*) FROM v_iteration WHERE job = ?", number), 0, "and nothing was measured")
        number = daemon.job(job(["true"], below(45, timeout="100ms", on_timeout="requeue")))
        until("requeue: it is given back, and says so", lambda: "given back" in (daemon.show(number).get("why") or ""))
        daemon.ask("POST", f"/jobs/{number}:cancel").want(200)
        tap.equal(daemon.ended(number)["state"], "cancelled", "and is cancelled where it waits")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def a_sensor_that_fails(tap):
    """A gate whose sensor cannot be read, or has gone, is not passed"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        daemon = started(bed, board)
        for fault in ("lie %s with EAGAIN", "vanish %s"):
            board.tell("heal", fault % (ZONE % 0 + "temp"))
            number = daemon.job(job(["true"], below(60, timeout="100ms", on_timeout="taint")))
            tap.equal(daemon.ended(number)["state"], "done", f"the job ends well: {fault}")
            rows = bed.sql("SELECT DISTINCT outcome, status FROM v_gate WHERE job = ?", number)
            tap.equal(rows, [("tainted", "unreadable")], "its gate is marked, and says why")
        board.tell("heal")
        number = daemon.job(job(["true"], below(60)))
        tap.equal((daemon.ended(number)["state"], bed.sql("SELECT outcome, status FROM v_gate WHERE job = ?", number)), ("done", [("open", "ok")]),
                  "when it reads again the gate opens: the agent needs no new start")
        tap.equal(board.error(board.get, ZONE % 0 + "none"), errno.ENOENT, "a file that never was is no file")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def a_driver_that_does_not_answer(tap):
    """A sensor whose driver hangs holds up nobody: the device is surveyed and measured, and a gate that needs it is not passed"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        daemon = started(bed, board)
        board.tell(f"slow {ZONE % 0}temp 6000")
        shown = daemon.ended(daemon.job(job(["true"])))
        tap.equal(shown["state"], "done", "what needs no temperature is measured")
        (sensor,) = [s for s in daemon.get("/devices/board").want(200).json["board"]["sensors"] if s["name"] == SENSOR]
        tap.equal((sensor["status"], sensor["why"]), ("unreadable", "it cannot be read: its driver does not answer"), "the device says which sensor it is")
        number = daemon.job(job(["true"], below(60, timeout="100ms", on_timeout="taint")))
        tap.equal(daemon.ended(number)["state"], "done", "a gate that waits for it comes to its end")
        rows = bed.sql("SELECT DISTINCT outcome, status FROM v_gate WHERE job = ?", number)
        tap.equal(rows, [("tainted", "unreadable")], "marked, with the reason")
        tap.ok(readings(daemon)["freq:policy0_khz"] > 0, "and a device that is asked for its readings gives the others")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def throttled_while_measured(tap):
    """A board that is throttled while it is measured: marked, with the cooling state that rose and the clock that fell"""
    with Bed() as bed, Board(bed, "rock5b-rk3588", "--speed", "60") as board:
        board.put(POLICY % 4 + "scaling_governor", "performance")
        daemon = started(bed, board)
        # A second at 2.4 GHz, four time constants of the board; in this heat it stays above its trip point however slow it is.
        work = f"echo ambient 75 >{board.file('.board/control')}; exec {WORK} --board {board.path} --cycles 2400000000 --policy policy4 --load 100"
        number = daemon.job(job(["sh", "-c", work], bounds={"cooling:cpufreq-cpu4": 0}))
        tap.equal(daemon.ended(number)["state"], "done", "the job ends well")
        marks = bed.sql("SELECT DISTINCT code, value > 0, bound FROM v_taint")
        tap.ok(("cooling:cpufreq-cpu4", 1, 0) in marks, "it is marked with what rose", [str(marks)])
        (before, after) = bed.sql("SELECT before, after FROM v_evidence WHERE kind = 'freq:policy4_khz' ORDER BY window_id")[0]
        tap.ok(before == 2400000 > after, "and the clock that fell is evidence", [f"{before} {after}"])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


COOLER = """profile: cooled
about: a board whose own protection is a command of the test
extends: generic
match: [{facts: {sysfs: '*'}}]
switches:
  cooler: {kind: thermal, name: cooler, get: [cat, "%(file)s"], set: [sh, -c, "echo {value} >%(file)s"], on: "1", off: "0"}
"""
FACT = "SELECT json_extract(e.body, '$.achieved.thermal_protection') FROM session s JOIN env e ON e.id = s.env_id WHERE s.job_id = ?"
ABOVE = re.compile(r"thermal:cpu-thermal of board is 7[345]\.\d+ °C, above the job's trip limit of 60(\.0)? °C: ")


def ends_above_its_trip_limit(tap):
    """A job that takes the board's own protection away holds a limit of its own: before a window, after it, and while it waits"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        cooler = bed.file("cooler", "1\n")
        os.mkdir(os.path.join(bed.path, "profiles"))
        with open(os.path.join(bed.path, "profiles", "cooled.yaml"), "w", encoding="ascii") as f:
            f.write(COOLER % {"file": cooler})

        def cooled():
            with open(cooler, encoding="ascii") as f:
                return f.read().strip()
        argv = [AGENT, "--stdio", "--sysfs", board.path, "--state", os.path.join(bed.path, "journal")]
        os.mkdir(argv[-1])
        daemon = bed.daemon({"devices": {"board": {"link": "exec", "argv": argv}}})
        daemon.device_ready("board")

        def tried(argv, gate="none", **conditions):
            wanted = job(argv, gate)
            wanted["plan"]["blocks"] = 3
            wanted["conditions"].update({"switches": {"cooler": "off"}, **conditions})
            return daemon.job(wanted)
        seen = os.path.join(bed.path, "seen")
        shown = daemon.ended(tried(["cp", cooler, seen]))
        tap.ok(shown["state"] == "failed" and "(cooler)" in shown["reason"] and "`trip: 85C`" in shown["reason"],
               "without a limit it is refused, with what to write", [shown["reason"]])
        tap.ok(not os.path.exists(seen), "and nothing was measured")
        number = tried(["cp", cooler, seen], trip="60C")
        shown = daemon.ended(number)
        tap.equal(shown["state"], "done", f"a board below its limit is measured: {shown.get('reason')}")
        with open(seen, encoding="ascii") as f:
            tap.equal((f.read().strip(), cooled()), ("0", "1"), "without its protection, which is back after it")
        tap.equal(bed.one(FACT, number), "off: cooler; trip limit 60.0 °C", "and the session's environment says so")
        told = [e.data["text"] for e in daemon.events(number).end() if e.kind == "job.warning"]
        tap.equal(len([text for text in told if "thermal protection of board is off (cooler)" in text]), 1, "and so is everybody told, once")

        number = tried(["sh", "-c", f"echo heat 75 >{board.file('.board/control')}"], trip="60C")
        shown = daemon.ended(number)
        tap.ok(shown["state"] == "failed" and ABOVE.match(shown["reason"]), "one that is hotter after a window ends the job, with the reading", [shown["reason"]])
        tap.equal(bed.one("SELECT count(*) FROM v_iteration WHERE job = ?", number), 1, "before a further one opens")
        tap.equal(cooled(), "1", "and all is put back")
        number = tried(["true"], trip="60C")
        shown = daemon.ended(number)
        tap.ok(shown["state"] == "failed" and ABOVE.match(shown["reason"]), "a hot board is not measured at all", [shown["reason"]])
        tap.equal((bed.one("SELECT count(*) FROM v_iteration WHERE job = ?", number), cooled()), (0, "1"), "no window has opened")

        board.tell("ambient 30", "heat 52")  # towards 51.7: it never becomes cool enough
        number = tried(["true"], below(45), trip="60C")
        until("a job waits at its gate", lambda: SENSOR in (daemon.show(number).get("why") or ""))
        tap.equal(cooled(), "0", "its protection is off meanwhile")
        board.tell("heat 75")
        shown = daemon.ended(number)
        tap.ok(shown["state"] == "failed" and ABOVE.match(shown["reason"]), "and it ends when the board becomes too hot", [shown["reason"]])
        tap.equal(cooled(), "1", "with all put back")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


if __name__ == "__main__":
    skip_without_boards("jobs run on a virtual board")
    run_cases(shown_as_it_is, opens_when_it_is_cool, comes_back_down, heats_what_is_too_cold, busy_until_fast, ends_as_it_says, a_sensor_that_fails, a_driver_that_does_not_answer, throttled_while_measured,
              ends_above_its_trip_limit)
