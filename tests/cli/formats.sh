# Formats that need a library: beside the programs of those libraries, as far as they are here.
# has NAME: whether the program has that format.
has()
{
    gpufilter --version | grep -q "^formats:.*$1"
}

if has WebP && command -v dwebp >/dev/null && command -v cwebp >/dev/null; then
    begin "WebP: dwebp and gpufilter read the same pixels"
    run 0 gpufilter -i in.ppm -o plain.ppm
    run 0 gpufilter -i in.ppm -o plain.png
    run 0 gpufilter -i in.ppm -o a.webp
    dwebp -quiet a.webp -ppm -o theirs.ppm
    run 0 gpufilter -i a.webp -o ours.ppm
    same ours.ppm theirs.ppm
    run 0 gpufilter -i in.ppm -o b.webp --lossless
    dwebp -quiet b.webp -ppm -o theirs.ppm
    same theirs.ppm plain.ppm

    begin "WebP: what cwebp writes"
    for options in '-q 30' '-lossless' '-q 80 -m 6'; do
        # shellcheck disable=SC2086 # two words
        cwebp -quiet $options plain.png -o c.webp
        dwebp -quiet c.webp -ppm -o theirs.ppm
        run 0 gpufilter -i c.webp -o ours.ppm
        same ours.ppm theirs.ppm
    done
else
    skip "WebP beside dwebp: there is no dwebp, or no WebP in this build"
fi

if has WebP; then
    begin "WebP: gray becomes colour, and its alpha stays"
    run 0 gpufilter -i in.ppm -o gray.png grayscale
    run 0 gpufilter -i gray.png -o gray.webp --lossless
    silent
    run 0 gpufilter -i gray.png -o cut.pam round
    run 0 gpufilter -i cut.pam -o cut.webp --lossless
    silent
    run 0 gpufilter -i cut.webp -o back.pam
    grep -q '^TUPLTYPE RGB_ALPHA$' back.pam || problem "the alpha is gone"
fi

if has WebP && command -v webpmux >/dev/null; then
    begin "WebP: a picture of an animation"
    run 0 gpufilter -i in.ppm -o 0.webp --lossless
    run 0 gpufilter -i in.ppm -o 1.webp --lossless invert
    run 0 gpufilter -i in.ppm -o inverted.ppm invert
    webpmux -frame 0.webp +100 -frame 1.webp +100 -o moving.webp 2>/dev/null
    run 0 gpufilter -i moving.webp -o first.png
    stderr_like "warning: moving.webp: holds 2 pictures: the first is taken; moving.webp\[1\] is the second"
    run 0 gpufilter -i 'moving.webp[1]' -o second.png
    silent
    run 0 gpufilter -i in.ppm -o plain.ppm
    for name in first:plain second:inverted; do
        run 0 gpufilter -q -i "${name%:*}.png" -o back.ppm
        same back.ppm "${name#*:}.ppm"
    done
    run 4 gpufilter -i 'moving.webp[2]' -o third.png
    stderr_is "gpufilter: moving.webp[2]: holds 2 pictures, counted from 0"
    absent third.png
    mkdir out
    run 0 gpufilter -i 'moving.webp[1]' -o out/
    [ "$(ls out)" = moving.webp ] || problem "the output is called $(ls out)"
else
    skip "a picture of an animation: there is no webpmux, or no WebP in this build"
fi

begin "a format that is not written"
run 2 gpufilter -i in.ppm -o a.xpm
stderr_like 'a.xpm: the extension says no format.*'

begin "BMP and QOI there and back, by name and in a stream"
run 0 gpufilter -i in.ppm -o plain.ppm
for extension in bmp qoi; do
    run 0 gpufilter -i in.ppm -o there.$extension
    silent
    run 0 gpufilter -i there.$extension -o back.ppm
    same plain.ppm back.ppm
    run 0 gpufilter --info=json there.$extension
    stdout_has '"width":77,"height":55,"channels":3,"bits":8'
done
cat there.qoi there.qoi >two.qoi
run 0 gpufilter -i - -o 'two-{n}.ppm' <two.qoi
same plain.ppm two-1.ppm
same plain.ppm two-2.ppm

