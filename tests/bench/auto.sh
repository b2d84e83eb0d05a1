#!/bin/bash
# What `make bench-auto` runs: whether --device=auto takes the device that is done sooner. Each case of auto.tsv by the CPU, by the GPU and by
# auto, whole processes, by turns, without a server and with one. The least of a device's runs counts. A device that takes more than 1.5 times as
# long as another in the first round has one run only; quick cases, and those near the bar, on either side of it, have more rounds, as the time
# allows, so that no single run decides. A process with a GPU leaves the driver with work after its end, which the next start of CUDA waits for:
# a pause comes before each. With a server the CPU takes what it took without, and runs again where that is near what the server takes.
# The figures are calibrated first, in a folder of their own. Argument: the program. Environment:
#   MOST_S=110            seconds that the whole may take; a slow machine takes longer, with two rounds of each case
#   PAUSE=100             ms from the end of a process that may have started the GPU to the start of the next
#   CALIBRATE=0           by the declared figures
#   FIGURES=1             instead of auto's times: which device auto takes by declared and by calibrated figures, and in how many cases it is right
#   SETS="alone server"   without a server, with one
#   CASES=PATTERN         only the cases whose names match (grep -E)
#   RESULTS=FILE.json     where the figures go (tests/bench/results/auto-DATE.json, and .txt)
#   BENCH_HEIC=FILE       the picture of the cases of HEIC where there is no heif-enc
#   RECKONING=1           also prints the figures that each estimate was made of
#   GF_COMMIT=NAME        the commit, where git does not know it
set -u
program=$(readlink -f "${1:?the program}")
here=$(dirname "$(readlink -f "$0")")
. "$here/common.sh"
MOST_S=${MOST_S:-110} PAUSE=${PAUSE:-100} SETS=${SETS:-alone server}
start_us=${EPOCHREALTIME/./}
begin auto
need_gpu bench-auto
keep_apart

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
make_picture 12m 4000 3000
make_picture 24m 6000 4000
make_picture 33m 7680 4320
printf 'P6\n1 1\n255\nabc' >"$work/dot.ppm"

# The other forms of a picture, made when a case asks for one. It fails where the program, or Python with OpenCV, cannot write it.
make_form() { # NAME.FORM
    local from=$work/${1%%.*}.ppm
    [ ! -e "$work/$1" ] || return 0
    case $1 in
    *.progressive.jpg) "$program" --device=cpu -q --progressive -i "$from" -o "$work/$1" ;;
    *.heic) heif-enc -q 60 -o "$work/$1" "$work/${1%.*}.png" >/dev/null || cp "${BENCH_HEIC:-/nowhere}" "$work/$1" ;;
    *.other.png) python3 -c 'import cv2, sys; cv2.imwrite(sys.argv[2], cv2.imread(sys.argv[1]), [cv2.IMWRITE_PNG_COMPRESSION, 6])' "$from" "$work/$1" ;;
    *) "$program" --device=cpu -q -i "$from" -o "$work/$1" ;;
    esac 2>/dev/null
    [ -s "$work/$1" ]
}

