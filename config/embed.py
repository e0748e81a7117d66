#!/usr/bin/env python3
"""embed.py OUT.c IN.yaml...: the profiles as C data, in the order given (a literal of this length is not ISO C)."""
import os
import sys


def main():
    out, inputs = sys.argv[1], sys.argv[2:]
    lines, rows = ['#include "config/profile/profiles.h"', ""], []
    for n, path in enumerate(inputs):
        with open(path, "rb") as f:
            data = f.read()
        if any(b == 0 or b > 126 for b in data):
            sys.exit(f"embed.py: {path} must be plain ASCII")
        lines.append(f"static const char text_{n}[] = {{")
        lines += ["    " + ",".join(str(b) for b in data[at:at + 24]) + "," for at in range(0, len(data), 24)]
        lines.append("    0};")
        rows.append(f'    {{"{os.path.basename(path)}", text_{n}}},')
    lines += ["const struct qs_profile_text qs_profile_texts[] = {", *rows, "};"]
    lines += [f"const size_t qs_profile_text_count = {len(rows)};", ""]
    with open(out, "w", encoding="ascii") as f:
        f.write("\n".join(lines))


main()
