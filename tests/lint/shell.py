#!/usr/bin/env python3
"""Shell scripts pass `bash -n` and shellcheck; each starts with bash and `set -euo pipefail`."""
import shutil
import subprocess
import sys

from lintlib import Tap, read_tree

HEAD = "#!/usr/bin/env bash\n"


def scripts_of(tree):
    return {path: text for path, text in tree.items()
            if path.endswith(".sh") or text.startswith("#!") and "sh" in text.split("\n", 1)[0].split("/")[-1].split()[-1]}


def check_head(path, text):
    if not text.startswith((HEAD, "#!/bin/bash\n")):
        return [f"{path}: does not start with `{HEAD.strip()}`"]
    return [] if "\nset -euo pipefail\n" in text else [f"{path}: lacks `set -euo pipefail`"]


def run_on(command, path, text):
    out = subprocess.run(command, input=text, capture_output=True, text=True)
    return [f"{path}: {line}" for line in (out.stdout + out.stderr).splitlines()] if out.returncode else []


def check_syntax(path, text):
    return run_on(["bash", "-n"], path, text)


def check_shellcheck(path, text):
    return run_on(["shellcheck", "--format=gcc", "--shell=bash", "-"], path, text)


def main():
    t, tree = Tap(), read_tree(sys.argv[1])
    scripts = scripts_of(tree)
    good = HEAD + "set -euo pipefail\n"
    checks = [
        (check_head, "scripts fail at their first error", HEAD + "ls\n"),
        (check_syntax, "scripts are bash", good + "if true; then\n"),
    ]
    if shutil.which("shellcheck"):
        checks.append((check_shellcheck, "shellcheck has no remark", good + "cd $1\nrm -r $2/*\n"))
    else:
        t.skip("shellcheck has no remark", "shellcheck is not installed (apt: shellcheck)")
    for check, title, bad in checks:
        t.ok(check("bad.sh", bad) and not check("good.sh", good), f"sees a bad sample: {title}")
        problems = [p for path, text in sorted(scripts.items()) for p in check(path, text)]
        t.ok(scripts and not problems, title, problems or ["no script was found"])
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
