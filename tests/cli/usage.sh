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
mistake "unknown option '--qualty=9'; did you mean '--quality'?" -i in.ppm -o out.png --qualty=9
mistake "--quality=101 is outside 1..100" -i in.ppm -o out.png --quality=101
mistake "--device=gpu is none of auto, cpu, cuda, cuda:N; did you mean 'cuda'?" -i in.ppm -o out.png \
    --device=gpu
mistake "'in.png' is a file, where a chain was expected: quote the pattern, or give each file an -i" \
    -o out.png -i in.ppm in.png

mistake "unknown filter 'blurr'; did you mean 'blur'?" -i in.ppm -o out.png blurr
mistake "unknown filter 'wobble' (--list shows them)" -i in.ppm -o out.png wobble
mistake "blur: sigma=999 is outside 0.1..250" -i in.ppm -o out.png blur=999

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
