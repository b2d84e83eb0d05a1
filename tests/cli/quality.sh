# Qualities that are found by trials: --max-bytes and --target-ssim.
photo=$here/../samples/harbour.png
run 0 gpufilter -i "$photo" -o small.png --device=cpu resize=200
formats=jpg
for extension in webp avif jxl jp2; do
    gpufilter -q -i small.png -o a.$extension 2>stderr && formats="$formats $extension"
done

# quality_told: sets quality to the one that -v has told on standard error.
quality_told()
{
    quality=$(sed -n 's/.* with quality \([0-9]*\) by [0-9]* tries.*/\1/p' stderr)
}

begin "--max-bytes writes the best quality that fits"
for extension in $formats; do
    for limit in 3000 5k; do
        run 0 gpufilter -v -i small.png -o out.$extension --device=cpu --max-bytes=$limit
        quality_told
        size=$(wc -c <out.$extension)
        [ "$size" -le "${limit%k}000" ] && [ "$size" -le 5000 ] || problem "out.$extension has $size bytes"
        [ $limit = 5k ] || [ "$size" -le 3000 ] || problem "out.$extension has $size bytes"
        [ $extension = avif ] && continue
        run 0 gpufilter -i small.png -o same.$extension --device=cpu --quality="${quality:-none}"
        same same.$extension out.$extension
        run 0 gpufilter -i small.png -o next.$extension --device=cpu --quality=$((quality + 1))
        [ "$(wc -c <next.$extension)" -gt "$size" ] || problem "$extension: quality $((quality + 1)) is no larger"
        [ "$(wc -c <next.$extension)" -gt "$(echo $limit | sed s/k/000/)" ] ||
            problem "$extension: quality $((quality + 1)) fits, too"
    done
done
for options in '' '-o v.png invert'; do
    # shellcheck disable=SC2086 # the options are several words
    run 0 gpufilter -v -i small.png --device=cpu -o v.jpg --max-bytes=4k $options
    quality=$(sed -n 's/.* encoded by the CPU with quality \([0-9]*\) by 7 tries, in .*/\1/p' stderr)
    run 0 gpufilter -i small.png -o told.jpg --device=cpu --quality="${quality:-none}"
    same v.jpg told.jpg
done
run 0 gpufilter -i small.png -o out.jpg --device=cpu --max-bytes=1M
run 0 gpufilter -i small.png -o best.jpg --device=cpu --quality=100
same out.jpg best.jpg

begin "--target-ssim writes the least quality that is as like"
for extension in $formats; do
    run 0 gpufilter -v -i small.png -o out.$extension --device=cpu --target-ssim=0.85
    quality_told
    run 0 gpufilter --compare small.png:min-ssim=0.85 out.$extension
    [ $extension = avif ] && continue
    run 0 gpufilter -i small.png -o same.$extension --device=cpu --quality="${quality:-none}"
    same same.$extension out.$extension
    run 0 gpufilter -i small.png -o less.$extension --device=cpu --quality=$((quality - 1))
    run 1 gpufilter --compare small.png:min-ssim=0.85 less.$extension
done
run 4 gpufilter -i small.png -o one.jpg --target-ssim=1
stderr_like 'one.jpg: has an SSIM of 0\.[0-9]* even at quality 100, under --target-ssim=1$'
absent one.jpg
run 4 gpufilter -i small.png -o one.jpg --target-ssim=0.9 resize=12:8
stderr_is "gpufilter: one.jpg: --target-ssim=0.9 needs sides of 11 pixels, and the picture has 12x8"

begin "--target=ssimulacra2:N writes the least quality with that score, within --max-bytes"
for extension in $formats; do
    run 0 gpufilter -v -i small.png -o out.$extension --device=cpu --target=ssimulacra2:70
    sed -n 's/.* with quality \([0-9]*\) by \([0-9]*\) tries of a score of \([0-9.]*\), in .*/\1 \2 \3/p' stderr >told
    read -r quality tries score <told
    [ "$tries" -le 8 ] || problem "$extension took $tries tries"
    run 0 gpufilter --compare=measures=ssimulacra2:min-ssimulacra2=70 small.png out.$extension
    grep -q " $(echo "$score" | cut -c 1-4)" stdout || problem "$extension: the score is $score, and $(cat stdout)"
    [ $extension = avif ] && continue
    run 0 gpufilter -i small.png -o same.$extension --device=cpu --quality="$quality"
    same same.$extension out.$extension
    run 0 gpufilter -i small.png -o less.$extension --device=cpu --quality=$((quality - 1))
    run 1 gpufilter --compare=small.png:min-ssimulacra2=70 less.$extension
