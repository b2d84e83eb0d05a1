#!/bin/bash
# What `make bench` runs: gpufilter --device=cpu beside the image tools of the distribution, whole processes,
# turn by turn, medians. Argument: the program. Environment:
#   BENCH_PICTURE=FILE   the photograph (scaled to 6000x4000); without it a large one of a wallpaper package,
#                        else the sample
#   RUNS=5               counted runs after a warm-up; a tool that takes over SLOW_S=8 s gets SLOW_RUNS=2
#   BENCH_TASKS='blur2 png', BENCH_TOOLS='gpufilter vips'   only these
#   BENCH_DIR=DIR        where the pictures go (a new folder in /var/tmp; needs 3 GB for the memory test)
#   RESULTS=FILE.json    where the figures go (tests/bench/results/cpu-DATE.json)
#   GF_COMMIT=NAME       the commit, where git does not know it
# JPEG is quality 90 and 4:2:0 everywhere (ffmpeg: -q:v 2, the nearest that its encoder has); PNG is each tool's
# default level. Memory is that of the largest process, by GNU time.
set -u
program=$(readlink -f "${1:?the program}")
here=$(dirname "$(readlink -f "$0")")
. "$here/common.sh"
RUNS=${RUNS:-5} SLOW_S=${SLOW_S:-8} SLOW_RUNS=${SLOW_RUNS:-2}
tasks=${BENCH_TASKS:-copy blur2 blur2eq blur20 unsharp rot90 turn sobel median3 dilate7 half png memory batch files}
begin cpu "${BENCH_DIR:-/var/tmp}"
gnu_time=$(type -P time)
[ -n "$gnu_time" ] || echo "bench: no GNU time on the PATH: memory is not measured" >&2

# ---- the tools ----

# A program itself, not a script that wraps it: a wrapper's start would be counted.
binary() { # NAME PATTERN VERSION_OPTION -> the path of the first whose version matches
    local path
    while read -r path; do
        [ "$(head -c 4 "$path" 2>/dev/null | tail -c 3)" = ELF ] || continue
        "$path" "$3" 2>&1 | head -5 | grep -q "$2" && echo "$path" && return
    done < <(type -ap "$1")
}
vips=$(binary vips '^vips' --version)
magick=$(binary magick ImageMagick -version)
[ -n "$magick" ] || magick=$(binary convert ImageMagick -version)
gm=$(binary gm GraphicsMagick version)
ffmpeg=$(binary ffmpeg '^ffmpeg' -version)
gmic=$(binary gmic 'Magic for Image' -version)

# 64 pictures at once: mogrify comes with ImageMagick 6; OpenCV is Python's.
mogrify=$(binary mogrify ImageMagick -version)
opencv=$(python3 -c 'import cv2; print(cv2.__version__)' 2>/dev/null)

version_of() {
    case $1 in
        opencv) echo "OpenCV $opencv" ;;
        gpufilter) "$program" --version ;;
        vips) "$vips" --version ;;
        magick) "$magick" -version | sed 's/^Version: //' ;;
        gm) "$gm" version ;;
        ffmpeg) "$ffmpeg" -version ;;
        gmic) "$gmic" -version 2>&1 | grep -o 'Version [0-9.]*' ;;
    esac 2>/dev/null | head -1 | sed 's, https*:.*,,; s, Copyright.*,,' | cut -c1-60 | tr -d '"\\'
}

tools=
for tool in gpufilter vips magick gm ffmpeg gmic; do
    [ "$tool" = gpufilter ] || [ -n "${!tool}" ] || continue
    case " ${BENCH_TOOLS:-$tool} " in *" $tool "*) tools="$tools $tool" ;; esac
done

# ---- the commands ----

chain_of() {
    case $1 in
        copy) ;; blur2 | png | memory) echo blur=2 ;; blur2eq) echo blur=2,equalize ;; blur20) echo blur=20 ;;
        unsharp) echo unsharp=1 ;; rot90) echo rotate=90 ;; sobel) echo sobel ;; median3) echo median=1 ;;
        turn) echo rotate=7 ;; dilate7) echo dilate=3 ;; half) echo resize=50%:50% ;;
    esac
}

