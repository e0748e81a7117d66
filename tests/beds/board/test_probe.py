#!/usr/bin/env python3
"""What of a virtual board can be relied on, as `quiesce devices probe` finds it: what is refused, ignored, late, or without effect is named as that, and
everything is put back."""
import json
import os
import sqlite3

from boards import Board, skip_without_boards
from lib import AGENT, Bed, run_cases

FREQ = "devices/system/cpu/cpufreq/"


def farm(board, bed):
    return {"devices": {"board": {"link": "exec", "argv": [AGENT, "--stdio", "--sysfs", board.path, "--state", os.path.join(bed.path, "agent")]}}}


def probe(bed, daemon):
    """Each knob's row, by its name."""
    done = bed.cli("devices", "probe", "board")
    shown = daemon.get("/devices/board").want(200).json["knobs"]
    return done, {row["name"]: row for row in shown["rows"]}, shown


def says(tap, row, sticks, effect, why, what):
    tap.ok((row["sticks"], row["effect"]) == (sticks, effect) and why in (row["why"] or ""), what, [str(row)])


def a_board_that_does_what_is_written(tap):
    """A board that does what is written to it: its clock is where it is held, and all is as it was afterwards"""
    with Bed() as bed, Board(bed, "rpi4b", "--speed", "10") as board:
        daemon = bed.daemon(farm(board, bed))
        daemon.device_ready("board")
        files = [FREQ + "policy0/" + f for f in ("scaling_governor", "scaling_min_freq", "scaling_max_freq")]
        before = [board.get(f) for f in files]
        done, rows, shown = probe(bed, daemon)
        tap.equal(done.returncode, 0, "the job ends well")
        row = rows["policy0"]
        says(tap, row, "yes", "yes", "", "its frequency stays and moves the clock")
        tap.equal((row["low_khz"], row["seen_low_khz"], row["high_khz"], row["seen_high_khz"]), (600000, 600000, 1500000, 1500000), "as its clock said")
        tap.equal(row["loop_ratio"], None, "a loop of this machine says nothing of a tree of files")
        says(tap, rows["online:cpu1"], "untried", "unknown", "lose a processor", "processors are not switched off for it")
        tap.equal([board.get(f) for f in files], before, "all is as it was")
        written = [line.split()[1] for line in board.get(".board/log").splitlines() if line.endswith(" ok")]
        tap.ok(all("online" not in path for path in written) and written, "nothing else was written", written)
        tap.equal(shown["fingerprint"], daemon.get("/devices/board").json["fingerprint"], "of the system that it has now")
        page = bed.cli("device", "show", "board").stdout
        tap.ok("1 of 1 can be relied on; job 1 tried it less than a" in page, "the page says so, and how old that is", [page])
        tap.equal(bed.one("SELECT count(*) FROM v_run"), 0, "no benchmark was run")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


FAULTS = [
    # fault of policy0, what the knob is, its effect, what its reason says
    ("refuse {}/scaling_max_freq EIO", "refused", "unknown", "600000 could not be written: Input/output error"),
    ("ignore {}/scaling_max_freq", "ignored", "unknown", "600000 was written and taken, and it still says 1500000"),
    ("delay {}/scaling_max_freq 9000", "late", "yes", "ms until it said 1500000"),
    ("inert {}/scaling_max_freq", "yes", "no", "held at 600 MHz it ran at 1500 MHz"),
    ("inert {}/scaling_min_freq", "yes", "no", "held at 1500 MHz it ran at 600 MHz"),
    ("ignore {}/scaling_min_freq", "ignored", "unknown", "1500000 was written and taken, and it still says 600000"),
    ("reset {}/scaling_max_freq every 20", "ignored", "unknown", "it still says 1500000"),
]


