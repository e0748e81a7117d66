"""A quiesced of one's own in a folder of one's own, for benchmarks and studies."""
import contextlib
import json
import os
import platform
import signal
import sqlite3
import subprocess
import sys
import time

from tied import tied


class OwnDaemon:
    """`env` finds it, `db` is its database; `pid` is its process."""

    def __init__(self, quiesced, quiesce, folder, options):
        self.quiesce, self.folder = os.path.abspath(quiesce), os.path.abspath(folder)
        self.socket, self.db = os.path.join(self.folder, "api.sock"), os.path.join(self.folder, "own.db")
        self.env = dict(os.environ, QUIESCE_SOCKET=self.socket, XDG_STATE_HOME=self.folder, XDG_RUNTIME_DIR=self.folder)
        self.log = os.path.join(self.folder, "quiesced.log")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(tied([os.path.abspath(quiesced), "--socket", self.socket, "--db", self.db, *options]),
                                            env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(200):
            if os.path.exists(self.socket) or self.process.poll() is not None:
                break
            time.sleep(0.05)
        if self.process.poll() is not None:
            sys.exit(f"quiesced ended at once, see {self.log}")

    def file(self, name, document):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(document, f)
        return path

    def said(self, *argv):
        """What a command of `quiesce` prints; its failure ends the program."""
        done = subprocess.run([self.quiesce, *argv], env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"quiesce {argv[0]} ended with {done.returncode}: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def submit(self, job, *options):
        """The document of a job: of its end with --wait."""
        return json.loads(self.said("submit", "--json", *options, self.file("job.json", job)))

    def rows(self, statement, *values):
        with contextlib.closing(sqlite3.connect(f"file:{self.db}?mode=ro", uri=True, timeout=20)) as db:
            return db.execute(statement, values).fetchall()


@contextlib.contextmanager
def own_daemon(quiesced, quiesce, folder, *options):
    daemon = OwnDaemon(quiesced, quiesce, folder, options)
    try:
        yield daemon
    finally:
        daemon.process.send_signal(signal.SIGTERM)
        daemon.process.wait(60)


def machine():
    model = "unknown processor"
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as f:
        model = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), model)
    return f"{os.cpu_count()} x {model}, Linux {platform.release()}"
