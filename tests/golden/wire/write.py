#!/usr/bin/env python3
"""A second, independent writer of the wire format, from proto/PROTOCOL.md alone.

`write.py` writes one <name>.hex per message beside itself: a whole frame, one field per line, the bytes first and
what they mean after the '#'. `write.py --corpus DIR` writes the same as seeds for the fuzz targets, and `write.py --check DIR` is the test
that the files here, and the seeds in DIR, are what this writer says. The C codec is
never asked: where both agree, the format is what the page says. Files that exist are the contract: a change of one
is a change of the protocol and needs a new version.
"""
import hashlib
import hmac
import pathlib
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FARM, SESSION, RUN, NONCE = (bytes(range(b, b + 16)) for b in (0xA0, 0xB0, 0xC0, 0xD0))
RUN2 = bytes(range(0xE0, 0xF0))
SHA = bytes(range(32))
FREQ = "devices/system/cpu/cpufreq/policy0/"
I64_MAX, I64_MIN = 2**63 - 1, -(2**63)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


FORMATS = {"u8": "<B", "u16": "<H", "u32": "<I", "u64": "<Q", "i32": "<i", "i64": "<q"}


def number(kind, name, value):
    return struct.pack(FORMATS[kind], value), f"{kind} {name} = {value}"


def u8(name, value):
    return [number("u8", name, value)]


def u16(name, value):
    return [number("u16", name, value)]


def u32(name, value):
    return [number("u32", name, value)]


def u64(name, value):
    return [number("u64", name, value)]


def i32(name, value):
    return [number("i32", name, value)]


def i64(name, value):
    return [number("i64", name, value)]


def raw(name, value):
    return [(value, name)]


def text(name, value):
    data = value if isinstance(value, bytes) else value.encode()
    return [number("u16", f"length of {name}", len(data)), (data, f"{name} = {data!r}"[:90])]


def many(name, items):
    out = [number("u16", f"count of {name}", len(items))]
    for item in items:
        out += item
    return out


def texts(name, values):
    return many(name, [text(f"{name}[{i}]", v) for i, v in enumerate(values)])


def row(start, duration, flags, status, values):
    out = i64("start_off_ns", start) + i64("duration_ns", duration) + u32("flags", flags) + i32("status", status)
    for value in values:
        out += i64("value", value)
    return out


def expectation(sensor, flags, lo, hi, dwell, timeout, on_timeout):
    return (text("sensor", sensor) + u8("flags", flags) + i64("lo", lo) + i64("hi", hi) + i64("dwell_ns", dwell) +
            i64("timeout_ns", timeout) + u8("on_timeout", on_timeout))


def reading(sensor, status, value, age):
    return text("sensor", sensor) + u8("status", status) + i64("value", value) + i64("age_ns", age)


def evidence(kind, status, before, after):
    return text("kind", kind) + u8("status", status) + i64("before", before) + i64("after", after)


def taint(iteration, code, value, bound):
    return i32("iteration", iteration) + text("code", code) + i64("value", value) + i64("bound", bound)


def content(sha256, size, flags):
    return raw("sha256", sha256) + u64("bytes", size) + u8("flags", flags)


def place(name, sha256, flags):
    return text("name", name) + raw("sha256", sha256) + u8("flags", flags)


def found(path, access, error, value):
    return text("path", path) + u8("access", access) + i32("error", error) + text("value", value)


def binding(name, path, mul, div, low, high, flags):
    return (text("name", name) + text("path", path) + i64("mul", mul) + i64("div", div) + i64("lo", low) + i64("hi", high) +
            u8("flags", flags))


def tune(path, value, flags):
    return text("path", path) + text("value", value) + u8("flags", flags)


def tuned(outcome, error, before, now):
    return u8("outcome", outcome) + i32("error", error) + text("before", before) + text("now", now)


def window():
    return raw("uid run", RUN) + u32("window", 3)


def arming():
    return window() + u32("arming", 2)


