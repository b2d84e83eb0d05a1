#!/bin/bash
# What `make bench-thumbnail` runs: thumbnails of JPEGs beside vipsthumbnail, ImageMagick, OpenCV, torchvision, Pillow and
# sharp, as far as they are here, and two outputs of one decoding beside two runs. Whole processes, turn by turn, medians of wall
# and processor time. Argument: the program. Environment:
#   BENCH_PICTURES=DIR   photographs, enlarged to 24 megapixels and to 1920x1080 (the sample picture)
#   RUNS=9               counted runs, after one that is not; the thousand pictures run once
#   BENCH_FILES=1000     of 12 megapixels; 0 leaves them out
#   BENCH_SECONDS=130    for all runs together: then there are fewer, and what has had no time is named
#   BENCH_DIR=DIR        where the pictures go (a new folder in /dev/shm)
#   RESULTS=FILE.json    where the figures go (tests/bench/results/thumbnail-DATE.json, and .txt)
#   GF_COMMIT=NAME       the commit, where git does not know it
# Every tool may decode at a fraction of the size: gpufilter's thumbnail, vipsthumbnail, ImageMagick's jpeg:size, Pillow's
# draft, sharp.
set -eu
program=$(readlink -f "${1:?the program}")
here=$(dirname "$(readlink -f "$0")")
. "$here/common.sh"
RUNS=${RUNS:-9}
files=${BENCH_FILES:-1000}
begin thumbnail "${BENCH_DIR:-}"
vips=$(type -P vipsthumbnail || :)
magick=$(type -P convert || :)
processors=$(nproc)

has() { # MODULE: whether Python has it
    python3 -c "import $1" 2>/dev/null
}

# ---- the pictures: large.jpg, 64 in hd/, and `files` in many/, which are sixteen different ones ----

mapfile -t photographs < <(find "${BENCH_PICTURES:-$here/../../samples}" -maxdepth 1 -type f \
    \( -name '*.png' -o -name '*.jpg' -o -name '*.jpeg' \) ! -name 'report*' | sort)
[ ${#photographs[@]} -gt 0 ] || photographs=("$here/../../samples/harbour.png")
mkdir "$work/hd" "$work/out" "$work/some" "$work/many"
photograph() { # NUMBER FILE GRAVITIES OPTIONS CHAIN: {} of the chain is one of the gravities
    local gravities
    read -ra gravities <<<"$3"
    # shellcheck disable=SC2086 # the options are words
    "$program" -q --device=cpu --quality=90 $4 -i "${photographs[$1 % ${#photographs[@]}]}" -o "$2" \
        "${5/\{\}/${gravities[$1 % ${#gravities[@]}]}}"
}
for ((i = 0; i < 12; i++)); do # 64 of them are links to these
    photograph $i "$work/hd/$i.jpg" "north centre south" "" 'resize=1920:1080:fit=cover:gravity={}'
done
for ((i = 12; i < 64; i++)); do
    ln "$work/hd/$((i % 12)).jpg" "$work/hd/$i.jpg"
done
photograph 0 "$work/large.jpg" centre "" 'resize=6000:4000:fit=cover:gravity={}'
# Enlarged pictures have little detail: sharpening gives them the bytes of photographs.
for ((i = 0; files && i < 16; i++)); do
    photograph $i "$work/some/$i.jpg" "north centre south west" --subsampling=420 \
        "resize=4000:3000:fit=cover:gravity={},unsharp=sigma=2:amount=$((4 + i / 4))$( ((i % 2)) && echo ,hflip)"
done
for ((i = 0; i < files; i++)); do
    ln "$work/some/$((i % 16)).jpg" "$work/many/$(printf %04d "$i").jpg"
done

# ---- the runs ----

run_one() { # TOOL: large.jpg to 500 wide
    case $1 in
        gpufilter) "$program" -q --device=cpu -i large.jpg -o out/a.jpg --quality=75 thumbnail=500 ;;
        vips) "$vips" large.jpg -s 500 -o "$work/out/b.jpg" ;;
        magick) "$magick" -define jpeg:size=1000x1000 large.jpg -thumbnail 500x500 -quality 75 out/c.jpg ;;
    esac
}

