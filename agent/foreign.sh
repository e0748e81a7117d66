#!/usr/bin/env bash
# foreign.sh ARCHITECTURE FOLDER COMMAND...: runs a command of apt (apt-get download, apt-cache) for another architecture of Debian, with lists of packages
# that are apt's in FOLDER only, made or renewed where they are older than a day: nothing is installed, the architectures of this machine stay as they are,
# and it takes no rights.
set -euo pipefail

architecture=$1 folder=$2
shift 2
mkdir -p "$folder"/{lists,cache/archives}/partial
folder=$(cd "$folder" && pwd)
: >>"$folder/status"
cat >"$folder/apt.conf" <<END
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
Dir::State "$folder";
Dir::State::lists "$folder/lists";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
APT::Sandbox::User "$(id -un)";
END
export APT_CONFIG=$folder/apt.conf
if [[ -z $(find "$folder/renewed" -mtime -1 2>/dev/null) ]]; then
    apt-get -qq update >&2
    touch "$folder/renewed"
fi
exec "$@"
