#!/bin/bash
# What `make bench-jpeg` runs. Arguments: the benchmark, the program that draws pages, the program. Environment:
#   BENCH_PICTURES=FOLDER  photographs, beside those of a wallpaper package; without either, the sample
#   RESULTS=FILE.json      where the figures go (tests/bench/results/jpeg-DATE.json)
#   GF_COMMIT=NAME         the commit, where git does not know it
set -eu
coder=$1 page=$2 program=$3
here=$(dirname "$(readlink -f "$0")")
. "$here/../common.sh"
begin jpeg

mapfile -t photographs < <(ls /usr/share/backgrounds/*.jpg "${BENCH_PICTURES:-/nowhere}"/*.{jpg,png} 2>/dev/null)
[ ${#photographs[@]} -gt 0 ] || photographs=("$here/../../../samples/harbour.png")

made=
for sampling in 420 422 444; do
    list=
    for ((i = 0; i < ${#photographs[@]} && i < 8; i++)); do
        file=$work/$sampling-$i.jpg
        "$program" -q --device=cpu --strip -i "${photographs[i]}" -o "$file" --quality=90 --subsampling=$sampling \
            'resize=w=1920:h=1080:fit=cover'
        list=$list,$file
    done
    made="$made photographs-$sampling=64:${list#,}"
    for reduction in 2 4 8; do
        made="$made photographs-$sampling-1/$reduction=64/$reduction:${list#,}"
    done
    [ $sampling = 420 ] && made="photograph-1=1:${list#,} photographs-16=16:${list#,} $made photographs-256=256:${list#,}"
done
"$program" -q --device=cpu --strip -i "${photographs[0]}" -o "$work/large.jpg" --quality=90 'resize=w=7680:h=4320:fit=cover'
"$page" 1920 1080 1 >"$work/text.ppm"
"$page" 1920 1080 0.1 >"$work/white.ppm"
"$page" 7680 4320 1 >"$work/text33.ppm"
"$page" 7680 4320 0.1 >"$work/white33.ppm"
for each in text white text33 white33; do
    "$program" -q --device=cpu -i "$work/$each.ppm" -o "$work/$each.jpg" --quality=90 blur=0.7
done

about="${#photographs[@]} photographs scaled to 1920x1080 and one to 7680x4320, quality 90; made pages of text, whole and in the upper tenth"
echo "commit $commit; $about"
# shellcheck disable=SC2086 # a list of words
"$coder" "$results" "$commit" "$about" $made "photograph-33M=1:$work/large.jpg" "text=64:$work/text.jpg" "white=64:$work/white.jpg" \
    "text-33M=1:$work/text33.jpg" "white-33M=1:$work/white33.jpg"
echo "written to $results"
