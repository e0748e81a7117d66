#!/usr/bin/env python3
"""What the agent does not call of its C library: functions that cost it much room, and those that musl answers otherwise.

core/print.h writes text; each value of a format is one that it knows.
"""
import re

from lintlib import is_c, line_of, run, without_comments

PLACES = re.compile(r"agent/(?:core|linux)/|agent/(?:main|static)\.c$")
PRINTS = "it brings floating-point numbers along (20 KiB on arm64): qs_print of core/print.h"
COUNTS = "under musl it counts the processors that this process may use: read them from /sys"
REFUSED = "musl's refuses always: syscall(SYS_{})"
AVOIDED = {
    **dict.fromkeys("printf fprintf dprintf sprintf snprintf vprintf vfprintf vdprintf vsprintf vsnprintf asprintf".split(), PRINTS),
    **dict.fromkeys("scanf fscanf sscanf strtod strtof strtold atof".split(), "it brings floating-point numbers along: qs_io_i64 of linux/io.h"),
    "confstr": PRINTS.split(":")[0],
    "fnmatch": "it brings tables of all the world's letters along (15 KiB): qs_glob_match of core/glob.h",
    **dict.fromkeys("sysconf get_nprocs get_nprocs_conf".split(), COUNTS),
    **{name: REFUSED.format(name) for name in "sched_setscheduler sched_getscheduler sched_setparam sched_getparam".split()},
}
CALL = re.compile(rf"(?<![\w.>])(?:{'|'.join(AVOIDED)})(?=\()")
ALLOWED = {("agent/linux/facts.c", "confstr")}  # under glibc alone
STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"(?=\s*(PRI[dux])?)')
VALUE = re.compile(r"%(?:%|[-0]*\d*(?:\.(?:\d+|\*))?(?:(?:l|ll|z)?[dux]|[sc]))|(?P<unknown>%[^\"]{0,6})")
FORMATTED = re.compile(r"\b(?:qs_v?print|qs_probe_path|say)\(")


def arguments(code, at):
    """From an opening parenthesis to its end."""
    depth = 0
    for match in re.compile(r'"(?:\\.|[^"\\\n])*"|[()]').finditer(code, at):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return code[at:match.end()]
    return code[at:]


def unknown_values(code):
    for call in FORMATTED.finditer(code):
        text = arguments(code, call.end() - 1)
        for string in STRING.finditer(text):
            form = string[1] + ("d" if string[2] else "")
            for value in VALUE.finditer(form):
                if value["unknown"]:
                    yield line_of(code, call.start()), value["unknown"]


def check(tree):
    problems = []
    for path, text in sorted(tree.items()):
        if not (is_c(path) and PLACES.match(path)):
            continue
        code = without_comments(text)
        bare = without_comments(text, strings=True)
        problems += [f"{path}:{line_of(bare, match.start())}: {match[0]}: {AVOIDED[match[0]]}" for match in CALL.finditer(bare)
                     if (path, match[0]) not in ALLOWED]
        problems += [f"{path}:{line}: `{value}` is no value that qs_print knows" for line, value in unknown_values(code)]
    return problems


BAD = [
    ("a library's print", {"agent/core/a.c": "int x;\nint n = snprintf(a, 1, \"b\");"}, "a.c:2: snprintf"),
    ("one to a stream", {"agent/main.c": "fprintf(stderr, \"b\");"}, "fprintf"),
    ("a library's pattern", {"agent/linux/a.c": "return fnmatch(a, b, 0) == 0;"}, "fnmatch"),
    ("a number of processors", {"agent/linux/a.c": "n = sysconf(_SC_NPROCESSORS_ONLN);"}, "read them from /sys"),
    ("musl's refusal", {"agent/linux/a.c": "sched_setscheduler(0, 1, &p);"}, "SYS_sched_setscheduler"),
    ("a floating-point value", {"agent/core/a.c": "qs_print(a, 1, \"%s %.3f\", b, c);"}, "`%.3f`"),
    ("a sign", {"agent/core/a.c": "qs_print(a, 1, f(x), \"%+d\", c);"}, "`%+d`"),
    ("a length of a type that is not known", {"agent/core/a.c": "qs_print(a, 1, \"%jd\", c);"}, "`%jd`"),
]
GOOD = [
    ("its own", {"agent/core/a.c": "qs_print(a, 1, \"%-9s %.*s %02x %zu %llu %c 5 %% %06\" PRId64 \"!\", b);"}),
    ("a system call, a member, a comment, a string",
     {"agent/linux/a.c": "syscall(SYS_sched_setscheduler, 0); a->sysconf(b); /* printf(\"%f\") */ f(\"snprintf(\");"}),
    ("other programs", {"agent/sim/a.c": "snprintf(a, 1, \"%f\", x);", "agent/include/quiesce/a.h": "snprintf(a);"}),
]

if __name__ == "__main__":
    run("the agent's C library", check, BAD, GOOD)
