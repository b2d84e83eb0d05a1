#!/bin/sh
# The plots of tests/bench/results/README.md, from the newest results. Arguments: the folder of results, and the one
# to write to.
set -eu
results=$1 folder=$2 here=$(dirname "$0")
newest() { ls "$results/$1"-*."$2" | tail -n 1; }

sed -n 's/.*"task": "\([^"]*\)", "tool": "\([^"]*\)", "wall_ms": \([0-9.]*\).*/\1\t\2\t\3/p' "$(newest cpu json)" |
    awk -F '\t' '
        BEGIN { split("copy=no filter|blur2=blur=2|blur2eq=blur=2,equalize|blur20=blur=20|rot90=rotate=90|median3=median|half=resize=50%|png=PNG to PNG, blur=2", pairs, "|")
                for (i in pairs) { key = pairs[i]; sub(/=.*/, "", key); names[key] = substr(pairs[i], length(key) + 2) } }
        $1 !~ /memory|batch|files/ { print ($1 in names ? names[$1] : $1) "\t" $2 "\t" $3 }' |
    "$here/plot.sh" "A photograph of 24 megapixels on the CPU, from file to file" "milliseconds; less is better" >"$folder/cpu.svg"

# Two points a line, where NPP has the filter.
grep '"format": "RGB8"' "$(newest gpu json)" | grep -v '"note": "NPP' |
    sed -n 's/.*"chain": "\([^"]*\)", "note": "\([^"]*\)".*"ms": \([0-9.]*\), "bytes": [0-9]*, "gb_s".*"npp_ms": \([0-9.]*\).*/\1 (\2)\tgpufilter\t\3\n\1 (\2)\tNPP\t\4/p' |
    sed 's/ ()//' |
    "$here/plot.sh" "The kernels on a frame of 7680x4320 RGB8, beside NPP's" "milliseconds; less is better" >"$folder/gpu.svg"

# "| **tiled** | 0.2081 | 957 ..." below "`blur=2` (CPU, ...": the variant that runs by default, and the naive one.
"$here/worth.sh" "$results" | awk -F ' *[|] *' '
    /^`/ { split($0, part, "`"); stage = part[2]; order = 0 }
    /^[|] [*a-z]/ && $2 != "variant" {
        order++
        if (order <= 2) printf "%s\t%s\t%s\n", stage, order == 1 ? "default" : "naive", $4
        else printf "%s\t%s\t%s\n", stage, "the others", $4
    }' | "$here/plot.sh" "What the techniques gain: the variants of each filter" "GB/s; more is better" >"$folder/variants.svg"
