#!/bin/bash
# The pages of --profile=html and the like: their size, that nothing in them leads out, what their script draws of their JSON
# (tests/page.js, where there is a node) and what a browser makes of them (tests/page.py, where there are a Chromium and a
# python3). SHOTS=FOLDER also writes pictures of every page.
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

if command -v node >/dev/null; then
    has_node=1
else
    skipped "what the script draws" "needs node"
fi

# draws WHAT NAME TEXT...: the script draws these texts on the page; of !TEXT, that it does not
draws()
{
    [ "${has_node-}" ] || return 0
    what=$1 name=$2
    shift 2
    result "$what" "$(node "$root/tests/page.js" "$work/$name.html" 2>&1 >"$work/$name.drawn" | head -n 5
        for text; do
            case $text in
            '!'*) grep -oF -m1 -e "${text#!}" "$work/$name.drawn" ;;
            *) grep -qF -e "$text" "$work/$name.drawn" || echo "no $text" ;;
            esac
        done)"
}

harbour=$root/samples/harbour.png
hostile="$work/<script>window.hostile=1<script>"$'\x1b]\xff\xe2\x80\xae'"\"'&.png"
cp "$harbour" "$hostile"

result "a run" "$(make_page run --device=cpu --profile=html:"$work/run.html" -i "$harbour" -o "$work/run.png" \
    blur=2,equalize,unsharp)"
draws "the picture of a run is on its page, before and after" run '<div class="slider"><img class="before"' \
    'alt="the picture before" src="data:image/jpeg;base64,/9j/' 'alt="the picture after" src="data:image/jpeg;base64,/9j/'
draws "a run is drawn" run '!<dt>score</dt>' '<title>blur=2,equalize,unsharp</title>' '<h1>blur=2,equalize,unsharp</h1>' ' bounds the run: it is busy for ' \
    '<h3>When each lane did what</h3>' '<li>reader</li>' '<rect class="s0"' '</span>equalize histogram</th>' '!<nav'
result "a run to a target" "$(make_page target --device=cpu --profile=html:"$work/target.html" -i "$harbour" -o "$work/target.jpg" \
    --target=ssimulacra2:70 resize=25%)"
draws "the score stands beside the bytes of the file" target '<dt>file</dt>' '<dt>quality</dt>' ' tries</dd>' '<dt>score</dt><dd>7'
result "a run of many spans" "$(make_page many --device=cpu --band-rows=1 --no-fuse --profile=html:"$work/many.html" -i "$harbour" \
    -o "$work/run.png" blur,gamma=2,invert,gamma=2,invert,blur)"
draws "spans are joined where they are many" many ' spans are drawn as ' ' times: '
result "names that try to be markup" "$(make_page hostile --device=cpu --profile=html:"$work/hostile.html" \
    -i "$hostile" -o "$hostile.jpg" blur)"
draws "names that try to be markup are text" hostile '&lt;script&gt;window.hostile=1&lt;script&gt;' '!<script' '!window.hostile=1<'
result "a batch" "$(make_page batch --device=cpu --profile=html:"$work/batch.html" -i "$root/samples/gallery" \
    -o "$work/out" --log="$work/run.log" blur)"
draws "a batch is drawn" batch '<dt>pictures done</dt>' '<h2>The batch</h2>' ' takes most: ' '<h3>Where the work is</h3>' '; decoder cpu'

if "$GPUFILTER" --help | grep -q -e --lab; then
result "a comparison" "$(make_page compare --device=cpu --profile=compare:html:"$work/compare.html" -i "$harbour" \
    blur=2,invert,gamma=2,transpose)"
draws "a comparison is drawn" compare '<h3>blur+invert+gamma</h3>' '>no intrinsics, 1 thread<' 'The whole chain' 'Threads of the CPU' '>over first<' \
    'class="after"' '!>regs<' '!Where '
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
draws "saved reports are drawn side by side" report '>Runs side by side</a>' '<h2>Comparisons side by side</h2>' '<h2>Labs side by side</h2>' \
    '<h2>Batches side by side</h2>' '!<script'
