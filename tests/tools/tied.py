"""Programs that do not outlive the test that has started them, whatever ends it."""
import functools
import os
import shutil
import sys


@functools.cache
def _setpriv():
    return shutil.which("setpriv", path=os.environ.get("PATH", "") + ":/usr/bin:/bin")


def tied(argv):
    """The command line that is killed with the thread that starts it: start it in one that lives as long as the test. The process has the
    number and the exit code of the program."""
    if not _setpriv():
        sys.exit("setpriv is not installed (util-linux)")
    return [_setpriv(), "--pdeathsig", "KILL", *argv]
