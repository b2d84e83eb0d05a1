# shellcheck shell=sh
# Logs and records of all parts of a run as one account.
mkdir in
for each in 1 2 3 4 5 6; do
    cp in.ppm in/$each.ppm
done
printf 'in/%s.ppm\n' 1 2 3 4 5 6 >list.txt
echo nothing >in/5.ppm

begin "two parts are one account; what is missing is named"
for part in 1 2; do
    "$GPUFILTER" -q -i @list.txt -o out/ --shard=$part/3 --log=$part.log invert 2>/dev/null
done
run 75 gpufilter --report=json:account.json 1.log 2.log @list.txt
stderr_like '3 outputs done, 1 failed, 2 inputs missing, 0 records damaged'
for each in '"outputs": 4,' '"done": 3,' '"failed": 1,' '{"input": "in/5.ppm", "output": "out/5.ppm", "message": "in/5.ppm: not a picture' '"in/3.ppm",' '"in/6.ppm"'; do
    grep -qF "$each" account.json || problem "no $each in $(cat account.json)"
done
run 4 gpufilter --report=json:- 1.log 2.log
stdout_has '"missing": \['

begin "the last line about an output counts, in whichever log it is"
cp in.ppm in/5.ppm
run 0 gpufilter -q -i @list.txt -o out/ --shard=3/3 --log=3.log invert
run 0 gpufilter -q -i @list.txt -o out/ --shard=2/3 --resume=4.log invert
for order in "1.log 2.log 3.log 4.log" "4.log 3.log 2.log 1.log"; do
    # shellcheck disable=SC2086 # the names of logs
    run 0 gpufilter --report=json:account.json @list.txt $order
    stderr_like '6 outputs done, 0 failed, 0 inputs missing, 0 records damaged'
done
run 75 gpufilter --report=json:account.json 1.log none.log
stderr_like 'none.log: No such file or directory'
(cat 1.log && printf '{"index":9,"input":"in/9.ppm","outp') >torn.log
run 0 gpufilter --report=json:account.json torn.log
stderr_like '2 outputs done, 0 failed'

begin "a run goes on from the logs of several parts, with another number of parts"
touch before && sleep 0.02
run 0 gpufilter -i @list.txt -o out/ --shard=1/2 --resume='[1-4].log' --log=5.log invert
stderr_like '0 files done, 3 skipped'
rm out/1.ppm
run 0 gpufilter -q -i @list.txt -o out/ --resume='[1-4].log' --log=5.log invert
[ "$(find out -newer before -name '*.ppm' | tr '\n' ' ')" = "out/1.ppm " ] || problem "$(find out -newer before)"
[ "$(wc -l <5.log)" = 1 ] || problem "$(cat 5.log)"
cp in/2.ppm saved.ppm
echo nothing >in/2.ppm
run 4 gpufilter -q -i in/2.ppm -o out/ --log=0.log invert
run 4 gpufilter -q -i @list.txt -o out/ --resume='[0-5].log' --log=6.log invert
cp saved.ppm in/2.ppm
run 2 gpufilter -i @list.txt -o out/ --resume='*.log' invert
stderr_like "--resume=\*.log reads several logs; --log=FILE says where new lines go"

begin "a part keeps its own lines of a long log, and heeds others about its outputs"
line='{"index":1,"input":"in/%s.ppm","output":"out/%s.ppm","status":"ok","exit":0,"bytes_out":%s,"finished":%s,"job":"%s","identity":"%s"}\n'
job=$(sed -n 's/.*"job":"\([^"]*\)".*/\1/p' 1.log | head -n 1)
# shellcheck disable=SC2059 # the format of a line
for each in 1 2 4 5 6; do
    printf "$line" $each $each "$(stat -c %s out/$each.ppm)" 9 "$job" "$(stat -c '%s %.9Y' in/$each.ppm)"
done >many2.log
# shellcheck disable=SC2059
printf "$line" 3 4 "$(stat -c %s out/4.ppm)" 10 "$job" x >many1.log
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "{\"input\":\"in/x%d\",\"output\":\"out/x%d\",\"status\":\"ok\"}\n", i, i }' >>many1.log
touch before && sleep 0.02
for part in 1 2 3; do
    run 0 gpufilter -q -i @list.txt -o out/ --shard=$part/3 --resume='many[12].log' --log=more.log invert
