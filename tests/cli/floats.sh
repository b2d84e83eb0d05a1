# Files of floats: what becomes of samples beyond 0..1, of thumbnails, frames and colours, and which words refuse them.
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
run 4 gpufilter -i floats.pfm -o out.png median
stderr_is 'gpufilter: floats.pfm: median: takes no floats; the filter integer before it makes samples of 16 bits'
run 4 gpufilter --info=hash floats.pfm
grep -q '^gpufilter: floats.pfm: its samples are floats, which have no hashes' stderr || problem "$(cat stderr)"

begin "icc converts floats: linear light and back, and a linear OpenEXR becomes a picture for screens"
if ! gpufilter -i in.ppm -o probe.ppm icc=display-p3 2>/dev/null; then
    skip "this build has no Little CMS"
else
    run 0 gpufilter -i in.ppm -o plain.ppm
    for chain in float,icc=linear-srgb,icc=srgb,integer=8 float,icc=acescg,icc=srgb,integer=8 float=16,icc=linear-srgb,icc,integer=8; do
        run 0 gpufilter -i in.ppm -o back.ppm "$chain"
        same plain.ppm back.ppm
    done
    run 0 gpufilter -i in.ppm -o light.png float,icc=linear-srgb,blur=5,icc=srgb,integer
    silent
    if gpufilter -q -i in.ppm -o linear.exr float,icc=linear-srgb 2>/dev/null; then
        gpufilter -i in.ppm -o aces.exr float,icc=acescg 2>stderr
        ! grep -q 'nothing says' stderr || problem "$(cat stderr)"
        for name in linear aces; do
            run 0 gpufilter -i $name.exr -o back.png --to-icc=srgb --depth=8
            run 0 gpufilter -i back.png -o back.ppm
            same plain.ppm back.ppm
            run 0 gpufilter -q -i $name.exr -o small.jpg thumbnail=40
            run 0 gpufilter -q -i $name.exr -o small.png thumbnail=40
            run 0 gpufilter -q -i in.ppm -o wanted.png --depth=8 float,icc=linear-srgb,thumbnail=40
            run 0 gpufilter --compare=wanted.png:min-psnr=45 small.png
        done
    fi
fi

begin "tonemap takes floats: light beyond white becomes white, what is not brighter stays"
if ! gpufilter -i in.ppm -o probe.ppm icc=display-p3 2>/dev/null; then
    skip "this build has no Little CMS"
else
    run 0 gpufilter -i in.ppm -o out.ppm float,tonemap,integer=8
    run 0 gpufilter --compare=plain.ppm:max-largest=1 out.ppm
    for kind in 32 16; do
        run 0 gpufilter -i in.ppm -o bright.npy "float=$kind,icc=linear-srgb,colormatrix=9 0 0/0 9 0/0 0 9,tonemap"
        run 0 gpufilter -i bright.npy -o bright.ppm
        silent
        run 0 gpufilter -i in.ppm -o wanted.npy "float=$kind,icc=linear-srgb,colormatrix=9 0 0/0 9 0/0 0 9,tonemap=peak=1827"
        run 0 gpufilter -i wanted.npy -o wanted.ppm
        run 0 gpufilter --compare=wanted.ppm:max-largest=2 bright.ppm
    done
    for curve in pq hlg; do
        run 0 gpufilter -i in.ppm -o wanted.ppm integer=16,tonemap=from=$curve,integer=8
        run 0 gpufilter -i in.ppm -o out.ppm float,tonemap=from=$curve,integer=8
        run 0 gpufilter --compare=wanted.ppm:max-largest=1 out.ppm
    done
fi
