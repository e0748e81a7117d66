"""Killing quiesced with SIGKILL in a named state of its job run, and what must hold afterwards. Each state is held
open by what it waits for (a sleeping hook, a gate's dwell, the database's write lock, an agent that is stopped), so that
the moment does not depend on anybody's speed; the log's last line proves in which state the daemon died."""
import os
import random
import re
import signal
import time

from lib import AGENT, Bed, Failed, WireTap, blocks, children, stored, unlock, until, whole

STATES = ("settle", "before", "setup", "turn", "before_run", "run", "before_window", "gate", "window",
          "evidence", "after_window", "ending", "after_run", "cleanup", "after", "restore", "lost")
ACTIONS = {"before": "before_session", "before_run": "before_run", "before_window": "before_window", "after_window": "after_window",
           "after_run": "after_run", "after": "after_session"}  # the stage that holds such a state open
MOVE = re.compile(r"debug control: job=\d+ device=\S+ .*: (\w+) -> (\w+)")
BLOCKS = 2

JOB = {
    "quiesce": 1, "name": "killed",
    "benchmarks": [{"name": "nap", "argv": ["sleep", "0.03"], "setup": ["sleep", "0.15"], "cleanup": ["sleep", "0.15"]}],
    "arms": {"a": {"env": {"ARM": "a"}}, "b": {"env": {"ARM": "b"}}},
    "plan": {"seed": 7, "blocks": BLOCKS, "window": {"iterations": 3}, "warmup": {"iterations": 1},
             "until": {"interval": 0}},
    # Open at once, but not before it has held for a while.
    "conditions": {"gate": [{"sensor": "cpu.busy_ratio_ppm", "below": "100%", "dwell": "100ms", "timeout": "1min"}],
                   "bounds": "none"},
}


def farm(link):
    return {"heartbeat": "1min", "devices": {"local": link}}


def moves(daemon):
    return [match[2] for match in MOVE.finditer(daemon.text)]


def reach(daemon, state, count=1):
    """Until the job run has entered `state` count times."""
    until(f"the job run is in `{state}` (it went {moves(daemon)})",
          lambda: moves(daemon).count(state) >= count or not daemon.runs(), pause_s=0.002)


class Holder:
    """Keeps the daemon in one state for as long as a test needs."""

    def __init__(self, bed, daemon, agent, draw):
        self.bed, self.daemon, self.agent, self.draw, self.locked = bed, daemon, agent, draw, None

    def _lock_in(self, state, count=1):
        reach(self.daemon, state, count)
        self.locked = self.bed.lock()

    def release(self):
        if self.locked:
            unlock(self.locked)
        self.locked = None
        if self.agent:
            self.agent.kill(signal.SIGCONT)

    def enter(self, state):
        """Returns with the daemon in `state`, of a run drawn by `draw` where it is entered for each."""
        nth = 1 + self.draw.randrange(2 * (BLOCKS + 1))  # two runs in each block, the pilot's included
        if state in ("turn", "run", "gate", "window", "before_run", "before_window", "after_window", "after_run"):
            if state in ("turn", "run"):
                self._lock_in("setup" if nth == 1 else "window", 1 if nth == 1 else nth - 1)
                if nth > 1:
                    # The commit of the window before needs the lock; once it is judged, the next row waits for it.
                    unlock(self.locked)
                    self.locked = None
                    reach(self.daemon, "ending", nth - 1)
                    self.locked = self.bed.lock()
            if state == "run":
                reach(self.daemon, "turn", nth)
                self.agent.kill(signal.SIGSTOP)
                unlock(self.locked)
                self.locked = None
            reach(self.daemon, state, nth)
        elif state == "evidence":
            self._lock_in("window", nth)
            reach(self.daemon, state, nth)
        elif state == "ending":
            self._lock_in("window", nth)
            reach(self.daemon, "evidence", nth)
            self.agent.kill(signal.SIGSTOP)
            unlock(self.locked)
            self.locked = None
            reach(self.daemon, state, nth)
        elif state == "restore":
            self._lock_in("cleanup")
            reach(self.daemon, state)
        elif state == "lost":
            reach(self.daemon, "window", nth)
            self.agent.kill()
            reach(self.daemon, state)
        else:
            reach(self.daemon, state)


def kill_in(bed, daemon, agent, state, draw):
    """True where the daemon died in `state`."""
    holder = Holder(bed, daemon, agent, draw)
    try:
        holder.enter(state)
        time.sleep(draw.random() * 0.03)  # anywhere in it, not always at its beginning
        daemon.kill()
    finally:
        holder.release()
    return moves(daemon)[-1:] == [state]


