#!/bin/bash
# Filters a film of 1920x1080, 4:2:0, on the CPU, by the program and by ffmpeg: whole processes that read a Y4M from
# /dev/shm and write one to a pipe. They run in turns; the medians of the seconds that pass and of the processors' seconds
# are for one frame, in ms. Arguments: the program, and a film (without it, the sample picture moves past). The table goes to
# RESULTS=FILE.txt (tests/bench/results/films-DATE.txt), too.
set -eu
program=$1 film=${2:-}
# shellcheck source=tests/bench/common.sh
. "$(dirname "$0")/common.sh"
command -v ffmpeg >/dev/null || { echo "bench-films: needs ffmpeg" >&2; exit 3; }
RUNS=${RUNS:-9}
begin films
export GPUFILTER_OPTS=
if [ -z "$film" ]; then
    film=$work/film.y4m
    ffmpeg -v error -nostdin -loop 1 -framerate 25 -i samples/harbour.png -f lavfi -i testsrc2=s=960x540 \
        -filter_complex "[0]scale=2600:-1,crop=1920:1080:n*2:n[a];[a][1]overlay=480:270,format=yuv420p" \
        -frames:v 250 -f yuv4mpegpipe "$film"
fi
frames=$(ffprobe -v error -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$film")

ours() { # CHAIN
    "$program" -q --device=cpu -i "$film" -o - "$1" | cat >/dev/null
}
theirs() { # FILTERS
    ffmpeg -v error -nostdin -i "$film" -vf "$1" -f yuv4mpegpipe - | cat >/dev/null
}
timed() { # NAME COMMAND ARGUMENT
    local TIMEFORMAT='%R %U %S'
    { time "$2" "$3"; } 2>&1 | awk -v frames="$frames" '{print $1 * 1000 / frames, ($2 + $3) * 1000 / frames}' >>"$work/$1"
}

{
echo "$(date -u +%Y-%m-%d); $cpu, $(nproc) processors; ${commit}; $(ffmpeg -version | awk 'NR == 1 {print $1, $3}'); $frames frames"
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
done <<'END'
blur=2 gblur=sigma=2
unsharp unsharp
median=1 median=radius=1
brightness=0.1,contrast=1.2 eq=brightness=0.1:contrast=1.2
brightness=0.1,contrast=1.2,gamma=1.1 eq=brightness=0.1:contrast=1.2:gamma=1.1
END
} | tee "${results%.json}.txt"
