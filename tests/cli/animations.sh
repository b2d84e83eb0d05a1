# Animations: a frame of each to a file, in folders, archives and logs. The animation is an APNG that is here, of 4x2
# pixels and three frames, shown twice.

printf %s 'iVBORw0KGgoAAAANSUhEUgAAAAQAAAACCAAAAABawyK/AAAACGFjVEwAAAADAAAAAiDj2+wAAAAaZmNUTAAAAAAAAAAEAAAAAgAAAAAAAAAAAAEACgAAdYjXEwAA
ABBJREFUeNpjYAhY8IEBRAAAD6oDwW0l9fwAAAAaZmNUTAAAAAEAAAACAAAAAQAAAAEAAAAAAAEAFAAAtWwNFwAAAA9mZEFUAAAAAnjaY/jPAAACAQEAJ7+R6gAAABpmY1RM
AAAAAwAAAAEAAAACAAAAAwAAAAAAAwBkAACcjLDfAAAAEGZkQVQAAAAEeNpj4GRIBgAAggBtYZHLLgAAAABJRU5ErkJggg==' | tr -d '\n' | base64 -d >moving.png
for i in 0 1 2; do
    gpufilter -i "moving.png[$i]" -o "frame-$i.pgm"
done
head -c 240 moving.png >cut.png
printf 'P5\n4 2\n255\n\000\377\000\011\000P\240c' >third.pgm

# frames FILE N: how many frames it has
frames()
{
    [ "$(gpufilter --info "$1" | awk '$1 == "pages" { print $2 }')" = "$2" ] || problem "$1 has not $2 frames"
}

begin "a picture of an animated PNG"
cmp -s frame-2.pgm third.pgm || problem "the third frame"
run 0 gpufilter -i moving.png -o first.pgm
stderr_is "gpufilter: warning: moving.png: holds 3 pictures: the first is taken; moving.png[1] is the second"
same first.pgm frame-0.pgm
run 4 gpufilter -i 'moving.png[3]' -o none.png
stderr_is "gpufilter: moving.png[3]: holds 3 pictures, counted from 0"
absent none.png

begin "pages that are none are refused with the form that works"
for each in '0,2' -1 2..1 0..; do
    for before in '-o none.png -i' --info; do
        run 2 gpufilter $before "moving.png[$each]"
        stderr_is "gpufilter: moving.png[$each]: pictures of a file are [NUMBER], counted from 0, [FIRST..LAST], [all] or [KIND]; several -i choose several: -i 'moving.png[0]' -i 'moving.png[2]'"
    done
    echo "moving.png[$each]" >list
    run 2 gpufilter -i @list -o 'none-{n}.png'
    stderr_like '.*: pictures of a file are'
done
absent none.png
run 75 gpufilter -i 'missing[0,2].png' -o none.png
run 75 gpufilter -i 'missing.png[0,2]' -o none.png

begin "an animated PNG stays one, in files and pipes"
run 0 gpufilter -i moving.png -o same.png
silent
frames same.png 3
run 0 gpufilter -i 'moving.png[1..2]' -o two.apng invert
frames two.apng 2
gpufilter -i moving.png -o - | cmp -s - same.png || problem "in a pipe"
gpufilter -i - -o - --format=png <moving.png | cat | cmp -s - same.png || problem "from a pipe"
if gpufilter --version | grep -q '^cells for decoders'; then
    run 0 gpufilter -i moving.png -o celled.png --sandbox=all
    same celled.png same.png
fi
for i in 0 1 2; do
    run 0 gpufilter -i "same.png[$i]" -o back.pgm
    same back.pgm "frame-$i.pgm"
done

begin "each frame to a file of its own"
mkdir each
run 0 gpufilter -i moving.png -o 'each/{stem}-{n:2}.pgm'
silent
[ "$(ls each | tr '\n' ' ')" = "moving-01.pgm moving-02.pgm moving-03.pgm " ] || problem "$(ls each)"
for i in 0 1 2; do
    same "each/moving-0$((i + 1)).pgm" "frame-$i.pgm"
done
run 0 gpufilter -i 'moving.png[1..2]' -o 'each/{stem}-{n}.png'
frames each/moving-1.png 1
run 0 gpufilter -i each/moving-2.png -o back.pgm
same back.pgm frame-2.pgm
absent each/moving-3.png
run 0 gpufilter -q -i moving.png -o 'each/one-{n}.pgm' -o 'each/two-{n}.pgm' invert
for i in 0 1 2; do
    same "each/one-$((i + 1)).pgm" "frame-$i.pgm"
    run 0 gpufilter -i "frame-$i.pgm" -o back.pgm invert
    same "each/two-$((i + 1)).pgm" back.pgm