def judge(bed, job, dead_runs, dead_sessions=()):
    """Problems of a job that was killed once and has ended since; dead: what was open then."""
    problems = whole(bed, job)
    for (point, block), runs in blocks(bed, job).items():
        last = max(attempt for attempt, *_ in runs)
        counted = [(pos, arm, state) for attempt, pos, arm, state, _ in runs if attempt == last]
        if sorted(arm for _, arm, _ in counted) != [0, 1] or {state for *_, state in counted} != {"done"}:
            problems.append(f"block {block} of point {point}: its last attempt is {counted}")
        problems += [f"block {block}, attempt {attempt}: the run at {pos} has taint {taint}, not `interrupted`"
                     for attempt, pos, _, _, taint in runs if attempt < last and not taint & 256]
    if {block for _, block in blocks(bed, job)} != set(range(1, BLOCKS + 1)):
        problems.append(f"blocks {sorted(blocks(bed, job))}")
    problems += [f"run {run}: was open when the daemon died, and is {state} with taint {taint}"
                 for run, state, taint in bed.sql("SELECT lower(hex(uid)), state, taint FROM run")
                 if run in dead_runs and (state != "interrupted" or not taint & 256)]
    ends = dict(bed.sql("SELECT id, end_reason FROM session"))
    return problems + [f"session {s}: was open when the daemon died, and its end is `{ends[s]}`"
                       for s in dead_sessions if ends[s] != "the daemon ended during this session"]


def open_runs(bed):
    return {run for (run,) in bed.sql("SELECT lower(hex(uid)) FROM run WHERE state = 'running'")}


def open_sessions(bed):
    return [session for (session,) in bed.sql("SELECT id FROM session WHERE ended_wall_ns IS NULL")]


def ledger(bed, tap, kept):
    """What the wire says against what the database says: nothing acknowledged is missing, nothing differs, and what the
    agent kept through the daemon's death arrived. kept: it must have kept something."""
    problems = list(tap.faults)
    if kept and not tap.held:
        problems.append("the agent kept nothing")
    for run, first, following in tap.held:
        lacking = [seq for seq in range(first, following) if seq not in stored(bed, run)]
        problems += [f"run {run}: the agent kept {lacking}, which nobody stored"] if lacking else []
    for run, following in tap.acked.items():
        have = stored(bed, run)
        problems += [f"run {run}: seq {seq} was acknowledged and is not stored" for seq in range(following) if seq not in have]
    for run, rows in tap.sent.items():
        have = stored(bed, run)
        problems += [f"run {run} seq {seq}: sent as {ns} ns, stored as {have[seq]} ns"
                     for seq, ns in rows.items() if seq in have and have[seq] != ns]
    return problems


def survive(tap_out, state, link, seed):
    """One job, one kill in `state`, and its end under the next daemon. Cases are reported to tap_out."""
    draw = random.Random(f"{state} {link} {seed}")
    title = f"{state}, {link} agent, seed {seed}"
    for _ in range(5):
        with Bed() as bed:
            done = attempt(bed, draw, state, link)
        if done is None:
            continue
        tap_out.ok(not done, f"killed in {title}: the job goes on, nothing acknowledged is lost or doubled", done)
        return
    tap_out.ok(False, f"killed in {title}", ["the state was not hit in five attempts"])


def attempt(bed, draw, state, link):
    """None where the daemon died elsewhere; else the problems."""
    def committed(run, following):
        have = stored(bed, run)
        missing = [seq for seq in range(following) if seq not in have]
        if missing:
            raise Failed(f"ACK of run {run} below {following} before {missing} were in the database")

    if link == "unix":
        address = os.path.join(bed.path, "agent.sock")
        wire = WireTap(bed, address, committed)
        config = farm({"link": "unix", "address": wire.path})
        agent = bed.agent()
    else:
        config = farm({"link": "exec", "argv": [AGENT, "--stdio"]})
        wire = agent = None
    daemon = bed.daemon(config, "--log-level", "debug")
    daemon.device_ready()
    if state == "settle":
        job, hit, agent = settle(bed, daemon, agent, draw)
    else:
        actions = {"actions": {ACTIONS[state]: [{"sleep": "150ms"}]}} if state in ACTIONS else {}
        job = daemon.job({**JOB, **actions})
        hit = kill_in(bed, daemon, agent, state, draw)
    if not hit:
        return None
    dead_runs, dead_sessions = open_runs(bed), open_sessions(bed)
    if agent and not agent.runs():
        bed.agent()
    daemon = bed.daemon(config, "--log-level", "debug")
    shown = daemon.ended(job)
    problems = [f"the job is {shown['state']}: {shown['reason']}"] if shown["state"] != "done" else []
    problems += judge(bed, job, dead_runs, dead_sessions) + (ledger(bed, wire, state in ("window", "evidence")) if wire else [])
    code = daemon.stop()
    return problems + ([f"quiesced ends with {code}"] if code else [])


def settle(bed, daemon, agent, draw):
    """The session's row is the first thing that a starting job writes: the job waits for a device whose agent is dead, and the lock is
    taken before it has another one. Returns the job, whether the daemon died there, and the agent."""
    if agent:
        agent.kill()
    else:
        os.kill(children(daemon.pid)[0], signal.SIGKILL)
    until("the device is lost", lambda: daemon.get("/devices").json["devices"][0]["state"] not in ("ready", "busy"))
    job = daemon.job(JOB)
    locked = bed.lock()
    try:
        agent = bed.agent() if agent else None
        reach(daemon, "settle")
        time.sleep(draw.random() * 0.03)
        daemon.kill()
    finally:
        unlock(locked)
    return job, moves(daemon)[-1:] == ["settle"], agent
