#!/usr/bin/env python3
"""How warm it is around a device (`ambient` of farm.yaml): kept with each window, shown, and what a gate may be relative to."""
import json
import os
import subprocess

from lib import AGENT, Bed, alive, run_cases, until

ZONE = "class/thermal/thermal_zone0"


def world(bed, farm, temp=41000):
    sys = os.path.join(bed.path, "sys")
    os.makedirs(f"{sys}/{ZONE}")
    for name, value in (("type", "soc"), ("temp", temp)):
        with open(f"{sys}/{ZONE}/{name}", "w", encoding="ascii") as f:
            f.write(f"{value}\n")
    return {"devices": {"board": {"link": "exec", "argv": [AGENT, "--stdio", "--sysfs", sys], **farm.pop("device", {})}}, **farm}


def put(bed, temp):
    with open(f"{bed.path}/sys/{ZONE}/temp", "r+", encoding="ascii") as f:
        f.write(f"{temp}\n")
        f.truncate()


def job(gate="none", blocks=1):
    return {"quiesce": 1, "benchmarks": [{"name": "b", "argv": ["true"]}],
            "plan": {"seed": 1, "blocks": blocks, "window": {"iterations": 1}, "warmup": {"iterations": 0}, "until": {"interval": 0}},
            "conditions": {"gate": gate, "bounds": "none"}}


def readings(bed, number):
    return bed.sql("SELECT n.name, r.status, r.value FROM reading r JOIN sensor n ON n.id = r.sensor_id JOIN window w ON w.id = r.window_id"
                   " JOIN run u ON u.id = w.run_id WHERE u.job_id = ? AND u.block > 0 ORDER BY r.window_id, r.idx", number)


