#!/bin/sh
# The library from the outside: it exports what its headers declare and nothing else, programs that were compiled with the
# version of its headers find what they expect, and samples/example.c works as C and as C++, linked with the static and with the shared library. GPUFILTER is the program in the build folder; CC, CXX
# and LINK_FLAGS (what a program needs that links the static library) come from the Makefile.
root=$(cd "$(dirname "$0")/.." && pwd)
: "${GPUFILTER:=$root/build/gpufilter}"
build=$(dirname "$GPUFILTER")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/tap.sh"

# The functions that the headers declare, a line each: the name, and before it MARKED where it has GF_API.
echo '#include "gpufilter/gpufilter.h"' | ${CC:-cc} -E -P -DGF_API=MARKED -I"$root/include" -x c - | tr '\n' ' ' |
    sed -E ':a; s/\{[^{}]*\}/;/g; ta; s/;/\n/g' | grep -v static |
    sed -nE 's/^.*(MARKED).*[ *](gf_[a-z0-9_]+) *\(.*$/\1 \2/p; t; s/^[^(]*[ *](gf_[a-z0-9_]+) *\(.*$/\1/p' >"$work/declared"
sed 's/^MARKED //' "$work/declared" | sort >"$work/names"
nm -D --defined-only "$build/libgpufilter.so" | awk '{ print $NF }' | grep -v '^__\(asan\|odr_asan\|ubsan\)' | sort >"$work/exported"

result "the headers declare functions" "$([ "$(grep -c . "$work/names")" -ge 20 ] || cat "$work/names")"
result "every function has GF_API" "$(grep -v '^MARKED' "$work/declared")"
result "every function that is declared is exported" "$(comm -23 "$work/names" "$work/exported")"
result "nothing else is exported" "$(comm -13 "$work/names" "$work/exported")"

# abi FOLDER: how the headers in the folder differ from tests/abi.txt.
abi()
{
    GF_INCLUDE=$1 "${PYTHON:-python3}" "$root/tests/abi.py"
}

# changed NAME EXPRESSION EXPECTED...: with headers that sed has changed so, abi() fails and says each of these.
changed()
{
    rm -rf "$work/include" && cp -r "$root/include" "$work/include"
    sed -i -E "$2" "$work"/include/gpufilter/*.h
    name=$1 problem=$(diff -rq "$root/include" "$work/include" >/dev/null && echo "nothing was changed")
    said=$(abi "$work/include") && problem="$problem: no failure"
    shift 2
    for expected; do
        printf '%s\n' "$said" | grep -qF "$expected" || problem="$problem: does not say: $expected"
    done
    result "$name" "$problem"
}

if [ "$("${PYTHON:-python3}" -c 'import struct, sys; print(struct.calcsize("P"), sys.version_info >= (3, 9))' 2>/dev/null)" = "8 True" ]; then
    result "the binary interface is that of tests/abi.txt" "$(abi "$root/include")"
    changed "a member within a struct breaks programs" 's/^    int quality; /    int more; int quality; /' "changed or gone: struct gf_options: quality at 84" \
        "programs that were compiled with version"
    changed "so does a larger struct of the caller's" 's/^(    int width, height;) +(.*pixels.*)/\1 int depth; \2/' "gone: struct gf_format: 20 bytes"
    changed "an enum's changed value" 's/GF_CODEC_CPU, *$/GF_CODEC_GPU_FIRST, GF_CODEC_CPU,/' "gone: enum gf_codec: GF_CODEC_CPU = 1"
    changed "a function's other argument" 's/(gf_options_init\(struct gf_options \*options), size_t size/\1, int size/' "gone: gf_options_init"
    changed "unless the version is another" 's/(VERSION_MINOR) .*/\1 99/; s/^    int quality; /    int more; int quality; /' \
        "not in tests/abi.txt: struct gf_options: more at 84" "make abi writes it anew"
    changed "a new function is one for the list" 's/^(GF_API void gf_free.*)/\1 GF_API int gf_new(void);/' "not in tests/abi.txt: gf_new(): c_int"
else
    skipped "the binary interface is that of tests/abi.txt" "there is no python3 from 3.9 on for 64 bits"
fi

# example NAME COMPILER LANGUAGE LIBRARY...
example()
{
    name=$1 compiler=$2 language=$3
    shift 3
    # shellcheck disable=SC2086 # flags, each a word
    problem=$($compiler -Wall -Wextra -Werror -I"$root/include" -x "$language" "$root/samples/example.c" -x none \
        -o "$work/example" "$@" $LINK_FLAGS 2>&1 || echo "does not compile")
    if [ -z "$problem" ]; then
        problem=$("$work/example" "$root/samples/harbour.png" "$work/out.jpg" blur,equalize 2>&1)
        "$GPUFILTER" -i "$root/samples/harbour.png" -o "$work/expected.jpg" --quality=85 blur,equalize
        cmp -s "$work/out.jpg" "$work/expected.jpg" || problem="$problem: another picture than the program's"
        rm -f "$work/out.jpg"
        said=$("$work/example" "$work/none.png" "$work/out.jpg" blur 2>&1) && problem="$problem: no failure"
        [ "$said" = "$work/none.png: No such file or directory" ] || problem="$problem: $said"
    fi
    result "$name" "$problem"
}

case ${CC:-cc} in
*clang*) cxx=$(echo "$CC" | sed 's/clang/clang++/') ;;
*) cxx=${CXX:-c++} ;;
esac
for linking in static shared; do
    case $linking in
    static) set -- "$build/libgpufilter.a" ;;
    shared) set -- "-L$build" -lgpufilter "-Wl,-rpath,$work" && ln -s "$build/libgpufilter.so" "$work/libgpufilter.so.1" ;;
    esac
    example "the example in C, $linking library" "${CC:-cc}" c "$@"
    if command -v "${cxx%% *}" >/dev/null; then
        example "the example in C++, $linking library" "$cxx" c++ "$@"
    else
        skipped "the example in C++, $linking library" "there is no $cxx"
    fi
done
plan
