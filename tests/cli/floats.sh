# Files of floats: what becomes of samples beyond 0..1, of thumbnails, frames and colours, and which words refuse them.
# floats.pfm is 2x2 pixels of gray: 0, 2, -1 and 0.5.
printf 'Pf\n2 2\n-1.0\n\0\0\0\0\0\0\0@\0\0\200\277\0\0\0?' >floats.pfm

begin "samples beyond 0..1 are clamped in integers, with a warning"
for output in out.png out.jpg out.pgm; do
    run 0 gpufilter -i floats.pfm -o $output
    stderr_is "gpufilter: warning: $output: 2 samples were NaN or outside of 0..1, and are clamped (tonemap, levels)"
done
run 0 gpufilter -i floats.pfm -o - --format=pfm
[ ! -s stderr ] || problem "a warning without reason: $(cat stderr)"
same stdout floats.pfm

begin "Radiance HDR says how many samples it clamps, each of gray once"
run 0 gpufilter -i floats.pfm -o out.hdr
stderr_is "gpufilter: warning: out.hdr: 1 samples were NaN, negative or too large, and are clamped"

for input in in.ppm floats.pfm; do
    run 4 gpufilter -i $input -o no.hdr --lossless
    stderr_is "gpufilter: no.hdr: Radiance HDR is not lossless"
    absent no.hdr
done

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

begin "JPEG XL keeps floats, without losses to the last bit"
if ! gpufilter --version | grep -q '^formats:.*JPEG XL'; then
    skip "there is no libjxl in this build"
else
    for depth in 16f 32f; do
        run 0 gpufilter -i in.ppm -o one.jxl --lossless --device=cpu "contrast=3,float=${depth%f},exposure=1"
        run 0 gpufilter -i in.ppm -o one.npy --device=cpu "contrast=3,float=${depth%f},exposure=1"
        run 0 gpufilter -i one.jxl -o two.npy --device=cpu
        same one.npy two.npy
        run 0 gpufilter --info one.jxl
        stdout_has "^bits *${depth%f}\$"
        stdout_has '^samples *float$'
    done
    run 0 gpufilter -i in.ppm -o one.jxl --lossless --device=cpu float,contrast=3,chromakey=red:0.1:0.05
    run 0 gpufilter -i in.ppm -o one.npy --device=cpu float,contrast=3,chromakey=red:0.1:0.05
    run 0 gpufilter -i one.jxl -o two.npy --device=cpu
    same one.npy two.npy
    # libjxl would end the process.
    printf 'Pf\n2 1\n-1.0\n\0\0\300\177\0\0\200\120' >odd.pfm
    run 4 gpufilter -i odd.pfm -o odd.jxl
    stderr_is 'gpufilter: odd.jxl: 2 samples are NaN or beyond 1e6: not for a lossy JPEG XL (--lossless)'
    absent odd.jxl
    run 0 gpufilter -i odd.pfm -o odd.jxl --lossless
    # A lossy file keeps linear light and its primaries, also those without a name.
    printf '#?RADIANCE\nPRIMARIES=.7 .3 .2 .75 .14 .05 .3127 .329\n\n-Y 1 +X 4\n\200\100\200\201\200\100\200\201\200\100\200\202\200\100\200\202' >light.hdr
    # Unlike colours are compared as integers, which clamp.
    printf '#?RADIANCE\n\n-Y 1 +X 4\n\200\100\200\201\200\100\200\201\200\100\200\202\200\100\200\202' >usual.hdr
    if gpufilter -i in.ppm -o probe.ppm icc=display-p3 2>/dev/null; then
        run 0 gpufilter --compare=light.hdr:measures=largest usual.hdr
        grep -q 'warning: light.hdr: 4 samples were NaN or outside of 0..1, and are clamped' stderr || problem "$(cat stderr)"
    fi
    for coding in --lossless --quality=99; do
        run 0 gpufilter -i light.hdr -o light.jxl $coding
        run 0 gpufilter -i light.jxl -o back.hdr
        silent
        grep -aq '^PRIMARIES=0.70000 0.30000 0.20000 0.75000 0.14000 0.05000 0.31270 0.32900$' back.hdr || problem "other primaries"
        run 0 gpufilter --compare=light.hdr:measures=largest:max-largest=0.1 back.hdr
    done
    # A target's measure takes integers, and so does an animation.
    run 0 gpufilter -i one.npy -o target.jxl --target=ssimulacra2:60
    run 0 gpufilter --info target.jxl
    stdout_has '^samples *integer$'
    run 0 gpufilter -i frames -o film.jxl --fps=5
    run 0 gpufilter --info film.jxl
    stdout_has '^samples *integer$'
