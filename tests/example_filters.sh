#!/bin/sh
# A filter is a file, a header where the device needs it too, and one line: this test adds the two of
# tests/example_filters, and two that make new-filter begins, to a copy of the tree and of the folder where $GPUFILTER was
# built, builds what that changes, and uses them: on a GPU, too, if that folder has CUDA.
root=$(cd "$(dirname "$0")/.." && pwd)
: "${GPUFILTER:=$root/build/gpufilter}"
examples=$root/tests/example_filters
build=$(basename "$(dirname "$GPUFILTER")") # its files of dependencies name it
pictures=$root/tests/filters/goldens
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
. "$(dirname "$0")/tap.sh"

add_filters()
{
    cp -a "$root/Makefile" "$root/src" "$root/include" "$root/cuda" "$root/tests" "$root/samples" "$tree" || return
    mkdir "$tree/$build" && (cd "$(dirname "$GPUFILTER")" && cp -a config.mk configured study src "$tree/$build" &&
        { [ ! -d cuda ] || cp -a cuda "$tree/$build"; }) || return
    cp "$examples"/*.[ch] "$tree/src/filters" && cp "$examples"/*.cu "$tree/cuda/filters" || return
    printf 'GF_FILTER(%s)\n' raise falloff >>"$tree/src/filters/filters.def"
}

copy_make()
{
    env -i PATH="$PATH" PKG_CONFIG_PATH="$PKG_CONFIG_PATH" LD_LIBRARY_PATH="$LD_LIBRARY_PATH" \
        make -C "$tree" -j"$(nproc)" BUILD="$build" "$@" >"$tree/log" 2>&1
}

problems=$({ add_filters && copy_make new-filter NAME=glow KIND=point && copy_make new-filter NAME=haze KIND=stencil &&
    copy_make "$build/gpufilter"; } 2>&1 || { echo "it does not" && tail -n 20 "$tree/log"; })
result "a copy of the tree builds with them" "$problems"
[ -z "$problems" ] || exit 1
result "nothing else is compiled" "$(grep -E '^(CC|NVCC) ' "$tree/log" | grep -v -e '/registry\.c$' -e '/raise\.cu\{0,1\}$' -e '/falloff\.c$' \
    -e '/glow\.c$' -e '/haze\.c$')"
cd "$tree" || exit 1

gpufilter()
{
    "$build/gpufilter" --device=cpu "$@"
}

# has COMMAND WORDS: a problem unless what the command prints has them.
has()
{
    gpufilter $1 2>&1 | grep -qF -e "$2" || echo "$1 does not print '$2'"
}

# same CHAIN PICTURE OTHER: a problem unless the chain makes of the picture what the other chain makes.
same()
{
    gpufilter --quiet -i "$pictures/$2" -o one.pam "$1" && gpufilter --quiet -i "$pictures/$2" -o other.pam "$3" &&
        cmp -s one.pam other.pam || echo "$1 and $3 differ on $2"
}

# bands CHAIN PICTURE: a problem unless bands of few rows make the picture that the whole makes.
bands()
{
    gpufilter --quiet -i "$pictures/$2" -o whole.pam --band-rows=100000 "$1" || echo "$1 fails on $2"
    for rows in 1 3 7; do
        gpufilter --quiet -i "$pictures/$2" -o bands.pam --band-rows=$rows "$1"
        cmp -s whole.pam bands.pam || echo "$1 differs on $2 in bands of $rows rows"
    done
}

result "help, list and completion know them" "$(
    has "--help raise" "border"
    has "--help falloff" "strength"
    has "--list" "darker corners"
    for shell in bash zsh fish; do
        has "--completion=$shell" falloff
    done
)"

log=$("$build"/gpufilter --selftest=small raise,falloff,glow,haze 2>&1) && log=
result "the self-test passes" "$log"

result "bands make what the whole makes" "$(
    for picture in rgb.ppm gray16.pgm rgba.pam; do
        for chain in raise raise=2:wrap haze=1:wrap falloff glow,haze invert,falloff,gamma=2 falloff=1,raise,grayscale,falloff; do
            bands "$chain" "$picture"
        done
    done
)"

result "raise is the correlation that it says it is" "$(
    for picture in rgb.ppm gray16.pgm; do
        same raise=1:reflect $picture 'convolve=-1 0 0/0 1 0/0 0 1:border=reflect'
    done
)"

# A white picture of 9x7 pixels becomes 255 (1 - d^2), rounded.
awk 'BEGIN { print "P2\n9 7\n255"; for (i = 0; i < 63; i++) print 255 }' >white.pgm
awk 'BEGIN {
    for (y = 0; y < 7; y++)
        for (x = 0; x < 9; x++)
            print int(255 * (1 - ((x - 4) ^ 2 + (y - 3) ^ 2) / (4.5 ^ 2 + 3.5 ^ 2)) + 0.5)
}' >expected
gpufilter --quiet -i white.pgm -o dark.pgm falloff=1
tail -c 63 dark.pgm | od -An -v -tu1 -w1 | tr -d ' ' >is
result "falloff darkens by the distance from the middle" "$(cmp is expected 2>&1)"

study=$(gpufilter --help | grep -o -e '--explain' | head -n 1) # nothing in a build without the study
one_stage="a falloff between point filters is one stage with them"
if [ -n "$study" ]; then
    result "$one_stage" "$(
        gpufilter --explain -i white.pgm invert,falloff,gamma=2 | grep -q 'invert+falloff+gamma.*3 filters fused' ||
            gpufilter --explain -i white.pgm invert,falloff,gamma=2
    )"
else
    skipped "$one_stage" "the program was built without the study"
fi

# A mean of 3x3 pixels, and 255 (v + v (1 - v)), rounded.
result "what make new-filter begins does what its help says" "$(
    for border in edge reflect wrap constant; do
        same haze=1:$border rgb.ppm boxblur=1:$border
    done
    printf 'P2\n3 1\n255\n0 51 255\n' >three.pgm
    gpufilter --quiet -i three.pgm -o lighter.pgm glow=1
    [ "$(tail -c 3 lighter.pgm | od -An -v -tu1 | tr -s ' ')" = ' 0 92 255' ] || tail -c 3 lighter.pgm | od -An -tu1
)"

# Whether there is a GPU or not.
result "a stencil without a kernel runs on the CPU, and says why" "$(
    lacks='haze has no CUDA kernel and runs on the CPU only'
    "$build"/gpufilter --verbose -i three.pgm -o auto.pgm invert,haze 2>&1 | grep -q "ran on cpu.*: $lacks" ||
        echo "--verbose does not say it"
    for option in $study ${study:+--profile=compare}; do
        "$build"/gpufilter "$option" -i three.pgm haze | grep -q "$lacks" || echo "$option does not say it"
    done
    for options in '-o a.pgm' '-i three.pgm -o {n}.pgm' '-o a.pgm invert -o b.pgm' $study ${study:+--profile=compare}; do
        # shellcheck disable=SC2086 # several words
        "$build"/gpufilter --device=cuda -i three.pgm $options haze >said 2>&1
        status=$?
        { [ $status = 3 ] && [ "$(cat said)" = "gpufilter: $lacks" ]; } || { echo "$options: status $status" && cat said; }
    done
)"

result "the test that make new-filter writes fails until it has the values" "$(
    copy_make "$build"/tests/test_glow || tail -n 20 log
    "$build"/tests/test_glow >said 2>&1 && echo "it passes as written"
    grep -q 'glow makes 15, and tests/filters/test_glow.c expects -1' said || cat said
    sed -i 's/{{-1, .*}}/{{15, 29, 43}, {57, 252, 83}, {95, 107, 119}}/' tests/filters/test_glow.c
    copy_make "$build"/tests/test_glow && "$build"/tests/test_glow >said 2>&1 || cat said log
)"

result "make new-filter writes over nothing" "$(
    find src/filters tests/filters -type f -exec cksum {} + >before
    for wrong in 'NAME=glow KIND=point' 'NAME=flip KIND=point' 'NAME=cli KIND=stencil' 'NAME=int KIND=point' NAME=mist \
        'NAME=../mist KIND=point' KIND=point; do
        # shellcheck disable=SC2086 # several words
        ! copy_make new-filter $wrong || echo "$wrong is taken"
    done
    find src/filters tests/filters -type f -exec cksum {} + | cmp - before 2>&1
)"

# Each block of code in the tutorial stands so in one of the files.
result "the tutorial quotes these files" "$(awk -v blocks=0 '
    FILENAME != ARGV[1] { file[FILENAME] = file[FILENAME] "\n" $0; next }
    /^```/ && inside { block[++blocks] = text; inside = 0; next }
    /^```c/ { inside = 1; text = ""; next }
    inside { text = text "\n" $0 }
    END {
        for (i = 1; i <= blocks; i++) {
            found = 0
            for (name in file)
                found = found || index(file[name] "\n", block[i] "\n")
            if (!found)
                print "no file has:" block[i]
        }
        if (blocks < 3)
            print "only " blocks " blocks of code"
    }' "$root/src/filters/README.md" "$examples"/* "$root/tests/new_filter"/*.c)"

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
host=$([ -z "$nvcc" ] || sh "$root/tests/nvcc_host.sh" "$nvcc")
if [ -z "$host" ]; then
    skipped "raise.cu compiles" "there is no nvcc, or no C++ compiler that it takes"
else
    result "raise.cu compiles" "$("$nvcc" -ccbin "$host" -std=c++17 -fmad=false -Iinclude -Isrc -I. -c -o raise.o \
        cuda/filters/raise.cu 2>&1 || echo "nvcc failed")"
fi
plan
