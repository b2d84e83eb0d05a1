# Sizes: what resize, pad and crop make of hostile values, and how large a result may be. in.ppm is 77x55.
size_is()
{
    [ "$(head -n 2 "$1" | tail -n 1)" = "$2" ] || problem "$1 is $(head -n 2 "$1" | tail -n 1), not $2"
}

begin "a picture of one pixel has a per cent of one pixel"
printf 'P6\n1 1\n255\nabc' >one.ppm
for chain in resize=1% resize=1%:1% resize=0.001%:0.001%:fit=contain resize=1%:only=shrink pad=1%:1% crop=50%:50%; do
    run 0 gpufilter -i one.ppm -o one_out.ppm $chain
    size_is one_out.ppm "1 1"
    [ "$(tail -c 3 one_out.ppm)" = abc ] || problem "$chain changed the pixel"
done
run 0 gpufilter -i one.ppm -o one_out.ppm pad=300%:200%:colour=edge
[ "$(tail -c 18 one_out.ppm)" = abcabcabcabcabcabc ] || problem "$(od -c one_out.ppm)"

begin "per cent are the same of both sides, in every place that tells the size"
printf 'P5\n11 100\n255\n%1100s' "" >narrow.pgm
for chain in resize=50% resize=h=50% thumbnail=50%; do
    run 0 gpufilter -i narrow.pgm -o '{stem}-{w}x{h}.ppm' $chain -o both.ppm $chain,invert
    size_is narrow-6x50.ppm "6 50"
    size_is both.ppm "6 50"
    rm narrow-6x50.ppm
    run 0 gpufilter --explain -i narrow.pgm $chain
    stdout_has '6x50'
done

begin "crop takes the largest rectangle of an aspect, and counts from the side that gravity names"
printf 'P5\n5 4\n255\nabcdefghijklmnopqrst' >letters.pgm
# cuts CHAIN SIZE LETTERS
cuts()
{
    run 0 gpufilter -i letters.pgm -o cut.pgm "$1"
    size_is cut.pgm "$2"
    [ "$(tail -n +4 cut.pgm)" = "$3" ] || problem "$1: $(tail -n +4 cut.pgm)"
}
cuts crop=aspect=5/2 "5 2" fghijklmno
cuts crop=aspect=5/2:gravity=North "5 2" abcdefghij
cuts crop=aspect=1:gravity=east "4 4" bcdeghijlmnoqrst
cuts crop=aspect=1/4:x=1 "1 4" bglq
cuts crop=w=2:aspect=2:gravity=southeast "2 1" st
cuts crop=h=2:aspect=1:gravity=southeast:x=1:y=1 "2 2" himn
cuts crop=2:1:1:1 "2 1" gh
cuts crop=2:1:1:1:gravity=bottom-right "2 1" mn
cuts crop=aspect=1000 "5 1" fghij
run 4 gpufilter -i letters.pgm -o cut.pgm crop=w=5:aspect=1
stderr_is "gpufilter: letters.pgm: crop: h=5 at y=0 is outside the picture's 4 rows"
run 4 gpufilter -i letters.pgm -o cut.pgm crop=3:1:3:0:gravity=east
stderr_is "gpufilter: letters.pgm: crop: w=3 at x=-1 is outside the picture's 5 columns"

begin "border adds on each side, and pad says so when it adds nothing"
run 0 gpufilter -i letters.pgm -o wide.pgm border=1:black
size_is wide.pgm "7 6"
run 0 gpufilter -i letters.pgm -o padded.pgm pad=7:6:color=Black
same padded.pgm wide.pgm
run 0 gpufilter -i letters.pgm -o wide.pgm border=50%:edge
size_is wide.pgm "9 8"
run 0 gpufilter -i letters.pgm -o wide.pgm border=0
same letters.pgm wide.pgm
run 0 gpufilter -i letters.pgm -o wide.pgm pad=3:4
stderr_is "gpufilter: warning: letters.pgm: pad changes nothing of 5x4: w and h are the size of the result; border=10 adds 10 pixels on each side"
same letters.pgm wide.pgm
run 0 gpufilter -i letters.pgm -o wide.pgm pad=5:4
silent
for padded in "aspect=1 5 5" "aspect=16/4 16 4" "aspect=1/2 5 10" "8:4:aspect=1 8 8" "w=6:aspect=3 12 4"; do
    run 0 gpufilter -i letters.pgm -o wide.pgm "pad=${padded%% *}"
    size_is wide.pgm "${padded#* }"
