#!/usr/bin/env python3
"""What the client's tests pretend, the daemon says: each field of the answers that tests/unit/ctl/client.py makes up, and of the documents that
tests/golden/ctl lays out, is there in what the real daemon sends, or in the page that describes it."""
import glob
import json
import os
import re
import sys

from lib import Bed, run_cases

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SCHEMA = os.path.join(TESTS, "..", "schema")
sys.path.insert(0, os.path.join(TESTS, "unit", "ctl"))
import client  # noqa: E402

JOB = """
quiesce: 1
name: two
benchmarks: [{name: nap, argv: [sleep, "0.00{n}"]}]
arms: {short: {params: {n: 1}}, long: {params: {n: 2}}}
conditions: {gate: none, bounds: none}
plan: {blocks: {min: 2, max: 2}, window: {iterations: 2}, warmup: {iterations: 1}}
"""
# the pages of documents, by their kind; those of files have JSON schemas
PAGES = {"job": "report.md", "run": "report.md", "sides": "sides.md", "reproduction": "reproduction.md", None: "comparison.md"}
# laid-out answers, and the address that gives the real one
ANSWERS = {"series-list.json": "/history", "builds.json": "/builds", "devices.json": "/devices", "device.json": "/devices/local", "jobs.json": "/jobs", "job.json": "/jobs/{job}",
           "run.json": "/runs/{run}"}
ADDED = {"output"}  # the client itself puts the last words of a failed run into the document
FOREIGN = {"environment", "params", "conditions", "tags"}  # their keys are facts of others


def paths_of(value, prefix=""):
    """`a.b[].c` of each field."""
    if isinstance(value, list):
        return {path for one in value for path in paths_of(one, prefix + "[]")}
    if not isinstance(value, dict):
        return set()
    found = set()
    for key, below in value.items():
        path = f"{prefix}.{key}" if prefix else key
        found |= {path} | (set() if key in FOREIGN else paths_of(below, path))
    return found


def keys_of_daemon():
    """The words that stand in quotes anywhere in what writes the answers."""
    words = set()
    for path in glob.glob(os.path.join(TESTS, "..", "daemon", "**", "*.c"), recursive=True):
        if f"{os.sep}ctl{os.sep}" not in path:
            with open(path, encoding="utf-8") as f:
                words |= set(re.findall(r'"(\w+)"', f.read()))
    return words


def shallow(doc):
    """`a[]` of each list of words or numbers."""
    return {f"{key}[]" for key, value in doc.items() if isinstance(value, list) and value and not isinstance(value[0], (dict, list))}


def read(name):
    with open(os.path.join(SCHEMA, name), encoding="utf-8") as f:
        return f.read()


def unknown_to_page(doc, page):
    """Fields that have no row in the page; what a page describes by a reference is at least a word of some page."""
    rows = set(re.findall(r"^\| `([^`]+)`", page, re.M))
    words = {word for name in set(PAGES.values()) for quoted in re.findall("`([^`]+)`", read(name)) for word in re.findall(r"\w+", quoted)}
    words |= set(re.findall(r"(\w+):", read("openapi.yaml"))) | set(re.findall(r'"(\w+)":', "".join(map(read, ("analysis.schema.json", "statistics.schema.json", "verdict.schema.json"))))) | ADDED
    return sorted(path for path in paths_of(doc) if path not in rows and re.split(r"[.\[\]]+", path.rstrip("[]"))[-1] not in words)


def meant(schema, whole):
    """What a reference means, and the schema it stands in."""
    if "$ref" not in schema:
        return schema, whole
    name, _, place = schema["$ref"].partition("#")
    whole = json.loads(read(name)) if name else whole
    return meant(whole["$defs"][place.rsplit("/", 1)[-1]] if place else whole, whole)


def unknown_to_schema(value, schema, whole, path=""):
    """Fields that the schema does not name."""
    schema, whole = meant(schema, whole)
    if isinstance(value, list):
        return [w for one in value for w in unknown_to_schema(one, schema["items"], whole, path + "[]")]
    if not isinstance(value, dict) or "properties" not in schema:
        return []
    known = schema["properties"]
    return [f"{path}.{key}" for key in value if key not in known] + \
        [w for key, below in value.items() if key in known for w in unknown_to_schema(below, known[key], whole, f"{path}.{key}")]


def answers(tap):
    """The answers and events of the pretended daemon have no field that the real one's lack"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        job = daemon.job(JOB)
        daemon.ended(job)
        run = daemon.get(f"/jobs/{job}/runs").want(200).json["runs"][0]["uid"]
        for path, pretended in client.replies("9.9").items():
            target = path.replace("/jobs/7", f"/jobs/{job}").replace("ab" * 16, run).removeprefix("/api/v1")
            real = daemon.ask("GET", target if path.startswith("/api") else path).want(200).json
            tap.equal(sorted(paths_of(pretended) - paths_of(real)), [], f"GET {path}")
        for name, address in ANSWERS.items():
            real = daemon.get(address.format(job=job, run=run)).want(200).json
            with open(os.path.join(TESTS, "golden", "ctl", name), encoding="utf-8") as f:
                lacking = paths_of(json.load(f)) - paths_of(real)
            written = keys_of_daemon() | set(re.findall(r"\w+", " ".join(re.findall("`([^`]+)`", read("board.md")))))  # that page is printed
            made_up = [path for path in lacking if re.split(r"[.\[\]]+", path.rstrip("[]"))[-1] not in written]
            tap.equal(sorted(made_up), [], f"{name} against GET {address}: this job has a field, or others may have it")
            shapes = [path for path in lacking if path.split(".")[0].removesuffix("[]") + "[]" in shallow(real)]
            tap.equal(sorted(shapes), [], f"{name}: and lists of words are no lists of objects")


def documents(tap):
    """The documents that are laid out in tests have no field that their page lacks"""
    for path in sorted(glob.glob(os.path.join(TESTS, "golden", "ctl", "*.json"))):
        if os.path.basename(path) in ANSWERS:
            continue
        with open(path, encoding="utf-8") as f:
            doc = json.load(f)
        kind = doc.get("kind")
        if "options" in doc or kind == "series":
            name = "history.schema.json" if kind == "series" else "analysis.schema.json"
            whole = json.loads(read(name))
            wrong = unknown_to_schema(doc, whole if kind == "series" else whole["$defs"][kind], whole)
        else:
            name = PAGES[kind]
            wrong = unknown_to_page(doc, read(name))
        tap.equal(wrong[:10], [], f"{os.path.basename(path)} against {name}")


if __name__ == "__main__":
    sys.exit(run_cases(answers, documents))
