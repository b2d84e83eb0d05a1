# Crops that read a part of a file: the pixels are those of the whole decode, which PNG's are.
gpufilter -q -i in.ppm -o wide.ppm resize=523:411,addnoise=9%
gpufilter -q -i wide.ppm -o wide.png
gpufilter -q -i wide.ppm -o none.tif --tiff-compression=none
gpufilter -q -i wide.ppm -o lzw.tif --tiff-compression=lzw
gpufilter -q -i wide.ppm -o gray.pgm grayscale
gpufilter -q -i gray.pgm -o gray.png
gpufilter -q -i gray.pgm -o bits.tif --depth=1
gpufilter -q -i wide.ppm -o wide.jpg
gpufilter -q -i wide.ppm -o wide.bmp
gpufilter -q -i wide.ppm -o wide.y4m
gpufilter -q -i wide.y4m -o y4m.png
gpufilter -q -i wide.jpg -o jpeg.png
gpufilter -q -i bits.tif -o bits.png

# alike CHAIN: the PNG and the other files of the same pixels give the same result.
alike()
{
    for pair in wide.png:wide.ppm wide.png:none.tif wide.png:lzw.tif wide.png:wide.bmp y4m.png:wide.y4m gray.png:gray.pgm bits.png:bits.tif jpeg.png:wide.jpg; do
        run 0 gpufilter -q -i "${pair%:*}" -o whole.pam "$1"
        run 0 gpufilter -q -i "${pair#*:}" -o part.pam "$1"
        cmp -s whole.pam part.pam || problem "${pair#*:}: $1"
    done
}

begin "a crop of a TIFF whose range is sought, which is read as a whole"
# 8 x 8 floats, whose bytes are those of letters, in one strip.
{
    printf 'II*\0\10\1\0\0'
    printf '%64s' '' | sed 's/ /abcA/g'
    printf '\12\0\0\1\4\0\1\0\0\0\10\0\0\0\1\1\4\0\1\0\0\0\10\0\0\0\2\1\3\0\1\0\0\0\40\0\0\0'
    printf '\3\1\3\0\1\0\0\0\1\0\0\0\6\1\3\0\1\0\0\0\1\0\0\0\21\1\4\0\1\0\0\0\10\0\0\0'
    printf '\25\1\3\0\1\0\0\0\1\0\0\0\26\1\4\0\1\0\0\0\10\0\0\0\27\1\4\0\1\0\0\0\0\1\0\0'
    printf '\123\1\3\0\1\0\0\0\3\0\0\0\0\0\0\0'
} >floats.tif
run 0 gpufilter -q -i floats.tif -o part.pgm --range=percentile crop=4:4:1:1

begin "crops at all sides and corners, and behind filters of a part of the picture"
for chain in crop=1:1:522:410 crop=w=523:h=1:x=0:y=200 crop=w=7:h=411:x=3:y=0 crop=w=30%:h=20%:gravity=southeast \
    invert,blur=3,crop=w=40:h=50:x=100:y=300 blur=2:border=reflect,crop=50:40:gravity=northwest \
    hflip,rotate=90,crop=50:60:10:20,sobel transpose,median=2,crop=40:90:gravity=south,vflip,crop=10:20 \
    boxblur=4,crop=200:100,unsharp,crop=50:50:gravity=east,equalize; do
    alike "$chain"
done

begin "crops behind filters that need the place or the whole picture"
for chain in vignette,crop=40:50:gravity=east posterize=3:bayer4,crop=41:43:7:9 addnoise=9%,crop=40:50:33:44 \
    frame,crop=40:50:0:0 round,crop=40:50:0:0 text=a,crop=w=40:h=50:x=9:y=9 overlay=in.ppm,crop=40:50:9:9 \
    equalize,crop=40:50:9:9 normalize,crop=40:50:9:9 blur=3:border=wrap,crop=40:50:gravity=east \
    crop=300:300,trim,crop=40:50 crop=gravity=attention:w=40:h=50 invert:region=10_10_90_90,crop=50:50:0:0; do
    alike "$(echo "$chain" | tr _ ' ')"
done

