# shellcheck shell=sh
# Decoders in cells, and pictures from strangers.
if ! gpufilter --version | grep -q '^cells for decoders: '; then
    skip "there are no cells here: $(gpufilter --version | grep 'without cells')"
    return 0
fi

begin "pictures, metadata and warnings are the same with and without cells"
for each in $(gpufilter --format=? 2>&1 | sed 's/.*none of //; s/,//g') heic raw; do
    case $each in
    heic) gpufilter --version | grep -q '^formats:.*HEIC' && command -v heif-enc >/dev/null && heif-enc -q 50 -o x.heic in.png >/dev/null 2>&1 ;;
    gif) ! gpufilter --version | grep -q '^formats:.*GIF' || printf 'GIF89a\1\0\1\0\200\0\0\377\377\377\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0' >x.gif ;;
    raw) ! gpufilter --version | grep -q "^formats: .*camera raw" || camera_dng >x.raw ;;
    *) gpufilter -q -i in.png -o x.$each hflip 2>/dev/null ;;
    esac
    [ -s x.$each ] || continue
    for mode in off auto all; do
        run 0 gpufilter -i x.$each -o $mode.png --sandbox=$mode blur
        cp stderr $mode.said
        run 0 cmp off.png $mode.png
        run 0 cmp off.said $mode.said
        run 0 sh -c "cat x.$each | \"\$GPUFILTER\" -i - -o stream.png --sandbox=$mode blur"
        run 0 cmp off.png stream.png
        run 4 sh -c "head -c 30 x.$each >cut.$each; \"\$GPUFILTER\" -i cut.$each -o cut.png --sandbox=$mode"
        cp stderr $mode.cut
        run 0 cmp off.cut $mode.cut
    done
    run 0 gpufilter -q -i in.png -o overlaid.png "overlay=x.$each" --sandbox=off
    run 0 gpufilter -q -i in.png -o again.png "overlay=x.$each" --sandbox=all
    run 0 cmp overlaid.png again.png
done

begin "profiles of pictures give the same colours with and without cells, also damaged ones"
if ! gpufilter --version | grep -q '^colours: '; then
    skip "no Little CMS"
else
    run 0 gpufilter -q -i in.png -o made.jpg icc=display-p3
    sed 's/\x00D\x00i\x00s\x00p/\x00A\x00 \x00n\x00a/' made.jpg >named.jpg
    sed 's/XYZ \x00/XYZ?\x00/g' made.jpg >damaged.jpg
    ! cmp -s made.jpg named.jpg && ! cmp -s made.jpg damaged.jpg || problem "the profile is as it was"
    for each in named damaged; do
        for mode in off auto all; do
            run 0 gpufilter -i $each.jpg -o $mode.ppm --sandbox=$mode icc
            cp stderr $mode.said
            run 0 cmp off.ppm $mode.ppm
            run 0 cmp off.said $mode.said
            run 0 gpufilter -i $each.jpg -o blurred.ppm --sandbox=$mode blur
            cp stderr $mode.blurred
            run 0 cmp off.blurred $mode.blurred
        done
    done
fi

begin "several pictures in a stream, a batch, and pictures of an archive are read in cells"
run 0 sh -c 'cat in.png in.png | "$GPUFILTER" -q -i - -o "two-{n}.png" --sandbox=all invert'
run 0 cmp two-1.png two-2.png
mkdir many
for each in 1 2 3 4 5 6; do
    cp in.png many/$each.png
done
run 0 gpufilter -q -i many -o done/ --sandbox=all invert
run 0 cmp two-1.png done/6.png

begin "no cell outlives its program"
run 0 gpufilter -q -i in.png -o o.png --sandbox=all
has_no_cell()
{
    for child in $(children 1); do
        ! grep -qs decoder-cell "/proc/$child/cmdline" || return
    done
}
until_true 10 has_no_cell || problem "process $child is a cell without a program"

begin "--untrusted sets limits, which options of their own change"
head -c 300000000 /dev/zero | sh -c '{ printf "P5 10000 8000 255\n"; cat; }' | head -c 80000018 >wide.pgm
run 4 gpufilter -i wide.pgm -o o.png --untrusted
stderr_like 'wide.pgm: 10000x8000 is 80000000 pixels, over --max-pixels=64000000'
run 0 gpufilter -q -i wide.pgm -o o.png --untrusted --max-pixels=100M
rm wide.pgm

