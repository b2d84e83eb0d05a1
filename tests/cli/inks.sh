# CMYK out: --to-icc with the profile of a press, and device links. in.ppm is 77x55.
have_lcms() { gpufilter -i in.ppm -o probe.ppm icc=display-p3 2>/dev/null; }
have_tiff() { gpufilter --version | grep -q '^formats:.*TIFF'; }

# press.icc is a press whose inks leak into each other, link.icc a device link from RGB to its inks without black,
# back.icc one from its inks to RGB, names.icc a profile of named colours.
make_profiles()
{
    python3 -c '
import struct
def lut(inputs, outputs, points, colour):
    axis = range(points)
    nodes = [()]
    for _ in range(inputs):
        nodes = [node + (i / (points - 1),) for node in nodes for i in axis]
    table = b"".join(struct.pack(">H", round(65535 * min(max(v, 0), 1))) for node in nodes for v in colour(*node))
    return (b"mft2\0\0\0\0" + bytes((inputs, outputs, points, 0)) + struct.pack(">9i", *(65536 if i % 4 == 0 else 0 for i in range(9)))
            + struct.pack(">2H", 2, 2) + b"\0\0\xff\xff" * inputs + table + b"\0\0\xff\xff" * outputs)
def to_lab(c, m, y, k):
    r, g, b = (1 - .9 * c) * (1 - k), (1 - .85 * m) * (1 - k), (1 - .9 * y) * (1 - k)
    return ((.25 * r + .6 * g + .15 * b) * .996, (128 + 60 * (r - g)) / 256, (128 + 50 * (.5 * (r + g) - b)) / 256)
def to_inks(l, a, b):
    l, a, b = l / .996, a * 256 - 128, b * 256 - 128
    light = l + a / 200, l - a / 220, l - b / 200
    black = .7 * (1 - min(max(light), 1))
    return tuple(1 - v - black / 2 for v in light) + (black,)
def profile(kind, space, pcs, tags):
    data, table, at = b"", b"", 132 + 12 * len(tags)
    for name, value in tags:
        value += bytes(-len(value) % 4)
        table += name + struct.pack(">2I", at + len(data), len(value))
        data += value
    head = struct.pack(">I4sI4s4s4s12x4s28x3I48x", at + len(data), b"test", 0x02100000, kind, space, pcs, b"acsp", 63190, 65536, 54061)
    return head + struct.pack(">I", len(tags)) + table + data
white = b"XYZ \0\0\0\0" + struct.pack(">3I", 63190, 65536, 54061)
open("press.icc", "wb").write(profile(b"prtr", b"CMYK", b"Lab ", [(b"wtpt", white), (b"A2B0", lut(4, 3, 5, to_lab)), (b"B2A0", lut(3, 4, 17, to_inks))]))
open("link.icc", "wb").write(profile(b"link", b"RGB ", b"CMYK", [(b"A2B0", lut(3, 4, 2, lambda r, g, b: (1 - r, 1 - g, 1 - b, 0)))]))
open("back.icc", "wb").write(profile(b"link", b"CMYK", b"RGB ", [(b"A2B0", lut(4, 3, 2, lambda c, m, y, k: (1 - c, 1 - m, 1 - y)))]))
open("names.icc", "wb").write(profile(b"nmcl", b"CMYK", b"Lab ", [(b"wtpt", white)]))'
}

