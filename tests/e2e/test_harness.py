#!/usr/bin/env python3
"""Mode harness from the job file to the database: one program for each run, its metrics and its layout; and in a window no
system call but the agent's one poll, counted by a tracer that finds one where there is one."""
import json
import os

from lib import AGENT, Bed, program, run_cases, whole


def pilots(bed, job, target_ns=2000000):
    """{point: iterations that fill the target, by the last uncounted iteration of the slowest arm}"""
    last = bed.sql("SELECT point_idx, max(ns) FROM (SELECT r.point_idx, r.arm_idx, i.duration_ns AS ns, max(i.seq) FROM v_iteration i "
                   "JOIN run r ON lower(hex(r.uid)) = i.run WHERE i.job = ? AND i.block = 0 GROUP BY 1, 2) GROUP BY 1", job)
    return {point: -(-target_ns // ns) for point, ns in last}


def text(**more):
    params = {"work_ns": [20000, 30000], **more.pop("params", {})}
    return {
        "quiesce": 1, "name": "spinning",
        "benchmarks": [{"name": "spin", "mode": "harness", "argv": [program("bench")], "params": params, "evals": 1,
                        **more.pop("benchmark", {})}],
        "arms": more.pop("arms", {"one": {"env": {"ARM": "one"}}, "two": {"env": {"ARM": "two"}}}),
        "plan": {"seed": 5, "blocks": 2, "window": {"target": "2ms"}, "until": {"interval": 0}, **more.pop("plan", {})},
        "conditions": {"gate": "none", "bounds": "none"},
    }


def programs(bed, job):
    return [(block, pos, point, json.loads(harness)) for block, pos, point, harness in
            bed.sql("SELECT block, pos, point_idx, harness FROM run WHERE job_id = ? ORDER BY point_idx, block, pos", job)]


def delays(bed):
    return [row[0] for row in bed.sql("SELECT change FROM v_evidence WHERE kind = 'window.start_delay_ns' ORDER BY change")]


def one_program_for_each_run(tap):
    """A job of mode harness: windows, metrics and layouts are stored, and the same seed gives the same layouts"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        jobs = [daemon.job(text()), daemon.job(text()),
                daemon.job(text(benchmark={"layout": "fixed", "benchmark": "spin"}))]
        shown = [daemon.ended(job) for job in jobs]
        tap.equal([j["state"] for j in shown], ["done"] * 3, "all end well")
        tap.equal([p for job in jobs for p in whole(bed, job)], [], "the database holds together")
        runs = programs(bed, jobs[0])
        tap.equal(len(runs), 2 * 3 * 2, "a pilot and two blocks of two arms, at two points")
        tap.equal({p["ended"] for _, _, _, p in runs} | {p["torn_down"] for _, _, _, p in runs}, {"exited", True},
                  "every program tore down and ended when it was told to")
        moved = [(p["environment_bytes"], p["stack_bytes"], p["heap_bytes"]) for _, _, _, p in runs]
        tap.equal(len(set(moved)), len(moved), "each run has a layout of its own")
        tap.equal(runs, programs(bed, jobs[1]), "the same seed draws the same layouts again")
        tap.equal({(p["layout"], p["environment_bytes"], p["stack_bytes"], p["heap_bytes"])
                   for _, _, _, p in programs(bed, jobs[2])}, {("fixed", 0, 0, 0)}, "a fixed layout moves nothing")
        pids = bed.one("SELECT count(DISTINCT run_id) FROM window")
        tap.equal(pids, bed.one("SELECT count(*) FROM run"), "each run has its windows")
        sizes = dict(bed.sql("SELECT r.point_idx, max(w.n) FROM run r JOIN window w ON w.run_id = r.id WHERE w.phase = 1 "
                             "AND r.job_id = ? GROUP BY 1", jobs[0]))
        tap.equal(sizes, pilots(bed, jobs[0]), "n fills 2 ms by the slowest arm's pilot")
        tap.equal(bed.sql("SELECT name, unit, lower_is_better FROM metric WHERE id > 9"), [("calls", "system calls", 1)],
                  "the program's metric is known with its unit and direction")
        tap.equal(bed.one("SELECT count(*) FROM iteration"), bed.one("SELECT count(*) FROM iteration_metric"),
                  "and each iteration has its value")
        tap.equal(bed.one("SELECT count(*) FROM v_iteration v JOIN job_point p ON p.job_id = v.job AND p.label = v.point "
                          "WHERE v.duration_ns < CASE p.idx WHEN 0 THEN 20000 ELSE 30000 END"), 0,
                  "no iteration is shorter than what its parameter asks for")
        tap.equal(bed.one("SELECT count(DISTINCT run_id) FROM window WHERE evals <> 1"), 0, "each is evaluated once")
        late = delays(bed)
        tap.equal(len(late), bed.one("SELECT count(*) FROM window"), "each window says how late it began")
        tap.ok(late[0] >= 200000, "and none began before its start")
        tap.say([f"from the deciding reading to the first iteration: median {late[len(late) // 2] / 1e3:.0f} us, "
                 f"longest {late[-1] / 1e3:.0f} us, {sum(d <= 1e6 for d in late)} of {len(late)} within 1 ms"])
        run = daemon.get(f"/jobs/{jobs[0]}/runs?limit=1").want(200).json["runs"][0]
        tap.equal(run["harness"]["layout"], "random", "the API shows the program's record")
        page = daemon.get(f"/runs/{run['uid']}/iterations?limit=1").want(200).json
        tap.equal((page["metrics"], page["iterations"][0]["calls"]), (["calls"], 0), "and the metric of each iteration")
        compared = daemon.get(f"/jobs/{jobs[0]}/compare").want(200).json
        tap.equal(len(compared["results"]), 2, "the report compares both points")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


def traced(bed, calls):
    """A short job whose agent and programs run under the tracer: {run: pid}, windows, and what was entered when."""
    log = f"{bed.path}/calls-{calls}"
    # The leak checker cannot work under ptrace.
    argv = ["/usr/bin/env", "ASAN_OPTIONS=detect_leaks=0", program("watch"), log, AGENT, "--stdio"]
    daemon = bed.daemon({"devices": {"local": {"link": "exec", "argv": argv}}})
    daemon.device_ready()
    job = daemon.job(text(params={"calls": calls, "work_ns": 200000}, plan={"blocks": 2, "window": {"iterations": 20}}))
    state = daemon.ended(job)["state"]
    daemon.stop()
    windows = bed.sql("SELECT w.opened_ns, w.opened_ns + min(t.start_off_ns), w.opened_ns + max(t.start_off_ns + t.duration_ns)"
                      " FROM window w JOIN run r ON r.id = w.run_id JOIN iteration t ON t.window_id = w.id"
                      " WHERE r.job_id = ? GROUP BY w.id ORDER BY w.id", job)
    with open(log, encoding="ascii") as f:
        entered = [tuple(map(int, line.split())) for line in f]
    return state, windows, entered


def counts(windows, entered, names):
    """Of each window: what the agent entered from its opening to its last iteration's end, what others did in iterations."""
    supervisor = entered[0][0]
    agent = next(pid for pid, _, _ in entered if pid != supervisor)
    own = [[names.get(n, n) for pid, at, n in entered if pid == agent and opened <= at <= end]
           for opened, _, end in windows]
    others = [[names.get(n, n) for pid, at, n in entered if pid != agent and first <= at <= end]  # the supervisor's as well
              for _, first, end in windows]
    return own, others


def a_window_makes_no_system_call(tap):
    """Between its first iteration's start and its last one's end a program enters no system call, the agent none but its poll"""
    numbers = {"x86_64": {202: "futex", 271: "ppoll", 228: "clock_gettime", 110: "getppid"},
               "aarch64": {98: "futex", 73: "ppoll", 113: "clock_gettime", 173: "getppid"}}
    names = numbers.get(os.uname().machine)
    if names is None:
        tap.skip("no system call in a window", f"the numbers of the system calls of {os.uname().machine} are not known here")
        return
    with Bed() as bed:
        state, windows, entered = traced(bed, 0)
        tap.equal(state, "done", "the job ends well under the tracer")
        tap.ok(len(windows) >= 6, f"{len(windows)} windows were traced, {len(entered)} calls in all")
        own, others = counts(windows, entered, names)
        clock = {"clock_gettime"}  # without a vDSO it is one
        tap.equal([w for w in others if set(w) - clock], [], "no program enters one")
        own = [[c for c in w if c not in clock] for w in own]
        tap.equal([w for w in own if w not in (["futex", "ppoll"], ["futex"])], [], "the agent wakes the program and enters its one poll")
        tap.ok(["futex", "ppoll"] in own, "which a busy machine may put off beyond the window", own)
    with Bed() as bed:
        state, windows, entered = traced(bed, 3)
        tap.equal(state, "done", "a program with calls ends well as well")
        _, others = counts(windows, entered, names)
        tap.ok(others and all(w.count("getppid") >= 3 for w in others), "and there the same count finds them")


def one_processor_is_enough(tap):
    """Restricted to one processor it works, and the record says what is no longer promised"""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        with Bed() as bed:
            daemon = bed.daemon()
            daemon.device_ready()
            job = daemon.job(text())
            tap.equal(daemon.ended(job)["state"], "done", "the job ends well")
            tap.equal({p["shared_cpu"] for _, _, _, p in programs(bed, job)}, {True}, "each run says that it shared its processor")
            warned = bed.sql("SELECT body FROM event WHERE job_id = ? AND kind = 'job.warning'", job)
            tap.equal(["share a processor" in body for (body,) in warned], [True], "and the job said so once")
            daemon.stop()
    finally:
        os.sched_setaffinity(0, allowed)


def a_program_that_is_none(tap):
    """A program that is no benchmark, or not this one, fails its job with words for a person"""
    with Bed() as bed:
        daemon = bed.daemon()
        daemon.device_ready()
        for benchmark, said in (({"argv": ["/bin/true"]}, "does it include quiesce/bench.h?"),
                                ({"benchmark": "spni"}, "did you mean spin?"),
                                ({"argv": [program("bench")], "params": {"wrok_ns": 1}}, "did you mean parameter work_ns?")):
            shown = daemon.ended(daemon.job(text(benchmark=benchmark)))
            tap.equal(shown["state"], "failed", "the job fails")
            tap.ok(said in (shown["reason"] or ""), f"and says why: {shown['reason']}")
        tap.equal(daemon.stop(), 0, "quiesced ends well")


run_cases(one_program_for_each_run, a_window_makes_no_system_call, one_processor_is_enough, a_program_that_is_none)
