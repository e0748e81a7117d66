#!/usr/bin/env python3
"""What Quiesce adds to USB, in an emulated guest that has both ends of the cable (tests/beds/usb): our link of kind usb and the agent's relay against
libusb and FunctionFS alone, and the real daemon and agent against those; from the plug, a cut or a killed agent to ready against what libusb sees of it;
and from the plug to the first verdict of one command. Everything is emulated, both ends on the same processor: only ratios mean anything."""
import base64
import gzip
import os
import random
import re
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", place) for place in ("e2e", "beds/usb", "beds/kernel")]

from guest import UsbGuest
from lib import Bed, until
from links import JOB, PUSHED, line
from machine import Machine, why_not
from parts import NoPackages
from test_usb import GADGET, Daemon, fresh, kept, processes

NEAR, FAR = os.environ["QS_USB_NEAR"], os.environ["QS_USB_FAR"]
ROUNDS, TRIPS, MIB, LEAST_OF, PLUGS = 3, 100, 8, 8, 3
SIDES = {"raw": "BOARD1", "link": "BOARD2"}
READY = "device=BOARD0 state=ready"
STEPS = (f"trips:1:{TRIPS}", f"trips:100:{TRIPS}", f"out:{MIB}", f"in:{MIB}")


class BenchGuest(UsbGuest):
    """With the programs of both ends, and a clock that counts instructions: one processor, a thousand million a second, and no time passes while it
    has nothing to do but wait. What else this machine does, and how slow the emulation is, is in no figure then."""
    processors, emulation = 1, "tcg,thread=single"

    def arguments(self, machine):
        return [*super().arguments(machine), "-icount", "shift=0,sleep=off"]

    def fill(self, archive):
        super().fill(archive)
        archive.program("bin/usb_near", NEAR)
        archive.program("bin/usb_far", FAR)


def cables(machine):
    """Both ways side by side: what each step took, in ns: {side: [rows of a step, one a round]}."""
    for number, (side, serial) in enumerate(SIDES.items(), 1):
        machine.run(f"usb_far {'raw' if side == 'raw' else 'relay'} dummy_udc.{number} {serial} >/tmp/far{number}.log 2>&1 &")
        until(f"{serial} is on the bus", lambda serial=serial: serial in machine.run("cat /sys/bus/usb/devices/*/serial"), 60, 0.1)
    draw, found = random.Random(1), {side: [[] for _ in STEPS] for side in SIDES}
    for _ in range(ROUNDS):
        for side in draw.sample(list(SIDES), len(SIDES)):
            said = machine.run(f"usb_near {side} {SIDES[side]} {' '.join(STEPS)}").splitlines()
            for rows, words in zip(found[side], said):
                rows.append([int(n) for n in words.split()[1:]])
    return found


def show_cables(found):
    for i, bytes_ in enumerate((1, 100)):
        for name, pick in (("median", statistics.median), ("90 %", lambda ns: statistics.quantiles(ns, n=10)[-1])):
            sides = [[pick(ns) for ns in found[side][i]] for side in ("link", "raw")]
            line(f"round trip of {bytes_} bytes, {name}", *sides, "ms", 1e-6, "raw")
    for i, name in enumerate(("to the device", "from it"), 2):
        sides = [[(MIB << 20) / ns[0] for ns in found[side][i]] for side in ("link", "raw")]
        line(f"throughput {name}", *sides, "MB/s", 1e3, "raw")


def real_trips(machine, bed, raw):
    least = []
    for _ in range(ROUNDS):
        daemon = Daemon(bed, machine, devices={"BOARD0": {"link": "usb", "address": "BOARD0"}})
        daemon.ready_board("BOARD0")
        least.append(until("its clock is known", lambda: daemon.devices()["BOARD0"].get("clock_rtt_ns")))
        daemon.stop()
    line(f"daemon and agent: least of {LEAST_OF} round trips", least, [min(ns[:LEAST_OF]) for ns in raw], "ms", 1e-6, "raw")


def pushes(machine, bed, raw):
    """Of a file that is new there, by USB and to an agent that is the daemon's own child: what is not the link's is in both."""
    exec_ = {"link": "exec", "argv": ["quiesce-agent", "--stdio", "--cache", "/tmp/cache-here"]}
    daemon = Daemon(bed, machine, devices={"BOARD0": {"link": "usb", "address": "BOARD0"}, "here": exec_})
    for name in ("BOARD0", "here"):
        daemon.ready_board(name)
    draw, jobs = random.Random(1), {"BOARD0": [], "here": []}
    for _ in range(ROUNDS):
        for name in draw.sample(list(jobs), len(jobs)):
            machine.run(f"head -c {MIB << 20} /dev/urandom >{daemon.folder}/big")
            number = daemon.job({**JOB, "devices": {"where": f'name == "{name}"'}})
            jobs[name].append(number)
            if daemon.ended(number)["state"] != "done":
                raise RuntimeError(str(daemon.show(number)))
    daemon.stop()
    rates = {name: [(MIB << 20) / bed.one(PUSHED.replace("(SELECT max(id) FROM job)", "?"), number) for number in numbers] for name, numbers in jobs.items()}
    line(f"daemon and agent: push of {MIB} MiB", rates["BOARD0"], [(MIB << 20) / ns for ns in raw], "MB/s", 1e3, "raw")
    line("  and against an agent that is the daemon's child", rates["BOARD0"], rates["here"], "MB/s", 1e3, "exec")


