#!/usr/bin/env python3
"""Phones on USB cables (cable.py): a real adbd behind FunctionFS, a real server of adb that reaches it over usbcore and usbfs, and the daemon and the
command line as they are, all in one guest. Whatever is between the job and the phone is pulled out, killed or forbidden."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e"))
from lib import Bed, Failed, until  # noqa: E402  (the path has to be known first)
from cable import NEWER, RULES, PhoneGuest  # noqa: E402
from guest import QUIESCE, QUIESCED  # noqa: E402
from test_kernel import in_guests, knobs, measuring, without_it  # noqa: E402
import test_usb  # noqa: E402
from test_usb import LONG_S, Daemon, bring, each_once, ended_well, nap, processes  # noqa: E402

FIND = {"discover": ["adb"]}
CUTS = 3
MIB = 8
AGENT = "quiesce-agent-."  # the name of its process, which the kernel cuts off behind its hash's first digit
AWAY = "`adb devices` does not show it: check its cable, and that USB debugging is on"
OFFLINE = "adb: device offline: plug it in again, or `adb reconnect offline`; where that does not help, switch USB debugging off and on"
NO_SERVER = "no adb server is running on this machine: `adb start-server` starts one"
FORBIDDEN = "this user may not open its USB device: install the package android-sdk-platform-tools-common (udev rules), and plug it in again"


def fresh(machine):
    """Both phones are off and empty, and no server runs."""
    machine.run(f"for n in 0 1; do [ ! -e /tmp/adbd-$n ] || off $n; done; [ ! -e /tmp/server ] || end_server; kill $(named quiesced) $(named {AGENT}) 2>/dev/null; true")
    until("nothing runs any more", lambda: not processes(machine, AGENT) and not processes(machine, "quiesced"), LONG_S, 0.1)
    machine.run("rm -rf /phones/*/data/local/tmp/* /tmp/farm* /tmp/run")


def job(argv, **more):
    """A window that something disturbed is not measured again: what is stored is what was asked for."""
    document = test_usb.job(argv, link="adb", **more)
    document["conditions"]["repeat_tainted"] = 0
    return document


def serve(machine, adb="adb", user="root"):
    machine.run(f"serve {user} {adb}")


def listed(machine):
    """What the server says that there is: {serial: (state and more, place)}."""
    return dict(re.findall(r"^(PHONE\d|\(no serial number\)) +\w.* usb:(\S+)", machine.run("adb devices -l"), re.MULTILINE))


def why(daemon, name, words):
    """Waits until a device says so."""
    try:
        until(f"{name} says so", lambda: words in (daemon.devices().get(name, {}).get("why") or ""), LONG_S, 0.2)
    except Failed as failed:
        raise Failed(f"{failed}: {words}; it says {daemon.devices()}") from None


def pushed(machine, phone=0):
    """The agents that lie on a phone, and parts of one."""
    return [name for name in machine.run(f"ls /phones/{phone}/data/local/tmp").split() if name.startswith("quiesce-agent-")]


def the_agent(machine):
    """The number of its process."""
    (number,) = processes(machine, AGENT)
    return number


def seconds(machine):
    return float(machine.run("cut -d' ' -f1 /proc/uptime"))


def one_command(tap, machine):
    """A phone that is plugged in gives a verdict with one command and no configuration"""
    fresh(machine)
    with Bed() as bed:
        serve(machine)
        machine.run("mkdir /tmp/run; for n in old new; do printf '#!/bin/sh\\nexit 0 # %s\\n' $n >/tmp/run/$n; done; chmod 755 /tmp/run/*; on 0")
        said = machine.run("(cd /tmp/run; HOME=/tmp/run quiesce run --on --runs 6 --iterations 1 --warmup 1 --a ./old --b ./new 2>&1)")
        words = " ".join(said.split())
        tap.ok("takes along ./old" in words and "pushing 2 files" in words and "b takes" in words, "it says what goes along, and answers", said.splitlines())
        tap.equal(len(pushed(machine)), 1, "the agent lies on the phone, whole")
        until("the daemon that it has started has ended", lambda: not processes(machine, "quiesced"), LONG_S, 0.1)
        bring(bed, machine, "/tmp/run/.local/state/quiesce/quiesce.db")
        tap.equal(bed.sql("SELECT device, count(*) FROM v_run WHERE block > 0 AND state = 'done' GROUP BY device"), [("PHONE0", 12)], "all its runs are the phone's")


def by_both_servers(tap, machine):
    """A whole job by each of two versions of adb's server: the phone is found, given the agent, its clocks are held by the registers, all is put back"""
    fresh(machine)
    with Bed() as bed:
        before, numbers = knobs(machine), []
        serve(machine)
        daemon = Daemon(bed, machine, **FIND)
        began = seconds(machine)
        machine.run("on 0")
        daemon.ready_board("PHONE0")
        ready_s = seconds(machine) - began
        tap.equal(listed(machine), {"PHONE0": "1-1"}, "adb shows it at its place on the bus")
        tap.equal([(d["link"], d["labels"]) for name, d in daemon.devices().items() if name != "local"], [("adb", ["serial=PHONE0"])], "it is the device that was found")
        machine.run(f"dd if=/dev/urandom of=/tmp/data bs=1048576 count={MIB} 2>/dev/null")
        began = seconds(machine)
        machine.run("adb push /tmp/data /data/local/tmp/by-hand")
        by_hand_s = seconds(machine) - began
        numbers.append(daemon.job(job(["busybox", "cmp", "data", "/data/local/tmp/by-hand"], blocks=1, inputs={"data": "/tmp/data"})))
        ended_well(tap, daemon.ended(numbers[-1]), "a file that we push is what adb pushes")
        for adb in ("adb", NEWER):
            if adb != "adb":
                machine.run("end_server")
                why(daemon, "PHONE0", NO_SERVER)
                serve(machine, adb)
                daemon.ready_board("PHONE0")
            numbers.append(daemon.job(job(nap(1), blocks=2, frequency="1GHz")))
            measuring(machine, 1)
            tap.equal(machine.mhz(), [1000, 1000], "1 GHz while it measures")
            ended_well(tap, daemon.ended(numbers[-1]), "the job ends well")
            tap.equal(knobs(machine), before, "governors and limits are as before")
        tap.equal(len(pushed(machine)), 1, "one agent lies on the phone, and no part of one")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        for number, runs in zip(numbers, (1, 2, 2), strict=True):
            each_once(tap, bed, number, runs)
        ours_s = bed.one("SELECT body ->> 'elapsed_ns' FROM event WHERE kind = 'job.pushed'") / 1e9
        tap.say([f"from switching it on to ready, with the agent pushed: {ready_s:.1f} s",
                 f"{MIB} MiB by adb push: {by_hand_s:.2f} s, {MIB / by_hand_s:.1f} MiB/s; by a job: {ours_s:.2f} s, {MIB / ours_s:.1f} MiB/s"])


