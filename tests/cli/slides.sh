# shellcheck shell=sh
# Slides of microscopes, by OpenSlide: files made here of JPEGs that the program has made.
if ! gpufilter --version | grep -q '^formats:.*slide'; then
    skip "there is no OpenSlide in this build"
    return 0
fi

# ndpi JPEG WIDTH HEIGHT: a slide of Hamamatsu with one JPEG, of 4,000 pixels a millimetre and a lens of 20x.
ndpi()
{
    size=$(wc -c <"$1")
    bytes=$(((size + 1) & ~1))
    directory=$((8 + bytes))
    printf 'II*\0'
    le32 $directory
    { cat "$1" && echo; } | head -c $bytes
    printf '\21\0'
    after=$((directory + 2 + 17 * 12 + 4))
    # A tag and its type, the count, the value: the type is 3 SHORT, 4 LONG, 5 RATIONAL or 11 FLOAT.
    le32 $((256 | 4 << 16)) 1 "$2" $((257 | 4 << 16)) 1 "$3" $((258 | 3 << 16)) 3 $((after + 8)) $((259 | 3 << 16)) 1 7 \
        $((262 | 3 << 16)) 1 6 $((273 | 4 << 16)) 1 8 $((277 | 3 << 16)) 1 3 $((278 | 4 << 16)) 1 "$3" \
        $((279 | 4 << 16)) 1 "$size" $((282 | 5 << 16)) 1 $after $((283 | 5 << 16)) 1 $after $((296 | 3 << 16)) 1 3 \
        $((65420 | 4 << 16)) 1 1 $((65421 | 11 << 16)) 1 1101004800 \
        $((65422 | 9 << 16)) 1 0 $((65423 | 9 << 16)) 1 0 $((65424 | 9 << 16)) 1 0 0
    le32 40000 1
    printf '\10\0\10\0\10\0'
}

# mrxs NAME LEFT RIGHT WIDTH HEIGHT DATA: a slide of 3DHISTECH of two JPEGs beside each other, which lie in the file DATA.
mrxs()
{
    mkdir -p "$1"
    cp "$2" "$1.mrxs"
    cat "$2" "$3" >"$1/$6"
    printf '%s\n' '[GENERAL]' SLIDE_VERSION=01.02 SLIDE_ID=ab IMAGENUMBER_X=2 IMAGENUMBER_Y=1 OBJECTIVE_MAGNIFICATION=40 \
        '[HIERARCHICAL]' HIER_COUNT=1 NONHIER_COUNT=0 INDEXFILE=Index.dat 'HIER_0_NAME=Slide zoom level' HIER_0_COUNT=1 \
        HIER_0_VAL_0_SECTION=L '[DATAFILE]' FILE_COUNT=1 "FILE_0=$6" '[L]' IMAGE_CONCAT_FACTOR=0 OVERLAP_X=0 OVERLAP_Y=0 \
        MICROMETER_PER_PIXEL_X=0.25 MICROMETER_PER_PIXEL_Y=0.25 IMAGE_FILL_COLOR_BGR=65280 "DIGITIZER_WIDTH=$4" \
        "DIGITIZER_HEIGHT=$5" IMAGE_FORMAT=JPEG >"$1/Slidedat.ini"
    {
        printf 01.02ab
        left=$(wc -c <"$2")
        le32 15 0 19 0 27 2 0 0 0 "$left" 0 1 "$left" "$(wc -c <"$3")" 0
    } >"$1/Index.dat"
}

modes=off
gpufilter --version | grep -q '^cells for decoders:.*Landlock' && modes='off auto all'
run 0 gpufilter -q -i in.png -o plain.jpg resize=640:480 --quality 95 --subsampling=444
run 0 gpufilter -q -i plain.jpg -o left.jpg crop=320:480:0:0 --subsampling=444
run 0 gpufilter -q -i plain.jpg -o right.jpg crop=320:480:320:0 --subsampling=444
ndpi plain.jpg 640 480 >a.ndpi
mrxs b left.jpg right.jpg 320 480 Data.dat

begin "a slide has the pixels of its JPEGs, with and without cells, whatever its name"
run 0 gpufilter -q -i plain.jpg -o a.ppm
run 0 gpufilter -q -i left.jpg -o left.ppm
run 0 gpufilter -q -i right.jpg -o right.ppm
cp a.ndpi renamed.tif
ln -s b.mrxs link.mrxs
for mode in $modes; do
    for each in a.ndpi renamed.tif; do
        run 0 gpufilter -q -i $each -o back.ppm --sandbox=$mode
        same back.ppm a.ppm
    done
    for each in b.mrxs link.mrxs; do
        run 0 gpufilter -q -i $each -o back.ppm --sandbox=$mode crop=320:480:0:0
        same back.ppm left.ppm
        run 0 gpufilter -q -i $each -o back.ppm --sandbox=$mode crop=320:480:320:0
        same back.ppm right.ppm
    done
done

begin "a part of a slide is that of the whole, reads the pieces that it needs, and alone counts for --max-pixels"
run 0 gpufilter -q -i b.mrxs -o b.ppm
for mode in $modes; do
    for part in crop=1:1:639:479 crop=w=300:h=200:x=170:y=250 crop=w=640:h=1:x=0:y=300 hflip,blur=1,crop=90:80:500:10; do
        for each in a.ndpi b.mrxs; do
            run 0 gpufilter -q -i $each -o part.ppm --sandbox=$mode --max-pixels=70000 "$part"
            run 0 gpufilter -q -i ${each%.*}.ppm -o whole.ppm "$part"
            same part.ppm whole.ppm
        done
    done
