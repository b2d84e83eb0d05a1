# Pyramids: the names and sizes of tiles in each layout, also of pictures of odd sizes; what is refused; runs that are
# killed, interrupted, or meet what is there already.

gpufilter -i in.ppm -o odd.png 'resize=w=301:h=155'
gpufilter -i in.ppm -o small.png 'resize=w=60:h=40'

# tree FOLDER: its files, in one line.
tree()
{
    (cd "$1" && find . -type f | sed 's/^..//' | LC_ALL=C sort | tr '\n' ' ')
}

# size FILE WIDTH HEIGHT
size()
{
    gpufilter --info=json -i "$1" | grep -q "\"width\": *$2,.*\"height\": *$3[,}]" ||
        problem "$1 is not $2x$3: $(gpufilter --info=json -i "$1" | head -c 200)"
}

begin "Deep Zoom: levels down to one pixel, tiles that overlap, and the .dzi"
run 0 gpufilter -i odd.png -o odd.dzi --format=png --tile-size=64
[ "$(ls odd_files | sort -n | tr '\n' ' ')" = "0 1 2 3 4 5 6 7 8 9 " ] || problem "levels: $(ls odd_files)"
[ "$(find odd_files/9 -type f | wc -l)" -eq 15 ] || problem "level 9: $(tree odd_files/9)"
[ "$(tree odd_files/7)" = "0_0.png 1_0.png " ] || problem "level 7: $(tree odd_files/7)"
size odd_files/9/0_0.png 65 65
size odd_files/9/1_1.png 66 66
size odd_files/9/4_2.png 46 28
size odd_files/0/0_0.png 1 1
for word in 'Format="png"' 'Overlap="1"' 'TileSize="64"' 'Width="301"' 'Height="155"' http://schemas.microsoft.com/deepzoom/2008; do
    grep -qF "$word" odd.dzi || problem "the .dzi has no $word"
done
gpufilter -i odd.png -o cut.png 'crop=66:66:63:63'
run 0 gpufilter --compare=cut.png -i odd_files/9/1_1.png
gpufilter -i small.png -o half.png 'resize=50%:kernel=area'
run 0 gpufilter -i small.png -o small.dzi --format=png
run 0 gpufilter --compare=half.png -i small_files/5/0_0.png

begin "levels of floats are those of the integers that they become"
run 0 gpufilter -i odd.png -o wide.dzi --format=jpeg
gpufilter -i odd.png -o float.pfm float
run 0 gpufilter -i float.pfm -o float.dzi --format=jpeg
silent
run 0 diff -r wide_files float_files
silent
run 0 gpufilter -i float.pfm -o beyond.dzi exposure=3
stderr_like 'warning: beyond.dzi: .* outside of 0..1, and are clamped'

begin "the usual tiles are JPEGs of 254 pixels; options choose others"
run 0 gpufilter -i odd.png -o usual.dzi
grep -q 'Format="jpeg"' usual.dzi || problem "no JPEG in $(cat usual.dzi)"
size usual_files/9/0_0.jpeg 255 155
run 0 gpufilter -i odd.png -o usual.dzi --quality=10 --pyramid=dz:overlap=0:shrink=lanczos3
size usual_files/9/0_0.jpeg 254 155
silent
run 0 gpufilter -i odd.png -o usual.dzi --format=webp --tile-size=64 --quality=20
silent
run 0 gpufilter -i odd.png -o usual.dzi --format=jpeg --quality=10
[ "$(find . -maxdepth 1 -name '*usual*' | wc -l)" -eq 2 ] || problem "left behind: $(ls -a)"