fi

begin "TIFFs of floats in tiles, and their levels"
if ! gpufilter --version | grep -q '^formats:.*TIFF'; then
    skip "there is no libtiff in this build"
else
    run 0 gpufilter -i in.ppm -o one.npy --device=cpu resize=90:70,float,contrast=3
    run 0 gpufilter -i one.npy -o tiles.tif --tile-size=32
    run 0 gpufilter -i tiles.tif -o two.npy
    same one.npy two.npy
    for layout in cog subifds; do
        run 0 gpufilter -i one.npy -o levels.tif --pyramid=$layout --tile-size=16
        run 0 gpufilter --info levels.tif
        stdout_has '^levels *90x70 45x35 23x18 12x9$'
        stdout_has '^samples *float$'
        run 0 gpufilter -i levels.tif -o two.npy
        same one.npy two.npy
    done
    run 4 gpufilter -i one.npy -o levels.tif --pyramid=cog:shrink=lanczos3
    stderr_is 'gpufilter: levels.tif: levels of floats are means: shrink=area, or integers (--depth)'
fi

begin "--compare measures the differences of floats by their own numbers"
# 0, 4, -1 and 0.25, and NaN and infinities of which two are equal.
printf 'Pf\n2 2\n-1.0\n\0\0\0\0\0\0\200@\0\0\200\277\0\0\200>' >other.pfm
printf 'Pf\n2 2\n-1.0\n\0\0\300\177\0\0\200\177\0\0\200\377\0\0\0?' >odd.pfm
run 0 gpufilter --compare=floats.pfm:measures=largest,mean,psnr,relmse other.pfm
printf 'largest  2\nmean     0.5625\npsnr     -0.07 dB\nrelmse   0.309473\n' >expected
same stdout expected
[ ! -s stderr ] || problem "a warning without reason: $(cat stderr)"
run 0 gpufilter --compare=floats.pfm:measures=psnr:peak=10 other.pfm
stdout_has '^psnr *19.93 dB$'
run 1 gpufilter --compare=floats.pfm:max-largest=1.5 other.pfm
run 0 gpufilter --compare=odd.pfm:measures=largest,mean,psnr,relmse:max-largest=0 odd.pfm
run 0 gpufilter --compare=odd.pfm:measures=largest,psnr,relmse floats.pfm
stdout_has '^largest *inf$'
stdout_has '^psnr *-inf dB$'
stdout_has '^relmse *inf$'
run 0 gpufilter --compare=odd.pfm:measures=psnr floats.pfm
stdout_has '^psnr *-inf dB$'
run 2 gpufilter --compare=floats.pfm:peak=0 other.pfm
# A picture of integers is 0..1 beside floats.
run 0 gpufilter -i floats.pfm -o bytes.png --depth=8
run 0 gpufilter --compare=bytes.png:measures=largest,mean floats.pfm
printf 'largest  1\nmean     0.50049\n' >expected
same stdout expected
run 0 gpufilter -i floats.pfm -o whole.png --depth=16
run 0 gpufilter --compare=floats.pfm:measures=largest whole.png
stdout_has '^largest *1$'

