"""What the lint tests share: the list of files, C text without comments, and the frame of a lint test.

A lint is a function from a tree to a list of problems. A tree is a dict of path -> text, so that a bad sample is
written as easily as the real one is read. run() first feeds the samples and expects each to be found, then checks
the tree: a check that has lost its teeth fails as well.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "tools"))
from tap import Tap  # noqa: E402

MAX_SHOWN = 40


def list_files(root):
    """Paths below root, sorted: those git tracks or would add, or all but builds where git cannot answer."""
    try:
        git = subprocess.run(["git", "-C", root, "ls-files", "-z", "-co", "--exclude-standard"], capture_output=True)
        paths = git.stdout.decode().split("\0") if git.returncode == 0 else []
    except FileNotFoundError:
        paths = []
    found = [path for path in paths if path and os.path.isfile(os.path.join(root, path))]
    if not found:
        for folder, names, files in os.walk(root):
            top = folder == root
            names[:] = [n for n in names if n not in (".git", "__pycache__", ".cache") and
                        not (top and n.startswith("build"))]
            found += [os.path.relpath(os.path.join(folder, f), root) for f in files if not f.endswith(".pyc")]
    return sorted(set(found))


def read_tree(root, paths=None):
    """Text files of the tree: path -> text. What is no UTF-8 is data, not text."""
    tree = {}
    for path in paths if paths is not None else list_files(root):
        try:
            with open(os.path.join(root, path), encoding="utf-8") as f:
                tree[path] = f.read()
        except UnicodeDecodeError:
            pass
    return tree


def is_c(path):
    return path.endswith((".c", ".h"))


C_TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def without_comments(text, strings=False):
    """C text whose comments (and strings, where asked) are blank; lines keep their numbers."""
    def blank(match):
        token = match[0]
        if token[0] in "\"'":
            return token if not strings else token[0] * 2
        return " " + "\n" * token.count("\n")
    return C_TOKENS.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def read_pending(root, lint):
    """path -> why, from pending.txt: files or folders that one lint does not judge yet. Each shows as a skip in the closing line."""
    path = os.path.join(root, "tests", "lint", "pending.txt")
    rows = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            rows = [re.fullmatch(r"(\w+) (\S+): (\S.*)", line.rstrip("\n")) for line in f
                    if line.strip() and not line.startswith("#")]
    if None in rows:
        raise SystemExit("pending.txt: a line is not `lint path: why`")
    return {row[2]: row[3] for row in rows if row[1] == lint}


def is_about(problem, path):
    """Problems start with their path; a path that ends in / stands for all below it."""
    return problem.startswith(path if path.endswith("/") else path + ":")


def judge(t, title, problems, pending):
    """One case for the tree, and a skip for each pending file; what is pending and clean by now says so."""
    waiting = {path for path in pending for problem in problems if is_about(problem, path)}
    left = [problem for problem in problems if not any(is_about(problem, path) for path in waiting)]
    shown = left[:MAX_SHOWN]
    if len(left) > MAX_SHOWN:
        shown.append(f"and {len(left) - MAX_SHOWN} more")
    t.ok(not left, title, shown)
    for path, why in sorted(pending.items()):
        t.skip(f"{path} waits", why if path in waiting else "it is clean now: drop its line from pending.txt")


def run(title, check, bad, good=(), notes=lambda tree: (), tree=None):
    """bad: (name, tree, words that the first problem must contain); good: (name, tree) without a problem."""
    t = Tap()
    for name, sample, words in bad:
        problems = check(sample)
        t.ok(any(words in problem for problem in problems), f"sees {name}", [f"expected: {words}", *problems])
    for name, sample in good:
        problems = check(sample)
        t.ok(not problems, f"accepts {name}", problems)
    tree = read_tree(sys.argv[1]) if tree is None else tree
    lint = os.path.basename(sys.argv[0]).removesuffix(".py")
    judge(t, title, check(tree) if tree else ["the tree is empty"], read_pending(sys.argv[1], lint))
    t.say(notes(tree))
    sys.exit(t.done())
