#!/bin/sh
# The tests of the command line. Each tests/cli/*.sh is read in a shell of its own, in an empty folder with
# three small pictures; it prints TAP through the functions below. Names as arguments choose some of them:
# tests/run-cli.sh usage signals. The program is $GPUFILTER.
here=$(cd "$(dirname "$0")" && pwd)
: "${GPUFILTER:=$here/../build/gpufilter}"
case $GPUFILTER in
/*) ;;
*) GPUFILTER=$PWD/$GPUFILTER ;;
esac
export GPUFILTER LC_ALL=C
# Tests reach servers of their own here, whatever the user's settings say of others.
# shellcheck disable=SC2046 # a list of names
unset $(env | sed -n 's/^\(AWS_[A-Z_0-9]*\|RCLONE_[A-Z_0-9]*\|[A-Za-z]*_proxy\|[A-Z]*_PROXY\)=.*/\1/p')

gpufilter()
{
    "$GPUFILTER" "$@"
}

# begin NAME: what follows, up to the next begin, is one test.
begin()
{
    finish
    test_name=$1 problems='' lacking=''
}

finish()
{
    [ -n "$test_name" ] || return 0
    [ -z "$lacking" ] || { skip "$lacking" && return; }
    echo >>"$count"
    if [ -z "$problems" ]; then
        echo "ok - $script: $test_name"
    else
        printf '%s\n' "$problems" | sed 's/^/# /'
        echo "not ok - $script: $test_name"
    fi
    test_name=
}

# camera_jpeg FILE: the JPEG with the EXIF of a camera: Canon EOS R5, RF24-70mm, 2024-05-01T12:30:00, 300 dpi, sRGB, GPS, a thumbnail of 1234.
camera_jpeg()
{
    head -c 2 "$1"
    # shellcheck disable=SC2059 # the octal digits are the format
    printf "\377\341\001\007Exif\000\000\115\115\000\052\000\000\000\010\000\007\001\017\000\002\000\000\000\006\000\000\000\142\001\020\
\000\002\000\000\000\015\000\000\000\150\001\032\000\005\000\000\000\001\000\000\000\165\001\033\
\000\005\000\000\000\001\000\000\000\175\001\050\000\003\000\000\000\001\000\002\000\000\207\151\
\000\004\000\000\000\001\000\000\000\205\210\045\000\004\000\000\000\001\000\000\000\317\000\000\
\000\355\103\141\156\157\156\000\103\141\156\157\156\040\105\117\123\040\122\065\000\000\000\001\
\054\000\000\000\001\000\000\002\130\000\000\000\002\000\003\220\003\000\002\000\000\000\024\000\
\000\000\257\240\001\000\003\000\000\000\001\000\001\000\000\244\064\000\002\000\000\000\014\000\
\000\000\303\000\000\000\000\062\060\062\064\072\060\065\072\060\061\040\061\062\072\063\060\072\
\060\060\000\122\106\062\064\055\067\060\155\155\040\040\000\000\002\000\000\000\001\000\000\000\
\004\002\003\000\000\000\001\000\002\000\000\000\002\116\000\000\000\000\000\000\000\000\001\002\
\002\000\004\000\000\000\001\000\000\004\322\000\000\000\000"
    tail -c +3 "$1"
}

# camera_dng: a raw photograph of gray, with the marks of a camera and a quarter turn: Maker Model 1, 64x48 before it is turned.
camera_dng()
{
    # shellcheck disable=SC2059 # the octal digits are the format
    printf "II\52\0\10\0\0\0\25\0\376\0\4\0\1\0\0\0\0\0\0\0\0\1\4\0\1\0\0\0\100\0\0\0\1\1\4\0\1\0\0\000\60\0\0\0\2\1\3\0\1\0\0\0\20\0\0\0\
\3\1\3\0\1\0\0\0\1\0\0\0\6\1\3\0\1\0\0\0\43\200\0\0\17\1\2\0\6\0\0\0\12\1\0\0\20\1\2\0\10\0\0\0\20\1\0\0\21\1\4\0\1\0\0\0\206\
\1\0\0\22\1\3\0\1\0\0\0\6\0\0\0\25\1\3\0\1\0\0\0\1\0\0\0\26\1\4\0\1\0\0\000\60\0\0\0\27\1\4\0\1\0\0\0\0\30\0\0\215\202\3\0\2\0\
\0\0\2\0\2\0\216\202\1\0\4\0\0\0\0\1\1\2\22\306\1\0\4\0\0\0\1\4\0\0\24\306\2\0\16\0\0\0\30\1\0\0\35\306\4\0\1\0\0\0\20\20\0\0\
\41\306\12\0\11\0\0\0\46\1\0\0\50\306\5\0\3\0\0\0n\1\0\0Z\306\3\0\1\0\0\0\25\0\0\0\0\0\0\0Maker\0Model\040\61\0Maker\40Model\
\040\61\0\225\176\0\0\20\47\0\0\365\303\377\377\20\47\0\0\207\354\377\377\20\47\0\0\43\332\377\377\20\47\0\0HI\0\0\20\47\0\0\
\240\1\0\0\20\47\0\0\54\2\0\0\20\47\0\0\10\370\377\377\20\47\0\0L\51\0\0\20\47\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\
\0\0"
    head -c 6144 /dev/zero | tr '\0' '\10'
}

