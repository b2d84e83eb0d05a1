# --profile, --trace, --verbose and --quiet: which stream gets what.
begin "--profile is a table on standard output"
run 0 gpufilter --device=cpu --profile -i in.png -o out.png blur,equalize
silent
stdout_has '^stage  *calls  *busy ms  *bytes  *GB/s  *% peak$'
for row in decode blur 'equalize histogram' equalize encode 'wall time' device bands overlap 'bound by'; do
    stdout_has "^$row "
done
stdout_has '^decode .* -$'

begin "--profile=json has the documented keys, and nothing else on standard output"
run 0 gpufilter --device=cpu --profile=json -i in.png -o out.png blur,equalize
silent
for key in version device reason lanes segments band_rows in out wall_ms start_ms busy_ms work_ms overlap \
    bound_by peaks stages name kind segment calls busy_ms bytes gb_s peak_percent; do
    stdout_has "\"$key\": "
done
if command -v python3 >/dev/null; then
    mv stdout profile.json
    run 0 python3 -c 'import json; p = json.load(open("profile.json"))
assert [s["name"] for s in p["stages"]] == ["decode", "blur", "equalize histogram", "equalize", "encode"]
assert p["in"] == {"width": 77, "height": 55, "channels": 3, "bits": 8} and 0 <= p["overlap"] < 1'
    silent
fi

begin "with the picture on standard output the profile goes to standard error"
run 0 gpufilter --profile -i in.png -o - blur
grep -q '^bound by ' stderr || problem "no profile on stderr"
mv stdout piped.png
gpufilter -i in.png -o direct.png blur
same piped.png direct.png

begin "--profile=html:FILE is a page, complete or not at all, and nothing on the streams"
run 0 gpufilter --device=cpu --profile=html:run.html -i in.png -o out.png blur,equalize
silent
[ ! -s stdout ] || problem "stdout is not empty"
cp run.html stdout
for text in '<h1>blur,equalize</h1>' 'in.png to out.png' '<h3>What each stage took</h3>' 'equalize histogram</th>' \
    '<rect ' '</html>'; do
    stdout_has "$text"
done
run 1 gpufilter --profile=html:nowhere/run.html -i in.png -o none.png blur
stderr_like 'nowhere/run.html: '
absent none.png
run 1 gpufilter --profile=html:none.html -i missing.png -o none.png blur
absent none.html none.png
run 2 gpufilter --profile=html: -i in.png -o none.png blur
stderr_is "gpufilter: --profile: the name of the file is empty"
run 2 gpufilter --profile=html:out.png -i in.png -o out.png blur
stderr_is "gpufilter: the page and --output are the same file"

begin "--trace"
run 0 gpufilter --device=cpu --lanes=2 --trace=trace.json -i in.png -o out.png blur,equalize
silent
cp trace.json stdout
stdout_has '"traceEvents": \['
stdout_has '"name": "reader"'
stdout_has '"name": "writer"'
stdout_has '"name": "lane [01]"' # a lane alone may have been quick enough for all of it
stdout_has '"name": "blur", "cat": "stage".*"GB/s": '
if command -v python3 >/dev/null; then
    run 0 python3 -c 'import json; t = json.load(open("trace.json"))["traceEvents"]
assert all(e["ph"] in "MX" and (e["ph"] == "M" or e["dur"] >= 0) for e in t)'
    silent
fi

begin "a trace that cannot be written is known before the picture is made"
run 1 gpufilter --trace=nowhere/t.json -i in.png -o none.png blur
stderr_like 'nowhere/t.json: '
absent none.png
run 1 gpufilter --trace=t.json -i missing.png -o none.png blur
absent t.json none.png

begin "--verbose speaks on standard error"
run 0 gpufilter --verbose --device=cpu -i in.png -o out.png blur
[ ! -s stdout ] || problem "stdout is not empty"
grep -q '^gpufilter: ran on cpu, .*: asked for' stderr || problem "no device: $(cat stderr)"
grep -q '^gpufilter: in.png: .*77x55 RGB, 8 bits, decoded by the CPU$' stderr || problem "no input: $(cat stderr)"
grep -q '^gpufilter: out.png: .*77x55 RGB, 8 bits, encoded by the CPU, in ' stderr || problem "no output: $(cat stderr)"

begin "warnings, and --quiet"
printf 'P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcd' >alpha.pam
run 0 gpufilter -i alpha.pam -o alpha.jpg
stderr_like 'warning: '
run 0 gpufilter --quiet -i alpha.pam -o alpha.jpg
silent