done
[ "$(find out -newer before -name '[0-9].ppm' | sort | tr '\n' ' ')" = "out/3.ppm out/4.ppm " ] || problem "$(find out -newer before)"
if ! measures_memory; then
    skip "no measure of memory here"
else
    run 0 /usr/bin/time -q -f %M -o peak "$GPUFILTER" --device=cpu -q -i @list.txt -o out/ --shard=1/3 --resume=many1.log invert
    own=$(tail -n 1 peak)
    run 0 /usr/bin/time -q -f %M -o peak "$GPUFILTER" --device=cpu -q -i @list.txt -o out/ --resume=many1.log invert
    [ $((own + 15000)) -lt "$(tail -n 1 peak)" ] || problem "$own kB for a part, $(tail -n 1 peak) kB for the whole"
fi

begin "parts of a folder that has changed in between are parts of different lists, unless a list tells what is missing"
mkdir from
for each in b c d e; do cp in/1.ppm from/$each.ppm; done
run 0 gpufilter -i from -o to/ --shard=1/2 --skip-existing --log=to1.log invert
grep -q '^gpufilter: warning: --shard divides what a folder or a pattern has now' stderr || problem "$(cat stderr)"
cp in/1.ppm from/a.ppm
run 0 gpufilter -q -i 'from/*' -o to/ --shard=2/2 --skip-existing --log=to2.log invert
run 75 gpufilter --report=json:account.json to1.log to2.log
stderr_like '.*, and parts of 2 different lists: @LIST tells what is missing'
grep -q '"lists": 2,' account.json || problem "$(cat account.json)"
ls from/* >from.txt
run 75 gpufilter --report=json:account.json to1.log to2.log @from.txt
stderr_like '2 outputs done, 0 failed, 3 inputs missing, 0 records damaged$'
for part in 1 2; do run 0 gpufilter -i @from.txt -o to/ --shard=$part/2 --skip-existing --log=to3.log invert; done
! grep -q warning stderr || problem "$(cat stderr)"
run 0 gpufilter --report=json:account.json to3.log
run 0 gpufilter --report=json:account.json to1.log to2.log to3.log @from.txt

begin "--metrics: the counts of a run, complete at its end"
echo nothing >in/2.ppm
run 4 gpufilter -q -i @list.txt -o out/ --metrics=run.prom invert
cp saved.ppm in/2.ppm
bytes=$(cat in/1.ppm in/3.ppm in/4.ppm in/5.ppm in/6.ppm | wc -c)
for each in 'gpufilter_files 6' 'gpufilter_done_total 5' 'gpufilter_failed_total 1' 'gpufilter_pictures_total 5' \
    "gpufilter_read_bytes_total $bytes" '# TYPE gpufilter_busy_seconds_total counter'; do
    grep -qxF "$each" run.prom || problem "no $each in $(cat run.prom)"
done
awk '!/^#/ && !/^gpufilter_[a-z_]+({work="[a-z]+"})? [0-9.e+-]+$/' run.prom >foreign
[ ! -s foreign ] || problem "$(cat foreign)"
run 75 gpufilter -q -i in/1.ppm -o out/ --metrics=none/run.prom invert

begin "records of archives, by name or by their folder"
if ! gpufilter --version | grep -q '^archives: tar' || ! command -v tar >/dev/null; then
    skip "there is no tar, or no libarchive in this build"
else
    mkdir shards
    for each in 1 2 3; do
        tar cf shards/$each.tar in/$each.ppm
    done
    echo nothing >in/bad.png
    tar cf shards/4.tar in/4.ppm in/bad.png
    printf 'shards/%s.tar\t%s\n' 1 7 2 8 3 9 4 10 5 11 >shards.txt
    run 75 gpufilter -q -i @shards.txt -o 'ready/{stem}.tar' invert
    cp ready/1.tar.json saved
    run 75 gpufilter --report=json:account.json ready @shards.txt
    stderr_like '3 outputs done, 1 failed, 1 inputs missing, 0 records damaged'
    grep -qF '"message": "1 of 2 pictures failed: shards/4.tar/in/bad.png: not a picture' account.json || problem "$(cat account.json)"
    grep -qF '"shards/5.tar"' account.json || problem "$(cat account.json)"
    head -c 100 saved >ready/1.tar.json
    run 75 gpufilter --report=json:account.json ready @shards.txt
    stderr_like '2 outputs done, 1 failed, 2 inputs missing, 1 records damaged'
    grep -qF '"ready/1.tar.json"' account.json || problem "$(cat account.json)"

    begin "an archive that is left out has a line in the log: what a killed run did not log is not missing"
    for option in --skip-existing --resume=left.log; do
        rm -f left.log
        cut -f 1 shards.txt | grep -v 5.tar >left.txt
        run 4 gpufilter -q -i @left.txt -o 'left/{stem}.tar' invert
        for each in 1 2; do run 4 gpufilter -q -i @left.txt -o 'left/{stem}.tar' "$option" --log=left.log invert; done
        run 4 gpufilter --report=json:account.json left.log @left.txt
        stderr_like '3 outputs done, 1 failed, 0 inputs missing, 0 records damaged'
    done
    [ "$(grep -c '"status":"skipped","exit":0,"message":"done before, says the record"' left.log)" -eq 6 ] || problem "$(cat left.log)"
    grep -q "\"exit\":4,\"message\":\"1 of 2 pictures failed before, says 'left/4.tar.json'" left.log || problem "$(cat left.log)"
    run 4 gpufilter -q -i @left.txt -o 'made/{stem}.tar' --log=made.log invert
    lines=$(grep -c . made.log)
    run 4 gpufilter -q -i @left.txt -o 'made/{stem}.tar' --resume=made.log invert
    [ "$(grep -c . made.log)" -eq "$((lines + 1))" ] || problem "$(cat made.log)"

    begin "the records of parts of different lists are not one account"
    mkdir parted
    for each in 1 2 3 4; do tar cf parted/$each.tar in/$each.ppm; done
    mv parted/1.tar .
    run 0 gpufilter -q -i parted -o 'halves/{stem}.tar' --shard=1/2 invert
    run 0 gpufilter --report=json:account.json halves
    mv 1.tar parted
    run 0 gpufilter -q -i parted -o 'halves/{stem}.tar' --shard=1/2 --skip-existing invert
    run 75 gpufilter --report=json:account.json halves
    stderr_like '.*, and parts of 2 different lists: @LIST tells what is missing'

    begin "an archive that is cut is named in the log, and is bad input; one that is missing is not"
    tar cf shards/5.tar in/1.ppm in/2.ppm
    head -c 40000 shards/5.tar >shards/cut.tar
    printf 'shards/%s.tar\n' 1 cut 5 >cut.txt
    run 4 gpufilter -q -i @cut.txt -o 'cut/{stem}.tar' --log=cut.log invert
    grep -q '"input":"shards/cut.tar","output":"cut/cut.tar","status":"failed","exit":4,"message":"shards/cut.tar: damaged archive: .*, at or after .in/[12].ppm' cut.log ||
        problem "$(cat cut.log)"
    run 4 gpufilter --report=json:account.json cut.log @cut.txt
    stderr_like '[0-9]* outputs done, 1 failed, 0 inputs missing'
    run 4 gpufilter -q -i shards/cut.tar -o cut/alone.tar --log=alone.log invert
    grep -q '"input":"shards/cut.tar","output":"cut/alone.tar","status":"failed","exit":4' alone.log || problem "$(cat alone.log)"
    cp shards/5.tar shards/cut.tar
    run 0 gpufilter -q -i @cut.txt -o 'cut/{stem}.tar' --resume=cut.log invert
    run 0 gpufilter --report=json:account.json cut.log @cut.txt
    for output in 'cut/{stem}.tar' 'cut/{archive}/{stem}.ppm'; do
        rm shards/cut.tar
        run 75 gpufilter -q -i @cut.txt -o "$output" --log=gone.log invert
        run 75 gpufilter --report=json:account.json gone.log @cut.txt
        stderr_like '[0-9]* outputs done, 1 failed, 0 inputs missing'
        cp shards/5.tar shards/cut.tar
        run 0 gpufilter -q -i @cut.txt -o "$output" --log=gone.log invert
        run 0 gpufilter --report=json:account.json gone.log @cut.txt
        rm gone.log
    done
fi
