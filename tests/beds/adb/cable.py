"""A guest in which phones are on USB cables (../usb/guest.py): a real adbd behind FunctionFS, in a root and a network of its own, and real
servers of adb: that of this machine, and the newer one of Debian 13."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "usb"), os.path.join(HERE, "..", "kernel")]
import box  # noqa: E402  (the paths have to be known first)
from guest import UsbGuest  # noqa: E402
from parts import NoPackages, read, unpacked  # noqa: E402

ADB = "/usr/lib/android-sdk/platform-tools/adb"
NEWER = "newer-adb"
RULES = "51-android.rules"


class PhoneGuest(UsbGuest):
    tools = (*UsbGuest.tools, ("adb", "adb"))
    starts = [*UsbGuest.starts, os.path.join(HERE, "start")]

    def fill(self, archive):
        super().fill(archive)
        archive.program("bin/adb", ADB)
        archive.add("bin/quiesce-agent-static", 0o120777, b"quiesce-agent")
        try:
            debian = box.packages()
        except box.Missing as missing:
            raise NoPackages(str(missing)) from None
        libraries = f"{debian}/usr/lib/x86_64-linux-gnu"
        lister = [f"{debian}/usr/lib64/ld-linux-x86-64.so.2", "--library-path", f"{libraries}:{libraries}/android", "--list"]
        for name in ("proc", "sys", "tmp", "data/local/tmp", "dev/usb-ffs/adb"):
            archive.folder(f"phone/{name}")
        for name in ("adbd", "adb"):
            archive.program(f"bin/{name}", f"{debian}/usr/lib/android-sdk/platform-tools/{name}", "phone/", lister)
        archive.file(f"bin/{NEWER}", b'#!/bin/sh\nexec /phone/lib64/ld-linux-x86-64.so.2 --argv0 adb --library-path /phone/lib /phone/bin/adb "$@"\n')
        archive.file("phone/bin/busybox", read(unpacked(self, "busybox-static") + "/bin/busybox"))
        for tool in box.TOOLS:
            archive.add(f"phone/bin/{tool}", 0o120777, b"busybox")
        archive.file("phone/bin/getprop", box.GETPROP.encode())
        archive.file(f"share/{RULES}", read(unpacked(self, "android-sdk-platform-tools-common") + f"/lib/udev/rules.d/{RULES}"), 0o644)
