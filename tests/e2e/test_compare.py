#!/usr/bin/env python3
"""Two sides over jobs, builds and nights, from the job file to the exit code: equal and slower commands, a changed environment,
arms of one job, builds, and the forms that other programs read."""
import csv
import datetime
import hashlib
import json
import os
import sys
import xml.etree.ElementTree as ET

from lib import Bed, run_cases


FAST, SLOW = 0.02, 0.3  # seconds: far enough apart for any machine, however long a process takes to start
WIDE = "900%"  # a margin that nothing passes but a mistake: equal commands may meet a busy minute and a quiet one


def text(seconds, name="wait", **more):
    return {
        "quiesce": 1, "name": name,
        "benchmarks": [{"name": name, "argv": ["sleep", str(seconds)], **more.pop("benchmark", {})}],
        "plan": {"blocks": 6, "window": {"iterations": 2}, "until": {"interval": 0}},
        "conditions": {"gate": "none", "bounds": "none"}, **more,
    }


def compare(tap, bed, code, *argv):
    """The answer of `quiesce compare`, with the exit code that it has to have."""
    told = bed.cli("compare", *map(str, argv))
    tap.equal(told.returncode, code, f"quiesce compare {' '.join(map(str, argv))} ends with {code}")
    for line in (told.stdout + told.stderr).splitlines() if told.returncode != code else []:
        print(f"# {line}")
    return told


def document(tap, bed, code, *argv):
    return json.loads(compare(tap, bed, code, "--json", *argv).stdout)


def verdict(doc, metric=0):
    return doc["results"][0]["devices"][0]["comparisons"][metric]


def done(tap, daemon, *texts):
    jobs = [daemon.job(t) for t in texts]
    tap.equal([daemon.ended(job)["state"] for job in jobs], ["done"] * len(jobs), "the jobs end well")
    return jobs


