# Colours between ICC profiles. Little CMS's own program transicc is the reference, where it is. in.ppm is 77x55.
have_lcms() { gpufilter -i in.ppm -o probe.ppm icc=display-p3 2>/dev/null; }

# profile_of PNG FILE: the profile of its iCCP chunk.
profile_of()
{
    python3 -c '
import sys, zlib
png = open(sys.argv[1], "rb").read()
at = png.index(b"iCCP")
data = png[at + 4 : at + 4 + int.from_bytes(png[at - 4 : at], "big")]
open(sys.argv[2], "wb").write(zlib.decompress(data[data.index(b"\0") + 2 :]))' "$1" "$2"
}

begin "what is sRGB already stays as it is, and says so"
run 0 gpufilter -i in.ppm -o plain.ppm
run 0 gpufilter -i in.ppm -o same.ppm --to-icc=srgb
run 0 gpufilter -i in.ppm -o same.ppm --to-icc=sRGB
same plain.ppm same.ppm
run 0 gpufilter -i in.ppm -o tagged.png icc=srgb
grep -qa iCCP tagged.png || problem "no profile"
run 0 gpufilter -i in.ppm -o bare.png --strip icc=srgb
! grep -qa iCCP bare.png || problem "a profile in spite of --strip"

begin "what loses its profile keeps its look"
if have_lcms; then
    run 0 gpufilter -i in.ppm -o wide.png icc=display-p3
    run 0 gpufilter -i wide.png -o wanted.ppm icc=srgb
    for options in --strip --strip=icc --keep=exif; do
        run 0 gpufilter -i wide.png -o bare.png $options
        silent
        ! grep -qa iCCP bare.png || problem "$options: a profile"
        run 0 gpufilter -i bare.png -o bare.ppm
        same wanted.ppm bare.ppm
    done
    run 0 gpufilter -i wide.png -o one.png --strip -o two.png --strip=gps invert -o three.ppm --strip trim=white
    run 0 gpufilter -i one.png -o bare.ppm
    same wanted.ppm bare.ppm
    same wanted.ppm three.ppm
    grep -qa iCCP two.png || problem "--strip=gps: no profile"
    run 0 gpufilter -i wide.png -o bare.png --strip --lossless
    stderr_is "gpufilter: warning: bare.png: its colours are not sRGB's and --lossless keeps the samples: what describes them is kept"
    grep -qa iCCP bare.png || problem "--lossless: no profile"
    run 0 gpufilter -i tagged.png -o bare.png --strip --lossless
    silent
    ! grep -qa iCCP bare.png || problem "a profile of sRGB"
else
    skip "no Little CMS"
fi

begin "wrong profiles are named before anything is written"
run 75 gpufilter -i in.ppm -o out.png --to-icc=none.icc
stderr_is "gpufilter: --to-icc: none.icc: No such file or directory"
echo text >text.icc
run 2 gpufilter -i in.ppm -o out.png icc=text.icc
stderr_is "gpufilter: icc: text.icc: not an ICC profile of RGB, gray or CMYK colours"
run 2 gpufilter -i in.ppm -o out.png --to-icc=srgb:intent=good
stderr_like '--to-icc: intent=good is none of perceptual, relative, saturation, absolute'
absent out.png

begin "the profile of CMYK pictures that carry none is one of CMYK"
run 2 gpufilter -i in.ppm -o out.png --cmyk-profile=text.icc
stderr_is "gpufilter: --cmyk-profile=text.icc: not an ICC profile of CMYK"
run 75 gpufilter -i in.ppm -o out.png --cmyk-profile=none.icc
stderr_is "gpufilter: --cmyk-profile=none.icc: No such file or directory"
absent out.png

begin "without Little CMS a conversion is refused"
if have_lcms; then
    skip "this build has it"
else
    run 3 gpufilter -i in.ppm -o out.png icc=display-p3
    stderr_like 'icc: this build converts no colours: it was made without Little CMS (liblcms2)$'
    absent out.png
fi

begin "a conversion is what transicc says, and the way back leads back"
if ! have_lcms; then
    skip "no Little CMS"
elif ! command -v transicc >/dev/null || ! command -v python3 >/dev/null; then
    skip "no transicc, or no python3"
