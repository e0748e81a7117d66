#!/usr/bin/env python3
"""Evaluations: short work gets many of them an iteration, long work one; both arms the same; the next job takes what was
found; nothing of it is charged to a budget; and every face speaks of one evaluation while the record keeps what was measured."""
import csv
import io
import json
import statistics

from lib import Bed, program, run_cases, whole


def text(benchmark="count", arms=None, **more):
    return {
        "quiesce": 1, "name": "short work",
        "benchmarks": [{"name": "count", "mode": "harness", "argv": [program("count")], "benchmark": benchmark,
                        **more.pop("benchmark_keys", {})}],
        "arms": arms or {"base": {"params": {"steps": 40}}, "slow": {"params": {"steps": 120}}},
        "plan": {"seed": 5, "blocks": 2, "window": {"iterations": 20}, "until": {"interval": 0}, **more.pop("plan", {})},
        "conditions": {"gate": "none", "bounds": "none"},
    }


def windows(bed, job, phase="measure"):
    return bed.sql("SELECT arm, evals, n FROM v_window WHERE job = ? AND phase = ?", job, phase)


def found(bed, job):
    """What each run of a job says of its evaluations."""
    return [json.loads(h)["evals"] for (h,) in bed.sql("SELECT harness FROM run WHERE job_id = ? ORDER BY id", job)]


def short_work(tap):
    """Work of a few ns is tuned on the baseline, every arm has the same number, and the next job takes it"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        first, second = daemon.job(text()), daemon.job(text())
        tap.equal([daemon.ended(job)["state"] for job in (first, second)], ["done"] * 2, "both jobs end well")
        tap.equal([p for job in (first, second) for p in whole(bed, job)], [], "the database holds together")
        numbers = {evals for _, evals, _ in windows(bed, first)}
        tap.equal(len(numbers), 1, f"one number for both arms: {numbers}")
        evals = numbers.pop()
        tap.ok(evals > 1, f"{evals} evaluations an iteration")
        tap.equal(bed.sql("SELECT count(*), min(evals), max(evals) FROM v_iteration WHERE job = ? AND phase = 'tune'", first),
                  [(1000, 1, 1000)], "the scan's iterations are kept, each with the evaluations that it had")
        tap.equal(bed.sql("SELECT DISTINCT arm, block FROM v_window WHERE job = ? AND phase = 'tune'", first), [("base", 0)],
                  "it is the baseline's, in the block that counts for nothing")
        tap.equal(windows(bed, second, "tune"), [], "the second job measures none")
        tap.equal({e for _, e, _ in windows(bed, second)}, {evals}, "and has the same number")
        hows = [{e["how"] for e in found(bed, job)} for job in (first, second)]
        tap.equal(hows, [{"tuned"}, {"cached"}], "each says how")
        one = found(bed, first)[0]
        tap.ok(one["precision_ns"] > 0 and one["accuracy_ns"] >= one["precision_ns"] and one["tries"] > 900,
               f"with the clock's precision and accuracy and the tries: {one}")
        tap.ok(100 * one["accuracy_ns"] <= evals * one["evaluation_ns"] * 1.001 or evals == 100000,
               "an iteration lasts for a hundred times the clock's accuracy")
        tap.equal(bed.sql("SELECT device, evals, run FROM v_tuning"),
                  [("local", evals, one["found_by"])], "it is kept once")
        kinds = dict(bed.sql("SELECT kind, before FROM v_evidence WHERE kind LIKE 'clock.%' AND job = ?", first))
        tap.ok(kinds["clock.precision_ns"] > 0 and kinds["clock.accuracy_ns"] > 0, f"the clock's readings are evidence: {kinds}")
        per_evaluation(tap, bed, daemon, first, evals)
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def per_evaluation(tap, bed, daemon, job, evals):
    """Report, exports and views are of one evaluation; the measured integers stay."""
    raw = {arm: [d for (d,) in bed.sql("SELECT duration_ns FROM v_iteration WHERE job = ? AND block > 0 AND arm = ?", job, arm)]
           for arm in ("base", "slow")}
    result = daemon.get(f"/jobs/{job}/compare").want(200).json["results"][0]
    tap.equal((result["evals"], result["evaluations"]["how"]), (evals, "tuned"), "the report says of how many evaluations")
    for arm in result["metrics"][0]["arms"]:
        low, high = min(raw[arm["name"]]) / evals, max(raw[arm["name"]]) / evals
        tap.ok(abs(arm["min"] - low) < 1e-6 * low and low <= arm["median"] <= high,
               f"its times are of one: {arm['name']} {arm['median']:.1f} ns")
    export = daemon.get(f"/jobs/{job}/export?format=json").want(200).json["results"]
    for one in export:
        tap.equal((sorted(one["durations_ns"]), one["evals"]), (sorted(raw[one["name"]]), evals), "the JSON export has what was measured")
        tap.ok(abs(statistics.median(one["times"]) * 1e9 * evals - statistics.median(raw[one["name"]])) < 1e-3, "and times of one")
    rows = list(csv.DictReader(io.StringIO(daemon.get(f"/jobs/{job}/export?format=csv").want(200).text)))
    measured = [r for r in rows if r["phase"] == "measure"]
    tap.equal({int(r["evals"]) for r in measured}, {evals}, "the CSV export says of how many")
    tap.equal(sorted(int(r["duration_ns"]) for r in measured), sorted(raw["base"] + raw["slow"]), "beside what was measured")
    shown = daemon.get(f"/jobs/{job}").want(200).json["evaluations"]
    tap.equal([(e["device"], e["evaluations"]["evals"]) for e in shown], [("local", evals)], "the job shows its number")
    out = bed.cli("show", str(job)).stdout
    tap.ok(f"{evals} an iteration, tuned: one takes" in " ".join(out.split()), "for people as well")
    out = bed.cli("compare", str(job)).stdout
    tap.ok(f"{evals} evaluations an iteration; times are of one." in out, "and so does the comparison")


def long_work(tap):
    """Work of a millisecond gets one evaluation, whatever the oracle"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        arms = {"base": {"params": {"work_ns": 1000000}}, "slow": {"params": {"work_ns": 1200000}}}
        job = daemon.job(text("spin", arms))
        tap.equal(daemon.ended(job)["state"], "done", "the job ends well")
        tap.equal({(e["evals"], e["how"]) for e in found(bed, job)}, {(1, "tuned")}, "one evaluation an iteration")
        scan = windows(bed, job, "tune")
        tap.ok(len(scan) == 1 and 1 < scan[0][2] < 1000, f"the scan ended with its time: {scan}")
        tap.equal({e for _, e, _ in windows(bed, job)}, {1}, "in every window")
        daemon.stop()


