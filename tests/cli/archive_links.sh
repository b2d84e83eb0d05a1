# shellcheck shell=sh
# Links from and to pictures in archives.
if ! gpufilter --version | grep -q '^archives: tar' || ! command -v tar >/dev/null; then
    skip "there is no tar, or no libarchive in this build"
    return 0
fi

# packed FOLDER ARCHIVE NAME...: an archive of these names in this order.
packed()
{
    from=$1
    to=$PWD/$2
    shift 2
    (cd "$from" && tar cf "$to" "$@")
}

mkdir -p set/deep
run 0 gpufilter -q -i in.ppm -o set/b.png
ln set/b.png set/a.png
ln -s b.png set/c.png
ln -s ../a.png set/deep/d.png
packed . in.tar set/deep set/b.png set/a.png set/c.png

begin "links to pictures become pictures in a folder, as from the unpacked one"
mkdir unpacked
tar xf in.tar -C unpacked
run 0 gpufilter -q -i unpacked/set -r -o wanted/ invert
gzip -c in.tar >in.tar.gz
for each in in.tar in.tar.gz; do
    run 0 gpufilter -i "$each" -o out/ -o "tiny/{stem}-{w}x{h}.png" thumbnail=2 -o out.tar invert
    stderr_like '4 files done'
    rm -rf out
    run 0 gpufilter -q -i "$each" -o out/ invert
    run 0 diff -r wanted out/set
done
only tiny a-2x1.png b-2x1.png c-2x1.png d-2x1.png
tar tvf out.tar | grep -q 'a.png link to set/b.png' || problem "$(tar tvf out.tar)"
tar tvf out.tar | grep -q 'c.png -> b.png' || problem "$(tar tvf out.tar)"

begin "a link without a picture that can be read fails"
run 4 sh -c 'cat in.tar | "$GPUFILTER" -i tar:- -o piped/ invert'
grep -q '^gpufilter: stdin/set/a.png: a link, which a stream cannot be read again for' stderr || problem "$(cat stderr)"
grep -q '^gpufilter: 3 of 4 files failed, 1 done$' stderr || problem "$(cat stderr)"
only piped/set b.png
mkdir lost
ln -s nowhere.png lost/a.png
ln -s /set/b.png lost/b.png
ln -s ../../set/b.png lost/c.png
ln -s d.png lost/d.png
packed . lost.tar lost set/b.png
run 4 gpufilter -i lost.tar -o lost-out/ invert
for each in a b c d; do
    grep -q "^gpufilter: lost.tar/lost/$each.png: a link to what is no file of the archive$" stderr || problem "$(cat stderr)"
done
only lost-out set

begin "a hard link to what is left out is left out, too"
mkdir bad
head -c 2000 in.ppm >bad/b.ppm
ln bad/b.ppm bad/a.ppm
packed . bad.tar bad/b.ppm bad/a.ppm set/b.png set/a.png
run 4 gpufilter -i bad.tar -o bad-out.tar --log=bad.log invert
grep -q "^gpufilter: bad.tar/bad/a.ppm: a hard link to 'bad/b.ppm', which is left out$" stderr || problem "$(cat stderr)"
grep -q '^gpufilter: 2 of 3 files failed, 1 done$' stderr || problem "$(cat stderr)"
[ "$(grep -c '"status":"failed"' bad.log)" = 3 ] || problem "$(cat bad.log)"
mkdir bad-unpacked
run 0 tar xf bad-out.tar -C bad-unpacked
only bad-unpacked set
run 4 gpufilter -q -i bad.tar --fail-fast -o none.tar invert
absent none.tar

begin "a hard link that would get other bytes than its name asks for is left out"
ln set/b.png set/b.bak
ln set/b.png set/e.ppm
packed . names.tar set/b.png set/b.bak set/e.ppm set/a.png
run 4 gpufilter -i names.tar -o names-out.tar invert
for each in b.bak e.ppm; do
    grep -q "set/$each: a hard link to 'set/b.png', which gets other bytes than this name asks for" stderr || problem "$(cat stderr)"
done
[ "$(tar tf names-out.tar | tr '\n' ' ')" = "set/b.png set/a.png " ] || problem "$(tar tf names-out.tar)"

begin "links follow pictures to their new names, which they must not share"
mkdir new
ln set/b.png new/b.png
ln -s b.png new/latest
ln -s b.png new/x.png
ln new/b.png new/x.ppm
packed . new.tar new/b.png new/latest new/x.png new/x.ppm
run 4 gpufilter -i new.tar -o new-out.tar --format=jpeg invert
grep -q "new-out.tar/new/x.jpg: 'new.tar/new/x.png' and 'new.tar/new/x.ppm' would both be written to it" stderr || problem "$(cat stderr)"
tar tvf new-out.tar | grep -q 'latest -> b.jpg' || problem "$(tar tvf new-out.tar)"
tar tvf new-out.tar | grep -q 'x.jpg -> b.jpg' || problem "$(tar tvf new-out.tar)"
