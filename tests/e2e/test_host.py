#!/usr/bin/env python3
"""Commands of the daemon's machine that a job names: stop rules asked between windows, metrics read after them."""
import json

from lib import Bed, run_cases

FARM = """devices:
  local: {{link: exec, argv: [{agent}, --stdio]}}
rules:
  enough: {{command: [{enough}], timeout: 20s}}
  broken: {{command: [sh, -c, "echo no; exit 3"]}}
metrics:
  power: {{command: [{power}], unit: mW, scale: 1000}}
  slow: {{command: [sleep, "1000"], unit: x, timeout: 20ms}}
"""
ENOUGH = """#!/bin/sh
read -r line
echo "$line" >>asked
n=$(printf '%s' "$line" | sed 's/.*"n":\\([0-9]*\\).*/\\1/')
[ "$n" -ge 12 ] && echo '{"stop": true, "reason": "'$n' are enough"}' || echo '{"stop": false}'
"""
POWER = """#!/bin/sh
cat >>read
echo 1.2345
"""


def job(plan):
    return {"quiesce": 1, "benchmarks": [{"name": "it", "argv": ["true"]}], "conditions": {"gate": "none", "bounds": "none"},
            "plan": {"seed": 1, "blocks": {"min": 2, "max": 2}, "window": {"iterations": 5}, "until": {"interval": 0}, **plan}}


def asked_and_read(tap):
    """A rule ends runs with its reason, a metric is in the evidence; what fails is told and ends nothing"""
    import os
    with Bed() as bed:
        enough = bed.file("enough", ENOUGH.replace("asked", f"{bed.path}/asked"), 0o755)
        power = bed.file("power", POWER.replace("read", f"{bed.path}/read"), 0o755)
        daemon = bed.daemon(FARM.format(agent=os.environ["QS_AGENT"], enough=enough, power=power))
        daemon.device_ready("local")
        ended = daemon.ended(daemon.job(job({"stop": {"any": [{"external": "enough"}, {"external": "broken"}]}, "metrics": ["power", "slow"]})))
        tap.equal(ended["state"], "done", "the job ends well")
        tap.equal(bed.sql("SELECT DISTINCT stop_reason FROM v_run WHERE block > 0"), [("external(enough); enough: 15 are enough",)], "the rule's name and reason")
        tap.equal(bed.sql("SELECT DISTINCT n FROM v_run WHERE block > 0"), [(15,)], "three windows of five")
        with open(f"{bed.path}/asked", encoding="utf-8") as f:
            asked = [json.loads(line) for line in f]
        tap.equal([a["n"] for a in asked], [5, 10, 15] * 2, "asked after each window of counted blocks")
        run = asked[-1]["run"]
        times = [r[0] for r in bed.sql(f"SELECT duration_ns FROM v_iteration WHERE run = '{run}' ORDER BY seq")]
        tap.equal(asked[-1]["durations_ns"], times, "it was given the very iterations")
        values = bed.sql("SELECT e.before, e.after, count(*) FROM evidence e JOIN sensor n ON n.id = e.sensor_id WHERE n.name = ? GROUP BY 1, 2", "metric:power_mW")
        tap.equal(values, [(None, 1235, 6)], "the metric, scaled and whole, once a window")
        values = bed.sql("SELECT e.before, e.after, count(*) FROM evidence e JOIN sensor n ON n.id = e.sensor_id WHERE n.name = ? GROUP BY 1, 2", "metric:slow_x")
        tap.equal(values, [(None, None, 6)], "of the one that is too slow there is none")
        told = sorted(json.loads(r[0])["name"] for r in bed.sql("SELECT body FROM event WHERE kind = 'host.failed'"))
        tap.equal(told, ["broken"] * 2 + ["slow"] * 2, "what failed is told once a run")
        ended = daemon.ended(daemon.job(job({"stop": {"external": "broken"}, "caps": {"iterations": 10}})))
        tap.equal(bed.sql("SELECT DISTINCT stop_reason FROM v_run WHERE block > 0 AND job = 2"),
                  [("cap of 10 iterations; rule broken failed: sh ended with exit code 3",)], "the cap ends what a rule that fails does not")
        for plan, word in (({"stop": {"external": "enuogh"}}, "did you mean `enough`?"), ({"metrics": ["powr"]}, "did you mean `power`?")):
            refused = bed.cli("submit", bed.file("bad.json", json.dumps(job(plan))))
            tap.ok(refused.returncode == 2 and word in refused.stderr, f"refused: {word}", refused.stderr.splitlines())
        tap.equal(daemon.stop(), 0, "quiesced ends well")


run_cases(asked_and_read)