done
run 0 gpufilter -i small.png -o logged.jpg --device=cpu --target=ssimulacra2:70 --log=fit.log --profile=json
quality=$(sed -n 's/.*"quality":\([0-9]*\),"tries":\([0-9]*\),"score":\([0-9.]*\),.*/"quality": \1, "tries": \2, "score": \3,/p' fit.log)
[ -n "$quality" ] || problem "the log has $(cat fit.log)"
tr -s '\n ' '  ' <stdout | grep -qF "$quality" || problem "the log has $quality, the profile $(cat stdout)"
run 0 gpufilter -i small.png -i logged.jpg -o logged/ --format=jpeg --max-bytes=9k -v
[ "$(grep -c ' with quality [0-9]* by [0-9]* tries, ' stderr)" = 2 ] || problem "stderr: $(cat stderr)"
run 0 gpufilter -i small.png -o ssim.jpg --device=cpu --target=ssim:0.85
run 0 gpufilter -i small.png -o named.jpg --device=cpu --target-ssim=0.85
same ssim.jpg named.jpg
for limit in 1M 9k; do
    run 0 gpufilter -i small.png -o within.jpg --device=cpu --target=ssimulacra2:70 --max-bytes=$limit
    silent
    same within.jpg out.jpg
done
run 0 gpufilter -i small.png -o most.jpg --device=cpu --max-bytes=2k
run 0 gpufilter -i small.png -o within.jpg --device=cpu --target=ssimulacra2:70 --max-bytes=2k
stderr_like 'warning: within.jpg: has a score of [0-9.]* at quality [0-9]*, under --target=ssimulacra2:70: --max-bytes=2000$'
mkdir unlike
cp small.png unlike/a.png
run 0 gpufilter -q -i small.png -o unlike/b.png blur=1
run 0 gpufilter -i unlike -o 'within/{stem}.jpg' --device=cpu --target=ssimulacra2:90 --max-bytes=2k
grep -q 'warning: 1 more picture (-v names it), with other numbers: has a score of ' stderr || problem "$(cat stderr)"
same within.jpg most.jpg
run 4 gpufilter -i small.png -o one.jpg --target=ssimulacra2:70 --max-bytes=100
stderr_like 'one.jpg: takes [0-9]* bytes even at quality 1, over --max-bytes=100$'
run 4 gpufilter -i small.png -o one.jpg --target=ssimulacra2:100
stderr_like 'one.jpg: has a SSIMULACRA2 of [0-9.]* even at quality 100, under --target=ssimulacra2:100$'
for bytes in '' --max-bytes=9k; do
    # shellcheck disable=SC2086 # none or one
    run 4 gpufilter -i small.png -o one.jpg --target=ssimulacra2:70 resize=12:7 $bytes
    stderr_is "gpufilter: one.jpg: --target=ssimulacra2:70 needs sides of 8 pixels, and the picture has 12x7"
done
absent one.jpg

begin "a limit that no quality keeps fails the picture and tells the least size"
run 0 gpufilter -i small.png -o least.jpg --device=cpu --quality=1
size=$(wc -c <least.jpg)
run 0 gpufilter -i small.png -o out.jpg --device=cpu --max-bytes="$size"
[ "$(wc -c <out.jpg)" -eq "$size" ] || problem "out.jpg has $(wc -c <out.jpg) bytes"
rm out.jpg
run 4 gpufilter -i small.png -o out.jpg --max-bytes=$((size - 1))
stderr_is "gpufilter: out.jpg: takes $size bytes even at quality 1, over --max-bytes=$((size - 1))"
absent out.jpg

begin "--jpeg-encoder=perceptual takes fewer bytes, by any number of threads, and keeps to bytes, scores and memory"
run 0 gpufilter -i "$photo" -o own.jpg --jpeg-encoder=perceptual --quality=80 --threads=1
run 0 gpufilter -i "$photo" -o more.jpg --jpeg-encoder=perceptual --quality=80 --threads=3
same own.jpg more.jpg
run 0 gpufilter -i "$photo" -o their.jpg --quality=80 --optimize
run 0 gpufilter --compare="$photo:measures=ssimulacra2" own.jpg
score=$(sed 's/.* //' stdout)
run 0 gpufilter --compare="$photo:measures=ssimulacra2:min-ssimulacra2=$(awk -v score="$score" 'BEGIN { print score - 3 }')" their.jpg
[ "$(wc -c <own.jpg)" -lt "$(($(wc -c <their.jpg) * 9 / 10))" ] || problem "$(wc -c own.jpg their.jpg)"
run 0 gpufilter -i small.png -o fits.jpg --jpeg-encoder=perceptual --max-bytes=3000
[ "$(wc -c <fits.jpg)" -le 3000 ] || problem "fits.jpg has $(wc -c <fits.jpg) bytes"
run 0 gpufilter -i small.png -o target.jpg --jpeg-encoder=perceptual --target=ssimulacra2:75
run 0 gpufilter --compare=small.png:measures=ssimulacra2:min-ssimulacra2=75 target.jpg
run 0 gpufilter -i small.png -o large.ppm resize=900:900
run 4 gpufilter -i large.ppm -o large.jpg --jpeg-encoder=perceptual --memory=1M
stderr_like 'large.ppm: large.jpg: a perceptual JPEG is encoded as a whole: that takes [0-9]* MiB of memory, over the 1 MiB of --memory$'
absent large.jpg

