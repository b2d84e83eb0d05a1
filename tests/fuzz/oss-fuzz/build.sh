#!/bin/bash
# Builds the fuzz targets with OSS-Fuzz's compiler and options (CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE) into the
# folder OUT, with their seeds, their options and the libraries that they load. It runs in the project's folder.
set -eu
make="make -s -j$(nproc) CUDA=0 BUILD=build-oss-fuzz"
# The library path counts for libraries of libraries, too: an old-style rpath.
$make FUZZ_CC="$CC" FUZZ_LD="$CXX" FUZZ_CFLAGS="$CFLAGS" \
    FUZZ_ENGINE="$CXXFLAGS $LIB_FUZZING_ENGINE -Wl,--disable-new-dtags,-rpath,'\$\$ORIGIN/lib'" \
    ${FUZZ_ONLY:+FUZZ_NAMES="$FUZZ_ONLY"} fuzz-build
built=build-oss-fuzz/fuzz

# The libraries that the file needs.
libraries_of()
{
    ldd "$1" | awk '$2 == "=>" && $3 ~ "^/" { print $3 }'
}

mkdir -p "$OUT/lib" "$built/inputs"
"$built/seeds" "$built/inputs"
for target in "$built"/fuzz_*; do
    name=${target##*/}
    cp "$target" "$OUT/"
    printf '[libfuzzer]\nmax_len = 4096\ntimeout = 10\n' >"$OUT/$name.options"
    seeds=$built/inputs/${name#fuzz_}
    [ ! -d "$seeds" ] || zip -j -q -r "$OUT/${name}_seed_corpus.zip" "$seeds"
    libraries_of "$target"
    # Those that it loads when a file needs them.
    grep -aoE 'lib[a-z0-9_-]+\.so\.[0-9.]*[0-9]' "$target" | sort -u | while read -r library; do
        path=$(ldconfig -p | awk -v name="$library" '$1 == name { print $NF; exit }')
        [ -z "$path" ] || { echo "$path" && libraries_of "$path"; }
    done
done | sort -u | while read -r library; do
    case ${library##*/} in
    ld-linux* | libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | libresolv.so*) ;; # of every machine
    *) cp -L "$library" "$OUT/lib/" ;;
    esac
done