# inks_of TIFF: the four samples of each pixel of an uncompressed TIFF, a pixel a line.
inks_of()
{
    python3 -c '
import struct, sys
data = open(sys.argv[1], "rb").read()
def entries():
    at = struct.unpack("<I", data[4:8])[0]
    for i in range(struct.unpack("<H", data[at:at + 2])[0]):
        tag, kind, count, value = struct.unpack("<HHII", data[at + 2 + 12 * i:at + 14 + 12 * i])
        yield tag, value & 65535 if kind == 3 and count == 1 else value, value
tags = {tag: (short, whole) for tag, short, whole in entries()}
assert tags[262][0] == 5 and tags[277][0] == 4 and tags[332][0] == 1 and tags[259][0] == 1 and 34675 in tags and 338 not in tags
bits = struct.unpack("<H", data[tags[258][1]:tags[258][1] + 2])[0]
size = tags[256][0] * tags[257][0] * 4
samples = struct.unpack("<%d%s" % (size, "H" if bits == 16 else "B"), data[tags[273][0]:tags[273][0] + size * bits // 8])
for i in range(0, size, 4):
    print(*samples[i:i + 4])' "$1"
}

# near FILE FILE MOST: whether all numbers of the two files of text are that near to each other.
near()
{
    paste -d' ' "$1" "$2" | awk -v most="$3" '{ for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d > most || d < -most) exit 1 } } END { exit !NR }' ||
        problem "$1 and $2: $(paste -d' ' "$1" "$2" | head -4)"
}

# differ A B MOST: two pictures of PPM whose samples may differ by that much.
differ()
{
    tail -c 12705 "$1" | od -An -v -w3 -tu1 >a.txt
    tail -c 12705 "$2" | od -An -v -w3 -tu1 >b.txt
    near a.txt b.txt "$3"
}

if ! have_lcms || ! have_tiff || ! command -v python3 >/dev/null; then
    begin "CMYK out"
    if ! have_lcms && command -v python3 >/dev/null; then
        make_profiles
        run 3 gpufilter -i in.ppm -o out.jpg --to-icc=press.icc
        stderr_like 'icc: this build converts no colours: it was made without Little CMS (liblcms2)$'
        absent out.jpg
    else
        skip "no Little CMS, no TIFF, or no python3"
    fi
    finish
    return 0 2>/dev/null || exit 0
fi
make_profiles

begin "a TIFF has the inks that transicc gives, with the profile, at 8 and 16 bits"
printf 'P6\n4 1\n255\n\377\0\0\160\310\143\200\200\200\0\0\377' >colours.ppm
for intent in perceptual absolute; do
    run 0 gpufilter -i colours.ppm -o out.tif --tiff-compression=none --to-icc=press.icc:intent=$intent:bpc=off
    silent
    run 0 gpufilter -i colours.ppm -o deep.tif --depth=16 --tiff-compression=none --to-icc=press.icc:intent=$intent:bpc=off
    inks_of out.tif >inks
    inks_of deep.tif | awk '{ print $1 / 257, $2 / 257, $3 / 257, $4 / 257 }' >deep
    near inks deep 0.5001
    if command -v transicc >/dev/null; then
        number=0
        [ $intent = perceptual ] || number=3
        printf '255 0 0\n112 200 99\n128 128 128\n0 0 255\n' | transicc -i'*sRGB' -opress.icc -t$number -n 2>/dev/null |
            grep '^[0-9]' | awk '{ print $1 * 2.55, $2 * 2.55, $3 * 2.55, $4 * 2.55 }' >wanted
        printf '255 0 0\n112 200 99\n128 128 128\n0 0 255\n' | transicc -i'*sRGB' -opress.icc -t$number -n -w 2>/dev/null |
            grep '^[0-9]' | awk '{ print $1 / 257, $2 / 257, $3 / 257, $4 / 257 }' >wide
        [ ! -s wide ] || cp wide wanted
        near inks wanted 1
    fi
done

begin "a JPEG is YCCK with Adobe's marker, inverted, and has the inks of the TIFF"
run 0 gpufilter -i in.ppm -o out.tif --tiff-compression=none --to-icc=press.icc
run 0 gpufilter -i in.ppm -o out.jpg --quality=100 --subsampling=444 --to-icc=press.icc
silent
grep -qa Adobe out.jpg && grep -qa ICC_PROFILE out.jpg || problem "no marker, or no profile"
gpufilter --info out.jpg | grep -q YCCK || problem "no YCCK"
run 0 gpufilter --explain -i in.ppm -o out.jpg --to-icc=press.icc
stdout_has '77x55 RGB, 8 bits to 77x55 CMYK, 8 bits'
run 0 gpufilter -i out.jpg -o jpeg.ppm
run 0 gpufilter -i out.tif -o tiff.ppm
differ jpeg.ppm tiff.ppm 8
if command -v convert >/dev/null && convert out.jpg -depth 8 cmyk:inks.raw 2>/dev/null; then
    od -An -v -w4 -tu1 inks.raw >theirs
    inks_of out.tif >inks
    near inks theirs 6
fi
for options in --progressive --optimize --subsampling=420 --max-bytes=60k; do
    run 0 gpufilter -i in.ppm -o small.jpg $options --to-icc=press.icc
    gpufilter --info small.jpg | grep -q YCCK || problem "$options: no YCCK"
done
run 0 gpufilter -i in.ppm -o small.jpg --jpeg-encoder=perceptual --to-icc=press.icc
stderr_is 'gpufilter: warning: small.jpg: --jpeg-encoder=perceptual is not for CMYK: libjpeg encodes it'
run 0 gpufilter -i in.ppm -o packed.tif --tiff-compression=jpeg --quality=95 --to-icc=press.icc
run 0 gpufilter -i packed.tif -o packed.ppm
differ packed.ppm tiff.ppm 40

begin "rows in bands, several outputs and 16-bit pictures give the same inks"
for rows in 1 7; do
    run 0 gpufilter -i in.ppm -o bands.tif --tiff-compression=none --band-rows=$rows --lanes=3 --to-icc=press.icc
    same out.tif bands.tif
done
run 0 gpufilter -i in.ppm --tiff-compression=none -o one.tif --to-icc=press.icc -o two.ppm -o three.jpg --to-icc=press.icc
same out.tif one.tif
run 0 gpufilter -i in.ppm -o plain.ppm
same plain.ppm two.ppm
run 0 gpufilter -i in.ppm -o three.tif --tiff-compression=none blur,icc=press.icc
run 0 gpufilter -i in.ppm -o blurred.ppm blur
run 0 gpufilter -i blurred.ppm -o four.tif --tiff-compression=none icc=press.icc
same three.tif four.tif

begin "what cannot be CMYK is refused, with the formats that can"
for format in png webp ppm qoi bmp; do
    run 2 gpufilter -i in.ppm -o out.$format --to-icc=press.icc
    stderr_like "out.$format: .* holds no CMYK: use JPEG or TIFF\$"
    absent out.$format
done
run 4 gpufilter -i in.ppm -o none.jpg icc=press.icc,blur
stderr_is "gpufilter: in.ppm: blur: no filter can follow a conversion to CMYK: put it last"
run 4 gpufilter -i in.ppm -o none.jpg --target-ssim=0.9 --to-icc=press.icc
stderr_is "gpufilter: none.jpg: --target-ssim=0.9 compares RGB, and this is CMYK"
absent none.jpg

begin "alpha is laid on white, in one line"
run 0 gpufilter -i in.ppm -o alpha.png round=20
run 0 gpufilter -i alpha.png -o alpha.tif --tiff-compression=none --to-icc=press.icc
stderr_is "gpufilter: warning: alpha.tif: CMYK has no alpha channel: the picture is laid on white (flatten=white)"
run 0 gpufilter -i alpha.png -o flat.tif --tiff-compression=none flatten=white --to-icc=press.icc
silent
same alpha.tif flat.tif

begin "a device link converts alone, and says so"
run 0 gpufilter -i colours.ppm -o p3.png icc=display-p3:from=display-p3
run 0 gpufilter -i p3.png -o link.jpg --quality=100 --subsampling=444 --to-icc=link.icc
stderr_is "gpufilter: warning: p3.png: the device link converts its samples whatever their profile is, and the result has none"
! grep -qa ICC_PROFILE link.jpg || problem "a profile"
run 0 gpufilter -i link.jpg -o link.ppm
tail -c 12 colours.ppm | od -An -v -w3 -tu1 >a.txt
tail -c 12 link.ppm | od -An -v -w3 -tu1 >b.txt
near a.txt b.txt 3
run 0 gpufilter -i in.ppm -o link.tif --to-icc=link.icc
run 0 gpufilter -i link.tif -o back.ppm --cmyk-profile=back.icc
silent
same plain.ppm back.ppm
run 2 gpufilter -i in.ppm -o none.jpg --to-icc=back.icc
stderr_is "gpufilter: --to-icc: back.icc: a device link from CMYK, and pictures are RGB once they are read"
run 2 gpufilter -i in.ppm -o none.jpg icc=link.icc:from=srgb
stderr_is "gpufilter: icc: link.icc: a device link takes no profile (from=srgb)"
run 2 gpufilter -i in.ppm -o none.jpg --to-icc=names.icc
stderr_is "gpufilter: --to-icc: names.icc: a profile of named colours, which is not used"
absent none.jpg

begin "a JPEG of four inks is turned without loss, and keeps its profile"
run 0 gpufilter -i in.ppm -o inks.jpg --to-icc=press.icc crop=64:48
run 0 gpufilter -i inks.jpg -o turned.jpg --lossless rotate=180
silent
grep -qa ICC_PROFILE turned.jpg || problem "no profile"
run 0 gpufilter -i turned.jpg -o again.jpg --lossless rotate=180
run 0 gpufilter --compare=inks.jpg again.jpg
stdout_has '^largest  0$'
