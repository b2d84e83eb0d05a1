# --profile, --trace, --verbose and --quiet: which stream gets what.
begin "--profile is a table on standard output"
run 0 gpufilter --device=cpu --profile -i in.png -o out.png blur,equalize
silent
stdout_has '^stage  *calls  *busy ms  *bytes  *GB/s  *% copy$'
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
for text in '"title":"blur,equalize","line":"in.png to out.png"' '{"kind":"run","name":""' '"name": "equalize histogram"' \
    '"spans": \[' '{"kind":"pictures","name":""' '</html>'; do
    stdout_has "$text"
done
run 75 gpufilter --profile=html:nowhere/run.html -i in.png -o none.png blur
stderr_like 'nowhere/run.html: '
absent none.png
if [ -e /dev/full ]; then
    run 75 gpufilter --profile=html:/dev/full -i in.png -i run.html -o full/ blur
    [ "$(tail -n 2 stderr | tr '\n' ' ')" = \
        'gpufilter: 1 of 2 files failed, 1 done gpufilter: /dev/full: No space left on device ' ] || problem "$(cat stderr)"
fi
run 75 gpufilter --profile=html:none.html -i missing.png -o none.png blur
absent none.html none.png
run 2 gpufilter --profile=html: -i in.png -o none.png blur
stderr_is "gpufilter: --profile: the name of the file is empty"
run 2 gpufilter --profile=html:out.png -i in.png -o out.png blur
stderr_is "gpufilter: the page and --output are the same file"

begin "the page of a picture that comes from a pipe, and of a stream of them"
run 0 sh -c '"$GPUFILTER" --device=cpu --profile=html:piped.html -i - -o out.png blur <in.png'
silent
! grep -q '"kind":"pictures"' piped.html || problem "there is a picture that cannot have been read twice"
run 0 sh -c 'cat in.ppm in.ppm | "$GPUFILTER" --device=cpu --profile=html:stream.html -i - -o frame{n}.png blur'
[ "$(grep -c '</html>' stream.html)" -eq 1 ] || problem "not one page: $(grep -c '</html>' stream.html)"

begin "--report makes a page of saved reports"
gpufilter --device=cpu --profile=json -i in.png -o out.png blur >run.json
gpufilter --device=cpu --profile=compare:json -i in.png blur >compare.json
run 0 gpufilter --report=report.html run.json compare.json run.json
silent
[ ! -s stdout ] || problem "stdout is not empty"
cp report.html stdout
for text in '{"kind":"run","name":"run.json"' '{"kind":"comparison","name":"compare.json"' '"line":"3 saved reports"' '</html>'; do
    stdout_has "$text"
done
run 0 sh -c '"$GPUFILTER" --report=- - <run.json'
stdout_has '"title":"-"'
stdout_has '"bound_by": "'

begin "--report takes what ncu counted, beside a comparison"
printf '%s\n' '"ID","Kernel Name","Block Size","Grid Size","smsp__inst_executed.sum"' '"0","k","(1, 1, 1)","(1, 1, 1)","5"' >counted.csv
run 0 gpufilter --report=counted.html compare.json counted.csv
run 2 gpufilter --report=none.html counted.csv
stderr_is "gpufilter: counted.csv: counts kernels, but no comparison is named"

begin "--report names the file that it cannot read, and writes nothing"
echo '{"a": 1}' >other.json
head -c 300 run.json >torn.json
sed 's/"version": "[0-9.]*"/"version": "99.1"/' run.json >newer.json
for pair in 'other.json: is JSON, but no profile, comparison, lab or log of this program' \
    'in.png: line 1 is no JSON: damaged, or not by this program' 'missing.json: No such file or directory' \
    'torn.json: line [0-9]* is no JSON: the file ends before its value does' \
    'newer.json: written by gpufilter 99.1, which is newer than this one, [0-9.]*'; do
    case $pair in *'No such file'*) status=75 ;; *) status=4 ;; esac
    run $status gpufilter --report=none.html run.json "${pair%%:*}"
    stderr_like "$pair"
    absent none.html
done
run 2 gpufilter --report=none.html
stderr_like '.*--report: what it reads is missing.*'
run 2 gpufilter run.json --report=none.html
stderr_is "gpufilter: --report=FILE comes before what it reads, 'run.json'"
run 2 gpufilter --report=run.json run.json
stderr_is "gpufilter: the page and a report are the same file: 'run.json'"
run 75 gpufilter --report=nowhere/r.html run.json
stderr_like 'nowhere/r.html: .*'

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
run 75 gpufilter --trace=nowhere/t.json -i in.png -o none.png blur
stderr_like 'nowhere/t.json: '
absent none.png
run 75 gpufilter --trace=t.json -i missing.png -o none.png blur
absent t.json none.png

begin "--verbose speaks on standard error"
run 0 gpufilter --verbose --device=cpu -i in.png -o out.png blur
[ ! -s stdout ] || problem "stdout is not empty"
grep -q '^gpufilter: ran on cpu, .*: asked for' stderr || problem "no device: $(cat stderr)"
grep -q '^gpufilter: in.png: .*77x55 RGB, 8 bits, decoded by the CPU$' stderr || problem "no input: $(cat stderr)"
grep -q '^gpufilter: out.png: .*77x55 RGB, 8 bits, encoded by the CPU, in ' stderr || problem "no output: $(cat stderr)"
! grep '^gpufilter: start: ' stderr || problem "no GPU was started"

begin "warnings, and --quiet"
printf 'P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcd' >alpha.pam
run 0 gpufilter -i alpha.pam -o alpha.jpg
stderr_like 'warning: '
run 0 gpufilter --quiet -i alpha.pam -o alpha.jpg
silent
