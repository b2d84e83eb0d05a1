# shellcheck shell=sh
# --fetch, --store and --probe, by commands that copy between two folders, and that fail in many ways.
if ! gpufilter --version | grep -q '^archives: tar' || ! command -v tar >/dev/null; then
    skip "there is no tar, or no libarchive in this build"
    return 0
fi

mkdir set far far/in tmp
export TMPDIR="$PWD/tmp"
run 0 gpufilter -q -i in.png -o set/a.png 'resize=60:40'
run 0 gpufilter -q -i set/a.png -o set/b.jpg blur
for each in 1 2 3 4 5 6 7 8; do
    echo "{\"label\": $each}" >set/a.json
    run 0 gpufilter -q -i set/a.png -o set/a.png "brightness=0.0$each"
    tar cf far/in/$each.tar set
done
(cd far && for each in in/*.tar; do printf 'far:%s\t%s\t%s\n' $each "$(stat -c %s $each)" "etag-$(cksum <$each | tr ' ' -)"; done) >shards.txt
cut -f 1 shards.txt >names.txt

# copy FROM TO: far:NAME is the file far/NAME. A line in `calls` says what was copied. The file `fault` names what
# goes wrong, and `faulty` the name that it happens to.
cat >copy <<'END_OF_COPY'
#!/bin/sh
from=$(echo "$1" | sed 's,^far:,far/,') to=$(echo "$2" | sed 's,^far:,far/,')
echo "$1 $2" >>calls
if [ -s fault ] && echo "$1 $2" | grep -q "$(cat faulty)"; then
    read -r fault <fault
    case $fault in
    once) rm fault; echo "busy" >&2; exit 7 ;;
    always) echo "noise" >&2; echo "no such bucket" >&2; exit 7 ;;
    killed) kill -9 $$ ;;
    cut) head -c 1000 "$from" >"$to"; exit 0 ;;
    cut-once) rm fault; head -c 1000 "$from" >"$to"; exit 1 ;;
    nothing) exit 0 ;;
    once-slow) rm fault; trap 'exit 0' TERM; sleep 60 & wait ;;
    hang) echo $$ >hangs; mkdir -p "$(dirname "$to")"; : >"$to".part; trap '' HUP; sleep 100 & echo $! >hangs.too; wait ;;
    stubborn) trap '' TERM; echo $$ >hangs; while :; do sleep 1; done ;;
    esac
fi
mkdir -p "$(dirname "$to")"
cp "$from" "$to".part && mv "$to".part "$to"
END_OF_COPY
cat >show <<'END_OF_SHOW'
#!/bin/sh
exec cat "$(echo "$1" | sed 's,^far:,far/,')"
END_OF_SHOW
chmod +x copy show
fetch="--fetch=./copy {in} {file}" store="--store=./copy {file} {out}" probe="--probe=./show {record}"

# far OPTION...: a run over the list, with outputs in far:out.
far()
{
    gpufilter -q -i @shards.txt -o 'far:out/{stem}.tar' "$fetch" "$store" "$@" invert
}

# clean: nothing is left of the transfers.
clean()
{
    [ -z "$(ls -A tmp)" ] || problem "left in \$TMPDIR: $(ls -AR tmp)"
}

# done_are NUMBER...: these archives are stored, each as a run of its own makes it, with its record.
done_are()
{
    for each in "$@"; do echo $each.tar $each.tar.json; done | tr ' ' '\n' >wanted
    ls far/out 2>/dev/null | cmp -s - wanted || problem "stored: $(ls far/out)"
    for each in "$@"; do
        "$GPUFILTER" -q -i far/in/$each.tar -o alone.tar invert
        same far/out/$each.tar alone.tar
        grep -qF "\"input\": \"far:in/$each.tar\"" far/out/$each.tar.json || problem "$(cat far/out/$each.tar.json)"
        grep -qF "\"output\": \"far:out/$each.tar\"" far/out/$each.tar.json || problem "$(cat far/out/$each.tar.json)"
    done
}

# runs PROCESS: whether the process is there, and no zombie.
runs()
{
    grep -q '^State:[[:space:]]*[^Z[:space:]]' "/proc/$1/status" 2>/dev/null
}

# fault WHAT NAME: what goes wrong next. The files of an earlier test are gone.
fault()
{
    rm -rf calls far/out fault hangs
    echo "$1" >fault
    echo "$2" >faulty
}

begin "every archive is fetched once, and stored once with its record behind it"
fault none none
run 0 far
done_are 1 2 3 4 5 6 7 8
clean
[ "$(wc -l <calls)" -eq 24 ] || problem "$(head -n 3 calls)"
for each in 1 2 3 4 5 6 7 8; do
    grep -n "far:out/$each.tar" calls | cut -d : -f 1 | sort -c -n || problem "$(head -n 3 calls)"
    [ "$(grep -o "far:out/$each.tar.*" calls | tr '\n' ' ')" = "far:out/$each.tar far:out/$each.tar.json " ] ||
        problem "$(head -n 3 calls)"
done
grep -qF "\"identity\": \"$(sed -n 's/.*in\/1.tar\t//p' shards.txt | tr '\t' ' ')\"" far/out/1.tar.json || problem "$(cat far/out/1.tar.json)"
! grep -rq "$TMPDIR" far/out || problem "a record names a temporary file"

begin "--probe leaves out what is done without a fetch, and another ETAG, chain or list makes it anew"
rm calls
run 0 far "$probe"
[ ! -e calls ] || problem "$(head -n 3 calls)"
sed '3s/etag/other/' shards.txt >changed.txt
run 0 gpufilter -q -i @changed.txt -o 'far:out/{stem}.tar' "$fetch" "$store" "$probe" invert
[ "$(cut -d ' ' -f 1 calls | grep far:)" = far:in/3.tar ] || problem "$(head -n 3 calls)"
rm far/out/5.tar.json calls
printf '{"torn": ' >far/out/6.tar.json
run 0 gpufilter -q -i @changed.txt -o 'far:out/{stem}.tar' "$fetch" "$store" "$probe" invert
[ "$(cut -d ' ' -f 1 calls | grep far: | sort | tr '\n' ' ')" = "far:in/5.tar far:in/6.tar " ] || problem "$(head -n 3 calls)"
done_are 1 2 3 4 5 6 7 8
rm calls
run 0 gpufilter -q -i @changed.txt -o 'far:out/{stem}.tar' "$fetch" "$store" "$probe" blur
[ "$(wc -l <calls)" -eq 32 ] || problem "$(head -n 3 calls)"
clean

begin "a probe that prints nothing has found no record"
fault none none
run 0 far '--probe=true {record}'
[ "$(wc -l <calls)" -eq 24 ] || problem "$(head -n 3 calls)"
clean

begin "a record of another chain never vouches for an archive that was stored without its own record"
fault none none
run 0 far
cp -r far/out kept
fault always 'out[0-9.a-z-]*json far:out/4.tar.json$'
mv kept far/out
run 75 gpufilter -q -i @shards.txt -o 'far:out/{stem}.tar' "$fetch" "$store" "$probe" --transfer-tries=1 blur
rm -f fault
run 0 far "$probe"
done_are 1 2 3 4 5 6 7 8
clean

begin "without an ETAG the content identifies an archive: what is done is fetched, but not stored again"
fault none none
run 0 gpufilter -q -i @names.txt -o 'far:out/{stem}.tar' "$fetch" "$store" "$probe" invert
done_are 1 2 3 4 5 6 7 8
rm calls
touch far/in/*
run 0 gpufilter -q -i @names.txt -o 'far:out/{stem}.tar' "$fetch" "$store" "$probe" invert
[ "$(wc -l <calls)" -eq 8 ] || problem "$(wc -l <calls) calls; $(head -n 3 calls)"
cp far/in/1.tar far/in/9.tar
cp far/in/2.tar far/in/1.tar
rm calls
run 0 gpufilter -q -i @names.txt -o 'far:out/{stem}.tar' "$fetch" "$store" "$probe" invert
[ "$(wc -l <calls)" -eq 11 ] || problem "$(cat calls)"
done_are 1 2 3 4 5 6 7 8
mv far/in/9.tar far/in/1.tar
clean

begin "a transfer that fails once is tried again"
for what in once cut-once; do
    for which in 'far:in/4.tar ' 'far:out/4.tar$' 'far:out/4.tar.json'; do
        fault $what "$which"
        run 0 far
        done_are 1 2 3 4 5 6 7 8
        clean
        [ "$(wc -l <calls)" -eq 25 ] || problem "$what $which: $(head -n 3 calls)"
    done
done

begin "a fetch that always fails is that archive's 75, and the others go on"
for what in "always:exit status 7: no such bucket" "killed:ended by signal 9" "nothing:it has made no file" \
    "cut:the file has 1000 bytes, and the list states $(stat -c %s far/in/4.tar)"; do
    fault "${what%%:*}" 'far:in/4.tar '
    run 75 far --transfer-tries=2
    [ "$(cat stderr)" = "gpufilter: far:in/4.tar: --fetch failed, 2 times: ${what#*:}
gpufilter: 1 of 8 archives failed" ] || problem "$(cat stderr)"
    done_are 1 2 3 5 6 7 8
    clean
done

begin "a command that takes longer than --transfer-timeout is ended with what it has started, and has failed"
for what in hang stubborn; do
    for which in 'far:in/4.tar ' 'far:out/4.tar$'; do
        fault $what "$which"
        rm -f hangs.too
        run 75 timeout 300 "$GPUFILTER" -q -i @shards.txt -o 'far:out/{stem}.tar' "$fetch" "$store" --transfer-tries=1 --transfer-timeout=3 invert
        grep -q '^gpufilter: far:.*/4.tar: --[a-z]* failed, 1 time: took longer than --transfer-timeout=3$' stderr || problem "$(cat stderr)"
        for each in hangs hangs.too; do
            [ ! -s $each ] || ! runs "$(cat $each)" || problem "$each: a command still runs"
        done
        rm -f far/out/*.part
        done_are 1 2 3 5 6 7 8
        clean
    done
done
fault once-slow 'far:in/4.tar '
run 0 far --transfer-timeout=5 --transfer-tries=2
done_are 1 2 3 4 5 6 7 8
clean

begin "a store that fails is that archive's 75; no record is there without its archive"
fault always 'far:out/4.tar$'
run 75 far --transfer-tries=2 --log=store.log
[ "$(cat stderr)" = "gpufilter: far:out/4.tar: --store failed, 2 times: exit status 7: no such bucket
gpufilter: 1 of 8 archives failed" ] || problem "$(cat stderr)"
grep -q '"output":"far:out/4.tar","status":"failed","exit":75,"message":"far:out/4.tar: --store failed' store.log || problem "$(cat store.log)"
[ "$(grep -c '"output":"far:out/[0-9].tar","status":"ok","exit":0' store.log)" -eq 7 ] || problem "$(cat store.log)"
done_are 1 2 3 5 6 7 8
clean
rm fault
run 0 far "$probe"
done_are 1 2 3 4 5 6 7 8
fault always 'far:out/4.tar.json'
run 75 far --transfer-tries=1
[ -e far/out/4.tar ] && [ ! -e far/out/4.tar.json ] || problem "$(ls far/out)"
rm fault calls
run 0 far "$probe"
[ "$(grep -c 'far:in' calls)" -eq 1 ] || problem "$(head -n 3 calls)"
done_are 1 2 3 4 5 6 7 8
clean

begin "an archive that is damaged or cut is not stored; one with a bad picture is, and its record says so"
fault none none
mkdir -p far/odd
cp far/in/1.tar far/odd/1.tar
head -c 3000 far/in/2.tar >far/odd/2.tar
head -c "$(($(stat -c %s far/in/3.tar) / 10240 * 10240 - 10240))" far/in/3.tar >far/odd/3.tar
echo nothing >set/bad.png
tar cf far/odd/4.tar set
rm set/bad.png
printf 'far:odd/%s.tar\n' 1 2 3 4 none >odd.txt
run 75 gpufilter -q -i @odd.txt -o 'far:out/{stem}.tar' "$fetch" "$store" --transfer-tries=1 --log=odd.log invert
for each in '1.tar","output":"far:out/1.tar","status":"ok","exit":0,' '2.tar","output":"far:out/2.tar","status":"failed","exit":75,' \
    '3.tar","output":"far:out/3.tar","status":"failed","exit":4,"message":"far:odd/3.tar: empty file' '4.tar","output":"far:out/4.tar","status":"failed","exit":4,' \
    'none.tar","output":"far:out/none.tar","status":"failed","exit":75,"message":"far:odd/none.tar: --fetch failed'; do
    grep -qF "\"input\":\"far:odd/$each" odd.log || problem "no $each in $(cat odd.log)"
done
ls far/out | tr '\n' ' ' | grep -qx '1.tar 1.tar.json 4.tar 4.tar.json ' || problem "$(ls far/out)"
grep -q 'far:odd/4.tar/set/bad.png: not a picture' far/out/4.tar.json || problem "$(cat far/out/4.tar.json)"
grep -q '^gpufilter: far:odd/none.tar: --fetch failed' stderr || problem "$(cat stderr)"
grep -q '^gpufilter: far:odd/2.tar: ' stderr || problem "$(cat stderr)"
! grep -q "$TMPDIR" stderr odd.log || problem "a message names a temporary file: $(cat stderr)"
printf 'far:odd/2.tar\t%s\n' "$(stat -c %s far/odd/2.tar)" >odd.txt
run 4 gpufilter -q -i @odd.txt -o 'far:out/{stem}.tar' "$fetch" "$store" --transfer-tries=1 invert
clean

begin "the archives on their way are no more bytes than --transfer-space"
fault none none
one=$(stat -c %s far/in/1.tar)
cat >watch <<'END_OF_WATCH'
#!/bin/sh
du -sb --apparent-size tmp | cut -f 1 >>used
exec ./copy "$@"
END_OF_WATCH
chmod +x watch
run 0 gpufilter -q -i @shards.txt -o 'far:out/{stem}.tar' "--fetch=./watch {in} {file}" "--store=./watch {file} {out}" \
    --transfer-space=$((one * 4)) invert
done_are 1 2 3 4 5 6 7 8
most=$(sort -n used | tail -n 1)
[ "$most" -le $((one * 4 + 16384)) ] || problem "$most bytes, an archive has $one"
fault none none
run 0 far --transfer-space=1
done_are 1 2 3 4 5 6 7 8
clean

begin "archives that cannot be opened give back the space of their outputs"
fault none none
for each in x y z; do
    head -c "$one" /dev/zero | tr '\0' x >far/odd/$each.tar
    echo far:odd/$each.tar
done | cat - shards.txt >odd.txt
run 4 timeout 60 "$GPUFILTER" -q -i @odd.txt -o 'far:out/{stem}.tar' "$fetch" "$store" --transfer-space=1 invert
done_are 1 2 3 4 5 6 7 8
clean

begin "local archives are stored, and far ones are fetched into local ones with local records"
fault none none
run 0 gpufilter -q -i far/in -o 'far:out/{stem}.tar' "$store" invert
[ "$(wc -l <calls)" -eq 16 ] || problem "$(head -n 3 calls)"
rm calls
run 0 gpufilter -q -i far/in -o 'far:out/{stem}.tar' "$store" "$probe" invert
[ ! -e calls ] || problem "$(head -n 3 calls)"
run 0 gpufilter -q -i @shards.txt -o 'near/{stem}.tar' "$fetch" invert
for each in 1 2 3 4 5 6 7 8; do same near/$each.tar far/out/$each.tar; done
rm calls
run 0 gpufilter -q -i @shards.txt -o 'near/{stem}.tar' "$fetch" --skip-existing invert
[ ! -e calls ] || problem "$(head -n 3 calls)"
clean

begin "a command's quotes and the names' own spaces and braces"
fault none none
cp far/in/1.tar "far/in/it's {out} 1.tar"
run 0 gpufilter -q -i "far:in/it's {out} 1.tar" -o 'far:out/x.tar' "--fetch=./copy \"{in}\" '{file}'" \
    "--store=sh -c './copy \"\$1\" \"\$2\"' sh {file} {out}" invert
rm "far/in/it's {out} 1.tar"
"$GPUFILTER" -q -i far/in/1.tar -o alone.tar invert
same far/out/x.tar alone.tar
clean

begin "a failed command is seen if the parent ignores SIGCHLD"
if ! command -v python3 >/dev/null; then
    skip "there is no Python"
else
    fault always 'far:out/4.tar$'
    run 75 python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$GPUFILTER" -q -i @shards.txt -o 'far:out/{stem}.tar' "$fetch" "$store" \
        --transfer-tries=1 invert
    done_are 1 2 3 5 6 7 8
fi

begin "a stored file has the permissions of other outputs"
fault none none
umask 027
run 0 gpufilter -q -i far/in/1.tar -o 'far:out/x.tar' "--store=./copy {file} {out}" invert
run 0 gpufilter -q -i in.png -o far:out/x.png "--store=./copy {file} {out}" invert
umask 022
for each in x.tar x.tar.json x.png; do
    [ "$(stat -c %a far/out/$each)" = 640 ] || problem "$each: $(stat -c %a far/out/$each)"
done

begin "the names of a URL keep the two slashes of its scheme"
said='sh -c "printf \"%s\\n\" \"\$1\" >>said" sh'
run 0 gpufilter -q -i s3://b/in/1.tar -i s3://b/in/2.tar -o 's3://b/out/{stem}.tar' \
    "--fetch=sh -c 'cp far/in/\"\${1##*/}\" \"\$2\"' sh {in} {file}" "--store=$said {out} {file}" "--probe=$said {record}" invert
