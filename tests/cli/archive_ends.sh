# shellcheck shell=sh
# How archives end, and archives that are their own output.
if ! gpufilter --version | grep -q '^archives: tar' || ! command -v tar >/dev/null; then
    skip "there is no tar, or no libarchive in this build"
    return 0
fi

mkdir set
run 0 gpufilter -q -i in.ppm -o set/a.png
echo text >set/b.txt
tar cf one.tar set
members='set/ set/a.png set/b.txt '
end=$(($(stat -c %s one.tar) / 512))
while [ "$(dd if=one.tar bs=512 skip=$((end - 1)) count=1 2>/dev/null | tr -d '\0' | wc -c)" = 0 ]; do
    end=$((end - 1)) # in blocks of 512 bytes: where the zeros begin that end it
done

# wrote ARCHIVE MEMBERS
wrote()
{
    [ "$(tar tf "$1" | sort | tr '\n' ' ')" = "$2" ] || problem "the members are $(tar tf "$1")"
}

# warned ARCHIVE
warned()
{
    grep -q "^gpufilter: warning: $1: more follows the archive's end marker" stderr || problem "$(cat stderr)"
}

begin "what follows the end of an archive is warned of, from files and pipes, packed or not"
cat one.tar one.tar >two.tar
run 0 gpufilter -i two.tar -o out.tar invert
warned two.tar
wrote out.tar "$members"
run 0 sh -c 'cat two.tar | "$GPUFILTER" -i tar:- -o out/ invert'
warned stdin
only out set
run 0 gpufilter -q -i one.tar -o one.tar.gz
cat one.tar.gz one.tar.gz >two.tar.gz
(cat one.tar.gz && echo garbage) >garbage.tar.gz
for each in two.tar.gz garbage.tar.gz; do
    run 0 gpufilter -i "$each" -o out.tar invert
    warned "$each"
done
head -c $((512 * (end + 1))) one.tar >lone.tar # one block of zeros is an end, too
run 0 gpufilter -i lone.tar -o out.tar invert
stderr_like '1 file done'
cat one.tar >>lone.tar
run 0 gpufilter -i lone.tar -o out.tar invert
warned lone.tar

begin "zeros that fill the last block are no more than that"
tar cf wide.tar -b 400 set
(cat one.tar.gz && head -c 5000 /dev/zero) >wide.tar.gz
for each in wide.tar wide.tar.gz; do
    run 0 gpufilter -i "$each" -o out.tar invert
    stderr_like '1 file done'
    wrote out.tar "$members"
done

begin "an archive without its end marker fails, and its members are done"
head -c $((512 * end)) one.tar >cut.tar
run 4 gpufilter -i cut.tar -o out.tar invert -o cut/ invert
stderr_like "cut.tar: ends without a tar archive's end marker: it may have been cut"
wrote out.tar "$members"
only cut/set a.png
run 75 sh -c 'gzip -c cut.tar | "$GPUFILTER" -q -i tar:- -o tar:- invert >piped.tar'
stderr_like "stdin: ends without a tar archive's end marker: it may have been cut"
same piped.tar out.tar
run 4 sh -c '"$GPUFILTER" -q -i tar:- -o tar:- invert <cut.tar >piped.tar'
run 75 sh -c 'head -c 1000 one.tar | "$GPUFILTER" -q -i tar:- -o tar:- invert'
run 4 sh -c 'echo garbage | "$GPUFILTER" -q -i tar:- -o tar:- invert'
run 4 gpufilter -q -i cut.tar -o none.tar --fail-fast invert
absent none.tar

begin "what packs an archive is looked at to its end"
head -c 300000 /dev/zero | tr '\0' 'x' >set/c.bin
tar czf whole.tar.gz -b 4000 set
head -c $(($(stat -c %s whole.tar.gz) - 6)) whole.tar.gz >torn.tar.gz
run 4 gpufilter -q -i torn.tar.gz -o out.tar invert
stderr_like 'torn.tar.gz: damaged archive: '
wrote out.tar 'set/ set/a.png set/b.txt set/c.bin '

begin "an archive that would lack something stays as it was where it is its own output"
mkdir bad
head -c 2000 in.ppm >bad/cut.ppm
cp set/a.png bad
tar cf bad.tar bad
ln -s same.tar link.tar
cp bad.tar same.tar
ln same.tar hard.tar
for each in same.tar ./same.tar link.tar hard.tar; do
    run 4 gpufilter -i same.tar -o "$each" invert
    grep -q '^gpufilter: same.tar: is its own output, and stays as it was$' stderr || problem "$(cat stderr)"
    same "$each" bad.tar
done
run 4 sh -c '"$GPUFILTER" -q -i tar:- -o same.tar invert -o bad-out/ <same.tar'
same same.tar bad.tar
run 4 sh -c 'exec 5<same.tar && "$GPUFILTER" -q -i same.tar -o tar:/dev/fd/5 invert'
same same.tar bad.tar
for each in two.tar cut.tar; do
    cp "$each" same.tar
    run 4 gpufilter -q -i same.tar -o same.tar invert
    same same.tar "$each"
done
cp one.tar same.tar
run 0 gpufilter -q -i same.tar -o same.tar invert
run 0 gpufilter -q -i one.tar -o out.tar invert
same same.tar out.tar

begin "an archive is not written over what it is made of, nor by the log"
cp bad.tar same.tar
run 2 sh -c '"$GPUFILTER" -i same.tar -o tar:- invert 1<>same.tar'
stderr_like 'same.tar: standard output is the same file, which is still being read'
for each in --log --resume; do
    run 2 gpufilter -i same.tar -o files/ "$each=link.tar" invert
    stderr_like 'same.tar: is an input and the log'
done
same same.tar bad.tar
cp set/a.png a.png
run 2 gpufilter -i in.ppm -i a.png -o tar:a.png invert
stderr_like "the archive 'a.png' would be written over the input 'a.png'"
same a.png set/a.png
