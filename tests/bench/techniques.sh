#!/bin/bash
# Runs the command of every row of techniques.tsv on this machine's GPU and writes techniques.md: a tick where it ended well and
# said what it must, and the line that says so; and what the labs among them printed, to labs-DATE.txt. Arguments: the program, the
# folder of results. Environment: as of gpu.sh.
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

# The first line of a file that matches; of "ONE >> OTHER" the first that matches OTHER in the paragraph behind ONE.
evidence() {
    must=$1 awk 'BEGIN { parts = split(ENVIRON["must"], part, " >> ") }
        parts == 2 && !found { found = $0 ~ part[1]; next }
        parts == 2 && /^$/ { exit }
        $0 ~ part[parts] { print; exit }' "$2"
}

markdown() { sed 's/|/\\|/g; s/^[* ]*//; s/  */ /g' | cut -c1-160; }

machine=$(gpufilter --devices | sed -n '1s/^cuda:0 *//p')
driver=$(gpufilter --devices | sed -n '2s/^ *\(driver [0-9.]*\).*/\1/p')
commit=${GF_COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
today=$(date -u +%Y-%m-%d)

missing=0
{
    echo "# The guides' techniques, shown"
    echo
    echo "$machine, $driver, $today, commit $commit. Made by \`make techniques\`: each command was run"
    echo "(\`@\` is a picture of 7680x4320), ended well, and said what stands beside it. The guides: (1) Legresley, CUDA Performance"
    echo "Optimization, (2) CME 213, transpose, (3) Performance Issues, (4) CUDA C++ Best Practices Guide, (5) Programming Guide, Writing"
    echo "SIMT Kernels. A row of a stage's table: variant, warm ms, least..most, cold ms, GB/s, % of copy, times naive, times CPU, registers,"
    echo "bytes of shared memory, of spills, occupancy, block, kernels, difference; of a setting: lanes, band rows, total ms, least..most,"
    echo "window ms, overlap, kernels ms, transfers ms, the guide's estimate ms."
    echo
    echo "| # | technique | guide | command | | it said |"
    echo "| --- | --- | --- | --- | --- | --- |"
    while IFS=$'\t' read -r number technique guide command must; do
        [[ $number == \#* ]] && continue
        file=$(output_of "${command//@/frame.ppm}")
        status=$(cat "$file.status")
        said=$(evidence "$must" "$file")
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
{
    echo "# ${machine%%:*}, $driver, $today, commit $commit"
    sed -n 's/.*\t\(gpufilter --lab=[^\t]*\)\t.*/\1/p' "$here/techniques.tsv" | awk '!seen[$0]++' | while read -r lab; do
        cat "$(output_of "$lab")"
        echo
    done
} >"$results/labs-$today.txt"
grep -c '| ✔ |' "$results/techniques.md" | sed 's/$/ shown/'
if [ "$missing" -gt 0 ]; then
    grep '✘' "$results/techniques.md"
    exit 1
fi
