#!/usr/bin/env bash
# source.sh PACKAGE FOLDER: FOLDER becomes the source of Debian's PACKAGE, where it is not there already. Nothing is installed. Needs dpkg-source.
set -euo pipefail

package=$1
[[ ! -d $2 ]] || exit 0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$(dirname "$2")"
folder=$(cd "$(dirname "$2")" && pwd)/${2##*/}
rm -rf "$folder".{apt,archives,part} # of an attempt that failed
mkdir -p "$folder.archives"
(cd "$folder.archives" && "$here/foreign.sh" source "$folder.apt" apt-get -qq source --download-only "$package" >&2)
dpkg-source --no-check --no-copy -x "$folder.archives/${package}"_*.dsc "$folder.part" >&2
mv "$folder.part" "$folder"
rm -rf "$folder".{apt,archives}
