"""A phone in a box: a real adbd (of Debian 13, whose packages are downloaded once and not installed) with busybox as its userland, in a root, a
network and process numbers of its own; and a real server of adb: Debian 12's, or the newer one of those packages."""
import os
import shutil
import signal
import socket
import subprocess
import sys

from lib import Failed, alive, until

CACHE = os.environ.get("QS_ADB_CACHE", "/tmp/quiesce-adb-bed")
AGENT = os.environ.get("QS_AGENT_STATIC", "")
SUITE, PORT, DOOR = "trixie", "15037", "127.0.0.1:5555"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
TOOLS = ["sh", "cat", "echo", "ls", "mv", "rm", "dd", "kill", "sleep", "chmod", "uname", "true", "setsid", "mkdir", "id"]
GETPROP = """#!/bin/sh
case "$1" in ro.product.cpu.abi) echo x86_64;; ro.product.model) echo Box;; esac
"""
INSIDE = "QS_ADB_INSIDE"


class Missing(Failed):
    """What the box is made of cannot be had here."""


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=False, **more)


def archive():
    """Where this machine gets Debian from."""
    said = run("apt-get", "indextargets", "--format", "$(CODENAME) $(REPO_URI)", "Created-By: Packages").stdout
    for line in said.splitlines():
        name, _, uri = line.partition(" ")
        if name == "bookworm":
            return uri
    raise Missing("apt knows no archive of Debian 12")


def packages():
    """The folder with adbd, adb and busybox of Debian 13, and what they need."""
    folder = os.path.join(CACHE, "root")
    if os.path.exists(folder):
        return folder
    apt, part = os.path.join(CACHE, f"apt-{os.getpid()}"), f"{folder}.part-{os.getpid()}"
    for name in ("lists/partial", "cache/archives/partial", "none"):
        os.makedirs(os.path.join(apt, name), exist_ok=True)
    with open(os.path.join(apt, "status"), "w", encoding="ascii"):
        pass
    with open(os.path.join(apt, "sources.list"), "w", encoding="ascii") as f:
        f.write(f"deb [signed-by={KEYRING}] {archive()} {SUITE} main\n")
    with open(os.path.join(apt, "apt.conf"), "w", encoding="ascii") as f:
        f.write(f'APT::Architecture "amd64"; APT::Architectures {{ "amd64"; }}; APT::Install-Recommends "false"; Debug::NoLocking "true";\n'
                f'Dir::State "{apt}"; Dir::State::lists "{apt}/lists"; Dir::State::status "{apt}/status"; Dir::Cache "{apt}/cache";\n'
                f'Dir::Etc::sourcelist "{apt}/sources.list"; Dir::Etc::sourceparts "{apt}/none"; APT::Sandbox::User "root";\n')
    env = {**os.environ, "APT_CONFIG": os.path.join(apt, "apt.conf")}
    for words in (["update"], ["install", "-y", "--download-only", "adbd", "adb", "busybox-static"]):
        got = run("apt-get", "-qq", *words, env=env)
        if got.returncode != 0:
            raise Missing(f"apt-get {words[0]} of {SUITE}: {got.stderr.strip()[-200:]}")
    archives = os.path.join(apt, "cache/archives")
    for name in os.listdir(archives):
        if name.endswith(".deb"):
            subprocess.run(["dpkg-deb", "-x", os.path.join(archives, name), part], check=True)
    os.rename(part, folder)
    shutil.rmtree(apt)
    return folder


def enter():
    """Goes on in namespaces of its own, as this machine's root or a user who is root there alone."""
    if os.environ.get(INSIDE):
        return
    os.environ[INSIDE] = "1"
    words = ["unshare", *([] if os.geteuid() == 0 else ["-Ur"]), "-mnpf", "--mount-proc"]
    if run(*words, "true").returncode != 0:
        raise Missing("this kernel gives no namespaces to this user (unshare -mnpf)")
    os.execvp("unshare", [*words, sys.executable, *sys.argv])


def listens():
    try:
        with socket.create_connection(("127.0.0.1", int(PORT)), timeout=1):
            return True
    except OSError:
        return False


