#!/usr/bin/env python3
"""A board on a USB cable (guest.py): the kernel's own stack between the daemon and an agent that was started with --usb."""
import base64
import gzip
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e"))
from lib import SANITIZER, Bed, Failed, until, whole  # noqa: E402  (the path has to be known first)
from guest import HOST, QUIESCE, QUIESCED, SANITIZED, UsbGuest  # noqa: E402
from test_kernel import in_guests, knobs  # noqa: E402

LONG_S = 240  # emulated
JOB_S = LONG_S - 20  # what is waited for in the guest, whose shell has to answer
CUTS_OF_A_JOB = 3  # a job gives a block up that was interrupted five times
NONCE, OTHER = "000102030405060708090a0b0c0d0e0f", "f0e0d0c0b0a090807060504030201000"
GADGETS = "/sys/kernel/config/usb_gadget"
GADGET = GADGETS + "/quiesce-dummy_udc.%d"


def fresh(machine):
    """No agent, no gadget, and the four controllers at high speed."""
    machine.run("touch /tmp/held-0 /tmp/held-1 /tmp/held-2 /tmp/held-3; kill $(named quiesced) $(named qs-usb) 2>/dev/null; true")
    until("nobody starts one again", lambda: machine.run("ls /tmp | grep -c kept-; true") == "0", LONG_S, 0.2)
    until("all agents have ended", lambda: not processes(machine, "quiesce-agent") and not processes(machine, "qs-usb"), LONG_S, 0.2)
    until("and taken their gadgets along", lambda: machine.run(f"ls {GADGETS} 2>/dev/null | wc -l") == "0", LONG_S, 0.2)
    machine.run("rm -rf /tmp/cache* /tmp/farm* /tmp/agent* /tmp/held* /state/agent*")


def processes(machine, name):
    """The numbers of those of this name: the agent, its supervisor, its relay and the daemon have one each."""
    return machine.run(f"named {name}").split()


def kept(machine, *boards):
    """An agent at each of these controllers, on the bus."""
    for board in boards:
        machine.run(f"agent {board}")
    for board in boards:
        present(machine, board)


def serials(machine):
    return machine.run("cat /sys/bus/usb/devices/*/serial").split()


def present(machine, board):
    until(f"BOARD{board} is on the bus", lambda: f"BOARD{board}" in serials(machine), LONG_S, 0.1)


def host(machine, *steps, board=0):
    """What became of each step of a host by hand (host.c)."""
    machine.run("udevadm settle -t 20")
    return machine.run(f"host BOARD{board} " + " ".join(steps)).splitlines()


def last(lines):
    return [line.rpartition(": ")[2] for line in lines]


def other_requests_are_stalled(tap, machine):
    """A control request that is not exactly one of two is stalled, whatever it announces, and the next one is heard"""
    fresh(machine)
    kept(machine, 0)
    strange = ["41:51:3:0:0", "41:51:0:0:10", "41:51:1:0:f", "41:51:1:0:11", "41:51:1:0:fff", "41:51:2:0:1", "41:51:101:0:10", "c1:51:1:0:10",
               "c1:51:2:0:0", "41:52:1:0:10", "21:51:1:0:10", "a1:51:1:0:fff", "41:0:0:0:0", "c1:ff:ffff:0:fff"]
    tap.equal(last(host(machine, *("control:" + s for s in strange))), ["stalled"] * len(strange), "these")
    tap.equal(last(host(machine, "begin:" + NONCE, "nonce:" + NONCE, "in:2000", "end")), ["16", "16", "16", NONCE, "0"], "a session begins and ends")
    host(machine, "begin:" + NONCE, "nonce:" + NONCE, "in:2000")
    count = f"grep ctxt /proc/{processes(machine, 'qs-usb')[0]}/status"
    tap.ok(machine.run(f"a=$({count}); sleep 3; b=$({count}); [ \"$a\" = \"$b\" ] && echo asleep") == "asleep", "in a session in which nothing flows the relay never wakes up")