done

begin "grayscale takes a channel: red, green, blue, or alpha, which is white where there is none"
printf 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcdefgh' >clear.pam
for taken in red=ae green=bf blue=cg alpha=dh; do
    run 0 gpufilter -i clear.pam -o taken.pgm "grayscale=${taken%=*},flatten=none"
    [ "$(tail -n 1 taken.pgm)" = "${taken#*=}" ] || problem "$taken: $(tail -n 1 taken.pgm)"
done
run 0 gpufilter -i letters.pgm -o taken.pgm grayscale=alpha
[ "$(tail -c 20 taken.pgm | tr '\377' w)" = wwwwwwwwwwwwwwwwwwww ] || problem "an opaque picture is not white"
run 2 gpufilter -i clear.pam -o taken.pgm alphaextract
stderr_is "gpufilter: unknown filter 'alphaextract' (FFmpeg); did you mean 'grayscale=alpha'?"

begin "an overlay and a text in per cent of each picture, also of several sizes at once"
printf 'P6\n8 4\n255\n%96s' "" >mark.ppm
run 0 gpufilter -i in.ppm -o twice.ppm resize=200%
for gravity in southeast north; do
    run 0 gpufilter -i in.ppm -i twice.ppm -o 'laid-{stem}.ppm' overlay=mark.ppm:$gravity:scale=25%:x=2%
    run 0 gpufilter -i in.ppm -o wanted.ppm overlay=mark.ppm:$gravity:scale=2.40625:x=2%
    same wanted.ppm laid-in.ppm
    run 0 gpufilter -i twice.ppm -o wanted.ppm overlay=mark.ppm:$gravity:scale=4.8125:x=2%
    same wanted.ppm laid-twice.ppm
    run 0 gpufilter -i in.ppm -o laid.ppm overlay=mark.ppm:$gravity:scale=25%:x=2% -o wanted.ppm resize=200%,overlay=mark.ppm:$gravity:scale=25%:x=2%
    same laid.ppm laid-in.ppm
    same wanted.ppm laid-twice.ppm
done
run 4 gpufilter -i in.ppm -o laid.ppm --max-pixels=10000 overlay=mark.ppm:scale=1000%
stderr_like "in.ppm: overlay: mark.ppm: "
if gpufilter -i in.ppm -o text.ppm text=a 2>/dev/null; then
    run 0 gpufilter -i in.ppm -o laid.ppm text=gp:size=20%
    run 0 gpufilter -i in.ppm -o wanted.ppm text=gp:size=11
    same wanted.ppm laid.ppm
fi

begin "only=shrink enlarges nothing, whatever the fit"
run 0 gpufilter -i in.ppm -o same.ppm
for fit in fill inside cover; do
    run 0 gpufilter -i in.ppm -o large.ppm "resize=4000:3000:fit=$fit:only=shrink"
    cmp -s same.ppm large.ppm || problem "fit=$fit changed the picture"
done
run 0 gpufilter -i in.ppm -o large.ppm "resize=90:60:fit=contain:only=shrink"
size_is large.ppm "90 60"

begin "a result of more pixels than --max-pixels is refused, by the filter that makes it"
run 4 gpufilter -i in.ppm -o big.ppm pad=16777216:16777216
stderr_is "gpufilter: in.ppm: pad makes 16777216x16777216, 281474976710656 pixels, over --max-pixels=1000000000"
absent big.ppm
run 4 gpufilter -i in.ppm -o big.ppm --max-pixels=9000 resize=w=200%,crop=10:10
stderr_is "gpufilter: in.ppm: resize makes 154x110, 16940 pixels, over --max-pixels=9000"
run 4 gpufilter -i in.ppm -o big.ppm tile=5000000%:5000000%
stderr_is "gpufilter: in.ppm: tile makes 3850000x2750000, 10587500000000 pixels, over --max-pixels=1000000000"
run 4 gpufilter -i in.ppm -o big.ppm resize=200:10,tile=16000000%:1
stderr_like "in.ppm: tile: "
absent big.ppm

