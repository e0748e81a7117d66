#!/usr/bin/env python3
"""A phone in a folder: switches that are commands, held by jobs and put back, and an unrooted phone whose files nobody but root may write. The
daemon and its agent are as they are; the commands are scripts that keep their state in files."""
import json
import os
import shutil
import signal
import time

from phone import DUMPSYS, PACKAGE, SHELL, STATE, Phone
from lib import Bed, run_cases, until


def job(argv, **conditions):
    return {"quiesce": 1, "benchmarks": [{"name": "b", "argv": argv}],
            "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 1}, "warmup": {"iterations": 0}, "until": {"interval": 0}},
            "conditions": {"gate": "none", "bounds": "none", "repeat_tainted": 0, **conditions}}


def started(bed, phone):
    daemon = bed.daemon(phone.farm())
    daemon.device_ready("phone")
    return daemon


QUIET = {"airplane": "on", "animation:*": "off", "brightness": 5, "fixed-performance": "on", "standby:org.example": "off",
         "app:org.other": "off"}
SENT = {"cmd connectivity airplane-mode enable", "cmd connectivity airplane-mode disable",
        "settings put global window_animation_scale 0", "settings put global window_animation_scale 1.0",
        "settings put global transition_animation_scale 0", "settings delete global transition_animation_scale",
        "settings put global animator_duration_scale 0", "settings put global animator_duration_scale 0.5",
        "settings put system screen_brightness 5", "settings put system screen_brightness 102",
        "cmd power set-fixed-performance-mode-enabled true", "cmd power set-fixed-performance-mode-enabled false",
        "am set-standby-bucket org.example 40", "am set-standby-bucket org.example 10", "am force-stop org.other"}
ASKED = {"settings get global airplane_mode_on", "settings get global window_animation_scale", "settings get global transition_animation_scale",
         "settings get global animator_duration_scale", "settings get system screen_brightness", "am get-standby-bucket org.example"}


