# TIFFs of tiles: their levels, the order of their parts, what is kept and what is refused.
gpufilter --version | grep -q '^formats: .*TIFF' || { skip "built without libtiff" && return 0; }
gpufilter -i in.ppm -o odd.png 'resize=w=301:h=155'

begin "each level is half as wide and high as the one before, down to one tile"
run 0 gpufilter -i odd.png -o odd.tif --pyramid --tile-size=64
silent
run 0 gpufilter -q -i odd.tif -o back.png
run 0 gpufilter --compare=odd.png -i back.png
gpufilter -i odd.png -o half.png 'resize=w=151:h=78:kernel=area'
run 0 gpufilter -q -i 'odd.tif[1]' -o back.png
gpufilter --info=json -i back.png | grep -q '"width": *151,.*"height": *78[,}]' || problem "level 1 is not 151x78"
run 0 gpufilter -q -i 'odd.tif[3]' -o back.png
gpufilter --info=json -i back.png | grep -q '"width": *38,.*"height": *20[,}]' || problem "level 3 is not 38x20"
run 4 gpufilter -q -i 'odd.tif[4]' -o back.png

begin "the levels are those of Deep Zoom"
run 0 gpufilter -i odd.png -o odd.dzi --format=png --tile-size=512
run 0 gpufilter -i odd.png -o odd.tif --pyramid=cog --tile-size=16
for level in 1 2 3 4; do
    run 0 gpufilter -q -i "odd.tif[$level]" -o back.png
    run 0 gpufilter --compare="odd_files/$((9 - level))/0_0.png" -i back.png
done

begin "threads, bands and pipes change no byte; kinds of pixels"
for options in --pyramid --pyramid=subifds --pyramid=cog --tile-size=32 '--pyramid=cog --tiff-compression=jpeg' \
    '--pyramid --tiff-compression=zstd --depth=16' '--pyramid=cog --depth=1 --tiff-compression=g4'; do
    # shellcheck disable=SC2086 # several words
    run 0 gpufilter -i odd.png -o one.tif $options --tile-size=48 --threads=1 grayscale
    # shellcheck disable=SC2086
    run 0 gpufilter -i odd.png -o more.tif $options --tile-size=48 --threads=5 --band-rows=7 grayscale
    same one.tif more.tif
    # shellcheck disable=SC2086
    gpufilter -i odd.png -o - --format=tiff $options --tile-size=48 grayscale | cat >piped.tif
    same one.tif piped.tif
done

begin "the usual sides of tiles are 256, and 512 in a COG"
if command -v tiffinfo >/dev/null; then
    run 0 gpufilter -i odd.png -o a.tif --pyramid
    tiffinfo a.tif | grep -q 'Tile Width: 256 Tile Length: 256' || problem "not 256"
    run 0 gpufilter -i odd.png -o a.tif --pyramid=cog
    tiffinfo a.tif | grep -q 'Tile Width: 512 Tile Length: 512' || problem "not 512"
    tiffinfo a.tif | grep -q 'TIFF Directory at offset 0xc0 ' || problem "the first directory is not at the beginning"
fi

begin "tiles that are larger than the picture are read again"
for options in --pyramid --pyramid=cog ''; do
    # shellcheck disable=SC2086 # none or one word
    run 0 gpufilter -i odd.png -o huge.tif $options --tile-size=4096
    run 0 gpufilter -i huge.tif -o back.png
    run 0 gpufilter --compare=odd.png -i back.png
done

begin "alpha is laid on white before JPEG, and 16 bits become 8"
gpufilter -i odd.png -o round.png round
gpufilter -i odd.png -o deep.png --depth=16
run 0 gpufilter -i round.png -o a.tif --pyramid --tiff-compression=jpeg
stderr_like "warning: a.tif: its format has no alpha channel: the picture is laid on white"
run 0 gpufilter -i deep.png -o a.tif --pyramid --tiff-compression=jpeg
silent

begin "GeoTIFF's tags stay where the pixels do"
# shellcheck disable=SC2059 # the octal digits are the format
printf "II\52\0\10\0\0\0\13\0\0\1\3\0\1\0\0\0\2\0\0\0\1\1\3\0\1\0\0\0\2\0\0\0\2\1\3\0\1\0\0\0\10\0\0\0\3\1\3\0\1\0\0\0\1\0\0\0\6\
\1\3\0\1\0\0\0\1\0\0\0\21\1\4\0\1\0\0\0\252\0\0\0\25\1\3\0\1\0\0\0\1\0\0\0\26\1\3\0\1\0\0\0\2\0\0\0\27\1\4\0\1\0\0\0\4\0\
\0\0\16\203\14\0\3\0\0\0\222\0\0\0\201\244\2\0\2\0\0\0\067\0\0\0\0\0\0\0\0\0\0\0\0\0\44\100\0\0\0\0\0\0\44\100\0\0\0\0\0\
\0\0\0\1\2\3\4" >place.tif
# has_geo FILE: whether the file has the tags, which a PNG does not keep.
has_geo()
{
    gpufilter -i "$1" -o geo.png 2>&1 | grep -q "does not keep the input's GeoTIFF tags"
}
for options in '' --pyramid --pyramid=subifds --pyramid=cog; do
    # shellcheck disable=SC2086 # none or one word
    run 0 gpufilter -i place.tif -o kept.tif $options invert
    silent
    has_geo kept.tif || problem "they are gone ($options)"
done
for chain in resize=200% flip rotate=90 crop=1:2:1:0 pad=w=3:h=3; do
    run 0 gpufilter -i place.tif -o moved.tif "$chain"
    stderr_like "warning: moved.tif: GeoTIFF's tags are left out: the pixels are not where they were"
    ! has_geo moved.tif || problem "they are kept by $chain"
done
run 0 gpufilter -i place.tif -o none.tif --strip=geo invert
silent
! has_geo none.tif || problem "--strip=geo keeps them"

begin "what is refused"
run 2 gpufilter -i odd.png -o no.tif --pyramid --tile-size=100
stderr_is "gpufilter: no.tif: 16 divides the side of a TIFF's tiles, but not --tile-size=100"
run 2 gpufilter -i odd.png -o no.tif --pyramid --max-bytes=10k
run 2 gpufilter -i odd.png -o no.tif --pyramid=dz
run 4 gpufilter -i odd.png -o no.tif --pyramid --tiff-compression=jpeg --lossless
run 4 gpufilter -i odd.png -o no.tif --pyramid --tiff-compression=webp grayscale
run 4 gpufilter -i 'odd.tif[0..1]' -o no.tif --pyramid
stderr_like "no.tif: one picture is written as tiles, not several"
TMPDIR=/nowhere run 75 gpufilter -i odd.png -o no.tif --pyramid=cog
stderr_like "no.tif: its tiles in /nowhere: "
absent no.tif

begin "rio cogeo validate says that a COG is valid"
command -v rio >/dev/null && rio cogeo --help >/dev/null 2>&1 || lacking="no rio cogeo"
if [ -z "$lacking" ]; then
    for options in '' --tiff-compression=jpeg --tiff-compression=zstd; do
        # shellcheck disable=SC2086 # none or one word
        run 0 gpufilter -i odd.png -o a.tif --pyramid=cog --tile-size=64 $options --set=artist=Ann
        rio cogeo validate --strict a.tif 2>/dev/null | grep -q 'is a valid cloud optimized GeoTIFF' || problem "not with $options"
    done
fi
