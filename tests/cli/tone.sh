# Filters of tone: what they say of hostile values. in.ppm is 77x55.
begin "curves, levels and posterize name what is wrong"
while IFS='|' read -r chain message; do
    case $message in *'No such file'*) status=75 ;; *) status=2 ;; esac
    run $status gpufilter -i in.ppm -o out.png "$chain"
    stderr_is "gpufilter: $message"
done <<'END'
curves=0 0|curves: all: two points or more are needed, each two numbers, such as 0 0/0.4 0.5/1 1
curves=0 0 0.5 0.6 1 1|curves: all: two points or more are needed, each two numbers, such as 0 0/0.4 0.5/1 1
curves=blue=0 0/0.5 0.5/0.5 1|curves: blue: point 0.5 does not lie beyond 0.5
curves=0 0/1 1.5|curves: all has 1.5, which is outside 0..1
curves=nan 0/1 1|curves: all=nan 0/1 1 is not a matrix such as 0 1 0/1 -4 1/0 1 0
curves=flat|curves: all=flat is none of lighter, darker, contrast, matte, negative or a matrix
levels=-0.1|levels: black=-0.1 is outside 0..1 (what becomes black, as a part of the full scale)
levels=channel=alpha|levels: channel=alpha is none of all, red, green, blue
exposure=11|exposure: ev=11 is outside -10..10 (stops: each doubles the light, -1 halves it); did you mean 'exposure=0.11'?
posterize=1|posterize: levels=1 is outside 2..256 (levels a channel, evenly spaced); did you mean 'posterize=levels=2'?
posterize=4:bayer16|posterize: dither=bayer16 is none of none, bayer2, bayer4, bayer8
colormatrix=1 2/3 4|colormatrix: matrix has 2 rows of 2; three rows of three or four are needed
colormatrix=1e9 0 0/0 1 0/0 0 1|colormatrix: matrix has 1e+09, which is outside -100..100
colormatrix=sephia|colormatrix: matrix=sephia is none of sepia, bgr, rbg, grb, gbr, brg or a matrix
hue=inf|hue: angle=inf is not a number
temperature=1000|temperature: kelvin=1000 is outside 1667..25000 (colour temperature of the light: below 6500 warmer, above 6500 cooler); 5000 is a little warmer, 8000 cooler; did you mean 'temperature=kelvin=5000'?
whitebalance=clip=50|whitebalance: clip=50 is outside 0..49.9 (with white: per cent of the pixels that may be brighter)
chromakey=greenish|chromakey: colour=greenish is not a colour such as white or #ff8800
addnoise=seed=-1|addnoise: seed=-1 is outside 0..999999 (another seed gives other noise)
vignette=radius=1|vignette: radius=1 is outside 0..0.99 (where the fading begins: 0 is the middle, 1 a corner)
frame=-1|frame: width=-1 is outside 0..1e+09 (width of the border)
round=1.5|round: radius=1.5 is not a whole number of pixels
solarize=2|solarize: threshold=2 is outside 0..1, a part of the full scale: 2 of 255 is 2/255, per cent 2%
END
absent out.png

begin "lut names the file and the line"
printf 'LUT_3D_SIZE 2\n0 0 0\n1 1\n' >bad.cube
printf 'LUT_1D_SIZE 2\n0 0 0\n' >short.cube
: >empty.cube
mkfifo pipe.cube
while IFS='|' read -r chain message; do
    case $message in *'No such file'*) status=75 ;; *) status=2 ;; esac
    run $status gpufilter -i in.ppm -o out.png "$chain"
    stderr_is "gpufilter: lut: $message"
done <<'END'
lut=none.cube|none.cube: No such file or directory
lut=bad.cube|bad.cube: line 3: a colour is three numbers
lut=short.cube|short.cube: it has 1 of 2 colours
lut=empty.cube|empty.cube: it has neither LUT_1D_SIZE nor LUT_3D_SIZE: it is no .cube file
lut=in.png|in.png: line 1: a colour before LUT_1D_SIZE or LUT_3D_SIZE
lut=pipe.cube|pipe.cube: it is not a regular file
lut=.|.: it is not a regular file
lut=amount=2|amount=2 is outside 0..1; did you mean '2%'?
END
absent out.png

begin "lut interpolates a table's values before it limits them, alone and behind other filters"
pixel_is()
{
    run 0 gpufilter -i pixel.ppm -o pixel.out --format=pnm "$1"
    [ "$(tail -c 3 pixel.out | od -An -tu1 | tr -s ' ')" = " $2" ] || problem "$1: $(tail -c 3 pixel.out | od -An -tu1), not $2"
}
printf 'P6\n1 1\n255\n@\300\144' >pixel.ppm # 64 192 100
printf 'LUT_1D_SIZE 2\n0 0 -1\n2 4 1\n' >steep.cube
corners='0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n'
twice='2 0 0\n0 2 0\n2 2 0\n0 0 2\n2 0 2\n0 2 2\n2 2 2\n'
printf "LUT_3D_SIZE 2\n-0.4 0 0\n$twice" >steep3d.cube
printf "LUT_3D_SIZE 2\nDOMAIN_MAX 2 2 2\n0 0 0\n$twice" >wide.cube
printf "LUT_1D_SIZE 2\nLUT_3D_SIZE 2\n1 1 1\n0 0 0\n$corners" >negative3d.cube
for before in '' 'invert,saturation=1,invert,'; do
    pixel_is ${before}lut=steep.cube "128 255 0"
    pixel_is ${before}lut=steep.cube:amount=0.5 "96 255 22"
    pixel_is ${before}lut=steep3d.cube "103 255 200"
    pixel_is ${before}lut=wide.cube "64 192 100"
    pixel_is ${before}lut=wide.cube:amount=0.3 "64 192 100"
    pixel_is ${before}lut=negative3d.cube "191 63 155"