MESSAGES = [
    ("hello_host", 1, u8("proto_min", 1) + u8("proto_max", 2) + u32("features", 0x80000001) + raw("uid farm", FARM) +
     raw("uid session", SESSION) + raw("reserved", bytes(16)) + u32("heartbeat_ms", 1000) +
     u32("max_frame_bytes", 262144) + text("software", "quiesced 0.1.0")),
    ("hello_agent", 2, u8("proto_min", 1) + u8("proto_max", 1) + u32("features", 1) + raw("uid session", SESSION) +
     raw("nonce", NONCE) + u8("auth", 1) + text("software", "quiesce-agent 0.1.0") +
     text("boot_id", "0d1e2f30-4152-6374-8596-a7b8c9daebfc") + text("clock", "monotonic-raw") +
     u32("max_frame_bytes", 65536) + u32("max_iterations", 4096) + i64("clock_resolution_ns", 1) +
     u32("clock_cost_ps", 24500)),
    ("auth", 3, raw("mac", SHA)),
    ("ping", 4, u64("id", 2**64 - 1) + i64("t_send_ns", -5)),
    ("pong", 5, u64("id", 42) + i64("t_send_ns", 1000000000) + i64("t_recv_ns", I64_MAX) + i64("t_reply_ns", I64_MIN)),
    ("facts_get", 6, []),
    ("facts", 7, many("facts", [text("key", "cpu.model") + text("value", "Cortex-A76 \u00b5arch"),
                                text("key", "kernel") + text("value", "")])),
    ("held", 8, many("held", [raw("uid run", RUN) + u64("first_seq", 10) + u64("next_seq", 25),
                              raw("uid run", RUN2) + u64("first_seq", 0) + u64("next_seq", 2**48)])),
    ("resend", 9, raw("uid run", RUN) + u64("from_seq", 10)),
    ("run_begin", 10, raw("uid run", RUN) + texts("argv", ["gzip", "-6", "-c", ""]) +
     texts("env", ["LC_ALL=C", "PATH=/usr/bin:/bin"]) + text("cwd", "/tmp/work") + u8("stdin_kind", 1) +
     text("stdin_path", "/tmp/in.tar") + u8("output_kind", 1) + u32("output_max_bytes", 4096) +
     i64("iteration_limit_ns", 60000000000) + u8("exit_rule", 2) +
     many("exit_codes", [i32("code", 0), i32("code", -2147483648), i32("code", 255)]) + text("cpus", "0-3,6") +
     texts("prepare", ["sync"]) + texts("conclude", ["rm", "-f", "out"]) + i64("hook_limit_ns", 5000000000) +
     text("user", "bench")),
    ("run_ready", 11, raw("uid run", RUN) + text("executable", "/usr/bin/gzip") + raw("sha256", SHA) +
     text("cpus", "0-3,6")),
    ("run_begin_harness", 10, raw("uid run", RUN) + texts("argv", ["./blur"]) + texts("env", ["LC_ALL=C"]) +
     text("cwd", "") + u8("stdin_kind", 0) + text("stdin_path", "") + u8("output_kind", 0) +
     u32("output_max_bytes", 0) + i64("iteration_limit_ns", 60000000000) + u8("exit_rule", 0) +
     many("exit_codes", []) + text("cpus", "1") + texts("prepare", []) + texts("conclude", []) +
     i64("hook_limit_ns", 300000000000) + text("user", "") + u8("mode", 1) + text("benchmark", "blur") +
     texts("params", ["image=4k.ppm", "threads="]) + u32("capacity", 4096) + u64("seed", 2**64 - 1) +
     u32("environment_bytes", 2033) +
     u32("stack_bytes", 1008) + u32("heap_bytes", 1048576)),
    ("run_begin_stream", 10, raw("uid run", RUN) + texts("argv", ["./suite", "--out", "result.json"]) +
     texts("env", ["LC_ALL=C"]) + text("cwd", "") + u8("stdin_kind", 0) + text("stdin_path", "") +
     u8("output_kind", 1) + u32("output_max_bytes", 65535) + i64("iteration_limit_ns", 600000000000) +
     u8("exit_rule", 0) + many("exit_codes", []) + text("cpus", "") + texts("prepare", []) + texts("conclude", []) +
     i64("hook_limit_ns", 0) + text("user", "") + u8("mode", 2) + u8("source", 1) + text("path", "result.json") +
     u32("document_max_bytes", 4194304)),
    ("run_begin_fifo_start", 10, raw("uid run", RUN) + texts("argv", ["./blur"]) + texts("env", []) + text("cwd", "") + u8("stdin_kind", 0) +
     text("stdin_path", "") + u8("output_kind", 0) + u32("output_max_bytes", 0) + i64("iteration_limit_ns", 60000000000) +
     u8("exit_rule", 0) + many("exit_codes", []) + text("cpus", "") + texts("prepare", []) + texts("conclude", []) +
     i64("hook_limit_ns", 0) + text("user", "") + u8("mode", 0) + u8("sched", 1) + i32("value", 99) + u8("flags", 1)),
    ("run_begin_nice_start", 10, raw("uid run", RUN) + texts("argv", ["./suite"]) + texts("env", []) + text("cwd", "") +
     u8("stdin_kind", 0) + text("stdin_path", "") + u8("output_kind", 0) + u32("output_max_bytes", 0) +
     i64("iteration_limit_ns", 60000000000) + u8("exit_rule", 0) + many("exit_codes", []) + text("cpus", "") +
     texts("prepare", []) + texts("conclude", []) + i64("hook_limit_ns", 0) + text("user", "") + u8("mode", 2) +
     u8("source", 0) + text("path", "") + u32("document_max_bytes", 1) + u8("sched", 2) + i32("value", -20) + u8("flags", 0)),
    ("run_begin_file_harness", 10, raw("uid run", RUN) + texts("argv", ["./blur"]) + texts("env", []) + text("cwd", "/tmp") +
     u8("stdin_kind", 0) + text("stdin_path", "") + u8("output_kind", 3) + text("output_path", "out/log.txt") +
     u32("output_max_bytes", 4096) + i64("iteration_limit_ns", 60000000000) + u8("exit_rule", 0) +
     many("exit_codes", []) + text("cpus", "") + texts("prepare", []) + texts("conclude", []) +
     i64("hook_limit_ns", 300000000000) + text("user", "bench") + u8("mode", 1) + text("benchmark", "") +
     texts("params", []) + u32("capacity", 1) + u64("seed", 0) + u32("environment_bytes", 0) + u32("stack_bytes", 0) +
     u32("heap_bytes", 0)),
    ("run_ready_harness", 11, raw("uid run", RUN) + text("executable", "/tmp/blur") + raw("sha256", SHA) +
     text("cpus", "1") + u32("header_version", 1) + u32("flags", 1) +
     many("declared", [text("name", "pixels") + text("unit", "count") + u8("flags", 2),
                       text("name", "energy") + text("unit", "nJ") + u8("flags", 1)])),
    ("run_ready_evals_harness", 11, raw("uid run", RUN) + text("executable", "/tmp/sort") + raw("sha256", SHA) +
     text("cpus", "1-3") + u32("header_version", 1) + u32("flags", 0) + many("declared", []) + u32("evals_max", 1)),
    ("hook", 12, u32("id", 7) + texts("argv", ["make", "-s"]) + texts("env", ["A=1"]) + text("cwd", "") +
     i64("limit_ns", 600000000000) + u32("output_max_bytes", 65535) + text("user", "")),
    ("hook_done", 13, u32("id", 7) + u8("how", 1) + i32("code", 9) + i64("duration_ns", 123456789) +
     text("output", b"a\0b\n\xff")),
    ("open", 14, raw("uid run", RUN) + u32("window", 3) + u8("phase", 1) + u64("first_seq", 1000) +
     u32("iterations", 50) + i64("max_ns", 2000000000) + i64("quiet_lead_ns", 20000000) + i64("lease_ns", 30000000000) +
     many("gate", [expectation("cpu.busy_ratio_ppm", 2, 0, 100000, 0, 5000000000, 0),
                   expectation("thermal:soc", 7, -5000, 45000, 2000000000, 600000000000, 3)]) +
     many("bounds", [text("kind", "cpu.steal_ticks") + i64("bound", 0),
                     text("kind", "agent.switches") + i64("bound", -1)])),
    ("open_harness", 14, raw("uid run", RUN) + u32("window", 3) + u8("phase", 1) + u64("first_seq", 1000) +
     u32("iterations", 50) + i64("max_ns", 2000000000) + i64("quiet_lead_ns", 0) + i64("lease_ns", 30000000000) +
     many("gate", []) + many("bounds", []) + u32("evals", 2**30)),
    ("open_tune_harness", 14, raw("uid run", RUN) + u32("window", 1) + u8("phase", 2) + u64("first_seq", 2) +
     u32("iterations", 1000) + i64("max_ns", 500000000) + i64("quiet_lead_ns", 0) + i64("lease_ns", 30000000000) +
     many("gate", []) + many("bounds", []) + u32("evals", 1)),
    ("waiting", 15, window() + i64("elapsed_ns", 1500000000) + u16("expectation", 1) + i64("value", 47250) +
     u8("status", 2) + i64("eta_ns", -1) + text("note", "cc1 (pid 4711)")),
    ("arm", 16, arming()),
    ("quiet", 17, arming()),
    ("hold", 18, arming() + text("why", "the hub is in use")),
    ("disarm", 19, arming() + text("why", "thermal:soc rose above 45000")),
    ("closed", 20, window() + u8("phase", 1) + u8("how", 3) + u32("iterations", 2) + i64("opened_ns", 5000000000) +
     i64("closed_ns", 5250000000) + i64("gate.began_ns", 4000000000) + i64("gate.decided_ns", 4990000000) +
     u8("gate.outcome", 1) + u32("gate.polls", 12) +
     many("gate.readings", [reading("cpu.busy_ratio_ppm", 0, 31250, 1200000), reading("thermal:soc", 3, 0, 0)]) +
     text("gate.busiest", "cc1 (pid 4711)") +
     many("evidence", [evidence("cpu.busy_ticks", 0, 1000, 1055), evidence("freq:policy0_khz", 1, 0, 0)]) +
     many("taints", [taint(-1, "gate-timeout", 131072, 100000), taint(1, "unexpected-exit", 3, 0)]) +
     u64("output_bytes", 2**40) + text("output", b"warn\0ing\n") + text("failure", "exit code 3 in iteration 1") +
     u32("frames_in_window", 1) + u32("unread_bytes_at_close", 16)),
    ("closed_harness", 20, window() + u8("phase", 1) + u8("how", 0) + u32("iterations", 1) +
     i64("opened_ns", 5000000000) + i64("closed_ns", 5250000000) + i64("gate.began_ns", 4000000000) +
     i64("gate.decided_ns", 4990000000) + u8("gate.outcome", 0) + u32("gate.polls", 1) + many("gate.readings", []) +
     text("gate.busiest", "") + many("evidence", [evidence("window.start_delay_ns", 0, 0, 203411)]) +
     many("taints", []) + u64("output_bytes", 0) + text("output", b"") + text("failure", "") +
     u32("frames_in_window", 0) + u32("unread_bytes_at_close", 0) + u32("evals", 1000) +
     many("declared", [text("name", "pixels") + text("unit", "count") + u8("flags", 3)])),
    ("closed_apart_harness", 20, window() + u8("phase", 1) + u8("how", 0) + u32("iterations", 1) +
     i64("opened_ns", 5000000000) + i64("closed_ns", 5250000000) + i64("gate.began_ns", 4000000000) +
     i64("gate.decided_ns", 4990000000) + u8("gate.outcome", 0) + u32("gate.polls", 1) + many("gate.readings", []) +
     text("gate.busiest", "") + many("evidence", []) + many("taints", []) + u64("output_bytes", 3) + text("output", b"out") +
     text("failure", "") + u32("frames_in_window", 0) + u32("unread_bytes_at_close", 0) + u32("evals", 0) +
     many("declared", []) + u64("errors_bytes", 2**40) + text("errors", b"w\0\xff")),
    ("iterations", 21, window() + u64("first_seq", 1000) + u32("first_index", 0) +
     many("metrics", [u16("id", 1), u16("id", 3)]) +
     many("rows", [row(0, 123456789, 0, 0, [1500, 2097152]), row(123500000, I64_MAX, 0x80000006, -11, [0, -1]),
                   row(I64_MAX, I64_MIN, 127, 255, [I64_MIN, I64_MAX])])),
    ("iterations_harness", 21, window() + u64("first_seq", 1000) + u32("first_index", 0) +
     many("metrics", [u16("id", 0x8000), u16("id", 0x8001)]) +
     many("rows", [row(203411, 1000123, 0, 0, [8294400, -7]), row(1203600, 1000007, 128, 0, [8294400, I64_MIN])])),
    ("ack", 22, raw("uid run", RUN) + u64("next_seq", 1003)),
    ("run_end", 23, raw("uid run", RUN)),
    ("run_ended", 24, raw("uid run", RUN) + u64("next_seq", 1003)),
    ("run_ended_harness", 24, raw("uid run", RUN) + u64("next_seq", 1003) + u8("how", 2) + i32("code", 9) +
     u32("flags", 7)),
    ("cancel", 25, raw("uid run", RUN) + text("why", "the job was cancelled")),
    ("error", 26, raw("uid run", bytes(16)) + u16("code", 6) + u8("blame", 1) + text("text", "gzpi: not found")),
    ("bye", 27, text("why", "")),
    ("pull", 28, raw("uid run", RUN) + u32("id", 9) + u8("source", 0) + text("path", "out/trace.bin") + u64("offset", 8192) +
     u32("max_bytes", 8192)),
    ("pulled", 29, u32("id", 9) + u8("status", 0) + u64("total_bytes", 2**40) + u64("offset", 8192) + text("bytes", b"a\0\xff") +
     text("why", "")),
    ("trace", 30, raw("uid run", RUN) + u32("id", 3) + texts("argv", ["perf", "record", "-p", "{pid}", "-o", "{output}"]) +
     texts("env", ["LC_ALL=C"]) + text("cwd", "/tmp") + text("input", b"a\0\xff") + text("user", "") + i64("settle_ns", 500000000) + i64("stop_ns", 10000000000) +
     u64("max_bytes", 2**24)),
    ("trace_stop", 31, raw("uid run", RUN) + u32("id", 3)),
    ("traced", 32, u32("id", 3) + u8("status", 1) + u32("flags", 2) + i64("started_ns", 7000000000) +
     i64("stopped_ns", 7900000000) + u64("total_bytes", 2**24) + text("said", b"a\0\xff") + text("why", "")),
    ("have", 33, u32("id", 11) + many("files", [content(SHA, 2**40, 1), content(bytes(32), 0, 0)])),
    ("having", 34, u32("id", 11) + many("missing", [u16("index", 0), u16("index", 63)]) + u64("cache_bytes", 2**41) +
     u64("free_bytes", 2**64 - 1) + u64("most_bytes", 8589934592)),
    ("put", 35, u32("id", 12) + content(SHA, 12000000, 1)),
    ("put_data", 36, u32("id", 12) + u64("offset", 65536) + text("data", b"\x7fELF\0\xff")),
    ("put_at", 37, u32("id", 12) + u8("status", 2) + u64("offset", 65536) + text("why", "the cache is full")),
    ("stage", 38, u32("id", 13) + u16("dir", 65535) + many("places", [place("blur", SHA, 1), place("in/4k.ppm", bytes(32), 0)])),
    ("staged", 39, u32("id", 13) + u8("status", 0) + text("path", "/data/local/tmp/cache/1/dirs/ffff") + text("why", "")),
    ("clean", 40, u32("id", 14) + u8("what", 1)),
    ("cleaned", 41, u32("id", 14) + u64("freed_bytes", 2**40) + u64("cache_bytes", 0) + u32("changed", 2)),
    ("document", 42, window() + u8("status", 0) + u64("total_bytes", 2**40) + u32("kept_bytes", 4194304) +
     u32("offset", 61440) + text("bytes", b"1.5\n\0\xff") + text("why", "")),
    ("read", 43, u32("id", 15)),
    ("readings", 44, u32("id", 15) + many("readings", [reading("freq:policy0_khz", 0, 1800000, 0), reading("thermal:soc", 1, 0, 0)])),
    ("survey", 45, u32("id", 16) + text("pattern", "class/thermal/thermal_zone*/[tm]*") +
     text("after", "class/thermal/thermal_zone1/temp")),
    ("surveyed", 46, u32("id", 16) + u8("more", 1) +
     many("files", [found(FREQ + "scaling_governor", 3, 0, b"schedutil\n\0\xff"), found(FREQ + "cpuinfo_cur_freq", 0, 13, "")])),
    ("bind", 47, u32("id", 17) +
     many("sensors", [binding("thermal:tsens_tz_sensor1", "class/thermal/thermal_zone1/temp", 1000, 1, -40000, 150000, 1),
                      binding("x", "y", 1, 10**9, I64_MIN, I64_MAX, 0),
                      binding("battery", "60000\n\ntemperature:*\ntemperature:\n*UPDATES STOPPED*\ndumpsys\nbattery", 100, 1000,
                              -30000, 130000, 32)])),
    ("bound", 48, u32("id", 17) + many("readings", [reading("thermal:tsens_tz_sensor1", 0, 41000, 0), reading("x", 3, 0, 0)])),
    ("tune", 49, u32("id", 18) + u32("lease_ms", 120000) + u32("settle_ms", 500) +
     many("writes", [tune(FREQ + "scaling_governor", "performance", 0), tune("a", "", 3), tune("\tget\tit\nset\tit\t{}", "1", 9)])),
    ("tuned", 50, u32("id", 18) + many("writes", [tuned(1, 0, "schedutil", "performance"), tuned(9, 28, "", "")])),
    ("restore", 51, u32("id", 19)),
    ("restored", 52, u32("id", 19) + u8("more", 0) +
     many("files", [text("path", FREQ + "scaling_governor") + tuned(1, 0, "schedutil", "performance"),
                    text("path", "a") + tuned(9, 28, "", ""), text("path", "\tget\tit\nset\tit\t{}") + tuned(9, 28, "", "")])),
    ("load", 53, u32("id", 20) + text("cpus", "0-3,6") + u32("for_ms", 600000)),
    ("loaded", 54, u32("id", 20) + u8("outcome", 2)),
]


