#!/usr/bin/env python3
"""What must not be in the tree, and what must.

No note to self in place of the work, no path of one person's machine, no registry's host, no conflict marker; only the
folders of the house at the top; a README in each of them and in each layer of daemon/ that holds code.
"""
import re

from lintlib import line_of, run

FOLDERS = {"proto", "schema", "config", "agent", "daemon", "tests", ".ci"}
FILES = set("README.md meson.build meson_options.txt dev LICENSE CHANGELOG.md CONTRIBUTING.md .clang-format .clang-tidy "
            ".editorconfig .gitignore .gitattributes".split())
# Words that would find themselves here are written in pieces.
FORBIDDEN = [
    (re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b"), "a note to self: do it or drop it"),
    (re.compile(r"(?<![\w/.}$])/(?:wo" r"rk|ro" r"ot)/\w"), "a path of one machine"),
    (re.compile(r"(?<![\w/.}$])/ho" r"me/(?!USER\b)\w"), "a path of one machine"),
    (re.compile(r"\b(?:pypi\.o" r"rg|registry\.npm" r"js|crates\.i" r"o/|ghcr\.i" r"o|docker\.i" r"o/|artifac" r"tory|"
                r"proxy\.gol" r"ang|deb\.deb" r"ian\.org|mirror\.[a-z]+\.(?:net|internal)\b)", re.I), "a registry's host"),
    (re.compile(r"^(?:<<<<<<<|>>>>>>>) ", re.M), "a conflict marker"),
]
# Data taken from elsewhere speaks for itself (tests/data/PROVENANCE.md).
FOREIGN_TEXT = ("tests/data/", "LICENSE")


def check_words(tree):
    return [f"{path}:{line_of(text, match.start())}: `{match[0]}` is {what}"
            for path, text in sorted(tree.items()) if not path.startswith(FOREIGN_TEXT)
            for pattern, what in FORBIDDEN for match in pattern.finditer(text)]


def check_top(tree):
    tops = {path.split("/")[0] + ("/" if "/" in path else "") for path in tree}
    known = {f"{folder}/" for folder in FOLDERS} | FILES
    return [f"{top}: is not a folder or file of the house" for top in sorted(tops - known)]


def check_readmes(tree):
    """A folder that holds more than its build file explains itself."""
    places = set()
    for path in tree:
        parts = path.split("/")
        if len(parts) > 1 and parts[0] in FOLDERS - {".ci"} and parts[-1] not in ("meson.build", "README.md"):
            places.add(parts[0])
            if parts[0] == "daemon" and len(parts) > 2 and path.endswith(".c"):
                places.add("/".join(parts[:2]))
    return [f"{place}/: has no README.md" for place in sorted(places) if f"{place}/README.md" not in tree]


def check(tree):
    return check_words(tree) + check_top(tree) + check_readmes(tree)


BAD = [
    ("a note to self", {"daemon/main.c": "\n// TO" "DO: all\n"}, "main.c:2: `TO" "DO`"),
    ("a machine's path", {"dev": "cp /wo" "rk/main/x .\n"}, "path of one machine"),
    ("somebody's home", {"dev": "cp /ho" "me/ann/x .\n"}, "path of one machine"),
    ("a registry", {"dev": "curl https://pypi.o" "rg/x\n"}, "registry's host"),
    ("a merge that was not finished", {"dev": "<<<<<<" "< main\n"}, "conflict marker"),
    ("another folder at the top", {"tools/a.py": ""}, "tools/: is not a folder"),
    ("another file at the top", {"notes.txt": ""}, "notes.txt: is not a folder or file"),
    ("a folder without a README", {"schema/0001.sql": ""}, "schema/: has no README.md"),
    ("a layer without a README", {"daemon/README.md": "", "daemon/base/a.c": ""}, "daemon/base/: has no README.md"),
]
GOOD = [
    ("a house", {"daemon/README.md": "", "daemon/base/a.c": "", "daemon/base/README.md": "", "agent/meson.build": ""}),
    ("paths of every machine", {"dev": "/usr/share/x /tmp/work/y $HOME/root/z /sys/class/net\n"}),
]

if __name__ == "__main__":
    run("words, folders and READMEs are those of the house", check, BAD, GOOD)
