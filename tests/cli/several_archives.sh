# shellcheck shell=sh
# Archives among several outputs, and archives of files and files of archives: what separate runs make.
if ! gpufilter --version | grep -q '^archives: tar' || ! command -v tar >/dev/null; then
    skip "there is no tar, or no libarchive in this build"
    return 0
fi

mkdir -p set/deep
run 0 gpufilter -q -i in.png -o set/a.png 'resize=200:150'
run 0 gpufilter -q -i set/a.png -o set/deep/b.jpg blur
echo '{"label": 7}' >set/a.json
ln -s a.png set/link.png
tar cf in.tar set
rm set/link.png

# members ARCHIVE: its names, sorted.
members()
{
    tar tf "$1" | grep -v '/$' | sort
}

# unpacked ARCHIVE FOLDER
unpacked()
{
    rm -rf "$2"
    mkdir -p "$2"
    tar xf "$1" -C "$2"
}

begin "one archive to two archives and a folder: what separate runs make"
run 0 gpufilter -i in.tar -o large.tar invert -o small.tar.gz --format=jpeg --quality=60 thumbnail=40 -o 'thumb/{dir}/{stem}.ppm' thumbnail=20
stderr_like '3 files done'
run 0 gpufilter -q -i in.tar -o alone.tar invert
same large.tar alone.tar
run 0 gpufilter -q -i in.tar -o alone.tar.gz --format=jpeg --quality=60 thumbnail=40
same small.tar.gz alone.tar.gz
tar tvf small.tar.gz | grep -q 'link.jpg -> a.jpg' || problem "the link is $(tar tvf small.tar.gz | grep link)"
run 0 gpufilter -q -i set/a.png -o a.ppm thumbnail=20
same a.ppm thumb/set/a.ppm
[ -f thumb/set/deep/b.ppm ] || problem "$(find thumb)"
absent thumb/set/a.json

begin "an archive to a folder"
run 0 gpufilter -q -i in.tar -o out invert
unpacked large.tar large
same out/set/a.png large/set/a.png
same out/set/deep/b.jpg large/set/deep/b.jpg
only out set
only out/set a.png deep link.png
tar cf files.tar set
run 0 sh -c 'cat files.tar | "$GPUFILTER" -q -i tar:- -o piped/{stem}-{w}x{h}.png invert'
only piped a-200x150.png b-200x150.png

begin "nothing is written outside of the output's folder"
mkdir -p evil/in
cp set/a.png evil/a.png
(cd evil/in && tar cPf ../evil.tar ../a.png)
run 0 gpufilter -q -i evil/evil.tar -o evil/out/deep invert
[ -f evil/out/deep/a.png ] || problem "$(find evil)"
cmp -s set/a.png evil/a.png || problem "evil/a.png was written"

begin "files to an archive, and to an archive and a folder"
chmod 640 set/a.png
touch -d '2020-02-02 02:02:02 UTC' set/a.png
run 0 gpufilter -i set -r -o packed.tar --format=png thumbnail=40 -o both invert
stderr_like '2 files done'
[ "$(members packed.tar | tr '\n' ' ')" = "a.png deep/b.png " ] || problem "the members are $(members packed.tar)"
unpacked packed.tar packed
[ "$(stat -c '%a %Y' packed/a.png)" = "640 $(stat -c %Y set/a.png)" ] || problem "$(stat -c '%a %Y' packed/a.png)"
run 0 gpufilter -q -i set/deep/b.jpg -o b.png thumbnail=40
same b.png packed/deep/b.png
same both/a.png large/set/a.png
same both/deep/b.jpg large/set/deep/b.jpg
run 0 gpufilter -q -i set/a.png -o one.tar invert
[ "$(members one.tar)" = a.png ] || problem "the members are $(members one.tar)"
run 0 sh -c '"$GPUFILTER" -q -i set -r -o tar:- --format=png thumbnail=40 >stream.tar'
same stream.tar packed.tar
run 75 gpufilter -i none.txt -i set/a.png -o one.tar invert
[ "$(head -n 1 stderr)" = "gpufilter: none.txt: No such file or directory" ] || problem "$(cat stderr)"
[ "$(members one.tar)" = a.png ] || problem "the members are $(members one.tar)"
run 0 gpufilter -i set -r -o packed.tar --dry-run
stdout_has '^set/deep/b.jpg -> packed.tar/deep/b.jpg$'

