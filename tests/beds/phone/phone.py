"""A phone in a folder, for the tests: a tree of an unrooted one with its permissions, and Android's commands as scripts that keep their state in files.
Where the tests run as root its agent is user 2000, as below adb; else the permissions of everybody else are its user's."""
import os
import shutil
import stat
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "e2e"), os.path.join(HERE, "..", "board")]
from boards import tree_rows  # noqa: E402  (the path has to be known first)
from lib import AGENT  # noqa: E402

SHELL = 2000
TREE = "sony-xperia-z-unrooted"
COMMANDS = {
    "settings": 'f="$S/$2.$3"\n'
                'case $1 in\n'
                'get) cat "$f" 2>/dev/null || echo null ;;\n'
                'put) [ ! -e "$S/deny" ] || { echo "java.lang.SecurityException: Permission denial" >&2; exit 255; }; echo "$4" >"$f" ;;\n'
                'delete) rm -f "$f" ;;\n'
                'esac',
    "svc": 'case $2 in enable) echo 1 ;; disable) echo 0 ;; esac >"$S/global.${1}_on"',
    "am": 'case $1 in\n'
          'get-standby-bucket) cat "$S/bucket.$2" ;;\n'
          'set-standby-bucket) echo "$3" >"$S/bucket.$2" ;;\n'
          'esac',
    "cmd": 'case "$1 $2" in\n'
           '"appops get") cat "$S/appops.$3" 2>/dev/null || printf "No operations.\\nDefault mode: allow\\n" ;;\n'
           '"appops set") echo "$4: $5; time=+1h2m ago" >"$S/appops.$3" ;;\n'
           '"connectivity airplane-mode") case $3 in enable) echo 1 ;; *) echo 0 ;; esac >"$S/global.airplane_mode_on" ;;\n'
           'esac',
    "getprop": 'cat "$S/prop.$1" 2>/dev/null || echo',
    "setprop": 'echo "$2" >"$S/prop.$1"',
    "start": 'echo running >"$S/prop.init.svc.$1"',
    "stop": 'echo stopped >"$S/prop.init.svc.$1"',
}
# For those that want one: what it does not know of the phone it says nothing about.
DUMPSYS = ('case "$1 $2" in\n'
           '"package "*) cat "$S/package.$2" 2>/dev/null || echo "Unable to find package: $2" ;;\n'
           '"deviceidle enabled") cat "$S/idle" ;;\n'
           '"deviceidle enable") echo 1 >"$S/idle" ;;\n'
           '"deviceidle disable") echo 0 >"$S/idle" ;;\n'
           'esac')
PACKAGE = """Packages:
  Package [org.example] (3f2b1a0):
    userId=10123
    versionCode=7 minSdk=24 targetSdk=33
    versionName=1.0.7
    flags=[ %(flags)s ]

Dexopt state:
  [org.example]
    path: /data/app/~~A==/org.example-B==/base.apk
      arm64: [status=%(status)s] [reason=bg-dexopt] [primary-abi]
"""
STATE = {"global.airplane_mode_on": "0", "global.window_animation_scale": "1.0", "global.animator_duration_scale": "0.5",
         "system.screen_brightness": "102", "bucket.org.example": "10"}


class Phone:
    def __init__(self, bed):
        self.bed = bed
        os.chmod(bed.path, 0o755)
        self.root = os.geteuid() == 0
        for name in ("sys", "phone", "phone/state", "phone/bin", "phone/journal", "profiles"):
            os.makedirs(self.path(name))
        self.agent = shutil.copy(AGENT, self.path("phone/agent"))
        self._files()
        for name, text in COMMANDS.items():
            self.script(name, text)
        for name, value in STATE.items():
            self.set(name, value)
        self._give("phone/state")
        self._give("phone/journal")
        with open(self.path("profiles/box.yaml"), "w", encoding="ascii") as f:
            f.write("profile: box\nabout: every device of this test is an Android\nextends: android\nmatch: [{facts: {sysfs: '*'}}]\n")

    def path(self, name):
        return os.path.join(self.bed.path, name)

    def _give(self, name):
        for folder, _, files in os.walk(self.path(name)):
            for at in [folder, *(os.path.join(folder, one) for one in files)]:
                if self.root:
                    os.chown(at, SHELL, SHELL)

    def _files(self):
        """A file may be written where others may; links and folders as they are."""
        for path, mode, target, value in tree_rows(TREE):
            at = self.path(path.lstrip("/"))
            os.makedirs(os.path.dirname(at), exist_ok=True)
            if mode == "link":
                os.symlink(target, at)
            elif mode != "dir" and not os.path.lexists(at):
                with open(at, "w", encoding="utf-8") as f:
                    f.write(value)
                bits = int(mode, 8)
                os.chmod(at, bits if self.root else (bits & 0o7) * 0o111)

    def script(self, name, text):
        at = self.path(f"phone/bin/{name}")
        with open(at, "w", encoding="ascii") as f:
            f.write(f'#!/bin/sh\nS="{self.path("phone/state")}"\necho "{name} $*" >>"$S/log"\n{text}\n')
        os.chmod(at, 0o755)

    def set(self, name, value):
        with open(self.path(f"phone/state/{name}"), "w", encoding="ascii") as f:
            f.write(value + "\n")
        self._give("phone/state")

    def state(self):
        """Everything but what was called."""
        ret = {}
        for name in os.listdir(self.path("phone/state")):
            if name not in ("log", "deny"):
                with open(self.path(f"phone/state/{name}"), encoding="ascii") as f:
                    ret[name] = f.read().strip()
        return ret

    def log(self):
        try:
            with open(self.path("phone/state/log"), encoding="ascii") as f:
                return f.read().splitlines()
        except FileNotFoundError:
            return []

    def files(self):
        """Each file of its sysfs, with what it says; those that nobody may read as they are on the disk."""
        ret = {}
        for folder, _, names in os.walk(self.path("sys")):
            for name in names:
                at = os.path.join(folder, name)
                if stat.S_ISREG(os.lstat(at).st_mode) and os.access(at, os.R_OK):
                    with open(at, "rb") as f:
                        ret[at] = f.read()
        return ret

    def farm(self):
        drop = ["setpriv", "--reuid", str(SHELL), "--regid", str(SHELL), "--clear-groups"] if self.root else []
        env = ["env", f"PATH={self.path('phone/bin')}:/usr/bin:/bin"]
        argv = [*drop, *env, self.agent, "--stdio", "--sysfs", self.path("sys"), "--state", self.path("phone/journal")]
        return {"probe": "never", "devices": {"phone": {"link": "exec", "argv": argv}}}
