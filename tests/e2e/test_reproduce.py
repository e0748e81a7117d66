#!/usr/bin/env python3
"""Doing a job again: the same order from the same seed, shown by the database; another executable is refused."""
import glob
import hashlib
import json
import os
import re
import shutil
import sys

from lib import AGENT, Bed, program, run_cases, until

QUICK = ("--runs", "4", "--iterations", "3", "--warmup", "1")


def turns(bed, job):
    return bed.sql("SELECT point, block, pos, arm FROM v_run WHERE job = ? AND attempt = 0 ORDER BY point, block, pos", job)


def a_job_again(tap):
    """Seed, order, devices and document are the first job's; the page tells what differs and whether the values agree"""
    with Bed() as bed:
        told = bed.cli("run", "--runs", "12", *QUICK[2:], "--a", "sleep 0.002", "--b", "sleep 0.003", "--c", "sleep 0.002")
        tap.equal(told.returncode, 0, f"a job: {told.stderr[-300:]}")
        dry = bed.cli("reproduce", "1", "--dry-run")
        tap.ok(dry.returncode == 0 and "job 1 again: seed" in dry.stdout, "a dry run says what it takes", dry.stdout.splitlines())
        tap.equal(bed.one("SELECT count(*) FROM job"), 1, "and submits nothing")
        told = bed.cli("reproduce", "1", "--json")
        tap.equal(told.returncode, 0, f"it is done again: {told.stderr[-500:]}")
        doc = json.loads(told.stdout)
        tap.equal((doc["original"], doc["job"], doc["same_seed"]), (1, 2, True), "by another job")
        seeds = [seed for (seed,) in bed.sql("SELECT seed FROM job ORDER BY id")]
        tap.equal(seeds[0], seeds[1], "the same seed in the database")
        first, again = turns(bed, 1), turns(bed, 2)
        tap.equal(first, again, "the same order in the database")
        tap.ok(len({tuple(t[3] for t in first if t[1] == b) for b in range(1, 13)}) > 1, "an order that was drawn", first)
        tap.equal(doc["order"], {"turns": len(first), "same": len(first)}, "as the document says")
        texts = [json.loads(spec) for (spec,) in bed.sql("SELECT spec FROM job ORDER BY id")]
        tap.equal(texts[0]["text"], texts[1]["text"], "the same document")
        tap.equal((texts[1]["reproduces"], texts[1]["where"]), (1, 'name == "local"'), "and which job, on which device")
        tap.equal([e["matter"] for e in doc["environments"]], [0], "nothing that matters differs on this machine")
        tap.equal([r["arm"] for r in doc["results"]], ["a", "b", "c"], "each arm against itself")
        verdicts = [r["comparisons"][0] for r in doc["results"]]
        tap.ok(all(v["base"]["runs"] == 12 and v["candidate"]["runs"] == 12 and v["lo"] < v["hi"] for v in verdicts), "with intervals", doc)
        for arm, own in zip("abc", verdicts):
            two = json.loads(bed.cli("compare", f"1:{arm}", f"2:{arm}", "--json").stdout)["results"][0]["devices"][0]["comparisons"][0]
            told = [(v["ratio"], v["lo"], v["hi"], v["p"]) for v in (own, two)]
            tap.ok(own["uses_tainted"] or told[0] == told[1], f"arm {arm}: `compare` says the same of both jobs", told)
        uid = bed.one("SELECT run FROM v_run WHERE job = 1 AND block = 2 AND arm = 'b'")
        page = bed.cli("reproduce", uid)
        tap.equal(page.returncode, 0, f"the job of a run: {page.stderr[-300:]}")
        words = re.sub(r"\s+", " ", page.stdout)
        tap.ok("the same seed, the same order in all" in words, "it is told", page.stdout.splitlines())
        tap.ok(uid in words and "in the run with the same turn now" in words, "beside the run that had its turn", page.stdout.splitlines())


