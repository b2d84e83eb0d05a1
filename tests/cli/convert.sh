# From format to format, through files and pipes.
begin "PNM to PNG and back"
run 0 gpufilter -i in.png -o back.ppm
silent
run 0 gpufilter -i back.ppm -o back.png
same in.png back.png

begin "16 bits stay 16 bits"
run 0 gpufilter -i gray16.pgm -o g.png
run 0 gpufilter -i g.png -o g.pgm
[ "$(head -n 3 g.pgm | tail -n 1)" = 65535 ] || problem "g.pgm has no 16 bits"
run 0 gpufilter -i g.pgm -o g2.png
same g.png g2.png

begin "the format of the input is its content's, that of the output its extension's"
cp in.png lies.jpg
run 0 gpufilter -i lies.jpg -o a.PPM
run 0 gpufilter -i in.png -o b.ppm
same a.PPM b.ppm

begin "--format decides"
run 0 gpufilter -i in.ppm -o x.dat --format=jpg
[ "$(head -c 3 x.dat | od -An -tx1 | tr -d ' ')" = ffd8ff ] || problem "x.dat is no JPEG"
run 0 gpufilter -i in.ppm -o x.dat --format=pam
[ "$(head -n 1 x.dat)" = P7 ] || problem "x.dat is no PAM"

begin "pipes: the format of the input, or --format"
gpufilter -i - -o - hflip,hflip <in.png >piped.png || problem "failed"
same in.png piped.png
# shellcheck disable=SC2002 # a pipe is what is tested
cat in.png | gpufilter -i - -o - --format=pnm | cat >piped.ppm
gpufilter -i in.png -o direct.ppm
same direct.ppm piped.ppm

begin "an option of the encoder arrives there"
run 0 gpufilter -i in.ppm -o q10.jpg --quality=10
run 0 gpufilter -i in.ppm -o q95.jpg --quality=95
[ "$(wc -c <q10.jpg)" -lt "$(wc -c <q95.jpg)" ] || problem "quality does not change the size"
run 0 gpufilter -i in.ppm -o p.jpg --progressive
run 0 gpufilter -i in.ppm -o p.png --png-level=0
[ "$(wc -c <p.png)" -gt "$(wc -c <in.png)" ] || problem "level 0 is not larger"

begin "the same picture whatever the lanes, bands and threads"
chain='blur=2,equalize,rotate=90,gamma=1.2,invert'
run 0 gpufilter -i in.png -o one.ppm --device=cpu --lanes=1 --threads=1 "$chain"
run 0 gpufilter -i in.png -o many.ppm --device=cpu --lanes=3 --threads=4 --band-rows=7 "$chain"
same one.ppm many.ppm
run 0 gpufilter -i in.png -o rows.ppm --device=cpu --lanes=8 --band-rows=1 "$chain"
same one.ppm rows.ppm
run 0 gpufilter -i in.png -o tight.ppm --device=cpu --memory=1M "$chain"
same one.ppm tight.ppm

begin "what a codec needs beyond --memory is refused, with the size"
run 0 gpufilter -i in.ppm -o large.ppm resize=w=900:h=900
run 4 gpufilter -i large.ppm -o large.jpg --progressive --memory=1M
stderr_like 'large.ppm: large.jpg: a progressive JPEG is encoded as a whole: that takes 3 MiB of memory, over the 1 MiB of --memory$'
absent large.jpg
run 0 gpufilter -i large.ppm -o large.jpg --progressive --memory=8M
run 4 gpufilter -i large.jpg -o small.ppm --memory=1M
stderr_like 'large.jpg: a JPEG of several scans is decoded as a whole: that takes 3 MiB of memory, over the 1 MiB of --memory$'

begin "colours do not go into a .pgm"
run 4 gpufilter -i in.ppm -o colours.pgm
stderr_like 'colours.pgm: a .pgm file holds gray and this picture has colours: add the filter grayscale, or name it .ppm$'
run 0 gpufilter -i in.ppm -o colours.pgm grayscale
[ "$(head -c 2 colours.pgm)" = P5 ] || problem "it is no P5"

begin "an option of a format warns where another one is written"
run 0 gpufilter -i in.ppm -o q.png --quality=90
stderr_like 'warning: --quality changes nothing in this PNG$'
for option in subsampling=444 progressive optimize jpeg-encoder=perceptual tiff-compression=lzw; do
    run 0 gpufilter -i in.ppm -o q.png --$option
    stderr_like "warning: --${option%=*} changes nothing in this PNG\$"