done
run 0 gpufilter -v -i a.ndpi -o part.ppm crop=9:9:600:400 --device=cpu
grep -q 'window 9x9+600+400, 1 tiles or strips' stderr || problem "$(cat stderr)"
run 4 gpufilter -q -i a.ndpi -o part.ppm --max-pixels=70000 invert
stderr_like 'a.ndpi: 640x480 is 307200 pixels'

begin "--info says the maker, the lens, the density and the levels"
run 0 gpufilter --info a.ndpi
stdout_has '^format  *slide (hamamatsu, 20x)$'
stdout_has '^density_x  *101600$'
stdout_has '^levels  *640x480 320x240 160x120 80x60$'
run 0 gpufilter --info b.mrxs
stdout_has '^format  *slide (mirax, 40x)$'
stdout_has '^width  *640$'

begin "a thumbnail is read from a level"
run 0 gpufilter -v -i a.ndpi -o small.png thumbnail=70
grep -q 'level 2' stderr || problem "$(cat stderr)"

begin "a picture without pixels has the background's colour"
mrxs gap left.jpg right.jpg 320 480 Data.dat
{ head -c 27 gap/Index.dat && le32 1 0 && tail -c +36 b/Index.dat | head -c 16; } >Index.dat
mv Index.dat gap/Index.dat
run 0 gpufilter -q -i gap.mrxs -o right.pnm crop=320:480:320:0,resize=1:1
[ "$(tail -c 3 right.pnm | od -An -tu1 | tr -s ' ')" = ' 0 255 0' ] || problem "$(tail -c 3 right.pnm | od -An -tu1)"

begin "the cell of a slide reads nothing but its file and its folder"
mrxs c left.jpg right.jpg 320 480 ../outside.dat
run 0 gpufilter -q -i c.mrxs -o c.png --sandbox=off
for mode in $modes; do
    [ $mode != off ] || continue
    run 4 gpufilter -q -i c.mrxs -o c.png --sandbox=$mode
    stderr_like "c.mrxs: damaged: .*Permission denied"
done

begin "a slide is read by its name, as one picture, and not written"
run 4 sh -c 'cat a.ndpi | "$GPUFILTER" -q -i - -o x.png'
stderr_is "gpufilter: stdin: a slide is read from a file with a name, not from a stream, an archive or memory"
if command -v tiffset >/dev/null && gpufilter --version | grep -q '^formats: .*TIFF'; then
    # OpenSlide takes it for a plain TIFF; it has no name in a pipe or an archive.
    run 0 gpufilter -q -i a.ppm -o philips.tif --tile-size=64
    tiffset -s 305 'Philips DP v1.0' philips.tif
    tar cf philips.tar philips.tif
    for mode in $modes; do
        run 0 sh -c 'cat philips.tif | "$GPUFILTER" -q -i - -o back.ppm --sandbox='$mode
        same back.ppm a.ppm
        run 0 gpufilter -q -i philips.tar -o '{stem}.ppm' --sandbox=$mode
        same philips.ppm a.ppm
    done
fi
run 4 gpufilter -i 'a.ndpi[1]' -o x.png
stderr_like "a.ndpi\[1\]: a picture is selected by its number in animated and many-paged files, not in slide"
run 2 gpufilter -i a.ndpi -o x.mrxs
stderr_like "x.mrxs: slide is read, not written"
cp left.jpg alone.mrxs
run 4 gpufilter -q -i alone.mrxs -o x.png
stderr_like "alone.mrxs: OpenSlide .* finds no slide\|alone.mrxs: .*Slidedat.ini"

begin "a slide that is cut or has zeros instead of bytes is read or named in a line"
bytes=$(wc -c <a.ndpi)
for step in 1 2 3 4 5 6 7 8 9; do
    for each in cut zeros; do
        at=$((bytes * step / 10 + step))
        [ $step != 9 ] || at=$((bytes - 150))
        head -c $at a.ndpi >$each.ndpi
        [ $each = cut ] || { head -c 100 /dev/zero && tail -c +$((at + 101)) a.ndpi; } >>zeros.ndpi
        "$GPUFILTER" -q -i $each.ndpi -o x.png >stdout 2>stderr
        got=$?
        { [ $got = 0 ] && [ $each = zeros ]; } || { [ $got = 4 ] && [ "$(wc -l <stderr)" = 1 ]; } ||
            problem "$each at $at: exit status $got: $(cat stderr)"
    done
done
rm -f x.png
# OpenSlide tells what libjpeg warns of while it decodes; it does not read on to the end of a JPEG, where zeros often show alone.
at=$((bytes / 2))
{ head -c $at a.ndpi && printf '\377\331' && tail -c +$((at + 3)) a.ndpi; } >marker.ndpi
run 4 gpufilter -q -i marker.ndpi -o x.png
stderr_is "gpufilter: marker.ndpi: damaged: Corrupt JPEG data: premature end of data segment (to keep what there is: --allow-truncated)"
absent x.png
run 0 gpufilter -q --allow-truncated -i marker.ndpi -o x.png
for each in Data.dat Index.dat Slidedat.ini; do
    cp b/$each whole
    head -c $(($(wc -c <whole) / 2)) whole >b/$each
    run 4 gpufilter -q -i b.mrxs -o x.png
    stderr_like "b.mrxs: "
    mv whole b/$each
done
