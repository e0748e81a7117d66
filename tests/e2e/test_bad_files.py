#!/usr/bin/env python3
"""Mistakes in job and farm files: each is located, quoted and explained, with a suggestion where there is one, and nothing of
a mistaken job is ever stored."""
import hashlib
import json
import os
import re
import subprocess

from lib import QUIESCED, Bed, run_cases

GOOD = """quiesce: 1
name: good
benchmarks:
  - name: nap
    argv: [sleep, "0"]
plan:
  blocks: 1
  window: {iterations: 1}
"""
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [" + ", ".join(f"*{a}" for _ in range(9)) + "]\n" for a, b in zip("abcdefgh", "bcdefghi"))

# title, text, the line of the mistake, the path, words of what is said (any place of the problem), in that order
BAD_JOBS = [
    ("an unknown key", GOOD.replace("blocks: 1", "blokcs: 1"), 7, "plan.blokcs", ["blokcs", "blocks"]),
    ("a wrong type", GOOD.replace("blocks: 1", "blocks: [a]"), 7, "plan.blocks", ["[a]"]),
    ("out of range", GOOD.replace("iterations: 1", "iterations: 5000"), 8, "plan.window.iterations", ["4096", "5000"]),
    ("a missing unit", GOOD.replace("window: {iterations: 1}", "window: {target: 50}"), 8, "plan.window.target", ["50", "unit"]),
    ("minutes and seconds", GOOD.replace("window: {iterations: 1}", "window: {max: 1:30}"), 8, "plan.window.max", ["1:30"]),
    ("a duplicate key", GOOD + "name: twice\n", 9, "", ["name", "line 2"]),
    ("an empty matrix", GOOD.replace('argv: [sleep, "0"]', 'argv: [sleep, "{n}"]\n    params: {n: []}'), 6, "params", ["n"]),
    ("a matrix that excludes everything", GOOD.replace('argv: [sleep, "0"]', 'argv: [sleep, "{n}"]\n    params: {n: [1]}\n    '
                                                       'exclude: [{n: 1}]'), None, "", []),
    ("an unknown parameter", GOOD.replace('"0"', '"{n}"'), 5, "benchmarks[0].argv", ["n"]),
    ("no benchmark at all", "quiesce: 1\nbenchmarks: []\n", 2, "benchmarks", []),
    ("another version", GOOD.replace("quiesce: 1", "quiesce: 2"), 1, "quiesce", ["2"]),
    ("no device that fits", GOOD + "devices: {where: 'name == \"phone\"'}\n", 9, "devices.where", ["phone", "local"]),
    ("a selector that is none", GOOD + "devices: {where: 'name ='}\n", 9, "devices.where", ["name ="]),
    ("an alias bomb", GOOD + BOMB, None, "", ["alias"]),
    ("broken YAML", GOOD + "plan: [\n", None, "", []),
    ("no text", "", None, "", []),
    ("bytes that are no text", "quiesce: 1\nname: \x00\n", None, "", []),
    ("a tag", GOOD.replace("name: good", "name: !!python/object good"), 2, "", ["tag"]),
    ("a merge key", GOOD.replace("  window: {iterations: 1}", "  <<: {blocks: 2}"), 8, "", ["<<"]),
    ("broken JSON", '{"quiesce": 1,\n "benchmarks": [}', 2, "", []),
    ("an unknown sensor", GOOD + "conditions: {gate: [{sensor: cpu.busy, below: 10%}]}\n", 9, "conditions.gate[0].sensor",
     ["cpu.busy"]),
    ("an arm that changes nothing", GOOD + "arms: {a: {}, b: {env: {X: y}}}\n", 9, "arms.a", ["a"]),
    ("a baseline that is no arm", GOOD + "arms: {a: {env: {X: x}}, b: {env: {X: y}}}\ncompare: {baseline: c}\n", 10,
     "compare.baseline", ["c"]),
]


def complaint(answer):
    """All the words of a refusal, or None where it is not one."""
    if answer.status != 400:
        return None
    return answer.json["error"]


def check(tap, title, error, line, path, words):
    tap.ok(error is not None, f"{title}: refused")
    if error is None:
        return
    problems = error.get("problems") or []
    tap.ok(problems and error["blame"] == "operator" and error["advice"], f"{title}: listed, with advice", [error])
    first = next((p for p in problems if path in (p["path"] or "")), problems[0] if problems else {})
    said = " ".join(str(first.get(key) or "") for key in ("what", "suggestion", "quote"))
    if line:
        tap.ok((first.get("line"), path in (first.get("path") or "")) == (line, True) and first.get("column", 0) > 0,
               f"{title}: located at line {line}, {path}", [problems])
        tap.ok(bool(first.get("quote")), f"{title}: quoted", [first])
    missing = [word for word in words if word not in said]
    tap.equal(missing, [], f"{title}: what was found and what was meant are named")


