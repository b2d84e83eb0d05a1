# Several outputs of one decoding: the same files as separate runs, failures of one, the log, what is skipped.
mkdir -p photos/sub
gpufilter -i in.png -o photos/a.png 'resize=200:150'
gpufilter -i photos/a.png -o photos/b.jpg blur
gpufilter -i photos/a.png -o photos/sub/c.jpg invert --quality=95
for each in a.png b.jpg sub/c.jpg; do
    stem=$(basename "${each%.*}")
    gpufilter -i "photos/$each" -o "alone/large/$stem.jpg" --quality=85 blur=2,resize=w=100
    gpufilter -i "photos/$each" -o "alone/small/$stem.png" thumbnail=40
    gpufilter -i "photos/$each" -o "alone/edges/$stem.ppm" blur=2,sobel
done

# alike FOLDER: it holds what the separate runs made.
alike()
{
    diff -r "$1" alone >differences || problem "$1: $(head -n 3 differences)"
}

# files LOG PATTERN: how many lines match.
lines()
{
    grep -c "$2" "$1"
}

begin "a folder to three outputs: the files of separate runs"
run 0 gpufilter -i photos -r --png-level=1 -o 'out/large/{stem}.jpg' --quality=85 blur=2,resize=w=100 \
    -o 'out/small/{stem}.png' thumbnail=40 -o 'out/edges/{stem}.ppm' blur=2,sobel
stderr_like '3 files done'
alike out

begin "one picture, from a pipe, and with little memory"
for each in a b c; do
    [ $each = a ] && file=photos/a.png
    [ $each = b ] && file=photos/b.jpg
    [ $each = c ] && file=photos/sub/c.jpg
    run 0 gpufilter -i $file --memory=1M -o "one/large/$each.jpg" --quality=85 blur=2,resize=w=100 \
        -o "one/small/$each.png" thumbnail=40 -o "one/edges/$each.ppm" blur=2,sobel
    cat $file | run 0 gpufilter -i - -o "piped/large/$each.jpg" --quality=85 blur=2,resize=w=100 \
        -o "piped/small/$each.png" thumbnail=40 -o "piped/edges/$each.ppm" blur=2,sobel
done
alike one
alike piped

begin "a chain before the first output comes before each output's own"
run 0 gpufilter -i photos -r blur=2 -o 'before/large/{stem}.jpg' --quality=85 resize=w=100 \
    -o 'before/edges/{stem}.ppm' sobel
cp -r alone/small before
alike before

begin "one of the outputs is standard output"
gpufilter -i photos/a.png -o - --format=png thumbnail=40 -o edges.ppm blur=2,sobel >small.png 2>stderr ||
    problem "$(cat stderr)"
same small.png alone/small/a.png
same edges.ppm alone/edges/a.ppm

begin "an output that cannot be written is named, and the others are kept"
: >file
run 4 gpufilter -i photos -r --log=log -o 'bad/large/{stem}.jpg' --quality=85 blur=2,resize=w=100 \
    -o 'file/{stem}.png' thumbnail=40 -o 'bad/edges/{stem}.ppm' blur=2,sobel
grep -q 'file/a.png' stderr || problem "$(cat stderr)"
grep -q '3 of 3 files failed (3 of their 9 outputs), 0 done' stderr || problem "$(cat stderr)"
cp -r alone/small bad
alike bad
[ "$(lines log '"status":"ok"')" = 6 ] && [ "$(lines log '"status":"failed"')" = 3 ] || problem "$(cat log)"
grep '"status":"failed"' log | grep -v '"output":"file/' | grep . && problem "$(cat log)"
run 4 gpufilter -i photos/a.png -o kept.png invert -o file/x.png
stderr_like 'file/x.png: \|file: '
[ -f kept.png ] || problem "kept.png is not there"

begin "a full disk, and what an encoder refuses"
if [ -e /dev/full ]; then
    run 75 gpufilter -i photos/a.png -o kept2.png invert -o /dev/full --format=ppm -o kept3.png invert
    stderr_like '/dev/full: No space left on device'
    same kept.png kept2.png
    same kept.png kept3.png
fi
run 4 gpufilter -i photos/a.png -o kept4.png invert -o lossy.jpg --lossless
grep -q lossy.jpg stderr || problem "$(cat stderr)"
same kept.png kept4.png
absent lossy.jpg

begin "an output that fails in its filter names it, and the others are kept"
run 4 gpufilter -i photos/a.png -o kept5.png invert -o x.png crop=1000:1000
grep -q crop stderr || problem "$(cat stderr)"
same kept.png kept5.png
absent x.png
run 2 gpufilter -i photos/a.png -o x.png invert -o y.png blurr
stderr_like "y.png: unknown filter 'blurr'"
absent x.png y.png

begin "a damaged picture fails all its outputs with one line"
head -c 700 photos/b.jpg >cut.jpg
run 4 gpufilter -i cut.jpg -i photos/a.png -o 'cut/{stem}.png' -o 'cut/{stem}.ppm' blur -o 'cut/{stem}-2.ppm' blur
[ "$(grep -c 'cut.jpg' stderr)" = 1 ] || problem "$(cat stderr)"
only cut a.png a.ppm a-2.ppm

begin "--resume makes what is missing of each output"
rm -r out
set -- -i photos -r -o 'out/large/{stem}.jpg' --quality=85 blur=2,resize=w=100 -o 'out/small/{stem}.png' thumbnail=40 \
    -o 'out/edges/{stem}.ppm' blur=2,sobel
