#!/bin/sh
# What each stage took, and what bounds the run.
set -eu
cd "$(dirname "$0")/.."
${GPUFILTER:-build/gpufilter} --profile -i samples/harbour.png -o "${1:-build/profile.png}" blur=sigma=3,equalize=mode=lightness