vips_command() { # TASK IN OUT SUFFIX
    case $1 in
        copy) echo "exec $vips copy $2 $3$4" ;;
        blur2 | png) echo "exec $vips gaussblur $2 $3$4 2" ;;
        blur2eq) # two processes: the first keeps what it computed
            echo "$vips gaussblur $2 $work/t.v 2 && $vips hist_equal $work/t.v $3$4" ;;
        blur20) echo "exec $vips gaussblur $2 $3$4 20" ;;
        unsharp) echo "exec $vips sharpen $2 $3$4 --sigma 1" ;;
        rot90) echo "exec $vips rot $2 $3$4 d90" ;;
        turn) echo "exec $vips rotate $2 $3$4 7 --interpolate bilinear" ;;
        sobel) echo "exec $vips sobel $2 $3$4" ;;
        median3) echo "exec $vips rank $2 $3$4 3 3 4" ;;
        dilate7) echo "exec $vips rank $2 $3$4 7 7 48" ;;
        half) echo "exec $vips resize $2 $3$4 0.5" ;;
    esac
}

magick_options() { # TASK MEDIAN DILATION
    case $1 in
        copy) ;; blur2 | png) echo -blur 0x2 ;; blur2eq) echo -blur 0x2 -equalize ;; blur20) echo -blur 0x20 ;;
        unsharp) echo -unsharp 0x1+1+0 ;; rot90) echo -rotate 90 ;; sobel) echo -edge 1 ;; median3) echo "$2" ;;
        turn) echo -rotate 7 ;; dilate7) echo "$3" ;; half) echo -filter Lanczos -resize 50% ;;
    esac
}

gmic_options() {
    case $1 in
        copy) ;; blur2 | png) echo -blur 2 ;; blur2eq) echo -blur 2 -equalize 256 ;; blur20) echo -blur 20 ;;
        unsharp) echo -unsharp 1,1 -cut 0,255 ;; rot90) echo -rotate 90 ;;
        sobel) echo -gradient_norm -cut 0,255 ;; median3) echo -median 3 ;;
        turn) echo -rotate 7,1 ;; dilate7) echo -dilate 7 ;; half) echo -resize 50%,50%,1,3,6 -cut 0,255 ;;
    esac
}

ffmpeg_filter() {
    case $1 in
        copy) ;; blur2 | png) echo gblur=sigma=2 ;; blur2eq) echo gblur=sigma=2,histeq ;;
        blur20) echo gblur=sigma=20 ;; unsharp) echo unsharp=5:5:1:5:5:1 ;; rot90) echo transpose=1 ;;
        sobel) echo sobel ;; median3) echo median=radius=1 ;;
        turn) echo rotate=7*PI/180 ;; dilate7) echo dilation,dilation,dilation ;; half) echo scale=iw/2:ih/2:flags=lanczos ;;
    esac
}

# Two ways with vips, whose command is one picture's: one after another, and a process for each processor.
batch_command() { # TOOL IN OUT
    local each="$vips gaussblur \$1 $work/\$\$.v 2 && $vips hist_equal $work/\$\$.v $3/\$(basename \$1)[Q=90,subsample_mode=on] && rm $work/\$\$.v"
    case $1 in
        gpufilter) echo "exec $program --device=cpu --quality=90 --subsampling=420 -i $2 -o $3/ blur=2,equalize" ;;
        vips) echo "ls $2/*.jpg | xargs -n 1 sh -c '$each' -" ;;
        vips-parallel) echo "ls $2/*.jpg | xargs -n 1 -P $(nproc) sh -c '$each' -" ;;
        mogrify) echo "exec $mogrify -path $3 -blur 0x2 -equalize -quality 90 -sampling-factor 4:2:0 $2/*.jpg" ;;
        gm) echo "cd $2 && exec $gm mogrify -output-directory $3 -blur 0x2 -equalize -quality 90 -sampling-factor 2x2 *.jpg" ;;
        opencv) echo "exec python3 $here/peers/batch_opencv.py $2 $3" ;;
    esac
}

