#!/usr/bin/env python3
"""Jobs on a board whose kernel is real (machine.py): the daemon and the static agent as they are, and the kernel's own cpufreq and thermal
drivers. What the processors ran at is asked of the registers that the kernel writes, from outside."""
import base64
import contextlib
import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e"))
from killing import reach  # noqa: E402  (the path has to be known first)
from lib import Bed, Failed, run_cases, stored, unlock, until, whole  # noqa: E402
from spooled import spooled  # noqa: E402
from kinds import KINDS  # noqa: E402
from machine import Machine, why_not  # noqa: E402
from parts import NoPackages, summed  # noqa: E402
from tap import Tap  # noqa: E402

POLICY = "/sys/devices/system/cpu/cpufreq/policy%d/"
KNOBS = ("scaling_governor", "scaling_min_freq", "scaling_max_freq")
LONG_S = 240  # emulated
AGENT = "quiesce-agent --serial"
SUPERVISOR = "{qs-supervisor} " + AGENT


def started(bed, machine):
    daemon = bed.daemon({"probe": "never", "devices": {"board": {"link": "serial", "address": machine.line}}}, "--log-level", "debug")
    daemon.device_ready("board")
    return daemon


def job(argv, frequency, gate="none", repeat=0):
    return {"quiesce": 1, "benchmarks": [{"name": "b", "argv": argv}],
            "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 1, "max": "1s"},  # how long an agent that died is waited for
                     "warmup": {"iterations": 0}, "until": {"interval": 0}},
            "conditions": {"gate": gate, "bounds": "none", "frequency": frequency, "repeat_tainted": repeat}}


def nap(seconds=1):
    return ["busybox", "sleep", str(seconds)]


def knobs(machine):
    """What the kernel says of the files that jobs change."""
    return [machine.run("cat " + POLICY % p + name) for p in (0, 1) for name in KNOBS]


def processes(machine, words):
    """The numbers of those in the guest whose command line begins with these words; that of a process that has renamed itself begins with
    its name in braces."""
    rows = [line.split(None, 1) for line in machine.run("ps -o pid,args").splitlines()]
    return [pid for pid, args in rows if args.startswith(words)]


def measuring(machine, seconds):
    until("the benchmark runs", lambda: processes(machine, f"busybox sleep {seconds}"), LONG_S, 0.1)


def kill(machine, *words):
    """At once, and no other is started."""
    machine.run("touch /tmp/held-back; kill -9 " + " ".join(pid for w in words for pid in processes(machine, w)))


def lost_bytes_are_seen(tap, machine):
    """A line for the guest that has lost a byte is not run, and an answer that has lost or gained one is no answer"""
    def refused(what, words):
        try:
            what()
        except Failed as failed:
            return words in str(failed)
        return False
    whole = "echo touched >/tmp/touched"
    tap.ok(refused(lambda: machine.say(summed(whole.encode()), whole[:-1]), "damaged"), "a line that is a byte short")
    tap.equal(machine.run("test -e /tmp/touche -o -e /tmp/touched || echo none"), "none", "was not run")
    tap.ok(refused(lambda: machine.run("echo stray >&3"), "has lost something"), "an answer with a line that nobody summed")
    tap.ok(refused(lambda: machine.run("false"), "ended with 1"), "a command that fails")
    tap.equal(len(machine.run("busybox seq 3000")), len("\n".join(map(str, range(1, 3001)))), "a long answer is whole")
    tap.equal(machine.run(r"printf 'one\ntwo'"), "one\ntwo", "and one whose last line has no end")


