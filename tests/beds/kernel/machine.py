"""A board whose kernel is real: a guest of QEMU (software emulation, no root) with a stock kernel of Debian, whose drivers are given by
board.asl what they drive. Its agent is at a virtual console, which is a terminal here; a second one takes commands;
temperature and clocks are set and read from outside, through the monitor."""
import hashlib
import json
import lzma
import os
import re
import shutil
import socket
import subprocess

from lib import Failed, Process, until

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.environ.get("QS_KERNEL_CACHE", "/tmp/quiesce-kernel-bed")
AGENT = os.environ.get("QS_AGENT_STATIC", "")
META = "linux-image-6.12-amd64"  # before 6.3 a zone does not learn that processors can be slowed down after it was made
MODULES = ["virtio_pci", "virtio_blk", "virtio_console", "crc32c_generic", "ext4", "cpufreq_userspace", "cpufreq_powersave", "acpi_cpufreq",
           "fan", "battery", "ac"]
CLOCK = (0xE0, 0xE1)
DEGREES = 0xE2
POWER = 0xE3
BOOT_S = 240  # emulated, on a machine that does other things


class NoPackages(Failed):
    """What the guest is made of cannot be had."""


def why_not():
    """Why there is no such board here, "" where there is one."""
    for tool, package in (("qemu-system-x86_64", "qemu-system-x86"), ("iasl", "acpica-tools"), ("mkfs.ext4", "e2fsprogs"),
                          ("apt-get", "apt"), ("dpkg-deb", "dpkg")):
        if not tool_path(tool):
            return f"{tool} is not installed ({package})"
    if not AGENT or not os.path.exists(AGENT):
        return "there is no static agent: musl-tools is not installed"
    return ""


