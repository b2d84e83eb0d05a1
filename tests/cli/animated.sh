# Animations in, animations out: beside the programs of the formats' libraries and Pillow, as far as they are here.
has()
{
    gpufilter --version | grep -q "^formats:.*$1"
}

# look FILE: the frames of an animation by Pillow, one a line: how long it is shown in ms and a sum of its RGBA.
look()
{
    "$pillow" - "$1" <<'END'
import sys, zlib
from PIL import Image, ImageSequence
for frame in ImageSequence.Iterator(Image.open(sys.argv[1])):
    frame.load()
    print(round(frame.info.get('duration', 0)), zlib.crc32(frame.convert('RGBA').tobytes()))
END
}
pillow=
for python in python3 /usr/bin/python3; do
    [ -n "$pillow" ] || ! "$python" -c 'import PIL' 2>/dev/null || pillow=$python
done

# Four frames: two have moved or changed, the third is the second, and the last has transparent pixels.
frames()
{
    run 0 gpufilter --lossless -i in.ppm -o 0.webp
    run 0 gpufilter --lossless -i in.ppm -o 1.webp invert
    cp 1.webp 2.webp
    run 0 gpufilter --lossless -i in.ppm -o 3.webp round
    webpmux -frame 0.webp +100 -frame 1.webp +70 -frame 2.webp +35 -frame 3.webp +2000+0+0+0-b -loop 4 -o moving.webp 2>/dev/null
}

if has WebP && command -v webpmux >/dev/null; then
    begin "WebP: an animation is written as it was"
    frames
    run 0 gpufilter --lossless -i moving.webp -o again.webp
    silent
    webpmux -info moving.webp | awk '/Loop/ { print $NF } /^ *[0-9]*:/ { print $1, $7 }' >expected
    webpmux -info again.webp | awk '/Loop/ { print $NF } /^ *[0-9]*:/ { print $1, $7 }' >given
    same given expected
    if [ -n "$pillow" ]; then
        look moving.webp >expected
        look again.webp >given
        same given expected
    fi
    run 0 gpufilter -i moving.webp -o inverted.webp --lossless invert
    for n in 0 1 2 3; do
        run 0 gpufilter -q -i "moving.webp[$n]" -o expected.pam invert
        run 0 gpufilter -q -i "inverted.webp[$n]" -o given.pam
        same given.pam expected.pam
    done
    run 0 gpufilter -i moving.webp -o stays.webp invert
    same stays.webp inverted.webp
    run 0 gpufilter -i moving.webp -o lossy.webp --quality=90 invert
    cmp -s lossy.webp inverted.webp && problem "a quality that is given makes a lossless animation"
    run 0 gpufilter -i lossy.webp -o again.webp
    webpmux -info again.webp | grep -q lossless && problem "a lossy animation becomes a lossless one"
    run 0 gpufilter --lossless -i 'moving.webp[1..2]' -o part.webp
    run 0 gpufilter -q -i 'part.webp[0]' -o given.ppm
    run 0 gpufilter -q -i 'moving.webp[1]' -o expected.ppm
    same given.ppm expected.ppm

    begin "WebP: a cut animation"
    head -c "$(($(wc -c <moving.webp) - 40))" moving.webp >cut.webp
    run 4 gpufilter -i cut.webp -o whole.webp
    stderr_is "gpufilter: cut.webp: damaged: it is truncated (to keep what there is: --allow-truncated)"
    absent whole.webp
    run 0 gpufilter --allow-truncated -i cut.webp -o whole.webp
    stderr_is "gpufilter: warning: cut.webp: damaged behind its first 3 pictures: it is truncated"
    webpmux -info whole.webp | grep -q 'Number of frames: 3' || problem "$(webpmux -info whole.webp)"
    if has GIF; then
        run 0 gpufilter -q -i moving.webp -o moving.gif
        head -c "$(($(wc -c <moving.gif) * 9 / 10))" moving.gif >cut.gif
        run 4 gpufilter -i cut.gif -o x.gif -o y.gif blur
        grep -q 'cut.gif: damaged: it is truncated' stderr || problem "$(cat stderr)"
        absent x.gif
        absent y.gif
    fi
else
    skip "animated WebP: there is no webpmux, or no WebP in this build"