begin "--untrusted follows no link in the output's folder, and links to that folder"
mkdir real elsewhere photos photos/deep
printf 'P5\n8 8\n255\n%064d' 0 >photos/a.pgm
cp photos/a.pgm photos/deep/b.pgm
echo kept >precious
ln -s ../precious real/a.pgm
ln -s ../elsewhere real/deep
ln -s real linked
run 4 gpufilter -q --untrusted -r -i photos -o linked/ invert
[ "$(cat precious)" = kept ] || problem "the target of a link is replaced"
[ -z "$(ls elsewhere)" ] || problem "a folder's link is followed: $(ls elsewhere)"
grep -q 'linked/a.pgm: is a link, which is not followed (--untrusted)$' stderr || problem "$(cat stderr)"
grep -q 'linked/deep: is a link, which is not followed (--untrusted)$' stderr || problem "$(cat stderr)"
run 4 gpufilter -q --untrusted -i photos/a.pgm -o real/a.pgm invert
run 4 gpufilter -q --untrusted -i photos -o real/a.pgm --join=across
run 4 gpufilter -q --untrusted -i photos -o sheet.pgm --sheet=2:places=real/deep/a.css
printf 'YUV4MPEG2 W8 H8 F25:1 Cmono\nFRAME\n%064d' 0 >film.y4m
ln -s ../precious real/film.y4m
run 4 gpufilter -q --untrusted -i film.y4m -o real/film.y4m invert
rm real/film.y4m
[ "$(cat precious)" = kept ] || problem "a sheet or a film replaces the target of a link"
rm real/a.pgm real/deep
run 0 gpufilter -q --untrusted -r -i photos -o linked/ invert
[ -f real/deep/b.pgm ] || problem "the folder's own link is not followed"

gpufilter --version | grep -q '^archives: tar' && command -v tar >/dev/null || return 0
begin "with --untrusted archives give plain files with plain names only"
mkdir -p set/deep
cp in.png set/a.png
cp in.png set/deep/b.png
ln -s a.png set/c.png
ln -s /etc/passwd set/d.txt
cp in.png set/e.png
tar cf in.tar -P set/a.png set/deep set/c.png set/d.txt set/../set/e.png
run 4 gpufilter -i in.tar -o out.tar --untrusted invert
{
    echo "gpufilter: in.tar/set/c.png: it is no plain file (--untrusted)"
    echo "gpufilter: in.tar/set/d.txt: it is no plain file (--untrusted)"
    echo "gpufilter: in.tar/set/../set/e.png: its name leads out of the archive's folder (--untrusted)"
    echo "gpufilter: 3 of 5 files failed, 2 done"
} | cmp -s - stderr || problem "$(cat stderr)"
tar tf out.tar | sort >names
printf '%s\n' set/a.png set/deep/ set/deep/b.png | cmp -s - names || problem "$(cat names)"
run 4 gpufilter -q -i in.tar -o folder/ --untrusted invert
[ "$(find folder -type f -o -type l | sort | tr '\n' ' ')" = "folder/set/a.png folder/set/deep/b.png " ] || problem "$(find folder)"
mkdir set/set
cp in.png set/set/e.png
tar cf in.tar -P set/../set/e.png set/set/e.png # both would be the second, if the first were taken
run 4 gpufilter -q -i in.tar -o second/ --untrusted invert
[ -f second/set/set/e.png ] || problem "the name of a refused member is taken"

begin "the members of an archive may have 1 GiB, or 16 KiB for each byte of it; --max-output allows more or less"
truncate -s 1025M set/hole.bin
tar cSf hole.tar set/a.png set/hole.bin
rm set/hole.bin
run 4 gpufilter -q -i hole.tar -o dropped.tar invert --max-output=10M
absent dropped.tar
run 4 sh -c '"$GPUFILTER" -q -i hole.tar -o tar:- invert >/dev/null'
stderr_like 'hole.tar/set/hole.bin: the members up to this one have over 1024 MiB, which is more than [0-9]* bytes of an archive may become (to allow more: --max-output)'
run 0 sh -c '"$GPUFILTER" -q -i hole.tar -o tar:- invert --max-output=2G >/dev/null'
