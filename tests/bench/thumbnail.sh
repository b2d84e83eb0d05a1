#!/bin/bash
# What `make bench-thumbnail` runs: thumbnails of JPEGs beside vipsthumbnail and ImageMagick, whole processes, turn by
# turn, medians of wall and processor time. Argument: the program. Environment:
#   BENCH_PICTURES=DIR   photographs, enlarged to 24 megapixels and to 1920x1080 (the sample picture)
#   RUNS=9               counted runs, after one that is not
#   BENCH_DIR=DIR        where the pictures go (a new folder in /var/tmp)
# Every tool may decode at a fraction of the size: gpufilter's thumbnail, vipsthumbnail, ImageMagick's jpeg:size.
set -eu
export LC_ALL=C
program=$(readlink -f "${1:?the program}")
here=$(dirname "$(readlink -f "$0")")
RUNS=${RUNS:-9}
work=$(mktemp -d "${BENCH_DIR:-/var/tmp}/gpufilter-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
gnu_time=$(type -P time) || { echo "bench-thumbnail: no GNU time on the PATH" >&2; exit 3; }
vips=$(type -P vipsthumbnail || :)
magick=$(type -P convert || :)
processors=$(nproc)

# ---- the pictures: large.jpg and 64 in hd/ ----

mapfile -t photographs < <(find "${BENCH_PICTURES:-$here/../../samples}" -maxdepth 1 -type f \
    \( -name '*.png' -o -name '*.jpg' -o -name '*.jpeg' \) | sort)
mkdir "$work/hd" "$work/out"
for ((i = 0; i < 64; i++)); do
    from=${photographs[i % ${#photographs[@]}]}
    gravity=$(set -- north centre south && shift $((i % 3)) && echo "$1")
    "$program" -q --quality=90 -i "$from" -o "$work/hd/$i.jpg" "resize=1920:1080:fit=cover:gravity=$gravity"
done
"$program" -q --quality=90 -i "${photographs[0]}" -o "$work/large.jpg" resize=6000:4000:fit=cover

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

export -f run_one run_many
export program vips magick work processors

median() { # COLUMN of the lines "wall user system"
    awk -v wanted="$1" '{ print wanted == "wall" ? $1 : $2 + $3 }' "$2" | sort -g |
        awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

compare() { # TASK TITLE TOOL...
    local task=$1 title=$2 tool run
    shift 2
    cd "$work"
    mkdir -p out/hd
    for ((run = 0; run <= RUNS; run++)); do
        for tool; do
            "$gnu_time" -q -a -o "$work/$task.$tool" -f '%e %U %S' bash -c "$task $tool" >/dev/null
            [ "$run" != 0 ] || : >"$work/$task.$tool"
        done
    done
    for tool; do
        printf '| %s | %s | %.0f ms | %.0f ms |\n' "$title" "$tool" \
            "$(median wall "$task.$tool" | awk '{ print $1 * 1000 }')" \
            "$(median cpu "$task.$tool" | awk '{ print $1 * 1000 }')"
    done
}

echo "| what | tool | wall | processor |"
echo "| --- | --- | --- | --- |"
compare run_one "24 megapixels to 500 wide" gpufilter ${vips:+vips} ${magick:+magick}
compare run_many "64 JPEGs of 1920x1080 to 400 wide" gpufilter ${vips:+vips vips-4} ${magick:+magick}
