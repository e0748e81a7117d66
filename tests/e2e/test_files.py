#!/usr/bin/env python3
"""A job's files on the device: pushed once, laid out for the runs, evicted, cleaned up, and whole or not there whoever is killed."""
import glob
import hashlib
import json
import os
import re
import signal
import subprocess

from lib import AGENT, Bed, agent_below, children, run_cases, until

PLAN = {"seed": 1, "blocks": 1, "window": {"iterations": 1}, "warmup": {"iterations": 1}, "until": {"interval": 0}}
CALM = {"gate": "none", "bounds": "none"}
PROGRAM = "#!/bin/sh\ncat data/in.txt && pwd && echo made > made\n"


def job_of(bed, files, inputs=None, argv=("./run",), label="v1", **more):
    """A job file whose build and inputs are files of the client."""
    return bed.file("job.yaml", {
        "quiesce": 1, "plan": PLAN, "conditions": CALM,
        "benchmarks": [{"name": "it", "argv": list(argv), "output": "capture", "inputs": inputs or {}, **more}],
        "arms": {"one": {"build": {"label": label, "files": files}}}})


def submit(bed, path, wait=True):
    done = bed.cli("submit", path, *(["--wait"] if wait else []))
    return done


def last_job(bed):
    return bed.one("SELECT max(id) FROM job")


def news(bed, kind, job=None):
    rows = bed.sql("SELECT body FROM event WHERE kind = ? AND job_id = ? ORDER BY id", kind, job or last_job(bed))
    return [json.loads(body) for (body,) in rows]


def cached(bed, place=1):
    """Size of each whole file in the agent's cache, by name."""
    root = f"{bed.path}/state/quiesce-agent/cache/{place}/files"
    return {name: os.path.getsize(os.path.join(root, name)) for name in os.listdir(root)}


def laid_out(bed, place=1):
    return os.listdir(f"{bed.path}/state/quiesce-agent/cache/{place}/dirs")


def cache_of(daemon, name="local"):
    return next(d["cache"] for d in daemon.get("/devices").want(200).json["devices"] if d["name"] == name)


def pushed_once(tap):
    """Files go from the client through the daemon's store to the device once, lie side by side for the runs, and go with the job"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready("local")
        bed.file("in.txt", "hello\n")
        bed.file("run.sh", PROGRAM)
        path = job_of(bed, {"run": "run.sh"}, {"data/in.txt": "in.txt"})
        tap.equal(cache_of(daemon)["bytes"], 0, "the cache is empty")
        done = submit(bed, path)
        tap.ok(done.returncode == 0, "the job ends well", [done.stdout, done.stderr])
        size = len(PROGRAM) + 6
        tap.equal(news(bed, "job.push"), [{"files": 2, "bytes": size, "there": 0}], "both files were pushed")
        tap.ok("pushing 2 files" in done.stdout + done.stderr, "and the one who waits was told", [done.stdout, done.stderr])
        tap.equal(len(news(bed, "job.pushed")), 1, "their arrival is recorded")
        names = {hashlib.sha256(PROGRAM.encode()).hexdigest() + ".x": len(PROGRAM), hashlib.sha256(b"hello\n").hexdigest(): 6}
        tap.equal(cached(bed), names, "they lie in the cache by content")
        tap.equal(laid_out(bed), [], "no directory is left")
        run = bed.one("SELECT lower(hex(uid)) FROM run ORDER BY id DESC LIMIT 1")
        shown = daemon.get(f"/runs/{run}").want(200).json
        output = next(a for a in shown["artifacts"] if a["name"] in ("output", "stdout"))
        said = daemon.get(f"/files/{output['sha256']}").want(200).body.decode().splitlines()
        tap.equal(said[0], "hello", "the program found its data beside it")
        tap.ok(said[1].endswith("/dirs/0000"), "in its arm's directory", said)
        before = bed.one("SELECT count(*) FROM event WHERE kind = 'job.pushed'")
        tap.equal(submit(bed, path).returncode, 0, "a second job")
        tap.equal(news(bed, "job.push"), [{"files": 0, "bytes": 0, "there": 2}], "pushes nothing")
        tap.equal(bed.one("SELECT count(*) FROM event WHERE kind = 'job.pushed'"), before, "at all")
        text = bed.cli("devices", "--json")
        tap.equal(json.loads(text.stdout)["devices"][0]["cache"]["bytes"], size, "quiesce devices --json says how full the cache is")
        read = bed.cli("devices", "read", "local")
        tap.ok(read.returncode == 0 and re.search(r"^cpu\.busy_ratio_ppm +[\d.]+ %$", read.stdout, re.M) and "ticks" not in read.stdout,
               "quiesce devices read shows what a gate can wait for", [read.stdout, read.stderr])
        sensors = {r["sensor"]: r for r in json.loads(bed.cli("devices", "read", "local", "--json").stdout)["readings"]}
        tap.equal(read.stdout.count("load1_milli"), 1, "each once")
        busy = sensors["cpu.busy_ratio_ppm"]
        tap.ok(busy["gauge"] and 0 <= busy["value"] <= 10**6 and busy["text"] == f"{busy['value'] / 1e4:.1f} %", "--json has value and text", busy)
        tap.ok(not sensors["cpu.busy_ticks"]["gauge"] and sensors["cpu.busy_ticks"]["value"] > 0, "and the counters", sensors)
        cleaned = bed.cli("devices", "clean", "local")
        tap.ok(cleaned.returncode == 0 and "50 B" in cleaned.stdout or str(size) in cleaned.stdout, "quiesce devices clean says what it freed",
               [cleaned.stdout, cleaned.stderr])
        tap.equal(cached(bed), {}, "and the files are gone")
        tap.equal(cache_of(daemon)["bytes"], 0, "which is known")
        tap.ok(bed.cli("devices", "clean", "nobody").returncode != 0, "a device that is not there is not cleaned")
        tap.equal(submit(bed, path).returncode, 0, "a job after that")
        tap.equal(news(bed, "job.push")[0]["files"], 2, "pushes them again")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def arms_side_by_side(tap):
    """Each arm has its own files under the same name, in paths of one length"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready("local")
        arms = {}
        for name in ("a", "b"):
            bed.file(f"{name}.sh", f"#!/bin/sh\necho {name}; pwd\n")
            arms[name] = {"build": {"label": name, "files": {"bin/tool": f"{name}.sh"}}}
        path = bed.file("job.yaml", {
            "quiesce": 1, "plan": PLAN, "conditions": CALM, "arms": arms,
            "benchmarks": [{"name": "it", "argv": ["bin/tool"], "output": "capture", "setup": {"shell": "test -x bin/tool && echo once >> log"},
                            "conclude": {"shell": "test $(wc -l < log) = 1"}}]})
        done = submit(bed, path)
        tap.ok(done.returncode == 0, "the job ends well", [done.stdout, done.stderr])
        said = []
        for (run,) in bed.sql("SELECT lower(hex(uid)) FROM run WHERE block > 0 ORDER BY arm_idx"):
            shown = daemon.get(f"/runs/{run}").want(200).json
            output = next(a for a in shown["artifacts"] if a["name"] in ("output", "stdout"))
            said.append(daemon.get(f"/files/{output['sha256']}").want(200).body.decode().split())
        tap.equal([s[0] for s in said], ["a", "b"], "each runs its own")
        tap.ok(said[0][1] != said[1][1] and len(said[0][1]) == len(said[1][1]), "in directories whose names are of one length", said)
        tap.equal(bed.sql("SELECT count(*) FROM run WHERE taint != 0")[0][0], 0, "setup's files stay for the runs of the session")


