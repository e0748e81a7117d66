#!/usr/bin/env python3
"""The size of the static agent, which goes over the slowest link there is to a device. Goal: 256 KiB."""
import os
import sys

GOAL_BYTES = 256 * 1024

size = os.path.getsize(sys.argv[1])
print(f"static agent: {size} bytes, {size / 1024:.1f} KiB, {size / GOAL_BYTES:.2f} of the goal (<= {GOAL_BYTES // 1024} KiB)")
sys.exit(size > GOAL_BYTES)
