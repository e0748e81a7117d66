#!/usr/bin/env python3
"""./dev on machines where something is missing: a copy of it runs among programs that are made here."""
import os
import shutil
import subprocess
import sys
import tempfile

from tap import Tap

NEEDED = "bash env dirname nproc cut xargs sort awk id mkdir tail cat find sed grep echo chmod".split()
APT = """#!/bin/sh
echo "$@" >>"$APT_LOG"
(exec 3<&0) 2>/dev/null || { echo "E: standard input is closed"; exit 100; }
[ "$1" = install ] || exit ${APT_UPDATE:-0}
[ -n "$APT_WORKS" ] || { echo "E: Unable to fetch some archives"; exit 100; }
printf '#!/bin/sh\\nexit 0\\n' >"$BIN/clang-format-14"
chmod +x "$BIN/clang-format-14"
"""


class Machine:
    """A machine with a bare PATH; `with_apt` and `uid` say what it offers."""

    def __init__(self, root, with_apt=True, uid="0"):
        self.top = tempfile.TemporaryDirectory()
        self.bin = os.path.join(self.top.name, "bin")
        self.log = os.path.join(self.top.name, "apt.log")
        for folder in ("bin", "proto", "agent", "daemon", "tests"):
            os.mkdir(os.path.join(self.top.name, folder))
        shutil.copy(os.path.join(root, "dev"), self.top.name)
        for name in NEEDED:
            os.symlink(shutil.which(name, path="/usr/bin:/bin"), os.path.join(self.bin, name))
        os.remove(os.path.join(self.bin, "id"))
        self.program("id", f"#!/bin/sh\necho {uid}\n")
        if with_apt:
            self.program("apt-get", APT)

    def program(self, name, text):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o755)

    def dev(self, *args, stdin=None, **env):
        out = subprocess.run([os.path.join(self.top.name, "dev"), *args], capture_output=True, text=True, preexec_fn=stdin,
                             env={"PATH": self.bin, "BIN": self.bin, "APT_LOG": self.log, **env})
        return out.returncode, (out.stdout + out.stderr).splitlines()

    def apt_calls(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as f:
            return f.read().splitlines()


def check_install(t, root):
    machine = Machine(root)
    got = machine.dev("fmt", APT_WORKS="1")
    t.equal(got, (0, ["dev: installing clang-format-14 (layout)"]), "one line says what is installed and why")
    t.equal(machine.apt_calls(), ["update -qq", "install -y -qq --no-install-recommends clang-format-14"],
            "the lists are read once, and only what the command needs is installed")
    t.equal(machine.dev("fmt"), (0, []), "quiet where all is there")
    t.equal(len(machine.apt_calls()), 2, "and apt is not asked again")
    t.equal(Machine(root).dev("fmt", APT_WORKS="1", stdin=lambda: os.close(0))[0], 0, "no standard input is needed")
    machine = Machine(root)
    t.equal(machine.dev("fmt", APT_WORKS="1", APT_UPDATE="100")[0], 0, "lists that cannot be read do not end it")


def check_no_install(t, root):
    code, lines = Machine(root).dev("fmt")
    t.ok(code == 1 and any("cannot install: clang-format-14" in line for line in lines) and
         any("Unable to fetch" in line for line in lines), "what cannot be installed is listed, with apt's reason", lines)
    code, lines = Machine(root, with_apt=False).dev("fmt")
    t.ok(code == 1 and "missing: clang-format-14" in lines[0], "a machine without apt gets the list", lines)
    code, lines = Machine(root, uid="1000").dev("fmt")
    t.ok(code == 1 and "apt-get install clang-format-14" in lines[0], "a user without sudo gets the command", lines)


def check_commands(t, root):
    machine = Machine(root)
    code, lines = machine.dev("help")
    words = "demo test agent fmt lint bench fuzz sim fresh deps".split()
    t.ok(code == 0 and all(any(line.split()[:1] == [w] for line in lines) for w in words), "help names each command", lines)
    code, lines = machine.dev("tset")
    t.ok(code == 1 and lines[-1] == "dev: there is no command tset", "an unknown command fails", lines)
    code, lines = machine.dev("test", "--fast")
    t.ok(code == 1 and "unknown option --fast" in lines[-1], "an unknown option fails", lines)
    code, lines = machine.dev("agent", "arm64", "mips")
    t.ok(code == 1 and "no agent for `mips`, but for arm64, armhf, riscv64" in lines[-1], "an architecture without an agent fails", lines)
    t.equal(machine.apt_calls(), [], "before anything is installed")


def check_fresh(t, root):
    """A machine that cannot make a fresh system says why, by an exit code of its own."""
    def bare(apt=True, **programs):
        machine = Machine(root, with_apt=apt)
        tools = os.path.join(machine.top.name, "tests", "tools")
        os.mkdir(tools)
        shutil.copy(os.path.join(root, "tests", "tools", "fresh.sh"), tools)
        for name, text in programs.items():
            machine.program(name, f"#!/bin/sh\n{text}\n")
        return machine

    code, lines = bare(**{"dpkg-query": "exit 1"}).dev("fresh")
    t.ok(code == 3 and "cannot install: debootstrap" in lines[-1], "no debootstrap to be had: exit code 3, and why", lines)
    there = "case \"$*\" in *debootstrap) echo installed;; esac"  # dpkg-query's answer
    got = bare(**{"dpkg-query": there, "debootstrap": "exit 0", "unshare": "exit 1"}).dev("fresh", "demo")
    t.equal(got, (3, ["fresh: cannot make a fresh Debian 12: mounts of its own are not allowed here (unshare fails)"]),
            "no mounts of its own: exit code 3, and why")
    rm = {"rm": "exec /bin/rm \"$@\"", "rmdir": "exec /bin/rmdir \"$@\""}
    got = bare(**{"dpkg-query": there, "debootstrap": "echo E: no mirror; exit 1", "unshare": "exit 0", **rm}).dev("fresh")
    t.equal((got[0], got[1][-1]), (3, "fresh: cannot make a fresh Debian 12: debootstrap failed: E: no mirror"),
            "debootstrap's own words")
    code, lines = bare(**{"dpkg-query": there}).dev("fresh", "--as", "nobody")
    t.ok(code == 2 and "--as takes user or root, not 'nobody'" in lines[-1], "a wrong option is no missing system", lines)


def check_ci(t, root):
    """Where there is no fresh system both commands run on the machine; where one failed in it, the whole failed."""
    def calls(**codes):
        with tempfile.TemporaryDirectory() as top:
            os.mkdir(os.path.join(top, ".ci"))
            shutil.copy(os.path.join(root, ".ci", "run"), os.path.join(top, ".ci"))
            with open(os.path.join(top, "dev"), "w", encoding="utf-8") as f:
                f.write('#!/bin/sh\necho "$*" >>calls\ncase "$*" in fresh*) exit ${FRESH:-0};; *slow) exit ${SLOW:-0};; esac\n')
            os.chmod(os.path.join(top, "dev"), 0o755)
            code = subprocess.run(["bash", ".ci/run"], cwd=top, env={**os.environ, **codes}, capture_output=True, check=False).returncode
            with open(os.path.join(top, "calls"), encoding="utf-8") as f:
                return code, [line.split()[0] if line.startswith("fresh") else line.strip() for line in f]

    t.equal(calls(), (0, ["fresh", "test --slow"]), "both commands run in a fresh system, the slow tests outside")
    t.equal(calls(FRESH="3"), (0, ["fresh", "demo", "test", "test --slow"]), "on this machine where none can be made")
    t.equal(calls(FRESH="1"), (1, ["fresh", "test --slow"]), "a failure in the fresh system is not made good here")
    t.equal(calls(SLOW="1"), (1, ["fresh", "test --slow"]), "nor one of the slow tests")


def check_stages(t, root):
    """Stages of one build folder, one after the other: what each has left is there when all are counted."""
    machine = Machine(root)
    for name in ("mv", "cp", "rm"):
        os.symlink(shutil.which(name, path="/usr/bin:/bin"), os.path.join(machine.bin, name))
    machine.program("python3", '#!/bin/sh\nlabel=$6\nwhile [ "$1" != --out ]; do shift; done\necho "rows of $label" >"$2"\necho a-test\n')
    machine.program("meson", '#!/bin/sh\nmkdir -p b/meson-logs\nfor last; do :; done\necho "records of $STAGE" >b/meson-logs/testlog$WRAPPER.json\n')
    with open(os.path.join(root, "dev"), encoding="utf-8") as f:
        functions = f.read().partition("\ncommand=")[0].replace('cd "$(dirname "${BASH_SOURCE[0]}")"\n', "")
    script = functions + """
mkdir -p build-logs b
export STAGE=first WRAPPER=
run_tests first b --suite first --
STAGE=second WRAPPER=-valgrind
run_tests second b --suite second --
printf '%s\n' "${tally[@]}"
cat b/stages/first/meson-logs/* b/stages/first/picked.json b/stages/second/meson-logs/* b/stages/second/picked.json"""
    got = subprocess.run(["bash", "-c", script], cwd=machine.top.name, env={"PATH": machine.bin}, capture_output=True, text=True, check=False)
    t.equal([line for line in got.stdout.splitlines() if not line.startswith("dev: ")] + got.stderr.splitlines(),
            ["first=b/stages/first:b/stages/first/picked.json", "second=b/stages/second:b/stages/second/picked.json",
             "records of first", "rows of first", "records of second", "rows of second"], "no stage of a folder takes another's records away")


def main():
    t = Tap()
    for check in (check_install, check_no_install, check_commands, check_fresh, check_ci, check_stages):
        check(t, sys.argv[1])
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