[ "$(sort said | uniq -c | tr -s '\n ' ' ')" = \
    " 1 s3://b/out/1.tar 2 s3://b/out/1.tar.json 1 s3://b/out/2.tar 2 s3://b/out/2.tar.json " ] || problem "$(cat said)"
clean

begin "the parameters of a URL are no part of {file}"
echo "http://far/1.png?name=$(printf 'a%.0s' $(seq 300))&c=ab" >url.txt
run 0 gpufilter -q -i @url.txt -o x.png "--fetch=sh -c 'cp in.png \"\$1\"; echo \"\$1\" >got' sh {file} {in}" invert
grep -qx "$TMPDIR/.transfers.gpufilter-[0-9a-zA-Z-]*/0-in.png" got || problem "$(cat got)"

begin "what signs a URL reaches commands alone, and a name that is signed anew is the same input and output"
fault none none
# signed WORD: the list of URLs that this word signs
signed()
{
    for each in 1 2 3 none; do echo "https://me:$1@host/in/$each.tar?X-Amz-Credential=a/$1/s3&Signature=$1#$1"; done >signed.txt
}
cat >web <<'END_OF_WEB'
#!/bin/sh
# web FROM TO: the URL, which must be signed by the word in the file `word`, is a file of far/.
word=$(cat word)
path()
{
    case $1 in https://me:$word@host/*[?]*=$word*) echo "$1" | sed 's,.*host/\([^?]*\).*,far/\1,' ;; *) echo "$1" ;; esac
}
echo "$*" >>calls
mkdir -p far/out
cp "$(path "$1")" "$(path "$2")" 2>/dev/null || { echo "$(seq 4000 | tr '\n' x)?b=$word Get \"$1\": also ${1#*host}" >&2; exit 1; }
END_OF_WEB
chmod +x web
set -- "--fetch=./web {in} {file}" "--store=./web {file} {out}" "--probe=./web {record} /dev/stdout" --transfer-tries=1
out()
{
    echo "https://me:$1@host/out/{stem}.tar?sv=1&sig=$1"
}
for word in secret1 secret2; do
    echo $word >word
    signed $word
    run 75 gpufilter -v -i @signed.txt -o "$(out $word)" "$@" --log=signed.log --shard=1/1 invert
    grep -q '^gpufilter: https://host/in/none.tar: --fetch failed, 1 time: exit status 1: Get "https://host/in/none.tar": also /in/none.tar$' stderr || problem "$(cat stderr)"
    ! grep -rl secret stderr signed.log far/out/*.json || problem "the word is told: $(grep -rh secret stderr signed.log far/out/*.json)"
    run 75 gpufilter --report=json:account.json signed.log @signed.txt
    stderr_like '9 outputs done, 1 failed, 0 inputs missing, 0 records damaged'
    grep -q '"lists": 1,' account.json || problem "$(cat account.json)"
done
ls far/out | tr '\n' ' ' | grep -qx '1.tar 1.tar.json 2.tar 2.tar.json 3.tar 3.tar.json ' || problem "$(ls far/out)"
[ "$(grep -c 'in/[123].tar.* /' calls)" -eq 6 ] && [ "$(grep -c ' https.*out/' calls)" -eq 6 ] || problem "$(cat calls)"
grep -qF '"input": "https://host/in/1.tar"' far/out/1.tar.json || problem "$(cat far/out/1.tar.json)"
run 0 gpufilter -q -i "$(head -n 1 signed.txt)" -o one.tar "--fetch=./web {in} {file}" invert
same one.tar far/out/1.tar
cp in.png far/in.png
printf 'https://me:%s@host/in.png?a=%s\t7\tetag\n' secret2 secret2 | sed "s/\t7/\t$(stat -c %s in.png)/" >signed.txt
run 0 gpufilter -q -i @signed.txt -o 'https://me:secret2@host/out/?sig=secret2' "--fetch=./web {in} {file}" "--store=./web {file} {out}" --resume=png.log
echo secret3 >word
sed -i s/secret2/secret3/g signed.txt
rm calls
run 0 gpufilter -q -i @signed.txt -o 'https://me:secret3@host/out/?sig=secret3' "--fetch=./web {in} {file}" "--store=./web {file} {out}" --resume=png.log
[ ! -e calls ] || problem "$(cat calls)"
! grep secret png.log || problem "$(cat png.log)"
run 2 gpufilter -i 'https://me:secret3@host/a.tar?secret3' -o 'https://me:secret3@host/{}.tar?secret3' "--fetch=./web {in} {file}" invert
! grep secret stderr || problem "$(cat stderr)"
clean

begin "a probe that has {out} prints the archive's size behind the record: one that is gone is made anew"
fault none none
sized='--probe=sh -c "cat far/\"\${1#far:}\" && stat -c %s far/\"\${2#far:}\"" sh {record} {out}'
for each in no gone short; do
    run 0 far "$sized"
    [ $each != no ] || [ "$(wc -l <calls)" -eq 24 ] || problem "$(cat calls)"
    rm -f calls
    run 0 far "$sized"
    [ ! -e calls ] || problem "$(cat calls)"
    [ $each != gone ] || rm far/out/4.tar
    [ $each != short ] || head -c 700 far/in/4.tar >far/out/4.tar
    run 0 far "$sized"
    [ $each = no ] || [ "$(cut -d ' ' -f 1 calls | grep far:)" = far:in/4.tar ] || problem "$each: $(cat calls)"
    done_are 1 2 3 4 5 6 7 8
done
clean

begin "commands that cannot be are refused before anything runs"
run 3 far '--probe=./no-such-program {record}'
stderr_is "gpufilter: --probe: './no-such-program' is not on this machine"
run 2 gpufilter -i @shards.txt -o 'x/{stem}.tar' '--fetch=./copy {in}' invert
stderr_is "gpufilter: --fetch='./copy ...' has no {file}"
run 2 gpufilter -i @shards.txt -o 'x/{stem}.tar' "$probe" invert
run 2 far --skip-existing
run 2 far --no-clobber
run 2 gpufilter -i @shards.txt -o 'far:in/{stem}.tar' "$fetch" "$store" invert
stderr_is "gpufilter: far:in/1.tar: would be stored over itself"
run 2 gpufilter -i in.png -o x.tar "$store" invert
run 2 gpufilter -i in.png -o far:x.png "$store" "$probe" invert
run 2 gpufilter -i in.png -o far:x.png "$store" --skip-existing invert
run 2 gpufilter -i in.png -o - "$store" invert
clean

# pictures OPTION...: a run over single pictures, far:pictures/N.png, with outputs in far:out.
pictures()
{
    gpufilter -q -i @pictures.txt -o 'far:out/{stem}.jpg' "$fetch" "$store" "$@" invert
}

# stored_are NUMBER...: these pictures are stored as runs of their own make them.
stored_are()
{
    for each in "$@"; do echo $each.jpg; done >wanted
    ls far/out 2>/dev/null | cmp -s - wanted || problem "stored: $(ls far/out)"
    for each in "$@"; do
        "$GPUFILTER" -q -i far/pictures/$each.png -o alone.jpg invert
        same far/out/$each.jpg alone.jpg
    done
}

begin "single pictures are fetched and stored, and --resume knows those that are stored"
fault none none
mkdir far/pictures
for each in 1 2 3 4 5 6 7 8; do run 0 gpufilter -q -i in.png -o far/pictures/$each.png "brightness=0.0$each"; done
(cd far && for each in pictures/*.png; do printf 'far:%s\t%s\t%s\n' $each "$(stat -c %s $each)" "etag-$(cksum <$each | tr ' ' -)"; done) >pictures.txt
run 0 pictures --log=log
stored_are 1 2 3 4 5 6 7 8
[ "$(wc -l <calls)" -eq 16 ] || problem "$(cat calls)"
[ "$(grep -c '"input":"far:pictures/[1-8].png","output":"far:out/[1-8].jpg","status":"ok"' log)" -eq 8 ] || problem "$(cat log)"
! grep -q "$TMPDIR" log || problem "the log names a temporary file"
clean
rm calls
run 0 pictures --resume=log
[ ! -e calls ] || problem "$(cat calls)"
sed -i '3s/etag/other/' pictures.txt
run 0 pictures --resume=log
[ "$(wc -l <calls)" -eq 2 ] || problem "$(cat calls)"
run 0 gpufilter -q -i @pictures.txt -o near/ --format=jpeg "$fetch" invert
for each in 1 2 3 4 5 6 7 8; do same near/$each.jpg far/out/$each.jpg; done
rm calls
run 0 gpufilter -q -i @pictures.txt -o near/ --format=jpeg "$fetch" --skip-existing invert
[ ! -e calls ] || problem "$(cat calls)"
run 0 gpufilter -q -i far:pictures/1.png -o x.jpg "$fetch" invert
same x.jpg far/out/1.jpg
run 0 gpufilter -q -i far/pictures -o 'far:out/{stem}.jpg' "$store" invert
stored_are 1 2 3 4 5 6 7 8
clean

begin "a picture whose transfer fails is that picture's 75, and its line in the log says so"
for which in 'far:pictures/4.png ' 'far:out/4.jpg$'; do
    fault always "$which"
    rm -f log
    run 75 pictures --log=log --transfer-tries=2
    grep -qx "gpufilter: far:.*/4....: --[a-z]* failed, 2 times: exit status 7: no such bucket" stderr || problem "$(cat stderr)"
    stored_are 1 2 3 5 6 7 8
    grep -q '"input":"far:pictures/4.png","output":"far:out/4.jpg","status":"failed"' log || problem "$(cat log)"
    [ "$(grep -c '"status":"ok"' log)" -eq 7 ] || problem "$(cat log)"
    rm fault calls
    run 0 pictures --resume=log
    [ "$(wc -l <calls)" -eq 2 ] || problem "$(cat calls)"
    stored_are 1 2 3 4 5 6 7 8
    clean
