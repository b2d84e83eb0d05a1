#!/bin/bash
# What `make bench-png` runs. Arguments: the benchmark, the program. Environment:
#   BENCH_PICTURE=FILE     the photograph of 24 megapixels, BENCH_PICTURE33=FILE the one of 33; without them large ones
#                          of a wallpaper package, else the sample. Both are scaled (Lanczos) to 6000x4000 and 7680x4320.
#   BENCH_PICTURES='NAME=FILE ...'  more pictures, taken as they are
#   BENCH_LEVELS=16        only these levels, in this order (1234690); level 1 and reading its files always come first
#   BENCH_SECONDS=60       no row begins later than this; 0: none is left out
#   BENCH_DIR=DIR          where the files go (a new folder in /dev/shm, else in /var/tmp)
#   RESULTS=FILE.json      where the figures go (tests/bench/results/png-DATE-THREADS.json)
#   GF_COMMIT=NAME         the commit, where git does not know it
set -eu
export BENCH_SECONDS=${BENCH_SECONDS:-60}
[ "$BENCH_SECONDS" != 0 ] || BENCH_SECONDS=
coder=$1 program=$2
here=$(dirname "$(readlink -f "$0")")
. "$here/../common.sh"
RESULTS=${RESULTS:-$here/../results/png-$(date -u +%Y-%m-%d)-$(nproc).json}
folder=/var/tmp
[ ! -w /dev/shm ] || folder=/dev/shm
begin png "${BENCH_DIR:-$folder}"

first_of() {
    local file
    for file; do
        [ ! -f "$file" ] || { echo "$file"; return; }
    done
}
backgrounds=/usr/share/backgrounds
sample=$here/../../../samples/harbour.png
photo24=${BENCH_PICTURE:-$(first_of $backgrounds/life_by_Aitzol_Berasategi.jpg $backgrounds/*.jpg "$sample")}
photo33=${BENCH_PICTURE33:-$(first_of $backgrounds/seeding_by_Clements_Engelhardt.jpg $backgrounds/*.jpg "$sample")}
"$program" --device=cpu --strip -i "$photo24" -o "$work/photo24.ppm" 'resize=w=6000:h=4000:fit=cover'
"$program" --device=cpu --strip -i "$photo33" -o "$work/photo33.ppm" 'resize=w=7680:h=4320:fit=cover'

about="$cpu, $system; photo24 is $(basename "$photo24") at 6000x4000, photo33 $(basename "$photo33") at 7680x4320, both by Lanczos"
echo "commit $commit, $(nproc) threads of $about"
# shellcheck disable=SC2086 # a list of words
"$coder" "$work" "$results" "$commit" "$about" "photo33=$work/photo33.ppm" "photo24=$work/photo24.ppm" ${BENCH_PICTURES:-}
echo "written to $results"