done
cat moving.png in.png >both.png
run 0 gpufilter -i - -o 'each/b{n}.pgm' grayscale <both.png
same each/b3.pgm frame-2.pgm
[ -s each/b4.pgm ] || problem "what follows the animation"

begin "frames without names of their own"
run 2 gpufilter -i 'moving.png[all]' -o still.pgm
stderr_is "gpufilter: still.pgm: PNM files hold one picture here: choose one of moving.png[all] by its number, or number the outputs of one input by {n}, as in -o '{stem}-{n}.pnm'"
run 2 gpufilter -q -i 'moving.png[all]' -o below/still.png --join=down
stderr_is "gpufilter: below/still.png: takes one picture of each input, and moving.png[all] are several: -i 'moving.png[0]' -i 'moving.png[1]'"
run 0 gpufilter -q -i 'moving.png[0]' -i 'moving.png[1]' -o still.png --join=down
rm still.png
absent still.pgm

begin "what --info says of an animation"
run 0 gpufilter --info moving.png
for each in 'pages *3' 'loops *2' 'seconds *0.18' 'pictures *frame x 3'; do
    grep -qx "$each" stdout || problem "no '$each' in $(cat stdout)"
done
run 0 gpufilter --info in.png
grep -qE '^(loops|seconds)' stdout && problem "a picture has $(cat stdout)"
head -c 200 moving.png >short.png
run 0 gpufilter --info short.png
grep -q '^seconds' stdout && problem "seconds of a file that is cut"

begin "a profile counts the frames"
run 0 gpufilter -i moving.png -o blurred.png blur=1 --profile
grep -q '^frames     3: [0-9.]* frames/s$' stdout || problem "$(cat stdout)"
run 0 gpufilter -i moving.png -o blurred.png blur=1 --profile=json
grep -q '"frames": 3,' stdout || problem "$(head -n 20 stdout)"
run 0 gpufilter -i moving.png -i moving.png -o 'both-{n}.png' blur=1 --profile
grep -q '^frames     6: ' stdout || problem "two: $(cat stdout)"
run 0 gpufilter -v -i moving.png -o blurred.png blur=1
grep -q 'blurred.png: PNG, 4x2 gray, 8 bits, 3 frames, encoded' stderr || problem "$(cat stderr)"
run 0 gpufilter -i moving.png -o one.pgm blur=1 --profile
grep -q '^frames' stdout && problem "one picture has frames"

begin "a frame that is damaged leaves no file"
run 4 gpufilter -i cut.png -o whole.png
stderr_like "cut.png\[2\]: truncated after row 1 of 2 (to keep what there is: --allow-truncated)"
absent whole.png
run 0 gpufilter -i cut.png -o whole.png --allow-truncated
frames whole.png 3

begin "several outputs: an animation, and the first picture"
run 0 gpufilter -q -i moving.png -o blurred.png blur=1
run 0 gpufilter -i moving.png -o several.png blur=1 -o several.pgm -o several.apng
grep -q "warning: moving.png: holds 3 pictures: the first is taken" stderr || problem "$(cat stderr)"
same several.png blurred.png
same several.pgm frame-0.pgm
cmp -s several.apng same.png || problem "an animation without a chain"
for option in --metrics --trace --log; do
    run 4 gpufilter -i moving.png -o 'side-{n}.png' "$option=side-2.png" invert
    stderr_like 'side-2.png: is an output and '
    ! gpufilter --info -i side-2.png >info 2>&1 || problem "a picture replaced the file of $option"
    rm side-*.png
done
run 0 gpufilter -i moving.png -o several.png blur=1 -o several.apng invert
grep -q warning stderr && problem "$(cat stderr)"
frames several.png 3
frames several.apng 3
run 2 gpufilter -i 'moving.png[0..1]' -o chosen.png -o chosen.pgm
grep -q "chosen.pgm: PNM files hold one picture here" stderr || problem "$(cat stderr)"
frames chosen.png 2
absent chosen.pgm

