#!/bin/bash
# What `make bench-auto` runs: whether --device=auto takes the device that is done sooner. Each case of auto.tsv by the CPU, by the GPU and by
# auto, whole processes, by turns, without a server and with one. The least of a device's runs counts. A device that takes more than 1.5 times as
# long as another in the first round has one run only; what is near the bar, on either side of it, has twice as many rounds, so that no single
# run decides. A process with a GPU leaves the driver with work after its end, which the next start of CUDA waits for: a pause comes before each.
# The figures are calibrated first, in a folder of their own, and the runs go on learning. Argument: the program. Environment:
#   ROUNDS=3              rounds of a case; twice as many below 0.1 s, five times below 0.03 s
#   PAUSE=100             ms from the end of a process that may have started the GPU to the start of the next
#   CALIBRATE=0           by the declared figures, and by what the runs teach
#   SETS="alone server"   without a server, with one
#   CASES=PATTERN         only the cases whose names match (grep -E)
#   RESULTS=FILE.json     where the figures go (tests/bench/results/auto-DATE.json, and .txt)
#   RECKONING=1           also prints the figures that each estimate was made of
#   GF_COMMIT=NAME        the commit, where git does not know it
set -u
export LC_ALL=C
program=$(readlink -f "${1:?the program}")
here=$(dirname "$(readlink -f "$0")")
ROUNDS=${ROUNDS:-3} PAUSE=${PAUSE:-100} SETS=${SETS:-alone server}
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
"$program" --devices | grep -q '^cuda:0 ' || { echo "bench-auto: there is no GPU" >&2; exit 3; }

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

# ---- a run ----

quiet_from=0 # when a process that may have started the GPU has ended, in microseconds
settle() {
    local left=$((quiet_from + 1000 * PAUSE - ${EPOCHREALTIME/./}))
    [ "$left" -le 0 ] || sleep "$(printf '0.%06d' "$left")"
}

failed=0
run() { # DEVICE: the case by it; its microseconds are added to $work/us.DEVICE, and auto's device to $work/took
    local begin us=
    rm -rf "$work/out" "$work/log"
    mkdir "$work/out"
    [ "$1" = cpu ] || settle
    begin=${EPOCHREALTIME/./}
    if "$program" -q "$server_option" --device="$1" --log="$work/log" -i "$input" -o "$output" "$chain" >/dev/null 2>"$work/messages"; then
        us=$((${EPOCHREALTIME/./} - begin))
    else
        echo "bench-auto: $name by $1 failed: $(tail -1 "$work/messages")" >&2
        failed=1
    fi
    # By a server the process has no GPU of its own.
    [ "$1" = cpu ] || grep -q "by the server" "$work/log" || quiet_from=${EPOCHREALTIME/./}
    [ -z "$us" ] || echo "$us" >>"$work/us.$1"
    [ "$1" != auto ] || grep -o '"device":"[^"]*' "$work/log" | sed 's/.*"cpu.*/cpu/;/^cpu$/!s/.*/gpu/' >>"$work/took"
}

least() { # DEVICE -> microseconds
    sort -n "$work/us.$1" 2>/dev/null | head -1
}

# ---- a case ----

rounds_of() { # LEAST -> the rounds of a case that takes so long at least
    if [ "$1" -lt 30000 ]; then echo $((5 * ROUNDS)); elif [ "$1" -lt 100000 ]; then echo $((2 * ROUNDS)); else echo "$ROUNDS"; fi
}

is_near_the_bar() {
    local cpu cuda auto best
    cpu=$(least cpu) cuda=$(least cuda) auto=$(least auto)
    best=$((cpu < cuda ? cpu : cuda))
    [ $((100 * auto)) -gt $((104 * best)) ] && [ $((100 * auto)) -lt $((125 * best)) ]
}

measure_case() {
    local round rounds=1 best device order extended=
    rm -f "$work"/us.* "$work/took"
    for ((round = 1; round <= rounds; round++)); do
        case $((round % 3)) in
        1) order="cpu cuda auto" ;;
        2) order="auto cpu cuda" ;;
        *) order="cuda auto cpu" ;;
        esac
        for device in $order; do
            [ $round = 1 ] || [ "$device" = auto ] || [ $((2 * $(least "$device"))) -le $((3 * best)) ] || continue
            run "$device"
        done
        [ -s "$work/us.cpu" ] && [ -s "$work/us.cuda" ] && [ -s "$work/us.auto" ] || return 1
        best=$(sort -n "$work"/us.* | head -1)
        [ $round = 1 ] && rounds=$(rounds_of "$best")
        if [ $round = $rounds ] && [ -z "$extended" ] && is_near_the_bar; then
            extended=1
            rounds=$((2 * rounds))
        fi
    done
}

# What the program expects, in seconds: of the CPU, of the GPU. What is expected of a server only a run tells.
expect() {
    "$program" -v "$server_option" $dry -i "$input" -o "$output" "$chain" 2>&1 >/dev/null | grep -E 'estimate: |declared: |calibrated: |learned: ' |
        cut -d: -f2- >"$work/told"
    { echo "$set $name"; cat "$work/told"; } >>"$work/reckoning"
    sed -n 's/^ *estimate: CPU \([0-9.]*\) s, GPU \([0-9.]*\) s.*/\1 \2/p' "$work/told" | head -1
}

