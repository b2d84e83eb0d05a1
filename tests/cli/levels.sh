# The levels of a TIFF: which one a chain reads, and what is said of it.

# lacks: what these tests cannot do without and is not here.
lacks()
{
    gpufilter --version | grep -q '^formats: .*TIFF' || echo "built without libtiff"
    command -v tiffcp >/dev/null && command -v tiffset >/dev/null && command -v tiffinfo >/dev/null || echo "no tiffcp, tiffset or tiffinfo"
}

# A pyramid whose levels are inverted, so that they are told from the picture, and a label.
begin "a thumbnail reads the smallest level of at least twice its size, and --verbose names it"
lacking=$(lacks)
if [ -z "$lacking" ]; then
    for size in 640:480 320:240 160:120 80:60; do
        chain=resize=$size,invert
        [ $size != 640:480 ] || chain=resize=$size
        gpufilter -i in.ppm -o "$size.tif" "$chain"
    done
    gpufilter -i in.ppm -o label.tif resize=50:50
    tiffcp -t -w 64 -l 64 640:480.tif 320:240.tif 160:120.tif 80:60.tif pyramid.tif
    cp pyramid.tif pages.tif
    for level in 1 2 3; do
        tiffset -d $level -s 254 1 pyramid.tif
    done
    for width in 20 40 60 80 100 160 200; do
        case $width in
        20 | 40) level=3 ;;
        60 | 80) level=2 ;;
        100 | 160) level=1 ;;
        *) level=0 ;;
        esac
        run 0 gpufilter -v --device=cpu -i pyramid.tif -o out.ppm thumbnail=$width
        if [ $level = 0 ]; then
            grep -q '^gpufilter: pyramid.tif: TIFF, 640x480 RGB, 8 bits, decoded by the CPU$' stderr || problem "$(cat stderr)"
        else
            grep -q "^gpufilter: pyramid.tif: TIFF, 640x480 RGB, 8 bits, decoded from level $level, at 1/$((1 << level)), by the CPU\$" stderr ||
                problem "$(cat stderr)"
        fi
        ! grep -q warning stderr || problem "it warns: $(cat stderr)"
        run 0 gpufilter -i "pyramid.tif[$level]" -o page.ppm resize=$width:$((width * 3 / 4))
        same out.ppm page.ppm
    done
    run 0 gpufilter -i pyramid.tif -o out.ppm thumbnail=40:load=full
    run 0 gpufilter -i pyramid.tif -o resized.ppm resize=40
    run 0 gpufilter -i 640:480.tif -o full.ppm resize=40
    same out.ppm full.ppm
    same resized.ppm full.ppm
fi

begin "the same level is read in cells, of streams, archives and batches, for several outputs, whatever the threads"
lacking=$(lacks)
if [ -z "$lacking" ]; then
    run 0 gpufilter -i pyramid.tif -o small.ppm thumbnail=40
    run 0 gpufilter -i pyramid.tif -o large.ppm thumbnail=160
    for options in --sandbox=off --sandbox=all --untrusted --threads=1 --band-rows=3 --memory=64M; do
        run 0 gpufilter $options -i pyramid.tif -o out.ppm thumbnail=40
        same out.ppm small.ppm
    done
    cat pyramid.tif | run 0 gpufilter -i - -o out.ppm thumbnail=40
    same out.ppm small.ppm
    run 0 gpufilter -i pyramid.tif -o one.ppm thumbnail=40 -o two.ppm thumbnail=160 -o three.ppm resize=40:30
    same one.ppm small.ppm
    same two.ppm large.ppm
    same three.ppm full.ppm
    mkdir -p folder out
    cp pyramid.tif folder/a.tif
    cp pyramid.tif folder/b.tif
    tar cf folder.tar folder
    for input in folder folder.tar; do
        run 0 gpufilter -i $input -o 'out/{stem}.ppm' thumbnail=40
        same out/a.ppm small.ppm
        same out/b.ppm small.ppm
    done
fi