begin "folders, archives, and runs that go on"
mkdir in moved
cp moving.png in/a.png
cp moving.png in/b.apng
cp in.png in/c.png
run 0 gpufilter -q -i in -o moved/ blur=1
frames moved/a.png 3
frames moved/b.apng 3
frames moved/c.png 1
if gpufilter --version | grep -q '^archives'; then
    tar cf in.tar -C in .
    run 0 gpufilter -q -i in.tar -o moved.tar blur=1
    mkdir unpacked
    tar xf moved.tar -C unpacked
    for each in a.png b.apng c.png; do
        cmp -s unpacked/$each moved/$each || problem "$each in an archive"
    done
    for each in '[1]' '[1..2]' '[all]'; do
        run 0 gpufilter -q -i "moving.png$each" -o chosen.png
        for archive in chosen.tar chosen.zip; do
            run 0 gpufilter -q -i "moving.png$each" -i in.png -o $archive
            run 0 gpufilter -q -i $archive -o taken/
            same taken/moving.png chosen.png
            rm -r taken
        done
    done
    run 2 gpufilter -q -i 'moving.png[0]' -i 'moving.png[1]' -o both.zip
    absent both.zip
    run 75 gpufilter -q -i 'none.png[0]' -o none.zip
    run 2 gpufilter -q -i 'moving.png[0]' -o zip:moving.png
    stderr_is "gpufilter: the archive 'moving.png' would be written over the input 'moving.png[0]'"
fi
run 0 gpufilter -i in -o moved/ blur=1 --skip-existing
grep -q "3 skipped" stderr || problem "$(cat stderr)"

begin "--fps: stills become an animation in the order of their numbers, and a Y4M does"
mkdir stills
for i in 1 2 9 10; do
    printf "$(printf 'P5\\n3 2\\n255\\n\\%03o\\002\\003\\004\\005\\006' $((i * 6)))" >"stills/s-$i.pgm"
done
for format in png gif webp avif jxl; do
    gpufilter --version | grep -qi "formats:.*$(echo $format | sed 's/jxl/JPEG XL/')" || continue
    run 0 gpufilter -q -i 'stills/s-*.pgm' -o "made.$format" --fps=12.5
    frames "made.$format" 4
    gpufilter --info=json "made.$format" | grep -q '"seconds":0.32' || problem "$format: $(gpufilter --info=json "made.$format")"
done
for i in 0 1 2 3; do
    run 0 gpufilter -q -i "made.png[$i]" -o "made-$i.pgm"
done
same made-2.pgm stills/s-9.pgm
same made-3.pgm stills/s-10.pgm
run 0 gpufilter -q -i stills/s-10.pgm -i stills/s-9.pgm -o order.png --fps=5 # the order of -i stays
run 0 gpufilter -q -i 'order.png[0]' -o first.pgm
same first.pgm stills/s-10.pgm
gpufilter -q -i stills -o - --format=png --fps=12.5 >piped.png || problem "status $?"
same piped.png made.png
run 0 gpufilter -q -i stills -o film.y4m --fps=12.5
head -n 1 film.y4m | grep -q ' F12500:1000 ' || problem "$(head -n 1 film.y4m)"
run 0 gpufilter -q -i film.y4m -o film.png --fps=2
frames film.png 4
gpufilter --info=json film.png | grep -q '"seconds":2,' || problem "$(gpufilter --info=json film.png)"

begin "--fps: gray stills get the colours and the alpha of the first one"
{
    printf 'P7\nWIDTH 3\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'
    printf 'abcdefghijklmnopqrstuvwx'
} >rgba.pam
run 0 gpufilter -q -i rgba.pam -i stills/s-1.pgm -o mixed.png --fps=5
run 0 gpufilter -q -i 'mixed.png[1]' -o gray.pam
printf '\6\6\6\377\2\2\2\377\3\3\3\377\4\4\4\377\5\5\5\377\6\6\6\377' >wanted
tail -c 24 gray.pam | cmp -s - wanted || problem "$(tail -c 24 gray.pam | od -An -tu1)"

begin "--fps: the first stills get the colours, the alpha and the bits of later ones"
run 0 gpufilter -q -i stills/s-1.pgm -i rgba.pam -o mixed2.png --fps=5
run 0 gpufilter -q -i 'mixed2.png[0]' -o gray.pam
tail -c 24 gray.pam | cmp -s - wanted || problem "$(tail -c 24 gray.pam | od -An -tu1)"
run 0 gpufilter -q -i 'mixed2.png[1]' -o colours.pam
same colours.pam rgba.pam
printf 'P5\n3 2\n65535\n\1\2\3\4\5\6\7\10\11\12\13\14' >deep.pgm
for first in stills/s-1.pgm rgba.pam; do
    run 0 gpufilter -q -i $first -i deep.pgm -o deep.png --fps=5
    run 0 gpufilter -q -i 'deep.png[0]' -o shallow.pam --depth=8
    [ $first != rgba.pam ] || same shallow.pam rgba.pam
    run 0 gpufilter -q -i 'deep.png[1]' -o again.pgm flatten,grayscale=red
    same again.pgm deep.pgm
