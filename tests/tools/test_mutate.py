#!/usr/bin/env python3
"""What mutate.py breaks; with `handful`, that tests notice a handful of breaks drawn from the whole tree.

usage: test_mutate.py [handful COUNT SEED BUILDDIR]

The handful asks the unit tests alone: whole programs would take minutes for each.
"""
import subprocess
import sys
import tempfile

import mutate
from tap import Tap

SAMPLE = """#define LESS(a, b) ((a) < (b))
enum { N = 3 };
static const int table[] = {1 + 2};

/* a < b */
static bool f(struct s *s, int n)
{
    const char *text = "n < 3 && x";
    if (n < 3 && s->on) {
        qs_log_info(s->log, "n");
        qs_s_stop(s, n + 1);
    }
    return true;
}
"""
WANTED = ["comparison or connective: `<` -> `<=`", "comparison or connective: `&&` -> `||`",
          "condition: `n < 3 && s->on` -> `!(n < 3 && s->on)`", "call: `qs_s_stop(s, n + 1);` -> `;`", "bound: `3` -> `4`",
          "sum: `+` -> `-`", "result: `true` -> `false`"]
# Five breaks measure no share: what nobody notices is listed for a person, and only a handful that is not noticed at all fails.
LEAST_OF_HANDFUL = 0.2


def check_breaks(t):
    found = mutate.mutants_of("a.c", SAMPLE)
    t.equal([f"{m.what}: `{m.old}` -> `{m.new}`" for m in found], WANTED,
            "code is broken, and no comment, string, macro, table or line of the log")
    t.ok(all(SAMPLE[m.begin:m.end] == m.old for m in found), "at its place")
    t.equal([m.line for m in found], [9, 9, 9, 11, 9, 11, 13], "and line")


def check_places(t):
    t.equal([mutate.suites_of(p) for p in ("daemon/store/write.c", "agent/linux_child.c", "proto/msg.c", "daemon/main.c",
                                                   "daemon/device/device.c")],
            [["store"], ["agent"], ["proto", "agent", "device"], [], ["device", "farm"]], "a folder's own tests are asked first")

    class Noticing:
        """Its only suite notices what is no sum."""
        def why_not_sound(self, suite):
            return "suite broken fails without any break (broken / a)" if suite == "broken" else None

        def try_one(self, mutant, suites):
            return "same" if mutant.what == "bound" else "nobody" if mutant.what == "sum" else suites[0]

    class Failing(mutate.Tree):
        """Fails a number of times, then passes."""
        def __init__(self, times):
            self.sound, self.failed, self.times = {}, ["store / a"], times

        def passes(self, suite):
            self.times -= 1
            return self.times < 0

    t.equal([Failing(n).why_not_sound("store") for n in (0, 1, 2)], [None, None, "suite store fails without any break (store / a)"],
            "a suite that fails by itself is asked twice")
    drawn = [m._replace(path="daemon/store/a.c") for m in mutate.mutants_of("a.c", SAMPLE)]
    out = mutate.try_all(Noticing(), drawn, 5, [], lambda line: None)
    t.equal([(m.what, who) for m, who in out][-2:], [("call", "store"), ("sum", "nobody")], "what changes nothing is drawn again")
    try:
        mutate.try_all(Noticing(), [drawn[0]._replace(path="daemon/broken/a.c")], 1, [])
        t.ok(False, "a suite that fails by itself proves nothing")
    except SystemExit as end:
        t.ok("suite broken fails without any break" in str(end), "a suite that fails by itself proves nothing", [str(end)])


def check_handful(t, count, seed, build):
    with tempfile.TemporaryDirectory(dir=build) as folder:
        out = subprocess.run([sys.executable, mutate.__file__, "--all", "--count", count, "--seed", seed, "--least", str(LEAST_OF_HANDFUL),
                              "--build", folder, "--units-only"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    lines = out.stdout.splitlines() + out.stderr.splitlines()
    t.ok(out.returncode == 0, f"tests notice at least {LEAST_OF_HANDFUL:.0%} of {count} breaks, seed {seed}", lines)
    if out.returncode == 0:
        t.say(lines)


def main(*args):
    t = Tap()
    if args[:1] == ("handful",):
        check_handful(t, *args[1:])
    else:
        check_breaks(t)
        check_places(t)
    return t.done()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
