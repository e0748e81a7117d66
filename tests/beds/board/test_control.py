#!/usr/bin/env python3
"""Frequencies that jobs hold, on a virtual board: the daemon and its agent as they are. What the board really did is asked of its witness, and
what is left on it when they are gone is compared with what was there before."""
import os
import signal

from boards import POLICY, WORK, Board, skip_without_boards
from lib import AGENT, Bed, run_cases, until

MAX = "scaling_max_freq"
MIN = "scaling_min_freq"
GOVERNOR = "scaling_governor"


def farm(bed, board):
    return {"probe": "never", "devices": {"board": {"link": "exec", "argv": [AGENT, "--stdio", "--sysfs", board.path, "--state", os.path.join(bed.path, "state")]}}}


def started(bed, board):
    daemon = bed.daemon(farm(bed, board))
    daemon.device_ready("board")
    return daemon


def job(argv, frequency, **more):
    return {"quiesce": 1, "benchmarks": [{"name": "b", "argv": argv}],
            "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 1}, "warmup": {"iterations": 0}, "until": {"interval": 0}},
            "conditions": {"gate": "none", "bounds": "none", "frequency": frequency, "repeat_tainted": 0}, **more}


def knobs(board, policies):
    """What a job changes on the processors."""
    return {(p, name): board.get(POLICY % p + name) for p in policies for name in (GOVERNOR, MIN, MAX)}


def held_and_put_back(tap):
    """`frequency: max` holds every policy at its highest step while the job measures, and the files are as before after it"""
    policies = (0, 4, 6)
    with Bed() as bed, Board(bed, "rock5b-rk3588") as board:
        before = knobs(board, policies)
        daemon = started(bed, board)
        mark = os.path.join(bed.path, "mark")
        number = daemon.job(job(["cp", board.file(".board/khz"), mark], "max"))
        shown = daemon.ended(number)
        tap.equal(shown["state"], "done", "the job ends well")
        with open(mark, encoding="ascii") as f:
            khz = {k: int(v) for k, v in (line.split() for line in f)}
        tap.equal([khz[f"policy{p}"] for p in policies], [1800000, 2400000, 2400000], "while it measured, by the witness")
        tap.equal(knobs(board, policies), before, "governors and limits are as before")
        rows = bed.sql("SELECT path, wanted, outcome FROM v_control WHERE kind = 'set' AND path LIKE ? ORDER BY seq", POLICY % 4 + "%")
        tap.equal([(path.rsplit("/", 1)[1], wanted) for path, wanted, outcome in rows if outcome == "set"],
                  [(GOVERNOR, "performance"), (MIN, "2400000")], "what was changed of a policy is stored: its maximum was there already")
        left = bed.one("SELECT count(*) FROM v_control WHERE kind = 'restore' AND outcome NOT IN ('set', 'same')")
        tap.equal((left, bed.one("SELECT count(*) > 0 FROM v_control WHERE kind = 'restore'")), (0, 1), "and that all of it was put back")
        tap.equal(bed.one("SELECT max(taint) FROM window"), 0, "nothing is marked")
        shown = daemon.get("/devices/board").want(200).json
        tap.ok(any(d["name"] == "policy4" for d in shown["board"]["domains"]), "the device shows its domains", [str(shown)[:400]])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def compared_like_builds(tap):
    """Two conditions that differ in the frequency: each run has its own, as the witness and the work show"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        before = knobs(board, (0,))
        daemon = started(bed, board)
        work = [WORK, "--board", board.path, "--cycles", "300000000", "--policy", "policy0"]
        number = daemon.job({"quiesce": 1, "benchmarks": [{"name": "b", "argv": work}], "arms": {"fast": {"conditions": "default"}, "slow": {"conditions": "slow"}},
                             "conditions": {"gate": "none", "bounds": "none", "frequency": "max"}, "condition_sets": {"slow": {"frequency": "600MHz"}},
                             "plan": {"seed": 3, "blocks": 2, "window": {"iterations": 2}, "warmup": {"iterations": 0}, "until": {"interval": 0}}})
        shown = daemon.ended(number)
        tap.equal(shown["state"], "done", "the job ends well")
        (fast, slow) = [bed.one("SELECT avg(duration_ns) FROM v_iteration WHERE arm = ?", arm) for arm in ("fast", "slow")]
        tap.ok(slow > 1.5 * fast, "at 600 MHz the same work takes longer than at 1.5 GHz", [f"{fast} {slow}"])
        limits = bed.sql("SELECT DISTINCT r.arm, c.wanted FROM v_control c JOIN v_run r ON r.run = c.run "
                         "WHERE c.kind = 'set' AND c.path LIKE '%scaling_max_freq' ORDER BY 1")
        tap.equal(limits, [("fast", "1500000"), ("slow", "600000")], "each arm was held where it should be")
        tap.equal(knobs(board, (0,)), before, "and the board is as before")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def nothing_left_behind(tap):
    """Agent, supervisor or daemon are killed while a job holds the board: it is as before soon, or when the agent comes again"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        before = knobs(board, (0,))
        daemon = started(bed, board)
        nap = ["sleep", "60", str(60 + os.getpid() / 10**8)]
        number = daemon.job(job(nap, "600MHz"))
        until("it is held", lambda: board.get(POLICY % 0 + MAX) == "600000")
        until("a window is open", lambda: processes(nap[2]))
        for pid in processes(board.path):  # the agent and its supervisor, which has another name
            if name_of(pid) == "quiesce-agent":
                os.kill(pid, signal.SIGKILL)
        until("the job goes on, held again", lambda: writes(board, MAX).count("600000") == 2 and processes(nap[2]))
        tap.equal(writes(board, MAX), ["600000", "1500000", "600000"], "an agent that is killed: its supervisor puts all back, and it is held again")
        daemon.ask("POST", f"/jobs/{number}:cancel").want(200)
        daemon.ended(number)
        tap.equal(knobs(board, (0,)), before, "a job that was cancelled leaves nothing")
        number = daemon.job(job(nap, "600MHz"))
        until("it is held again", lambda: board.get(POLICY % 0 + MAX) == "600000")
        daemon.kill()
        until("the daemon was killed: the agent's link has ended, and all is put back", lambda: knobs(board, (0,)) == before)
        tap.ok(True, "nothing is left behind")


