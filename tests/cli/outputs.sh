# Outputs that cannot be written, and files that must survive: outputs are complete or absent.
mkdir out

begin "a folder that is not there is made, as for a batch, but not for a picture that fails"
run 0 gpufilter -i in.ppm -o out/new/folder/x.png
[ -f out/new/folder/x.png ] || problem "there is no x.png"
rm -r out/new
run 75 gpufilter -i missing.ppm -o out/new/x.png
run 2 gpufilter -i in.ppm -o in.png/x.png
stderr_like 'in.png.*: Not a directory'
only out ''

begin "a folder that cannot be written"
if [ "$(id -u)" -eq 0 ]; then
    skip "root may write anywhere"
else
    mkdir locked && chmod 500 locked
    run 75 gpufilter -i in.ppm -o locked/x.png
    stderr_like 'locked/x.png: Permission denied'
fi

begin "a full disk"
if [ -e /dev/full ]; then
    run 75 gpufilter -i in.ppm -o /dev/full --format=png
    stderr_like '/dev/full: No space left on device'
    gpufilter -i in.ppm -o - --format=png >/dev/full 2>stderr
    [ $? -eq 75 ] || problem "full standard output: exit status is not 75"
    stderr_like 'stdout: No space left on device'
fi

begin "a file over the limit of its size"
printf old >out/x.ppm
(
    ulimit -f 4
    run 75 gpufilter -i in.ppm -o out/x.ppm
    stderr_like 'out/x.ppm: File too large'
    [ -z "$problems" ] || printf '%s\n' "$problems" >complaints
)
[ ! -e complaints ] || problem "$(cat complaints)"
[ "$(cat out/x.ppm)" = old ] || problem "the old file is gone"
only out x.ppm

begin "a failing input leaves an existing output as it was"
run 75 gpufilter -i missing.png -o out/x.ppm
head -c 5000 in.ppm >cut.ppm
run 4 gpufilter -i cut.ppm -o out/x.ppm vflip
[ "$(cat out/x.ppm)" = old ] || problem "the old file is gone"
only out x.ppm

begin "the same file for input and output"
gpufilter -i in.ppm -o expected.ppm vflip
cp in.ppm both.ppm
run 0 gpufilter -i both.ppm -o both.ppm vflip
silent
same both.ppm expected.ppm

begin "permissions are kept, links are followed"
cp in.ppm mode.ppm
chmod 640 mode.ppm
ln -s mode.ppm link.ppm
run 0 gpufilter -i in.ppm -o link.ppm vflip
[ -L link.ppm ] || problem "the link became a file"
same mode.ppm expected.ppm
[ "$(ls -l mode.ppm | cut -c 1-10)" = -rw-r----- ] || problem "the mode changed"

begin "--keep-times: the times of the input, as of cp -p, also of a film, and --update knows what is done"
mkdir timed
gpufilter -q -i in.ppm -o timed/a.y4m
cp in.ppm timed/a.ppm
touch -d '2020-02-02 02:02:02.5 UTC' timed/*
touch -a -d '2021-03-03 UTC' timed/*
for extension in ppm y4m; do
    run 0 gpufilter -q --device=cpu -i timed/a.$extension -o out/timed.$extension --keep-times --sync invert
    [ "$(stat -c '%x %y' out/timed.$extension)" = "$(touch -d '2020-02-02 02:02:02.5 UTC' at && touch -a -d '2021-03-03 UTC' at && stat -c '%x %y' at)" ] ||
        problem "$extension: $(stat -c '%x %y' out/timed.$extension)"
done
run 0 gpufilter -q -i timed/a.y4m -o 'out/timed-{n}.png' --keep-times
[ "$(stat -c %y out/timed-1.png)" = "$(stat -c %y timed/a.ppm)" ] || problem "a frame: $(stat -c %y out/timed-1.png)"
run 0 gpufilter -q -i timed/a.ppm -o out/timed.ppm invert
[ "$(stat -c %Y out/timed.ppm)" -gt 1600000000 ] || problem "without the option: $(stat -c %y out/timed.ppm)"
run 0 gpufilter -q -i timed/a.ppm -o out/timed.ppm --keep-times
run 0 gpufilter -q -i timed/a.ppm -o out/timed.ppm --keep-times --update invert
run 0 gpufilter -q -i timed/a.ppm -o out/again.ppm
same out/timed.ppm out/again.ppm
rm out/again.ppm out/timed*
run 0 gpufilter -i timed/a.ppm -o /dev/null --format=png --keep-times
cat timed/a.ppm | gpufilter -i - -o out/piped.ppm --keep-times || problem "a pipe, which has no times, fails"
rm out/piped.ppm
run 2 gpufilter -i timed/a.ppm -i in.ppm -o out/x.ppm --join=across --keep-times
stderr_is 'gpufilter: --join makes one picture of several: without --keep-times'
run 2 gpufilter -i timed/a.ppm -o out/x.ppm --keep-times --store='cp {file} {out}'
stderr_is 'gpufilter: --keep-times cannot set the times of what --store puts elsewhere'

begin "/dev/null and a FIFO"
run 0 gpufilter -i in.ppm -o /dev/null --format=png
[ -c /dev/null ] || problem "/dev/null was replaced"
mkfifo fifo
timeout 60 cat fifo >from_fifo.ppm &
run 0 gpufilter -i in.ppm -o fifo --format=pnm vflip
wait $!
same from_fifo.ppm expected.ppm

begin "a pipe that nobody reads"
gpufilter -i in.ppm -o - --format=pnm 2>stderr | true
{ gpufilter -i in.ppm -o - --format=pnm 2>stderr; echo $? >status; } | { exec <&-; sleep 0.2; }
# A pipe may accept such a small picture before its reader ends.
if [ "$(cat status)" -ne 0 ]; then
    [ "$(cat status)" -eq 141 ] || problem "exit status $(cat status)"
    silent
fi
(trap '' PIPE && { gpufilter -i in.ppm -o - --format=pnm 2>stderr; echo $? >status; } | { exec <&-; sleep 0.2; })
if [ "$(cat status)" -ne 0 ]; then
    [ "$(cat status)" -eq 75 ] || problem "SIGPIPE ignored: exit status $(cat status)"
    stderr_like 'stdout: Broken pipe'
fi

begin "closed standard streams"
gpufilter -i in.ppm -o - --format=pnm >&- 2>stderr
[ $? -eq 75 ] || problem "closed stdout: exit status is not 75"
stderr_like 'stdout: '
gpufilter -i - -o out/y.ppm <&- 2>stderr
[ $? -eq 75 ] || problem "closed stdin: exit status is not 75"
stderr_like 'stdin: '
absent out/y.ppm
gpufilter -i missing.png -o out/y.ppm 2>&-
[ $? -eq 75 ] || problem "closed stderr: exit status is not 75"
gpufilter -i in.ppm -o out/y.ppm vflip <&- >&- 2>&- || problem "all closed: it failed"
same out/y.ppm expected.ppm