begin "a member that one output refuses is left out of that one"
run 4 gpufilter -i in.tar --log=log -o big.tar crop=180:140 -o lossy.tar --format=jpeg --lossless invert -o kept/ invert
grep -q '2 of 3 files failed (2 of their 6 outputs), 1 done' stderr || problem "$(cat stderr)"
[ "$(members big.tar)" = "$(members in.tar)" ] || problem "the members are $(members big.tar)"
members lossy.tar | grep -q 'set/a\.jpg\|deep/b' && problem "the members are $(members lossy.tar)"
same kept/set/a.png large/set/a.png
[ "$(grep -c '"status":"ok"' log)" = 7 ] && [ "$(grep -c '"status":"failed"' log)" = 3 ] || problem "$(cat log)"
grep '"status":"failed"' log | grep -v '"output":"lossy.tar["/]' | grep . && problem "$(cat log)"

begin "a damaged member fails all its outputs with one line"
echo nothing >set/bad.jpg
tar cf bad.tar set
run 4 gpufilter -i bad.tar -o x1.tar -o x2/ blur
[ "$(grep -c 'bad.jpg' stderr)" = 1 ] || problem "$(cat stderr)"
[ "$(members x1.tar)" = "$(members in.tar | grep -v link)" ] || problem "the members are $(members x1.tar)"
run 4 gpufilter -i bad.tar --fail-fast -o x3.tar -o x4.tar blur
absent x3.tar x4.tar
run 75 gpufilter -i set -r -o x5.tar -i missing.png
[ "$(members x5.tar | tr '\n' ' ')" = "a.png deep/b.jpg " ] || problem "the members are $(members x5.tar)"
rm set/bad.jpg

begin "an archive that cannot be written fails, and the others are kept"
if [ -e /dev/full ]; then
    run 75 sh -c '"$GPUFILTER" -q -i in.tar -o tar:- -o kept.tar invert >/dev/full'
    grep -q 'stdout: cannot write: ' stderr || problem "$(cat stderr)"
    same kept.tar large.tar
fi
: >there.tar
run 75 gpufilter -q --no-clobber -i in.tar -o there.tar -o kept2.tar invert
grep -q 'there.tar: ' stderr || problem "$(cat stderr)"
same kept2.tar large.tar
[ ! -s there.tar ] || problem "there.tar was written"

begin "members whose names meet are refused but for the first"
mkdir meet
cp set/a.png meet/x.png
cp set/deep/b.jpg meet/x.jpg
tar cf meet.tar meet/x.png meet/x.jpg
run 4 gpufilter -i meet.tar -o met.tar --format=png -o 'met/{stem}.png' -o 'met2/{w}.png'
grep -q "met.tar/meet/x.png: 'meet.tar/meet/x.png' and 'meet.tar/meet/x.jpg' would both be written to it" stderr ||
    problem "$(cat stderr)"
[ "$(members met.tar)" = meet/x.png ] || problem "the members are $(members met.tar)"
only met x.png
only met2 200.png
for name in meet/./x.jpg ./meet//x.jpg; do
    tar cf meet.tar meet/x.png $name
    run 4 gpufilter -i meet.tar -o met.tar --format=png
    grep -q ": 'meet.tar/meet/x.png' and 'meet.tar/$name' would both be written to it" stderr || problem "$(cat stderr)"
    [ "$(members met.tar)" = meet/x.png ] || problem "the members are $(members met.tar)"
