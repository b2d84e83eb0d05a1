# Filters within a region. in.ppm is 77x55.
begin "a rectangle changes as the whole picture does, and all else stays, bit by bit"
for chain in pixelate=9 blur=3 invert equalize median=2 hflip; do
    separator='='
    case $chain in *=*) separator=: ;; esac
    run 0 gpufilter -i in.ppm -o whole.ppm "$chain"
    run 0 gpufilter -i in.ppm -o part.ppm "$chain${separator}region=20 12 31 23"
    for box in 31:23:20:12 77:12:0:0 77:20:0:35 20:55:0:0 26:55:51:0; do
        from=in.ppm
        [ $box = 31:23:20:12 ] && from=whole.ppm
        run 0 gpufilter -i $from -o expected.ppm crop=$box
        run 0 gpufilter -i part.ppm -o is.ppm crop=$box
        cmp -s expected.ppm is.ppm || problem "$chain: crop=$box differs"
    done
done

begin "bands in little memory and several threads make the same picture"
run 0 gpufilter -i in.ppm -o tall.ppm 'tile=300%:4000'
for chain in 'blur=4:region=10% 40% 30% 20%/ellipse 50% 10% 45% 60%:feather=9' 'pixelate=20:region=3 1900 150 99'; do
    run 0 gpufilter -i tall.ppm -o whole.ppm --memory=64M "$chain"
    run 0 gpufilter -i tall.ppm -o banded.ppm --memory=2M --band-rows=16 --threads=2 "$chain"
    cmp -s whole.ppm banded.ppm || problem "$chain differs in bands"
    run 0 gpufilter -i tall.ppm -o whole.pfm --memory=64M "float,$chain"
    run 0 gpufilter -i tall.ppm -o banded.pfm --memory=2M --band-rows=16 --threads=2 "float,$chain"
    cmp -s whole.pfm banded.pfm || problem "$chain of floats differs in bands"
done

begin "regions in per cent, beyond the picture and without a pixel"
run 0 gpufilter -i in.ppm -o is.ppm 'invert=region=-10 -10 20 20'
run 0 gpufilter -i in.ppm -o expected.ppm 'invert=region=0 0 10 10'
cmp -s is.ppm expected.ppm || problem "a region beyond the picture differs from its part within"
run 0 gpufilter -i in.ppm -o is.ppm 'invert=region=50% 0 50% 100%|0 0 38 55'
run 0 gpufilter -i in.ppm -o expected.ppm invert
cmp -s is.ppm expected.ppm || problem "two halves are not the whole"
run 0 gpufilter -i in.ppm -o is.ppm 'invert=region=77 0 9 9'
run 0 gpufilter -i in.ppm -o same.ppm
cmp -s is.ppm same.ppm || problem "a region outside changed the picture"

begin "a mask's file selects, and --resume knows its contents"
run 0 gpufilter -i in.ppm -o mask.png 'threshold=0'
run 0 gpufilter -i in.ppm -o is.ppm 'invert=region=mask.png'
run 0 gpufilter -i in.ppm -o expected.ppm invert
cmp -s is.ppm expected.ppm || problem "a white mask does not select everything"
run 0 gpufilter -i in.ppm -o out.ppm --resume=run.log 'blur=region=mask.png'
run 0 gpufilter -i mask.png -o mask.png 'invert'
run 0 gpufilter -i in.ppm -o out.ppm --resume=run.log 'blur=region=mask.png'
cmp -s out.ppm same.ppm || problem "another mask of that name left the old output"

begin "filters that change the number of channels keep the picture's"
run 0 gpufilter -i in.ppm -o out.ppm 'grayscale=region=0 0 50% 100%'
head -c 2 out.ppm | grep -q P6 || problem "grayscale within a region made another format"
run 0 gpufilter -i in.ppm -o out.png 'round=9:region=0 0 30 30'
run 0 gpufilter -i in.ppm -o rounded.png round=9
run 0 gpufilter -i out.png -o is.png crop=30:30:0:0
run 0 gpufilter -i rounded.png -o expected.png crop=30:30:0:0
cmp -s is.png expected.png || problem "a corner is not transparent within its region"

begin "what is no region is one line"
while IFS='|' read -r chain message; do
    run 2 gpufilter -i in.ppm -o none.png "$chain"
    stderr_is "gpufilter: $message"
done <<'END'
crop=9:9:region=1 1 5 5|crop: region is for filters that keep the picture's size and profile and go through the picture once
canny=region=1 1 5 5|canny: region is for filters that keep the picture's size and profile and go through the picture once
icc=srgb:region=1 1 5 5|icc: region is for filters that keep the picture's size and profile and go through the picture once
blur=feather=3|blur: feather is the soft edge of a region, which is missing: region=X Y WIDTH HEIGHT
blur=region=1 1 5|blur: region=1 1 5 is neither 'X Y WIDTH HEIGHT' nor 'ellipse X Y WIDTH HEIGHT' nor a mask's file: 1 1 5: No such file or directory
blur=region=mask.png:feather=3|blur: feather is for shapes; a mask's file has soft edges of its own
blur=regoin=1 1 5 5|blur: unknown parameter 'regoin'; did you mean 'region'?
END
run 75 gpufilter -i in.ppm -o none.png 'blur=region=nowhere.png'
run 4 gpufilter -i in.ppm -o none.png 'rotate=90:region=0 0 9 9'
stderr_is "gpufilter: in.ppm: rotate: a region needs a result of the picture's size, 77x55; this one has 55x77"
absent none.png