def old_bytes_are_dropped(tap, machine):
    """What is left over of an earlier session is no part of the next one, either way"""
    fresh(machine)
    kept(machine, 0)
    tap.equal(last(host(machine, "out:300:51")), ["timeout"], "before a session nothing is taken")
    said = host(machine, "begin:" + NONCE, "out:100:41", "nonce:" + OTHER, "nonce:" + NONCE, "in:2000", "end", "out:300:51")
    tap.equal(last(said), ["16", "100", "16", "16", "16", NONCE, "0", "300"], "the first session hears its nonce, and what follows it is dropped")
    # The agent answers the first foreign bytes, and nobody fetches that; the second session's first transfer may be it, and then comes its nonce.
    said = host(machine, "begin:" + NONCE, "nonce:" + NONCE, "in:2000", "out:5000:51", "begin:" + OTHER, "out:20:42", "nonce:" + NONCE, "nonce:" + OTHER, "in:2000",
                "in:2000")
    heard = [line for line in said if ":" not in line]
    tap.ok(heard[0] == NONCE and heard.count(OTHER) == 1 and len(heard) <= 3, "each session has its own nonce once", said)
    tap.ok(heard[1] == OTHER or not heard[1].startswith(NONCE), "and none of another", said)
    with Bed() as bed:
        daemon = Daemon(bed, machine)
        daemon.ready_board("BOARD0")
        tap.equal(daemon.stop(), 0, "the daemon's own session works after all that")


def killed_agents(tap, machine):
    """kill -9 of agent, supervisor or relay: the next agent takes down what is left, and the board is back"""
    fresh(machine)
    machine.run(f"mkdir -p {GADGETS}/quiesce-mine/functions/ffs.other")
    kept(machine, 0)
    for name in ("quiesce-agent", "qs-supervisor", "qs-usb"):
        before = processes(machine, name)
        machine.run("kill -9 " + " ".join(before[:1]))
        until(f"{name} is another process", lambda: (p := processes(machine, name)) and p != before, LONG_S, 0.1)
        present(machine, 0)
        tap.equal(last(host(machine, "begin:" + NONCE, "nonce:" + NONCE, "in:2000")), ["16", "16", "16", NONCE], f"killed {name}: a session begins")
    machine.run(f"touch /tmp/held-0; kill -9 {processes(machine, 'qs-usb')[0]}")
    until("its agent ends, too", lambda: not processes(machine, "quiesce-agent"), LONG_S, 0.1)
    tap.ok("quiesce-dummy_udc.0" in machine.run(f"ls {GADGETS}"), "a killed relay leaves its gadget")
    tap.ok("BOARD0" not in serials(machine), "which is not on the bus")
    machine.run("quiesce-agent --usb dummy_udc.1 --serial-number BOARD1 2>/tmp/one.log &")
    present(machine, 1)
    tap.equal(sorted(machine.run(f"ls {GADGETS}").split()), ["quiesce-dummy_udc.1", "quiesce-mine"], "the agent of another controller takes it down")
    machine.run("kill " + processes(machine, "qs-usb")[0])
    until("SIGTERM takes all down", lambda: machine.run(f"ls {GADGETS}") == "quiesce-mine", LONG_S, 0.1)
    tap.equal(machine.run("ls -d /dev/quiesce-* 2>/dev/null; grep functionfs /proc/mounts; true"), "", "nothing is mounted any more")
    tap.ok(machine.run(f"ls {GADGETS}/quiesce-mine/functions") == "ffs.other", "somebody else's gadget was not touched")
    machine.run(f"rmdir {GADGETS}/quiesce-mine/functions/ffs.other {GADGETS}/quiesce-mine")


def refused(machine, *options, user=""):
    command = "quiesce-agent --usb " + " ".join(options)
    return machine.run(f"su person -c '{command}'" if user else command, 3)


