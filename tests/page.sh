#!/bin/bash
# The pages of --profile=html and the like: their size, that nothing in them leads out, and what a browser makes of them
# (tests/page.py, where there are a Chromium and a python3). SHOTS=FOLDER also writes pictures of every page.
root=$(cd "$(dirname "$0")/.." && pwd)
: "${GPUFILTER:=$root/build/gpufilter}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0

# result NAME PROBLEMS
result()
{
    count=$((count + 1))
    if [ -z "$2" ]; then
        printf '%s\n' "ok $count - page: $1"
    else
        printf '%s\n' "$2" | sed 's/^/# /'
        printf '%s\n' "not ok $count - page: $1"
    fi
}

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
result "names that try to be markup" "$(make_page hostile --device=cpu --profile=html:"$work/hostile.html" \
    -i "$hostile" -o "$hostile.jpg" blur)"
result "a batch" "$(make_page batch --device=cpu --profile=html:"$work/batch.html" -i "$root/samples/gallery" \
    -o "$work/out" blur)"

for page in "$work"/*.html; do
    name=$(basename "$page")
    result "$name is smaller than a megabyte" "$([ "$(stat -c %s "$page")" -le 1000000 ] || stat -c %s "$page")"
    result "$name names no address but its own" "$(grep -oE '(https?:)?//[a-z][^ "]*' "$page")"
    result "$name holds no markup of others" "$(grep -naE '<script>window|<img src=x' "$page"
        [ "$(grep -c '<script' "$page")" -eq 1 ] || echo "scripts: $(grep -c '<script' "$page")")"
    result "$name is UTF-8" "$(iconv -f UTF-8 -t UTF-8 "$page" 2>&1 >/dev/null)"
done
# shellcheck disable=SC2059 # bytes
hash=$(printf "$(sha256sum "$root/src/report/page.js" | cut -c1-64 | sed 's/../\\x&/g')" | base64)
result "page.html allows the script page.js alone" "$(grep -q "script-src 'sha256-$hash'" "$root/src/report/page.html" ||
    echo "its script-src should be 'sha256-$hash'")"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ] && command -v python3 >/dev/null; then
    timeout -k 5 300 python3 "$root/tests/page.py" ${SHOTS:+--shots "$SHOTS"} "$work"/*.html >"$work/tap" 2>"$work/error" ||
        grep -q '^not ok' "$work/tap" || { tail -n 3 "$work/error" | sed 's/^/# /'; echo "not ok - page: the browser ended"; }
    cat "$work/tap"
    count=$((count + $(grep -c '^\(not \)\{0,1\}ok' "$work/tap")))
else
    count=$((count + 1))
    echo "ok $count - page: in a browser # SKIP needs chromium and python3"
fi
echo "1..$count"
