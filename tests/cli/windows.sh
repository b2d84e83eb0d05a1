# Windows that the content of the picture decides: gravity=attention and gravity=entropy of crop, resize and thumbnail.
level()
{
    tail -n +4 "$1" | tr -dc "$2" | wc -c
}

# A square of Z on a ground of a, far to the right of the middle.
{ printf 'P5\n10 10\n255\n' && printf '%100s' "" | tr ' ' Z; } >square.pgm
gpufilter -i square.pgm -o ground.pgm pad=60:30:gravity=west:colour=#616161,pad=200:60:gravity=east:colour=#616161

begin "an object on a plain ground is found, and comes to lie in the middle"
for gravity in attention entropy; do
    run 0 gpufilter -i ground.pgm -o found.pgm crop=40:60:gravity=$gravity
    [ "$(level found.pgm Z)" -eq 100 ] || problem "$gravity: $(level found.pgm Z) of 100 pixels"
    run 0 gpufilter -i found.pgm -o middle.pgm crop=14
    [ "$(level middle.pgm Z)" -eq 100 ] || problem "$gravity: $(level middle.pgm Z) of 100 pixels in the middle"
    for chain in resize=30:40:kernel=nearest:gravity=$gravity thumbnail=30x40:gravity=$gravity thumbnail=30:40:cover:$gravity; do
        run 0 gpufilter -i ground.pgm -o small.pgm "$chain"
        [ "$(head -n 2 small.pgm | tail -n 1)" = "30 40" ] || problem "$chain: $(head -n 2 small.pgm)"
        [ "$(level small.pgm Z)" -gt 8 ] || problem "$chain: $(level small.pgm Z) pixels"
    done
done

begin "of equal windows the first is taken, or the middle of those that follow it"
printf 'P5\n7 2\n255\nabcdefgabcdefg' >plain.pgm
printf 'P5\n11 1\n255\naahaaaaaiaa' >two.pgm
run 0 gpufilter -i plain.pgm -o tie.pgm crop=w=3:gravity=entropy
[ "$(tail -n +4 tie.pgm)" = cdecde ] || problem "$(tail -n +4 tie.pgm)"
run 0 gpufilter -i two.pgm -o tie.pgm crop=w=3:gravity=entropy
[ "$(tail -n +4 tie.pgm)" = aha ] || problem "$(tail -n +4 tie.pgm)"
run 0 gpufilter -i plain.pgm -o tie.pgm crop=7:2:gravity=attention
same tie.pgm plain.pgm

begin "bands, lanes, memory and what ran before do not change the choice"
run 0 gpufilter -i in.ppm -o big.ppm resize=400:290,blur=1
for chain in crop=150:290:gravity=attention crop=50%:30%:gravity=entropy,invert resize=90:120:gravity=attention; do
    run 0 gpufilter --threads=1 -i big.ppm -o one.ppm "$chain"
    for options in --band-rows=1 --band-rows=37 '--threads=3 --band-rows=8' --memory=1M; do
        # shellcheck disable=SC2086 # a list of options
        run 0 gpufilter $options -i big.ppm -o other.ppm "$chain"
        same one.ppm other.ppm
    done
done
gpufilter -i ground.pgm -o mirrored.pgm hflip
for name in ground mirrored; do gpufilter -i $name.pgm -o $name-alone.pgm crop=40:60:gravity=attention; done
run 0 gpufilter -i ground.pgm -i mirrored.pgm -o '{stem}-of-two.pgm' crop=40:60:gravity=attention
for name in ground mirrored; do same $name-of-two.pgm $name-alone.pgm; done

# number VALUE BYTES: little-endian; field TAG VALUE: of a TIFF, a number of 32 bits.
number()
{
    value=$1
    for _ in $(seq "$2"); do
        printf "\\$(printf %03o $((value % 256)))"
        value=$((value / 256))
    done
}
field()
{
    number "$1" 2 && number 4 2 && number 1 4 && number "$2" 4
}

begin "the picture is upright before its window is looked for"
run 0 gpufilter -i ground.pgm -o turned.pgm rotate=270
{
    printf 'II*\0' && number 12008 4 && tail -n +4 turned.pgm && number 9 2
    field 256 60 && field 257 200 && field 258 8 && field 259 1 && field 262 1 && field 273 8
    field 274 6 && field 278 200 && field 279 12000 && number 0 4
} >turned.tif
run 0 gpufilter -i turned.tif -o upright.pgm crop=40:50:gravity=attention
run 0 gpufilter -i ground.pgm -o expected.pgm crop=40:50:gravity=attention
same upright.pgm expected.pgm

begin "what contradicts is told in a line"
while IFS='|' read -r chain message; do
    run 2 gpufilter -i in.ppm -o out.png "$chain"
    stderr_is "gpufilter: $message"
done <<'END'
crop=20:20:x=3:gravity=attention|crop: gravity=attention finds x and y itself: leave them out
resize=20:20:fit=inside:gravity=entropy|resize: gravity=entropy keeps a part of the picture: fit=cover
thumbnail=20:fit=contain:gravity=attention|thumbnail: gravity=attention keeps a part of the picture: fit=cover
END
absent out.png