def another_executable(tap):
    """A program that is another one now is refused, and told afterwards where that was allowed; one that is gone is refused"""
    with Bed() as bed:
        program = os.path.join(bed.path, "work")
        shutil.copy(shutil.which("sleep"), program)
        told = bed.cli("run", *QUICK, "--", program, "0.001")
        tap.equal(told.returncode, 0, f"a job: {told.stderr[-300:]}")
        with open(program, "ab") as f:
            f.write(b"\0another build")
        told = bed.cli("reproduce", "1")
        tap.equal(told.returncode, 4, "refused")
        words = re.sub(r"\s+", " ", told.stderr)
        tap.ok("has changed" in words and "--allow-diff" in words, "with the reason and the way on", told.stderr.splitlines())
        tap.equal(bed.one("SELECT count(*) FROM job"), 1, "nothing was submitted")
        told = bed.cli("reproduce", "1", "--allow-diff", "--json")
        tap.equal(told.returncode, 0, f"--allow-diff goes on: {told.stderr[-300:]}")
        differences = [d for e in json.loads(told.stdout)["environments"] for d in e["differences"] if d["key"] == "executable.arm0"]
        hashes = [h for (h,) in bed.sql("SELECT DISTINCT lower(hex(exe_sha256)) FROM run ORDER BY id")]
        tap.equal([(d["base"], d["candidate"], d["matters"]) for d in differences], [(hashes[0], hashes[1], True)], "and the difference is told")
        os.remove(program)
        told = bed.cli("reproduce", "1", "--json")
        tap.equal((told.returncode, json.loads(told.stdout)["refused"]), (4, True), "one that is gone is refused, in JSON too")


def layouts(tap):
    """In mode harness each run is moved by the same bytes again"""
    with Bed() as bed:
        told = bed.cli("run", "--harness", "--runs", "3", "--name", "x", "--name", "y", program("bench"), program("bench"))
        tap.equal(told.returncode, 0, f"a job: {told.stderr[-300:]}")
        told = bed.cli("reproduce", "1", "--json")
        tap.equal(told.returncode, 0, f"again: {told.stderr[-300:]}")
        moved = [[(arm, pos, *(json.loads(harness)[k] for k in ("environment_bytes", "stack_bytes", "heap_bytes")))
                  for arm, pos, harness in bed.sql("SELECT arm_idx, pos, harness FROM run WHERE job_id = ? AND attempt = 0 ORDER BY block, pos", job)]
                 for job in (1, 2)]
        tap.ok(len(moved[0]) > 5 and len({m[2:] for m in moved[0]}) > 1, "layouts that were drawn", moved[0])
        both = min(len(m) for m in moved)
        tap.equal(moved[0][:both], moved[1][:both], "and drawn again, by the database")
        drawn = json.loads(told.stdout)["layouts"]
        tap.ok(drawn["runs"] == drawn["same"] > 5, "as the document says", drawn)


def refusals(tap):
    """No job, a job that goes on, a job that does no other again"""
    with Bed() as bed:
        tap.equal(bed.cli("run", *QUICK, "--", "sleep", "0.001").returncode, 0, "a job")
        tap.ok(bed.cli("reproduce", "77").returncode != 0, "no such job")
        tap.ok(bed.cli("reproduce", "0" * 32).returncode != 0, "no such run")
        daemon = bed.daemon()
        daemon.get("/jobs/1/reproduction").want(409)
        plan = daemon.get("/jobs/1/reproduce").want(200).json
        tap.equal([(e["arm"], e["of_job"]) for e in plan["executables"]], [(plan["executables"][0]["arm"], False)], "what it takes")
        daemon.ask("POST", "/jobs/9:reproduce").want(404)


def document(name, argv, where=None, **bench):
    devices = {"devices": {"where": where}} if where else {}
    return {"quiesce": 1, "name": name, "benchmarks": [{"name": name, "argv": argv, **bench}], **devices,
            "plan": {"seed": 5, "blocks": 2, "window": {"iterations": 2}, "warmup": {"iterations": 1}, "until": {"interval": 0}},
            "conditions": {"gate": "none", "bounds": "none"}}


