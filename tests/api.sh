#!/bin/sh
# The library from the outside: it exports what its headers declare and nothing else, and samples/example.c works as C
# and as C++, linked with the static and with the shared library. GPUFILTER is the program in the build folder; CC, CXX
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
    shared) set -- "-L$build" -lgpufilter "-Wl,-rpath,$work" && ln -s "$build/libgpufilter.so" "$work/libgpufilter.so.0" ;;
    esac
    example "the example in C, $linking library" "${CC:-cc}" c "$@"
    if command -v "${cxx%% *}" >/dev/null; then
        example "the example in C++, $linking library" "$cxx" c++ "$@"
    else
        skipped "the example in C++, $linking library" "there is no $cxx"
    fi
done
plan
