#!/usr/bin/env python3
"""The real quiesced on a disk that fails from each commit of a job on, with a client that waits for it: the job waits, says
so everywhere, and ends when the disk is back."""
import json
import os
import subprocess

from lib import QUIESCE, QUIESCED, Bed, run_cases, until

ARMS = {"a": {"argv": ["true"]}, "b": {"argv": ["true", "b"]}}
JOB = {"quiesce": 1, "name": "waits", "benchmarks": [{"name": "true", "argv": ["true"]}], "arms": ARMS,
       "plan": {"seed": 1, "blocks": 1, "window": {"iterations": 2}, "warmup": {"iterations": 1}, "until": {"interval": 0}},
       "conditions": {"gate": "none", "bounds": "none", "repeat_tainted": 0}}
KINDS = ["full", "broken", "unsynced", "read-only"]
WAITS = "waiting for the disk: "
INFRASTRUCTURE, CANCELLED = 3, 1


class Disk:
    """A bed whose daemon has the failing disk."""

    def __init__(self, bed):
        self.bed, self.script, self.count, self.looked = bed, os.path.join(bed.path, "disk"), 0, False
        library = os.path.join(os.environ["QS_PROGRAMS"], "libfailing_disk.so")
        clean = dict(bed.env)
        sanitizer = clean.get("ASAN_OPTIONS", "")
        bed.env.update(LD_PRELOAD=library, QS_DISK=self.script, ASAN_OPTIONS=sanitizer + ":verify_asan_link_order=0")
        self.daemon = bed.daemon()
        bed.env.clear()
        bed.env.update(clean)
        self.daemon.device_ready()

    def fail(self, kind, commit):
        self.count += 1
        self.bed.file("disk.new", f"{kind} {commit} {self.count}")
        os.rename(os.path.join(self.bed.path, "disk.new"), self.script)

    def heal(self):
        os.unlink(self.script)

    def newest(self):
        jobs = self.daemon.get("/jobs?limit=1").want(200).json["jobs"]
        return jobs[0] if jobs else {"id": 0, "why": None}


def says_so(tap, disk, job, what):
    """Every client, while it waits."""
    daemon, bed = disk.daemon, disk.bed
    shown = daemon.show(job)
    tap.ok(shown["state"] == "running" and shown["why"].startswith(WAITS), f"{what}: the job says so", [str(shown)])
    health, devices = daemon.get("/healthz").json, daemon.get("/devices").json
    tap.ok(not health["ok"] and health["why"].startswith(WAITS), f"{what}: health says so", [str(health)])
    tap.ok(devices["disk"].startswith(WAITS), f"{what}: the devices say so", devices["disk"])
    for words in (["jobs"], ["show", "job", str(job)], ["devices"]):
        out = bed.cli(*words).stdout
        tap.ok(WAITS.strip() in " ".join(out.split()), f"{what}: `quiesce {words[0]}` says so", [out])
    refused = bed.cli("submit", bed.file("more.yaml", json.dumps(JOB)))
    tap.ok(refused.returncode == INFRASTRUCTURE and "nothing was submitted" in " ".join(refused.stderr.split()),
           f"{what}: a submission is refused with the reason", [str(refused.returncode), refused.stderr])


def strike(tap, disk, kind, commit, cancel):
    """True where a job waited: the fault came before its last commit."""
    what = f"{kind}, commit {commit}"
    before = disk.newest()["id"]
    disk.fail(kind, commit)
    client = subprocess.Popen([QUIESCE, "submit", "--wait", disk.bed.file("job.yaml", json.dumps(JOB))],
                              env={**disk.bed.env, "QUIESCED": QUIESCED}, stdin=subprocess.DEVNULL, cwd=disk.bed.path,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        waits = until(f"{what}: the job waits, or the client ends",
                      lambda: client.poll() is not None or (lambda j: j["why"] and j)(disk.newest()))
        if waits is True:
            text = client.communicate()[0]
            disk.heal()
            refused = client.returncode == INFRASTRUCTURE and "nothing was submitted" in " ".join(text.split())
            tap.ok(refused or client.returncode == 0, f"{what}: refused with the reason, or done before", [str(client.returncode), text])
            return refused
        job = waits["id"]
        tap.ok(job > before and waits["why"].startswith(WAITS), f"{what}: the list of jobs says so", [str(waits)])
        if waits["state"] == "running" and not disk.looked:
            disk.looked = True
            says_so(tap, disk, job, what)
        if cancel:
            answer = disk.daemon.ask("POST", f"/jobs/{job}:cancel").want(200)
            tap.equal(answer.json["state"], "cancelling", f"{what}: a cancel is accepted")
        tap.ok(client.poll() is None, f"{what}: the client waits")
        disk.heal()
        text = client.communicate(timeout=60)[0]
    finally:
        if client.poll() is None:
            client.kill()
    ended = disk.daemon.ended(job)
    wanted = {"failed": INFRASTRUCTURE, "cancelled": CANCELLED, "done": 0}
    tap.ok(ended["state"] in (["cancelled", "failed"] if cancel else ["failed", "done"]), f"{what}: it has ended", [str(ended)])
    tap.equal(client.returncode, wanted[ended["state"]], f"{what}: the client ends with the right code")
    tap.ok(WAITS.strip() in " ".join(text.split()), f"{what}: the client was told", [text])
    return True


def all_commits(tap, every_kind):
    with Bed() as bed:
        disk = Disk(bed)
        commit, kinds = 0, KINDS if every_kind else [None]
        going = True
        while going:
            for kind in kinds:
                kind = kind or KINDS[commit % len(KINDS)]
                going = strike(tap, disk, kind, commit, commit % 5 == 4) and going
            commit += 1
        tap.ok(commit > 8, "there were commits to strike", [str(commit)])
        tap.ok(disk.looked, "a job that ran was looked at while it waited")
        for what in ("job WHERE state IN ('queued', 'running')", "session WHERE ended_wall_ns IS NULL",
                     "run WHERE state = 'running'"):
            tap.equal(bed.one(f"SELECT count(*) FROM {what}"), 0, f"nothing is left open: {what.split()[0]}")
        said = [line for line in disk.daemon.text.splitlines() if "is not on disk" in line]
        tap.equal(len(said), len({line.split("job=")[1].split()[0] for line in said}), "the log says it once a job")
        tap.equal(disk.daemon.stop(), 0, "it stops in order")


def each_commit(tap):
    """The disk fails from each commit of a job on, in one of the ways"""
    all_commits(tap, False)


def each_commit_and_kind(tap):
    """The disk fails from each commit of a job on, in all ways"""
    all_commits(tap, True)


if __name__ == "__main__":
    run_cases(each_commit, each_commit_and_kind)