command_of() { # TOOL TASK IN OUT; options that only JPEG takes are left out for PNG
    local jpeg=1 filter
    if [ "$2" = batch ]; then
        batch_command "$1" "$3" "$(dirname "$4")"
        return
    fi
    [ "${4##*.}" = jpg ] || jpeg=
    case $1 in
        gpufilter) echo "exec $program --device=cpu -i $3 -o $4 ${jpeg:+--quality=90 --subsampling=420} $(chain_of "$2")" ;;
        vips) vips_command "$2" "$3" "$4" "${jpeg:+[Q=90,subsample_mode=on]}" ;;
        magick) echo "exec $magick $3 $(magick_options "$2" '-statistic Median 3x3' '-morphology Dilate Square:3') ${jpeg:+-quality 90 -sampling-factor 4:2:0} $4" ;;
        gm) echo "exec $gm convert $3 $(magick_options "$2" '-median 1') ${jpeg:+-quality 90 -sampling-factor 2x2} $4" ;;
        gmic) echo "exec $gmic -v - $3 $(gmic_options "$2") -o $4${jpeg:+,90}" ;;
        ffmpeg)
            filter=$(ffmpeg_filter "$2")
            echo "exec $ffmpeg -nostdin -v error -y -i $3 ${filter:+-vf $filter} ${jpeg:+-q:v 2 -pix_fmt yuvj420p} -frames:v 1 -update 1 $4" ;;
    esac
}

# ---- measuring ----

# once COMMAND OUT -> "wall_ms cpu_ms peak_mb out_kb status" (peak -1: not measured)
once() {
    local status=0 TIMEFORMAT='%3R %3U %3S'
    rm -f "$2" "$work/peak"
    if [ -n "$gnu_time" ]; then
        { time "$gnu_time" -q -f %M -o "$work/peak" sh -c "$1" </dev/null >/dev/null 2>"$work/messages" || status=$?; } 2>"$work/time"
    else
        { time sh -c "$1" </dev/null >/dev/null 2>"$work/messages" || status=$?; } 2>"$work/time"
    fi
    [ -s "$2" ] || status=${status/#0/1} # no output is no success
    awk -v status="$status" -v peak="$(tail -1 "$work/peak" 2>/dev/null)" -v size="$(stat -c %s "$2" 2>/dev/null)" \
        '{printf "%.0f %.0f %.1f %.0f %d\n", $1 * 1000, ($2 + $3) * 1000, (peak == "" ? -1 : peak / 1024),
            size / 1024, status}' "$work/time"
}

# Every tool once to warm up, then in turns. Appends "task tool wall cpu peak out_kb runs" to the figures.
measure_task() { # TASK IN OUT TOOLS
    local task=$1 round tool command wall cpu peak size status column
    local -A runs=()
    rm -f "$work"/sample.*
    for ((round = 0; round <= RUNS; round++)); do
        for tool in $4; do
            [ "$round" -le "${runs[$tool]:-$RUNS}" ] || continue
            command=$(command_of "$tool" "$task" "$2" "$3")
            read -r wall cpu peak size status < <(once "$command" "$3")
            if [ "$status" != 0 ]; then
                echo "bench: $tool failed at $task: $(head -1 "$work/messages" | cut -c1-100)" >&2
                [ "$tool" != gpufilter ] || failed=1
                runs[$tool]=-1
                rm -f "$work/sample.$tool"
            elif [ "$round" = 0 ]; then
                runs[$tool]=$RUNS
                [ "$wall" -le $((SLOW_S * 1000)) ] || runs[$tool]=$((SLOW_RUNS < RUNS ? SLOW_RUNS : RUNS))
            else
                echo "$wall $cpu $peak $size" >>"$work/sample.$tool"
            fi
        done
    done
    for tool in $4; do
        [ -s "$work/sample.$tool" ] || continue
        echo "$task $tool $(for column in 1 2 3 4; do cut -d' ' -f$column "$work/sample.$tool" | median; done | tr '\n' ' ')" \
            "$(wc -l <"$work/sample.$tool")" >>"$work/figures"
    done
}

