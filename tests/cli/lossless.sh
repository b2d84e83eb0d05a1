# --lossless from JPEG to JPEG: turns, crops and new Huffman codes without decoding.
gpufilter -q -i in.ppm -o even.ppm crop=64:48
symmetries='rotate=90 rotate=180 rotate=270 hflip vflip transpose transpose,rotate=180'

# largest N A B: the samples of two pictures differ by N at most.
largest()
{
    run 0 gpufilter --compare="$2" "$3"
    found=$(sed -n 's/^largest  *//p' stdout)
    [ -n "$found" ] && [ "$found" -le "$1" ] || problem "$2 and $3 differ by $found"
}

begin "without filters a JPEG has the same pixels and fewer bytes"
for options in --subsampling=444 --subsampling=422 --subsampling=420 --progressive; do
    run 0 gpufilter -i in.ppm -o a.jpg --quality=80 $options
    run 0 gpufilter -i a.jpg -o b.jpg --lossless
    silent
    largest 0 a.jpg b.jpg
    [ "$(wc -c <b.jpg)" -le "$(wc -c <a.jpg)" ] || problem "$options: $(wc -c a.jpg b.jpg)"
    run 0 gpufilter -i b.jpg -o c.jpg --lossless
    same b.jpg c.jpg
done

begin "turns are those of the pixels, and four quarters give the same bytes again"
for options in --subsampling=444 --subsampling=422 --subsampling=420 "--progressive --subsampling=420" grayscale; do
    # shellcheck disable=SC2086 # its words
    run 0 gpufilter -i even.ppm -o a.jpg $options
    run 0 gpufilter -i a.jpg -o 0.jpg --lossless
    for i in 1 2 3 4; do
        run 0 gpufilter -i $((i - 1)).jpg -o $i.jpg --lossless rotate=90
        silent
    done
    same 0.jpg 4.jpg
    run 0 gpufilter -i a.jpg -o b.jpg --lossless hflip,vflip -o c.jpg --lossless rotate=180
    same 2.jpg b.jpg
    same 2.jpg c.jpg
    for chain in $symmetries; do
        run 0 gpufilter -i a.jpg -o turned.jpg --lossless "$chain"
        run 0 gpufilter -i a.jpg -o wanted.ppm "$chain"
        case $options in
        *444 | grayscale) largest 3 wanted.ppm turned.jpg ;; # the inverse DCT rounds rows after columns
        esac
    done
done

begin "crops and turns are jpegtran's in all samplings, also in cells"
if ! command -v jpegtran >/dev/null || ! command -v cjpeg >/dev/null; then
    lacking="jpegtran and cjpeg (libjpeg-turbo-progs) are not here"
