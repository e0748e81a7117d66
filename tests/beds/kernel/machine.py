"""A board whose kernel is real: a guest of QEMU (software emulation, no root) with a stock kernel of Debian, whose drivers are given by
its kind (kinds.py) what they drive. Its agent is at a virtual console, which is a terminal here; a second one takes commands;
temperature and clocks are set and read from outside."""
import json
import os
import re
import socket
import subprocess

from lib import Failed, Process, until
from parts import first_files, kernel, summed, tool_path

BOOT_S = 240  # emulated, on a machine that does other things


def why_not(kind):
    """Why there is no such board here, "" where there is one."""
    for tool, package in (*kind.tools, ("mkfs.ext4", "e2fsprogs"), ("apt-get", "apt"), ("dpkg-deb", "dpkg")):
        if not tool_path(tool):
            return f"{tool} is not installed ({package})"
    if not os.path.exists(kind.agent):
        return f"there is no static agent for {kind.name}: `{kind.agent}`"
    return ""


class Machine:
    """`with Machine(bed) as machine`: booted, its agent at `machine.line`, and gone after it. Its disk outlives a reset."""

    frame = ["-nodefaults", "-no-user-config", "-display", "none", "-vga", "none", "-net", "none"]

    def __init__(self, bed, kind):
        self.bed, self.path, self.kind = bed, os.path.join(bed.path, kind.name), kind
        os.mkdir(self.path)
        self.frame = [*self.frame, "-smp", str(kind.processors), "-m", str(kind.memory >> 20)]
        image, modules = kernel(kind)
        with open(self.at("first.cpio"), "wb") as f:
            f.write(first_files(kind, modules))
        with open(self.at("disk"), "wb") as f:
            f.truncate(16 << 20)
        subprocess.run([tool_path("mkfs.ext4"), "-q", "-F", self.at("disk")], check=True, capture_output=True)
        self.process = Process(bed, "qemu", [
            kind.qemu, "-accel", kind.emulation, *self.frame, *kind.arguments(self), "-kernel", image, "-initrd", self.at("first.cpio"),
            "-append", f"console={kind.console} quiet panic=5 mitigations=off {kind.words}",
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

    def command(self, line):
        """The same in the words that people use there."""
        return self.ask("human-monitor-command", **{"command-line": line})

    def mhz(self):
        """What the processors run at, by the registers that the kernel has written."""
        return self.kind.mhz(self)

    def heat(self, degrees):
        self.kind.heat(self, degrees)

    def run(self, command, want=0):
        """A line of shell in the guest, and what it says."""
        return self.say(summed(command.encode()), command, want)

    def say(self, total, command, want=0):
        """The same with a sum for the line, so that both sides see what gets lost on the way."""
        self.shell.write(f"{total} {command}\n".encode())
        self.shell.flush()
        lines = []
        while not (end := re.search(rb"= (\w+) ([0-9a-f]{32})\r?\n\Z", line := self.shell.readline())):
            if not line:
                raise Failed(f"the guest's line is closed; it said {lines}")
            lines.append(line)
        lines.append(line[:end.start()])  # of an answer whose last line has no end
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