begin "--info and --explain tell the levels; pages that do not say that they are reduced are no levels"
lacking=$(lacks)
if [ -z "$lacking" ]; then
    run 0 gpufilter --info pyramid.tif
    stdout_has '^levels  *640x480 320x240 160x120 80x60$'
    run 0 gpufilter --info=json pyramid.tif
    stdout_has '"levels":\["640x480","320x240","160x120","80x60"\],'
    run 0 gpufilter --explain --device=cpu -i pyramid.tif thumbnail=40
    grep -q "^decoding   at 1/8 of the file's size: its level 3, of 2 tiles\$" stdout || problem "$(cat stdout)"
    run 0 gpufilter --explain --device=cpu -i pyramid.tif thumbnail=320
    ! grep -q '^decoding' stdout || problem "$(cat stdout)"
    run 0 gpufilter --info pages.tif
    ! grep -q '^levels' stdout || problem "$(cat stdout)"
    run 0 gpufilter -i pages.tif -o out.ppm thumbnail=40
    stderr_is 'gpufilter: warning: pages.tif: holds 4 pictures: the first is taken; pages.tif[1] is the second'
    same out.ppm full.ppm
    tiffcp -a label.tif pyramid.tif
    run 0 gpufilter -i pyramid.tif -o out.ppm thumbnail=40
    stderr_is 'gpufilter: warning: pyramid.tif: holds 2 pictures: the first is taken; pyramid.tif[4] is the second'
    same out.ppm small.ppm
fi

begin "outputs of a window, of levels in tiles of other sizes or in strips, and of the full size"
lacking=$(lacks)
if [ -z "$lacking" ]; then
    tiffcp -t -w 64 -l 64 640:480.tif 0.tif
    tiffcp -t -w 32 -l 32 320:240.tif 1.tif
    tiffcp -t -w 128 -l 128 160:120.tif 2.tif
    tiffcp -s -r 8 80:60.tif 3.tif
    tiffcp 0.tif 1.tif 2.tif 3.tif mixed.tif
    for level in 1 2 3; do
        tiffset -d $level -s 254 1 mixed.tif
    done
    for chain in thumbnail=40 thumbnail=40,blur=1 thumbnail=80 thumbnail=160 thumbnail=160,invert crop=50:60:0:0 crop=50:60:10:0 invert; do
        gpufilter -q -i mixed.tif -o "alone-$chain.ppm" $chain
    done
    for sandbox in off auto; do
        for order in 'crop=50:60:0:0 crop=50:60:10:0 thumbnail=40 thumbnail=40,blur=1 thumbnail=80' \
            'crop=50:60:0:0 crop=50:60:10:0 thumbnail=160 thumbnail=160,invert thumbnail=80' \
            'thumbnail=40 crop=50:60:0:0 invert' 'thumbnail=160 thumbnail=40 invert crop=50:60:10:0'; do
            set --
            for chain in $order; do
                set -- "$@" -o "of-$chain.ppm" $chain
            done
            run 0 gpufilter -q --threads=4 --sandbox=$sandbox -i mixed.tif "$@"
            for chain in $order; do
                same "of-$chain.ppm" "alone-$chain.ppm"
            done
        done
    done
fi

begin "a damaged level costs a warning: the next larger one is read, up to the full size"
lacking=$(lacks)
if [ -z "$lacking" ]; then
    # damage LEVEL: writes zeros over the beginning of the level's first tile.
    damage()
    {
        at=$(tiffinfo -s "-$1" bad.tif | sed -n 's/^ *0: \[ *\([0-9]*\), .*/\1/p')
        dd if=/dev/zero of=bad.tif bs=1 seek="$at" count=20 conv=notrunc status=none
    }
    tiffcp -c zip -t -w 64 -l 64 640:480.tif 320:240.tif 160:120.tif 80:60.tif bad.tif
    for level in 1 2 3; do
        tiffset -d $level -s 254 1 bad.tif
    done
    damage 3
    run 0 gpufilter -i 'pyramid.tif[2]' -o page2.ppm resize=40:30
    run 0 gpufilter -i 'pyramid.tif[1]' -o page1.ppm resize=40:30
    for options in '' --sandbox=off --sandbox=all --threads=1; do
        run 0 gpufilter $options -i bad.tif -o out.ppm thumbnail=40
        grep -q '^gpufilter: warning: bad.tif: level 3: damaged.*: level 2 is read$' stderr || problem "$(cat stderr)"
        same out.ppm page2.ppm
    done
    cp bad.tif kept.tif
    tiffcp -c zip -t -w 64 -l 64 640:480.tif 320:240.tif 160:120.tif 80:60.tif bad.tif
    for level in 1 2 3; do
        tiffset -d $level -s 254 1 bad.tif
    done
    damage 2
    run 0 gpufilter -i 'pyramid.tif[3]' -o page3.ppm resize=40:30
    run 0 gpufilter -i 'pyramid.tif[1]' -o larger.ppm resize=80:60
    run 0 gpufilter -i bad.tif -o 80.ppm thumbnail=80 -o out.ppm thumbnail=40
    grep -q '^gpufilter: warning: bad.tif: level 2: damaged.*: level 1 is read$' stderr || problem "$(cat stderr)"
    same 80.ppm larger.ppm
    same out.ppm page3.ppm
    mv kept.tif bad.tif
    damage 2
    run 0 gpufilter -i bad.tif -o out.ppm thumbnail=40 -o full.ppm resize=40:30:load=full
    grep -q '^gpufilter: warning: bad.tif: level 2: damaged.*: level 1 is read$' stderr || problem "$(cat stderr)"
    same out.ppm page1.ppm
    damage 1
    run 0 gpufilter -i bad.tif -o out.ppm thumbnail=40
    [ "$(grep -c ' is read$' stderr)" = 3 ] || problem "$(cat stderr)"
    grep -q ': the full size is read$' stderr || problem "$(cat stderr)"
    same out.ppm full.ppm
    run 0 gpufilter -i bad.tif -o tiles.dzi thumbnail=40 --progress=json
    grep -q '"tiles":7,"tiles_done":7,"at_end":true' stderr || problem "$(cat stderr)"
    run 0 gpufilter -i bad.tif -o out.ppm resize=40:30
    ! grep -q level stderr || problem "$(cat stderr)"
    for limit in --max-pixels=400000 --memory=1M; do # what is over a limit is no damage
        run 4 gpufilter $limit -i pyramid.tif -o gone.ppm thumbnail=40,resize=900:900,equalize
        grep -q " over .*$limit" stderr || grep -q ' over the 1 MiB of --memory' stderr || problem "$(cat stderr)"
        ! grep -q 'is read$' stderr || problem "$(cat stderr)"
    done
    damage 0
    run 4 gpufilter -i bad.tif -o gone.ppm thumbnail=40
    [ ! -e gone.ppm ] || problem "an output is left"