def jobs(tap):
    """Equal commands are no regression, a slower one is; what is found is told in every form"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        same, again, slower = done(tap, daemon, text(FAST), text(FAST), text(SLOW))
        doc = document(tap, bed, 0, same, again, "--margin", WIDE)
        tap.equal((doc["regressions"], doc["environment"], doc["arm"]), (0, [], []), "nothing differs")
        tap.equal((verdict(doc)["units_of"], doc["margin_ratio"]), ("runs", 9), "runs are the unit, the margin is the one asked for")
        doc = document(tap, bed, 5, same, slower)
        tap.equal(verdict(doc)["verdict"], "regression", "a slower command is a regression")
        least, most = ([bed.one(f"SELECT {which}(duration_ns) FROM v_iteration WHERE block > 0 AND job = ?", job) for job in (same, slower)]
                       for which in ("min", "max"))
        tap.ok(least[1] / most[0] <= verdict(doc)["ratio"] <= most[1] / least[0], f"by as much as was measured: {verdict(doc)['ratio']}", [least, most])
        tap.equal([c["key"] for c in doc["arm"]], ["command"], "and the command is all that differs")
        tap.equal(verdict(document(tap, bed, 0, slower, same))["verdict"], "improvement", "the other way round it is better")
        tap.ok("Regression" in compare(tap, bed, 5, same, slower).stdout, "the page says so")
        doc = document(tap, bed, 5, f"{same},{again}", slower, "--metric", "max_rss_bytes", "--rule", "judge")
        tap.equal(doc["base"]["jobs"], [same, again], "two jobs are one side")
        tap.equal([c["metric"] for c in doc["results"][0]["devices"][0]["comparisons"]], ["duration_ns", "max_rss_bytes"],
                  "with another metric")
        tap.equal([o["rule"] for o in verdict(doc)["opinions"]], ["judge"], "and another's rule")
        page = os.path.join(bed.path, "page.md")
        told = compare(tap, bed, 5, same, slower, "--markdown", "--output", page)
        with open(page, encoding="utf-8") as f:
            tap.ok(told.stdout == "" and "**regression**" in f.read(), "--output writes the page, and prints nothing")
        today = datetime.datetime.now()
        doc = document(tap, bed, 5, f"night:{today:%Y-%m-%d}", slower, "--allow-diff")
        tap.ok(slower in doc["base"]["jobs"], "a night has the jobs that began in it")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def junit(tap):
    """JUnit reports are XML, with a failure for a regression"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        fast, slow = done(tap, daemon, text(FAST, name="<wait> & \"see\""), text(SLOW, name="<wait> & \"see\""))
        root = ET.fromstring(compare(tap, bed, 5, fast, slow, "--junit").stdout)
        suite, case = root.find("testsuite"), root.find("testsuite/testcase")
        tap.equal((root.tag, suite.get("tests"), suite.get("failures"), suite.get("errors")), ("testsuites", "1", "1", "0"),
                  "one test, one failure")
        tap.equal((case.get("classname"), case.get("name")), ("local", "<wait> & \"see\" duration_ns"), "of this point")
        tap.equal(case.find("failure").get("type"), "regression", "which is a regression")
        suite = ET.fromstring(compare(tap, bed, 0, slow, fast, "--junit").stdout).find("testsuite")
        tap.equal((suite.get("failures"), suite.get("skipped")), ("0", "0"), "an improvement passes")
        suite = ET.fromstring(compare(tap, bed, 0, slow, "--junit").stdout).find("testsuite")
        tap.equal(suite.get("tests"), "0", "a job with one arm has nothing to compare")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def environments(tap):
    """What differs beside the arm is refused until it is allowed"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        old, new, other = done(tap, daemon, text(FAST, benchmark={"env": {"MODE": "old"}}),
                               text(SLOW, benchmark={"env": {"MODE": "new"}}), text(FAST, name="rest"))
        told = compare(tap, bed, 4, old, new)
        tap.ok("Refused" in told.stdout and "env.MODE: old | new" in told.stdout, "it says what differs")
        doc = document(tap, bed, 4, old, new)
        tap.equal((doc["refused"], doc["results"]), (True, []), "and gives no verdict")
        root = ET.fromstring(compare(tap, bed, 4, old, new, "--junit").stdout)
        tap.ok("env.MODE: old | new" in root.find("testsuite/testcase/error").text, "nor as a report")
        doc = document(tap, bed, 5, old, new, "--allow-diff=env.MODE")
        tap.equal([(c["key"], c["allowed"]) for c in doc["environment"]], [("env.MODE", True)], "what is allowed stays listed")
        compare(tap, bed, 4, old, new, "--allow-diff=kernel")
        compare(tap, bed, 5, old, new, "--allow-diff")
        doc = document(tap, bed, 4, old, other, "--allow-diff=env")
        tap.equal([c["key"] for c in doc["environment"] if c["matters"] and not c["allowed"]], ["benchmark"],
                  "another benchmark is a difference")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def terminals(tap):
    """The same command, yesterday through ssh in tmux and today on the screen: compared without a flag; another PATH is refused, by name"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        shells = ({"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22", "SSH_TTY": "/dev/pts/3", "TMUX": "/tmp/t,1,0", "SHLVL": "3", "TERM": "tmux"},
                  {"DISPLAY": ":0", "WINDOWID": "7", "XDG_SESSION_ID": "12", "TERM": "xterm", "SHLVL": "1", "OLDPWD": "/", "COLUMNS": "80"},
                  {"TERM": "xterm", "LC_ALL": "C", "PATH": bed.env["PATH"] + ":/opt/none"}, {})
        for shell, more in zip(shells, ((), (), (), ("--env", "TERM=vt100"))):
            told = bed.cli("run", "--print-job", "--runs", "6", "--iterations", "2", *more, "sleep 0.01", env=shell)
            done(tap, daemon, {**json.loads(told.stdout), "conditions": {"gate": "none", "bounds": "none"}})
        doc = document(tap, bed, 0, 1, 2, "--margin", WIDE)
        tap.equal((doc["refused"], [c["key"] for c in doc["environment"]]), (False, ["variables_bytes"]), "one terminal or another")
        told = compare(tap, bed, 4, 2, 3, "--margin", WIDE)
        tap.ok("--allow-diff=env.LC_ALL,env.PATH" in told.stdout, "what matters is refused, with what to type", told.stdout)
        doc = document(tap, bed, 0, 2, 3, "--margin", WIDE, "--allow-diff=env.LC_ALL,env.PATH")
        tap.equal(doc["refused"], False, "and that is what it takes")
        doc = document(tap, bed, 4, 1, 4)
        tap.equal([c["key"] for c in doc["environment"] if c["matters"]], ["env.TERM"], "what --env sets was set on purpose")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def keep(name, value):
    """What is kept of an inherited variable."""
    digest = hashlib.sha256(value.encode()).hexdigest()[:16]
    return value if name.startswith("MALLOC_") else f"sha256:{digest}, {len(value)} bytes"


