#!/bin/sh
# README.md and the cookbook, samples/README.md: every command in their blocks runs, every link leads somewhere, and what
# is generated is what the program and the results give now.
root=$(cd "$(dirname "$0")/.." && pwd)
: "${GPUFILTER:=$root/build/gpufilter}"
export GPUFILTER
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/tap.sh"

# The commands of a page, a line each, without the comments above and behind them.
commands()
{
    sed -n '/^```sh$/,/^```$/p' "$1" | grep -v -e '^```' -e '^#' | sed 's/   *#.*//'
}

# Why a command cannot run here; nothing if it can.
missing()
{
    case $1 in
    *cuda* | *--codec=gpu* | *--lab=*) echo "needs a GPU" ;;
    esac
    case $1 in
    *:variant=*) "$GPUFILTER" --help | grep -q -e --lab || echo "built without the variants of kernels" ;;
    *icc=* | *wide.png*) "$GPUFILTER" --version | sed -n 's/^without colours: //p' ;;
    *.tar* | *tar:* | *shards*) "$GPUFILTER" --version | sed -n 's/^without archives: //p' ;;
    esac
    case $1 in
    ffmpeg\ *) ffmpeg -v quiet -y -f lavfi -i testsrc=duration=0.2 clip.mp4 </dev/null || echo "needs ffmpeg that makes a clip" ;;
    curl\ *) command -v curl >/dev/null || echo "needs curl" ;;
    *.tif*) "$GPUFILTER" --version | grep -e '^without TIFF' ;;
    *.exr*) "$GPUFILTER" --version | grep -e '^without OpenEXR' ;;
    *.gif*) "$GPUFILTER" --version | grep -e '^without GIF' ;;
    jq\ *) command -v jq >/dev/null || echo "needs jq" ;;
    */parallel.sh*) parallel --version 2>/dev/null | grep -q GNU || echo "needs GNU parallel" ;;
    pip\ *) echo "would install" ;;
    sbatch\ *) echo "would start jobs of a cluster" ;;
    esac
}

# The test that runs a command which takes seconds, so that it does not run here as well.
elsewhere()
{
    case $1 in
    "gpufilter --calibrate") echo tests/cli/calibrate.sh ;;
    "gpufilter --selftest=small") echo tests/selftest.sh ;;
    esac
}

# run COMMAND: nothing if it ends well and what it was told to write is there
run()
{
    sh -c "$1" >"$work/log" 2>&1 </dev/null || { echo "exit status $?"; head -n 5 "$work/log"; }
    for file in $(printf '%s\n' "$1" | sed -n 's/.* -o \([a-z./]*\) .*/\1/p'); do
        [ -e "$file" ] || [ "$1" != "${1#*--dry-run}" ] || echo "$file is not there"
    done
}

mkdir "$work/bin" "$work/clone"
ln -s "$GPUFILTER" "$work/bin/gpufilter"
cp -R "$root/samples" "$work/clone"
PATH=$work/bin:$PATH
[ -n "${GF_TEST_SMALL:-}" ] || "$root/tests/bench/readme.sh" "$GPUFILTER" "$work/fresh" >"$work/generated" 2>&1 &
generator=$!
cd "$work/clone" || exit 1
for page in README.md samples/README.md; do
    commands "$root/$page" >"$work/commands"
    while read -r command; do
        why=$(missing "$command") other=$(elsewhere "$command") problems=
        # shellcheck disable=SC2086 # its words
        set -- $command
        [ "$1" != sudo ] || shift
        if [ -z "$why$other" ] && [ "$1" != make ]; then
            problems=$(run "$command")
            [ -z "$problems" ] || why=$(grep -o '\(built\|made\) without [(A-Za-z].*' "$work/log" | head -n 1)
        fi
        if [ "$1" = make ]; then
            result "$page: $command" "$(grep -q "^$2:.*##" "$root/Makefile" || echo "no target $2")"
        elif [ -n "$other" ]; then
            result "$page: $command (by $other)" "$(grep -q -e " $2\( \|$\)" "$root/$other" || echo "it does not run $2")"
        elif [ -n "$why" ]; then
            skipped "$page: $command" "$why"
        else
            result "$page: $command" "$problems"
        fi
    done <"$work/commands"
done