fi

# Through each format without loss and back, and as the format's own program decodes it.
for pair in AVIF:avif:avifdec 'JPEG XL:jxl:djxl'; do
    format=${pair%%:*} end=${pair#*:} program=${pair##*:}
    end=${end%:*}
    if ! has WebP || ! has "$format" || ! command -v webpmux >/dev/null; then
        skip "animated $format: there is no webpmux, or no $format in this build"
        continue
    fi
    begin "$format: an animation of another format, and back"
    frames
    run 0 gpufilter --lossless -i moving.webp -o "a.$end"
    [ "$format" = AVIF ] || silent
    run 0 gpufilter --lossless -i "a.$end" -o again.webp
    webpmux -info moving.webp | awk '/^ *[0-9]*:/ { print $1, $7 }' >expected
    webpmux -info again.webp | awk '/^ *[0-9]*:/ { print $1, $7 }' >given
    same given expected
    if [ -n "$pillow" ]; then
        look moving.webp >expected
        look again.webp >given
        same given expected
    fi
    for n in "again.webp[3]" "a.${end}[3]"; do
        run 0 gpufilter -q -i "moving.webp[3]" -o expected.pam
        run 0 gpufilter -q -i "$n" -o given.pam
        same given.pam expected.pam
    done

    begin "$format: beside $program"
    if ! command -v "$program" >/dev/null; then
        lacking="$format beside $program: it is not here"
    elif [ "$program" = avifdec ]; then
        avifdec --index 3 a.avif theirs.png >/dev/null
        run 0 gpufilter -q -i theirs.png -o theirs.pam
        same given.pam theirs.pam
    elif [ -z "$pillow" ]; then
        lacking="$format beside $program: there is no Pillow"
    else
        djxl a.jxl theirs.apng 2>/dev/null
        look theirs.apng >expected
        look again.webp >given
        same given expected
    fi
done

if has TIFF; then
    begin "TIFF: each page has properties of its own"
    # Gray of 4x2; the same with orientation 6 and a profile; RGB of 3x1 with orientation 3.
    printf %s 'H4sIAAAAAAACA/P01GIQYAACLhE5DSMbNy4GBkZmBkagAAsQM0LZTCAMZXMAMTOUDcJsSGxBRha4GiEkcVEkthiSmeJI6sUYEa4AshoYoCA3r6TIPcgxkgENJCYXFzDQCHBTJRT6kEKB
jchQKG5nB3t9GhBvACtmYmZhZWPnYIBARPwwI7mMEeoykNgqRuwuY0Jy2QJGhMuYkVzGjOQyRiSXcULDBQCCtfIrLgIAAA==' | tr -d '\n' | base64 -d | gzip -d >own.tif
    run 0 gpufilter -i 'own.tif[all]' -o together.tif
    silent
    run 0 gpufilter -i 'own.tif[all]' -o 'own-{n}.png'
    silent
    for n in 0 1 2; do
        run 0 gpufilter -i "own.tif[$n]" -o expected.png
        same "own-$((n + 1)).png" expected.png
        gpufilter --strip -i "own.tif[$n]" -o expected.pam
        gpufilter --strip -i "together.tif[$n]" -o given.pam
        same given.pam expected.pam
        gpufilter --info "own.tif[$n]" | grep icc_ >expected
        gpufilter --info "together.tif[$n]" | grep icc_ >given
        same given expected
    done
    gpufilter --info own-2.png | awk '$1 ~ /^(width|height|icc_bytes)$/ { print $2 }' | tr '\n' ' ' >given
    echo '2 4 128 ' | tr -d '\n' >expected
    same given expected
    run 4 gpufilter -i 'own.tif[0..1]' -o own.apng
    stderr_is "gpufilter: own.apng: a frame becomes 2x4x1 of 8 bits and the first one 4x2x1 of 8: an animation has one format (-o '{stem}-{n}.png' makes pictures)"
    run 0 gpufilter -i 'own.tif[0..1]' -o own.apng --no-autorotate
    stderr_is "gpufilter: warning: own.apng: a frame has another profile than the first one, whose profile is that of all: its colours will look wrong (icc=srgb)"

    begin "TIFF: the chains of several outputs are applied to each page, whatever its size and format"
    run 0 gpufilter -q -i 'own.tif[all]' -o 'big-{n}.png' resize=200% -o 'plain-{n}.ppm' invert
    silent
    run 0 gpufilter -q -i own.tif -o 'unasked-{n}.png' resize=200% -o 'again-{n}.ppm' invert
    silent
    for n in 0 1 2; do
        run 0 gpufilter -q -i "own.tif[$n]" -o expected.png resize=200%
        same "big-$((n + 1)).png" expected.png
        same "unasked-$((n + 1)).png" expected.png
        run 0 gpufilter -q -i "own.tif[$n]" -o expected.ppm invert
        same "plain-$((n + 1)).ppm" expected.ppm
    done
    absent big-4.png
    run 0 gpufilter -q -i 'own.tif[1..2]' -o 'part-{n}.png' resize=200% -o 'other-{n}.ppm'
    same part-2.png big-3.png
    absent part-3.png

    begin "TIFF: pages are taken where they are chosen"
    if has WebP && command -v webpmux >/dev/null; then
        frames
        run 0 gpufilter -i 'moving.webp[0..2]' -o pages.tif
        run 0 gpufilter -i 'pages.tif[all]' -o inverted.tif invert
        silent
        for n in 0 1 2; do
            run 0 gpufilter -q -i "moving.webp[$n]" -o expected.ppm invert
            run 0 gpufilter -q -i "inverted.tif[$n]" -o given.ppm
            same given.ppm expected.ppm
        done
        run 0 gpufilter -i pages.tif -o first.tif
        stderr_is "gpufilter: warning: pages.tif: holds 3 pictures: the first is taken; pages.tif[1] is the second"
        run 4 gpufilter -i 'first.tif[1]' -o second.tif
        run 0 gpufilter -i 'pages.tif[1..2]' -o - --format=tiff
        cp stdout part.tif
        run 0 gpufilter -i 'part.tif[1]' -o given.ppm
        run 0 gpufilter -i 'pages.tif[2]' -o expected.ppm
        same given.ppm expected.ppm
        run 2 gpufilter -i 'pages.tif[all]' -o pages.jpg
        stderr_is "gpufilter: pages.jpg: JPEG files hold one picture here: choose one of pages.tif[all] by its number, or number the outputs of one input by {n}, as in -o '{stem}-{n}.jpg'"
    else
        lacking="pages of a TIFF: there is no webpmux, or no WebP in this build"
    fi
fi

begin "HEIC: each of several pictures has a size of its own, in files, in a TIFF and in cells"
has HEIC || lacking="built without libheif"
command -v heif-enc >/dev/null || lacking="no heif-enc"
if [ -z "$lacking" ]; then
    gpufilter -q -i in.png -o wide.png resize=128:64
    gpufilter -q -i in.png -o tall.png resize=64:96
    heif-enc -q 80 wide.png tall.png in.png -o three.heic >/dev/null 2>&1 || lacking="heif-enc encodes no HEVC"
fi
if [ -z "$lacking" ]; then
    run 0 gpufilter -i 'three.heic[all]' -o 'heic-{n}.ppm' blur=1
    silent
    run 0 gpufilter -i 'three.heic[all]' -o three.tif
    silent
    for n in 0 1 2; do
        run 0 gpufilter -i "three.heic[$n]" -o expected.ppm blur=1
        same "heic-$((n + 1)).ppm" expected.ppm
        run 0 gpufilter -i "three.heic[$n]" -o expected.ppm
        run 0 gpufilter -q -i "three.tif[$n]" -o given.ppm
        same given.ppm expected.ppm
    done
    run 0 gpufilter -i 'three.heic[1..2]' -o 'off-{n}.ppm' --sandbox=off blur=1 -o 'of-{n}.png'
    same off-2.ppm heic-3.ppm
    absent off-3.ppm
    run 4 gpufilter -i 'three.heic[all]' -o three.apng
    stderr_like 'three.apng: a frame becomes 64x96x3 of 8 bits and the first one 128x64x3'
    run 0 gpufilter -q -i three.heic -o 'one-{n}.ppm' blur=1
    same one-1.ppm heic-1.ppm
    absent one-2.ppm
fi