done
for option in png-level=3 png-palette png-palette=16; do
    run 0 gpufilter -i in.ppm -o q.jpg --$option
    stderr_like "warning: --${option%=*} changes nothing in this JPEG\$"
done
run 0 gpufilter -i in.ppm -o q.out --format=pnm --png-level=3
stderr_like 'warning: --png-level changes nothing in this PNM$'
run 0 gpufilter -i in.ppm -o q.jpg --subsampling=444 --progressive --optimize
silent
run 0 gpufilter -i in.ppm --progressive -o q.jpg -o q.png --png-level=3
! grep -q warning stderr || problem "$(cat stderr)"
run 0 gpufilter -i in.ppm -o q.jpg -o q.png --progressive
grep -q 'warning: --progressive changes nothing in this PNG$' stderr || problem "$(cat stderr)"
run 0 gpufilter -i in.ppm -o q.jpg --quality=90
silent
GPUFILTER_OPTS=--quality=90 run 0 gpufilter -i in.ppm -o q.png
silent
run 0 gpufilter -i in.ppm -o q.png --quality=90 --quiet
silent

begin "-v says what the files hold"
run 0 gpufilter -v --device=cpu -i gray16.pgm -o gray.jpg invert
grep -q 'gray16.pgm: PNM, 40x30 gray, 16 bits, decoded by the CPU$' stderr || problem "$(cat stderr)"
grep -q 'gray.jpg: JPEG, 40x30 gray, 8 bits, encoded by the CPU, in ' stderr || problem "$(cat stderr)"
printf 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcdefgh' >alpha.pam
run 0 gpufilter -v --device=cpu -i alpha.pam -o alpha.ppm invert
grep -q 'alpha.pam: PAM, 2x1 RGBA, 8 bits, decoded by the CPU$' stderr || problem "$(cat stderr)"
grep -q 'alpha.ppm: PNM, 2x1 RGB, 8 bits, encoded by the CPU, in ' stderr || problem "$(cat stderr)"

begin "a JPEG or PNM of a picture with alpha is laid on white, unless the chain says otherwise"
printf 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nred\000RED\377' >hidden.pam
run 0 gpufilter -i hidden.pam -o hidden.ppm
stderr_like 'warning: hidden.ppm: its format has no alpha channel: the picture is laid on white (flatten=white)$'
[ "$(tail -c 6 hidden.ppm | od -An -tx1 | tr -d ' \n')" = ffffff524544 ] || problem "$(od -c hidden.ppm)"
run 0 gpufilter -i hidden.pam -o hidden.ppm flatten=black
silent
[ "$(tail -c 6 hidden.ppm | od -An -tx1 | tr -d ' \n')" = 000000524544 ] || problem "$(od -c hidden.ppm)"
run 0 gpufilter -i hidden.pam -o hidden.ppm flatten=none
[ "$(tail -c 6 hidden.ppm)" = redRED ] || problem "$(od -c hidden.ppm)"
run 0 gpufilter -i hidden.pam -o hidden.jpg --quiet
run 0 gpufilter -i hidden.jpg -o hidden.ppm
[ "$(head -c 14 hidden.ppm | tail -c 3 | od -An -tu1 | awk '{ print ($1 > 150 && $2 > 150 && $3 > 150) }')" = 1 ] ||
    problem "$(od -tu1 hidden.ppm)"
printf 'P7\nWIDTH 1\nHEIGHT 1\nDEPTH 2\nMAXVAL 65535\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\nab\000\000' >hidden16.pam
run 0 gpufilter -i hidden16.pam -o hidden.pgm --quiet
[ "$(tail -c 2 hidden.pgm | od -An -tx1 | tr -d ' ')" = ffff ] || problem "$(od -c hidden.pgm)"
run 0 gpufilter --explain --device=cpu -i hidden.pam -o hidden.jpg invert
grep -q 'invert+flatten' stdout || problem "$(cat stdout)"
printf 'flatten=#f80 # on orange\n' >colour.chain
run 0 gpufilter -i hidden.pam -o hidden.ppm --chain-file=colour.chain
[ "$(tail -c 6 hidden.ppm | od -An -tx1 | tr -d ' \n')" = ff8800524544 ] || problem "$(od -c hidden.ppm)"