else
    printf 'P6\n4 1\n255\n\377\0\0\160\310\143\200\200\200\0\0\377' >colours.ppm
    run 0 gpufilter -i colours.ppm -o p3.png --to-icc=display-p3
    run 0 gpufilter -i p3.png -o p3.ppm
    run 0 profile_of p3.png p3.icc
    printf '255 0 0\n112 200 99\n128 128 128\n0 0 255\n' | transicc -i'*sRGB' -op3.icc -t1 -n 2>/dev/null |
        grep '^[0-9]' >wanted
    tail -c 12 p3.ppm | od -An -v -w3 -tu1 >got
    paste -d' ' wanted got | awk '{ for (i = 1; i <= 3; i++) { d = $i - $(i + 3); if (d > 1 || d < -1) exit 1 } }
        END { exit NR != 4 }' || problem "$(paste wanted got)"
    run 0 gpufilter -i p3.png -o back.ppm --to-icc=srgb
    tail -c 12 back.ppm | od -An -v -w12 -tu1 >got
    tail -c 12 colours.ppm | od -An -v -w12 -tu1 | paste -d' ' - got |
        awk '{ for (i = 1; i <= 12; i++) { d = $i - $(i + 12); if (d > 1 || d < -1) exit 1 } }' ||
        problem "$(cat got)"
fi

begin "the profile follows the picture: from the file, by from=, behind other filters, into JPEG"
if ! have_lcms; then
    skip "no Little CMS"
else
    run 0 gpufilter -i in.ppm -o p3.png icc=display-p3
    run 0 gpufilter -i in.ppm -o p3.ppm icc=display-p3
    run 0 gpufilter -i p3.png -o a.ppm blur,icc=srgb
    run 0 gpufilter -i p3.ppm -o b.ppm blur,icc=srgb:from=display-p3
    same a.ppm b.ppm
    run 0 gpufilter -i p3.ppm -o c.ppm blur
    cmp -s a.ppm c.ppm && problem "nothing was converted"
    run 0 gpufilter -i p3.png -o p3.jpg invert
    grep -qa ICC_PROFILE p3.jpg || problem "JPEG lost the profile"
    for rows in 1 7; do
        run 0 gpufilter -i p3.png -o bands.ppm --band-rows=$rows --lanes=3 blur,icc=srgb
        same a.ppm bands.ppm
    done
fi
finish

begin "a lossy JPEG XL keeps what lies beyond sRGB"
if ! gpufilter --version | grep -q '^formats:.*JPEG XL' || ! have_lcms; then
    skip "this build has no JPEG XL, or no Little CMS"
else
    # Display P3's own red, green and blue: read as sRGB they would come back as 234 51 35 and the like.
    python3 -c '
