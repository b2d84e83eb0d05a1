#!/bin/bash
# make bench-limits: what bounds each kernel of `make bench-gpu`, counted by Nsight Compute. Arguments: the benchmark, the
# program. Environment: RESULTS=FILE.txt (tests/bench/results/limits-DATE.txt), GF_COMMIT=NAME where git does not know the commit.
set -eu
bench=$1 program=$2 here=$(dirname "$0")
results=${RESULTS:-$here/results/limits-$(date -u +%Y-%m-%d).txt}
command -v ncu >/dev/null || { echo "bench-limits: ncu, Nsight Compute, is not installed" >&2; exit 3; }
command -v python3 >/dev/null || { echo "bench-limits: python3 is not installed" >&2; exit 3; }
counted=$(mktemp -d)
trap 'rm -rf "$counted"' EXIT
stalls=$(printf 'smsp__average_warps_issue_stalled_%s_per_issue_active.ratio,' long_scoreboard short_scoreboard barrier math_pipe_throttle \
    mio_throttle lg_throttle wait not_selected no_instruction)
metrics=${stalls}gpu__time_duration.sum,smsp__inst_executed.sum,smsp__issue_active.avg.pct_of_peak_sustained_elapsed
metrics+=,gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed
metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active,sm__inst_executed_pipe_tensor_op_imma.avg.pct_of_peak_sustained_active
BENCH_PROFILED=1 ncu --csv --page raw --print-units base --clock-control none --profile-from-start off --nvtx \
    --metrics "$metrics" --log-file "$counted/kernels.csv" \
    "$bench" "$program" "$here/../../samples/harbour.png" "$counted/rows.json" >"$counted/rows.txt" || {
    tail -n 3 "$counted"/*
    exit 1
}
[ -z "${KEEP_COUNTED:-}" ] || cp "$counted/kernels.csv" "$KEEP_COUNTED"
{
    echo "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1); commit ${GF_COMMIT:-$(git -C "$here" rev-parse --short HEAD)}; 7680x4320"
    python3 "$here/limits.py" "$counted/kernels.csv"
} >"$results"
cat "$results"
