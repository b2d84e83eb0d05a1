#!/bin/sh
# The part of one task of a cluster's job: every COUNT-th tar archive of a folder, beginning with number INDEX, from 0.
#   samples/archives.sh FROM TO INDEX COUNT CHAIN...
# Results are complete or absent: a task that is started again goes on with the archives that are not there yet.
set -eu
from=$1 to=$2 index=$3 count=$4
shift 4
number=0
mkdir -p "$to"
for archive in "$from"/*.tar; do
    result=$to/${archive##*/}
    if [ $((number % count)) -eq "$index" ] && [ ! -e "$result" ]; then
        gpufilter -i "$archive" -o "$result" "$@"
    fi
    number=$((number + 1))
done
