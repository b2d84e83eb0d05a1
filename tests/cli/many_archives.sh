# shellcheck shell=sh
# Many archives in one run, and the records by which a later run knows what is done.
if ! gpufilter --version | grep -q '^archives: tar' || ! command -v tar >/dev/null; then
    skip "there is no tar, or no libarchive in this build"
    return 0
fi

mkdir set shards
run 0 gpufilter -q -i in.png -o set/a.png 'resize=60:40'
run 0 gpufilter -q -i set/a.png -o set/b.jpg blur
echo '{"label": 7}' >set/a.json
for each in 1 2 3 4 5; do
    run 0 gpufilter -q -i set/a.png -o set/a.png "brightness=$each"
    tar cf shards/$each.tar set
done
echo nothing >set/bad.png
tar cf shards/4.tar set
rm set/bad.png
ls shards/*.tar >shards.txt

# alike FOLDER NUMBER...: the archives are what runs of their own make.
alike()
{
    folder=$1
    shift
    for each in "$@"; do
        "$GPUFILTER" -q -i shards/$each.tar -o alone.tar invert 2>/dev/null
        same "$folder/$each.tar" alone.tar
    done
}

begin "a list, a pattern and a folder of archives: each becomes what a run of its own makes"
run 4 gpufilter -i @shards.txt -o 'list/{stem}.tar' invert
[ "$(cat stderr)" = "gpufilter: shards/4.tar/set/bad.png: not a picture of a known format
gpufilter: 1 of 11 files failed, 10 done" ] || problem "$(cat stderr)"
alike list 1 2 3 4 5
run 4 gpufilter -q -i 'shards/*.tar' -o 'pattern/{stem}.tar' invert
run 4 gpufilter -q -i shards -o 'folder/{stem}.tar' invert
for each in 1 2 3 4 5; do
    same pattern/$each.tar list/$each.tar
    same folder/$each.tar list/$each.tar
done

begin "the parts of a list are archives, and parts together do all of them"
run 0 gpufilter -q -i @shards.txt -o 'parts/{stem}.tar' --shard=2/3 invert
only parts 2.tar 2.tar.json 5.tar 5.tar.json
run 4 gpufilter -q -i @shards.txt -o 'parts/{stem}.tar' --shard=1/3 invert
run 0 gpufilter -q -i @shards.txt -o 'parts/{stem}.tar' --shard=3/3 invert
alike parts 1 2 3 4 5

begin "the record names the job, the input, and what failed"
record=list/4.tar.json
for each in '"input": "shards/4.tar"' '"output": "list/4.tar"' '"chain": "invert"' '"pictures": 3' '"done": 2' '"passed": 1' \
    '{"input": "shards/4.tar/set/bad.png", "message": "shards/4.tar/set/bad.png: not a picture of a known format"}' '"device": "cpu"' \
    "\"bytes_out\": $(stat -c %s list/4.tar)"; do
    grep -qF "$each" $record || problem "no $each in $(cat $record)"
done

# made FOLDER: the files that the last run wrote, given the file `before`.
made()
{
    find "$1" -name '*.tar' -newer before | sort | tr '\n' ' '
}

begin "what is done is not done again, and its failures still count"
for option in --skip-existing --resume=log.jsonl; do
    touch before && sleep 0.02
    run 4 gpufilter -i @shards.txt -o 'list/{stem}.tar' "$option" invert
    [ "$(cat stderr)" = "gpufilter: shards/4.tar: done before, without the pictures that 'list/4.tar.json' names as failed
gpufilter: 1 of 11 files failed, 0 done, 10 skipped" ] || problem "$(cat stderr)"
    [ -z "$(made list)" ] || problem "$(made list) were made again"
done
run 0 gpufilter -i @shards.txt -o 'list/{stem}.tar' --shard=1/5 --skip-existing invert
stderr_like '0 files done, 2 skipped'

begin "another chain, a changed input, and a lost, torn or foreign record or archive: made anew"
touch before && sleep 0.02
run 0 gpufilter -q -i shards/1.tar -o 'list/{stem}.tar' --skip-existing blur
grep -q '"chain": "blur"' list/1.tar.json || problem "$(cat list/1.tar.json)"
grep -q '"done": 2' list/1.tar.json || problem "it counts earlier pictures, too: $(cat list/1.tar.json)"
touch -d '2020-02-02' shards/1.tar
rm list/2.tar.json list/5.tar
head -c 100 list/3.tar.json >torn
cp torn list/3.tar.json
run 4 gpufilter -q -i @shards.txt -o 'list/{stem}.tar' --skip-existing invert
[ "$(made list)" = "list/1.tar list/2.tar list/3.tar list/5.tar " ] || problem "$(made list) were made"
alike list 1 2 3 5
touch before && sleep 0.02
echo more >>list/5.tar
cp list/2.tar.json list/1.tar.json
run 4 gpufilter -q -i @shards.txt -o 'list/{stem}.tar' --skip-existing invert
[ "$(made list)" = "list/1.tar list/5.tar " ] || problem "$(made list) were made"
alike list 1 5

begin "a missing archive, a foreign one and a cut one are named, and the others are done"
cp shards/1.tar good.tar
head -c 3000 shards/2.tar >cut.tar
cp in.ppm foreign.tar
printf '%s\n' missing.tar good.tar foreign.tar cut.tar shards/3.tar >mixed.txt
run 75 gpufilter -i @mixed.txt -o 'mixed/{stem}.tar' invert
[ "$(grep -c '^gpufilter: ' stderr)" = 4 ] || problem "$(cat stderr)"
[ "$(tail -n 1 stderr)" = "gpufilter: 3 of 5 archives failed" ] || problem "$(cat stderr)"
for each in 'missing.tar: ' 'foreign.tar: damaged archive: ' 'cut.tar: damaged archive: '; do
    grep -q "^gpufilter: $each" stderr || problem "no $each in $(cat stderr)"
done
only mixed 3.tar 3.tar.json good.tar good.tar.json
run 4 gpufilter -q -i good.tar -i foreign.tar -o 'mixed/{stem}.tar' --skip-existing invert
run 75 gpufilter -q --fail-fast -i missing.tar -i good.tar -o 'fast/{stem}.tar' invert
absent fast/good.tar

begin "an output that cannot be written fails its archive alone, and has no record"
mkdir -p full/1.tar
run 4 gpufilter -i shards/1.tar -i shards/2.tar -o 'full/{stem}.tar' invert
[ "$(tail -n 1 stderr)" = "gpufilter: 1 of 2 archives failed" ] || problem "$(cat stderr)"
only full 1.tar 2.tar 2.tar.json

begin "pictures of archives go into files, apart by {archive}"
run 0 gpufilter -q -i shards/1.tar -i shards/2.tar -o 'files/{archive}-{n}.ppm' invert
only files 1-1.ppm 1-2.ppm 2-1.ppm 2-2.ppm
run 2 gpufilter -q -i shards/1.tar -i shards/2.tar -o files invert
stderr_like 'files: pictures of two archives could have one name; {archive} in -o tells them apart'
mkdir other
cp shards/1.tar other
run 4 gpufilter -q -i shards/1.tar -i other/1.tar -o 'meet/{archive}/{stem}.ppm' invert
only meet/1 a.ppm b.ppm
run 0 gpufilter -q -i shards/1.tar -o 'named/{archive}.tar.gz' invert
only named 1.tar.gz 1.tar.gz.json

# members ARCHIVE
members()
{
    tar tf "$1" | tr '\n' ' '
}

begin "a picture among the archives of a folder is named, in each part: it makes the folder one of pictures"
mkdir stray
cp shards/1.tar shards/2.tar in.ppm stray
for option in --skip-existing --quiet --shard=1/2 --shard=2/2 --recursive; do
    run 2 gpufilter -q -i stray -o 'from-stray/{stem}.tar' "$option" invert
    stderr_like "stray/in.ppm: is a picture, and makes its folder one of pictures, whose archives are no inputs; a pattern such as '\*.tar' or a list takes them alone"
done
run 0 gpufilter -i stray -o from-stray/ invert
stderr_like '1 file done.*; 2 files were not taken for pictures (-v names them)'
only from-stray in.ppm
run 2 gpufilter -q -i 'stray/*' -o 'from-stray/{stem}.tar' invert
stderr_like 'stray/in.ppm: is no archive; the inputs of a run are archives or pictures'
run 0 gpufilter -q -i 'stray/*.tar' -o 'from-stray/{stem}.tar' invert

begin "--on-failure: a failed picture is left out, or with its sample, or kept as it is"
mkdir samples
for each in 1 2 3; do
    echo $each >samples/$each.cls
    cp set/a.png samples/$each.png
    cp set/b.jpg samples/$each.left.jpg
    echo "{$each}" >samples/$each.json
done
echo nothing >samples/2.left.jpg
(cd samples && tar cf ../samples.tar 1.* 2.* 3.*)
(cd samples && tar cf ../last.tar 1.* 2.*)
run 4 gpufilter -q -i samples.tar -i last.tar -o 'drop/{stem}.tar' invert
[ "$(members drop/last.tar)" = "1.cls 1.json 1.left.jpg 1.png 2.cls 2.json 2.png " ] || problem "$(members drop/last.tar)"
run 4 gpufilter -q -i samples.tar -i last.tar -o 'whole/{stem}.tar' --on-failure=drop-sample invert
[ "$(members whole/samples.tar)" = "1.cls 1.json 1.left.jpg 1.png 3.cls 3.json 3.left.jpg 3.png " ] || problem "$(members whole/samples.tar)"
[ "$(members whole/last.tar)" = "1.cls 1.json 1.left.jpg 1.png " ] || problem "$(members whole/last.tar)"
grep -q '"dropped": 3,' whole/last.tar.json || problem "$(cat whole/last.tar.json)"
run 4 gpufilter -q -i samples.tar -i last.tar -o 'kept/{stem}.tar' --on-failure=keep --format=png invert
[ "$(members kept/last.tar)" = "1.cls 1.json 1.left.png 1.png 2.cls 2.json 2.left.jpg 2.png " ] || problem "$(members kept/last.tar)"
[ "$(tar xOf kept/last.tar 2.left.jpg)" = nothing ] || problem "the picture was changed"
tar xOf drop/last.tar 2.png | cmp -s - "$(tar xf kept/last.tar 2.png && echo 2.png)" || problem "2.png differs"
run 4 gpufilter -q -i last.tar -o 'kept/{stem}.tar' --on-failure=drop --skip-existing --format=png invert
[ "$(members kept/last.tar)" = "1.cls 1.json 1.left.png 1.png 2.cls 2.json 2.png " ] || problem "another --on-failure is another job"

begin "--on-failure with what is larger than --memory"
head -c 40000000 /dev/urandom >samples/2.left.jpg
(cd samples && tar cf ../large.tar 1.* 2.* 3.*)
run 4 gpufilter -q -i large.tar -o 'kept/{stem}.tar' --memory=64M --on-failure=keep invert
tar xOf kept/large.tar 2.left.jpg | cmp - samples/2.left.jpg || problem "the picture was changed"
[ "$(members kept/large.tar)" = "$(members large.tar)" ] || problem "$(members kept/large.tar)"
mv samples/2.left.jpg samples/2.bin
(cd samples && tar cf ../large.tar 1.* 2.* 3.*)
run 4 gpufilter -i samples.tar -i large.tar -o 'large/{stem}.tar' --memory=64M --on-failure=drop-sample invert
grep -q '^gpufilter: large.tar/2.bin: the files of this sample are more than --memory leaves for them$' stderr || problem "$(cat stderr)"
only large samples.tar samples.tar.json

begin "what makes no sense with many archives is refused"
run 2 gpufilter -i @shards.txt -o one.tar invert
stderr_like 'one.tar: one name for 5 archives'
run 2 gpufilter -i shards/1.tar -i other/1.tar -o 'x/{stem}.tar' invert
stderr_like "'shards/1.tar' and 'other/1.tar' would both be written to 'x/1.tar'"
run 2 gpufilter -i @shards.txt -o 'shards/{stem}.tar' invert
stderr_like 'shards/1.tar: its output would replace it'
run 2 gpufilter -i @shards.txt -o 'shards/{stem}.tar' --in-place --skip-existing invert
stderr_like 'shards/1.tar: is its own output: --skip-existing could filter it twice'
run 2 gpufilter -i @shards.txt -o '{stem}-{w}.tar' invert
stderr_like '{stem}-{w}.tar: the name of an archive has {dir}, {stem}, {archive} and {n} only'
run 2 gpufilter -i set -o 'x/{archive}/{stem}.png' invert
stderr_like 'x/{archive}/{stem}.png: {archive} is for members of archives'
run 2 gpufilter -i set -o x --on-failure=keep invert
stderr_like '--on-failure is for archives that are made of archives'
run 2 gpufilter -i tar:- -i shards/1.tar -o 'x/{stem}.tar' invert </dev/null
stderr_like 'tar:-: a stream is the only input of a run'
absent x

begin "small archives, of which many wait to be written, do not use up the files that may be open"
mkdir small
printf 'P5\n2 2\n255\nabcd' >small/a.pgm
tar cf small.tar small
i=0
while [ $i -lt 200 ]; do
    cp small.tar small/$i.tar && echo "small/$i.tar"
    i=$((i + 1))
done >small.txt
run 0 sh -c 'ulimit -n 60 && exec "$GPUFILTER" -q --device=cpu -i @small.txt -o "from-small/{stem}.tar" invert'
[ "$(find from-small -name '*.tar' | wc -l)" -eq 200 ] || problem "there are $(find from-small -name '*.tar' | wc -l) archives"
