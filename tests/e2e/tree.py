"""Boards of tests/data/sysfs as files, each of which stands for /sys (`quiesce-agent --sysfs`)."""
import os

TREES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "sysfs")


class Board:
    """A tree as files below `path`, which stands for /sys."""

    def __init__(self, bed, name):
        self.path = os.path.join(bed.path, name, "sys")
        with open(os.path.join(TREES, name + ".tree.tsv"), encoding="utf-8") as tree:
            for line in tree:
                if line.startswith("/sys/"):
                    self._make(bed, name, *line.rstrip("\n").split("\t")[:4])

    def _make(self, bed, name, path, mode, target, value):
        path = os.path.join(bed.path, name, path.lstrip("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if mode == "link":
            os.symlink(target, path)
        else:
            with open(path, "w", encoding="utf-8") as f:
                f.write(value.replace("\\t", "\t").replace("\\n", "\n") + "\n")

    def file(self, name):
        return os.path.join(self.path, name)

    def put(self, name, value):
        """In place, as the kernel does: the agent keeps the file open."""
        with open(self.file(name), "r+", encoding="utf-8") as f:
            f.write(f"{value}\n")
            f.truncate()
