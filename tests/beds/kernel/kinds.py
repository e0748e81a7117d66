"""The two kinds of guest: what QEMU has to be told, what makes a board of it, how its clocks are read and its temperature is set from
outside, and what the agent should find there."""
import os
import re
import struct
import subprocess

from parts import HERE, read, tool_path


class Kind:
    """What all have in common. `agent` is the static one for its processors, `starts` are the lines for init of what it has to do, here to keep
    an agent at its first virtual console, `settings` those before them."""
    memory, parameters, starts, settings = 256 << 20, {}, [os.path.join(HERE, "start")], ""
    processors, emulation = 2, "tcg,thread=multi"
    agent = os.environ.get("QS_AGENT_STATIC", "")

    def fill(self, archive):
        """What else is in the guest."""


class Amd64(Kind):
    """A board by an ACPI table (board.asl), whose state is in four bytes of QEMU's pc-testdev."""
    name, foreign, qemu, console = "amd64", "", "qemu-system-x86_64", "ttyS0"
    tools = (("qemu-system-x86_64", "qemu-system-x86"), ("iasl", "acpica-tools"))
    meta = "linux-image-6.12-amd64"  # before 6.3 a zone does not learn that processors can be slowed down after it was made
    modules = ["acpi_cpufreq", "fan", "battery", "ac"]
    words = ""
    top_mhz, zone = [1800, 1800], "thermal:acpitz"
    battery = "battery:CELL"
    clocks, degrees, power = (0xE0, 0xE1), 0xE2, 0xE3

    def arguments(self, machine):
        subprocess.run([tool_path("iasl"), "-p", machine.at("board"), os.path.join(HERE, "board.asl")], check=True, capture_output=True)
        return ["-machine", "q35", "-cpu", "max,family=23", "-device", "pc-testdev", "-acpitable", f"file={machine.at('board.aml')}"]

    def mhz(self, machine):
        """The bytes that the kernel has written, in steps of 100 MHz."""
        return [int(re.search(r"= (0x[0-9a-f]+)", machine.command(f"i /xb {port:#x}"))[1], 16) * 100 for port in self.clocks]

    def heat(self, machine, degrees):
        machine.command(f"o /b {self.degrees:#x} {degrees:#x}")

    def charge(self, machine, percent):
        """What the battery still has; the mains are off unless it is full."""
        machine.command(f"o /b {self.power:#x} {100 - percent | (0x80 if percent < 100 else 0):#x}")


class Arm64(Kind):
    """A board by a device-tree overlay (board.dtso). Its clocks are pins of the machine's GPIO controller; its thermometer is a page of
    the guest's memory, which is shared with this process."""
    name, foreign, qemu, console = "arm64", "arm64", "qemu-system-aarch64", "ttyAMA0"
    tools = (("qemu-system-aarch64", "qemu-system-arm"), ("dtc", "device-tree-compiler"), ("fdtput", "device-tree-compiler"),
             ("fdtoverlay", "device-tree-compiler"))
    meta = "linux-image-6.12-arm64"
    modules = ["cpufreq_dt", "bcm2835_thermal"]
    words = "kpti=off"
    top_mhz, zone = [1800, 1000], "thermal:cpu-thermal"
    battery = ""
    labels = (("gpio", "/pl061@9030000"), ("cpu0", "/cpus/cpu@0"), ("cpu1", "/cpus/cpu@1"))
    pins = 0x90303FC  # of the GPIO controller: all eight
    thermometer = Kind.memory - 0x1000
    valid, zero = 1 << 10, 800  # 0x400, and what stands for 0 degrees; a degree is 2 less

    def __init__(self):
        self.shared = os.memfd_create("guest")
        os.truncate(self.shared, self.memory)
        self.heat(None, 38)

    def arguments(self, machine):
        board = ["-cpu", "cortex-a53", "-object",
                 f"memory-backend-file,id=ram,size={self.memory},mem-path=/proc/{os.getpid()}/fd/{self.shared},share=on"]
        tree, overlay = machine.at("tree.dtb"), machine.at("board.dtbo")

        def call(program, *words):
            subprocess.run([tool_path(program), *words], check=True, capture_output=True)
        call(self.qemu, *machine.frame, "-machine", f"virt,memory-backend=ram,dumpdtb={tree}", *board)
        for label, path in self.labels:
            call("fdtput", "-p", "-t", "s", tree, "/__symbols__", label, path)
        call("dtc", "-q", "-@", "-O", "dtb", "-o", overlay, os.path.join(HERE, "board.dtso"))
        call("fdtoverlay", "-i", tree, "-o", machine.at("board.dtb"), overlay)
        return ["-machine", "virt,memory-backend=ram", *board, "-dtb", machine.at("board.dtb")]

    def mhz(self, machine):
        """Which clocks the pins choose that the kernel has set."""
        pins = int(re.search(r": (0x[0-9a-f]+)", machine.command(f"xp /xw {self.pins:#x}"))[1], 16)
        low, high = (600, 1000)[pins & 1], (1400, 1800)[pins >> 1 & 1]
        return [(low, high)[pins >> 2 & 1], (600, 1000)[pins >> 4 & 1]]

    def heat(self, _, degrees):
        os.pwrite(self.shared, struct.pack("<I", self.valid | self.zero - 2 * degrees), self.thermometer + 4)


KINDS = {kind.name: kind for kind in (Amd64, Arm64)}
