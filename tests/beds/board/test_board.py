#!/usr/bin/env python3
"""The virtual board through its mount: what a program meets that opens, reads and writes its files. The model's own numbers are tried in
tests/unit/agent/test_board_*.c."""
import errno
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time

from boards import COOLER, CPU, NAMES, POLICY, PROGRAM, ZONE, Board, skip_without_boards, tree_path, tree_rows
from lib import AGENT, Bed, run_cases, until

P0, P4 = POLICY % 0, POLICY % 4


def differs(board, path, mode, owner, value):
    """What a node of the mount has that its tree has not, None where all is equal."""
    full = board.file(path.removeprefix("/sys/")) if path.startswith("/sys/") else board.file(".board" + path)
    if mode == "link":
        return None if os.readlink(full) == owner else f"{path}: leads to {os.readlink(full)}"
    info = os.stat(full)
    if f"{stat.S_IMODE(info.st_mode):04o}" != mode or info.st_uid != (1000 if owner.startswith("system") else 0):
        return f"{path}: {info.st_mode:o} {info.st_uid}"
    with open(full, encoding="utf-8") as f:
        got = f.read()
    if path.endswith("/time_in_state"):  # its present step counts on
        moved = [a for a, b in zip(got.split(), value.split()) if a != b]
        return None if len(moved) <= 1 and len(got.split()) == len(value.split()) else f"{path}: {got!r}"
    return None if got == value else f"{path}: {got!r}, not {value!r}"


def reads_as_its_tree(tap):
    """Every file of every tree reads as there, with its mode and owner, and there are no others"""
    with Bed() as bed:
        for name in NAMES:
            with Board(bed, name) as board:
                rows = [row for row in tree_rows(name) if not row[0].startswith("/dev/")]
                wrong = [problem for problem in (differs(board, *row) for row in rows) if problem]
                tap.ok(len(rows) > 40 and not wrong, f"{name}: {len(rows)} files and links", wrong[:9])
                found = {os.path.join(folder, file) for folder, folders, files in os.walk(board.path) if ".board" not in folder
                         for file in files + [f for f in folders if os.path.islink(os.path.join(folder, f))]}
                want = {board.file(path.removeprefix("/sys/")) for path, *_ in rows if path.startswith("/sys/")}
                tap.equal(sorted(found ^ want), [], f"{name}: listed are these, and no others")


def clocks_are_driven(tap):
    """Governors and limits through the mount: the frequency follows, a kernel's refusals are errors of write"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        board.put(P0 + "scaling_governor", "performance")
        tap.equal((board.get(P0 + "scaling_cur_freq"), board.khz("policy0")), ("1500000", 1500000), "performance is the maximum")
        board.put(CPU % 2 + "cpufreq/scaling_max_freq", 1000000)
        tap.equal((board.get(P0 + "scaling_max_freq"), board.khz("policy0")), ("1000000", 1000000), "a limit, through a CPU's link")
        for name, value, want in [(P0 + "scaling_governor", "warp", errno.EINVAL), (P0 + "scaling_min_freq", 1100000, errno.EINVAL),
                                  (P0 + "scaling_max_freq", "much", errno.EINVAL), (P0 + "scaling_max_freq", 9999999, 0),
                                  (P0 + "scaling_cur_freq", 1, errno.EACCES), (P0 + "none", 1, errno.ENOENT),
                                  ("devices", 1, errno.EISDIR)]:
            tap.equal(board.error(board.put, name, value), want, f"{value} into {name}")
        tap.equal(board.khz("policy0"), 1500000, "what is beyond the hardware is the hardware's")
        board.put(P0 + "scaling_governor", "userspace")
        board.put(P0 + "scaling_setspeed", 850000)
        tap.equal(board.khz("policy0"), 900000, "userspace")
        log = [line.split(" ", 1)[1] for line in board.get(".board/log").splitlines()]
        tap.equal(log[:3], [P0 + "scaling_governor performance ok", P0 + "scaling_max_freq 1000000 ok",
                            P0 + "scaling_governor warp EINVAL"], "the log has what reached the board")
        tap.ok(not any("scaling_cur_freq" in line for line in log), "and not what could not be opened", log)


def an_open_file_is_read_again(tap):
    """A descriptor that stays open reads what holds now, from the beginning; the rest of a value is of the same reading"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        fd = os.open(board.file(P0 + "scaling_cur_freq"), os.O_RDONLY)
        try:
            tap.equal(os.pread(fd, 100, 0), b"600000\n", "at first")
            board.put(P0 + "scaling_governor", "performance")
            tap.equal((os.pread(fd, 100, 7), os.pread(fd, 3, 3)), (b"", b"000"), "the rest of the first reading")
            tap.equal((os.pread(fd, 3, 0), os.pread(fd, 100, 3)), (b"150", b"0000\n"), "then the second")
            board.tell("vanish " + P0 + "scaling_cur_freq")
            tap.equal(board.error(os.pread, fd, 100, 0), errno.ENODEV, "and what has gone away is no device")
            tap.ok(not os.path.exists(board.file(P0 + "scaling_cur_freq")), "it is not listed either")
        finally:
            os.close(fd)


