#!/usr/bin/env python3
"""The same sources make the same static agents, byte by byte, whatever folder they, those of Mbed TLS and the build are in.
Usage: test_twice.py SOURCES COMPILERS MBEDTLS AGENT..., where MBEDTLS is empty if the agents are built without TLS."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
from tap import Tap  # noqa: E402  (the path has to be known first)


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        print(f"Bail out! {' '.join(words[:4])} ended with {done.returncode}: {(done.stdout + done.stderr)[-1500:]!r}")
        sys.exit(1)


def content(path):
    with open(path, "rb") as f:
        return f.read()


def main(sources, compilers, mbedtls, agents):
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="qs-twice-") as place:
        copy, build = os.path.join(place, "deeper", "by", "some"), os.path.join(place, "b")
        shutil.copytree(sources, copy, ignore=lambda folder, names: [
            name for name in names if name in (".git", "__pycache__") or (folder == sources and name.startswith("build"))])
        tls = os.path.join(place, "tls") if mbedtls else ""
        for part in ("include", "library") if mbedtls else ():
            shutil.copytree(os.path.join(mbedtls, part), os.path.join(tls, part))
        run("meson", "setup", build, copy, f"-Dagent_compilers={compilers}", f"-Dagent_mbedtls={tls}")
        run("ninja", "-C", build, *(f"agent/{os.path.basename(agent)}" for agent in agents))
        for agent in agents:
            name, first = os.path.basename(agent), content(agent)
            second = content(os.path.join(build, "agent", name))
            differs = next((i for i, (a, b) in enumerate(zip(first, second)) if a != b), min(len(first), len(second)))
            tap.ok(first == second, f"{name} is the same when it is built again", [f"{len(first)} and {len(second)} bytes; they differ from byte {differs}",
                                                                                  repr(first[differs - 40:differs + 80]), repr(second[differs - 40:differs + 80])])
            tap.ok(place.encode() not in second and sources.encode() not in first, f"{name} names no folder of its build")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4], sys.argv[4:]))
