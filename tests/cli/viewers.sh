# What other programs make of pyramids and tiles, and what is made of theirs: libvips, tifffile, OpenSlide and OpenSeadragon,
# whose openseadragon.js the variable OPENSEADRAGON names.

# lacks MODULE...: the first of these modules that Python does not have
lacks()
{
    gpufilter --version | grep -q '^formats: .*TIFF' || { echo "built without libtiff" && return; }
    for module; do
        python3 -c "import $module" 2>/dev/null || { echo "there is no $module" && return; }
    done
}

# peers WHAT MODULE...: tests/pyramids.py prints what is wrong
peers()
{
    what=$1
    shift
    lacking=$(lacks numpy pyvips "$@")
    [ -n "$lacking" ] || problems=$(python3 "$here/pyramids.py" "$GPUFILTER" "$what" 2>&1 | head -n 20)
}

begin "folders of tiles have the names and the pixels of vips dzsave"
peers dzsave

begin "tifffile, libvips and OpenSlide read the levels of pyramids"
peers written tifffile openslide

begin "TIFFs of tiles by tifffile and libvips are read whole, in part and at their levels"
peers read tifffile imagecodecs

begin "IIIF's validator finds no fault with info.json and the whole picture"
lacking=$(lacks numpy)
command -v iiif-validate.py >/dev/null || lacking="there is no iiif-validate.py"
[ -n "$lacking" ] || problems=$(python3 "$here/pyramids.py" "$GPUFILTER" iiif 2>&1 | head -n 20)

begin "IIIF: a strip of the edge that two levels name alike is that of the finer one; the whole and narrow pictures have viewers' names"
gpufilter -i in.ppm -o strip.png resize=w=513:h=3
gpufilter -i in.ppm -o narrow.png resize=w=40:h=100
for version in '' 3; do
    run 0 gpufilter -i strip.png -o "strip$version" --pyramid=iiif$version:id=https://example.org --tile-size=64 --format=png
    run 0 gpufilter -i narrow.png -o "narrow$version" --pyramid=iiif$version:id=https://example.org --tile-size=64 --format=png
done
gpufilter -i strip.png -o wanted.png crop=1:3:512:0
run 0 gpufilter --compare=wanted.png 'strip/512,0,1,3/1,/0/default.png'
grep -q '^largest  0' stdout || problem "the strip is of another level: $(cat stdout)"
same 'strip/full/33,/0/default.png' 'strip/0,0,513,3/33,/0/default.png'
same 'strip3/full/33,1/0/default.png' 'strip3/0,0,513,3/33,1/0/default.png'
same 'narrow/0,64,40,36/full/0/default.png' 'narrow/0,64,40,36/40,/0/default.png'
absent narrow3/0,64,40,36/max

begin "OpenSeadragon shows each layout as the picture is"
if [ ! -r "${OPENSEADRAGON-}" ]; then
    lacking="OPENSEADRAGON names no openseadragon.js"
elif ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
    lacking="there is no Chromium"
else
    gpufilter -q -i "$here/../samples/harbour.png" -o shown.png resize=w=480:h=360
    problems=$(timeout -k 5 300 python3 "$here/viewer.py" "$OPENSEADRAGON" "$GPUFILTER" shown.png 2>&1 | tail -n 20)
fi
