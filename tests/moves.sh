#!/bin/sh
# moves.sh REVISION [BUILD]: proves that a change only moves code. It names the functions and tables of the C sources whose machine
# code is not that of the revision (see moves.py), and the pictures that come out in other bytes (see pictures.sh). Both builds lie
# in the folder BUILD (build-moves). The kernels of two builds by nvcc are compared by kernels.py: make each with CUDA_ARCHS=90, then
# python3 tests/kernels.py BEFORE/cuda AFTER/cuda.
set -eu
cd "$(dirname "$0")/.."
base=$1 build=${2:-build-moves}
# Each function's code depends on its own text alone, and refers to others by name.
flags='-O1 -g0 -DNDEBUG -fno-inline -fno-ipa-cp -fno-ipa-sra -fno-ipa-pure-const -fno-ipa-modref -fno-ipa-reference -fno-ipa-profile
  -fno-ipa-icf -fno-ipa-ra -fno-ipa-stack-alignment -fno-partial-inlining -fno-toplevel-reorder -fno-pic -fno-pie -fno-jump-tables -ffunction-sections
  -fdata-sections -fno-stack-protector -U_FORTIFY_SOURCE -fcf-protection=none'
# compile FOLDER BUILD: the objects of the sources in a folder
compile()
{
    make --no-print-directory -C "$1" "-j${JOBS:-$(nproc)}" BUILD="$2" CUDA=0 CFLAGS="$(echo $flags)" V=0 ${CC:+"CC=$CC"} \
        "$2/libgpufilter.a" "$2/program.a" "$2/src/cli/main.o" >"$build/log" 2>&1 || { tail -n 20 "$build/log"; exit 1; }
}
# program SIDE: the program of one side, as users have it but for its speed
program()
{
    folder=.
    [ "$1" = after ] || folder=$build/base
    make --no-print-directory -C "$folder" "-j${JOBS:-$(nproc)}" BUILD="$here/$1" CUDA=0 CFLAGS='-O1 -g0' V=0 ${CC:+"CC=$CC"} \
        "$here/$1/gpufilter" >"$build/log" 2>&1 || { tail -n 20 "$build/log"; exit 1; }
}
rm -rf "$build/base" "$build/objects-before" "$build/objects-after"
mkdir -p "$build/base"
git archive "$base" | tar x -C "$build/base"
here=$(cd "$build" && pwd)
compile "$build/base" "$here/objects-before"
compile . "$here/objects-after"
"${PYTHON:-python3}" tests/moves.py "$build/objects-before" "$build/objects-after" || differs=1
for side in before after; do
    program "$side" && rm -rf "$here/pictures" && mkdir "$here/pictures" &&
        sh tests/pictures.sh "$here/$side/gpufilter" "$here/pictures" >"$build/pictures-$side"
done
diff "$build/pictures-before" "$build/pictures-after" || differs=1
echo "$(sort "$build/pictures-before" "$build/pictures-after" | uniq -d | wc -l) of $(wc -l <"$build/pictures-before") pictures and messages are the same"
exit "${differs:-0}"
