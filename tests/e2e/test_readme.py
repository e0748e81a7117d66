"""The README does not lie: its captures are golden files, and its blocks run as they stand (in a folder of their own, with a shorter limit of time)."""
import os
import re
import shlex
import stat
import subprocess
import sys
import tempfile

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


# What a block's info string says after `sh`, and why it is not run here.
MARKS = {"builds": "it builds the world: e2e-install, .ci/run and the fresh system of tests/tools/fresh.sh do that",
         "another-host": "it needs another device than this machine"}


def blocks(text):
    """(mark, script) of each sh block."""
    return re.findall(r"```sh ?([a-z-]*)\n(.*?)```", text, re.S)


def script(path, body):
    with open(path, "w", encoding="utf-8") as f:
        f.write(body)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


def sandbox(top):
    """A home, a folder in which the repository's files are, and a `quiesce` that ends each `run` after 2 s."""
    work, bins = os.path.join(top, "work"), os.path.join(top, "bin")
    os.makedirs(work)
    os.makedirs(bins)
    os.makedirs(os.path.join(top, "run"), mode=0o700)
    for name in ("config", "tests", "README.md"):
        os.symlink(os.path.join(ROOT, name), os.path.join(work, name))
    real = shlex.quote(os.environ["QS_QUIESCE"])
    script(os.path.join(bins, "quiesce"),
           f'#!/bin/sh\nif [ "$1" = run ]; then shift; exec {real} run --max-time 2s "$@"; fi\nexec {real} "$@"\n')
    os.symlink(os.environ["QS_QUIESCED"], os.path.join(bins, "quiesced"))
    os.symlink(os.environ["QS_AGENT"], os.path.join(bins, "quiesce-agent"))
    env = dict(os.environ, HOME=top, XDG_RUNTIME_DIR=os.path.join(top, "run"), QUIESCED=os.environ["QS_QUIESCED"],
               PATH=bins + ":" + os.environ["PATH"])
    for name in ("XDG_STATE_HOME", "QUIESCE_SOCKET"):
        env.pop(name, None)
    return work, env


def check_golden(tap):
    blocks = golden_blocks(readme())
    tap.ok(bool(blocks), "the README has captures")
    for path, block in blocks:
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            tap.equal(block, f.read(), f"the capture is {path}")
        tap.ok(all(len(line) <= 80 for line in block.split("\n")), f"{path} fits 80 columns")


def check_commands(tap):
    """Each block as it stands, in the order of the page: whoever follows it has the files of those before."""
    found = blocks(readme())
    tap.equal(sorted({mark for mark, _ in found if mark}), sorted(MARKS), "every mark has its reason, and every reason a block")
    tap.ok(sum(not mark for mark, _ in found) > 6, "most blocks are run")
    with tempfile.TemporaryDirectory(prefix="quiesce-readme-") as top:
        work, env = sandbox(top)
        for mark, text in found:
            title = text.strip().split("\n")[0]
            if mark:
                tap.skip(f"`{title}`", MARKS[mark])
                continue
            done = subprocess.run(["bash", "-e"], input=text, cwd=work, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False)
            tap.ok(done.returncode == 0, f"`{title}` and what follows it works", (done.stdout[-900:] + done.stderr[-1500:]).splitlines())


def main():
    tap = Tap()
    if "golden" in sys.argv:
        check_golden(tap)
    else:
        check_commands(tap)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