if [ "${has_node-}" ]; then
    "$GPUFILTER" --report="$work/one.html" "$work/run1.json"
    result "the figures of a run are those of its JSON" "$(node "$root/tests/page.js" "$work/one.html" >"$work/drawn"
        node -e 'const fs = require("fs"), run = JSON.parse(fs.readFileSync(process.argv[1])), drawn = fs.readFileSync(process.argv[2], "utf8");
            const figures = run.stages.flatMap((s) => [s.name, s.busy_ms.toFixed(3), s.gb_s.toFixed(2)]);
            figures.push(run.bound_why, run.peaks.device_copy_gb_s.toFixed(1), `${run.lanes}</dd>`, `${run.in.width}x${run.in.height} RGB`);
            for (const one of figures) if (!drawn.includes(one)) console.log("no " + one);
            const boxes = drawn.split("<rect ").length - 1;
            if (boxes !== run.spans.length) console.log(`${boxes} boxes of ${run.spans.length} spans`);' "$work/run1.json" "$work/drawn")"
fi

# Reports as a GPU leaves them, with known figures.
# shellcheck disable=SC2016 # a page's text
hostile_text='</script><script>window.hostile=1</script>'
cat >"$work/gpu.json" <<'END'
{"version": "0.1.0", "device": "cuda:0 <b>GPU</b>", "reason": "asked for", "lanes": 2, "segments": 1, "band_rows": 16,
"in": {"width": 640, "height": 480, "channels": 3, "bits": 8}, "out": {"width": 480, "height": 640, "channels": 4, "bits": 16},
"pictures": 1, "pictures_per_s": 100, "frames": 7, "frames_per_s": 700, "wall_ms": 10, "start_ms": 1.5, "overlap": 0.25, "bound_by": "blur",
"bound_guide": "9.2, Device Memory Spaces", "bound_why": "memory", "peaks": {"device_copy_gb_s": 4, "upload_gb_s": 3, "download_gb_s": 2.5},
"stages": [{"name": "decode", "kind": "decode", "calls": 1, "busy_ms": 2, "bytes": 2000, "gb_s": 0.001, "peak_percent": null},
{"name": "blur", "kind": "stage", "calls": 3, "busy_ms": 8, "bytes": 3000, "gb_s": 1, "peak_percent": 25},
{"name": "encode", "kind": "encode", "calls": 1, "busy_ms": 1, "bytes": 99950000, "gb_s": 0.5, "peak_percent": null}],
"spans": [[-1, -1, 0, 1.5, 0], [0, -1, 0, 2, 2000], [1, 0, 3, 4, 1000], [1, 0, 3.5, 5, 1000], [1, 1, 5, 8, 1000], [2, -1, 9, 10, 99950000]]}
END
"$GPUFILTER" --report="$work/gpu.html" "$work/gpu.json"
draws "a run of a GPU is drawn" gpu '<dt>wall time</dt><dd>10.0 ms</dd>' '<dt>frames a second</dt><dd>700.0</dd>' '<dt>CUDA start</dt><dd>1.50 ms</dd>' \
    '<dt>overlap</dt><dd>25%</dd>' '<dd>cuda:0 &lt;b&gt;GPU&lt;/b&gt; (asked for)</dd>' '640x480 RGB, 8 bits to 480x640 RGBA, 16 bits' \
    '<strong>blur</strong> bounds the run: it is busy for 80% of the wall time. What holds it back is memory.' 'Best Practices Guide 9.2, Device' \
    '<title>CUDA start: 1.500 ms at 0.000 ms</title>' '<title>blur: 1.000 ms at 3.000 ms, 1.0 kB</title>' '<li>lane 0</li>' '<li>lane 0 (2)</li>' \
    '<li>writer</li>' '<rect class="s1" x="50000" y="98" height="20" width="30000">' '100 MB' '25.0%' 'download 2.5 GB/s' '!A stage that stays in a cache can pass 100%..'

sed 's/"start_ms": 1.5/"start_ms": 9/' "$work/gpu.json" >"$work/start.json"
"$GPUFILTER" --report="$work/start.html" "$work/start.json"
draws "a run that the start of CUDA bounds says so" start '<dt>bound by</dt><dd>CUDA start</dd>' '!</strong> bounds the run: it is busy' \
    '<strong>The start of CUDA</strong> bounds the run: it takes 90% of the wall time. Of the stages <strong>blur</strong> is busy longest, for 80%'

