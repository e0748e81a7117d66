"""What an agent keeps on its disk, read by a second program that knows the format from agent/linux/spool.h alone."""
import os
import struct

HEAD = struct.Struct("<8sIIQ16s16sIQIHHBBQII")


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def spooled(state):
    """{(farm, run): {seq: duration}} of what lies in the folder, each record whole by its sums."""
    found = {}
    for name in sorted(n for n in os.listdir(state) if n.startswith("spool.")):
        with open(os.path.join(state, name), "rb") as f:
            data = f.read()
        if len(data) < HEAD.size or data[:8] == bytes(8):
            continue
        mark, head_crc, crc, _, farm_id, run, _, first, rows, metrics, _, _, _, _, closed, document = HEAD.unpack_from(data)
        row = struct.Struct(f"<qqIi{metrics}q")
        body = data[HEAD.size:HEAD.size + rows * row.size + closed + document]
        assert mark == b"QSSPOOL\x01" and head_crc == crc32c(data[12:HEAD.size]) and crc == crc32c(body), f"{name} is damaged"
        found.setdefault((farm_id.hex(), run.hex()), {}).update({first + i: row.unpack_from(body, row.size * i)[1] for i in range(rows)})
    return found


def files_of(state):
    return sorted(n for n in os.listdir(state) if n.startswith("spool."))
