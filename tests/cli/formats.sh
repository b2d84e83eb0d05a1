# Formats that need a library: beside the programs of those libraries, as far as they are here.
# has NAME: whether the program has that format.
has()
{
    gpufilter --version | grep -q "^formats:.*$1"
}

if has WebP && command -v dwebp >/dev/null && command -v cwebp >/dev/null; then
    begin "WebP: dwebp and gpufilter read the same pixels"
    run 0 gpufilter -i in.ppm -o plain.ppm
    run 0 gpufilter -i in.ppm -o plain.png
    run 0 gpufilter -i in.ppm -o a.webp
    dwebp -quiet a.webp -ppm -o theirs.ppm
    run 0 gpufilter -i a.webp -o ours.ppm
    same ours.ppm theirs.ppm
    run 0 gpufilter -i in.ppm -o b.webp --lossless
    dwebp -quiet b.webp -ppm -o theirs.ppm
    same theirs.ppm plain.ppm

    begin "WebP: what cwebp writes"
    for options in '-q 30' '-lossless' '-q 80 -m 6'; do
        # shellcheck disable=SC2086 # two words
        cwebp -quiet $options plain.png -o c.webp
        dwebp -quiet c.webp -ppm -o theirs.ppm
        run 0 gpufilter -i c.webp -o ours.ppm
        same ours.ppm theirs.ppm
    done
else
    skip "WebP beside dwebp: there is no dwebp, or no WebP in this build"
fi

if has WebP && command -v webpmux >/dev/null; then
    begin "WebP: a picture of an animation"
    run 0 gpufilter -i in.ppm -o 0.webp --lossless
    run 0 gpufilter -i in.ppm -o 1.webp --lossless invert
    run 0 gpufilter -i in.ppm -o inverted.ppm invert
    webpmux -frame 0.webp +100 -frame 1.webp +100 -o moving.webp 2>/dev/null
    run 0 gpufilter -i moving.webp -o first.png
    stderr_like "warning: moving.webp: holds 2 pictures: the first is taken; moving.webp\[1\] is the second"
    run 0 gpufilter -i 'moving.webp[1]' -o second.png
    silent
    run 0 gpufilter -i in.ppm -o plain.ppm
    for name in first:plain second:inverted; do
        run 0 gpufilter -q -i "${name%:*}.png" -o back.ppm
        same back.ppm "${name#*:}.ppm"
    done
    run 1 gpufilter -i 'moving.webp[2]' -o third.png
    stderr_is "gpufilter: moving.webp[2]: holds 2 pictures, counted from 0"
    absent third.png
    mkdir out
    run 0 gpufilter -i 'moving.webp[1]' -o out/
    [ "$(ls out)" = moving.webp ] || problem "the output is called $(ls out)"
else
    skip "a picture of an animation: there is no webpmux, or no WebP in this build"
fi

begin "a format that is not written"
run 2 gpufilter -i in.ppm -o a.bmp
stderr_like 'a.bmp: the extension says no format.*'

begin "memory of formats that are coded as a whole"
if has WebP; then
    run 0 gpufilter -i in.ppm -o large.ppm resize=1600:1200
    run 1 gpufilter -i large.ppm -o large.webp --memory=4M
    stderr_like 'large.webp: it is encoded as a whole: that takes [0-9]* MiB of memory, over the 4 MiB of --memory'
    absent large.webp
    run 0 gpufilter -i large.ppm -o large.webp
    run 1 gpufilter -i large.webp -o back.ppm --memory=4M
    stderr_like 'large.webp: it is decoded as a whole: that takes [0-9]* MiB of memory, over the 4 MiB of --memory'
fi