run_many() { # TOOL: hd/*.jpg to 400 wide; vips-4: as many files a process as keep all processors busy
    case $1 in
        gpufilter) "$program" -q --device=cpu -i hd -o out/many --quality=75 thumbnail=400 ;;
        vips) printf '%s\n' hd/*.jpg | xargs -P "$processors" -n 1 "$vips" -s 400 -o "$work/out/%s.jpg" ;;
        vips-4) printf '%s\n' hd/*.jpg | xargs -P "$processors" -n $((64 / processors + 1)) "$vips" -s 400 \
            -o "$work/out/%s.jpg" ;;
        magick) printf '%s\n' hd/*.jpg | xargs -P "$processors" -I{} "$magick" -define jpeg:size=800x800 {} \
            -thumbnail 400x400 -quality 75 "out/{}-c.jpg" ;;
    esac
}

run_two() { # TOOL: hd/*.jpg to 1280 and to 960 wide
    case $1 in
        two-outputs)
            "$program" -q --device=cpu -i hd -o 'out/large/{stem}.jpg' resize=w=1280 -o 'out/small/{stem}.jpg' resize=w=960
            ;;
        two-runs)
            "$program" -q --device=cpu -i hd -o 'out/large/{stem}.jpg' resize=w=1280
            "$program" -q --device=cpu -i hd -o 'out/small/{stem}.jpg' resize=w=960
            ;;
    esac
}

run_thousand() { # TOOL: many/*.jpg to 1024
    case $1 in
        gpufilter,*) "$program" -q --device="${1#*,}" -i many -o out/thousand --quality=75 thumbnail=1024 ;;
        vips) printf '%s\n' many/*.jpg | xargs -P "$processors" -n $((files / processors / 4 + 1)) "$vips" -s 1024 \
            -o "$work/out/%s.jpg[Q=75]" ;;
        sharp) node "$here/peers/thumbnail.js" many out/thousand 1024 ;;
        *) python3 "$here/peers/thumbnail.py" "$1" many out/thousand 1024 ;;
    esac
}

export -f run_one run_many run_two run_thousand
export program vips magick work processors files here

# Lines "title|tool|pictures|wall s|processor s|why it failed" in $work/figures. A task's second and further runs are made while
# it has taken less than half of the time that was left; no run goes beyond the deadline.
compare() { # TASK PICTURES RUNS TITLE TOOL...
    local task=$1 pictures=$2 runs=$3 title=$4 tool run why TIMEFORMAT='%R %U %S' end=$((SECONDS + (deadline - SECONDS) / 2)) limit
    local -A failed=()
    shift 4
    cd "$work"
    for ((run = 0; run <= runs; run++)); do
        [ "$run" != 0 ] || [ "$runs" != 1 ] || continue # a long run needs no other before it
        [ "$run" -le 1 ] || [ "$SECONDS" -lt "$end" ] || break
        for tool; do
            rm -rf out
            mkdir -p out/hd out/many
            [ -z "${failed[$tool]:-}" ] || continue
            limit=$((deadline - SECONDS - (pictures > 64 ? 30 : 0))) # the thousand leave some for the others
            limit=$((limit > 60 ? 60 : limit))
            [ "$limit" -gt 0 ] || failed[$tool]=124
            [ "$limit" -gt 0 ] || continue
            { time timeout "$limit" bash -c "$task $tool" >/dev/null 2>"$tool.errors" || failed[$tool]=$?; } 2>"$work/times"
            [ "$run" = 0 ] || [ -n "${failed[$tool]:-}" ] || cat "$work/times" >>"$task.$tool"
        done
    done
    for tool; do
        why=
        if [ "${failed[$tool]:-}" = 124 ]; then
            [ -s "$task.$tool" ] || why="has not ended in time"
        elif [ -n "${failed[$tool]:-}" ]; then
            why="failed: $(tail -n 1 "$tool.errors" | tr -d '|"\\' | cut -c1-100)"
        fi
        if [ -n "$why" ]; then
            echo "$title|$tool|$pictures|||$why"
        else
            echo "$title|$tool|$pictures|$(awk '{print $1}' "$task.$tool" | median)|$(awk '{print $2 + $3}' "$task.$tool" | median)|"
        fi >>"$work/figures"
    done
}

tools=("gpufilter,cpu") absent=()
[ -n "$gpu" ] && tools+=("gpufilter,cuda" "gpufilter,auto") || absent+=("a CUDA device")
[ -n "$vips" ] && tools+=(vips) || absent+=(vipsthumbnail)
[ -n "$magick" ] || absent+=(ImageMagick)
has cv2 && tools+=(opencv) || absent+=(OpenCV)
has PIL && tools+=(pillow) || absent+=(Pillow)
node -e 'require("sharp")' 2>/dev/null && tools+=(sharp) || absent+=(sharp)
if has torchvision; then
    tools+=("torchvision,cpu")
    [ -z "$gpu" ] || tools+=("torchvision,cuda")
else
    absent+=(torchvision)
fi
: >"$work/figures"
deadline=$((SECONDS + ${BENCH_SECONDS:-130}))
[ "$files" = 0 ] || compare run_thousand "$files" 1 "$files JPEGs of 12 megapixels to 1024" "${tools[@]}"
compare run_one 1 "$RUNS" "24 megapixels to 500 wide" gpufilter ${vips:+vips} ${magick:+magick}
compare run_many 64 "$RUNS" "64 JPEGs of 1920x1080 to 400 wide" gpufilter ${vips:+vips vips-4} ${magick:+magick}
compare run_two 64 "$RUNS" "64 JPEGs of 1920x1080 to 1280 and 960 wide" two-outputs two-runs

# bar TITLE COLUMN TOOL PEER MOST: of the peer's time
bar() {
    awk -F'|' -v title="$1" -v column="$2" -v tool="$3" -v peer="$4" -v most="$5" '
        $1 == title && $2 == tool { own = $column } $1 == title && $2 == peer { its = $column }
        END { if (own && its) printf "%s|%s time of %s against %s|%.2f|%s|%s\n", title, column == 4 ? "wall" : "processor", tool, peer,
            own / its, most, own <= most * its ? "ok" : "MISSED" }' "$work/figures" >>"$work/bars"
}
: >"$work/bars"
bar "24 megapixels to 500 wide" 4 gpufilter vips 0.6
bar "24 megapixels to 500 wide" 5 gpufilter vips 0.8
bar "64 JPEGs of 1920x1080 to 400 wide" 4 gpufilter vips 0.6

{
    echo "$processors processors of $cpu; GPU: ${gpu:-none}; commit $commit"
    echo "not here, and left out: $(printf '%s, ' "${absent[@]:-nothing}" | sed 's/, $//')"
    echo
    echo "| what | tool | wall | processor | pictures/s |"
    echo "| --- | --- | --- | --- | --- |"
    awk -F'|' '$6 { printf "| %s | %s | %s | | |\n", $1, $2, $6; next }
        { printf "| %s | %s | %.3f s | %.3f s | %.1f |\n", $1, $2, $4, $5, $3 / $4 }' "$work/figures"
    echo
    awk -F'|' '{ printf "%s: %s: %s, at most %s: %s\n", $1, $2, $3, $4, $5 }' "$work/bars"
} | tee "${results%.json}.txt"
{
    json_head "\"runs\": $RUNS"
    awk -F'|' '{ printf "%s  {\"task\": \"%s\", \"tool\": \"%s\", \"pictures\": %s, \"wall_s\": %s, \"processor_s\": %s, \"failed\": \"%s\"}",
        (NR > 1 ? ",\n" : ""), $1, $2, $3, $6 ? "null" : $4, $6 ? "null" : $5, $6 } END { print "]," }' "$work/figures"
    echo ' "bars": ['
    awk -F'|' '{ printf "%s  {\"task\": \"%s\", \"what\": \"%s\", \"measured\": %s, \"at_most\": %s, \"verdict\": \"%s\"}",
        (NR > 1 ? ",\n" : ""), $1, $2, $3, $4, $5 } END { print "]}" }' "$work/bars"
} >"$results"
echo "written to $results"
