#!/usr/bin/env python3
"""What a job reads beside the durations (`meters`): files and sensors of a folder that stands for /sys, energy of supplies that the test moves,
counts of the kernel, and shares of successes; by the values that are stored and compared."""
import csv
import io
import json
import os
import stat

from lib import AGENT, Bed, run_cases

SUPPLY = "class/power_supply/bat"


class Tree:
    """Files below a folder, which the agent takes for /sys."""

    def __init__(self, bed, files, *profiles):
        self.path = os.path.join(bed.path, "sys")
        for name, value in files.items():
            os.makedirs(os.path.dirname(self.file(name)), exist_ok=True)
            with open(self.file(name), "w", encoding="ascii") as f:
                f.write(f"{value}\n")
        if profiles:
            os.mkdir(os.path.join(bed.path, "profiles"))
        for i, text in enumerate(profiles):
            bed.file(f"profiles/p{i}.yaml", text)

    def file(self, name):
        return os.path.join(self.path, name)

    def farm(self):
        return {"devices": {"board": {"link": "exec", "argv": [AGENT, "--stdio", "--sysfs", self.path]}}}


def add(path, step):
    """A shell line that moves a file's number, in place as a kernel does."""
    return f"read n < {path}; echo $((n + {step})) 1<> {path}"


def job(meters, arms, blocks=2, iterations=2, **more):
    return {"quiesce": 1, "benchmarks": [{"name": "b", **more}], "arms": arms, "meters": meters, "conditions": {"gate": "none", "bounds": "none"},
            "plan": {"seed": 1, "blocks": {"min": blocks, "max": blocks}, "window": {"iterations": iterations}, "warmup": {"iterations": 0}, "until": {"interval": 0}}}


def values(bed, job, name, arm=None):
    """Of each counted window, in order."""
    rows = bed.sql("SELECT v.after FROM v_evidence v JOIN run r ON lower(hex(r.uid)) = v.run WHERE v.kind = ? AND r.job_id = ? AND r.block > 0"
                   " AND (? IS NULL OR v.arm = ?) ORDER BY v.window_id", name, job, arm, arm)
    return [r[0] for r in rows]


