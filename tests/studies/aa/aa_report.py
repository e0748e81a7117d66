"""From the lines of a study to its table."""
import json
import math
import random
import sqlite3

import aa_figures as fig

ALPHA = 0.05
DIFFERENT = ("regression", "improvement", "probable-regression", "probable-improvement")
SLOWER = ("regression", "probable-regression")
TOOLS = ("quiesce", "hyperfine")


def read(path):
    """(the study's settings, its trials in order). A last line that was cut by an interruption is left out."""
    lines = []
    with open(path, encoding="utf-8") as f:
        for text in f:
            if text.endswith("\n"):
                lines.append(json.loads(text))
    return (lines[0], lines[1:]) if lines else (None, [])


def of_quiesce(document):
    """What Quiesce's own comparison of two arms says, from `quiesce run --json`."""
    result = document["results"][0]
    pair = result["comparisons"][0]
    return {"different": pair["verdict"] in DIFFERENT, "slower": pair["verdict"] in SLOWER,
            "verdict": pair["verdict"], "ratio": pair["ratio"], "lo": pair["lo"], "hi": pair["hi"], "p": pair["p"],
            "blocks": pair["base"]["units"], "blocks_tainted": result["blocks_tainted"], "stopped": document["stopped"],
            "iterations_per_run": result["iterations_per_run"], "elapsed_s": document["elapsed_ns"] / 1e9,
            "job": document["job"]}


def block_ratios(path, job):
    """[[b / a of the runs' medians, was anything tainted], ...] per whole block. A run counts by its clean iterations
    where it has any, as in the comparison itself; a block that was repeated counts by its last attempt."""
    blocks = {}
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        attempts = dict(db.execute("SELECT run, attempt FROM v_run WHERE job = ?", (job,)))
        for block, arm, run, ns, taint in db.execute(
                "SELECT block, arm, run, duration_ns, taint FROM v_iteration"
                " WHERE job = ? AND phase = 'measure' AND block > 0 ORDER BY block, run, seq", (job,)):
            runs = blocks.setdefault((block, attempts[run]), {}).setdefault(arm, {False: [], True: []})
            runs[taint != 0].append(ns)
    last = {block: arms for (block, attempt), arms in sorted(blocks.items()) if len(arms) == 2}
    ratios = []
    for _, arms in sorted(last.items()):
        a, b = (arms[name] for name in sorted(arms))
        ratios.append([fig.median(b[False] or b[True]) / fig.median(a[False] or a[True]),
                       not (a[False] and b[False])])
    return ratios


def of_hyperfine(export):
    """Welch on hyperfine's exported times of two commands."""
    a, b = (r["times"] for r in export["results"])
    p = fig.welch(a, b)[2]
    ratio = fig.mean_var(b)[0] / fig.mean_var(a)[0]
    return {"different": p < ALPHA, "slower": p < ALPHA and ratio > 1, "p": p, "ratio": ratio, "runs": len(a)}


BLOCKS_MIN = 10  # with fewer clean blocks the comparison uses all
MARGIN = 0.02
SLOWER_RATIO = 1.05


def called_different(logs, alpha=ALPHA):
    """The verdict's rule on paired log ratios: is there a difference that is not surely below the margin? alpha is the
    level at which there is one; the level of "surely below" stays."""
    mean, var = fig.mean_var(logs)
    se, df = math.sqrt(var / len(logs)), len(logs) - 1
    excludes = abs(mean) > fig.t_quantile(1 - alpha / 2, df) * se
    return excludes and abs(mean) + fig.t_quantile(1 - ALPHA, df) * se > math.log1p(MARGIN)


def used_logs(trial):
    ratios = trial["quiesce"]["block_ratios"]
    clean = [r for r, tainted in ratios if not tainted]
    return [math.log(r) for r in (clean if len(clean) >= BLOCKS_MIN else [r for r, _ in ratios])]


def sign_flips(trials, alpha=ALPHA, added=0.0, draws=1000, seed=1):
    """Under identical commands the sign of each block's log ratio is a fair coin, because the order was drawn. So
    every trial tells how often its own blocks would be called different by chance; or, with `added` to each log ratio,
    how often that would be found. The mean over trials, and its standard error."""
    rng, shares = random.Random(seed), []
    for logs in map(used_logs, trials):
        hits = 0
        for _ in range(draws):
            flipped = [added + (v if rng.random() < 0.5 else -v) for v in logs]
            hits += called_different(flipped, alpha) and (added == 0 or sum(flipped) > 0)
        shares.append(hits / draws)
    mean, var = fig.mean_var(shares)
    return mean, math.sqrt(var / len(shares))


def coins(trials):
    """Lines on what the level of a call costs and buys, on the blocks that were measured."""
    for alpha in (0.05, 0.02, 0.01):
        false, found = sign_flips(trials, alpha), sign_flips(trials, alpha, math.log(SLOWER_RATIO))
        yield (f"    at {alpha}: called different {100 * false[0]:5.2f} % (standard error {100 * false[1]:.2f}), "
               f"an added 5 % found {100 * found[0]:5.1f} % ({100 * found[1]:.1f})")


def share(k, n):
    lo, hi = fig.wilson(k, n)
    return f"{k:3d} of {n:3d}  {100 * k / n:5.1f} %  [{100 * lo:4.1f}, {100 * hi:4.1f}]"


def rows(trials):
    """(machine, effect, tool, what is counted, how many, of how many, seconds in the median)."""
    for noise in ("quiet", "noisy"):
        for effect in ("same", "slower"):
            some = [t for t in trials if t["noise"] == noise and t["effect"] == effect]
            for tool in TOOLS if some else ():
                key = "different" if effect == "same" else "slower"
                hits = sum(t[tool][key] for t in some)
                yield noise, effect, tool, key, hits, len(some), fig.median([t[tool]["elapsed_s"] for t in some])


def table(settings, trials):
    out = [f"seed {settings['seed']}; {settings['machine']}", f"A: {settings['a']}   B where slower: {settings['b']}",
           f"{'machine':8s} {'commands':10s} {'tool':10s} {'called':10s} {'':7s}     share  95 % (Wilson)   median time"]
    for noise, effect, tool, key, hits, n, seconds in rows(trials):
        words = "identical" if effect == "same" else "b is +5 %"
        out.append(f"{noise:8s} {words:10s} {tool:10s} {key:10s} {share(hits, n)}   {seconds:6.2f} s")
    for noise in ("quiet", "noisy"):
        same = [t for t in trials if t["noise"] == noise and t["effect"] == "same"]
        some = [t["quiesce"] for t in same]
        if some:
            verdicts = sorted({q["verdict"] for q in some})
            out.append(f"{noise}, identical: verdicts of quiesce: " +
                       ", ".join(f"{v} {sum(q['verdict'] == v for q in some)}" for v in verdicts) +
                       f"; p < {ALPHA} in {sum(q['p'] < ALPHA for q in some)}; "
                       f"blocks tainted {sum(q['blocks_tainted'] for q in some)} of {sum(q['blocks'] for q in some)}; "
                       f"median load before a trial {fig.median([t['load1'] for t in same]):.2f}")
        if len(same) > 1:
            out.append(f"{noise}, identical: blocks of {len(same)} trials with coins for signs")
            out.extend(coins(same))
    return "\n".join(out)