begin "Zoomify, Google and IIIF are folders"
run 0 gpufilter -i odd.png -o z --pyramid=zoomify --tile-size=128
[ "$(tree z)" = "ImageProperties.xml TileGroup0/0-0-0.jpg TileGroup0/1-0-0.jpg TileGroup0/1-1-0.jpg TileGroup0/2-0-0.jpg \
TileGroup0/2-0-1.jpg TileGroup0/2-1-0.jpg TileGroup0/2-1-1.jpg TileGroup0/2-2-0.jpg TileGroup0/2-2-1.jpg " ] || problem "$(tree z)"
grep -q 'WIDTH="301" HEIGHT="155" NUMTILES="9"' z/ImageProperties.xml || problem "$(cat z/ImageProperties.xml)"
run 0 gpufilter -i odd.png -o g --pyramid=google --tile-size=128 --format=png
silent
[ "$(tree g)" = "0/0/0.png 1/0/0.png 1/0/1.png 2/0/0.png 2/0/1.png 2/0/2.png 2/1/0.png 2/1/1.png 2/1/2.png blank.png " ] ||
    problem "$(tree g)"
size g/2/1/2.png 128 128
run 0 gpufilter -i odd.png -o i --pyramid=iiif:id=https://example.org:80/iiif --tile-size=128
[ "$(tree i)" = "0,0,128,128/128,/0/default.jpg 0,0,256,155/128,/0/default.jpg 0,0,301,155/76,/0/default.jpg 0,128,128,27/128,/0/default.jpg \
128,0,128,128/128,/0/default.jpg 128,128,128,27/128,/0/default.jpg 256,0,45,128/45,/0/default.jpg 256,0,45,155/23,/0/default.jpg \
256,128,45,27/45,/0/default.jpg full/76,/0/default.jpg full/max/0/default.jpg info.json " ] || problem "$(tree i)"
same i/full/max/0/default.jpg i/full/76,/0/default.jpg
grep -q '"maxWidth": 128$' i/info.json || problem "$(cat i/info.json)"
grep -q '"@id": "https://example.org:80/iiif/i"' i/info.json || problem "$(cat i/info.json)"
run 2 gpufilter -i odd.png -o a --pyramid=iiif
stderr_like '.* the URL above the output.s folder: iiif:id=https://example.org/iiif$'
run 0 gpufilter -i small.png -o 'a b?' --pyramid=iiif3:id=https://example.org/
grep -q '"id": "https://example.org/a%20b%3F"' 'a b?/info.json' || problem "$(cat 'a b?/info.json')"
rm -r 'a b?'
run 0 gpufilter -i small.png -o i3 --pyramid=iiif3:id=https://example.org
[ "$(tree i3)" = "0,0,60,40/60,40/0/default.jpg full/max/0/default.jpg info.json " ] || problem "$(tree i3)"
! grep -q 'maxWidth\|preferred' i3/info.json || problem "$(cat i3/info.json)"
run 0 gpufilter -i odd.png -o i3 --pyramid=iiif3:id=https://example.org --tile-size=128 --format=png
same i3/full/max/0/default.png i3/full/76,39/0/default.png
grep -q '^  "preferredFormats": \["png"\],$' i3/info.json && grep -q '^  "maxWidth": 128,$' i3/info.json || problem "$(cat i3/info.json)"

begin "tiles of Google that are all white have no file"
gpufilter -i small.png -o white.png 'resize=20:20,pad=w=300:h=300:gravity=northwest:colour=white'
run 0 gpufilter -i white.png -o blank --pyramid=google --tile-size=128 --format=png
[ "$(tree blank)" = "0/0/0.png 1/0/0.png 2/0/0.png blank.png " ] || problem "$(tree blank)"

begin "a .szi is a zip of the same files, with the same bytes each time"
run 0 gpufilter -i odd.png -o odd.szi --format=png --tile-size=64
run 0 gpufilter -i odd.png -o again.szi --format=png --tile-size=64 --threads=1
[ "$(wc -c <odd.szi)" -gt 10000 ] || problem "$(wc -c <odd.szi) bytes"
if command -v python3 >/dev/null; then
    python3 - >zip.txt 2>&1 <<'END' || problem "$(cat zip.txt)"
import zipfile
one = zipfile.ZipFile("odd.szi")
assert one.testzip() is None
assert set(one.namelist()) == {"odd/odd.dzi"} | {"odd/" + name for name in
    __import__("glob").glob("odd_files/*/*")}, one.namelist()
