# Help, lists, version and manual.
begin "--help is short and has 80 columns"
run 0 gpufilter --help
silent
stdout_has '^Usage: gpufilter -i FILE -o FILE'
stdout_has '--quality=N  *quality of lossy formats (1..100; default 90)'
[ "$(wc -l <stdout)" -le 200 ] || problem "--help has $(wc -l <stdout) lines"
[ "$(awk 'length > 80' stdout | wc -l)" -eq 0 ] || problem "a line of --help is too long"

for word in --completion --man GPUFILTER_OPTS; do stdout_has "$word"; done

begin "--help begins with tasks, whose commands are understood"
run 0 gpufilter --help
grep -A 3 '^Tasks' stdout | grep -q '^  gpufilter -i photos -o small thumbnail=200$' || problem "no task comes first"
mkdir photos
run 0 gpufilter -i in.ppm -o photo.jpg -o big.jpg -o logo.png -o a.png -o b.png -o in.png -o photos/c.jpg
mkdir bin
ln -s "$GPUFILTER" bin/gpufilter
printf '#!/bin/sh\ncat >/dev/null\n' >bin/next-tool
chmod +x bin/next-tool
gpufilter --help | sed -n '/^Tasks/,/^$/s/^  \([^#]*\)$/\1/p' >tasks
[ "$(wc -l <tasks)" -ge 8 ] || problem "there are $(wc -l <tasks) tasks"
while read -r task; do
    run 0 env PATH="$PWD/bin:$PATH" sh -c "$task" </dev/null
done <tasks

begin "--examples WORD prints the commands of the cookbook and of the filters that have the word"
run 0 gpufilter --examples gps
silent
stdout_has '^# Do not tell where a photograph was taken.$'
stdout_has '^gpufilter -i web.jpg -o anywhere.jpg --strip=gps$'
! grep -q thumbnail stdout || problem "a command without the word is printed"
run 0 gpufilter --examples GPS
stdout_has '--strip=gps$'
run 0 gpufilter --examples 'thumbnail folder'
stdout_has '^gpufilter -i samples/gallery -o thumbs thumbnail=120$'
! grep -q sharpen=0.5 stdout || problem "a command that lacks one of two words is printed"
run 0 gpufilter --examples flop
stdout_has "^gpufilter -i in.png -o out.png 'hflip'\$"
run 0 gpufilter --examples posterize
stdout_has '^gpufilter .*posterize=2:bayer8$'
stdout_has "^gpufilter -i in.png -o out.png 'posterize=.*'\$"

begin "--examples finds words, not parts of them, and has what people look for"
for word in gif heic url tiff dng phone rename progress raw gpu duplicate dedupe hash metrics subject portrait jpegtran author lossless; do
    run 0 gpufilter --examples "$word"
    grep -qi "^#.*$word" stdout || problem "no example is for $word"
    [ "$(grep -c '^[^#]' stdout)" -le 30 ] || problem "$word finds nearly all"
done
run 0 gpufilter --examples raw
! grep draw stdout || problem "raw finds draw"

begin "--examples without a word prints all, and a word of other programs is understood"
run 0 gpufilter --examples
commands=$(sed -n '/^```sh$/,/^```$/p' "$here/../samples/README.md" | grep -v '^```' | head -n 4)
[ "$(head -n 4 stdout)" = "$commands" ] || problem "it does not begin as the cookbook does"
[ "$(grep -c '^[^#]' stdout)" -ge 150 ] || problem "there are $(grep -c '^[^#]' stdout) commands"
run 0 gpufilter --examples watermark
stdout_has "^# No example has 'watermark'; these have 'overlay'\.\$"
stdout_has 'overlay=film.jpg:mode=multiply'
run 2 gpufilter --examples wobblewobble
stderr_is "gpufilter: --examples: no command has 'wobblewobble' (--list names the filters)"
[ ! -s stdout ] || problem "it prints: $(cat stdout)"
run 2 gpufilter --examples gps strip

begin "--help FILTER"
run 0 gpufilter --help blur
stdout_has '^blur: '
stdout_has '(0.1..250; default 1.5)'
stdout_has "-o out.png 'blur=1.5:border=edge'"
stdout_has '^Definition:$'
[ "$(grep -n '^Parameters' stdout | cut -d: -f1)" -lt "$(grep -n '^Example' stdout | cut -d: -f1)" ] ||
    problem "the example comes before the parameters"
run 0 gpufilter -h flop
stdout_has '^hflip: '
for option in duplicates:reports lossless:formats metrics:batches set:colours fps:formats; do
    for words in "--help ${option%:*}" "--help=${option%:*}" "--help --${option%:*}"; do
        # shellcheck disable=SC2086 # its words
        run 0 gpufilter $words
        silent
        stdout_has "^ .*--${option%:*}[=[ ]"
        stdout_has "^--help ${option#*:} says more"
    done