done
tar cf twice.tar set/a.png ./set/a.png
run 0 gpufilter -q -i twice.tar -o twice2.tar invert
[ "$(tar tf twice2.tar)" = "$(tar tf twice.tar)" ] || problem "the members are $(tar tf twice2.tar)"
tar cf twice.tar set/a.png set/deep/b.jpg set/a.png
run 0 gpufilter -q -i twice.tar -o twice2.tar invert
[ "$(tar tf twice2.tar)" = "$(tar tf twice.tar)" ] || problem "the members are $(tar tf twice2.tar)"
run 2 gpufilter -i meet/x.png -i meet/x.jpg -o y.tar --format=png
stderr_like "'meet/x.png' and 'meet/x.jpg' would both be written to 'y.tar/x.png'"

begin "--resume and --skip-existing look at the files, and archives are made as a whole"
set -- -i in.tar -o whole.tar invert -o 'files/{stem}.png' thumbnail=40
run 0 gpufilter -q "$@" --log=run.log
[ "$(grep -c '"status":"ok"' run.log)" = 7 ] || problem "$(cat run.log)"
rm files/a.png
touch -t 200001010000 files/b.png
cp files/b.png old.png
run 0 gpufilter -q "$@" --resume=run.log
[ "$(grep -c '"status":"ok"' run.log)" = 12 ] || problem "$(cat run.log)"
[ -f files/a.png ] || problem "files/a.png was not made"
[ -z "$(find files/b.png -newer old.png)" ] || problem "files/b.png was made again"
touch -d '1 hour' in.tar
run 0 gpufilter -q "$@" --resume=run.log
[ -n "$(find files/b.png -newer old.png)" ] || problem "the archive has changed, and files/b.png has not"
grep -q '"identity":"[0-9]* [0-9.]* in [0-9]* [0-9.]*"' run.log || problem "$(cat run.log)"
same whole.tar large.tar
run 0 gpufilter -i in.tar -o 'files/{stem}.png' --skip-existing thumbnail=40
stderr_like '0 files done, 3 skipped, .*; 1 file was not taken for a picture (-v names it)$'
run 0 gpufilter -v -i in.tar -o 'files/{stem}.png' --skip-existing thumbnail=40
grep -q '^gpufilter: in.tar/set/a.json: not taken for a picture$' stderr || problem "$(cat stderr)"

begin "--resume of an archive from a pipe: a member that was changed within its size and time is made again"
mkdir fixed
for sample in a b; do
    printf 'P5\n1 1\n255\n%s' $sample >fixed/x.pgm
    touch -d @0 fixed/x.pgm
    tar cf - fixed | gpufilter -q -i tar:- -o fixed-out --resume=fixed.log
    same fixed-out/fixed/x.pgm fixed/x.pgm
done
run 0 sh -c 'tar cf - fixed | "$GPUFILTER" -i tar:- -o fixed-out --resume=fixed.log'
stderr_like '0 files done, 1 skipped'

begin "what makes no sense is refused"
run 2 gpufilter -i in.tar -o y.tar -o ./y.tar blur
stderr_like "two outputs of 'in.tar' would both be written to 'y.tar'"
run 2 gpufilter -i in.tar -o y.tar -o in.tar blur
stderr_like "the output of 'in.tar' would be written over the input 'in.tar'"
run 2 gpufilter -i in.tar -o one.png blur
stderr_like "one.png: one name for all pictures of 'in.tar'; a folder, which ends in / or is there, or {dir}, {stem}, .* tell outputs apart"
run 2 gpufilter -i set/a.png -o '{stem}.tar' blur
stderr_like '{stem}.tar: an archive of files has one name, without fields in braces'
run 2 gpufilter --explain -i in.tar -o y.tar blur
stderr_like "--explain and --profile=compare work on one picture, not on an archive: 'in.tar'"
run 2 gpufilter -i in.tar -o tar:- -o tar:- blur
stderr_like 'two outputs cannot both be standard output'
run 2 gpufilter -i set/a.png -o tar:- -o - --format=png blur
stderr_like 'two outputs cannot both be standard output'
absent y.tar one.png
