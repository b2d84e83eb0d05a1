# Limits for pictures from strangers: of time.

begin "--timeout fails a picture by its name"
printf 'P5\n8 8\n255\n%064d' 0 >small.pgm
run 0 gpufilter -i small.pgm -o large.ppm --device=cpu resize=3000:2000,colormatrix=sepia,addnoise=0.2
for chain in nlmeans=search=10:patch=3 bilateral=30 'blur=200,equalize,transpose,blur=200,rotate=10,blur=200,median=15'; do
    run 4 timeout 20 "$GPUFILTER" -i large.ppm -o o.ppm --device=cpu --timeout=0.2 "$chain"
    stderr_is "gpufilter: large.ppm: takes longer than --timeout=0.2"
    absent o.ppm
done
run 0 gpufilter -i large.ppm -o o.ppm --device=cpu --timeout=1000 invert
run 2 gpufilter -i large.ppm -o o.ppm --timeout=0
run 2 gpufilter -i large.ppm -o o.ppm --timeout=2s

begin "--timeout holds within encoders, and for a stream that stops"
run 4 timeout 20 "$GPUFILTER" -i large.ppm -o o.png --device=cpu --timeout=0.05 --png-level=9
stderr_is "gpufilter: large.ppm: takes longer than --timeout=0.05"
absent o.png
if gpufilter --version | grep -q '^formats:.*WebP'; then
    run 4 timeout 20 "$GPUFILTER" -i large.ppm -o o.webp --device=cpu --timeout=0.2 --lossless
    stderr_is "gpufilter: large.ppm: takes longer than --timeout=0.2"
    absent o.webp
fi
mkfifo stops
(head -c 1000 large.ppm && sleep 10) >stops &
run 4 timeout 20 "$GPUFILTER" -i stops -o o.ppm --device=cpu --timeout=0.2 invert
stderr_is "gpufilter: stops: takes longer than --timeout=0.2"
kill $!

begin "the pictures after one that takes too long are done, in a batch and in several outputs"
cp small.pgm z.pgm
run 4 timeout 20 "$GPUFILTER" -i large.ppm -i z.pgm -o 'o-{stem}.ppm' --device=cpu --timeout=0.3 nlmeans=search=10:patch=3
grep -q '^gpufilter: large.ppm: takes longer than --timeout=0.3$' stderr || problem "it says: $(cat stderr)"
absent o-large.ppm
[ -s o-z.ppm ] || problem "z.pgm is not done"
run 4 timeout 20 "$GPUFILTER" -i large.ppm --device=cpu --timeout=0.3 -o a.ppm bilateral=30 -o b.ppm invert,bilateral=30
grep -q 'large.ppm: takes longer than --timeout=0.3$' stderr || problem "it says: $(cat stderr)"
absent a.ppm
absent b.ppm
