#!/usr/bin/env python3
"""What a job's conditions change for its processes and on its device, as those see it: priorities and addresses that differ between arms, the
kernel's throttling of SCHED_FIFO, options of the kernel, charging. A folder stands for /sys and /proc/sys."""
import json
import os
import signal
import subprocess

from lib import AGENT, Bed, agent_below, run_cases, until

RT = "proc/sys/kernel/sched_rt_runtime_us"
FACTS = "SELECT e.body FROM session s JOIN env e ON e.id = s.env_id WHERE s.job_id = ?"


def folder(bed, files):
    for name, text in files.items():
        at = os.path.join(bed.path, "sys", name)
        os.makedirs(os.path.dirname(at), exist_ok=True)
        with open(at, "w", encoding="ascii") as f:
            f.write(text + "\n")
    os.makedirs(os.path.join(bed.path, "journal"), exist_ok=True)


def said(bed, name):
    with open(os.path.join(bed.path, "sys", name), encoding="ascii") as f:
        return f.read().strip()


def started(bed):
    argv = [AGENT, "--stdio", "--sysfs", os.path.join(bed.path, "sys"), "--state", os.path.join(bed.path, "journal")]
    daemon = bed.daemon({"devices": {"box": {"link": "exec", "argv": argv}}})
    daemon.device_ready("box")
    return daemon


def job(argv, blocks=1, **conditions):
    return {"quiesce": 1, "benchmarks": [{"name": "b", "argv": argv}],
            "plan": {"seed": 1, "blocks": blocks, "window": {"iterations": 1}, "warmup": {"iterations": 0}, "until": {"interval": 0}},
            "conditions": {"gate": "none", "bounds": "none", "repeat_tainted": 0, **conditions}}