for name in one.namelist():
    assert one.read(name) == open(name[4:], "rb").read(), name
    assert one.getinfo(name).compress_type == zipfile.ZIP_STORED
two = zipfile.ZipFile("again.szi")
assert [one.read(name) for name in one.namelist()] == [two.read(name) for name in two.namelist()]
END
fi

begin "a .zip of a layout is one, too, with the folder inside; its stem is the folder's name"
for layout in dz zoomify google iiif:id=https://example.org; do
    run 0 gpufilter -i small.png -o box/zipped.zip --pyramid=$layout --tile-size=32
    silent
    name=box/zipped
    [ $layout != dz ] || name=box/zipped.dzi
    run 0 gpufilter -i small.png -o $name --pyramid=$layout --tile-size=32
    [ -z "$(command -v python3)" ] || python3 - box >zip.txt 2>&1 <<'END' || problem "$layout: $(cat zip.txt)"
import os, zipfile
made = zipfile.ZipFile("box/zipped.zip")
assert made.testzip() is None
files = [os.path.join(folder, name)[4:] for folder, _, names in os.walk("box") for name in names if name != "zipped.zip"]
inside = {name if name.startswith("zipped/") else "zipped/" + name: name for name in files}
assert set(made.namelist()) == set(inside), (made.namelist(), inside)
for name, file in inside.items():
    assert made.read(name) == open("box/" + file, "rb").read(), name
END
    rm -r box
done
run 0 gpufilter -i odd.png -i small.png -o '{stem}-z.zip' --pyramid=zoomify
run 0 gpufilter -i odd.png -i small.png -o '{stem}-z.zip' --pyramid=zoomify --skip-existing
stderr_like "0 files done, 2 skipped"
run 0 gpufilter -i odd.png -o pictures.zip
head -c 60 pictures.zip | grep -q odd.png || problem "without a layout a .zip is no archive of pictures"

begin "a batch makes a pyramid of each picture"
mkdir in && cp odd.png small.png in
run 0 gpufilter -i in -o out/ --pyramid=dz
[ "$(ls out | tr '\n' ' ')" = "odd.dzi odd_files small.dzi small_files " ] || problem "$(ls out)"
run 0 gpufilter -i in -o 'out2/{stem}' --pyramid=google
[ "$(ls out2 | tr '\n' ' ')" = "odd small " ] || problem "$(ls out2)"
run 0 gpufilter -i in -o out3/ --pyramid=zoomify
[ "$(ls out3 | tr '\n' ' ')" = "odd small " ] || problem "$(ls out3)"
run 0 gpufilter -i in/odd.png -o out4/a.dzi -o out4/a.png invert

begin "--resume, --skip-existing and --update make the pyramids that are not there"
for output in 'out5/ --pyramid=dz' 'out6/{stem}.dzi' 'out7/{stem}.szi' 'out8/{stem} --pyramid=zoomify'; do
    # shellcheck disable=SC2086 # words
    run 0 gpufilter -i in -o $output --log=log.txt
    # shellcheck disable=SC2086
    run 0 gpufilter -i in -o $output --resume=log.txt
    stderr_like "0 files done, 2 skipped"
    rm log.txt
    for option in --skip-existing --update; do
        # shellcheck disable=SC2086
        run 0 gpufilter -i in -o $output $option
        stderr_like "0 files done, 2 skipped"
    done
done
run 0 gpufilter -i in -o 'out6/{stem}.dzi' --log=log.txt
rm out6/odd_files/9/0_0.jpeg
run 0 gpufilter -i in -o 'out6/{stem}.dzi' --resume=log.txt
stderr_like "1 file done, 1 skipped"
[ -e out6/odd_files/9/0_0.jpeg ] || problem "a tile is missing"

begin "what does not fit is refused in words, and nothing is written"
for bad in "a.dzi --pyramid=google" "a.png --pyramid" "a --pyramid" "a --pyramid=dz" "a.dzi --pyramid=foo" "a --pyramid=iiif" \
    "a.dzi --pyramid=dz:overlap=254" "a.dzi --tile-size=0" "a.dzi --tile-size=9000" "a.dzi --format=tiff" \
    "a.dzi --max-bytes=1k" "a.dzi --lossless" "a --pyramid=google:overlap=1" "- --pyramid=google"; do
    # shellcheck disable=SC2086 # words
    run 2 gpufilter -i odd.png -o $bad