cd "$root" || exit 1
for page in README.md samples/README.md samples/strangers.md samples/cluster/README.md samples/cluster/arithmetic.md samples/gallery/README.md tests/bench/results/README.md .github/*.md; do
    result "the links of $page" "$({
        grep -o '](\([^)]*\))' "$page" | sed 's/](\(.*\))/\1/'
        grep -o '\(src\|href\)="[^"]*"' "$page" | sed 's/.*="\(.*\)"/\1/'
    } | sort -u | grep -v '^https:' | while read -r link; do
        [ -e "$(dirname "$page")/${link%%#*}" ] || echo "$link"
    done)"
done

# The first screen: a command and the picture that it makes, of one size before and after, how to install it, and where to read on.
result "README.md is short, and its first 30 lines have what is looked for first" "$({
    [ "$(wc -l <README.md)" -le 250 ] || echo "it has $(wc -l <README.md) lines"
    head -n 14 README.md | grep -q '^gpufilter -i samples/' || echo "no command comes first"
    head -n 14 README.md | grep -o 'width="[0-9]*"' | sort -u | wc -l | grep -qx 1 || echo "before and after have several sizes"
    head -n 30 README.md >"$work/first"
    for text in samples/gallery/after.jpg 'make install' 'make deb' 'pip install' '](samples/README.md)'; do
        grep -qF -e "$text" "$work/first" || echo "no $text"
    done
})"
# "| [what](tests/bench/results/FILE): 6.0 ms, ... |": the numbers stand in that file.
result "the figures of README.md are in the results" "$(sed -n 's/.*](\(tests\/bench\/results\/[^)]*\)): \(.*\)|$/\1 \2/p' README.md |
    while read -r file text; do
        for number in $(printf '%s\n' "$text" | grep -o '[0-9][0-9.]*'); do
            grep -qF -e "$number" "$file" || echo "$number is not in $file"
        done
    done)"

# mean A B: by how many levels two PPM files of one size differ, as a mean over their bytes
mean()
{
    [ "$(wc -c <"$1")" -eq "$(wc -c <"$2")" ] || { echo 255; return; }
    cmp -l "$1" "$2" | awk -v bytes="$(wc -c <"$1")" '
        function level(octal) { return int(octal / 100) * 64 + int(octal / 10) % 10 * 8 + octal % 10 }
        { d = level($2) - level($3); sum += d < 0 ? -d : d }
        END { print sum / bytes }'
}

# far A B LEVELS: says so if two pictures differ by more than that
far()
{
    "$GPUFILTER" --device=cpu -q -i "$1" -o "$work/a.pnm" && "$GPUFILTER" --device=cpu -q -i "$2" -o "$work/b.pnm" &&
        mean "$work/a.pnm" "$work/b.pnm" | awk -v most="$3" -v name="$1" '
            $1 > most { print name ": a mean difference of " $1 " levels" }' || echo "$1 or $2 cannot be read"
}

# Another libjpeg may choose other bytes, so that pictures are compared by their levels.
wait "$generator" || cat "$work/generated"
lacking=$("$GPUFILTER" --version | grep -E '^without (colours|text)' | head -n 1)
# Its pictures take a minute with sanitizers, which see every filter in other tests.
lacking=${GF_TEST_SMALL:+a build with sanitizers}$lacking
if [ -n "$lacking" ]; then
    skipped "generated parts are fresh" "$lacking"
    skipped "the gallery has a picture for each filter" "$lacking"
else
result "generated parts are fresh (else: make readme)" "$(cd "$work/fresh" && find . -type f | sort | while read -r file; do
    case $file in
    *.jpg) far "$file" "$root/$file" 1 ;;
    *) cmp "$file" "$root/$file" 2>&1 ;;
    esac
done)"
result "the gallery has a picture for each filter, and no more" "$(cd "$work/fresh/samples/gallery" && ls >"$work/list" &&
    ls "$root/samples/gallery" | diff "$work/list" -)"
fi

# A small rendering beside the sample picture made as small; the grain stays.
result "samples/harbour.png is what samples/harbour renders" "$({
    ${CC:-cc} -std=c17 -D_GNU_SOURCE -O2 -ffp-contract=off -o "$work/harbour" samples/harbour/*.c -lm &&
        "$work/harbour" "$work/small.ppm" 90 &&
        "$GPUFILTER" --device=cpu -q -i samples/harbour.png -o "$work/sample.ppm" resize=w=90:kernel=area &&
        "$GPUFILTER" --device=cpu -q -i "$work/small.ppm" -o "$work/smooth.ppm" blur=1 &&
        "$GPUFILTER" --device=cpu -q -i "$work/sample.ppm" -o "$work/sample.ppm.ppm" blur=1 || echo "it failed"
} 2>&1
    far "$work/smooth.ppm" "$work/sample.ppm.ppm" 4)"
plan
