# A mistake in the command line gives one line on stderr and exit status 2, and leaves no output. All their texts are in
# tests/program/test_cli.c and tests/chain/test_chain.c.
mistake()
{
    message=$1
    shift
    begin "$message"
    run 2 gpufilter "$@"
    stderr_is "gpufilter: $message"
    [ ! -s stdout ] || problem "stdout is not empty"
    absent out.png
}

mistake "-i FILE is missing: the picture to read (--help explains)"
mistake "unknown option '--qualty=9'; did you mean '--quality=9'?" -i in.ppm -o out.png --qualty=9
mistake "--quality=101 is outside 1..100" -i in.ppm -o out.png --quality=101
mistake "--device=gpu is none of auto, cpu, cuda, cuda:N; did you mean 'cuda'?" -i in.ppm -o out.png \
    --device=gpu
mistake "'in.png' is a file, where a chain was expected: quote the pattern, or give each file an -i, as -i in.png" \
    -o out.png -i in.ppm in.png

mistake "unknown filter 'blurr'; did you mean 'blur'?" -i in.ppm -o out.png blurr
mistake "unknown filter 'wobble' (--list shows them)" -i in.ppm -o out.png wobble
mistake "blur: sigma=999 is outside 0.1..250 (standard deviation, in pixels)" -i in.ppm -o out.png blur=999

begin "an output whose extension says nothing"
run 2 gpufilter -i in.ppm -o out.xyz
stderr_like "out.xyz: "
absent out.xyz

begin "the order of options and chain does not matter"
run 0 gpufilter blur=2 --lanes 2 -o out.png -i in.ppm
silent
run 0 gpufilter --input=in.ppm --output=out2.png -- blur=2
same out.png out2.png

begin "--selftest takes names of filters"
run 2 gpufilter --selftest=small blur,blurr
stderr_like "unknown filter 'blurr'.*"
run 0 gpufilter --selftest=small flop,invert
stdout_has '^cpu  *invert'
grep -q '^cpu  *blur' stdout && problem "it tests what was not named"

# Names that no try can open are mistakes of the arguments, or bad inputs; what is missing may come.
begin "a name that cannot be is no matter of another try"
long=$(printf '%0300d' 0).png
: >file
while read -r wanted arguments; do
    # shellcheck disable=SC2086 # several words
    run "$wanted" gpufilter -q $arguments
    grep -q '^gpufilter: ' stderr || problem "$arguments: nothing is said"
done <<END_OF_NAMES
4 -i file/x.png -o o.png
4 -i $long -o o.png
4 -i . -i file/x.png -o o/
75 -i missing.png -o o.png
2 -i https://a.b/c.png -o o.png
2 -i in.png -o https://a.b/c.png
2 -i in.png -o $long
2 -i in.png -o file/o.png
2 -i in.png -o file/o/
2 -i in.png -o file/{stem}.png
4 -i in.png -i in.ppm -o o/{stem}-{ext}$long
2 -i in.png -o o.png blur=2:region=10:20:30:40
75 -i in.png -o o.png blur=2:region=missing.png
2 -i in.png -o o.png overlay=file/x.png
75 -i in.png -o o.png overlay=missing.png
2 -i in.png -o o.png lut=file/x.cube
2 -i in.png -o o.png --chain-file=file/x
75 -i in.png -o o.png --chain-file=missing
2 -i @file/x -o o/
75 -i @missing -o o/
2 -i in.png -o o.png --log=file/x
2 -i in.png -o o.png --metrics=file/x
END_OF_NAMES
absent o.png https:
