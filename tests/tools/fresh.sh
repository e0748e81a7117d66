#!/usr/bin/env bash
# Runs commands of ./dev in a Debian 12 that has nothing: a package left on a machine cannot hide one that is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
    cat <<'END'
usage: tests/tools/fresh.sh [--as user|root] [--keep] [COMMAND...]

Makes a minimal Debian 12 with debootstrap, in which there is nothing more than git and sudo, clones the last commit
into it, and runs ./dev COMMAND there, one after the other; without commands `demo` and `test`. A command of several
words is one argument: tests/tools/fresh.sh demo 'test lint'.

  --as user    as an ordinary user with sudo (this is the default)
  --as root    as root
  --keep       leave the system in build-fresh/ and say how to enter it
  --probe      make the system, run nothing, and say whether that worked

`./dev fresh` installs debootstrap and runs this. Needs root or sudo. Exit: 0 all commands succeeded, 1 one of them failed,
2 wrong usage, 3 the system could not be made (the last line says why).
END
}

say() { printf 'fresh: %s\n' "$*"; }
cannot() {
    printf 'fresh: cannot make a fresh Debian 12: %s\n' "$*" >&2
    exit 3
}
wrong() {
    printf 'fresh: %s; --help lists the forms\n' "$*" >&2
    exit 2
}
have() { command -v "$1" >/dev/null 2>&1; }
as_root() {
    if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

PATH=$PATH:/usr/sbin:/sbin # where debootstrap and chroot are, also for an ordinary user
who=user keep="" probe="" commands=()
while (($#)); do
    case $1 in
    --as)
        [[ ${2:-} == user || ${2:-} == root ]] || wrong "--as takes user or root, not '${2:-}'"
        who=$2
        shift
        ;;
    --keep) keep=1 ;;
    --probe) probe=1 ;;
    -h | --help) usage && exit ;;
    -*) wrong "there is no option $1" ;;
    *) commands+=("$1") ;;
    esac
    shift
done
((${#commands[@]})) || commands=(demo test)

top=$PWD/build-fresh
system=$top/$who

# Everything is mounted in a namespace of its own: no mount and no process outlives the command.
# shellcheck disable=SC2016 # expanded inside
inside='
mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --rbind /sys "$1/sys" && mount -t tmpfs tmpfs "$1/run" || exit 3
system=$1 user=$2 home=$3
shift 3
exec chroot --userspec="$user" "$system" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    HOME="$home" USER="${user%%:*}" TERM="${TERM:-dumb}" ${http_proxy:+http_proxy="$http_proxy"} \
    ${CI:+CI="$CI"} ${JOBS:+JOBS="$JOBS"} sh -c "cd \"\$HOME\" && $*"'
enter() {
    local user=root home=/root
    [[ $1 == root ]] || user=tester:tester home=/srv/tester
    as_root unshare --mount --pid --fork --kill-child --propagation private sh -c "$inside" sh "$system" "$user" "$home" "$2" </dev/null
}

remove() {
    [[ ! -e $system ]] || as_root rm -rf --one-file-system "$system"
    rmdir "$top" 2>/dev/null || true
}

make_system() {
    local log=$top/$who.log
    [[ $(id -u) -eq 0 ]] || have sudo || cannot "that needs root or sudo"
    have debootstrap || cannot "there is no debootstrap; ./dev fresh installs it"
    as_root unshare --mount --pid --fork true 2>/dev/null || cannot "mounts of its own are not allowed here (unshare fails)"
    remove
    mkdir -p "$top"
    say "making a minimal Debian 12 for $who"
    as_root debootstrap --variant=minbase --include=git,sudo bookworm "$system" \
        ${FRESH_MIRROR:+"$FRESH_MIRROR"} >"$log" 2>&1 || cannot "debootstrap failed: $(tail -n 1 "$log")"
    enter root 'useradd --create-home --home-dir /srv/tester --shell /bin/bash tester && echo "tester ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/tester' \
        >>"$log" 2>&1 || cannot "entering it failed: $(tail -n 1 "$log")"
    rm -f "$log"
}

# The last commit, as a clone of it by anybody else would be.
put_project() {
    local home=/root owner=root
    [[ $who == root ]] || home=/srv/tester owner=tester
    [[ -z $(git status --porcelain --untracked-files=no) ]] || say "what is not committed is not in the fresh clone"
    as_root git -c safe.directory='*' clone -q --no-hardlinks . "$system$home/quiesce" || cannot "cloning the project into it failed"
    enter root "chown -R $owner:$owner $home/quiesce"
}

make_system
put_project
[[ -z $probe ]] || { say "it works" && commands=(); }
status=0
for command in "${commands[@]}"; do
    say "./dev $command, as $who"
    SECONDS=0
    if enter "$who" "cd quiesce && ./dev $command"; then
        say "./dev $command succeeded after $SECONDS s"
    else
        say "./dev $command FAILED after $SECONDS s"
        status=1
    fi
done
if [[ -n $keep ]]; then
    say "kept in $system; to look: sudo chroot $system"
else
    remove
fi
exit $status
