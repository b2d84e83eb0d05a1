# Every mistake in the command line gives one line on stderr and exit status 2, and leaves no output.
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
mistake "-o FILE is missing: the picture to write" -i in.ppm
mistake "unknown option '--qualty=9'; did you mean '--quality'?" -i in.ppm -o out.png --qualty=9
mistake "--quality=101 is outside 1..100" -i in.ppm -o out.png --quality=101
mistake "--png-level=10 is outside 0..9" -i in.ppm -o out.png --png-level 10
mistake "--lanes=x is not a number" -i in.ppm -o out.png --lanes=x
mistake "--memory=1 is outside 1M..1T" -i in.ppm -o out.png --memory=1
mistake "--format=bmp is none of png, jpeg, pnm, pam, webp, tiff, avif, jxl" -i in.ppm -o out.png --format=bmp
mistake "--device=gpu is none of auto, cpu, cuda, cuda:N; did you mean 'cuda'?" -i in.ppm -o out.png \
    --device=gpu
mistake "--strip takes no value" -i in.ppm -o out.png --strip=1
mistake "--output needs a value: --output=FILE" -i in.ppm -o
mistake "two chains, 'blur' and 'sobel': filters are joined by commas, files named by -i and -o" \
    -i in.ppm -o out.png blur sobel

mistake "'in.png' is a file, where a chain was expected: quote the pattern, or give each file an -i" \
    -o out.png -i in.ppm in.png

mistake "unknown filter 'blurr'; did you mean 'blur'?" -i in.ppm -o out.png blurr
mistake "unknown filter 'equalise'; did you mean 'equalize'?" -i in.ppm -o out.png blur,equalise
mistake "unknown filter 'wobble' (--list shows them)" -i in.ppm -o out.png wobble
mistake "blur: unknown parameter 'sgima'; did you mean 'sigma'?" -i in.ppm -o out.png blur=sgima=2
mistake "blur: sigma=999 is outside 0.1..250" -i in.ppm -o out.png blur=999
mistake "blur: border=mirror is none of edge, reflect, wrap, constant" -i in.ppm -o out.png \
    blur=2:border=mirror
mistake "blur: sigma=two is not a number" -i in.ppm -o out.png blur=two
mistake "the chain ends with ','" -i in.ppm -o out.png blur,

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
