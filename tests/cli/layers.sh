# Second pictures: what overlay and mask say of files, and batches that share one. in.ppm is 77x55.
begin "overlay and mask name the file"
printf 'no picture\n' >text.png
head -c 200 in.ppm >cut.ppm
mkfifo pipe.png
while IFS='|' read -r chain message; do
    case $message in *'No such file'*) status=75 ;; *) status=2 ;; esac
    run $status gpufilter -i in.ppm -o out.png "$chain"
    stderr_is "gpufilter: $message"
done <<'END'
overlay=none.png|overlay: none.png: No such file or directory
overlay=text.png|overlay: text.png: not a picture of a known format
overlay=pipe.png|overlay: pipe.png: it is not a regular file
overlay=.|overlay: .: it is not a regular file
overlay=in.ppm:mode=over|overlay: mode=over is none of normal, multiply, screen, overlay, darken, lighten, color-dodge, color-burn, hard-light, soft-light, difference, exclusion, hue, saturation, color, luminosity
overlay=in.ppm:opacity=2|overlay: opacity=2 is outside 0..1; did you mean '2%'?
overlay=in.ppm:scale=0|overlay: scale=0 is outside 0.01..16 (multiplies the size of the overlaid picture (by resize))
mask=in.ppm:none.png|mask: none.png: No such file or directory
mask=in.ppm:of=blue|mask: of=blue is none of luma, alpha; a colour has its name: colour=white
END
head -c 400 in.png >cut.png
for each in cut.ppm cut.png; do
    run 2 gpufilter -i in.ppm -o out.png overlay=$each
    stderr_like "overlay: $each: truncated after row [0-9]* of 55$"
done
absent out.png

begin "a batch shares a second picture, and bands do not show"
mkdir pictures
for i in 1 2 3 4 5 6; do cp in.ppm pictures/$i.ppm; done
run 0 gpufilter -i in.ppm -o mirror.ppm hflip
run 0 gpufilter -i pictures -o made overlay=mirror.ppm:mode=multiply:opacity=0.5
run 0 gpufilter -i in.ppm -o bands.ppm --band-rows=7 --lanes=3 overlay=mirror.ppm:mode=multiply:opacity=0.5
for i in 1 2 3 4 5 6; do cmp -s made/$i.ppm bands.ppm || problem "$i.ppm"; done
run 0 gpufilter -i in.ppm -o same.ppm overlay=mirror.ppm
cmp -s same.ppm mirror.ppm || problem "an opaque picture of the same size does not cover the picture"

begin "a mask selects between two pictures"
run 0 gpufilter -i in.ppm -o white.pgm grayscale,threshold=0
run 0 gpufilter -i in.ppm -o selected.ppm mask=white.pgm:mirror.ppm
run 0 gpufilter -i in.ppm -o copy.ppm
cmp -s selected.ppm copy.ppm || problem "a white mask does not show the picture"
run 0 gpufilter -i in.ppm -o selected.ppm mask=white.pgm:mirror.ppm:inverted=on
cmp -s selected.ppm mirror.ppm || problem "a black mask does not show the base"