CPU = "devices/system/cpu/cpu%d/online"
FAN = "class/hwmon/hwmon8/pwm1"


def switches_compared(tap):
    """Processors, governor, fan and frequency of three sets, each run under its own: the witness saw them, and all is put back"""
    policies = (0, 4, 6)
    with Bed() as bed, Board(bed, "rock5b-rk3588") as board:
        before = {**knobs(board, policies), FAN: board.get(FAN)}
        daemon = started(bed, board)
        marks = os.path.join(bed.path, "marks")
        look = f"cat {board.file('.board/khz')} {board.file(FAN)} >>{marks}.$ARM; grep Cpus_allowed_list /proc/self/status >>{marks}.cpus"
        arms = {name: {"conditions": name, "env": {"ARM": name}} for name in ("little", "slow", "default")}
        daemon_job = job(["sh", "-c", look], "max", arms=arms,
                         condition_sets={"little": {"online": "little", "affinity": "little", "switches": {"fan:*": 255}},
                                         "slow": {"frequency": "free", "governor": "powersave"}})
        daemon_job["plan"]["blocks"] = 2
        shown = daemon.ended(daemon.job(daemon_job))
        tap.equal(shown["state"], "done", "the job ends well")
        seen = {}
        for arm in arms:
            with open(f"{marks}.{arm}", encoding="ascii") as f:
                lines = f.read().splitlines()
            seen[arm] = (sorted({line for line in lines if line.startswith("policy")}), sorted({line for line in lines if line.isdigit()}))
        low = [f"policy{p} {board.get(POLICY % p + 'cpuinfo_min_freq')}" for p in policies]
        tap.equal(seen["little"], (["policy0 1800000", "policy4 0", "policy6 0"], ["255"]), "the others are off, the little ones at their most, the fan too")
        tap.equal(seen["slow"], (low, [before[FAN]]), "all at their least, by the governor alone")
        tap.equal(seen["default"], (["policy0 1800000", "policy4 2400000", "policy6 2400000"], [before[FAN]]), "all at their most")
        tap.equal({**knobs(board, policies), FAN: board.get(FAN)}, before, "what was off is on again, and all limits, governors and the fan are as before")
        tap.equal({board.get(CPU % n) for n in range(1, 8)}, {"1"}, "all processors run")
        left = bed.sql("SELECT path, wanted, outcome FROM v_control WHERE outcome NOT IN ('set', 'same')")
        tap.equal(left, [], "each change did what it should, and was put back")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def siblings_and_words(tap):
    """A processor that cannot be switched on (a core's sibling) does not end a job that holds frequencies; what a device lacks does, with what it has"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        board.put(CPU % 3, "0")
        board.tell(f"refuse {CPU % 3} EPERM")
        before = knobs(board, (0,))
        daemon = started(bed, board)
        shown = daemon.ended(daemon.job(job(["true"], "max")))
        tap.equal(shown["state"], "done", "the job ends well")
        tap.equal(bed.sql("SELECT DISTINCT outcome FROM v_control WHERE kind = 'set' AND path LIKE '%cpu3/online'"), [("refused",)], "and it was tried")
        tap.equal((knobs(board, (0,)), board.get(CPU % 3)), (before, "0"), "the board is as before")
        for conditions, text in (({"affinity": "one-big"}, "no processors `big`: it has all (0-3)"), ({"boost": "off"}, "no switch `boost`: it has online:cpu1"),
                                 ({"governor": "walt"}, "policy0 has no such governor"), ({"online": "1-2"}, "processor 0 cannot be switched off")):
            wanted = job(["true"], "free")
            wanted["conditions"].update(conditions)
            shown = daemon.ended(daemon.job(wanted))
            tap.ok(shown["state"] == "failed" and text in shown["reason"], f"{conditions} is refused with what there is", [shown["reason"]])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def writes(board, name):
    """What was written into files of this name, in order, without what a file said already."""
    values = [line.split(" ")[2] for line in board.get(".board/log").splitlines() if line.split(" ")[1].endswith(name)]
    return [v for i, v in enumerate(values) if i == 0 or v != values[i - 1]]


def name_of(pid):
    """Of a program; of one that has ended since it was listed, none."""
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as f:
            return f.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def processes(words):
    """Those in whose command line these words are."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if words in line and str(os.getpid()) != pid:
            found.append(int(pid))
    return found


