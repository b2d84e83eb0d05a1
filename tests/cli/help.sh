# Help, lists, version and manual.
begin "--help is short and has 80 columns"
run 0 gpufilter --help
silent
stdout_has '^Usage: gpufilter -i FILE -o FILE'
stdout_has '--quality=N  *quality of lossy formats (1..100; default 90)'
[ "$(wc -l <stdout)" -le 220 ] || problem "--help has $(wc -l <stdout) lines"
[ "$(awk 'length > 80' stdout | wc -l)" -eq 0 ] || problem "a line of --help is too long"

for word in --completion --man GPUFILTER_OPTS; do stdout_has "$word"; done

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
run 2 gpufilter --help blurr
stderr_is "gpufilter: unknown filter 'blurr'; did you mean 'blur'?"

begin "--help=study"
run 0 gpufilter --help=study hue
silent
run 0 gpufilter --help study
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

begin "the manual says what converts colours"
run 0 gpufilter --man
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
