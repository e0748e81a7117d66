#!/usr/bin/env python3
"""What the link adb adds to adb itself, with the real server and a real adbd in a box (tests/beds/adb/box.py), in the same run: from the phone's
appearance to ready against pushing the same agent by hand; recovery after adbd was killed against adb's own; round trips and a push (links.py)."""
import os
import subprocess
import sys
import time

sys.path += [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", place) for place in ("e2e", "beds/adb", "beds/ssh")]

import box
from lib import Bed, until
from links import compare, line

ROUNDS = 5
NAME = "127.0.0.1-5555"


def adb(phone, *words):
    return subprocess.run(["adb", "-P", box.PORT, *words], capture_output=True, text=True, check=False, env=phone.bed.env).stdout


def took(act):
    before = time.monotonic()
    act()
    return time.monotonic() - before


def by_hand(phone):
    """What a person would type for the same."""
    adb(phone, "push", os.path.join(phone.agents, "quiesce-agent-static"), "/data/local/tmp/by-hand")
    adb(phone, "shell", "chmod 700 /data/local/tmp/by-hand; /data/local/tmp/by-hand --version; rm /data/local/tmp/by-hand")


def state(daemon):
    devices = {d["name"]: d for d in daemon.get("/devices").json["devices"]}
    return devices.get(NAME, {}).get("state")


def plugged(phone, daemon):
    """(we, by hand) in s: the phone is new, and new again."""
    adb(phone, "disconnect")
    until("it is gone", lambda: state(daemon) is None)
    pid = phone.pid()
    if pid:
        os.kill(pid, 9)
    subprocess.run(f"rm -rf {phone.root}/data/local/tmp/*", shell=True, check=True)
    before = time.monotonic()
    adb(phone, "connect", box.DOOR)
    until("it is ready", lambda: state(daemon) == "ready", pause_s=0.002)
    return time.monotonic() - before, took(lambda: by_hand(phone))


def recovered(phone, daemon):
    """(we, adb) in s after adbd was killed and started again."""
    phone.end(phone.adbd)
    until("its loss is noticed", lambda: state(daemon) == "down")
    phone.start_adbd()
    before = time.monotonic()
    until("adb has it", lambda: "\tdevice" in adb(phone, "devices"), pause_s=0.002)
    theirs = time.monotonic() - before
    until("it is ready", lambda: state(daemon) == "ready", pause_s=0.002)
    return time.monotonic() - before, theirs


def main():
    with Bed() as bed, box.Box(bed) as phone:
        phone.start_adbd()
        phone.start_server()
        daemon = bed.daemon(phone.farm())
        daemon.device_ready(NAME)
        pairs = [plugged(phone, daemon) for _ in range(ROUNDS)]
        line("plugged to ready (looked, pushed, started)", [p[0] for p in pairs], [p[1] for p in pairs], "s", 1, "adb alone")
        pairs = [recovered(phone, daemon) for _ in range(ROUNDS)]
        line("adbd back to ready again", [p[0] for p in pairs], [p[1] for p in pairs], "s", 1, "adb alone")
        daemon.stop()
        compare(bed, "adb", phone.farm(), NAME, ["adb", "-P", box.PORT, "shell"], "/data/local/tmp")


if __name__ == "__main__":
    try:
        box.packages()
        box.enter()
    except box.Missing as why:
        print(f"no figures: {why}")
        sys.exit(77)
    main()