def moved_limits(tap):
    """A service that sets a limit again: the job fails and says so. A limit that falls in a window marks it"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        daemon = started(bed, board)
        before = knobs(board, (0,))
        board.tell(f"reset {POLICY % 0 + MAX} every 20")
        shown = daemon.ended(daemon.job(job(["true"], "600MHz")))
        tap.ok(shown["state"] == "failed" and MAX in shown["reason"] and "1500000" in shown["reason"], "it fails, with file and value", [shown["reason"]])
        board.tell("heal")
        until("all is put back", lambda: knobs(board, (0,)) == before)
        lower = f"echo 700000 >{board.file(POLICY % 0 + MIN)}; echo 700000 >{board.file(POLICY % 0 + MAX)}"
        shown = daemon.ended(daemon.job(job(["sh", "-c", lower], "1GHz")))
        tap.equal(shown["state"], "done", "a job whose limit falls in a window ends")
        tap.ok(("pin:policy0.max", 700000, 1000000) in bed.sql("SELECT DISTINCT code, value, bound FROM v_taint"), "and the window is marked with it",
               [str(bed.sql("SELECT DISTINCT code, value, bound FROM v_taint"))])
        tap.equal(knobs(board, (0,)), before, "the board is as before")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def throttled_in_between(tap):
    """A limit that falls and is back within a window is seen by the kernel's time per frequency; a quiet window has none of it"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        daemon = started(bed, board)
        tap.equal(daemon.ended(daemon.job(job(["true"], "1GHz")))["state"], "done", "a job that nothing throttles ends")
        rows = bed.sql("SELECT DISTINCT kind, after - before FROM v_evidence WHERE kind LIKE 'residency:%' OR kind LIKE 'transitions:%' ORDER BY kind")
        tap.equal(rows, [("residency:policy0", 0), ("transitions:policy0", 0)], "it has been at no other frequency")
        tap.equal(bed.one("SELECT count(*) FROM v_taint"), 0, "and is not marked")
        least, most = board.file(POLICY % 0 + MIN), board.file(POLICY % 0 + MAX)
        dip = f"echo 600000 >{least}; echo 600000 >{most}; sleep 0.3; echo 1000000 >{most}; echo 1000000 >{least}"
        number = daemon.job(job(["sh", "-c", dip], "1GHz"))
        tap.equal(daemon.ended(number)["state"], "done", "so does one that is throttled for a while")
        marks = dict(bed.sql("SELECT code, min(value) FROM v_taint WHERE job = ? AND code NOT LIKE 'gate:%' GROUP BY code", number))
        tap.equal(sorted(marks), ["residency:policy0", "transitions:policy0"], "its windows are marked by what lies between two looks, not by the limits")
        tap.ok(marks.get("residency:policy0", 0) >= 280 and marks.get("transitions:policy0", 0) >= 2, "with how long, and how often", [str(marks)])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def held_again(tap):
    """A limit that somebody has set is written again between the windows of a run, and that is counted"""
    with Bed() as bed, Board(bed, "rpi4b") as board:
        before = knobs(board, (0,))
        daemon = started(bed, board)
        mark = os.path.join(bed.path, "once")
        lower = f"test -e {mark} || {{ echo 700000 >{board.file(POLICY % 0 + MIN)}; echo 700000 >{board.file(POLICY % 0 + MAX)}; }}; touch {mark}"
        text = job(["sh", "-c", lower], "1GHz")
        text["conditions"]["repeat_tainted"] = 2
        number = daemon.job(text)
        tap.equal(daemon.ended(number)["state"], "done", "the job ends")
        pins = bed.sql("SELECT DISTINCT code FROM v_taint WHERE job = ? AND code LIKE 'pin:%' ORDER BY code", number)
        tap.equal(pins, [("pin:policy0.max",), ("pin:policy0.min",)], "a window is marked")
        again = bed.sql("SELECT path, before, outcome FROM v_control WHERE kind = 'set' AND before = '700000' ORDER BY seq")
        tap.equal([(path.rsplit("/", 1)[1], outcome) for path, _, outcome in again], [(MIN, "set"), (MAX, "set")], "then it is held again, and that is stored")
        tap.equal(knobs(board, (0,)), before, "the board is as before")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def without_the_right(tap):
    """Where the agent may not write the job fails before anything runs, and says what is missing"""
    with Bed() as bed, Board(bed, "sony-xperia-z-unrooted", "--uid", "2000") as board:
        daemon = started(bed, board)
        mark = os.path.join(bed.path, "mark")
        shown = daemon.ended(daemon.job(job(["touch", mark], "max")))
        tap.ok(shown["state"] == "failed" and "root" in shown["reason"], "it fails, and says what to do", [shown["reason"]])
        tap.ok(not os.path.exists(mark), "nothing was measured")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


if __name__ == "__main__":
    skip_without_boards("jobs hold the frequencies of a virtual board")
    run_cases(held_and_put_back, compared_like_builds, switches_compared, siblings_and_words, nothing_left_behind, moved_limits, throttled_in_between, held_again, without_the_right)
