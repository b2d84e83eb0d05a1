# Files of floats: what becomes of samples beyond 0..1, of thumbnails and of frames, and which words refuse them.
# floats.pfm is 2x2 pixels of gray: 0, 2, -1 and 0.5.
printf 'Pf\n2 2\n-1.0\n\0\0\0\0\0\0\0@\0\0\200\277\0\0\0?' >floats.pfm

begin "samples beyond 0..1 are clamped in integers, with a warning"
for output in out.png out.jpg out.pgm; do
    run 0 gpufilter -i floats.pfm -o $output
    stderr_is "gpufilter: warning: $output: 2 samples were NaN or outside of 0..1, and are clamped (levels, exposure)"
done
run 0 gpufilter -i floats.pfm -o - --format=pfm
[ ! -s stderr ] || problem "a warning without reason: $(cat stderr)"
same stdout floats.pfm

begin "thumbnails of floats stay floats where the file has no others"
run 0 gpufilter -i floats.pfm -o small.pfm thumbnail=1
run 0 gpufilter --info=json small.pfm
grep -q '"bits":32,"samples":"float"' stdout || problem "$(cat stdout)"
run 0 gpufilter -i in.ppm -o small.pfm thumbnail=4
run 0 gpufilter -i small.pfm -o small.npy

begin "frames of floats become an animation of 16 bits"
mkdir frames
cp floats.pfm frames/1.pfm
cp floats.pfm frames/2.pfm
run 0 gpufilter -i frames -o film.png --fps=5
run 0 gpufilter --info=json film.png
grep -q '"bits":16' stdout || problem "$(cat stdout)"

begin "what takes no floats says so, with the file's name"
run 4 gpufilter -i floats.pfm -o out.png canny
stderr_is 'gpufilter: floats.pfm: canny (canny-thin): takes no floats; the filter integer before it makes samples of 16 bits'
run 4 gpufilter --info=hash floats.pfm
grep -q '^gpufilter: floats.pfm: its samples are floats, which have no hashes' stderr || problem "$(cat stderr)"
