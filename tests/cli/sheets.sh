# shellcheck shell=sh
# Several pictures to one: --join and --sheet. What they write is compared with pixels that are written down here.
printf 'P5\n2 3\n255\nabcdef' >a.pgm
printf 'P5\n3 1\n255\nxyz' >b.pgm
printf 'P5\n1 2\n255\n12' >c.pgm
# The levels of gray that are letters: white is ~ here.
white='background=#7e7e7e'

stderr_has()
{
    grep -qe "$1" stderr || problem "stderr has nothing like '$1': $(cat stderr)"
}

begin "across: side by side, each by gravity, with gaps and margins"
run 0 gpufilter -i a.pgm -i b.pgm -o out.pgm --join=across:$white
stderr_like '2 files done in '
printf 'P5\n5 3\n255\nab~~~cdxyzef~~~' >wanted.pgm
same out.pgm wanted.pgm
run 0 gpufilter -i a.pgm -i b.pgm -o out.pgm "--join=across:gap=1:margin=1:gravity=southeast:$white"
printf 'P5\n8 5\n255\n~~~~~~~~~ab~~~~~~cd~~~~~~ef~xyz~~~~~~~~~' >wanted.pgm
same out.pgm wanted.pgm

begin "down and grid: a column is as wide as its widest, a row as high as its highest picture"
run 0 gpufilter -i a.pgm -i b.pgm -o out.pgm --join=down:gravity=west:$white
printf 'P5\n3 4\n255\nab~cd~ef~xyz' >wanted.pgm
same out.pgm wanted.pgm
run 0 gpufilter -i a.pgm -i b.pgm -i c.pgm -o out.pgm --join=grid:gravity=northwest:$white
printf 'P5\n5 5\n255\nabxyzcd~~~ef~~~1~~~~2~~~~' >wanted.pgm
same out.pgm wanted.pgm
run 0 gpufilter -i a.pgm -i b.pgm -i c.pgm -o out.pgm --join=grid:columns=3:gravity=north:$white
printf 'P5\n6 3\n255\nabxyz1cd~~~2ef~~~~' >wanted.pgm
same out.pgm wanted.pgm
run 0 gpufilter -i a.pgm -i b.pgm -o vertical.pgm --join=vertical:shim=2
run 0 gpufilter -i a.pgm -i b.pgm -o out.pgm --join=down:gap=2
same vertical.pgm out.pgm

begin "the chain makes each picture before it is placed"
run 0 gpufilter -i a.pgm -i c.pgm -o out.pgm --join=across:gravity=north:background=black crop=1:2:0:0,invert
printf 'P5\n2 2\n255\n\236\316\234\315' >wanted.pgm
same out.pgm wanted.pgm

begin "the result has the channels and the bits of the picture that has the most"
printf 'P6\n1 1\n65535\n\001\002\003\004\005\006' >deep.ppm
run 0 gpufilter -i deep.ppm -i c.pgm -o out.ppm --join=across:gravity=south:background=red
printf 'P6\n2 2\n65535\n\377\377\000\000\000\000111111\001\002\003\004\005\006222222' >wanted.ppm
same out.ppm wanted.ppm
printf 'P7\nWIDTH 1\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\nA\100' >alpha.pam
run 0 gpufilter -i alpha.pam -i b.pgm -o out.pam --join=down:gravity=east:background=transparent
{ printf 'P7\nWIDTH 3\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\000\000\000\000A\100' &&
    printf 'x\377y\377z\377'; } >wanted.pam
same out.pam wanted.pam

begin "in a format without alpha the pictures are laid on the background"
run 0 gpufilter -i alpha.pam -i c.pgm -o out.pgm --join=across:gravity=north:background=#c8c8c8
# (65 * 64 + 200 * 191 + 127) / 255 is 166
printf 'P5\n2 2\n255\n\2461\3102' >wanted.pgm
same out.pgm wanted.pgm

