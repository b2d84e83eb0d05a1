# SIGINT, SIGTERM and SIGHUP in the middle of a picture: the exit status names the signal, and no file is left.
mkdir out
printf old >out/x.ppm

# A shell makes its background jobs ignore SIGINT, and the program respects that; env undoes it.
interrupt()
{
    mkfifo feed
    env --default-signal="$1" "$GPUFILTER" -i feed -o out/x.ppm vflip 2>stderr &
    job=$!
    exec 9>feed
    head -c 3000 in.ppm >&9
    sleep 0.5
    kill -"$1" $job
    wait $job
    got=$?
    exec 9>&-
    rm feed
}

for each in INT:130 TERM:143 HUP:129; do
    begin "SIG${each%:*}"
    if ! env --default-signal true 2>/dev/null; then
        skip "no env --default-signal here"
        continue
    fi
    interrupt "${each%:*}"
    [ "$got" -eq "${each#*:}" ] || problem "exit status $got, not ${each#*:}"
    [ "$(cat out/x.ppm)" = old ] || problem "the old file is gone"
    only out x.ppm
done

# stopped OPTION...: SIGINT in the second of three files.
stopped()
{
    mkfifo feed
    env --default-signal=INT "$GPUFILTER" --device=cpu --threads=1 -i in.ppm -i feed -i gray16.pgm -o stopped "$@" 2>stderr &
    job=$!
    exec 9>feed
    head -c 3000 in.ppm >&9
    until_true 20 [ -e stopped/in.pnm ]
    sleep 0.5
    kill -INT $job
    wait $job
    got=$?
    exec 9>&-
    rm feed
    [ "$got" -eq 130 ] || problem "exit status $got"
}

begin "a batch that is interrupted says how many are done and how to go on"
if ! env --default-signal true 2>/dev/null; then
    skip "no env --default-signal here"
else
    stopped --format=ppm
    stderr_is 'gpufilter: interrupted: 1 of 3 files done; with --skip-existing the same command does the rest'
    rm -r stopped
    stopped --format=ppm --log=log
    stderr_is 'gpufilter: interrupted: 1 of 3 files done; with --resume=log the same command does the rest'
    stopped --format=ppm --resume=log
    stderr_is 'gpufilter: interrupted: 1 of 3 files done; the same command does the rest'
    stopped --format=ppm --quiet
    silent
fi

begin "of an archive, which is then not there, no run can do the rest"
if ! env --default-signal true 2>/dev/null; then
    skip "no env --default-signal here"
elif ! gpufilter --version | grep -q '^archives: tar' || ! command -v tar >/dev/null; then
    skip "there is no tar, or no libarchive in this build"
else
    tar cf in.tar in.ppm in.ppm
    mkfifo feed
    env --default-signal=INT "$GPUFILTER" --device=cpu -i tar:feed -o out.tar --log=log 2>stderr &
    job=$!
    exec 9>feed
    head -c 3000 in.tar >&9
    sleep 0.5
    kill -INT $job
    wait $job
    got=$?
    exec 9>&-
    rm feed
    [ "$got" -eq 130 ] || problem "exit status $got"
    stderr_like 'interrupted: .* files done\.'
    absent out.tar
fi

begin "an ignored SIGINT stays ignored"
mkfifo feed
(trap '' INT && exec "$GPUFILTER" -i feed -o out/y.ppm vflip) &
job=$!
exec 9>feed
head -c 3000 in.ppm >&9
sleep 0.3
kill -INT "$job"
tail -c +3001 in.ppm >&9
exec 9>&-
wait "$job" || problem "it failed"
gpufilter -i in.ppm -o expected.ppm vflip
same out/y.ppm expected.ppm

begin "process 1 of a container ends at SIGTERM, and leaves no zombies while it runs"
if ! unshare --pid --fork --kill-child --mount-proc true 2>/dev/null; then
    skip "this user may make no process namespace"
else
    sandbox=auto
    ! gpufilter --version | grep -q '^cells for decoders: ' || sandbox=all
    [ -p feed ] || mkfifo feed
    unshare --pid --fork --kill-child --mount-proc "$GPUFILTER" --device=cpu --threads=1 --sandbox="$sandbox" -i in.ppm -i gray16.pgm \
        -i feed -o first/ --format=ppm 2>stderr &
    job=$!
    exec 9<>feed
    head -c 3000 in.ppm >&9
    until_true 20 [ -e first/in.pnm ] && until_true 20 [ -e first/gray16.pnm ]
    sleep 0.5
    # Processes end while their files are read, at which awk itself would stop.
    one=$(cat /proc/[0-9]*/status 2>/dev/null | awk -v parent="$job" '/^Pid:/ { pid = $2 } /^PPid:/ && $2 == parent { print pid }')
    grep -lsx "PPid:.$one" /proc/[0-9]*/status | while read -r each; do
        ! grep '^State:.Z' "$each" || cat "$each"
    done >zombies
    [ ! -s zombies ] || problem "a zombie: $(cat zombies)"
    only first gray16.pnm in.pnm
    if ! kill -TERM "${one:-none}" 2>/dev/null; then
        problem "it does not run: $(cat stderr)"
        kill -KILL $job
    fi
    wait $job
    got=$?
    exec 9>&-
    [ "$got" -eq 143 ] || problem "exit status $got, not 143"
    stderr_like 'interrupted: 2 of 3 files done; .*'
    only first gray16.pnm in.pnm
    run 0 unshare --pid --fork --kill-child --mount-proc "$GPUFILTER" --device=cpu --sandbox="$sandbox" -i in.png -o first/out.png
fi
