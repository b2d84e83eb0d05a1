#!/bin/bash
# The pages of --profile=html and the like: their size, that nothing in them leads out, and what a browser makes of them
# (tests/page.py, where there are a Chromium and a python3). SHOTS=FOLDER also writes pictures of every page.
root=$(cd "$(dirname "$0")/.." && pwd)
: "${GPUFILTER:=$root/build/gpufilter}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/tap.sh"

# make NAME ARGUMENT...: a page by the program; nothing if all went well
make_page()
{
    name=$1
    shift
    "$GPUFILTER" "$@" >"$work/log" 2>&1 || echo "exit status $?: $(head -n 3 "$work/log")"
    [ -s "$work/$name.html" ] || echo "there is no page"
}

harbour=$root/samples/harbour.png
hostile="$work/<script>window.hostile=1<script>"$'\x1b]\xff\xe2\x80\xae'"\"'&.png"
cp "$harbour" "$hostile"

result "a run" "$(make_page run --device=cpu --profile=html:"$work/run.html" -i "$harbour" -o "$work/run.png" \
    blur=2,equalize,unsharp)"
result "the picture of a run is in it, before and after" "$([ "$(grep -c 'class="slider"' "$work/run.html")" -eq 1 ] &&
    [ "$(grep -o 'src="data:image/jpeg;base64,/9j/' "$work/run.html" | wc -l)" -eq 2 ] || echo "it is not")"
result "names that try to be markup" "$(make_page hostile --device=cpu --profile=html:"$work/hostile.html" \
    -i "$hostile" -o "$hostile.jpg" blur)"
result "a batch" "$(make_page batch --device=cpu --profile=html:"$work/batch.html" -i "$root/samples/gallery" \
    -o "$work/out" --log="$work/run.log" blur)"

if "$GPUFILTER" --help | grep -q -e --lab; then
result "a comparison" "$(make_page compare --device=cpu --profile=compare:html:"$work/compare.html" -i "$harbour" \
    blur=2,invert,gamma=2,transpose)"
for i in 1 2; do
    "$GPUFILTER" --device=cpu --profile=json -i "$harbour" -o "$work/run.png" blur >"$work/run$i.json"
    "$GPUFILTER" --device=cpu --profile=compare:json -i "$harbour" blur >"$work/compare$i.json"
done
# A lab as it is saved, with words that try to be markup.
cat >"$work/lab.json" <<'END'
[{"version": "0.1.0", "lab": "offset", "summary": "<img src=x onerror=hostile()>", "guide": "4, 9.2.1.3", "figure": "V100: 790 GB/s",
"device": "cuda:0 <b>GPU</b>", "settings": "size=256", "elapsed_s": 0.4, "rows_name": "offset (floats)",
"columns": [{"name": "read and write", "unit": "GB/s", "decimals": 0}, {"name": "spread", "unit": "%", "decimals": 1}],
"rows": [{"label": "0", "x": 0, "values": [1000, 0.1], "reason": null}, {"label": "1", "x": 1, "values": [900, 0.2],
"reason": "</title></svg><script>window.hostile=1</script>"}, {"label": "2", "x": 2, "values": [901, null], "reason": null}],
"remarks": [{"kind": "agrees", "text": "a misaligned copy is slower"}, {"kind": "differs", "text": "\"'></td><script>window.hostile=1</script>"}]},
{"lab": "transpose", "rows_name": "kernel", "columns": [{"name": "bandwidth", "unit": "GB/s"}],
"rows": [{"label": "1D, naive", "values": [518]}, {"label": "shared 32x32", "values": [1504]}], "remarks": []}]
END
result "saved reports" "$(make_page report --report="$work/report.html" "$work"/{run1,run2,compare1,compare2,lab,lab}.json \
    "$work/run.log" "$work/run.log")"
else
    skipped "a comparison and saved reports" "the program was built without the study"
fi

for page in "$work"/*.html; do
    name=$(basename "$page")
    result "$name is smaller than a megabyte" "$([ "$(stat -c %s "$page")" -le 1000000 ] || stat -c %s "$page")"
    result "$name names no address but its own" "$(sed 's/"data:[^"]*"//g' "$page" | grep -oE '(https?:)?//[a-z][^ "]*')"
    result "$name holds no markup of others" "$(grep -naE '<script>window|<img src=x' "$page"
        [ "$(grep -c '<script' "$page")" -eq 1 ] || echo "scripts: $(grep -c '<script' "$page")")"
    result "$name is UTF-8" "$(iconv -f UTF-8 -t UTF-8 "$page" 2>&1 >/dev/null)"
done
# shellcheck disable=SC2059 # bytes
hash=$(printf "$(sha256sum "$root/src/report/page/page.js" | cut -c1-64 | sed 's/../\\x&/g')" | base64)
result "page.html allows the script page.js alone" "$(grep -q "script-src 'sha256-$hash'" "$root/src/report/page/page.html" ||
    echo "its script-src should be 'sha256-$hash'")"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ] && command -v python3 >/dev/null; then
    timeout -k 5 300 python3 "$root/tests/page.py" ${SHOTS:+--shots "$SHOTS"} "$work"/*.html >"$work/tap" 2>"$work/error" ||
        grep -q '^not ok' "$work/tap" || { tail -n 3 "$work/error" | sed 's/^/# /'; echo "not ok - page: the browser ended"; }
    cat "$work/tap"
    count=$((count + $(grep -c '^\(not \)\{0,1\}ok' "$work/tap")))
else
    skipped "in a browser" "needs chromium and python3"
fi
plan