film_of() { # PICTURE, FRAMES -> a film of so many of it
    local film=$work/$2x$1 frame=()
    while [ ${#frame[@]} -lt $((2 * $2)) ]; do
        frame+=(-i "$work/${1%.y4m}.ppm")
    done
    [ -e "$film" ] || "$program" --device=cpu -q "${frame[@]}" -o "$film" || return 1
    echo "$film"
}

archive_of() { # PICTURE, FILES -> an archive of so many of it
    local folder archive=$work/$2x$1.tar
    folder=$(folder_of "$1" "$2")
    [ -e "$archive" ] || tar --hard-dereference -C "$work" -cf "$archive" "${folder##*/}" || return 1
    echo "$archive"
}

folder_of() { # PICTURE, FILES -> a folder with so many names of it
    local folder=$work/$2x$1
    if [ ! -d "$folder" ]; then
        mkdir "$folder"
        seq "$2" | xargs -P 8 -I{} ln "$work/$1" "$folder/{}.${1##*.}"
    fi
    echo "$folder"
}

# Sets what a case's run is given: input, output, arguments. It fails where the case needs a format that is missing.
place_case() { # PICTURE, FILES, ENDING, CHAIN, MORE
    local formats
    formats=" $("$program" --version | tr 'A-Z,\n' 'a-z  ') "
    case $3 in
    webp | avif | tar) [[ $formats == *" $3 "* ]] || return 1 ;;
    tif) [[ $formats == *" tiff "* ]] || return 1 ;;
    esac
    # One picture of several has no log.
    [[ $5 == --* ]] && arguments=() || arguments=(--log="$work/log")
    [ "$4" = - ] || arguments+=("$4")
    # shellcheck disable=SC2206 # several words
    arguments+=(${5//OUT/$work/out})
    output=$work/out/o.$3
    case $1 in
    *.y4m) input=$(film_of "$1" "$2") ;;
    *)
        make_form "$1" || return 1
        if [ "$2" = 1 ]; then
            input=$work/$1
        elif [ "$3" = tar ]; then
            input=$(archive_of "$1" "$2")
        else
            input=$(folder_of "$1" "$2")
            [[ $5 == --* ]] || output="$work/out/{stem}.$3"
        fi
        ;;
    esac
}

# ---- a run ----

quiet_from=0 # when a process that may have started the GPU has ended, in microseconds
settle() {
    local left=$((quiet_from + 1000 * PAUSE - ${EPOCHREALTIME/./}))
    [ "$left" -le 0 ] || sleep "$(printf '0.%06d' "$left")"
}

failed=0
run() { # DEVICE: the case by it; its microseconds are added to $work/us.DEVICE, and auto's device to $work/took
    local start us='' talk=-q
    rm -rf "$work/out" "$work/log"
    mkdir "$work/out"
    [ "$1" != auto ] || [ -e "$work/told" ] || talk=-v # the first time
    [ "$1" = cpu ] || settle
    start=${EPOCHREALTIME/./}
    if "$program" $talk "$server_option" --device="$1" -i "$input" -o "$output" "${arguments[@]}" >/dev/null 2>"$work/messages"; then
        us=$((${EPOCHREALTIME/./} - start))
    else
        echo "bench-auto: $name by $1 failed: $(tail -1 "$work/messages")" >&2
        failed=1
    fi
    # By a server the process has no GPU of its own.
    [ "$1" = cpu ] || grep -qs "by the server" "$work/log" || quiet_from=${EPOCHREALTIME/./}
    [ -z "$us" ] || echo "$us" >>"$work/us.$1"
    [ "$1" = auto ] || return 0
    if [ -e "$work/log" ]; then
        grep -oE '"device":"[^"]+' "$work/log" | sed 's/.*"cpu.*/cpu/;/^cpu$/!s/.*/gpu/' >>"$work/took"
    else
        grep -oE 'files on (CUDA|the CPU)' "$work/messages" | sed 's/.*CPU/cpu/;s/.*CUDA/gpu/' >>"$work/took"
    fi
    [ -e "$work/told" ] || grep -E 'estimate: |declared: |calibrated: ' "$work/messages" | cut -d: -f2- >"$work/told"
}

least() { # DEVICE -> microseconds
    sort -n "$work/us.$1" 2>/dev/null | head -1
}

# ---- a case ----

rounds_of() { # LEAST -> the rounds of a case that takes so many microseconds at least
    if [ "$1" -lt 30000 ]; then echo 10; elif [ "$1" -lt 100000 ]; then echo 4; else echo 2; fi
}

is_near_the_bar() {
    local cpu cuda auto best
    cpu=$(least cpu) cuda=$(least cuda)
    best=$((cpu < cuda ? cpu : cuda))
    if [ -n "${FIGURES:-}" ]; then auto=$((cpu + cuda - best)); else auto=$(least auto); fi
    [ $((100 * auto)) -gt $((104 * best)) ] && [ $((100 * auto)) -lt $((125 * best)) ]
}

# Whether so many cases of all may have taken the time that has passed.
is_on_time() {
    [ $((${EPOCHREALTIME/./} - first_case)) -lt $(((start_us + 1000000 * MOST_S - first_case) * (weight_before * cases + weight * done_cases) / (100 * cases))) ]
}

