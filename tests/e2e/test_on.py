#!/usr/bin/env python3
"""`quiesce run --on`: a device is found by what people know of it, gets the files that the command line names, and is measured as it allows.
The devices are agents of this machine with caches, and where it says so sensors, of their own."""
import json
import os
import re
import signal
import struct
import subprocess
import time

from lib import AGENT, QUIESCE, QUIESCED, Bed, run_cases
from tree import Board

SHORT = ("--runs", "6", "--iterations", "1", "--warmup", "1")
WHERE = "#!/bin/sh\necho \"$0 $(pwd -P) $*\"\ncat \"$@\" /dev/null\n"
BUSY = {"thermal:cpu-thermal", "cpu.busy_ratio_ppm"}


def device(bed, name, *options, **more):
    return {"link": "exec", "local": False, "argv": [AGENT, "--stdio", "--cache", f"{bed.path}/cache-{name}", *options], **more}


def farm(bed, **devices):
    return json.dumps({"devices": {"local": {"link": "exec", "argv": [AGENT, "--stdio"]}, **devices}})


def two(bed):
    return farm(bed, board=device(bed, "board", labels={"serial": "0A1B2C", "model": "Pixel_6"}),
                bench=device(bed, "bench", labels={"serial": "77FF", "model": "Pixel_7"}))


def flat(text):
    return " ".join(text.split())


def run(bed, *arguments, **more):
    done = bed.cli("run", *arguments, **more)
    done.said = flat(done.stdout + done.stderr)
    return done


def files_go_along(tap):
    """Programs and files that the command line names run from the device's cache, and what they measure is stored under the device's name"""
    with Bed() as bed:
        daemon = bed.daemon(two(bed))
        daemon.device_ready("board")
        bed.file("old", WHERE, 0o755)
        bed.file("new", WHERE + "# new\n", 0o755)
        bed.file("notes.txt", "read on the device\n")
        bed.file("far.txt", "from elsewhere\n")
        os.makedirs(f"{bed.path}/here")
        os.rename(f"{bed.path}/old", f"{bed.path}/here/old")
        os.rename(f"{bed.path}/notes.txt", f"{bed.path}/here/notes.txt")
        here = {"cwd": f"{bed.path}/here"}
        done = run(bed, "--on", "board", *SHORT, "--show-output", "--a", "./old notes.txt", "--b", f"{bed.path}/new ../far.txt", **here)
        tap.ok(done.returncode == 0, "it is measured", [done.stdout, done.stderr])
        cache = os.path.realpath(f"{bed.path}/cache-board")
        for arm, words in ((0, ["./old", "notes.txt", "read on the device"]), (1, ["./new", "far.txt", "from elsewhere"])):
            output = stored_output(daemon, bed, arm)
            first, second = output.splitlines()[:2]
            program, folder, name = first.split()
            tap.equal([program, name, second], words, f"arm {arm} finds its files")
            tap.ok(folder.startswith(cache + "/"), "in the device's cache", [folder, cache])
        tap.equal(devices_of(bed), [("board",)], "all runs are the device's")
        tap.equal(measured(bed), 12, "12 runs are stored")
        tap.ok(all(part in done.said for part in ("takes along ./old", f"{bed.path}/new", "notes.txt (19 B)", "../far.txt (15 B)", "pushing 4 files")),
               "what goes along is said", done.said)
        spec = json.loads(bed.cli("run", "--on", "board", "--print-job", "--a", "./old notes.txt", "--b", "./old", **here).stdout)
        tap.equal(spec["devices"], {"take": "any", "where": 'name == "board"'}, "the job is for this device")
        tap.equal(spec["arms"]["a"]["build"]["files"], {"old": "./old"}, "with the program in its build")
        tap.equal(spec["benchmarks"][0]["inputs"], {"notes.txt": "notes.txt"}, "and the file beside it")
        tap.ok("dir" not in spec["benchmarks"][0] and spec["benchmarks"][0]["env_inherit"], "nothing of this shell goes along")
        again = run(bed, "--on", "board", *SHORT, "--", "./old", **here)
        tap.ok(again.returncode == 0 and "pushing" not in again.said, "what is there is not sent again", again.said)
        own = run(bed, "--on", "board", *SHORT, "--no-push", "--dir", f"{bed.path}/here", "--", "./old", **here)
        tap.ok(own.returncode == 0 and "takes along" not in own.said, "--no-push runs what the device has", own.said)
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def stored_output(daemon, bed, arm):
    run_uid = bed.one("SELECT lower(hex(uid)) FROM run WHERE arm_idx = ? ORDER BY id DESC LIMIT 1", arm)
    shown = daemon.get(f"/runs/{run_uid}").want(200).json
    output = next(a for a in shown["artifacts"] if a["name"] in ("output", "stdout"))
    return daemon.get(f"/files/{output['sha256']}").want(200).body.decode()


