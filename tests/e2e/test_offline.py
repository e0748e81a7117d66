#!/usr/bin/env python3
"""Results of other tools: no daemon and no configuration; the numbers are R's, the document is the schema's, and every
statistic of the schema appears in it."""
import json
import math
import os
import pty
import signal
import subprocess
import sys
import time

from lib import QUIESCE, Bed, Failed, UnixConnection, run_cases, until

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
DATA = os.path.join(ROOT, "tests", "data")
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def data(*path):
    return os.path.join(DATA, *path)


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


SCHEMA = load(os.path.join(ROOT, "schema", "analysis.schema.json"))
SCHEMA["$defs"].update(load(os.path.join(ROOT, "schema", "statistics.schema.json"))["$defs"])
VERDICT = load(os.path.join(ROOT, "schema", "verdict.schema.json"))


def is_type(value, name):
    if name in ("number", "integer"):
        return isinstance(value, int if name == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


class Checker:
    """As much of JSON Schema as the schema uses; remembers which fields of which definition were seen, and with a value."""

    def __init__(self):
        self.seen, self.filled = set(), set()

    def check(self, value, schema, path="", name=""):
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[-1]
            return self.check(value, VERDICT if name == "verdict.schema.json" else SCHEMA["$defs"][name], path, name)
        if "oneOf" in schema:
            kinds = [s for s in schema["oneOf"] if s["$ref"].endswith("/" + str(value.get("kind")))]
            return self.check(value, kinds[0], path) if kinds else [f"{path}: of no kind"]
        types = schema.get("type", [])
        if not any(is_type(value, t) for t in ([types] if isinstance(types, str) else types)):
            return [f"{path}: {value!r} is no {types}"]
        if "enum" in schema and value not in schema["enum"]:
            return [f"{path}: {value!r} is none of {schema['enum']}"]
        if isinstance(value, list):
            return [w for i, v in enumerate(value) for w in self.check(v, schema["items"], f"{path}[{i}]", name)]
        return self.check_object(value, schema, path, name) if isinstance(value, dict) else []

    def check_object(self, value, schema, path, name):
        wrong = [f"{path}.{k} is missing" for k in schema.get("required", []) if k not in value]
        for key, v in value.items():
            if key not in schema["properties"]:
                wrong.append(f"{path}.{key} is not in the schema")
                continue
            self.seen.add((name, key))
            if v is not None and (v != [] or key == "flags"):
                self.filled.add((name, key))
            wrong += self.check(v, schema["properties"][key], f"{path}.{key}", name)
        return wrong

    def never(self):
        """Fields that no document had a value for."""
        return sorted(f"{name}.{key}" for name, d in SCHEMA["$defs"].items() for key in d.get("properties", {})
                      if (name, key) not in self.filled)


def call(tap, bed, *argv, code=0):
    told = bed.cli(*argv)
    tap.ok(told.returncode == code, f"quiesce {argv[0]} ends with {code}", [told.returncode, *told.stderr.splitlines()])
    return told


def document(bed, *argv):
    told = bed.cli(*argv, "--json")
    if told.returncode not in (0, 5):
        raise Failed(f"{argv}: {told.returncode}: {told.stderr}{told.stdout}")
    return json.loads(told.stdout)


def near(tap, got, want, what, rel=1e-12, least=0.0):
    good = got is None and want is None or (got is not None and want is not None and
                                            math.isclose(got, want, rel_tol=rel, abs_tol=least))
    if not good:
        tap.ok(False, what, [f"got  {got!r}", f"want {want!r}"])
    return good


def numbers(bed, name, values):
    return bed.file(name, "".join(f"{v!r}\n" for v in values))


def whole_schema(tap):
    """Every document is what the schema says, and every field of the schema gets a value in one of them"""
    with Bed() as bed:
        checker = Checker()
        wide = "run,iteration,value,unit\n" + "".join(
            f"{r},{i},{100 + 7 * (r % 3) + (i * 37 + r * 11) % 13},ns\n" for r in range(8) for i in range(12)) + "8,0,,ns\n"
        slow = wide.replace(",1", ",2")
        steps = "date,value\n" + "".join(f"d{i},{100 + (i * 7919) % 5 + (20 if i >= 60 else 0)}\n" for i in range(120))
        files = [bed.file("a.csv", wide), bed.file("b.csv", slow)]
        documents = [document(bed, "analyze", *files, data("pyperf", "telco.json"), data("gbench", "test3_run0.json"),
                              data("gobench", "benchstat_old.txt"), "--resolution", "0.5"),
                     document(bed, "analyze", data("measure_sh", "startup-benchmark__12-02-2024-msr-disabled.json"),
                              numbers(bed, "tiny.txt", [1.0]), numbers(bed, "same.txt", [2.0] * 9),
                              numbers(bed, "sign.txt", [-1.5, 0.0, 3.0, 1e300, float("nan")])),
                     document(bed, "compare", *files), document(bed, "compare", *files, "--per", "iteration"),
                     document(bed, "compare", data("gobench", "benchstat_old.txt"), files[0]),
                     document(bed, "compare", "--rule", "all", "--markdown", *files),
                     document(bed, "history", bed.file("steps.csv", steps), data("otava", "tigerbeetle.csv"))]
        for d in documents:
            tap.equal(checker.check(d, SCHEMA)[:10], [], f"the {d['kind']} of {len(d['files'])} files fits the schema")
        tap.equal(checker.never(), [], "no field of the schema is always empty")


UNIVARIATE = {"describe": {"mean": "mean", "sd": "sd", "variance": "var", "min": "min", "max": "max", "median": "median",
                           "mad_raw": "mad_raw", "iqr": "iqr", "geometric_mean": "geomean", "geometric_sd": "geosd",
                           "gini": "gini", "trimmed_mean_05": "trim05", "trimmed_mean_10": "trim10"}}
PROBABILITIES = ("p01", "p05", "p10", "p25", "p50", "p75", "p90", "p95", "p99")
SETS = {"nist_Lew": ("nist", "Lew.csv"), "nist_Lottery": ("nist", "Lottery.csv"), "nist_Michelso": ("nist", "Michelso.csv"),
        "otava_tigerbeetle": ("otava", "tigerbeetle.csv"), "perfolizer_real1": ("perfolizer", "real1.csv"),
        "perfolizer_manual1": ("perfolizer", "manual1_modality.csv"), "pyperf_telco": ("pyperf", "telco.json"),
        "android_12-02-2024-msr-disabled": ("measure_sh", "startup-benchmark__12-02-2024-msr-disabled.json")}


def reference(tap):
    """The numbers of real files are R's: digits are not lost between the library and the page"""
    known = load(data("reference-r.json"))["univariate"]
    with Bed() as bed:
        for name, path in SETS.items():
            want, result = known[name], document(bed, "analyze", data(*path))["results"][0]
            good = near(tap, result["n"], want["n"], f"{name}: n")
            for group, fields in UNIVARIATE.items():
                for ours, theirs in fields.items():
                    if theirs in want:
                        good &= near(tap, result[group][ours], want[theirs], f"{name}: {group}.{ours}", 1e-10, 1e-10)
            for p, q in zip(PROBABILITIES, want["q7"]):
                good &= near(tap, result["quantiles"][p], q, f"{name}: {p}", 1e-12)
            tap.ok(good, f"{name}: moments and quantiles")


def at(document_part, path):
    for key in path.split("."):
        document_part = document_part[int(key) if isinstance(document_part, list) else key]
    return document_part


SHAPE = {"shapiro_wilk.w": ("shapiro.W", 1e-6), "shapiro_wilk.p": ("shapiro.p", 1e-5), "shapiro_wilk_log.w": ("shapiro_log.W", 1e-6),
         "anderson_darling.a2": ("ad.A", 1e-9), "lilliefors.d": ("lillie.D", 1e-9), "autocorrelation.lag1": ("acf.0", 1e-10),
         "ljung_box.q_lag10": ("ljung10.stat", 1e-9), "ljung_box.p_lag10": ("ljung10.p", 1e-9), "ljung_box.q_lag1": ("ljung1.stat", 1e-9), "futhark.rse": ("rse_futhark_ddof0", 1e-10),
         "mean_ci.lo": ("mean_ci95_t.0", 1e-10), "mean_ci.hi": ("mean_ci95_t.1", 1e-10), "median_ci.lo": ("median_ci95.lo", 1e-10),
         "median_ci.level": ("median_ci95.conf", 1e-10), "tukey_fences.hi": ("tukey.hi", 1e-10)}
TWO = {"welch.t": "welch.t", "welch.df": "welch.df", "welch.p": "welch.p", "welch.lo": "welch.ci.0", "pooled.p": "pooled.p",
       "pooled.hi": "pooled.ci.1", "pooled.sd": "pooled_sd", "log_welch.estimate": "log_welch_ratio.ratio",
       "log_welch.lo": "log_welch_ratio.ci.0", "log_welch.p": "log_welch_ratio.p", "fieller.lo": "fieller.0", "fieller.hi": "fieller.1",
       "mann_whitney.u": "U_y", "mann_whitney.cles": "cles", "effect_size.cliff_delta": "cliff_delta", "effect_size.cohen_d": "cohen_d",
       "effect_size.hedges_g": "hedges_g", "hodges_lehmann.estimate": "hl_shift", "hodges_lehmann_ratio.estimate": "hl_ratio",
       "kolmogorov_smirnov.d": "ks.D", "kolmogorov_smirnov.p": "ks.p_exact", "variance_ratio.p": "var_test_p",
       "point_ratios.minima": "ratio_of_minima", "point_ratios.medians": "ratio_of_medians", "android.z_lo": "seed_ci_z.0",
       "mann_whitney.p_normal": "mwu_asym_cc", "mann_whitney.p_normal_uncorrected": "mwu_asym_nocc",
       "hodges_lehmann.normal_lo": "hl_ci_normal_index.lo", "hodges_lehmann.normal_hi": "hl_ci_normal_index.hi"}
RUNS = {"k": "k", "n0": "n0", "ms_between": "ms_between", "ms_within": "ms_within", "f": "F", "t1": "T1", "t2": "T2", "icc": "icc", "samples_w10": "n_opt_anova_w10"}


def more_references(tap):
    """Shape, dependence, intervals, two samples and variance components are R's, too"""
    known = load(data("reference-r.json"))
    with Bed() as bed:
        for name in ("nist_Lew", "android_12-02-2024-msr-disabled", "pyperf_telco"):
            result, want = document(bed, "analyze", data(*SETS[name]))["results"][0], known["univariate"][name]
            good = [near(tap, at(result, ours), at(want, theirs), f"{name}: {ours}", rel, 1e-12)
                    for ours, (theirs, rel) in SHAPE.items() if want.get(theirs.split(".")[0]) is not None]
            tap.ok(all(good) and len(good) > 8, f"{name}: {len(good)} numbers of shape, dependence and intervals")
        for name, want in known["two_sample"].items():
            if want.get("x") is None:
                continue
            files = numbers(bed, "x.txt", want["x"]), numbers(bed, "y.txt", want["y"])
            result = document(bed, "compare", *files)["results"][0]["per_iteration"]
            good = [near(tap, at(result, ours), at(want, theirs), f"{name}: {ours}", 1e-9, 1e-12) for ours, theirs in TWO.items()
                    if want.get(theirs.split(".")[0]) is not None]
            exact = want["mwu_exact"] is not None
            good.append(near(tap, result["mann_whitney"]["p"], want["mwu_exact" if exact else "mwu_asym_cc"], f"{name}: mwu p", 1e-9))
            tap.ok(all(good) and len(good) > 20, f"{name}: {len(good)} numbers of two samples")
        result = document(bed, "analyze", data("pyperf", "telco.json"))["results"][0]["variance_components"]
        want = known["hierarchical"]["pyperf_telco_40x3"]
        good = [near(tap, result[ours], want[theirs], f"telco: {ours}", 1e-9) for ours, theirs in RUNS.items()]
        tap.ok(all(good), "variance components of 40 processes")
        telco = document(bed, "analyze", data("pyperf", "telco.json"))["results"][0]
        tap.ok(near(tap, telco["reml"]["between"], want["reml"]["between"], "telco: REML between", 1e-4) and
               near(tap, telco["dip"]["dip"], known["univariate"]["pyperf_telco"]["dip"], "telco: dip", 1e-10), "REML and dip")
        boot = known["bootstrap"]["pyperf_telco"]["mean"]
        good = [near(tap, telco["bootstrap_mean"][ours], boot["basic"][i], f"telco: {ours}", 0, boot["mc"])
                for i, ours in enumerate(("basic_lo", "basic_hi"))]
        tap.ok(all(good), "the basic interval")
        tap.ok(telco["median_ci_dependent"]["lo"] <= telco["median_ci"]["lo"] and telco["median_ci_dependent"]["n_eff"] < telco["median_ci"]["n_used"],
               "the median of dependent values has the wider interval")


def changes(tap):
    """Hunter's corrected change points of a real history, and what its options say"""
    known = {tuple(h["params"]): h["corrected"] for h in load(data("reference-second-implementation.json"))["hunter"]}
    with Bed() as bed:
        for window, p_max, least in ((30, 0.001, 0.0), (30, 0.01, 0.05), (30, 0.1, 0.05)):
            result = document(bed, "history", data("otava", "tigerbeetle.csv"), "--window", str(window), "--p-max", str(p_max),
                              "--margin", str(least))["results"][0]
            tap.equal(result["change_points"]["indexes"], known[(window, p_max, least)], f"window {window}, p {p_max}, from {least}")
        told = call(tap, bed, "history", data("otava", "tigerbeetle.csv"))
        tap.ok("7 changes in 365 points" in told.stdout and "from point 16: -11.3 %" in told.stdout, "they come first",
               told.stdout.splitlines())
        tap.ok("What to know about this sample" not in told.stdout and "interval, 365 values" not in told.stdout, "nothing of one process",
               told.stdout.splitlines())
        tap.equal((len(result["values"]), result["values"][15], result["labels"]), (365, 23412, []), "the points are in the document")
        tap.equal(bed.cli("history", data("otava", "tigerbeetle.csv"), "--p-max", "2").returncode, 2, "a p of 2 is refused")


def no_daemon(tap):
    """Nothing is needed: no daemon, no configuration; nothing is stored"""
    with Bed() as bed:
        told = bed.cli("analyze", numbers(bed, "times.txt", [10.0, 11.0, 12.0, 10.5, 11.5, 10.2, 11.1]))
        tap.ok(told.returncode == 0, "it works", told.stderr.splitlines())
        tap.ok("10.00–12.00: median 11.00" in told.stdout, "the interval comes first", told.stdout.splitlines())
        tap.ok(told.stdout.index("median") < told.stdout.index("What to know"), "then what is wrong with the sample")
        told = bed.cli("analyze", numbers(bed, "offsets.txt", [-3.0, -2.0, 1.0, 2.0, 4.0, 5.0]))
        tap.ok("-3.000 to 5.000: median 1.500" in told.stdout, "a dash is no sign", told.stdout.splitlines())
        tap.equal((os.listdir(f"{bed.path}/run"), os.path.exists(bed.db)), ([], False), "no socket and no database was made")


def exit_codes(tap):
    """compare ends with 5 for a regression, 0 for none; what cannot be read is 2"""
    with Bed() as bed:
        def runs(name, shift):
            return bed.file(name, "run,value,unit\n" + "".join(f"{r},{100 + shift + (r * 7) % 3 / 10},ns\n" for r in range(10)))
        a, b = runs("a.csv", 0), runs("b.csv", 10)
        told = call(tap, bed, "compare", a, b, code=5)
        tap.ok("b.csv takes" in told.stdout and "Regression" in told.stdout, "it says so", told.stdout.splitlines())
        call(tap, bed, "compare", b, a)
        tap.ok("Improvement" in call(tap, bed, "compare", b, a).stdout, "the other way round it is an improvement")
        call(tap, bed, "compare", "--better", "higher", "--json", a, b, code=5)
        told = call(tap, bed, "compare", "--rule", "judge", "--rule", "skia", a, b, code=5)
        tap.ok("judge: regression" in told.stdout and "skia: " in told.stdout, "others' rules stand beside the verdict")
        told = call(tap, bed, "compare", "--junit", a, b, code=5)
        tap.ok("<failure type=\"regression\"" in told.stdout, "and a report for a build server")
        up = bed.file("up.csv", "run,value\n" + "".join(f"{r},{100 + r % 3}\n" for r in range(10)))
        down = bed.file("down.csv", "run,value\n" + "".join(f"{r},{80 + r % 3}\n" for r in range(10)))
        call(tap, bed, "compare", "--better", "higher", up, down, code=5)
        call(tap, bed, "compare", up, down)
        def startups(name, ms):
            runs = {"timeToInitialDisplayMs": {"runs": [ms + (r * 7) % 5 for r in range(12)]}}
            return bed.file(name, json.dumps({"benchmarks": [{"name": "startup", "params": {}, "metrics": runs, "sampledMetrics": {}}]}))
        call(tap, bed, "compare", startups("cold-a.json", 300), startups("cold-b.json", 345), code=5)
        old, new = data("gobench", "benchstat_old.txt"), data("gobench", "benchstat_new.txt")
        told = call(tap, bed, "compare", old, new)
        tap.ok("--per iteration" in told.stdout, "one run a side is no verdict, and it says what to do")
        call(tap, bed, "compare", "--per", "iteration", new, old, code=5)
        for argv, word in ((["compare", a], "needs two"), (["compare", a, b, "--csv"], "not for files"),
                           (["compare", a, "missing.csv"], "missing.csv"), (["analyze"], "missing"),
                           (["analyze", a, "--format", "excel"], "excel"), (["history", a, "--level", "200%"], "level")):
            told = bed.cli(*argv)
            tap.ok(told.returncode == 2 and word in told.stderr, f"{argv}: usage is explained", [told.returncode, told.stderr])


def mistakes(tap):
    """A malformed file is located, quoted and explained; as JSON where that was asked for"""
    with Bed() as bed:
        bad = bed.file("bad.csv", "run,value\n1,2\n1,fast\n")
        told = call(tap, bed, "analyze", bad, code=2)
        for word in ("bad.csv:3:3:", "`fast`", "1,fast", "^", "write numbers"):
            tap.ok(word in told.stderr, f"it says {word}", told.stderr.splitlines())
        error = json.loads(call(tap, bed, "analyze", "--json", bad, code=2).stdout)["error"]
        tap.equal((error["code"], error["problems"][0]["line"], error["problems"][0]["column"]), ("data", 3, 3), "as JSON")
        told = call(tap, bed, "compare", bed.file("x.json", '{"benchmarks": [\n {"name": 7}]}'), bad, code=2)
        tap.ok("x.json:1:1" in told.stderr and "JSON of an unknown tool" in told.stderr, "a JSON of nobody", told.stderr.splitlines())
        with open(os.path.join(bed.path, "bytes.txt"), "wb") as f:
            f.write(b"1\n2\xff\n")
        told = call(tap, bed, "analyze", "bytes.txt", code=2)
        tap.ok("bytes.txt:2:2" in told.stderr, "bytes that are no text", told.stderr.splitlines())


def requests(tap):
    """The API refuses what it does not understand, and says so"""
    with Bed() as bed:
        daemon = bed.daemon()
        good = {"name": "a", "text": "1\n2\n3\n"}
        daemon.ask("POST", "/analyze", {"files": [good]}).want(200)
        for body, word in (({}, "files"), ({"files": []}, "1 to 64"), ({"files": [{"name": "a"}]}, "text"),
                           ({"files": [good], "optoins": {}}, "options"), ({"files": [good] * 65}, "64"),
                           ({"files": [{**good, "format": "x"}]}, "hyperfine"),
                           ({"files": [good], "options": {"level": 2}}, "level"),
                           ({"files": [good], "options": {"resamples": 1e9}}, "resamples"),
                           ({"files": [good], "options": {"seed": 7}}, "seed"),
                           ({"files": [good], "options": {"seed": "18446744073709551616"}}, "seed"),
                           ({"files": [good], "options": {"per": "night"}}, "iteration")):
            answer = daemon.ask("POST", "/analyze", body)
            tap.ok(answer.status == 400 and word in answer.text, f"{json.dumps(body)[:60]}: refused", [answer.status, answer.text])
        tap.equal(daemon.ask("POST", "/analyze:compare", {"files": [good]}).status, 400, "a comparison needs two")
        tap.equal(daemon.ask("POST", "/analyze", b"{").status, 400, "no JSON")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def ticks(pid):
    """Processor time of a process so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return sum(int(v) for v in f.read().rpartition(")")[2].split()[11:13])


def leaving(tap):
    """A client that leaves ends what was computed for it: minutes of work are over at once"""
    with Bed() as bed:
        daemon = bed.daemon()
        text = "".join(f"{(i * 7919) % 10007}\n" for i in range(10000))
        body = json.dumps({"files": [{"name": f"f{i}", "text": text} for i in range(64)], "options": {"resamples": 100000}})
        client = UnixConnection(daemon.socket)
        client.request("POST", "/api/v1/analyze", body=body)
        began = ticks(daemon.pid)
        until("it computes", lambda: ticks(daemon.pid) > began + 20)
        client.close()

        def rests():
            before = ticks(daemon.pid)
            time.sleep(1)
            return ticks(daemon.pid) - before < 20
        until("it rests", rests)
        tap.equal(daemon.get("/healthz").status, 200, "and goes on")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def events(stream):
    """(kind, data) of each event of a stream that ends."""
    for block in stream.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if fields:
            yield fields["event"], json.loads(fields["data"])


def followed(tap):
    """Who accepts events hears how much is done, and gets the same document"""
    with Bed() as bed:
        daemon = bed.daemon()

        def ask(text, accept):
            client = UnixConnection(daemon.socket)
            body = json.dumps({"files": [{"name": "x", "text": text}], "options": {"resamples": 20000}})
            client.request("POST", "/api/v1/analyze", body=body, headers={"Accept": accept})
            answer = client.getresponse()
            return answer.getheader("Content-Type"), answer.read()
        text = "\n".join(str(1000 + (i * 7919) % 101) for i in range(3000))
        kind, stream = ask(text, "text/event-stream")
        told = list(events(stream))
        shares = [e["done_ratio"] for name, e in told if name == "progress"]
        tap.equal(kind, "text/event-stream", "a stream")
        tap.ok(shares == sorted(shares) and 0 <= shares[0] and shares[-1] == 1, f"shares rise to 1: {shares}")
        tap.ok(all(e["stage"] for name, e in told if name == "progress"), "each names its stage")
        tap.equal([name for name, e in told if name != "progress"], ["result"], "then the result alone")
        tap.equal(told[-1][1], json.loads(ask(text, "application/json")[1]), "which is the plain answer")
        wrong = list(events(ask("1\nx\n", "text/event-stream")[1]))
        tap.equal([(name, e["status"], e["error"]["code"]) for name, e in wrong], [("error", 400, "data")],
                  "a mistake is the last event")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def interrupted(tap):
    """Ctrl-C at a terminal: 130, a line that says so, and no export"""
    with Bed() as bed:
        daemon = bed.daemon()
        long = os.path.join(bed.path, "long.txt")
        with open(long, "w", encoding="utf-8") as f:
            f.writelines(f"{1000 + (i * 7919) % 100003}\n" for i in range(600000))
        kept = os.path.join(bed.path, "kept.txt")
        with open(kept, "w", encoding="utf-8") as f:
            f.write("before")
        mine, theirs = pty.openpty()
        child = subprocess.Popen([QUIESCE, "compare", long, long, "--json", "--output", kept, "--socket", daemon.socket],
                                 stderr=theirs, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env={**bed.env, "TERM": "xterm"})
        os.close(theirs)
        screen = b""
        while b"Ctrl-C ends it" not in screen:
            screen += os.read(mine, 4096)
        child.send_signal(signal.SIGINT)
        printed = child.communicate(timeout=60)[0]
        screen += os.read(mine, 4096)
        os.close(mine)
        tap.equal(child.returncode, 130, "the exit code of an interrupted program")
        tap.ok("%" in screen.decode() and "ended by Ctrl-C, nothing was written" in screen.decode(), screen.decode()[-200:])
        tap.equal((printed, open(kept, encoding="utf-8").read()), (b"", "before"), "what was there is there")
        tap.equal([name for name in os.listdir(bed.path) if name.startswith("kept.txt.")], [], "and no part of another")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def repeats(tap):
    """Equal seeds give equal documents"""
    with Bed() as bed:
        files = (data("gobench", "benchstat_old.txt"), data("gobench", "benchstat_new.txt"))
        first, again = (bed.cli("compare", "--json", "--seed", "7", *files).stdout for _ in range(2))
        tap.ok(first == again and len(first) > 1000, "byte for byte")


if __name__ == "__main__":
    sys.exit(run_cases(whole_schema, reference, more_references, changes, no_daemon, exit_codes, mistakes, requests, leaving, followed,
                       interrupted, repeats))