done
for output in 'a/{ext}' 'a/{stem}.{ext}'; do
    run 2 gpufilter -i odd.png -o "$output" --pyramid=google
    stderr_like '.*: folders of tiles have no {ext}; {stem} names them'
done
run 2 gpufilter -i odd.png -o a.tar --pyramid=cog
stderr_like 'a.tar: such a pyramid is a TIFF: --format=tiff makes its members one'
for output in a.tar zip:a; do
    run 2 gpufilter -i odd.png -o $output --pyramid=google
    stderr_like '.*: a pyramid of files is no member of an archive; -o NAME.zip is one picture.s tiles'
done
[ -z "$(find . -maxdepth 1 -name 'a*' ! -name '*again*')" ] || problem "$(ls -d a*)"
for option in --png-level=9 --tiff-compression=lzw; do
    for output in warn.dzi 'warn --pyramid=google'; do
        # shellcheck disable=SC2086 # words
        run 0 gpufilter -i small.png -o $output $option --tile-size=64
        stderr_is "gpufilter: warning: ${option%=*} changes nothing in tiles of JPEG"
    done
done
run 0 gpufilter -i small.png -o warn.dzi --format=png --png-level=9
silent
for word in dzi szi cog iiif zoomify; do
    run 0 gpufilter --help $word
    stdout_has "^ *--pyramid"
done
run 4 gpufilter -i odd.png -o a.dzi --max-output=1k
stderr_like "a.dzi: is over --max-output"
[ -z "$(find . -name '*.gpufilter-*')" ] || problem "left behind: $(find . -name '*.gpufilter-*')"
[ ! -e a.dzi ] && [ ! -e a_files ] || problem "an output that is too large is there"

begin "only a folder of tiles is replaced, and with --no-clobber none"
mkdir mine && echo dear >mine/letter
run 4 gpufilter -i odd.png -o mine --pyramid=google
stderr_like "mine: is a folder with .letter."
[ "$(cat mine/letter)" = dear ] || problem "the letter is gone"
mkdir own_files && echo dear >own_files/letter
run 4 gpufilter -i odd.png -o own.dzi
[ "$(ls -A own_files)" = letter ] && [ ! -e own.dzi ] || problem "own.dzi: $(ls -A own_files)"
mkdir -p photos/2024/12 year_files/2024 && cp small.png photos/2024/12/1.png && cp small.png year_files/2024/20240131_120000.png
for output in 'photos --pyramid=google' year.dzi; do
    # shellcheck disable=SC2086 # words
    run 4 gpufilter -i odd.png -o $output
    stderr_like ".*: is a folder without what marks one of tiles, which alone is replaced"
done
mkdir -p g/1/0 && echo dear >g/1/0/letter
run 4 gpufilter -i odd.png -o g --pyramid=google
stderr_like "g: is a folder with .1/0/letter."
rm g/1/0/letter
[ -e photos/2024/12/1.png ] && [ -e year_files/2024/20240131_120000.png ] || problem "photographs are gone"
for output in odd.dzi 'z --pyramid=zoomify' 'i --pyramid=iiif:id=https://example.org' 'i3 --pyramid=iiif3:id=https://example.org'; do
    # shellcheck disable=SC2086 # words
    run 0 gpufilter -i small.png -o $output --format=png
done
run 75 gpufilter -i odd.png -o g --pyramid=google --no-clobber
stderr_like "g: is there already"
before=$(cksum odd.dzi)
run 75 gpufilter -i small.png -o odd.dzi --no-clobber
[ "$(cksum odd.dzi)" = "$before" ] || problem "odd.dzi was replaced"
run 0 gpufilter -i small.png -o g --pyramid=google --tile-size=16
[ -e g/2/0/0.jpg ] && [ ! -e g/2/0/0.png ] || problem "old tiles are left: $(tree g)"

