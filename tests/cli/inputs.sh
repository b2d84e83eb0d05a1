# An input that cannot be read gives one line that names it and the exit status of its kind, and leaves no output.
mkdir out

# refused STATUS LIKE ARGUMENT...
refused()
{
    status=$1 like=$2
    shift 2
    run "$status" gpufilter "$@" -o out/x.png blur
    stderr_like "$like"
    only out ''
}

begin "missing, empty, a folder, unreadable"
refused 75 'missing.png: No such file or directory' -i missing.png
: >empty.png
refused 4 'empty.png: ' -i empty.png
refused 4 'out: ' -i out
gpufilter -i - -o out/x.png </dev/null 2>stderr
[ $? -eq 4 ] || problem "an empty pipe is accepted"
stderr_like 'stdin: '
only out ''
if [ "$(id -u)" -ne 0 ]; then
    cp in.png secret.png
    chmod 0 secret.png
    refused 75 'secret.png: Permission denied' -i secret.png
fi

begin "no picture at all"
echo 'hello, this is a text' >text.png
refused 4 'text.png: ' -i text.png
printf 'P9\n1 1\n' >p9.ppm
refused 4 'p9.ppm: ' -i p9.ppm

begin "truncated PNG, JPEG, PNM"
for file in in.png in.jpg in.ppm; do
    for part in 3 50 90; do
        head -c $(($(wc -c <$file) * part / 100)) $file >cut.dat
        refused 4 'cut.dat: ' -i cut.dat
    done
done

begin "--allow-truncated keeps what there is"
head -c $(($(wc -c <in.jpg) * 80 / 100)) in.jpg >cut.jpg
run 0 gpufilter -i cut.jpg -o kept.ppm --allow-truncated
stderr_like 'warning: cut.jpg: '
[ "$(head -n 2 kept.ppm | tail -n 1)" = '77 55' ] || problem "kept.ppm is not whole"
run 0 gpufilter -i cut.jpg -o kept.ppm --allow-truncated --quiet
silent

begin "a damaged PNG"
size=$(wc -c <in.png)
{ head -c $((size / 2)) in.png && printf 'XXXX' && tail -c +$((size / 2 + 5)) in.png; } >damaged.png
refused 4 'damaged.png: ' -i damaged.png

begin "a header of 30000x30000 on a tiny file"
{ png_header 30000 30000 && printf '\170\234\003\000\000\000\000\001' | png_chunk IDAT &&
    printf '' | png_chunk IEND; } >huge.png
refused 4 'huge.png: ' -i huge.png
printf 'P5\n30000 30000\n255\nabc' >huge.pgm
refused 4 'huge.pgm: ' -i huge.pgm
if has_time; then
    /usr/bin/time -f %M -o peak "$GPUFILTER" --device=cpu -i huge.pgm -o out/x.png vflip 2>/dev/null
    peak=$(tail -n 1 peak)
    [ "$peak" -lt 400000 ] || problem "a header alone took $peak kB"
fi

begin "--max-pixels"
refused 4 'in.png: 77x55 is 4235 pixels, over --max-pixels=4234' -i in.png --max-pixels=4234
run 0 gpufilter -i in.png -o exact.png --max-pixels=4235
printf 'P5\n40000 40000\n255\nabc' >giga.pgm
refused 4 'giga.pgm: .*40000x40000' -i giga.pgm

begin "dimensions of zero, of nonsense"
printf 'P5\n0 10\n255\n' >zero.pgm
refused 4 'zero.pgm: ' -i zero.pgm
printf 'P5\n99999999999999999999 10\n255\n' >far.pgm
refused 4 'far.pgm: ' -i far.pgm
printf 'P5\n-3 10\n255\n' >minus.pgm
refused 4 'minus.pgm: ' -i minus.pgm

begin "a text chunk that unpacks to 256 MB"
{
    png_header 1 1
    # A zlib stream of zeros: deflate out of gzip, and the checksum 1 + n * 65536 with n = 2^28 mod 65521.
    n=$((268435456 % 65521))
    { printf 'Comment\000\000\170\234' && head -c 268435456 /dev/zero | gzip -1nc | tail -c +11 | head -c -8 &&
        be32 $((n << 16 | 1)); } | png_chunk zTXt
    printf '\170\234\143\140\000\000\000\002\000\001' | png_chunk IDAT
    printf '' | png_chunk IEND
} >bomb.png
run 0 gpufilter -i bomb.png -o bomb.ppm
if has_time; then
    /usr/bin/time -f %M -o peak "$GPUFILTER" -i bomb.png -o bomb.ppm 2>/dev/null
    peak=$(tail -n 1 peak)
    [ "$peak" -lt 200000 ] || problem "the chunk took $peak kB"
fi

begin "a name with a line break is still one line"
refused 75 'two?lines.png: No such file or directory' -i 'two
lines.png'

# foreign NAME FORMAT BYTES: the error names the format.
foreign()
{
    printf "$3" >"$1"
    refused 4 "$1: is $2, which is not read" -i "$1"
}

begin "formats that are not read are named"
foreign a.jxr 'JPEG XR' 'II\274\001'
foreign a.pdf PDF '%%PDF-1.7'
foreign a.svg SVG '<?xml version="1.0"?><svg></svg>'
foreign misnamed.png DDS 'DDS '

begin "PDF and SVG are answered by the command to pipe from"
# piped FILE FORMAT COMMAND BYTES
piped()
{
    printf "$4" >"$1"
    refused 4 "$1: is $2, which is not read; pipe it: $3 $1 | gpufilter -i - \.\.\.\$" -i "$1"
}
piped b.pdf PDF 'pdftoppm -png -r 150' '%%PDF-1.7'
piped late.pdf PDF 'pdftoppm -png -r 150' 'bytes before %%PDF-1.7'
piped b.svg SVG rsvg-convert '\357\273\277\n <!-- a drawing --><svg></svg>'
piped c.svgz SVG rsvg-convert '\037\213 and so on'
printf '%%PDF-1.7' >'two words.pdf'
refused 4 'two words.pdf: is PDF, which is not read; pipe it: pdftoppm -png -r 150 FILE | gpufilter' -i 'two words.pdf'
printf '%%PDF-1.7' | run 4 gpufilter -i - -o x.png
stderr_like 'stdin: is PDF, which is not read; pipe it: pdftoppm -png -r 150 FILE | gpufilter'

begin "a URL is answered by a pipe, and by --fetch"
run 2 gpufilter -i https://example.org/a.png -o no.png
stderr_is 'gpufilter: https://example.org/a.png: is a URL, which --fetch=COMMAND reads, or a pipe: curl -sL URL | gpufilter -i - -o out.png'
run 2 gpufilter -i s3://bucket/a.png -o no.png
stderr_is 'gpufilter: s3://bucket/a.png: is a URL, which --fetch=COMMAND reads'
absent no.png
