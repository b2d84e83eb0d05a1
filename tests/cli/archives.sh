# Archives: members in their order, pictures among them filtered, everything else untouched.
if ! gpufilter --version | grep -q '^archives: tar' || ! command -v tar >/dev/null; then
    skip "there is no tar, or no libarchive in this build"
    return 0
fi

mkdir -p set/deep
run 0 gpufilter -q -i in.ppm -o set/0001.png
run 0 gpufilter -q -i in.ppm -o set/deep/0002.ppm invert
echo '{"label": 7}' >set/0001.json
head -c 3000000 /dev/urandom >set/large.bin
printf 'P6 is how this text begins\n' >set/text.txt
ln -s 0001.png set/link.png
chmod 640 set/0001.png
touch -d '2020-02-02 02:02:02 UTC' set/0001.png
tar cf in.tar set

begin "names, order, modes and times stay; what is no picture passes untouched"
run 0 gpufilter -q -i in.tar -o out.tar invert
silent
[ "$(tar tf in.tar)" = "$(tar tf out.tar)" ] || problem "the members are $(tar tf out.tar)"
mkdir out
tar xf out.tar -C out
for each in 0001.json large.bin text.txt; do
    same "out/set/$each" "set/$each"
done
[ "$(readlink out/set/link.png)" = 0001.png ] || problem "the link leads to $(readlink out/set/link.png)"
[ "$(stat -c '%a %Y' out/set/0001.png)" = "640 $(stat -c %Y set/0001.png)" ] || problem "$(stat -c '%a %Y' out/set/0001.png)"

begin "--keep-times: a file gets its member's time"
run 0 gpufilter -q -i in.tar -o 'timed/{stem}.png' --keep-times invert
[ "$(stat -c %Y timed/0001.png)" = "$(stat -c %Y set/0001.png)" ] || problem "$(stat -c %y timed/0001.png)"

begin "zip: names, order, modes, times and links stay, members that are not packed stay so, and what tar holds is the same"
rm -rf kept && mkdir kept
run 0 gpufilter -q -i in.tar -o all.zip invert
run 0 gpufilter -q -i all.zip -o all.cbz invert
run 0 gpufilter -q -i all.cbz -o back.tar invert
[ "$(tar tf in.tar)" = "$(tar tf back.tar)" ] || problem "the members are $(tar tf back.tar)"
tar xf back.tar -C kept
for each in 0001.json large.bin text.txt deep/0002.ppm; do
    cmp -s "out/set/$each" "kept/set/$each" || problem "$each differs"
done
same kept/set/0001.png out/set/0001.png
[ "$(readlink kept/set/link.png)" = 0001.png ] || problem "the link leads to $(readlink kept/set/link.png)"
[ "$(stat -c '%a %Y' kept/set/0001.png)" = "640 $(stat -c %Y set/0001.png)" ] || problem "$(stat -c '%a %Y' kept/set/0001.png)"
head -c 200000 /dev/zero >set/zeros.bin
tar cf zeros.tar set/zeros.bin
run 0 gpufilter -q -i zeros.tar -o zeros.zip
[ "$(stat -c %s zeros.zip)" -lt 2000 ] || problem "what can be packed is not: $(stat -c %s zeros.zip) bytes"
# The same archive with a member that is not packed, by hand: its headers hold sizes and a checksum of its bytes.
{
    printf 'PK\3\4\12\0\0\0\0\0\0\0\41\0\205\21\112\15\13\0\0\0\13\0\0\0\5\0\0\0a.txthello world'
    printf 'PK\1\2\12\3\12\0\0\0\0\0\0\0\41\0\205\21\112\15\13\0\0\0\13\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0\244\201\0\0\0\0a.txt'
    printf 'PK\5\6\0\0\0\0\1\0\1\0\63\0\0\0\56\0\0\0\0\0'
} >stored.zip
run 0 gpufilter -q -i stored.zip -o stored-out.zip
grep -aq 'hello world' stored-out.zip || problem "a member that was not packed is packed"
rm set/zeros.bin

