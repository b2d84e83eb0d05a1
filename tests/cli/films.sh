# Films: Y4M and raw frames in pipes and files.

# Prints a frame of noise of that many bytes, the same for the same seed.
noise() {
    awk -v count="$1" -v seed="$2" 'BEGIN { srand(seed); for (i = 0; i < count; i++) printf "%c", 1 + int(rand() * 126) }' </dev/null
}
# Prints a film: film BYTES-A-FRAME PARAMETERS... of three frames.
film() {
    bytes=$1
    shift
    printf 'YUV4MPEG2 %s\n' "$*"
    printf 'FRAME\n'
    noise "$bytes" 1
    printf 'FRAME Ip XKEY=1\n'
    noise "$bytes" 2
    printf 'FRAME\n'
    noise "$bytes" 3
}

begin "Y4M to Y4M without a chain is byte for byte the same, of every sampling and depth"
while read -r bytes word; do
    film "$bytes" "W22 H13 F30000:1001 It A4:3 C$word XYSCSS=$word XCOLORRANGE=LIMITED" >in.y4m
    run 0 gpufilter -i in.y4m -o out.y4m
    silent
    same out.y4m in.y4m
    gpufilter -i - -o - <in.y4m >out 2>stderr || problem "$word: $(cat stderr)"
    same out in.y4m
    cat in.y4m | gpufilter -i - -o - invert 2>stderr | head -n 1 >line || problem "$word: $(cat stderr)"
    head -n 1 in.y4m >wanted
    same line wanted
    gpufilter -q -i in.y4m -o - invert >out
    [ "$(wc -c <out)" = "$(wc -c <in.y4m)" ] || problem "$word: $(wc -c <out) bytes"
    [ "$(grep -ac 'FRAME Ip XKEY=1' out)" = 1 ] || problem "$word: the parameters of a frame are lost"
done <<'END'
440 420jpeg
440 420mpeg2
440 420paldv
440 420
572 422
858 444
286 mono
880 420p10
1144 422p12
1716 444p16
572 mono10
572 mono16
END

begin "a gray film is exact through a chain that changes nothing"
film 286 W22 H13 F25:1 Ip Cmono >gray.y4m
run 0 gpufilter -i gray.y4m -o out.y4m invert,invert
same out.y4m gray.y4m
film 858 W22 H13 F25:1 Ip C444 XCOLORRANGE=FULL >444.y4m
run 0 gpufilter -i 444.y4m -o - hflip,vflip
run 0 gpufilter -i gray.y4m -o small.y4m resize=11:7
head -n 1 small.y4m >line
echo "YUV4MPEG2 W11 H7 F25:1 Ip Cmono" >wanted
same line wanted

begin "frames leave in their order, whatever the number of threads"
film 440 W22 H13 F25:1 Ip C420mpeg2 >in.y4m
for i in 1 2 3 4 5 6 7; do tail -c +40 in.y4m; done >frames
{ head -n 1 in.y4m && tail -n +2 in.y4m && for i in 1 2 3 4 5 6 7 8 9; do tail -n +2 in.y4m; done; } >long.y4m
gpufilter -i long.y4m -o one.y4m --threads=1 blur=2,unsharp
cat long.y4m | gpufilter -i - -o - --threads=7 blur=2,unsharp >out
same out one.y4m

begin "the profile of a film says how many frames a second there were"
run 0 gpufilter --profile -i in.y4m -o out.y4m blur
cat stdout stderr >both
grep -q '^pictures   3 in [0-9.]* ms: [0-9.]* pictures/s; ' both || problem "$(cat both)"
grep -q '^film       read in [0-9.]* ms, written in [0-9.]* ms$' both || problem "$(cat both)"
[ "$(grep -c '^device ' both)" = 1 ] || problem "$(cat both)"

