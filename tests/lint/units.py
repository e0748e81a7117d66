#!/usr/bin/env python3
"""An integer in a header that holds a time, a size, a frequency or a temperature says its unit at its end.

Looked at: parameters, fields and variables of an integer type whose name has one of WORDS among its parts
(timeout_ns, max_size_bytes). A part that is a unit must be the last one. tests/lint/units-allow.txt lists the
exceptions, `path name: why`; a line there that excuses nothing is an error, so that the list stays short.
"""
import re

from lintlib import line_of, run, without_comments

WORDS = set("duration timeout time times delay interval period elapsed age deadline dwell latency uptime lease backoff "
            "now since until size freq frequency temp temperature".split())
UNITS = set("ns us ms s min h bytes kib mib hz khz mhz mc ratio ppm percent ticks pages blocks count".split())
ALLOW = "tests/lint/units-allow.txt"
INTEGER = re.compile(r"""\b(?:u?int(?:_fast|_least)?(?:8|16|32|64|max|ptr)_t|s?size_t|off_t|time_t|
    (?:(?:unsigned|signed|long|short|int|char)\b\s*)+)(?:\s+const\b)?\s*(?=(?P<names>[\s*]*\w+[^;(){}]*))""", re.X)


def names_of(declarators):
    """`a, *b, c[4], int32_t d` -> a, b, c: up to where the next parameter names a type of its own."""
    for part in declarators.split(","):
        match = re.fullmatch(r"\s*(?:\*|const\b|restrict\b|\s)*(\w+)\s*((?:\[[^\]]*\]|:\s*\d+|=[^,]*|\s)*)", part, re.S)
        if not match:
            return
        yield match[1]


def lacks_unit(name):
    parts = name.rstrip("_").lower().split("_")
    return bool(WORDS & set(parts)) and parts[-1] not in UNITS


def named_integers(text):
    code = without_comments(text, strings=True)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m[0].count("\n"), code, flags=re.M)
    for match in INTEGER.finditer(code):
        rest = code[match.end("names"):]
        for name in names_of(match["names"]):
            if rest.startswith("(") and match["names"].rstrip().endswith(name):
                continue  # a function that returns an integer
            yield name, line_of(code, match.start("names"))


def read_allowed(text):
    rows = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    allowed, problems = set(), []
    for row in rows:
        match = re.fullmatch(r"(\S+) (\w+): \S.*", row)
        if match:
            allowed.add((match[1], match[2]))
        else:
            problems.append(f"{ALLOW}: `{row}` is not `path name: why`")
    return allowed, problems


def check(tree):
    allowed, problems = read_allowed(tree.get(ALLOW, ""))
    excused = set()
    for path, text in sorted(tree.items()):
        if not path.endswith(".h"):
            continue
        for name, line in named_integers(text):
            if not lacks_unit(name):
                continue
            if (path, name) in allowed:
                excused.add((path, name))
            else:
                problems.append(f"{path}:{line}: {name} does not end in its unit (_ns, _bytes, _khz, _mc, _ratio ...)")
    return problems + [f"{ALLOW}: {path} {name} excuses nothing" for path, name in sorted(allowed - excused)]


BAD = [
    ("a parameter", {"a.h": "void f(int a,\n       uint64_t timeout);"}, "a.h:2: timeout"),
    ("a field", {"a.h": "struct s {\n    int64_t dwell;\n};"}, "dwell"),
    ("the second of two fields", {"a.h": "struct s { uint32_t n_ns, max_freq; };"}, "max_freq"),
    ("a pointer to the result", {"a.h": "bool f(const char *p, int32_t *temp);"}, "temp"),
    ("an array", {"a.h": "struct s { unsigned long long delay[4]; };"}, "delay"),
    ("a global", {"a.h": "extern const size_t max_frame_size;"}, "max_frame_size"),
    ("a bit field", {"a.h": "struct s { unsigned int timeout : 4; };"}, "timeout"),
    ("a unit that is not at the end", {"a.h": "void f(int64_t timeout_ns_max);"}, "timeout_ns_max"),
    ("an exception without a reason", {ALLOW: "a.h timeout\n"}, "is not `path name: why`"),
    ("an exception that excuses nothing", {ALLOW: "a.h timeout: it is a count\n"}, "excuses nothing"),
]
GOOD = [
    ("units", {"a.h": "struct s { int64_t timeout_ns; uint32_t freq_khz, n; size_t size_bytes; int32_t temp_mc; };"}),
    ("functions, other types and comments",
     {"a.h": "int64_t qs_loop_now(int a);\nbool timeout;\nstruct qs_timer *delay;\n/* int delay; */\nvoid f(bool elapsed);"}),
    ("words within words", {"a.h": "int timestamp_s, sizeable, attempt, template_id;"}),
    ("a listed exception", {"a.h": "int64_t now;", ALLOW: "# why\na.h now: a position, not a time\n"}),
]

if __name__ == "__main__":
    run("integers in headers end in their unit", check, BAD, GOOD)