def a_gate_beside_it(tap):
    """A gate that is relative to the room opens at the room's temperature and what is added; the record says what that came to"""
    with Bed() as bed:
        room = bed.file("room", "21.5\n")
        script = bed.file("ask", f"#!/bin/sh\necho x >> {bed.path}/asked\ncat {room}\n", 0o755)
        daemon = bed.daemon(world(bed, {"ambient": {"room": {"command": [script], "max_age": "1h"}}}))
        daemon.device_ready("board")
        number = daemon.job(job([{"sensor": "thermal:soc", "below": "ambient+8C", "timeout": "10min", "on_timeout": "fail"}], blocks=3))
        shown = until("the job says what it waits for", lambda: (lambda j: "thermal:soc" in (j.get("why") or "") and j)(daemon.show(number)))
        tap.ok("41.0" in shown["why"] and "at most 29.5" in shown["why"], "what the bound came to", [shown["why"]])
        put(bed, 29500)
        tap.equal(daemon.ended(number)["state"], "done", "then it measures")
        tap.equal(readings(bed, number), [("thermal:soc", 0, 29500), ("below:thermal:soc", 0, 29500)] * 3, "the gate's record has it")
        tap.equal(bed.sql("SELECT before, after FROM v_evidence WHERE kind = 'ambient:room'"), [(21500, 21500)] * 3, "and each window the room's temperature")
        with open(f"{bed.path}/asked", encoding="ascii") as f:
            tap.equal(len(f.readlines()), 1, "it was asked once: the reading is young enough")
        put(bed, 29600)
        number = daemon.job(job([{"sensor": "thermal:soc", "band": ["ambient-2C", "ambient+8C"], "timeout": "50ms"}]))
        daemon.ended(number)
        tap.equal(bed.sql("SELECT code, value, bound FROM v_taint"), [("gate:thermal:soc", 29600, 29500)], "one above it taints")
        tap.equal(readings(bed, number)[:3], [("thermal:soc", 0, 29600), ("above:thermal:soc", 0, 19500), ("below:thermal:soc", 0, 29500)], "both ends of a band")
        shown = bed.cli("devices", "show", "board").stdout
        tap.ok("room: 21.5" in shown, "the device's page has it", shown.splitlines()[:12])
        read = json.loads(bed.cli("devices", "read", "board", "--json").stdout)["readings"]
        tap.equal([(r["value"], r["status"]) for r in read if r["sensor"] == "ambient:room"], [(21500, "ok")], "and so has what is read now")
        stored = json.loads(bed.one("SELECT conditions FROM point ORDER BY id DESC LIMIT 1"))
        tap.equal((stored["gate"][0]["above"], stored["gate"][0]["below"]), ("ambient-2000", "ambient+8000"), "the conditions are as they were written")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def a_room_that_nobody_knows(tap):
    """Without a reading the line is unreadable: the job acts as `on_timeout` says, and names the sensor; `unreadable_ok` goes on"""
    with Bed() as bed:
        daemon = bed.daemon(world(bed, {"ambient": {"room": {"command": ["sh", "-c", "echo cold; exit 0"]}, "attic": {"command": ["false"]}}, "device": {"ambient": "room"}}, 20000))
        daemon.device_ready("board")
        gate = {"sensor": "thermal:soc", "below": "ambient+8C", "timeout": "10min"}
        number = daemon.job(job([{**gate, "on_timeout": "fail"}]))
        shown = daemon.ended(number)
        tap.equal(shown["state"], "failed", "it fails, and does not wait for ten minutes")
        tap.ok("`ambient:room` has no reading: its answer is not one number" in shown["reason"], "the sensor and why", [str(shown["reason"])])
        number = daemon.job({**job([{**gate, "on_timeout": "taint"}]), "conditions": {"gate": [{**gate, "on_timeout": "taint"}], "bounds": "none", "repeat_tainted": 0}})
        tap.equal(daemon.ended(number)["state"], "done", "or taints")
        tap.equal(bed.sql("SELECT code FROM v_taint"), [("gate:ambient:room",)], "with the sensor's name")
        tap.equal(readings(bed, number), [("ambient:room", 3, 0), ("below:thermal:soc", 3, 0)], "the record says that it is missing")
        tap.equal(bed.sql("SELECT before, after FROM v_evidence WHERE kind = 'ambient:room'"), [(None, None)], "the window has no room temperature")
        number = daemon.job(job([{**gate, "on_timeout": "fail", "unreadable_ok": True}]))
        tap.equal(daemon.ended(number)["state"], "done", "unreadable_ok goes on")
        read = json.loads(bed.cli("devices", "read", "board", "--json").stdout)["readings"]
        tap.equal([r["status"] for r in read if r["sensor"] == "ambient:room"], ["unreadable"], "what is read now says so, too")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def files_and_what_is_refused(tap):
    """A file is read in its unit; a farm without a sensor, a wrong name and a simulation refuse such a gate"""
    with Bed() as bed:
        room = bed.file("room", "234\n")
        daemon = bed.daemon(world(bed, {"ambient": {"room": {"file": room, "unit": "dC"}}}))
        daemon.device_ready("board")
        daemon.ended(daemon.job(job()))
        tap.equal(bed.sql("SELECT DISTINCT before FROM v_evidence WHERE kind = 'ambient:room'"), [(23400,)], "tenths of a degree")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
    with Bed() as bed:
        daemon = bed.daemon(world(bed, {}))
        daemon.device_ready("board")
        for line, why in (({"below": "ambient+8C"}, "this farm has no ambient sensor"), ({"below": "ambient+8"}, "`ambient+8` is not a temperature beside the ambient one"),
                          ({"below": "ambient*2"}, "is not a temperature beside"), ({"band": ["ambient+8C", "ambient+2C"]}, "the band is empty"),
                          ({"band": ["10C", "ambient+2C"]}, "both ends are relative"), ({"below": "ambient+8C", "back_to": "30C"}, "are not of one kind")):
            refused = bed.cli("submit", bed.file("bad.json", json.dumps(job([{"sensor": "thermal:soc", **line}]))))
            tap.ok(refused.returncode == 2 and why in refused.stderr, f"refused: {why}", refused.stderr.splitlines())
        wrong = bed.cli("submit", bed.file("bad.json", json.dumps(job([{"sensor": "load1_milli", "below": "ambient+8C"}]))))
        tap.ok("only a temperature" in wrong.stderr, "of a load", wrong.stderr.splitlines())
        tap.equal(daemon.stop(), 0, "quiesced ends well")
    with Bed() as bed:
        for ambient, device, why in (({"room": {"command": ["a"], "file": "b"}}, {}, "one of `command` and `file`"), ({"room": {"file": "b"}}, {"ambient": "rom"}, "did you mean `room`?"),
                                     ({"a b": {"file": "b"}}, {}, "is not a name for a sensor")):
            path = bed.file("farm.json", json.dumps(world(bed, {"ambient": ambient, "device": device}) if not os.path.exists(f"{bed.path}/sys") else
                                                    {"devices": {"board": {"link": "exec", "argv": [AGENT], **device}}, "ambient": ambient}))
            checked = subprocess.run([os.environ["QS_QUIESCED"], "--check-config", path], capture_output=True, text=True, check=False)
            tap.ok(checked.returncode != 0 and why in checked.stderr + checked.stdout, f"a farm is refused: {why}", (checked.stderr + checked.stdout).splitlines())


def a_sensor_that_takes_its_time(tap):
    """A job that is cancelled while its sensor is read ends at once, and so does the daemon; the command is ended with it"""
    with Bed() as bed:
        script = bed.file("slow", f"#!/bin/sh\necho $$ >> {bed.path}/asked\nexec sleep 50\n", 0o755)
        daemon = bed.daemon(world(bed, {"ambient": {"room": {"command": [script], "timeout": "1min"}}}))
        daemon.device_ready("board")

        def asked(times):
            try:
                with open(f"{bed.path}/asked", encoding="ascii") as f:
                    return [int(line) for line in f][times - 1:]
            except FileNotFoundError:
                return []

        number = daemon.job(job())
        (pid,) = until("the sensor is asked", lambda: asked(1))
        tap.ok(alive(pid), "it is being read")
        daemon.ask("POST", f"/jobs/{number}:cancel").want(200, 202)
        tap.equal(daemon.ended(number, bound_s=30)["state"], "cancelled", "the job does not wait for it")
        until("the command is ended", lambda: not alive(pid))
        daemon.job(job())
        (pid,) = until("the next job asks again", lambda: asked(2))
        tap.equal(daemon.stop(), 0, "quiesced ends well in the middle of it")
        until("the command is ended", lambda: not alive(pid))


run_cases(a_gate_beside_it, a_room_that_nobody_knows, files_and_what_is_refused, a_sensor_that_takes_its_time)
