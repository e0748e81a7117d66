#!/usr/bin/env python3
"""What `meson install` puts into a folder is enough: the command line finds its daemon and its agent there, and a benchmark finds
its header."""
import filecmp
import glob
import os
import subprocess

from lib import Bed, Failed, run_cases

BUILD = os.environ.get("QS_BUILD", "build")
PROGRAM = """
#include <quiesce/bench.h>
static void run(struct quiesce *q) { (void)q; }
int main(int argc, char **argv) {
    struct quiesce q;
    quiesce_init(&q, "nothing at all");
    quiesce_add(&q, "nothing", "does nothing", run);
    return quiesce_main(&q, argc, argv);
}
"""


def installed(bed):
    root = os.path.join(bed.path, "root")
    done = subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", root], capture_output=True, text=True,
                          timeout=120, check=False)
    if done.returncode != 0:
        raise Failed(f"meson install ended with {done.returncode}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
    for folder, _, names in os.walk(root):
        if "quiesce" in names:
            return folder
    raise Failed("quiesce was not installed")


def the_programs(tap):
    """quiesce run works from the folder where it was installed, with nothing else in sight"""
    with Bed() as bed:
        bin_dir = installed(bed)
        for name in ("quiesce", "quiesced", "quiesce-agent"):
            tap.ok(os.access(os.path.join(bin_dir, name), os.X_OK), f"{name} is there")
        built = {path for path in glob.glob(os.path.join(BUILD, "agent", "quiesce-agent-static*")) if os.path.isfile(path)}
        tap.ok(all(filecmp.cmp(path, os.path.join(bin_dir, os.path.basename(path)), shallow=False) and
                   os.access(os.path.join(bin_dir, os.path.basename(path)), os.X_OK) for path in built),
               "so is each agent for devices that was built, where the daemon looks for it", sorted(built))
        env = {k: v for k, v in bed.env.items() if not k.startswith("QS_")}
        env["PATH"] = bin_dir + ":/usr/bin:/bin"
        done = subprocess.run(["quiesce", "run", "--runs", "6", "--", "true"], capture_output=True, text=True, timeout=120, check=False,
                              env=env, cwd=bed.path, stdin=subprocess.DEVNULL)
        tap.equal(done.returncode, 0, "quiesce run ends well")
        tap.ok("6 blocks" in done.stdout, "and has measured", [done.stdout[-800:], done.stderr[-800:]])


def the_header(tap):
    """A program compiles with the installed header alone, and runs by hand"""
    with Bed() as bed:
        include = os.path.join(os.path.dirname(installed(bed)), "include")
        source, program = bed.file("nothing.c", PROGRAM), os.path.join(bed.path, "nothing")
        done = subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-I", include, source, "-o", program],
                              capture_output=True, text=True, timeout=120, check=False)
        tap.equal((done.returncode, done.stderr), (0, ""), "it compiles without a warning")
        done = subprocess.run([program, "--iterations", "3"], capture_output=True, text=True, timeout=60, check=False)
        tap.equal(done.returncode, 0, "it runs")
        tap.ok("nothing" in done.stdout, "and names its benchmark", [done.stdout])


run_cases(the_programs, the_header)
