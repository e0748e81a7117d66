#!/usr/bin/env python3
"""The states in agent/README.md are those that quiesce-agent --dump-states prints; every state but the first is reached.

Usage: check_states.py AGENT README"""
import re
import subprocess
import sys

printed = subprocess.run([sys.argv[1], "--dump-states"], capture_output=True, text=True, check=True).stdout
readme = open(sys.argv[2], encoding="utf-8").read()
shown = re.search(r"<!-- states -->\n```\n(.*?)```", readme, re.S)
rows = re.findall(r"^(\w+) +--(\w+)--> (\w+)", printed, re.M)
reached = {"down"} | {target for _, _, target in rows}
print("1..2")
same = shown is not None and shown[1] == printed
print(f"{'ok' if same else 'not ok'} 1 - the table in the README is the one that is built in")
whole = rows and {source for source, _, _ in rows} == reached
print(f"{'ok' if whole else 'not ok'} 2 - every state can be reached and left")
sys.exit(0 if same and whole else 1)