# compare NAME MS: a comparison whose default takes MS
compare()
{
    cat >"$work/$1.json" <<END
{"version": "0.1.0", "device": "cuda:0 NVIDIA H200", "reason": "asked for", "cpu_threads": 16, "in": {"width": 64, "height": 48, "channels": 3, "bits": 8},
"out": {"width": 64, "height": 48, "channels": 3, "bits": 8}, "peaks": {"device_copy_gb_s": 2, "upload_gb_s": 1, "download_gb_s": 1}, "wall_s": 1.5,
"stages": [{"name": "blur", "kind": "stage", "segment": 0, "in": {"width": 64, "height": 48, "channels": 3, "bits": 8},
"out": {"width": 64, "height": 48, "channels": 3, "bits": 8}, "bytes": 18432, "cpu_ms": 8, "variants": [
{"name": "tiled", "summary": "$hostile_text", "chosen": true, "refused": null, "runs": 5, "warm_ms": $2, "warm_least_ms": $2, "warm_most_ms": $2,
"gb_s": 1, "copy_percent": 50, "over_naive": 4, "over_cpu": 12.34, "difference": 3, "tolerance": 1, "kernels": [
{"name": "first", "grid": [1, 1, 1], "block": [1, 1, 1], "registers": 9, "shared_bytes": 0, "local_bytes": 0, "occupancy_percent": 100},
{"name": "k", "grid": [8, 2, 1], "block": [32, 8, 1], "registers": 40, "shared_bytes": 1024, "local_bytes": 16, "occupancy_percent": 75}]},
{"name": "naive", "summary": null, "chosen": false, "refused": null, "runs": 5, "warm_ms": 4, "warm_least_ms": 3.9, "warm_most_ms": 4.2, "gb_s": 0.25,
"copy_percent": 12.5, "over_naive": 1, "over_cpu": 2, "difference": 0, "tolerance": 1, "kernels": [
{"name": "k<3,0>", "grid": [8, 2, 1], "block": [32, 8, 1], "registers": 32, "shared_bytes": 0, "local_bytes": 0, "occupancy_percent": 50}]},
{"name": "packed", "chosen": false, "refused": "$hostile_text", "runs": 0, "warm_ms": null, "kernels": []}]}],
"pipeline": [{"name": "as asked", "refused": null, "lanes": 4, "band_rows": 16, "runs": 5, "total_ms": 4, "total_least_ms": 3.9, "total_most_ms": 4.2,
"overlap": 0.25, "estimate_ms": 2.5}, {"name": "lanes=2", "runs": 5, "total_ms": 5, "total_least_ms": 4, "total_most_ms": 6, "estimate_ms": 3},
{"name": "lanes=1", "runs": 5, "total_ms": 6, "total_least_ms": 5, "total_most_ms": 7, "estimate_ms": 4}, {"name": "no-fuse", "refused": "nothing to fuse"}]}
END
}
compare first 1
compare second 0.5
cat >"$work/counted.csv" <<'END'
==PROF== Connected to process 1
"ID","Kernel Name","Block Size","Grid Size","smsp__cycles_elapsed.avg.per_second","smsp__inst_executed.sum","smsp__inst_executed.sum.peak_sustained"
"","","","","cycle/second","inst","inst/cycle"
"0","void <unnamed>::k<(int)3, false>(const unsigned char *)","(32, 8, 1)","(8, 2, 1)","2,000,000,000","1,843,200","4"
"1","k(int)","(32, 8, 1)","(8, 2, 2)","1000000","98","4"
END
"$GPUFILTER" --report="$work/first.html" "$work/first.json" "$work/counted.csv"
# The rows of the naive variant and of the chosen one.
draws "a comparison of a GPU is drawn" first '<dd>1.0 and 1.0 GB/s</dd>' '64x48 RGB, 8 bits; at least 18.4 kB must move; CPU, 16 threads: 8.00 ms' \
    '<tr><th scope="row">naive</th><td class="n">4.0000</td><td class="bar"><b><i class="s7" style="width:95.24%"></i><u style="left:92.86%;width:7.14%"></u>' \
    '<tr class="chosen"><th scope="row">tiled<span class="what">&lt;/script&gt;&lt;script&gt;' '<td class="n">4.00×</td><td class="n">12.3×</td><td class="n">50.0%</td>' \
    '<td class="n">40</td><td class="n">1024</td><td class="n">16</td><td class="n">75%</td><td class="n bad">3: wrong</td>' \
    'not run: &lt;/script&gt;' '<figcaption>Bands in flight</figcaption>' 'measured: 5 at 2 (4 to 6)' '<figcaption>Instructions against bytes</figcaption>' \
    '<title>naive: 4.608e+8 at 100 (4.389e+8 to 4.726e+8)</title>' '!tiled: ' \
    '<path class="curve limit"' '<span class="key limit">' '<circle class="s0"' '>500 M</text>' '!e+04 M' 'not run: nothing to fuse' '!Size of the bands'
