#!/bin/sh
# Between two programs: `-` is standard input and standard output. The format out is the format in.
set -eu
cd "$(dirname "$0")/.."
${GPUFILTER:-build/gpufilter} -i - -o - 'blur=2,sobel' <samples/harbour.png >"${1:-build/pipe.png}"
