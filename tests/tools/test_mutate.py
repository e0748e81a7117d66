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
    s->at = s->in_fd >= 0 ? 1 : 2;
    s->most = n > s->most ? n : s->most;
    return true;
}
"""
WANTED = ["comparison or connective: `<` -> `<=`", "comparison or connective: `&&` -> `||`", "comparison or connective: `>=` -> `<`",
          "comparison or connective: `>` -> `<=`",
          "condition: `n < 3 && s->on` -> `!(n < 3 && s->on)`", "call: `qs_s_stop(s, n + 1);` -> `;`", "bound: `3` -> `4`",
          "sum: `+` -> `-`", "result: `true` -> `false`"]
# Five breaks measure no share: what nobody notices is listed for a person, and only a handful that is not noticed at all fails.
LEAST_OF_HANDFUL = 0.2


def check_breaks(t):
    found = mutate.mutants_of("a.c", SAMPLE)
    t.equal([f"{m.what}: `{m.old}` -> `{m.new}`" for m in found], WANTED,
            "code is broken, and no comment, string, macro, table or line of the log; no descriptor is 0, and of equals either is the greater")
    t.ok(all(SAMPLE[m.begin:m.end] == m.old for m in found), "at its place")
    t.equal([m.line for m in found], [9, 9, 13, 14, 9, 11, 9, 11, 15], "and line")


def check_places(t):
    t.equal([mutate.suites_of(p) for p in ("daemon/store/write/write.c", "agent/linux/child.c", "proto/msg.c", "daemon/main.c",
                                                   "daemon/device/device.c")],
            [["store"], ["agent"], ["proto", "agent", "device"], ["main"], ["device", "farm"]], "a folder's own tests are asked first")

    class Noticing:
        """Its only suite notices what is no sum."""
        def try_one(self, mutant, suites, programs):
            return "same" if mutant.what == "bound" else "nobody" if mutant.what == "sum" else (suites + programs)[0]

    drawn = [m._replace(path="daemon/store/a.c") for m in mutate.mutants_of("a.c", SAMPLE)]
    out = mutate.try_all(Noticing(), drawn, 7, [], lambda line: None)
    t.equal([(m.what, who) for m, who in out][-2:], [("call", "store"), ("sum", "nobody")], "what changes nothing is drawn again")


class Failing(mutate.Build):
    """Its suite fails a number of times, then passes."""
    def __init__(self, times):
        super().__init__("", "", "1", [])
        self.failed, self.times, self.runs = ["store / a"], times, 0

    def passes(self, suite):
        self.times, self.runs = self.times - 1, self.runs + 1
        return self.times < 0

    def why_not(self):
        try:
            self.must_be_sound("store")
        except SystemExit as end:
            return str(end)
        return None


def check_cell(t):
    within = mutate.cell()
    if within is None:
        t.skip("what a break kills is its own", mutate.NO_CELL)
        return
    outsider = subprocess.Popen(["sleep", "600"])
    done = subprocess.run([*within, "sh", "-c", "kill -9 -1; exit 7"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    t.ok(done.returncode == 7, "a break may kill all that it can see, and the suite's exit code is told", [str(done)])
    t.ok(outsider.poll() is None, "which is nobody outside")
    outsider.kill()
    outsider.wait()
    t.ok(subprocess.run([*within, "false"], stdin=subprocess.DEVNULL, check=False).returncode == 1, "nor is a failure swallowed")


def check_sound(t):
    t.equal([Failing(n).why_not() for n in (0, 1, 2)],
            [None, None, "mutate: suite store fails without any break (store / a): mend that first"], "a suite that fails by itself is asked twice")
    once = Failing(0)
    t.equal((once.why_not(), once.why_not(), once.runs), (None, None, 1), "and one that passes is asked once")


def check_asked(t, folder):
    """A tree whose builds are canned: what was written when each was asked."""
    class Canned:
        def __init__(self, name, noticing):
            self.name, self.noticing = name, noticing

        only_late = False

        def compiled(self, path):
            return read(path)

        def must_be_sound(self, suite):
            t.ok(read("a.c") == SAMPLE, f"{self.name} {suite} is tried without the break")

        def passes(self, suite):
            asked.append((self.name, suite, read("a.c") != SAMPLE))
            return suite not in self.noticing

    def read(path):
        with open(f"{folder}/{path}", encoding="utf-8") as f:
            return f.read()

    def tree_of(quick, checked):
        tree = mutate.Tree.__new__(mutate.Tree)
        tree.top, tree.quick, tree.checked, tree.other = folder, Canned("quick", quick), Canned("checked", checked), Canned("other", ())
        return tree
    with open(f"{folder}/a.c", "w", encoding="utf-8") as f:
        f.write(SAMPLE)
    broken = mutate.mutants_of("a.c", SAMPLE)[0]
    for quick, checked, who, order in (((), (), "nobody", ["quick", "checked", "checked"]), (("store",), (), "store", ["quick"]),
                                       ((), ("store",), "store", ["quick", "checked"]), ((), ("e2e",), "e2e", ["quick", "checked", "checked"])):
        asked = []
        t.equal(tree_of(quick, checked).try_one(broken, ["store"], ["e2e"]), who, f"{who} notices after {len(order)}")
        t.equal(([name for name, _, _ in asked], all(was for _, _, was in asked)), (order, True), "who is asked sees the break")
        t.ok(read("a.c") == SAMPLE, "and the source is as it was")
    t.equal(tree_of((), ()).try_one(broken._replace(new=broken.old), ["store"], []), "same", "the same code is nothing to notice")
    tree = tree_of((), ())
    tree.other.compiled = lambda path: "the same code"
    t.equal(tree.try_one(broken, ["store"], []), "same", "nor is what is the same to another compiler")
    tree = tree_of(("store",), ())
    tree.quick.only_late = True
    t.equal(tree.try_one(broken, ["store"], []), "store, late", "a timeout is told as one")


def check_handful(t, count, seed, build):
    with tempfile.TemporaryDirectory(dir=build) as folder:
        out = subprocess.run([sys.executable, mutate.__file__, "--all", "--count", count, "--seed", seed, "--least", str(LEAST_OF_HANDFUL),
                              "--build", folder, "--units-only"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    lines = out.stdout.splitlines() + out.stderr.splitlines()
    if mutate.NO_CELL in lines:
        t.skip(f"tests notice at least {LEAST_OF_HANDFUL:.0%} of {count} breaks", mutate.NO_CELL)
        return
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
        check_cell(t)
        check_sound(t)
        with tempfile.TemporaryDirectory() as folder:
            check_asked(t, folder)
    return t.done()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
