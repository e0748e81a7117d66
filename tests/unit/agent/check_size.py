#!/usr/bin/env python3
"""The static agent is small, static, loads whatever the size of its kernel's pages, and runs, unless it is for other processors. Usage: check_size.py AGENT LIMIT_BYTES"""
import os
import platform
import struct
import subprocess
import sys

path, limit = sys.argv[1], int(sys.argv[2])
size = os.path.getsize(path)
head = open(path, "rb").read()
machine = {0x3E: "x86_64", 0xB7: "aarch64", 0x28: "armv7l", 0xF3: "riscv64"}.get(int.from_bytes(head[18:20], "little"))
page = 4096 if machine == "x86_64" else 65536


def segments():
    """Of those that are loaded: place in the file and in memory, bytes in memory (elf(5))."""
    wide = head[4] == 2
    start, = struct.unpack_from("<Q" if wide else "<I", head, 32 if wide else 28)
    each, count = struct.unpack_from("<HH", head, 54 if wide else 42)
    for at in range(start, start + each * count, each):
        kind, offset, address, size = [struct.unpack_from(form, head, at + skip)[0] for form, skip in zip(
            ("<I", "<Q", "<Q", "<Q") if wide else ("<I", "<I", "<I", "<I"), (0, 8, 16, 40) if wide else (0, 4, 8, 20))]
        if kind == 1:
            yield offset, address, size


loaded = sorted(segments(), key=lambda segment: segment[1])
checks = [(f"{size} bytes, at most {limit}", size <= limit),
          ("it names no interpreter", b"/ld-" not in head),
          (f"it is for a processor of the farm, {machine}", machine is not None),
          (f"its {len(loaded)} segments can be mapped in pages of {page} bytes", len(loaded) > 1 and all(
              address % page == offset % page for offset, address, _ in loaded)),
          ("no such page belongs to two of them", all((a + size - 1) // page < b // page for (_, a, size), (_, b, _) in zip(loaded, loaded[1:])))]
if machine == platform.machine():
    facts = subprocess.run([path, "--facts"], capture_output=True, text=True, check=False)
    checks.append(("it tells its facts", facts.returncode == 0 and "\nsimulated: no\n" in facts.stdout))
print(f"1..{len(checks)}")
for number, (what, good) in enumerate(checks, 1):
    print(f"{'ok' if good else 'not ok'} {number} - {what}")
sys.exit(0 if all(good for _, good in checks) else 1)
