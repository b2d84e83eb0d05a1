# Bits of a sample: what each format gets by itself and by --depth, with a dither and without. gray16.pgm is 40x30.
bits_are()
{
    run 0 gpufilter --info=json "$1"
    grep -q "\"bits\": *$2[,}]" stdout || problem "$1 has not $2 bits: $(cat stdout)"
}

begin "an AVIF keeps the depth of its input; others do so by --depth=auto"
if gpufilter --version | grep -q '^formats:.*AVIF'; then
    for depth in 8 10 12; do
        run 0 gpufilter -i in.ppm -o first.avif --depth=$depth
        bits_are first.avif $depth
        run 0 gpufilter -i first.avif -o second.avif hflip
        bits_are second.avif $depth
        run 0 gpufilter -i first.avif -o second.ppm --depth=auto
        bits_are second.ppm $depth
    done
    run 0 gpufilter -i gray16.pgm -o deep.avif
    bits_are deep.avif 12
else
    lacking="there is no AVIF"
fi

begin "black and white stays at one bit by --depth=auto and --depth=1, in PNG and TIFF"
printf 'P4\n12 2\n\252\120\125\240' >bilevel.pbm
for file in a.png a.tif; do
    gpufilter --version | grep -q '^formats:.*TIFF' || [ $file = a.png ] || continue
    run 0 gpufilter -i bilevel.pbm -o $file
    bits_are $file 8
    run 0 gpufilter -i bilevel.pbm -o $file --depth=auto
    bits_are $file 1
    run 0 gpufilter -i $file -o again.pgm
    run 0 gpufilter -i bilevel.pbm -o whole.pgm
    same again.pgm whole.pgm
    run 0 gpufilter -i gray16.pgm -o $file --depth=1
    run 0 gpufilter -i $file -o half.pgm
    run 0 gpufilter -i gray16.pgm -o wanted.pgm --depth=8 threshold=0.5
    same half.pgm wanted.pgm
done

begin "thumbnails have 8 bits, unless --depth or --lossless says otherwise"
run 0 gpufilter -i gray16.pgm -o small.png thumbnail=20
bits_are small.png 8
run 0 gpufilter -i gray16.pgm -o small.png --depth=16 thumbnail=20
bits_are small.png 16
run 0 gpufilter -i gray16.pgm -o small.png --depth=auto thumbnail=20
bits_are small.png 16
run 0 gpufilter -i gray16.pgm -o small.png --lossless thumbnail=20
bits_are small.png 16
run 0 gpufilter -i gray16.pgm -o small.png resize=w=20
bits_are small.png 16
run 0 gpufilter -i gray16.pgm -o small.png thumbnail=20 -o large.png hflip
bits_are small.png 8
bits_are large.png 16

begin "a dither is that of posterize, with any number of threads, and leaves levels alone"
run 0 gpufilter -i gray16.pgm -o plain.pgm --depth=8
run 0 gpufilter -i gray16.pgm -o dithered.pgm --depth=8 --dither
run 0 gpufilter -i gray16.pgm -o wanted.pgm --depth=8 posterize=256:bayer8
same dithered.pgm wanted.pgm
! cmp -s plain.pgm dithered.pgm || problem "the dither changes nothing"
run 0 gpufilter -i gray16.pgm -o dithered.png --depth=1 --dither --threads=1 --band-rows=7
run 0 gpufilter -i dithered.png -o dithered.pgm
run 0 gpufilter -i gray16.pgm -o wanted.pgm --depth=8 posterize=2:bayer8
same dithered.pgm wanted.pgm
run 0 gpufilter -i plain.pgm -o again.pgm --depth=8 --dither
same again.pgm plain.pgm

begin "a depth that a format does not have is refused before anything is read"
run 2 gpufilter -i nothing.png -o out.png --depth=12
stderr_is "gpufilter: out.png: --depth=12: a sample of PNG has 1, 8 or 16 bits"
run 2 gpufilter -i in.png -o out.jpg --depth=16
stderr_is "gpufilter: out.jpg: --depth=16: a sample of JPEG has 8 bits"
absent out.png out.jpg

# hdr_png: RGB of 16 bits in PQ, MaxCLL 1000 and MaxFALL 100 cd/m2, mastered on a display of 4000.
hdr_png()
{
    gpufilter -i in.ppm -o deep.png --depth=16
    head -c 33 deep.png
    printf '\11\20\0\1' | png_chunk cICP
    printf '\212\110\071\010\041\064\233\252\031\226\010\374\075\023\100\102\002\142\132\000\000\000\000\062' | png_chunk mDCV
    printf '\000\230\226\200\000\017\102\100' | png_chunk cLLI
    tail -c +34 deep.png
}
# has CHUNK... of out.png; lacks CHUNK...
has()
{
    for chunk; do LC_ALL=C grep -qa "$chunk" out.png || problem "there is no $chunk"; done
}
lacks()
{
    for chunk; do ! LC_ALL=C grep -qa "$chunk" out.png || problem "there is $chunk"; done
}

begin "PNG keeps what is said of the light of HDR, until filters change it"
hdr_png >hdr.png
run 0 gpufilter -i hdr.png -o out.png
silent
has cICP mDCV cLLI
run 0 gpufilter -i hdr.png -o out.png crop=20:20,resize=w=10
has cICP mDCV cLLI
run 0 gpufilter -i hdr.png -o out.png brightness=0.2
has cICP mDCV
lacks cLLI
run 0 gpufilter -i hdr.png -o out.png tonemap
lacks cICP mDCV cLLI
run 0 gpufilter -i hdr.png -o said.ppm tonemap=find=said
run 0 gpufilter -i hdr.png -o given.ppm tonemap=peak=1000
run 0 gpufilter -i hdr.png -o measured.ppm tonemap
same said.ppm given.ppm
! cmp -s said.ppm measured.ppm || problem "the peak that is said changes nothing"
