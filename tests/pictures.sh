#!/bin/sh
# pictures.sh PROGRAM FOLDER: runs 120 chains over 19 pictures of every kind, and prints the checksum of each result and of what was
# said. Two programs that print the same filter alike. The folder must be empty; pictures are made of samples/harbour.png.
set -eu
samples=$(cd "$(dirname "$0")/../samples" && pwd)
program=$(realpath "$1")
cd "$2"
mkdir in out
gf() { "$program" -q --device=cpu --server=off "$@"; }

# make NAME ARGUMENT...
make()
{
    name=$1
    shift
    gf -i "$samples/harbour.png" -o "in/$name" "$@" 2>>failed || rm -f "in/$name"
}
make a-rgb.png resize=301:203
make b-gray.png resize=127:211,grayscale
make c-dot.png resize=1:1
make d-column.png resize=1:300
make e-row.png resize=500:1
make f-alpha.png resize=160:120,rotate=20:colour=transparent
make g-deep.png resize=140:90 --depth=16
make h-deep-gray.png resize=90:140,grayscale --depth=16
make i-deep-alpha.png resize=70:50,rotate=33:colour=transparent --depth=16
make j-noise.ppm resize=200:150,addnoise=0.2
make k-dark.ppm resize=150:100,brightness=-0.4
make l-photo.jpg resize=320:240 --quality=80
make m-progressive.jpg resize=241:187 --progressive
make n-inks.tif resize=64:64
make o-palette.png resize=100:100 --png-palette=16
make p-film.webp resize=80:60
make q-wide.bmp resize=1025:33
make r-flat.qoi resize=96:96,pixelate=32
make s-edge.pgm resize=129:65,threshold

# The example of each filter, then pairs of examples.
gf --list | sed -n 's/^\([a-z0-9][a-z0-9]*\)  .*/\1/p' | while read -r filter; do
    gf --help "$filter" | sed -n "s/^  gpufilter -i in.png -o out.png '\{0,1\}\([^']*\)'\{0,1\}\$/\1/p" | head -n 1
done | grep -v -e '\.cube' -e '\.png' -e '\.jpg' -e '\.icc' >examples
awk '{ chain[NR] = $0 } END { for (i = 1; i <= NR && i <= 120; i++) print chain[i]
    for (i = NR + 1; i <= 120; i++) print chain[(i * 7) % NR + 1] "," chain[(i * 13) % NR + 1] }' examples >chains
n=0
while read -r chain; do
    n=$((n + 1))
    set -- png jpeg webp tiff ppm gif
    shift $((n % 6))
    mkdir "out/$n"
    status=0
    gf -i in -o "out/$n/{stem}.$1" "$chain" >"out/$n/said" 2>&1 || status=$?
    echo "$status" >>"out/$n/said"
done <chains
(cd out && find . -type f | sort | xargs sha256sum)
