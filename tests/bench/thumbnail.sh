#!/bin/bash
# What `make bench-thumbnail` runs: thumbnails of JPEGs beside vipsthumbnail, ImageMagick, OpenCV, torchvision and Pillow, as far
# as they are here, and two outputs of one decoding beside two runs. Whole processes, turn by turn, medians of wall and processor
# time. Argument: the program. Environment:
#   BENCH_PICTURES=DIR   photographs, enlarged to 24 megapixels and to 1920x1080 (the sample picture)
#   RUNS=9               counted runs, after one that is not; the thousand pictures run once
#   BENCH_FILES=1000     of 12 megapixels; 0 leaves them out
#   BENCH_DIR=DIR        where the pictures go (a new folder in /var/tmp)
# Every tool may decode at a fraction of the size: gpufilter's thumbnail, vipsthumbnail, ImageMagick's jpeg:size, Pillow's draft.
set -eu
export LC_ALL=C
program=$(readlink -f "${1:?the program}")
here=$(dirname "$(readlink -f "$0")")
RUNS=${RUNS:-9}
files=${BENCH_FILES:-1000}
work=$(mktemp -d "${BENCH_DIR:-/var/tmp}/gpufilter-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
vips=$(type -P vipsthumbnail || :)
magick=$(type -P convert || :)
processors=$(nproc)
"$program" --devices 2>/dev/null | grep -q '^cuda:0 ' && cuda=1 || cuda=

has() { # MODULE: whether Python has it
    python3 -c "import $1" 2>/dev/null
}

# ---- the pictures: large.jpg, 64 in hd/, and `files` in many/, which are sixteen different ones ----

mapfile -t photographs < <(find "${BENCH_PICTURES:-$here/../../samples}" -maxdepth 1 -type f \
    \( -name '*.png' -o -name '*.jpg' -o -name '*.jpeg' \) ! -name 'report*' | sort)
mkdir "$work/hd" "$work/out" "$work/some" "$work/many"
for ((i = 0; i < 64; i++)); do
    from=${photographs[i % ${#photographs[@]}]}
    gravity=$(set -- north centre south && shift $((i % 3)) && echo "$1")
    "$program" -q --device=cpu --quality=90 -i "$from" -o "$work/hd/$i.jpg" "resize=1920:1080:fit=cover:gravity=$gravity"
done
"$program" -q --device=cpu --quality=90 -i "${photographs[0]}" -o "$work/large.jpg" resize=6000:4000:fit=cover
# Enlarged pictures have little detail: sharpening gives them the bytes of photographs.
for ((i = 0; files && i < 16; i++)); do
    gravity=$(set -- north centre south west && shift $((i % 4)) && echo "$1")
    "$program" -q --device=cpu --quality=90 --subsampling=420 -i "${photographs[i % ${#photographs[@]}]}" -o "$work/some/$i.jpg" \
        "resize=4000:3000:fit=cover:gravity=$gravity,unsharp=sigma=2:amount=$((4 + i / 4))$( ((i % 2)) && echo ,hflip)"
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
        gpufilter,cpu) "$program" -q --device=cpu -i many -o out/thousand --quality=75 thumbnail=1024 ;;
        gpufilter,cuda) "$program" -q --device=cuda -i many -o out/thousand --quality=75 thumbnail=1024 ;;
        gpufilter,auto) "$program" -q -i many -o out/thousand --quality=75 thumbnail=1024 ;;
        vips) printf '%s\n' many/*.jpg | xargs -P "$processors" -n $((files / processors / 4 + 1)) "$vips" -s 1024 \
            -o "$work/out/%s.jpg[Q=75]" ;;
        *) python3 "$here/peers/thumbnail.py" "$1" many out/thousand 1024 ;;
    esac
}

export -f run_one run_many run_two run_thousand
export program vips magick work processors files here

median() { # COLUMN of the lines "wall user system"
    awk -v wanted="$1" '{ print wanted == "wall" ? $1 : $2 + $3 }' "$2" | sort -g |
        awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

compare() { # TASK PICTURES RUNS TITLE TOOL...
    local task=$1 pictures=$2 runs=$3 title=$4 tool run TIMEFORMAT='%R %U %S'
    local -A failed=()
    shift 4
    cd "$work"
    for ((run = 0; run <= runs; run++)); do
        [ "$run" != 0 ] || [ "$runs" != 1 ] || continue # a long run needs no other before it
        for tool; do
            rm -rf out
            mkdir -p out/hd out/many
            [ "$run" != 0 ] || : >"$task.$tool"
            { time bash -c "$task $tool" >/dev/null 2>"$tool.errors" || failed[$tool]=1; } 2>"$work/times"
            [ "$run" = 0 ] || cat "$work/times" >>"$task.$tool"
        done
    done
    for tool; do
        if [ -n "${failed[$tool]:-}" ]; then
            printf '| %s | %s | failed: %s | | |\n' "$title" "$tool" "$(tail -n 1 "$tool.errors")"
        else
            printf '| %s | %s | %s | %s | %s |\n' "$title" "$tool" \
                "$(median wall "$task.$tool" | awk '{ printf "%.0f ms", $1 * 1000 }')" \
                "$(median cpu "$task.$tool" | awk '{ printf "%.0f ms", $1 * 1000 }')" \
                "$(median wall "$task.$tool" | awk -v pictures="$pictures" '{ printf "%.1f", pictures / $1 }')"
        fi
    done
}

tools=("gpufilter,cpu")
absent=()
[ -z "$cuda" ] || tools+=("gpufilter,cuda" "gpufilter,auto")
[ -n "$cuda" ] || absent+=("a CUDA device")
[ -n "$vips" ] && tools+=(vips) || absent+=(vipsthumbnail)
[ -n "$magick" ] || absent+=(ImageMagick)
has cv2 && tools+=(opencv) || absent+=(OpenCV)
has PIL && tools+=(pillow) || absent+=(Pillow)
if has torchvision; then
    tools+=("torchvision,cpu")
    [ -z "$cuda" ] || tools+=("torchvision,cuda")
else
    absent+=(torchvision)
fi
echo "$processors processors; not here, and left out: $(printf '%s, ' "${absent[@]:-nothing}" | sed 's/, $//')"
echo
echo "| what | tool | wall | processor | pictures/s |"
echo "| --- | --- | --- | --- | --- |"
compare run_one 1 "$RUNS" "24 megapixels to 500 wide" gpufilter ${vips:+vips} ${magick:+magick}
compare run_many 64 "$RUNS" "64 JPEGs of 1920x1080 to 400 wide" gpufilter ${vips:+vips vips-4} ${magick:+magick}
compare run_two 64 "$RUNS" "64 JPEGs of 1920x1080 to 1280 and 960 wide" two-outputs two-runs
[ "$files" = 0 ] || compare run_thousand "$files" 1 "$files JPEGs of 12 megapixels to 1024" "${tools[@]}"