figure() { # TASK TOOL COLUMN -> the number, or nothing
    awk -v task="$1" -v tool="$2" -v column="$3" '$1 == task && $2 == tool {print $column}' "$work/figures"
}

# ---- the pictures ----

# Photographs that the comparison was first made with come first, then the largest there is.
find_photograph() {
    local folder name
    for name in life_by_Aitzol_Berasategi picosdeeuropa_by_Aitzol_Berasategi Kleiber_by_Lukas_Baubkus; do
        [ ! -f "/usr/share/backgrounds/$name.jpg" ] || { echo "/usr/share/backgrounds/$name.jpg"; return; }
    done
    for folder in /usr/share/backgrounds /usr/share/wallpapers /usr/share/pixmaps/backgrounds; do
        find "$folder" -type f \( -iname '*.jpg' -o -iname '*.jpeg' \) -size +500k -printf '%s %p\n' 2>/dev/null
    done | sort -rn | head -1 | cut -d' ' -f2-
}

make_pictures() {
    local photograph=${BENCH_PICTURE:-$(find_photograph)}
    source=$photograph
    if [ -z "$photograph" ]; then
        photograph=$here/../../samples/harbour.png
        source='samples/harbour.png enlarged: smoother than a photograph, so codecs have less to do'
    fi
    "$program" --device=cpu --strip -i "$photograph" -o "$work/in.jpg" --quality=90 --subsampling=420 \
        'resize=w=6000:h=4000:fit=cover' || exit 1
    "$program" --device=cpu -i "$work/in.jpg" -o "$work/in.ppm" || exit 1
    case " $tasks " in *" png "*) "$program" --device=cpu -i "$work/in.jpg" -o "$work/in.png" || exit 1 ;; esac
}

# 20000x20000 samples of the photograph (its rows do not line up, which nothing here minds), 1.2 GB.
measure_memory() {
    local i free_kb wall cpu peak size status
    free_kb=$(df -Pk "$work" | awk 'NR == 2 {print $4}')
    if [ "$free_kb" -lt 2600000 ]; then
        echo "bench: memory test left out: $work has less than 2.6 GB free" >&2
        return
    fi
    {
        printf 'P6\n20000 20000\n255\n'
        for ((i = 0; i < 17; i++)); do tail -c 72000000 "$work/in.ppm"; done | head -c 1200000000
    } >"$work/large.ppm"
    read -r wall cpu peak size status < <(
        once "$(command_of gpufilter memory "$work/large.ppm" "$work/large-out.ppm")" "$work/large-out.ppm")
    if [ "$status" = 0 ]; then
        echo "memory gpufilter $wall $cpu $peak $size 1" >>"$work/figures"
    else
        echo "bench: memory test failed: $(head -1 "$work/messages")" >&2
        failed=1
    fi
    rm -f "$work"/large*.ppm
}