begin "memory of formats that are coded as a whole"
if has WebP; then
    run 0 gpufilter -i in.ppm -o large.ppm resize=1600:1200
    run 4 gpufilter -i large.ppm -o large.webp --memory=4M
    stderr_like 'large.ppm: large.webp: it is encoded as a whole: that takes [0-9]* MiB of memory, over the 4 MiB of --memory'
    absent large.webp
    run 0 gpufilter -i large.ppm -o large.webp
    run 4 gpufilter -i large.webp -o back.ppm --memory=4M
    stderr_like 'large.webp: it is decoded as a whole: that takes [0-9]* MiB of memory, over the 4 MiB of --memory'
fi

if has TIFF; then
    begin "TIFF: which options change it depends on what packs it"
    run 0 gpufilter -i in.ppm -o a.tif --quality=50
    stderr_like 'warning: --quality changes nothing in this TIFF$'
    run 0 gpufilter -i in.ppm -o a.tif --tiff-compression=jpeg --quality=50
    silent
    run 0 gpufilter -i in.ppm -o a.tif --png-level=9
    silent

    begin "TIFF: what libtiff says of a damaged file does not repeat its name"
    printf 'II*\0\350\003\0\0' >cut.tif
    run 4 gpufilter -i cut.tif -o cut.ppm
    stderr_is "gpufilter: cut.tif: damaged: Can not read TIFF directory count"
    absent cut.ppm
fi

if has TIFF && command -v tiffcp >/dev/null && command -v tiffinfo >/dev/null; then
    begin "TIFF: strips, tiles, planes and byte orders that tiffcp makes"
    run 0 gpufilter -i in.ppm -o plain.ppm
    run 0 gpufilter -i in.ppm -o none.tif --tiff-compression=none
    for options in '-t -w 32 -l 48 -c lzw' '-p separate -c zip' '-p separate -t -w 32 -l 32 -c lzw' '-B -c none' \
        '-L -c none' '-8 -c zip' '-r 7 -c packbits' '-8 -B -t -w 16 -l 16 -c none'; do
        # shellcheck disable=SC2086 # several words
        tiffcp $options none.tif other.tif
        run 0 gpufilter -i other.tif -o back.ppm
        same back.ppm plain.ppm
        run 0 gpufilter -i other.tif -o few.ppm --threads=1
        same few.ppm plain.ppm
    done
    gpufilter -i - -o back.ppm <none.tif
    same back.ppm plain.ppm

    begin "TIFF: what is written says what it is"
    for compression in deflate:AdobeDeflate lzw:LZW none:None jpeg:JPEG; do
        run 0 gpufilter -i in.ppm -o a.tif --tiff-compression="${compression%:*}"
        tiffinfo -D a.tif >said 2>&1 || problem "tiffinfo does not read it: $(cat said)"
        grep -q "Compression Scheme: ${compression#*:}" said || problem "$(cat said)"
    done

    begin "TIFF: the second of two pictures"
    run 0 gpufilter -i in.ppm -o other.tif invert
    tiffcp none.tif other.tif both.tif
    run 0 gpufilter -i other.tif -o inverted.ppm
    run 0 gpufilter -i 'both.tif[1]' -o back.ppm
    silent
    same back.ppm inverted.ppm
    run 0 gpufilter -i both.tif -o back.ppm
    stderr_like "warning: both.tif: holds 2 pictures: the first is taken; both.tif\[1\] is the second"
    same back.ppm plain.ppm
else
    skip "TIFF beside tiffcp: there is no tiffcp, or no TIFF in this build"
fi

begin "JPEG: colours at full size above quality 90, unless told otherwise"
for quality in 90:420 91:444 100:444; do
    run 0 gpufilter -i in.ppm -o default.jpg --quality="${quality%:*}"
    run 0 gpufilter -i in.ppm -o told.jpg --quality="${quality%:*}" --subsampling="${quality#*:}"
    same default.jpg told.jpg
done
run 0 gpufilter -i in.ppm -o small.jpg --quality=95 --subsampling=420
cmp -s small.jpg told.jpg && problem "--subsampling changes nothing"

begin "--optimize: the same pixels in fewer bytes"
run 0 gpufilter -i in.ppm -o plain.jpg
run 0 gpufilter -i in.ppm -o optimized.jpg --optimize
[ "$(wc -c <optimized.jpg)" -lt "$(wc -c <plain.jpg)" ] || problem "it has $(wc -c <optimized.jpg) bytes of $(wc -c <plain.jpg)"
gpufilter -i plain.jpg -o a.ppm
gpufilter -i optimized.jpg -o b.ppm
same a.ppm b.ppm

