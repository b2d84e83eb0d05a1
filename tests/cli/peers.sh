# Other programs read what is written and write what is read: Pillow, tifffile and vips, as far as they are here.

# has MODULE: whether Python has it
has()
{
    python3 -c "import $1" 2>/dev/null
}

# format NAME: whether this build has it
format()
{
    gpufilter --version | grep -q "^formats:.*$1"
}

run 0 gpufilter -i in.png -o photo.ppm 'resize=120:90'
run 0 gpufilter -i photo.ppm -o alpha.pam round=30

if ! has PIL; then
    begin "what Pillow reads, writes and resizes"
    skip "Pillow is not here"
else
    # pixels FILE PNM: Pillow and this program read the same from the file.
    pixels()
    {
        run 0 gpufilter -q -i "$1" -o own.pam
        python3 - "$1" own.pam <<'END' || problem "$1: $(cat peer)"
import sys
from PIL import Image

data = open(sys.argv[2], "rb").read()
head, own = data.split(b"ENDHDR\n", 1)
channels = int(head.split(b"DEPTH ")[1].split()[0])
picture = Image.open(sys.argv[1]).convert({1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[channels])
their = picture.tobytes()
worst = max((abs(a - b) for a, b in zip(own, their)), default=0)
if len(own) != len(their) or worst > 0:
    open("peer", "w").write(f"Pillow has {len(their)} samples, {len(own)} are read, {worst} apart")
    sys.exit(1)
END
    }

    begin "Pillow reads the same pixels from what is written"
    tif=
    format TIFF && tif=tif
    for each in png $tif; do
        run 0 gpufilter -q -i photo.ppm -o "w.$each"
        pixels "w.$each"
        run 0 gpufilter -q -i alpha.pam -o "wa.$each"
        pixels "wa.$each"
    done
    for packed in ${tif:+deflate lzw none}; do
        run 0 gpufilter -q -i photo.ppm -o "w-$packed.tif" --tiff-compression=$packed
        pixels "w-$packed.tif"
    done
    run 0 gpufilter -q -i photo.ppm -o palette.png --png-palette posterize=3
    pixels palette.png
    run 0 gpufilter -q -i photo.ppm -o gray.png grayscale
    pixels gray.png
    if format WebP && python3 -c 'from PIL import features; import sys; sys.exit(not features.check("webp"))'; then
        run 0 gpufilter -q -i alpha.pam -o w.webp --lossless
        pixels w.webp
    fi
    if format GIF; then
        run 0 gpufilter -q -i alpha.pam -o few.gif posterize=4
        pixels few.gif
        run 0 gpufilter -q -i photo.ppm -o many.gif
        pixels many.gif
    fi

    begin "what Pillow writes is read as Pillow reads it"
    python3 - <<'END' || problem "Pillow cannot write"
from PIL import Image

photo = Image.open("photo.ppm")
photo.quantize(50).save("p.png")
photo.convert("LA").save("la.png")
photo.convert("1").save("bits.png")
photo.convert("L").save("l.png", optimize=True)
for packed in "tiff_lzw", "tiff_deflate", "packbits", None:
    photo.save(f"p-{packed}.tif", compression=packed)
END
    for each in p.png la.png bits.png l.png p-tiff_lzw.tif p-tiff_deflate.tif p-packbits.tif p-None.tif; do
        case $each in
        *.tif) format TIFF || continue ;;
        esac
        pixels $each
    done
    if format GIF; then
        python3 -c '
from PIL import Image
photo = Image.open("photo.ppm")
photo.quantize(64).save("moving.gif", save_all=True, append_images=[photo.rotate(180).quantize(64)])
moving = Image.open("moving.gif")
moving.seek(1)
moving.convert("RGB").save("second.png")'
        run 0 gpufilter -q -i 'moving.gif[1]' -o second.ppm flatten
        run 0 gpufilter -q --compare=second.ppm second.png
        grep -q '^largest  0' stdout || problem "the second picture: $(cat stdout)"
    fi

    # frames FILE FILE: Pillow composes the same frames of both, and shows them as long.
    frames()
    {
        python3 - "$1" "$2" <<'END' || problem "$1 and $2: $(cat peer)"
import sys
from PIL import Image

def frames(path):
    found = []
    with Image.open(path) as moving:
        for i in range(moving.n_frames):
            moving.seek(i)
            pixels = [p if p[3] else None for p in moving.convert("RGBA").getdata()]
            if found and found[-1][0] == pixels:
                found[-1][1] += moving.info["duration"]
            else:
                found.append([pixels, moving.info["duration"]])
        return found, moving.info["loop"]

(one, loops), (other, again) = (frames(path) for path in sys.argv[1:])
same = [a[0] == b[0] and abs(a[1] - b[1]) < 1e-6 for a, b in zip(one, other)]
if len(one) != len(other) or not all(same) or loops != again:
    open("peer", "w").write(f"{len(one)} and {len(other)} frames, {same}, shown {loops} and {again} times")
    sys.exit(1)
END
    }

    begin "animated PNGs of Pillow become the same ones"
    python3 - <<'END' || problem "Pillow cannot write"
from PIL import Image, ImageDraw

frames = []
for i in range(5):
    frame = Image.new("RGBA", (40, 30), (20, 50 * i, 90, 255) if i % 2 else (0, 0, 0, 0))
    draw = ImageDraw.Draw(frame)
    draw.rectangle([i * 3, i * 2, i * 3 + 9, i * 2 + 9], fill=(255, 0, i * 40, 255))
    draw.ellipse([20, 10, 30, 20], fill=(0, 255, 0, 255))
    frames += [frame, frame.copy()] if i == 2 else [frame]
