#!/bin/bash
# The first half of `make bench-png`: PNGs of level 1 where a GPU encodes them, and whole programs beside peers. Every output is
# compared with the CPU's. Arguments: the program, the program that draws pages, and the one that calls the GPU's encoder, where
# there is one. Environment:
#   BENCH_PICTURE33=FILE   the photograph; without it a large one of a wallpaper package, else the sample; scaled to 7680x4320
#   BENCH_FILES=4000       PNGs of 1920x1080 in a batch; links of a few, since each has some 4 MB
#   RUNS=15                runs of a single picture, of which the median counts
#   RESULTS=FILE.json      where the figures of the other half go; these go to FILE-device.json, and .txt
#                          (tests/bench/results/device-png-DATE.json)
#   GF_COMMIT=NAME         the commit, where git does not know it
set -u
program=$(readlink -f "${1:?the program}") page=$(readlink -f "${2:?the program that draws pages}")
encoder=${3:+$(readlink -f "$3")}
here=$(dirname "$(readlink -f "$0")")
. "$here/../common.sh"
RUNS=${RUNS:-15} files=${BENCH_FILES:-4000}
[ -z "${RESULTS:-}" ] || RESULTS=${RESULTS%.json}-device.json
folder=/var/tmp
[ ! -w /dev/shm ] || folder=/dev/shm
begin device-png "$folder"
keep_apart
chain=blur=2,equalize
: >"$work/figures"
: >"$work/bars"

# ---- measuring ----

whole() { # RUNS, COMMAND... -> the median in ms of a whole process, after one that does not count
    local runs=$1 round begin
    shift
    for ((round = 0; round <= runs; round++)); do
        begin=${EPOCHREALTIME/./}
        "$@" >/dev/null 2>"$work/messages" || { tail -1 "$work/messages" >&2; : >"$work/broken"; }
        [ $round = 0 ] || echo $((${EPOCHREALTIME/./} - begin))
    done | median | awk '{printf "%.1f", $1 / 1000}'
}

# ---- the pictures ----