done

begin "a fetch that makes a pipe has made no file"
run 75 timeout 20 "$GPUFILTER" -q -i far:pictures/1.png -o x.png "--fetch=sh -c 'mkfifo \"\$1\"' sh {file} {in}" \
    --transfer-tries=1 invert
stderr_is "gpufilter: far:pictures/1.png: --fetch failed, 1 time: it has made no file
gpufilter: 1 of 1 files failed, 0 done"
clean

begin "a fetched picture takes no memory before it is read"
if ! truncate -s 1T tmp/sparse; then
    skip "no sparse files here"
else
    printf 'far:huge.png\t%s\tetag\n' "$(stat -c %s tmp/sparse)" >huge.txt
    run 4 gpufilter -q -i @huge.txt -o x.png "--fetch=sh -c 'truncate -s 1T \"\$1\"' sh {file} {in}" invert
    stderr_is "gpufilter: far:huge.png: not a picture of a known format
gpufilter: 1 of 1 files failed, 0 done"
fi
rm -f tmp/sparse

begin "damaged and missing pictures among those that are fetched"
fault none none
echo nothing >far/pictures/9.png
printf 'far:pictures/9.png\nfar:pictures/none.png\n' >odd.txt
run 75 gpufilter -q -i @odd.txt -o 'far:out/{stem}.jpg' "$fetch" "$store" --transfer-tries=1 invert
grep -qx 'gpufilter: far:pictures/9.png: not a picture of a known format' stderr || problem "$(cat stderr)"
[ ! -e far/out ] || problem "$(ls far/out)"
clean

