# What a run takes of the machine's memory.

begin "what the filters hold whole counts against --memory"
printf 'P5\n8 8\n255\n%064d' 0 >small.pgm
run 4 gpufilter -i small.pgm -o o.png --device=cpu --memory=16M resize=9000:9000,equalize
stderr_like 'small.pgm: pictures between its filters are held whole: that takes 78 MiB of memory, over the 16 MiB of --memory$'
absent o.png
run 0 gpufilter -i small.pgm -o large.pgm --device=cpu resize=4096:4096
run 4 gpufilter -i large.pgm -o o.pgm --device=cpu --memory=15M transpose
stderr_like 'large.pgm: pictures between its filters are held whole: that takes 16 MiB of memory, over the 15 MiB of --memory$'
run 0 gpufilter -i large.pgm -o o.pgm --device=cpu --memory=16M transpose
run 0 gpufilter -i large.pgm -o o.pgm --device=cpu --memory=1M blur=2,median=3
