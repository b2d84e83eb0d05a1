#!/bin/bash
# What `make bench-batch` runs: many JPEGs of 1080p from and to memory by every device and codec that there is, beside
# what the codecs alone allow; and single pictures, where `auto` must not be slower than the CPU. Whole processes, turn
# by turn, medians. Argument: the program. Environment:
#   BENCH_FILES=2000, RUNS=3   pictures, and counted runs after a warm-up; of single pictures three times as many
#   BENCH_PICTURES=FOLDER      photographs to make them of, beside those of a wallpaper package; without either, the sample
#   RESULTS=FILE.json          where the figures go (tests/bench/results/batch-DATE.json)
#   GF_COMMIT=NAME             the commit, where git does not know it
set -u
export LC_ALL=C
program=$(readlink -f "${1:?the program}")
here=$(dirname "$(readlink -f "$0")")
files=${BENCH_FILES:-2000} RUNS=${RUNS:-3}
results=${RESULTS:-$here/results/batch-$(date -u +%Y-%m-%d).json}
mkdir -p "$(dirname "$results")" || exit 1
work=$(mktemp -d /dev/shm/gpufilter-bench.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

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

# ---- the commands: NAME|ARGUMENTS ----

"$program" --devices | grep -q '^cuda:0 ' && cuda=1 || cuda=
"$program" --help | grep -q -- ' --codec=' && codec=1 || codec=
chain=blur=2,equalize
many="-q -i $work/in -o $work/out/" more="-q -i $work/more -o $work/out/" one="-q -i $work/in/000000.jpg -o $work/one.jpg"
commands=("codecs alone|--device=cpu $many" "cpu|--device=cpu $many $chain")
[ -z "$cuda" ] || commands+=("cuda${codec:+, codec=cpu}|--device=cuda ${codec:+--codec=cpu} $many $chain")
[ -z "$cuda" ] || [ -z "$codec" ] ||
    commands+=("cuda, codec=gpu|--device=cuda --codec=gpu $many $chain"
        "cuda, codec=gpu, 4 times as many|--device=cuda --codec=gpu $more $chain"
        "cuda, codec=gpu, one|--device=cuda --codec=gpu $one $chain")
commands+=("auto|$many $chain")
singles=()
[ -z "$cuda" ] || singles+=("start cuda|--device=cuda -q -i $work/dot.ppm -o $work/one.ppm invert")
for one in large.ppm large.jpg made/0.jpg; do
    for each in $chain bilateral=2.5; do
        for device in cpu ${cuda:+cuda} auto; do
            singles+=("${one##*/} $each $device|--device=$device -q -i $work/$one -o $work/one.${one##*.} $each")
        done
    done
done

# ---- measuring ----

measure() { # RUNS, LIST OF NAME|ARGUMENTS -> lines "name|ms" in $work/figures
    local runs=$1 round each begin end
    local -A samples=()
    shift
    for ((round = 0; round <= runs; round++)); do
        for each in "$@"; do
            rm -rf "$work/out"
            begin=$(date +%s%N)
            # shellcheck disable=SC2086 # the arguments are words
            if ! "$program" ${each#*|} 2>"$work/messages"; then
                echo "bench: ${each%%|*} failed: $(head -1 "$work/messages" | cut -c1-100)" >&2
                failed=1
            fi
            end=$(date +%s%N)
            [ $round = 0 ] || samples[${each%%|*}]+="$(((end - begin) / 10000)) "
        done
    done
    for each in "$@"; do
        echo "${each%%|*}|$(echo "${samples[${each%%|*}]}" | tr ' ' '\n' | grep . | sort -n |
            awk '{v[NR] = $1} END {print (NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2) / 100}')" >>"$work/figures"
    done
}

figure() { # NAME -> ms
    awk -F'|' -v name="$1" '$1 == name {print $2}' "$work/figures"
}

# bar NAME MEASURED LEAST UNIT
bar() {
    [ -n "$2" ] && [ -n "$3" ] || return 0
    echo "$1|$3|$2|$4|$(awk -v m="$2" -v l="$3" 'BEGIN {print (m >= l ? "ok" : "MISSED")}')" >>"$work/bars"
}

rate() { # NAME -> pictures/s
    local ms n=$files
    ms=$(figure "$1")
    case $1 in
    *', one') n=1 ;;
    *', 4 times as many') n=$((4 * files)) ;;
    esac
    [ -z "$ms" ] || awk -v ms="$ms" -v n="$n" 'BEGIN {printf "%.1f", 1000 * n / ms}'
}