class Box:
    def __init__(self, bed):
        self.bed, self.debian = bed, packages()
        self.root = os.path.join(bed.path, "box")
        if not AGENT or not shutil.which("adb"):
            raise Missing("there is no static agent (musl-tools), or no adb here")
        for name in ("bin", "dev", "proc", "tmp", "etc", "data/local/tmp", "usr/lib"):
            os.makedirs(os.path.join(self.root, name))
        busybox = next(path for path in (f"{self.debian}/usr/bin/busybox", f"{self.debian}/bin/busybox") if os.path.exists(path))
        shutil.copy(busybox, f"{self.root}/bin/busybox")
        for tool in TOOLS:
            os.symlink("busybox", f"{self.root}/bin/{tool}")
        with open(f"{self.root}/bin/getprop", "w", encoding="ascii") as f:
            f.write(GETPROP)
        os.chmod(f"{self.root}/bin/getprop", 0o755)
        shutil.copytree(f"{self.debian}/usr/lib/x86_64-linux-gnu", f"{self.root}/usr/lib/x86_64-linux-gnu", symlinks=True)
        os.makedirs(f"{self.root}/lib64")
        shutil.copy(f"{self.debian}/usr/lib64/ld-linux-x86-64.so.2", f"{self.root}/lib64/ld-linux-x86-64.so.2")
        shutil.copy(f"{self.debian}/usr/lib/android-sdk/platform-tools/adbd", f"{self.root}/bin/adbd")
        for words in (["mount", "-t", "proc", "proc", f"{self.root}/proc"], *(["mount", "--bind", f"/dev/{n}", self.device(n)] for n in ("null", "zero", "urandom"))):
            got = run(*words)
            if got.returncode != 0:
                raise Missing(f"{' '.join(words[:3])}: {got.stderr.strip()}")
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        bed.env.update(ANDROID_ADB_SERVER_PORT=PORT, ADB_USB="0", ADB_EMU="0", ADB_MDNS="0")
        self.agents = os.path.join(bed.path, "agents")
        os.mkdir(self.agents)
        shutil.copy(AGENT, os.path.join(self.agents, "quiesce-agent-static"))
        self.adbd = self.server = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Whatever runs in the box ends, and nothing of this machine is below its folder any more."""
        for process in (self.adbd, self.server):
            if process:
                self.end(process)
        if self.pid() and alive(self.pid()):
            os.kill(self.pid(), signal.SIGKILL)
            until("the box is empty", lambda: not alive(self.pid()))
        for path in ("proc", "dev/null", "dev/zero", "dev/urandom"):
            subprocess.run(["umount", "-l", f"{self.root}/{path}"], check=False)

    def device(self, name):
        path = f"{self.root}/dev/{name}"
        with open(path, "w", encoding="ascii"):
            pass
        return path

    def start_adbd(self):
        chroot = shutil.which("chroot", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        self.adbd = subprocess.Popen([chroot, self.root, "/bin/adbd"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     env={"PATH": "/bin", "HOME": "/", "LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu/android"},
                                     start_new_session=True)

    def start_server(self, newer=False):
        adb = [f"{self.debian}/usr/lib64/ld-linux-x86-64.so.2", "--argv0", "adb", "--library-path",
               f"{self.debian}/usr/lib/x86_64-linux-gnu:{self.debian}/usr/lib/x86_64-linux-gnu/android",
               f"{self.debian}/usr/lib/android-sdk/platform-tools/adb"] if newer else ["adb"]
        self.server = subprocess.Popen([*adb, "-L", f"tcp:{PORT}", "server", "nodaemon"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env=self.bed.env, start_new_session=True)
        until("adb's server listens", listens)  # else a client would start one of its own
        until("adb's server knows the phone", lambda: "connected" in run("adb", "-P", PORT, "connect", DOOR, env=self.bed.env).stdout)

    @staticmethod
    def end(process):
        process.send_signal(signal.SIGKILL)
        process.wait()

    def pid(self):
        try:
            with open(f"{self.root}/data/local/tmp/quiesce-agent.pid", encoding="ascii") as f:
                return int(f.read())
        except (OSError, ValueError):
            return 0

    def farm(self):
        return {"heartbeat": "200ms", "agents": self.agents, "discover": ["adb"]}