done

begin "--fps: the stills of a Y4M get the colours and the bits of the widest, too"
run 0 gpufilter -q -i rgba.pam -o rgb.ppm flatten
for first in stills/s-1.pgm deep.pgm; do
    # 219 levels of luma lie between black and white.
    [ $first = deep.pgm ] && printf 'P5\n3 2\n255\n\1\3\5\7\11\13' >wanted || printf 'P5\n3 2\n255\n\6\2\3\3\5\6' >wanted
    for pair in "-i $first -i rgb.ppm" "-i rgb.ppm -i $first"; do
        run 0 gpufilter -q $pair -o mixed.y4m --fps=5
        run 0 gpufilter -q -i mixed.y4m -o 'mixed-{n}.ppm' --depth=8
        [ "${pair#-i rgb}" = "$pair" ] && n=1 || n=2
        run 0 gpufilter -q -i mixed-$n.ppm -o gray.pgm grayscale=red
        same gray.pgm wanted
        run 0 gpufilter --compare rgb.ppm mixed-$((3 - n)).ppm
    done
done
run 0 gpufilter -q -i stills/s-1.pgm -i deep.pgm -o deep.y4m --fps=5
head -n 1 deep.y4m | grep -q ' Cmono16$' || problem "$(head -n 1 deep.y4m)"

begin "--fps: folders of the output are made, and its warnings are told"
run 0 gpufilter -q -i stills -o new/folder/made.png --fps=5
same new/folder/made.png "$(gpufilter -q -i stills -o again.png --fps=5 && echo again.png)"
run 0 gpufilter -q -i stills -o new/films/film.y4m --fps=5
[ -s new/films/film.y4m ] || problem "no film"
run 0 gpufilter -i stills -o palette.png --fps=5 --png-palette
grep -q '^gpufilter: warning: palette.png: the frames of an animation are written without a palette' stderr || problem "$(cat stderr)"
run 0 gpufilter -q -i stills -o palette.png --fps=5 --png-palette
silent

begin "--fps: what makes no animation is refused in one line"
printf 'P5\n1 1\n255\n\1' >stills/s-11.pgm
printf 'P5\n1 1\n255\n\1P6\n1 1\n255\n\1\2\3' >stills-of-two-kinds
run 4 gpufilter -q -i stills -o no.png --fps=12
stderr_is "gpufilter: no.png: 'stills/s-11.pgm' has 1x1 pixels, and the first frame 3x2: all have one size (resize=3:2:fit=contain)"
absent no.png
run 4 gpufilter -q -i stills -o no.y4m --fps=12
stderr_is "gpufilter: no.y4m: 'stills/s-11.pgm' has 1x1 pixels, and the first frame 3x2: all have one size (resize=3:2:fit=contain)"
run 4 gpufilter -q -i - -o no.gif --fps=12 <stills-of-two-kinds
stderr_is "gpufilter: no.gif: 'stdin[1]' has 8-bit RGB, and the frames before it 8-bit gray: frames of an animation have one kind"
run 0 gpufilter -q -i stills -o sized.png --fps=12 resize=3:2:fit=contain
frames sized.png 5
run 2 gpufilter -i stills -o no.jpg --fps=12
stderr_is 'gpufilter: --fps makes an animation or a film, and no.jpg is no single .gif, .webp, .png, .avif, .jxl or .y4m'
run 2 gpufilter -i moving.png -o no.png --fps=12
stderr_is "gpufilter: --fps makes an animation or a film of several pictures or of a Y4M; moving.png is an animation, whose speed stays, or pages (-o 'frame-{n}.png' makes pictures of it)"
run 2 gpufilter -i in.png -o no.png --fps=12
stderr_is 'gpufilter: --fps makes an animation or a film of several pictures or of a Y4M; in.png is one picture'
run 75 gpufilter -i missing.png -o no.png --fps=12
run 2 gpufilter -i stills -o a.png -o b.png --fps=12
stderr_is 'gpufilter: --fps makes one film or animation: without several -o'
run 2 gpufilter -i stills -o no.png --fps=12 --resume=no.log
stderr_like '--resume is not for films'
absent no.png
