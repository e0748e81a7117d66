#!/usr/bin/env python3
"""Sensors that are commands on the device: programs of the test stand first on the agent's PATH, in the place of a phone's dumpsys and a
Raspberry Pi's vcgencmd, and say what those say."""
import json
import os

from lib import AGENT, Bed, run_cases, until

BATTERY = "Current Battery Service state:\n{note}  AC powered: false\n  level: 73\n  temperature: {dc}\n  technology: Li-ion\n"
STOPPED = "  (UPDATES STOPPED -- use 'reset' to restart)\n"
THERMAL = ("IsStatusOverride: {override}\nThermalEventListeners:\n\tcallbacks: 1\nThermal Status: {status}\nCached temperatures:\n"
           "\tTemperature{{mValue=99.0, mType=3, mName=VIRTUAL-SKIN, mStatus=0}}\nHAL Ready: true\nCurrent temperatures from HAL:\n"
           "\tTemperature{{mValue={skin}, mType=3, mName=VIRTUAL-SKIN, mStatus=0}}\n\tTemperature{{mValue=30.5, mType=2, mName=battery, mStatus=0}}\n"
           "Current cooling devices from HAL:\n\tCoolingDevice{{mValue=0, mType=2, mName=thermal-cpufreq-0}}\n")


class Phone:
    """Its commands say what stands in files of their names."""

    def __init__(self, bed):
        self.path = os.path.join(bed.path, "phone")
        self.sys = os.path.join(self.path, "sys")
        os.makedirs(self.sys)

    def program(self, name):
        path = os.path.join(self.path, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\necho \"$*\" >>{self.path}/asked\ncat {self.path}/\"$1\"\n")
        os.chmod(path, 0o755)

    def says(self, name, text):
        with open(os.path.join(self.path, name + ".new"), "w", encoding="utf-8") as f:
            f.write(text)
        os.rename(f.name, os.path.join(self.path, name))

    def start(self, bed):
        path = f"{self.path}:{os.environ['PATH']}"
        argv = ["env", f"PATH={path}", AGENT, "--stdio", "--sysfs", self.sys]
        daemon = bed.daemon({"devices": {"phone": {"link": "exec", "argv": argv}}})
        daemon.device_ready("phone")
        return daemon


def job(sensor, below, **more):
    gate = [{"sensor": sensor, "below": below, "timeout": "10min", "on_timeout": "fail", **more}]
    return {"quiesce": 1, "benchmarks": [{"name": "b", "argv": ["true"]}],
            "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 1}, "warmup": {"iterations": 0}, "until": {"interval": 0}},
            "conditions": {"gate": gate, "bounds": "none"}}


def gate_of(bed, number):
    return bed.sql("SELECT outcome, sensor, status, value FROM v_gate WHERE job = ?", number)


def android(bed):
    phone = Phone(bed)
    phone.program("dumpsys")
    phone.says("battery", BATTERY.format(note="", dc=291))
    phone.says("thermalservice", THERMAL.format(override="false", status=0, skin=37.4))
    return phone


def reads_a_phone(tap):
    """A gate takes what dumpsys says: of the section that is not cached, in thousandths, and no older than its maximum age"""
    for sensor, below, value in (("thermal:dumpsys.battery", "35C", 29100), ("thermal:thermalservice.skin", "38C", 37400),
                                 ("thermal:thermalservice.battery", "31C", 30500), ("throttled.thermalservice", 0, 0),
                                 ("battery:dumpsys", "95%", 73)):
        with Bed() as bed:
            daemon = android(bed).start(bed)
            number = daemon.job(job(sensor, below))
            tap.equal(daemon.ended(number)["state"], "done", f"{sensor}: the job ends well")
            tap.equal(gate_of(bed, number), [("open", sensor, "ok", value)], "with the reading that opened the gate")
            ((age,),) = bed.sql("SELECT age_ns FROM v_gate WHERE job = ?", number)
            tap.ok(0 < age <= 60e9, "and how old it was", [str(age)])
            board = json.loads(bed.sql("SELECT board FROM device_board")[0][0])
            names = [s["name"] for s in board["sensors"] if s["command"]]
            tap.equal((len(names), "thermal:vcgencmd" in names), (5, False), "the device has the commands that it has")
            tap.equal(daemon.stop(), 0, "quiesced ends well")


