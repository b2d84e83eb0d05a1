#!/bin/sh
# find_package(gpufilter) of CMake finds what `make install` installs, also where it was moved: samples/example.c is built with the shared and with
# the static library, and makes the program's picture. The build folder is that of $GPUFILTER; CC and LINK_FLAGS come from
# the Makefile.
root=$(cd "$(dirname "$0")/.." && pwd)
: "${GPUFILTER:=$root/build/gpufilter}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/tap.sh"

if ! command -v cmake >/dev/null; then
    skipped "find_package(gpufilter)" "there is no cmake"
    plan
    exit
fi

# configure WHAT: runs CMake on a project that finds the package so.
configure()
{
    cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(example C)
find_package(gpufilter $1 REQUIRED)
foreach(library gpufilter gpufilter_static)
  add_executable(with_\${library} $root/samples/example.c)
  target_link_libraries(with_\${library} gpufilter::\${library})
endforeach()
END
    cmake -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/usr" -DCMAKE_EXE_LINKER_FLAGS="$(printf '%s\n' "$LINK_FLAGS" |
        grep -o -e '-fsanitize=[^ ]*')" >"$work/log" 2>&1
}

env -i PATH="$PATH" PKG_CONFIG_PATH="$PKG_CONFIG_PATH" LD_LIBRARY_PATH="$LD_LIBRARY_PATH" make -s -C "$root" \
    BUILD="$(cd "$(dirname "$GPUFILTER")" && pwd)" PREFIX="$work/first" install >"$work/log" 2>&1 || cat "$work/log"
mv "$work/first" "$work/usr"
version=$("$GPUFILTER" --version | sed -n 's/^gpufilter //p')
result "the package is found by its version, an older one and none" "$(for asked in "$version EXACT" "${version%.*}" ""; do
    configure "$asked" || cat "$work/log"
done)"
"$GPUFILTER" -i "$root/samples/harbour.png" -o "$work/expected.jpg" --quality=85 blur,equalize
for library in gpufilter gpufilter_static; do
    result "the example is built with $library" "$(cmake --build "$work/build" --target with_$library >"$work/log" 2>&1 ||
        cat "$work/log"
        "$work/build/with_$library" "$root/samples/harbour.png" "$work/out.jpg" blur,equalize 2>&1
        cmp "$work/out.jpg" "$work/expected.jpg" 2>&1)"
    rm -f "$work/out.jpg"
done
rm -rf "$work/build"
result "the package is not found for another major number" "$(configure 1000 && echo "version 1000 is found")"
plan
