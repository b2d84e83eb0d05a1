#!/bin/bash
# What `make bench-serve` runs, on a machine with a GPU: single pictures by a server whose GPU is awake, whole processes from and to memory,
# beside the CPU and a GPU that each process starts; loops of pictures, 16 of them at once; the processor time of a server that waits.
# Servers that are killed: kills.sh. Every output is compared with the CPU's. Argument: the program. Environment:
#   RUNS=15               runs of a single picture, of which the median counts
#   LOOP=200              pictures of a loop
#   RESULTS=FILE.json     where the figures go (tests/bench/results/serve-DATE.json, and .txt)
#   GF_COMMIT=NAME        the commit, where git does not know it
set -u
program=$(readlink -f "${1:?the program}")
here=$(dirname "$(readlink -f "$0")")
. "$here/common.sh"
RUNS=${RUNS:-15} LOOP=${LOOP:-200}
begin serve
need_gpu bench-serve
keep_apart
chain=blur=2,equalize
: >"$work/figures"
: >"$work/bars"

# ---- the pictures ----

"$program" --device=cpu -q -i "$here/../../samples/harbour.png" -o "$work/33m.ppm" 'resize=w=7680:h=4320:fit=cover' || exit 1
"$program" --device=cpu -q -i "$work/33m.ppm" -o "$work/33m.jpg" || exit 1
"$program" --device=cpu -q -i "$work/33m.ppm" -o "$work/1080p.jpg" 'resize=w=1920:h=1080' || exit 1
for each in 33m.ppm 33m.jpg 1080p.jpg; do
    "$program" --device=cpu -q -i "$work/$each" -o "$work/cpu.$each" $chain || exit 1
done

# ---- the server ----

processor_ticks() { # of the server: clock ticks, hundredths of a second
    sed 's/.*) //' "/proc/$server/stat" | cut -d' ' -f12,13 | awk '{print $1 + $2}'
}

# ---- measuring ----

now_us() {
    echo "${EPOCHREALTIME/./}"
}

one() { # PICTURE, OPTIONS... -> the median in ms of a whole process, after one that does not count
    local picture=$1 round begin end
    shift
    for ((round = 0; round <= RUNS; round++)); do
        begin=$(now_us)
        "$program" -q "$@" -i "$work/$picture" -o "$work/out.$picture" $chain || : >"$work/broken"
        end=$(now_us)
        [ $round = 0 ] || echo $((end - begin))
    done | median | awk '{printf "%.1f", $1 / 1000}'
    same "$work/out.$picture" "$work/cpu.$picture"
}

loop() { # FOLDER, COUNT: a shell's loop
    local i
    for ((i = 0; i < $2; i++)); do
        "$program" -q --device=cuda -i "$work/1080p.jpg" -o "$1/$i.jpg" $chain || : >"$work/broken"
    done
}

loops() { # LOOPS -> microseconds
    local i begin pids=()
    rm -rf "$work"/loop.*
    begin=$(now_us)
    for ((i = 0; i < $1; i++)); do
        mkdir "$work/loop.$i"
        loop "$work/loop.$i" "$LOOP" &
        pids+=($!)
    done
    wait "${pids[@]}"
    echo $(($(now_us) - begin))
    for i in "$work"/loop.*/*; do same "$i" "$work/cpu.1080p.jpg"; done
}

# ---- the runs ----

measure_all() {
    local each ms us before
    local begin
    begin=$(now_us)
    start_server
    note "start of a server" "$((($(now_us) - begin) / 1000))" ms
    for each in 33m.ppm:30 1080p.jpg:10 33m.jpg:35; do
        ms=$(one "${each%:*}" --device=cuda --server=auto)
        note "${each%:*}, server" "$ms" ms
        bar "${each%:*}, $chain: the client's whole process" "$ms" "${each#*:}" ms most
        note "${each%:*}, cpu" "$(one "${each%:*}" --device=cpu)" ms
        note "${each%:*}, auto" "$(one "${each%:*}" --device=auto)" ms
    done
    us=$(loops 1)
    note "a loop of $LOOP files, a file" "$(awk -v us="$us" -v n="$LOOP" 'BEGIN {printf "%.1f", us / n / 1000}')" ms
    bar "a shell's loop of $LOOP 1080p JPEGs, a file" "$(awk -v us="$us" -v n="$LOOP" 'BEGIN {printf "%.1f", us / n / 1000}')" 12 ms most
    us=$(loops 16)
    note "16 loops" "$(awk -v us="$us" -v n="$LOOP" 'BEGIN {printf "%.0f", 16 * n / us * 1e6}')" pictures/s
    bar "16 such loops at once" "$(awk -v us="$us" -v n="$LOOP" 'BEGIN {printf "%.0f", 16 * n / us * 1e6}')" 1000 pictures/s least
    sleep 7 # it gives its memory back
    before=$(processor_ticks)
    sleep 5
    bar "a server that waits: processor time in 5 s" "$((10 * ($(processor_ticks) - before)))" 0 ms most
    "$program" --devices | sed -n '/^server/,/buffers/p'
    stop_server
    for each in 33m.ppm 1080p.jpg 33m.jpg; do
        note "${each%:*}, a GPU of its own" "$(one "$each" --device=cuda --server=off)" ms
    done
}

{
    echo "$(nproc) threads of $cpu; GPU: $gpu; commit $commit; $chain"
    echo
    measure_all
    print_bars
} > >(tee "${results%.json}.txt") 2>&1
wait $! # tee
{
    json_head "\"chain\": \"$chain\", \"runs\": $RUNS, \"loop\": $LOOP"
    json_notes
    json_bars
} >"$results" || exit 1
echo "written to $results"
[ ! -e "$work/broken" ] && ! grep -q 'MISSED$' "$work/bars"
