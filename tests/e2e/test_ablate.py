#!/usr/bin/env python3
"""`quiesce ablate`: a job without one of its conditions at a time, on this machine; what is told of each is what the database has."""
import json
import sys

from lib import Bed, run_cases

# a gate that never opens costs its timeout once a window; nothing else of these conditions takes time
YAML = """quiesce: 1
name: which
benchmarks: [{name: nap, argv: [sleep, "0.002"]}]
conditions:
  affinity: "0"
  gate: [{sensor: load1_milli, above: 1000000, timeout: 50ms, backoff: false}]
  patience: 1h
  bounds: {cpu.steal_ticks: 1000000}
plan: {blocks: 3, window: {iterations: 2}, warmup: {iterations: 1}, until: {interval: 0}}"""
PARTS = ["affinity", "gate", "bound"]


def write(bed, name, text):
    with open(f"{bed.path}/{name}", "w", encoding="utf-8") as f:
        f.write(text)


def each_part(tap):
    """Every part is left out by one arm; precision, shift and device time are told, in a table and as JSON"""
    with Bed() as bed:
        write(bed, "job.yaml", YAML)  # its last line has no end
        checked = bed.cli("ablate", "--check", "job.yaml")
        tap.equal((checked.returncode, checked.stdout), (0, "job.yaml is a valid job\nleft out in turn: affinity, gate, bound\n"), "--check tells what would be left out")
        told = bed.cli("ablate", "--json", "job.yaml")
        tap.equal(told.returncode, 0, f"it works: {told.stderr[-500:]}")
        doc = json.loads(told.stdout)
        (result,) = doc["results"]
        arms, times = result["arms"], result["metrics"][0]["arms"]
        tap.equal([a["left_out"] for a in arms], [None, *PARTS], "an arm for each part, the first has all of them")
        tap.equal([c["candidate_arm"] for c in result["comparisons"]], [f"without {p}" for p in PARTS], "each is compared with the full set")
        taken = bed.sql("SELECT arm_idx, sum(ended_wall_ns - started_wall_ns) FROM run WHERE block > 0 GROUP BY arm_idx ORDER BY arm_idx")
        tap.equal([a["taken_ns"] for a in arms], [ns for _, ns in taken], "the device time is that of the arm's runs")
        tap.ok(all(arms[i]["taken_ns"] >= 3 * 50_000_000 for i in (0, 1, 3)), "waits for the gate are a part of it", [str(taken)])
        waited = bed.sql("SELECT r.arm_idx, count(g.window_id) FROM run r JOIN window w ON w.run_id = r.id LEFT JOIN gate g ON g.window_id = w.id AND g.decided_ns - g.began_ns >= 50000000"
                         " WHERE r.block > 0 GROUP BY r.arm_idx ORDER BY r.arm_idx")
        tap.equal([n for _, n in waited], [3, 3, 0, 3], "its arm alone does not wait for it")
        for t in times:
            half = (t["median_hi"] - t["median_lo"]) / 2 / t["median"] if t["median_lo"] is not None else None
            tap.ok(t["half_width_ratio"] == half or abs(t["half_width_ratio"] - half) < 1e-9, f"{t['name']}: the precision is half the interval", [str(t)[:400]])


def as_a_page(tap):
    """The table has a row for each part; JSON job files are taken too, and one without conditions is refused"""
    with Bed() as bed:
        job = {"quiesce": 1, "benchmarks": [{"name": "nap", "argv": ["sleep", "0.002"]}], "conditions": {"affinity": "0", "gate": "none", "bounds": "none"},
               "plan": {"blocks": 3, "window": {"iterations": 1}, "warmup": {"iterations": 0}, "until": {"interval": 0}}}
        write(bed, "job.json", json.dumps(job))
        told = bed.cli("ablate", "job.json")
        tap.equal(told.returncode, 0, f"it works: {told.stderr[-500:]}")
        lines = [line.split() for line in told.stdout.splitlines()]
        tap.ok(["What", "each", "part", "of", "the", "conditions", "is", "worth", "here"] in lines, "the table has a heading", told.stdout.splitlines())
        tap.equal([sum(line[:1] == [word] for line in lines) for word in ("nothing", "affinity")], [1, 1], "and two rows")
        job["conditions"] = {"gate": "none", "bounds": "none"}
        write(bed, "job.json", json.dumps(job))
        refused = bed.cli("ablate", "job.json")
        tap.ok(refused.returncode == 2 and "nothing in the job's conditions that could be left out" in refused.stderr, "conditions with nothing in them are refused", [str(refused.returncode), refused.stderr])
        plain = bed.cli("submit", "--check", "job.json")
        tap.equal(plain.returncode, 0, "for submit it is a job all the same")


if __name__ == "__main__":
    sys.exit(run_cases(each_part, as_a_page))
