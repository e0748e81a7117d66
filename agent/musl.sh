#!/usr/bin/env bash
# musl.sh ARCHITECTURE FOLDER: makes FOLDER/bin/TRIPLE-musl-gcc, a compiler of static programs for another architecture of Debian (arm64), and prints its path.
# musl's package is downloaded by foreign.sh and unpacked there, not installed. Needs the cross compiler (gcc-aarch64-linux-gnu).
set -euo pipefail

architecture=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
case $architecture in
arm64) triple=aarch64-linux ;;
*) echo "musl.sh: $architecture is not known here; arm64 is" >&2 && exit 2 ;;
esac
compiler=$folder/bin/$triple-musl-gcc
if [[ -x $compiler ]]; then
    echo "$compiler"
    exit
fi

mkdir -p "$folder/bin" "$folder/archives"
foreign=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/foreign.sh
(cd "$folder/archives" && "$foreign" "$architecture" "$folder/apt" apt-get -qq download musl-dev >&2)
for archive in "$folder"/archives/*.deb; do
    dpkg-deb -x "$archive" "$folder"
done
sed -i -E "s,/usr/(lib|include)/$triple-musl,$folder&,g" "$folder/usr/lib/$triple-musl/musl-gcc.specs"
# The kernel's headers come last, so that musl's own win.
cat >"$compiler.part" <<END
#!/bin/sh
exec $triple-gnu-gcc "\$@" -specs "$folder/usr/lib/$triple-musl/musl-gcc.specs" -idirafter /usr/$triple-gnu/include
END
chmod +x "$compiler.part"
mv "$compiler.part" "$compiler"
rm -rf "$folder/apt" "$folder/archives"
echo "$compiler"
