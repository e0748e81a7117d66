#!/usr/bin/env python3
"""The static agent is small, static, and runs. Usage: check_size.py AGENT LIMIT_BYTES"""
import os
import subprocess
import sys

path, limit = sys.argv[1], int(sys.argv[2])
size = os.path.getsize(path)
head = open(path, "rb").read()
facts = subprocess.run([path, "--facts"], capture_output=True, text=True, check=False)
checks = [(f"{size} bytes, at most {limit}", size <= limit),
          ("it names no interpreter", b"/ld-" not in head),
          ("it tells its facts", facts.returncode == 0 and "\nsimulated: no\n" in facts.stdout)]
print(f"1..{len(checks)}")
for number, (what, good) in enumerate(checks, 1):
    print(f"{'ok' if good else 'not ok'} {number} - {what}")
sys.exit(0 if all(good for _, good in checks) else 1)