def two_arms_differ(tap):
    """Two arms that move a counter by 3 and by 5 an iteration differ by exactly that, in evidence, comparison and CSV; every way to take it has its value"""
    with Bed() as bed:
        tree = Tree(bed, {"class/x/count": 10, "class/x/ring": 90, "class/x/ring_max": 100, "class/x/level": "2.25", "class/thermal/thermal_zone0/type": "soc",
                          "class/thermal/thermal_zone0/temp": 41000})
        count, ring = tree.file("class/x/count"), tree.file("class/x/ring")
        wrap = f"read n < {ring}; printf '%-4s' $(((n + 20) % 100)) 1<> {ring}"
        arms = {"a": {"shell": f"{add(count, 3)}; {wrap}"}, "b": {"shell": f"{add(count, 5)}; {wrap}"}}
        meters = {"rose": {"file": "class/x/count", "take": "rise", "unit": "things"},
                  "all": {"file": "class/x/count", "take": "rise", "unit": "things", "per": "window", "better": "higher"},
                  "fell": {"file": "class/x/count", "take": "fall", "unit": "things", "scale": 10},
                  "ring": {"file": "class/x/ring", "take": "rise", "unit": "n", "wraps_file": "class/x/ring_m*", "deterministic": True},
                  "level": {"file": "class/*/level", "unit": "mW", "scale": 1000},
                  "middle": {"file": "class/x/count", "take": "mean", "unit": "things"},
                  "warm": {"sensor": "thermal:soc"}, "success": {"success": True}}
        daemon = bed.daemon(tree.farm())
        daemon.device_ready("board")
        number = daemon.job(job(meters, arms, blocks=3, iterations=4))
        tap.equal(daemon.ended(number)["state"], "done", "the job ends well")
        tap.equal((values(bed, number, "metric:rose_things", "a"), values(bed, number, "metric:rose_things", "b")), ([3] * 3, [5] * 3), "a rise is per iteration")
        tap.equal((values(bed, number, "metric:all_things", "a"), values(bed, number, "metric:all_things", "b")), ([12] * 3, [20] * 3), "or of the window")
        tap.equal(values(bed, number, "metric:fell_things", "b"), [-50] * 3, "a fall is scaled")
        tap.equal(values(bed, number, "metric:ring_n"), [20] * 6, "a counter that begins again")
        tap.equal(values(bed, number, "metric:level_mW"), [2250] * 6, "a fraction counts")
        tap.equal(values(bed, number, "metric:warm_mC"), [41000] * 6, "a sensor of the board in its unit")
        tap.equal(values(bed, number, "metric:success_ppm"), [1000000] * 6, "all iterations ended well")
        raw = bed.sql("SELECT before, after FROM v_evidence WHERE kind = 'meter:all' ORDER BY window_id")
        tap.equal([after - before for before, after in raw if after - before > 0], values(bed, number, "metric:all_things"), "what was read is kept beside it")
        means = bed.sql("SELECT (before + after) / 2 FROM v_evidence WHERE kind = 'meter:middle' ORDER BY window_id")
        tap.equal([m[0] for m in means], values(bed, number, "metric:middle_things"), "a mean is that of both readings")
        doc = json.loads(bed.cli("compare", str(number), "--json").stdout)["results"][0]
        of = {m["metric"]: m for m in doc["metrics"]}
        rose, compared = of["rose_things"], {c["metric"]: c for c in doc["comparisons"]}
        tap.equal((rose["unit"], rose["lower_is_better"], rose["deterministic"], rose["of"]), ("things", True, False, "windows"), "it is a metric of the comparison")
        tap.equal(of["all_things"]["lower_is_better"], False, "which way is better is the job's")
        tap.equal([arm["median"] for arm in rose["arms"]], [3, 5], "the medians of the arms")
        tap.equal((round(compared["rose_things"]["ratio"], 6), compared["rose_things"]["verdict"]), (round(5 / 3, 6), "regression"), "their ratio, and that it is worse")
        tap.equal(compared["all_things"]["verdict"], "improvement", "and better, where more is")
        tap.equal((of["ring_n"]["deterministic"], compared["ring_n"]["exact"]), (True, {"base_constant": True, "candidate_constant": True, "base": 20, "candidate": 20, "change": 0}),
                  "what is declared the same is compared exactly")
        rows = list(csv.DictReader(io.StringIO(daemon.get(f"/jobs/{number}/export?format=csv").want(200).text)))
        tap.equal(sorted({(r["arm"], r["rose_things"], r["ring_n"]) for r in rows if int(r["block"]) > 0}), [("a", "3", "20"), ("b", "5", "20")], "the CSV has them in each row of the window")
        run = bed.one("SELECT run FROM v_evidence WHERE kind = 'metric:rose_things' AND arm = 'b' ORDER BY window_id DESC LIMIT 1")
        shown = bed.cli("show", run).stdout
        tap.ok("rose_things" in shown, "the run's page has it", shown.splitlines()[:60])
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def a_battery_that_charges(tap):
    """Energy comes from a battery while it discharges; while it charges there is no value, and the reason is told once a run"""
    with Bed() as bed:
        tree = Tree(bed, {f"{SUPPLY}/status": "Discharging", f"{SUPPLY}/charge_counter": 4000000, f"{SUPPLY}/voltage_now": 4000000, f"{SUPPLY}/type": "Battery"})
        charge, status = tree.file(f"{SUPPLY}/charge_counter"), tree.file(f"{SUPPLY}/status")
        arms = {"a": {"shell": add(charge, -10)}, "b": {"shell": add(charge, -20)}}
        daemon = bed.daemon(tree.farm())
        daemon.device_ready("board")
        number = daemon.job(job({"energy": {"energy": "auto"}}, arms))
        tap.equal(daemon.ended(number)["state"], "done", "the job ends well")
        tap.equal((values(bed, number, "metric:energy_uJ", "a"), values(bed, number, "metric:energy_uJ", "b")), ([144000] * 2, [288000] * 2), "uAh times V, per iteration")
        tap.equal(bed.one("SELECT count(*) FROM event WHERE kind = 'meter.failed'"), 0, "nothing failed")
        plug = f"echo Charging > {status}; {add(charge, -10)}"
        text = job({"energy": {"energy": "energy:charge-counter.*"}}, {"a": {"shell": plug}}, iterations=1)
        text["plan"]["stop"] = {"fixed": 3}
        number = daemon.job(text)
        tap.equal(daemon.ended(number)["state"], "done", "a job whose battery charges ends well, too")
        tap.equal(values(bed, number, "metric:energy_uJ"), [None] * 6, "but its windows have no energy")
        told = [json.loads(r[0]) for r in bed.sql("SELECT body FROM event WHERE kind = 'meter.failed' AND job_id = ?", number)]
        tap.equal(len(told), 2, "told once a run")
        tap.ok("does not count after the window: its device is charging" in told[0]["why"], "why, in the first", [told[0]["why"]])
        tap.ok("does not count before the window: its device is charging" in told[1]["why"], "and in the second", [told[1]["why"]])
        shown = bed.cli("devices", "show", "board").stdout
        tap.ok("energy:charge-counter.bat" in shown, "the device's page has it", shown.splitlines())
        tap.equal(daemon.stop(), 0, "quiesced ends well")