begin "hidden members, as macOS adds them, are no pictures: they pass, and become no files"
mkdir -p mac/__MACOSX/dir mac/dir
gpufilter -q -i in.ppm -o mac/dir/a.png
cp mac/dir/a.png mac/a...png
for each in dir/._a.jpg __MACOSX/dir/b.png ._c.png dir/.DS_Store; do
    printf '\0\5\26\7' >"mac/$each"
done
tar cf mac.tar -C mac dir __MACOSX ._c.png a...png
tar cf mac2.tar -C mac .
for each in mac.tar mac2.tar; do
    run 0 gpufilter -q -i $each -o mac.zip invert
    run 0 gpufilter -q -i mac.zip -o mac-back.tar invert
    [ "$(tar tf mac-back.tar)" = "$(tar tf $each)" ] || problem "$each: $(tar tf mac-back.tar)"
    tar xf mac-back.tar -O --wildcards '*._c.png' | cmp -s - mac/._c.png || problem "$each: a hidden member changed"
    rm -rf mac-out
    run 0 gpufilter -q -i $each -o mac-out/ invert
    [ "$(cd mac-out && find . -type f | sort | tr '\n' ' ')" = "./a...png ./dir/a.png " ] || problem "$each: $(find mac-out)"
done
run 0 gpufilter --info mac.zip
grep -q MACOSX stdout && problem "$(cat stdout)"
run 2 gpufilter -q -i mac.tar -o raw.tar --raw=4x2:gray
stderr_is "gpufilter: mac.tar: --raw is not for archives"

begin "a member that is named like a file in a folder is refused"
for before in '-o none.png -i' --info; do
    run 2 gpufilter $before mac.tar/dir/a.png
    stderr_is "gpufilter: mac.tar/dir/a.png: leads into an archive, and a run takes all of its pictures: -i 'mac.tar' -o 'FOLDER/' makes files of them"
done
run 2 gpufilter -o none/ -i 'mac.tar/*.png'
run 75 gpufilter -o none.png -i text.ppm/a.png

begin "zip: pipes, files, folders, and names that are no ASCII"
cp set/0001.png 'set/Jörg.png'
run 0 gpufilter -q -i set -r -o folder.zip invert
run 0 gpufilter -q -i folder.zip -o 'unzipped/{dir}/{stem}.{ext}' invert
rm 'set/Jörg.png'
[ -f "$(find unzipped -name Jörg.png)" ] || problem "$(find unzipped)"
run 0 gpufilter -q -i all.zip -o again.zip invert
gpufilter -q -i tar:- -o zip:- invert <all.zip >piped.zip || problem "status $?"
same piped.zip again.zip
cat all.zip | gpufilter -q -i zip:- -o tar:- | tar tf - >listed || problem "status $?"
[ "$(cat listed)" = "$(tar tf in.tar)" ] || problem "$(cat listed)"

begin "zip: a member that cannot be read is one failed file among many"
if ! command -v python3 >/dev/null; then
    lacking="python3 is not here"
else
    python3 -c '