def small_tmpfs(bed):
    """A file system of 2 MB, or None where mounting is not for us."""
    path = os.path.join(bed.path, "small")
    os.makedirs(path)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", path], capture_output=True, check=False)
    return path if done.returncode == 0 else None


def eviction(tap):
    """A small cache drops what was used longest ago, and says the numbers where nothing helps"""
    with Bed() as bed:
        small = small_tmpfs(bed)
        options = ["--cache", small] if small else ["--cache", os.path.join(bed.path, "capped"), "--cache-max", "2M"]
        tap.say([f"the cache is bounded by {'a tmpfs' if small else '--cache-max'}"])
        try:
            farm = {"devices": {"local": {"link": "exec", "argv": [AGENT, "--stdio", *options], "local": True}}}
            daemon = bed.daemon(json.dumps(farm))
            daemon.device_ready("local")
            bed.file("run.sh", "#!/bin/sh\ntest -s big\n")
            for i, size in enumerate((900, 800, 1100, 3000)):
                with open(f"{bed.path}/big{i}", "wb") as f:
                    f.write(bytes([i]) * 1000 * size)
            sizes = []
            for i in range(3):
                done = submit(bed, job_of(bed, {"run": "run.sh"}, {"big": f"big{i}"}))
                tap.ok(done.returncode == 0, f"file {i} fits", [done.stdout, done.stderr])
                names = os.listdir(glob.glob(f"{options[1]}/1/files")[0])
                sizes.append(sorted(os.path.getsize(f"{options[1]}/1/files/{n}") // 1000 for n in names))
            tap.equal(sizes, [[0, 900], [0, 800, 900], [0, 800, 1100]], "the oldest went when the third came")
            done = submit(bed, job_of(bed, {"run": "run.sh"}, {"big": "big3"}))
            tap.ok(done.returncode != 0, "what can never fit fails the job")
            tap.ok("no space" in done.stderr + done.stdout and "3000000" in done.stderr + done.stdout, "with what it needs", [done.stderr])
            done = submit(bed, job_of(bed, {"run": "run.sh"}, {"big": "big2"}))
            tap.equal(done.returncode, 0, "and leaves the device in order")
            tap.equal(news(bed, "job.push")[0]["files"], 0, "with what it had")
            tap.equal(daemon.stop(), 0, "quiesced ends well")
        finally:
            if small:
                for daemon in bed.processes:
                    daemon.kill()
                until("it can be unmounted", lambda: subprocess.run(["umount", small], capture_output=True, check=False).returncode == 0)


def big_job(bed):
    bed.file("run.sh", "#!/bin/sh\ntest $(wc -c < big) = 40000000\n")
    with open(f"{bed.path}/big", "wb") as f:
        for i in range(40):
            f.write(bytes([i, 1]) * 500000)
    return job_of(bed, {"run": "run.sh"}, {"big": "big"})


def half_way(bed, place=1):
    """Some of the file, not all of it, has reached the device."""
    try:
        return 0 < os.path.getsize(f"{bed.path}/state/quiesce-agent/cache/{place}/files/part") < 40000000
    except OSError:
        return False


def agent_killed(tap):
    """SIGKILL of the agent in the middle of a push: the job goes on, and nothing half is left"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready("local")
        path = big_job(bed)
        tap.equal(submit(bed, path, wait=False).returncode, 0, "submitted")
        job = last_job(bed)
        until("half of it is there", lambda: half_way(bed), pause_s=0.0005)
        os.kill(agent_below(children(daemon.pid)[0]), signal.SIGKILL)
        ended = daemon.ended(job)
        tap.ok(ended["state"] == "done", "the job ends well", [ended])
        tap.ok(len(news(bed, "job.lost", job)) == 1 and len(news(bed, "job.push", job)) == 2, "it was pushed again")
        sums = {name.split(".")[0] for name in cached(bed)}
        tap.ok(hashlib.sha256(open(f"{bed.path}/big", "rb").read()).hexdigest() in sums and "part" not in sums, "and is whole", [sums])
        tap.equal(laid_out(bed), [], "no directory is left")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def daemon_killed(tap):
    """SIGKILL of the daemon in the middle of a push: its next life pushes what lacks and finishes the job"""
    with Bed() as bed:
        agent = bed.agent()
        farm = json.dumps({"devices": {"local": {"link": "unix", "address": f"{bed.path}/agent.sock"}}})
        daemon = bed.daemon(farm)
        daemon.device_ready("local")
        tap.equal(submit(bed, big_job(bed), wait=False).returncode, 0, "submitted")
        job = last_job(bed)
        until("half of it is there", lambda: half_way(bed), pause_s=0.0005)
        daemon.kill()
        daemon.wait()
        until("the agent has let go of it", lambda: not half_way(bed))
        daemon = bed.daemon(farm)
        tap.equal(daemon.ended(job)["state"], "done", "the job ends well")
        tap.ok("part" not in cached(bed) and len(cached(bed)) == 2, "both files are whole")
        tap.ok(agent.runs(), "the agent has lived through it")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def swept(tap):
    """Content beside the database that no job and no run names goes when the daemon starts, a day after it came"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready("local")
        bed.file("run.sh", PROGRAM)
        bed.file("in.txt", "hello\n")
        tap.equal(submit(bed, job_of(bed, {"run": "run.sh"}, {"data/in.txt": "in.txt"})).returncode, 0, "a job with files and output")
        used = set(glob.glob(f"{bed.db}.files/??/*"))
        for content in (b"old", b"new"):
            name = hashlib.sha256(content).hexdigest()
            tap.equal(daemon.ask("PUT", f"/files/{name}", content).status, 201, "uploaded for no job")
        tap.equal(daemon.stop(), 0, "quiesced ends well")
        for path in glob.glob(f"{bed.db}.files/??/*"):
            if not path.endswith(hashlib.sha256(b"new").hexdigest()):
                os.utime(path, (0, 0))
        daemon = bed.daemon()
        left = set(glob.glob(f"{bed.db}.files/??/*"))
        tap.equal(len(left - used), 1, "what came of late stays")
        tap.ok(used <= left and len(used) >= 3, "and all that is named", [used - left])
        tap.ok("1 files that no job or run refers to" in daemon.text, "the log says it", daemon.text.splitlines())
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def no_place(tap):
    """An agent without a place for files says so when a job needs them"""
    with Bed() as bed:
        bed.env["XDG_STATE_HOME"], bed.env["HOME"] = f"{bed.path}/state", "/proc"
        farm = json.dumps({"devices": {"local": {"link": "exec", "local": True,
                                                 "argv": ["/usr/bin/env", "XDG_STATE_HOME=/proc", AGENT, "--stdio"]}}})
        daemon = bed.daemon(farm)
        daemon.device_ready("local")
        tap.equal(cache_of(daemon), None, "there is no cache")
        bed.file("run.sh", "#!/bin/sh\n")
        done = submit(bed, job_of(bed, {"run": "run.sh"}))
        tap.ok(done.returncode == 3 and "takes no files" in done.stderr + done.stdout, "the job fails with the reason", [done.stderr])
        none = bed.cli("devices", "clean", "local")
        tap.ok(none.returncode != 0 and "takes no files" in none.stderr, "there is nothing to clean", [none.stderr])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


run_cases(pushed_once, arms_side_by_side, eviction, agent_killed, daemon_killed, swept, no_place)