def it_throttles_and_recovers(tap):
    """A board under load becomes hot, is throttled, loses CPUs when it is far too hot, and has all of it back when it is cool"""
    with Bed() as bed, Board(bed, "rock5b-rk3588", "--speed", "60") as board:
        board.put(P4 + "scaling_governor", "performance")
        board.tell("load 100")
        until("the clock is throttled", lambda: board.khz("policy4") < 2400000)
        until("the limit and the cooling device say so",
              lambda: int(board.get(P4 + "scaling_max_freq")) < 2400000 and int(board.get(COOLER % 1 + "cur_state")) > 0)
        board.tell("load 0")
        until("the limit comes back", lambda: board.get(P4 + "scaling_max_freq") == "2400000" and board.khz("policy4") == 2400000)
        tap.ok(max(board.report("mc").values()) < 85000, "when it is cool", [str(board.report("mc"))])
        board.tell("ambient 130", "heat 130")  # so hot that it stays
        until("the big CPUs are gone", lambda: not os.path.exists(board.file(CPU % 4 + "cpufreq")))
        tap.equal((board.get(CPU % 7 + "online"), board.khz("policy6"), os.path.exists(board.file(POLICY % 6))), ("0", 0, False),
                  "with their policy's folder")
        board.tell("ambient 25", "heat 50")
        until("they are back", lambda: board.get("devices/system/cpu/online") == "0-7")
        tap.equal(board.error(board.get, P4 + "scaling_cur_freq"), 0, "with their files")


def files_misbehave(tap):
    """Each fault through the mount"""
    limit, temp = P0 + "scaling_max_freq", ZONE % 0 + "temp"
    with Bed() as bed, Board(bed, "rpi4b", "--speed", "20") as board:
        board.tell(f"refuse {limit} EBUSY")
        tap.equal(board.error(board.put, limit, 800000), errno.EBUSY, "refuse")
        board.tell("heal", f"ignore {limit}")
        board.put(limit, 800000)
        tap.equal(board.get(limit), "1500000", "ignore")
        board.tell("heal", f"inert {P0}scaling_governor")
        board.put(P0 + "scaling_governor", "performance")
        tap.equal((board.get(P0 + "scaling_governor"), board.khz("policy0")), ("performance", 600000), "inert: only the witness knows")
        board.tell("heal", f"delay {limit} 2000")
        board.put(limit, 800000)
        until("a write takes effect later", lambda: board.get(limit) == "800000")
        at_ms = int(board.get(".board/log").splitlines()[-1].split(" ")[0])
        tap.ok(int(board.get(".board/time")) >= at_ms + 2000, "delay: not before its time")
        board.tell("heal", f"reset {limit} every 1000")
        board.put(limit, 700000)
        until("somebody resets the limit", lambda: board.get(limit) == "800000")
        board.tell("heal", f"stuck {temp}", "heat 70")
        tap.equal((board.get(temp), board.report("mc")["cpu-thermal"] > 60000), ("46738", True), "stuck")
        for what, want in [("-99.9", "-99.9"), ("0", "0"), ("constant 85000", "85000")]:
            board.tell(f"lie {temp} with {what}")
            tap.equal(board.get(temp), want, f"lie with {what}")
        board.tell(f"lie {temp} with EAGAIN")
        tap.equal(board.error(board.get, temp), errno.EAGAIN, "lie with EAGAIN")
        board.tell("ambient 25", "load rest", f"lie {temp} with jump 40000")
        first, second = int(board.get(temp)), int(board.get(temp))
        tap.ok(30000 < second - first < 41000, "lie with jump", [f"{first} {second}"])
        tap.equal(board.get(".board/control"), f"lie {temp} with jump 40000", "control shows it")
        board.tell("heal", "vanish class/thermal/thermal_zone0/temp")
        tap.equal(board.error(board.get, temp), errno.ENOENT, "vanish")
        tap.equal((board.error(board.tell, "explode"), board.get(".board/why")), (errno.EINVAL, "explode: there is no such word"),
                  "a command that is none is refused, and why")


def a_slow_file_blocks(tap):
    """A slow file blocks who reads or writes it, and nobody else"""
    limit = P0 + "scaling_max_freq"
    with Bed() as bed, Board(bed, "rpi4b") as board:
        board.tell(f"slow {limit} 700")
        took = {}

        def timed(name, act, *arguments):
            begun = time.monotonic()
            act(*arguments)
            took[name] = time.monotonic() - begun
        reader = threading.Thread(target=timed, args=("read", board.get, limit))
        reader.start()
        others = 0
        while reader.is_alive():
            board.get(P0 + "scaling_min_freq")
            others += reader.is_alive()
        reader.join()
        timed("write", board.put, limit, 900000)
        tap.ok(min(took.values()) >= 0.7, "reading and writing take as long as they were told", [str(took)])
        tap.ok(others > 0, "other files are read meanwhile", [str(others)])
        tap.equal(board.error(board.tell, "heal"), 0, "and it can be healed")
        tap.equal(board.get(limit), "900000", "what was written is there")