begin "several outputs have their own windows, or share one"
run 0 gpufilter -i lzw.tif -o a.ppm crop=w=50:h=60:x=300:y=300 -o b.ppm crop=w=50:h=60:x=20:y=310 -o c.ppm crop=w=50:h=60:x=300:y=300,blur
for each in 'a crop=w=50:h=60:x=300:y=300' 'b crop=w=50:h=60:x=20:y=310' 'c crop=w=50:h=60:x=300:y=300,blur'; do
    gpufilter -q -i wide.png -o whole.ppm "${each#* }"
    cmp -s whole.ppm "${each%% *}.ppm" || problem "$each"
done

begin "the window is told, and --max-pixels counts it"
run 0 gpufilter -i none.tif -o a.ppm crop=w=50:h=60:x=300:y=310 --max-pixels=3000 --verbose
grep -q "window 50x60+300+310, " stderr || problem "$(cat stderr)"
if has_study; then
    run 0 gpufilter -i wide.ppm -o a.ppm blur=1,crop=w=50:h=60:x=300:y=310 --explain
    stdout_has '^window .*+.*+.* alone is read'
fi
run 4 gpufilter -i none.tif -o a.ppm crop=w=50:h=60:x=300:y=310 --max-pixels=2999
stderr_like 'none.tif: 50x60 is 3000 pixels'
run 4 gpufilter -i none.tif -o a.ppm invert --max-pixels=3000
stderr_like 'none.tif: 523x411 is 214953 pixels'

begin "a window of rows as text, and of a stream, is that of the whole picture"
gpufilter -q -i wide.ppm -o small.ppm crop=90:60:0:0
{
    printf 'P3 90 60 255\n'
    tail -c 16200 small.ppm | od -An -v -tu1
} >text.ppm
run 0 gpufilter -i small.ppm -o whole.ppm crop=40:30:20:10
run 0 gpufilter -i text.ppm -o a.ppm crop=40:30:20:10
same a.ppm whole.ppm
run 0 gpufilter -i - -o b.ppm crop=40:30:20:10 <small.ppm
same b.ppm whole.ppm

begin "of frames in a file the part is read: raw ones, and those of a Y4M, as from a pipe"
for kind in gray12le:2 yuv420p:1.52 yuv422p10le:4.1 rgba:4 rgb48le:6; do
    raw=101x67:${kind%:*}
    bytes=$(echo "${kind#*:}" | awk '{ print int(2 * $1 * 101 * 67 + 200) }') # more than two frames
    head -c "$bytes" wide.ppm | tr '\001-\377' '\001\002\003\004\001-\373' >frames.raw
    for chain in crop=1:1:100:66 crop=33:20:3:7 blur=2,crop=60:20:gravity=east equalize,crop=9:9:0:0; do
        rm -f whole* part*
        cat frames.raw | gpufilter -q -i - -o 'whole{n}.pam' --raw=$raw "$chain" 2>said
        gpufilter -q -i frames.raw -o 'part{n}.pam' --raw=$raw "$chain" 2>stderr
        sed 's/^gpufilter: stdin/gpufilter: frames.raw/' said >wanted
        same stderr wanted
        for n in 1 2; do
            [ -s whole$n.pam ] && cmp -s whole$n.pam part$n.pam || problem "$raw $chain: frame $n"
        done
    done
done
{ cat wide.y4m && tail -n +2 wide.y4m; } >two.y4m
for chain in crop=50:60:300:310 invert,crop=w=500:h=9:x=0:y=402; do
    cat two.y4m | gpufilter -q -i - -o whole.y4m "$chain"
    run 0 gpufilter -q -i two.y4m -o part.y4m "$chain"
    same part.y4m whole.y4m
    gpufilter -q -i y4m.png -o whole.png "$chain"
    run 0 gpufilter -q -i 'two.y4m' -o 'one{n}.png' "$chain"
    same one2.png whole.png
done

