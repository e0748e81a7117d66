#!/usr/bin/env python3
"""Mode app, with the real daemon and agent and a phone in a box whose commands are stand-ins: every time that they tell is simulated."""
import glob
import json
import os

from android import Android, missing, package
from lib import Bed, children, run_cases, until, whole

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "measure_sh")
PLAN = {"seed": 1, "blocks": 1, "warmup": {"iterations": 0}, "window": {"iterations": 1}, "until": {"interval": 0}}
SHOP, TEST = "com.example.shop", "com.example.shop.test"
FACTS = "SELECT e.body FROM session s JOIN env e ON e.id = s.env_id WHERE s.job_id = ? ORDER BY s.id DESC"
MS = 1000000


def starts_of(**more):
    return {"package": SHOP, "apk": "app.apk", "activity": ".MainActivity", "iterations": 4, "pause": "0", **more}


def test_of(name, **more):
    return {"package": SHOP, "test_package": TEST, "test_apk": "test.apk", "arguments": {"class": name}, **more}


class Box(Bed):
    def __enter__(self):
        super().__enter__()
        self.phone = Android(self)
        self.file("app.apk", package())
        self.file("test.apk", package(TEST, debuggable=1, testonly=1))
        self.quiesced = self.daemon(self.phone.farm())
        self.quiesced.device_ready("phone")
        return self

    def submit(self, app, arms=None, inputs=("app.apk",), plan=None, **more):
        job = {"quiesce": 1, "plan": {**PLAN, **(plan or {})}, "conditions": {"gate": "none", "bounds": "none"},
               "benchmarks": [{"name": "app", "mode": "app", "app": app, "inputs": {name: name for name in inputs}, **more}]}
        if arms:
            job["arms"] = {name: {"build": {"label": name, "files": files}} for name, files in arms.items()}
        return self.cli("submit", self.file("job.yaml", job))

    def run(self, app, **more):
        """As people do it: the number of the job, and the job as it has ended."""
        done = self.submit(app, **more)
        if done.returncode != 0:
            return None, {"state": "refused", "reason": done.stderr}
        number = self.one("SELECT max(id) FROM job")
        return number, self.quiesced.ended(number)

    def values(self, job):
        """(arm, duration in ms, taint) of the iterations, in their order."""
        return [(arm, ns / MS, taint) for arm, ns, taint in
                self.sql("SELECT a.name, t.duration_ns, w.taint | t.taint FROM run r JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx "
                         "JOIN window w ON w.run_id = r.id JOIN iteration t ON t.window_id = w.id WHERE r.job_id = ? ORDER BY r.id, w.ord, t.i", job)]

    def metric(self, job, name):
        return [v for (v,) in self.sql("SELECT v.value FROM iteration_metric v JOIN metric m ON m.id = v.metric_id JOIN window w ON w.id = v.window_id "
                                       "JOIN run r ON r.id = w.run_id WHERE r.job_id = ? AND m.name = ? ORDER BY v.window_id, v.i", job, name)]

    def error(self, job):
        return self.one("SELECT error_text FROM run WHERE job_id = ? ORDER BY id DESC", job) or ""

    def facts(self, job):
        return json.loads(self.one(FACTS, job)).get("achieved", {})

    def documents(self, job):
        rows = self.sql("SELECT a.name, a.sha256 FROM v_artifact a JOIN v_run r ON r.run = a.run WHERE r.job = ? ORDER BY a.name", job)
        return {name: self.quiesced.get(f"/files/{sha}").want(200).body for name, sha in rows if sha}


