#!/usr/bin/env python3
"""line.py SEED PID:NAME PID:NAME: makes a network device of this name in the network of each process, and carries packets between them as a
bad line does, until its input ends. What netem does in the kernel, for kernels without it. Then it says how many packets suffered what."""
import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x1, 0x1000, 0x40000000
LOSS, DUPLICATE, REORDER, CORRUPT, DELAY_S, JITTER_S = 0.03, 0.02, 0.05, 0.02, 0.01, 0.005


def tun(pid, name):
    """A device in the network of another process; it is gone with its descriptor."""
    with open(f"/proc/{pid}/ns/net", "rb") as network:
        if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter the network of {pid}")
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return fd


class Line:
    def __init__(self, seed):
        self.random, self.due, self.number = random.Random(seed), [], 0
        self.told = {"packets": 0, "loss": 0, "duplicate": 0, "reorder": 0, "corrupt": 0}

    def happens(self, what, share):
        hit = self.random.random() < share
        self.told[what] += hit
        return hit

    def carry(self, packet, to, late_s):
        self.number += 1
        heapq.heappush(self.due, (time.monotonic() + late_s, self.number, to, packet))

    def take(self, packet, to):
        self.told["packets"] += 1
        if self.happens("loss", LOSS):
            return
        if self.happens("corrupt", CORRUPT):
            at = self.random.randrange(len(packet))
            packet = packet[:at] + bytes([packet[at] ^ 1 << self.random.randrange(8)]) + packet[at + 1:]
        late_s = 0 if self.happens("reorder", REORDER) else DELAY_S + self.random.uniform(-JITTER_S, JITTER_S)
        for _ in range(1 + self.happens("duplicate", DUPLICATE)):
            self.carry(packet, to, late_s)

    def deliver(self):
        """Whatever is due; how long the next one has."""
        while self.due and self.due[0][0] <= time.monotonic():
            _, _, to, packet = heapq.heappop(self.due)
            try:
                os.write(to, packet)
            except OSError:
                pass  # a packet that is none any more
        return max(0, self.due[0][0] - time.monotonic()) if self.due else None


def main(seed, *places):
    left, right = (tun(*place.split(":")) for place in places)
    line = Line(int(seed))
    print("carries", flush=True)
    while True:
        ready = select.select([left, right, 0], [], [], line.deliver())[0]
        if 0 in ready:
            break
        for fd in ready:
            try:
                line.take(os.read(fd, 65536), right if fd == left else left)
            except OSError:
                pass  # it is not up yet
    print(" ".join(f"{what}={n}" for what, n in line.told.items()), flush=True)


main(*sys.argv[1:])
