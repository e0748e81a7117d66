"""A virtual board for the tests: mounted below the folder of a bed, with its control and its witness as methods."""
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e"))
from lib import Process, until  # noqa: E402  (the path has to be known first)
from tap import Tap  # noqa: E402

PROGRAM = os.environ.get("QS_BOARD", "")
WORK = os.environ.get("QS_BOARD_WORK", "board-work")
TREES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "sysfs")
NAMES = sorted(name.removesuffix(".tree.tsv") for name in os.listdir(TREES) if name.endswith(".tree.tsv"))
POLICY = "devices/system/cpu/cpufreq/policy%d/"
CPU = "devices/system/cpu/cpu%d/"
ZONE = "class/thermal/thermal_zone%d/"
COOLER = "class/thermal/cooling_device%d/"


def tree_path(tree):
    return os.path.join(TREES, tree + ".tree.tsv")


def tree_rows(tree):
    """(path, mode, owner or target, value) of each node; a file's value as it is read."""
    with open(tree_path(tree), encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("/"):
                path, mode, owner, value, _ = line.rstrip("\n").split("\t")
                value = value.replace("\\t", "\t").replace("\\n", "\n")
                yield path, mode, owner, value if value.endswith("\n") else value + "\n"


class Board:
    """`with Board(bed, "rpi4b") as board`: mounted, and gone after it."""

    def __init__(self, bed, tree, *options):
        self.path = os.path.join(bed.path, f"sys-{bed.count}")
        os.mkdir(self.path)
        self.process = Process(bed, "qs-board", [PROGRAM, "--tree", tree_path(tree), "--mount", self.path, *options])
        until("the board is mounted", lambda: "mounted at" in self.process.text or not self.process.runs())

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.process.kill(signal.SIGTERM)
        try:
            self.process.wait()
        finally:
            unmount(self.path)

    def file(self, name):
        return os.path.join(self.path, name)

    def get(self, name):
        fd = os.open(self.file(name), os.O_RDONLY)
        try:  # Python's own reading takes EAGAIN for nothing yet
            return b"".join(iter(lambda: os.read(fd, 65536), b"")).decode().rstrip("\n")
        finally:
            os.close(fd)

    def put(self, name, value):
        """One write, as `echo` does it."""
        fd = os.open(self.file(name), os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(fd, f"{value}\n".encode())
        finally:
            os.close(fd)

    def error(self, act, *arguments):
        """The number of the error with which it fails, 0 where it does not."""
        try:
            act(*arguments)
        except OSError as error:
            return error.errno
        return 0

    def tell(self, *lines):
        for line in lines:
            self.put(".board/control", line)

    def report(self, name):
        """Name -> number of `khz` or `mc`."""
        return {k: int(v) for k, v in (line.rsplit(" ", 1) for line in self.get(".board/" + name).splitlines())}

    def khz(self, clock):
        return self.report("khz")[clock]

    def work(self, *options):
        """What board-work says: a dict of numbers."""
        out = subprocess.run([WORK, "--board", self.path, *options], capture_output=True, text=True, check=True, timeout=60)
        return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", out.stdout)}


def unmount(path):
    """Whatever has become of who served it. Quiet where nothing is mounted."""
    if os.path.ismount(path) or not _answers(path):
        subprocess.run(["fusermount3", "-u", "-z", path], stderr=subprocess.DEVNULL, check=False)


def _answers(path):
    try:
        os.stat(path)
    except OSError:
        return False
    return True


def why_not():
    """Why no board can be mounted here, "" where one can."""
    if not PROGRAM:
        return "libfuse3-dev is not installed: qs-board is not built"
    if not os.path.exists("/dev/fuse"):
        return "this machine has no /dev/fuse"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "/dev/fuse is not for this user"
    with tempfile.TemporaryDirectory() as folder:
        child = subprocess.Popen([PROGRAM, "--tree", tree_path("rpi4b"), "--mount", folder], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        line = child.stdout.readline()
        child.terminate()
        said = child.communicate()[1]
        unmount(folder)
    # Everything else that keeps it from starting is a failure of its tests.
    return said.strip() if not line and re.search(r"Operation not permitted|Permission denied", said) else ""


def skip_without_boards(name):
    """Ends the test where no board can be mounted, and says why."""
    reason = why_not()
    if reason:
        tap = Tap()
        tap.skip(name, reason)
        sys.exit(tap.done())
