#!/bin/sh
# The self-test as one test: on a machine with a GPU it compares every filter there with the CPU backend.
: "${GPUFILTER:=$(dirname "$0")/../build/gpufilter}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if "$GPUFILTER" --selftest=small >"$log" 2>&1; then
    echo "ok 1 - selftest: $(tail -n 1 "$log")"
else
    cat "$log"
    echo "not ok 1 - selftest"
fi
if why=$(grep 'skipped:' "$log"); then
    echo "ok 2 - selftest on a GPU # SKIP $why"
else
    echo "ok 2 - selftest on a GPU"
fi
echo "1..2"