begin "a picture in the folder of tiles that would be replaced is refused, without --in-place"
rm own_files/letter
run 0 gpufilter -i odd.png -o own.dzi --tile-size=64
run 0 gpufilter -i odd.png -o own --pyramid=google --tile-size=64
before=$(cksum own_files/*/* own/*/*/*)
ln -s own_files/3 level3
for names in 'own_files/3/0_0.jpeg -o own.dzi' './own_files/../own_files/3/0_0.jpeg -o own.dzi' 'level3/0_0.jpeg -o ./own.dzi' \
    'own_files/3 -o own.dzi --sheet=2' 'own_files/3/0_0.jpeg -o own_files --pyramid=google' 'own/2/0/0.jpg -o own --pyramid=google'; do
    # shellcheck disable=SC2086 # words
    run 2 gpufilter -i $names
done
run 2 gpufilter -i own_files/3/0_0.jpeg -o own.dzi
stderr_is "gpufilter: own_files/3/0_0.jpeg: its output would replace it: --in-place allows that, -o with another folder keeps it"
run 2 gpufilter -i own_files/3/0_0.jpeg -o own.dzi -o other.png
run 2 gpufilter -i odd.png -i own_files/3/0_0.jpeg -o '{stem}.png' -o 'own.dzi' --in-place
cp own.dzi own1.dzi && cp -r own_files own1_files
run 4 gpufilter -i own1_files/3/0_0.jpeg -o 'own{n}.dzi'
stderr_like "own1.dzi: the input lies in its folder of tiles: --in-place allows that"
run 2 gpufilter -i odd.png -o own.dzi overlay=own_files/3/0_0.jpeg
stderr_like "own.dzi: is an output and its folder of tiles has a file that the chain reads; --in-place allows that"
run 2 gpufilter -i own_files/3/0_0.jpeg -o own.dzi --in-place --resume=own.log
[ "$(cksum own_files/*/* own/*/*/*)" = "$before" ] || problem "tiles have changed"
[ -e own1_files/8/0_0.jpeg ] || problem "own1.dzi was written"
run 0 gpufilter -i own_files/3/0_0.jpeg -o own.dzi --in-place
[ "$(ls own_files | wc -l)" -eq 4 ] || problem "levels: $(ls own_files)"

begin "two outputs do not share a folder of tiles"
run 2 gpufilter -i odd.png -o two.dzi -o two_files --pyramid=google
stderr_like "two outputs of 'odd.png' would both be written to '.*/two_files/'"
run 2 gpufilter -i odd.png -o two_files/0/1.png -o two.dzi
run 2 gpufilter -i odd.png -o two.dzi -o two.DZI
for output in two.dzi two.szi 'two.zip --pyramid=google'; do
    # shellcheck disable=SC2086 # words
    run 2 gpufilter -i odd.png -i small.png -o $output
    stderr_like "'odd.png' and 'small.png' would both be written to 'two.*"
done
run 2 gpufilter -i odd.png -i small.png -o 'two{w}.dzi' resize=64:64
stderr_like "'odd.png' and 'small.png' would both be written to 'two64.dzi'.*"
[ -z "$(find . -name 'two*')" ] || problem "left behind: $(find . -name 'two*')"

