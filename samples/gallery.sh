#!/bin/sh
# Makes the pictures of the README: samples/gallery.sh PROGRAM [FOLDER]
# Each filter that the program lists has one in FOLDER/gallery, made by the chain that its help gives as an example.
set -eu
program=$1 samples=$(cd "$(dirname "$0")" && pwd)
folder=${2:-$samples}
detail='crop=w=168:h=112:x=104:y=212' # a lamp, a shadow, wood and grain
double='resize=200%:kernel=nearest'
coil="crop=w=150:h=100:x=440:y=400,$double"
repair='bilateral=3:0.1,equalize,unsharp'

picture() # OUTPUT CHAIN
{
    "$program" --device=cpu --quiet --quality=85 -i "$samples/harbour.png" -o "$folder/$1" "$2"
}

# The left half of what the first chain makes, beside the right half of what the second does. Both make 168x112.
halves() # OUTPUT BEFORE AFTER
{
    half=$folder/half.png
    "$program" --device=cpu --quiet -i "$samples/harbour.png" -o "$half" "$detail,$2,crop=w=50%:x=0"
    picture "$1" "$detail,$3,overlay=$half:northwest,$double"
    rm "$half"
}

kept=$(mktemp)
cp "$samples/gallery/text.jpg" "$kept" 2>/dev/null || true
rm -rf "$folder/gallery"
mkdir -p "$folder/gallery"
picture gallery/after.jpg "$repair"
picture gallery/before-detail.jpg "$coil"
picture gallery/after-detail.jpg "$repair,$coil"
picture gallery/original.jpg "$detail,$double"
page=$folder/gallery/README.md
{
    echo "# Gallery"
    echo
    echo "A picture for each filter, made by \`make gallery\` from this part of [harbour.png](../harbour.png)."
    echo "The commands stand as \`gpufilter --help FILTER\` gives them; that also explains the parameters. That of thumbnail is"
    echo "of the whole picture, and flatten's has round corners before. trim and icc have what was before them on their left half, and icc strong colours."
    echo
    echo "![the original](original.jpg)"
    echo
    echo "| filter | what it does | parameters, by position: default (range) |"
    echo "| --- | --- | --- |"
} >"$page"
"$program" --list=markdown | sed -n 's/^| `\([a-z0-9_]*\)`/\1 &/p' | while read -r name row; do
    chain=$("$program" --help "$name" | sed -n "s/^  gpufilter -i in.png -o out.png '\(.*\)'$/\1/p")
    case $name in
    flatten) picture "gallery/$name.jpg" "$detail,round=40,$chain,$double" ;; # corners that have no colour
    icc) halves "gallery/$name.jpg" saturation=2.5 "saturation=2.5,$chain" ;; # differences show in strong colours
    trim) # of a picture with borders, enlarged again to the same size
        bordered='resize=144:96,pad=168:112:colour=orange'
        halves "gallery/$name.jpg" "$bordered" "$bordered,$chain,resize=168:112"
        ;;
    text) # without its libraries the picture stays
        if "$program" --version | grep -q '^text: FreeType'; then
            picture gallery/text.jpg "$detail,$chain,$double"
        else
            cp "$kept" "$folder/gallery/text.jpg"
        fi
        ;;
    thumbnail) picture "gallery/$name.jpg" "$chain" ;;                       # the whole picture
    *) picture "gallery/$name.jpg" "$detail,$chain,$double" ;;
    esac
    # The row of the program's own table, with the picture below the name.
    shown=$(printf %s "$chain" | sed 's/[\\&#]/\\&/g')
    printf '%s\n' "$row" | sed "s#^| \([^|]*\) |#| \1<br>![$name]($name.jpg)<br>\`$shown\` |#" >>"$page"
done
rm "$kept"
