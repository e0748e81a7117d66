#!/usr/bin/env bash
# The last stage that is real: what the parts of the line prove on their own. Called by ./dev demo with the build folder.
set -euo pipefail
build=${1:?usage: demo.sh BUILD}
echo "The line from a job file to a comparison is not closed yet: nothing is measured here."
echo "The last real stage are the codec (proto) and the statistics (stats); their unit tests follow."
picked=$build/picked.json
rm -f "$build/meson-logs/testlog.json"
names=$(python3 tests/tools/pick.py "$build" --suite proto --suite stats --no-suite slow --out "$picked")
mapfile -t list <<<"$names"
if [[ -n $names ]]; then
    meson test -C "$build" --no-rebuild --quiet "${list[@]}" >build-logs/demo.log 2>&1 || true
fi
python3 tests/tools/tally.py "$build:$picked"