def devices_of(bed):
    return bed.sql("SELECT DISTINCT device FROM v_run")


def measured(bed):
    return bed.one("SELECT count(*) FROM run JOIN job ON job.id = run.job_id WHERE block > 0 AND job.name LIKE './old notes%'")


def found_by_what_people_know(tap):
    """A device is found by its name, serial or model or a part of one; several and none are said with what there is"""
    with Bed() as bed:
        daemon = bed.daemon(two(bed))
        for name in ("board", "bench"):
            daemon.device_ready(name)

        def meant(*words):
            done = run(bed, *words, "--print-job", "--", "true")
            return json.loads(done.stdout)["devices"]["where"] if done.returncode == 0 else (done.returncode, done.said)

        for word in ("board", "boa", "0a1b", "PIXEL 6", "l_6"):
            tap.equal(meant("--on", word), 'name == "board"', f"--on {word}")
        tap.equal(meant("--on=7"), 'name == "bench"', "--on=7: a part of a serial and of a model of the same device")
        tap.equal(meant("--on", "local"), 'name == "local"', "this machine, by its name")
        code, said = meant("--on", "pixel")
        tap.ok(code == 2 and "several devices fit `pixel`: board (Pixel_6, ready), bench (Pixel_7, ready)" in said, "several", said)
        code, said = meant("--on")
        tap.ok(code == 2 and "there are several devices: board (Pixel_6, ready), bench (Pixel_7, ready)" in said, "none is the only one", said)
        began = time.monotonic()
        code, said = meant("--on", "galaxy")
        tap.ok(code == 2 and "no device fits `galaxy`; there are: board (Pixel_6, ready), bench (Pixel_7, ready)" in said and "adb devices" in said, "none", said)
        tap.ok(time.monotonic() - began >= 15, "after it was waited for")
        code, said = meant("--on", "ssh:-oProxyCommand=x")
        tap.ok(code == 2, "no host", said)
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def the_only_one(tap):
    """--on alone is the only device that is not this machine"""
    with Bed() as bed:
        daemon = bed.daemon(farm(bed, board=device(bed, "board")))
        daemon.device_ready("board")
        done = run(bed, "--on", *SHORT, "--", "true")
        tap.ok(done.returncode == 0, "it is measured", done.said)
        tap.equal(devices_of(bed), [("board",)], "there")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def one_that_is_away_is_waited_for(tap):
    """A device that is there but not ready is told with its reason, and waited for; Ctrl-C ends that"""
    with Bed() as bed:
        daemon = bed.daemon(farm(bed, board={"link": "unix", "address": f"{bed.path}/agent.sock", "local": False}))
        client = subprocess.Popen([QUIESCE, "run", "--on", *SHORT, "--", "true"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**bed.env, "QUIESCED": QUIESCED}, cwd=bed.path)
        said = client.stderr.readline() + client.stderr.readline()
        tap.ok(re.match(r"\s*board is (down|connecting): ", said) and "agent.sock" in said, "the reason is said", said)
        client.send_signal(signal.SIGINT)
        tap.equal(client.wait(60), 130, "Ctrl-C ends it")
        client.stdout.close()
        client.stderr.close()
        tap.equal(bed.one("SELECT count(*) FROM job"), 0, "nothing was submitted")
        waits = subprocess.Popen([QUIESCE, "run", "--on", *SHORT, "--", "true"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 env={**bed.env, "QUIESCED": QUIESCED}, cwd=bed.path)
        first = waits.stdout.readline()
        agent = bed.agent()
        rest = waits.communicate(timeout=60)[0]
        tap.ok(waits.returncode == 0, "it is measured as soon as it is there", first + rest)
        tap.ok(agent.runs(), "by the agent that came")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def elf(path, machine):
    """The first bytes of a program, and some more."""
    with open(path, "wb") as f:
        f.write(b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0x400000, 64, 0, 0, 64, 56, 0, 64, 0, 0) + bytes(100))
    os.chmod(path, 0o755)