for dispose in 0, 1, 2:
    for blend in 0, 1:
        frames[0].save(f"m{dispose}{blend}.png", save_all=True, append_images=frames[1:], loop=3,
                       duration=[100, 50, 70, 80, 90, 33], disposal=dispose, blend=blend)
for mode in "RGB", "L", "LA":
    own = [frame.convert(mode) for frame in frames]
    own[0].save(f"m{mode}.png", save_all=True, append_images=own[1:], duration=40, loop=0)
END
    # m21 is left out: Pillow 13 shows it with other frames than its fcTL chunks say.
    for each in m00 m01 m10 m11 m20 mRGB mL mLA; do
        run 0 gpufilter -q -i $each.png -o again.apng
        frames $each.png again.apng
    done

    begin "a picture on white, against Pillow's"
    run 0 gpufilter -q -i alpha.pam -o alpha.png
    run 0 gpufilter -q -i alpha.pam -o white.ppm
    python3 -c '
from PIL import Image
picture = Image.open("alpha.png").convert("RGBA")
white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
Image.alpha_composite(white, picture).convert("RGB").save("pillow.ppm")'
    run 0 gpufilter -q --compare=white.ppm pillow.ppm
    [ "$(awk '$1 == "largest" { print ($2 <= 1) }' stdout)" = 1 ] || problem "$(cat stdout)"

    begin "resize against Pillow's Lanczos and box"
    for kernel in lanczos3:LANCZOS area:BOX linear:BILINEAR; do
        run 0 gpufilter -q -i photo.ppm -o small.ppm "resize=50:37:kernel=${kernel%:*}"
        python3 -c "
from PIL import Image
Image.open('photo.ppm').resize((50, 37), Image.${kernel#*:}).save('pillow.ppm')"
        run 0 gpufilter -q --compare=small.ppm pillow.ppm
        [ "$(awk '$1 == "largest" { print ($2 <= 1) }' stdout)" = 1 ] || problem "$kernel: $(cat stdout)"
    done
fi

begin "TIFF against tifffile: 16 bits, tiles, planes, BigTIFF"
if ! has tifffile || ! has numpy || ! format TIFF; then
    skip "there is no tifffile, or no TIFF in this build"
else
    run 0 gpufilter -q -i photo.ppm -o deep.pam gamma=1.3
    python3 - <<'END' || problem "tifffile cannot write"
import numpy, tifffile

y, x = numpy.mgrid[0:150, 0:200]
deep = numpy.stack([x * 300, y * 400, (x * y) % 65536], axis=-1).astype(numpy.uint16)
deep.astype(">u2").tofile("deep.raw")
open("deep.ppm", "wb").write(b"P6 200 150 65535\n" + deep.astype(">u2").tobytes())
tifffile.imwrite("strips.tif", deep, photometric="rgb", rowsperstrip=7)
tifffile.imwrite("tiles.tif", deep, photometric="rgb", tile=(64, 48), bigtiff=True)
tifffile.imwrite("planes.tif", numpy.moveaxis(deep, -1, 0), photometric="rgb", planarconfig="separate", tile=(32, 32))
tifffile.imwrite("order.tif", deep, photometric="rgb", byteorder=">")
END
    for each in strips tiles planes order; do
        run 0 gpufilter -q -i $each.tif -o back.ppm
        run 0 gpufilter -q --compare=back.ppm deep.ppm
        grep -q '^largest  0' stdout || problem "$each: $(cat stdout)"
    done
    for packed in deflate lzw none; do
        run 0 gpufilter -q -i deep.ppm -o own.tif --tiff-compression=$packed
        case $packed in
        none | deflate) ;;
        *) has imagecodecs || continue ;;
        esac
        python3 -c '
import numpy, sys, tifffile
ours, wanted = tifffile.imread("own.tif"), numpy.fromfile("deep.raw", ">u2").reshape(150, 200, 3)
sys.exit(not (ours.dtype == numpy.uint16 and numpy.array_equal(ours, wanted)))' 2>peer ||
            problem "$packed: tifffile reads other pixels: $(tail -n 1 peer)"
    done
fi

begin "vips reads the same pixels from what is written without loss"
if ! command -v vips >/dev/null; then
    skip "vips is not here"
else
    for each in png tif webp jxl avif; do
        run 0 gpufilter -q -i photo.ppm -o w.png
        gpufilter -q -i photo.ppm -o "lossless.$each" --lossless 2>/dev/null || continue
        vips copy "lossless.$each" vips.ppm 2>/dev/null || continue
        run 0 gpufilter -q --compare=photo.ppm vips.ppm
        grep -q '^largest  0' stdout || problem "$each: $(cat stdout)"
    done
fi

begin "thumbnail against vipsthumbnail"
if ! command -v vipsthumbnail >/dev/null; then
    skip "vipsthumbnail is not here"
else
    run 0 gpufilter -q -i in.png -o large.ppm 'resize=640:480,blur=1.5'
    run 0 gpufilter -q -i large.ppm -o large.png
    run 0 gpufilter -q -i large.png -o own.ppm thumbnail=100
    vipsthumbnail large.png -s 100 -o "$PWD/vips.ppm" 2>/dev/null
    run 0 gpufilter -q --compare=own.ppm vips.ppm
    [ "$(awk '$1 == "psnr" { print ($2 > 35 || $2 == "inf") }' stdout)" = 1 ] || problem "$(cat stdout)"
fi
