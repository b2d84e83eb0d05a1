# shellcheck shell=sh
# Archives in a bucket of an S3 that runs here, moved by rclone; some transfers are cut.
begin "rclone moves archives from and to a bucket, once each, though transfers are cut"
if ! gpufilter --version | grep -q '^archives: tar' || ! command -v tar >/dev/null; then
    skip "there is no tar, or no libarchive in this build"
    return 0
elif ! command -v rclone >/dev/null || ! command -v moto_server >/dev/null; then
    skip "no rclone and moto_server here"
    return 0
fi
port=$((20000 + $$ % 20000))
export RCLONE_CONFIG="$PWD/rclone.conf" TMPDIR="$PWD/tmp"
cat >rclone.conf <<END_OF_CONFIG
[far]
type = s3
provider = Other
endpoint = http://127.0.0.1:$port
access_key_id = test
secret_access_key = test
no_check_bucket = true
END_OF_CONFIG
mkdir tmp
moto_server -H 127.0.0.1 -p $port >moto.out 2>&1 &
job=$!
until_true 30 rclone mkdir far:bucket --s3-no-check-bucket=false --retries 1 --low-level-retries 1 2>/dev/null
mkdir set in
cp in.png set/a.png
cp in.ppm set/b.ppm
for each in 1 2 3 4 5 6; do
    echo $each >set/a.txt
    tar cf in/$each.tar set
done
echo nothing >set/bad.png
tar cf in/5.tar set
rclone copy in far:bucket/in || problem "$(cat moto.out)"
rclone lsf --files-only --format pst --separator "$(printf '\t')" --use-server-modtime far:bucket/in | sed 's,^,far:bucket/in/,' >shards.txt
echo "far:bucket/in/missing.tar" >>shards.txt

# The first fetch of 2.tar is cut, and so is the first store of 3.tar.
cat >cutting <<'END_OF_CUTTING'
#!/bin/sh
case $* in
*/in/2.tar*) [ -e cut.fetch ] || { : >cut.fetch && rclone cat "$1" --head 700 >"$2" && exit 1; } ;;
*/out/3.tar) [ -e cut.store ] || { : >cut.store && kill -9 $$; } ;;
esac
echo "$*" >>calls
exec rclone copyto --retries 1 "$1" "$2"
END_OF_CUTTING
chmod +x cutting
bucket()
{
    gpufilter -q -i @shards.txt -o 'far:bucket/out/{stem}.tar' '--fetch=./cutting {in} {file}' '--store=./cutting {file} {out}' \
        '--probe=sh -c "rclone cat \"$1\" && rclone lsf --format s \"$2\"" sh {record} {out}' --transfer-tries=2 invert
}

run 75 bucket
grep -q '^gpufilter: far:bucket/in/missing.tar: --fetch failed, 2 times: ' stderr || problem "$(cat stderr)"
grep -q '^gpufilter: far:bucket/in/5.tar/set/bad.png: not a picture' stderr || problem "$(cat stderr)"
rclone copy far:bucket/out out
only out 1.tar 1.tar.json 2.tar 2.tar.json 3.tar 3.tar.json 4.tar 4.tar.json 5.tar 5.tar.json 6.tar 6.tar.json
for each in 1 2 3 4 5 6; do
    "$GPUFILTER" -q -i in/$each.tar -o alone.tar invert 2>/dev/null
    same out/$each.tar alone.tar
done
[ -z "$(ls -A tmp)" ] || problem "left in \$TMPDIR: $(ls -A tmp)"

begin "what is in the bucket is not moved again, and a late archive is"
rm calls
rclone copyto in/1.tar far:bucket/in/missing.tar
run 4 bucket
[ "$(wc -l <calls)" -eq 3 ] || problem "$(cat calls)"
rclone copy far:bucket/out out
run 4 gpufilter --report=json:account.json out @shards.txt

begin "an archive that was removed from the bucket is made anew, though its record is there"
rm calls
rclone deletefile far:bucket/out/2.tar
run 4 bucket
[ "$(wc -l <calls)" -eq 5 ] || problem "$(cat calls)"
rclone copyto far:bucket/out/2.tar again.tar
same again.tar out/2.tar
kill $job
wait $job 2>/dev/null
