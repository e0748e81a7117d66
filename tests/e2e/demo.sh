#!/usr/bin/env bash
# The main jobs on this machine, for real: a daemon, an agent, job files, live progress, comparisons, and the iterations in
# SQLite. First a command, then two builds of one program in mode harness, then a virtual board. Called by ./dev demo with the build folder.
set -euo pipefail
build=$(cd "${1:?usage: demo.sh BUILD}" && pwd)
command=config/jobs/gzip-levels.yaml
builds=config/jobs/harness-o1-o3.yaml
demo=$build/demo
rm -rf "$demo"
mkdir -p "$demo"
run=$(mktemp -d)
daemon=
finish() {
    if [[ -n $daemon ]]; then
        kill "$daemon" 2>/dev/null || true
        wait "$daemon" || true
    fi
    rm -rf "$run"
}
trap finish EXIT

agent=$build/agent/quiesce-agent-static
[[ -x $agent ]] || agent=$build/agent/quiesce-agent
export QUIESCE_SOCKET=$run/api.sock
echo "1. quiesced and quiesce-agent for this machine ($(stat -c %s "$agent") bytes of agent)"
"$build/daemon/quiesced" --db "$demo/quiesce.db" --socket "$QUIESCE_SOCKET" --agent "$agent" 2>"$demo/quiesced.log" &
daemon=$!
for _ in $(seq 100); do
    [[ -S $QUIESCE_SOCKET ]] && break
    kill -0 "$daemon" 2>/dev/null || { cat "$demo/quiesced.log" >&2; exit 3; }
    sleep 0.1
done
show_and_run() {
    sed 's/^/     /' "$1"
    echo "   what it says:"
    "$build/daemon/ctl/quiesce" submit --wait "$1"
    echo
}
echo "2. two ways of doing the same work, one process per iteration: $command"
show_and_run "$command"
echo "3. two builds of one source, measured inside of one process per run: $builds"
show_and_run "$builds"
echo "4. every iteration is in $demo/quiesce.db; the first five of the second job:"
list="SELECT arm, block, seq, duration_ns, taint FROM v_iteration WHERE job = 2 AND block > 0 LIMIT 5"
printf '   sqlite3 -readonly -header -column %q "%s"\n' "$demo/quiesce.db" "$list"
sqlite3 -readonly -header -column "$demo/quiesce.db" "$list"
echo
mkdir "$run/board"
tests/e2e/demo_board.sh "$build" "$run/board" 5
