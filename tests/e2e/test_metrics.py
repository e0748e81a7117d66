#!/usr/bin/env python3
"""Metrics beside the duration, from the program that declares them (or the command of the farm that says them) to the verdict, in
every form and in the exit code."""
import json
import sys
import xml.etree.ElementTree as ET

from lib import AGENT, Bed, program, run_cases

FARM = {"devices": {"local": {"link": "exec", "argv": [AGENT, "--stdio"]}},
        "metrics": {"power": {"command": ["echo", "1.5"], "unit": "mW", "scale": 1000},
                    "left": {"command": ["echo", "97"], "unit": "%", "better": "higher"}}}


def text(old, new, baseline="old", **more):
    """The margin is wide, and of durations no verdict is asked: nothing here depends on how long an iteration takes."""
    return {
        "quiesce": 1, "name": "scores",
        "benchmarks": [{"name": "spin", "mode": "harness", "argv": [program("scores")], "evals": 1}],
        "arms": {"old": {"params": old}, "new": {"params": new}},
        "plan": {"seed": 5, "blocks": 6, "window": {"iterations": 8}, "until": {"interval": 0}, "metrics": ["power", "left"]},
        "compare": {"baseline": baseline, "margin": "50%"},
        "conditions": {"gate": "none", "bounds": "none"}, **more,
    }


def told(tap, bed, code, *argv):
    answer = bed.cli(*map(str, argv))
    tap.equal(answer.returncode, code, f"quiesce {' '.join(map(str, argv))} ends with {code}")
    for line in (answer.stdout + answer.stderr).splitlines() if answer.returncode != code else []:
        print(f"# {line}")
    return answer.stdout


def metrics(doc):
    """Those beside the duration, which is the first."""
    return {m["metric"]: m for m in doc["results"][0]["metrics"][1:]}


def verdicts(doc):
    return {c["metric"]: c for c in doc["results"][0]["comparisons"]}


def done(tap, daemon, *texts):
    jobs = [daemon.job(t) for t in texts]
    tap.equal([daemon.ended(job)["state"] for job in jobs], ["done"] * len(jobs), "the jobs end well")
    return jobs


def judged(tap):
    """A metric that gets worse is a regression, whatever the duration does: in the document, the page, the exports, the exit code"""
    with Bed() as bed:
        daemon = bed.daemon(FARM)
        daemon.device_ready()
        same, worse, better, more = done(
            tap, daemon, text({"score": 1000}, {"score": 1000, "calls": 7}), text({"score": 1000}, {"score": 200}),
            text({"score": 1000}, {"score": 200}, "new"), text({"calls": 7, "score": 9}, {"calls": 8, "score": 9}))
        doc = json.loads(told(tap, bed, 0, "compare", same, "--json"))
        found = metrics(doc)
        tap.equal(list(found), ["score", "calls", "power_mW", "left_%"], "what the program declared, then what the farm said")
        tap.equal([(m["unit"], m["lower_is_better"], m["of"]) for m in found.values()],
                  [("points", False, "iterations"), ("count", True, "iterations"), ("mW", True, "windows"), ("%", False, "windows")], "each with its unit")
        tap.equal([(name, c["verdict"]) for name, c in verdicts(doc).items() if name != "duration_ns"], [(name, "equivalent") for name in found],
                  "equal arms are equal in all of them")
        tap.equal(found["power_mW"]["arms"][0]["values"], 6, "a window has one value of the farm's metric")
        doc = json.loads(told(tap, bed, 5, "compare", worse, "--json"))
        score = verdicts(doc)["score"]
        tap.equal((score["verdict"], score["units_of"], score["base"]["units"], score["stands"]), ("regression", "blocks", 6, True),
                  "a lower score is worse, by block")
        tap.ok(0.19 < score["ratio"] < 0.22, f"and a fifth of it: {score['ratio']}")
        both = json.loads(told(tap, bed, 5, "compare", f"{worse}:old", f"{worse}:new", "--json"))
        other = {c["metric"]: c for c in both["results"][0]["devices"][0]["comparisons"]}["score"]
        tap.equal([score[k] for k in ("ratio", "lo", "hi", "p")], [other[k] for k in ("ratio", "lo", "hi", "p")],
                  "two arms named as sides say the same")
        page = told(tap, bed, 5, "compare", worse)
        tap.ok("Other metrics" in page and "score (points)" in page and "Regression: worse" in page, "the page has it")
        tap.ok(max(map(len, page.splitlines())) <= 80, "in 80 columns")
        markdown = told(tap, bed, 5, "compare", worse, "--markdown")
        tap.ok("| score (points) | new |" in markdown and "| **regression**" in markdown, "the table has it")
        root = ET.fromstring(told(tap, bed, 5, "compare", worse, "--junit"))
        failed = [c.get("name") for c in root.iter("testcase") if c.find("failure") is not None]
        tap.ok(any("score" in name for name in failed), f"and the report of tests: {failed}")
        events = daemon.events(worse)
        result = events.wait("the result", lambda e: e.kind == "job.result").data
        events.close()
        tap.equal((result["exit"], [v["verdict"] for v in result["verdicts"] if v.get("metric") == "score"]), (5, ["regression"]),
                  "the job's own result too")
        doc = json.loads(told(tap, bed, 0, "compare", better, "--json"))
        tap.equal(verdicts(doc)["score"]["verdict"], "improvement", "the other way round it is better")
        calls = verdicts(json.loads(told(tap, bed, 5, "compare", more, "--json")))["calls"]
        tap.equal((calls["verdict"], calls["reason"], calls["exact"]["change"]), ("regression", "exact", 1),
                  "of a deterministic metric one more is a change, whatever the margin")
        doc = json.loads(told(tap, bed, 0, "compare", more, "--metric", "power_mW", "--json"))
        tap.equal(list(metrics(doc)), ["power_mW"], "--metric asks for one alone")
        for name in ("cycles", "max_rss_bytes"):
            told(tap, bed, 2, "compare", more, "--metric", name)
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def shown(tap):
    """A report has every metric: a row of each, all of them as documents, and one in full"""
    with Bed() as bed:
        daemon = bed.daemon(FARM)
        daemon.device_ready()
        job, = done(tap, daemon, text({"score": 1000}, {"score": 500}))
        run = bed.one("SELECT run FROM v_run WHERE block = 1 LIMIT 1")
        for words, values in ((("show", job), 48), (("show", run), 8)):
            page = told(tap, bed, 0, *words)
            tap.ok("Other metrics" in page and "score (points)" in page and "power_mW" in page, "a row for each")
            tap.ok(max(map(len, page.splitlines())) <= 80, "in 80 columns")
            doc = json.loads(told(tap, bed, 0, *words, "--json"))["report"]
            found = {m["metric"]: m for m in (doc if "metrics" in doc else doc["results"][0]["arms"][0])["metrics"]}
            tap.equal([m["values"] for m in found.values()], [values] * 3 + [values // 8] * 2, "so many values of each, the duration first")
            tap.ok({"describe", "quantiles", "bootstrap_median", "autocorrelation", "warnings"} <= set(found["score"]["sample"]),
                   "with every statistic")
            page = told(tap, bed, 0, *words, "--metric", "score")
            tap.ok("score (points), higher is better" in page and "in the order of time" in page and "Other metrics" not in page,
                   "--metric shows one in full")
            tap.ok(" iterations" in told(tap, bed, 0, *words, "--metric", "score", "--last", 3), "of a view too")
            told(tap, bed, 2, *words, "--metric", "cycles")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


if __name__ == "__main__":
    sys.exit(run_cases(judged, shown))
