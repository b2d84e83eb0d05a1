#!/bin/sh
# Makes the pictures of the README: samples/gallery.sh PROGRAM [FOLDER]
# Each filter that the program lists has one in FOLDER/gallery, made by the chain that its help gives as an example.
set -eu
program=$1 samples=$(cd "$(dirname "$0")" && pwd)
folder=${2:-$samples}
# Places of the sample picture. A filter is shown at one where it does something.
lantern='crop=w=168:h=112:x=104:y=212' # a lamp, a shadow, wood and grain
tower='crop=w=168:h=112:x=626:y=110'   # a smooth sky, lines, grain
houses='crop=w=168:h=112:x=300:y=150'  # colours in little light
barrel='crop=w=168:h=112:x=0:y=240'    # wood, half of it dark
near='crop=w=84:h=56:x=668:y=118'      # a part of the tower, where one sees single pixels
report='crop=w=336:h=224:x=20:y=330'   # lines of writing
double='resize=200%:kernel=nearest'
coil="crop=w=150:h=100:x=440:y=400,$double"
repair='nlmeans=0.025,clahe=2:4:4,vibrance=0.8,unsharp'

source=$samples/harbour.png

picture() # OUTPUT CHAIN
{
    "$program" --device=cpu --quiet --quality=85 -i "$source" -o "$folder/$1" "$2"
}

# The left half of what the first chain makes, beside the right half of what the second does. Both make one size.
halves() # OUTPUT BEFORE AFTER
{
    half=$folder/half.png
    "$program" --device=cpu --quiet -i "$source" -o "$half" "$2,crop=w=50%:x=0"
    picture "$1" "$3,overlay=$half:northwest,resize=w=336:kernel=nearest"
    rm "$half"
}

kept=$(mktemp)
cp "$samples/gallery/text.jpg" "$kept" 2>/dev/null || true
kept_sheet=$(mktemp)
cp "$samples/gallery/sheet.jpg" "$kept_sheet" 2>/dev/null || true
rm -rf "$folder/gallery"
mkdir -p "$folder/gallery"
picture gallery/after.jpg "$repair"
picture gallery/before-detail.jpg "$coil"
picture gallery/after-detail.jpg "$repair,$coil"
picture gallery/original.jpg "$lantern,$double"
# A contact sheet of one part of the picture through several filters.
for chain in blur=2 sobel equalize duotone pixelate=8 posterize=4 vignette invert; do
    mkdir -p "$folder/cells"
    "$program" --device=cpu --quiet -i "$samples/harbour.png" -o "$folder/cells/${chain%%=*}.png" "$lantern,$chain"
done
# without its libraries there are no labels, and the picture stays
if "$program" --version | grep -q '^text: FreeType'; then
    "$program" --device=cpu --quiet --quality=85 -i "$folder/cells" -o "$folder/gallery/sheet.jpg" '--sheet=4x2:cell=156x104:label={stem}'
else
    cp "$kept_sheet" "$folder/gallery/sheet.jpg"
fi
rm -r "$folder/cells" "$kept_sheet"
region='pixelate=6:region=ellipse 40% 0 42% 98%:feather=8'
picture gallery/region.jpg "$lantern,$region,$double"
page=$folder/gallery/README.md
{
    echo "# Gallery"
    echo
    echo "Each picture shows what one filter does. \`make gallery\` makes the pictures from parts of [harbour.png](../harbour.png), most"
    echo "of them from the part below. The command under a picture is the example of \`gpufilter --help FILTER\`, which also explains"
    echo "the parameters. Where a picture has two halves, the left half is the picture before the filter. The picture of thumbnail is the"
    echo "whole harbour, that of deskew a page. Before flatten the corners were round, before icc the colours were made strong, and behind"
    echo "the transparent pixels of chromakey there is white."
    echo
    echo "![the original](original.jpg)"
    echo
    echo "\`--sheet=4x2:cell=156x104:label={stem}\` makes a contact sheet of several pictures:"
    echo
    echo "![a contact sheet](sheet.jpg)"
    echo
    echo "Filters that keep the picture's size also take a region, here \`$region\`; all other pixels stay as they are:"
    echo
    echo "![pixelate within an ellipse](region.jpg)"
    echo
    echo "| filter | what it does | parameters, by position: default (range) |"
    echo "| --- | --- | --- |"
} >"$page"
"$program" --list=markdown | sed -n 's/^| `\([a-z0-9_]*\)`/\1 &/p' | while read -r name row; do
    chain=$("$program" --help "$name" | sed -n "s/^  gpufilter -i in.png -o out.png '\(.*\)'$/\1/p")
    case $name in
    flatten) picture "gallery/$name.jpg" "$lantern,round=40,$chain,$double" ;; # corners that have no colour
    icc) # differences show in strong colours
        strong="$barrel,saturation=2.5"
        halves "gallery/$name.jpg" "$strong" "$strong,$chain"
        ;;
    deskew) # a page, turned
        source=$samples/report.jpg turned="$report,rotate=4:fit=keep"
        halves "gallery/$name.jpg" "$turned" "$turned,$chain,crop=336:224"
        source=$samples/harbour.png
        ;;
    trim) # of a picture with borders, enlarged again to the same size
        bordered="$lantern,resize=144:96,pad=168:112:colour=orange"
        halves "gallery/$name.jpg" "$bordered" "$bordered,$chain,resize=168:112"
        ;;
    text) # without its libraries the picture stays
        if "$program" --version | grep -q '^text: FreeType'; then
            picture gallery/text.jpg "$lantern,$chain,$double"
        else
            cp "$kept" "$folder/gallery/text.jpg"
        fi
        ;;
    thumbnail) picture "gallery/$name.jpg" "$chain" ;; # the whole picture
    brightness | contrast | curves | hue | posterize | temperature | whitebalance)
        halves "gallery/$name.jpg" "$tower" "$tower,$chain"
        ;;
    clahe | equalize | gamma | levels | normalize | saturation | vibrance)
        halves "gallery/$name.jpg" "$houses" "$houses,$chain"
        ;;
    exposure) halves "gallery/$name.jpg" "$barrel" "$barrel,$chain" ;;
    bilateral | convolve | guided | median | nlmeans | unsharp) halves "gallery/$name.jpg" "$near" "$near,$chain" ;;
    chromakey) halves "gallery/$name.jpg" "$tower" "$tower,$chain,flatten" ;;
    distance | vignette) picture "gallery/$name.jpg" "$tower,$chain,$double" ;;
    *) picture "gallery/$name.jpg" "$lantern,$chain,$double" ;;
    esac
    # The row of the program's own table, with the picture below the name.
    shown=$(printf %s "$chain" | sed 's/[\\&#]/\\&/g')
    printf '%s\n' "$row" | sed "s#^| \([^|]*\) |#| \1<br>![$name]($name.jpg)<br>\`$shown\` |#" >>"$page"
done
rm "$kept"
