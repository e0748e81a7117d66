#!/usr/bin/env python3
"""Identical commands, compared again and again through `quiesce run`: at most 2 % may be called changed."""
import collections
import json
import sys

from lib import Bed, Tap

UNCHANGED = {"equivalent", "negligible", "inconclusive"}
TRIAL_BOUND_S = 300


def main(trials):
    tap, verdicts, broken = Tap(), collections.Counter(), []
    with Bed() as bed:
        for trial in range(trials):
            # A little work that takes about a millisecond, and an end after the blocks that are never left out.
            told = bed.cli("run", "--a", "sort /dev/null", "--b", "sort /dev/null", "--max-time", "1s", "--iterations", "20",
                           "--seed", str(trial + 1), "--json", bound_s=TRIAL_BOUND_S)
            try:
                comparison = json.loads(told.stdout)["results"][0]["comparisons"][0]
            except (ValueError, KeyError, IndexError):
                broken.append((trial, told.returncode, told.stderr[-500:]))
                continue
            verdicts[comparison["verdict"]] += 1
            if comparison["verdict"] not in UNCHANGED:
                tap.say([f"trial {trial}: {comparison['verdict']}, ratio {comparison['ratio']}, "
                         f"interval {comparison['lo']} to {comparison['hi']}"])
        jobs = bed.one("SELECT count(*) FROM job WHERE state = 'done'")
    changed = sum(count for verdict, count in verdicts.items() if verdict not in UNCHANGED)
    tap.say([f"{trials} comparisons of a command with itself: {dict(verdicts)}; called changed: {changed}"])
    tap.equal(broken, [], "every comparison came to an end")
    tap.equal(jobs, trials, "each is a job in the database")
    tap.ok(changed <= trials * 0.02, "at most 2 % are called changed", [dict(verdicts)])
    return tap.done()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
