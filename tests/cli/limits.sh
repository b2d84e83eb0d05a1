# Limits for pictures from strangers: of time, of outputs, of formats.

begin "the frames of a file share --timeout and --max-output"
printf 'P5\n64 64\n255\n%04096d' 0 >page.pgm
# Many, so that a fast machine has not done all of them in a second.
for i in $(seq 100); do cat page.pgm; done >pages.pgm
run 4 timeout 300 "$GPUFILTER" -q -i 'pages.pgm[all]' -o 'f-{n}.ppm' --device=cpu --timeout=1 resize=2000:2000,nlmeans=search=4:patch=2
stderr_is "gpufilter: pages.pgm[all]: takes longer than --timeout=1"
run 4 gpufilter -q -i 'pages.pgm[all]' -o 'm-{n}.pgm' --device=cpu --max-output=10K invert
grep -q 'm-3.pgm: is over --max-output=10240 with the input' stderr || problem "it says: $(cat stderr)"
[ -s m-2.pgm ] || problem 'm-2.pgm is missing'
absent m-3.pgm
# shellcheck disable=SC2016
run 0 sh -c 'cat pages.pgm | "$0" -q -i - -o "n-{n}.pgm" --device=cpu --max-output=10K invert' "$GPUFILTER"
if gpufilter --version | grep -q '^formats:.*GIF'; then
    printf 'GIF89a\100\0\100\0\200\0\0\0\0\0\377\377\377' >frames.gif
    for i in $(seq 100); do printf '!\371\4\0\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0'; done >>frames.gif
    printf ';' >>frames.gif
    run 4 timeout 300 "$GPUFILTER" -q -i 'frames.gif[all]' -o 'g-{n}.ppm' --device=cpu --timeout=1 resize=2000:2000,nlmeans=search=4:patch=2
    grep -q 'frames.gif.*: takes longer than --timeout=1' stderr || problem "it says: $(cat stderr)"
    run 4 timeout 300 "$GPUFILTER" -q -i 'frames.gif[all]' -o 'h-{n}.ppm' --device=cpu --max-output=30K
    [ -s h-2.ppm ] || problem "h-2.ppm is missing"
    absent h-3.ppm
fi

begin "--timeout fails a picture by its name"
printf 'P5\n8 8\n255\n%064d' 0 >small.pgm
run 0 gpufilter -i small.pgm -o large.ppm --device=cpu resize=3000:2000,colormatrix=sepia,addnoise=0.2
for chain in nlmeans=search=10:patch=3 bilateral=30 'blur=200,equalize,transpose,blur=200,rotate=10,blur=200,median=radius=15'; do
    run 4 timeout 300 "$GPUFILTER" -i large.ppm -o o.ppm --device=cpu --threads=1 --timeout=0.2 "$chain"
    stderr_is "gpufilter: large.ppm: takes longer than --timeout=0.2"
    absent o.ppm
done
run 0 gpufilter -i large.ppm -o o.ppm --device=cpu --timeout=1000 invert
run 2 gpufilter -i large.ppm -o o.ppm --timeout=0
run 2 gpufilter -i large.ppm -o o.ppm --timeout=2s

begin "--timeout holds within encoders, and for a stream that stops"
run 4 timeout 300 "$GPUFILTER" -i large.ppm -o o.png --device=cpu --threads=1 --timeout=0.05 --png-level=9
stderr_is "gpufilter: large.ppm: takes longer than --timeout=0.05"
absent o.png
if gpufilter --version | grep -q '^formats:.*WebP'; then
    run 4 timeout 300 "$GPUFILTER" -i large.ppm -o o.webp --device=cpu --timeout=0.05 --lossless
    stderr_is "gpufilter: large.ppm: takes longer than --timeout=0.05"
    absent o.webp
fi
mkfifo stops
run 0 gpufilter -i large.ppm -o large.png --device=cpu
for file in large.ppm large.png; do
    (head -c 1000000 $file && exec sleep 300) >stops &
    run 4 timeout 200 "$GPUFILTER" -i stops -o o.ppm --device=cpu --threads=4 --timeout=0.2
    stderr_is "gpufilter: stops: takes longer than --timeout=0.2"
    kill $!
done

begin "the pictures after one that takes too long are done, in a batch and in several outputs"
cp small.pgm z.pgm
# A minute of 2 fast processors: z.pgm has 3 seconds, and no machine does large.ppm in so few.
dear=$(yes nlmeans=search=10:patch=3 | head -n 20 | paste -s -d ,)
run 4 timeout 300 "$GPUFILTER" -i large.ppm -i z.pgm -o 'o-{stem}.ppm' --device=cpu --threads=2 --timeout=3 "$dear"
grep -q '^gpufilter: large.ppm: takes longer than --timeout=3$' stderr || problem "it says: $(cat stderr)"
absent o-large.ppm
[ -s o-z.ppm ] || problem "z.pgm is not done"
run 4 timeout 300 "$GPUFILTER" -i large.ppm --device=cpu --threads=2 --timeout=0.3 -o a.ppm bilateral=30 -o b.ppm invert,bilateral=30
grep -q 'large.ppm: takes longer than --timeout=0.3$' stderr || problem "it says: $(cat stderr)"
absent a.ppm
absent b.ppm