begin "a part of a frame that is larger than memory, of a file with a hole"
if truncate -s 30000000000 hole.raw 2>hole && [ "$(du -k hole.raw | cut -f 1)" -lt 1000 ]; then
    printf abcdef | dd of=hole.raw bs=1 seek=$((3 * (100000 * 99000 + 70001))) conv=notrunc 2>hole
    run 0 gpufilter -i hole.raw -o 'hole{n}.ppm' --raw=100000x100000:rgb24 --memory=64M crop=4:1:70000:99000
    { printf 'P6\n4 1\n255\n' && printf '\0\0\0abcdef\0\0\0'; } >wanted
    same hole1.ppm wanted
    absent hole2.ppm
    run 4 gpufilter -i hole.raw -o 'hole{n}.ppm' --raw=100000x100000:rgb24 --memory=64M crop=4:100000:0:0
    stderr_like 'hole.raw: each frame is in memory as a whole: that takes 78[0-9] MiB'
    { printf 'YUV4MPEG2 W100000 H100000 Cmono\nFRAME\n' && printf abc; } >hole.y4m
    truncate -s 10000000037 hole.y4m
    run 4 gpufilter -i hole.y4m -o hole.pgm --memory=64M crop=4:1:0:0
    stderr_like 'hole.y4m: the planes of a frame are read as a whole: that takes 9537 MiB'
    truncate -s 10000000038 hole.y4m
    run 0 gpufilter -i hole.y4m -o hole.pgm --memory=64M crop=4:1:0:0
    run 0 gpufilter -i hole.y4m -o high.pgm --memory=64M crop=4:5000:0:0
    run 4 gpufilter -i hole.y4m -o high.pgm --memory=64M crop=4:50000:0:0
    [ "$(tail -c 4 hole.pgm | tr '\0' 0)" = abc0 ] || problem "$(tail -c 4 hole.pgm | tr '\0' 0)"
    run 4 gpufilter -i hole.y4m -o hole.pgm invert
    stderr_like 'hole.y4m: 100000x100000 is 10000000000 pixels'
fi
rm -f hole.raw hole.y4m

begin "a PNM or Y4M that is cut is refused, and a TIFF only where the part is missing"
head -c 200000 wide.y4m >cut.y4m
run 4 gpufilter -i cut.y4m -o a.ppm crop=10:10:0:0
stderr_like 'cut.y4m: truncated'
head -c 600000 wide.ppm >cut.ppm
run 4 gpufilter -i cut.ppm -o a.ppm crop=10:10:0:0
stderr_like 'cut.ppm: truncated'
head -c 600000 none.tif >cut.tif
run 4 gpufilter -i cut.tif -o a.ppm invert

begin "a JPEG that is cut or damaged is refused only where the part needs what is there, or above it"
head -c "$(($(wc -c <wide.jpg) / 2))" wide.jpg >cut.jpg
run 0 gpufilter -q -i wide.jpg -o whole.ppm crop=w=90:h=60:x=20:y=100
run 0 gpufilter -q -i cut.jpg -o a.ppm crop=w=90:h=60:x=20:y=100
same a.ppm whole.ppm
run 4 gpufilter -q -i cut.jpg -o a.ppm crop=w=90:h=60:x=20:y=350
stderr_like 'cut.jpg: truncated after row [12][0-9][0-9] of 411'
run 0 gpufilter -i wide.jpg -o a.ppm crop=w=90:h=60:x=20:y=100 --verbose --device=cpu
grep -q "window 90x60+20+100, 60 rows" stderr || problem "$(cat stderr)"

begin "pictures that follow a JPEG of which a part is read"
cat wide.jpg wide.jpg cut.jpg >three.jpg
run 0 gpufilter -q -i three.jpg -o '{n}.ppm' --device=cpu crop=w=90:h=60:x=20:y=100
for n in 1 2 3; do same "$n.ppm" whole.ppm; done

begin "--max-pixels counts each of several pages"
gpufilter -q -i wide.ppm -o small.tif crop=40:40:0:0
lacking=$(command -v tiffcp >/dev/null || echo "no tiffcp")
if [ -z "$lacking" ]; then
    tiffcp small.tif none.tif pages.tif
    run 4 gpufilter -q -i 'pages.tif[all]' -o a.tif --max-pixels=2000 equalize,crop=30:30:0:0
    stderr_like 'pages.tif.all.: 523x411 is 214953 pixels'
fi
