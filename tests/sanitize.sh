#!/bin/sh
# What `make sanitize-gpu` runs: compute-sanitizer's tools over the short self-test of every filter and over tests of coders, as
# many at once as there are processors. Arguments: the program, a folder for what they print, programs of tests. Environment:
# SANITIZE_SECONDS, of each (300).
set -eu
program=$1 folder=$2
shift 2
limit=${SANITIZE_SECONDS:-300}
mkdir -p "$folder"
export program folder limit
filters=$("$program" --list=markdown | sed -n 's/^| `\([a-z]*\)`.*/\1/p')
for tool in racecheck memcheck initcheck synccheck; do
    for item in $filters "$@"; do
        echo "$tool $item"
    done
done | xargs -P "$(nproc)" -L 1 sh -c '
    log=$folder/$0-$(basename "$1").log
    status=0
    case $1 in
    */*) set -- "$1" "$1" ;;
    *) set -- "$1" "$program" --selftest=small "$1" ;;
    esac
    item=$1
    shift
    GF_TEST_SMALL=1 timeout "$limit" compute-sanitizer --tool "$0" --error-exitcode 9 "$@" >"$log" 2>&1 || status=$?
    verdict=$(grep "SUMMARY" "$log" | tail -n 1 | sed "s/=* *//")
    [ "$status" -ne 124 ] || verdict="stopped after $limit s"
    echo "$0 $item: ${verdict:-exit $status}"
    [ "$status" -eq 0 ]'
