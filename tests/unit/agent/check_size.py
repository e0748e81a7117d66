#!/usr/bin/env python3
"""The static agent is small, static, and runs, unless it is for other processors. Usage: check_size.py AGENT LIMIT_BYTES"""
import os
import platform
import subprocess
import sys

path, limit = sys.argv[1], int(sys.argv[2])
size = os.path.getsize(path)
head = open(path, "rb").read()
machine = {0x3E: "x86_64", 0xB7: "aarch64"}.get(int.from_bytes(head[18:20], "little"))
checks = [(f"{size} bytes, at most {limit}", size <= limit),
          ("it names no interpreter", b"/ld-" not in head),
          (f"it is for a processor of the farm, {machine}", machine is not None)]
if machine == platform.machine():
    facts = subprocess.run([path, "--facts"], capture_output=True, text=True, check=False)
    checks.append(("it tells its facts", facts.returncode == 0 and "\nsimulated: no\n" in facts.stdout))
print(f"1..{len(checks)}")
for number, (what, good) in enumerate(checks, 1):
    print(f"{'ok' if good else 'not ok'} {number} - {what}")
sys.exit(0 if all(good for _, good in checks) else 1)
