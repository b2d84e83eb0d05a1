#!/bin/sh
# GNU parallel runs a part of the pictures in each of four processes; -S host1,host2 does it on other machines.
set -eu
cd "$(dirname "$0")/.."
parallel -j 4 "${GPUFILTER:-build/gpufilter}" -i samples/gallery -o "${1:-build/parallel}/" --threads=1 --shard='{}/4' blur ::: 1 2 3 4
