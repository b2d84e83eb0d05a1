# --profile=compare and --explain. The measured times vary; the rest of the output is checked.
begin "--profile=compare shows stages, histograms and settings, and writes no picture"
run 0 gpufilter --device=cpu --threads=2 --profile=compare -i in.png blur=2,equalize,transpose
silent
for group in blur 'equalize histogram' equalize transpose; do
    stdout_has "^$group: .*77x55 RGB, 8 bits.*; at least .*; CPU, 2 threads: "
done
for row in '  1 thread ' '\* 2 threads'; do
    [ "$(grep -c "^$row" stdout)" -eq 4 ] || problem "not four rows '$row'"
done
for row in '  no intrinsics, 1 thread ' '  no intrinsics, 2 threads '; do # not a histogram
    [ "$(grep -c "^$row" stdout)" -eq 3 ] || problem "not three rows '$row'"
done
! grep '^[ *] [n0-9].*!$' stdout || problem "a picture differs"
for setting in 'as asked' threads=1 threads=2 no-fuse; do
    stdout_has "^  $setting "
done
[ "$(echo *)" = "gray16.pgm in.jpg in.png in.ppm stderr stdout" ] || problem "there is more: $(echo *)"

begin "with -o the picture is written as well"
run 0 gpufilter --device=cpu --profile=compare -i in.png -o compared.png blur,invert,gamma=2
silent
gpufilter --device=cpu -i in.png -o direct.png blur,invert,gamma=2
same compared.png direct.png
stdout_has '^blur+invert+gamma: '

begin "--profile=compare:json has the documented keys"
run 0 gpufilter --device=cpu --threads=3 --profile=compare:json -i in.png equalize,transpose
silent
for key in version device reason cpu_threads peaks wall_s stages kind segment bytes tolerance cpu_ms variants \
    chosen refused runs warm_ms cold_ms gb_s copy_percent over_naive over_cpu difference kernels pipeline lanes \
    band_rows host_memory transfer fused total_ms window_ms overlap estimate_ms; do
    stdout_has "\"$key\": "
done
if command -v python3 >/dev/null; then
    mv stdout compare.json
    run 0 python3 -c 'import json; c = json.load(open("compare.json"))
assert [s["name"] for s in c["stages"]] == ["equalize histogram", "equalize", "transpose"]
assert [s["kind"] for s in c["stages"]] == ["statistic", "stage", "stage"]
assert c["out"] == {"width": 55, "height": 77, "channels": 3, "bits": 8} and c["cpu_threads"] == 3
assert all(v["difference"] <= v["tolerance"] for s in c["stages"] for v in s["variants"])
assert all(sum(v["chosen"] for v in s["variants"]) == 1 for s in c["stages"])
assert c["pipeline"][0]["name"] == "as asked" and c["pipeline"][0]["total_ms"] > 0'
    silent
fi

begin "--profile=compare:html:FILE is a page"
run 0 gpufilter --device=cpu --threads=2 --profile=compare:html:compare.html -i in.png blur,transpose
silent
[ ! -s stdout ] || problem "stdout is not empty"
cp compare.html stdout
for text in '"title":"blur,transpose","line":"in.png"' '{"kind":"comparison","name":""' '"name": "no intrinsics, 1 thread"' \
    '"pipeline": \[' '{"kind":"pictures","name":""'; do
    stdout_has "$text"
done
run 75 gpufilter --device=cpu --profile=compare:html:nowhere/c.html -i in.png blur
stderr_like 'nowhere/c.html: '

begin "the picture may come from a pipe, and the report goes aside where a picture takes standard output"
run 0 sh -c '"$GPUFILTER" --device=cpu --profile=compare -i - blur <in.png'
stdout_has '^blur: '
run 0 gpufilter --device=cpu --profile=compare -i in.png -o - invert
grep -q '^invert: ' stderr || problem "no table on stderr"
mv stdout piped.png
gpufilter -i in.png -o direct.png invert
same piped.png direct.png

