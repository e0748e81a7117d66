#!/usr/bin/env bash
# The last part of the demo where no board can be mounted: the same story on a simulated device, in virtual time. Nothing of it
# is measured, and each line says so. Called by demo_board.sh with the build folder, a folder for its files, and the part's number.
set -euo pipefail
build=$1
here=$2
number=$3
farm=config/sim-board.farm.yaml
job=config/jobs/sim-board.yaml
say() { sed 's/^/   simulated: /'; }
query() { sqlite3 -readonly -list -separator '' "$here/sim.db" "$1" | say; }
printf '%s. a simulated board, in virtual time (nothing is measured): held at its highest clock, cooled, heated once\n' "$number"
echo "quiesced --simulate $farm --job $job" | say
sed -n '/^conditions/,$p' "$job" | sed 's/^/  /' | say
"$build/daemon/quiesced" --simulate "$farm" --job "$job" --db "$here/sim.db" --event-log "$here/sim.events"
query "SELECT 'changed: ', path, ': ', before, ' -> ', wanted FROM v_control WHERE kind = 'set' AND outcome = 'set' AND before <> wanted"
query "SELECT 'waited ', waited_ns / 1000000, ' ms of virtual time, until ', sensor, ' was ', printf('%.1f', value / 1000.0), ' degrees' FROM v_gate
       WHERE waited_ns > 1000000000"
query "SELECT 'block ', i.block, ', window ', i.window, ': ', i.duration_ns / 1000000, ' ms',
         coalesce(' marked ' || (SELECT group_concat(code || ' ' || value || ' for ' || bound, ', ') FROM v_taint t
                                 WHERE t.run = i.run AND t.window = i.window), '')
       FROM v_iteration i WHERE i.block > 0 ORDER BY i.block, i.window"
query "SELECT iif(outcome IN ('set', 'same'), 'put back: ', 'not put back: '), path, ': ', now FROM v_control WHERE kind = 'restore'"