def jobs(tap):
    """Each mistake of a job file is located, quoted and explained, by validate and by submit, and leaves nothing behind"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        daemon.ask("POST", "/jobs:validate?name=good.yaml", GOOD, {"Content-Type": "application/yaml"}).want(200)
        for title, text, line, path, words in BAD_JOBS:
            answer = daemon.ask("POST", "/jobs:validate?name=bad.yaml", text.encode(), {"Content-Type": "application/yaml"})
            check(tap, title, complaint(answer), line, path, words)
            refused = daemon.submit(text)
            tap.equal(refused.status, 400, f"{title}: not taken when it is submitted")
        tap.equal(bed.sql("SELECT (SELECT count(*) FROM job), (SELECT count(*) FROM arm), (SELECT count(*) FROM point), "
                          "(SELECT count(*) FROM build)"), [(0, 0, 0, 0)], "nothing is half submitted")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def narrow(tap):
    """On a narrow terminal the hints wrap below themselves; the place and the quoted line stay as editors look for them"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        path = bed.file("bad.yaml", GOOD + "stoprule: 3\n")
        wide, thin = (bed.cli("submit", "--check", path, env={"COLUMNS": str(columns)}) for columns in (300, 40))
        tap.equal((wide.returncode, thin.returncode), (2, 2), "both are refused")
        lines = thin.stderr.splitlines()
        hint = [line for line in wide.stderr.splitlines() if line.startswith("        the keys here are: ")]
        tap.equal(len(hint), 1, "wide, the hint is one line")
        tap.ok(any(line.startswith(f"{path}:") and line.endswith("stoprule: unknown key") for line in lines), "the place is one line", lines)
        tap.ok("| stoprule: 3" in thin.stderr, "the line is quoted", lines)
        wrapped = [line for line in lines if re.match(" {8}[^ ]", line)]
        tap.ok(len(wrapped) > 1 and max(map(len, wrapped)) <= 40, "narrow, the hint takes several lines of 40 columns", wrapped)
        tap.equal(" ".join(line.strip() for line in wrapped), hint[0].strip() if hint else None, "with the same words")


def files(tap):
    """A job whose files were not sent, or are not what their hash says, is refused; complete, it runs them"""
    text = GOOD.replace('argv: [sleep, "0"]', 'argv: [./tool]') + \
        "arms: {one: {build: {label: v1, files: {tool: build/tool}}}}\n"
    content = b"#!/bin/sh\nexit 0\n"
    sha = hashlib.sha256(content).hexdigest()
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        wanted = daemon.ask("POST", "/jobs:validate", text.encode(), {"Content-Type": "application/yaml"}).want(200).json["files"]
        tap.equal([f["path"] for f in wanted], ["build/tool"], "validate says which local files are needed")
        for title, sent, word in (("no hash", {}, "build/tool"), ("no content", {"build/tool": sha}, "upload")):
            error = complaint(daemon.submit(text, files=sent))
            tap.ok(error is not None and word in json.dumps(error), f"{title}: refused, and it says what to do", [error])
        tap.equal(daemon.ask("PUT", f"/files/{sha}", b"something else").status, 409, "content that is not its hash is refused")
        tap.equal(daemon.ask("HEAD", f"/files/{sha}").status, 404, "and not kept")
        tap.equal(daemon.ask("PUT", f"/files/{sha}", content).status, 201, "the right content is kept")
        tap.equal(daemon.ask("PUT", f"/files/{sha}", content).status, 200, "once")
        tap.equal(bed.one("SELECT count(*) FROM job"), 0, "nothing is half submitted")
        job = daemon.job(text, files={"build/tool": sha})
        tap.equal(daemon.ended(job)["state"], "done", "complete, the job runs the file")
        changed = daemon.ask("PUT", f"/files/{hashlib.sha256(content + b'#').hexdigest()}", content + b"#")
        tap.equal(changed.status, 201, "another content")
        again = daemon.submit(text, files={"build/tool": hashlib.sha256(content + b"#").hexdigest()})
        tap.ok(again.status in (400, 409) and "v1" in again.text, "one label never has two contents", [again.status, again.text])


