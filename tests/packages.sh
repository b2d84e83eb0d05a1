#!/bin/sh
# Installs the distribution's packages that the build (and, with "test", the tests) still lack: those that it cannot do
# without, for which it may ask for a password, and of the others what the archive has, if it may without a question; else
# it names them. MINIMAL=1 leaves the others alone. Debian and Ubuntu; elsewhere it names what to install. BUILD: the folder
# whose settings are then found anew. With "left-out" it installs nothing, and names the others that are still missing; with
# "missing" it names those that the build cannot do without, for the compiler $CC.
set -eu
wanted=${1:-build}
have() { command -v "$1" >/dev/null 2>&1; }
library() { have pkg-config && pkg-config --exists "$1"; }
here=$(dirname "$0")

# compiles: whether the compiler is there and finds the C library's headers.
compiles()
{
    # shellcheck disable=SC2086 # a compiler with flags
    echo '#include <stdio.h>' | ${CC:-cc} -E -o /dev/null - 2>/dev/null
}

missing=
compiles || missing="$missing gcc libc6-dev"
have pkg-config || missing="$missing pkg-config"
library libpng || missing="$missing libpng-dev"
library libjpeg || missing="$missing libjpeg-dev"
library zlib || missing="$missing zlib1g-dev"
nvcc=
[ "${CUDA:-}" = 0 ] || nvcc=$(command -v /usr/local/cuda/bin/nvcc || command -v nvcc) || true
if [ -n "$nvcc" ] && [ -z "$(sh "$here/nvcc_host.sh" "$nvcc")" ]; then
    missing="$missing g++"
fi
[ "$wanted" != missing ] || { echo "$missing"; exit; }
[ "$wanted" != test ] || library cmocka || missing="$missing libcmocka-dev"

# Without these it builds and tests, too, with fewer formats, slower PNG, without conversions of colours, without text, and
# with fewer comparisons. HEIC needs its decoder, and its tests the encoder: packages of their own where libheif has plugins.
optional=
if have apt-get && [ "${MINIMAL:-0}" != 1 ]; then
    for package in $(sh "$here/formats.sh" --packages | sed 's/.*://' | tr , ' ') libisal-dev liblcms2-dev libheif-plugin-libde265 \
        $([ -z "$nvcc" ] || echo libffmpeg-nvenc-dev) \
        $([ "$wanted" != test ] || echo webp libtiff-tools liblcms2-utils libheif-plugin-x265 python3-pil pngcheck); do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed' || optional="$optional $package"
    done
fi
[ -n "$missing$optional" ] || exit 0
[ "$wanted" != left-out ] || missing=

# progress: what apt-get does, from its lines that come in: in one line on a terminal, else every tenth.
progress()
{
    lines=0
    while read -r line; do
        case $line in
        Get:* | Unpacking* | Setting*)
            if [ -t 1 ]; then
                printf '\r\033[K%.79s' "$line"
            elif [ $((lines % 10)) = 0 ]; then
                printf '%s\n' "$line"
            fi
            lines=$((lines + 1))
            ;;
        esac
    done
    [ ! -t 1 ] || printf '\r\033[K'
}

# apt ARGUMENT...
apt()
{
    rm -f "$log.failed"
    { $root apt-get -y -q "$@" 2>&1 || touch "$log.failed"; } | tee "$log" | progress
    [ ! -e "$log.failed" ]
}
install() { apt install --no-install-recommends "$@"; }

export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log" "$log.failed"' EXIT
root=
[ "$(id -u)" = 0 ] || root=sudo
if [ -n "$missing" ]; then
    echo "installing:$missing"
    have apt-get || { echo "$0: no apt-get here; please install the equivalents of:$missing" >&2; exit 1; }
    [ -z "$root" ] || have sudo || { echo "$0: needs root to run: apt-get install$missing" >&2; exit 1; }
    # shellcheck disable=SC2086 # a list of words
    apt update && install $missing || { cat "$log" >&2; exit 1; }
fi

may=
[ "$wanted" = left-out ] || { [ -n "$root" ] && ! sudo -n true 2>/dev/null; } || may=1
lists() { ls /var/lib/apt/lists/*Packages* >/dev/null 2>&1; }
# Lists that were fetched within a day are new enough.
if [ -n "$optional" ] && [ -n "$may" ] && [ -z "$missing" ] && ! { lists &&
    [ -n "$(find /var/lib/apt/lists -maxdepth 0 -mtime -1)" ]; }; then
    apt update || true
fi
known=
for package in $optional; do
    ! lists || apt-cache policy "$package" | grep -q 'Candidate: [^(]' || continue
    known="$known $package"
done
if [ -n "$known" ] && [ -z "$may" ]; then
    echo "optional and left out; this installs it, and the next make builds with it: sudo apt-get install$known"
elif [ -n "$known" ]; then
    echo "installing:$known"
    # shellcheck disable=SC2086 # a list of words
    install $known || for package in $known; do
        install "$package" || echo "not installed: $package"
    done
    missing=$missing$known
fi
# Settings that were found before name fewer libraries, unless only tests use what was installed.
# shellcheck disable=SC2086 # a list of words
! printf '%s\n' $missing | grep -v cmocka | grep -q -e -dev || [ ! -e "${BUILD:-build}/config.mk" ] ||
    sed -i '/^ *\(LCMS\|FORMATS\|PKG_CFLAGS\|PKG_LIBS\) ?=/d' "${BUILD:-build}/config.mk"
