#!/bin/sh
# Filters a film by a chain, and keeps its sound: samples/film.sh IN.mp4 OUT.mp4 CHAIN [OPTION...]
# ffmpeg reads and writes the container. The options are gpufilter's.
set -eu
[ $# -ge 3 ] || {
    echo "usage: film.sh IN OUT CHAIN [OPTION...]" >&2
    exit 2
}
command -v ffmpeg >/dev/null || {
    echo "film.sh: ffmpeg is not installed" >&2
    exit 3
}
in=$1 out=$2 chain=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkfifo "$work/frames" "$work/filtered"
# -strict -1 allows films of more than 8 bits.
ffmpeg -v error -nostdin -i "$in" -map 0:v:0 -f yuv4mpegpipe -strict -1 -y "$work/frames" &
reader=$!
ffmpeg -v error -nostdin -i "$work/filtered" -i "$in" -map 0:v -map '1:a?' -c:a copy -y "$out" &
writer=$!
status=0
"${GPUFILTER:-gpufilter}" -i "$work/frames" -o - "$@" "$chain" >"$work/filtered" || status=$?
wait $reader || status=75
wait $writer || status=75
exit $status