def replugged(tap, machine):
    """The cable is pulled and put back while a job runs: what adb makes of it is told, the job waits, and goes on with a new adbd"""
    fresh(machine)
    with Bed() as bed:
        serve(machine)
        machine.run("on 0")
        daemon = Daemon(bed, machine, **FIND)
        daemon.ready_board("PHONE0")
        agent = the_agent(machine)
        number = daemon.job(job(nap(1), blocks=CUTS))
        for _ in range(CUTS):
            measuring(machine, 1)
            machine.run("unplug 0")
            why(daemon, "PHONE0", AWAY)
            machine.run("plug 0")
            why(daemon, "PHONE0", OFFLINE)
            tap.equal(daemon.show(number)["state"], "running", "adb reaches this phone's adbd no more, and says so; the job waits")
            machine.run("end_adbd 0")
            daemon.ready_board("PHONE0")
        ended_well(tap, daemon.ended(number), "the job ends well")
        tap.equal(the_agent(machine), agent, "the agent was the same all the time")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        each_once(tap, bed, number, CUTS)
        tap.ok(bed.one("SELECT count(*) FROM session") > CUTS, "each time in a session", [str(bed.sql("SELECT * FROM session"))])
        tap.equal(bed.one("SELECT count(*) FROM device WHERE name <> 'local'"), 1, "it was one device all the time")


