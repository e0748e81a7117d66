#!/usr/bin/env python3
"""A host and a board that are two machines (guests.py): USB between their kernels, and TCP on a line that the host's kernel spoils."""
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in (("..", "..", "e2e"), ("..", "usb"), ("..", "kernel")):
    sys.path.insert(0, os.path.join(HERE, *folder))
from lib import Bed, until  # noqa: E402  (the path has to be known first)
from guests import Board, Host  # noqa: E402
from test_kernel import in_guests, without_it  # noqa: E402
from test_usb import Daemon, each_once, ended_well, job, measured, nap, processes, serials  # noqa: E402

LONG_S = 240  # emulated
ADDRESS, PORT = "10.79.0.2", 7151
BLOCKS, KIB = 3, 100
CUTS = 3  # a job gives a block up that was interrupted five times
BAD = "delay 20ms 10ms loss 3% duplicate 5% reorder 10%"
DAMAGE = "corrupt 3%"  # only on the way to the board: what comes is checked before netem has it, so that TCP would not see the damage
COUNT = ["sh", "-c", "echo $$ >>/tmp/ran; exec busybox sleep 0.3"]  # an independent count of what ran


def fresh(board, host):
    """No daemon, no agent, no cable, and a good line."""
    host.run("kill $(named quiesced) 2>/dev/null; [ ! -e /tmp/spoilt ] || mend")
    board.run("touch /tmp/held-0; kill $(named qs-usb) $(named quiesce-agent) 2>/dev/null; true")
    until("nobody starts an agent again", lambda: board.run("ls /tmp | grep -c kept-; true") == "0", LONG_S, 0.2)
    until("it has ended", lambda: not processes(board, "quiesce-agent"), LONG_S, 0.2)
    board.run("rm -rf /tmp/ran /tmp/held* /tmp/agent* /state/agent")
    host.run("rm -rf /tmp/farm*")


def plugged(board, host):
    """The cable is in, and the host has found the board at its end. A side that has not let go of the cable before takes no other one."""
    def there():
        free = host.run("cat /sys/devices/platform/vhci_hcd.0/status").splitlines()[1].split()[2] == "004"
        if free and board.run("cat /sys/devices/platform/usbip-vudc.0/usbip_status") == "1":
            host.run("plug")
        return "BOARD" in serials(host)
    until("the board is on the bus", there, LONG_S, 0.3)


def served(board, host):
    board.run("keep 0 quiesce-agent --usb usbip-vudc.0 --serial-number BOARD --state /state/agent")
    plugged(board, host)


def ran(board):
    return int(board.run("cat /tmp/ran 2>/dev/null | wc -l"))


def all_that_ran(tap, bed, board, number):
    tap.equal(bed.sql("SELECT count(*), count(DISTINCT run || ':' || seq) FROM v_iteration WHERE job = ?", number), [(ran(board),) * 2],
              "as many iterations as processes ran, each once")


def endpoints(host):
    """Of the board's interface: {address: packet size}."""
    said = host.run("cd $(dirname $(grep -lx BOARD /sys/bus/usb/devices/*/serial)); for e in *:1.0/ep_*; do cat $e/bEndpointAddress $e/wMaxPacketSize; done").split()
    return dict(zip(said[::2], said[1::2]))


def whole_job(tap, board, host):
    """A whole job over USB between two kernels: the gate waits for the board's own thermal zone, its clocks are held, all is put back"""
    fresh(board, host)
    with Bed() as bed:
        served(board, host)
        tap.equal(endpoints(host), {"01": "0200", "81": "0200"}, "its endpoints are not where those of dummy_hcd are (OUT 0x02)")
        measured(tap, bed, host, board, "BOARD")


def cut(tap, board, host):
    """The cable is cut from either side, and the agent killed: each iteration is stored once"""
    seed = int(os.environ.get("QS_SEED", "1"))
    draw = random.Random(seed)
    fresh(board, host)
    with Bed() as bed:
        served(board, host)
        daemon = Daemon(bed, host)
        daemon.ready_board("BOARD")
        first = daemon.job(job(COUNT, blocks=BLOCKS))
        for n in range(CUTS):
            least = ran(board) + 1
            until("it measures", lambda: ran(board) >= least, LONG_S, 0.3)
            (host, board)[n % 2].run(f"sleep {draw.uniform(0, 1):.3f}; unplug")
            until("the cable is out", lambda: "BOARD" not in serials(host), LONG_S, 0.1)
            plugged(board, host)
            daemon.ready_board("BOARD")
        ended_well(tap, daemon.ended(first), f"a job whose cable is cut {CUTS} times is done (seed {seed})")
        second = daemon.job(job(nap(1), blocks=3))
        until("a window is open", lambda: "busybox sleep 1" in board.run("ps"), LONG_S, 0.05)
        before = processes(board, "quiesce-agent")
        board.run(f"kill -9 {before[0]}")
        until("the agent is another one", lambda: (p := processes(board, "quiesce-agent")) and p[0] not in before, LONG_S, 0.1)
        plugged(board, host)
        ended_well(tap, daemon.ended(second), "a job whose agent is killed is done")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        each_once(tap, bed, first, BLOCKS)
        all_that_ran(tap, bed, board, first)
        each_once(tap, bed, second, 3)
        for number, what in ((first, "cable"), (second, "agent")):
            tap.ok(bed.one("SELECT count(*) FROM run WHERE job_id = ? AND state <> 'done'", number) > 0, f"the {what} was cut in windows")
        tap.equal(bed.one("SELECT count(*) FROM device"), 1, "it was one device all the time")


