# --info: what the headers of pictures say, and statistics of their levels.
camera_jpeg in.jpg >camera.jpg

begin "--info lists what the header of a file says"
run 0 gpufilter --info -i camera.jpg
silent
for line in 'file  *camera.jpg' 'format  *JPEG' 'width  *77' 'height  *55' 'channels  *3' 'bits  *8' 'model  *YCbCr' \
    'colours  *sRGB' 'colours_from  *EXIF' 'density_x  *300' 'camera  *Canon EOS R5' 'lens  *RF24-70mm' \
    'time  *2024-05-01T12:30:00' 'gps  *yes' 'exif_bytes  *255' 'thumbnail_bytes  *1234'; do
    stdout_has "^$line\$"
done
cp stdout listed
for file in set.jpg set.png set.tif set.webp; do
    case $file in *.tif) format=TIFF ;; *.webp) format=WebP ;; *) format=PNG ;; esac
    gpufilter --version | grep -q "^formats: .*$format" || continue
    run 0 gpufilter -i camera.jpg -o $file --set=copyright='(c) Ann' --set=artist='Änn B' --set=description='a "b"' --set=date=2024-05-06T07:08:09
    run 0 gpufilter --info=json $file
    stdout_has '"time":"2024-05-06T07:08:09","copyright":"(c) Ann","artist":"Änn B","description":"a \\"b\\"",'
    run 0 gpufilter --info $file
    stdout_has '^artist  *Änn B$'
done
run 0 gpufilter --info=json camera.jpg
stdout_has '"copyright":null,"artist":null,'
run 0 gpufilter --info camera.jpg
same stdout listed

begin "--info of a TIFF tells its EXIF, too"
gpufilter --version | grep -q '^formats: .*TIFF' || lacking="built without libtiff"
if [ -z "$lacking" ]; then
    run 0 gpufilter -i camera.jpg -o camera.tif
    run 0 gpufilter --info camera.tif
    for line in 'camera  *Canon EOS R5' 'gps  *yes' 'width  *77'; do
        stdout_has "^$line\$"
    done
fi

begin "--info of a TIFF tells the page that is taken"
gpufilter --version | grep -q '^formats: .*TIFF' || lacking="built without libtiff"
command -v tiffcp >/dev/null && command -v tiffset >/dev/null || lacking="no tiffcp, or no tiffset"
if [ -z "$lacking" ]; then
    run 0 gpufilter -i in.ppm -o full.tif
    run 0 gpufilter -i in.ppm -o reduced.tif resize=30
    tiffcp reduced.tif full.tif both.tif && tiffset -d 0 -s 254 1 both.tif
    run 0 gpufilter --info both.tif
    for line in 'pages  *2' 'width  *77' 'pictures  *page, reduced'; do
        stdout_has "^$line\$"
    done
fi

begin "several files make a table, and operands that are files are inputs"
mkdir folder
cp camera.jpg gray16.pgm in.png folder
run 0 gpufilter --info folder
silent
run 0 gpufilter --info folder/camera.jpg folder/gray16.pgm folder/in.png
[ "$(wc -l <stdout)" -eq 4 ] || problem "not a heading and three rows: $(cat stdout)"
stdout_has '^format .* file$'
stdout_has '^JPEG  *77x55 YCbCr  *8  *1  *1 sRGB  *exif gps  *folder/camera.jpg$'
stdout_has '^PNM  *[0-9]*x[0-9]* gray  *16  *-  *1 - .* folder/gray16.pgm$'
stdout_has '^PNG  *77x55 RGB  *8  *1  *1 - .* folder/in.png$'