begin "a picture that does not fit its chain is named, and so is one of several outputs"
run 4 gpufilter -i in.ppm -o out.png crop=100:10
stderr_is "gpufilter: in.ppm: crop: w=100 at x=0 is outside the picture's 77 columns"
run 4 gpufilter -n -i in.ppm -o out.png crop=100:10
stderr_is "gpufilter: in.ppm: crop: w=100 at x=0 is outside the picture's 77 columns"
run 4 gpufilter -i - -o out.png crop=100:10 <in.ppm
stderr_is "gpufilter: stdin: crop: w=100 at x=0 is outside the picture's 77 columns"
run 4 gpufilter -i in.ppm -o fits.ppm crop=10:10 -o out.png crop=100:10
stderr_is "gpufilter: in.ppm: out.png: crop: w=100 at x=0 is outside the picture's 77 columns"
size_is fits.ppm "10 10"
absent out.png

begin "options that do not go together are refused once, before any picture"
mkdir several && cp in.ppm several/a.ppm && cp in.ppm several/b.ppm
run 2 gpufilter -i several -o out --host-memory=pageable --transfer=zero-copy invert
stderr_is "gpufilter: zero copy needs pinned host memory, not pageable"
absent out

begin "pad and resize name what is wrong"
run 2 gpufilter -i in.ppm -o out.png pad
stderr_like 'pad: neither w nor h nor aspect is given: pad=WIDTH:HEIGHT or pad=aspect=16/9$'
run 2 gpufilter -i in.ppm -o out.png pad=50:40:midle
stderr_like 'pad: gravity=midle is none of centre, north, northeast, east, southeast, south, southwest, west, northwest, center$'
run 2 gpufilter -i in.ppm -o out.png pad=50:40:colour=golden
stderr_like 'pad: colour=golden is not a colour such as white or #ff8800$'
run 2 gpufilter -i in.ppm -o out.png resize=50:40:only=smaller
stderr_like 'resize: only=smaller is none of any, shrink, enlarge$'
absent out.png

begin "a transparent padding makes an alpha channel, which JPEG then shows as white"
run 0 gpufilter -i in.ppm -o transparent.pam pad=50:40:colour=transparent
grep -qa 'TUPLTYPE RGB_ALPHA' transparent.pam || problem "no alpha"
run 0 gpufilter -i in.ppm -o transparent.ppm --quiet pad=50:40:colour=transparent
run 0 gpufilter -i in.ppm -o white.ppm pad=50:40
cmp -s transparent.ppm white.ppm || problem "not the same as white"

begin "a thumbnail decodes a JPEG at a fraction, and is the same whatever the threads and bands"
run 0 gpufilter -i in.ppm -o large.jpg resize=1540:1100
run 0 gpufilter -v --device=cpu -i large.jpg -o thumb.ppm thumbnail=150
grep -q 'large.jpg: JPEG, 1540x1100 RGB, 8 bits, decoded at 1/4 by the CPU$' stderr || problem "$(cat stderr)"
size_is thumb.ppm "150 107"
for options in --threads=1 --band-rows=5 '--lanes=3 --band-rows=40'; do
    run 0 gpufilter -i large.jpg -o other.ppm $options thumbnail=150
    cmp -s thumb.ppm other.ppm || problem "$options"
done
run 0 gpufilter -v --device=cpu -i large.jpg -o full.ppm thumbnail=150:load=full
grep -q ' decoded by the CPU$' stderr || problem "$(cat stderr)"
run 0 gpufilter -i large.jpg -o resized.ppm resize=150
cmp -s full.ppm resized.ppm || problem "load=full is not what resize makes"
run 0 gpufilter -i large.jpg -o reduced.ppm resize=150:load=reduced
cmp -s thumb.ppm reduced.ppm || problem "load=reduced is not what thumbnail makes"
run 0 gpufilter --explain --device=cpu -i large.jpg thumbnail=150
grep -q '^decoding   at 1/4 of the file.s size$' stdout || problem "$(cat stdout)"

begin "a thumbnail enlarges nothing, and needs a size"
run 0 gpufilter -i in.ppm -o thumb.ppm thumbnail=400
cmp -s same.ppm thumb.ppm || problem "the picture changed"
run 2 gpufilter -i in.ppm -o out.png thumbnail
stderr_like 'thumbnail: w is missing: thumbnail=SIZE$'
run 0 gpufilter -i in.ppm -o thumb.ppm thumbnail=40:60:fit=contain:sharpen=1
size_is thumb.ppm "40 60"
run 0 gpufilter -i in.ppm -o thumb.ppm thumbnail=40:60:fit=cover
size_is thumb.ppm "40 55"

