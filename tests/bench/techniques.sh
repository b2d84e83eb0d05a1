#!/bin/bash
# Runs the command of every row of techniques.tsv on this machine's GPU and writes techniques.md: a tick where it ended well and
# said what it must, and the line that says so. Arguments: the program, the folder of results. Environment: as of gpu.sh.
set -euo pipefail
program=$(realpath "$1") results=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
picture=${BENCH_PICTURE:-$here/../../samples/harbour.png}
"$program" --device=cpu --quiet --strip -i "$picture" -o "$work/frame.ppm" 'resize=w=7680:h=4320:fit=cover'
mkdir "$work/tests"
ln -s "$here" "$work/tests/bench"
ln -s "$program" "$work/gpufilter"
cd "$work"
PATH=$work:$PATH
"$program" --device=cuda --quiet -i frame.ppm -o out.ppm blur # without a GPU this is the end

# The file of a command's output: each is run once.
output_of() {
    local file
    file=$work/$(printf %s "$1" | sha256sum | cut -c1-16)
    if [ ! -e "$file" ]; then
        local status=0
        bash -c "$1" >"$file" 2>&1 </dev/null || status=$?
        echo "$status" >"$file.status"
    fi
    echo "$file"
}

markdown() { sed 's/|/\\|/g; s/^ *//; s/  */ /g' | cut -c1-160; }

{
    echo "# $(gpufilter --devices | head -n 1 | sed 's/^cuda:0 *//; s/:.*//'), $(date -u +%Y-%m-%d), commit ${GF_COMMIT:-$(git -C "$here" rev-parse --short HEAD)}"
    gpufilter --lab=all
} >"$work/labs.txt"
mv "$work/labs.txt" "$results/labs-$(date -u +%Y-%m-%d).txt"

missing=0
{
    echo "# The guides' techniques, shown"
    echo
    echo "$(gpufilter --devices | head -n 1 | sed 's/^cuda:0 *//'), $(date -u +%Y-%m-%d), commit ${GF_COMMIT:-$(git -C "$here" rev-parse --short HEAD)}. Made by \`make techniques\`: each command was run"
    echo "(\`@\` is a picture of 7680x4320), ended well, and said what stands beside it. The guides: (1) Legresley, CUDA Performance"
    echo "Optimization, (2) CME 213, transpose, (3) Performance Issues, (4) CUDA C++ Best Practices Guide, (5) Programming Guide, Writing"
    echo "SIMT Kernels."
    echo
    echo "| # | technique | guide | command | | it said |"
    echo "| --- | --- | --- | --- | --- | --- |"
    while IFS=$'\t' read -r number technique guide command must; do
        [[ $number == \#* ]] && continue
        file=$(output_of "${command//@/frame.ppm}")
        status=$(cat "$file.status")
        said=$(grep -m1 -E -- "$must" "$file" || true)
        tick=✔
        if [ "$status" -ne 0 ] || [ -z "$said" ]; then
            tick="✘ (exit $status)"
            said=$(tail -n 1 "$file")
            missing=$((missing + 1))
        fi
        printf '| %s | %s | %s | `%s` | %s | %s |\n' "$number" "$technique" "$guide" "$(printf %s "$command" | sed 's/|/\\|/g')" \
            "$tick" "$(printf %s "$said" | markdown)"
    done <"$here/techniques.tsv"
} >"$work/techniques.md"
mv "$work/techniques.md" "$results/techniques.md"
grep -c '| ✔ |' "$results/techniques.md" | sed 's/$/ shown/'
if [ "$missing" -gt 0 ]; then
    grep '✘' "$results/techniques.md"
    exit 1
fi
