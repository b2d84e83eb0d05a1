# --codec: JPEGs and PNGs coded on the CPU or the GPU.

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

# on_both INPUT OUTPUT ARGUMENTS...: the GPU's codec and the CPU's make the same file, with the same exit status and message.
on_both()
{
    input=$1 output=$2
    shift 2
    rm -f "gpu-$output" "cpu-$output" out
    gpufilter --device=cuda --codec=gpu -i "$input" -o "$output" "$@" >out 2>stderr-gpu
    status_gpu=$?
    [ ! -e "$output" ] || mv "$output" "gpu-$output"
    gpufilter --device=cuda --codec=cpu -i "$input" -o "$output" "$@" >out 2>stderr-cpu
    status_cpu=$?
    [ ! -e "$output" ] || mv "$output" "cpu-$output"
    [ $status_gpu = $status_cpu ] || problem "$input: exit status $status_gpu, with the CPU's codec $status_cpu"
    cmp -s stderr-gpu stderr-cpu || problem "$input: '$(cat stderr-gpu)', with the CPU's codec '$(cat stderr-cpu)'"
    if [ -e "cpu-$output" ]; then same "gpu-$output" "cpu-$output"; else absent "gpu-$output"; fi
}

begin "--codec=gpu and --codec=cpu make the same files"
run 0 gpufilter --device=cpu -i in.png -o photo.jpg --quality=95
run 0 gpufilter --device=cpu -i in.png -o 444.jpg --subsampling=444
run 0 gpufilter --device=cpu -i in.png -o 422.jpg --subsampling=422 --quality=30
run 0 gpufilter --device=cpu -i in.png -o gray.jpg grayscale
run 0 gpufilter --device=cpu -i in.png -o progressive.jpg --progressive
gpufilter --device=cuda --codec=gpu -v -i photo.jpg -o codec.jpg invert 2>stderr
has_codec=$?
case $has_codec in
0)
    grep -q ', decoded by the GPU$' stderr || problem "not decoded by the GPU: $(cat stderr)"
    grep -q ', encoded by the GPU, in ' stderr || problem "not encoded by the GPU: $(cat stderr)"
    for picture in photo.jpg 444.jpg 422.jpg gray.jpg progressive.jpg in.png; do
        on_both $picture out.jpg invert
        on_both $picture out.jpg --quality=40 --subsampling=444 blur,equalize
        on_both $picture out.jpg --subsampling=422 resize=50%
        on_both $picture out.ppm transpose
        on_both $picture out.jpg --quality=50
    done
    gpufilter --device=cuda --codec=gpu -v -i photo.jpg -o codec.jpg thumbnail=18 2>stderr
    grep -q ', decoded at 1/2 by the GPU$' stderr || problem "not decoded at 1/2 by the GPU: $(cat stderr)"
    for picture in photo.jpg 444.jpg 422.jpg gray.jpg progressive.jpg; do
        for width in 18 9 4; do
            on_both $picture out.jpg thumbnail=$width
        done
    done
    ;;
3) skip "no GPU" ;;
*) problem "it failed: $(cat stderr)" ;;
esac

begin "--codec=gpu and --codec=cpu make the same PNGs"
if [ $has_codec = 0 ]; then
    run 0 gpufilter --device=cpu -i in.png -o wide.ppm 'resize=w=1500:h=1100'
    run 0 gpufilter --device=cpu -i in.png -o alpha.png 'pad=400:300:colour=transparent'
    gpufilter --device=cuda -v -i wide.ppm -o codec.png blur 2>stderr || problem "it failed: $(cat stderr)"
    grep -q ', encoded by the GPU, in ' stderr || problem "not encoded by the GPU: $(cat stderr)"
    gpufilter --device=cuda -v -i wide.ppm -o codec.png --png-level=2 blur 2>stderr || problem "it failed: $(cat stderr)"
    grep -q ', encoded by the CPU, in ' stderr || problem "not encoded by the CPU: $(cat stderr)"
    for picture in photo.jpg gray.jpg in.png alpha.png wide.ppm; do
        on_both $picture out.png blur,equalize
        on_both $picture out.png grayscale,resize=50%
        on_both $picture out.png threshold
        on_both $picture out.png --png-level=6 invert
        on_both $picture out.png --png-palette posterize=2
        on_both $picture out.png
    done
else
    skip "no GPU"
fi

begin "a damaged JPEG ends the same way with both codecs"
if [ $has_codec = 0 ]; then
    size=$(wc -c <photo.jpg)
    at=700
    while [ "$at" -lt "$size" ]; do
        { head -c "$at" photo.jpg && printf '\0\377\333' && tail -c +$((at + 4)) photo.jpg; } >damaged.jpg
        on_both damaged.jpg out.jpg blur
        head -c "$at" photo.jpg >truncated.jpg
        on_both truncated.jpg out.jpg blur
        on_both truncated.jpg out.jpg --allow-truncated blur
        at=$((at + size / 12))
    done
    { cat photo.jpg && echo more; } >longer.jpg
    on_both longer.jpg out.jpg blur
    cat photo.jpg gray.jpg >followed.jpg
    on_both followed.jpg out.jpg blur
    grep -q 'another JPEG follows' stderr-gpu || problem "nothing is said of the second picture"
    { head -c 20 photo.jpg && printf stray && tail -c +21 photo.jpg; } >stray.jpg # behind APP0
    on_both stray.jpg out.jpg blur
    grep -q '5 stray bytes' stderr-gpu || problem "nothing is said of stray bytes"
    { head -c $((size - 2)) photo.jpg && printf '\0\0\0\0\0\0\0\0\0\377\331'; } >zeros.jpg
    on_both zeros.jpg out.jpg blur
    head -c $((size - 2)) photo.jpg >endless.jpg
    on_both endless.jpg out.jpg blur
    [ $status_gpu = 0 ] || problem "a missing end marker: $(cat stderr-gpu)"
else
    skip "no GPU"
fi