begin "a truncated JPEG is named by the rows of the whole picture"
head -c 60000 large.jpg >cut.jpg
run 4 gpufilter -i cut.jpg -o out.png thumbnail=150
stderr_like 'cut.jpg: truncated after row [0-9]* of 1100 (to keep what there is: --allow-truncated)$'
absent out.png
run 0 gpufilter --allow-truncated --quiet -i cut.jpg -o cut.ppm thumbnail=150
size_is cut.ppm "150 107"

begin "trim finds its size in the pixels, for names and --dry-run too"
run 0 gpufilter -i in.ppm -o framed.ppm pad=100:100:colour=orange
run 0 gpufilter -i framed.ppm -o trimmed.ppm trim=orange:0
cmp -s same.ppm trimmed.ppm || problem "not the picture that was framed: $(head -n 2 trimmed.ppm | tail -n 1)"
run 0 gpufilter -i framed.ppm -o 'named_{w}x{h}.ppm' trim,resize=200%,pad=200:colour=black,trim=black:0
[ -f named_154x110.ppm ] || problem "$(ls named_*)"
run 0 gpufilter --dry-run -i framed.ppm -o 'dry_{w}x{h}.ppm' trim
[ "$(cat stdout)" = 'framed.ppm -> dry_77x55.ppm' ] || problem "$(cat stdout)"
run 0 gpufilter -i - -o - trim <framed.ppm
cmp -s same.ppm stdout || problem "a stream is trimmed otherwise"
for options in --threads=1 --band-rows=3 --lanes=2; do
    run 0 gpufilter -i framed.ppm -o other.ppm $options blur=1,trim,transpose,trim=orange:0.3,blur=1
    cmp -s other.ppm "$first" 2>/dev/null || [ -z "${first:-}" ] || problem "$options"
    first=first.ppm && cp other.ppm first.ppm
done

begin "trim keeps a picture of one colour, and one of one pixel"
run 0 gpufilter -i one.ppm -o one_out.ppm trim=tolerance=0
size_is one_out.ppm "1 1"
run 0 gpufilter -i in.ppm -o even.ppm contrast=0
run 0 gpufilter -i even.ppm -o out.ppm trim
cmp -s even.ppm out.ppm || problem "it was cut"
run 0 gpufilter -i in.ppm -o out.ppm trim=tolerance=1
cmp -s same.ppm out.ppm || problem "a tolerance of 1 leaves nothing that differs"
run 2 gpufilter -i in.ppm -o bad.png trim=tolerance=1.5
stderr_like 'trim: tolerance=1.5 is outside 0..1 (how far a channel may be from the colour, as a part of the full scale)$'

begin "deskew turns a page, and --verbose tells the angle, also of each of several pages"
awk 'BEGIN { print "P2 500 400 255"; for (y = 0; y < 400; y++) for (x = 0; x < 500; x++)
    print ((y - x * 0.0524 + 40) % 20 < 6 && x % 50 > 9 && x > 40 && x < 460 ? 30 : 240) }' >page.pgm
run 0 gpufilter -v -i page.pgm -o level.pgm deskew=40%:fit=keep
grep -q '^gpufilter: deskew: turned by -[23]\.[09][0-9] degrees$' stderr || problem "$(cat stderr)"
size_is level.pgm "500 400"
run 0 gpufilter -v -i page.pgm -i level.pgm -o 'level-{n}.pgm' deskew
[ "$(grep -c 'deskew: turned by -[23]\.[09]\|deskew: turned by -\?0\.0' stderr)" = 2 ] || problem "$(cat stderr)"

begin "a thumbnail is sRGB"
if gpufilter -i in.ppm -o p3.png icc=display-p3 2>/dev/null; then
    run 0 gpufilter -i p3.png -o thumb.png thumbnail=40:60:fit=contain:colour=orange
    run 0 gpufilter -i p3.png -o steps.png resize=40:60:fit=inside,icc=srgb,pad=40:60:colour=orange
    same thumb.png steps.png
    run 0 gpufilter -i p3.png -o kept.png resize=40:60:fit=contain:colour=orange
    ! cmp -s thumb.png kept.png || problem "the colours were not converted"
else
    skip "this build has no Little CMS"
fi

begin "any angle: the canvas grows or keeps its size, whole turns change nothing, quarter turns are exact"
run 0 gpufilter -i in.ppm -o turned.ppm rotate=30
size_is turned.ppm "95 87"
run 0 gpufilter -i in.ppm -o turned.ppm rotate=30:fit=keep
size_is turned.ppm "77 55"
for angle in 360 -720 0; do
    run 0 gpufilter -i in.ppm -o turned.ppm rotate=$angle:lanczos3
    cmp -s same.ppm turned.ppm || problem "rotate=$angle changed the picture"
