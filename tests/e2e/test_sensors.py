#!/usr/bin/env python3
"""Temperatures, frequencies and cooling states of real boards, as files: this machine may have none. The trees of tests/data/sysfs stand for
/sys (`quiesce-agent --sysfs`); their readings are invented, and the tests move them as a board would."""
import os

from lib import AGENT, Bed, run_cases, until
from tree import Board

POLICY = "devices/system/cpu/cpufreq/policy0"
ZONE = "class/thermal/thermal_zone0"
COOLER = "class/thermal/cooling_device0"


def farm_of(board):
    return {"devices": {"board": {"link": "exec", "argv": [AGENT, "--stdio", "--sysfs", board.path]}}}


def job(argv, gate="none", bounds="none"):
    return {"quiesce": 1, "benchmarks": [{"name": "b", "argv": argv}],
            "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 1}, "warmup": {"iterations": 0}, "until": {"interval": 0}},
            "conditions": {"gate": gate, "bounds": bounds}}


def a_hot_board_waits(tap):
    """A board above its band waits, says what for, and measures as soon as it has cooled down; the readings are stored in thousandths of a degree"""
    with Bed() as bed:
        board = Board(bed, "rpi4b")
        daemon = bed.daemon(farm_of(board))
        daemon.device_ready("board")
        number = daemon.job(job(["true"], [{"sensor": "thermal:cpu-thermal", "band": ["30C", "45C"], "timeout": "10min", "on_timeout": "fail"}]))
        shown = until("the job says what it waits for",
                      lambda: (lambda j: "thermal:cpu-thermal" in (j.get("why") or "") and j)(daemon.show(number)))
        tap.ok("46.7" in shown["why"], "and how warm it is", [shown["why"]])
        tap.ok(shown["why_code"] == "gate", "for a program it is a gate", [str(shown["why_code"])])
        board.put(ZONE + "/temp", 44000)
        tap.equal(daemon.ended(number)["state"], "done", "then it measures")
        (reading,) = bed.sql("SELECT r.value FROM reading r JOIN sensor s ON s.id = r.sensor_id WHERE s.name = 'thermal:cpu-thermal'")
        tap.equal(reading[0], 44000, "the deciding reading is the one that opened the gate")
        tap.equal(bed.sql("SELECT before, after FROM v_evidence WHERE kind = 'freq:policy0_khz'"), [(600000, 600000)],
                  "the frequency stands before and after")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def too_slow_and_too_cold(tap):
    """A band has two ends: a clock below it and a board that is too cold mark the window, which is kept"""
    with Bed() as bed:
        board = Board(bed, "rpi4b")
        board.put(ZONE + "/temp", 12000)
        daemon = bed.daemon(farm_of(board))
        daemon.device_ready("board")
        for gate in ({"sensor": "freq:policy0_khz", "above": "1.5GHz"}, {"sensor": "thermal:cpu-thermal", "band": ["20C", "45C"]}):
            number = daemon.job(job(["true"], [{**gate, "timeout": "100ms", "on_timeout": "taint"}]))
            tap.equal(daemon.ended(number)["state"], "done", "the job ends well")
            tap.equal(bed.one("SELECT count(*) FROM v_iteration WHERE job = ? AND taint <> 0", number), 1,
                      f"its iteration is kept and marked: {gate['sensor']}")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def it_throttles(tap):
    """What throttles while a window is open is seen: the cooling state rose above its bound, the frequency fell, and both are stored"""
    with Bed() as bed:
        board = Board(bed, "odroid-xu3")
        script = f"echo 1 > {board.file(COOLER)}/cur_state; echo 200000 > {board.file(POLICY)}/scaling_cur_freq"
        daemon = bed.daemon(farm_of(board))
        daemon.device_ready("board")
        number = daemon.job(job(["sh", "-c", script], bounds={"cooling:pwm-fan": 0}))
        tap.equal(daemon.ended(number)["state"], "done", "the job ends well")
        tap.equal(bed.sql("SELECT before, after FROM v_evidence WHERE kind = 'freq:policy0_khz' ORDER BY window_id"),
                  [(600000, 200000), (200000, 200000)], "the clock has fallen; the window is repeated")
        tap.equal(bed.sql("SELECT code, value, bound FROM v_taint"), [("cooling:pwm-fan", 1, 0)], "the window is marked with what rose")
        zones = bed.sql("SELECT DISTINCT kind, before FROM v_evidence WHERE kind LIKE 'thermal:%' ORDER BY kind")
        tap.equal([k for k, _ in zones], ["thermal:cpu0-thermal", "thermal:cpu1-thermal", "thermal:cpu2-thermal", "thermal:cpu3-thermal",
                                          "thermal:gpu-thermal"], "all zones are read, by their types")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def a_test_bed_says_so(tap):
    """The environment of every result names the folder that stood for /sys, and the governors found there"""
    with Bed() as bed:
        board = Board(bed, "odroid-xu3")
        daemon = bed.daemon(farm_of(board))
        daemon.device_ready("board")
        daemon.ended(daemon.job(job(["true"])))
        body = bed.one("SELECT group_concat(body) FROM env")
        tap.ok(board.path in body, "the folder is named")
        tap.ok("policy4=ondemand 200000-2000000 kHz" in body, "the governors are those of the board", [body])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