def held_by_commands(tap):
    """Settings, apps and a mode are as the job wants while it measures, and as they were after it"""
    with Bed() as bed:
        phone = Phone(bed)
        daemon = started(bed, phone)
        shown = daemon.ended(daemon.job(job(["sh", "-c", f"cd {phone.path('phone/state')}; grep . * >seen; mv seen ../state/log.seen"], switches=QUIET)))
        tap.equal(shown["state"], "done", "the job ends well")
        with open(phone.path("phone/state/log.seen"), encoding="ascii") as f:
            seen = dict(line.rstrip("\n").split(":", 1) for line in f if not line.startswith("log"))
        os.unlink(phone.path("phone/state/log.seen"))
        tap.equal({k: seen.get(k) for k in ("global.airplane_mode_on", "global.window_animation_scale", "global.transition_animation_scale",
                                            "global.animator_duration_scale", "system.screen_brightness", "bucket.org.example")},
                  {"global.airplane_mode_on": "1", "global.window_animation_scale": "0", "global.transition_animation_scale": "0",
                   "global.animator_duration_scale": "0", "system.screen_brightness": "5", "bucket.org.example": "40"},
                  "while it measured")
        tap.equal(phone.state(), STATE, "all of it is as before: what had no value has none")
        said = phone.log()
        tap.equal(sorted(line for line in said if " get" not in line and not line.startswith("dumpsys")), sorted(SENT), "each command that sets was sent once: no word more, none less")
        tap.equal({line for line in said if " get" in line}, ASKED, "and so were those that ask")
        first = {line: said.index(line) for line in said}
        tap.ok(first["settings get system screen_brightness"] < first["settings put system screen_brightness 5"], "what was there is asked before it is set", said)
        rows = bed.sql("SELECT path, before, wanted, now, outcome FROM v_control WHERE kind = 'set' AND path LIKE '%animator%' ORDER BY seq LIMIT 1")
        tap.equal(rows, [("settings get global animator_duration_scale", "0.5", "0", "0", "set")], "what was changed is stored")
        left = bed.one("SELECT count(*) FROM v_control WHERE outcome NOT IN ('set', 'same')")
        tap.equal((left, bed.one("SELECT count(*) FROM v_control WHERE kind = 'restore'")), (0, 8), "and what was put back")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def arms_differ(tap):
    """Two arms that differ in a setting: each run has its own, and what nothing tells is put back before it is set anew"""
    with Bed() as bed:
        phone = Phone(bed)
        daemon = started(bed, phone)
        seen = phone.path("phone/journal/seen")
        look = ["sh", "-c", f"echo $ARM $(cat {phone.path('phone/state/system.screen_brightness')}) >>{seen}"]
        wanted = job(look, switches={"brightness": 5, "fixed-performance": "on"})
        wanted["arms"] = {name: {"conditions": name, "env": {"ARM": name}} for name in ("default", "bright")}
        wanted["condition_sets"] = {"bright": {"switches": {"brightness": 255, "fixed-performance": "on"}}}
        wanted["plan"]["blocks"] = 3
        tap.equal(daemon.ended(daemon.job(wanted))["state"], "done", "the job ends well")
        with open(seen, encoding="ascii") as f:
            tap.equal(sorted(f.read().splitlines()), ["bright 255"] * 3 + ["default 5"] * 3, "each run had its own")
        said = [line.rsplit(" ", 1)[1] for line in phone.log() if line.startswith("cmd power")]
        tap.equal(said, ["true", "false"] * (len(said) // 2), "the mode was never set twice without being put back, which comes last")
        tap.equal(phone.state(), STATE, "all of it is as before")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def nothing_left_behind(tap):
    """Agent and supervisor are killed while a job holds a phone, and its daemon: what was set is put back"""
    with Bed() as bed:
        phone = Phone(bed)
        daemon = started(bed, phone)
        nap = ["sleep", str(60 + os.getpid() / 10**8)]
        number = daemon.job(job(nap, switches={"airplane": "on", "animation:*": "off"}))
        until("a window is open", lambda: pids(nap[1]))
        tap.equal(phone.state()["global.airplane_mode_on"], "1", "it is held")
        for pid in pids(phone.path("phone/journal")):  # the agent, its supervisor, and who started them
            kill(pid)
        until("the next agent holds it again", lambda: pids(nap[1]) and phone.log().count("cmd connectivity airplane-mode enable") == 2)
        tap.equal(phone.log().count("cmd connectivity airplane-mode disable"), 1, "and has put back before what the killed one left")
        tap.equal(phone.log().count("settings put global animator_duration_scale 0.5"), 1, "of a value that it found in the journal")
        daemon.ask("POST", f"/jobs/{number}:cancel").want(200)
        daemon.ended(number)
        tap.equal(phone.state(), STATE, "a job that was cancelled leaves nothing")
        daemon.job(job(nap, switches={"airplane": "on"}))
        until("it is held", lambda: phone.state()["global.airplane_mode_on"] == "1")
        daemon.kill()
        until("the daemon was killed: its link has ended, and all is put back", lambda: phone.state() == STATE)
        tap.ok(True, "nothing is left behind")


def what_cannot_be_said(tap):
    """A command that is denied, one that is not there, one that hangs, one that says nonsense: the job says which and why, and what was set is put back"""
    cases = [("denied", {"airplane": "on", "animation:window": "off"}, lambda p: p.set("deny", ""), "Permission denial"),
             ("absent", {"wifi": "on", "airplane": "on"}, lambda p: (p.set("global.wifi_on", "0"), os.unlink(p.path("phone/bin/cmd"))), "has no such command"),
             ("no program", {"airplane": "on"}, lambda p: os.chmod(p.path("phone/bin/cmd"), 0o644), "it may not be started"),
             ("nonsense", {"airplane": "on", "wifi": "off"}, lambda p: p.set("global.wifi_on", "3"), "it says `3`"),
             ("without effect", {"airplane": "on", "bluetooth": "off"}, lambda p: (p.set("global.bluetooth_on", "1"), p.script("svc", "true")), "it did not stay"),
             ("flood", {"airplane": "on", "wifi": "off"}, lambda p: p.script("settings", 'case $3 in wifi_on) yes ;; *) cat "$S/$2.$3" ;; esac'), "ten seconds")]
    for name, switches, spoil, wanted in cases:
        with Bed() as bed:
            phone = Phone(bed)
            spoil(phone)
            before = phone.state()
            daemon = started(bed, phone)
            shown = daemon.ended(daemon.job(job(["true"], switches=switches)))
            tap.equal(shown["state"], "failed", f"{name}: the job fails")
            tap.ok(wanted in str(shown), f"{name}: it says why", [str(shown)[:3000]])
            tap.equal(phone.state(), before, f"{name}: all is put back")


def without_root(tap):
    """The files of an unrooted phone: what cannot be held is said with the reason and the right that is missing, and none is changed"""
    with Bed() as bed:
        phone = Phone(bed)
        before = phone.files()
        daemon = started(bed, phone)
        for conditions, wanted in (({"frequency": "max"}, "root"), ({"switches": {"core-control": "off"}}, "as root it may"),
                                   ({"online": "0"}, "root")):
            shown = daemon.ended(daemon.job(job(["true"], **conditions)))
            tap.equal(shown["state"], "failed", f"{conditions}: the job fails")
            tap.ok(wanted in str(shown), f"{conditions}: and says by which right it could be", [str(shown)[:2000]])
        shown = daemon.ended(daemon.job(job(["true"], switches={"airplane": "on"})))
        tap.equal(shown["state"], "done", "what needs no root works all the same")
        board = daemon.get("/devices/phone").want(200).json["board"]
        held = {d["name"]: d["hold"] for d in board["domains"]}
        tap.equal(set(held.values()), {"denied"}, f"no clock can be held: {held}")
        tap.ok(all(not s["writable"] for s in board["switches"] if s["path"].startswith(("devices/", "module/"))), "and no file of a switch written")
        user = bed.one("SELECT json_extract(e.body, '$.device.uid') FROM session s JOIN env e ON e.id = s.env_id LIMIT 1")
        tap.equal(user, str(SHELL if phone.root else os.geteuid()), "its agent was the user of a shell")
        tap.equal(phone.files(), before, "no file of the phone is another one")
        tap.equal(phone.state(), STATE, "nor a setting")
        tap.equal(os.path.getsize(phone.path("phone/journal/control.journal")), 0, "and the journal is empty")


def busy_until_fast(tap):
    """`frequency: hold` on an unrooted phone: its processor is kept busy until its clock is at its highest, and nothing is written"""
    with Bed() as bed:
        phone = Phone(bed)
        clock = phone.path("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")
        daemon = started(bed, phone)
        before = phone.files()
        number = daemon.job(job(["true"], frequency="hold", affinity="0"))
        until("the job waits for the clock",
              lambda: "freq:cpu0_khz is 384 MHz, wanted at least 1512 MHz; its processors are kept busy" in str(daemon.show(number)))
        before[clock] = b"1512000\n"
        mode = os.stat(clock).st_mode
        os.chmod(clock, mode | 0o200)  # for the kernel, which is this test; its agent only reads
        with open(clock, "wb") as f:
            f.write(before[clock])
        os.chmod(clock, mode)
        shown = daemon.ended(number)
        tap.equal(shown["state"], "done", "the job ends well")
        tap.equal(bed.one("SELECT max(taint) FROM window"), 0, "and its window is clean")
        tap.equal(bed.sql("SELECT sensor, value FROM v_gate WHERE sensor LIKE 'freq:%'"), [("freq:cpu0_khz", 1512000)], "the clock was read when it began")
        tap.ok("cpu0: 1512 MHz (its highest; kept busy until it is there, nothing is written" in str(bed.sql("SELECT body FROM event WHERE kind = 'job.pinned'")),
               "what it came to is in the log")
        tap.equal(phone.files(), before, "no other file of the phone is another one")
        tap.equal(bed.one("SELECT count(*) FROM v_control"), 0, "nothing was changed, nor put back")


SERVICES = {"prop.init.svc.thermal-engine": "running", "prop.init.svc.mpdecision": "running", "prop.init.svc.perfd": "stopped",
            "prop.vendor.powerhal.init": "1", "idle": "1", "appops.org.other": "RUN_IN_BACKGROUND: allow; time=+2d3h ago"}
FACTS = "SELECT e.body FROM session s JOIN env e ON e.id = s.env_id WHERE s.job_id = ?"


def plain(state):
    """Without when something was last used."""
    return {name: value.split(";")[0] for name, value in state.items()}


def services_stopped(tap):
    """Services, doze and apps in the background as a job wants them, and as they were; what protects from heat needs a limit of the job's own"""
    with Bed() as bed:
        phone = Phone(bed)
        phone.script("dumpsys", DUMPSYS)
        for name, value in SERVICES.items():
            phone.set(name, value)
        before = phone.state()
        daemon = started(bed, phone)
        quiet = {"service:thermal-engine": "off", "service:mpdecision": "off", "service:perfd": "off", "power-hal": "off", "doze": "off",
                 "background:org.example": "off", "background:org.other": "off"}
        shown = daemon.ended(daemon.job(job(["true"], switches=quiet)))
        tap.ok(shown["state"] == "failed" and "service:thermal-engine" in shown["reason"] and "`trip: 85C`" in shown["reason"],
               "a job that stops what protects the phone from heat says its own limit, or is refused", [shown["reason"]])
        tap.equal(phone.state(), before, "before anything was changed")
        names = sorted(SERVICES) + ["appops.org.example"]
        look = f"cd {phone.path('phone/state')}; for f in {' '.join(names)}; do echo $f=$(cat $f); done >{phone.path('phone/journal/seen')}"
        number = daemon.job(job(["sh", "-c", look], switches=quiet, trip="85C"))
        shown = daemon.ended(number)
        tap.equal(shown["state"], "done", f"with one it is measured: {shown.get('reason')}")
        with open(phone.path("phone/journal/seen"), encoding="ascii") as f:
            seen = dict(line.rstrip("\n").split("=", 1) for line in f)
        tap.equal(plain(seen),
                  {"prop.init.svc.thermal-engine": "stopped", "prop.init.svc.mpdecision": "stopped", "prop.init.svc.perfd": "stopped",
                   "prop.vendor.powerhal.init": "0", "idle": "0", "appops.org.other": "RUN_IN_BACKGROUND: ignore",
                   "appops.org.example": "RUN_IN_BACKGROUND: ignore"}, "as they were while it measured")
        after = plain(phone.state())
        tap.equal(after.pop("appops.org.example"), "RUN_IN_BACKGROUND: allow", "what had its default is allowed again")
        tap.equal(after, plain(before), "and all else is as before")
        sent = [line for line in phone.log() if line.split(" ")[0] in ("start", "stop")]
        tap.equal(sorted(sent), ["start mpdecision", "start thermal-engine", "stop mpdecision", "stop thermal-engine"],
                  "a service that stood still already was left alone")
        fact = json.loads(bed.one(FACTS, number))["achieved"]["thermal_protection"]
        tap.equal(fact, "off: service:thermal-engine; trip limit 85.0 °C", "that its protection was off is part of the environment")
        shown = daemon.ended(daemon.job(job(["true"], switches={"service:nobody": "off"})))
        tap.ok(shown["state"] == "failed" and "getprop init.svc.nobody" in shown["reason"], "a service that the phone has not is told", [shown["reason"]])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def app_as_it_should_be(tap):
    """An app that a job names is looked at before anything is measured: a debug build, or one that is not compiled as wanted, is refused"""
    release = {"flags": "HAS_CODE ALLOW_BACKUP", "status": "speed"}
    cases = [("as wanted", release, "false", "done", None),
             ("a debug build", {**release, "flags": "DEBUGGABLE HAS_CODE"}, "false", "failed", "is a build that may be debugged"),
             ("interpreted", {**release, "status": "verify"}, "false", "failed", "cmd package compile -m speed -f org.example"),
             ("a release build where one to debug is wanted", release, "true", "failed", "write `debuggable: false`"),
             ("absent", None, "false", "failed", "phone has no app org.example")]
    with Bed() as bed:
        phone = Phone(bed)
        phone.script("dumpsys", DUMPSYS)
        bed.env["PATH"] = f"{phone.path('phone/bin')}:{os.environ['PATH']}"
        daemon = started(bed, phone)
        at, mark = phone.path("phone/state/package.org.example"), phone.path("phone/journal/mark")
        for name, package, debuggable, state, why in cases:
            if package:
                phone.set("package.org.example", PACKAGE % package)
            else:
                os.unlink(at)
            number = daemon.job(job(["touch", mark], app={"package": "org.example", "debuggable": debuggable, "compiled": "speed"}))
            shown = daemon.ended(number)
            tap.equal(shown["state"], state, f"{name}: {shown.get('reason')}")
            tap.ok(why is None or why in shown["reason"], f"{name}: the reason says what to do", [str(shown.get("reason"))])
            tap.equal(os.path.exists(mark), state == "done", f"{name}: measured only where it is right")
            if os.path.exists(mark):
                os.unlink(mark)
            build = package and ("debuggable" if "DEBUGGABLE" in package["flags"] else "release build")
            tap.equal(json.loads(bed.one(FACTS, number))["achieved"]["app org.example"],
                      f"1.0.7 (7), {build}, compiled: {package['status']}" if package else "not installed", f"{name}: what was found is part of the environment")
        os.unlink(phone.path("phone/bin/dumpsys"))
        shown = daemon.ended(daemon.job(job(["true"], app={"package": "org.example", "debuggable": "false"})))
        tap.ok(shown["state"] == "failed" and "`dumpsys package org.example`" in shown["reason"], "a device that is no Android says so", [shown["reason"]])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def no_right_to_a_priority(tap):
    """An ordinary user may give no process SCHED_FIFO or less than nice 0: the job says what is missing, before anything is measured"""
    with Bed() as bed:
        phone = Phone(bed)
        daemon = started(bed, phone)
        mark = phone.path("phone/journal/mark")
        for priority, missing in (("fifo", "ulimit -r"), ("nice -5", "ulimit -e")):
            shown = daemon.ended(daemon.job(job(["touch", mark], priority=priority)))
            tap.equal(shown["state"], "failed", f"{priority}: the job fails")
            if priority == "fifo" and os.cpu_count() == 1:
                tap.ok("only one" in shown["reason"], "on one processor nobody may", [shown["reason"]])
            else:
                tap.ok("root, CAP_SYS_NICE" in shown["reason"] and missing in shown["reason"], f"{priority}: and says which right is missing", [shown["reason"]])
        tap.ok(not os.path.exists(mark), "nothing was measured")
        number = daemon.job(job(["sh", "-c", f"read a </proc/self/stat; echo $a >{mark}"], priority="nice 7", aslr="off"))
        shown = daemon.ended(number)
        tap.equal(shown["state"], "done", f"what needs no right is given: {shown.get('reason')}")
        with open(mark, encoding="ascii") as f:
            tap.equal(f.read().rsplit(")", 1)[1].split()[16], "7", "as the process itself sees")
        rows = bed.sql("SELECT DISTINCT kind, before, after FROM v_evidence WHERE job = ? AND kind IN ('process.nice', 'process.fixed_addresses') ORDER BY kind", number)
        tap.equal(rows, [("process.fixed_addresses", 1, 1), ("process.nice", 7, 7)], "and so it is stored")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def pids(mark):
    """Living processes that have this in their command line."""
    ret = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as f:
                line = f.read()
        except OSError:
            continue
        if name.isdigit() and mark.encode() in line and int(name) != os.getpid() and b"quiesced" not in line:
            ret.append(int(name))
    return ret


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        time.sleep(0)


if os.geteuid() == 0 and not shutil.which("setpriv"):
    print("1..0 # SKIP as root there has to be setpriv, to become user 2000")
elif os.geteuid() == 0 and os.system(f"setpriv --reuid {SHELL} --regid {SHELL} --clear-groups true") != 0:
    print("1..0 # SKIP this root may not become user 2000")
else:
    run_cases(held_by_commands, arms_differ, nothing_left_behind, what_cannot_be_said, without_root, busy_until_fast,
              services_stopped, app_as_it_should_be, no_right_to_a_priority)
