# Streams of several pictures, FIFOs, and options from the environment and from files.
gpufilter -i in.ppm -o a.ppm
gpufilter -i gray16.pgm -o b.pgm
gpufilter -i in.ppm -o c.pam
gpufilter -i a.ppm -o a1.ppm blur
gpufilter -i b.pgm -o b1.pgm blur
gpufilter -i c.pam -o c1.pam blur
cat a.ppm b.pgm c.pam in.ppm gray16.pgm >stream

begin "a stream of pictures, one after another to standard output"
cat stream | gpufilter -i - -o - --format=pnm blur >out 2>stderr || problem "$(cat stderr)"
silent
gpufilter -i c.pam -o c1.ppm blur
cat a1.ppm b1.pgm c1.ppm a1.ppm b1.pgm >wanted
same out wanted
gpufilter -i - -o - blur <stream >out 2>stderr || problem "$(cat stderr)"
[ "$(head -c 2 out)" = P6 ] || problem "the format is not the first picture's"
gpufilter -i stream -o - --format=pnm blur >out
same out wanted

begin "in each format its own"
cat a.ppm c.pam | gpufilter -i - -o - blur >out
cat a1.ppm c1.pam >wanted
same out wanted

begin "numbered by a template, also of different sizes"
mkdir numbered
cat stream | gpufilter -i - -o 'numbered/{n:2}-{w}x{h}.{ext}' blur 2>stderr || problem "$(cat stderr)"
only numbered 01-77x55.pnm 02-40x30.pnm 03-77x55.pam 04-77x55.pnm 05-40x30.pnm
same numbered/02-40x30.pnm b1.pgm
same numbered/03-77x55.pam c1.pam

begin "one name for several pictures gets the first, with a warning"
for input in - stream; do
    cat stream | run 0 gpufilter -i $input -o one.ppm blur
    stderr_like "warning: .*: another picture follows picture 1: left out (to have it: number the outputs by {n}"
    same one.ppm a1.ppm
done
run 0 gpufilter -i a.ppm -o one.ppm blur
{ cat a.ppm && echo 'no picture'; } >tail.ppm
run 0 gpufilter -i tail.ppm -o one.ppm blur
same one.ppm a1.ppm

begin "a stream that breaks off: what came before it is there"
head -c $(($(wc -c <a.ppm) + 100)) stream | gpufilter -i - -o - --format=pnm blur >out 2>stderr
[ $? -eq 4 ] || problem "it was accepted"
stderr_like 'stdin: truncated'
same out a1.ppm
head -c $(($(wc -c <a.ppm) + 100)) stream | gpufilter -i - -o 'part{n}.ppm' blur 2>stderr
same part1.ppm a1.ppm
absent part2.ppm

begin "a live stream: each picture is out before the next one comes"
mkfifo live
gpufilter -i live -o 'live{n}.ppm' blur 2>stderr &
job=$!
exec 9>live
cat a.ppm >&9
until_true 10 [ -e live1.ppm ]
same live1.ppm a1.ppm
cat a.ppm >&9
exec 9>&-
wait $job || problem "$(cat stderr)"
same live2.ppm a1.ppm

begin "a FIFO among files"
mkfifo fifo.ppm
timeout 60 sh -c 'cat a.ppm >fifo.ppm' &
run 0 gpufilter -i fifo.ppm -i b.pgm -o fifo_out --format=pnm blur
wait
same fifo_out/fifo.pnm a1.ppm
run 2 gpufilter -i fifo.ppm -i b.pgm -o 'fifo_out/{stem}{w}.ppm'
stderr_like 'fifo.ppm: a stream among other inputs needs'

begin "several inputs to standard output, in order"
gpufilter -i a.ppm -i b.pgm -i c.pam -o - --format=pnm blur >out 2>stderr || problem "$(cat stderr)"
cat a1.ppm b1.pgm c1.ppm >wanted
same out wanted

begin "what follows a picture and is none is told of"
{ cat a.ppm && echo junk && cat a.ppm; } >followed
run 0 gpufilter -i - -o left.ppm <followed
stderr_like 'warning: stdin: what follows picture 1 is no picture: left out'
same left.ppm a.ppm

