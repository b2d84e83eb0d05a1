# The program is killed at random moments: every output is complete or absent, the log is whole, and --resume
# does the rest.
mkdir in
gpufilter -i in.ppm -o in/big.ppm 'resize=w=700:h=500'
for each in $(seq 40); do ln in/big.ppm "in/$each.ppm"; done
rm in/big.ppm
gpufilter -i in/1.ppm -o expected.png blur=3,equalize

# whole FOLDER: every picture in it is whole.
whole()
{
    for file in "$1"/*.png; do
        [ -e "$file" ] || continue
        cmp -s "$file" expected.png || problem "$file is not whole"
    done
}

# intact FOLDER: every file in it is a whole picture, and there are no other files.
intact()
{
    whole "$1"
    [ -z "$(find "$1" -name '.*' -type f)" ] || problem "left behind: $(find "$1" -name '.*' -type f)"
}

begin "killed at random moments, again and again, until all is done"
mkdir out
rounds=0 status=137
while [ $status -eq 137 ] && [ $rounds -lt 60 ]; do
    "$GPUFILTER" -i in -o 'out/{stem}.png' --resume=log -q blur=3,equalize 2>>complaints &
    job=$!
    # The first 13 rounds are killed after 10 to 99 ms, while they work, the later ones are not.
    sleep "0.0$(((rounds * 37 + $$) % 90 + 10))"
    [ $rounds -gt 12 ] || kill -9 $job 2>/dev/null
    wait $job 2>/dev/null
    status=$?
    # A picture that was not logged is written over: a kill just before that leaves a file, which the next run removes.
    whole out
    rounds=$((rounds + 1))
done
intact out
[ $status -eq 0 ] || problem "status $status after $rounds rounds: $(cat complaints)"
[ "$(find out -name '*.png' | wc -l)" -eq 40 ] || problem "not all are there"
[ "$(grep -c '"status":"ok"' log)" -ge 40 ] || problem "the log has $(wc -l <log) lines"
# A picture that was written but not yet logged is done again: at most one for each worker and round.
[ "$(grep -c '"status":"ok"' log)" -le 160 ] || problem "done again and again: $(wc -l <log) lines"
touch -d @1 out/*
run 0 gpufilter -i in -o 'out/{stem}.png' --resume=log -q blur=3,equalize
[ -z "$(find out -name '*.png' -newermt @2)" ] || problem "what is done was done again"

begin "killed while it writes over old files: each is the old one or the new one"
for round in 1 2 3 4; do
    for file in out/*.png; do printf old >"$file"; done
    "$GPUFILTER" -i in -o 'out/{stem}.png' -q blur=3,equalize &
    job=$!
    sleep 0.0$((round * 2 + 1))
    kill -9 $job 2>/dev/null
    wait $job 2>/dev/null
    for file in out/*.png; do
        [ "$(head -c 3 "$file" | tr -d '\0')" = old ] || cmp -s "$file" expected.png || problem "$file is neither"
    done
done
run 0 gpufilter -i in -o 'out/{stem}.png' -q blur=3,equalize
intact out

for each in INT:130 TERM:143; do
    begin "SIG${each%:*} in a batch"
    if ! env --default-signal true 2>/dev/null; then
        skip "no env --default-signal here"
        continue
    fi
    rm -rf out log2 && mkdir out
    env --default-signal="${each%:*}" "$GPUFILTER" -i in -o 'out/{stem}.png' --log=log2 -q blur=3,equalize &
    job=$!
    sleep 0.03
    kill -"${each%:*}" $job 2>/dev/null
    wait $job
    got=$?
    [ $got -eq "${each#*:}" ] || [ $got -eq 0 ] || problem "exit status $got"
    intact out
    [ -e log2 ] || : >log2 # the signal came before the log
    [ "$(grep -c '^{"index".*}$' log2)" -eq "$(wc -l <log2)" ] || problem "a line of the log is broken"
    [ "$(wc -l <log2)" -le "$(find out -name '*.png' | wc -l)" ] || problem "the log says more than there is"
done

begin "a full disk: what fitted is whole, the rest is told, and --resume goes on elsewhere"
mkdir small
if ! mount -t tmpfs -o size=3m none small 2>/dev/null; then
    skip "no tmpfs can be mounted here"
else
    run 75 gpufilter -i in -o 'small/{stem}.png' --log=log3 blur=3,equalize
    grep -q 'No space left on device' stderr || problem "$(head -n 2 stderr)"
    tail -n 1 stderr | grep -q '^gpufilter: [0-9]* of 40 files failed, [1-9][0-9]* done$' || problem "$(tail -n 1 stderr)"
    intact small
    [ "$(find small -name '*.png' | wc -l)" -eq "$(grep -c '"status":"ok"' log3)" ] || problem "log and disk disagree"
    mount -o remount,size=60m small
    run 0 gpufilter -i in -o 'small/{stem}.png' --resume=log3 blur=3,equalize
    intact small
    [ "$(find small -name '*.png' | wc -l)" -eq 40 ] || problem "not all are there"
    umount small
fi

begin "unreadable inputs and unwritable outputs, one by one"
mkdir out4 out4/3.png
ln -s nowhere in/link.ppm
if [ "$(id -u)" -eq 0 ]; then
    blocked=2
else
    blocked=3
    cp in/1.ppm in/secret.ppm && chmod 0 in/secret.ppm
fi
run 75 gpufilter -i in -o 'out4/{stem}.png' -q blur=3,equalize
[ "$(tail -n 1 stderr)" = "gpufilter: $blocked of $((40 + blocked - 1)) files failed, 39 done" ] || problem "$(cat stderr)"
grep -q '^gpufilter: out4/3.png: is a directory$' stderr || problem "$(cat stderr)"
grep -q '^gpufilter: in/link.ppm: No such file or directory$' stderr || problem "$(cat stderr)"
rm -f in/secret.ppm in/link.ppm

begin "10,000 tiny files with few descriptors and little memory"
if ! command -v python3 >/dev/null; then
    skip "no python3 here"
else
    printf 'P5\n3 2\n255\nabcdef' >tiny.pgm
    python3 -c "
import os
os.mkdir('tiny')
for i in range(10000): os.link('tiny.pgm', 'tiny/%05d.pgm' % i)"
    run 0 python3 - <<'END'
import os, re, resource, subprocess, time
# Compares resident memory and open files early in the run and at its end.
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
job = subprocess.Popen([os.environ["GPUFILTER"], "-i", "tiny", "-o", "tiny_out", "--log=log5", "-q", "invert"])
seen = []
while job.poll() is None:
    try:
        status = open("/proc/%d/status" % job.pid).read()
        seen.append((int(re.search(r"VmRSS:\s*(\d+)", status)[1]), len(os.listdir("/proc/%d/fd" % job.pid))))
    except (OSError, TypeError):
        pass
    time.sleep(0.02)
seen = seen[2:] or [(0, 0)]
assert job.returncode == 0, job.returncode
assert max(s[0] for s in seen) - seen[len(seen) // 4][0] < 20000, seen
assert max(s[1] for s in seen) < 40, seen
END
    silent
    [ "$(find tiny_out -name '*.pgm' | wc -l)" -eq 10000 ] || problem "only $(find tiny_out -name '*.pgm' | wc -l)"
    [ "$(sort -u log5 | wc -l)" -eq 10000 ] || problem "the log has $(wc -l <log5) lines"
    run 0 gpufilter -i tiny/00000.pgm -o one.pgm invert
    same tiny_out/09999.pgm one.pgm
    rm -rf tiny tiny_out
fi