else
    for sample in 1x1 2x1 1x2 2x2 4x1 1x1,2x2,1x1 gray arithmetic rgb progressive restart; do
        case $sample in
        *x*) options="-sample $sample" ;;
        gray) options="-grayscale -sample 2x2" ;;
        restart) options="-restart 3B" ;;
        *) options=-$sample ;;
        esac
        # shellcheck disable=SC2086 # its words
        cjpeg -quality 80 $options in.ppm >a.jpg 2>stderr || continue # a build without arithmetic codes
        for turn in "rotate=90 -rotate 90" "rotate=180 -rotate 180" "rotate=270 -rotate 270" "hflip -flip horizontal" \
            "vflip -flip vertical" "transpose -transpose" "transpose,rotate=180 -transverse" "crop=37:21:32:32 -crop 37x21+32+32"; do
            # shellcheck disable=SC2086 # its words
            jpegtran -trim ${turn#* } a.jpg >wanted.jpg 2>stderr || problem "$(cat stderr)"
            run 0 gpufilter -i a.jpg -o b.jpg --lossless=trim "${turn%% *}"
            largest 0 wanted.jpg b.jpg
            run 0 gpufilter -i a.jpg -o c.jpg --sandbox=all --lossless=trim "${turn%% *}"
            same b.jpg c.jpg
        done
    done
fi

begin "edges off the units are refused with the crop that works, or left out by trim"
run 0 gpufilter -i in.ppm -o a.jpg --subsampling=420
for chain in rotate=90 rotate=180 rotate=270 hflip vflip transpose,rotate=180 crop=40:30:3:20 crop=40:30:16:1,hflip; do
    run 4 gpufilter -i a.jpg -o no.jpg --lossless $chain
    stderr_like "a.jpg: the result's [a-z ]* edges* cannot lie within units of 16x16: end the chain with crop=[0-9:]*, which --lossless=trim does$"
    absent no.jpg
    crop=$(sed -n 's/.*\(crop=[0-9:]*\), which.*/\1/p' stderr)
    run 0 gpufilter -i a.jpg -o b.jpg --lossless "$chain,$crop"
    run 0 gpufilter -i a.jpg -o 'c-{w}x{h}.jpg' --lossless=trim $chain
    set -- c-*.jpg
    same b.jpg "$1"
    stderr_like "warning: a.jpg: the result is $(expr "$1" : 'c-\(.*\).jpg'), without [0-9]* columns* at its left and [0-9]* rows* at its top"
    gpufilter --info "$1" | grep -q "$(expr "$1" : 'c-\(.*\).jpg')" || problem "$1: $(gpufilter --info "$1")"
    rm -f c-*.jpg
done
mkdir sized
run 0 gpufilter -q -i a.jpg -i in.jpg -o 'sized/{stem}-{w}x{h}.jpg' --lossless=trim rotate=180
[ -f sized/a-64x48.jpg ] || problem "$(ls sized)"
run 4 gpufilter -i a.jpg -o no.jpg --dry-run --lossless rotate=180
grep -q 'end the chain with crop=64:48:13:7' stdout stderr || problem "--dry-run: $(cat stdout stderr)"
run 4 gpufilter -i a.jpg -o no.jpg --lossless=trim crop=10:10:3:3
stderr_is "gpufilter: a.jpg: no whole unit of 16x16 is in the result"
run 2 gpufilter -i a.jpg -o no.jpg --lossless=yes
stderr_is "gpufilter: --lossless takes no value but trim"

begin "what computes pixels is refused, and so is another format"
for chain in blur=2 resize=50%,resize=200% trim rotate=5 invert rotate=90,gamma=2; do
    run 4 gpufilter -i a.jpg -o no.jpg --lossless=trim $chain
    stderr_like "a.jpg: [a-z]* computes pixels: a JPEG keeps its own with rotate=90, 180 and 270, hflip, vflip, transpose and crop alone (--lossless)$"
done
run 4 gpufilter -i a.jpg -o no.jpg --lossless crop=aspect=1:gravity=attention
stderr_like "a.jpg: crop's gravity=attention looks for its part in decoded pixels: .* (--lossless)$"
run 2 gpufilter -i a.jpg --in-place --lossless rotate=90
stderr_is "gpufilter: -o is missing: --in-place lets outputs replace their inputs: -o a.jpg"
for option in --quality=50 --subsampling=444 --jpeg-encoder=perceptual; do
    run 0 gpufilter -i a.jpg -o b.jpg --lossless $option
    stderr_is "gpufilter: warning: a.jpg: stays as it is coded (--lossless): ${option%=*} changes nothing"
done
run 4 gpufilter -i in.png -o no.jpg --lossless
stderr_is "gpufilter: no.jpg: only a JPEG can become a JPEG without loss"
absent no.jpg
run 0 gpufilter -i a.jpg -o b.png --lossless
largest 0 a.jpg b.png

begin "metadata stay, and the orientation is applied"
{
    head -c 2 a.jpg
    printf '\377\341\000\042Exif\000\000MM\000\052\000\000\000\010\000\001\001\022\000\003\000\000\000\001\000\006\000\000\000\000\000\000'
    printf '\377\376\000\007hello'
    tail -c +3 a.jpg
} >turned.jpg
run 4 gpufilter -i turned.jpg -o no.jpg --lossless
stderr_like "turned.jpg: the result's left edge .* end the chain with crop=48:77:7:0, .*"
run 0 gpufilter -i turned.jpg -o b.jpg --lossless=trim --set=artist=Ann
stderr_like "warning: turned.jpg: the result is 48x77, without 7 columns at its left and 0 rows at its top"
gpufilter --info=json b.jpg | grep -q '"width":48,"height":77,.*"orientation":1,' || problem "$(gpufilter --info=json b.jpg)"
grep -qa hello b.jpg && grep -qa Ann b.jpg || problem "no comment, or no artist"
run 0 gpufilter -i turned.jpg -o c.jpg --lossless --no-autorotate
gpufilter --info=json c.jpg | grep -q '"width":77,"height":55,.*"orientation":6,' || problem "$(gpufilter --info=json c.jpg)"
run 0 gpufilter -i turned.jpg -o d.jpg --lossless --strip --no-autorotate
! grep -qa hello d.jpg || problem "a comment"

begin "progressive files and restart intervals stay"
run 0 gpufilter -i even.ppm -o a.jpg --progressive
run 0 gpufilter -i a.jpg -o b.jpg --lossless rotate=90
gpufilter -q -i even.ppm -o base.jpg
run 0 gpufilter -i base.jpg -o c.jpg --lossless rotate=90 -o d.jpg --lossless --progressive rotate=90
same b.jpg d.jpg
[ "$(wc -c <b.jpg)" -ne "$(wc -c <c.jpg)" ] || problem "not progressive"
# One unit of 16x16 between restart markers (DRI) makes 4 x 3 of them in one scan.
if command -v cjpeg >/dev/null; then
    cjpeg -restart 1 even.ppm >a.jpg
    run 0 gpufilter -i a.jpg -o b.jpg --lossless rotate=90
    [ "$(od -An -v -tx1 b.jpg | tr -d '\n' | grep -o 'ff dd 00 04 00 03')" ] || problem "no interval of a row of three units"
fi

begin "a folder, its log and --resume, several outputs and pipes"
mkdir photos
gpufilter -q -i even.ppm -o photos/a.jpg -o photos/b.jpg grayscale -o photos/c.jpg --subsampling=422
run 0 gpufilter -q -i photos -o turned/ --lossless --log=log rotate=90
run 0 gpufilter -i photos -o turned/ --lossless --resume=log rotate=90
stderr_like '0 files done, 3 skipped, .*'
run 0 gpufilter -i photos -o turned/ --lossless=trim --resume=log rotate=90
stderr_like '3 files done .*'
run 0 gpufilter -q -i photos/a.jpg -o a.png rotate=90 -o a.jpg --lossless rotate=90 -o b.ppm -o c.jpg --lossless rotate=90,rotate=270
same a.jpg turned/a.jpg
run 0 gpufilter -i photos/a.jpg -o b.jpg --lossless
same b.jpg c.jpg
cat photos/a.jpg photos/b.jpg | gpufilter -q -i - -o 'n{n}.jpg' --lossless rotate=90
same n1.jpg turned/a.jpg
same n2.jpg turned/b.jpg
gpufilter -i - -o - --lossless rotate=90 <photos/c.jpg | cmp -s - turned/c.jpg || problem "another JPEG in a pipe"

begin "damage is refused as by a decoder, and the coefficients count as memory"
head -c 1500 photos/a.jpg >cut.jpg
run 4 gpufilter -i cut.jpg -o no.jpg --lossless rotate=90
stderr_is 'gpufilter: cut.jpg: truncated in scan 1 (to keep what there is: --allow-truncated)'
absent no.jpg
run 0 gpufilter -i cut.jpg -o b.jpg --lossless --allow-truncated rotate=90
stderr_is "gpufilter: warning: cut.jpg: truncated in scan 1"
gpufilter -q -i even.ppm -o large.jpg resize=1600:1200:fit=fill
run 4 gpufilter -i large.jpg -o no.jpg --lossless --memory=10M
stderr_like 'large.jpg: .* decoded, filtered and encoded as a whole.*'

begin "coefficients of 12 bits are not moved as if they were of 8"
at=$(LC_ALL=C grep -obUaP '\xff\xc0' photos/a.jpg | head -n 1 | cut -d: -f1)
cp photos/a.jpg deep.jpg
printf '\014' | dd of=deep.jpg bs=1 seek=$((at + 4)) conv=notrunc status=none
run 4 gpufilter -i deep.jpg -o no.jpg --lossless rotate=90
stderr_like 'deep.jpg: .*'
absent no.jpg