begin "formats without a quality are refused by name before anything runs"
for extension in png ppm tif; do
    run 2 gpufilter -i small.png -o o.$extension --max-bytes=9k
    stderr_like "o.$extension: --max-bytes=9000 chooses a quality, and [A-Z]* has none: use JPEG, WebP, AVIF, JPEG XL, JPEG 2000\$"
    run 2 gpufilter -i small.png -o o.$extension --target-ssim=0.9
    absent o.$extension
done
run 2 gpufilter -i small.png -o o.png --target=ssimulacra2:70
stderr_like 'o.png: --target=ssimulacra2:70 chooses a quality, and PNG has none: '
run 2 gpufilter -i small.png -o o.jpg --target-ssim=0.9 --target=ssim:0.9 --target=ssimulacra2:90 --target-ssim=0.9
stderr_is "gpufilter: --target=ssimulacra2:90 and --target-ssim=0.9 both choose the quality"
for value in vmaf:90 ssim ssim:high ssimulacra2; do
    run 2 gpufilter -i small.png -o o.jpg --target=$value
    stderr_is "gpufilter: --target=$value is none of ssimulacra2:N, ssim:N"
done
for value in ssim:1.5 ssimulacra2:101; do
    run 2 gpufilter -i small.png -o o.jpg --target=$value
    stderr_like "--target=$value is outside 0.01..1"
done
run 2 gpufilter -i small.png -o o.webp --max-bytes=9k --lossless
stderr_is "gpufilter: --max-bytes=9000 chooses a quality, and a lossless file (--lossless) has none"

begin "a quality that would be ignored is refused"
for option in --target=ssimulacra2:70 --target-ssim=0.9 --max-bytes=9000; do
    run 2 gpufilter -i small.png -o o.jpg --quality=80 $option
    stderr_is "gpufilter: --quality=80 and $option both choose the quality"
    absent o.jpg
done

begin "it works in batches, for several outputs and for standard output"
mkdir in out
cp small.png in/a.png
run 0 gpufilter -i small.png -o in/b.png --device=cpu rotate=180
printf 'P5\n1 1\n255\na' >in/c.pgm
run 0 gpufilter -i in -o 'out/{stem}.jpg' --max-bytes=4k
run 0 gpufilter -i small.png -o one.jpg --max-bytes=4k
same one.jpg out/a.jpg
for stem in b c; do
    [ "$(wc -c <out/$stem.jpg)" -le 4000 ] || problem "$stem.jpg has $(wc -c <out/$stem.jpg) bytes"
done
run 0 gpufilter -i small.png --device=cpu -o two.jpg --max-bytes=4k -o three.jpg --max-bytes=3k -o four.jpg --quality=30
same one.jpg two.jpg
run 0 gpufilter -i small.png -o best.jpg --device=cpu --max-bytes=3k
same best.jpg three.jpg
run 0 gpufilter -i small.png -o - --format=jpeg --max-bytes=4k
same one.jpg stdout

begin "it works in archives"
if ! gpufilter --version | grep -q '^archives: tar' || ! command -v tar >/dev/null; then
    skip "there is no tar, or no libarchive in this build"
else
    run 0 gpufilter -i small.png -o o.tar --format=jpeg --max-bytes=4k
    tar xf o.tar
    same one.jpg small.jpg
fi

begin "the picture that is kept counts against --memory"
run 0 gpufilter -i small.png -o large.png --device=cpu resize=1500
run 4 gpufilter -i large.png -o o.jpg --device=cpu --memory=4M --max-bytes=50k
stderr_like 'large.png: o.jpg: it is held whole and encoded several times: that takes [0-9]* MiB of memory, over the 4 MiB of --memory$'
run 0 gpufilter -i large.png -o o.jpg --device=cpu --memory=4M
