#!/usr/bin/env bash
# musl.sh ARCHITECTURE FOLDER: makes FOLDER/bin/TRIPLE-musl-gcc, a compiler of static programs for another architecture (arm64, armhf, riscv64),
# and prints its path. musl is compiled from Debian's source package, for size: not every architecture has a package of it, and those that there are
# make the agent 15 KiB larger. The source is fetched once for all architectures; nothing is installed. Needs the cross compiler
# (gcc-aarch64-linux-gnu, …), make and dpkg-source.
set -euo pipefail

architecture=$1
case $architecture in
arm64) triple=aarch64-linux abi=gnu ;;
armhf) triple=arm-linux abi=gnueabihf ;;
riscv64) triple=riscv64-linux abi=gnu ;;
*) echo "musl.sh: $architecture is not known here; arm64, armhf and riscv64 are" >&2 && exit 2 ;;
esac
mkdir -p "$2/bin"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(cd "$2" && pwd)
compiler=$folder/bin/$triple-musl${abi#gnu}-gcc
if [[ -x $compiler ]]; then
    echo "$compiler"
    exit
fi

"$here/source.sh" musl "$folder/source"
rm -rf "$folder/$architecture.build"
mkdir -p "$folder/$architecture.build"
(
    cd "$folder/$architecture.build"
    CC=$triple-$abi-gcc AR=$triple-$abi-ar RANLIB=$triple-$abi-ranlib CFLAGS=-Os ../source/configure --target="$triple-musl${abi#gnu}" \
        --disable-shared --enable-wrapper=gcc --prefix="$folder/$architecture"
    make -s -j "${JOBS:-$(nproc)}" install
) >&2
# The kernel's headers come last, so that musl's own win.
cat >"$compiler.part" <<END
#!/bin/sh
exec $triple-$abi-gcc "\$@" -specs "$folder/$architecture/lib/musl-gcc.specs" -idirafter /usr/$triple-$abi/include
END
chmod +x "$compiler.part"
mv "$compiler.part" "$compiler"
rm -rf "$folder/$architecture.build"
echo "$compiler"
