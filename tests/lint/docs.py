#!/usr/bin/env python3
"""Every relative link of a Markdown file leads to a file or a heading that is there; one whose text is the `name` of a
function leads to the C file that defines it. A source that stands in the text (`files.c`, `core/msg_*.c`) is in the tree."""
import fnmatch
import posixpath
import re
import sys

from lintlib import line_of, list_files, read_tree, run

LINK = re.compile(r"\[[^\]\n]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)|^\[[^\]\n]+\]:\s*(\S+)", re.M)
FUNCTION = re.compile(r"\[`(\w+)`\]\(([^)\s]+\.c)\)")
SOURCE = re.compile(r"`([\w./*-]+\.(?:c|py))`")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)


def blank(match):
    return "\n" * match[0].count("\n")


def without_code(text):
    return re.sub(r"`[^`\n]+`", lambda m: " " * len(m[0]), FENCE.sub(blank, text))


def anchors(text):
    """The names that headings get: lower case, spaces to hyphens, other signs dropped, `-1` for the second of a name."""
    seen, names = {}, set()
    for title in re.findall(r"^#{1,6}\s+(.*?)\s*#*$", FENCE.sub(blank, text), re.M):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        name = re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
        names.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return names


def wrong_link(tree, path, target):
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return None  # another site; a test does not ask the network
    place, _, anchor = target.partition("#")
    if place.startswith("/"):
        return "is absolute; write it from this file"
    full = posixpath.normpath(posixpath.join(posixpath.dirname(path), place)) if place else path
    is_folder = any(other.startswith(full.rstrip("/") + "/") for other in tree)
    if full not in tree and not is_folder:
        return f"leads to {full}, which is not there"
    if anchor and not is_folder and full.endswith(".md") and anchor not in anchors(tree[full]):
        return f"names a heading that {full} does not have"
    return None


def defines(source, name):
    """A line that begins with a type and names the function, and does not end as a declaration does."""
    return re.search(rf"^[a-z][\w \t*]*\b{name}\((?:[^;{{]*)\)\s*\{{", source, re.M) is not None


def wrong_functions(tree, path, text):
    prose = FENCE.sub(blank, text)
    for match in FUNCTION.finditer(prose):
        full = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[2]))
        if full in tree and not defines(tree[full], match[1]):
            yield f"{path}:{line_of(prose, match.start())}: {full} does not define {match[1]}"


def missing_sources(tree, path, text):
    prose = FENCE.sub(blank, text)
    for match in SOURCE.finditer(prose):
        if not any(fnmatch.fnmatchcase("/" + other, "*/" + match[1]) for other in tree):
            yield f"{path}:{line_of(prose, match.start())}: there is no source `{match[1]}`"


def check(tree):
    problems = []
    for path, text in sorted(tree.items()):
        if path.endswith(".md") and path != "CHANGELOG.md":  # what was may be gone
            problems += missing_sources(tree, path, text)
        if path.endswith(".md"):
            code = without_code(text)
            for match in LINK.finditer(code):
                target = match[1] or match[2]
                wrong = wrong_link(tree, path, target)
                if wrong:
                    problems.append(f"{path}:{line_of(code, match.start())}: ({target}) {wrong}")
            problems += wrong_functions(tree, path, text)
    return problems


BAD = [
    ("a link to nowhere", {"a/README.md": "see\n[b](../b.md)\n"}, "README.md:2: (../b.md) leads to b.md"),
    ("a picture that is not there", {"README.md": "![x](img/x.png)\n"}, "leads to img/x.png"),
    ("a reference link to nowhere", {"README.md": "[x]\n\n[x]: gone.md\n"}, "leads to gone.md"),
    ("a heading that is not there", {"README.md": "# One\n[x](#two)\n"}, "names a heading"),
    ("a heading missing elsewhere", {"README.md": "[x](b.md#two)\n", "b.md": "# One\n"}, "names a heading"),
    ("a function that is not there", {"README.md": "\n[`f`](a.c)\n", "a.c": "int g(void)\n{\n}\n"}, "README.md:2: a.c does not define f"),
    ("a function that is only declared", {"README.md": "[`f`](a.c)\n", "a.c": "int f(void);\nint g(void)\n{\n}\n"}, "does not define f"),
    ("a function that is only called", {"README.md": "[`f`](a.c)\n", "a.c": "int g(void)\n{\n    return f();\n}\n"}, "does not define f"),
    ("a source that is not there", {"README.md": "\n`core/a.c` and `b.py`\n", "a.c": "", "b.py": ""}, "README.md:2: there is no source `core/a.c`"),
    ("no source of such names", {"README.md": "`linux_*.c`\n", "linux/trace.c": ""}, "there is no source `linux_*.c`"),
    ("an absolute path", {"README.md": "[x](/b.md)\n", "b.md": ""}, "is absolute"),
]
GOOD = [
    ("links that lead somewhere", {"a/README.md": "# It's a (b)\n[b](../b.md#two-words) [c](../a) [d](#its-a-b)\n",
                                   "b.md": "## Two words\n"}),
    ("a function where it is", {"a/README.md": "[`f`](../b/a.c), [`g`](../b/a.c)\n",
                                "b/a.c": "static struct x *f(int a,\n    int b)\n{\n}\n\nvoid g(void)\n{\n}\n"}),
    ("sources by their names and by patterns", {"README.md": "`a.c`, `core/a.c`, `a*.c`, `math.h`\n", "x/core/a.c": ""}),
    ("other sites and code", {"README.md": "[x](https://example.org/x) `[a](b)`\n```\n[a](b)\n```\n"}),
]

if __name__ == "__main__":
    files = list_files(sys.argv[1])
    everything = {path: "" for path in files} | read_tree(sys.argv[1], [p for p in files if p.endswith((".md", ".c"))])
    run("links between the documents lead somewhere", check, BAD, GOOD, tree=everything)
