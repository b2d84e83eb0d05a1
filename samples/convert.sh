#!/bin/sh
# No chain: the picture is only converted, here from PNG to JPEG.
set -eu
cd "$(dirname "$0")/.."
${GPUFILTER:-build/gpufilter} -i samples/harbour.png -o "${1:-build/convert.jpg}"