def cold_starts(tap):
    """An APK is pushed by content, installed, started cold as often as was said, and uninstalled; each start is an iteration"""
    with Box() as bed:
        number, shown = bed.run(starts_of())
        tap.equal(shown["state"], "done", f"the job ends well: {shown.get('reason')}")
        tap.equal(bed.values(number), [("app", 400, 0), ("app", 401, 0), ("app", 402, 0), ("app", 403, 0)], "TotalTime of each start, to the nanosecond")
        tap.equal(bed.metric(number, "wait_time_ns"), [(403 + i) * MS for i in range(4)], "and WaitTime")
        tap.equal(bed.phone.lines("states"), ["COLD"] * 4, "each was cold, and none more was made")
        log = bed.phone.log()
        tap.equal(log[0], f"pm path {SHOP}", "the device was asked first")
        tap.ok(log[1].startswith("pm install -t /data/local/tmp/cache/") and log[1].endswith("/app.apk"), "the APK was installed from the agent's cache", log)
        tap.equal(log[2:], [f"dumpsys package {SHOP}"] + [f"am force-stop {SHOP}", f"am start -W -n {SHOP}/.MainActivity"] * 4
                  + [f"am force-stop {SHOP}", f"pm uninstall {SHOP}"], "each start began from nothing, and all ended")
        tap.equal(bed.phone.installed(), {}, "nothing of it is left")
        tap.ok(bed.facts(number)[f"app {SHOP}"].startswith("1.0.7 (7), release build, compiled: verify, sha256 "), "what was measured is part of the environment",
               [str(bed.facts(number))])
        tap.equal(bed.one("SELECT json_extract(argv, '$') FROM arm WHERE job_id = ?", number),
                  f'["am","start","-W","-n","{SHOP}/.MainActivity","cold","x4","pause=0.000s"]', "people see what it does")
        tap.equal(whole(bed, number), [], "the database holds together")


def warm_and_hot(tap):
    """Warm and hot starts find the process alive; the start that made it does not count"""
    for how, states, times in (("warm", ["COLD"] + ["WARM"] * 4, [201, 202, 203, 204]), ("hot", ["COLD"] + ["HOT"] * 4, [51, 52, 53, 54])):
        with Box() as bed:
            number, shown = bed.run(starts_of(start=how))
            tap.equal(shown["state"], "done", f"{how}: the job ends well: {shown.get('reason')}")
            tap.equal(bed.phone.lines("states"), states, f"{how}: one start more than was asked for")
            tap.equal(bed.values(number), [("app", ms, 0) for ms in times], f"{how}: which is no iteration")


def other_than_wanted(tap):
    """A start that Android calls another one, and one that was not drawn in time, are tainted and kept; where all are, the job says so"""
    with Box() as bed:
        bed.phone.put("data/system/odd", "WARM\n")
        number, shown = bed.run(starts_of())
        tap.equal(shown["state"], "done", f"the job ends well: {shown.get('reason')}")
        tap.equal(bed.values(number), [("app", 400, 0), ("app", 401, 1024), ("app", 402, 0), ("app", 403, 1024)], "the warm ones among the cold ones are tainted")
        run = bed.one("SELECT run FROM v_run WHERE job = ?", number)
        tap.ok("launch" in str(bed.quiesced.get(f"/runs/{run}").want(200).json["taint"]), "by name")
        os.unlink(bed.phone.path("data/system/odd"))
        bed.phone.put("data/system/android9", "")
        number, shown = bed.run(starts_of())
        tap.equal([taint for _, _, taint in bed.values(number)], [0] * 4, "an Android that does not say it is believed")
        bed.phone.put("data/system/slow", "")
        number, shown = bed.run(starts_of())
        tap.equal(bed.values(number)[:4], [("app", 406, 1024), ("app", 407, 1024), ("app", 403, 1024), ("app", 404, 1024)], "a window that did not come in time: WaitTime, tainted")
        os.unlink(bed.phone.path("data/system/slow"))
        os.unlink(bed.phone.path("data/system/android9"))
        number, shown = bed.run(starts_of(start="hot", activity=".Gone"))
        tap.ok(shown["state"] != "done" or bed.one("SELECT count(*) FROM v_iteration WHERE job = ?", number) == 0, "an activity that is not there gives no values")
        said = bed.error(number)
        tap.ok("no start was made: am says `Error type 3`" in said or "was not started: am says `Error" in said, "am is quoted", [said])
        bed.phone.put("data/system/immortal", "")
        number, shown = bed.run(starts_of(start="warm", iterations=2))
        bed.phone.command("am", "[ $1 != start ] || printf 'Status: ok\\nLaunchState: WARM\\nTotalTime: 9\\nWaitTime: 10\\nComplete\\n'")
        number, shown = bed.run(starts_of())
        said = bed.error(number)
        tap.ok("none of the 4 starts was cold: am says `LaunchState: WARM`" in said, "where none is as wanted the run fails, and says so", [said])


