#!/bin/bash
# What `make bench-batch` runs: many JPEGs of 1080p from and to memory by every device and codec that there is, beside
# what the codecs alone allow and beside peers: torchvision on CUDA, OpenCV in a process for each processor, nvJPEG alone. And single
# pictures, where `auto` must not be slower than the CPU. Whole processes, turn by turn, medians. Arguments: the program, and the one that
# calls nvJPEG, if there is one. Environment:
#   BENCH_FILES=2000, RUNS=3   pictures, and counted runs after a warm-up; the peers, which take many times as long, run once
#   BENCH_PICTURES=FOLDER      photographs to make them of, beside those of a wallpaper package; without either, the sample
#   RESULTS=FILE.json          where the figures go (tests/bench/results/batch-DATE.json)
#   GF_COMMIT=NAME             the commit, where git does not know it
set -u
program=$(readlink -f "${1:?the program}")
nvjpeg=${2:+$(readlink -f "$2")}
here=$(dirname "$(readlink -f "$0")")
. "$here/common.sh"
files=${BENCH_FILES:-2000} RUNS=${RUNS:-3}
begin batch

# ---- the pictures ----

mapfile -t photographs < <(ls /usr/share/backgrounds/*.jpg "${BENCH_PICTURES:-/nowhere}"/*.jpg 2>/dev/null)
[ ${#photographs[@]} -gt 0 ] || photographs=("$here/../../samples/harbour.png")
mkdir "$work/made" "$work/in" "$work/more"
count=0
for photograph in "${photographs[@]}"; do
    "$program" --device=cpu --strip -i "$photograph" -o "$work/made/$((count++)).jpg" --quality=90 --subsampling=420 \
        'resize=w=1920:h=1080:fit=cover' || exit 1
done
for ((i = 0; i < files; i++)); do
    cp "$work/made/$((i % count)).jpg" "$work/in/$(printf %06d "$i").jpg" || exit 1
done
for ((i = 0; i < 4 * files; i++)); do
    ln "$work/in/$(printf %06d $((i % files))).jpg" "$work/more/$(printf %06d "$i").jpg" || exit 1
done
"$program" --device=cpu -i "$work/made/0.jpg" -o "$work/large.ppm" 'resize=w=7680:h=4320:fit=cover' || exit 1
"$program" --device=cpu -i "$work/large.ppm" -o "$work/large.jpg" || exit 1
printf 'P6\n1 1\n255\nabc' >"$work/dot.ppm"

# ---- the commands: NAME|COMMAND ----

cuda=${gpu:+1}
"$program" --devices | grep -q '^cuda:1 ' && two=1 || two=
chain=blur=2,equalize
many="-q -i $work/in -o $work/out/" more="-q -i $work/more -o $work/out/" one="-q -i $work/in/000000.jpg -o $work/one.jpg"
commands=("codecs alone|$program --device=cpu $many" "cpu|$program --device=cpu $many $chain")
[ -z "$cuda" ] ||
    commands+=("cuda, codec=cpu|$program --device=cuda --codec=cpu $many $chain"
        "cuda, codec=gpu|$program --device=cuda --codec=gpu $many $chain"
        "cuda, codec=gpu, 4 times as many|$program --device=cuda --codec=gpu $more $chain"
        "cuda, codec=gpu, one|$program --device=cuda --codec=gpu $one $chain")
[ -z "$two" ] ||
    commands+=("two GPUs|$program --device=cuda:0,1 --codec=gpu $many $chain"
        "two GPUs, 4 times as many|$program --device=cuda:0,1 --codec=gpu $more $chain")
commands+=("auto|$program $many $chain")
peers=()
python3 -c 'import cv2' 2>/dev/null && peers+=("OpenCV, $(nproc) processes|python3 $here/peers/batch_opencv.py $work/in $work/out")
[ -z "$cuda" ] || ! python3 -c 'import torchvision' 2>/dev/null ||
    peers+=("torchvision, CUDA|python3 $here/peers/batch_torchvision.py $work/in $work/out")
[ -z "$nvjpeg" ] || peers+=("nvJPEG alone: no filter|$nvjpeg $work/in $work/out")
singles=()
[ -z "$cuda" ] || singles+=("start cuda|$program --device=cuda -q -i $work/dot.ppm -o $work/one.ppm invert")
for one in large.ppm large.jpg made/0.jpg; do
    for each in $chain bilateral=2.5; do
        for device in cpu ${cuda:+cuda} auto; do
            singles+=("${one##*/} $each $device|$program --device=$device -q -i $work/$one -o $work/one.${one##*.} $each")
        done
    done
done

# ---- measuring ----

measure() { # RUNS, WARM-UPS, LIST OF NAME|COMMAND -> lines "name|ms|ms of processor time" in $work/figures
    local runs=$1 warm=$2 round each number seconds TIMEFORMAT='%R %U %S'
    shift 2
    rm -f "$work"/sample.*
    for ((round = 1 - warm; round <= runs; round++)); do
        number=0
        for each in "$@"; do
            rm -rf "$work/out"
            # shellcheck disable=SC2086 # the command is words
            seconds=$({ time ${each#*|} >/dev/null 2>"$work/messages" || : >"$work/broken"; } 2>&1)
            if [ -e "$work/broken" ]; then
                echo "bench: ${each%%|*} failed: $(tail -1 "$work/messages" | cut -c1-100)" >&2
                failed=1
                rm "$work/broken"
            fi
            number=$((number + 1))
            echo "  ${each%%|*}: ${seconds%% *} s" >&2
            [ $round -le 0 ] || echo "$seconds" >>"$work/sample.$number"
        done
    done
    number=0
    for each in "$@"; do
        number=$((number + 1))
        echo "${each%%|*}|$(awk '{print 1000 * $1}' "$work/sample.$number" | median)|$(
            awk '{print 1000 * ($2 + $3)}' "$work/sample.$number" | median)" >>"$work/figures"
    done
}

rate() { # NAME -> pictures/s
    local ms
    ms=$(figure "$1")
    [ -z "$ms" ] || awk -v ms="$ms" -v n="$(pictures "$1")" 'BEGIN {printf "%.1f", 1000 * n / ms}'
}

# How many of the files that the GPU's codec wrote differ from the CPU's.
differing() {
    rm -rf "$work/out" "$work/cpu"
    "$program" -q --device=cuda --codec=gpu -i "$work/made" -o "$work/out/" $chain &&
        "$program" -q --device=cpu -i "$work/made" -o "$work/cpu/" $chain || return
    for each in "$work"/made/*; do
        cmp -s "$work/out/${each##*/}" "$work/cpu/${each##*/}" || echo "$each"
    done | wc -l
}

pictures() { # NAME -> how many it does
    case $1 in
    *', one') echo 1 ;;
    *', 4 times as many') echo $((4 * files)) ;;
    *) echo "$files" ;;
    esac
}