begin "--info=json is a line for each file, in the order of the inputs"
run 0 gpufilter --info=json --threads=3 -i folder -i in.ppm
silent
[ "$(cut -d '"' -f 4 stdout | tr '\n' ' ')" = "folder/camera.jpg folder/gray16.pgm folder/in.png in.ppm " ] ||
    problem "the files are: $(cut -d '"' -f 4 stdout)"
stdout_has '^{"file":"folder/camera.jpg","format":"JPEG","bytes":[0-9]*,"pages":1,"width":77,"height":55,"channels":3,"bits":8,'
stdout_has '"gps":true,"metadata":"EXIF","pictures":null,"levels":null,"loops":null,"seconds":null,"icc_bytes":0,"exif_bytes":255,'
run 0 gpufilter --info=json --shard=2/2 -i folder
[ "$(cut -d '"' -f 4 stdout)" = folder/gray16.pgm ] || problem "shard 2 of 2 is: $(cut -d '"' -f 4 stdout)"
cat in.png | run 0 gpufilter --info=json -i -
stdout_has '^{"file":"-","format":"PNG","bytes":null,'

begin "the manual has every key of the JSON"
run 0 gpufilter --info=statistics -i camera.jpg
tr ',{[' '\n\n\n' <stdout | sed -n 's/^"\([a-z_]*\)":.*/\1/p' | sort -u >keys
gpufilter --man=reports | tr -d '\\' >manual
while read -r key; do
    grep -qE "(fB|[.])${key}fR\$" manual || [ "$key" = statistics ] || [ "$key" = channels ] || problem "the manual has no $key"
done <keys

begin "a damaged, a missing and a foreign file are errors of their own, and the others are told"
printf 'hello' >folder/no.png
head -c 40 in.png >folder/short.png
run 4 gpufilter --info=json -i folder
stderr_is "gpufilter: 2 of 5 files could not be read"
stdout_has '^{"file":"folder/no.png","error":"folder/no.png: not a picture of a known format"}$'
stdout_has '^{"file":"folder/short.png","error":"folder/short.png: truncated in the header"}$'
stdout_has '^{"file":"folder/in.png","format":"PNG"'
run 75 gpufilter --info -i folder/no.png -i nothing.png -i in.png
[ "$(wc -l <stdout)" -eq 2 ] || problem "not a heading and one row: $(cat stdout)"
grep -q '^gpufilter: nothing.png: No such file or directory$' stderr || problem "stderr: $(cat stderr)"
run 4 gpufilter --info -i folder/no.png
stderr_is "gpufilter: folder/no.png: not a picture of a known format"
run 75 gpufilter --info=json -i nothing.png
stderr_is "gpufilter: nothing.png: No such file or directory"

begin "the members of an archive are told as files are"
mkdir packed
cp camera.jpg in.png packed
printf 'hello' >packed/no.png
echo text >packed/notes.txt
if gpufilter --version | grep -q '^archives: tar'; then
    (cd packed && tar cf ../packed.tar camera.jpg in.png no.png notes.txt)
    run 4 gpufilter --info=json -i in.ppm -i packed.tar
    stderr_is "gpufilter: 1 of 4 files could not be read"
    [ "$(cut -d '"' -f 4 stdout | tr '\n' ' ')" = "in.ppm packed.tar/camera.jpg packed.tar/in.png packed.tar/no.png " ] ||
        problem "the files are: $(cut -d '"' -f 4 stdout)"
    stdout_has '^{"file":"packed.tar/camera.jpg","format":"JPEG","bytes":[0-9]*,.*"camera":"Canon EOS R5"'
    stdout_has '^{"file":"packed.tar/no.png","error":"packed.tar/no.png: not a picture of a known format"}$'
    gzip -c packed.tar | run 4 gpufilter --info tar:-
    mv stdout members
    gzip -c packed.tar | run 4 gpufilter --info -i tar:-
    same stdout members
    stdout_has '^JPEG .* exif gps  *-/camera.jpg$'
    [ "$(wc -l <stderr)" -eq 2 ] || problem "stderr: $(cat stderr)"
    head -c 1000 packed.tar >cut.tar
    run 4 gpufilter --info=json -i cut.tar
    stdout_has '^{"file":"cut.tar","error":"cut.tar: '
    run 75 gpufilter --info -i no.tar
fi

begin "--info reads headers only: pixels that are missing do not matter, statistics decode them"
head -c $(($(wc -c <in.png) - 100)) in.png >cut.png
run 0 gpufilter --info -i cut.png
silent
run 4 gpufilter --info=statistics -i cut.png
stderr_like 'cut.png: truncated'
stdout_has '^{"file":"cut.png","error":"cut.png: truncated'

begin "statistics of floats: exact beside a histogram of 0..1, NaN and infinities counted, alike for any number of threads"
printf 'Pf\n3 2\n-1.0\n\0\0\0\077\0\0\300\177\0\0\200\277\0\0\200\177\0\0\0\0\0\0\200\100' >float.pfm
run 0 gpufilter --info=statistics -i float.pfm
silent
stdout_has '"bits":32,"range":\[0,1\],"pixels":6,"channels":\[{"name":"gray","nan":1,"infinite":1,"least":-1,"most":4,"mean":0.875,"deviation":null,"median":0.5[0-9]*,"entropy":1.52192809,"histogram":\[2,0,'
run 0 gpufilter --info=statistics:table -i float.pfm
stdout_has '^gray   -1\.\.4, mean 0.875, median 0.50001, entropy 1.522, 1 NaN, 1 infinite; 0\.\.1:'
printf 'Pf\n1 1\n-1.0\n\0\0\200\100' >four.pfm
run 0 gpufilter --info=statistics -i four.pfm
stdout_has '"most":4,"mean":4,"deviation":null,"median":null,'
run 0 gpufilter --info=statistics:table -i four.pfm
stdout_has '^gray   4\.\.4, mean 4, median beyond 0\.\.1, '
run 0 gpufilter --info=statistics --threads=1 -i camera.jpg float,exposure=2,blur=2
mv stdout one
run 0 gpufilter --info=statistics --threads=3 --band-rows=16 -i camera.jpg float,exposure=2,blur=2
same stdout one

begin "statistics have a form for people and one for programs, wherever they go"
run 0 gpufilter --info=statistics:table -i in.png
stdout_has '^green  *[0-9]*\.\.[0-9]*, mean '
run 0 gpufilter --info=statistics:json -i in.png
stdout_has '^{"file":"in.png",.*"statistics":{'

begin "statistics of 8 and 16 bits"
printf 'P5\n5 1\n255\n\001\003\003\010\377' >five.pgm
run 0 gpufilter --info=statistics -i five.pgm
silent
stdout_has '"statistics":{"width":5,"height":1,"bits":8,"range":\[0,255\],"pixels":5,"channels":\[{"name":"gray","least":1,"most":255,"mean":54,"deviation":100.526613,"median":3,"entropy":1.92192809,"histogram":\[0,1,0,2,0,0,0,0,1,0'
printf 'P5\n4 1\n65535\n\000\000\000\000\377\377\001\000' >deep.pgm
run 0 gpufilter --info=statistics -i deep.pgm
stdout_has '"bits":16,"range":\[0,65535\],"pixels":4,"channels":\[{"name":"gray","least":0,"most":65535,"mean":16447.75,"deviation":28340.7297,"median":0,"entropy":1.5,"histogram":\[2,1,0'

begin "statistics of a chain's result, on each device and number of threads alike; clear pixels are not counted"
run 0 gpufilter --info=statistics --device=cpu --threads=1 -i camera.jpg blur=2,grayscale,crop=20:10
stdout_has '"statistics":{"width":20,"height":10,"bits":8,"range":\[0,255\],"pixels":200,"channels":\[{"name":"gray"'
mv stdout one
run 0 gpufilter --info=statistics --threads=3 --band-rows=16 -i camera.jpg blur=2,grayscale,crop=20:10
same stdout one
printf 'P7\nWIDTH 3\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\001\377\002\000\003\377' >clear.pam
run 0 gpufilter --info=statistics -i clear.pam
stdout_has '"alpha":true,'
stdout_has '"pixels":2,"channels":\[{"name":"gray","least":1,"most":3,"mean":2,"deviation":1,"median":1,"entropy":1,'

begin "what --info does not take"
run 2 gpufilter --info -i in.png -o out.png
stderr_is "gpufilter: --info writes no picture: '-o out.png'"
run 2 gpufilter --info in.png nothing.png
stderr_is "gpufilter: --info: 'nothing.png' is no file, and only --info=statistics takes a chain"
run 2 gpufilter --info nothing.png
stderr_is "gpufilter: --info: 'nothing.png' is no file, and only --info=statistics takes a chain"
run 2 gpufilter --info
stderr_is "gpufilter: --info: -i FILE is missing: the picture to read"
run 2 gpufilter --info=statistics -i in.png wobble
stderr_like "unknown filter 'wobble'"
absent out.png

begin "a camera's raw photograph: its header, its picture, its thumbnail, and what is not there of it"
gpufilter --version | grep -q '^formats: .*TIFF.*camera raw' || lacking="built without LibRaw, or without libtiff"
if [ -z "$lacking" ]; then
    camera_dng >a.dng
    run 0 gpufilter --info a.dng
    for line in 'format  *camera raw (DNG)' 'width  *48' 'height  *64' 'bits  *13' 'model  *Bayer AHD' 'camera  *Maker Model 1'; do
        stdout_has "^$line\$"
    done
    mkdir raws
    cp a.dng raws/b.NEF
    run 0 gpufilter -q -i raws -o developed
    run 0 gpufilter -q -i a.dng -o a.ppm -v
    grep -q 'a.dng: camera raw, 48x64 RGB, 16 bits, decoded by the CPU' stderr || problem "stderr: $(cat stderr)"
    run 0 gpufilter -q -i developed/b.tif -o b.ppm
    same a.ppm b.ppm
    run 0 gpufilter -q -i a.dng -o small.ppm -v thumbnail=10
    grep -q '48x64 RGB, 16 bits, decoded at 1/2 by the CPU' stderr || problem "stderr: $(cat stderr)"
    run 4 gpufilter -i a.dng -o b.ppm --formats=tiff,ppm
    stderr_is "gpufilter: a.dng: is camera raw, which is not in --formats"
    head -c 4000 a.dng >cut.dng
    run 4 gpufilter -q -i cut.dng -o c.ppm
    stderr_is "gpufilter: cut.dng: damaged: truncated"
    absent c.ppm
    run 2 gpufilter -i in.png -o b.dng
    stderr_like 'b.dng: camera raw is read, not written'
fi
