#!/bin/sh
# Every filter's variants side by side on this machine's GPU, on a picture of 7680x4320. Arguments: the program, the file to write.
# Environment: as of gpu.sh.
set -eu
program=$1 results=$2
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" --device=cpu --quiet --strip -i "${BENCH_PICTURE:-$here/../../samples/harbour.png}" -o "$work/frame.ppm" \
    'resize=w=7680:h=4320:fit=cover'
{
    echo "# $("$program" --devices | sed -n '1{s/^cuda:0 *//; s/:.*//; h}; 2{s/^ *\(driver [0-9.]*\).*/, \1/; H; g; s/\n//; p; q}'), $(date -u +%Y-%m-%d), commit ${GF_COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}"
    while read -r chain; do
        echo "== $chain"
        case $chain in
        "--no-fuse "*) "$program" --device=cuda --profile=compare -i "$work/frame.ppm" --no-fuse "${chain#--no-fuse }" ;;
        *) "$program" --device=cuda --profile=compare -i "$work/frame.ppm" "$chain" ;;
        esac
    done
} >"$work/compare.txt" <<'CHAINS'
blur=2,equalize,transpose
--no-fuse gamma=2.2,invert,saturation=1.3
median=1
median=2
sobel
normalmap
bilateral
boxblur=4
unsharp
normalize
threshold=otsu
threshold
resize=w=50%
convolve=1 2 1/2 4 2/1 2 1
equalize=mode=lightness
rotate=90
hflip
blur=20
CHAINS
mv "$work/compare.txt" "$results"
