#!/usr/bin/env python3
"""The straight line: what a job file says is what runs, and what was measured is the same integer at the wire, in the
database, in the API and in the exports."""
import csv
import io
import os

from lib import Bed, Failed, WireTap, blocks, run_cases, stored, whole

YAML = """
quiesce: 1
name: two naps
benchmarks:
  - name: nap
    argv: [sleep, "{seconds}"]
    params: {seconds: [0.001, 0.002]}
    env: {NAP: "no"}
arms:
  plain: {env: {ARM: plain}}
  other: {env: {NAP: "1:30"}}
plan:
  seed: 0777
  blocks: 2
  window: {iterations: 3}
  warmup: {iterations: 1}
  until: {interval: 0}
conditions: {gate: none, bounds: none}
"""
JSON = {
    "quiesce": 1, "name": "two naps",
    "benchmarks": [{"name": "nap", "argv": ["sleep", "{seconds}"], "params": {"seconds": [0.001, 0.002]}, "env": {"NAP": "no"}}],
    "arms": {"plain": {"env": {"ARM": "plain"}}, "other": {"env": {"NAP": "1:30"}}},
    "plan": {"seed": 777, "blocks": 2, "window": {"iterations": 3}, "warmup": {"iterations": 1}, "until": {"interval": 0}},
    "conditions": {"gate": "none", "bounds": "none"},
}


def outline(bed, job):
    """What a job was made of, without what differs from one to the next."""
    arms = bed.sql("SELECT idx, name, argv FROM arm WHERE job_id = ? ORDER BY idx", job)
    points = bed.sql("SELECT j.idx, j.label, p.params, p.conditions FROM job_point j JOIN point p ON p.id = j.point_id "
                     "WHERE j.job_id = ? ORDER BY j.idx", job)
    runs = bed.sql("SELECT r.point_idx, r.block, r.pos, r.arm_idx, r.attempt, r.state, sum(w.n) FROM run r "
                   "JOIN window w ON w.run_id = r.id WHERE r.job_id = ? GROUP BY r.id ORDER BY r.id", job)
    return {"arms": arms, "points": points, "runs": runs}


def yaml_and_json_are_one_language(tap):
    """The same job as YAML and as JSON gives the same structure and the same runs in the same order"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        jobs = [daemon.job(YAML, name="naps.yaml"), daemon.job(JSON, name="naps.json")]
        shown = [daemon.ended(job) for job in jobs]
        tap.equal([j["state"] for j in shown], ["done", "done"], "both end well")
        first, second = (outline(bed, job) for job in jobs)
        tap.equal(first, second, "arms, points, runs, their order and their iterations are equal")
        tap.equal(len(first["points"]), 2, "one point for each value of the parameter")
        tap.equal(bed.sql("SELECT DISTINCT seed FROM job"), [(777,)], "0777 is what a person thinks")
        tap.equal([p for job in jobs for p in whole(bed, job)], [], "the database holds together")
        tap.equal([(j["arms"], j["points"]) for j in shown][0], [(j["arms"], j["points"]) for j in shown][1],
                  "the API shows them alike")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def pages(daemon, run):
    rows, start = [], 0
    while start is not None:
        page = daemon.get(f"/runs/{run}/iterations?from={start}&limit=2").want(200).json
        rows += page["iterations"]
        start = page["next"]
    return rows


def one_integer_at_every_hop(tap):
    """Every duration is the identical integer at the wire, in the database, the API, the CSV and the comparison"""
    with Bed() as bed:
        def committed(run, following):
            have = stored(bed, run)
            missing = [seq for seq in range(following) if seq not in have]
            if missing:
                raise Failed(f"ACK of {run} below {following}, but {missing} are not in the database")

        wire = WireTap(bed, f"{bed.path}/agent.sock", committed)
        bed.agent()
        daemon = bed.daemon({"devices": {"local": {"link": "unix", "address": wire.path}}})
        daemon.device_ready()
        job = daemon.job(YAML)
        tap.equal(daemon.ended(job)["state"], "done", "the job ends well")

        runs = daemon.get(f"/jobs/{job}/runs?limit=1000").want(200).json["runs"]
        tap.equal(len(runs), 2 * 2 + 2 * 2 * 2, "a pilot of each arm and two blocks, at both points")
        tap.equal({r["uid"] for r in runs}, set(wire.sent), "the runs of the API are those of the wire")
        in_db = {r["uid"]: stored(bed, r["uid"]) for r in runs}
        tap.equal(in_db, wire.sent, "the database holds what crossed the wire")
        in_api = {r["uid"]: {i["seq"]: i["duration_ns"] for i in pages(daemon, r["uid"])} for r in runs}
        tap.equal(in_api, in_db, "the API gives what the database holds, in pages too")
        tap.equal(wire.acked, {run: len(rows) for run, rows in wire.sent.items()}, "everything sent was acknowledged")
        tap.equal(wire.faults, [], "a commit stood before every acknowledgement")

        table = list(csv.DictReader(io.StringIO(daemon.get(f"/jobs/{job}/export?format=csv").want(200).text)))
        in_csv = {}
        for row in table:
            in_csv.setdefault(row["run"], {})[int(row["seq"])] = int(row["duration_ns"])
        counted = {r["uid"] for r in runs if r["block"] > 0}
        tap.equal({run: in_csv[run] for run in counted if run in in_csv}, {run: in_db[run] for run in counted},
                  "the CSV gives them too")
        rusage = bed.sql("SELECT run, seq, user_time_us, max_rss_bytes FROM v_iteration ORDER BY run, seq")
        tap.equal([(r["run"], int(r["seq"]), int(r["user_time_us"]), int(r["max_rss_bytes"])) for r in
                   sorted(table, key=lambda r: (r["run"], int(r["seq"])))],
                  [row for row in rusage if row[0] in in_csv], "and the metrics beside them")

        compared = daemon.get(f"/jobs/{job}/compare").want(200).json
        fastest = {(r["point"], a["arm"]): a["min"] for r in compared["results"] for a in r["metrics"][0]["arms"]}
        from_db = dict((((p, a)), m) for p, a, m in bed.sql(
            "SELECT r.point_idx, r.arm_idx, min(i.duration_ns) FROM run r JOIN window w ON w.run_id = r.id JOIN iteration i "
            "ON i.window_id = w.id WHERE r.block > 0 AND w.phase = 1 GROUP BY 1, 2"))
        tap.equal(fastest, from_db, "and the smallest of them is still that integer in the comparison")


def yaml_traps(tap):
    """What YAML 1.1 would turn into something else stays what a person wrote"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        out = os.path.join(bed.path, "seen")
        job = daemon.job(f"""
quiesce: 1
name: no
benchmarks:
  - name: on
    shell: 'printf "%s\\n" "$A" "$B" "$C" "{{p}}" > {out}'
    env: {{A: no, B: 1:30, C: 0777}}
    params: {{p: 1e3}}
plan: {{blocks: 1, window: {{iterations: 1}}, warmup: {{iterations: 1}}, until: {{interval: 0}}}}
conditions: {{gate: none}}
""")
        shown = daemon.ended(job)
        tap.equal((shown["state"], shown["name"]), ("done", "no"), "a job called no")
        with open(out, encoding="utf-8") as f:
            tap.equal(f.read().split(), ["no", "1:30", "0777", "1e3"], "values arrive as they were written")
        tap.equal(sorted({block for _, block in blocks(bed, job)}), [1], "one block")


run_cases(yaml_and_json_are_one_language, one_integer_at_every_hop, yaml_traps)
