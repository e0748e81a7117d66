"""A phone in a box, for mode app: a root of its own in namespaces of its own, with the folders of an Android, and Android's commands as scripts that
behave as they are documented to. An APK is a file of lines `key=value`. Every time that they tell is made up: it is a test's alone."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "e2e")]
from lib import AGENT  # noqa: E402  (the path has to be known first)

STATE = "/data/system"
COMMON = f"""#!/bin/sh
S={STATE}
of() {{ sed -n "s/^$2=//p" "$1" 2>/dev/null | head -n 1; }}
apk() {{ echo "/data/app/$1/base.apk"; }}
"""
COMMANDS = {
    # pm install reads the file itself, refuses what Android refuses, and says so on its last line.
    "pm": r"""
case $1 in
path) [ -e "$(apk "$2")" ] || exit 1
    echo "package:$(apk "$2")"; [ ! -e "$S/split.$2" ] || echo "package:/data/app/$2/split_config.en.apk" ;;
install) shift; test=0
    while case $1 in -t) test=1 ;; -*) ;; *) false ;; esac; do shift; done
    p=$(of "$1" package); now=$(apk "$p")
    if [ -e "$S/fail.install" ]; then echo "Failure [$(cat "$S/fail.install")]"; exit 1; fi
    if [ ! "$p" ]; then echo "Failure [INSTALL_PARSE_FAILED_NOT_APK: Failed to parse $1]"; exit 1; fi
    if [ "$(of "$1" testonly)" = 1 ] && [ $test = 0 ]; then echo "Failure [INSTALL_FAILED_TEST_ONLY: installPackageLI]"; exit 1; fi
    if [ -e "$now" ] && [ "$(of "$now" signer)" != "$(of "$1" signer)" ]; then
        echo "Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: Existing package $p signatures do not match newer version; ignoring!]"; exit 1; fi
    if [ -e "$now" ] && [ "$(of "$now" code)" -gt "$(of "$1" code)" ]; then
        echo "Failure [INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected]"; exit 1; fi
    mkdir -p "/data/app/$p"; cp "$1" "$now"; echo verify >"$S/filter.$p"; rm -f "$S/process.$p"; echo Success ;;
uninstall) [ -e "$(apk "$2")" ] || { echo "Failure [not installed for 0]"; exit 1; }
    [ ! -e "$S/system.$2" ] || { echo "Failure [DELETE_FAILED_INTERNAL_ERROR]"; exit 1; }
    rm -rf "/data/app/$2" "$S/filter.$2" "$S/process.$2" "$S/data.$2"; echo Success ;;
esac""",
    "cmd": r"""
[ "$1 $2" = "package compile" ] || exit 1
shift 2
while :; do case $1 in -m) m=$2; shift 2 ;; -f) shift ;; *) break ;; esac; done
[ -e "$(apk "$1")" ] || { echo "Error: package $1 does not exist"; exit 1; }
[ "$m" != speed-profile ] || [ "$(of "$(apk "$1")" profile)" ] || m=verify
echo "$m" >"$S/filter.$1"; echo Success""",
    "dumpsys": r"""
[ "$1" = package ] || exit 1
a=$(apk "$2")
[ -e "$a" ] || { echo "Unable to find package: $2"; exit 0; }
flags="HAS_CODE ALLOW_BACKUP"; [ "$(of "$a" debuggable)" != 1 ] || flags="DEBUGGABLE $flags"
printf 'Packages:\n  Package [%s] (3f2b1a0):\n    userId=10123\n    versionCode=%s minSdk=24 targetSdk=33\n    versionName=%s\n    flags=[ %s ]\n\n' \
    "$2" "$(of "$a" code)" "$(of "$a" version)" "$flags"
printf 'Dexopt state:\n  [%s]\n    path: %s\n      arm64: [status=%s] [reason=cmdline] [primary-abi]\n' "$2" "$a" "$(cat "$S/filter.$2")"
""",
    "input": r"""
[ "$1 $2" != "keyevent KEYCODE_HOME" ] || echo home >"$S/front" """,
    # A start tells the state of the process as it finds it. Of an instrumentation the file that its class stands for is left behind.
    "am": r"""
