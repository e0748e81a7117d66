"""The README does not lie: its captures are golden files, and its examples run (in a small sandbox, with a shorter limit of time)."""
import os
import re
import shlex
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from tap import Tap  # noqa: E402  (the path has to be known first)

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LIMIT_S = 240


def readme():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        return f.read()


def golden_blocks(text):
    """(path, block) of each `<!-- golden: PATH -->` with the block under it."""
    return re.findall(r"<!-- golden: (\S+) -->\n```text\n(.*?)```", text, re.S)


def commands(text):
    """The lines of the sh blocks, continued ones joined."""
    lines = []
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        lines += block.replace("\\\n", " ").strip().split("\n")
    return lines


def script(path, body):
    with open(path, "w", encoding="utf-8") as f:
        f.write(body)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


def sandbox(top):
    """A home with the files that the examples name, and a `quiesce` that ends each `run` after 2 s."""
    work, bins = os.path.join(top, "work"), os.path.join(top, "bin")
    os.makedirs(work)
    os.makedirs(bins)
    os.makedirs(os.path.join(top, "run"), mode=0o700)
    os.symlink(os.path.join(ROOT, "config"), os.path.join(work, "config"))
    for name in ("notes.txt", "big.csv"):
        with open(os.path.join(work, name), "w", encoding="ascii") as f:
            f.writelines(f"{i * 7919 % 10007},{i}\n" for i in range(20000))
    os.symlink(os.path.join(ROOT, "tests", "data", "pyperf", "telco.json"), os.path.join(work, "telco.json"))
    for name, step in (("before.csv", 0), ("after.csv", 9), ("nightly.csv", 0)):
        with open(os.path.join(work, name), "w", encoding="ascii") as f:
            f.writelines(["run,value,unit\n"] + [f"{i},{100 + step + i % 3},ns\n" for i in range(30)])
    for name in ("my-program", "old", "new"):
        script(os.path.join(work, name), "#!/bin/sh\nsleep 0.005\n")
    with open(os.path.join(work, "farm.yaml"), "w", encoding="ascii") as f:
        f.write(f"devices:\n  local: {{link: exec, argv: [{os.environ['QS_AGENT']}, --stdio]}}\n")
    real = shlex.quote(os.environ["QS_QUIESCE"])
    script(os.path.join(bins, "quiesce"),
           f'#!/bin/sh\nif [ "$1" = run ]; then shift; exec {real} run --max-time 2s "$@"; fi\nexec {real} "$@"\n')
    os.symlink(os.environ["QS_QUIESCED"], os.path.join(bins, "quiesced"))
    env = dict(os.environ, HOME=top, XDG_RUNTIME_DIR=os.path.join(top, "run"), QUIESCED=os.environ["QS_QUIESCED"],
               PATH=bins + ":" + os.environ["PATH"])
    env.pop("XDG_STATE_HOME", None)
    return work, env


def has_daemon(env):
    return os.path.exists(os.path.join(env["XDG_RUNTIME_DIR"], "quiesce", "api.sock"))


def wait_for(condition):
    end = time.monotonic() + LIMIT_S
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def start(tap, command, work, env):
    """A daemon in the background, once the one that `quiesce run` started has ended by itself."""
    wait_for(lambda: not has_daemon(env))
    daemon = subprocess.Popen(shlex.split(command.rstrip("& ")), cwd=work, env=env, stderr=subprocess.DEVNULL)
    tap.ok(wait_for(lambda: has_daemon(env) or daemon.poll() is not None) and daemon.poll() is None, f"`{command}` works")
    return daemon


def run(tap, command, work, env):
    done = subprocess.run(["bash", "-c", command], cwd=work, env=env, capture_output=True, text=True, timeout=LIMIT_S)
    # gzip -6 takes longer than gzip -1: a regression is what these examples are to find.
    wanted = (0, 5) if "--fail-on" in command or "compare" in command else (0,)
    tap.ok(done.returncode in wanted, f"`{command}` works", (done.stdout[-600:] + done.stderr[-1500:]).splitlines())


def check_golden(tap):
    blocks = golden_blocks(readme())
    tap.ok(bool(blocks), "the README has captures")
    for path, block in blocks:
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            tap.equal(block, f.read(), f"the capture is {path}")
        tap.ok(all(len(line) <= 80 for line in block.split("\n")), f"{path} fits 80 columns")


def check_commands(tap):
    with tempfile.TemporaryDirectory(prefix="quiesce-readme-") as top:
        work, env = sandbox(top)
        daemons = []
        try:
            for line in commands(readme()):
                command = line.split("#")[0].strip()
                if not command or command.startswith("./dev"):  # it builds the world, and is tried elsewhere
                    continue
                if command.endswith("&"):
                    daemons.append(start(tap, command, work, env))
                else:
                    run(tap, command, work, env)
        finally:
            for daemon in daemons:
                daemon.terminate()
                daemon.wait()


def main():
    tap = Tap()
    if "golden" in sys.argv:
        check_golden(tap)
    else:
        check_commands(tap)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