def killed_while_measuring(tap, machine):
    """kill -9 of adbd, adb's server and the agent in windows: the job goes on, and each iteration is stored once"""
    fresh(machine)
    with Bed() as bed:
        serve(machine)
        machine.run("on 0")
        daemon = Daemon(bed, machine, **FIND)
        daemon.ready_board("PHONE0")
        agent = the_agent(machine)
        number = daemon.job(job(nap(1), blocks=3))
        measuring(machine, 1)
        first = processes(machine, "adbd")
        machine.run("end_adbd 0")
        until("another adbd runs", lambda: (p := processes(machine, "adbd")) and p != first, LONG_S, 0.1)
        daemon.ready_board("PHONE0")
        measuring(machine, 1)
        running = len(processes(machine, "adb"))
        machine.run("end_server")
        why(daemon, "PHONE0", NO_SERVER)
        tap.equal((running, processes(machine, "adb")), (1, []), "nobody starts adb's server for its user")
        serve(machine)
        daemon.ready_board("PHONE0")
        tap.equal(the_agent(machine), agent, "the agent has outlived both")
        measuring(machine, 1)
        machine.run("kill -9 " + agent)
        until("another agent runs", lambda: (p := processes(machine, AGENT)) and p != [agent], LONG_S, 0.1)
        ended_well(tap, daemon.ended(number), "the job ends well")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        each_once(tap, bed, number, 3)
        tap.ok(bed.one("SELECT count(*) FROM run WHERE state <> 'done'") >= 3, "runs were lost", [str(bed.sql("SELECT state, count(*) FROM run GROUP BY state"))])


def ordinary_user(tap, machine):
    """An ordinary user who may not open the phone is told which package helps, and with its rules measures"""
    fresh(machine)
    with Bed() as bed:
        serve(machine, user="person")
        machine.run("on 0")
        daemon = Daemon(bed, machine, user="person", **FIND)
        why(daemon, "PHONE0", FORBIDDEN)
        tap.equal(daemon.devices()["PHONE0"]["state"], "down", "it cannot be used")
        machine.run(f"cp /share/{RULES} /etc/udev/rules.d/; udevadm control --reload; end_adbd 0")
        daemon.ready_board("PHONE0")
        number = daemon.job(job(["true"], blocks=2))
        ended_well(tap, daemon.ended(number), "and measures there")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        each_once(tap, bed, number, 2)
        machine.run(f"rm /etc/udev/rules.d/{RULES}; udevadm control --reload")


def one_cable(tap, machine):
    """A phone that was found hangs on the hub of its place: another device of that hub measures before or after it"""
    fresh(machine)
    with Bed() as bed:
        serve(machine)
        machine.run("on 0; on 1")
        daemon = Daemon(bed, machine, devices={"second": {"link": "adb", "address": "PHONE1", "hub": "usb:1"}}, **FIND)
        daemon.ready_board("PHONE0")
        daemon.ready_board("second")
        tap.equal(listed(machine), {"PHONE0": "1-1", "PHONE1": "2-1"}, "each at its place")
        number = daemon.job(job(nap(0.5), blocks=3))
        ended_well(tap, daemon.ended(number), "a job on both ends well")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        each_once(tap, bed, number, 6)
        windows = bed.sql("SELECT w.opened_ns, w.closed_ns, r.device FROM window w JOIN v_run r ON r.id = w.run_id WHERE r.block > 0 ORDER BY w.opened_ns")
        tap.equal([(a, b) for a, b in zip(windows, windows[1:]) if b[0] < a[1]], [], "no two windows at once")
        held = bed.sql("SELECT DISTINCT body ->> 'why' FROM event WHERE kind = 'window.held' ORDER BY 1")
        tap.ok(("PHONE0 measures on hub usb:1",) in held or ("second measures on hub usb:1",) in held, "because one waits for the other", [str(held)])


def without_a_serial_number(tap, machine):
    """A phone that says no serial number is told by its place on the bus, and measured"""
    fresh(machine)
    with Bed() as bed:
        serve(machine)
        machine.run("named_as 0 ''; on 0")
        daemon = Daemon(bed, machine, **FIND)
        daemon.ready_board("usb-1-1")
        tap.equal(listed(machine), {"(no serial number)": "1-1"}, "this is how adb says it")
        number = daemon.job(job(["true"], blocks=2))
        ended_well(tap, daemon.ended(number), "it measures")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        each_once(tap, bed, number, 2)
        machine.run("off 0; named_as 0 PHONE0")


def main():
    missing = next((f"{path or 'a program for the guest'} is not built" for path in (QUIESCED, QUIESCE) if not os.path.exists(path)), "")
    if os.environ.get("QS_SANITIZED"):
        without_it("the programs of this build have sanitizers, whose memory a guest does not have; ./dev test --slow runs it with the release")
    in_guests([PhoneGuest()], (one_command, by_both_servers, replugged, killed_while_measuring, ordinary_user, one_cable, without_a_serial_number), missing)


if __name__ == "__main__":
    main()
