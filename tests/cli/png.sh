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

begin "a truncated file is named with its row"
picture 3 RGB 255 500 400
run 0 gpufilter -i x.pam -o whole.png
head -c $(($(wc -c <whole.png) / 2)) whole.png >half.png
for threads in 1 4; do
    run 1 gpufilter -i half.png -o no.ppm --threads=$threads
    stderr_like 'half.png: truncated after row [0-9]* of 400$'
    absent no.ppm
    run 0 gpufilter -i half.png -o part$threads.ppm --threads=$threads --allow-truncated
done
same part1.ppm part4.ppm