def unrooted(tap):
    """--uid 2000: what belongs to root and system is read and not written, for access(2) as well"""
    with Bed() as bed, Board(bed, "sony-xperia-z-unrooted", "--uid", "2000") as board:
        limit = CPU % 0 + "cpufreq/scaling_max_freq"
        tap.equal((board.get(limit), board.error(board.put, limit, 702000)), ("1512000", errno.EACCES), "read, not written")
        tap.equal((os.access(board.file(limit), os.R_OK), os.access(board.file(limit), os.W_OK)), (True, False), "access agrees")
        tap.equal(board.error(board.tell, "load 100"), 0, "the test's own door stands open")
    with Bed() as bed, Board(bed, "sony-xperia-z-unrooted") as board:
        tap.equal(os.access(board.file(CPU % 0 + "cpufreq/scaling_max_freq"), os.W_OK), os.geteuid() == 0, "without it: who asks is asked for")
        tap.ok(not os.access(board.file(CPU % 0 + "cpufreq/scaling_cur_freq"), os.W_OK), "what has no write bit is closed to root")


def it_ends(tap):
    """Signals and the death of who started it unmount the board; what it cannot use it says"""
    with Bed() as bed:
        for signum in (signal.SIGTERM, signal.SIGINT):
            board = Board(bed, "rpi4b")
            tap.ok(os.path.ismount(board.path), "it is mounted")
            board.process.kill(signum)
            tap.equal((board.process.wait(), os.path.ismount(board.path)), (0, False), f"{signum.name} unmounts and is an end in order")
        path = os.path.join(bed.path, "orphan")
        os.mkdir(path)
        code = "import subprocess, sys; p = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE); p.stdout.readline()"
        subprocess.run([sys.executable, "-c", code, PROGRAM, "--tree", tree_path("rpi4b"), "--mount", path], check=True, timeout=60)
        until("it goes with its parent", lambda: not os.path.ismount(path))
        bad = bed.file("bad.tsv", "# nothing\n/sys/a/b\t0444\n")
        for arguments, code, text in [([], 2, "usage: qs-board"), (["--tree", bad, "--mount", path, "--speed", "0"], 2, "usage: qs-board"),
                                      (["--tree", bad, "--mount", path], 1, "bad.tsv: line 2: it has not the five fields"),
                                      (["--tree", path + "/none", "--mount", path], 1, "none: No such file")]:
            out = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=60)
            tap.ok(out.returncode == code and text in out.stderr, text, [str(out)])


def work_follows_the_clock(tap):
    """A benchmark lasts as long as the board's clock needs, and heats it"""
    with Bed() as bed, Board(bed, "rpi4b", "--speed", "60") as board:
        for governor, khz in [("powersave", 600000), ("performance", 1500000)]:
            board.put(P0 + "scaling_governor", governor)
            got = board.work("--cycles", "30000000", "--policy", "policy0")
            tap.equal((got["slowest_khz"], got["fastest_khz"]), (khz, khz), f"{governor} is {khz} kHz throughout")
            tap.ok(got["ns"] >= 30000000 * 1000000 // khz, "its cycles take their time", [str(got)])
        # At 60 times the speed half a second is two time constants of 15 s: the firmware throttles, as the witness knows and cpufreq does not.
        got = board.work("--cycles", "1500000000", "--load", "100")
        tap.ok(got["slowest_khz"] < got["fastest_khz"] == 1500000, "under its load the clock falls", [str(got)])
        tap.equal(board.get(P0 + "scaling_cur_freq"), "1500000", "cpufreq does not say so")
        tap.ok(int(board.get("devices/platform/soc/soc:firmware/get_throttled"), 16) & 1 << 19, "the firmware's mask does")


def the_agent_runs_on_it(tap):
    """The agent finds on each board its sensors by their names, and says where it found them"""
    with Bed() as bed:
        for name in NAMES:
            with Board(bed, name) as board:
                out = subprocess.run([AGENT, "--facts", "--sysfs", board.path], capture_output=True, text=True, check=True, timeout=60)
                facts = dict(line.split(": ", 1) for line in out.stdout.splitlines() if ": " in line)
                sensors = facts["capabilities"].split(",")
                zones = [value.strip() for path, mode, _, value in tree_rows(name) if re.search(r"thermal_zone\d+/type$", path) and mode != "link"]
                tap.equal((facts["sysfs"], sorted(s[8:] for s in sensors if s.startswith("thermal:"))), (board.path, sorted(zones)),
                          f"{name}: its zones")
                policies = sorted({m[0] for m in (re.search(r"policy\d+", path) for path, *_ in tree_rows(name)) if m})
                tap.equal(sorted(s[5:-4] for s in sensors if s.startswith("freq:")), policies, f"{name}: its policies")


if __name__ == "__main__":
    skip_without_boards("a virtual board is mounted")
    run_cases(reads_as_its_tree, clocks_are_driven, an_open_file_is_read_again, it_throttles_and_recovers, files_misbehave,
              a_slow_file_blocks, unrooted, it_ends, work_follows_the_clock, the_agent_runs_on_it)