def builds_that_are_refused(tap):
    """A build that may be debugged is refused unless it is allowed; a compile mode is set, and has to come to be"""
    with Box() as bed:
        bed.file("app.apk", package(debuggable=1))
        number, shown = bed.run(starts_of())
        tap.ok(shown["state"] == "failed" and "may be debugged" in shown["reason"] and "allow_debuggable: true" in shown["reason"],
               "a debug build is refused, with what to do", [shown.get("reason")])
        tap.equal((bed.values(number), bed.phone.lines("states")), ([], []), "before anything was started")
        tap.equal(bed.phone.installed(), {}, "and is not left behind")
        number, shown = bed.run(starts_of(allow_debuggable=True))
        tap.equal((shown["state"], len(bed.values(number))), ("done", 4), "unless it is allowed")
        tap.ok("1.0.7 (7), debuggable" in bed.facts(number)[f"app {SHOP}"], "which the environment says")
        bed.file("app.apk", package())
        number, shown = bed.run(starts_of(compile="speed"))
        tap.equal(shown["state"], "done", f"compiled: {shown.get('reason')}")
        tap.equal(bed.phone.log("cmd"), [f"cmd package compile -m speed -f {SHOP}"], "as the job says")
        tap.ok("compiled: speed," in bed.facts(number)[f"app {SHOP}"], "and so the environment")
        number, shown = bed.run(starts_of(compile="speed-profile"))
        tap.ok(shown["state"] == "failed" and "is compiled as `verify` after `cmd package compile -m speed-profile -f`" in shown["reason"]
               and "baseline profile" in shown["reason"], "what the device did not do is told", [shown.get("reason")])
        bed.file("app.apk", package(profile=1))
        tap.equal(bed.run(starts_of(compile="speed-profile"))[1]["state"], "done", "with a profile it does")


def what_android_refuses(tap):
    """What pm says is quoted, with what to do where that is known; where there is no pm the job says that it needs an Android"""
    cases = [("INSTALL_FAILED_INSUFFICIENT_STORAGE", "make room"), ("INSTALL_FAILED_NO_MATCHING_ABIS: Failed to extract native libraries", "processor"),
             ("INSTALL_FAILED_DEXOPT", "")]
    with Box() as bed:
        for said, advice in cases:
            bed.phone.put("data/system/fail.install", said)
            shown = bed.run(starts_of())[1]
            tap.ok(shown["state"] == "failed" and f"`pm install` exited with code 1: Failure [{said}]" in shown["reason"] and advice in shown["reason"],
                   f"{said} is quoted", [shown.get("reason")])
        os.unlink(bed.phone.path("data/system/fail.install"))
        bed.file("app.apk", "no APK at all")
        shown = bed.run(starts_of())[1]
        tap.ok("INSTALL_PARSE_FAILED_NOT_APK" in shown["reason"], "so is a file that is none", [shown["reason"]])
        shown = bed.run({"package": SHOP, "activity": ".MainActivity"}, inputs=())[1]
        tap.ok(shown["state"] == "failed" and f"phone has no app {SHOP}" in shown["reason"], "an app that nobody brings has to be there", [shown["reason"]])
        os.unlink(bed.phone.path("system/bin/pm"))
        shown = bed.run(starts_of())[1]
        tap.ok("mode `app` needs an Android device" in shown["reason"] and "`pm path`" in shown["reason"], "no pm, no Android", [shown["reason"]])