begin "frames as pictures, and one frame"
run 0 gpufilter -i in.y4m -o 'frame{n:2}-{w}.png'
silent
[ -s frame03-22.png ] && [ ! -e frame04-22.png ] || problem "the frames are not there"
cat frame01-22.png frame02-22.png frame03-22.png >wanted
gpufilter -i - -o - --format=png <in.y4m >out 2>stderr || problem "$(cat stderr)"
same out wanted
run 0 gpufilter -i in.y4m -o still.png
stderr_like 'warning: in.y4m: its first frame is read: more follow'
same still.png frame01-22.png
run 0 gpufilter -i frame02-22.png -o one.y4m
head -n 1 one.y4m >line
echo "YUV4MPEG2 W22 H13 F25:1 Ip A1:1 C420jpeg" >wanted
same line wanted
run 0 gpufilter -i in.y4m -o full.y4m --subsampling=444
head -n 1 full.y4m >line
echo "YUV4MPEG2 W22 H13 F25:1 Ip C444" >wanted
same line wanted

begin "the histogram of several frames"
{ printf 'YUV4MPEG2 W2 H2 F25:1 Ip Cmono\n' && printf 'FRAME\n2KdxFRAME\nddxxFRAME\n<<PP'; } >levels.y4m
while read -r frames levels; do
    run 0 gpufilter -i levels.y4m -o out.y4m normalize=smooth="$frames"
    got=$(for i in 1 2 3; do tail -c +$((22 + 10 * i)) out.y4m | tail -c +7 | head -c 4 | od -An -tu1; done | tr -s ' \n' '  ')
    [ "$got" = " $levels " ] || problem "smooth=$frames: $got, not $levels"
done <<'END'
1 0 91 182 255 0 0 255 255 0 0 255 255
2 0 91 182 255 182 182 255 255 0 0 85 85
3 0 91 182 255 182 182 255 255 36 36 109 109
END
chain=equalize=smooth=3:mode=channel,trim,clahe=smooth=4,normalize=smooth=2:clip=1,trim,equalize=smooth=3,whitebalance=smooth=9
gpufilter -i long.y4m -o one.y4m --threads=1 "$chain"
for threads in 2 7; do
    run 0 gpufilter -i long.y4m -o out.y4m --threads=$threads "$chain"
    same out.y4m one.y4m
done
gpufilter -i long.y4m -o out.y4m "$(echo "$chain" | sed 's/smooth=[0-9]/smooth=1/g')"
! cmp -s out.y4m one.y4m || problem "the frames before one count for nothing"
run 0 gpufilter -i long.y4m -o 'one{n}.ppm' --threads=3 normalize=smooth=5
run 0 gpufilter -i long.y4m -o 'other{n}.ppm' --threads=1 normalize=smooth=5
same one17.ppm other17.ppm
film 880 W22 H13 F25:1 Ip C420p10 >words.y4m
run 4 gpufilter -i words.y4m -o out.y4m --memory=100M clahe=smooth=100
grep -q 'words.y4m\[.\]: the histograms of 100 frames (smooth) take more than --memory$' stderr || problem "$(cat stderr)"
run 2 gpufilter -i in.y4m -o out.y4m equalize=smooth=101
stderr_is "gpufilter: equalize: smooth=101 is outside 1..100 (in a film the histogram is that of so many frames)"

begin "an interlaced film"
film 440 W22 H13 F25:1 It C420mpeg2 >fields.y4m
run 0 gpufilter -i fields.y4m -o out.y4m
silent
run 0 gpufilter -i fields.y4m -o out.y4m hflip
stderr_is "gpufilter: warning: fields.y4m[0]: is interlaced, and filtered as if it were not: colours of the two fields mix"
head -n 1 out.y4m >line
head -n 1 fields.y4m >wanted
same line wanted
film 572 W22 H13 F25:1 Ib C422 >fields.y4m
run 0 gpufilter -i fields.y4m -o out.y4m hflip
silent