begin "a range is refused where floats stay floats, by the format's name"
run 0 gpufilter -i in.ppm -o in.npy
for range in -1:2 percentile; do
    run 4 gpufilter -i floats.pfm -o out.png --range=$range
    stderr_is 'gpufilter: floats.pfm: a range is for TIFF, floats of PFM stay (--range)'
    run 0 gpufilter -i in.npy -o out.png --range=$range
done

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
        run 0 gpufilter -i linear.exr -o steps.jpg
        stderr_is 'gpufilter: warning: steps.jpg: 8 bits of linear light have visible steps (--to-icc=srgb has none)'
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

begin "linear light stays linear from OpenEXR through other formats of floats, also gray and ACEScg"
for name in linear aces gray; do
    if [ ! -e linear.exr ]; then
        skip "there is no OpenEXR or no Little CMS in this build"
        break
    fi
    [ $name != gray ] || gpufilter -q -i linear.exr -o gray.exr grayscale
    for through in tif jxl hdr; do
        gpufilter --version | grep -q "$(echo "^formats:.*$through" | sed 's/tif/TIFF/; s/jxl/JPEG XL/; s/hdr/Radiance HDR/')" || continue
        [ $name$through != grayhdr ] || continue # it has no gray
        loss=15
        [ $through != tif ] || loss=150
        [ $through != hdr ] || loss=45
        run 0 gpufilter -i $name.exr -o through.$through
        run 0 gpufilter -i through.$through -o back.exr
        silent
        run 0 gpufilter --compare=$name.exr:measures=psnr:min-psnr=$loss back.exr
        run 0 gpufilter --info back.exr
        cp stdout colours
        run 0 gpufilter --info $name.exr
        [ "$(grep colours stdout)" = "$(grep colours colours)" ] || problem "$(cat colours)"
    done
done

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
    # Two pixels of 90,000 are no peak, however dark the others are.
    printf 'P3 2 1 255 255 255 255 85 85 85\n' > dots.ppm
    light="float,icc=linear-srgb,colormatrix=9 0 0/0 9 0/0 0 9,pad=w=300:h=300:colour=black"
    run 0 gpufilter -q -i dots.ppm -o dots.npy "$light,tonemap"
    run 0 gpufilter -q -i dots.ppm -o wanted.npy "$light,tonemap=peak=203"
    cmp -s dots.npy wanted.npy || problem "a few bright pixels are the peak"
    for curve in pq hlg; do
        run 0 gpufilter -i in.ppm -o wanted.ppm integer=16,tonemap=from=$curve,integer=8
        run 0 gpufilter -i in.ppm -o out.ppm float,tonemap=from=$curve,integer=8
        run 0 gpufilter --compare=wanted.ppm:max-largest=1 out.ppm
    done
fi

begin "an OpenEXR keeps texts: its attributes that are strings, and those of other formats"
if ! gpufilter --version | grep -q '^formats:.*OpenEXR'; then
    skip "there is no OpenEXR in this build"
else
    run 0 gpufilter -i in.ppm -o plain.jpg
    { printf '\377\330\377\376\0\10a note' && tail -c +3 plain.jpg; } >note.jpg
    run 0 gpufilter -i note.jpg -o texts.exr float,icc=linear-srgb
    silent
    grep -aq 'comments.string.*a note' texts.exr || problem "the OpenEXR lacks the comment"
    # Another name of as many letters is a text, too.
    LC_ALL=C sed s/comments/sceneAbc/ texts.exr >other.exr
    run 0 gpufilter -i other.exr -o kept.exr invert
    silent
    grep -aq 'sceneAbc.string.*a note' kept.exr || problem "the text is gone"
    run 0 gpufilter -i kept.exr -o kept.png integer=8
    grep -aq 'sceneAbc.*a note' kept.png || problem "the PNG lacks it"
    run 0 gpufilter -i texts.exr -o back.jpg integer=8
    grep -aq 'a note' back.jpg || problem "the JPEG lacks it"
    run 0 gpufilter --strip -i texts.exr -o bare.exr
    ! grep -aq 'a note' bare.exr || problem "--strip keeps it"
fi
