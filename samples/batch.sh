#!/bin/sh
# A folder into another, with a log: run again, it does what is still to be done.
set -eu
cd "$(dirname "$0")/.."
${GPUFILTER:-build/gpufilter} -i samples/gallery -o "${1:-build/batch}/{stem}-small.{ext}" --resume="${1:-build/batch}.log" \
    'resize=50%,unsharp'
