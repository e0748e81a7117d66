#!/usr/bin/env python3
"""kill -9 of quiesced in each state of the job run: the job goes on, no acknowledged iteration is lost or doubled."""
import sys

from killing import STATES, survive
from lib import Tap

# An agent that is the daemon's own child dies with it: there is nothing to stop, and nothing to lose.
EXEC_STATES = ("setup", "before_window", "gate", "window", "evidence", "cleanup")

if __name__ == "__main__":
    link, wanted, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    states = {"all": STATES, "first": STATES[:9], "second": STATES[9:]}[wanted] if link == "unix" else EXEC_STATES
    tap = Tap()
    for seed in range(seeds):
        for state in states:
            survive(tap, state, link, seed)
    sys.exit(tap.done())