processor_ms() { # NAME -> of one picture
    [ -z "$(figure "$1" 3)" ] || awk -v ms="$(figure "$1" 3)" -v n="$(pictures "$1")" 'BEGIN {printf "%.2f", ms / n}'
}

# The time of each further picture, in milliseconds.
further_ms() { # NAME
    local four
    four=$(figure "$1, 4 times as many")
    [ -z "$four" ] || awk -v one="$(figure "$1")" -v four="$four" -v n="$files" 'BEGIN {printf "%.4f", (four - one) / (3 * n)}'
}

failed=0
: >"$work/figures"
: >"$work/bars"
echo "$(nproc) threads of $cpu; GPU: ${gpu:-none}; commit $commit; $files JPEGs of 1920x1080, $chain"
measure "$RUNS" 1 "${commands[@]}"
[ ${#peers[@]} = 0 ] || measure 1 0 "${peers[@]}"
measure "$RUNS" 1 "${singles[@]}"

printf '\n%-34s %10s %12s %16s\n' many ms pictures/s 'ms of a processor'
for each in "${commands[@]}" "${peers[@]}"; do
    printf '%-34s %10.0f %12s %16s\n' "${each%%|*}" "$(figure "${each%%|*}")" "$(rate "${each%%|*}")" "$(processor_ms "${each%%|*}")"
done
printf '\n%-40s %10s\n' one ms
for each in "${singles[@]}"; do
    printf '%-40s %10.1f\n' "${each%%|*}" "$(figure "${each%%|*}")"
done

beyond=null difference=null
if [ -n "$cuda" ]; then
    beyond=$(awk -v ms="$(further_ms 'cuda, codec=gpu')" 'BEGIN {printf "%.0f", 1000 / ms}')
    difference=$(differing)
    printf '\ncodec=gpu, each picture more: %s a second; files that differ from the CPU'"'"'s: %s of %s\n' "$beyond" "$difference" "$count"
    bar "codec=gpu" "$(rate 'cuda, codec=gpu')" 3500 pictures/s least
    bar "codec=gpu, 4 times as many" "$(rate 'cuda, codec=gpu, 4 times as many')" 6500 pictures/s least
    bar "codec=gpu, each picture more" "$beyond" 10000 a_second least
    bar "codec=gpu, processor time of a picture" "$(processor_ms 'cuda, codec=gpu, 4 times as many')" 1.2 ms most
    bar "codec=gpu, files that differ from the CPU's" "$difference" 0 files most
    [ -z "$two" ] || bar "two GPUs: each picture more, against one" \
        "$(awk -v two="$(further_ms 'two GPUs')" -v one="$(further_ms 'cuda, codec=gpu')" 'BEGIN {printf "%.2f", two / one}')" 0.55 times most
fi
floor=$(rate 'codecs alone')
bar "codec=cpu: 85 % of what the codecs alone allow" "$(rate 'cuda, codec=cpu')" \
    "$(awk -v f="$floor" 'BEGIN {printf "%.1f", 0.85 * f}')" pictures/s least
[ "$(nproc)" != 16 ] || bar "large.jpg, $chain, by 16 processors" "$(figure "large.jpg $chain cpu")" 90 ms most
if [ -n "$cuda" ]; then
    bar "one JPEG of 33 megapixels by auto: the time of CUDA's start and 40 % of it" \
        "$(awk -v s="$(figure "start cuda")" -v a="$(figure "large.jpg $chain auto")" 'BEGIN {printf "%.0f", 140 * s / a}')" 100 % least
    for one in large.ppm large.jpg 0.jpg; do
        for each in $chain bilateral=2.5; do
            bar "$one $each: the CPU's time within 110 % of auto's" \
                "$(awk -v c="$(figure "$one $each cpu")" -v a="$(figure "$one $each auto")" 'BEGIN {printf "%.0f", 110 * c / a}')" 100 % least
        done
    done
fi
print_bars
{
    json_head "\"files\": $files, \"chain\": \"$chain\", \"runs\": $RUNS,
 \"codec_gpu_more_pictures_s\": $beyond, \"codec_gpu_differing_files\": $difference"
    awk -F'|' '{printf "%s  {\"name\": \"%s\", \"ms\": %s, \"processor_ms\": %s}", (NR > 1 ? ",\n" : ""), $1, $2, $3} END {print "],"}' \
        "$work/figures"
    json_bars
} >"$results" || exit 1
echo "written to $results"
exit $failed