def waits_until_it_is_cool(tap):
    """A hot skin is waited for: the command is asked again, and the gate opens when it says so"""
    with Bed() as bed:
        phone = android(bed)
        phone.says("thermalservice", THERMAL.format(override="false", status=0, skin=41.9))
        daemon = phone.start(bed)
        number = daemon.job(job("thermal:thermalservice.skin", "38C"))
        shown = until("it waits", lambda: (lambda j: "41.9" in (j.get("why") or "") and j)(daemon.show(number)))
        tap.ok("thermal:thermalservice.skin is 41.9" in shown["why"], "and says for what", [shown["why"]])
        phone.says("thermalservice", THERMAL.format(override="false", status=0, skin=36.2))
        tap.equal(daemon.ended(number)["state"], "done", "then it is measured")
        tap.equal(gate_of(bed, number), [("open", "thermal:thermalservice.skin", "ok", 36200)], "at the newer reading")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def fails_at_what_is_made_up(tap):
    """Values that somebody has overridden open no gate, and the reason says what ends that"""
    for sensor, says, mend in (
            ("thermal:dumpsys.battery", ("battery", BATTERY.format(note=STOPPED, dc=200)), "dumpsys battery reset"),
            ("throttled.thermalservice", ("thermalservice", THERMAL.format(override="true", status=0, skin=20)), "cmd thermalservice reset")):
        with Bed() as bed:
            phone = android(bed)
            phone.says(*says)
            daemon = phone.start(bed)
            number = daemon.job(job(sensor, "35C" if "battery" in sensor else 0, timeout="0s"))
            ended = daemon.ended(number)
            tap.equal(ended["state"], "failed", f"{sensor}: the job fails")
            tap.ok("is spoilt" in ended["reason"] and f"`{mend}`" in ended["reason"], "with what to run", [ended["reason"]])
            tap.equal(gate_of(bed, number), [("fail", sensor, "spoilt", 0)], "and a record of it")
            tap.equal(daemon.stop(), 0, "quiesced ends well")


def taints_what_was_throttled(tap):
    """What Android or a firmware says after a window taints it, with its number and bound; what it said before all windows does not"""
    hot = THERMAL.format(override="false", status=3, skin=44)
    for program, before, (name, after), taint in (
            ("dumpsys", {"battery": BATTERY.format(note="", dc=291), "thermalservice": THERMAL.format(override="false", status=2, skin=30)},
             ("thermalservice", hot), ("throttled.thermalservice", 3, 2)),
            ("vcgencmd", {"measure_temp": "temp=48.3'C\n", "get_throttled": "throttled=0x40000\n"}, ("get_throttled", "throttled=0x50000\n"),
             ("throttled.since", 1, 0)),
            ("vcgencmd", {"measure_temp": "temp=48.3'C\n", "get_throttled": "throttled=0x50000\n"}, ("get_throttled", "throttled=0x50004\n"),
             ("throttled.now", 4, 0))):
        with Bed() as bed:
            phone = Phone(bed)
            phone.program(program)
            for file, text in before.items():
                phone.says(file, text)
            phone.says("later", after)
            daemon = phone.start(bed)
            calm = job("cpu.busy_ratio_ppm", "100%")
            number = daemon.job(calm)
            tap.equal(daemon.ended(number)["state"], "done", f"{taint[0]}: the job ends well")
            tap.equal(bed.sql("SELECT code FROM v_taint WHERE job = ?", number), [], "without a taint")
            calm["benchmarks"][0]["argv"] = ["cp", os.path.join(phone.path, "later"), os.path.join(phone.path, name)]
            calm["plan"]["blocks"] = 1
            number = daemon.job(calm)
            daemon.ended(number)
            first = bed.sql("SELECT code, value, bound FROM v_taint WHERE job = ? ORDER BY window_id, i LIMIT 1", number)
            tap.equal(first, [taint], "then a window is tainted")
            tap.equal(daemon.stop(), 0, "quiesced ends well")


def reads_a_raspberry_pi(tap):
    """Without the kernel's file, vcgencmd tells whether the firmware throttles now; with it, the file decides"""
    with Bed() as bed:
        phone = Phone(bed)
        phone.program("vcgencmd")
        phone.says("measure_temp", "temp=48.3'C\n")
        phone.says("get_throttled", "throttled=0x50000\n")
        daemon = phone.start(bed)
        number = daemon.job(job("throttled.now", 0))
        tap.equal((daemon.ended(number)["state"], gate_of(bed, number)), ("done", [("open", "throttled.now", "ok", 0)]), "the low bits alone")
        number = daemon.job(job("thermal:vcgencmd", "50C"))
        tap.equal((daemon.ended(number)["state"], gate_of(bed, number)), ("done", [("open", "thermal:vcgencmd", "ok", 48300)]), "and its temperature")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def is_read_on_request(tap):
    """`quiesce devices read` asks the commands, too"""
    with Bed() as bed:
        phone = android(bed)
        daemon = phone.start(bed)
        daemon.ended(daemon.job(job("thermal:dumpsys.battery", "35C")))
        phone.says("battery", BATTERY.format(note="", dc=302))
        phone.says("thermalservice", THERMAL.format(override="true", status=0, skin=20))
        said = until("it is read anew", lambda: (lambda text: "30.2" in text and "spoilt" in text and text)(bed.cli("devices", "read", "phone").stdout))
        tap.ok("thermal:dumpsys.battery" in said, "its battery and what is spoilt", [said])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


if __name__ == "__main__":
    run_cases(reads_a_phone, waits_until_it_is_cool, fails_at_what_is_made_up, reads_a_raspberry_pi, taints_what_was_throttled, is_read_on_request)
