#!/bin/sh
# Several processes on one GPU, one after another, at once, and at once under NVIDIA's Multi-Process Service (MPS), which
# puts them into one context. Arguments: the program, a picture. Environment: MPS_PROCESSES (8), MPS_RUNS (3).
set -eu
program=$1 picture=$2
processes=${MPS_PROCESSES:-8} runs=${MPS_RUNS:-3}
work=$(mktemp -d)
stop() {
    if [ -e "$work/pipe/nvidia-cuda-mps-control.pid" ]; then echo quit | nvidia-cuda-mps-control >/dev/null 2>&1 || true; fi
    rm -rf "$work"
}
trap stop EXIT

filter() {
    "$program" --quiet --device=cuda -i "$picture" -o "$work/$1.ppm" blur=2,equalize
}

in_turn() {
    for i in $(seq "$processes"); do filter "$i"; done
}

at_once() {
    pids=
    for i in $(seq "$processes"); do filter "$i" & pids="$pids $!"; done
    for pid in $pids; do wait "$pid"; done
}

# The median of the runs, in milliseconds.
median_ms() {
    for _ in $(seq "$runs"); do
        begin=$(date +%s%N)
        "$1"
        echo $((($(date +%s%N) - begin) / 1000000))
    done | sort -n | sed -n "$(((runs + 1) / 2))p"
}

row() {
    printf '%-28s %6d ms\n' "$1" "$2"
}

filter 0 # without a GPU this is the end
echo "$processes processes, blur=2,equalize, medians of $runs"
row "one after another" "$(median_ms in_turn)"
row "at once" "$(median_ms at_once)"
if ! command -v nvidia-cuda-mps-control >/dev/null 2>&1; then
    echo "at once, under MPS: nvidia-cuda-mps-control is not here"
    exit 3
fi
mkdir "$work/pipe" "$work/log"
export CUDA_MPS_PIPE_DIRECTORY="$work/pipe" CUDA_MPS_LOG_DIRECTORY="$work/log"
if ! nvidia-cuda-mps-control -d >/dev/null 2>&1; then
    echo "at once, under MPS: its daemon does not start here"
    exit 3
fi
filter 0 # starts the server
row "at once, under MPS" "$(median_ms at_once)"
