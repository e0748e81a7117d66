"""A board behind a real sshd: it listens on the loopback as a process of the test, lets in whoever runs that, by a key that is thrown away, and
gives the login a home of its own."""
import os
import pwd
import shutil
import socket
import subprocess

from lib import Process, until

RUN = "/run/sshd"  # sshd of root wants this empty folder


def find(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin:/sbin:/bin")


def lacking():
    """Why there can be no such board here; None: there can."""
    if not all(find(name) for name in ("sshd", "ssh", "ssh-keygen")):
        return "sshd, ssh and ssh-keygen are needed: packages openssh-server and openssh-client"
    shell = pwd.getpwuid(os.geteuid()).pw_shell
    return None if subprocess.run([shell, "-c", "exit 7"], check=False, capture_output=True).returncode == 7 else f"nobody can log in here: {shell}"


def bound():
    """A socket at a port of its own, where nobody listens."""
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    return s


def keygen(path):
    subprocess.run([find("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", path], check=True, stdin=subprocess.DEVNULL)
    with open(path + ".pub", encoding="ascii") as f:
        return f.read()


class Board:
    """options: further lines of sshd's configuration. mount: options of a tmpfs where the agents lie, for this sshd alone."""

    def __init__(self, bed, options="", mount=None):
        self.bed, self.mount = bed, mount
        self.path, self.home = f"{bed.path}/board", f"{bed.path}/board/home"
        self.cache = f"{self.home}/.cache/quiesce"
        self.agents = f"{bed.path}/agents"
        self.user = pwd.getpwuid(os.geteuid()).pw_name
        os.makedirs(self.cache)
        os.makedirs(self.agents)
        os.symlink(os.environ["QS_AGENT_STATIC"], f"{self.agents}/quiesce-agent-static")
        os.symlink(os.environ["QS_AGENT_STATIC"], f"{self.agents}/quiesce-agent-static-arm64")
        self.host_key = keygen(f"{self.path}/host_key")
        self.other_key = keygen(f"{self.path}/other_key")
        bed.file("board/authorized", keygen(f"{self.path}/client_key"), 0o600)
        self.made_run = os.geteuid() == 0 and not os.path.exists(RUN)
        bed.file("board/config", f"ListenAddress 127.0.0.1\nHostKey {self.path}/host_key\nPidFile none\nUsePAM no\n"
                 f"StrictModes no\nAuthorizedKeysFile {self.path}/authorized\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
                 f"SetEnv HOME={self.home}\n{options}")

    def __enter__(self):
        if self.made_run:
            os.mkdir(RUN, 0o755)
        until("sshd listens", self.listen, pause_s=0)
        self.know(self.host_key)
        return self

    def listen(self):
        """At any port; another process may have taken it in the meantime."""
        with bound() as s:
            self.port = s.getsockname()[1]
        argv = [find("sshd"), "-D", "-e", "-f", f"{self.path}/config", "-p", str(self.port)]
        if self.mount:
            argv = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o "$1" board "$2" && shift 2 && exec "$@"', "sh", self.mount, self.cache, *argv]
        self.sshd = Process(self.bed, "sshd", argv)
        until("sshd is there", lambda: "Server listening" in self.sshd.text or not self.sshd.runs())
        return self.sshd.runs()

    def __exit__(self, *_):
        self.sshd.kill(15)
        self.sshd.child.wait(60)
        if self.made_run:
            os.rmdir(RUN)

    def know(self, key):
        self.bed.file("board/known_hosts", f"[127.0.0.1]:{self.port} {key}" if key else "", 0o600)

    def farm(self, key="client_key", host="127.0.0.1", port=None):
        argv = [find("ssh"), "-F", "none", "-p", str(port or self.port), "-i", f"{self.path}/{key}", "-oIdentitiesOnly=yes",
                f"-oUserKnownHostsFile={self.path}/known_hosts", "-oStrictHostKeyChecking=yes", "-oGlobalKnownHostsFile=none"]
        return {"agents": self.agents, "devices": {"board": {"link": "ssh", "host": f"{self.user}@{host}", "argv": argv}}}

    def lies_there(self):
        """The one file of an agent there."""
        names = os.listdir(self.cache)
        return f"{self.cache}/{names[0]}" if len(names) == 1 else None
