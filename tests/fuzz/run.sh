#!/bin/sh
# run.sh FOLDER SECONDS RUNS MAX_LEN JOBS TARGET...: runs each fuzz target of the folder for that time or that many
# executions, and prints a table. What a target has found lies in FOLDER/corpus/TARGET, where the next run begins; an
# input that fails lies in FOLDER/failures. Exits 1 where a target failed. With FUZZ_SEED the same inputs come each time,
# from an empty corpus on: libFuzzer chooses by addresses, too, which setarch fixes where the system lets it.
set -u
folder=$1 seconds=$2 runs=$3 max_len=$4 jobs=$5
shift 5
mkdir -p "$folder/corpus" "$folder/failures" "$folder/logs" "$folder/inputs"
"$folder/seeds" "$folder/inputs" || exit 1
fixed=
if [ -n "${FUZZ_SEED:-}" ] && setarch -R true 2>/dev/null; then fixed="setarch -R"; fi
export folder seconds runs max_len fixed

# shellcheck disable=SC2016 # expanded by the inner shell
printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh -c '
    mkdir -p "$folder/corpus/{}" "$folder/inputs/{}"
    $fixed "$folder/fuzz_{}" -seed="${FUZZ_SEED:-0}" -max_total_time="$seconds" -runs="$runs" -max_len="$max_len" -timeout=60 \
        -rss_limit_mb=1024 -malloc_limit_mb=512 -print_final_stats=1 -verbosity=1 -close_fd_mask=1 \
        -artifact_prefix="$folder/failures/{}-" "$folder/corpus/{}" "$folder/inputs/{}" >"$folder/logs/{}" 2>&1
    echo "exit status $?" >>"$folder/logs/{}"'

failed=0
printf '%-14s %12s %9s %6s %6s  %s\n' target executions "a second" cov ft result
for target; do
    log=$folder/logs/$target
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    counters=$(grep -a 'cov: ' "$log" | tail -1)
    cov=$(echo "$counters" | sed -n 's/.*cov: \([0-9]*\).*/\1/p')
    ft=$(echo "$counters" | sed -n 's/.*ft: \([0-9]*\).*/\1/p')
    result=ok
    if ! grep -aq '^exit status 0$' "$log"; then
        result=$(grep -aE 'not so:|ERROR: |runtime error:|SUMMARY:' "$log" | head -1)
        result="FAILED: ${result:-see $log}"
        failed=1
    fi
    printf '%-14s %12s %9s %6s %6s  %s\n' "$target" "${executions:--}" "${rate:--}" "${cov:--}" "${ft:--}" "$result"
done
exit $failed