def tool_path(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


# ---- what the guest is made of ----

def unpacked(package):
    """The folder of a package of Debian, downloaded once and not installed."""
    folder = os.path.join(CACHE, package)
    if os.path.exists(folder):
        return folder
    os.makedirs(CACHE, exist_ok=True)
    part = f"{folder}.part-{os.getpid()}"
    os.makedirs(part)
    got = subprocess.run(["apt-get", "-qq", "download", package], cwd=part, capture_output=True, text=True, check=False)
    archives = [name for name in os.listdir(part) if name.endswith(".deb")]
    if got.returncode != 0 or len(archives) != 1:
        shutil.rmtree(part)
        raise NoPackages(f"apt-get cannot download {package}: {got.stderr[-300:]}")
    subprocess.run(["dpkg-deb", "-x", os.path.join(part, archives[0]), part], check=True)
    os.unlink(os.path.join(part, archives[0]))
    os.rename(part, folder)
    return folder


def kernel():
    """(image, {module: path of its file})"""
    said = subprocess.run(["apt-cache", "depends", META], capture_output=True, text=True, check=False).stdout
    names = re.findall(r"Depends: (linux-image-\S+)", said)
    if not names:
        raise NoPackages(f"apt-cache knows no {META}; apt-get update?")
    folder = unpacked(names[0])
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
        self.parts, self.count = [], 0

    def add(self, name, mode, content=b"", device=(0, 0)):
        self.count += 1
        name = name.encode() + b"\0"
        head = "070701" + "".join(f"{n:08x}" for n in (self.count, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0))
        for part in (head.encode() + name, content):
            self.parts += [part, bytes(-len(part) % 4)]

    def file(self, name, content, mode=0o755):
        self.add(name, 0o100000 | mode, content)

    def folder(self, name):
        self.add(name, 0o040755)

    def bytes(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def summed(content):
    return hashlib.md5(content).hexdigest()


def read(path):
    with open(path, "rb") as f:
        return f.read()


def first_files(modules):
    """The guest's first file system."""
    a = Archive()
    for name in ("bin", "dev", "proc", "sys", "modules"):
        a.folder(name)
    a.add("dev/console", 0o020600, device=(5, 1))
    a.file("bin/busybox", read(unpacked("busybox-static") + "/bin/busybox"))
    a.file("bin/quiesce-agent", read(AGENT))
    a.file("init", b"#!/bin/busybox sh\n" + read(os.path.join(HERE, "init")))
    files = in_order(MODULES, modules)
    for name, content in files:
        a.file("modules/" + name, content)
    a.file("modules/order", "".join(name + "\n" for name, _ in files).encode())
    return a.bytes()


# ---- the guest ----

class Machine:
    """`with Machine(bed) as machine`: booted, its agent at `machine.line`, and gone after it. Its disk outlives a reset."""

    def __init__(self, bed):
        self.bed, self.path = bed, bed.path
        image, modules = kernel()
        with open(self.at("first.cpio"), "wb") as f:
            f.write(first_files(modules))
        subprocess.run([tool_path("iasl"), "-p", self.at("board"), os.path.join(HERE, "board.asl")], check=True, capture_output=True)
        with open(self.at("disk"), "wb") as f:
            f.truncate(16 << 20)
        subprocess.run([tool_path("mkfs.ext4"), "-q", "-F", self.at("disk")], check=True, capture_output=True)
        self.process = Process(bed, "qemu", [
            "qemu-system-x86_64",
            "-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "max,family=23", "-smp", "2", "-m", "256",
            "-nodefaults", "-no-user-config", "-display", "none", "-vga", "none", "-net", "none",
            "-kernel", image, "-initrd", self.at("first.cpio"),
            "-append", "console=ttyS0 quiet panic=5 mitigations=off",
            "-device", "pc-testdev", "-acpitable", f"file={self.at('board.aml')}",
            "-drive", f"file={self.at('disk')},if=virtio,format=raw,cache=writethrough",
            "-serial", "stdio", "-chardev", f"socket,id=shell,path={self.at('shell')},server=on,wait=off", "-chardev", "pty,id=agent",
            "-device", "virtio-serial-pci", "-device", "virtconsole,chardev=agent", "-device", "virtconsole,chardev=shell",
            "-qmp", f"unix:{self.at('qmp')},server=on,wait=off"])
        self.shell = self.monitor = None

    def at(self, name):
        return os.path.join(self.path, name)

    def __enter__(self):
        def connected(name):
            if not self.process.runs():
                raise Failed(f"QEMU ended: {self.process.text[-500:]}")
            one = socket.socket(socket.AF_UNIX)
            try:
                one.connect(self.at(name))
            except OSError:
                one.close()
                return None
            one.settimeout(BOOT_S)
            return one.makefile("rwb")
        self.monitor = until("QEMU's monitor answers", lambda: connected("qmp"), BOOT_S)
        json.loads(self.monitor.readline())
        self.ask("qmp_capabilities")
        self.shell = until("the guest's line is there", lambda: connected("shell"), BOOT_S)
        (self.line,) = [c["filename"].removeprefix("pty:") for c in self.ask("query-chardev") if c["label"] == "agent"]
        self.wait_up(1)
        return self

    def __exit__(self, kind, value, trace):
        self.process.kill()

    def wait_up(self, times):
        until("the guest is up", lambda: self.process.text.count("bed: up") >= times or not self.process.runs(), BOOT_S, 0.1)
        if not self.process.runs():
            raise Failed(f"QEMU ended: {self.process.text[-500:]}")

    def ask(self, command, **arguments):
        """One command of the monitor, and what it returns."""
        self.monitor.write(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        self.monitor.flush()
        while True:
            said = json.loads(self.monitor.readline())
            if "error" in said:
                raise Failed(f"QEMU's monitor: {said['error']}")
            if "return" in said:
                return said["return"]

    def get_byte(self, port):
        said = self.ask("human-monitor-command", **{"command-line": f"i /xb {port:#x}"})
        return int(re.search(r"= (0x[0-9a-f]+)", said)[1], 16)

    def put_byte(self, port, value):
        self.ask("human-monitor-command", **{"command-line": f"o /b {port:#x} {value:#x}"})

    def mhz(self):
        """What the processors run at, by the registers that the kernel has written."""
        return [self.get_byte(port) * 100 for port in CLOCK]

    def heat(self, degrees):
        self.put_byte(DEGREES, degrees)

    def run(self, command, want=0):
        """A line of shell in the guest, and what it says."""
        return self.say(summed(command.encode()), command, want)

    def say(self, total, command, want=0):
        """The same with a sum for the line, so that both sides see what gets lost on the way."""
        self.shell.write(f"{total} {command}\n".encode())
        self.shell.flush()
        lines = []
        while not (end := re.fullmatch(rb"= (\w+) ([0-9a-f]{32})\r?\n", line := self.shell.readline())):
            if not line:
                raise Failed(f"the guest's line is closed; it said {lines}")
            lines.append(line)
        status = end[1].decode()
        said = b"".join(lines)
        if summed(said) != end[2].decode():
            raise Failed(f"the answer to `{command}` in the guest has lost something: {said}")
        if status == "damaged" or (want is not None and int(status) != want):
            raise Failed(f"`{command}` in the guest ended with {status}: {said}")
        return said.decode(errors="replace").strip()

    def power_cut(self):
        """Off and on, as with the plug: what was not on the disk is gone."""
        times = self.process.text.count("bed: up") + 1
        self.ask("system_reset")
        self.wait_up(times)