done
run 2 gpufilter -i pixel.ppm -o out.png lut=negative3d.cube:amount=0.5
stderr_is "gpufilter: lut: negative3d.cube: a table of curves and a cube has no amount but 1"
absent out.png

begin "luma of 16 bits has weights of 16 bits"
printf 'P6\n3 1\n65535\n\377\377\0\0\0\0\0\0\377\377\0\0\0\0\0\0\377\377' >primaries.ppm
run 0 gpufilter -i primaries.ppm -o luma.pgm grayscale
[ "$(tail -c 6 luma.pgm | od -An -tx1 | tr -d ' ')" = 4c8b96451d2f ] || problem "$(tail -c 6 luma.pgm | od -An -tx1)" # 0.299, 0.587, 0.114
run 0 gpufilter -i primaries.ppm -o split.pgm threshold=0.2989 # 0.299 is above it, 77/256 as well, 0.114 is not
[ "$(tail -c 6 split.pgm | od -An -tx1 | tr -d ' ')" = ffffffff0000 ] || problem "$(tail -c 6 split.pgm | od -An -tx1)"
run 0 gpufilter -i primaries.ppm -o split.pgm threshold=0.5869 # above 150/256
[ "$(tail -c 6 split.pgm | od -An -tx1 | tr -d ' ')" = 0000ffff0000 ] || problem "$(tail -c 6 split.pgm | od -An -tx1)"

begin "a batch takes a .cube file"
printf 'LUT_1D_SIZE 2\n1 1 1\n0 0 0\n' >negative.cube
mkdir pictures
for i in 1 2 3 4 5 6; do cp in.ppm pictures/$i.ppm; done
run 0 gpufilter -i pictures -o made lut=negative.cube
run 0 gpufilter -i in.ppm -o negative.ppm invert
for i in 1 2 3 4 5 6; do cmp -s made/$i.ppm negative.ppm || problem "$i.ppm"; done

begin "a dither stays in its place, whatever the bands"
run 0 gpufilter -i in.ppm -o whole.ppm blur=1,posterize=3:bayer8,levels=channel=red:gamma=2
for rows in 1 7 33; do
    run 0 gpufilter -i in.ppm -o bands.ppm --band-rows=$rows --lanes=3 blur=1,posterize=3:bayer8,levels=channel=red:gamma=2
    cmp -s whole.ppm bands.ppm || problem "bands of $rows rows"
done

begin "gray pictures become colour where a filter asks for it, and stay gray where it does not"
run 0 gpufilter -i in.ppm -o in.pgm grayscale
run 0 gpufilter -i in.pgm -o sepia.pam colormatrix=sepia
grep -qa 'TUPLTYPE RGB$' sepia.pam || problem "sepia of gray is not RGB"
run 0 gpufilter -i in.pgm -o same.pgm hue=90,temperature=3000,whitebalance,vibrance=1,chromakey,levels=channel=red:gamma=2
run 0 gpufilter -i in.pgm -o copy.pgm
cmp -s same.pgm copy.pgm || problem "a gray picture has changed"

begin "chromakey adds an alpha channel, which the next stencil weights with"
run 0 gpufilter -i in.ppm -o key.pam chromakey=white:0.05:0.3,blur=1
grep -qa 'TUPLTYPE RGB_ALPHA' key.pam || problem "no alpha"

begin "noise stays in its place, whatever the bands, and another seed gives other noise"
run 0 gpufilter -i in.ppm -o whole.ppm blur=1,addnoise=0.1,invert
for rows in 1 7 33; do
    run 0 gpufilter -i in.ppm -o bands.ppm --band-rows=$rows --lanes=3 blur=1,addnoise=0.1,invert
    cmp -s whole.ppm bands.ppm || problem "bands of $rows rows"
done
run 0 gpufilter -i in.ppm -o other.ppm blur=1,addnoise=0.1:seed=2,invert
! cmp -s whole.ppm other.ppm || problem "seeds 1 and 2 give the same"

begin "clahe makes the same picture in bands, of every number of tiles and lanes"
for chain in clahe clahe=4:5:7 clahe=0:16:16 clahe=2:1:1,blur=1,clahe=3:2:3; do
    run 0 gpufilter -i in.ppm -o whole.ppm $chain
    for rows in 1 7 33; do
        run 0 gpufilter -i in.ppm -o bands.ppm --band-rows=$rows --lanes=3 --threads=3 $chain
        cmp -s whole.ppm bands.ppm || problem "$chain: bands of $rows rows"
    done
done

begin "colours have the names of CSS"
run 0 gpufilter -i in.ppm -o named.ppm duotone=rebeccapurple:gold
run 0 gpufilter -i in.ppm -o numbered.ppm duotone=#663399:#ffd700
cmp -s named.ppm numbered.ppm || problem "rebeccapurple and gold are other colours"