fi

# cmyk WIDTH HEIGHT: a TIFF of CMYK in one strip, whose inks are the samples of a picture of RGB.
cmyk()
{
    bytes=$((4 * $1 * $2))
    gpufilter -q -i in.ppm -o inks.ppm resize="$1:$(($2 / 3 * 4)),addnoise=9%"
    printf 'II*\0'
    le32 $((8 + bytes))
    tail -c $bytes inks.ppm
    printf '\11\0'
    # A tag and its type, the count, the value: the type is 3 SHORT or 4 LONG.
    le32 $((256 | 4 << 16)) 1 "$1" $((257 | 4 << 16)) 1 "$2" $((258 | 3 << 16)) 4 $((8 + bytes + 114)) \
        $((259 | 3 << 16)) 1 1 $((262 | 3 << 16)) 1 5 $((273 | 4 << 16)) 1 8 $((277 | 3 << 16)) 1 4 \
        $((278 | 4 << 16)) 1 "$2" $((279 | 4 << 16)) 1 $bytes 0 $((8 << 16 | 8)) $((8 << 16 | 8))
}

begin "tiles of CMYK give the pixels of strips, as a whole, as parts and as levels"
lacking=$(lacks)
if [ -z "$lacking" ]; then
    # Whole units of JPEG: their bytes do not depend on what lies beside them.
    cmyk 384 192 >full.tif
    cmyk 192 96 >half.tif
    for compression in zip jpeg; do
        tiffcp -c $compression -r 16 full.tif strips.tif
        tiffcp -c $compression -r 16 half.tif level.tif
        tiffcp -c $compression -t -w 64 -l 32 full.tif half.tif tiles.tif
        tiffset -d 1 -s 254 1 tiles.tif
        for options in --sandbox=off --sandbox=all --threads=1; do
            for chain in invert crop=100:90:33:77 crop=1:1:383:191 crop=w=384:h=5:x=0:y=62 thumbnail=90:load=full; do
                run 0 gpufilter -q $options -i strips.tif -o whole.ppm "$chain"
                run 0 gpufilter -q $options -i tiles.tif -o out.ppm "$chain"
                same out.ppm whole.ppm
            done
            for chain in thumbnail=90 thumbnail=90,crop=20:20:50:20; do
                run 0 gpufilter -q $options -i level.tif -o whole.ppm "$chain"
                run 0 gpufilter -q $options -i tiles.tif -o out.ppm "$chain"
                same out.ppm whole.ppm
            done
            run 0 gpufilter -q $options -i tiles.tif -o a.ppm crop=40:30:40:20 -o b.ppm crop=40:30:70:40
            run 0 gpufilter -q -i strips.tif -o whole.ppm crop=40:30:40:20
            same a.ppm whole.ppm
            run 0 gpufilter -q -i strips.tif -o whole.ppm crop=40:30:70:40
            same b.ppm whole.ppm
        done
    done
fi
