#!/usr/bin/env python3
"""What quiesced does before anybody is served: each way to end at once, with its exit code and its words.

usage: test_main.py QUIESCED
"""
import os
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "tools"))
from tap import Tap  # noqa: E402

QUIESCED = os.path.abspath(sys.argv[1])
FARM = "devices: {one: {link: sim}, two: {link: sim}}\n"
JOB = "quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\nplan: {blocks: {min: 2, max: 2}}\n"


def ask(folder, *argv, stdin=subprocess.DEVNULL, **env):
    """(exit code, standard output, standard error), with the folder's name as DIR."""
    done = subprocess.run([QUIESCED, *argv], cwd=folder, stdin=stdin, capture_output=True, text=True, timeout=120, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": folder, "XDG_RUNTIME_DIR": folder + "/run", **env})
    return done.returncode, done.stdout.replace(folder, "DIR"), done.stderr.replace(folder, "DIR")


def put(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.write(text)


def told(tap, folder):
    code, out, err = ask(folder, "--version")
    tap.ok(code == 0 and out.startswith("quiesced 0.") and out.count("\n") == 1 and not err, "--version", [out, err])
    code, out, err = ask(folder, "--help")
    tap.ok(code == 0 and out.startswith("Usage: quiesced [OPTIONS]\n") and "--dump-states" in out and not err, "--help", [out, err])
    code, out, err = ask(folder, "--dump-states")
    tap.ok(code == 0 and out.startswith("# session\n") and "\n\n# job run\n" in out and not err, "--dump-states", [out, err])
    tap.equal(ask(folder, "--log-level", "loud"),
              (2, "", "quiesced: --log-level must be error, warn, info or debug, not `loud`\n  see --help for the accepted forms\n"),
              "a level that there is not")
    code, out, err = ask(folder, "--version", "--config")
    tap.ok(code == 2 and "--config wants a value: --config FILE" in err, "an option without its value", [out, err])


def checked(tap, folder):
    put(folder, "farm.yaml", FARM)
    put(folder, "one.yaml", "devices: {one: {link: sim}}\n")
    put(folder, "bad.yaml", "devises: {}\n")
    put(folder, "lacking.yaml", "devices: {one: {link: exec, argv: [/nowhere/agent]}}\n")
    put(folder, "lacking2.yaml", "devices: {one: {link: exec, argv: [/nowhere/agent]}, two: {link: exec, argv: [/nowhere/b]}}\n")
    tap.equal(ask(folder, "--check-config", "farm.yaml"), (0, "farm.yaml: ok, 2 devices\n", ""), "a farm of two")
    tap.equal(ask(folder, "--check-config", "one.yaml"), (0, "one.yaml: ok, 1 device\n", ""), "a farm of one")
    for option in "--check-config", "--config", "--simulate":
        code, out, err = ask(folder, option, "bad.yaml", *(["--job", "j"] if option == "--simulate" else []))
        tap.ok(code == 2 and not out and "bad.yaml:1:1: devises: unknown key" in err and "\nquiesced: " in err,
               f"{option}: a mistake stands where it is", [str(code), out, err])
        code, out, err = ask(folder, option, "none.yaml", *(["--job", "j"] if option == "--simulate" else []))
        tap.ok(code == 3 and not out and err.startswith("quiesced: cannot read none.yaml: No such file or directory\n"),
               f"{option}: a file that is not there", [str(code), out, err])
    for name, count in ("lacking.yaml", "1 of the things that it names is missing"), ("lacking2.yaml", "2 of the things that it names are missing"):
        code, out, err = ask(folder, "--check-config", name)
        tap.ok(code == 2 and not out and "/nowhere/agent" in err and f"quiesced: {name} has no mistakes, but {count}\n" in err,
               f"{name}: {count}", [str(code), out, err])


def simulated(tap, folder):
    put(folder, "job.yaml", JOB)
    code, out, err = ask(folder, "--simulate", "farm.yaml", "--job", "none")
    tap.ok(code == 3 and not out and "cannot read none: " in err, "a job that is not there", [str(code), out, err])
    put(folder, "bad-job.yaml", "quiesce: 1\nbenchmark: []\n")
    code, out, err = ask(folder, "--simulate", "farm.yaml", "--job", "bad-job.yaml")
    tap.ok(code == 2 and "bad-job.yaml" in out + err, "a job with mistakes", [str(code), out, err])
    both = [ask(folder, "--simulate", "one.yaml", "--job", "job.yaml", "--seed", seed, "--json", "--event-log", "log") for seed in ("7", "7", "8")]
    tap.ok(all(b[0] == 0 and b[1].startswith("{") for b in both) and both[0][1] == both[1][1] != both[2][1],
           "the same seed says the same, another one another thing", [str(both)[:2000]])
    with open(os.path.join(folder, "log"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    tap.ok(len(lines) > 3 and all(line.startswith("{") for line in lines), "and the events are in the log", lines[:3])


def refused(tap, folder):
    code, out, err = ask(folder, "--db", "/proc/none/q.db")
    tap.ok(code == 3 and not out and "quiesced: cannot make the folder /proc/none" in err, "a place where no folder can be made", [str(code), out, err])
    code, out, err = ask(folder, "--db", "q.db", "--socket", "s" * 108)
    tap.ok(code == 2 and not out and "a socket's path has 1 to 107 bytes" in err, "a socket whose path is too long", [str(code), out, err])
    code, out, err = ask(folder, "--db", "q.db", "--reading")
    tap.ok(code == 2 and not out and "quiesced: --reading ends with standard input: " in err, "--reading without an end", [str(code), out, err])
    code, out, err = ask(folder, "--db", "q.db", "--socket", "fd:9")
    tap.ok(code == 2 and not out and "fd:9 is not a descriptor of a listening socket" in err, "a socket that was not inherited", [str(code), out, err])
    put(folder, "plain", "")
    code, out, err = ask(folder, "--db", "q.db", "--socket", folder + "/plain")
    tap.ok(code != 0 and not out and "DIR/plain exists and is not a socket: it is left alone" in err and os.path.exists(folder + "/plain"),
           "what is no socket stays", [str(code), out, err])
    put(folder, "plain", "no database")
    code, out, err = ask(folder, "--db", "plain", "--embedded")
    tap.ok(code != 0 and not out and err.count("quiesced: ") == 1, "what is no database is none", [str(code), out, err])


def reads_until_its_input_ends(tap, folder):
    """Over a socket that has no file, as the command line starts it; it makes nothing."""
    ours, theirs = socket.socketpair()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("")
    listener.listen(1)
    os.set_inheritable(listener.fileno(), True)
    before = sorted(os.listdir(folder))
    with subprocess.Popen([QUIESCED, "--reading", "--db", folder + "/none.db", "--socket", f"fd:{listener.fileno()}"], stdin=theirs,
                          stderr=subprocess.PIPE, text=True, close_fds=False, cwd=folder) as daemon:
        theirs.close()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(listener.getsockname())
            client.sendall(b"GET /api/v1/version HTTP/1.1\r\nHost: q\r\nConnection: close\r\n\r\n")
            got = b""
            while piece := client.recv(65536):
                got += piece
        ours.close()
        code, err = daemon.wait(120), daemon.stderr.read()
    listener.close()
    tap.ok(b" 200 OK" in got and b'"embedded":false' in got, "--reading answers", [got.decode()])
    tap.equal((code, err), (0, ""), "and ends with its input, in silence")
    tap.equal(sorted(os.listdir(folder)), before, "and has made nothing")


def main():
    tap = Tap()
    for cases in told, checked, simulated, refused, reads_until_its_input_ends:
        with tempfile.TemporaryDirectory(prefix="qs-main-") as folder:
            if cases is simulated:
                put(folder, "farm.yaml", FARM)
                put(folder, "one.yaml", "devices: {one: {link: sim}}\n")
            cases(tap, folder)
    return tap.done()


sys.exit(main())
