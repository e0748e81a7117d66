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
    words = "demo test fmt lint bench fuzz sim deps".split()
    t.ok(code == 0 and all(any(line.split()[:1] == [w] for line in lines) for w in words), "help names each command", lines)
    code, lines = machine.dev("tset")
    t.ok(code == 1 and lines[-1] == "dev: there is no command tset", "an unknown command fails", lines)
    code, lines = machine.dev("test", "--fast")
    t.ok(code == 1 and "unknown option --fast" in lines[-1], "an unknown option fails", lines)
    t.equal(machine.apt_calls(), [], "before anything is installed")


def main():
    t = Tap()
    for check in (check_install, check_no_install, check_commands):
        check(t, sys.argv[1])
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