measure_case() {
    local round rounds=1 best device order extended=
    rm -f "$work"/us.* "$work/took" "$work/told"
    for ((round = 1; round <= rounds; round++)); do
        [ $((round % 2)) = 0 ] && order="auto cpu cuda" || order="cuda cpu auto"
        if [ -n "${FIGURES:-}" ]; then
            order=${order/auto/}
        fi
        for device in $order; do
            if [ $round = 1 ] && [ "$device" = cpu ] && [ -s "$work/cpu.$name" ]; then
                cp "$work/cpu.$name" "$work/us.cpu"
                [ $((2 * $(least cpu))) -gt $((3 * $(least cuda))) ] || run cpu
            elif [ $round = 1 ] || [ "$device" = auto ] || [ $((2 * $(least "$device"))) -le $((3 * best)) ]; then
                run "$device"
            fi
            [ -s "$work/us.$device" ] || return 1
        done
        best=$(sort -n "$work"/us.* | head -1)
        [ $round != 1 ] || rounds=$(rounds_of "$best")
        if [ $round -ge 2 ] && ! is_on_time; then
            break
        fi
        if [ $round = $rounds ] && [ -z "$extended" ] && is_near_the_bar; then
            extended=1
            rounds=$((2 * rounds))
        fi
    done
    cp "$work/us.cpu" "$work/cpu.$name"
}

# ---- figures of several origins ----

kinds="declared calibrated"

prepare_figures() { # a folder for each origin; that of the declared ones is empty
    mkdir -p "$work/figures/declared" "$work/figures/calibrated" || exit 1
    XDG_CACHE_HOME=$work/figures/calibrated "$program" --calibrate >"$work/calibration" || exit 1
}

# One run of each case by auto with the figures of each origin. Writes lines into $work/SET.chosen: origin, name, device, seconds expected of the CPU and of the GPU.
weigh() { # SET, OPTION
    local set=$1 server_option=$2 name picture files ending chain more input output arguments kind
    while IFS=$'\t' read -r name picture files ending chain more <&3; do
        place_case "$picture" "$files" "$ending" "$chain" "$more" || continue
        for kind in $kinds; do
            rm -f "$work/took" "$work/told"
            XDG_CACHE_HOME=$work/figures/$kind run auto
            { echo "$set $name $kind"; cat "$work/told"; } >>"$work/reckoning"
            echo "$kind $name $(sort -u "$work/took" | paste -sd/)" \
                "$(sed -n 's/^ *estimate: CPU \([0-9.]*\) s, GPU \([0-9.]*\) s.*/\1 \2/p' "$work/told" | head -1)" >>"$work/$set.chosen"
        done
    done 3<"$work/cases"
}

# A device is right that takes at most 110 % of the better one's time.
report_chosen() { # SET, HEADING
    [ -s "$work/$1.chosen" ] || return 0
    awk -v heading="$2" -v set="$1" -v json="$work/json" -v kinds="$kinds" '
        BEGIN {
            count = split(kinds, kind, " ")
            printf "%-27s %8s %8s", heading, "cpu", "gpu"
            for (k = 1; k <= count; k++)
                printf "  %-22s", kind[k]
            print ""
        }
        FNR == NR { took[$2, $1] = $3; expected[$2, $1] = sprintf("%.0f/%.0f", 1000 * $4, 1000 * $5); next }
        {
            cpu = $2 / 1000; gpu = $3 / 1000; best = gpu < cpu ? gpu : cpu; cases++
            printf "%-27s %8.1f %8.1f", $1, cpu, gpu
            for (k = 1; k <= count; k++) {
                device = took[$1, kind[k]]; time = device ~ /gpu/ ? gpu : cpu; is_right = device != "" && time <= 1.10 * best
                right[k] += is_right; lost[k] += device == "" ? 0 : time - best
                if (!is_right)
                    wrong[k] = wrong[k] " " $1
                printf "  %-22s", device " " expected[$1, kind[k]] (is_right ? "" : " WRONG")
                printf "  {\"set\": \"%s\", \"name\": \"%s\", \"figures\": \"%s\", \"cpu_ms\": %.2f, \"gpu_ms\": %.2f, \"took\": \"%s\", " \
                    "\"right\": %s},\n", set, $1, kind[k], cpu, gpu, device, is_right ? "true" : "false" >>json
            }
            print ""
        }
        END {
            for (k = 1; k <= count; k++)
                printf "%-18s right in %d of %d; %.0f ms lost in all; wrong:%s\n", kind[k], right[k], cases, lost[k],
                    wrong[k] == "" ? " none" : wrong[k]
            print ""
        }' "$work/$1.chosen" "$work/$1"
}