begin "a PNG with a palette keeps it where no filter ran"
# type FILE: the colour type in its header.
type_of()
{
    od -An -tu1 -j25 -N1 "$1" | tr -d ' '
}
run 0 gpufilter -i in.ppm -o palette.png --png-palette threshold=0.4
[ "$(type_of palette.png)" = 3 ] || problem "--png-palette gives type $(type_of palette.png)"
run 0 gpufilter -i in.ppm -o plain.ppm threshold=0.4
run 0 gpufilter -i palette.png -o copy.png
[ "$(type_of copy.png)" = 3 ] || problem "a copy has type $(type_of copy.png)"
same palette.png copy.png
run 0 gpufilter -i copy.png -o filtered.png invert
[ "$(type_of filtered.png)" != 3 ] || problem "a filtered picture has a palette"
run 0 gpufilter -i palette.png -o twice.ppm hflip,hflip
gpufilter -i plain.ppm -o plain-rgb.pam --format=pam
gpufilter -i twice.ppm -o twice-rgb.pam --format=pam grayscale
gpufilter -i plain.ppm -o gray.pam --format=pam grayscale
same twice-rgb.pam gray.pam

begin "--png-palette=N reduces colours, for one picture, for several and for one of several outputs"
run 0 gpufilter -i in.ppm -o reduced.png --png-palette=16
silent
[ "$(type_of reduced.png)" = 3 ] || problem "--png-palette=16 gives type $(type_of reduced.png)"
[ "$(od -An -tu1 -j24 -N1 reduced.png | tr -d ' ')" = 4 ] || problem "an index has not 4 bits"
mkdir -p reduced
run 0 gpufilter -i in.ppm -i in.ppm -o 'reduced/{n}.png' --png-palette=16 --threads=2
same reduced.png reduced/1.png
run 0 gpufilter -i in.ppm -o whole.png -o one.png --png-palette=16
same reduced.png one.png
[ "$(type_of whole.png)" != 3 ] || problem "the other output has a palette, too"
run 2 gpufilter -i in.ppm -o no.png --png-palette=1
stderr_like '--png-palette=1 is outside 2..256$'
run 4 gpufilter -i in.ppm -o no.png --png-palette=16 --lossless
stderr_like 'no.png: a palette of 16 colours of 8 bits is not lossless for this picture$'
absent no.png

begin "--dither=no: palettes get the nearest colours, which come closer pixel by pixel"
gpufilter -q -i in.ppm -o smooth.ppm 'resize=w=64:h=64,blur=3'
for format in png gif; do
    run 0 gpufilter -q -i smooth.ppm -o dithered.$format --png-palette=4
    run 0 gpufilter -q -i smooth.ppm -o nearest.$format --png-palette=4 --dither=no
    for how in dithered nearest; do
        gpufilter --compare=smooth.ppm:json $how.$format >$how.json
    done
    awk -F'"mean":' '{ split($2, part, /[,}]/); print part[1] }' nearest.json dithered.json >means
    sort -c -n means && [ "$(uniq means | wc -l)" -eq 2 ] || problem "$format: $(cat means)"
done
run 0 gpufilter -q -i smooth.ppm -o again.png --png-palette=4 --dither=no --dither
same again.png dithered.png
run 2 gpufilter -i in.ppm -o no.png --dither=yes
stderr_is 'gpufilter: --dither takes no value but no'

begin "what libraries print of a damaged picture does not reach the user, unless with -v"
for format in avif jxl jp2; do
    gpufilter -i in.ppm -o whole.$format 2>/dev/null || continue
    size=$(wc -c <whole.$format)
    for at in 2 3 4 5; do
        {
            head -c $((size * at / 6)) whole.$format
            printf '\252\125\377\0\1\2\3\4'
            tail -c +$((size * at / 6 + 9)) whole.$format
        } >damaged.$format
        gpufilter -i damaged.$format -o back.ppm 2>stderr
        grep -v '^gpufilter: ' stderr >others && problem "$format, $at: $(cat others)"
    done
done
