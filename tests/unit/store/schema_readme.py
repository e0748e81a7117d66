#!/usr/bin/env python3
"""schema_readme.py ROOT: schema/README.md has a unit and a sentence for every column of tables and views, and no others; its taint
bits are those of rows.h; its queries run."""
import pathlib
import re
import sqlite3
import sys

root = pathlib.Path(sys.argv[1])
readme = (root / "schema/README.md").read_text(encoding="utf-8")
problems = []

db = sqlite3.connect(":memory:")
migrations = sorted((root / "schema").glob("[0-9]*.sql"))
for path in migrations:
    db.executescript(path.read_text(encoding="ascii"))

stored = set()
for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"):
    stored |= {f"{name}.{row[1]}" for row in db.execute(f"PRAGMA table_info({name})")}

columns = re.sub(r"^\| kind of evidence \|.*?\n\n", "", readme, flags=re.M | re.S)  # kinds are values, no columns
rows = re.findall(r"^\| `(\w+\.\w+)` \|([^|]*)\|([^|]*)\|$", columns, re.M)
told = [name for name, _, _ in rows]
problems += [f"{name} has no sentence" for name in sorted(stored - set(told))]
problems += [f"{name} is described but does not exist" for name in sorted(set(told) - stored)]
problems += [f"{name} is described twice" for name in sorted({n for n in told if told.count(n) > 1})]
for name, unit, sentence in rows:
    if not unit.strip() or not sentence.strip().endswith("."):
        problems.append(f"{name} lacks a unit or a sentence")
    suffix = re.search(r"[._](wall_ns|ns|us|bytes)$", name)
    if suffix and not unit.strip().startswith(suffix.group(1).replace("_", " ")):
        problems.append(f"{name} is said to be in {unit.strip()}")

header = (root / "daemon/store/rows.h").read_text(encoding="utf-8")
bits = {name.lower(): int(bit) for name, bit in re.findall(r"QS_TAINT_(\w+)\s*=\s*1 << (\d+)", header)}
listed = {m[2]: (int(m[0]), int(m[1])) for m in re.findall(r"^\| (\d+) \| (\d+) \| (\w+) \|", readme, re.M)}
if {name: (bit, 1 << bit) for name, bit in bits.items()} != listed or not bits:
    problems.append(f"taint bits: rows.h has {bits}, README.md {listed}")

for path in migrations:
    if f"`{path.name}`" not in readme:
        problems.append(f"the diary lacks {path.name}")
queries = re.search(r"```sql\n(.*?)```", readme, re.S).group(1).strip().splitlines()
for query in queries:
    try:
        db.execute(query)
    except sqlite3.Error as e:
        problems.append(f"{query}: {e}")

for problem in problems:
    print(f"# {problem}")
print(f"{'not ok' if problems else 'ok'} 1 - {len(stored)} columns, {len(bits)} taint bits, {len(queries)} queries\n1..1")
sys.exit(1 if problems else 0)