# 64 JPEGs of 1080p, in and out of memory where there is a tmpfs.
measure_batch() {
    local i photograph folder tool list=
    local -a photographs
    folder=$(mktemp -d /dev/shm/gpufilter-bench.XXXXXX 2>/dev/null) || folder=$work/batch
    mkdir -p "$folder/in" "$folder/out"
    mapfile -t photographs < <(ls /usr/share/backgrounds/*.jpg 2>/dev/null)
    [ ${#photographs[@]} -gt 0 ] || photographs=("$work/in.jpg")
    for ((i = 0; i < 64; i++)); do
        photograph=${photographs[i % ${#photographs[@]}]}
        "$program" --device=cpu --strip -i "$photograph" -o "$folder/in/$((100 + i)).jpg" --quality=90 \
            --subsampling=420 'resize=w=1920:h=1080:fit=cover' || failed=1
    done
    for tool in gpufilter ${vips:+vips vips-parallel} ${mogrify:+mogrify} ${gm:+gm} ${opencv:+opencv}; do
        case " ${BENCH_TOOLS:-${tool%-parallel}} " in *" ${tool%-parallel} "*) list="$list $tool" ;; esac
    done
    measure_task batch "$folder/in" "$folder/out/163.jpg" "$list"
    rm -rf "$folder"
}

# 100,000 pictures of a few pixels: what a file costs, and that memory and descriptors do not grow with them.
measure_files() {
    local folder wall growth descriptors
    folder=$(mktemp -d /dev/shm/gpufilter-bench.XXXXXX 2>/dev/null) || folder=$work/files
    mkdir -p "$folder/in"
    "$program" --device=cpu -i "$work/in.jpg" -o "$folder/tiny.ppm" resize=16:16 || failed=1
    python3 - "$folder" "$program" >"$work/files" <<'END' || failed=1
import os, re, subprocess, sys, time
folder, program = sys.argv[1:]
for i in range(100000):
    os.link(folder + "/tiny.ppm", folder + "/in/%06d.ppm" % i)
begin = time.time()
job = subprocess.Popen([program, "--device=cpu", "-q", "-i", folder + "/in", "-o", folder + "/out/",
                        "--log=" + folder + "/log", "blur=2,equalize"])
early = late = most = descriptors = 0
while job.poll() is None:
    try:
        status = open("/proc/%d/status" % job.pid).read()
        late = int(re.search(r"VmRSS:\s*(\d+)", status)[1]) / 1024
        descriptors = max(descriptors, len(os.listdir("/proc/%d/fd" % job.pid)))
        if not early and os.path.getsize(folder + "/log") > 1000 * 300:
            early = late
        most = max(most, late) if early else most
    except (OSError, TypeError):
        pass
    time.sleep(0.02)
assert job.returncode == 0
print("%.0f %.1f %d" % (1000 * (time.time() - begin), most - early, descriptors))
END
    read -r wall growth descriptors <"$work/files"
    echo "files gpufilter $wall -1 $growth 0 1" >>"$work/figures"
    echo "100,000 files of 16x16: $wall ms; memory grew by $growth MB after the 1,000th, at most $descriptors descriptors"
    rm -rf "$folder"
}

# ---- reporting ----

print_table() { # TITLE COLUMN FORMAT
    local task tool value
    printf '\n%-10s' "$1"
    for tool in $tools; do printf '%11s' "$tool"; done
    echo
    for task in $tasks; do
        case $task in batch | files) continue ;; esac
        grep -q "^$task " "$work/figures" || continue
        printf '%-10s' "$task"
        for tool in $tools; do
            value=$(figure "$task" "$tool" "$2")
            case $value in '' | -1*) printf '%11s' - ;; *) printf "%11$3" "$value" ;; esac
        done
        echo
    done
}

# bar NAME MEASURED FACTOR REFERENCE UNIT: measured <= factor * reference
bar() {
    local verdict
    verdict=$(awk -v m="${2:--1}" -v f="$3" -v r="${4:--1}" 'BEGIN {
        printf "%s %.1f", (m < 0 || r < 0 ? "NOT_MEASURED" : m <= f * r ? "ok" : "MISSED"), (r < 0 ? -1 : f * r)}')
    echo "$1|${verdict#* }|${2:--1}|$5|$(echo "${verdict% *}" | tr _ ' ')" >>"$work/bars"
}

print_batch() {
    grep -q '^batch ' "$work/figures" || return
    printf '\n%-20s %9s %12s %9s\n' '64 JPEGs of 1080p' 'wall ms' 'pictures/s' 'peak MB'
    awk '$1 == "batch" {printf "%-20s %9.0f %12.1f %9.0f\n", $2, $3, 64000 / $3, $5}' "$work/figures"
}

judge() {
    local task tool
    : >"$work/bars"
    for tool in vips vips-parallel mogrify gm opencv; do
        bar "64 JPEGs, blur=2,equalize: $tool's time" "$(figure batch gpufilter 3)" 1 "$(figure batch $tool 3)" ms
    done
    bar "100,000 files: growth after the 1,000th" "$(figure files gpufilter 5)" 1 20 MB
    for task in blur2 blur2eq; do
        bar "$(chain_of $task): wall time, vips'" "$(figure $task gpufilter 3)" 1 "$(figure $task vips 3)" ms
        bar "$(chain_of $task): memory, a third of ImageMagick's" "$(figure $task gpufilter 5)" 0.333333 \
            "$(figure $task magick 5)" MB
    done
    bar "blur=20: 1.5 x blur=2" "$(figure blur20 gpufilter 3)" 1.5 "$(figure blur2 gpufilter 3)" ms
    bar "20000x20000 PNM, blur=2: memory" "$(figure memory gpufilter 5)" 1 200 MB
    printf '\n%-50s %12s %12s\n' bar 'at most' measured
    awk -F'|' '{printf "%-50s %9s %-2s %9s %-2s  %s\n", $1, ($2 < 0 ? "-" : $2), $4, ($3 < 0 ? "-" : sprintf("%.1f", $3)), $4, $5}' "$work/bars"
}

write_json() {
    local tool separator=
    echo '{'
    echo "  \"date\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\","
    echo "  \"commit\": \"$commit\","
    echo "  \"cpu\": \"$cpu\", \"threads\": $(nproc),"
    echo "  \"system\": \"$system\","
    echo "  \"picture\": \"$(echo "$source" | tr -d '"\\'), 6000x4000\","
    printf '  "versions": {'
    for tool in $tools; do
        printf '%s"%s": "%s"' "$separator" "$tool" "$(version_of "$tool")"
        separator=', '
    done
    printf '},\n  "figures": [\n'
    awk '{printf "%s    {\"task\": \"%s\", \"tool\": \"%s\", \"wall_ms\": %s, \"cpu_ms\": %s, \"peak_mb\": %s, \"out_kb\": %s, \"runs\": %s}",
        (NR > 1 ? ",\n" : ""), $1, $2, $3, $4, ($5 < 0 ? "null" : $5), $6, $7} END {print ""}' "$work/figures"
    printf '  ],\n  "bars": [\n'
    awk -F'|' '{printf "%s    {\"name\": \"%s\", \"at_most\": %s, \"measured\": %s, \"unit\": \"%s\", \"verdict\": \"%s\"}",
        (NR > 1 ? ",\n" : ""), $1, ($2 < 0 ? "null" : $2), ($3 < 0 ? "null" : $3), $4, $5} END {print ""}' "$work/bars"
    printf '  ]\n}\n'
}

: >"$work/figures"
failed=0
make_pictures
echo "$(nproc) threads of $cpu, $system, commit $commit"
echo "picture: $source, 6000x4000, $(($(stat -c %s "$work/in.jpg") / 1024)) KB as JPEG"
for tool in $tools; do echo "$tool: $(version_of "$tool")"; done
for tool in vips magick gm ffmpeg gmic; do [ -n "${!tool}" ] || echo "$tool: not installed"; done
for task in $tasks; do
    case $task in
        memory) measure_memory ;;
        batch) measure_batch ;;
        files) measure_files ;;
        png) measure_task png "$work/in.png" "$work/out.png" "$tools" ;;
        dilate7) # GraphicsMagick has no dilation
            measure_task dilate7 "$work/in.jpg" "$work/out.jpg" "$(printf '%s\n' $tools | grep -vx gm | tr '\n' ' ')" ;;
        *) measure_task "$task" "$work/in.jpg" "$work/out.jpg" "$tools" ;;
    esac
    rm -f "$work/t.v"
done
print_table 'wall ms' 3 '.0f'
print_table 'cpu ms' 4 '.0f'
print_table 'peak MB' 5 '.0f'
print_table 'output KB' 6 '.0f'
print_batch
echo "medians of $RUNS runs in turns, after a warm-up; tools over $SLOW_S s: of $SLOW_RUNS"
judge
write_json >"$results" || exit 1
echo "written to $results"
exit "$failed"
