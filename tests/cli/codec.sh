# --codec: JPEGs decoded and encoded on the CPU or the GPU.

# far_apart A B MEAN MOST: whether A and B differ by more than MEAN levels on average, or by more than MOST
# anywhere. cmp prints bytes in octal.
far_apart()
{
    cmp -l "$1" "$2" | awk -v bytes="$(wc -c <"$1")" -v mean="$3" -v limit="$4" '
        function octal(text,  i, value) { for (i = 1; i <= length(text); i++) value = value * 8 + substr(text, i, 1); return value }
        { d = octal($2) - octal($3); d = d < 0 ? -d : d; sum += d; if (d > most) most = d }
        END { exit !(sum > mean * bytes || most > limit) }'
}

begin "what counts as far apart"
run 0 gpufilter --device=cpu -i in.png -o plain.ppm
run 0 gpufilter --device=cpu -i in.png -o inverted.ppm invert
far_apart plain.ppm inverted.ppm 2 64 || problem "a negative is"
far_apart plain.ppm plain.ppm 0 0 && problem "the same picture is not"

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

begin "a GPU's codec: decodes as the CPU's does, within a level, and encodes as well"
run 0 gpufilter --device=cpu -i in.png -o photo.jpg --quality=95
gpufilter --quiet --codec=gpu -i photo.jpg -o gpu.jpg --quality=95 invert 2>stderr
case $? in
0)
    run 0 gpufilter --codec=gpu -i photo.jpg -o gpu.ppm invert
    run 0 gpufilter --codec=cpu -i photo.jpg -o cpu.ppm invert
    [ "$(wc -c <gpu.ppm)" -eq "$(wc -c <cpu.ppm)" ] || problem "the pictures differ in size"
    far_apart gpu.ppm cpu.ppm 0.1 2 && problem "decoded, they differ"
    run 0 gpufilter -i gpu.jpg -o again.ppm
    run 0 gpufilter --codec=cpu -i photo.jpg -o cpu.jpg --quality=95 invert
    run 0 gpufilter -i cpu.jpg -o again-cpu.ppm
    far_apart again.ppm again-cpu.ppm 2 64 && problem "encoded, they differ by more than codecs do"
    run 0 gpufilter --codec=gpu -i photo.jpg -o converted.jpg --quality=50
    run 0 gpufilter -i converted.jpg -o converted.ppm
    run 0 gpufilter -i photo.jpg -o photo.ppm # from which libjpeg-turbo is 13 levels away then, at most 101
    far_apart converted.ppm photo.ppm 16 160 && problem "converted, they differ"
    [ "$(wc -c <converted.jpg)" -lt "$(wc -c <photo.jpg)" ] || problem "--quality=50 makes no smaller file"
    ;;
3) skip "no GPU, or no nvJPEG" ;;
*) problem "it failed" ;;
esac