def counters(machine):
    """What this kernel has counted of TCP: {name: number}."""
    found = {}
    for names, numbers in (lambda lines: zip(lines[::2], lines[1::2]))(machine.run("cat /proc/net/snmp /proc/net/netstat").splitlines()):
        kind, *words = names.replace(":", "").split()
        found |= {kind + " " + word: int(number) for word, number in zip(words, numbers.split()[1:])}
    return found


def line_is_bad(tap, board, host, before):
    """By what the kernels have counted: netem itself, TCP at both ends, and a hundred echoes."""
    told = host.run("/bin/tc -s qdisc show dev eth0 root; /bin/tc -s qdisc show dev ifb0 root")
    words = re.findall(r"qdisc netem .*? (delay .*)", told)
    dropped = [int(n) for n in re.findall(r"\(dropped (\d+)", told)]
    tap.equal([set(w.split()) >= set(BAD.split()) for w in words], [True, True], "netem has each way what it was told")
    tap.ok(len(dropped) == 2 and min(dropped) > 0, "it has dropped packets each way", [told])
    after = [counters(board), counters(host)]
    for name, what in (("Tcp RetransSegs", "sent some again"), ("TcpExt TCPOFOQueue", "got some too early"), ("TcpExt TCPDSACKOldSent", "got some twice")):
        tap.ok(all(a[name] > b[name] for a, b in zip(after, before)), f"both ends have {what}", [f"{b[name]} to {a[name]}" for a, b in zip(after, before)])
    tap.ok(after[0]["Tcp InCsumErrors"] > before[0]["Tcp InCsumErrors"], "the board has got damaged ones")
    echoes = host.run(f"ping -q -c 100 -i 0.02 {ADDRESS}", None)
    tap.ok(re.search(r" [1-9]\d* duplicates", echoes), "some of a hundred echoes come twice", [echoes])


def connections(host):
    """The host's ports of those that stand."""
    return set(re.findall(rf":(\d+) +\S*{ADDRESS}:{PORT} +ESTABLISHED", host.run("netstat -tn")))


def bad_line(tap, board, host):
    """A whole job over TCP with TLS on a line on which the kernel's netem delays, loses, duplicates, reorders and corrupts packets"""
    fresh(board, host)
    with Bed() as bed:
        host.run("rm -f /tmp/board.key; quiesce devices enroll board --output /tmp/board.key")
        key = host.run("base64 -w 0 /tmp/board.key")
        board.run(f"(umask 077; echo {key} | base64 -d >/tmp/board.key)")
        board.run(f"keep 0 quiesce-agent --listen tcp:{ADDRESS}:{PORT} --key-file /tmp/board.key --state /state/agent")
        before = [counters(machine) for machine in (board, host)]
        host.run(f"spoil '{BAD}' '{DAMAGE}'")
        daemon = Daemon(bed, host, devices={"board": {"link": "tcp", "address": f"{ADDRESS}:{PORT}", "key_file": "/tmp/board.key"}})
        daemon.ready_board("board")
        host.run(f"dd if=/dev/urandom of={daemon.folder}/data bs=1024 count={KIB} 2>/dev/null")
        document = job(["sh", "-c", COUNT[-1].replace("exec", "cat data data >twice; exec")], blocks=BLOCKS, inputs={"data": f"{daemon.folder}/data"},
                       artifacts=["twice"])
        document["devices"] = {"where": 'link == "tcp"'}
        document["conditions"]["repeat_tainted"] = 0  # a segment that comes again in a window marks it
        number = daemon.job(document)
        until("it measures", lambda: ran(board) > 0, LONG_S, 0.3)
        before_it = until("there is a connection", lambda: connections(host), LONG_S, 0.1)
        host.run(f"/bin/tc qdisc change dev ifb0 root netem {BAD} corrupt 50%")
        until("the daemon has given it up", lambda: not connections(host) & before_it, LONG_S, 0.1)
        host.run(f"/bin/tc qdisc change dev ifb0 root netem {BAD} corrupt 0%")
        ended_well(tap, daemon.ended(number), "the job ends well")
        wanted = host.run(f"cat {daemon.folder}/data {daemon.folder}/data | md5sum").split()[0]
        kept = host.run(f"find {daemon.folder}/q.db.files -type f | xargs md5sum").split()[0::2]
        tap.ok(wanted in kept, "what came back is what was made there of what was sent", [wanted, str(kept)])
        tap.ok(int(host.run(f"grep -cE 'TLS -0x|TLS has failed' {daemon.folder}/log; true")) > 0, "TLS has seen damage that no checksum had", [daemon.log()])
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        each_once(tap, bed, number, BLOCKS)
        all_that_ran(tap, bed, board, number)
        tap.ok(bed.one("SELECT count(*) FROM session") > 1, "in another session than before")
        line_is_bad(tap, board, host, before)
        host.run("mend")


def main():
    if os.environ.get("QS_SANITIZED"):
        without_it("the programs of this build have sanitizers, whose memory a guest does not have; ./dev test --slow runs it with the release")
    in_guests([Board(), Host()], (whole_job, cut, bad_line))


if __name__ == "__main__":
    main()
