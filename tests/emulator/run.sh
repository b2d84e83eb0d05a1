#!/bin/sh
# What `make test-emulator` runs: the short self-test of every filter on the emulated device, then test programs, as many at
# once as there are processors. Arguments: the build folder, the names of test programs. Environment: EMULATOR_SECONDS, the
# most that each may take (900); EMULATOR_FILTERS, those to test instead of all.
set -eu
build=$1
shift
limit=${EMULATOR_SECONDS:-900}
logs=$build/emulator-logs
mkdir -p "$logs"
export build limit logs
# What the program keeps until its end is looked for elsewhere.
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 GF_TEST_SMALL=1
LD_LIBRARY_PATH=$(cd "$build" && pwd) # where libnvcuvid.so.1 may be
export LD_LIBRARY_PATH
filters=${EMULATOR_FILTERS-$("$build/gpufilter" --list=markdown | sed -n 's/^| `\([a-z]*\)`.*/\1/p')}
{
    # Those that take longest begin first.
    for filter in nlmeans bilateral blur convolve unsharp $filters; do
        case " $(echo $filters) " in *" $filter "*) echo "$filter" "$build/gpufilter" --selftest=small "$filter" ;; esac
    done | awk '!seen[$1]++'
    echo "chips sh tests/emulator/chips.sh $build/gpufilter"
    for name in "$@"; do
        echo "test_$name" "$build/tests/test_$name"
    done
} | xargs -P "$(nproc)" -L 1 sh -c '
    name=$0 log=$logs/$0.log status=0
    timeout -k 5 "$limit" "$@" >"$log" 2>&1 </dev/null || status=$?
    case $status in
    0) echo "ok: $name: $(grep -E "passed|PASSED" "$log" | tail -n 1)" ;;
    124) echo "not ok: $name: stopped after $limit s" ;;
    *)
        echo "not ok: $name: exit status $status, $log ends with"
        grep -E "FAILED|ERROR|emulated device" "$log" | head -n 20
        tail -n 5 "$log"
        ;;
    esac
    [ "$status" -eq 0 ]'