import sys
colours = (255, 0, 0), (0, 255, 0), (0, 0, 255), (90, 120, 200)
sys.stdout.buffer.write(b"P6 64 64 255\n" + b"".join(bytes(colours[x // 32 + 2 * (y // 32)]) for y in range(64) for x in range(64)))' >wide.ppm
    run 0 gpufilter -i wide.ppm -o wide.png icc=display-p3:from=display-p3
    profile_of wide.png p3.icc
    run 0 gpufilter -i wide.png -o wide.jxl --quality=98
    run 0 gpufilter -i wide.jxl -o back.ppm icc=display-p3
    run 0 gpufilter --compare=wide.ppm back.ppm
    [ "$(awk '$1 == "mean" { print ($2 < 2) }' stdout)" = 1 ] || problem "$(cat stdout)"
    run 0 gpufilter -i wide.jxl -o tagged-back.png
    grep -qa iCCP tagged-back.png || problem "no profile"
    run 0 gpufilter -i wide.jxl -o small.png thumbnail=32
    run 0 gpufilter -i wide.png -o wanted.png thumbnail=32
    run 0 gpufilter --compare=small.png wanted.png
    [ "$(awk '$1 == "mean" { print ($2 < 3) }' stdout)" = 1 ] || problem "$(cat stdout)"
    # A file's profile that libjxl keeps as it is, since it has no name for it.
    run 0 gpufilter -i wide.ppm -o named.png icc=p3.icc:from=p3.icc
    run 0 gpufilter -i named.png -o named.jxl --quality=98
    run 0 gpufilter -i named.jxl -o back.ppm icc=display-p3
    run 0 gpufilter --compare=wide.ppm back.ppm
    [ "$(awk '$1 == "mean" { print ($2 < 2) }' stdout)" = 1 ] || problem "$(cat stdout)"
fi

begin "a profile that is of no use is passed over with a warning: one that is no profile, and one that is broken"
if ! gpufilter --version | grep -q '^formats:.*TIFF' || ! have_lcms; then
    skip "this build has no TIFF, or no Little CMS"
else
    run 0 gpufilter -i in.ppm -o wide.tif --tiff-compression=none icc=display-p3
    sed 's/acsp/none/' wide.tif >garbage.tif
    sed 's/XYZ \x00/xYZ \x00/g' wide.tif >broken.tif
    run 0 gpufilter -q -i wide.tif -o wide.ppm
    for each in garbage broken; do
        for chain in thumbnail=20 icc=srgb icc=display-p3; do
            run 0 gpufilter -i "$each.tif" -o out.ppm "$chain"
            grep -v '^gpufilter: warning: out.ppm: it does not say that its colours are not sRGB' stderr >words
            mv words stderr
            stderr_is "gpufilter: warning: $each.tif: its ICC profile is of no use: its colours count as sRGB"
            run 0 gpufilter -i wide.ppm -o wanted.ppm "$chain"
            same wanted.ppm out.ppm
        done
        if gpufilter -i in.ppm -o probe.jxl 2>/dev/null; then
            run 0 gpufilter -i "$each.tif" -o out.jxl
            grep -qx 'gpufilter: warning: out.jxl: libjxl does not take the colour profile: it is left out, and the colours count as sRGB' stderr ||
                problem "stderr is $(cat stderr)"
        fi
    done
fi

# tagged NUMBERS: whether the PNG has a cICP chunk of that data, in octal escapes.
tagged()
{
    # shellcheck disable=SC2059 # the escapes are the format
    LC_ALL=C grep -qaF "$(printf "cICP$1")" tagged.png || problem "the cICP chunk is not $1: $(LC_ALL=C sed -n 's/.*\(cICP....\).*/\1/p' tagged.png | od -c)"
}

begin "samples of PQ keep that tag where the file can have it; elsewhere, and for conversions, they become sRGB"
run 0 gpufilter -i in.ppm -o plain.png
{
    head -c 33 plain.png
    printf '\0\0\0\4cICP\11\20\0\1\115\43\43\376'
    tail -c +34 plain.png
} >pq.png
run 0 gpufilter -i pq.png -o tagged.png blur
silent
tagged '\11\20'
run 0 gpufilter -i pq.png -o toned.ppm tonemap
for chain in tonemap icc=srgb ''; do
    have_lcms || [ "$chain" != icc=srgb ] || continue
    # shellcheck disable=SC2086 # one word or none
    run 0 gpufilter -i pq.png -o out.ppm $chain
    [ -z "$chain" ] || silent
    same toned.ppm out.ppm
done
stderr_is 'gpufilter: warning: out.ppm: its format has no HDR: the colours become those of sRGB (tonemap)'
run 0 gpufilter --explain -i pq.png -o out.ppm blur
stdout_has 'tonemap: reads and writes '
run 0 gpufilter --explain -i pq.png -o out.png blur
! grep -q tonemap stdout || problem "$(cat stdout)"
# White that a chain adds is white, and not the brightest light.
run 0 gpufilter -i pq.png -o padded.ppm tonemap,pad=100:80
run 0 gpufilter -q -i pq.png -o out.ppm pad=100:80
same padded.ppm out.ppm
run 0 gpufilter -i pq.png -o out.png thumbnail=20
silent
! grep -qa cICP out.png || problem "a cICP chunk is left"
if have_lcms; then
    run 0 gpufilter -i pq.png -o out.png icc=srgb:from=display-p3
    silent
    run 0 gpufilter -i in.ppm -o wanted.ppm icc=srgb:from=display-p3
    run 0 gpufilter -i out.png -o out.ppm
    same wanted.ppm out.ppm
fi
for chain in overlay=pq.png mask=pq.png:base=pq.png overlay=pq.png,invert; do
    run 0 gpufilter -i in.ppm -o out.ppm "$chain"
    stderr_is 'gpufilter: warning: pq.png: nothing converts the transfer PQ: its samples are taken as they are'
done
run 0 gpufilter -i in.ppm -i plain.png -o 'second/{stem}{w}.{ext}' overlay=pq.png -o 'small/{stem}.png' overlay=pq.png
[ "$(grep -cx 'gpufilter: warning: pq.png: nothing converts the transfer PQ: its samples are taken as they are' stderr)" = 1 ] || problem "$(cat stderr)"
run 0 gpufilter -q -i in.ppm -o out.ppm overlay=pq.png
silent
run 0 gpufilter -i pq.png -o out.png --strip
if have_lcms; then
    silent
    run 0 gpufilter -i out.png -o out.ppm
    same toned.ppm out.ppm
else
    stderr_is "gpufilter: warning: out.png: its colours are not sRGB's and this build does not convert them: what describes them is kept"
    mv out.png tagged.png
    tagged '\11\20'
fi
run 0 gpufilter -i pq.png -o out.png --strip --lossless
stderr_is "gpufilter: warning: out.png: its colours are not sRGB's and --lossless keeps the samples: what describes them is kept"
for format in avif jxl; do
    gpufilter -i in.ppm -o probe.$format 2>/dev/null || continue
    for options in '' --lossless; do
        # shellcheck disable=SC2086 # one word or none
        run 0 gpufilter -i pq.png -o pq.$format $options
        silent
        run 0 gpufilter -i pq.$format -o tagged.png
        silent
        tagged '\11\20'
    done
    run 0 gpufilter -i pq.$format -o out.ppm
    stderr_is 'gpufilter: warning: out.ppm: its format has no HDR: the colours become those of sRGB (tonemap)'
done