measure() { # SET, OPTION -> lines in $work/SET: name; microseconds of the CPU, the GPU, auto; auto's device; seconds expected; runs
    local set=$1 server_option=$2 name picture files ending chain more input output arguments expected done_cases=0
    while IFS=$'\t' read -r name picture files ending chain more <&3; do
        place_case "$picture" "$files" "$ending" "$chain" "$more" ||
            { echo "bench-auto: $name is left out: $picture or .$ending cannot be made here" >&2; continue; }
        done_cases=$((done_cases + 1))
        measure_case || continue
        if [ -n "${FIGURES:-}" ]; then
            echo "$name $(least cpu) $(least cuda) $(wc -l <"$work/us.cpu") $(wc -l <"$work/us.cuda")" | tee -a "$work/$set" >&2
            continue
        fi
        { echo "$set $name"; cat "$work/told"; } >>"$work/reckoning"
        expected=$(sed -n 's/^ *estimate: CPU \([0-9.]*\) s, GPU \([0-9.]*\) s.*/\1 \2/p' "$work/told" | head -1)
        echo "$name $(least cpu) $(least cuda) $(least auto) $(sort -u "$work/took" | paste -sd/) ${expected:-0 0} $(wc -l <"$work/us.auto")" |
            tee -a "$work/$set" >&2
    done 3<"$work/cases"
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
            printf "within 110 %% of the better device: %d of %d (bar: 92 %%) %s; slower, by the better device: %d; by the other: %d\n", count["ok"], cases,
                (100 * count["ok"] >= 92 * cases ? "ok" : "MISSED"), count["slow"], count["wrong"]
            printf "the devices are within a factor of 2 in %d (bar: 10); estimates within 25 %%: of the CPU %d, of the GPU %d\n\n", near, fit_cpu, fit_gpu
        }' "$work/$1"
}

grep -v '^#' "$here/auto.tsv" | grep -E "^(${CASES:-})" >"$work/cases"
cases=$(wc -l <"$work/cases")
if [ -n "${FIGURES:-}" ]; then
    prepare_figures
elif [ "${CALIBRATE:-1}" != 0 ]; then
    "$program" --calibrate >"$work/calibration" || exit 1
fi
first_case=${EPOCHREALTIME/./} weight_before=0 weight=100 # hundredths of the time
if [[ $SETS == *alone* ]]; then
    [[ $SETS != *server* ]] || weight=62
    measure alone --server=off
    weight_before=$weight weight=$((100 - weight))
fi
if [[ $SETS == *server* ]]; then
    start_server
    measure server --server=auto
    [ -z "${FIGURES:-}" ] || weigh server --server=auto
    stop_server
fi
[ -z "${FIGURES:-}" ] || [[ $SETS != *alone* ]] || weigh alone --server=off
{
    echo "$(nproc) processors; $gpu; commit $commit; ms, the least of the runs; $(((${EPOCHREALTIME/./} - start_us) / 1000000)) s"
    echo
    "report${FIGURES:+_chosen}" alone "without a server"
    "report${FIGURES:+_chosen}" server "with a server"
    [ -z "${RECKONING:-}" ] || cat "$work/reckoning"
} | tee "${results%.json}.txt"
{
    echo "{\"date\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\", \"commit\": \"$commit\", \"processors\": $(nproc), \"gpu\": \"$gpu\", \"cases\": ["
    sed '$s/,$//' "$work/json"
    echo "]}"
} >"$results" || exit 1
exit $failed