def it_says_what_is_missing(tap, machine):
    """A controller that is taken or unknown, no rights: an error that says by whom, or what to do, and nothing stays"""
    fresh(machine)
    kept(machine, 0)
    tap.ok("dummy_udc.0 is taken by the gadget 'quiesce-dummy_udc.0'; free it with: echo > " + GADGET % 0 + "/UDC" in refused(machine, "dummy_udc.0"), "taken")
    tap.ok(re.search(r"there is no USB device controller 'dummy_udc.9'; there are: (dummy_udc.[0-3](, )?){4}\n?$", refused(machine, "dummy_udc.9")), "unknown")
    said = refused(machine, "dummy_udc.1", user="person")
    tap.ok("Permission denied; --usb needs the rights of root" in said, "no rights", [said])
    tap.equal(machine.run(f"ls {GADGETS}"), "quiesce-dummy_udc.0", "nothing was made")
    machine.run("quiesce-agent --usb >/tmp/any.log 2>&1 & sleep 1")
    until("the first free one is taken", lambda: "on dummy_udc.1" in machine.run("cat /tmp/any.log"), LONG_S, 0.1)
    number = re.search(r"is the USB device ([0-9a-f]{16}) on", machine.run("cat /tmp/any.log"))
    tap.ok(number and number[1] in serials(machine), "with a serial number that is made of the machine's id")
    tap.equal(machine.run("cat /sys/bus/usb/devices/*/idVendor").split().count("1d6b"), 6, "and the ids of four hubs and two boards")


def bring(bed, machine, path):
    """A database of the guest, whose daemon has ended, is the bed's."""
    packed = machine.run(f"gzip -c {path} | base64")
    bed.db = os.path.join(bed.path, "guest.db")
    with open(bed.db, "wb") as f:
        f.write(gzip.decompress(base64.b64decode(packed)))


class Daemon:
    """The daemon in the guest, and what its command line and database say."""

    def __init__(self, bed, machine, user="", options="", **farm):
        self.bed, self.machine, self.user, self.options = bed, machine, user, options
        self.folder = machine.run("d=$(mktemp -d /tmp/farm.XXXXXX); chmod 755 $d; echo $d")
        self.give("farm.yaml", {"probe": "never", **(farm or {"discover": ["usb"]})})
        machine.run(f"chown -R {user or 'root'} {self.folder}")
        self.start()

    def give(self, name, document):
        self.machine.run(f"echo {base64.b64encode(json.dumps(document).encode()).decode()} | base64 -d >{self.folder}/{name}; chmod 644 {self.folder}/{name}")

    def start(self):
        self.machine.run(f"echo 'cd {self.folder}; quiesced --config farm.yaml --db q.db --socket q.sock --agent /bin/quiesce-agent {self.options}; "
                         f"echo $? >status' >{self.folder}/go")
        self.machine.run((f"su {self.user} -c 'sh {self.folder}/go'" if self.user else f"sh {self.folder}/go") + f" >>{self.folder}/log 2>&1 &")
        until("quiesced answers", lambda: self.cli("devices", want=None) is not None, LONG_S, 0.2)

    def cli(self, *words, want=0):
        """What a command says as JSON; None where it fails and may."""
        command = f"QUIESCE_SOCKET={self.folder}/q.sock quiesce {' '.join(words)} --json"
        said = self.machine.run(f"{command}; echo = $?", None)
        text, _, status = said.rpartition("= ")
        if int(status) != 0:
            if want is None:
                return None
            raise Failed(f"{command}: {said}\n{self.log()}")
        return json.loads(text)

    def devices(self):
        return {d["name"]: d for d in self.cli("devices")["devices"]}

    def ready_board(self, name):
        def looks():
            return self.devices().get(name, {}).get("state") in ("ready", "busy")
        try:
            until(f"{name} is ready", looks, LONG_S, 0.2)
        except Failed as failed:
            raise Failed(f"{failed}: {self.devices()}\n{self.log()}\n" + self.machine.run("tail -n 20 /tmp/*.log; true")) from None

    def job(self, document):
        self.give("job.yaml", document)
        return self.cli("submit", f"{self.folder}/job.yaml")["id"]

    def show(self, number):
        return self.cli("show", str(number))

    def ended(self, number):
        """The job, once it has ended. One process follows it: each look would be another one, which in a guest takes its time."""
        self.machine.run(f"QUIESCE_SOCKET={self.folder}/q.sock timeout {JOB_S} quiesce watch {number} --style none", None)
        shown = self.show(number)
        if shown["state"] in ("queued", "running"):
            raise Failed(f"waited {JOB_S} s in vain until job {number} ends: {shown}\n{self.log()}")
        return shown

    def log(self):
        return self.machine.run(f"tail -n 30 {self.folder}/log")

    def kill(self, signal="KILL"):
        self.machine.run(f"kill -{signal} {processes(self.machine, 'quiesced')[0]}")
        until("quiesced has ended", lambda: not processes(self.machine, "quiesced") and self.machine.run(f"ls {self.folder}/status", None), LONG_S, 0.1)
        reports = self.machine.run(f"grep -A 40 -E '{'|'.join(SANITIZER)}' {self.folder}/log; true")
        if reports:
            raise Failed(f"a sanitizer reported: {reports[:3000]}")

    def stop(self):
        """As an operator would; then its database is here, as the bed's."""
        self.kill("TERM")
        bring(self.bed, self.machine, f"{self.folder}/q.db")
        return int(self.machine.run(f"cat {self.folder}/status"))


