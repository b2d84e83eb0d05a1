# What a run takes of the machine's memory.

has()
{
    gpufilter --version | grep -q "^formats:.*$1"
}

begin "what the filters hold whole counts against --memory"
printf 'P5\n8 8\n255\n%064d' 0 >small.pgm
run 4 gpufilter -i small.pgm -o o.png --device=cpu --memory=16M resize=9000:9000,equalize
stderr_like 'small.pgm: pictures between its filters are held whole: that takes 78 MiB of memory, over the 16 MiB of --memory$'
absent o.png
run 0 gpufilter -i small.pgm -o large.pgm --device=cpu resize=4096:4096
run 4 gpufilter -i large.pgm -o o.pgm --device=cpu --memory=15M transpose
stderr_like 'large.pgm: pictures between its filters are held whole: that takes 16 MiB of memory, over the 15 MiB of --memory$'
run 0 gpufilter -i large.pgm -o o.pgm --device=cpu --memory=16M transpose
run 0 gpufilter -i large.pgm -o o.pgm --device=cpu --memory=1M blur=2,median=3

begin "overlays and masks are refused after their header"
printf 'GIF89a\020\047\020\047\200\0\0\0\0\0\377\377\377!\371\4\0\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;' >over.gif
if has GIF; then
    run 2 gpufilter -i small.pgm -o o.png --device=cpu --memory=64M overlay=over.gif
    stderr_like 'overlay: over.gif: it is decoded as a whole: that takes 382 MiB of memory, over the 64 MiB of --memory$'
    run 2 gpufilter -i small.pgm -o o.png --device=cpu --max-pixels=1M mask=over.gif
    stderr_like 'mask: over.gif: 10000x10000 is 100000000 pixels, over --max-pixels=1000000$'
else
    skip "no GIF in this build"
fi

begin "a canvas out of proportion to its file is refused unless --memory allows it"
printf 'GIF89a\060\165\060\165\200\0\0\0\0\0\377\377\377!\371\4\0\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;' >bomb.gif
if has GIF; then
    message=': it is decoded as a whole: that takes 3434 MiB of memory, over the 1024 MiB that a file of 43 bytes may take (to allow more: --memory)$'
    run 4 gpufilter -q -i bomb.gif -o o.png --device=cpu
    stderr_like "bomb.gif$message"
    run 4 gpufilter -q -i - -o o.png --device=cpu <bomb.gif
    stderr_like "stdin$message"
    run 4 gpufilter --compare bomb.gif bomb.gif
    stderr_like "bomb.gif$message"
    run 2 gpufilter -i small.pgm -o o.png --device=cpu overlay=bomb.gif
    stderr_like "overlay: bomb.gif$message"
    run 4 gpufilter -q -i bomb.gif -o o.png --device=cpu --memory=2G
    grep -q "over the 2048 MiB of --memory$" stderr || problem "it says: $(cat stderr)"
    run 0 gpufilter -q -i bomb.gif -o o.png --device=cpu --memory=4G crop=10:10
    run 0 gpufilter -q -i over.gif -o o.png --device=cpu crop=10:10
else
    skip "no GIF in this build"
fi

begin "--compare keeps to --memory"
run 4 gpufilter --compare large.pgm large.pgm --memory=64M
stderr_like 'large.pgm: it is compared as a whole: that takes 160 MiB of memory, over the 64 MiB of --memory$'
run 0 gpufilter --compare large.pgm large.pgm --memory=160M

# within LIMIT ARGUMENT...: the run ends well within LIMIT MiB and the program's own 40, or is refused by one
# line that names --memory.
within()
{
    limit=$1
    shift
    /usr/bin/time -q -f %M -o peak "$GPUFILTER" --device=cpu --memory="${limit}M" "$@" >stdout 2>stderr
    status=$?
    if [ $status -eq 0 ]; then
        made=$((made + 1))
        peak=$(tail -n 1 peak)
        [ "$peak" -le $(((limit + 40) * 1024)) ] || problem "$limit MiB, $*: it took $peak kB"
    elif [ $status -eq 2 ] && grep -q ' is missing\| is given' stderr; then
        : # a filter that needs arguments
    elif [ $status -eq 3 ] && grep -q ' was \(built\|made\) without ' stderr; then
        : # a filter or a format whose library is not here
    elif [ $status -ne 4 ] || ! grep -q " MiB of memory, over the .* of --memory" stderr; then
        problem "$limit MiB, $*: status $status, $(head -1 stderr)"
    fi
}

