#!/usr/bin/env python3
"""What a test has started in a bed ends with it, also where it could not end anything itself."""
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(HERE, "..", "e2e")]
from lib import Failed, Process, alive, until  # noqa: E402  (the path has to be known first)
from tap import Tap  # noqa: E402


class Folder:
    """As much of a bed as a process needs."""

    def __init__(self, path):
        self.path, self.count, self.processes, self.env = path, 0, [], os.environ


def starter(path):
    """The test that is killed: starts a process, tells its number, and sleeps."""
    print(Process(Folder(path), "sleep", ["sleep", "600"]).pid, flush=True)
    time.sleep(600)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as path, \
         subprocess.Popen([sys.executable, os.path.abspath(__file__), path], stdout=subprocess.PIPE, text=True) as child:
        pid = int(child.stdout.readline())
        until("it is the program itself", lambda: "setpriv" not in os.readlink(f"/proc/{pid}/exe"))
        tap.ok(alive(pid), "it runs")
        child.send_signal(signal.SIGKILL)
        child.wait()
        try:
            until("it has ended", lambda: not alive(pid))
        except Failed as failed:
            os.kill(pid, signal.SIGKILL)
            tap.ok(False, "a killed test leaves nothing behind", [str(failed)])
        else:
            tap.ok(True, "a killed test leaves nothing behind")
    sys.exit(tap.done())


if __name__ == "__main__":
    if len(sys.argv) == 2:
        starter(sys.argv[1])
    main()