def watched(machine, daemon, command):
    """(ns until the device is ready, ns until libusb has seen it) after the command."""
    said = machine.run(f"usb_near watch {daemon.folder}/log '{READY}' '{command}'")
    seen, ready = (int(re.search(rf"^{word} (-?\d+)$", said, re.M)[1]) for word in ("seen", "ready"))
    if min(seen, ready) < 0:
        raise RuntimeError(f"{command}: {said}\n" + machine.run(f"tail -n 30 {daemon.folder}/log"))
    return ready, seen


def plugged(machine, bed):
    plug, out = (f"echo {what} >{GADGET % 0}/UDC" for what in ("dummy_udc.0", ""))
    daemon = Daemon(bed, machine, options="--log-level debug")
    daemon.ready_board("BOARD0")
    gone = lambda: daemon.devices().get("BOARD0", {}).get("state") not in ("ready", "busy")  # noqa: E731
    first, again, killed = [], [], []
    for _ in range(PLUGS):
        machine.run(out)
        until("it is missed", gone, 60, 0.2)
        machine.run("sleep 3")  # long enough out
        first.append(watched(machine, daemon, plug))
        machine.run("sleep 1")
        again.append(watched(machine, daemon, f"{out}; sleep 0.05; {plug}"))
        machine.run("sleep 1")
        killed.append(watched(machine, daemon, f"kill -9 {processes(machine, 'quiesce-agent')[0]}"))
        machine.run("sleep 1")
    daemon.stop()
    for what, pairs in (("plugged to ready", first), ("pulled and put back at once, to ready", again), ("agent killed (restarted after 0.2 s) to ready", killed)):
        line(what, [p[0] for p in pairs], [p[1] for p in pairs], "s", 1e-9, "seen by libusb")


def first_verdict(machine, bed, what):
    """From the plug to the end of one command, by an embedded daemon, without any configuration; and what its time went into, by the events of its job."""
    machine.run(f"echo >{GADGET % 0}/UDC; mkdir -p /tmp/first; sleep 3")
    run = "quiesce run --on usb --max-time 6s --a 'busybox sha256sum /bin/busybox' --b 'busybox md5sum /bin/busybox'"
    said = machine.run("export HOME=/tmp/first; cd /tmp/first; usb_near now; "
                       f"echo dummy_udc.0 >{GADGET % 0}/UDC; {run} >said 2>&1; echo $?; usb_near now; cat said")
    before, status, after, *text = said.splitlines()
    if status != "0":
        raise RuntimeError(said)
    until("the embedded daemon has ended", lambda: not processes(machine, "quiesced"), 60, 0.2)
    bed.db = bed.path + "/first.db"
    with open(bed.db, "wb") as f:
        f.write(gzip.decompress(base64.b64decode(machine.run("gzip -c $(find /tmp/first -name quiesce.db) | base64"))))
    job = bed.one("SELECT max(id) FROM job")
    (started, ended), = bed.sql("SELECT min(started_wall_ns), max(ended_wall_ns) FROM run WHERE job_id = ?", job)
    begun, pushing = (bed.one("SELECT min(wall_ns) FROM event WHERE job_id = ? AND kind = ?", job, kind) for kind in ("job.start", "job.push"))
    marks = [int(before), begun, pushing, started, ended, int(after)]
    seconds = [(b - a) / 1e9 for a, b in zip(marks, marks[1:])]
    took, windows = sum(seconds), bed.one("SELECT sum(length_ns) / 1e9 FROM v_window WHERE job = ?", job)
    names = ("until the job begins", "trying what the board can", "files and clocks", "runs with their gates", "putting back, the answer")
    print(f"plugged in to the verdict, {what}: {took:.1f} s, measuring {100 * seconds[3] / took:.0f} % (windows alone {windows:.1f} s); "
          + ", ".join(f"{name} {s:.1f}" for name, s in zip(names, seconds)))
    print("".join(f"    {line.strip()}\n" for line in text if re.search("times as long as |Improvement|Regression|Equivalent|^ *job ", line)), end="", flush=True)


def main():
    kind = BenchGuest()
    missing = why_not(kind)
    if missing:
        print(f"no figures: {missing}")
        sys.exit(77)
    with Bed() as world:
        try:
            machine = Machine(world, kind)
        except NoPackages as why:
            print(f"no figures: {why}")
            sys.exit(77)
        with machine:
            print("emulated guest: both ends of the cable on one processor of a thousand million instructions a second; only the ratios count", flush=True)
            found = cables(machine)
            show_cables(found)
            machine.run("kill $(named qs-usb) $(named usb_far); true")
            fresh(machine)
            kept(machine, 0)
            with Bed() as bed:
                real_trips(machine, bed, found["raw"][0])
                pushes(machine, bed, [ns[0] for ns in found["raw"][2]])
                plugged(machine, bed)
                for what in ("a board that is new", "the next time"):
                    first_verdict(machine, bed, what)


if __name__ == "__main__":
    main()