def job(argv, blocks=4, iterations=3, frequency="free", gate="none", link="usb", **benchmark):
    return {"quiesce": 1, "benchmarks": [{"name": "b", "argv": argv, **benchmark}], "devices": {"where": f'link == "{link}"', "take": "all"},
            "plan": {"seed": 1, "blocks": blocks, "window": {"iterations": iterations}, "warmup": {"iterations": 0}, "until": {"interval": 0}},
            "conditions": {"gate": gate, "bounds": "none", "frequency": frequency}}


def ended_well(tap, shown, name):
    tap.ok(shown["state"] == "done", name, [str(shown["reason"])])


def nap(seconds):
    return ["busybox", "sleep", str(seconds)]


def each_once(tap, bed, number, runs, iterations=3):
    """All that was to be measured is stored, each iteration once."""
    counted = bed.sql("SELECT count(DISTINCT r.id), count(i.i), count(DISTINCT r.id || ':' || (w.first_seq + i.i)) FROM run r JOIN window w ON w.run_id = r.id "
                      "JOIN iteration i ON i.window_id = w.id WHERE r.job_id = ? AND r.block > 0 AND r.state = 'done'", number)
    tap.equal(counted, [(runs, runs * iterations, runs * iterations)], f"job {number}: all of its iterations, each once")
    tap.equal(whole(bed, number), [], "and nothing is left open or has a gap")


def measured(tap, bed, host, board, name):
    """A whole job over USB, from the gate that waits until the board is cool to the knobs that are as before; the daemon has ended then. What is
    claimed of the silence of its windows."""
    before = knobs(board)
    board.heat(70)
    daemon = Daemon(bed, host)
    daemon.ready_board(name)
    number = daemon.job(job(nap(1), blocks=2, frequency="1GHz", gate=[{"sensor": board.kind.zone, "below": "50C", "timeout": "10min", "on_timeout": "fail"}]))
    why = until("it says what it waits for", lambda: (lambda w: board.kind.zone in w and w)(daemon.show(number).get("why") or ""), LONG_S, 0.2)
    tap.ok("70" in why, "and how hot it is", [why])
    board.heat(42)
    until("it measures", lambda: "busybox sleep" in board.run("ps"), LONG_S, 0.1)
    tap.equal(board.mhz(), [1000, 1000], "1 GHz while it measures")
    shown = daemon.ended(number)
    ended_well(tap, shown, "the job ends well")
    tap.equal(knobs(board), before, "governors and limits are as before")
    ended_well(tap, daemon.ended(daemon.job(job(nap(0.1), blocks=8))), "a job of more windows ends well")
    tap.equal(daemon.stop(), 0, "quiesced ends well")
    each_once(tap, bed, number, 2)
    tap.equal(bed.sql("SELECT DISTINCT device FROM v_run"), [(name,)], "it is the board's")
    claimed = bed.sql("SELECT v.silence, i.after - i.before, o.after - o.before FROM v_window v "
                      "JOIN evidence i ON i.window_id = v.id AND i.sensor_id = (SELECT id FROM sensor WHERE name = 'host.usb.in_transfers') "
                      "JOIN evidence o ON o.window_id = v.id AND o.sensor_id = (SELECT id FROM sensor WHERE name = 'host.usb.out_transfers')")
    wanted = [("proven" if came and went == 0 else "observed", came, went) for _, came, went in claimed]  # went: QUIET may be late here
    tap.ok(len(claimed) >= 10, "each has its evidence", [str(claimed)])
    tap.equal(claimed, wanted, "the silence of its windows is what USB's transfers prove")
    tap.ok(bed.one("SELECT count(*) FROM v_gate WHERE outcome = 'open' AND value = 42000") > 0, "the record has what opened the gate")
    board.heat(38)
    return claimed


