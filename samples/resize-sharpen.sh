#!/bin/sh
# Smaller by Lanczos, then sharpened a little: a picture for the web.
set -eu
cd "$(dirname "$0")/.."
${GPUFILTER:-build/gpufilter} -i samples/harbour.png -o "${1:-build/resize-sharpen.jpg}" 'resize=w=320,unsharp=sigma=1:amount=0.8'
