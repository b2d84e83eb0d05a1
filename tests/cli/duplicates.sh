# --info=hash: hashes of what pictures show; --duplicates: which show the same. The different pictures are parts of one photograph.
mkdir photos
for part in northwest northeast southwest southeast; do
    gpufilter -i "$here/../samples/harbour.png" -o photos/$part.png "crop=45%:45%:gravity=$part,resize=300:200"
done
cd photos || exit 1

# hashes FILE: "dhash phash"
hashes()
{
    gpufilter --info=hash:json "$1" | sed 's/.*"dhash":"\([0-9a-f]*\)","phash":"\([0-9a-f]*\)".*/\1 \2/'
}

begin "--info=hash has a form for people and one for programs"
run 0 gpufilter --info=hash northeast.png
silent
stdout_has '^{"file":"northeast.png",.*,"dhash":"[0-9a-f]\{16\}","phash":"[0-9a-f]\{16\}"}$'
run 0 gpufilter --info=hash:table northeast.png
stdout_has '^width            300$'
stdout_has "^phash            $(hashes northeast.png | cut -d ' ' -f 2)\$"
run 0 gpufilter --info=hash:table northeast.png southeast.png
[ "$(sed -n 3p stdout)" = "$(hashes southeast.png) southeast.png" ] || problem "$(cat stdout)"
run 2 gpufilter --info=hash northeast.png blur
stderr_is "gpufilter: --info: 'blur' is no file, and only --info=statistics takes a chain"

