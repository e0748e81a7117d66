#!/usr/bin/env bash
# foreign.sh ARCHITECTURE FOLDER COMMAND...: runs a command of apt (apt-get download, apt-cache) for another architecture of Debian, or (the word `source`
# in its place) for source packages, with lists of packages that are apt's in FOLDER only, made or renewed where they are older than a day: nothing is
# installed, the architectures and sources of this machine stay as they are, and it takes no rights.
set -euo pipefail

architecture=$1 folder=$2
shift 2
mkdir -p "$folder"/{lists,cache/archives}/partial
folder=$(cd "$folder" && pwd)
: >>"$folder/status"
cat >"$folder/apt.conf" <<CONF
Dir::State "$folder";
Dir::State::lists "$folder/lists";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
APT::Sandbox::User "$(id -un)";
CONF
if [[ $architecture == source ]]; then
    # The places are this machine's, asked for sources instead of programs.
    mkdir -p "$folder/places"
    for place in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
        [[ ! -f $place ]] || sed -E 's/^deb([[:space:]])/deb-src\1/; s/^Types:.*/Types: deb-src/' "$place" >"$folder/places/${place##*/}"
    done
    cat >>"$folder/apt.conf" <<CONF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$folder/places";
CONF
else
    cat >>"$folder/apt.conf" <<CONF
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
CONF
fi
export APT_CONFIG=$folder/apt.conf
if [[ -z $(find "$folder/renewed" -mtime -1 2>/dev/null) ]]; then
    apt-get -qq update >&2
    touch "$folder/renewed"
fi
exec "$@"
