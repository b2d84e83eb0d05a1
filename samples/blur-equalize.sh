#!/bin/sh
# A Gaussian blur against the noise, then the histogram of luma made level.
set -eu
cd "$(dirname "$0")/.."
${GPUFILTER:-build/gpufilter} -i samples/harbour.png -o "${1:-build/blur-equalize.png}" blur,equalize
