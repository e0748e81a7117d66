"""A stand-in for adb's server with its devices: the smart socket's services that Quiesce asks for, as the real one answers (versions 29 and
34). A device is a folder, and its shell this machine's; what a test wants to go wrong is an attribute."""
import os
import socket
import struct
import subprocess
import threading

PLACE = "/data/local/tmp"


class Gone(Exception):
    """The other side hung up."""


class Phone:
    def __init__(self, folder, serial, abi="x86_64"):
        self.folder, self.serial, self.abi, self.state = folder, serial, abi, "device"
        self.features = "shell_v2,cmd,stat_v2,ls_v2"
        self.attributes = "usb:1-4.2 product:oriole model:Pixel_6 device:oriole transport_id:1"
        self.name = f"quiesce-agent-{os.path.basename(folder)}"  # one kernel has one agent of a name
        self.asked, self.mute, self.full, self.garbage, self.cut_after, self.cuts = [], False, False, False, None, 0
        self.streams = []
        os.makedirs(folder, exist_ok=True)

    def here(self, text):
        return text.replace(PLACE, self.folder).replace("localabstract:quiesce-agent", f"localabstract:{self.name}").replace(
            "getprop ro.product.cpu.abi", f"echo {self.abi}")

    def refusal(self):
        return {"device": None, "unauthorized": "device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set\nTry 'adb kill-server' if that seems wrong.",
                "offline": "device offline"}.get(self.state)

    def count(self, begin):
        return sum(what.startswith(begin) for what in self.asked)

    def cut(self):
        """All that goes to its agent is lost, at once."""
        for s in self.streams:
            s.shutdown(socket.SHUT_RDWR)
        self.streams = []


def exact(s, n):
    data = b""
    while len(data) < n:
        piece = s.recv(n - len(data))
        if not piece:
            raise Gone
        data += piece
    return data


class Server:
    def __init__(self, port=0):
        self.phones, self.trackers, self.lock, self.asked = [], [], threading.Lock(), []
        self.door = socket.create_server(("127.0.0.1", port))
        self.port = self.door.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                s, _ = self.door.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def close(self):
        """As `adb kill-server`: everything that went through it is gone."""
        self.door.shutdown(socket.SHUT_RDWR)
        self.door.close()
        with self.lock:
            for s in self.trackers:
                s.shutdown(socket.SHUT_RDWR)
            self.trackers = []
        for phone in self.phones:
            phone.cut()

    # --- the list ---

    def block(self):
        text = "".join(f"{p.serial:22s} {p.state} {p.attributes}\n" for p in self.phones)
        return f"{len(text):04x}{text}".encode()

    def changed(self):
        with self.lock:
            for s in self.trackers:
                s.sendall(self.block())

    # --- one connection ---

    def serve(self, s):
        try:
            phone = None
            while True:
                text = exact(s, int(exact(s, 4), 16)).decode()
                self.asked.append(text)
                if text == "host:track-devices-l":
                    with self.lock:
                        self.trackers.append(s)
                        s.sendall(b"OKAY" + self.block())
                    return
                if text.startswith("host-serial:"):
                    serial, _, what = text[len("host-serial:"):].rpartition(":")
                    phone = self.find(s, serial)
                    if phone and what == "features":
                        s.sendall(b"OKAY" + f"{len(phone.features):04x}{phone.features}".encode())
                    s.close()
                    return
                if text.startswith("host:transport:"):
                    phone = self.find(s, text[len("host:transport:"):])
                    if not phone:
                        s.close()
                        return
                    s.sendall(b"OKAY")
                elif phone:
                    phone.asked.append(text)
                    self.service(s, phone, text)
                    return
        except (Gone, OSError):
            s.close()

    def find(self, s, serial):
        phone = next((p for p in self.phones if serial in (p.serial, p.attributes.split()[0])), None)
        refusal = phone.refusal() if phone else f"device '{serial}' not found"
        if refusal:
            s.sendall(b"FAIL" + f"{len(refusal):04x}{refusal}".encode())
        return None if refusal else phone

    def service(self, s, phone, text):
        kind, _, rest = text.partition(":")
        if kind in ("shell,v2,raw", "exec") and phone.state != "recovery":
            s.sendall(b"OKAY")
            self.shell(s, phone, kind, rest)
        elif kind == "sync":
            s.sendall(b"OKAY")
            self.sync(s, phone)
        elif kind == "localabstract":
            self.connect(s, phone)
        else:
            s.sendall(b"FAIL0006closed")
            s.close()

    def shell(self, s, phone, kind, script):
        if phone.mute:
            return
        done = subprocess.run(["sh", "-c", phone.here(script)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        out = b"\x07garbage" if phone.garbage else done.stdout
        if kind == "shell,v2,raw" and not phone.garbage:
            for stream, data in ((1, out), (2, done.stderr), (3, bytes([done.returncode]))):
                if data:
                    s.sendall(struct.pack("<BI", stream, len(data)) + data)
        else:
            s.sendall(out)
        s.close()

    def sync(self, s, phone):
        while True:
            what, n = struct.unpack("<4sI", exact(s, 8))
            text = exact(s, n).decode() if what in (b"STAT", b"SEND", b"RECV") else ""
            phone.asked.append(what.decode())
            path = phone.here(text.partition(",")[0])
            if what == b"STAT":
                found = os.stat(path) if os.path.exists(path) else os.stat_result((0,) * 10)
                s.sendall(b"STAT" + struct.pack("<III", found.st_mode, found.st_size, int(found.st_mtime)))
            elif what == b"SEND":
                self.send(s, phone, path, int(text.rpartition(",")[2]))
            elif what == b"RECV":
                with open(path, "rb") as f:
                    data = f.read()
                s.sendall(b"DATA" + struct.pack("<I", len(data)) + data + b"DONE" + bytes(4))
            else:
                s.close()
                return

    def send(self, s, phone, path, mode):
        with open(path, "wb") as f:
            while True:
                what, n = struct.unpack("<4sI", exact(s, 8))
                if what == b"DONE":
                    break
                f.write(exact(s, n))
        os.chmod(path, mode & 0o777)
        if phone.full:
            os.unlink(path)
            why = b"couldn't write to file: No space left on device"
            s.sendall(b"FAIL" + struct.pack("<I", len(why)) + why)
        else:
            s.sendall(b"OKAY" + bytes(4))

    def connect(self, s, phone):
        agent = socket.socket(socket.AF_UNIX)
        try:
            agent.connect(f"\0{phone.name}")
        except OSError:
            s.sendall(b"FAIL0006closed")
            s.close()
            return
        s.sendall(b"OKAY")
        phone.streams += [s, agent]
        threading.Thread(target=self.carry, args=(phone, s, agent, False), daemon=True).start()
        self.carry(phone, agent, s, True)

    @staticmethod
    def carry(phone, source, to, counts):
        """Until either hangs up; after so many bytes of the agent, where a test says so, the cable is pulled."""
        try:
            while data := source.recv(65536):
                if counts and phone.cut_after is not None:
                    data, phone.cut_after = data[:phone.cut_after], phone.cut_after - min(len(data), phone.cut_after)
                if data:
                    to.sendall(data)
                if counts and phone.cut_after == 0:
                    phone.cut_after = None
                    phone.cuts += 1
                    break
        except OSError:
            pass
        for s in (source, to):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
