#!/usr/bin/env python3
"""clang-format 14 decides the layout (.clang-format); other versions lay out differently and are not asked."""
import os
import shutil
import subprocess
import sys
import tempfile

from lintlib import Tap, is_c, judge, list_files, read_pending


def find_clang_format():
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and "version 14." in subprocess.run([path, "--version"], capture_output=True, text=True).stdout:
            return path
    return None


def wrong_layout(tool, root, paths):
    """Paths that the tool would change, with the line of the first change."""
    if not paths:
        return []
    out = subprocess.run([tool, "--dry-run", "-Werror", "--style=file", "--ferror-limit=1", *paths], cwd=root,
                         capture_output=True, text=True)
    lines = [line for line in out.stderr.splitlines() if "error:" in line]
    return lines or ([out.stderr] if out.returncode else [])


def sample_is_seen(tool, root):
    with tempfile.TemporaryDirectory() as top:
        shutil.copy(os.path.join(root, ".clang-format"), top)
        with open(os.path.join(top, "a.c"), "w", encoding="utf-8") as f:
            f.write("int f(void) {\n  return 1;\n}\n")
        with open(os.path.join(top, "b.c"), "w", encoding="utf-8") as f:
            f.write("int f(void)\n{\n    return 1;\n}\n")
        return wrong_layout(tool, top, ["a.c"]) and not wrong_layout(tool, top, ["b.c"])


def main():
    root, t, tool = sys.argv[1], Tap(), find_clang_format()
    if tool is None:
        t.skip("the layout is clang-format's", "clang-format 14 is not installed (apt: clang-format-14)")
    else:
        t.ok(sample_is_seen(tool, root), "sees a brace in the wrong place")
        wrong = wrong_layout(tool, root, [path for path in list_files(root) if is_c(path)])
        judge(t, "the layout is clang-format's (./dev fmt)", wrong, read_pending(root, "format"))
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
