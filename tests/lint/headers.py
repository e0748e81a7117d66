#!/usr/bin/env python3
"""Every header compiles alone, under the warnings of the build, and has an include guard.

usage: headers.py ROOT BUILD [COMPILER...]
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from lintlib import run, without_comments

WARNINGS = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wswitch-enum",
            "-Wmissing-prototypes", "-Wvla", "-Wstrict-prototypes", "-Werror", "-DQS_VERSION=\"0\""]
# A public header that C++ programs include as well would be checked a second time with g++.


def compile_alone(top, path, compiler, extra):
    source = f'#include "{os.path.join(top, path)}"\ntypedef int a_source_is_not_empty;\n'
    places = [f"-I{os.path.join(top, d)}" for d in ("", "daemon", "agent", "agent/include", "tests")]
    out = subprocess.run([*compiler, "-fsyntax-only", *WARNINGS, *places, *extra, "-x", "c", "-"], input=source,
                         capture_output=True, text=True, env=dict(os.environ, LC_ALL="C"))
    wrong = [line for line in out.stderr.splitlines() if "error" in line]
    return [f"{path}: does not compile alone: {wrong[0] if wrong else out.stderr.strip()}"] if out.returncode else []


def guard_missing(path, text):
    code = without_comments(text).strip()
    guard = re.match(r"#ifndef (\w+)\n#define (\w+)\n", code)
    if guard and guard[1] == guard[2] and code.endswith("#endif"):
        return []
    return [f"{path}: has no include guard"]


def compile_flags(top):
    """Where the foreign libraries keep their headers, as the build found it."""
    wanted = "libuv yaml-0.1 jansson sqlite3 libusb-1.0 libmicrohttpd libcurl cmocka".split()
    flags = []
    for name in wanted:
        out = subprocess.run(["pkg-config", "--cflags", name], capture_output=True, text=True)
        flags += out.stdout.split() if out.returncode == 0 else []
    build = sys.argv[2]
    return flags + [f"-I{os.path.join(build, d)}" for d in ("", "daemon", "agent", "schema")]


def check_in(top, tree, compiler, extra):
    headers = sorted(path for path in tree if path.endswith(".h"))
    problems = [problem for path in headers for problem in guard_missing(path, tree[path])]
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda path: compile_alone(top, path, compiler, extra), headers):
            problems += found
    return problems


def check(tree):
    """A sample is written to disk first; the real tree is there."""
    compiler = sys.argv[3:] or ["gcc"]
    extra = compile_flags(sys.argv[1])
    if "meson.build" in tree:
        return check_in(sys.argv[1], tree, compiler, extra)
    with tempfile.TemporaryDirectory() as top:
        for path, text in tree.items():
            os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
            with open(os.path.join(top, path), "w", encoding="utf-8") as f:
                f.write(text)
        return check_in(top, tree, compiler, extra)


def guarded(text):
    return f"#ifndef QS_A_H\n#define QS_A_H\n{text}\n#endif\n"


BAD = [
    ("a header that needs another one first", {"proto/a.h": guarded("uint32_t qs_a(void);")}, "does not compile alone"),
    ("a header with a warning", {"proto/a.h": guarded("static inline int qs_a() { return 1; }")}, "does not compile"),
    ("a header without a guard", {"proto/a.h": "int qs_a(void);\n"}, "no include guard"),
    ("a guard that defines something else", {"proto/a.h": guarded("").replace("#define QS_A_H", "#define QS_B_H")},
     "no include guard"),
]
GOOD = [("a header that includes what it needs", {"proto/a.h": guarded("#include <stdint.h>\nuint32_t qs_a(void);")})]

if __name__ == "__main__":
    run("every header compiles alone", check, BAD, GOOD)