begin "every filter and every format keeps to --memory"
if ! measures_memory; then
    skip "no GNU time here, or a sanitizer takes memory of its own"
else
    made=0
    gpufilter -i in.ppm -o deep.png --device=cpu --png-level=1 resize=2600:2000:kernel=nearest
    for each in $(gpufilter --list | sed -n 's/^\([a-z][a-z0-9]*\) .*/\1/p'); do
        within 64 -i deep.png -o o.ppm "$each"
    done
    [ $made -ge 50 ] || problem "with 64 MiB only $made filters do the picture"
    for extension in ppm png jpg webp tif avif jxl; do
        for limit in 64 256; do
            within $limit -i deep.png -o large.$extension
        done
        [ -f large.$extension ] || gpufilter -q -i deep.png -o large.$extension 2>stderr || continue
        for limit in 64 256; do
            within $limit -i large.$extension -o o.ppm
        done
    done
    within 64 -i deep.png -o o.jpg --progressive
    within 64 -i deep.png -o o.jpg resize=1000 -o o2.png equalize
    within 64 -i deep.png -o o.ppm equalize,transpose,clahe,distance
fi

begin "a batch of many workers keeps to --memory"
if ! measures_memory; then
    skip "no GNU time here, or a sanitizer takes memory of its own"
else
    made=0
    gpufilter -i in.ppm -o scans.jpg --device=cpu --progressive resize=2600:2000
    mkdir many
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        ln -s ../scans.jpg many/$i.jpg
        ln -s ../scans.jpg many/s$i.jpg
    done
    within 64 -i many -o made/ --threads=16 thumbnail=100
    within 64 -i many -o made/ --threads=16 resize=50%
    [ $made -eq 2 ] || problem "only $made of 2 batches were made"
fi

begin "a stream without an end is held up to --memory"
if ! has GIF; then
    skip "no GIF in this build"
elif ! measures_memory; then
    skip "no GNU time here, or a sanitizer takes memory of its own"
else
    (printf GIF89a && cat /dev/zero) 2>/dev/null |
        /usr/bin/time -q -f %M -o peak "$GPUFILTER" -i - -o o.png --device=cpu --sandbox=off --memory=128M 2>stderr
    stderr_is 'gpufilter: stdin: must be in memory as a whole, and is over the 128 MiB of --memory'
    [ "$(tail -n 1 peak)" -le $(((128 + 40) * 1024)) ] || problem "it took $(tail -n 1 peak) kB"
fi

# The kilobytes that the program takes at most.
peak()
{
    /usr/bin/time -q -f %M -o peak "$GPUFILTER" -q --device=cpu "$@" 2>stderr || problem "$*: $(cat stderr)"
    tail -n 1 peak
}

# declares ARGUMENT...: what the run declares is at least what it takes beyond the program and its bands; the
# greatest part of the declared memory that a run has taken is kept.
declares()
{
    claim=$(gpufilter -q --device=cpu --memory=1M "$@" 2>&1 | sed -n 's/.*that takes \([0-9]*\) MiB.*/\1/p')
    taken=$((($(peak "$@") - own) / 1024))
    [ "${claim:-0}" -gt 0 ] || problem "$*: it declares no memory"
    [ "$taken" -le "$((${claim:-0} + 6))" ] || problem "$*: it takes $taken MiB and declares $claim"
    part=$((100 * taken / ${claim:-1}))
    [ "$part" -le "$most" ] || most=$part
}

begin "codecs take what they declare: no more, and of the dearest contents not much less"
if ! measures_memory; then
    skip "no GNU time here, or a sanitizer takes memory of its own"
else
    gpufilter -i small.pgm -o noise.ppm --device=cpu resize=1000:800,colormatrix=sepia,addnoise=1
    gpufilter -i noise.ppm -o screen.ppm --device=cpu pixelate=4,posterize=2
    gpufilter -i screen.ppm -o gray.pgm --device=cpu grayscale
    own=$(peak -i small.pgm -o o.ppm)
    for kind in webp:WebP avif:AVIF jxl:"JPEG XL" jp2:"JPEG 2000"; do
        has "${kind#*:}" || continue
        file=o.${kind%:*}
        for written in "" --lossless; do
            most=0
            for content in noise.ppm screen.ppm gray.pgm; do
                [ "$file$written" != o.avif--lossless ] || continue
                declares -i $content -o "$file" $written
                mv "$file" "kept-$content-$file" && most_read=$most && declares -i "kept-$content-$file" -o o.ppm
                most=$most_read
            done
            [ "$most" -eq 0 ] || [ "$most" -ge 77 ] ||
                problem "$file $written: the dearest content takes $most % of what it declares"
        done
        declares --threads=16 -i noise.ppm -o "$file"
        declares --threads=16 -i "$file" -o o.ppm
    done
