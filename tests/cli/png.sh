# PNG files as other programs see them.
# picture CHANNELS TUPLTYPE MAXVAL WIDTH HEIGHT: makes x.pam with flat, sloping and rough rows.
picture()
{
    printf 'P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n' "$4" "$5" "$1" "$3" "$2" >x.pam
    bytes=$(($1 * $4 * $5 * ($3 > 255 ? 2 : 1)))
    tail -c 12705 in.ppm >piece
    { while cat piece gray16.pgm; do :; done; } 2>/dev/null | head -c "$bytes" >raw
    cat raw >>x.pam
}

# each COMMAND: runs it for all types of pixels in some sizes; the last size has two stripes or more.
each()
{
    for size in '1 1' '1 40' '77 55' '500 400'; do
        # shellcheck disable=SC2086 # two words
        for maxval in 255 65535; do
            picture 1 GRAYSCALE $maxval $size && "$1" gray $maxval
            picture 2 GRAYSCALE_ALPHA $maxval $size && "$1" gray-alpha $maxval
            picture 3 RGB $maxval $size && "$1" rgb $maxval
            picture 4 RGB_ALPHA $maxval $size && "$1" rgba $maxval
        done
    done
}

write_all()
{
    for level in 0 1 6; do
        run 0 gpufilter -i x.pam -o $level.png --png-level=$level
    done
}

check_pngcheck()
{
    write_all
    pngcheck -q 0.png 1.png 6.png >messages 2>&1 || problem "$1 $2 $size: $(head -n 2 messages)"
}

# The bytes that another program unpacks must be those of the picture.
check_magick()
{
    write_all
    case $1 in
    gray) type=gray ;;
    gray-alpha) type=graya ;;
    rgb) type=rgb ;;
    *) type=rgba ;;
    esac
    for level in 1 6; do
        convert $level.png -depth $(($2 > 255 ? 16 : 8)) -endian MSB $type:other 2>messages
        cmp -s raw other || problem "$1 $2 $size, level $level: ImageMagick reads other samples $(head -n 1 messages)"
    done
}

check_vips()
{
    write_all
    [ "$2" = 255 ] || return 0 # rawsave's samples are the machine's own
    for level in 1 6; do
        vips rawsave $level.png other 2>messages
        cmp -s raw other || problem "$1 $2 $size, level $level: vips reads other samples $(head -n 1 messages)"
    done
}

check_netpbm()
{
    write_all
    case $1 in *alpha | rgba) return 0 ;; esac
    for level in 1 6; do
        pngtopnm $level.png 2>messages | tail -c "$bytes" >other
        cmp -s raw other || problem "$1 $2 $size, level $level: netpbm reads other samples $(head -n 1 messages)"
    done
}

begin "every level and any threads: what comes back is what went in"
check_own()
{
    for level in 0 1 6 9; do
        run 0 gpufilter -i x.pam -o $level.png --png-level=$level --threads=1
        run 0 gpufilter -i x.pam -o threads.png --png-level=$level --threads=5
        same $level.png threads.png
        run 0 gpufilter -i $level.png -o back.pam
        tail -c "$bytes" back.pam >other
        cmp -s raw other || problem "$1 $2 $size, level $level differs"
    done
}
each check_own

begin "pngcheck finds nothing"
if command -v pngcheck >/dev/null; then each check_pngcheck; else skip "no pngcheck"; fi

begin "ImageMagick reads the same"
if command -v convert >/dev/null && convert -version | grep -q ImageMagick; then each check_magick; else skip "no ImageMagick"; fi

begin "vips reads the same"
if command -v vips >/dev/null; then each check_vips; else skip "no vips"; fi

begin "netpbm reads the same"
if command -v pngtopnm >/dev/null; then each check_netpbm; else skip "no netpbm"; fi

begin "level 1 of every type, size and content is written"
seq 1 99999 | gzip -9n >noise
head -c 99999 /dev/zero | tr '\0' 'Z' >constant
awk 'BEGIN { for (i = 3; i < 9999; i++) printf "%c", i / 3 % 127 + 1 }' >gradient
yes "$(printf '%0300d%s%090d' 0 ':-)=|' 0)" | head -c 99999 | tr '0\n' '\377\1' >drawing
cat piece constant gradient drawing >mixed
mkdir level1
write_level_1()
{
    for content in noise constant gradient drawing mixed; do
        file=level1/$content-$1-$2-${size% *}x${size#* }
        { head -n 7 x.pam && { while cat $content; do :; done; } 2>/dev/null | head -c "$bytes"; } >$file.pam
        run 0 gpufilter -i $file.pam -o $file.png --png-level=1
        [ $content-$2 = drawing-255 ] || continue
        cp $file.pam $file-palette.pam
        run 0 gpufilter -i $file.pam -o $file-palette.png --png-level=1 --png-palette
    done
}
each write_level_1
set -- level1/*.png
[ $# = 176 ] || problem "$# files are written"

begin "pngcheck finds nothing in them"
if command -v pngcheck >/dev/null; then
    pngcheck -q level1/*.png >messages 2>&1 || problem "$(head -n 2 messages)"
else
    skip "no pngcheck"
fi

begin "Pillow reads the same from them"
if python3 -c 'import PIL' 2>/dev/null; then
    python3 - <<'END' >messages 2>&1 || problem "$(tail -n 1 messages)"
import glob
from PIL import Image

names = glob.glob("level1/*.png")
assert names
for name in names:
    head, raw = open(name[:-3] + "pam", "rb").read().split(b"ENDHDR\n", 1)
    channels = int(head.split(b"DEPTH ")[1].split()[0])
    deep = b"MAXVAL 65535" in head
    picture = Image.open(name)
    if deep and channels == 1:
        picture.load()
        pixels = picture.tobytes() if picture.mode == "I;16B" else picture.convert("I;16").tobytes("raw", "I;16B")
    else: # of 16 bits in several channels Pillow keeps the upper 8
        pixels = picture.convert(["L", "LA", "RGB", "RGBA"][channels - 1]).tobytes()
        raw = raw[:: 2 if deep else 1]
    assert pixels == raw, f"other pixels in {name}"
END
else
    skip "no Pillow"
fi

begin "a truncated file is named with its row"
picture 3 RGB 255 500 400
run 0 gpufilter -i x.pam -o whole.png
head -c $(($(wc -c <whole.png) / 2)) whole.png >half.png
for threads in 1 4; do
    run 4 gpufilter -i half.png -o no.ppm --threads=$threads
    stderr_like 'half.png: truncated after row [0-9]* of 400 (to keep what there is: --allow-truncated)$'
    absent no.ppm
    run 0 gpufilter -i half.png -o part$threads.ppm --threads=$threads --allow-truncated
done
same part1.ppm part4.ppm