begin "EXIF orientation is applied"
{
    head -c 2 in.jpg
    printf '\377\341\000\042Exif\000\000MM\000\052\000\000\000\010\000\001\001\022\000\003\000\000\000\001\000\006\000\000\000\000\000\000'
    tail -c +3 in.jpg
} >turned.jpg
run 0 gpufilter -i turned.jpg -o turned.ppm
run 0 gpufilter -i turned.jpg -o out.ppm --join=across
same out.ppm turned.ppm
run 0 gpufilter -i turned.jpg -o out.ppm --join=across --no-autorotate
run 0 gpufilter -i in.jpg -o in.jpg.ppm
same out.ppm in.jpg.ppm

begin "folders, patterns and lists, and any number of workers, in the order of the inputs"
mkdir folder
for each in a b c; do cp $each.pgm folder; done
run 0 gpufilter -i a.pgm -i b.pgm -i c.pgm -o wanted.pgm --join=across
printf '%s\n' folder/a.pgm folder/b.pgm folder/c.pgm >list
for input in folder 'folder/*.pgm' @list; do
    for threads in 1 2 5; do
        run 0 gpufilter -i "$input" -o out.pgm --join=across --threads=$threads
        same out.pgm wanted.pgm
    done
done
run 0 gpufilter -i a.pgm -i - -i c.pgm -o - --format=pnm --join=across <b.pgm
same stdout wanted.pgm

begin "a picture that fails is named, and nothing is written"
head -c 100 in.png >folder/b.png
printf 'no picture' >folder/d.png
run 4 gpufilter -i folder -o new/out.pgm --join=down
for each in 'folder/b.png: truncated' 'folder/d.png: not a picture' '2 of 5 files failed, 3 done'; do
    grep -q "^gpufilter: $each" stderr || problem "stderr has no '$each': $(cat stderr)"
done
absent new/out.pgm
run 4 gpufilter -i folder -o out2.pgm --join=down --fail-fast --threads=1
stderr_has 'folder/b.png: truncated'
absent out2.pgm
run 4 gpufilter -i folder -o out2.pgm --join=down --fail-fast --threads=1 --progress=json
[ "$(grep -m 1 -e 'truncated' -e '"at_end":true' stderr | grep -c truncated)" = 1 ] ||
    problem "the progress has ended before the failure was told: $(cat stderr)"
run 75 gpufilter -i a.pgm -i nothing.pgm -o out2.pgm --join=down
stderr_has 'nothing.pgm: No such file or directory'
absent out2.pgm
run 4 gpufilter -i folder/b.png -o out2.pgm --join=down
stderr_like 'folder/b.png: truncated'
rm folder/?.png

begin "names: an input is not replaced, --no-clobber keeps a file, --dry-run writes nothing"
run 2 gpufilter -i a.pgm -i b.pgm -o a.pgm --join=across
stderr_has 'a.pgm'
printf 'P5\n2 3\n255\nabcdef' | cmp -s - a.pgm || problem "a.pgm has changed"
run 75 gpufilter -i a.pgm -i b.pgm -o out.pgm --join=across --no-clobber
stderr_like 'out.pgm: is there already (--no-clobber)'
run 0 gpufilter -i a.pgm -i b.pgm -o dry.pgm --join=across --dry-run
stdout_has '^a.pgm -> dry.pgm$'
stdout_has '^b.pgm -> dry.pgm$'
absent dry.pgm

begin "joined pictures have the limits of --memory and --max-pixels"
head -c 300000 /dev/zero | { printf 'P5\n500 600\n255\n' && cat; } >big.pgm
for each in 1 2 3 4; do echo big.pgm; done >list
run 4 gpufilter -i @list -o out3.pgm --join=across --memory=1M
stderr_has 'the pictures of a row are held as a whole'
run 4 gpufilter -i @list -o out3.pgm --join=across --max-pixels=1M
stderr_has '2000x600'
absent out3.pgm

