# Where JPEGs are decoded and encoded.
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

begin "a GPU's codec: within a few levels of the CPU's, metadata kept"
run 0 gpufilter --device=cpu -i in.png -o photo.jpg --quality=95
gpufilter --quiet --codec=gpu -i photo.jpg -o gpu.jpg blur 2>stderr
case $? in
0)
    run 0 gpufilter --codec=cpu -i photo.jpg -o cpu.jpg blur
    run 0 gpufilter -i gpu.jpg -o gpu.ppm
    run 0 gpufilter -i cpu.jpg -o cpu.ppm
    [ "$(wc -c <gpu.ppm)" -eq "$(wc -c <cpu.ppm)" ] || problem "the pictures differ in size"
    ;;
3) skip "no GPU, or no nvJPEG" ;;
*) problem "it failed" ;;
esac