def seal_key(side):
    """Of one direction, with the key 00 01 .. 27 and greetings whose SHA-256 is 00 01 .. 1f."""
    said = f"quiesce frames of the {side}".encode() + SESSION + NONCE + FARM + SHA
    return hmac.new(bytes(range(40)), said, hashlib.sha256).digest()


def frame(kind, seq, payload, side=None):
    """Header and payload; sealed where a side is named."""
    head = struct.pack("<HBBII", 0x5351, 1, kind, len(payload) + (16 if side else 0), seq)
    if side:
        payload += hmac.new(seal_key(side), head + payload, hashlib.sha256).digest()[:16]
    return head + struct.pack("<I", crc32c(head + payload)) + payload


def hex_lines(data):
    groups = [data[i:i + 16].hex(" ") for i in range(0, len(data), 16)]
    return groups or [""]


def page(name, kind, fields, side=None):
    whole = frame(kind, kind - 1, b"".join(data for data, _ in fields), side)
    length = len(whole) - 16
    parts = [(whole[0:2], 'magic "QS"'), (whole[2:3], "framing version 1"), (whole[3:4], f"type {kind} {name.upper()}"),
             (whole[4:8], f"payload length = {length}"), (whole[8:12], f"seq = {kind - 1}"),
             (whole[12:16], "crc-32c of the 12 bytes above and the payload")] + fields
    if side:
        parts.append((whole[-16:], f"seal of the {side}"))
    out = []
    for data, comment in parts:
        lines = hex_lines(data)
        out.append(f"{lines[0]:<48}# {comment}")
        out += lines[1:]
    return "\n".join(line.rstrip() for line in out) + "\n", whole