# Whether GNU time is here, by which memory is measured.
has_time()
{
    /usr/bin/time -q -f %M true >/dev/null 2>&1
}

# Whether the memory that is measured is the program's own: a sanitizer takes more.
measures_memory()
{
    has_time && ! grep -aq "__asan_init\|__tsan_init" "$GPUFILTER"
}

skip()
{
    echo >>"$count"
    echo "ok - $script: $test_name # SKIP $1"
    test_name=
}

problem()
{
    problems=${problems:+$problems
}$1
}

# until_true SECONDS COMMAND...: whether the command becomes true; a slow machine has ten times the seconds
until_true()
{
    tries=$((50 * $1))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.2
    done
}

# children PROCESS: the numbers of the processes that it has started, from /proc; pgrep is not everywhere
children() { cat "/proc/$1"/task/*/children 2>/dev/null; }

# Whether the program has what people study: labs, variants of kernels and their reports.
has_study() { gpufilter --help 2>/dev/null | grep -q -- --lab; }

# run STATUS COMMAND...: what it printed is in the files stdout and stderr.
run()
{
    wanted=$1
    shift
    "$@" >stdout 2>stderr
    got=$?
    [ "$got" -ne 3 ] || has_study || ! grep -q '(STUDY=0)$' stderr || lacking="the program was built without the study"
    [ "$got" -eq "$wanted" ] || problem "$*: exit status $got, not $wanted: $(head -n 3 stderr)"
}

# Exactly this one line of diagnostics.
stderr_is()
{
    printf '%s\n' "$1" | cmp -s - stderr || problem "stderr is not '$1' but '$(cat stderr)'"
}

# One line of diagnostics that matches the pattern of grep.
stderr_like()
{
    [ "$(wc -l <stderr)" -eq 1 ] && grep -q "^gpufilter: $1" stderr ||
        problem "stderr is not one line like '$1' but '$(cat stderr)'"
}

stdout_has()
{
    grep -qe "$1" stdout || problem "stdout has nothing like '$1'"
}

silent()
{
    [ ! -s stderr ] || problem "stderr is not empty: '$(cat stderr)'"
}

absent()
{
    for file; do
        [ ! -e "$file" ] || problem "$file is there"
    done
}

# le32 NUMBER...: four bytes each, the lowest first.
le32()
{
    for number; do
        # shellcheck disable=SC2059 # the octal digits are the format
        printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $((number & 255)) $((number >> 8 & 255)) $((number >> 16 & 255)) \
            $((number >> 24 & 255)))"
    done
}

same()
{
    cmp -s "$1" "$2" || problem "$1 and $2 differ"
}

# Nothing but these names in the folder: no temporary file was left.
only()
{
    folder=$1
    shift
    [ "$(ls -A "$folder")" = "$(printf '%s\n' "$@" | sort)" ] ||
        problem "$folder holds: $(ls -A "$folder" | tr '\n' ' ')"
}

# be32 NUMBER: four bytes, the highest first.
be32()
{
    # shellcheck disable=SC2059 # the octal digits are the format
    printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $(($1 >> 24 & 255)) $(($1 >> 16 & 255)) $(($1 >> 8 & 255)) \
        $(($1 & 255)))"
}

# png_chunk TYPE: a PNG chunk of what comes in; its checksum is gzip's.
png_chunk()
{
    { printf %s "$1" && cat; } >chunk
    be32 $(($(wc -c <chunk) - 4))
    cat chunk
    # shellcheck disable=SC2046 # four numbers
    set -- $(gzip -1c <chunk | tail -c 8 | head -c 4 | od -An -tu1)
    be32 $(($4 << 24 | $3 << 16 | $2 << 8 | $1))
    rm chunk
}

png_header()
{
    printf '\211PNG\r\n\032\n'
    { be32 "$1" && be32 "$2" && printf '\010\000\000\000\000'; } | png_chunk IHDR
}

# 77x55 pixels with edges, ramps and grain.
make_pictures()
{
    awk 'BEGIN {
        print "P3\n77 55\n255"
        for (y = 0; y < 55; y++)
            for (x = 0; x < 77; x++)
                printf "%d %d %d\n", x * 3, (x * 7 + y * 13) % 256, int(x / 8 + y / 8) % 2 * 200 + y
    }' >in.ppm
    awk 'BEGIN {
        print "P2\n40 30\n65535"
        for (i = 0; i < 1200; i++)
            print i * 7919 % 65536
    }' >gray16.pgm
    gpufilter -i in.ppm -o in.png
    gpufilter -i in.ppm -o in.jpg
}

run_script()
{
    script=$1 test_name=
    folder=$(mktemp -d)
    cd "$folder" || exit 1
    # What --calibrate measures stays in the test's folder.
    XDG_CACHE_HOME=$folder/.cache
    export XDG_CACHE_HOME
    make_pictures
    # shellcheck disable=SC1090
    . "$here/cli/$script.sh"
    finish
    cd / && rm -rf "$folder"
}

if [ $# -eq 0 ]; then
    for each in "$here"/cli/*.sh; do
        set -- "$@" "$(basename "$each" .sh)"
    done
fi
count=$(mktemp) # a line for each test
trap 'rm -f "$count"' EXIT
for each; do
    (run_script "$each") || { echo >>"$count"; echo "not ok - $each: broke off"; }
done
echo "1..$(wc -l <"$count")"