def apps_of_others(tap):
    """An app that is there already with that content is neither installed nor taken away; another content stays unless the job may replace it"""
    with Box() as bed:
        apk = f"data/app/{SHOP}/base.apk"
        bed.phone.put(apk, package())
        bed.phone.put(f"data/system/filter.{SHOP}", "verify\n")
        number, shown = bed.run(starts_of(compile="speed"))
        tap.equal(shown["state"], "done", f"the job ends well: {shown.get('reason')}")
        tap.equal((bed.phone.log("pm install", "pm uninstall"), list(bed.phone.installed())), ([], [SHOP]), "it stays as it is")
        tap.equal(bed.phone.log("cmd"), [f"cmd package compile -m {how} -f {SHOP}" for how in ("speed", "verify")], "and is compiled again as it was")
        bed.phone.put(apk, package(cold_ms=77))
        shown = bed.run(starts_of())[1]
        tap.ok(shown["state"] == "failed" and "with another content than the job's" in shown["reason"] and "`replace: true`" in shown["reason"],
               "another content is left alone", [shown.get("reason")])
        tap.equal(bed.phone.installed(), {SHOP: package(cold_ms=77)}, "and not lost")
        number, shown = bed.run(starts_of(replace=True, keep=True))
        tap.equal((shown["state"], bed.values(number)[0][1] >= 400), ("done", True), "with `replace` the job's is measured")
        tap.equal(bed.phone.installed(), {SHOP: package()}, "and with `keep` it stays")
        bed.phone.put(f"data/system/split.{SHOP}", "")
        shown = bed.run(starts_of())[1]
        tap.ok("with another content" in shown["reason"], "an app in parts is never taken for one file", [shown["reason"]])
        bed.phone.put(f"data/system/system.{SHOP}", "")
        shown = bed.run(starts_of(replace=True))[1]
        tap.ok("`pm uninstall` exited with code 1: Failure [DELETE_FAILED_INTERNAL_ERROR] (is it an app of the system?)" in shown["reason"],
               "what cannot be uninstalled is told", [shown["reason"]])


