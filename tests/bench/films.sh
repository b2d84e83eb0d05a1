#!/bin/bash
# Filters a film of 4:2:0 by the program and, on the CPU, by ffmpeg: whole processes that read a Y4M from /dev/shm and write
# one to a pipe. They run in turns; the medians of the seconds that pass and of the processors' seconds are for one frame, in
# ms. Arguments: the program, and a film (without it, the sample picture moves past). The table goes to RESULTS=FILE.txt
# (tests/bench/results/films-DATE.txt), too. Environment:
#   DEVICE=cuda   by the program on the GPU; without it on the CPU
#   WIDTH=3840    of the frames, which have 9/16 of it as height (1920); from 3840 on dear filters are compared
#   FRAMES=250    of the film that is made
#   RUNS=9
set -eu
program=$1 film=${2:-}
# shellcheck source=tests/bench/common.sh
. "$(dirname "$0")/common.sh"
command -v ffmpeg >/dev/null || { echo "bench-films: needs ffmpeg" >&2; exit 3; }
RUNS=${RUNS:-9} DEVICE=${DEVICE:-cpu} WIDTH=${WIDTH:-1920} FRAMES=${FRAMES:-250}
begin films
export GPUFILTER_OPTS=
if [ -z "$film" ]; then
    film=$work/film.y4m
    ffmpeg -v error -nostdin -loop 1 -framerate 25 -i samples/harbour.png -f lavfi -i testsrc2=s=$((WIDTH / 2))x$((WIDTH * 9 / 32)) \
        -filter_complex "[0]scale=$((WIDTH * 4 / 3)):-1,crop=$WIDTH:$((WIDTH * 9 / 16)):n:n[a];[a][1]overlay=$((WIDTH / 4)):$((WIDTH * 9 / 64)),format=yuv420p" \
        -frames:v "$FRAMES" -f yuv4mpegpipe "$film"
fi
frames=$(ffmpeg -v error -nostdin -i "$film" -c copy -f framecrc - | grep -vc "^#")

ours() { # CHAIN
    "$program" -q --device="$DEVICE" -i "$film" -o - "$1" | cat >/dev/null
}
theirs() { # FILTERS
    ffmpeg -v error -nostdin -i "$film" -vf "$1" -f yuv4mpegpipe - | cat >/dev/null
}
timed() { # NAME COMMAND ARGUMENT
    local TIMEFORMAT='%R %U %S'
    { time "$2" "$3"; } 2>&1 | awk -v frames="$frames" '{print $1 * 1000 / frames, ($2 + $3) * 1000 / frames}' >>"$work/$1"
}

chains='blur=2 gblur=sigma=2
unsharp unsharp
median=1 median=radius=1
brightness=0.1,contrast=1.2 eq=brightness=0.1:contrast=1.2
brightness=0.1,contrast=1.2,gamma=1.1 eq=brightness=0.1:contrast=1.2:gamma=1.1'
[ "$WIDTH" -lt 3840 ] || chains='nlmeans nlmeans=p=7:r=21
bilateral=2 bilateral=sigmaS=2:sigmaR=0.1
blur=2 gblur=sigma=2'
{
echo "$(date -u +%Y-%m-%d); $cpu, $(nproc) processors; --device=$DEVICE${gpu:+, $gpu}; $WIDTH wide; ${commit}; $(ffmpeg -version | awk 'NR == 1 {print $1, $3}'); $frames frames"
printf '%-44s %9s %9s %9s %9s %7s\n' 'ms a frame' wall CPU ffmpeg CPU times
while read -r chain filters; do
    rm -f "$work/ours" "$work/theirs"
    for ((i = 0; i < RUNS; i++)); do
        timed ours ours "$chain"
        timed theirs theirs "$filters"
    done
    for name in ours theirs; do
        for column in 1 2; do awk -v c=$column '{print $c}' "$work/$name" | median; done
    done | xargs | awk -v chain="$chain" '{printf "%-44s %9.2f %9.2f %9.2f %9.2f %7.2f\n", chain, $1, $2, $3, $4, $3 / $1}'
done <<<"$chains"
} | tee "${results%.json}.txt"