def each_fault_is_named(tap):
    """What is refused, ignored, late or without effect is named as that, with what was written and what was found"""
    with Bed() as bed, Board(bed, "rpi4b", "--speed", "10") as board:
        daemon = bed.daemon(farm(board, bed))
        daemon.device_ready("board")
        policy = FREQ + "policy0"
        before = board.get(policy + "/scaling_governor")
        for fault, sticks, effect, why in FAULTS:
            # the model's governor `performance` would hide what a lower limit does not do
            load = "load 0" if "scaling_min" in fault else "load 100"
            board.tell("ambient 0", load, fault.format(policy))
            if "inert" in fault and "min" in fault:
                board.tell(f"inert {policy}/scaling_governor")
            done, rows, _ = probe(bed, daemon)
            says(tap, rows["policy0"], sticks, effect, why, fault.format("policy0"))
            if (sticks, effect) != ("yes", "yes"):
                tap.ok("policy0 " in done.stderr and why in " ".join(done.stderr.split()), "and told while it is followed", [done.stderr])
            board.tell("heal")
        tap.equal(board.get(policy + "/scaling_governor"), before, "all is as it was")
        events = [e.data for e in daemon.events(1).end() if e.kind == "job.knobs"]
        tap.ok([d["name"] for d in events[0]["doubtful"]] == ["policy0"] and events[0]["tried"] == 1, "an event names it", [str(events)])
        tap.equal(bed.one("SELECT count(*) FROM device_knob WHERE name = 'policy0'"), 1, "the last one stands")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def not_again(tap):
    """characterize tries it once for each system, and a cancelled job puts back what it holds"""
    with Bed() as bed, Board(bed, "rpi4b", "--speed", "10") as board:
        daemon = bed.daemon(farm(board, bed))
        daemon.device_ready("board")
        job = {"quiesce": 1, "benchmarks": [{"name": "characterize", "argv": ["characterize"]}], "characterize": {"curves": False}}
        for number in (1, 2):
            tap.equal(daemon.ended(daemon.job(job))["state"], "done", f"job {number}")
        tap.equal(bed.sql("SELECT DISTINCT job_id FROM device_knob"), [(1,)], "the second one tried nothing")
        with sqlite3.connect(bed.db, timeout=20) as database:
            database.execute("UPDATE device_knob SET fingerprint = 'old'")
        page = " ".join(bed.cli("devices", "show", "board").stdout.split())
        tap.ok("that was another system (old)" in page and "What to do - Find out what stays as it is written: quiesce devices probe board" in page, "what another system did is said to be that", [page])
        daemon.ended(daemon.job(job))
        tap.equal(bed.sql("SELECT DISTINCT job_id, fingerprint = 'old' FROM device_knob ORDER BY 1"), [(1, 1), (3, 0)], "another system is tried anew")
        board.tell(f"ignore {FREQ}policy0/scaling_max_freq")
        number = daemon.job(dict(job, characterize={"curves": False, "again": True}))
        daemon.events(number).wait("it is tried", lambda e: e.kind == "job.characterizing")
        daemon.ask("POST", f"/jobs/{number}:cancel").want(200)
        tap.equal(daemon.ended(number)["state"], "cancelled", "it is cancelled while it waits")
        tap.equal(board.get(FREQ + "policy0/scaling_governor"), "ondemand", "what it held is put back")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def hold(frequency):
    return {"quiesce": 1, "benchmarks": [{"name": "b", "argv": ["true"]}], "plan": {"blocks": 1, "window": {"iterations": 1}, "warmup": {"iterations": 0}},
            "conditions": {"gate": "none", "bounds": "none", "frequency": frequency}}