start() {
    clear=0
    while case $1 in -W) ;; -n) c=$2; shift ;; --activity-clear-task) clear=1 ;; *) false ;; esac; do shift; done
    p=${c%%/*}; a=$(apk "$p"); short=${c#*/}
    echo "Starting: Intent { cmp=$c }"
    if [ ! -e "$a" ] || [ "$(of "$a" activity)" != "$short" ]; then
        echo "Error type 3"
        echo "Error: Activity class {$p/$p$short} does not exist." >&2
        exit 1
    fi
    ms=$(of "$a" cold_ms) state=COLD
    if [ -e "$S/process.$p" ] && [ $clear = 1 ]; then state=WARM ms=$((ms / 2))
    elif [ -e "$S/process.$p" ] && [ "$(cat "$S/front")" = home ]; then
        echo "Warning: Activity not started, its current task has been brought to the front"; state=HOT ms=$((ms / 8))
    elif [ -e "$S/process.$p" ]; then
        echo "Warning: Activity not started, intent has been delivered to currently running top-most instance."
        state="UNKNOWN (0)" ms=0
    fi
    n=$(cat "$S/count" 2>/dev/null || echo 0); echo $((n + 1)) >"$S/count"; ms=$((ms + n % 5))
    [ ! -e "$S/odd" ] || [ $((n % 2)) = 0 ] || state=$(cat "$S/odd")
    echo "$state" >>"$S/states"
    echo data >"$S/data.$p"; echo $$ >"$S/process.$p"; echo "$p" >"$S/front"
    status=ok; [ ! -e "$S/slow" ] || status=timeout
    echo "Status: $status"
    [ -e "$S/android9" ] || echo "LaunchState: $state"
    echo "Activity: $c"
    [ $status != ok ] || echo "TotalTime: $ms"
    echo "WaitTime: $((ms + 3))"
    echo Complete
}
instrument() {
    while case $1 in -w | -r) ;; -e) case $2 in additionalTestOutputDir) d=$3 ;; class) class=$3 ;; esac; shift 2 ;; *) false ;; esac; do shift; done
    p=${1%%/*}
    if [ ! -e "$(apk "$p")" ]; then
        printf 'INSTRUMENTATION_STATUS: id=ActivityManagerService\nINSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{%s}\n' "$1"
        printf 'INSTRUMENTATION_STATUS_CODE: -1\n'
        echo "android.util.AndroidException: INSTRUMENTATION_FAILED: $1" >&2
        exit 1
    fi
    printf 'INSTRUMENTATION_STATUS: class=%s\nINSTRUMENTATION_STATUS: current=1\nINSTRUMENTATION_STATUS: numtests=1\nINSTRUMENTATION_STATUS_CODE: 1\n' "$class"
    case $class in
    crash) printf 'INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n'; exit 0 ;;
    fails) printf 'INSTRUMENTATION_STATUS: stack=java.lang.AssertionError: ERRORS (not suppressed): EMULATOR\nINSTRUMENTATION_STATUS_CODE: -2\n'
        printf 'INSTRUMENTATION_RESULT: stream=\n\nFAILURES!!!\nTests run: 1,  Failures: 1\n\nINSTRUMENTATION_CODE: -1\n'; exit 0 ;;
    silent) ;;
    *) mkdir -p "$d"; cp "/fixtures/$class.json" "$d/$p-benchmarkData.json"; echo trace >"$d/iter000.perfetto-trace" ;;
    esac
    printf 'INSTRUMENTATION_STATUS: class=%s\nINSTRUMENTATION_STATUS_CODE: 0\nINSTRUMENTATION_RESULT: stream=\n\nOK (1 test)\n\nINSTRUMENTATION_CODE: -1\n' "$class"
}
case $1 in
force-stop) [ -e "$S/immortal" ] || rm -f "$S/process.$2" ;;
start | instrument) word=$1; shift; $word "$@" ;;
esac""",
}


def missing():
    """Why there can be no box here, or None."""
    if not shutil.which("unshare"):
        return "there is no unshare"
    if subprocess.run([*namespaces(), "sh", "-c", "mount -t tmpfs none /mnt"], capture_output=True, check=False).returncode != 0:
        return "this kernel gives no namespaces with mounts to this user (unshare -m)"
    return None


def namespaces():
    return ["unshare", *([] if os.geteuid() == 0 else ["-Ur"]), "-m"]


def package(name="com.example.shop", **more):
    """The text of an APK."""
    rows = {"package": name, "code": 7, "version": "1.0.7", "signer": "us", "activity": ".MainActivity", "cold_ms": 400, **more}
    return "".join(f"{key}={value}\n" for key, value in rows.items())


class Android:
    def __init__(self, bed):
        self.bed, self.root = bed, os.path.join(bed.path, "box")
        for name in ("system/bin", "usr", "proc", "dev", "etc", "tmp", "sdcard/Android/media", "data/local/tmp", "data/app", "data/system", "fixtures"):
            os.makedirs(self.path(name))
        for name in ("bin", "lib", "lib64", "sbin"):
            if os.path.islink(f"/{name}"):
                os.symlink(os.readlink(f"/{name}"), self.path(name))
            elif os.path.isdir(f"/{name}"):
                os.makedirs(self.path(name))
        shutil.copy(AGENT, self.path("data/local/tmp/quiesce-agent"))
        for name, text in COMMANDS.items():
            self.command(name, text)

    def path(self, name):
        return os.path.join(self.root, name.lstrip("/"))

    def command(self, name, text):
        at = self.path(f"system/bin/{name}")
        with open(at, "w", encoding="ascii") as f:
            f.write(f'{COMMON}echo "{name} $*" >>$S/log\n{text}\n')
        os.chmod(at, 0o755)

    def put(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)

    def installed(self):
        """Package -> text of its APK."""
        ret = {}
        for name in os.listdir(self.path("data/app")):
            with open(self.path(f"data/app/{name}/base.apk"), encoding="ascii") as f:
                ret[name] = f.read()
        return ret

    def lines(self, name):
        try:
            with open(self.path(f"data/system/{name}"), encoding="ascii") as f:
                return f.read().splitlines()
        except FileNotFoundError:
            return []

    def log(self, *words):
        """The commands so far, those that begin with one of the words."""
        return [line for line in self.lines("log") if not words or line.startswith(words)]

    def device(self):
        binds = "".join(f'[ ! -d "$1/{name}" ] || [ -L "$1/{name}" ] || mount --rbind /{name} "$1/{name}"; '
                        for name in ("usr", "bin", "lib", "lib64", "sbin", "dev", "etc"))
        inside = "env PATH=/usr/bin:/bin /data/local/tmp/quiesce-agent --stdio --cache /data/local/tmp/cache"
        start = f'{binds}mount --rbind /proc "$1/proc"; exec $(command -v chroot || echo /usr/sbin/chroot) "$1" {inside}'
        return {"link": "exec", "argv": [*namespaces(), "sh", "-c", start, "box", self.root]}

    def farm(self):
        return {"probe": "never", "devices": {"phone": self.device()}}