def whole_job(tap, machine):
    """A whole job over USB: the gate waits until the board is cool, a frequency is held by the registers, all is put back"""
    fresh(machine)
    with Bed() as bed:
        kept(machine, 0)
        claimed = measured(tap, bed, machine, machine, "BOARD0")
        tap.ok("proven" in {claim for claim, _, _ in claimed}, "and they prove it", [str(claimed)])


def replugged(tap, machine):
    """However often the cable is pulled, while jobs run, each iteration is stored once"""
    seed, cuts = int(os.environ.get("QS_SEED", "1")), int(os.environ.get("QS_CUTS", "50"))
    draw, jobs = random.Random(seed), []
    fresh(machine)
    with Bed() as bed:
        kept(machine, 0)
        daemon = Daemon(bed, machine)
        daemon.ready_board("BOARD0")
        for cut in range(cuts):
            if cut % CUTS_OF_A_JOB == 0:
                daemon.ready_board("BOARD0")
                jobs.append(daemon.job(job(nap(0.3), blocks=2)))
            machine.run(f"sleep {draw.uniform(0, 3):.3f}; unplug 0; sleep {draw.choice((0, 0.05, 0.5, 1.5))}; plug 0")
            if cut % CUTS_OF_A_JOB == CUTS_OF_A_JOB - 1 or cut == cuts - 1:
                shown = daemon.ended(jobs[-1])
                ended_well(tap, shown, f"job {jobs[-1]} is done all the same (seed {seed}, cut {cut + 1} of {cuts})")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        for number in jobs:
            each_once(tap, bed, number, 2)
        sessions = bed.one("SELECT count(*) FROM session")
        tap.ok(sessions > len(jobs), "the cable was pulled in sessions", [str(sessions)])
        tap.equal(bed.one("SELECT count(*) FROM device"), 1, "it was one device all the time")


def killed_while_measuring(tap, machine):
    """kill -9 of agent, relay and daemon in windows: the job goes on, and each iteration is stored once"""
    fresh(machine)
    with Bed() as bed:
        kept(machine, 0)
        daemon = Daemon(bed, machine)
        daemon.ready_board("BOARD0")
        number = daemon.job(job(nap(1), blocks=3))

        def measuring():
            until("a window is open", lambda: "busybox sleep 1" in machine.run("ps"), LONG_S, 0.05)
        for name in ("quiesce-agent", "qs-usb"):
            measuring()
            before = processes(machine, name)
            machine.run("kill -9 " + " ".join(before[:1]))
            until(f"{name} is there again", lambda: (p := processes(machine, name)) and p[0] not in before, LONG_S, 0.1)
            daemon.ready_board("BOARD0")
        measuring()
        daemon.kill()
        daemon.start()
        shown = daemon.ended(number)
        ended_well(tap, shown, "the job ends well")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        each_once(tap, bed, number, 3)
        tap.ok(bed.one("SELECT count(*) FROM run WHERE state <> 'done'") >= 2, "runs were lost", [str(bed.sql("SELECT state, count(*) FROM run GROUP BY state"))])


def four_at_once(tap, machine):
    """Four boards measure side by side, and one that is pulled out holds up no other"""
    fresh(machine)
    with Bed() as bed:
        kept(machine, 0, 1, 2, 3)
        daemon = Daemon(bed, machine)
        for board in range(4):
            daemon.ready_board(f"BOARD{board}")
        number = daemon.job(job(nap(0.2), blocks=3))
        until("it measures", lambda: "busybox sleep" in machine.run("ps"), LONG_S, 0.1)
        machine.run("unplug 3; sleep 1; plug 3")
        shown = daemon.ended(number)
        ended_well(tap, shown, "a job on all of them ends well")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        each_once(tap, bed, number, 12)
        tap.equal(bed.sql("SELECT device, count(*) FROM v_run WHERE job = ? AND block > 0 AND state = 'done' GROUP BY device ORDER BY device", number),
                  [(f"BOARD{board}", 3) for board in range(4)], "each has its blocks")