# A PING of each side with its seal.
SEALED = [(f"ping_sealed_{side}", 4, u64("id", 7) + i64("t_send_ns", -2), side) for side in ("host", "agent")]
PAGES = [(name, kind, fields, None) for name, kind, fields in MESSAGES] + SEALED


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--corpus":
        write_corpus(pathlib.Path(sys.argv[2]))
        return
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        sys.exit(check(pathlib.Path(sys.argv[2])))
    for name, *what in PAGES:
        (HERE / f"{name}.hex").write_text(page(name, *what)[0])


def check(corpus):
    sys.path.insert(0, str(HERE.parents[1] / "tools"))
    from tap import Tap
    t = Tap()
    for name, *what in PAGES:
        path = HERE / f"{name}.hex"
        t.equal(path.read_text() if path.exists() else None, page(name, *what)[0], f"{path.name}")
    t.equal(sorted(path.stem for path in HERE.glob("*.hex")), sorted(name for name, *_ in PAGES), "no file is of nobody")
    with tempfile.TemporaryDirectory() as top:
        for folder in ("msg", "frame", "seal"):
            (pathlib.Path(top) / folder).mkdir()
        write_corpus(pathlib.Path(top))
        stale = [path.name for path in sorted(pathlib.Path(top).glob("*/*"))
                 if not (seed := corpus / path.parent.name / path.name).exists() or seed.read_bytes() != path.read_bytes()]
        t.equal(stale, [], "the seeds of the fuzz targets are these frames")
    return t.done()


