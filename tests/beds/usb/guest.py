"""A guest in which both ends of a USB cable are: the kernel's dummy_hcd joins a host controller to a device controller. The real daemon, the real
command line and the real static agent run there, with udevd and the rule that ordinary users need."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
from kinds import Amd64  # noqa: E402  (the path has to be known first)
from parts import read, unpacked  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SANITIZED = bool(os.environ.get("QS_SANITIZED"))
QUIESCED, QUIESCE, HOST = (os.environ.get(name, "") for name in ("QS_QUIESCED", "QS_QUIESCE", "QS_USB_HOST"))
RULES = os.path.join(HERE, "..", "..", "..", "config", "udev")
SETTINGS = "".join(f"export {name}='{os.environ.get(name, '')}'\n" for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"))
USERS = "root:x:0:0:root:/:/bin/sh\nperson:x:1000:1000:person:/tmp:/bin/sh\n"
GROUPS = ("root:x:0:\ntty:x:5:\ndisk:x:6:\nlp:x:7:\nkmem:x:15:\ndialout:x:20:\ncdrom:x:24:\ntape:x:26:\naudio:x:29:\nvideo:x:44:\nplugdev:x:46:person\n"
          "input:x:101:\nkvm:x:102:\nrender:x:103:\nsgx:x:104:\nusers:x:100:\nperson:x:1000:\n")


class UsbGuest(Amd64):
    """The board of amd64 with four USB cables to itself."""
    memory = (1536 if SANITIZED else 768) << 20
    words = "norandmaps" if SANITIZED else ""  # a kernel with many random address bits may map what it likes where the shadow has to be
    modules = [*Amd64.modules, "dummy_hcd", "libcomposite", "usb_f_fs"]
    parameters = {"dummy_hcd": "num=4"}
    programs = {"quiesced": QUIESCED, "quiesce": QUIESCE, "host": HOST}
    udev = os.path.join(HERE, "udev")
    settings = SETTINGS
    starts = [udev, os.path.join(HERE, "start")]

    def fill(self, archive):
        for folder in ("sbin", "run", "var", "etc/udev/rules.d", "lib/udev/rules.d", "lib64", "share"):
            archive.folder(folder)
        for name, path in self.programs.items():
            if path:
                archive.program("bin/" + name, path)
        udev = unpacked(self, "udev")
        archive.program("bin/udevadm", f"{udev}/bin/udevadm")
        archive.add("bin/systemd-udevd", 0o120777, b"udevadm")
        for name in ("50-udev-default.rules", "80-drivers.rules"):
            archive.file(f"lib/udev/rules.d/{name}", read(f"{udev}/lib/udev/rules.d/{name}"), 0o644)
        for name in os.listdir(RULES) if os.path.isdir(RULES) else ():
            if name.endswith(".rules"):
                archive.file(f"etc/udev/rules.d/{name}", read(os.path.join(RULES, name)), 0o644)
        for name, text in (("passwd", USERS), ("group", GROUPS), ("machine-id", "0123456789abcdef0123456789abcdef\n")):
            archive.file(f"etc/{name}", text.encode(), 0o644)