def daemons(tap):
    """A job that inherits: what its daemon handed on is kept, shown and compared as what a caller hands on is"""
    with Bed() as bed:
        for more in ({"EDITOR": "vi", "SHLVL": "1"}, {"EDITOR": "vim", "SHLVL": "2"}, {"EDITOR": "vim", "MALLOC_ARENA_MAX": "1"}):
            bed.env.update(more)
            daemon = bed.daemon()
            daemon.device_ready()
            (job,) = done(tap, daemon, text(0.01))
            kept = daemon.get(f"/jobs/{job}/compare").want(200).json["environment"]["variables"]
            tap.equal({name: kept.get(name) for name in more}, {name: keep(name, value) for name, value in more.items()},
                      "the job shows what its processes were handed; what may be secret as a digest")
            tap.equal(daemon.stop(), 0, "quiesced ends well")
        daemon = bed.daemon()
        doc = document(tap, bed, 0, 1, 2, "--fail-on", "never")
        tap.equal([(c["key"], c["base"], c["candidate"], c["class"]) for c in doc["environment"] if c["key"].startswith("env.")],
                  [("env.EDITOR", keep("EDITOR", "vi"), keep("EDITOR", "vim"), "noted")], "what may matter is noted")
        doc = document(tap, bed, 4, 2, 3)
        tap.equal([c["key"] for c in doc["environment"] if c["matters"]], ["env.MALLOC_ARENA_MAX"], "what does matter is refused")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def builds(tap):
    """Arms of one job are paired by block; builds are found in any job"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        for name, seconds in (("old", FAST), ("new", SLOW)):
            with open(os.path.join(bed.path, name), "w", encoding="ascii") as f:
                f.write(f"#!/bin/sh\nexec sleep {seconds}\n")
            os.chmod(os.path.join(bed.path, name), 0o755)
        job = {**text(1), "arms": {n: {"argv": ["./work"], "build": {"label": n, "files": {"work": n}}} for n in ("old", "new")}}
        with open(os.path.join(bed.path, "job.yaml"), "w", encoding="ascii") as f:
            json.dump(job, f)
        told = bed.cli("submit", "--wait", "job.yaml")
        tap.equal(told.returncode, 0, "the job ends well")
        doc = document(tap, bed, 5, "1:old", "1:new")
        tap.equal((verdict(doc)["units_of"], verdict(doc)["base"]["units"]), ("blocks", 6), "by block")
        doc = document(tap, bed, 5, "build:old", "build:new")
        tap.equal(verdict(doc)["units_of"], "blocks", "builds that met in one job too")
        tap.ok({"build", "build_content"} <= {c["key"] for c in doc["arm"]}, "the build is the difference")
        doc = document(tap, bed, 0, "1:old", "build:old")
        named = json.loads(bed.cli("builds", "--json").stdout)
        runs = {n: bed.one("SELECT count(*) FROM v_run WHERE build = ? AND block > 0 AND state = 'done'", n) for n in ("old", "new")}
        tap.equal({b["build"]: (b["runs"], b["benchmarks"], b["sessions"]) for b in named["builds"]}, {n: (runs[n], ["wait"], 1) for n in runs},
                  "builds are listed with their runs")
        night = named["nights"][0]
        tap.equal((len(named["nights"]), night["runs"], night["builds"], night["jobs"]), (1, sum(runs.values()), ["new", "old"], [1]), "and nights")
        told = bed.cli("builds")
        tap.ok(all(f"\n{n} " in told.stdout for n in ("old", night["night"])), "for people", told.stdout.splitlines())
        compare(tap, bed, 0, f"night:{night['night']}:old", "build:old")
        told = compare(tap, bed, 2, "build:odl", "build:new")
        tap.ok("did you mean `old`?" in told.stderr, "a label that is near", told.stderr)
        told = compare(tap, bed, 2, "build:old", "night:2001-01-01")
        tap.ok(f"the nearest night is night:{night['night']}, `quiesce builds` lists them" in " ".join(told.stderr.split()), "a night that is near", told.stderr)
        told = bed.cli("builds", "odl")
        tap.ok(told.returncode == 2 and "did you mean `old`?" in told.stderr, "a part of no label", told.stderr)
        tap.equal(bed.sql("SELECT DISTINCT arm, build FROM v_evidence ORDER BY 1"), [("new", "new"), ("old", "old")], "views name builds")
        told = bed.cli("jobs", "--json")
        (job,) = json.loads(told.stdout)["jobs"]
        tap.equal((job["verdict"]["arm"], job["verdict"]["verdict"]), ("new", "regression"), "a job has its verdict")
        # as far as a line of 80 columns has room: how far "new 12.9 times as long" is cut depends on the time of the job
        told = bed.cli("jobs").stdout
        tap.ok(job["verdict"]["text"][:12] in told, "and shows it", [str(job["verdict"]), told])
        tap.equal((verdict(doc)["verdict"], doc["arm"], doc["environment"]), ("equivalent", [], []), "an arm is equal to itself")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def mistakes(tap):
    """Words that say no runs are refused by name"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        done(tap, daemon, text(0.01))
        for words in (("1", "2"), ("1", "build:x"), ("1", "1:other"), ("1", "night:2001-01-01"), ("1", "1", "--metric", "cycles"),
                      ("1", "night:tomorrow"), ("1", "1", "--per", "iteration"), ("1", "--allow-diff"), ("1", "--margin", "5%"),
                      ("1", "--level", "99%"), ("1", "1", "--csv")):
            told = compare(tap, bed, 2, *words)
            tap.ok(told.stdout == "" and len(told.stderr) > 20, f"{words}: {told.stderr.splitlines()[:1]}")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def views(tap):
    """A view holds for two sides, for files and in every form that has verdicts; where it cannot, it is told why"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        job, = done(tap, daemon, {**text(0.01), "arms": {"a": {"env": {"X": "1"}}, "b": {"env": {"X": "2"}}}, "compare": {"margin": "50%"}})
        sides = (f"{job}:a", f"{job}:b")
        doc = json.loads(bed.cli("compare", *sides, "--last", "1", "--json").stdout)
        tap.equal([doc[s]["views"] for s in ("base", "candidate")], [[{"view": "last", "n": 1, "used": 6, "dropped": 6}]] * 2,
                  "what it did is told of each side")
        tap.equal(doc["results"][0]["devices"][0]["comparisons"][0]["base"]["iterations"], 6, "and the verdict stands on what is left")
        for words in (sides, (str(job),)):
            for form in ((), ("--markdown",), ("--junit",)):
                page = bed.cli("compare", *words, "--last", "1", *form).stdout
                tap.ok("last 1 leaves 6 of 12 iterations" in page, f"{words} {form}: the view is told", page)
        for n, values in (("old.txt", (9, 1, 2, 3)), ("new.txt", (9, 2, 3, 4))):
            with open(os.path.join(bed.path, n), "w", encoding="ascii") as f:
                f.write("\n".join(map(str, values)))
        doc = json.loads(bed.cli("compare", "--per", "iteration", "old.txt", "new.txt", "--discard-first", "1", "--json").stdout)
        tap.equal([f["views"] for f in doc["files"]], [[{"view": "discard-first", "n": 1, "used": 3, "dropped": 1}]] * 2, "of each file")
        tap.equal(doc["results"][0]["base"]["describe"]["max"], 3, "whose first value is left out")
        told = bed.cli("analyze", "old.txt", "--discard-first", "1").stdout
        tap.ok("discard-first 1 leaves 3 of 4 iterations" in told, "analyze has views", told)
        for words, why in ((("compare", str(job), "--last", "1", "--csv"), "every iteration"), (("analyze", "old.txt", "--discard-first", "9"), "leave nothing"),
                           (("history", "old.txt", "--last", "2"), "")):
            told = bed.cli(*words)
            tap.ok(told.returncode == 2 and why in told.stderr and told.stdout == "", f"{words} is refused", told)
        for form in ("csv", "json"):
            tap.ok("has every iteration" in daemon.get(f"/jobs/{job}/export?format={form}&view=last:1").want(400).text, f"{form} is of all")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def conditions(tap):
    """Two arms of one command under named conditions: each has its own processor and gate (one that is always open), and all is stored and told"""
    cpus = sorted(os.sched_getaffinity(0))
    pinned = f"grep -q '^Cpus_allowed_list:[[:space:]]*{cpus[0]}$' /proc/self/status"
    job = {"quiesce": 1, "name": "places", "benchmarks": [{"name": "place", "argv": ["sh", "-c", pinned], "exit": "any"}],
           "arms": {"free": {"conditions": "default"}, "alone": {"conditions": "one"}},
           "conditions": {"gate": "none", "bounds": {"cpu.steal_ticks": 1000000}},
           "condition_sets": {"one": {"affinity": str(cpus[0]), "gate": [{"sensor": "cpu.busy_ratio_ppm", "below": "200%"}]}},
           "plan": {"blocks": 2, "window": {"iterations": 2}, "until": {"interval": 0}}, "compare": {"margin": "50%"}}
    wait = {"repeat_tainted": 7, "patience": "3s"}
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        number, _, _ = done(tap, daemon, job, {**job, "conditions": {**job["conditions"], **wait}},
                            {**job, "conditions": {**job["conditions"], "bounds": {"cpu.steal_ticks": 2000000}}})
        found = dict(bed.sql("SELECT arm, group_concat(DISTINCT status = 0) FROM v_iteration GROUP BY arm"))
        tap.equal(found["alone"], "1", "the one ran on its processor")
        tap.ok(len(cpus) == 1 or found["free"] == "0", "the other on any", found)
        tap.equal(bed.sql("SELECT DISTINCT arm, sensor FROM v_gate WHERE outcome = 'open' AND sensor IS NOT NULL"), [("alone", "cpu.busy_ratio_ppm")],
                  "only one had a gate")
        rows = [json.loads(c) for c, in bed.sql("SELECT conditions FROM arm WHERE job_id = ? ORDER BY idx", number)]
        tap.equal([(c["name"], c["controls"]["affinity"], len(c["gate"]), c["bounds"], c["stop"]) for c in rows],
                  [("default", "any", 0, {"cpu.steal_ticks": 1000000}, None), ("one", str(cpus[0]), 1, {"cpu.steal_ticks": 1000000}, None)],
                  "arms keep all of theirs")
        (point,) = [json.loads(c) for c, in bed.sql("SELECT p.conditions FROM point p JOIN job_point j ON j.point_id = p.id WHERE j.job_id = ?", number)]
        tap.equal(point, rows[0], "and the point its own")
        shown = daemon.get(f"/jobs/{number}").json
        tap.equal((shown["conditions"], shown["condition_sets"]), (["default", "one"], {"default": rows[0], "one": rows[1]}), "the job's document has them")
        tap.ok("alone (conditions one)" in " ".join(bed.cli("show", str(number)).stdout.split()), "and its page names them")
        tap.ok("(conditions one)" in " ".join(bed.cli("compare", str(number)).stdout.split()), "as does the comparison's")
        tap.ok("conditions.set: default | one" in bed.cli("compare", f"{number}:free", f"{number}:alone").stdout, "and that of two sides")
        rows = csv.DictReader(daemon.get(f"/jobs/{number}/export?format=csv").want(200).text.splitlines())
        named = sorted({(row["arm"], row["conditions"]) for row in rows})
        tap.equal((named, bed.sql("SELECT DISTINCT arm, conditions FROM v_run ORDER BY 1")), ([("alone", "one"), ("free", "default")],) * 2,
                  "as do the CSV and the views")
        series = {s["arm"]: s for s in json.loads(bed.cli("history", "--json").stdout)["series"]}
        tap.equal({a: (s["conditions"]["affinity"], s["sessions"]) for a, s in series.items()}, {"free": ("any", 3), "alone": (str(cpus[0]), 3)},
                  "controls tell series apart, and nothing else does")
        breaks = json.loads(bed.cli("history", series["free"]["id"], "--json").stdout)["breaks"]
        tap.equal([(b["at"], [d["key"] for d in b["differences"] if d["matters"]]) for b in breaks], [(2, ["conditions.bounds.cpu.steal_ticks"])],
                  "a bound breaks it, patience does not")
        told = bed.cli("submit", bed.file("slip.json", json.dumps({**job, "arms": {"a": {"conditions": "two"}, "b": {"conditions": "one"}}})))
        tap.ok(told.returncode != 0 and "no conditions have the name `two`" in told.stderr, "a slip is told", told.stderr)
        tap.equal(daemon.stop(), 0, "quiesced ends well")


if __name__ == "__main__":
    sys.exit(run_cases(jobs, junit, environments, terminals, daemons, builds, views, conditions, mistakes))