def after_a_restart(tap):
    """A repetition that waits keeps its seed, its device and what it repeats over a killed daemon: another device stays idle"""
    agent = {"link": "exec", "argv": [AGENT, "--stdio"]}
    farm = json.dumps({"devices": {"one": {**agent, "local": False}, "two": {**agent, "local": True}}})
    with Bed() as bed:
        daemon = bed.daemon(farm)
        for name in ("one", "two"):
            daemon.device_ready(name)
        first = daemon.job(document("nap", ["sleep", "0.001"], where='name == "two"'))
        tap.equal(daemon.ended(first)["state"], "done", "a job, on the second device")
        holder = daemon.job(document("holder", ["true"], where='name == "two"', dir=bed.path,
                                     setup={"shell": "while [ ! -e go ]; do sleep 0.01; done"}))
        until("the device is taken", lambda: daemon.show(holder)["state"] == "running")
        again = daemon.ask("POST", f"/jobs/{first}:reproduce").want(201).json["id"]
        daemon.kill()
        daemon.wait()
        daemon = bed.daemon(farm)
        for name in ("one", "two"):
            daemon.device_ready(name)
        until("the device is taken again", lambda: daemon.show(holder)["state"] == "running")
        idle = daemon.job(document("other", ["true"]))
        tap.equal(daemon.ended(idle)["state"], "done", "the other device is free, and another job runs there")
        tap.equal(daemon.show(again)["state"], "queued", "the repetition waits for its own")
        bed.file("go", "")
        tap.equal([daemon.ended(job)["state"] for job in (holder, again)], ["done", "done"], "both end well")
        tap.equal(bed.sql("SELECT DISTINCT device FROM v_run WHERE job IN (?, ?)", first, again), [("two",)], "on one device")
        doc = daemon.get(f"/jobs/{again}/reproduction").want(200).json
        tap.equal((doc["original"], doc["job"], doc["same_seed"]), (first, again, True), "it knows what it repeats")
        tap.equal(doc["order"], {"turns": len(turns(bed, first)), "same": len(turns(bed, first))}, "in its order")


def content_that_is_gone(tap):
    """What was sent with a job and is not kept any more is refused by name, with nothing submitted; --allow-diff does not help"""
    with Bed() as bed:
        bed.file("in.txt", "hello")
        path = bed.file("job.yaml", document("reads", ["cat", "in.txt"], inputs={"in.txt": "in.txt"}))
        told = bed.cli("submit", "--wait", path)
        tap.equal(told.returncode, 0, f"a job with a file: {told.stderr[-300:]}")
        run = bed.one("SELECT run FROM v_run WHERE job = 1 AND block = 1")
        digest = hashlib.sha256(b"hello").hexdigest()
        kept = [p for p in glob.glob(f"{bed.db}.files/**", recursive=True) if os.path.isfile(p) and digest in p.replace("/", "")]
        tap.equal(len(kept), 1, "its content is kept once")
        tap.equal(bed.cli("reproduce", run, "--dry-run").returncode, 0, "it can be done again")
        os.remove(kept[0])
        for words in ((run,), (run, "--allow-diff"), ("1",)):
            told = bed.cli("reproduce", *words)
            tap.ok(told.returncode == 4 and f"the content of in.txt ({digest[:12]}) is no longer stored" in re.sub(r"\s+", " ", told.stderr),
                   f"refused: reproduce {' '.join(words)}", told.stderr.splitlines())
        daemon_refuses = bed.cli("reproduce", run, "--json")
        tap.ok(daemon_refuses.returncode == 4 and json.loads(daemon_refuses.stdout)["refused"], "in JSON, too", [daemon_refuses.stdout])
        tap.equal(bed.one("SELECT count(*) FROM job"), 1, "nothing was submitted")
        daemon = bed.daemon() if not bed.embedded_pid() else None
        if daemon:
            reply = daemon.ask("POST", "/jobs/1:reproduce")
            tap.ok(400 <= reply.status < 500, "the daemon itself refuses as well", [reply.status, reply.body])
            tap.equal(bed.one("SELECT count(*) FROM job"), 1, "and stores nothing")


if __name__ == "__main__":
    sys.exit(run_cases(a_job_again, another_executable, layouts, refusals, after_a_restart, content_that_is_gone))