def write_sealed(where):
    """For the target: how to cut the stream, four bytes of what to change in it, frames of the host."""
    payloads = [b"".join(data for data, _ in fields) for _, _, fields in MESSAGES]
    frames = [frame(kind, seq, payloads[seq], "host") for seq, (_, kind, _) in enumerate(MESSAGES[:6])]
    stream = b"".join(frames)
    shapes = {
        "whole": stream, "cut": stream[:-1], "again": frames[0] + frames[0], "left_out": frames[0] + frames[2],
        "of_the_agent": frame(1, 0, payloads[0], "agent"), "without": frame(1, 0, payloads[0]), "short": frame(1, 0, bytes(8)),
    }
    for name, data in shapes.items():
        (where / name).write_bytes(b"\x05\x11\0\x01\0" + data)


def write_corpus(where):
    stream = b""
    for name, kind, fields in MESSAGES:
        whole = page(name, kind, fields)[1]
        (where / "msg" / name).write_bytes(bytes([kind]) + whole[16:])
        if not name.endswith(("_harness", "_stream", "_start")):  # one stream: a frame of each type, in order
            stream += whole
    hello = page(*MESSAGES[0])[1]
    shapes = {
        "hello": hello, "all_messages": stream, "banner_then_hello": b"Welcome to QS!\r\n" + hello,
        "bad_crc": hello[:12] + b"\0\0\0\0" + hello[16:], "bad_seq": hello + hello,
        "other_version": hello[:2] + b"\2" + hello[3:], "too_long": hello + b"QS\1\x04\xff\xff\xff\xff" + bytes(8),
        "noise_only": bytes(5000), "cut": stream[:-1],
    }
    write_sealed(where / "seal")
    for name, data in shapes.items():
        # The first byte says how the target cuts the stream.
        (where / "frame" / name).write_bytes(b"\x05" + data)


main()