run 0 gpufilter "$@" --log=run.log
[ "$(lines run.log '"status":"ok"')" = 9 ] || problem "$(cat run.log)"
rm out/small/b.png
cp out/large/a.jpg old.jpg
touch -t 200001010000 out/large/* out/edges/* out/small/*
run 0 gpufilter "$@" --resume=run.log
stderr_like '1 file done, 2 skipped'
alike out
[ "$(lines run.log '"status":"ok"')" = 10 ] || problem "$(cat run.log)"
[ -z "$(find out/large -newer old.jpg)" ] || problem "made again: $(find out -newer old.jpg)"

begin "--resume makes only the output that changes its options again"
set -- -i photos -r -o 'out/large/{stem}.jpg' --quality=50 blur=2,resize=w=100 -o 'out/small/{stem}.png' thumbnail=40 \
    -o 'out/edges/{stem}.ppm' blur=2,sobel
run 0 gpufilter "$@" --resume=run.log
[ "$(lines run.log '"status":"ok"')" = 13 ] || problem "$(cat run.log)"
cmp -s out/large/a.jpg old.jpg && problem "out/large/a.jpg is the old one"

begin "--skip-existing, --update and --no-clobber look at each output"
rm -r out
mkdir -p out/small
echo old >out/small/a.png
set -- -i photos -r -o 'out/large/{stem}.jpg' --quality=85 blur=2,resize=w=100 -o 'out/small/{stem}.png' thumbnail=40 \
    -o 'out/edges/{stem}.ppm' blur=2,sobel
run 0 gpufilter "$@" --skip-existing --log=skip.log
stderr_like '3 files done'
[ "$(cat out/small/a.png)" = old ] || problem "out/small/a.png was written"
[ "$(lines skip.log '"status":"skipped"')" = 1 ] || problem "$(cat skip.log)"
run 0 gpufilter "$@" --skip-existing
stderr_like '0 files done, 3 skipped'
touch -t 200001010000 out/small/a.png
run 0 gpufilter "$@" --update
alike out
rm out/edges/c.ppm
run 75 gpufilter "$@" --no-clobber
same out/edges/c.ppm alone/edges/c.ppm
grep -q 'is there already' stderr || problem "$(cat stderr)"

begin "--dry-run has a line for each output"
rm -r out
run 0 gpufilter "$@" --dry-run
[ "$(wc -l <stdout)" -eq 9 ] || problem "$(cat stdout)"
stdout_has '^photos/b.jpg -> out/small/b.png$'
absent out

begin "--explain says what the outputs have in common"
run 0 gpufilter --explain -i photos/b.jpg -o x.jpg blur=2,resize=w=100 -o y.png thumbnail=40 -o z.ppm blur=2,sobel
stdout_has '^output 3: z.ppm$'
stdout_has 'has the decoding and 1 stage in common with output 1'
stdout_has 'decodes for itself'

begin "--profile and --trace of several outputs"
run 0 gpufilter --profile=json --trace=trace.json -i photos/b.jpg -o x.jpg blur=2,resize=w=100 -o z.ppm blur=2,sobel
stdout_has '"sobel"'
stdout_has '"resize"'
[ -s trace.json ] || problem "no trace.json"

begin "what makes no sense is refused"
run 2 gpufilter -i photos -o 'x/{stem}.png' -o 'x/{stem}.png' blur
stderr_like "two outputs of 'photos/a.png' would both be written to 'x/a.png'"
run 2 gpufilter -i photos/a.png -o x.png -o ./x.png blur
stderr_like "two outputs of 'photos/a.png'"
run 2 gpufilter -i photos/a.png -o x.png -o photos/a.png blur
stderr_like "the output of 'photos/a.png' would be written over the input 'photos/a.png'"
run 2 gpufilter -i photos/a.png -o - -o - --format=png
stderr_like 'two outputs cannot both be standard output'
run 2 gpufilter -i photos/a.png -o '{w}.png' -o '{h}.png' resize=w=200:h=200:fit=fill
stderr_like "two outputs of 'photos/a.png' would both be written to '200.png'"
cat photos/a.png | run 4 gpufilter -i - -o '{w}.png' -o '{h}.png' resize=w=200:h=200:fit=fill
stderr_like "200.png: two outputs of '-' have this name"
absent x.png y.tar x

begin "of an input of several pictures none counts as done where one output fails"
cat alone/edges/a.ppm alone/edges/b.ppm alone/edges/c.ppm >three.ppm
mkdir -p n/b2.png
run 4 gpufilter -i three.ppm --log=three.log -o 'n/a{n}.png' -o 'n/b{n}.png' invert
grep -q 'n/b2.png' stderr || problem "$(cat stderr)"
[ "$(lines three.log '"status":"ok"')" = 3 ] && [ "$(lines three.log '"status":"failed"')" = 2 ] || problem "$(cat three.log)"
only n a1.png a2.png b1.png b2.png
run 4 gpufilter -i three.ppm -o one1.png -o file/one2.png invert
grep -q 'file/one2.png\|file: ' stderr || problem "$(cat stderr)"
run 0 gpufilter -i three.ppm -o one1.png -o one2.png invert
grep -q 'warning: three.ppm: another picture follows picture 1: left out' stderr || problem "$(cat stderr)"