begin "nor do those whose names are known only in the run"
mkdir linked && ln -s linked numbered
for names in "-o n{n}.dzi -o n1_files --pyramid=google" "-o n1_files --pyramid=google -o n{n}.dzi" "-o n{n}_files/a.png -o n{n}.dzi" \
    "-o n{n}.dzi -o n{n}_files/a.png" "-o ./n{n}.dzi -o n{n}_files --pyramid=zoomify" "-o linked/n{n}.dzi -o numbered/n{n}_files/1/0.jpg"; do
    # shellcheck disable=SC2086 # words
    run 4 gpufilter -q -i odd.png $names
    stderr_like '.*n1[._].*: its tiles and .*n1[._].*, another output of .odd.png., would have one folder'
    rm -rf n1* linked/*
done
run 4 gpufilter -q -i odd.png -o 'n{n}.png' -o './n{n}.png'
stderr_like "./n1.png: two outputs of 'odd.png' have this name"
run 0 gpufilter -q -i odd.png -o 'n{n}.dzi' -o 'n{n}_filesystem.png' -o 'n{n}_file/1.png'
run 0 sh -c '"$GPUFILTER" -q -i odd.png -o - -o "./-/n{n}.dzi" >n1.png'
[ -s ./-/n1.dzi ] || problem "there is no ./-/n1.dzi"
run 4 gpufilter -q -i n1_files/3 -o 'n{n}.dzi'
stderr_like "n1.dzi: the input lies in its folder of tiles: --in-place allows that"

begin "--skip-existing and --update make a pyramid anew whose tiles are gone"
for output in gone.dzi 'gone --pyramid=zoomify' 'gone3 --pyramid=iiif:id=https://example.org'; do
    folder=${output%% *}
    [ "$folder" != gone.dzi ] || folder=gone_files
    for option in --skip-existing --update; do
        # shellcheck disable=SC2086 # words
        run 0 gpufilter -i small.png -o $output
        find $folder -mindepth 2 -delete
        # shellcheck disable=SC2086
        run 0 gpufilter -i small.png -o $output $option
        [ -n "$(find $folder -mindepth 2 -name '*.jp*g')" ] || problem "$option: no tiles in $folder"
    done
done
rm -r gone_files
run 75 gpufilter -i small.png -o gone.dzi --no-clobber
run 0 gpufilter -i white.png -o white --pyramid=google
: >white/blank.png
run 0 gpufilter -i white.png -o white --pyramid=google --skip-existing
[ ! -s white/blank.png ] || problem "a pyramid without other tiles was made again"

begin "a symbolic link is followed, and the tiles lie beside the .dzi that it leads to"
mkdir behind && ln -s behind/real.dzi link.dzi && ln -s behind/folder link
for _ in 1 2; do
    run 0 gpufilter -i small.png -o link.dzi
    run 0 gpufilter -i small.png -o link --pyramid=google
    [ -L link.dzi ] && [ -L link ] && [ -e behind/real_files/0/0_0.jpeg ] && [ -e behind/folder/blank.png ] || problem "$(ls -l . behind)"
done
[ ! -e link_files ] || problem "tiles beside the link"
run 0 gpufilter -i small.png -o link.dzi --log=link.log
touch -d 2001-02-03 behind/real.dzi
run 0 gpufilter -i small.png -o link.dzi --resume=link.log
[ "$(date -r behind/real.dzi +%Y)" = 2001 ] || problem "--resume made it again"
run 2 gpufilter -i behind/real_files/3/0_0.jpeg -o link.dzi
run 2 gpufilter -i odd.png -o link.dzi -o behind/real.dzi

begin "a .dzi, .szi or .zip without a stem is the name of no pyramid"
mkdir stemless
for name in .dzi stemless/.dzi stemless/.szi 'stemless/.zip --pyramid=dz'; do
    # shellcheck disable=SC2086 # words
    run 2 gpufilter -i small.png -o $name
done
[ -z "$(ls -A stemless)" ] || problem "$(ls -A stemless)"

begin "--keep-times: what describes the tiles has the time of the input, and the folder"
cp small.png timed.png && touch -d 2001-02-03 timed.png
run 0 gpufilter -i timed.png -o timed.dzi --keep-times
run 0 gpufilter -i timed.png -o timed --pyramid=zoomify --keep-times
for file in timed.dzi timed timed/ImageProperties.xml; do
    [ "$(date -r $file +%Y)" = 2001 ] || problem "$file: $(date -r $file)"
done
touch -d 2001-02-04 timed/ImageProperties.xml
run 0 gpufilter -i timed.png -o timed --pyramid=zoomify --update
[ "$(date -r timed/ImageProperties.xml +%d)" = 04 ] || problem "--update made it again"

begin "--profile has a row for each level of a pyramid, --progress counts its tiles"
for output in rows.dzi rows.szi 'rows.tif --pyramid=cog'; do
    # shellcheck disable=SC2086 # words
    run 0 gpufilter -i odd.png -o $output --tile-size=64 --profile
    stdout_has "^tiles of 301x155 *15 "
    stdout_has "^tiles of 38x20 *1 "
done
run 0 gpufilter -i odd.png -o rows.dzi --tile-size=64 --profile=json
bytes=$(cat rows_files/9/* | wc -c)
stdout_has "{\"width\": 301, \"height\": 155, \"tiles\": 15, \"bytes\": $bytes}"
[ "$(grep -c '"tiles": ' stdout)" -eq 10 ] || problem "levels: $(grep '"tiles"' stdout)"
run 0 gpufilter -i odd.png -o rows.png --profile
! grep -q "^tiles" stdout || problem "a PNG has tiles"
run 0 gpufilter -i odd.png -o rows.dzi --tile-size=64 --progress=json
[ "$(grep -c '"tiles":30,"tiles_done":30,"at_end":true' stderr)" -eq 1 ] || problem "$(cat stderr)"

begin "killed in the middle, nothing looks complete, and the next run removes what is left"
gpufilter -i in.ppm -o large.ppm 'resize=w=800:h=800:kernel=nearest'
run 0 gpufilter -i large.ppm -o k.dzi --tile-size=32
tiles=$(find k_files -type f | wc -l)
middle=0

# until_begun PATTERN: waits until the run has made such a file.
until_begun()
{
    for _ in $(seq 20000); do
        # shellcheck disable=SC2086 # a pattern
        [ -z "$(ls -d $1 2>/dev/null)" ] || return 0
        [ -e "/proc/$job" ] || return 0
    done
}

for round in $(seq 20); do
    [ $round -lt 5 ] || [ $middle -eq 0 ] || break
    rm -rf k.dzi k_files
    "$GPUFILTER" -i large.ppm -o k.dzi --tile-size=16 --threads=1 -q &
    job=$!
    until_begun '.k_files*/9'
    kill -9 $job 2>/dev/null
    wait $job 2>/dev/null
    [ -z "$(find . -maxdepth 1 -name '.k_files*')" ] || middle=1
    [ ! -e k.dzi ] || [ "$(find k_files -type f | wc -l)" -gt "$tiles" ] || problem "k.dzi without its tiles"