begin "pictures become the frames of a film: files, and streams of PNG, JPEG, PNM and PAM"
run 0 gpufilter -i frame01-22.png -i frame02-22.png -i frame03-22.png -o stills.y4m --subsampling=444 -q
{ head -n 1 stills.y4m && gpufilter -i frame02-22.png -o - --format=y4m --subsampling=444 | tail -c 864; } >wanted
{ head -n 1 stills.y4m && tail -c 1728 stills.y4m | head -c 864; } >line
same line wanted
gpufilter -q -i 'frame0?-22.png' -o - --format=y4m --subsampling=444 >out
same out stills.y4m
cat frame0?-22.png | gpufilter -i - -o - --format=y4m --subsampling=444 >out 2>stderr || problem "$(cat stderr)"
same out stills.y4m
for kind in ppm pam jpg; do
    for i in 1 2 3; do gpufilter -q -i frame0$i-22.png -o $i.$kind --quality=95; done
    gpufilter -q -i '?.'$kind -o wanted.y4m invert
    cat 1.$kind 2.$kind 3.$kind | gpufilter -i - -o out.y4m invert 2>stderr || problem "$kind: $(cat stderr)"
    same out.y4m wanted.y4m
    [ "$(grep -ac FRAME out.y4m)" = 3 ] || problem "$kind: not three frames"
    cat 1.$kind 2.$kind 3.$kind >all
    head -c -20 all | gpufilter -i - -o out.y4m 2>stderr && problem "$kind: a cut stream was accepted"
    stderr_like 'stdin: truncated: the last picture is left out'
    [ "$(grep -ac FRAME out.y4m)" = 2 ] || problem "$kind: not two frames"
done
cat 1.jpg 2.ppm frame03-22.png | gpufilter -i - -o out.y4m 2>stderr || problem "$(cat stderr)"
[ "$(grep -ac FRAME out.y4m)" = 3 ] || problem "not three frames"
{ cat 1.ppm && echo junk; } | gpufilter -i - -o out.y4m 2>stderr && problem "junk was accepted"
stderr_like 'stdin: what follows a picture of the stream is no PNG, JPEG, PNM or PAM'
printf 'P6 900000 900000 255 ' | gpufilter -i - -o out.y4m 2>stderr && problem "a huge size was accepted"
stderr_like 'stdin: truncated: the last picture is left out'
run 4 gpufilter -i frame01-22.png -i gray16.pgm -o out.y4m
stderr_is "gpufilter: out.y4m: 'gray16.pgm' has 40x30 pixels, and the first frame 22x13: all have one size (resize=22:13:fit=contain)"
run 2 gpufilter -i in.y4m -i frame01-22.png -o in.y4m
stderr_like '.*would be written over the input'

begin "a film that is there"
echo kept >there.y4m
cp there.y4m kept.y4m
run 0 gpufilter -i in.y4m -o there.y4m --skip-existing invert
same there.y4m kept.y4m
run 75 gpufilter -i in.y4m -o there.y4m --no-clobber invert
stderr_like 'there.y4m: is there already (--no-clobber)'
same there.y4m kept.y4m
run 2 gpufilter -i in.y4m -o there.y4m --update invert
stderr_is "gpufilter: --update is not for films; --skip-existing keeps one"
run 2 gpufilter -i in.y4m -o there.y4m --resume=film.log invert
stderr_is "gpufilter: --resume is not for films; --skip-existing keeps one"
same there.y4m kept.y4m
run 4 gpufilter -i in.y4m -o limited.y4m --max-output=1000 invert
stderr_like 'limited.y4m: holds more than --max-output=1000'
absent limited.y4m