# ends SIGNAL STATUS FAULT NAME: the signal ends a run while a command hangs, and nothing is left.
ends()
{
    fault "$3" "$4"
    env --default-signal="$1" "$GPUFILTER" -q -i @shards.txt -o 'far:out/{stem}.tar' "$fetch" "$store" invert 2>stderr &
    job=$!
    until_true 10 [ -s hangs ]
    kill -"$1" $job
    wait $job
    got=$?
    [ "$got" -eq "$2" ] || problem "exit status $got, not $2"
    for each in hangs hangs.too; do
        [ ! -s $each ] || ! runs "$(cat $each)" || problem "$each: a command still runs"
    done
    rm -f hangs.too
    clean
    for each in far/out/*.json; do
        [ ! -e "$each" ] || [ -e "${each%.json}" ] || problem "$each stands alone"
    done
}

begin "SIGTERM and SIGINT end the commands too, and leave nothing in TMPDIR"
if ! env --default-signal true 2>/dev/null; then
    skip "no env --default-signal here"
else
    ends TERM 143 hang 'far:in/4.tar '
    ends INT 130 hang 'far:out/2.tar$'
    ends TERM 143 stubborn 'far:in/1.tar '
    rm -f fault far/out/*.part
    run 0 far "$probe"
    done_are 1 2 3 4 5 6 7 8
fi

begin "what a signal ends is not reported as failed"
fault stubborn 'far:pictures/'
rm -f log
"$GPUFILTER" -q -i @pictures.txt -o 'far:out/{stem}.jpg' "$fetch" "$store" --transfer-tries=1 --log=log invert 2>stderr &
job=$!
until_true 10 [ -s hangs ]
kill -TERM $job
wait $job
got=$?
[ $got -eq 143 ] || problem "exit status $got, not 143"
! grep -q failed stderr log || problem "$(cat stderr log)"
clean

begin "SIGTERM ends a run whose command never starts"
echo '#include <unistd.h>
int posix_spawnp(void) { for (;;) pause(); }' >stuck.c
if ldd "$GPUFILTER" | grep -q 'lib[a-z]*san' || ! ${CC:-cc} -shared -fPIC -o stuck.so stuck.c 2>/dev/null; then
    skip "no compiler, or a build with sanitizers"
else
    fault none none
    LD_PRELOAD="$PWD/stuck.so" timeout --preserve-status -k 20 1 "$GPUFILTER" -q -i @shards.txt -o 'far:out/{stem}.tar' \
        "$fetch" "$store" invert 2>stderr
    got=$?
    [ $got -eq 143 ] || problem "exit status $got, not 143"
    clean
fi

begin "as process 1 it takes SIGTERM, and leaves no zombie of what a command has left running"
if ! unshare --user --map-root-user --pid --fork --mount-proc true 2>/dev/null; then
    skip "no namespaces for processes here"
else
    fault none none
    cat >leaving <<'END_OF_LEAVING'
#!/bin/sh
# What an earlier command left running is a zombie for a moment after its end, or for ever.
tries=100
while grep -lsx 'Name:.sleep' /proc/[0-9]*/status | xargs -r grep -lsx 'PPid:.1' | xargs -r grep -s '^State:.Z' >left.$$ &&
    [ -s left.$$ ] && [ $((tries -= 1)) -gt 0 ]; do
    sleep 0.1
done
cat left.$$ >>zombies
sleep 50 &
exec ./copy "$@"
END_OF_LEAVING
    chmod +x leaving
    apart="unshare --user --map-root-user --pid --fork --mount-proc"
    run 0 $apart "$GPUFILTER" -q -i @shards.txt -o 'far:out/{stem}.tar' "--fetch=./leaving {in} {file}" "$store" invert
    done_are 1 2 3 4 5 6 7 8
    [ ! -s zombies ] || problem "zombies: $(cat zombies)"
    clean
    fault hang 'far:in/4.tar '
    $apart "$GPUFILTER" -q -i @shards.txt -o 'far:out/{stem}.tar' "$fetch" "$store" invert 2>stderr &
    job=$!
    until_true 10 [ -s hangs ]
    kill -TERM "$(cat /proc/$job/task/$job/children)"
    wait $job
    got=$?
    [ "$got" -eq 143 ] || problem "exit status $got, not 143"
    clean
fi

begin "the folder that a killed run has left is removed by a later run, that of a running one is not"
rm -f hangs.too
fault hang 'far:in/4.tar '
"$GPUFILTER" -q -i @shards.txt -o 'far:out/{stem}.tar' "$fetch" "$store" invert 2>stderr &
job=$!
until_true 10 [ -s hangs.too ]
fault none none
run 0 far
[ "$(ls -A tmp | wc -l)" -eq 1 ] || problem "not one folder: $(ls -A tmp)"
kill -KILL $job
wait $job 2>/dev/null
kill "$(cat hangs)" "$(cat hangs.too)"
run 0 far
clean