begin "a variant on the CPU is warned of once"
run 0 gpufilter --device=cpu --profile=compare -i in.png blur=2:variant=naive
stderr_is "gpufilter: warning: blur: variant=global names CUDA kernels; the CPU makes the same picture its own way"
run 0 gpufilter --device=cpu --profile=compare -i in.png -o warned.png blur=2:variant=naive
stderr_is "gpufilter: warning: blur: variant=global names CUDA kernels; the CPU makes the same picture its own way"

begin "a comparison or an explanation works on one picture, which is checked before anything is written"
mkdir folder
cp in.png folder
for subject in folder 'folder/*.png' @list; do
    run 2 gpufilter --profile=compare -i "$subject" -o out blur
    stderr_is "gpufilter: --explain and --profile=compare work on one picture, not on a folder, a pattern or a list: '$subject'"
    absent out
    run 2 gpufilter --explain -i "$subject" blur
done
rm -r folder

begin "what --profile=compare cannot read"
run 75 gpufilter --profile=compare -i missing.png blur
stderr_like 'missing.png: '
[ ! -s stdout ] || problem "stdout is not empty"
head -c 300 in.png >cut.png
run 4 gpufilter --device=cpu --profile=compare -i cut.png blur
stderr_like 'cut.png: '
run 2 gpufilter --profile=compare -i in.png blurr
run 2 gpufilter --profile=compare -i in.png -o in.xyz blur
[ ! -s stdout ] || problem "stdout is not empty"

begin "--explain reads the header alone and runs nothing"
head -c 100 in.png >header.png
run 0 gpufilter --explain --device=cpu --threads=2 -i header.png blur=2,gamma=2,invert,equalize,transpose
silent
stdout_has '^picture    77x55 RGB, 8 bits to 55x77 RGB, 8 bits$'
stdout_has '^device     cpu, 2 threads (asked for)$'
stdout_has '^lanes      2, with '
stdout_has '^segment 1  .* a halo of up to '
stdout_has '^  blur+gamma+invert: reads and writes .*; 3 filters fused$'
stdout_has '^  equalize histogram: reads 12.7 kB'
stdout_has '^segment 3  .*, which see the whole picture$'
stdout_has '^  transpose: reads and writes 25.4 kB'
stdout_has '^time       at least '
run 0 gpufilter --explain --device=cpu -i header.png blur=2
stdout_has '^lanes      1, with ' # the calling thread does a small picture alone

begin "--explain --device=cuda plans without a GPU, and says so"
CUDA_VISIBLE_DEVICES='' run 0 gpufilter --explain --device=cuda -i header.png blur=2,gamma=2,invert,equalize
silent
stdout_has '^device     cuda, not here: the plan for a GPU with 8 GiB of free memory (asked for; nothing is measured)$'
stdout_has '^bandwidth  not measured'
stdout_has '^  upload 12.7 kB$'
stdout_has '^    variant [a-z]*: '
stdout_has '^  the result lies whole in device memory for the next segment$'
stdout_has '^estimate  *CPU .*, GPU '
run 2 gpufilter --explain --device=cuda -i header.png blurr
run 75 gpufilter --explain --device=cuda -i missing.png blur

begin "--explain beside --no-fuse, --band-rows, --lanes and -o"
run 0 gpufilter --explain --device=cpu --lanes=3 --band-rows=9 --no-fuse -i in.png -o none.png gamma=2,invert
silent
stdout_has '^lanes      3, .*; point filters apart$'
stdout_has '^segment 1  7 bands of 9 rows$'
stdout_has '^  gamma: reads and writes '
stdout_has '^  invert: reads and writes '
absent none.png

begin "--explain of a chain that does not fit, and without a chain"
run 4 gpufilter --explain -i in.png crop=200:200:0:0
stderr_like 'crop: '
run 2 gpufilter --explain -i in.png blurr
run 75 gpufilter --explain -i missing.png blur
run 0 gpufilter --explain -i in.png
stdout_has '^device     cpu, '