photo=${BENCH_PICTURE33:-}
for each in /usr/share/backgrounds/*.jpg "$here/../../../samples/harbour.png"; do
    [ -n "$photo" ] || [ ! -f "$each" ] || photo=$each
done
on_cpu="$program -q --device=cpu --strip"
$on_cpu -i "$photo" -o "$work/photo.ppm" 'resize=w=7680:h=4320:fit=cover' || exit 1
"$page" 7680 4320 1 >"$work/page.ppm" || exit 1
$on_cpu -i "$work/photo.ppm" -o "$work/noise.ppm" 'addnoise=0.5' || exit 1
$on_cpu -i "$work/photo.ppm" -o "$work/constant.ppm" 'brightness=1' || exit 1
$on_cpu -i "$work/photo.ppm" -o "$work/gray.pgm" grayscale || exit 1
$on_cpu -i "$work/photo.ppm" -o "$work/rgba.pam" 'chromakey=green' || exit 1
$on_cpu -i "$work/photo.ppm" -o "$work/photo.png" || exit 1
$on_cpu -i "$work/photo.png" -o "$work/cpu.png" $chain || exit 1
$on_cpu -i "$work/photo.ppm" -o "$work/hd.ppm" 'resize=w=1920:h=1080' || exit 1

# ---- the runs ----

measure_encoder() {
    local name=33-megapixel
    "$encoder" "$work/figures" "$name RGB8 photograph=1:$work/photo.ppm" "$name RGB8 page of text=1:$work/page.ppm" \
        "$name RGB8 noise=1:$work/noise.ppm" "$name RGB8 constant=1:$work/constant.ppm" "$name gray=1:$work/gray.pgm" \
        "$name RGBA=1:$work/rgba.pam" "1080p RGB8=1:$work/hd.ppm" "32 of 1080p RGB8=32:$work/hd.ppm" || : >"$work/broken"
    bar "$name RGB8 photograph, device memory to a file's bytes" \
        "$(figure "$name RGB8 photograph: device memory to a file's bytes")" 2.5 ms most
    bar "$name RGB8 photograph, kernels" "$(figure "$name RGB8 photograph: kernels")" 1.5 ms most
}

measure_one() { # NAME, OPTIONS...
    local name=$1
    shift
    note "33 megapixels, PNG to PNG, $chain, $name" "$(whole "$RUNS" "$program" -q "$@" -i "$work/photo.png" -o "$work/out.png" $chain)" ms
    same "$work/out.png" "$work/cpu.png"
}

measure_server() {
    start_server
    measure_one "by a server" --device=cuda --server=auto
    bar "33 megapixels, PNG to PNG, $chain, by a server" "$(figure "33 megapixels, PNG to PNG, $chain, by a server")" 80 ms most
    measure_one "by a server, codec=cpu" --device=cuda --codec=cpu --server=auto
    stop_server
    measure_one "a GPU of its own" --device=cuda --server=off
}

measure_batch() { # FOLDER, FILES, NAME, OPTIONS...
    local in=$1 count=$2 name=$3 begin ms i
    shift 3
    rm -rf "$work/out"
    begin=${EPOCHREALTIME/./}
    "$program" -q "$@" -i "$in" -o "$work/out/" $chain >/dev/null 2>"$work/messages" || { tail -1 "$work/messages" >&2; : >"$work/broken"; }
    ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
    note "$count PNGs of 1080p, $chain, $name" "$(awk -v ms="$ms" -v n="$count" 'BEGIN {printf "%.0f", 1000 * n / ms}')" pictures/s
    for ((i = 0; i < made; i++)); do same "$work/out/$(printf %06d "$i").png" "$work/made/cpu.$i.png"; done
    rm -rf "$work/out"
}

measure_batches() {
    local i each photographs
    mkdir "$work/made" "$work/in" "$work/few"
    mapfile -t photographs < <(ls /usr/share/backgrounds/*.jpg 2>/dev/null)
    [ ${#photographs[@]} -gt 0 ] || photographs=("$photo")
    made=0
    for each in "${photographs[@]}"; do
        [ $made = 8 ] || { $on_cpu -i "$each" -o "$work/made/$made.png" 'resize=w=1920:h=1080:fit=cover' &&
            $on_cpu -i "$work/made/$made.png" -o "$work/made/cpu.$((made++)).png" $chain || exit 1; }
    done
    for ((i = 0; i < files; i++)); do ln "$work/made/$((i % made)).png" "$work/in/$(printf %06d "$i").png" || exit 1; done
    few=$((files < 500 ? files : 500)) # for the CPU, which has no start
    for ((i = 0; i < few; i++)); do ln "$work/in/$(printf %06d "$i").png" "$work/few/" || exit 1; done
    if [ -n "$gpu" ]; then
        "$program" -q --device=cuda -i "$work/few" -o "$work/out/" $chain || : >"$work/broken" # not counted
        measure_batch "$work/in" "$files" "on the GPU" --device=cuda
        bar "$files PNGs of 1080p, start included" "$(figure "$files PNGs of 1080p, $chain, on the GPU")" 2000 pictures/s least
        write_results
        measure_batch "$work/few" "$few" "on the GPU, codec=cpu" --device=cuda --codec=cpu
    fi
    measure_batch "$work/few" "$few" "on the CPU" --device=cpu
}

measure_peers() {
    local name ms bytes
    {
        timeout 30 python3 "$here/../peers/png.py" "$work/photo.ppm" || :
        if cc -O2 -I/usr/include/stb -o "$work/stb" "$here/../peers/stb_png.c" -lm 2>"$work/messages"; then timeout 30 "$work/stb" "$work/photo.ppm"; else
            echo "absent: stb_image_write" >&2
        fi
        if command -v vips >/dev/null; then
            ms=$(whole 1 vips copy "$work/photo.ppm" "$work/vips.png[compression=1]")
            echo "$(vips --version | cut -d- -f1,2 | cut -d' ' -f1): PPM to PNG, level 1, whole process|$ms|$(wc -c <"$work/vips.png")"
        else
            echo "absent: vips" >&2
        fi
    } >"$work/peers"
    while IFS='|' read -r name ms bytes; do
        note "$name" "$ms" ms
        note "$name: file" "$bytes" bytes
    done <"$work/peers"
    note "gpufilter: file" "$(wc -c <"$work/photo.png")" bytes
}

# Called after each group of rows, so that the file is there if the rest is cut off.
write_results() {
    {
        json_head "\"chain\": \"$chain\", \"runs\": $RUNS, \"files\": $files"
        json_notes
        json_bars
    } >"$results" || exit 1
}

{
    echo "$(nproc) threads of $cpu; GPU: ${gpu:-none}; commit $commit; $(basename "$photo") at 7680x4320"
    [ -z "$gpu" ] || [ -z "$encoder" ] || measure_encoder
    write_results
    [ -z "$gpu" ] || measure_server
    write_results
    measure_batches
    measure_one "on the CPU" --device=cpu --server=off
    print_bars
    write_results
    measure_peers
    write_results
} > >(tee "${results%.json}.txt") 2>&1
wait $! # tee
echo "written to $results"
[ ! -e "$work/broken" ]