[ "${has_node-}" ] && result "the default variant comes last" "$(grep -o '<th scope="row">[a-z]*' "$work/first.drawn" | head -n 3 | tr -d '\n' |
    grep -qx '<th scope="row">naive<th scope="row">packed<th scope="row">tiled' || grep -o '<th scope="row">[a-z]*' "$work/first.drawn" | head -n 3)"
"$GPUFILTER" --report="$work/sides.html" "$work/first.json" "$work/second.json"
draws "a change beyond the spread of the runs has a sign" sides '<span class="what good">▼ -50.0%</span>' '<span class="what">+0.0%</span>' \
    'first.json<span class="what">cuda:0 NVIDIA H200</span>' '<h3>the whole chain</h3>'
"$GPUFILTER" --report="$work/slower.html" "$work/second.json" "$work/first.json"
draws "a slower time has a sign" slower '<span class="what bad">▲ +100.0%</span>'
# A page that was just made has the pixels that differ.
sed '/"kind":"spots"/,/<\/script>/c <script type="application/json">{"kind":"spots","name":"","data":[{"stage":0,"row":0,"x":7,"y":9,"width":2,"height":1,"expected":"000000ffffff","found":"010203040506","difference":"ffffff000000"}]}</script>' \
    "$work/compare.html" >"$work/spot.html"
draws "the place of the largest difference is drawn" spot 'differs most from the CPU&#39;s picture: 2x1 pixels at 7, 9' \
    '<canvas width="2" height="1" role="img" aria-label="the difference, enlarged">'
"$GPUFILTER" --report="$work/labs.html" "$work/lab.json"
draws "labs are drawn" labs '<strong>1 hold</strong> here, and <strong>1 do not</strong>' '<a href="#report0-1">transpose</a>' '<article id="report0-1"' \
    '>V100, offset 0</text>' 'CUDA C++ Best Practices Guide, 9.2.1.3: V100: 790 GB/s' '= agrees</span> a misaligned copy is slower' '<th class="n" scope="col">read and write, GB/s</th>' \
    '<title>read and write: 900 at 1</title>' '<td class="n">0.1</td>' 'guide: 290, Quadro RTX 6000' '<td class="n">518.00</td>' '!window.hostile=1<'

# 100 pictures in 10 s, of which two are slow, three that failed, one skipped, and a torn line.
for i in $(seq 1 103); do
    ms=100 status=ok message=
    case $i in 7) ms=900 ;; 8) ms=400 ;; 101 | 102) status=failed message="$i.jpg: truncated" ;; 103) status=failed message="103.jpg: $hostile_text" ;; esac
    echo "{\"index\":$i,\"input\":\"$i.jpg\",\"status\":\"$status\",\"message\":\"$message\",\"width\":64,\"height\":48,\"ms\":{\"total\":$ms,\"decode\":$((ms / 4)),\"filter\":$((ms / 2))},\"finished\":$((1700000000 + i / 10)).$((i % 10)),\"device\":\"cpu\",\"decoder\":\"cpu\",\"encoder\":\"cpu\"}"