def may_fifo():
    """Whether processes here may have SCHED_FIFO, and one processor is left beside them."""
    return len(os.sched_getaffinity(0)) > 1 and subprocess.run(
        ["chrt", "-f", "9", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def priorities_compared(tap):
    """Arms that differ in their priority: each process has its own, what throttles SCHED_FIFO is off for that arm, and back after it"""
    if not may_fifo():
        tap.skip("priorities are compared", "here nobody may set SCHED_FIFO, or there is one processor")
        return
    with Bed() as bed:
        folder(bed, {RT: "950000"})
        daemon = started(bed)
        seen = os.path.join(bed.path, "seen")
        look = ["sh", "-c", f'read a </proc/self/stat; echo "$ARM $(cat {bed.path}/sys/{RT}) ${{a##*) }}" >>{seen}']
        wanted = job(look, blocks=2)
        wanted["arms"] = {name: {"conditions": name, "env": {"ARM": name}} for name in ("default", "fifo", "nice")}
        wanted["condition_sets"] = {"fifo": {"priority": "fifo 5"}, "nice": {"priority": "nice 6"}}
        number = daemon.job(wanted)
        shown = daemon.ended(number)
        tap.equal(shown["state"], "done", f"the job ends well: {shown.get('reason')}")
        with open(seen, encoding="ascii") as f:
            rows = sorted((words[0], words[1], words[18], words[39], words[40]) for words in map(str.split, f))
        tap.equal(rows, [("default", "950000", "0", "0", "0")] * 2 + [("fifo", "-1", "0", "5", "1")] * 2 + [("nice", "950000", "6", "0", "0")] * 2,
                  "each had its own nice, priority and policy, and only that arm was not throttled")
        tap.equal(said(bed, RT), "950000", "the option is as before")
        rows = bed.sql("SELECT DISTINCT arm, kind, before, after FROM v_evidence WHERE job = ? AND kind IN ('process.fifo_priority', 'process.nice') ORDER BY 1", number)
        tap.equal(rows, [("fifo", "process.fifo_priority", 5, 5), ("nice", "process.nice", 6, 6)], "what was achieved is stored with each window")
        tap.equal(json.loads(bed.one(FACTS, number))["achieved"], {"realtime_throttling": "off"}, "and the environment says that nothing was throttled")
        tap.equal([e.data["text"] for e in daemon.events(number).end() if e.kind == "job.warning"], [], "nothing had to be said")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def throttled_all_the_same(tap):
    """Where the throttling cannot be switched off, a window that is long enough for it says so, once a job"""
    if not may_fifo():
        tap.skip("throttling is told", "here nobody may set SCHED_FIFO, or there is one processor")
        return
    with Bed() as bed:
        folder(bed, {RT: "950000"})
        os.chmod(os.path.join(bed.path, "sys", RT), 0o444)
        daemon = started(bed)
        for nap, warnings in (("0", 0), ("1", 1)):
            number = daemon.job(job(["sleep", nap], blocks=2, priority="fifo"))
            shown = daemon.ended(number)
            tap.equal(shown["state"], "done", f"it is measured: {shown.get('reason')}")
            told = [e.data["text"] for e in daemon.events(number).end() if e.kind == "job.warning"]
            tap.ok(len(told) == warnings and all("50 ms of each second (sched_rt_runtime_us)" in text for text in told),
                   f"windows of {nap} s: {warnings} warnings", told)
            tap.equal(json.loads(bed.one(FACTS, number))["achieved"], {"realtime_throttling": "950000"}, "and the environment has what it is")
        tap.equal(said(bed, RT), "950000", "nothing was changed")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def options_of_the_kernel(tap):
    """Options of the kernel below a test bed's own proc/sys: as a job wants them, put back, and never this machine's"""
    with Bed() as bed:
        folder(bed, {"proc/sys/vm/swappiness": "60", "proc/sys/kernel/randomize_va_space": "2", "proc/sys/kernel/nmi_watchdog": "1"})
        with open("/proc/sys/vm/swappiness", encoding="ascii") as f:
            own = f.read()
        daemon = started(bed)
        seen = os.path.join(bed.path, "seen")
        names = ("vm/swappiness", "kernel/randomize_va_space", "kernel/nmi_watchdog")
        look = ["sh", "-c", f"cd {bed.path}/sys/proc/sys; cat {' '.join(names)} >{seen}"]
        number = daemon.job(job(look, switches={"kernel:swappiness": 1, "kernel:aslr": "off", "kernel:nmi-watchdog": "off"}))
        shown = daemon.ended(number)
        tap.equal(shown["state"], "done", f"the job ends well: {shown.get('reason')}")
        with open(seen, encoding="ascii") as f:
            tap.equal(f.read().split(), ["1", "0", "0"], "as it wanted them")
        tap.equal([said(bed, "proc/sys/" + name) for name in names], ["60", "2", "1"], "and as they were")
        with open("/proc/sys/vm/swappiness", encoding="ascii") as f:
            tap.equal(f.read(), own, "those of this machine were not looked at")
        shown = daemon.ended(daemon.job(job(["true"], switches={"kernel:numa-balancing": "off"})))
        tap.ok(shown["state"] == "failed" and "has no switch `kernel:numa-balancing`" in shown["reason"], "one that it has not is told", [shown["reason"]])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def charging_comes_back(tap):
    """Charging that a job switched off is on again when the host is gone and the agent is killed; a gate waits for the battery's level"""
    with Bed() as bed:
        battery = "class/power_supply/battery/"
        folder(bed, {battery + "charging_enabled": "1", battery + "capacity": "20", battery + "type": "Battery", battery + "online": "1"})
        listen = f"unix:{bed.path}/agent.sock"
        options = ("--sysfs", os.path.join(bed.path, "sys"), "--state", os.path.join(bed.path, "journal"))
        agent = bed.agent(listen, *options)
        config = {"devices": {"box": {"link": "unix", "address": listen[5:]}}}
        daemon = bed.daemon(config)
        daemon.device_ready("box")
        gate = [{"sensor": "battery:battery", "above": "30%", "timeout": "10min", "on_timeout": "fail"},
                {"sensor": "plugged:battery", "below": 0, "timeout": "10min", "on_timeout": "fail"}]
        mark = os.path.join(bed.path, "mark")
        nap = ["sh", "-c", f"touch {mark}; sleep 600"]
        number = daemon.job(job(nap, switches={"charging:*": "off"}, gate=gate))
        until("the job waits for the battery", lambda: "battery:battery is 20" in (daemon.show(number).get("why") or ""))
        tap.equal(said(bed, battery + "charging_enabled"), "0", "charging is off meanwhile")
        folder(bed, {battery + "capacity": "31", battery + "online": "0"})
        until("then it is measured", lambda: os.path.exists(mark))
        daemon.kill()
        os.kill(agent_below(agent.pid), signal.SIGKILL)
        until("charging is on again", lambda: said(bed, battery + "charging_enabled") == "1")
        agent.child.wait(60)
        tap.ok(True, "by the supervisor that outlived both")
        agent = bed.agent(listen, *options)
        tap.equal(os.path.getsize(os.path.join(bed.path, "journal", "control.journal")), 0, "and nothing is left to be put back")
        agent.kill(signal.SIGTERM)
        agent.wait()


run_cases(priorities_compared, throttled_all_the_same, options_of_the_kernel, charging_comes_back)