done
run 0 gpufilter --help hash
stdout_has '^ .*--info'
run 2 gpufilter --help blurr
stderr_is "gpufilter: unknown filter 'blurr'; did you mean 'blur'?"

begin "--help=study"
run 0 gpufilter --help=study hue
silent
run 0 gpufilter --help study
stdout_has '^COMPARISON$'
stdout_has "^Variants of a filter's CUDA kernels"
run 2 gpufilter --help=study blurr
stderr_is "gpufilter: unknown filter 'blurr'; did you mean 'blur'?"
run 2 gpufilter --help=study hue blur
stderr_is "gpufilter: two chains, 'hue' and 'blur': filters are joined by commas, files named by -i and -o"

begin "--list, as text and for the README"
run 0 gpufilter --list
silent
stdout_has '^vflip .*(alias flip)$'
stdout_has 'sigma=1.5 border=edge'
run 0 gpufilter --list=markdown
stdout_has '^| `blur` | '
[ "$(grep -c '^|' stdout)" -eq "$(wc -l <stdout)" ] || problem "the table has a broken row"

begin "--version, --devices"
run 0 gpufilter --version
stdout_has '^gpufilter [0-9]'
run 0 gpufilter --devices:measure
stdout_has 'measured: .*a copy in memory [0-9]'
run 2 gpufilter --devices=fast
run 0 gpufilter --devices
stdout_has '^cpu '
stdout_has '^cuda'
silent

begin "topics are explained as text of 80 columns; a filter or topic may come before --help"
gpufilter --help | sed -n '/^Topics:/,/^$/s/^  \([a-z]*\) .*/\1/p' >topics
[ "$(wc -l <topics)" -ge 9 ] || problem "there are $(wc -l <topics) topics"
while read -r topic; do
    run 0 gpufilter --help "$topic"
    silent
    stdout_has "^$topic: "
    ! grep -n '.\{81\}' stdout || problem "$topic: a line is too long"
    ! grep -n '\\\|(aq\|^\.[A-Z]' stdout || problem "$topic has markup"
done <topics
run 0 gpufilter --help resize
mv stdout resize
for words in 'resize --help' '-i in.png resize=w=3,blur -h'; do
    # shellcheck disable=SC2086 # its words
    run 0 gpufilter $words
    cmp -s stdout resize || problem "$words is not --help resize"
done
run 0 gpufilter batches --help
stdout_has '^batches: '
run 2 gpufilter rezise --help
stderr_is "gpufilter: unknown filter 'rezise'; did you mean 'resize'?"

begin "the manual has at most 10,000 words with all its topics, examples on its first screen, options of two lines"
run 0 gpufilter --man
mv stdout gpufilter.1
while read -r topic; do
    run 0 gpufilter --man="$topic"
    silent
    stdout_has "^.TH GPUFILTER-$topic 7"
    if command -v groff >/dev/null; then
        mv stdout page
        run 0 groff -man -Tascii -ww -z page
        silent
        mv page stdout
    fi
    cat stdout >>pages
done <topics
words=$(cat gpufilter.1 pages | wc -w)
[ "$words" -le 10000 ] || problem "the manual has $words words"
[ "$(wc -w <gpufilter.1)" -le 3000 ] || problem "gpufilter(1) has $(wc -w <gpufilter.1) words"
[ "$(grep -n '^.SH EXAMPLES' gpufilter.1 | cut -d: -f1)" -le 10 ] || problem "the examples come late"
gpufilter --help | awk '
    /^[^ ]/ { option = "" }
    /^  (-.,|   ) --/ { option = $0; lines = substr($0, 34, 1) == " " && substr($0, 35, 1) != "" }
    option && substr($0, 1, 34) ~ /^ *$/ && length($0) > 34 && ++lines == 3 { print option }' >long
[ ! -s long ] || problem "options with more than two lines: $(cat long)"
run 2 gpufilter --man=wobble
stderr_is "gpufilter: --man: 'wobble' is no topic (--man lists them)"

begin "the manual says what converts colours"
run 0 gpufilter --man=colours
tr '\n' ' ' <stdout | grep -q 'ICC profile is copied, unless .fBicc.fR, .fBthumbnail.fR or .fB.-.-to.-icc.fR converts' ||
    problem "it does not"

begin "the manual is clean roff"
run 0 gpufilter --man
silent
stdout_has '^\.TH GPUFILTER 1'
if command -v groff >/dev/null; then
    mv stdout gpufilter.1
    run 0 groff -man -Tascii -ww -z gpufilter.1
    silent
fi

begin "standard output that cannot be written is an error"
if [ -e /dev/full ]; then
    gpufilter --help >/dev/full 2>stderr
    [ $? -eq 75 ] || problem "full: exit status is not 75"
    stderr_is "gpufilter: standard output: No space left on device"
fi
gpufilter --help >&- 2>stderr
[ $? -eq 75 ] || problem "closed: exit status is not 75"
stderr_is "gpufilter: standard output: Bad file descriptor"