done
run 0 gpufilter -i in.ppm -o quarter.ppm rotate=90
run 0 gpufilter -i in.ppm -o turned.ppm rotate=450
cmp -s quarter.ppm turned.ppm || problem "rotate=450 is not rotate=90"
run 0 gpufilter -i in.ppm -o turned.pam rotate=30:colour=transparent
grep -qa 'TUPLTYPE RGB_ALPHA' turned.pam || problem "no alpha"
if has_study; then
    run 4 gpufilter -i in.ppm -o turned.ppm --quiet rotate=30:variant=naive
    stderr_like 'in.ppm: rotate: variant=naive does not take these parameters$'
fi

begin "a large canvas beside a thin picture takes little time"
# 15 s of the processor's time
run 0 sh -c 'ulimit -t 15; exec "$0" "$@"' "$GPUFILTER" --device=cpu --threads=1 -i in.ppm -o out.ppm 'resize=40:40,affine=1e-3 1e3/0 1'
size_is out.ppm "40001 40"

begin "affine, perspective and lens name what is wrong"
run 2 gpufilter -i in.ppm -o out.png 'affine=1 0 0/0 1 0/0 0 1'
stderr_like 'affine: matrix is not two rows of two or three numbers$'
run 2 gpufilter -i in.ppm -o out.png 'affine=1 2/2 4'
stderr_like 'affine: matrix leaves nothing of the picture$'
run 2 gpufilter -i in.ppm -o out.png affine=skew
stderr_like 'affine: matrix=skew is none of shear-x, shear-y, half, mirror or a matrix$'
run 2 gpufilter -i in.ppm -o out.png 'perspective=0 0/9 0/9 9'
stderr_like 'perspective: points is not four pairs of numbers$'
run 2 gpufilter -i in.ppm -o out.png 'perspective=0 0/9 9/9 0/0 9'
stderr_like 'perspective: points are not the corners of a convex quadrilateral, one after another$'
run 4 gpufilter -i in.ppm -o out.png 'affine=1000000 0/0 1000000'
stderr_is "gpufilter: in.ppm: affine: 16777217x16777217 is larger than 16777216 pixels a side"
run 4 gpufilter -i in.ppm -o out.png 'affine=40000 0/0 40000'
stderr_is "gpufilter: in.ppm: affine makes 3080000x2200000, 6776000000000 pixels, over --max-pixels=1000000000"
absent out.png

begin "a map that changes nothing changes nothing"
for chain in 'affine=1 0/0 1:lanczos3' 'perspective=0 0/100 0/100 100/0 100:lanczos3' lens=0:kernel=lanczos3; do
    run 0 gpufilter -i in.ppm -o out.ppm "$chain"
    cmp -s same.ppm out.ppm || problem "$chain changed the picture"
done

begin "a thumbnail that cannot fill its size says so"
gpufilter -q -i in.ppm -o in2.ppm
for chain in thumbnail=60x60:gravity=attention thumbnail=700x900:fit=cover; do
    run 0 gpufilter -i in.ppm -i in2.ppm -o 'thumb-{stem}.ppm' $chain
    [ "$(grep -c 'warning: \(in.ppm\|1 more picture .*\): thumbnail never enlarges, so that it does not fill the size; resize=W:H:fit=cover does' stderr)" -eq 2 ] || problem "$chain: $(cat stderr)"
done
for chain in thumbnail=700x900 thumbnail=30x30:gravity=attention thumbnail=77x55:fit=cover; do
    run 0 gpufilter -i in.ppm -o thumb.ppm $chain
    silent
done

begin "tile and pixelate: sizes, and a block larger than the picture"
run 0 gpufilter -i in.ppm -o out.ppm tile=250%:60
size_is out.ppm "193 60"
run 0 gpufilter -i in.ppm -o out.ppm tile=10:10
cmp -s same.ppm out.ppm || problem "tile=10:10 changed the picture"
run 0 gpufilter -i in.ppm -o one.ppm pixelate=10000
run 0 gpufilter -i in.ppm -o out.ppm resize=1:1:kernel=area,resize=77:55:kernel=nearest
cmp -s one.ppm out.ppm || problem "one block is not the mean"