def drivers_are_found(tap, machine):
    """The kernel's drivers are found as on any board: two policies with their steps, a thermal zone, a battery"""
    with Bed() as bed:
        daemon = started(bed, machine)
        tap.equal(daemon.ended(daemon.job(job(["true"], "free")), LONG_S)["state"], "done", "a job on it ends well")
        board = daemon.get("/devices/board").want(200).json["board"]
        tap.equal([(d["name"], d["kind"], d["hw_min_khz"], d["hw_max_khz"]) for d in board["domains"]],
                  [(f"policy{p}", "cpu", 600000, mhz * 1000) for p, mhz in enumerate(machine.kind.top_mhz)], "its frequencies")
        tap.ok(any(s["name"] == machine.kind.zone and s["value"] == 38000 for s in board["sensors"]), "its temperature", [str(board["sensors"])])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def held_and_put_back(tap, machine):
    """A frequency is held while the job measures, by the registers, and the kernel's files are as before after it"""
    with Bed() as bed:
        before = knobs(machine)
        daemon = started(bed, machine)
        number = daemon.job(job(nap(3), "1GHz"))
        measuring(machine, 3)
        tap.equal(machine.mhz(), [1000, 1000], "1 GHz while it measures")
        tap.equal(daemon.ended(number, LONG_S)["state"], "done", "the job ends well")
        tap.equal(knobs(machine), before, "governors and limits are as before")
        number = daemon.job(job(nap(3), "max"))
        measuring(machine, 3)
        tap.equal(machine.mhz(), machine.kind.top_mhz, "and the highest where that is wanted")
        tap.equal(daemon.ended(number, LONG_S)["state"], "done", "this one ends well, too")
        tap.equal(knobs(machine), before, "and they are as before again")
        tap.equal(bed.one("SELECT max(taint) FROM window"), 0, "nothing is marked")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def waits_until_it_is_cool(tap, machine):
    """A gate on the thermal zone stays shut while it is hot and opens when it is not"""
    with Bed() as bed:
        machine.heat(70)
        daemon = started(bed, machine)
        number = daemon.job(job(["true"], "free", [{"sensor": machine.kind.zone, "below": "50C", "timeout": "10min", "on_timeout": "fail"}]))
        why = until("it says what it waits for", lambda: (lambda w: machine.kind.zone in w and w)(daemon.show(number).get("why") or ""), LONG_S)
        tap.ok("70" in why, "and how hot it is", [why])
        machine.heat(42)
        tap.equal(daemon.ended(number, LONG_S)["state"], "done", "then it measures")
        tap.equal(bed.sql("SELECT outcome, value FROM v_gate WHERE job = ?", number), [("open", 42000)], "the record has what opened it")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def stops_before_the_battery_is_empty(tap, machine):
    """A gate on the battery's level ends a job on a device that runs down, and says what to do; it waits for one that is charged"""
    with Bed() as bed:
        before = knobs(machine)
        machine.kind.charge(machine, 80)
        daemon = started(bed, machine)
        gate = {"sensor": machine.kind.battery, "above": "30%", "timeout": 0, "on_timeout": "fail"}
        text = job(nap(3), "max", [gate])
        text["plan"]["blocks"] = 100
        number = daemon.job(text)
        measuring(machine, 3)
        machine.kind.charge(machine, 20)
        shown = daemon.ended(number, LONG_S)
        tap.equal(shown["state"], "failed", "the job ends before its hundred blocks are over")
        tap.ok(f"{machine.kind.battery} is 20 %, wanted at least 30 %. Charge the device" in shown["reason"], "it says what to do", [shown["reason"]])
        tap.equal(knobs(machine), before, "governors and limits are as before")
        number = daemon.job(job(["true"], "free", [{**gate, "timeout": "10min"}]))
        until("it waits", lambda: machine.kind.battery in (daemon.show(number).get("why") or ""), LONG_S)
        machine.kind.charge(machine, 100)
        tap.equal(daemon.ended(number, LONG_S)["state"], "done", "a job that waits is measured when the device is charged")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def throttled_by_the_kernel(tap, machine):
    """Heat in a window: the kernel lowers the limit, the window is marked with it and repeated, and the repeated one is clean"""
    with Bed() as bed:
        machine.heat(40)
        before = knobs(machine)
        daemon = started(bed, machine)
        number = daemon.job(job(nap(6), "max", repeat=3))
        measuring(machine, 6)
        machine.heat(95)
        until("the kernel has slowed the processors down", lambda: machine.mhz()[0] < 1800, LONG_S, 0.1)
        until("the window is over and marked", lambda: bed.one("SELECT count(*) FROM v_taint WHERE code LIKE 'pin:policy%'"), LONG_S)
        machine.heat(40)
        until("the kernel has given them back", lambda: int(machine.run("cat " + POLICY % 0 + "cpuinfo_max_freq")) and
              machine.run("cat /sys/class/thermal/cooling_device*/cur_state").count("0") > 0, LONG_S, 0.1)
        tap.equal(daemon.ended(number, LONG_S)["state"], "done", "the job ends well")
        marks = bed.sql("SELECT DISTINCT code, bound FROM v_taint WHERE code = 'pin:policy0.max'")
        tap.equal(marks, [("pin:policy0.max", 1800000)], "the limit that moved is named, with what it should have been")
        tap.ok(bed.one("SELECT max(value) FROM v_taint WHERE code = 'pin:policy0.max'") < 1800000, "and with what it was")
        tap.ok(bed.one("SELECT count(*) FROM window WHERE taint = 0") == 1, "a clean window at the end", [str(bed.sql("SELECT id, taint FROM window"))])
        until("the files are as before", lambda: knobs(machine) == before, LONG_S, 0.2)
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def agent_is_killed(tap, machine):
    """kill -9 of the agent, then of agent and supervisor, while a frequency is held: the files are as before soon, or at the next start"""
    with Bed() as bed:
        before = knobs(machine)
        daemon = started(bed, machine)
        number = daemon.job(job(nap(600), "600MHz"))
        measuring(machine, 600)
        tap.equal(machine.mhz(), [600, 600], "it is held")
        kill(machine, AGENT)
        until("the supervisor has put all back", lambda: knobs(machine) == before, LONG_S, 0.2)
        tap.equal(processes(machine, "busybox sleep 600"), [], "and ended what the agent had started")
        machine.run("rm /tmp/held-back")
        measuring(machine, 600)
        tap.equal(machine.mhz(), [600, 600], "the job goes on, held again")
        kill(machine, SUPERVISOR, AGENT)
        tap.ok(knobs(machine) != before, "both are killed: nobody is there to put it back")
        daemon.ask("POST", f"/jobs/{number}:cancel").want(200)
        machine.run("rm /tmp/held-back")
        until("the next start puts all back", lambda: knobs(machine) == before, LONG_S, 0.2)
        tap.equal(daemon.ended(number, LONG_S)["state"], "cancelled", "the job ends as it was told")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def power_is_cut(tap, machine):
    """The plug is pulled while a frequency is held: after the reboot nothing is held and nothing of the old boot is written, and the job goes on"""
    with Bed() as bed:
        before = knobs(machine)
        daemon = started(bed, machine)
        number = daemon.job(job(nap(600), "600MHz"))
        measuring(machine, 600)
        tap.ok(int(machine.run("wc -c </state/agent/control.journal")) > 0, "what stood there is on the disk")
        daemon.kill()
        machine.run("sync; echo powersave >" + POLICY % 1 + "scaling_governor")
        machine.power_cut()
        machine.heat(40)
        tap.equal(knobs(machine), before, "the new boot has its own settings")
        tap.ok("schedutil" in machine.run("cat " + POLICY % 1 + "scaling_governor"), "also where somebody had changed them")
        daemon = started(bed, machine)
        measuring(machine, 600)
        tap.equal(machine.mhz(), [600, 600], "the job is taken up again, held again")
        daemon.ask("POST", f"/jobs/{number}:cancel").want(200)
        tap.equal(daemon.ended(number, LONG_S)["state"], "cancelled", "the job ends as it was told")
        until("and all is put back", lambda: knobs(machine) == before, LONG_S, 0.2)
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def kept_over_a_power_cut(tap, machine):
    """The plug is pulled between CLOSED and ACK: what was measured is on the disk, and is stored once, with the boot in which it was measured"""
    with Bed() as bed:
        daemon = started(bed, machine)
        text = job(nap(), "free")
        text["plan"]["window"]["iterations"] = 2
        text["plan"]["window"]["max"] = "5s"
        text["plan"]["blocks"] = 2
        number = daemon.job(text)
        reach(daemon, "window", 2)
        locked = bed.lock()
        reach(daemon, "evidence", 2)
        daemon.kill()
        unlock(locked)
        machine.power_cut()
        copy = os.path.join(bed.path, "copy")
        os.mkdir(copy)
        with open(os.path.join(copy, "spool.000"), "wb") as f:  # nobody has asked the agent of the new boot yet
            f.write(base64.b64decode(machine.run("head -c 60000 /state/agent/spool.000 | base64")))
        ((_, run), rows), = spooled(copy).items()
        tap.equal((len(rows), stored(bed, run)), (2, {}), "two iterations are on the guest's disk, and not in the database")
        daemon = started(bed, machine)
        tap.equal(daemon.ended(number, LONG_S)["state"], "done", "the job goes on to its end")
        tap.equal(stored(bed, run), rows, "they are stored as they were kept")
        tap.equal(bed.sql("SELECT r.taint & 256, b.id FROM run r JOIN session s ON s.id = r.session_id JOIN boot b ON b.id = s.boot_id "
                          "WHERE lower(hex(r.uid)) = ?", run), [(256, 1)], "their run is marked as interrupted, and of the first boot")
        tap.equal(bed.one("SELECT count(*) FROM boot"), 2, "the others are of the second")
        tap.equal(whole(bed, number), [], "nothing is missing or there twice")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        until("nothing is kept any more", lambda: machine.run("ls /state/agent | grep -c spool", None) == "0", LONG_S, 0.2)