def two_builds(tap):
    """Two APKs of one package are arms: each is freshly installed where the other was there, whatever versions they have"""
    with Box() as bed:
        bed.file("old.apk", package(code=9, signer="them"))
        bed.file("new.apk", package(code=8, cold_ms=300))
        arms = {"old": {"app.apk": "old.apk"}, "new": {"app.apk": "new.apk"}}
        number, shown = bed.run(starts_of(compile="speed"), arms=arms, inputs=(), plan={"blocks": 4, "order": "AB"})
        tap.equal(shown["state"], "done", f"the job ends well: {shown.get('reason')}")
        tap.equal([(arm, ms // 100) for arm, ms, _ in bed.values(number)], ([("old", 4)] * 4 + [("new", 3)] * 4) * 4, "each block has both, each with its own build")
        tap.equal({taint for *_, taint in bed.values(number)}, {0}, "all clean")
        tap.equal((len(bed.phone.log("pm install")), len(bed.phone.log("pm uninstall")), len(bed.phone.log("cmd"))), (8, 8, 8), "which costs an installation each")
        facts = bed.facts(number)
        tap.equal([facts[f"app {SHOP} ({arm})"].split(" ")[1] for arm in ("old", "new")], ["(9),", "(8),"], "the environment has both")
        tap.equal(bed.phone.installed(), {}, "neither is left")
        done = bed.cli("compare", str(number))
        tap.ok("% less time than old" in done.stdout, "and they are compared", [done.stdout, done.stderr])
        before = len(bed.phone.log("pm install"))
        bed.run(starts_of(), plan={"blocks": 4})
        tap.equal(len(bed.phone.log("pm install")) - before, 1, "one build alone is installed once")


def real_files(tap):
    """Files that Jetpack's Macrobenchmark wrote on a Pixel end in exactly their iterations, frames too, with the file as it was"""
    with Box() as bed:
        for path in sorted(glob.glob(f"{DATA}/*.json")):
            name = os.path.basename(path)[:-5]
            with open(path, encoding="utf-8") as f:
                text = f.read()
            bed.phone.put(f"fixtures/{name}.json", text)
            bench = json.loads(text)["benchmarks"][0]
            number, shown = bed.run(test_of(name), inputs=("test.apk",)) if bed.phone.installed() else (
                bed.phone.put(f"data/app/{SHOP}/base.apk", package()), bed.phone.put(f"data/system/filter.{SHOP}", "verify\n"),
                *bed.run(test_of(name), inputs=("test.apk",)))[2:]
            tap.equal(shown["state"], "done", f"{name}: the job ends well: {shown.get('reason')}")
            frames = bench["sampledMetrics"].get("frameDurationCpuMs")
            runs = frames["runs"] if frames else [[v] for v in bench["metrics"]["timeToInitialDisplayMs"]["runs"]]
            flat = [v for one in runs for v in one]
            tap.equal([ms for _, ms, _ in bed.values(number)], [round(v * MS) / MS for v in flat], f"{name}: {len(flat)} iterations, each as it stands in the file")
            if frames:
                overrun = [v for one in bench["sampledMetrics"]["frameOverrunMs"]["runs"] for v in one]
                tap.equal(bed.metric(number, "frameOverrunMs_ns"), [round(v * MS) for v in overrun], f"{name}: with how late each frame was")
                tap.equal(bed.metric(number, "repeat"), [i for i, one in enumerate(runs) for _ in one], f"{name}: and the repetition that it belongs to")
                for metric, values in bench["metrics"].items():
                    kind, scale = ("ns", MS) if metric.endswith("Ms") else ("micro", 1e6)
                    tap.equal(bed.metric(number, f"{metric}_{kind}"), [round(v * scale) for v in values["runs"]], f"{name}: {metric}, once a repetition")
            tap.equal(bed.documents(number).get("benchmarkData.json"), text.encode(), f"{name}: the file is kept, byte for byte")
        media = bed.phone.path(f"sdcard/Android/media/{TEST}/additional_test_output")
        tap.equal(os.listdir(media), [], "nothing of it is left on the device")
        tap.equal(sorted(bed.phone.installed()), [SHOP], "nor the test")


def tests_that_fail(tap):
    """A test that fails, crashes, is not there or leaves no file fails its run, in am's words"""
    cases = [("fails", "the test failed: am says `java.lang.AssertionError: ERRORS (not suppressed): EMULATOR`"),
             ("crash", "the test failed: am says `Process crashed.`"),
             ("silent", "the test passed and left no benchmarkData.json"),
             ("broken", "benchmarkData.json:1:")]
    with Box() as bed:
        bed.phone.put("fixtures/broken.json", '{"benchmarks": [')
        for name, wanted in cases:
            number, shown = bed.run(test_of(name, apk="app.apk"), inputs=("app.apk", "test.apk"))
            said = bed.error(number)
            tap.ok(wanted in said, f"{name}: {wanted}", [said, str(shown.get("reason"))])
            tap.equal(bed.values(number), [], f"{name}: no values")
        bed.phone.put(f"data/app/{SHOP}/base.apk", package())
        bed.phone.put(f"data/system/filter.{SHOP}", "verify\n")
        bed.phone.command("pm", 'case $1 in path) echo "package:$(apk "$2")" ;; esac')
        bed.phone.command("dumpsys", r"printf 'Packages:\n  Package [%s] (1):\n    flags=[ HAS_CODE ]\n' $2")
        number, shown = bed.run({"package": SHOP, "test_package": TEST}, inputs=())
        said = bed.error(number)
        tap.ok("the test failed: am says `Unable to find instrumentation info for: ComponentInfo{" in said, "a test that is not there", [said])


def link_lost(tap):
    """The agent is killed between two starts: the block is repeated whole, and what was installed is taken away at the end"""
    with Box() as bed:
        bed.phone.put("data/system/odd", "COLD\n")
        done = bed.submit(starts_of(pause="500ms"))
        number = bed.one("SELECT max(id) FROM job")
        tap.equal(done.returncode, 0, "it is submitted")
        until("a start was made", lambda: bed.phone.lines("states"))
        os.kill(children(children(bed.quiesced.pid)[0])[0], 9)
        shown = bed.quiesced.ended(number)
        tap.equal(shown["state"], "done", f"the job ends well: {shown.get('reason')}")
        tap.equal(bed.sql("SELECT attempt, state, n FROM v_run WHERE job = ? ORDER BY attempt", number), [(0, "interrupted", 0), (1, "done", 4)], "in a second try")
        tap.equal(len(bed.phone.log("pm install")), 1, "what lies there is not installed again")
        tap.equal(bed.phone.installed(), {}, "and is taken away")


why = missing()
if why:
    print(f"1..0 # SKIP {why}")
else:
    run_cases(cold_starts, warm_and_hot, other_than_wanted, builds_that_are_refused, what_android_refuses, apps_of_others, two_builds, real_files,
              tests_that_fail, link_lost)