done
[ $middle -eq 1 ] || problem "no run was killed in the middle"
run 0 gpufilter -i large.ppm -o k.dzi --tile-size=32
[ "$(find k_files -type f | wc -l)" -eq "$tiles" ] || problem "another number of tiles"
[ "$(find . -maxdepth 1 -name '.k*' | wc -l)" -eq 0 ] || problem "left behind: $(find . -maxdepth 1 -name '.k*' | head -3)"

begin "interrupted, the tiles are removed at once, and an older pyramid stays"
before=$(cksum k.dzi k_files/*/0_0.jpeg)
"$GPUFILTER" -i large.ppm -o k.dzi --tile-size=16 --threads=1 -q &
job=$!
until_begun '.k_files*/9'
kill -TERM $job 2>/dev/null
wait $job 2>/dev/null
[ "$(find . -maxdepth 1 -name '.k*' | wc -l)" -eq 0 ] || problem "left behind: $(find . -maxdepth 1 -name '.k*' | head -3)"
[ "$(cksum k.dzi k_files/*/0_0.jpeg)" = "$before" ] || problem "the older pyramid has changed"
mkdir larges && cp large.ppm larges/1.ppm && cp large.ppm larges/2.ppm
for after in 0 0.05 0.1 0.15; do
    rm -rf cut
    "$GPUFILTER" -i larges -o cut --pyramid=zoomify --tile-size=4 2>said &
    job=$!
    until_begun 'cut/.*gpufilter*'
    sleep $after
    kill -TERM $job 2>/dev/null
    wait $job 2>/dev/null
    ! grep -q 'No such file' said || problem "it tells of the folder that it removes: $(cat said)"
    [ "$(find cut -mindepth 1 -maxdepth 1 -name '.*' | wc -l)" -eq 0 ] || problem "left behind: $(ls -A cut)"
done