# Largest and mean difference of the made pictures as the GPU's codec and the CPU's decode them.
decoding() {
    local i
    for ((i = 0; i < count; i++)); do
        "$program" -q --device=cuda --codec=gpu -i "$work/made/$i.jpg" -o "$work/gpu.ppm" hflip || return
        "$program" -q --device=cpu -i "$work/made/$i.jpg" -o "$work/cpu.ppm" hflip || return
        wc -c <"$work/cpu.ppm"
        cmp -l "$work/cpu.ppm" "$work/gpu.ppm"
    done | awk 'function octal(s,  v, k) { for (k = 1; k <= length(s); k++) v = 8 * v + substr(s, k, 1); return v }
        NF == 1 { bytes += $1; next }
        { d = octal($2) - octal($3); d = d < 0 ? -d : d; sum += d; if (d > most) most = d }
        END { printf "{\"largest\": %d, \"mean\": %.6f}", most, sum / bytes }'
}

failed=0
: >"$work/figures"
: >"$work/bars"
commit=${GF_COMMIT:-$(git -C "$here" describe --always --dirty 2>/dev/null || echo unknown)}
cpu_model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1 | tr -d '"\\')
gpu=$("$program" --devices | sed -n 's/^cuda:0  *//p' | head -1 | tr -d '"\\')
driver=$("$program" --devices | sed -n '2s/^ *driver \([0-9.]*\).*/\1/p')
echo "$(nproc) threads of $cpu_model; GPU: ${gpu:-none}; commit $commit; $files JPEGs of 1920x1080, $chain"
measure "$RUNS" "${commands[@]}"
measure $((3 * RUNS)) "${singles[@]}"

printf '\n%-34s %10s %12s\n' many ms pictures/s
for each in "${commands[@]}"; do
    printf '%-34s %10.0f %12s\n' "${each%%|*}" "$(figure "${each%%|*}")" "$(rate "${each%%|*}")"
done
printf '\n%-40s %10s\n' one ms
for each in "${singles[@]}"; do
    printf '%-40s %10.1f\n' "${each%%|*}" "$(figure "${each%%|*}")"
done

beyond=null difference=null
if [ -n "$(figure 'cuda, codec=gpu')" ]; then
    beyond=$(awk -v one="$(figure 'cuda, codec=gpu')" -v four="$(figure 'cuda, codec=gpu, 4 times as many')" -v n="$files" \
        'BEGIN {printf "%.0f", 3000 * n / (four - one)}')
    difference=$(decoding)
    printf '\ncodec=gpu, each picture more: %s a second; decoded, against libjpeg: %s\n' "$beyond" "$difference"
fi

floor=$(rate 'codecs alone')
bar "codec=cpu: 85 % of what the codecs alone allow" "$(rate "cuda${codec:+, codec=cpu}")" \
    "$(awk -v f="$floor" 'BEGIN {printf "%.1f", 0.85 * f}')" pictures/s
bar "codec=gpu" "$(rate 'cuda, codec=gpu')" 3000 pictures/s
if [ -n "$cuda" ]; then
    bar "one JPEG of 33 megapixels by auto: the time of CUDA's start and 40 % of it" \
        "$(awk -v s="$(figure "start cuda")" -v a="$(figure "large.jpg $chain auto")" 'BEGIN {printf "%.0f", 140 * s / a}')" 100 %
    for one in large.ppm large.jpg 0.jpg; do
        for each in $chain bilateral=2.5; do
            bar "$one $each: the CPU's time within 110 % of auto's" \
                "$(awk -v c="$(figure "$one $each cpu")" -v a="$(figure "$one $each auto")" 'BEGIN {printf "%.0f", 110 * c / a}')" 100 %
        done
    done
fi
if [ -s "$work/bars" ]; then
    printf '\n%-76s %10s %10s\n' bar 'at least' measured
    awk -F'|' '{printf "%-76s %10s %10s %-10s %s\n", $1, $2, $3, $4, $5}' "$work/bars"
fi
{
    echo "{\"date\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\", \"commit\": \"$commit\", \"cpu\": \"$cpu_model\", \"threads\": $(nproc),"
    echo " \"gpu\": \"$gpu\", \"driver\": \"$driver\", \"files\": $files, \"chain\": \"$chain\", \"runs\": $RUNS,"
    echo " \"codec_gpu_more_pictures_s\": $beyond, \"codec_gpu_decoding_difference\": $difference, \"figures\": ["
    awk -F'|' '{printf "%s  {\"name\": \"%s\", \"ms\": %s}", (NR > 1 ? ",\n" : ""), $1, $2} END {print "],"}' "$work/figures"
    echo ' "bars": ['
    awk -F'|' '{printf "%s  {\"name\": \"%s\", \"at_least\": %s, \"measured\": %s, \"unit\": \"%s\", \"verdict\": \"%s\"}",
        (NR > 1 ? ",\n" : ""), $1, $2, $3, $4, $5} END {print "]}"}' "$work/bars"
} >"$results" || exit 1
echo "written to $results"
exit $failed
