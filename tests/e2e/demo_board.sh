#!/usr/bin/env bash
# The last part of the demo: device control, on a virtual board. Its clocks and its heat are simulated, the daemon and the agent are
# not. Called by demo.sh with the build folder and a folder for its files. Where no board can be mounted it is a simulated device.
set -euo pipefail
build=$1
here=$2
number=$3
board=$here/sys
agent=$build/agent/quiesce-agent-static
[[ -x $agent ]] || agent=$build/agent/quiesce-agent
say() { printf '%s. a virtual board (simulated clocks and heat): %s\n' "$number" "$1"; }
simulate() {
    echo "   no board can be mounted here ($1); the same on a simulated device:"
    tests/e2e/demo_board_sim.sh "$build" "$here" "$number"
    exit 0
}
if [[ ! -x $build/tests/beds/board/qs-board ]]; then
    simulate "libfuse3-dev is not installed"
fi
mkdir -p "$board"
mount=''
daemon=''
finish() {
    [[ -z $daemon ]] || { kill "$daemon" 2>/dev/null && wait "$daemon"; } || true
    [[ -z $mount ]] || { kill "$mount" 2>/dev/null && wait "$mount"; } || true
}
trap finish EXIT
"$build/tests/beds/board/qs-board" --speed 5 --tree tests/data/sysfs/rock5b-rk3588.tree.tsv --mount "$board" >"$here/board.log" 2>&1 &
mount=$!
for _ in $(seq 50); do
    [[ -e $board/.board/khz ]] && break
    kill -0 "$mount" 2>/dev/null || break
    sleep 0.1
done
if [[ ! -e $board/.board/khz ]]; then
    simulate "$(tail -1 "$here/board.log")"
fi
say "held at its highest clock, measured when it is cool, heated once while it is measured"
cat >"$here/farm.yaml" <<END
devices:
  board: {link: exec, argv: [$agent, --stdio, --sysfs, $board, --state, $here/agent]}
END
work="[ -e $here/heated ] || { touch $here/heated; echo heat 95 >$board/.board/control; }; exec $build/tests/beds/board/board-work --board $board --cycles 500000000 --policy policy4"
cat >"$here/board.yaml" <<END
quiesce: 1
benchmarks: [{name: work, shell: "$work"}]
conditions:
  frequency: max
  gate: [{sensor: thermal:bigcore0-thermal, below: 50C, timeout: 2min, on_timeout: fail}]
  bounds: none
plan: {blocks: 3, window: {iterations: 1}, warmup: {iterations: 0}, until: {interval: 0}}
END
export QUIESCE_SOCKET=$here/board.sock
"$build/daemon/quiesced" --config "$here/farm.yaml" --db "$here/board.db" --socket "$QUIESCE_SOCKET" 2>"$here/quiesced.log" &
daemon=$!
for _ in $(seq 100); do
    [[ -S $QUIESCE_SOCKET ]] && break
    kill -0 "$daemon" 2>/dev/null || { cat "$here/quiesced.log" >&2; exit 3; }
    sleep 0.1
done
printf "%s\n" "load 5" "heat 60" | while read -r line; do echo "$line" >"$board/.board/control"; done
sed -n '/^conditions/,$p' "$here/board.yaml" | sed 's/^/     /'
echo "   what it says:"
"$build/daemon/ctl/quiesce" submit --wait "$here/board.yaml"
echo
echo "   which windows were marked, and what the device looks like after it:"
sqlite3 -readonly -column "$here/board.db" "SELECT 'block ' || block AS block, code, value, bound FROM v_taint" | sed 's/^/     /'
"$build/daemon/ctl/quiesce" devices show board | sed 's/^/     /'
