# Where JPEGs are decoded and encoded.

# far_apart A B: by over 2 levels on average, or over 64 anywhere. cmp counts bytes in octal.
far_apart()
{
    cmp -l "$1" "$2" | awk -v bytes="$(wc -c <"$1")" '
        function octal(text,  i, value) { for (i = 1; i <= length(text); i++) value = value * 8 + substr(text, i, 1); return value }
        { d = octal($2) - octal($3); d = d < 0 ? -d : d; sum += d; if (d > most) most = d }
        END { exit !(sum > 2 * bytes || most > 64) }'
}

begin "what counts as far apart"
run 0 gpufilter --device=cpu -i in.png -o plain.ppm
run 0 gpufilter --device=cpu -i in.png -o inverted.ppm invert
far_apart plain.ppm inverted.ppm || problem "a negative is"
far_apart plain.ppm plain.ppm && problem "the same picture is not"

begin "--codec=cpu is what there is without a GPU"
run 0 gpufilter --codec=cpu --device=cpu -i in.png -o a.jpg blur
run 0 gpufilter --device=cpu -i in.png -o b.jpg blur
same a.jpg b.jpg

begin "--codec=gpu on the CPU is not there"
run 3 gpufilter --codec=gpu --device=cpu -i in.png -o out.jpg blur
stderr_like '.*codec.*'
absent out.jpg

begin "--codec=none is a mistake"
run 2 gpufilter --codec=none -i in.png -o out.jpg blur
absent out.jpg

begin "a GPU's codec: within a few levels of the CPU's"
run 0 gpufilter --device=cpu -i in.png -o photo.jpg --quality=95
gpufilter --quiet --codec=gpu -i photo.jpg -o gpu.jpg blur 2>stderr
case $? in
0)
    run 0 gpufilter --codec=cpu -i photo.jpg -o cpu.jpg blur
    run 0 gpufilter -i gpu.jpg -o gpu.ppm
    run 0 gpufilter -i cpu.jpg -o cpu.ppm
    [ "$(wc -c <gpu.ppm)" -eq "$(wc -c <cpu.ppm)" ] || problem "the pictures differ in size"
    far_apart gpu.ppm cpu.ppm && problem "the pictures differ by more than codecs do"
    ;;
3) skip "no GPU, or no nvJPEG" ;;
*) problem "it failed" ;;
esac