RAIL = """profile: rails
extends: generic
sensors:
  rail: {name: 'energy:rail.{folder}', each: class/rail/*, value: watt, unit: W, status: enable, valid: ['1'], role: energy}
"""


def powers_and_counters(tap):
    """Powers of several supplies are added up over the window; a package's counter begins again where its range ends"""
    with Bed() as bed:
        rapl = "class/powercap/intel-rapl:0"
        tree = Tree(bed, {"class/rail/big/watt": "1.500000", "class/rail/big/enable": 1, "class/rail/gpu/watt": "0.250000", "class/rail/gpu/enable": 1,
                          f"{rapl}/name": "package-0", f"{rapl}/energy_uj": 950, f"{rapl}/max_energy_range_uj": 1000, "class/powercap/intel-rapl:1/name": "psys",
                          "class/powercap/intel-rapl:1/energy_uj": 5, "class/powercap/intel-rapl:1/max_energy_range_uj": 1000}, RAIL)
        joules = tree.file(f"{rapl}/energy_uj")
        move = f"read n < {joules}; printf '%-4s' $(((n + 60) % 1000)) 1<> {joules}"
        daemon = bed.daemon(tree.farm())
        daemon.device_ready("board")
        number = daemon.job(job({"rails": {"energy": "auto", "per": "window"}, "cpu": {"energy": "energy:rapl.package-0"}}, {"a": {"shell": move}}))
        tap.equal(daemon.ended(number)["state"], "done", "the job ends well")
        spans = [r[0] for r in bed.sql("SELECT w.closed_ns - w.opened_ns FROM window w JOIN run r ON r.id = w.run_id WHERE r.block > 0 ORDER BY w.id")]
        tap.equal(values(bed, number, "metric:rails_uJ"), [round(1750000 * ns / 1e9) for ns in spans], "1.75 W for as long as each window was open")
        tap.equal(values(bed, number, "metric:cpu_uJ"), [60] * 2, "the package alone, over its range")
        with open(tree.file("class/rail/gpu/enable"), "r+", encoding="ascii") as f:
            f.write("0")
        number = daemon.job(job({"rails": {"energy": "auto"}}, {"a": {"shell": move}}))
        daemon.ended(number)
        tap.equal(values(bed, number, "metric:rails_uJ"), [None] * 2, "a supply that is switched off leaves no sum")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def what_a_device_lacks(tap):
    """A meter that can never be read fails the job before anything runs, and says what to do; an optional one is left out"""
    with Bed() as bed:
        tree = Tree(bed, {"class/x/a": 1, "class/x/b": 2, "class/x/text": "warm"})
        daemon = bed.daemon(tree.farm())
        daemon.device_ready("board")
        for meter, why in (({"file": "class/x/c", "unit": "n"}, "has no file `class/x/c`"), ({"file": "class/x/?", "unit": "n"}, "such as class/x/a and class/x/b"),
                           ({"file": "class/x/text", "unit": "n"}, "does not begin with a number"), ({"sensor": "thermal:none"}, "has no sensor `thermal:none`"),
                           ({"energy": "auto"}, "has no sensor of the energy that all of it takes"), ({"energy": "energy:none"}, "has no sensor of energy `energy:none`"),
                           ({"file": "class/x/a", "unit": "n", "take": "rise", "wraps_file": "class/x/text"}, "is not a number above 0")):
            number = daemon.job(job({"m": meter}, {"a": {"argv": ["true"]}}))
            shown = daemon.ended(number)
            tap.ok(shown["state"] == "failed" and why in shown["reason"] and "`required: false`" in shown["reason"], f"refused: {why}", [str(shown["reason"])])
            tap.equal(bed.one("SELECT count(*) FROM run WHERE job_id = ?", number), 0, "nothing has run")
        number = daemon.job(job({"m": {"energy": "auto", "required": False}, "n": {"file": "class/x/b", "unit": "n"}}, {"a": {"argv": ["true"]}}))
        tap.equal(daemon.ended(number)["state"], "done", "an optional one is left out")
        tap.equal((values(bed, number, "metric:m_uJ"), values(bed, number, "metric:n_n")), ([], [2] * 2), "the others have their values")
        warned = [json.loads(r[0])["text"] for r in bed.sql("SELECT body FROM event WHERE kind = 'job.warning' AND job_id = ?", number)]
        tap.ok(any("the meter `m` is left out" in text for text in warned), "and it is told", warned)
        gone = f"rm -f {tree.file('class/x/a')}"
        number = daemon.job(job({"m": {"file": "class/x/a", "unit": "n"}}, {"a": {"shell": gone}}))
        daemon.ended(number)
        tap.equal(len(values(bed, number, "metric:m_n")), 2, "one that vanishes ends no job")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def counts_of_the_kernel(tap):
    """Page faults and processor time are those of the job's programs; two arms that touch more and less memory differ by it"""
    with Bed() as bed:
        daemon = bed.daemon({"devices": {"board": {"link": "exec", "argv": [AGENT, "--stdio"]}}})
        daemon.device_ready("board")
        touch = "import mmap; m = mmap.mmap(-1, {0} << 12); [m.__setitem__(i << 12, 1) for i in range({0})]"
        arms = {"few": {"argv": ["python3", "-c", touch.format(10)]}, "many": {"argv": ["python3", "-c", touch.format(2010)]}}
        meters = {"faults": {"counter": "page-faults"}, "cpu": {"counter": "task-clock"}, "ins": {"counter": "instructions", "required": False}}
        number = daemon.job(job(meters, arms, iterations=2))
        shown = daemon.ended(number)
        if "may not count" in (shown.get("reason") or ""):
            tap.skip("counts", "this kernel lets nobody count (perf_event_open)")
            return
        tap.equal(shown["state"], "done", "the job ends well")
        few, many = values(bed, number, "metric:faults_count", "few"), values(bed, number, "metric:faults_count", "many")
        tap.ok(all(1700 < m - f < 2300 for f in few for m in many), f"2000 pages more are as many faults: {few} {many}")
        used = [r[0] for r in bed.sql("SELECT sum(u.user_time_us + u.system_time_us) * 1000 / 2 FROM window w JOIN run r ON r.id = w.run_id"
                                      " JOIN iteration_rusage u ON u.window_id = w.id WHERE r.block > 0 GROUP BY w.id ORDER BY w.id")]
        clock = values(bed, number, "metric:cpu_ns")
        tap.ok(all(0.5 * u - 4e6 < c < 2 * u + 4e6 for c, u in zip(clock, used)), f"the processor time is what rusage has: {clock} {used}")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def some_fail(tap):
    """The share of successes: two of four iterations of one arm fail"""
    with Bed() as bed:
        tree = Tree(bed, {"class/x/count": 0})
        count = tree.file("class/x/count")
        flaky = f"{add(count, 1)}; [ $(((n / 2) % 2)) = 0 ]"
        daemon = bed.daemon(tree.farm())
        daemon.device_ready("board")
        text = job({"success": {"success": True}}, {"well": {"argv": ["true"]}, "half": {"shell": flaky}}, iterations=4)
        text["conditions"]["repeat_tainted"] = 0
        number = daemon.job(text)
        daemon.ended(number)
        tap.equal((values(bed, number, "metric:success_ppm", "well"), values(bed, number, "metric:success_ppm", "half")), ([1000000] * 2, [500000] * 2), "half of them")
        doc = json.loads(bed.cli("compare", str(number), "--json").stdout)["results"][0]
        (metric,) = [m for m in doc["metrics"] if m["metric"] == "success_ppm"]
        tap.equal(([a["median"] for a in metric["arms"]], metric["lower_is_better"]), ([1000000, 500000], False), "it is compared, and more is better")
        text = job({"success": {"success": True}}, {"every": {"shell": f"{add(count, 1)}; [ $((n % 2)) = 0 ]"}}, iterations=1)
        text["plan"]["stop"] = {"fixed": 2}
        number = daemon.job(text)
        daemon.ended(number)
        seen = values(bed, number, "metric:success_ppm")
        tap.equal((sorted(set(seen)), len(seen) > 4), ([0, 1000000], True), "windows in which all fail have a share of 0")
        metrics = json.loads(bed.cli("show", str(number), "--json").stdout)["report"]["results"][0]["arms"][0]["metrics"]
        tap.equal([m["values"] for m in metrics if m["metric"] == "success_ppm"], [len(seen)], "and count like the others")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


run_cases(two_arms_differ, a_battery_that_charges, powers_and_counters, what_a_device_lacks, counts_of_the_kernel, some_fail)