def what_is_given(tap):
    """A number in the job is used as it is; a program that takes one evaluation gets one, and no other number"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        given = daemon.job(text(benchmark_keys={"evals": 7}))
        once = daemon.job(text("once"))
        many = daemon.job(text("once", benchmark_keys={"evals": 7}))
        tap.equal(daemon.ended(given)["state"], "done", "a job with a number ends well")
        tap.equal({e for _, e, _ in windows(bed, given)}, {7}, "every window has it")
        tap.equal(daemon.ended(once)["state"], "done", "so does a program that takes one")
        tap.equal({(e["evals"], e["how"]) for e in found(bed, once)}, {(1, "once")}, "which gets one")
        ended = daemon.ended(many)
        tap.equal(ended["state"], "failed", "more than it takes is refused")
        tap.ok("takes at most 1 evaluation an iteration, not 7" in ended["reason"], f"in words: {ended['reason']}")
        tap.equal(bed.one("SELECT count(*) FROM v_window WHERE phase = 'tune'"), 0, "and nothing was tuned")
        daemon.stop()


def budgets_are_not_charged(tap):
    """Of a budget of iterations, and of one of time, a run has all"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        stop = {"stop": {"budget": {"iterations": 50, "time": "60s"}}, "window": {"iterations": 25}}
        job = daemon.job(text(plan=stop))
        tap.equal(daemon.ended(job)["state"], "done", "the job ends well")
        runs = bed.sql("SELECT block, n, stop_reason FROM v_run WHERE job = ?", job)
        tap.equal({(n, why) for block, n, why in runs if block > 0}, {(50, "budget(60 s, 50)")},
                  "the scan's thousand iterations are not among the fifty")
        tap.equal({(n, why) for block, n, why in runs if block == 0}, {(0, None)}, "and the pilot has no rule")
        daemon.stop()


run_cases(short_work, long_work, what_is_given, budgets_are_not_charged)