begin "what does not fit together is refused before anything runs"
while IFS='|' read -r arguments message; do
    # shellcheck disable=SC2086 # several arguments
    run 2 gpufilter -i a.pgm -i b.pgm -o out4.pgm $arguments
    stderr_like "$message"
done <<'END'
--join=across:columns=2|--join: columns are for --join=grid
--join=across:gaps=2|--join: unknown parameter 'gaps'; did you mean 'gap'?
--join=sideways|--join: direction=sideways is none of across, down, grid
--join=grid,blur|--join: parameters are separated by colons
--join=across --sheet=2x2|--join makes one picture of several: without --sheet
--join=across --log=log|--join makes one picture of several: without --log and --resume
--join=across --shard=1/2|--join makes one picture of several: without --shard
--join=across -o more.pgm|--join makes one picture of several: without several -o
--montage=2x2|unknown option '--montage=2x2' (ImageMagick); did you mean '--sheet'?
-append|unknown option '-append' (ImageMagick, FFmpeg); did you mean '--join=down'?
--hstack|unknown option '--hstack' (FFmpeg); did you mean '--join=across'?
END
run 2 gpufilter -i a.pgm -o '{stem}.pgm' --join=across
stderr_like "--join: -o names the file of a picture, and {n} is the number of a page: '{stem}.pgm'"
run 2 gpufilter -i a.pgm -o out.tar --join=across
stderr_like "--join writes pictures, and no archive: 'out.tar'"
run 2 gpufilter -i in.tar -o out4.pgm --join=across
stderr_like "--join takes pictures, folders and lists, and no archive: 'in.tar'"
absent out4.pgm more.pgm log

# triple PGM: the PGM of letters as a PPM
triple()
{
    sed -n '1s/P5/P6/p; 2,3p; 4,$s/./&&&/gp' "$1"
}

begin "--sheet puts pictures into cells of one size, as they are if they fit"
run 0 gpufilter -i a.pgm -i b.pgm -i c.pgm -o out.ppm "--sheet=2x2:cell=3x4:gap=1:margin=0:gravity=northwest:$white"
stderr_like '3 files done in '
printf 'P5\n7 9\n255\nab~~xyzcd~~~~~ef~~~~~~~~~~~~~~~~~~~1~~~~~~2~~~~~~~~~~~~~~~~~~~~' | head -c 74 >letters.pgm
triple letters.pgm | head -c 200 >wanted.ppm
same out.ppm wanted.ppm

begin "rows and pages without pictures are left out, and {n} numbers pages"
for each in a b c a b; do echo $each.pgm; done >list
run 0 gpufilter -i @list -o 'pages/{n:2}.ppm' "--sheet=1x2:cell=3x3:gap=0:margin=0:gravity=northwest:$white"
only pages 01.ppm 02.ppm 03.ppm
printf 'P5\n3 6\n255\nab~cd~ef~xyz~~~~~~' >letters.pgm
triple letters.pgm | head -c 65 >wanted.ppm
same pages/01.ppm wanted.ppm
printf 'P5\n3 3\n255\nxyz~~~~~~' >letters.pgm
triple letters.pgm | head -c 38 >wanted.ppm
same pages/03.ppm wanted.ppm
run 2 gpufilter -i @list -o one.ppm --sheet=1x2
stderr_like 'one.ppm: 5 pictures make 3 pages of 2: {n} in the name numbers them, as in sheet-{n}.png'
absent one.ppm
run 0 gpufilter -i @list -o one.ppm --sheet=1:cell=3x3:gap=0:margin=0
[ "$(head -n 2 one.ppm | tail -n 1)" = '3 15' ] || problem "the page is $(head -n 2 one.ppm | tail -n 1)"

begin "larger pictures become what thumbnail makes of them, after the chain"
run 0 gpufilter -i in.ppm -o out.ppm --sheet=1x1:cell=20x20:margin=0:gravity=north invert
run 0 gpufilter -i in.ppm -o wanted.ppm invert,thumbnail=20:20,pad=20:20:gravity=north
same out.ppm wanted.ppm