def programs_that_cannot_run(tap):
    """A program for another processor is refused with what is needed, and one without its interpreter is explained"""
    with Bed() as bed:
        daemon = bed.daemon(farm(bed, board=device(bed, "board")))
        daemon.device_ready("board")
        machine = os.uname().machine
        other, name = (62, "x86-64") if machine == "aarch64" else (183, "arm64")
        elf(f"{bed.path}/old", other)
        done = run(bed, "--on", "board", *SHORT, "--a", "./old", "--b", "true")
        tap.ok(done.returncode == 1, "it is refused", done.said)
        tap.ok(f"arm a: `./old` is a program for {name}; board needs " in done.said and f"({machine}): build it with" in done.said, "with what is needed", done.said)
        tap.equal(bed.one("SELECT count(*) FROM run"), 0, "nothing was measured")
        bed.file("script", "#!/no/such/interpreter\n", 0o755)
        done = run(bed, "--on", "board", *SHORT, "--", "./script")
        tap.ok(done.returncode == 1 and "it asks for /no/such/interpreter, which board lacks" in done.said, "a missing interpreter is named", done.said)
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def conditions_fit_the_board(tap):
    """What may be written is held, what may only be read is brought there by load, and a processor's temperature is waited for; all is said, and in the job"""
    with Bed() as bed:
        board = Board(bed, "rpi4b")
        daemon = bed.daemon(farm(bed, board=device(bed, "board", "--sysfs", board.path)))
        daemon.device_ready("board")
        before = run(bed, "--on", "--print-job", "--", "true")
        tap.ok("nobody has looked at it yet" in before.said and "frequency" not in json.loads(before.stdout)["conditions"],
               "--print-job does not look by itself", before.said)
        tap.equal(bed.one("SELECT count(*) FROM job"), 0, "and submits nothing")
        wanted = board_limits(board)
        done = run(bed, "--on", *SHORT, "--", "true", bound_s=120)
        tap.ok("board: holds policy0 at the highest frequency; windows begin when it is at most 10 % busy and thermal:cpu-thermal at most" in done.said,
               "what is held is said", done.said)
        conditions = json.loads(run(bed, "--on", "--print-job", "--", "true").stdout)["conditions"]
        tap.equal(conditions["frequency"], "max", "the job says it")
        tap.equal({line["sensor"] for line in conditions["gate"]}, BUSY, "and what is waited for")
        held = bed.sql("SELECT DISTINCT wanted FROM control WHERE path LIKE '%policy0/scaling_max_freq'")
        tap.ok(("1500000",) in held, "it was held there", [held, done.said])
        tap.equal(board_limits(board), wanted, "all is as it was")
        tap.equal(bed.sql("SELECT name FROM job ORDER BY id"), [("look",), ("true",)], "a look came first")
        tap.equal(bed.one("SELECT count(*) FROM event WHERE job_id = 1 AND body LIKE '%was found before%'"), 0, "which is not told that there was nothing to do")
        tap.equal(bed.sql("SELECT count(*) FROM control WHERE session_id IN (SELECT id FROM session WHERE job_id = 1)"), [(0,)], "and wrote nothing")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def board_limits(board):
    return [open(board.file(f"devices/system/cpu/cpufreq/policy0/scaling_{name}"), encoding="utf-8").read().strip()
            for name in ("governor", "min_freq", "max_freq")]


def a_kind_is_looked_for(tap):
    """POST devices has the devices of a kind looked for, twice as well as once"""
    with Bed() as bed:
        daemon = bed.daemon(farm(bed))
        for _ in range(2):
            told = daemon.ask("POST", "/devices", json.dumps({"link": "adb"})).want(200).json
            tap.equal(told, {"link": "adb", "name": None}, "adb's are looked for")
            told = daemon.ask("POST", "/devices", json.dumps({"link": "usb"})).want(200).json
            tap.equal(told, {"link": "usb", "name": None}, "boards on USB, too")
        daemon.ask("POST", "/devices", json.dumps({"link": "exec"})).want(400)
        daemon.ask("POST", "/devices", json.dumps({"link": "exec", "host": "x"})).want(400)
        tap.equal(daemon.stop(), 0, "quiesced ends well")


run_cases(files_go_along, found_by_what_people_know, the_only_one, one_that_is_away_is_waited_for, programs_that_cannot_run, conditions_fit_the_board,
          a_kind_is_looked_for)