begin "--max-output drops what is larger, in every format"
run 0 gpufilter -i small.pgm -o noise.ppm --device=cpu resize=100:100,colormatrix=sepia,addnoise=0.3
for extension in ppm pam png jpg webp tif avif jxl jp2; do
    gpufilter -q -i noise.ppm -o whole.$extension 2>stderr || continue
    size=$(wc -c <whole.$extension)
    run 0 gpufilter -q -i noise.ppm -o "o.$extension" --device=cpu --max-output="$size"
    rm -f "o.$extension"
    run 4 gpufilter -q -i noise.ppm -o "o.$extension" --device=cpu --max-output=$((size - 1))
    stderr_is "gpufilter: o.$extension: is over --max-output=$((size - 1))"
    absent "o.$extension"
done
run 4 gpufilter -i noise.ppm -o - --device=cpu --max-output=1K
stderr_is "gpufilter: stdout: is over --max-output=1024"
[ ! -s stdout ] || problem "standard output got a part of the picture"
run 4 gpufilter -i noise.ppm -i small.pgm -o 'o-{stem}.ppm' --device=cpu --max-output=1K
absent o-noise.ppm
[ -s o-small.ppm ] || problem "small.pgm is not done"

begin "--max-output holds for the members of an archive and for the archive in all"
if ! gpufilter --version | grep -q '^archives: tar' || ! command -v tar >/dev/null; then
    skip "there is no tar, or no libarchive in this build"
else
    mkdir set
    cp noise.ppm small.pgm set
    tar cf set.tar set
    run 4 gpufilter -i set.tar -o o.tar --device=cpu --max-output=20000 invert
    grep -q '^gpufilter: o.tar/set/noise.ppm: is over --max-output=20000$' stderr || problem "it says: $(cat stderr)"
    [ "$(tar tf o.tar | tr '\n' ' ')" = "set/ set/small.pgm " ] || problem "o.tar has $(tar tf o.tar)"
    rm o.tar
    head -c 100000 /dev/zero >set/zeros.txt
    tar cf set.tar set
    for archive in o.tar o.tar.gz; do
        run 4 gpufilter -i set.tar -o $archive --device=cpu --max-output=90000 invert
        stderr_like "$archive: holds more than --max-output=90000$"
        absent $archive
    done
    run 0 gpufilter -i set.tar -o o.tar --device=cpu --max-output=200000 invert
fi

begin "--formats refuses inputs of other formats, by their content"
cp small.pgm named.png
run 4 gpufilter -i named.png -o o.png --formats=png,jpeg
stderr_is "gpufilter: named.png: is PNM, which is not in --formats"
absent o.png
run 0 gpufilter -i named.png -o o.png --formats=jpg,pgm
run 2 gpufilter -i small.pgm -o o2.ppm --formats=pnm overlay=o.png
stderr_like "overlay: o.png: is PNG, which is not in --formats$"
run 0 gpufilter -i small.pgm -o o2.ppm --formats=pnm,png overlay=o.png
run 4 gpufilter -i o.png -i small.pgm -o 'f-{stem}.ppm' --formats=pnm
[ -s f-small.ppm ] || problem "small.pgm is not done"
run 2 gpufilter -i small.pgm -o o2.ppm --formats=pnm,xpm
stderr_like "--formats=xpm is none of png, jpeg, .*, heic, .*"
run 2 gpufilter -i small.pgm -o o2.ppm --formats=
run 4 gpufilter --compare o.png small.pgm --formats=pnm
stderr_like "o.png: is PNG, which is not in --formats$"

begin "--timeout, by which dear filters go in few rows at a time, changes no pixel"
run 0 gpufilter -i small.pgm -o medium.ppm --device=cpu resize=600:500,colormatrix=sepia,addnoise=0.5
for chain in bilateral=10 nlmeans=search=10:patch=3 median=radius=15 blur=100 guided=20 rotate=33 clahe distance canny resize=1500:1300; do
    run 0 gpufilter -i medium.ppm -o free.ppm --device=cpu --threads=1 --band-rows=500 "$chain"
    run 0 gpufilter -i medium.ppm -o timed.ppm --device=cpu --threads=1 --band-rows=500 --timeout=1000 "$chain"
    same free.ppm timed.ppm
done
