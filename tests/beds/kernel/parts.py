"""What a guest is made of: a stock kernel of Debian with some of its modules, busybox, and the static agent in a first file system.
The packages are downloaded once, into a folder of their own, and not installed."""
import hashlib
import lzma
import os
import re
import shutil
import subprocess

from lib import Failed

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.environ.get("QS_KERNEL_CACHE", "/tmp/quiesce-kernel-bed")
MODULES = ["virtio_pci", "virtio_blk", "virtio_console", "crc32c_generic", "ext4", "cpufreq_userspace", "cpufreq_powersave"]
FOREIGN = os.path.join(HERE, "..", "..", "..", "agent", "foreign.sh")


class NoPackages(Failed):
    """What the guest is made of cannot be had."""


def tool_path(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def summed(content):
    return hashlib.md5(content).hexdigest()


def apt(kind, *words, **options):
    """A program of apt for the architecture of the guest, which need not be that of this machine."""
    before = [FOREIGN, kind.foreign, os.path.join(CACHE, kind.name, "apt")] if kind.foreign else []
    return subprocess.run([*before, *words], capture_output=True, text=True, check=False, **options)


def unpacked(kind, package):
    """The folder of a package of Debian, downloaded once and not installed."""
    folder = os.path.join(CACHE, kind.name, package)
    if os.path.exists(folder):
        return folder
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    part = f"{folder}.part-{os.getpid()}"
    os.makedirs(part)
    got = apt(kind, "apt-get", "-qq", "download", package, cwd=part)
    archives = [name for name in os.listdir(part) if name.endswith(".deb")]
    if got.returncode != 0 or len(archives) != 1:
        shutil.rmtree(part)
        raise NoPackages(f"apt-get cannot download {package}: {got.stderr[-300:]}")
    subprocess.run(["dpkg-deb", "-x", os.path.join(part, archives[0]), part], check=True)
    os.unlink(os.path.join(part, archives[0]))
    os.rename(part, folder)
    return folder


def kernel(kind):
    """(image, {module: path of its file})"""
    said = apt(kind, "apt-cache", "depends", kind.meta)
    names = re.findall(r"Depends: (linux-image-\S+)", said.stdout)
    if not names:
        raise NoPackages(f"apt-cache knows no {kind.meta}; apt-get update? {said.stderr[-300:]}")
    folder = unpacked(kind, names[0])
    (image,) = [name for name in os.listdir(f"{folder}/boot") if name.startswith("vmlinuz-")]
    modules = {}
    for where, _, files in os.walk(f"{folder}/lib/modules"):
        for name in files:
            if ".ko" in name:
                modules[name.split(".ko")[0].replace("-", "_")] = os.path.join(where, name)
    return f"{folder}/boot/{image}", modules


def module_bytes(path):
    with (lzma.open(path) if path.endswith(".xz") else open(path, "rb")) as f:
        return f.read()


def in_order(wanted, modules):
    """[(file name, bytes)], each after those that it depends on; what is built in has no file."""
    done = {}

    def take(name):
        if name in done or name not in modules:
            return
        content = module_bytes(modules[name])
        done[name] = None
        for other in re.search(rb"\0depends=([^\0]*)\0", content)[1].decode().split(","):
            take(other.replace("-", "_"))
        del done[name]
        done[name] = content

    for name in wanted:
        take(name)
    return [(name + ".ko", content) for name, content in done.items()]


class Archive:
    """A cpio archive of the kernel's kind (newc), all of root."""

    def __init__(self):
        self.parts, self.count, self.files, self.folders = [], 0, set(), set()

    def add(self, name, mode, content=b"", device=(0, 0)):
        self.count += 1
        name = name.encode() + b"\0"
        head = "070701" + "".join(f"{n:08x}" for n in (self.count, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0))
        for part in (head.encode() + name, content):
            self.parts += [part, bytes(-len(part) % 4)]

    def file(self, name, content, mode=0o755):
        self.files.add(name)
        self.add(name, 0o100000 | mode, content)

    def folder(self, name):
        """It and those that it is in."""
        before, _, _ = name.rpartition("/")
        if name and name not in self.folders:
            self.folder(before)
            self.folders.add(name)
            self.add(name, 0o040755)

    def program(self, name, path, root="", lister=("ldd",)):
        """A file of this machine with all shared libraries that it takes, below a root in the guest; the lister says where they are here."""
        self.folder((root + name).rpartition("/")[0])
        self.file(root + name, read(path))
        said = subprocess.run([*lister, path], capture_output=True, text=True, check=False).stdout
        missing = re.findall(r"(\S+) => not found", said)
        if missing:
            raise NoPackages(f"{os.path.basename(path)} takes {', '.join(missing)}, which is not here")
        for library in re.findall(r"(/\S+) \(0x", said):
            place = root + ("lib64/" if "/ld-linux" in library else "lib/") + os.path.basename(library)
            if place not in self.files:
                self.folder(place.rpartition("/")[0])
                self.file(place, read(library))

    def bytes(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def first_files(kind, modules):
    """The guest's first file system."""
    a = Archive()
    for name in ("bin", "dev", "proc", "sys", "modules"):
        a.folder(name)
    a.add("dev/console", 0o020600, device=(5, 1))
    a.file("bin/busybox", read(unpacked(kind, "busybox-static") + "/bin/busybox"))
    a.file("bin/quiesce-agent", read(kind.agent))
    a.file("init", b"#!/bin/busybox sh\n" + read(os.path.join(HERE, "init")))
    files = in_order(MODULES + kind.modules, modules)
    for name, content in files:
        a.file("modules/" + name, content)
    a.file("modules/order", "".join(f"{name} {kind.parameters.get(name[:-3], '')}\n" for name, _ in files).encode())
    a.file("start", kind.settings.encode() + b"".join(map(read, kind.starts)))
    kind.fill(a)
    return a.bytes()