begin "lossless copies, deeper ones and turned ones have the same hashes, on any number of threads and in cells"
run 0 gpufilter -i northeast.png -o ../a.ppm
run 0 gpufilter -i northeast.png -o ../a.png --depth=16
run 0 gpufilter -i northeast.png -o ../upright.jpg rotate=270
run 0 gpufilter -i ../upright.jpg -o ../b.ppm rotate=90
{
    printf '\377\330\377\341\000\042Exif\000\000MM\000\052\000\000\000\010'
    printf '\000\001\001\022\000\003\000\000\000\001\000\006\000\000\000\000\000\000'
    tail -c +3 ../upright.jpg
} >../turned.jpg
for copy in a.ppm:northeast.png a.png:northeast.png turned.jpg:../b.ppm; do
    [ "$(hashes "../${copy%:*}")" = "$(hashes "${copy#*:}")" ] || problem "$copy: $(hashes "../${copy%:*}"), $(hashes "${copy#*:}")"
done
[ "$(hashes ../turned.jpg)" != "$(hashes ../upright.jpg)" ] || problem "the orientation does not count"
run 0 gpufilter --info=hash:json --threads=1 -i .
mv stdout ../one
run 0 gpufilter --info=hash:json --threads=3 -i .
same stdout ../one
if gpufilter --version | grep -q '^cells for decoders'; then
    run 0 gpufilter --info=hash:json --sandbox=all -i .
    same stdout ../one
fi

begin "different pictures are in no group"
run 0 gpufilter --duplicates -i .
silent
[ ! -s stdout ] || problem "$(cat stdout)"

begin "copies of all kinds are in the group of their picture, the best first"
for part in *.png; do
    run 0 gpufilter -i "$part" -o "${part%.png}.jpg" --quality=50
done
run 0 gpufilter -i southeast.png -o half.ppm resize=50%
run 0 gpufilter -i southeast.png -o bright.ppm brightness=0.05
run 0 gpufilter -i southeast.png -o gray.png grayscale
run 0 gpufilter --duplicates -i .
silent
awk '{ print $4 }' stdout >names
[ "$(sed 's/^\.\///' names | tr '\n' ' ')" = "bright.ppm southeast.png gray.png southeast.jpg half.ppm  northeast.png northeast.jpg  northwest.png northwest.jpg  southwest.png southwest.jpg " ] ||
    problem "$(cat stdout)"
grep -qE '^ [0-6] +150x100 +45015 (\./)?half\.ppm$' stdout || problem "$(cat stdout)"
rm names
run 0 gpufilter --duplicates=0 -i half.ppm -i gray.png -i southeast.png
[ "$(awk '{ print $1, $4 }' stdout)" = "$(printf '0 southeast.png\n0 gray.png')" ] || problem "$(cat stdout)"

begin "a file is no duplicate of itself, by whatever path or link"
mkdir -p self/sub
cp gray.png self/sub/one.png
ln -s sub/one.png self/soft.png
ln self/sub/one.png self/hard.png
cd self || exit 1
for inputs in "sub/one.png sub/one.png" "-r . sub" "soft.png sub/one.png" "sub/one.png hard.png" "./sub/../hard.png soft.png -i ."; do
    # shellcheck disable=SC2086 # its words
    run 0 gpufilter --duplicates $inputs
    silent
    [ ! -s stdout ] || problem "$inputs: $(cat stdout)"
done
cp hard.png copy.png
run 0 gpufilter --duplicates -r -i .
[ "$(wc -l <stdout)" -eq 2 ] || problem "$(cat stdout)"
cd .. && rm -r self

begin "files of several pictures are like each other only if they have as many"
mkdir pages
run 0 gpufilter -i gray.png -i northwest.png -o pages/two.png --fps=5
run 0 gpufilter -i gray.png -i southeast.png -o pages/other.png --fps=5
run 0 gpufilter -i southeast.png -i northwest.png -o pages/film.y4m --fps=5
run 0 gpufilter --duplicates=12 -i gray.png -i pages
[ "$(sed 's/.* pages/pages/' stdout | sort)" = "$(printf 'pages/other.png (2 pictures)\npages/two.png (2 pictures)')" ] || problem "$(cat stdout)"
run 0 gpufilter --duplicates --info=json -i gray.png -i pages
[ "$(grep -o '"pages":2' stdout | wc -l)" -eq 2 ] || problem "$(cat stdout)"
[ "$(wc -l <stdout)" -eq 1 ] || problem "$(cat stdout)"
rm -r pages

begin "groups as JSON, which has the keys of the manual"
run 0 gpufilter --duplicates=8 --info=json -i northwest.jpg -i half.ppm -i northwest.png
silent
[ "$(wc -l <stdout)" -eq 1 ] || problem "$(cat stdout)"
stdout_has '^{"files":\[{"file":"northwest.png","distance":0,"width":300,"height":200,"bytes":[0-9]*,"pages":1},{"file":"northwest.jpg","distance":[0-6],.*}\]}$'
tr ',{[' '\n\n\n' <stdout | sed -n 's/^"\([a-z_]*\)":.*/\1/p' | sort -u >../keys
gpufilter --man=reports | tr -d '\\' >../manual
while read -r key; do
    grep -qE "(fB|[.])${key}fR\$" ../manual || [ "$key" = files ] || problem "the manual has no $key"
done <../keys

begin "a BMP is a copy like any other, though its rows are read from its end"
gpufilter -q -i northwest.png -o copy.bmp
run 0 gpufilter --duplicates -i copy.bmp -i northwest.png
[ "$(awk '{ print $4 }' stdout | sort | tr '\n' ' ')" = "copy.bmp northwest.png " ] || problem "$(cat stdout)"
rm copy.bmp

begin "members of archives are compared, too"
if gpufilter --version | grep -q '^archives: tar'; then
    tar cf ../photos.tar northwest.jpg gray.png
    run 0 gpufilter --duplicates -i ../photos.tar -i northwest.png
    [ "$(awk '{ print $4 }' stdout)" = "$(printf 'northwest.png\n../photos.tar/northwest.jpg')" ] || problem "$(cat stdout)"
fi

begin "files that cannot be read are told, and the others are compared; limits hold"
head -c 2000 northwest.png >cut.png
run 4 gpufilter --duplicates -i cut.png -i gray.png -i northwest.png -i northwest.jpg
[ "$(awk '{ print $4 }' stdout)" = "$(printf 'northwest.png\nnorthwest.jpg')" ] || problem "$(cat stdout)"
grep -q '^gpufilter: cut.png: truncated' stderr || problem "$(cat stderr)"
[ "$(tail -n 1 stderr)" = "gpufilter: 1 of 4 files could not be read" ] || problem "$(cat stderr)"
run 4 gpufilter --info=hash:json -i cut.png -i gray.png
stdout_has '^{"file":"cut.png","error":"cut.png: truncated'
run 4 gpufilter --duplicates gray.png --max-pixels=100
stderr_is "gpufilter: gray.png: 300x200 is 60000 pixels, over --max-pixels=100"
rm cut.png
run 2 gpufilter --duplicates -i . -o out.png
stderr_is "gpufilter: --duplicates writes no picture: '-o out.png'"
absent out.png