LAMP = "class/leds/lamp/brightness"
OWN = """profile: my-board
extends: rpi4b
match: [{files: {firmware/devicetree/base/my-mark: "board 7*"}}]
sensors:
  box: {name: 'thermal:box', each: class/box, value: warm, unit: C, role: ambient}
switches:
  lamp: {kind: other, name: "light:{folder}", each: class/leds/*, file: brightness, low: 0, high: 255}
"""


def a_profile_of_ones_own(tap):
    """A file beside farm.yaml says what is special on a board: its sensor is read in its unit, and its lamp is switched and put back"""
    with Bed() as bed:
        board = Board(bed, "rpi4b")
        for name, value in ((LAMP, 40), ("class/box/warm", 21), ("firmware/devicetree/base/my-mark", "board 7b")):
            os.makedirs(os.path.dirname(board.file(name)), exist_ok=True)
            with open(board.file(name), "w", encoding="ascii") as f:
                f.write(f"{value}\n")
        os.mkdir(os.path.join(bed.path, "profiles"))
        bed.file("profiles/board.yaml", OWN)
        farm = farm_of(board)
        farm["devices"]["board"]["argv"] += ["--state", os.path.join(bed.path, "journal")]
        daemon = bed.daemon(farm)
        daemon.device_ready("board")
        wanted = job(["cp", board.file(LAMP), os.path.join(bed.path, "seen")], [{"sensor": "thermal:box", "band": ["20C", "22C"]}])
        wanted["conditions"]["switches"] = {"light:*": 200}
        tap.equal(daemon.ended(daemon.job(wanted))["state"], "done", "a job gates on its sensor and sets its lamp")
        with open(os.path.join(bed.path, "seen"), encoding="ascii") as f:
            tap.equal(f.read().strip(), "200", "the lamp while it measured")
        with open(board.file(LAMP), encoding="ascii") as f:
            tap.equal(f.read().strip(), "40", "and after it")
        tap.equal(bed.one("SELECT r.value FROM reading r JOIN sensor s ON s.id = r.sensor_id WHERE s.name = 'thermal:box'"), 21000, "the reading in its unit")
        shown = daemon.get("/devices/board").want(200).json["board"]
        tap.equal(shown["profiles"][:2], ["my-board", "rpi4b"], "the device says which profiles it has: its own first")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def it_ends_too_warm(tap):
    """A board that is too warm after a window taints it, with the reading and the bound; within the bound it does not, whatever the gate's"""
    with Bed() as bed:
        board = Board(bed, "rpi4b")
        daemon = bed.daemon(farm_of(board))
        gate = [{"sensor": "thermal:cpu-thermal", "below": "50C", "end_below": "61C"}]
        heat = ["sh", "-c", f"echo $1 >{board.file(ZONE + '/temp')}", "heat"]
        for after, taints in (("61000", []), ("61001", [("end:thermal:cpu-thermal", 61001, 61000)])):
            board.put(ZONE + "/temp", 46000)
            number = daemon.job(job([*heat, after], gate))
            daemon.ended(number)
            first = bed.sql("SELECT code, value, bound FROM v_taint WHERE job = ? AND window = 0 ORDER BY window_id LIMIT 1", number)
            tap.equal(first, taints, f"after {after}")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


run_cases(it_ends_too_warm, a_hot_board_waits, too_slow_and_too_cold, it_throttles, a_test_bed_says_so, a_profile_of_ones_own)
