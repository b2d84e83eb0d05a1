#!/bin/bash
# What `make bench-filters` runs: filters.py, which says what it does. Arguments: the program and the library. Environment:
#   BENCH_PICTURE=FILE, BENCH_OTHER=FILE   two photographs (the sample picture, and one of the gallery)
#   PYTHON=...           one that has numpy, and cv2 and pyvips as far as they are to be compared with
#   RESULTS=FILE.json    where the figures go (tests/bench/results/filters-DATE.json); beside it a table, .txt
# and what filters.py names.
set -eu
export LC_ALL=C
here=$(dirname "$(readlink -f "$0")")
python=${PYTHON:-python3}
"$python" -c 'import numpy' 2>/dev/null || { echo "bench-filters: $python has no numpy" >&2; exit 3; }
results=${RESULTS:-$here/../results/filters-$(date -u +%Y-%m-%d).json}
mkdir -p "$(dirname "$results")"
samples=$here/../../../samples
exec "$python" "$here/filters.py" "$(readlink -f "${1:?the program}")" "$(readlink -f "${2:?the library}")" \
    "${BENCH_PICTURE:-$samples/harbour.png}" "${BENCH_OTHER:-$samples/gallery/after.jpg}" "$results"
