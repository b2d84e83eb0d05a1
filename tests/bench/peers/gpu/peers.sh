#!/bin/bash
# What `make bench-peers` runs: the kernels of bench-gpu and the codec of bench-jpeg for the rows of rows.py, then the peers' calls
# by peers.py. Arguments: bench-gpu, bench-jpeg, the program, the library. Environment:
#   BENCH_PICTURE=FILE   the photograph that becomes the frame (the sample); a binary PPM of 7680x4320 is taken as it is
#   PYTHON=...           one that has torch, and the peers as far as they are to be compared with
#   RESULTS=FILE.json    where the figures go (tests/bench/results/peers-DATE.json); beside it a table, .txt
# and what peers.py names.
set -eu
kernels=$1 coder=$2 program=$3 library=$(readlink -f "$4") python=${PYTHON:-python3}
here=$(dirname "$(readlink -f "$0")")
. "$here/../../common.sh"
need_gpu bench-peers
"$python" -c 'import numpy, torch' 2>/dev/null || { echo "bench-peers: $python has no numpy or no torch" >&2; exit 3; }
begin peers
picture=${BENCH_PICTURE:-$here/../../../../samples/harbour.png} frame=$work/frame.ppm
if [ "$(head -c 13 "$picture" | tr '\n\0' '  ')" = "P6 7680 4320 " ]; then
    frame=$picture
else
    "$program" -q --device=cpu --strip -i "$picture" -o "$frame" 'resize=w=7680:h=4320:fit=cover'
fi
chains=$("$python" -c 'import sys; sys.path.insert(0, sys.argv[1]); import rows
print("^(" + "|".join(sorted({row.chain.replace(".", "[.]") for row in rows.ROWS + rows.FLOATS})) + ")($|=@)")' "$here")
GF_COMMIT=$commit BENCH_ROWS=$chains "$kernels" "$program" "$picture" "$work/gpu.json" "$frame" >"$work/gpu.txt" || {
    grep -i failed "$work/gpu.txt" >&2 || tail -n 3 "$work/gpu.txt" >&2
    [ -s "$work/gpu.json" ] || exit 1 # otherwise only rows are missing
}

# Parts of the frame, each at its own pixels, as JPEGs, and what gpufilter decodes from them.
for i in 0 1 2 3 4 5 6 7; do
    "$program" -q --device=cpu --strip -i "$frame" -o "$work/photographs-$i.jpg" --quality=90 "crop=1920:1080:$((i % 4 * 1920)):$((i / 4 * 1080))"
done
cp "$work/photographs-0.jpg" "$work/photograph-1-0.jpg"
"$program" -q --device=cpu --strip -i "$frame" -o "$work/photograph-33M-0.jpg" --quality=90
for each in photographs-0 photograph-1-0 photograph-33M-0; do
    "$program" -q --device=cpu -i "$work/$each.jpg" -o "$work/$each.ppm"
done
"$coder" "$work/jpeg.json" "$commit" "parts of the frame" "photographs=64$(printf ',%s' "$work"/photographs-*.jpg | sed 's/,/:/')" \
    "photograph-1=1:$work/photograph-1-0.jpg" "photograph-33M=1:$work/photograph-33M-0.jpg" >"$work/jpeg.txt" || { tail -n 3 "$work/jpeg.txt" >&2; echo '{"sets": []}' >"$work/jpeg.json"; }
"$python" "$here/peers.py" "$library" "$frame" "$work/gpu.json" "$work/jpeg.json" "$work" "$results"
