#!/bin/sh
# The tables of what each optimisation is worth, from the newest comparison. Argument: the folder of results.
set -eu
results=$(ls "$1"/compare-*.txt | tail -n 1)
awk '
NR == 1 { sub(/^# /, ""); sub(/\.$/, ""); print $0 ". A picture of 7680x4320 RGB8; in bold what runs by default.\n" }
# "blur: 7680x4320 RGB, 8 bits; at least 199 MB; CPU, 16 threads: 7.267 ms", the first of each stage
/^[a-z]+( histogram)?: .*at least/ {
    stage = $0; sub(/:.*/, "", stage)
    shown = wanted(stage) && !seen[stage]++
    if (shown) {
        cpu = $0; sub(/.*; CPU, /, "", cpu)
        printf "\n`%s` (CPU, %s)\n\n| variant | ms | GB/s | %% of copy | against naive | registers | shared memory | occupancy |\n", stage == "blur" ? "blur=2" : stage == "median" ? "median=1" : stage, cpu
        print "| --- | --- | --- | --- | --- | --- | --- | --- |"
    }
    next
}
function wanted(stage) { return stage ~ /^(blur|equalize histogram|transpose|median|convolve|sobel|invert)$/ }
/^$/ || /not run/ { if (/^$/) shown = 0; next }
shown && ($1 == "*" || $1 ~ /^[a-z]/) && $2 !~ /warm/ && $1 != "variant" {
    first = $1 == "*"
    name = first ? "**" $2 "**" : $1
    i = first ? 3 : 2
    printf "| %s | %s | %.0f | %.0f | %s | %s | %s | %s |\n", name, $i, $(i + 3), $(i + 4), $(i + 5), $(i + 7), $(i + 8), $(i + 10)
}' "$results"
