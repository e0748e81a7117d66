#!/usr/bin/env python3
"""History over the store: real sessions of this machine become the points of a series; changed conditions break it."""
import csv
import io
import json
import os
import statistics
import sys

from lib import Bed, run_cases

QUICK = ("--runs", "3", "--iterations", "3", "--warmup", "1", "--name", "a")
NAPS = """
quiesce: 1
benchmarks: [{name: sleep, argv: [sleep, "0.002"]}]
plan: {blocks: {min: 3, max: 3}, window: {iterations: 3}, warmup: {iterations: 1}}
conditions: {gate: none, bounds: none, repeat_tainted: 0}
"""
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
with open(os.path.join(os.path.dirname(__file__), "..", "..", "schema", "history.schema.json"), encoding="utf-8") as f:
    SCHEMA = json.load(f)


def fits(value, name):
    if name in ("number", "integer"):
        return isinstance(value, int if name == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def wrongs(value, schema, path=""):
    """What of a document is not as the schema says."""
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(fits(value, t) for t in types):
        return [f"{path}: {value!r} is no {types}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path}: {value!r} is none of {schema['enum']}"]
    if isinstance(value, list):
        return [w for i, v in enumerate(value) for w in wrongs(v, schema["items"], f"{path}[{i}]")]
    if not isinstance(value, dict) or "properties" not in schema:
        return []
    unknown = [f"{path}.{k} is unknown" for k in value if k not in schema["properties"]]
    missing = [f"{path}.{k} is missing" for k in schema["required"] if k not in value]
    known = [w for k, v in value.items() if k in schema["properties"] for w in wrongs(v, schema["properties"][k], f"{path}.{k}")]
    return unknown + missing + known


def counting(bed, run):
    """Of a run the durations that count: the clean ones, or all where none is."""
    rows = bed.sql("SELECT duration_ns, taint FROM v_iteration WHERE run = ? AND phase = 'measure'", run)
    return [ns for ns, taint in rows if taint == 0] or [ns for ns, _ in rows]


def series_of_sessions(tap):
    """Three jobs are three points: values, builds and runs are those of the database"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        for _ in range(3):
            daemon.ended(daemon.job(NAPS))
        listed = json.loads(bed.cli("history", "--json").stdout)["series"]
        tap.equal([(s["arm"], s["sessions"], s["runs"]) for s in listed], [("sleep", 3, 9)], "one series of three sessions")
        doc = json.loads(bed.cli("history", listed[0]["id"][:8], "--json").stdout)
        tap.equal(wrongs(doc, SCHEMA), [], "the document is as its schema says")
        tap.equal([p["job"] for p in doc["points"]], [1, 2, 3], "a point each, by time")
        exe = bed.one("SELECT lower(hex(exe_sha256)) FROM run LIMIT 1")
        tap.equal({p["build"] for p in doc["points"]}, {f"exe {exe[:12]}"}, "without a build the executable is named")
        for point in doc["points"]:
            runs = [run for (run,) in bed.sql("SELECT run FROM v_run WHERE job = ? AND block > 0", point["job"])]
            medians = [statistics.median(counting(bed, run)) for run in runs]
            tap.equal((len(runs), point["runs"], point["value"]), (3, 3, statistics.median(medians)),
                      f"job {point['job']}: the median of the medians of its runs")
        page = bed.cli("history", "sleep")
        tap.ok("3 sessions" in page.stdout and "sleep" in page.stdout, "a page", page.stdout.splitlines())
        rows = list(csv.DictReader(io.StringIO(bed.cli("history", "sleep", "--csv").stdout)))
        tap.equal([(float(r["time_ns"]), int(r["job"])) for r in rows], [(p["value"], p["job"]) for p in doc["points"]], "the CSV has the same")
        rss = json.loads(bed.cli("history", "sleep", "--metric", "max_rss_bytes", "--json").stdout)
        tap.ok(all(p["value"] > 0 for p in rss["points"]) and rss["unit"] == "bytes", "another metric", rss)


def what_breaks(tap):
    """Another command under the same name breaks the series, and the page says which"""
    job = """
quiesce: 1
benchmarks: [{name: nap, argv: [sleep, "%s"]}]
plan: {blocks: {min: 2, max: 2}, window: {iterations: 2}, warmup: {iterations: 1}}
"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        for length in ("0.002", "0.002", "0.003"):
            daemon.ended(daemon.job(job % length))
        listed = daemon.get("/history?text=NAP").want(200).json["series"]
        tap.equal(len(listed), 1, "one series")
        doc = daemon.get(f"/history/{listed[0]['id']}").want(200).json
        tap.equal(wrongs(doc, SCHEMA), [], "the document is as its schema says")
        tap.equal([b["at"] for b in doc["breaks"]], [2], "broken before the third")
        tap.equal([(d["key"], d["base"], d["candidate"]) for d in doc["breaks"][0]["differences"] if d["matters"]],
                  [("command", '["sleep","0.002"]', '["sleep","0.003"]')], "by the command")
        tap.equal([(s["from"], s["end"]) for s in doc["segments"]], [(0, 2), (2, 3)], "two stretches")
        exe = doc["points"][0]["build"]
        told = bed.cli("history", "--build", exe, "--json")
        tap.equal([s["sessions"] for s in json.loads(told.stdout)["series"]], [3], "--build of all series")
        told = bed.cli("history", "--build", "v77")
        tap.ok(told.returncode == 2 and "`v77`" in told.stderr, "a build that no series has", told.stderr.splitlines())
        late = daemon.get(f"/history/{listed[0]['id']}?since={doc['points'][2]['started_wall_ns']}").want(200).json
        tap.equal(len(late["points"]), 1, "since")


def refusals(tap):
    """What is no series, metric, moment or number is told"""
    with Bed() as bed:
        tap.equal(bed.cli("run", *QUICK, "--", "sleep", "0.001").returncode, 0, "a session")
        told = bed.cli("history", "slep")
        tap.ok(told.returncode == 2 and "`slep`" in told.stderr and "`sleep`" in told.stderr, "no such series", told.stderr.splitlines())
        for words, says in ((("sleep", "--metric", "joy"), "the metric `joy`"), (("sleep", "--since", "soon"), "not a point in time"),
                            (("sleep", "--window", "1"), "window"), (("sleep", "--format", "csv"), "for files")):
            told = bed.cli("history", *words)
            tap.ok(says in told.stdout + told.stderr, " ".join(words), (told.stdout + told.stderr).splitlines())


if __name__ == "__main__":
    sys.exit(run_cases(series_of_sessions, what_breaks, refusals))
