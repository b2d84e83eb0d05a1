# Filters of tone: what they say of hostile values. in.ppm is 77x55.
begin "curves, levels and posterize name what is wrong"
while IFS='|' read -r chain message; do
    run 2 gpufilter -i in.ppm -o out.png "$chain"
    stderr_is "gpufilter: $message"
done <<'END'
curves=0 0|curves: all: two points or more are needed, each two numbers, such as 0 0/0.4 0.5/1 1
curves=0 0 0.5 0.6 1 1|curves: all: two points or more are needed, each two numbers, such as 0 0/0.4 0.5/1 1
curves=blue=0 0/0.5 0.5/0.5 1|curves: blue: point 0.5 does not lie beyond 0.5
curves=0 0/1 1.5|curves: all has 1.5, which is outside 0..1
curves=nan 0/1 1|curves: all=nan 0/1 1 is not a matrix such as 0 1 0/1 -4 1/0 1 0
curves=flat|curves: all=flat is none of lighter, darker, contrast, matte, negative or a matrix
levels=-0.1|levels: black=-0.1 is outside 0..1
levels=channel=alpha|levels: channel=alpha is none of all, red, green, blue
exposure=11|exposure: ev=11 is outside -10..10
posterize=1|posterize: levels=1 is outside 2..256
posterize=4:bayer16|posterize: dither=bayer16 is none of none, bayer2, bayer4, bayer8
solarize=2|solarize: threshold=2 is outside 0..1
END
absent out.png

begin "a dither stays in its place, whatever the bands"
run 0 gpufilter -i in.ppm -o whole.ppm blur=1,posterize=3:bayer8,levels=channel=red:gamma=2
for rows in 1 7 33; do
    run 0 gpufilter -i in.ppm -o bands.ppm --band-rows=$rows --lanes=3 blur=1,posterize=3:bayer8,levels=channel=red:gamma=2
    cmp -s whole.ppm bands.ppm || problem "bands of $rows rows"
done