begin "raw frames"
tail -c 440 in.y4m >last
{ noise 440 1 && noise 440 2; } >frames.yuv
gpufilter -i - -o - --raw=22x13:yuv420p:30000/1001 <frames.yuv >out 2>stderr || problem "$(cat stderr)"
same out frames.yuv
run 0 gpufilter -i frames.yuv -o out.y4m --raw=22x13:yuv420p:30000/1001
head -n 1 out.y4m >line
echo "YUV4MPEG2 W22 H13 F30000:1001 Ip A1:1 C420mpeg2" >wanted
same line wanted
run 0 gpufilter -i out.y4m -o out.raw --raw=22x13:yuv420p invert
run 0 gpufilter -i frames.yuv -o wanted.raw --raw=22x13:yuv420p invert
same out.raw wanted.raw
for kind in rgb24:858 rgba:1144 gray:286 gray16le:572 rgb48le:1716 yuv444p10le:1716; do
    { noise ${kind#*:} 1 && noise ${kind#*:} 2; } >frames.raw
    gpufilter -i frames.raw -o - --raw=22x13:${kind%:*} >out 2>stderr || problem "$kind: $(cat stderr)"
    same out frames.raw
    [ $kind = yuv444p10le:1716 ] && continue
    gpufilter -i frames.raw -o out.raw --raw=22x13:${kind%:*} hflip,hflip 2>stderr || problem "$kind: $(cat stderr)"
    same out.raw frames.raw
done
noise 858 1 >rgb.raw
{ printf 'P6\n22 13\n255\n' && cat rgb.raw; } >rgb.ppm
gpufilter -i rgb.ppm -o blurred.ppm blur
tail -c 858 blurred.ppm >wanted
gpufilter -i - -o - --raw=22x13:rgb24 blur <rgb.raw >out
same out wanted
run 0 gpufilter -i rgb.raw -o rgb.y4m --raw=22x13:rgb24:24 --subsampling=444
head -n 1 rgb.y4m >line
echo "YUV4MPEG2 W22 H13 F24:1 Ip A1:1 C444" >wanted
same line wanted
run 4 gpufilter -i rgb.raw -o - --raw=22x13:rgb24 grayscale
stderr_like '.*have other channels or bits, and --raw says 22x13:rgb24'
run 4 gpufilter -i in.y4m -o - --raw=20x13:yuv420p
stderr_like '.*have 22x13 pixels, and --raw says 20x13:yuv420p'
for wrong in 22x13 22:rgb24 0x13:rgb24 22x13:rgb99 22x13:rgb24:0 22x13:rgb24:25/0 22x13:rgb24:x 22x13:rgb24:25:1; do
    run 2 gpufilter -i rgb.raw -o - --raw=$wrong
    stderr_like "--raw=$wrong: "
done
run 2 gpufilter -i rgb.raw -i rgb.raw -o out.y4m --raw=22x13:rgb24
stderr_like '--raw is for one input and one output'

begin "the matrix and the range of a film"
{ printf 'YUV4MPEG2 W2 H2 F25:1 Ip C444 XCOLORRANGE=LIMITED XA=b\n' && printf 'FRAME\nddddnnnn\226\226\226\226'; } >flat.y4m
tail -c 12 flat.y4m >flat.yuv
while read -r items colour; do
    run 0 gpufilter -i flat.y4m -o flat.ppm --yuv="$items"
    [ "$(tail -c 3 flat.ppm | od -An -tu1 | tr -s ' ')" = " $colour" ] || problem "$items: $(tail -c 3 flat.ppm | od -An -tu1)"
    run 0 gpufilter -i flat.y4m -o back.y4m --yuv="$items" hflip
    tail -c 12 back.y4m >line
    same line flat.yuv
    run 0 gpufilter -i flat.yuv -o 'raw{n}.ppm' --raw=2x2:yuv444p --yuv="$items"
    same raw1.ppm flat.ppm
done <<'END'
bt601 133 87 61
bt601,full 131 90 68
bt709,limited 137 90 60
bt709,pc 135 93 67
bt2020,tv 135 87 59
full,bt2020 132 90 66
END
for chain in '' hflip; do
    for items in full bt709; do
        run 0 gpufilter -i flat.y4m -o $items.y4m --yuv=$items $chain
        head -n 1 $items.y4m >>lines
    done
done
cat >wanted <<'END'
YUV4MPEG2 W2 H2 F25:1 Ip C444 XA=b XCOLORRANGE=FULL
YUV4MPEG2 W2 H2 F25:1 Ip C444 XCOLORRANGE=LIMITED XA=b
YUV4MPEG2 W2 H2 F25:1 Ip C444 XA=b XCOLORRANGE=FULL
YUV4MPEG2 W2 H2 F25:1 Ip C444 XCOLORRANGE=LIMITED XA=b
END
same lines wanted
run 0 gpufilter -i flat.ppm -o full.y4m --yuv=full --subsampling=444
head -n 1 full.y4m >line
echo "YUV4MPEG2 W2 H2 F25:1 Ip A1:1 C444 XCOLORRANGE=FULL" >wanted
same line wanted
run 2 gpufilter -i flat.y4m -o out.y4m --yuv=bt601,bt709
stderr_is "gpufilter: --yuv=0x3 is not one of bt601, bt709, bt2020, and one of limited, full"

begin "lines as long as may be"
lengthened() {
    printf '%s' "$1" && head -c $((1023 - ${#1})) /dev/zero | tr '\0' a && echo
}
{ lengthened 'YUV4MPEG2 W22 H13 F25:1 Ip A4:3 C420mpeg2 XA=' && lengthened 'FRAME X' && noise 440 1; } >lines.y4m
run 0 gpufilter -i lines.y4m -o out.y4m
same out.y4m lines.y4m
run 0 gpufilter -i lines.y4m -o out.y4m hflip
[ "$(wc -c <out.y4m)" = "$(wc -c <lines.y4m)" ] || problem "$(wc -c <out.y4m) bytes"

begin "a film that is cut: the frames before the cut are written"
size=$(wc -c <in.y4m)
head -c $((size - 10)) in.y4m >cut.y4m
head -c $((size - 446)) in.y4m >wanted
for chain in '' invert,invert; do
    cat cut.y4m | gpufilter -i - -o - $chain >out 2>stderr
    [ $? -eq 4 ] || problem "the status is wrong"
    stderr_like 'stdin: truncated: frame 3 has 430 of its 440 bytes and is left out'
    [ "$(wc -c <out)" = "$(wc -c <wanted)" ] || problem "$(wc -c <out) bytes"
done
run 4 gpufilter -i cut.y4m -o out.y4m
same out.y4m wanted
{ cat in.y4m && echo junk; } >junk.y4m
run 4 gpufilter -i junk.y4m -o out.y4m
stderr_like "junk.y4m: damaged: 'junk' where the next frame should begin, after frame 3"
same out.y4m in.y4m

begin "a film without frames"
head -n 1 in.y4m >empty.y4m
for chain in '' invert; do
    run 4 gpufilter -i empty.y4m -o none.y4m $chain
    stderr_is "gpufilter: empty.y4m: holds no frame"
    absent none.y4m
done
gpufilter -i - -o - --raw=2x2:gray </dev/null 2>stderr && problem "no bytes were accepted"
stderr_like 'stdin: '
run 75 gpufilter -i missing.y4m -o - --log=log
stderr_like 'missing.y4m: No such file'
[ "$(wc -l <log)" = 1 ] || problem "the log lacks the missing file"

begin "damaged headers are refused in a line"
refuse() {
    printf '%s\nFRAME\n' "$1" >bad.y4m
    rm -f out.y4m
    run 4 gpufilter -i bad.y4m -o out.y4m blur
    stderr_like "bad.y4m: $2"
    absent out.y4m
    [ "$(wc -l <stderr)" = 1 ] || problem "several lines: $(cat stderr)"
}
refuse 'YUV4MPEG2 W1000000000 H1000000000 C420' '1000000000x1000000000'
refuse 'YUV4MPEG2 W99999999999999999999 H8' '2147483647x8'
refuse 'YUV4MPEG2 W60000 H60000 C444p16' '60000x60000'
refuse 'YUV4MPEG2 W22' 'damaged: the header of a Y4M states no size'
refuse 'YUV4MPEG2 W-2 H2' "'W-2' in the header of a Y4M is not supported"
refuse 'YUV4MPEG2 W0 H2' "'W0' in the header"
refuse 'YUV4MPEG2 W22 H13 C411' "'C411' in the header"
refuse 'YUV4MPEG2 W22 H13 C444alpha' "'C444alpha' in the header"
refuse 'YUV4MPEG2 W22 H13 C420p17' "'C420p17' in the header"
refuse 'YUV4MPEG2 W22 H13 F25' "'F25' in the header"
refuse 'YUV4MPEG2 W22 H13 Ix' "'Ix' in the header"
refuse 'YUV4MPEG2 W22 H13' 'truncated: frame 1 has 0 of its 440 bytes'

begin "who reads no further ends the run"
if ! command -v bash >/dev/null; then
    skip "no bash here"
else
    run 0 bash -c '"$GPUFILTER" -i long.y4m -o - invert 2>messages | head -c 100 >/dev/null; echo "${PIPESTATUS[0]}"'
    status=$(cat stdout)
    [ "$status" = 141 ] || [ "$status" = 0 ] || problem "exit status $status"
    for i in $(seq 30); do tail -n +2 long.y4m; done >many
    { head -n 1 in.y4m && cat many; } >longer.y4m
    run 0 bash -c '"$GPUFILTER" -i longer.y4m -o - invert 2>messages | head -c 100 >/dev/null; echo "${PIPESTATUS[0]}"'
    [ "$(cat stdout)" = 141 ] || problem "exit status $(cat stdout)"
    [ ! -s messages ] || problem "it complained: $(cat messages)"
fi

begin "a live film: each frame is out before the next one comes"
mkfifo live seen
gpufilter -i live -o seen invert 2>stderr &
job=$!
exec 8<>seen 9>live
size=$(head -n 1 in.y4m | wc -c)
head -c $((size + 446)) in.y4m >&9
timeout 120 head -c $((size + 446)) <&8 >first
[ "$(wc -c <first)" = $((size + 446)) ] || problem "the first frame did not come"
exec 9>&-
wait $job || problem "$(cat stderr)"
exec 8<&-

begin "frames of one film have one size"
printf 'YUV4MPEG2 W4 H4 Cmono\nFRAME\n\1\1\1\1\1\100\100\1\1\100\100\1\1\1\1\1FRAME\n\1\1\1\1\1\100\1\1\1\1\1\1\1\1\1\1' >trim.y4m
run 4 gpufilter -i trim.y4m -o out.y4m trim
stderr_is "gpufilter: out.y4m: 'trim.y4m[1]' has 1x1 pixels, and the first frame 2x2: all have one size (resize=2:2:fit=contain)"

begin "a film and its sound through ffmpeg"
if ! ffmpeg -v quiet -f lavfi -i testsrc2=s=64x48:d=0.4 -f lavfi -i sine=d=0.4 -c:v mpeg4 -y clip.mp4 </dev/null; then
    skip "no ffmpeg that makes a clip"
else
    run 0 sh "$here/../samples/film.sh" clip.mp4 out.mp4 invert,invert
    ffprobe -v error -show_entries stream=codec_type,nb_frames,r_frame_rate -of csv=p=0 clip.mp4 >wanted
    ffprobe -v error -show_entries stream=codec_type,nb_frames,r_frame_rate -of csv=p=0 out.mp4 >kinds
    same kinds wanted
fi

begin "a film in a container is answered by a command"
printf '\0\0\0\40ftypisom\0\0\2\0isomiso2avc1mp41' >clip.mp4
run 4 gpufilter -i clip.mp4 -o out.png
stderr_like 'clip.mp4: is a film (MP4 or QuickTime), which ffmpeg reads and writes: ffmpeg -i clip.mp4 -f yuv4mpegpipe'
printf '\32\105\337\243\1\0\0\0\0\0\0\43' >clip.dat
run 4 gpufilter -i clip.dat -o out.png
stderr_like 'clip.dat: is a film (Matroska or WebM)'