done >"$work/slow.log"
echo '{"index":104,"input":"a.jpg","status":"skipped","message":"is there already","ms":{}}
{"index":105,"inp' >>"$work/slow.log"
"$GPUFILTER" --report="$work/slow.html" "$work/slow.log"
draws "a log is drawn" slow '<dt>pictures done</dt><dd>100</dd>' '<dt>failed</dt><dd>3</dd>' '<dt>skipped</dt><dd>1</dd>' '<dt>a picture, median</dt><dd>100 ms</dd>' \
    '<strong>filter</strong> takes most: 67% of' 'mean 9.8</text>' '50.000 to 50.000' '!>upload<' '2 took more than 200.0 ms' \
    '<th scope="row">7.jpg</th><td class="n">64x48</td><td class="n">900.0</td>' '<td class="n">9.0×</td>' \
    '<th scope="row">truncated</th><td class="n">2</td><td>101.jpg, 102.jpg</td>' 'left unfinished: 1.'

# Members of other types, out of range or missing: nothing that the script could stumble over.
count_odd=0
while read -r odd; do
    count_odd=$((count_odd + 1))
    echo "$odd" >"$work/odd$count_odd.json"
done <<'END'
{"device": "cuda:0", "peaks": {"device_copy_gb_s": true, "upload_gb_s": "x"}, "stages": [{"variants": [{"warm_ms": 1e29}]}], "pipeline": []}
{"wall_ms": null, "stages": {"a": 1}}
{"wall_ms": -1e300, "lanes": 1e99, "in": 3, "stages": [1, null, {"name": []}]}
{"stages": [{"variants": [{}, 1, {"warm_ms": 1e300, "kernels": [{}, 2]}]}, 7], "pipeline": [{"name": "lanes=", "total_ms": 0}, {"name": "lanes=x", "total_ms": 1}]}
{"device": "cuda:0", "stages": [{"variants": [{"name": {}, "warm_ms": 1e-300, "tolerance": [], "kernels": 3}]}], "pipeline": [{"name": "lanes=1", "total_ms": 5e-324}, {"name": "lanes=2", "total_ms": 1e308}]}
{"lab": 1, "rows": [{"values": {"a": 1}}, 2], "columns": [{"name": "a"}], "remarks": [{}, {"kind": "constructor"}]}
{"lab": "none", "rows": []}
{"lab": "offset", "columns": [{"name": "a", "unit": "GB/s", "decimals": 1e9}], "rows": [{"x": 5e-324, "values": [1e308]}, {"x": 1e308, "values": [5e-324]}]}
{"wall_ms": 1, "stages": [{"name": "a"}], "spans": [[0, 1e9, 5, 1, -1], 3, [], [-7, 1, 1e300, null], ["length", 1, 2, 3], [9, 0, 2, 3, 4, 5, 6]]}
{"wall_ms": 01, "stages": []}
{"stages": [], "wall_ms": 1, "start_ms": {"toString": 1, "valueOf": 1}}
END
for i in $(seq 1 $count_odd); do
    "$GPUFILTER" --report="$work/odd$i.html" "$work/odd$i.json" || echo "not ok - page: odd$i.json"
    draws "odd values $i" "odd$i" '</section>' '!NaN' '!undefined' '!Infinity' '![object' '!null'
done
draws "what no browser takes for JSON says so" odd10 'This report cannot be drawn: '
draws "a value that no text can be made of harms its own report alone" odd11 'This report cannot be drawn: '
draws "what a browser takes for JSON is drawn" odd9 '!This report cannot be drawn: '
"$GPUFILTER" --report="$work/allodd.html" "$work"/odd*.json
echo '{"stages": [], "wall_ms": 5}' >"$work/good.json"
"$GPUFILTER" --report="$work/untimed.html" "$work/good.json" "$work/odd2.json" "$work/odd10.json"
draws "a run without a time has none beside others" untimed 'Runs side by side' '!-100.0%'
draws "odd values side by side" allodd 'Labs side by side' '!NaN' '!undefined' '!Infinity' '![object'
else
    skipped "a comparison and saved reports" "the program was built without the study"
fi

for page in "$work"/*.html; do
    name=$(basename "$page")
    result "$name is smaller than a megabyte" "$([ "$(stat -c %s "$page")" -le 1000000 ] || stat -c %s "$page")"
    result "$name names no address but its own" "$(sed -E 's/"(before|after)":"[^"]*"//g; s/"data:[^"]*"//; s,http://www.w3.org/2000/svg,,' "$page" | grep -oE '(https?:)?//[a-z][^ "]*')"
    result "$name holds no markup of others" "$(grep -naE '<script>window|<img src=x' "$page"
        [ "$(grep -c '<script>' "$page")" -eq 1 ] || echo "scripts: $(grep -c '<script>' "$page")"
        sed -n '/^<script type=/,/^<script>/p' "$page" | sed 's/^<script type="application\/json">//; s/<\/script>$//; /^<script>/d' | grep -n '<' | cut -c1-200)"
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