import zipfile
data = {name: open("in.png", "rb").read() for name in ("a.png", "b.png", "c.png")}
data["b.txt"] = b"text " * 100
for kind in "crc", "deflate", "method", "key", "text":
    with zipfile.ZipFile(kind + ".zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(data):
            archive.writestr(name, data[name])
    bytes = bytearray(open(kind + ".zip", "rb").read())
    name = b"b.txt" if kind == "text" else b"b.png"
    local, listed = bytes.find(name) - 30, bytes.rfind(name) - 46
    if kind in ("crc", "text"):
        bytes[local + 14] ^= 1
        bytes[listed + 16] ^= 1
    elif kind == "deflate":
        bytes[local + 35] = 7
    elif kind == "method":
        bytes[local + 8] = bytes[listed + 10] = 97
    else:
        bytes[local + 6] |= 1
        bytes[listed + 8] |= 1
    open(kind + ".zip", "wb").write(bytes)'
    for kind in crc deflate method key text; do
        rm -rf from_zip && mkdir from_zip
        name=b.png others="a.png c.png"
        [ $kind != text ] || name=b.txt others="a.png b.png c.png"
        run 4 gpufilter -i $kind.zip -o from_zip/ invert
        grep -q "^gpufilter: $kind.zip/$name: " stderr || problem "$(cat stderr)"
        grep -q '^gpufilter: 1 of [34] files failed, [23] done' stderr || problem "$kind: $(cat stderr)"
        # shellcheck disable=SC2086 # its words
        [ "$(ls from_zip)" = "$(printf '%s\n' $others)" ] || problem "$kind: $(ls from_zip)"
        run 4 gpufilter -q -i $kind.zip -o mended.tar invert
        tar tf mended.tar | grep -qx c.png || problem "$kind: c.png is not in the archive"
        ! tar tf mended.tar | grep -qx $name || problem "$kind: $name is in the archive"
        [ $kind = text ] || run 4 gpufilter --info $kind.zip
        [ $kind = text ] || stdout_has c.png
        [ $kind = text ] || grep -q "^gpufilter: $kind.zip/b.png: " stderr || problem "$(cat stderr)"
    done
    python3 -c '
import zipfile
data = open("in.png", "rb").read()
with zipfile.ZipFile("many.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for i in range(700):
        archive.writestr("%03d.png" % i, data)
bytes = bytearray(open("many.zip", "rb").read())
for entry in archive.infolist():
    bytes[entry.header_offset + 37] = 7
open("many.zip", "wb").write(bytes)'
    run 4 gpufilter --info=json -i many.zip
    stdout_has '^{"file":"many.zip/009.png","error":"many.zip/009.png: '
    grep -q '^{"file":"many.zip","error":"many.zip: damaged archive: ' stdout || problem "nobody ends it"
    rm many.zip
fi

begin "zip: what is damaged, cut or cannot be written is told of, and a record knows what is done"
run 0 gpufilter -q -i all.zip -o done.zip --skip-existing invert
run 0 gpufilter -i all.zip -o done.zip --skip-existing invert
stderr_like '0 files done, 2 skipped'
head -c 1000000 all.zip >cut.zip
run 4 gpufilter -i cut.zip -o no.zip invert
grep -q '^gpufilter: cut.zip: damaged archive: ' stderr || problem "$(cat stderr)" # some tell of a member, too
sed 's/hello world/hello w0rld/' stored.zip >wrong.zip
run 4 gpufilter -i wrong.zip -o no.zip
grep -q '^gpufilter: wrong.zip/a.txt: .*CRC' stderr || problem "$(cat stderr)"
rm no.zip
ln set/0001.json set/hard.json
tar cf hard.tar set/0001.json set/hard.json
rm set/hard.json
run 4 gpufilter -i hard.tar -o no.zip
stderr_like "no.zip: zip has no hard links such as 'set/hard.json'"
run 4 gpufilter -q -i all.zip -o no.zip --max-output=1M
absent no.zip

begin "each name of a format is a picture's name"
mkdir named
for each in jpg jpeg jpe jfif JIF jfi pjpeg pjp; do
    run 0 gpufilter -q -i in.jpg -o "named/1.$each"
done
tar cf named.tar named
run 0 gpufilter -i named.tar -o thumbs.tar thumbnail=5
stderr_like '8 files done in [^;]*$'
mkdir thumbs
tar xf thumbs.tar -C thumbs
run 0 gpufilter -q -i named -o thumbs/folder/ thumbnail=5
run 0 diff -r thumbs/named thumbs/folder

begin "a member that begins as a picture, and is called otherwise, is counted and named"
cp in.jpg set/photo.dat
cp in.ppm set/nameless
tar cf called.tar set
run 0 gpufilter -v -i called.tar -o passed.tar invert
grep -q '; 2 files were not taken for pictures (-v names them)$' stderr || problem "$(cat stderr)"
[ "$(sed -n 's/^gpufilter: called.tar.\(.*\): not taken for a picture, though it begins as /\1 /p' stderr | sort | tr '\n' ' ')" = \
    'set/nameless PNM set/photo.dat JPEG ' ] || problem "$(cat stderr)"
rm set/photo.dat set/nameless
tar xf passed.tar -C out set/photo.dat
same out/set/photo.dat in.jpg
rm out/set/photo.dat

begin "pictures are those of the files"
run 0 gpufilter -q -i set/0001.png -o one.png invert
same one.png out/set/0001.png
run 0 gpufilter -q -i set/deep/0002.ppm -o two.ppm invert
same two.ppm out/set/deep/0002.ppm

begin "names take the extension of another format, and links follow"
run 0 gpufilter -q -i in.tar -o changed.tar --format=jpeg
[ "$(tar tf changed.tar)" = "$(tar tf in.tar | sed 's/\.p[np][gm]$/.jpg/')" ] || problem "the members are $(tar tf changed.tar)"
tar tvf changed.tar | grep -q 'link.jpg -> 0001.jpg' || problem "the link is $(tar tvf changed.tar | grep link)"

begin "from standard input to standard output"
run 0 sh -c 'tar cf - set | "$GPUFILTER" -q -i tar:- -o tar:- invert >piped.tar'
mkdir piped
tar xf piped.tar -C piped
run 0 diff -r out/set piped/set

begin "packed archives, and the same bytes each time"
for each in in.tar.gz in.tar.xz; do
    run 0 gpufilter -q -i in.tar -o "$each"
    run 0 gpufilter -q -i "$each" -o unpacked.tar invert
    same unpacked.tar out.tar
done
run 0 gpufilter -q -i in.tar -o again.tar.gz
same in.tar.gz again.tar.gz

begin "a damaged member is told of and left out, the rest is written"
echo nothing >set/deep/bad.jpg
tar cf bad.tar set
run 4 gpufilter -i bad.tar -o some.tar --log=log.jsonl invert
grep -q '^gpufilter: bad.tar/set/deep/bad.jpg: not a picture of a known format$' stderr || problem "$(cat stderr)"
grep -q '^gpufilter: 1 of 3 files failed, 2 done$' stderr || problem "$(cat stderr)"
[ "$(tar tf bad.tar | grep -v bad.jpg)" = "$(tar tf some.tar)" ] || problem "the members are $(tar tf some.tar)"
[ "$(grep -c '"status":"ok"' log.jsonl) $(grep -c '"status":"failed"' log.jsonl)" = "2 2" ] || problem "the log is $(cat log.jsonl)"
grep -q '"input":"bad.tar","output":"some.tar","status":"failed","exit":4,"message":"1 of 3 pictures failed: bad.tar/set/deep/bad.jpg: ' log.jsonl ||
    problem "the log is $(cat log.jsonl)"
grep -q '"input":"bad.tar/set/0001.png","output":"some.tar/set/0001.png"' log.jsonl || problem "the log is $(cat log.jsonl)"

begin "an archive that begins within a file is read from there"
mkdir within
head -c 300000 /dev/zero | tr '\0' 'a' >within/other.txt
for i in 1 2 3 4 5; do
    gpufilter -q -i in.ppm -o within/$i.ppm --device=cpu "resize=${i}1:77"
done
tar cf within.tar within
run 0 gpufilter -q -i within.tar -o within-out.tar invert
{ head -c 1000 /dev/zero && cat within.tar; } >behind
run 0 sh -c '{ head -c 1000 >skipped && "$GPUFILTER" -q -i tar:- -o tar:- invert; } <behind >behind-out.tar'
same behind-out.tar within-out.tar
run 0 sh -c 'cat within.tar | "$GPUFILTER" -q -i tar:- -o tar:- invert >piped.tar'
same piped.tar within-out.tar

begin "holes that end a file are read as zeros"
mkdir holes
cp in.ppm holes/a.ppm
echo text >holes/b.bin
truncate -s 300000 holes/b.bin holes/c.bin
truncate -s +100000 holes/a.ppm
tar cSf holes.tar holes
run 0 gpufilter -q -i holes.tar -o holes-out.tar invert
mkdir holes-unpacked
tar xf holes-out.tar -C holes-unpacked
same holes-unpacked/holes/b.bin holes/b.bin
same holes-unpacked/holes/c.bin holes/c.bin

begin "what is not understood of a header is told"
tar --format=pax --pax-option=comment:=words -cf header.tar set/text.txt
LC_ALL=C sed 's/[0-9][0-9] comment=words/zz comment=words/' header.tar >torn.tar
run 0 gpufilter -i torn.tar -o told.tar
grep -q '^gpufilter: warning: torn.tar/set/text.txt: ' stderr || problem "$(cat stderr)"

begin "an owner whose number has more than 32 bits becomes nobody, so that the output can be read"
for number in -144115188075855872 1297036692682702848; do
    tar --format=pax --pax-option="gid:=$number" -cf below.tar set/text.txt
    run 0 gpufilter -q -i below.tar -o owned.tar
    [ "$(tar tvf owned.tar --numeric-owner | awk '{print $2}' | cut -d/ -f2)" = 65534 ] || problem "$number: $(tar tvf owned.tar 2>&1)"
    run 0 gpufilter -q -i owned.tar -o again.tar
    rm owned.tar again.tar
done

begin "a tar whose first member is named with the bytes that a zip begins with is a tar"
name=$(printf 'PK\003\004.txt')
cp set/text.txt "$name"
tar --format=ustar -cf named.tar "$name" set/text.txt
run 0 gpufilter -q -i named.tar -o named-out.tar invert
[ "$(tar tf named-out.tar | wc -l)" = 2 ] || problem "$(tar tf named-out.tar)"
run 0 gpufilter -q -i named-out.tar -o named-again.tar invert

begin "--fail-fast, a cut archive and a foreign file leave no archive"
run 4 gpufilter -i bad.tar -o none.tar --fail-fast invert
head -c 100000 in.tar >cut.tar
run 4 gpufilter -q -i cut.tar -o none.tar invert
stderr_like 'cut.tar: damaged archive: '
run 4 gpufilter -q -i tar:in.ppm -o none.tar invert
stderr_like 'in.ppm: damaged archive: '
run 75 gpufilter -q -i missing.tar -o none.tar invert
stderr_like 'missing.tar: '
absent none.tar

begin "a member larger than --memory allows is left out"
head -c 40000000 /dev/zero >set/deep/bad.jpg
tar cf huge.tar set
run 4 gpufilter -i huge.tar -o some.tar --memory=64M invert
grep -q 'bad.jpg: it has 38 MiB; --memory leaves 32 for it' stderr || problem "$(cat stderr)"
[ "$(tar tf bad.tar | grep -v bad.jpg)" = "$(tar tf some.tar)" ] || problem "the members are $(tar tf some.tar)"

begin "what makes no sense with archives is refused"
run 2 gpufilter -i in.tar -i in.ppm -o x.png
stderr_like 'in.ppm: is no archive; the inputs of a run are archives or pictures'
run 2 gpufilter -i - -o x.tar <in.ppm
stderr_like '-: a stream has no name, and does not go into an archive'
for option in --update --dry-run; do
    run 2 gpufilter -i in.tar -o x.tar "$option"
    stderr_like "in.tar: ${option%%=*} is not for archives"
done
run 2 gpufilter -i in.ppm -o x.tar --skip-existing
stderr_like 'x.tar: --skip-existing is not for archives'
run 2 gpufilter -i in.tar -o tar:- --resume=log
stderr_like 'in.tar: --resume is not for archives'
absent x.png x.tar

begin "a closed standard output ends the run"
run 75 sh -c '"$GPUFILTER" -q -i in.tar -o tar:- invert >/dev/full'
stderr_like 'stdout: cannot write: '

begin "a run that has failed does not wait for the producer of its archive"
mkdir -p waits
head -c 2000 in.ppm >waits/cut.ppm
head -c 100000 /dev/zero >waits/rest.ppm
tar cf waits.tar waits/cut.ppm waits/rest.ppm
mkfifo waits.fifo
exec 9<>waits.fifo
head -c 60000 waits.tar >&9 # the picture, and no end of the archive
run 4 timeout 60 "$GPUFILTER" -q --fail-fast -i tar:waits.fifo -o waited.tar invert 9>&-
grep -q 'cut.ppm' stderr || problem "$(cat stderr)"
exec 9>&-
absent waited.tar

samples=$here/../samples/cluster
begin "the pods of Kubernetes and the jobs of AWS Batch share the archives of a list"
mkdir many bin
for each in 1 2 3; do
    cp in.tar many/$each.tar
    echo many/$each.tar >>many.txt
done
ln -s "$GPUFILTER" bin/gpufilter
PATH=$PWD/bin:$PATH
# share FILE VARIABLE: runs the command of the file for each of its eight indices, from 0
share()
{
    job=$(sed -n 's/.*"sh", "-c", "\(.*\)", "gpufilter".*/\1/p' "$samples/$1" | tr -d '\\')
    grep -q '"-i", "@/' "$samples/$1" || problem "$1 divides no list"
    for index in 0 1 2 3 4 5 6 7; do
        run 0 env "$2=$index" sh -c "$job" gpufilter -i @many.txt -o "$2/{stem}.tar" --skip-existing invert
    done
    only "$2" 1.tar 1.tar.json 2.tar 2.tar.json 3.tar 3.tar.json
    same "$2/3.tar" out.tar
}
share kubernetes-job.yaml JOB_COMPLETION_INDEX
share aws-batch.json AWS_BATCH_JOB_ARRAY_INDEX

# catches_term PROCESS: whether it has a handler of SIGTERM
catches_term()
{
    caught=$(sed -n 's/^SigCgt:[^0-9a-f]*//p' "/proc/$1/status")
    [ $((0x${caught:-0} & 0x4000)) -ne 0 ]
}

begin "as process 1 the program ends at SIGTERM"
if ! unshare -pf true 2>/dev/null; then
    skip "unshare may not make a process 1 here"
else
    mkfifo never.tar
    exec 9<>never.tar
    unshare -pf sh -c 'exec "$GPUFILTER" -q -i never.tar -o process1.tar invert' 9>&- &
    parent=$!
    # Process 1 ignores a signal that comes before its handler.
    has_handler() { child=$(children $parent | tr -d ' ') && catches_term "$child"; }
    until_true 20 has_handler
    kill "${child:-$parent}"
    wait $parent
    status=$?
    [ $status -eq 143 ] || problem "the status is $status"
    exec 9>&-
fi

begin "a file whose name ends with a slash is a folder, also if the name is not UTF-8"
mkdir odd
odd=$(printf 'odd/\314x')
head -c 1000 /dev/urandom >"$odd"
LC_ALL=C tar --format=pax -cf odd.tar "$odd" in.ppm
LC_ALL=C sed 's|path=odd/.x|path=odd/\xcc/|' odd.tar >slash.tar
cmp -s odd.tar slash.tar && problem "tar wrote no pax header"
run 0 gpufilter -q -i slash.tar -o rewritten.tar invert
run 0 gpufilter -q -i rewritten.tar -o again.tar

begin "--verbose tells the estimate for an archive's pictures"
run 0 gpufilter -v -i odd.tar -o rewritten.tar invert
grep -q "estimate: CPU [0-9.]* s" stderr || problem "it said: $(head -3 stderr)"

begin "a name keeps its bytes: an accent that follows its letter is not joined to it"
mkdir apart
apart=$(printf 'apart/u\314\210')
cp in.ppm "$apart.ppm"
echo text >"$apart.txt"
tar --format=pax -cf apart.tar "$apart.ppm" "$apart.txt"
LC_ALL=C grep -aq path= apart.tar || problem "tar wrote no pax header"
run 0 gpufilter -q -i apart.tar -o kept.tar invert
silent
[ "$(tar tf kept.tar --quoting-style=literal)" = "$(printf '%s.ppm\n%s.txt' "$apart" "$apart")" ] ||
    problem "the members are $(tar tf kept.tar)"
run 0 gpufilter -q -i apart.tar -o named/ invert
[ -f "named/$apart.ppm" ] || problem "the folder has $(ls named/apart)"

begin "a member named '-' is a file, and its picture does not go to standard output"
mkdir dashes dashes/out
cp in.ppm dashes/-
cp in.ppm dashes/-.ppm
(cd dashes && tar cf dash.tar -- - -.ppm)
run 0 sh -c 'cd dashes/out && "$GPUFILTER" -q -i ../dash.tar -o "{stem}" --format=ppm invert'
[ ! -s stdout ] || problem "it went to standard output"
only dashes/out -
run 0 gpufilter -q -i dashes/dash.tar -o dashes/out.tar invert
[ "$(tar tf dashes/out.tar | tr '\n' ' ')" = "- -.ppm " ] || problem "$(tar tf dashes/out.tar)"
tar xOf dashes/out.tar -- - | cmp -s - in.ppm || problem "the member - was changed"
