#!/bin/sh
# Installs the distribution's packages that the build (and, with "test", the tests) still lack. Asks for root only
# when something is missing. Debian and Ubuntu; elsewhere it names what to install.
set -eu
wanted=${1:-build}
have() { command -v "$1" >/dev/null 2>&1; }
library() { have pkg-config && pkg-config --exists "$1"; }

missing=
have cc || have gcc || missing="$missing gcc libc6-dev"
have pkg-config || missing="$missing pkg-config"
library libpng || missing="$missing libpng-dev"
library libjpeg || missing="$missing libjpeg-dev"
library zlib || missing="$missing zlib1g-dev"
nvcc=$(command -v /usr/local/cuda/bin/nvcc || command -v nvcc) || true
if [ -n "$nvcc" ] && [ -z "$(sh "$(dirname "$0")/nvcc_host.sh" "$nvcc")" ]; then
    missing="$missing g++"
fi
[ "$wanted" != test ] || library cmocka || missing="$missing libcmocka-dev"
[ -n "$missing" ] || exit 0

echo "installing:$missing"
if ! have apt-get; then
    echo "$0: no apt-get here; please install the equivalents of:$missing" >&2
    exit 1
fi
# Without these it builds and tests, too, with fewer formats, without conversions of colours, without text, and with fewer
# comparisons.
optional="libwebp-dev libtiff-dev libavif-dev libjxl-dev libheif-dev libgif-dev libarchive-dev liblcms2-dev libfreetype-dev libharfbuzz-dev"
[ "$wanted" != test ] || optional="$optional webp libtiff-tools liblcms2-utils python3-pil pngcheck"
root=
if [ "$(id -u)" != 0 ]; then
    have sudo || { echo "$0: needs root to run: apt-get install$missing" >&2; exit 1; }
    root=sudo
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # a list of words
if ! { $root apt-get update -qq && $root apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
for package in $optional; do
    $root apt-get install -y -qq --no-install-recommends "$package" >"$log" 2>&1 || echo "not installed: $package"
done
