#!/usr/bin/env python3
"""A benchmark program tried by hand: help, lists, results, and mistakes that are explained. Usage: check_alone.py PROBE"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
from tap import Tap  # noqa: E402

PROBE = sys.argv[1]


def call(*args):
    got = subprocess.run([PROBE, *args], capture_output=True, text=True, env={k: v for k, v in os.environ.items() if k != "QUIESCE_BENCH_FD"})
    return got.returncode, got.stdout, got.stderr


def measured(t, *args):
    code, out, said = call("--json", *args)
    t.equal(code, 0, f"--json {args}: exit 0")
    try:
        return json.loads(out)
    except ValueError as err:
        t.ok(False, "its output is JSON", [str(err), out[:500], said])
        return {"benchmarks": []}


def check_words(t):
    code, out, _ = call("--help")
    t.equal(code, 0, "--help: exit 0")
    for words in ("what the tests need", "all  ", "every step", "--iterations X", "--whole X", "a whole number (1)", "a fraction (0.5)", "any text (none)"):
        t.ok(words in out, f"--help says `{words.strip()}`", out.splitlines())
    t.equal(call("--list"), (0, "all\nonce\n", ""), "--list names the benchmarks")
    code, out, _ = call("--iterations", "3", "--evals", "2")
    t.equal(code, 0, "a table: exit 0")
    for words in ("all: 3 iterations of 2 evaluations, per evaluation:", "  min ", "  median ", "25 % ", "95 % ", "  setups     1 ",
                  "  prepares   2 to 4", "  runs       2 calls", "once: 3 iterations of 1 evaluation,"):
        t.ok(words in out, f"the table says `{words.strip()}`", out.splitlines())


def check_json(t):
    report = measured(t, "--iterations", "4", "--warmup", "2", "--evals", "3", "--whole", "-5", "--part=0", "--word", 'a "word"\n')
    t.equal([b["name"] for b in report["benchmarks"]], ["all", "once"], "both benchmarks are there")
    every, once = report["benchmarks"]
    t.equal(every["params"], {"fail": "", "die": "", "word": 'a "word"\n', "whole": -5, "noisy": 0, "part": 0}, "parameters with their values")
    t.equal((every["evals"], once["evals"]), (3, 1), "evaluations as asked, but one where one is all that is possible")
    rows = every["iterations"]
    t.equal([(r["setups"], r["prepares"], r["runs"], r["whole"]) for r in rows], [(1, 3 + i, 3, -5) for i in range(4)], "metrics of each iteration")
    t.equal(["stack" in r for r in rows], [True, False, True, False], "what was not recorded is left out")
    t.ok(all(a["start_ns"] + a["duration_ns"] <= b["start_ns"] for a, b in zip(rows, rows[1:])), "iterations follow each other")
    lowest = min(r["duration_ns"] for r in rows) / 3
    t.ok(abs(every["per_evaluation_ns"]["min"] - lowest) < .001, "the minimum per evaluation", [every])
    order = [every["per_evaluation_ns"][k] for k in ("min", "q05", "q25", "median", "q75", "q95")]
    t.equal(order, sorted(order), "quantiles rise")


def check_tuning(t):
    one = measured(t, "--benchmark", "all", "--iterations", "2")["benchmarks"][0]
    t.ok(one["evals"] > 1, "a short run gets several evaluations per iteration", [one])
    t.equal([r["runs"] for r in one["iterations"]], [one["evals"]] * 2, "and they are what ran")
    short = measured(t, "--benchmark", "all", "--iterations", "4096", "--evals", "1", "--max-time", "0")["benchmarks"][0]
    t.equal(len(short["iterations"]), 1, "--max-time ends a window after the iteration that passes it")


def check_mistakes(t):
    for args, words in [
        (["--iteratons", "3"], "there is no --iteratons; did you mean --iterations?"),
        (["--wholee=3"], "there is no --wholee; did you mean --whole?"),
        (["--zzzzzzzz", "3"], "there is no --zzzzzzzz; --help lists the options"),
        (["--benchmark", "onse"], "there is no benchmark onse; did you mean once?"),
        (["--whole", "6x"], "whole: `6x` is not a whole number, -5 to 1000"),
        (["--whole", "1001"], "whole: `1001` is not a whole number, -5 to 1000"),
        (["--whole="], "whole: `` is not a whole number, -5 to 1000"),
        (["--part", "nan"], "part: `nan` is not a number, 0 to 1"),
        (["--iterations", "0"], "iterations: `0` is not a whole number, 1 to 4096"),
        (["--evals", "-1"], "evals: `-1` is not a whole number, 0 to 1000000"),
        (["--whole"], "--whole needs a value"),
        (["all"], "`all`: arguments have the form --name value; --help lists the names"),
    ]:
        t.equal(call(*args), (2, "", f"bench_probe: {words}\n"), f"{' '.join(args)}: exit 2, explained")
    for step in ("setup", "prepare", "run", "conclude", "teardown"):
        code, _, said = call("--benchmark", "all", "--fail", step)
        t.equal((code, said.splitlines()[-1]), (1, f"bench_probe: all: {step}: told to fail in {step}, with none"), f"a failure in {step}: exit 1, explained")


def main():
    t = Tap()
    check_words(t)
    check_json(t)
    check_tuning(t)
    check_mistakes(t)
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