measure() { # SET, OPTION -> lines in $work/SET: name; microseconds of the CPU, the GPU, auto; auto's device; seconds expected; runs
    local set=$1 server_option=$2 name picture files ending chain input output expected dry=
    [ "$1" = server ] || dry=--dry-run
    while IFS=$'\t' read -r name picture files ending chain <&3; do
        input=$work/$picture output=$work/out/o.$ending
        [ "$files" = 1 ] || { input=$(folder_of "$picture" "$files"); output=$work/out/; }
        rm -rf "$work/out"
        mkdir "$work/out"
        expected=$(expect)
        measure_case || continue
        echo "$name $(least cpu) $(least cuda) $(least auto) $(sort -u "$work/took" | paste -sd/) ${expected:-0 0} $(wc -l <"$work/us.auto")" |
            tee -a "$work/$set" >&2
    done 3< <(grep -v '^#' "$here/auto.tsv" | grep -E "^(${CASES:-})")
}

report() { # SET, HEADING
    [ -s "$work/$1" ] || return 0
    awk -v heading="$2" -v set="$1" -v json="$work/json" '
        function ratio(a, b) { return b > 0 ? sprintf("%.2f", a / b) : "-" }
        BEGIN {
            printf "%-27s %8s %8s %8s %-7s %9s %5s %9s %9s %9s %9s\n", heading, "cpu", "gpu", "auto", "took", "auto/best", "runs", "est. cpu", "est. gpu",
                "est/cpu", "est/gpu"
        }
        {
            cpu = $2 / 1000; gpu = $3 / 1000; auto = $4 / 1000; best = gpu < cpu ? gpu : cpu
            verdict = auto <= 1.10 * best ? "ok" : $5 == (gpu < cpu ? "gpu" : "cpu") ? "slow" : "wrong"
            printf "%-27s %8.1f %8.1f %8.1f %-7s %9s %5d %9.0f %9.0f %9s %9s  %s\n", $1, cpu, gpu, auto, $5, ratio(auto, best), $8, 1000 * $6, 1000 * $7,
                ratio(1000 * $6, cpu), ratio(1000 * $7, gpu), verdict == "ok" ? "" : verdict
            printf "  {\"set\": \"%s\", \"name\": \"%s\", \"cpu_ms\": %.2f, \"gpu_ms\": %.2f, \"auto_ms\": %.2f, \"took\": \"%s\", \"runs\": %d, " \
                "\"estimate_cpu_ms\": %.1f, \"estimate_gpu_ms\": %.1f, \"verdict\": \"%s\"},\n", set, $1, cpu, gpu, auto, $5, $8, 1000 * $6, 1000 * $7,
                verdict >>json
            cases++; count[verdict]++
            near += cpu < 2 * gpu && gpu < 2 * cpu
            fit_cpu += 1000 * $6 > 0.75 * cpu && 1000 * $6 < 1.25 * cpu
            fit_gpu += 1000 * $7 > 0.75 * gpu && 1000 * $7 < 1.25 * gpu
        }
        END {
            printf "within 110 %% of the better device: %d of %d (bar: 28 of 37) %s; slower, by the better device: %d; by the other: %d\n", count["ok"], cases,
                (37 * count["ok"] >= 28 * cases ? "ok" : "MISSED"), count["slow"], count["wrong"]
            printf "the devices are within a factor of 2 in %d (bar: 10); estimates within 25 %%: of the CPU %d, of the GPU %d\n\n", near, fit_cpu, fit_gpu
        }' "$work/$1"
}

begin=$SECONDS
[ "${CALIBRATE:-1}" = 0 ] || "$program" --calibrate >"$work/calibration" || exit 1
[[ $SETS != *alone* ]] || measure alone --server=off
if [[ $SETS == *server* ]]; then
    "$program" --serve >"$work/served" 2>&1 &
    server=$!
    for ((tries = 0; tries < 1000; tries++)); do
        grep -q serving "$work/served" && break
        sleep 0.01
    done
    measure server --server=auto
fi
commit=${GF_COMMIT:-$(git -C "$here" describe --always --dirty 2>/dev/null || echo unknown)}
gpu=$("$program" --devices | sed -n 's/^cuda:0 *//p' | head -1 | tr -d '"\\')
{
    echo "$(nproc) processors; $gpu; commit $commit; ms, the least of the runs; $((SECONDS - begin)) s"
    echo
    report alone "without a server"
    report server "with a server"
    [ -z "${RECKONING:-}" ] || cat "$work/reckoning"
} | tee "${results%.json}.txt"
{
    echo "{\"date\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\", \"commit\": \"$commit\", \"processors\": $(nproc), \"gpu\": \"$gpu\", \"rounds\": $ROUNDS, \"cases\": ["
    sed '$s/,$//' "$work/json"
    echo "]}"
} >"$results" || exit 1
exit $failed