def without_it(reason, wanted=False):
    """A machine without QEMU skips all, and where it was asked for that is a failure. Packages that cannot be downloaded are nobody's."""
    tap = Tap()
    if wanted:
        tap.ok(False, "a board with a real kernel", [reason])
    else:
        tap.skip("a board with a real kernel", reason)
    sys.exit(tap.done())


def in_guests(kinds, cases, missing=""):
    """Runs the cases, functions of the Tap and one machine of each kind; missing: what else there is none without."""
    missing = next(filter(None, map(why_not, kinds)), missing)
    if missing:
        without_it(missing, os.environ.get("QS_KERNEL_BED") == "wanted")
    with Bed() as world:
        try:
            machines = [Machine(world, kind) for kind in kinds]
        except NoPackages as missing:
            without_it(str(missing))
        with contextlib.ExitStack() as booted:
            for machine in machines:
                booted.enter_context(machine)
            run_cases(*(functools.wraps(case)(lambda tap, case=case: case(tap, *machines)) for case in cases))


def main():
    kind = KINDS[sys.argv.pop(1)]()  # what follows are names of cases
    battery = (stops_before_the_battery_is_empty,) if kind.battery else ()
    cases = (lost_bytes_are_seen, drivers_are_found, held_and_put_back, waits_until_it_is_cool, *battery, throttled_by_the_kernel, agent_is_killed,
             power_is_cut, kept_over_a_power_cut)
    in_guests([kind], cases)


if __name__ == "__main__":
    main()
