# What pictures say about themselves, from each format to each other.
formats=
for format in png jpg webp tif avif jxl jp2; do
    gpufilter -q -i in.png -o "said.$format" 2>stderr && formats="$formats $format"
done

# outputs NAME: the options for an output of each format.
outputs()
{
    for format in $formats; do
        echo "-o $1$format.$format"
    done
}

begin "--no-autorotate keeps the pixels and the orientation from each format to each other"
{
    head -c 2 in.jpg
    printf '\377\341\000\042Exif\000\000MM\000\052\000\000\000\010\000\001\001\022\000\003\000\000\000\001\000\006\000\000\000\000\000\000'
    tail -c +3 in.jpg
} >turned.jpg
for from in $formats; do
    run 0 gpufilter -q --no-autorotate -i turned.jpg -o "turned.$from"
    # shellcheck disable=SC2046 # an output for each format
    run 0 gpufilter -q --no-autorotate -i "turned.$from" $(outputs "$from-to-")
    run 0 gpufilter -q -i "turned.$from" -o "upright-$from.png"
done
gpufilter --info=json turned.* ./*-to-* | grep -v '"width":77,"height":55,.*"orientation":6,' >lost
[ ! -s lost ] || problem "not as they were stored: $(cat lost)"
gpufilter --info=json upright-* | grep -v '"width":55,"height":77,.*"orientation":1,' >lost
[ ! -s lost ] || problem "not upright: $(cat lost)"

begin "exiftool finds EXIF, XMP and IPTC from each format in each other that holds them"
if ! command -v exiftool >/dev/null; then
    lacking="exiftool is not here"
else
    exiftool -q -q -m -overwrite_original -Make=Canon -Model='EOS R5' -Artist=Ann -Copyright='(c) Ann' -ImageDescription='A harbour' \
        -DateTimeOriginal='2024:05:01 12:30:00' -ExposureTime=1/250 -FNumber=2.8 -LensModel='RF24-70' -UserComment=hello \
        -GPSLatitude=48.5 -GPSLatitudeRef=N -GPSAltitude=300 -EXIF:XResolution=300 -EXIF:YResolution=300 -EXIF:ResolutionUnit=inches \
        -XMP-dc:Title=Boats -XMP-dc:Subject=sea -XMP-dc:Subject=dusk -XMP-dc:Rights=Ann -XMP-xmp:Rating=4 \
        -IPTC:Keywords=sea -IPTC:Keywords=dusk -IPTC:City=Ulm -IPTC:Caption-Abstract='A harbour' said.*
    for from in $formats; do
        # shellcheck disable=SC2046 # an output for each format
        run 0 gpufilter -q -i "said.$from" $(outputs "$from-in-")
    done
    # shellcheck disable=SC2016
    exiftool -q -m -n -f -p '$EXIF:Make|$Model|$EXIF:Artist|$EXIF:Copyright|$EXIF:ImageDescription|$DateTimeOriginal|$ExposureTime|$FNumber|$LensModel|$UserComment|$EXIF:GPSLatitude|$GPSLatitudeRef|$EXIF:GPSAltitude|$XMP:Title|$XMP:Subject|$XMP:Rights|$XMP:Rating|$filename' ./*-in-* >found
    grep -v '^Canon|EOS R5|Ann|(c) Ann|A harbour|2024:05:01 12:30:00|0.004|2.8|RF24-70|hello|48.5|N|300|Boats|sea, dusk|Ann|4|' found >lost
    [ -s found ] && [ ! -s lost ] || problem "lost: $(cat lost)"
    # shellcheck disable=SC2016
    exiftool -q -m -f -p '$IPTC:Keywords|$IPTC:City|$IPTC:Caption-Abstract|$filename' ./png-in-* ./jpg-in-* ./tif-in-* ./jp2-in-* |
        grep -v '|[a-z0-9]*-in-[a-z0-9]*\.\(webp\|avif\|jxl\)$' >found
    grep -v '^sea, dusk|Ulm|A harbour|' found >lost
    [ -s found ] && [ ! -s lost ] || problem "IPTC is lost: $(cat lost)"
    # shellcheck disable=SC2016
    exiftool -q -m -f -p '$IFD0:XResolution|$filename' ./*-in-*.webp ./*-in-*.tif ./*-in-*.avif ./*-in-*.jxl >found
    grep -v '^300|' found >lost
    [ ! -s lost ] || problem "the density is lost: $(cat lost)"
fi

begin "--set writes facts into what each format has, also with --strip, and --resume knows them"
for extension in $formats; do
    run 0 gpufilter -q -i in.ppm -o "set.$extension" --set=copyright='me & you' --set=artist=Ada --set=date=2024-05-01
    grep -aq '<dc:rights><rdf:Alt><rdf:li xml:lang="x-default">me &amp; you<' "set.$extension" || problem "$extension: no copyright"
    grep -aq '<rdf:li>Ada<' "set.$extension" || problem "$extension: no artist"
done
run 0 gpufilter --info=json set.png
stdout_has '"time":"2024-05-01T00:00:00"'
run 0 gpufilter -i set.png -o stripped.png --strip --set=description=harbour
grep -aq harbour stripped.png || problem "there is no description"
! grep -aq Ada stripped.png || problem "the artist is still there"
run 0 gpufilter -i in.ppm -o set.bmp --set=artist=Ada
stderr_is 'gpufilter: warning: set.bmp: BMP has no place for what is to be set (--set)'
run 2 gpufilter -i in.ppm -o no.png --set=creator=Ada
stderr_is 'gpufilter: --set=creator=Ada is none of copyright=TEXT, artist=TEXT, description=TEXT, date=2024-05-01'
run 2 gpufilter -i in.ppm -o no.png --set=artist=Ada --set=date=now
stderr_is 'gpufilter: --set=date: now is no date such as 2024-05-01 or 2024-05-01T12:30:00+02:00'
absent no.png
run 2 gpufilter -i in.ppm -o no.png --set=artist="$(printf 'A\357\277\277B')"
stderr_is 'gpufilter: --set=artist: has U+FFFF, which is no character and cannot be in XMP'
long=$(printf '%033d' 7)
run 0 gpufilter -i in.ppm -o long.jpg --set=artist=$long
stderr_is 'gpufilter: warning: long.jpg: --set=artist: over 32 bytes, which IPTC does not hold: EXIF and XMP have it'
[ "$(grep -ac $long long.jpg)" -ge 1 ] && ! grep -aq 'Photoshop 3.0.*'$long long.jpg || problem "the long artist is in IPTC, or nowhere"
run 0 gpufilter -i in.ppm -o short.jpg --set=artist="${long#0}"
silent
run 0 gpufilter -i in.ppm --set=copyright=We -o one.png --set=artist=Ada -o two.png --set=artist=Bob --set=copyright=They -o three.png
grep -aq We one.png && grep -aq Ada one.png && ! grep -aq Bob one.png || problem "one.png has other texts"
grep -aq They two.png && grep -aq Bob two.png && ! grep -aq 'Ada\|We' two.png || problem "two.png has other texts"
grep -aq We three.png && ! grep -aq 'Ada\|Bob' three.png || problem "three.png has other texts"
for artist in Ada Ada Bob; do
    run 0 gpufilter -i in.ppm -i in.png -o set-batch/ --resume=set.log --set=artist=$artist
    cat stderr >>set.told
done
[ "$(grep -c '2 skipped' set.told)" -eq 1 ] || problem "$(cat set.told)"
