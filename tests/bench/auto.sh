#!/bin/bash
# What `make bench-auto` runs: whether --device=auto takes the device that is done sooner. Each case of auto.tsv by the CPU, by the GPU and by
# auto, whole processes, turn by turn, the least of the runs; beside them what auto took and what the program expected. A process with a GPU leaves the
# driver with work after its end, which the next start of CUDA waits for: a pause comes before each, and cuda and auto take turns in who is first.
# Then the same with a resident process, where the program has one. The figures are calibrated first, in a folder of their own, and the runs go on
# learning. Argument: the program. Environment:
#   RUNS=2                runs of a case, of which the least counts
#   QUICK_RUNS=6          the same of what takes less than 0.1 s, where a few milliseconds are the tenth that counts
#   PAUSE=100             ms from the end of a process that may have used the GPU to the start of the next
#   CALIBRATE=0           by the declared figures, and by what the runs teach
#   CASES=PATTERN         only the cases whose names match (grep -E)
#   RESULTS=FILE.json     where the figures go (tests/bench/results/auto-DATE.json)
#   RECKONING=1           also prints the figures that each estimate was made of
#   GF_COMMIT=NAME        the commit, where git does not know it
set -u
export LC_ALL=C
program=$(readlink -f "${1:?the program}")
here=$(dirname "$(readlink -f "$0")")
RUNS=${RUNS:-2} QUICK_RUNS=${QUICK_RUNS:-6} PAUSE=${PAUSE:-100}
results=${RESULTS:-$here/results/auto-$(date -u +%Y-%m-%d).json}
mkdir -p "$(dirname "$results")" || exit 1
work=$(mktemp -d /dev/shm/gpufilter-bench.XXXXXX) || exit 1
server=
finish() {
    [ -z "$server" ] || { "$program" --serve=stop >/dev/null 2>&1; wait "$server"; }
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
export XDG_CACHE_HOME=$work/cache XDG_RUNTIME_DIR=$work/run GPUFILTER_OPTS=
mkdir -m 700 "$XDG_CACHE_HOME" "$XDG_RUNTIME_DIR"

"$program" --devices | grep -q '^cuda:0 ' && devices="cpu cuda auto" || devices=cpu
"$program" --help | grep -q -- --server && alone=--server=off || alone=

# ---- the pictures ----

"$program" --device=cpu -q -i "$here/../../samples/harbour.png" -o "$work/33m.ppm" 'resize=w=7680:h=4320:fit=cover' || exit 1
make_picture() { # NAME, WIDTH, HEIGHT
    [ "$1" = 33m ] || "$program" --device=cpu -q -i "$work/33m.ppm" -o "$work/$1.ppm" "resize=w=$2:h=$3:fit=cover" || exit 1
    "$program" --device=cpu -q -i "$work/$1.ppm" -o "$work/$1.jpg" || exit 1
    "$program" --device=cpu -q -i "$work/$1.ppm" -o "$work/$1.png" || exit 1
}
make_picture 1m 1280 800
make_picture 2m 1920 1080
make_picture 8m 3840 2160
make_picture 24m 6000 4000
make_picture 33m 7680 4320
printf 'P6\n1 1\n255\nabc' >"$work/dot.ppm"

folder_of() { # PICTURE, FILES -> a folder with so many names of it
    local folder=$work/$2x$1
    if [ ! -d "$folder" ]; then
        mkdir "$folder"
        seq "$2" | xargs -P 8 -I{} ln "$work/$1" "$folder/{}.${1##*.}"
    fi
    echo "$folder"
}

# ---- measuring ----

[ "${CALIBRATE:-1}" = 0 ] || "$program" --calibrate >"$work/calibration" || exit 1

quiet_from=0 # when a process that may have used the GPU has ended, in microseconds
settle() {
    local left=$((quiet_from + 1000 * PAUSE - ${EPOCHREALTIME/./}))
    [ "$left" -le 0 ] || sleep "$(printf '0.%06d' "$left")"
}

run_s() { # DEVICE, OPTIONS... -> $seconds, or nothing
    local TIMEFORMAT=%R device=$1
    shift
    rm -rf "$work/out"
    mkdir "$work/out"
    [ "$device" = cpu ] || [ -n "${only:-}" ] || settle
    seconds=$({ time "$program" -q --device="$device" "$@" >/dev/null 2>"$work/messages"; } 2>&1) ||
        echo "bench: $device $* failed: $(tail -1 "$work/messages")" >&2
    [ "$device" = cpu ] || quiet_from=${EPOCHREALTIME/./}
}

is_quick() { # DEVICE: its runs of this case take less than 0.1 s
    sort -n "$work/seconds.$1" | awk 'NR == 1 {quick = $1 > 0 && $1 < 0.1} END {exit !quick}'
}

failed=0
measure() { # LABEL, OPTIONS FOR ALL -> lines in $work/LABEL: name, cpu, cuda, auto, seconds; auto's device; expected of the CPU, of the GPU
    local label=$1 name picture files ending chain input output round device seconds order taken
    shift
    while IFS=$'\t' read -r name picture files ending chain <&3; do
        input=$work/$picture
        output=$work/out/o.$ending
        [ "$files" = 1 ] || { input=$(folder_of "$picture" "$files"); output=$work/out/; }
        # What is expected of a server only a run tells.
        expected=$("$program" -v "$@" ${dry-"--dry-run"} -i "$input" -o "$output" "$chain" 2>&1 >/dev/null | tee "$work/told" | sed -n \
            's/^.*estimate: CPU \([0-9.]*\) s\(, GPU \([0-9.]*\)\)*.*/\1 \3/p')
        { echo "$label $name"; grep -E 'estimate: |declared: |calibrated: |learned: ' "$work/told" | cut -d: -f2-; } >>"$work/reckoning"
        taken=$(awk '{print ($2 + 0 > 0 && $2 < $1 ? "gpu" : "cpu")}' <<<"$expected")
        rm -f "$work"/seconds.*
        for ((round = 1; round <= QUICK_RUNS; round++)); do
            order=${only:-$devices}
            [ $((round % 2)) = 1 ] || order=${order/cuda auto/auto cuda}
            for device in $order; do
                [ $round -le "$RUNS" ] || is_quick "$device" || continue
                run_s "$device" "$@" -i "$input" -o "$output" "$chain"
                [ -n "$seconds" ] || failed=1
                echo "$seconds" >>"$work/seconds.$device"
            done
        done
        # The CPU takes the same time with a server.
        [ -z "${only:-}" ] || awk -v name="$name" '$1 == name {print $2}' "$work/alone" >"$work/seconds.cpu"
        for device in cpu cuda auto; do
            if [ -s "$work/seconds.$device" ]; then sort -n "$work/seconds.$device" | head -1; else echo 0; fi
        done | tr '\n' ' ' | sed "s/^/$name /;s/\$/$taken $expected/" >>"$work/$label"
        echo >>"$work/$label"
        tail -1 "$work/$label" >&2
    done 3< <(grep -v '^#' "$here/auto.tsv" | grep -E "^[^	]*(${CASES:-})")
}

report() { # LABEL, HEADING
    [ -s "$work/$1" ] || return 0
    awk -v heading="$2" -v label="$1" -v json="$work/json" '
        function ratio(a, b) { return b > 0 && a > 0 ? sprintf("%.2f", a / b) : "-" }
        BEGIN { printf "%-30s %7s %7s %7s %5s %10s %9s %9s   %s\n", heading, "cpu", "cuda", "auto", "took", "auto/best", "est. cpu", "est. gpu", "estimate/measured, cpu, gpu" }
        NF > 3 {
            cpu = 1000 * $2; cuda = 1000 * $3; auto = 1000 * $4; best = cuda > 0 && cuda < cpu ? cuda : cpu
            verdict = auto <= 1.10 * best ? "" : ($5 == "gpu") == (cuda > 0 && cuda < cpu) ? "  slow" : "  wrong"
            printf "%-30s %7.0f %7.0f %7.0f %5s %10s %9.0f %9.0f   %s %s%s\n", $1, cpu, cuda, auto, $5, ratio(auto, best), 1000 * $6, 1000 * $7,
                ratio(1000 * $6, cpu), ratio(1000 * $7, cuda), verdict
            cases++
            if (auto > 0) { judged++; good += auto <= 1.10 * best; near += cpu < 2 * cuda && cuda < 2 * cpu }
            if (cpu > 0) { fit += $6 * 1000 > 0.75 * cpu && $6 * 1000 < 1.25 * cpu }
            printf "  {\"set\": \"%s\", \"name\": \"%s\", \"cpu_ms\": %.1f, \"cuda_ms\": %.1f, \"auto_ms\": %.1f, \"estimate_cpu_ms\": %.1f, \"estimate_gpu_ms\": %.1f},\n",
                label, $1, cpu, cuda, auto, 1000 * $6, 1000 * $7 >>json
        }
        END {
            if (judged) printf "auto within 110 %% of the better device: %d of %d; the devices are within a factor of 2 in %d\n", good, judged, near
            printf "estimates of the CPU within 25 %%: %d of %d\n\n", fit, cases
        }' "$work/$1"
}

begin=$SECONDS
measure alone $alone
if [ -n "$alone" ] && [ "$devices" != cpu ]; then
    "$program" --serve >"$work/served" 2>&1 &
    server=$!
    sleep 1
    only="cuda auto" dry=
    measure server --server=auto
fi
{
    echo "$(nproc) processors; $("$program" --devices | sed -n 's/^cuda:0 *//p' | head -1); commit ${GF_COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null)}; $RUNS runs, the least; ms"
    echo
    report alone "without a server"
    report server "with a server"
    echo "$((SECONDS - begin)) s"
    if [ -n "${RECKONING:-}" ]; then cat "$work/reckoning"; fi
} | tee "${results%.json}.txt"
{
    echo "{\"date\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\", \"commit\": \"${GF_COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null)}\", \"processors\": $(nproc), \"runs\": $RUNS, \"cases\": ["
    sed '$s/,$//' "$work/json"
    echo "]}"
} >"$results"
exit $failed