def first_contact(tap):
    """The first job that changes a board tries it before it measures, says so, and goes on; later ones do not"""
    with Bed() as bed, Board(bed, "rpi4b", "--speed", "10") as board:
        files = [FREQ + "policy0/" + f for f in ("scaling_governor", "scaling_min_freq", "scaling_max_freq")]
        before = [board.get(f) for f in files]
        daemon = bed.daemon(farm(board, bed))
        daemon.device_ready("board")
        with open(os.path.join(bed.path, "job.json"), "w", encoding="utf-8") as f:
            json.dump(hold("free"), f)
        done = bed.cli("submit", "--wait", f.name)
        tap.equal((done.returncode, bed.one("SELECT count(*) FROM device_knob")), (0, 0), "a job that changes nothing does not cause it")
        with open(f.name, "w", encoding="utf-8") as f:
            json.dump(hold("600MHz"), f)
        done = bed.cli("submit", "--wait", f.name)
        said = " ".join(done.stderr.split())
        tap.equal(done.returncode, 0, "the job ends well")
        tap.ok("board is new, or its system is: 1 clock is tried and put back before anything is measured, in about 7.00 s" in said, "it says so first", [said])
        kinds = [e.kind for e in daemon.events(2).end()]
        order = [kinds.index(k) for k in ("job.probing", "job.characterizing", "job.knobs", "job.pinned", "run.done")]
        tap.equal(order, sorted(order), "it is tried, then held, then measured")
        tap.equal(bed.sql("SELECT name, sticks, effect, job_id FROM device_knob WHERE kind = 'cpu'"), [("policy0", "yes", "yes", 2)], "what was found is stored")
        tap.equal([board.get(f) for f in files], before, "all is as it was")
        done = bed.cli("submit", "--wait", f.name)
        tap.ok(done.returncode == 0 and "tried" not in done.stderr, "the next job does not try it again", [done.stderr])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def a_profile_to_begin_with(tap):
    """`quiesce devices add` tries a board that nobody has, writes a profile that the daemon then uses, and leaves what is there alone"""
    with Bed() as bed, Board(bed, "rock5b-rk3588", "--speed", "10") as board:
        board.tell("ambient 0", "load 100", "stuck class/thermal/thermal_zone1/temp",  # the load heats it, and nothing may be throttled
                   "inert " + FREQ + "policy0/scaling_max_freq")
        daemon = bed.daemon(farm(board, bed))
        daemon.device_ready("board")
        os.mkdir(os.path.join(bed.path, "profiles"))
        path = os.path.join(bed.path, "profiles", "board.yaml")
        done = bed.cli("devices", "add", "board", "--output", path)
        tap.equal((done.returncode, bed.one("SELECT count(*) > 0 FROM device_knob")), (0, 1), "it is tried first")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for part in ('profile: "board"', 'extends: "rock5b-rk3588"', '"devices/system/cpu/cpufreq/policy0/scaling_cur_freq": "*"',
                     "policy0 cannot be relied on (no effect): held at 1008 MHz it ran at 1800 MHz", "- {role: cpu, unit: mC, types: ["):
            tap.ok(part in text, part, text.splitlines())
        again = bed.cli("devices", "add", "board", "--output", path)
        tap.ok(again.returncode == 2 and "is there already, and stays as it is" in " ".join(again.stderr.split()), "a file that is there stays", [again.stderr])
        shown = json.loads(bed.cli("devices", "add", "board", "--json").stdout)
        tap.equal((shown["profile"], shown["tried"], shown["text"]), ("board", True, text), "--json has the same text")
        tap.equal(bed.cli("devices", "add", "board", "--output", "-").stdout, text, "so has standard output")
        boards = [daemon.get("/devices/board").want(200).json["board"]]
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        daemon = bed.daemon({"profiles": os.path.join(bed.path, "profiles"), **farm(board, bed)})
        daemon.device_ready("board")
        daemon.ended(daemon.job(hold("free")))
        boards.append(daemon.get("/devices/board").want(200).json["board"])
        tap.equal(boards[1]["profiles"], ["board", *boards[0]["profiles"]], "the board has the profile")
        names = [[(s["name"], s["unit"], s["role"]) for s in b["sensors"] if s["status"] == "ok"] for b in boards]
        lost = [n for n in names[0] if n not in names[1]]
        tap.ok(set(names[1]) <= set(names[0]) and [n[0] for n in lost] in ([], ["thermal:bigcore0-thermal"]), "its sensors are the same, but for the stuck one", [str(lost)])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


if __name__ == "__main__":
    skip_without_boards("a virtual board is probed")
    run_cases(a_board_that_does_what_is_written, each_fault_is_named, not_again, first_contact, a_profile_to_begin_with)
