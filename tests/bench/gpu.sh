#!/bin/sh
# What `make bench-gpu` runs. Arguments: the benchmark, the program. Environment:
#   BENCH_PICTURE=FILE   a photograph for the 7680x4320 frame; without it the frame is made
#   BENCH_ROWS=REGEX     only the kernels of chains in which it is found; the figures go nowhere but to RESULTS
#   BENCH_FORMATS=1      the main chains in several formats, as a table; the figures go nowhere but to RESULTS
#   BENCH_SMALL=1        small pictures, as a table
#   RESULTS=FILE.json    where the figures go (tests/bench/results/gpu-DATE.json)
#   GF_COMMIT=NAME       the commit, where git does not know it
#   BENCH_NO_NPP=1       leaves NPP out
set -eu
bench=$1 program=$2
here=$(dirname "$0")
results=$here/results/gpu-$(date -u +%Y-%m-%d).json
[ -z "${BENCH_ROWS:-}${BENCH_FORMATS:-}${BENCH_SMALL:-}" ] || results=/dev/null
results=${RESULTS:-$results}
mkdir -p "$(dirname "$results")"
if [ -z "${BENCH_PICTURE:-}" ]; then
    exec "$bench" "$program" "$here/../../samples/harbour.png" "$results"
fi
frame=$(mktemp -d)
trap 'rm -rf "$frame"' EXIT
"$program" --device=cpu --strip -i "$BENCH_PICTURE" -o "$frame/frame.ppm" 'resize=w=7680:h=4320:fit=cover'
"$bench" "$program" "$here/../../samples/harbour.png" "$results" "$frame/frame.ppm"