begin "labels name the pictures; the font's height makes the cells higher"
run 0 gpufilter -i c.pgm -o out.ppm --sheet=1x1:cell=40x8:margin=0
if gpufilter --version | grep -q '^text: FreeType'; then
    run 0 gpufilter -i in.ppm -o named.ppm '--sheet=1x1:cell=120x60:margin=0:label={n}-{stem}.{ext} {w}x{h}:size=10'
    high=$(sed -n '2s/.* //p' named.ppm)
    [ "$high" -gt 65 ] || problem "the sheet has $high rows"
    # The rows below the picture are the drawn text.
    gpufilter -i named.ppm -o label.pgm "crop=120:$((high - 60)):0:60,grayscale"
    printf 'P5\n1 1\n255\n\377' >white.pgm
    gpufilter -i white.pgm -o drawn.pgm "pad=120:$((high - 60)):colour=white,text=1-in.ppm 77x55:size=10:colour=black"
    same label.pgm drawn.pgm
    cp in.ppm "gr$(printf '\303\274n').ppm"
    run 0 gpufilter -i gr?*n.ppm -o out.ppm '--sheet=1x1:label={stem}:size=10'
    run 0 gpufilter -i in.ppm -o long.ppm '--sheet=1x1:cell=20x20:margin=0:label=a long text that does not fit'
    [ "$(sed -n '2s/ .*//p' long.ppm)" = 20 ] || problem "the label has made the sheet wider"
else
    run 3 gpufilter -i in.ppm -o named.ppm '--sheet=1x1:label={stem}'
    absent named.ppm
fi
run 2 gpufilter -i in.ppm -o named.ppm '--sheet=1x1:label={stme}'
stderr_like "--sheet: label: '{stme}' is none of"

begin "a page with a picture that fails is not written, or has an empty cell"
for each in a b nothing a b; do echo $each.pgm; done >list
run 75 gpufilter -i @list -o 'failed/{n}.ppm' "--sheet=1x2:cell=3x3:gap=0:margin=0:gravity=northwest:$white"
stderr_has 'nothing.pgm: No such file or directory'
stderr_has '1 of 5 files failed, 4 done'
only failed 1.ppm 3.ppm
same failed/3.ppm pages/03.ppm
same failed/1.ppm pages/01.ppm
run 75 gpufilter -i @list -o 'empty/{n}.ppm' "--sheet=1x2:failed=empty:cell=3x3:gap=0:margin=0:gravity=northwest:$white"
only empty 1.ppm 2.ppm 3.ppm
printf 'P5\n3 6\n255\n~~~~~~~~~ab~cd~ef~' >letters.pgm
triple letters.pgm | head -c 65 >wanted.ppm
same empty/2.ppm wanted.ppm
head -c 100 in.png >cut.png
run 4 gpufilter -i a.pgm -i cut.png -o cut.ppm --sheet=2x1
stderr_has 'cut.png: truncated'
absent cut.ppm

begin "background=transparent: alpha where the format has it, else white"
run 0 gpufilter -i c.pgm -o out.pam --sheet=1x1:cell=2x2:margin=0:gravity=west:background=transparent
{ printf 'P7\nWIDTH 2\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n' &&
    printf '111\377\000\000\000\000222\377\000\000\000\000'; } >wanted.pam
same out.pam wanted.pam
run 0 gpufilter -i c.pgm -o out.ppm --sheet=1x1:cell=2x2:margin=0:gravity=west:background=transparent
printf 'P6\n2 2\n255\n111\377\377\377222\377\377\377' >wanted.ppm
same out.ppm wanted.ppm

