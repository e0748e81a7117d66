#!/usr/bin/env python3
"""embed.py OUT.c IN.sql...: the numbered migrations as C data (a literal of this length is not ISO C)."""
import os
import re
import sys


def main():
    out, inputs = sys.argv[1], sys.argv[2:]
    lines = ['#include "store/migrate.h"', ""]
    rows = []
    for version, path in enumerate(inputs, start=1):
        name = os.path.basename(path)
        match = re.fullmatch(r"(\d{4})_\w+\.sql", name)
        if not match or int(match.group(1)) != version:
            sys.exit(f"embed.py: {name} is not migration {version}: names count up from 0001 without gaps")
        with open(path, "rb") as f:
            data = f.read()
        if any(b == 0 or b > 126 for b in data):
            sys.exit(f"embed.py: {name} must be plain ASCII")
        lines.append(f"static const char sql_{version}[] = {{")
        for at in range(0, len(data), 24):
            lines.append("    " + ",".join(str(b) for b in data[at : at + 24]) + ",")
        lines.append("    0};")
        rows.append(f'    {{"{name}", sql_{version}}},')
    lines += ["const struct qs_migration qs_migrations[] = {", *rows, "};"]
    lines += [f"const size_t qs_migration_count = {len(rows)};", ""]
    with open(out, "w", encoding="ascii") as f:
        f.write("\n".join(lines))


main()