begin "JPEG and PNG: each picture of a stream"
for kind in jpg png; do
    gpufilter -i a.ppm -o a.$kind
    gpufilter -i b.pgm -o b.$kind
    gpufilter -i a.$kind -o one.ppm
    gpufilter -i b.$kind -o two.pgm
    { cat a.$kind && head -c 3 /dev/zero && cat b.$kind; } >both.$kind
    rm -f each*
    cat both.$kind | gpufilter -i - -o 'each{n}.pnm' 2>stderr || problem "$(cat stderr)"
    silent
    same each1.pnm one.ppm
    same each2.pnm two.pgm
    cat one.ppm two.pgm >wanted
    for input in - both.$kind; do
        gpufilter -i $input -o - --format=pnm <both.$kind >out 2>stderr || problem "$(cat stderr)"
        same out wanted
    done
    cat both.$kind | run 0 gpufilter -i - -o one.out.ppm
    stderr_like 'warning: stdin: another picture follows picture 1: left out'
    same one.out.ppm one.ppm
    run 0 gpufilter -i both.$kind -o first.ppm
    stderr_like "warning: both.$kind: another [JPN]*E*G follows picture 1: left out (to have it: number"
    same first.ppm one.ppm
    run 0 gpufilter -i both.$kind -o first.ppm -o small.ppm thumbnail=20
    grep -q "warning: both.$kind: another" stderr || problem "$(cat stderr)"
    same first.ppm one.ppm
done

begin "bytes behind a JPEG in a file are its maker's, in a stream they are told of"
{ cat a.jpg && echo SEFT; } >maker.jpg
run 0 gpufilter -i maker.jpg -o first.ppm
silent
cat maker.jpg b.jpg | gpufilter -i - -o first.ppm 2>stderr || problem "$(cat stderr)"
stderr_like 'warning: stdin: what follows picture 1 is no picture: left out'
{ cat a.jpg && cat b.png; } >mixed.jpg
run 0 gpufilter -i mixed.jpg -o first.ppm
stderr_like 'warning: mixed.jpg: what follows picture 1 is no JPEG: left out'

begin "pictures of several formats in a stream: each is read, or the stream fails"
cat a.jpg b.png a.ppm >mixed
cat mixed | gpufilter -i - -o 'mixed{n}.ppm' 2>stderr || problem "$(cat stderr)"
silent
gpufilter -i a.jpg -o one.ppm
gpufilter -i b.png -o two.ppm
same mixed1.ppm one.ppm
same mixed2.ppm two.ppm
same mixed3.ppm a.ppm
cat mixed | gpufilter -i - -o - --format=pnm >out 2>stderr || problem "$(cat stderr)"
cat one.ppm two.ppm a.ppm >wanted
same out wanted
cat mixed | run 0 gpufilter -i - -o only.ppm
stderr_like 'warning: stdin: another picture follows picture 1: left out'
same only.ppm one.ppm
printf '%%PDF-1.7 and pages' | cat a.jpg - | gpufilter -q -i - -o 'pdf{n}.ppm' 2>stderr
[ $? -eq 4 ] || problem "a PDF was left out"
stderr_like 'stdin: is PDF, which is not read'
same pdf1.ppm one.ppm

begin "a live stream of JPEG: each picture is out before the next one comes"
gpufilter -i live -o 'livej{n}.ppm' 2>stderr &
job=$!
exec 9>live
cat a.jpg >&9
until_true 10 [ -e livej1.ppm ]
gpufilter -i a.jpg -o one.ppm
same livej1.ppm one.ppm
cat b.jpg >&9
exec 9>&-
wait $job || problem "$(cat stderr)"
[ -e livej2.ppm ] || problem "the second picture is missing"

begin "who reads no further is no error"
if ! command -v bash >/dev/null; then
    skip "no bash here"
else
    for each in $(seq 60); do cat a.ppm; done >long
    run 0 bash -c '"$GPUFILTER" -i long -o - invert 2>messages | head -c 100 >/dev/null; echo "${PIPESTATUS[0]}"'
    [ "$(cat stdout)" = 141 ] || problem "exit status $(cat stdout)"
    [ ! -s messages ] || problem "it complained: $(cat messages)"
fi