BAD_FARMS = [
    ("an unknown key", "devices:\n  one: {link: exec, argv: [a], lable: {}}\n", 2, ["lable", "labels"]),
    ("a wrong link", "devices:\n  one: {link: infrared}\n", 2, ["infrared", "exec"]),
    ("a missing address", "devices:\n  one: {link: unix}\n", 2, ["address"]),
    ("an address that is a name", "devices:\n  one: {link: tcp, address: 'board:7', key_file: k}\n", 2, ["board:7", "numeric address"]),
    ("a speed that no line has", "devices:\n  one: {link: serial, address: '/dev/ttyUSB0,12345'}\n", 2, ["devices.one.address", "`12345`", "9600, 19200", "921600"]),
    ("a missing unit", "heartbeat: 5\ndevices: {one: {link: sim}}\n", 1, ["heartbeat", "unit"]),
    ("out of range", "heartbeat: 1h\ndevices: {one: {link: sim}}\n", 1, ["heartbeat", "1min"]),
    ("a duplicate device", "devices:\n  one: {link: sim}\n  one: {link: sim}\n", 3, ["one"]),
    ("no device", "devices: {}\n", 1, ["devices"]),
    ("an alias bomb", BOMB, None, ["alias"]),
]


def farms(tap):
    """Each mistake of a farm file is located, quoted and explained by --check-config, and quiesced does not start with it"""
    with Bed() as bed:
        def check_config(*argv):
            return subprocess.run([QUIESCED, *argv], capture_output=True, text=True, env=bed.env, timeout=60, check=False)

        good = check_config("--check-config", bed.file("good.yaml", "devices: {one: {link: sim}}\n"))
        tap.equal((good.returncode, "ok, 1 device" in good.stdout), (0, True), "a good one is called good")
        for title, text, line, words in BAD_FARMS:
            path = bed.file("bad.yaml", text)
            for argv in (["--check-config", path], ["--config", path]):
                told = check_config(*argv)
                tap.equal((told.returncode, told.stdout), (2, ""), f"{title}: {argv[0]} ends with 2")
                place = f"bad.yaml:{line}:" if line else "bad.yaml"
                missing = [word for word in [place, *words] if word not in told.stderr]
                tap.equal(missing, [], f"{title}: {argv[0]} says where and what")
            if line:
                tap.ok(text.splitlines()[line - 1].strip() in told.stderr, f"{title}: the line is quoted", told.stderr.splitlines())
        path = bed.file("good.yaml", "devices: {one: {link: sim}}\n")
        os.mkdir(os.path.join(bed.path, "profiles"))
        bad = bed.file("profiles/board.yaml", "profile: board\nextends: genric\n")
        for argv in (["--check-config", path], ["--config", path]):
            told = check_config(*argv)
            tap.equal((told.returncode, told.stdout), (2, ""), f"a bad profile of its own: {argv[0]} ends with 2")
            missing = [word for word in (f"{bad}:2:10: extends: ", "extends: genric", "generic", "1 mistake in the profiles of ") if word not in told.stderr]
            tap.equal(missing, [], f"a bad profile of its own: {argv[0]} says where and what")
        os.unlink(bad)
        loose = bed.file("loose.key", "x" * 32)
        os.chmod(loose, 0o644)
        lacking = bed.file("lacking.yaml", f"""devices:
  gone: {{link: exec, argv: [no-such-agent, --stdio]}}
  here: {{link: exec, argv: [sh, -c, exit]}}
  board: {{link: exec, argv: [{bed.path}/agent, --stdio]}}
  far: {{link: tcp, address: "127.0.0.1:7007", key_file: {bed.path}/no.key}}
  open: {{link: tcp, address: "127.0.0.1:7008", key_file: {loose}}}
rules: {{enough: {{command: [/usr/local/lib/no-such-rule]}}}}
metrics: {{power: {{command: [cat], unit: mW}}}}
""")
        told = check_config("--check-config", lacking)
        tap.equal((told.returncode, told.stdout), (2, ""), "programs and keys that are not there are no good farm")
        tap.equal(told.stderr.splitlines(), [
            "devices.gone.argv: there is no program no-such-agent in PATH",
            f"devices.board.argv: there is no program {bed.path}/agent",
            f"devices.far.key_file: {bed.path}/no.key: No such file or directory",
            f"  make one: quiesce devices enroll far --output {bed.path}/no.key",
            f"devices.open.key_file: others may read {loose} (mode 0644)", f"  chmod 600 {loose}",
            "rules.enough.command: there is no program /usr/local/lib/no-such-rule",
            f"quiesced: {lacking} has no mistakes, but 5 of the things that it names are missing",
            "  install or create them, or correct the file"], "each is named")
        missing = check_config("--check-config", f"{bed.path}/missing.yaml")
        tap.ok(missing.returncode in (2, 3) and "missing.yaml" in missing.stderr, "a missing file is named", [missing.stderr])
        tap.ok(not os.path.exists(bed.db), "no database was made")
        for argv, word in ((["--confg", "x"], "--config"), (["--log-level", "loud"], "debug"), (["--config"], "value")):
            told = check_config(*argv)
            tap.ok(told.returncode == 2 and word in told.stderr, f"{argv[0]}: usage is explained", [told.returncode, told.stderr])


run_cases(jobs, narrow, files, farms)