def ordinary_user(tap, machine):
    """An ordinary user of group plugdev reaches the board by the project's udev rule"""
    fresh(machine)
    with Bed() as bed:
        kept(machine, 0)
        daemon = Daemon(bed, machine, user="person")
        daemon.ready_board("BOARD0")
        number = daemon.job(job(["true"], blocks=2))
        ended_well(tap, daemon.ended(number), "and measures there")
        tap.equal(machine.run("ps -o user,args | grep 'quiesced --config' | grep -v grep | grep -v 'sh -c' | cut -d' ' -f1"), "person", "as that user")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        each_once(tap, bed, number, 2)


def all_speeds(tap, machine):
    """At full, high and super speed a job takes 3 MB there and back, byte by byte"""
    for words, mbit in (("is_high_speed=0", 12), ("", 480), ("is_super_speed=1", 5000)):
        fresh(machine)
        machine.run(f"rmmod dummy_hcd; insmod /modules/dummy_hcd.ko {words} num=4")
        with Bed() as bed:
            kept(machine, 0)
            device = machine.run("dirname $(grep -l BOARD0 /sys/bus/usb/devices/*/serial)")
            tap.equal(machine.run(f"cat {device}/speed"), str(mbit), f"{mbit} Mbit/s")
            daemon = Daemon(bed, machine)
            daemon.ready_board("BOARD0")
            machine.run(f"dd if=/dev/urandom of={daemon.folder}/data bs=1024 count=3001 2>/dev/null")
            number = daemon.job(job(["busybox", "cp", "data", "copy"], blocks=1, iterations=1, inputs={"data": f"{daemon.folder}/data"}, artifacts=["copy"]))
            shown = daemon.ended(number)
            ended_well(tap, shown, f"{mbit} Mbit/s: the job ends well")
            total = machine.run(f"md5sum <{daemon.folder}/data")
            back = machine.run(f"find {daemon.folder}/q.db.files -type f -size +2900k | xargs md5sum").split()
            tap.ok(total.split()[0] in back[0::2], f"{mbit} Mbit/s: what came back is what went there", [total, str(back)])
            tap.equal(daemon.stop(), 0, "quiesced ends well")
            each_once(tap, bed, number, 1, 1)
    fresh(machine)
    machine.run("rmmod dummy_hcd; insmod /modules/dummy_hcd.ko num=4")


def suspended(tap, machine):
    """A bus that sleeps wakes up: a board that nobody uses, and a system that is suspended in the middle of a job"""
    fresh(machine)
    kept(machine, 0)
    device = machine.run("dirname $(grep -l BOARD0 /sys/bus/usb/devices/*/serial)")
    machine.run(f"echo 0 >{device}/power/autosuspend_delay_ms; echo auto >{device}/power/control")
    until("the bus sleeps", lambda: machine.run(f"cat {device}/power/runtime_status") == "suspended", LONG_S, 0.1)
    tap.equal(last(host(machine, "begin:" + NONCE, "nonce:" + NONCE, "in:2000", "end")), ["16", "16", "16", NONCE, "0"], "a session wakes it up")
    machine.run(f"echo on >{device}/power/control")
    with Bed() as bed:
        daemon = Daemon(bed, machine)
        daemon.ready_board("BOARD0")
        number = daemon.job(job(nap(1), blocks=3))
        until("it measures", lambda: "busybox sleep" in machine.run("ps"), LONG_S, 0.1)
        machine.run("echo devices >/sys/power/pm_test; echo freeze >/sys/power/state; echo none >/sys/power/pm_test")
        tap.ok("suspend debug: Waiting for" in machine.run("dmesg"), "all devices slept for some seconds")
        shown = daemon.ended(number)
        ended_well(tap, shown, "the job ends well")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        each_once(tap, bed, number, 3)


def main():
    kind = UsbGuest()
    missing = next((f"{path or 'a program for the guest'} is not built" for path in (QUIESCED, QUIESCE, HOST) if not os.path.exists(path)), "")
    some = (whole_job, replugged)  # in ./dev test, whose ten minutes are everybody's
    more = (other_requests_are_stalled, old_bytes_are_dropped, killed_agents, it_says_what_is_missing, killed_while_measuring, four_at_once, ordinary_user, suspended, all_speeds)
    in_guests([kind], some if SANITIZED and not sys.argv[1:] else some + more, missing)


if __name__ == "__main__":
    main()