begin "any number of workers makes the same sheet, and thousands of pictures take no more memory"
i=0
while [ $i -lt 4000 ]; do echo in.png; i=$((i + 1)); done >many
head -n 40 many >few
run 0 gpufilter -i @few -o out.ppm --sheet=8:cell=16x16 --threads=1
run 0 gpufilter -i @few -o wanted.ppm --sheet=8:cell=16x16 --threads=4
same out.ppm wanted.ppm
if measures_memory; then
    for list in few many; do
        # shellcheck disable=SC2094 # a report of its own
        /usr/bin/time -q -f %M -o $list.kb "$GPUFILTER" -q -i @$list -o out.ppm --sheet=8:cell=100x100 --threads=2 || problem "$list fails"
    done
    [ "$(sed -n 2p out.ppm)" = '872 54008' ] || problem "the sheet is $(sed -n 2p out.ppm)"
    # The sheet has 141 MB.
    [ "$(tail -n 1 many.kb)" -lt $(($(tail -n 1 few.kb) + 12000)) ] || problem "$(tail -n 1 many.kb) KB, and $(tail -n 1 few.kb) KB for 40"
fi

begin "places=FILE.css has a rule for each picture, places=FILE.json an atlas"
run 0 gpufilter -i a.pgm -i b.pgm -i c.pgm -o icons/all.png --join=grid:gap=1:gravity=northwest:places=icons/all.css
cat >wanted.css <<'END'
.sprite-a { background: url("all.png") 0px 0px no-repeat; width: 2px; height: 3px; }
.sprite-b { background: url("all.png") -3px 0px no-repeat; width: 3px; height: 1px; }
.sprite-c { background: url("all.png") 0px -4px no-repeat; width: 1px; height: 2px; }
END
same icons/all.css wanted.css
run 0 gpufilter -i a.pgm -i b.pgm -o all.png --sheet=2x1:cell=4x4:gap=1:margin=2:gravity=southeast:places=icons/all.json
cat >wanted.json <<'END'
{
 "frames": [
  {"filename":"a.pgm","frame":{"x":4,"y":3,"w":2,"h":3},"rotated":false,"trimmed":false,"sourceSize":{"w":2,"h":3}},
  {"filename":"b.pgm","frame":{"x":8,"y":5,"w":3,"h":1},"rotated":false,"trimmed":false,"sourceSize":{"w":3,"h":1}}
 ],
 "meta": {"image":"all.png","size":{"w":13,"h":8},"scale":"1"}
}
END
tr -d ' \n' <icons/all.json >places && tr -d ' \n' <wanted.json >wanted && same places wanted
# Each place has the pixels of its picture.
for place in a:4:3:2:3 b:8:5:3:1; do
    IFS=: read -r stem x y w h <<END
$place
END
    run 0 gpufilter -i all.png -o cut.ppm "crop=$w:$h:$x:$y"
    triple $stem.pgm | head -c $((11 + w * h * 3)) | cmp -s - cut.ppm || problem "$stem.pgm is not at $x, $y"
done

begin "places: names that do not do, and failures"
run 2 gpufilter -i a.pgm -o no.png --join=across:places=no.txt
stderr_like '--join: places=no.txt is no .css and no .json'
run 2 gpufilter -i a.pgm -i folder/a.pgm -o no.png --join=across:places=no.css
stderr_like "'a.pgm' and 'folder/a.pgm' would both be .sprite-a in the CSS"
run 2 gpufilter -i a.pgm -i b.pgm -o 'no-{n}.png' --sheet=1x1:places=no.json
stderr_like 'no.json: places are for a file of one page, not for several'
run 2 gpufilter -i a.pgm -o - --format=png --join=across:places=no.json
stderr_like 'no.json: places are for a file of one page, not for standard output'
run 75 gpufilter -i a.pgm -i nothing.pgm -o no.png --join=across:places=no.css
absent no.png no.css no.json no.txt
run 0 gpufilter -i a.pgm -i b.pgm -o dry.png --join=across:places=dry.css --dry-run
absent dry.png dry.css

begin "--help explains the parameters"
run 0 gpufilter --help join
stdout_has '^  gravity  *where a picture lies'
grep -qe '^  region' stdout && problem "a region of what is joined"
run 0 gpufilter --help sheet
stdout_has '^  cell  *width and height of a cell'
