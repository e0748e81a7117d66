"""Two guests with a wire between their network cards: a host (amd64) with the real daemon and command line, and a board (arm64) with clocks and
a thermometer of its own and the static agent of its architecture."""
import os
import sys

for other in ("kernel", "usb"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", other))
from guest import QUIESCE, QUIESCED, UsbGuest  # noqa: E402  (the path has to be known first)
from kinds import Arm64  # noqa: E402
from lib import until  # noqa: E402
from parts import tool_path  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BOUND_S = 60


def card(machine, number, waits):
    """A network card whose wire is a socket between the two processes of QEMU; one of them waits for the other."""
    wire = os.path.join(machine.bed.path, "wire")
    if not waits:
        until("there is a wire", lambda: os.path.exists(wire) or not machine.bed.processes[-1].runs(), BOUND_S)
    return ["-netdev", f"stream,id=wire,server={'on' if waits else 'off'},addr.type=unix,addr.path={wire}",
            "-device", f"virtio-net-pci,netdev=wire,romfile=,mac=52:54:00:79:00:0{number}"]


class Board(Arm64):
    """The board of arm64 with a USB device controller, usbip-vudc, whose cable is a connection that the kernel is given."""
    agent = os.environ.get("QS_AGENT_BOARD", "")
    modules = [*Arm64.modules, "virtio_net", "libcomposite", "usb_f_fs", "usbip_vudc"]
    starts = [os.path.join(HERE, "board")]

    def arguments(self, machine):
        return [*super().arguments(machine), *card(machine, 2, True)]


class Host(UsbGuest):
    """No board, but a USB host controller, vhci-hcd, for such a cable, and what makes its line a bad one."""
    tools = (("qemu-system-x86_64", "qemu-system-x86"), ("tc", "iproute2"))
    modules = ["virtio_net", "vhci_hcd", "sch_netem", "sch_ingress", "cls_matchall", "act_mirred", "ifb"]
    parameters = {"ifb": "numifbs=1"}
    programs = {"quiesced": QUIESCED, "quiesce": QUIESCE, "tc": tool_path("tc")}
    starts = [UsbGuest.udev, os.path.join(HERE, "host")]

    def arguments(self, machine):
        return ["-machine", "q35", "-cpu", "max", *card(machine, 1, False)]
