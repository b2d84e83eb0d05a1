#!/bin/bash
# What `make bench-filters` runs: filters whose definition OpenCV has too, in memory, on the same number of threads;
# medians in ms. Arguments: the program, and a picture (the sample picture, enlarged to 1920x1080). Environment:
#   THREADS=N    the processors of this machine
#   PYTHON=...   one that has cv2 (with ximgproc for guided)
set -eu
export LC_ALL=C
program=$(readlink -f "${1:?the program}")
here=$(dirname "$(readlink -f "$0")")
threads=${THREADS:-$(nproc)}
python=${PYTHON:-python3}
"$python" -c 'import cv2' 2>/dev/null || { echo "bench-filters: $python has no cv2" >&2; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" -q --device=cpu -i "${2:-$here/../../samples/harbour.png}" -o "$work/rgb.ppm" resize=1920:1080
"$program" -q --device=cpu -i "$work/rgb.ppm" -o "$work/gray.pgm" grayscale

# The stages of a chain and the histograms before them, as --profile=compare times them.
ours() { # PICTURE CHAIN
    "$program" -q --device=cpu --threads="$threads" --profile=compare:csv -i "$1" "$2" |
        awk -F, '($1 == "stage" || $1 == "statistic") && $4 == 1 { sum += $7 } END { printf "%.1f", sum }'
}

opencv() { # PICTURE EXPRESSION of p
    "$python" - "$1" "$2" "$threads" <<'END'
import statistics, sys, time
import cv2
cv2.setNumThreads(int(sys.argv[3]))
p = cv2.imread(sys.argv[1], cv2.IMREAD_UNCHANGED)
try:
    eval(sys.argv[2])
except AttributeError:
    print("-")
    sys.exit()
times = []
for _ in range(3):
    begin = time.perf_counter()
    eval(sys.argv[2])
    times.append(1e3 * (time.perf_counter() - begin))
print(f"{statistics.median(times):.1f}")
END
}

printf '%-22s %-5s %12s %12s %6s\n' "filter, $threads threads" '' gpufilter OpenCV times
while IFS='|' read -r chain picture expression; do
    own=$(ours "$work/$picture" "$chain")
    peer=$(opencv "$work/$picture" "$expression")
    times=$(awk -v a="$own" -v b="$peer" 'BEGIN { if (b == "-") print b; else printf "%.1f", b / a }')
    printf '%-22s %-5s %12s %12s %6s\n' "$chain" "${picture%.*}" "$own" "$peer" "$times"
done <<'END'
canny|gray.pgm|cv2.Canny(p, 50, 150, L2gradient=True)
canny|rgb.ppm|cv2.Canny(p, 50, 150, L2gradient=True)
clahe|gray.pgm|cv2.createCLAHE(2, (8, 8)).apply(p)
guided=4|gray.pgm|cv2.ximgproc.guidedFilter(p, p, 4, 650.25)
guided=30|gray.pgm|cv2.ximgproc.guidedFilter(p, p, 30, 650.25)
nlmeans=0.1:10:3|gray.pgm|cv2.fastNlMeansDenoising(p, None, 25.5, 7, 21)
nlmeans=0.1:10:3|rgb.ppm|cv2.fastNlMeansDenoising(p, None, 25.5, 7, 21)
END
