#!/bin/bash
# What `make bench-start` runs, on a machine with a GPU: where the start of CUDA spends its time, for one picture of 1x1 and for a batch of
# JPEGs of 1080p, whole processes from and to memory, as `--verbose` tells it; how long the process takes beyond its last word, which is the
# teardown; and what queues to the device cost. Medians of every figure. Argument: the program. Environment:
#   OTHER=PROGRAM         an earlier build, which is run in turn with this one for the picture of 1x1: its whole processes alone
#   RUNS=9                counted runs of one picture, after two that are not; of the batch a third of them
#   FILES=2000            JPEGs of the batch; there is one of twice as many small PNMs, too
#   RESULTS=FILE.txt      where the table goes, too (tests/bench/results/start-DATE.txt)
#   GF_COMMIT=NAME        the commit, where git does not know it
set -u
program=$(readlink -f "${1:?the program}")
other=${OTHER:+$(readlink -f "$OTHER")}
here=$(dirname "$(readlink -f "$0")")
. "$here/common.sh"
runs=${RUNS:-9} files=${FILES:-2000}
RESULTS=${RESULTS:-$here/results/start-$(date -u +%Y-%m-%d).txt}
begin start
need_gpu bench-start
keep_apart
mkdir "$work/in" || exit 1

printf 'P6\n1 1\n255\nabc' >"$work/dot.ppm"
"$program" --device=cpu --strip -q -i "$here/../../samples/harbour.png" -o "$work/one.jpg" --quality=90 --subsampling=420 \
    'resize=w=1920:h=1080:fit=cover' || exit 1
mkdir "$work/small" || exit 1
"$program" --device=cpu --strip -q -i "$here/../../samples/harbour.png" -o "$work/small.ppm" 'resize=w=256:h=256:fit=cover' || exit 1
for ((i = 0; i < 2 * files; i++)); do
    cp "$work/small.ppm" "$work/small/$(printf %06d "$i").ppm" || exit 1
done
for ((i = 0; i < files; i++)); do
    cp "$work/one.jpg" "$work/in/$(printf %06d "$i").jpg" || exit 1
done

# once PROGRAM ARGUMENT... -> its wall time in ms, in $wall; what it says, in $work/said
once() {
    local begin end
    rm -rf "$work/out"
    sleep 0.2 # the driver goes on with the end of a process for a while, and the next start would wait for it
    begin=$(date +%s%N)
    "$@" >/dev/null 2>"$work/said" || { echo "bench-start: $* failed: $(tail -1 "$work/said")" >&2; exit 1; }
    end=$(date +%s%N)
    wall=$(awk -v ns=$((end - begin)) 'BEGIN {printf "%.1f", ns / 1e6}')
}

# "start: NAME: N times, from A to B ms, C ms in all, at most D ms" as NAME|N|A|B|C|D
parse() {
    sed -n 's/^gpufilter: start: \([^:]*\): once, from \([-0-9.]*\) to \([-0-9.]*\) ms$/\1|1|\2|\3/p
        s/^gpufilter: start: \([^:]*\): \([0-9]*\) times, from \([-0-9.]*\) to \([-0-9.]*\) ms, \([0-9.]*\) ms in all, at most \([0-9.]*\) ms$/\1|\2|\3|\4|\5|\6/p' |
        awk -F'|' -v OFS='|' '{if (NF == 4) {$5 = $4 - $3; $6 = $5} print}'
}

# The table of a command: whole process, then each part, medians of so many runs.
table() { # TITLE, RUNS, ARGUMENT...
    local title=$1 count=$2 i
    shift 2
    rm -f "$work"/part.* "$work/walls" "$work/others" "$work/names"
    for ((i = -1; i <= count; i++)); do
        once "$program" --verbose "$@"
        [ $i -le 0 ] || parse <"$work/said" >>"$work/parts.$i"
        once "$program" -q "$@"
        [ $i -le 0 ] || echo "$wall" >>"$work/walls"
        [ -z "$other" ] || once "$other" -q "$@"
        [ -z "$other" ] || [ $i -le 0 ] || echo "$wall" >>"$work/others"
    done
    process=$(median <"$work/walls")
    printf '\n%s: %s ms, the whole process' "$title" "$process"
    [ -z "$other" ] || printf ', beside %s ms of %s: %s times' "$(median <"$work/others")" "$(basename "$other")" \
        "$(awk -v a="$process" -v b="$(median <"$work/others")" 'BEGIN {printf "%.2f", a / b}')"
    printf '\n%-26s %8s %12s %12s %12s %12s\n' 'part, ms from main()' times began ended 'in all' longest
    cat "$work"/parts.* | awk -F'|' '!seen[$1]++ {print $1}' >"$work/names"
    while read -r name; do
        printf '%-26s' "$name"
        for column in 2 3 4 5 6; do
            printf ' %*.1f' $((column == 2 ? 8 : 12)) \
                "$(cat "$work"/parts.* | awk -F'|' -v name="$name" -v column=$column '$1 == name {print $column}' | median)"
        done
        echo
    done <"$work/names"
    rm -f "$work"/parts.*
}

queues() { # how long the context takes, and the whole process, by the number of queues
    local count i
    printf '\n%-26s %12s %12s\n' 'queues' 'context, ms' 'process, ms'
    for count in 1 2 4 8 32; do
        rm -f "$work/walls" "$work/contexts"
        for ((i = 0; i <= runs / 3; i++)); do
            CUDA_DEVICE_MAX_CONNECTIONS=$count once "$program" --verbose --device=cuda \
                -i "$work/dot.ppm" -o "$work/dot-out.ppm" invert
            [ $i = 0 ] || echo "$wall" >>"$work/walls"
            [ $i = 0 ] || parse <"$work/said" | awk -F'|' '$1 == "context" {print $5}' >>"$work/contexts"
        done
        printf '%-26s %12.1f %12.1f\n' "$count" "$(median <"$work/contexts")" "$(median <"$work/walls")"
    done
}

{
    echo "$gpu; $(nproc) threads; commit $commit"
    table "a picture of 1x1, invert" "$runs" --device=cuda -i "$work/dot.ppm" -o "$work/dot-out.ppm" invert
    start=$process other=
    table "a JPEG of 1080p, blur=2,equalize" "$runs" --device=cuda -i "$work/one.jpg" -o "$work/one-out.jpg" blur=2,equalize
    table "$files JPEGs of 1080p, blur=2,equalize" $(((runs + 2) / 3)) --device=cuda --codec=gpu -i "$work/in" -o "$work/out/" blur=2,equalize
    awk -v n="$files" -v ms="$process" 'BEGIN {printf "%.0f pictures/s, the start included (bar: 3500 of 2000)\n", 1000 * n / ms}'
    table "$((2 * files)) PNMs of 256x256, blur=2,equalize" $(((runs + 2) / 3)) --device=cuda -i "$work/small" -o "$work/out/" blur=2,equalize
    awk -v one="$start" -v ms="$process" 'BEGIN {printf "%.0f ms more than the picture of 1x1 (bar: 140 of 4000)\n", ms - one}'
    queues
} | tee "$results"
echo "written to $results"