begin "--lossless lays no picture on white: it is refused where the format has no alpha"
for chain in '' invert 'invert,blur'; do
    run 4 gpufilter -i hidden.pam -o lossless.ppm --lossless $chain
    stderr_is "gpufilter: lossless.ppm: PNM has no alpha channel: it is not lossless"
    absent lossless.ppm
done
run 0 gpufilter -i hidden.pam -o lossless.ppm --lossless flatten=black
silent
run 0 gpufilter -i hidden.pam -o back.pam --lossless
same hidden.pam back.pam
run 0 gpufilter -q -i hidden.pam -o lossless.pam --lossless -o flat.ppm
same hidden.pam lossless.pam

begin "alpha is laid on white alike in a folder, in a stream, in an archive and with several outputs"
python3 -c '
import sys
sys.stdout.buffer.write(b"P7\nWIDTH 32\nHEIGHT 24\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
    + b"".join(bytes((255 - 3 * y, 7 * x, 90, 8 * x)) for y in range(24) for x in range(32)))' >clear.pam
mkdir clear
run 0 gpufilter -i clear.pam -o clear/a.png
for each in jpg ppm; do
    run 0 gpufilter -q -i clear.pam -o white.$each flatten=white
    run 0 gpufilter -q -i clear/a.png -o one.$each
    same white.$each one.$each
    run 0 gpufilter -q -i clear -o "laid/{stem}.$each"
    same white.$each laid/a.$each
    run 0 sh -c '"$GPUFILTER" -q -i - -o - --format='"$(echo $each | sed 's/jpg/jpeg/; s/ppm/pnm/')"' <clear/a.png >piped'
    same white.$each piped
    run 0 gpufilter -q -i clear/a.png -o several.$each -o several.png -o several2.$each ''
    same white.$each several.$each
    same white.$each several2.$each
    run 0 gpufilter -q --compare=several.png clear.pam
    grep -q '^largest  0' stdout || problem "$(cat stdout)"
    if gpufilter --version | grep -q '^archives: tar' && command -v tar >/dev/null; then
        tar cf clear.tar -C clear a.png
        run 0 gpufilter -q -i clear.tar -o laid.tar --format="$(echo $each | sed 's/jpg/jpeg/; s/ppm/pnm/')" -o "fromtar/{stem}.$each"
        tar xf laid.tar -O >unpacked
        same white.$each unpacked
        same white.$each fromtar/a.$each
    fi
done

begin "a profile of colours is not written into a gray picture, and a warning says so"
{ head -c 33 in.png && { printf 'p\000\000' && { head -c 16 /dev/zero && printf 'RGB XYZ ' && head -c 200 /dev/zero; } |
    python3 -c 'import sys, zlib; sys.stdout.buffer.write(zlib.compress(sys.stdin.buffer.read()))'; } | png_chunk iCCP &&
    tail -c +34 in.png; } >profile.png
if command -v python3 >/dev/null; then
    run 0 gpufilter -i profile.png -o profile_gray.png grayscale
    stderr_is "gpufilter: warning: profile_gray.png: the input's colour profile is not for gray and is left out"
    run 0 gpufilter -i profile.png -o profile_gray.png --strip grayscale
    silent
    run 0 gpufilter -i profile.png -o profile_rgb.png invert
    silent
fi

begin "a filtered picture keeps no thumbnail of what it was"
{ head -c 33 in.png && printf 'XML:com.adobe.xmp\0\0\0\0\0%s' \
    '<a xmlns:x="http://ns.adobe.com/xap/1.0/"><x:Thumbnails>secret</x:Thumbnails><b/></a>' | png_chunk iTXt &&
    tail -c +34 in.png; } >thumbnail.png
run 0 gpufilter -i thumbnail.png -o kept.png
silent
grep -q secret kept.png || problem "the thumbnail of the same picture is gone"
run 0 gpufilter -i thumbnail.png -o first.jpg pixelate -o second.jpg invert
for file in first.jpg second.jpg; do
    if grep -q secret $file || ! grep -q '<b/>' $file; then
        problem "$file has other XMP"
    fi
done

begin "crop without a size is an error"
run 2 gpufilter -i in.ppm -o out.png crop
stderr_like 'crop: neither w nor h nor aspect is given: crop=WIDTH:HEIGHT'
run 0 gpufilter -i in.ppm -o out.png crop=h=5