begin "options follow operands, -- ends them"
run 0 gpufilter blur -i a.ppm -o x.ppm
same x.ppm a1.ppm
cp a.ppm ./-i.ppm
run 0 gpufilter -i ./-i.ppm -o x.ppm -- blur
same x.ppm a1.ppm
run 2 gpufilter -i a.ppm -o x.ppm -- --quality=3
stderr_like "unknown filter '--quality'"

begin "GPUFILTER_OPTS: before the command line's, quoted as in a shell"
GPUFILTER_OPTS='--quality=5' gpufilter -i a.ppm -o q5.jpg
gpufilter -i a.ppm -o q5b.jpg --quality=5
same q5.jpg q5b.jpg
GPUFILTER_OPTS='--quality=5' gpufilter -i a.ppm -o q90.jpg --quality=90
gpufilter -i a.ppm -o q90b.jpg
same q90.jpg q90b.jpg
GPUFILTER_OPTS=" --log 'my log'  -q " gpufilter -i a.ppm -o q5.jpg
[ -s 'my log' ] || problem "the quoted name was not taken"
GPUFILTER_OPTS='--log=unused' gpufilter -i a.ppm -o q5.jpg --log=used
[ -s used ] && [ ! -e unused ] || problem "the environment was not overridden"
export GPUFILTER_OPTS='blur'
run 2 gpufilter -i a.ppm -o x.ppm
stderr_is "gpufilter: GPUFILTER_OPTS: 'blur' is no option"
export GPUFILTER_OPTS='--qualty=5'
run 2 gpufilter -i a.ppm -o x.ppm
stderr_like "GPUFILTER_OPTS: unknown option '--qualty=5'"
export GPUFILTER_OPTS="--log='x"
run 2 gpufilter -i a.ppm -o x.ppm
stderr_like "GPUFILTER_OPTS: a quote is not closed"
unset GPUFILTER_OPTS

begin "--chain-file"
cat >chain <<'END'
# softer,
blur = 2   # spaces are not taken
END
printf '# sharpens what is large\n\nblur=2,\n  equalize   # then levels\r\ninvert,gamma=1.5\n' >chain
run 0 gpufilter -i a.ppm -o x.ppm --chain-file=chain
run 0 gpufilter -i a.ppm -o y.ppm blur=2,equalize,invert,gamma=1.5
same x.ppm y.ppm
if gpufilter --version | grep -q '^text: FreeType'; then
    echo "text=it's # o'clock" >apostrophes
    run 0 gpufilter -i a.ppm -o file.ppm --chain-file=apostrophes
    run 0 gpufilter -i a.ppm -o option.ppm "text=it's"
    same file.ppm option.ppm
fi
run 0 gpufilter -i a.ppm -o x.ppm --chain-file=- <chain
same x.ppm y.ppm
run 2 gpufilter -i a.ppm -o x.ppm --chain-file=chain blur
stderr_like "two chains: 'blur', and --chain-file"
printf '\357\273\277' | cat - chain >marked
run 0 gpufilter -i a.ppm -o x.ppm --chain-file=marked
same x.ppm y.ppm
printf '\377\376b\0l\0u\0r\0' >wide
run 2 gpufilter -i a.ppm -o x.ppm --chain-file=wide
stderr_is "gpufilter: wide: it is UTF-16; only UTF-8 is read"
echo '# nothing' >nothing
run 2 gpufilter -i a.ppm -o x.ppm --chain-file=nothing
stderr_like 'nothing: holds no filter'
run 75 gpufilter -i a.ppm -o x.ppm --chain-file=missing
stderr_like 'missing: No such file or directory'
run 2 gpufilter -i a.ppm -o x.ppm --chain-file=.
stderr_like '.: Is a directory'
echo 'blur,,invert' >wrong
run 2 gpufilter -i a.ppm -o x.ppm --chain-file=wrong
stderr_like "wrong: a filter's name is missing"
printf 'blur\0' >wrong
run 2 gpufilter -i a.ppm -o x.ppm --chain-file=wrong
stderr_like 'wrong: holds NUL bytes'
run 2 gpufilter -i a.ppm -o x.ppm --chain-file=/dev/zero
stderr_like '/dev/zero: more than 1 MB'