fi

begin "outputs that fit one by one are made one by one under --memory"
run 0 gpufilter -i small.pgm -o big.ppm --device=cpu resize=2000:2000,colormatrix=sepia
run 0 gpufilter -i big.ppm -o second.png --device=cpu invert
run 0 gpufilter --device=cpu --memory=14M -i big.ppm -o a.ppm overlay=second.png,invert -o b.ppm overlay=second.png,blur=2
run 0 gpufilter --device=cpu -i big.ppm -o c.ppm overlay=second.png,invert
same a.ppm c.ppm

begin "pictures of a batch that may take all of --memory wait for each other"
run 0 gpufilter -i small.pgm -o wide.ppm --device=cpu resize=50000:100,colormatrix=sepia
while read -r picture least enough chain; do
    cp "$picture.ppm" other.ppm
    run 4 gpufilter --device=cpu --threads=8 "--memory=$least" -i "$picture.ppm" -i other.ppm -o 'o-{n}.ppm' "$chain"
    run 0 gpufilter --device=cpu "--memory=$enough" -i "$picture.ppm" -o o.ppm "$chain"
    run 0 gpufilter --device=cpu --threads=8 "--memory=$enough" -i "$picture.ppm" -i other.ppm -i small.pgm -o 'o-{n}.ppm' "$chain"
    same o.ppm o-1.ppm
    same o.ppm o-2.ppm
done <<END
big 5M 14M blur=2,equalize
wide 10M 20M boxblur=40
END

# in_group MIB COMMAND...: runs the command where a control group (version 1 or 2) seems to limit the memory.
in_group()
{
    mib=$1
    shift
    # shellcheck disable=SC2016
    unshare -rm sh -c 'bytes=$1; shift
        at=$(sed -n "s/^[0-9]*:memory:/memory/p" /proc/self/cgroup) name=memory.limit_in_bytes
        [ -n "$at" ] || { at=$(sed -n s/^0:://p /proc/self/cgroup) name=memory.max; }
        mount -t tmpfs none "/sys/fs/cgroup/${at%%/*}" && mkdir -p "/sys/fs/cgroup/$at" &&
            echo "$bytes" >"/sys/fs/cgroup/$at/$name" && exec "$@"' sh $((mib << 20)) "$@"
}

begin "in a control group pictures are done one at a time, or refused by name"
gpufilter -q -i small.pgm -o whole.jpg --device=cpu resize=1500:2000,colormatrix=sepia
mkdir four
for i in 1 2 3 4; do
    cp whole.jpg four/$i.jpg
done
if ! measures_memory; then
    skip "no GNU time here, or a sanitizer takes memory of its own"
elif ! in_group 20 grep -q . /proc/self/cgroup 2>stderr; then
    skip "no namespace of one's own here"
else
    own=$(peak -i small.pgm -o o.ppm)
    run 4 in_group 20 "$GPUFILTER" -i four -o small --device=cpu --threads=2 equalize,transpose
    [ "$(grep -c 'four/[1-4].jpg: .*: that takes 18 MiB of memory, over the 15 MiB of this machine' stderr)" -eq 4 ] ||
        problem "it says: $(cat stderr)"
    run 0 in_group 28 /usr/bin/time -q -f %M -o peak "$GPUFILTER" -i four -o large --device=cpu --threads=2 equalize,transpose
    [ "$(tail -n 1 peak)" -le $((own + 28 * 1024)) ] || problem "it took $(tail -n 1 peak) kB, and $own of its own"
    [ "$(find large -name '?.jpg' | wc -l)" -eq 4 ] || problem "large has $(ls large)"
fi

begin "a small picture starts no thread on the CPU"
printf 'P6\n1 1\n255\nabc' >one.ppm
if ! command -v strace >/dev/null || ! strace -o trace true 2>/dev/null || ! measures_memory; then
    skip "no strace here, or a sanitizer starts threads of its own"
else
    run 0 strace -f -o trace "$GPUFILTER" --server=off --device=cpu -i one.ppm -o one.png blur
    [ "$(grep -c 'clone' trace)" -eq 0 ] || problem "it starts $(grep -c 'clone' trace)"
    [ "$(grep -c '"/proc/self/cgroup"' trace)" -eq 1 ] || problem "it reads its groups $(grep -c '"/proc/self/cgroup"' trace) times"
fi
