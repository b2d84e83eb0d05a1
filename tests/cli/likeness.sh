# --compare. The figures are scikit-image's (structural_similarity with gaussian_weights=True, sigma=1.5,
# use_sample_covariance=False; peak_signal_noise_ratio); MS-SSIM is scipy's and OpenCV's (five scales by INTER_AREA).
goldens=$here/filters/goldens

begin "--compare prints what scikit-image says of the same pictures"
while read -r a b largest mean psnr ssim; do
    run 0 gpufilter --compare="$goldens/$a" "$goldens/$b"
    silent
    printf 'largest  %s\nmean     %s\npsnr     %s dB\nssim     %s\nms-ssim  -\n' "$largest" "$mean" "$psnr" "$ssim" |
        cmp -s - stdout || problem "$a and $b: $(cat stdout)"
done <<'END'
rgb.ppm 00.ppm 172 15.2118 20.40 0.60427
gray16.pgm 04.pgm 18118 3571.6747 22.48 0.48891
END
run 0 gpufilter -i "$goldens/rgb.ppm" -o large.ppm resize=201:183
run 0 gpufilter -i large.ppm -o noisy.ppm blur=2,addnoise=0.05
for threads in 1 3; do
    run 0 gpufilter --threads=$threads --compare=large.ppm noisy.ppm
    stdout_has '^psnr     24.37 dB$'
    stdout_has '^ssim     0.44149$'
    stdout_has '^ms-ssim  0.88238$'
done
run 0 gpufilter --compare=in.ppm - <in.ppm
printf 'largest  0\nmean     0.0000\npsnr     inf dB\nssim     1.00000\nms-ssim  -\n' | same - stdout

begin "--compare=FILE:json prints the same as JSON, with limits or without"
run 0 gpufilter --compare="$goldens/rgb.ppm:json" "$goldens/00.ppm"
silent
stdout_has '^{"largest":172,"mean":15.2117[0-9]*,"psnr":20.401[0-9]*,"ssim":0.60426[0-9]*,"ms_ssim":null,"equal":false}$'
run 1 gpufilter --compare="$goldens/rgb.ppm:json:min-ssim=0.9" "$goldens/00.ppm"
stdout_has '^{"largest":172,'
run 0 gpufilter --compare=in.ppm:max-largest=0:json in.ppm
[ "$(cat stdout)" = '{"largest":0,"mean":0,"psnr":null,"ssim":1,"ms_ssim":null,"equal":true}' ] ||
    problem "the JSON is $(cat stdout)"
cp stdout one
run 0 gpufilter --compare=json in.ppm in.ppm
same one stdout
run 1 gpufilter --compare=json:min-ssim=0.9 "$goldens/rgb.ppm" "$goldens/00.ppm"
stdout_has '^{"largest":172,'
run 2 gpufilter --compare=in.ppm in.ppm in.ppm
run 0 gpufilter --man=reports
for key in largest mean psnr ssim ms_ssim ssimulacra2 psnr_hvs_m deltae2000 equal; do stdout_has "^.fB$key.fR\$"; done

begin "--compare and --profile=compare turn a picture upright by its EXIF orientation"
for orientation in 01 02 03 04 05 06 07 10; do # in octal
    # shellcheck disable=SC2059 # the octal digits are the format
    {
        head -c 2 in.jpg
        printf '\377\341\000\042Exif\000\000MM\000\052\000\000\000\010'
        printf "\\000\\001\\001\\022\\000\\003\\000\\000\\000\\001\\000\\0$orientation\\000\\000\\000\\000\\000\\000"
        tail -c +3 in.jpg
    } >turned.jpg
    run 0 gpufilter -i turned.jpg -o upright.ppm
    run 0 gpufilter --compare=upright.ppm turned.jpg
    silent
    stdout_has '^largest  0$'
    run 0 gpufilter --device=cpu --threads=1 --profile=compare -i turned.jpg invert
    silent
done

begin "limits of --compare set the exit status"
run 0 gpufilter --compare=large.ppm:min-ssim=0.4:min-psnr=24:max-largest=135:max-mean=12:min-ms-ssim=0.88 noisy.ppm
silent
run 1 gpufilter --compare=large.ppm:min-ssim=0.45 noisy.ppm
stderr_like 'noisy.ppm: ssim is 0.44149[0-9]*, less than 0.45$'
stdout_has '^ssim '
run 1 gpufilter --compare=large.ppm:max-largest=134:min-ssim=0.1 noisy.ppm
stderr_is 'gpufilter: noisy.ppm: largest is 135, more than 134'
run 1 gpufilter --compare=in.ppm:min-ssimulacra2=100.00001 in.ppm
stderr_is 'gpufilter: in.ppm: ssimulacra2 is 100, less than 100.00001'
run 4 gpufilter --compare=in.ppm:min-ms-ssim=0 in.ppm
stderr_is 'gpufilter: in.ppm: too small a picture for ms-ssim'
cp in.ppm a:b.ppm
run 0 gpufilter --compare=a:b.ppm:min-psnr=50 in.ppm
while IFS='|' read -r value message; do
    run 2 gpufilter --compare="$value" in.ppm
    stderr_is "gpufilter: --compare: $message"
done <<'END'
in.ppm:ssim=0.9|'ssim=0.9' is no limit such as min-ssim=0.98 or max-largest=2
in.ppm:min-sim=1|'min-sim=1' is no limit such as min-ssim=0.98 or max-largest=2
in.ppm:min-ssim=high|min-ssim=high is not a number
in.ppm:max-psnr=9|'max-psnr=9' is no limit such as min-ssim=0.98 or max-largest=2
:min-ssim=1|the name of the file is empty
END
for operands in '' 'in.png in.ppm'; do
    # shellcheck disable=SC2086 # none or two
    run 2 gpufilter --compare=in.ppm $operands
    stderr_is 'gpufilter: --compare=FILE takes one other picture behind it: --compare=a.png b.png'
done
for words in json measures=psnr min-ssim=0.9; do
    run 2 gpufilter --compare=$words in.ppm
    stderr_is "gpufilter: --compare=$words takes two pictures behind it: a.png b.png"
done

begin "--compare prints the measures that it is asked for"
for threads in 1 2 5; do
    run 0 gpufilter --threads=$threads --compare=large.ppm:measures=ssimulacra2,psnr noisy.ppm
    silent
    printf 'psnr        24.37 dB\nssimulacra2 13.10259\n' | same - stdout
done
for threads in 1 3; do
    run 0 gpufilter --threads=$threads --compare=measures=deltae2000,psnr-hvs-m large.ppm noisy.ppm
    silent
    printf 'psnr-hvs-m 26.03 dB\ndeltae2000 6.76008\n' | same - stdout
done
run 1 gpufilter --compare=large.ppm:measures=mean:max-deltae2000=1 noisy.ppm
stderr_like 'noisy.ppm: deltae2000 is [0-9.]*, more than 1$'
run 0 gpufilter --compare=json:measures=psnr-hvs-m,deltae2000 in.ppm in.ppm
[ "$(cat stdout)" = '{"psnr_hvs_m":null,"deltae2000":0,"equal":true}' ] || problem "the JSON is $(cat stdout)"
run 0 gpufilter --compare=json:measures=ssim,ssimulacra2 in.ppm in.ppm
[ "$(cat stdout)" = '{"ssim":1,"ssimulacra2":100,"equal":true}' ] || problem "the JSON is $(cat stdout)"
run 1 gpufilter --compare=large.ppm:min-ssimulacra2=70:measures=mean noisy.ppm
stderr_like 'noisy.ppm: ssimulacra2 is .*, less than 70$'
[ "$(cut -d ' ' -f 1 stdout | tr '\n' ' ')" = 'mean ssimulacra2 ' ] || problem "stdout: $(cat stdout)"
run 0 gpufilter --compare=large.ppm:min-ssimulacra2=-100 noisy.ppm
stdout_has '^ms-ssim     0.88238$'
run 0 gpufilter -i in.ppm -o low.ppm crop=20:7
run 4 gpufilter --compare=low.ppm:measures=ssimulacra2 low.ppm
stderr_is 'gpufilter: low.ppm: too small a picture for ssimulacra2'
run 4 gpufilter --compare=low.ppm:min-psnr-hvs-m=1 low.ppm
stderr_is 'gpufilter: low.ppm: too small a picture for psnr-hvs-m'
run 4 gpufilter --memory=1M --compare=large.ppm:measures=ssimulacra2 noisy.ppm
stderr_like 'large.ppm: .*it is compared as a whole'
run 0 gpufilter -i in.ppm -o wide.ppm resize=2000:1500
for measure in mean ssim ssimulacra2 psnr-hvs-m deltae2000; do
    run 4 gpufilter --timeout=0.001 --compare=wide.ppm:measures=$measure wide.ppm
    stderr_is 'gpufilter: wide.ppm: takes longer than --timeout=0.001'
done
run 2 gpufilter --compare=in.ppm:measures=ssim,vmaf in.ppm
stderr_is "gpufilter: --compare: measures=ssim,vmaf: 'vmaf' is none of largest, mean, psnr, ssim, ms-ssim, ssimulacra2, psnr-hvs-m, relmse, deltae2000"

begin "--compare refuses pictures of different formats in one line"
run 4 gpufilter --compare=in.ppm large.ppm
stderr_is "gpufilter: in.ppm is 77x55 RGB, 8 bits, large.ppm is 201x183 RGB, 8 bits: only pictures of one format can be compared"
run 75 gpufilter --compare=in.ppm none.ppm
stderr_is 'gpufilter: none.ppm: No such file or directory'

begin "--compare takes floats as they are, and says if any is beyond 0..1 where a measure clamps"
run 0 gpufilter -i in.ppm -o float.npy float
run 0 gpufilter -i in.ppm -o wide.pam float,integer=16
run 0 gpufilter --compare=float.npy:max-largest=0 wide.pam
silent
run 0 gpufilter -i float.npy -o beyond.pfm exposure=1
run 0 gpufilter -i float.npy -o clamped.pam exposure=1,integer=16
run 1 gpufilter --compare=beyond.pfm:measures=largest:max-largest=0 clamped.pam
stderr_like 'clamped.pam: largest is 0.3[0-9]*, more than 0$'
run 0 gpufilter --compare=beyond.pfm:min-ssim=0 clamped.pam
stderr_like 'warning: beyond.pfm: [0-9]* samples were NaN or outside of 0..1, and are clamped$'

begin "--compare draws the differences, the largest as the full scale"
run 0 gpufilter -i in.ppm -o bright.ppm brightness=-0.02,levels=channel=red:gamma=1.1
run 0 gpufilter --compare=in.ppm bright.ppm -o diff.ppm
silent
run 0 gpufilter --compare=diff.ppm diff.ppm -o black.ppm
run 0 gpufilter -i in.ppm -o zero.ppm brightness=-1
same black.ppm zero.ppm
[ "$(od -An -v -tu1 -j13 diff.ppm | tr -s ' ' '\n' | sort -n | tail -n 1)" = 255 ] || problem "the largest is not 255"
run 0 gpufilter -i in.ppm -o clear.pam round=20
run 0 gpufilter -i in.ppm -o opaque.pam round=0
run 0 gpufilter --compare=opaque.pam clear.pam -o corners.pam
grep -qa 'TUPLTYPE RGB$' corners.pam || problem "the picture of differences has alpha"
run 2 gpufilter --compare=in.ppm bright.ppm -o in.png/d.png
stderr_like 'in.png.*: Not a directory'

begin "--compare knows the format of its drawing before it compares"
run 2 gpufilter --compare=in.ppm bright.ppm -o diff.xyz
stderr_like 'diff.xyz: the extension says no format: use .* or --format$'
[ ! -s stdout ] || problem "stdout: $(cat stdout)"
absent diff.xyz

begin "--compare has one output"
run 2 gpufilter --compare=in.ppm bright.ppm -o first.ppm -o second.ppm
stderr_is 'gpufilter: --compare has one output, not 2'
absent first.ppm

begin "--compare draws over neither of its pictures"
cp bright.ppm kept.ppm
for picture in in.ppm bright.ppm; do
    run 2 gpufilter --compare=in.ppm:min-psnr=1 bright.ppm -o "$picture"
    stderr_is "gpufilter: --output and a compared picture are the same file: '$picture'"
done
same bright.ppm kept.ppm

begin "--compare says that it looks at the first picture of an animation"
run 0 gpufilter -i in.ppm -o still.png
{
    head -c 33 still.png
    printf '\0\0\0\10acTL\0\0\0\2\0\0\0\0\363\215\223\160'
    tail -c +34 still.png
} >moving.png
run 0 gpufilter --compare=in.ppm moving.png
stderr_is 'gpufilter: warning: moving.png: holds 3 pictures: the first is taken; moving.png[1] is the second'
run 0 gpufilter -q --compare=in.ppm moving.png
silent
run 0 gpufilter -i moving.png -o first.ppm
stderr_is 'gpufilter: warning: moving.png: holds 3 pictures: the first is taken; moving.png[1] is the second'
run 0 gpufilter -i 'moving.png[0]' -o first.ppm
silent

begin "--compare of chosen frames prints a row for each, then the means and the worst, on which limits are"
for quality in 30 60 90; do
    run 0 gpufilter -i large.ppm -o q$quality.ppm "blur=${quality}e-1"
done
run 0 gpufilter -i q30.ppm -i q60.ppm -i q90.ppm -o a.y4m --fps=5 --subsampling=444
run 0 gpufilter -i q60.ppm -i q60.ppm -i q60.ppm -o b.y4m --fps=5 --subsampling=444
run 1 gpufilter --compare='a.y4m[all]:measures=psnr,ssimulacra2:min-psnr=90' b.y4m
stderr_like 'b.y4m\[0\]: psnr is [0-9.]*, less than 90$'
awk '{ print $NF }' stdout | tr '\n' ' ' >names
[ "$(cat names)" = 'file b.y4m[0] b.y4m[1] b.y4m[2] mean worst ' ] || problem "the rows are $(cat names)"
awk 'NR == 6 && $1 != least { exit 1 } NR == 2 { least = $1 } NR > 2 && NR < 5 && $1 + 0 < least { least = $1 }' stdout ||
    problem "the worst is $(cat stdout)"
run 0 gpufilter --compare=json:measures=largest 'a.y4m[all]' - <a.y4m
printf '{"file":"-[%s]","largest":0,"equal":true}\n' 0 1 2 >expected
printf '{"pairs":3,"means":{"largest":0},"worst":{"largest":0},"equal":true}\n' >>expected
same stdout expected
if gpufilter --version | grep -q '^formats:.*GIF'; then
    run 0 gpufilter -q -i q30.ppm -i q60.ppm -o a.gif --fps=5
    run 0 gpufilter -q -i q30.ppm -o b.gif
    run 0 gpufilter --compare=max-largest=0 "a.gif[0..1]" a.gif
    run 4 gpufilter --compare=max-mean=255 'a.gif[all]' b.gif
    stderr_is 'gpufilter: b.gif has 1 picture, and a.gif[all] has more'
    run 2 gpufilter --compare='a.gif[all]' a.gif -o out.png
    stderr_is "gpufilter: --compare draws two pictures, not several: 'out.png'"
fi

begin "--compare=WORDS takes both pictures behind it, with any words"
run 0 gpufilter --compare=measures=psnr in.ppm in.ppm
printf 'psnr     inf dB\n' | same - stdout
run 1 gpufilter --compare=min-psnr=90:json in.ppm bright.ppm
stderr_like 'bright.ppm: psnr is'

begin "--compare of two folders pairs files by name, names those without a partner, and goes on after a failure"
mkdir -p old/deep new/deep
cp large.ppm old/a.ppm
cp large.ppm old/deep/b.ppm
cp in.ppm old/c.v1.ppm
run 0 gpufilter -i noisy.ppm -o new/a.png
cp large.ppm new/deep/b.ppm
cp in.ppm new/c.v1.ppm
run 0 gpufilter -r --compare=old:measures=psnr:min-psnr=20 new
silent
printf '       psnr  file\n   24.37 dB  new/a.png\n     inf dB  new/c.v1.ppm\n     inf dB  new/deep/b.ppm\n' >expected
printf '   29.14 dB  mean\n   24.37 dB  worst\n' >>expected # of the mean square: 24.37 dB, and nothing twice
same stdout expected
run 1 gpufilter -r --compare=old:min-psnr=30 new
stderr_like 'new/a.png: psnr is 24.3[0-9]*, less than 30$'
cp in.ppm old/c.ppm
cp large.ppm new/c.v2.ppm
cp in.ppm old/e.pam
cp in.ppm old/e.ppm
cp in.ppm new/e.ppm
run 1 gpufilter --compare=json:measures=mean old new
printf 'gpufilter: %s\n' 'old/c.ppm: has no partner in new' 'new/c.v2.ppm: has no partner in old' \
    'old/e.pam: has no partner in new' '3 files have no partner' >expected
same stderr expected
grep -q '^{"file":"old/c.ppm","error":"old/c.ppm: has no partner in new"}$' stdout || problem "the JSON is $(cat stdout)"
tail -n 1 stdout | grep -q '^{"pairs":3,.*"equal":false}$' || problem "the last line is $(tail -n 1 stdout)"
cp in.ppm new/a.png
run 4 gpufilter --compare=old new
grep -q 'only pictures of one format can be compared' stderr || problem "stderr: $(cat stderr)"
stdout_has 'new/c.v1.ppm$'
mkdir odd
cp in.ppm "odd/$(printf 'a\nb\033[31m.ppm')"
run 0 gpufilter --compare=odd:measures=largest odd
stdout_has ' odd/a?b?\[31m.ppm$'
run 2 gpufilter --compare=old new -o out.png
stderr_is "gpufilter: --compare draws two pictures, not several: 'out.png'"
for other in missing in.ppm; do
    run 4 gpufilter --compare=old $other
    stderr_is "gpufilter: old is a folder, and $other is none"
done

begin "--compare of two folders tells the same in the same order whatever the threads and the memory"
mkdir many few
for i in 1 2 3 4 5 6 7 8; do
    run 0 gpufilter -q -i noisy.ppm -o many/$i.png "crop=$((40 + 9 * i)):40:0:0"
    run 0 gpufilter -q -i many/$i.png -o few/$i.jpg --quality=$((10 * i))
done
head -c 400 many/3.png >half && mv half many/3.png
run 4 gpufilter --compare=many:json:measures=psnr,ssimulacra2 few --threads=1
mv stdout expected
mv stderr told
[ "$(grep -c . expected)" = 9 ] || problem "the lines are $(cat expected)"
grep -q '"error":"many/3.png: truncated .*--allow-truncated' expected || problem "the lines are $(cat expected)"
for threads in 3 8 20; do
    run 4 gpufilter --compare=many:json:measures=psnr,ssimulacra2 few --threads=$threads --memory=3M
    same stdout expected
    same stderr told
done
if gpufilter --devices | grep -q '^cuda:'; then # whose coders decode the pairs
    run 4 gpufilter --compare=many:json:measures=psnr,ssimulacra2 few --device=cuda
    same stdout expected
    same stderr told
fi
rm many/* few/*
for name in many/a few/a many/b few/b; do
    run 0 gpufilter -i large.ppm -o $name.ppm resize=2000:2000
done
run 4 gpufilter --compare=many few --threads=2 --timeout=0.001
[ "$(grep -c '^gpufilter: \(few\|many\)/[ab].ppm: .*--timeout' stderr)" = 2 ] || problem "stderr: $(cat stderr)"

begin "--compare honours the profiles of both pictures"
if gpufilter -i large.ppm -o p3.png icc=display-p3 2>/dev/null; then
    run 0 gpufilter --compare=large.ppm:max-largest=2:measures=psnr,ssimulacra2:min-ssimulacra2=96 p3.png
    silent
    run 0 gpufilter -i p3.png -o blurred.png blur=0.5
    run 0 gpufilter -i p3.png -o p3.ppm
    run 0 gpufilter -i blurred.png -o blurred.ppm
    run 0 gpufilter --compare=p3.ppm blurred.ppm
    mv stdout expected
    run 0 gpufilter --compare=p3.png blurred.png
    same stdout expected # the samples of one profile are compared as they are
    run 0 gpufilter --compare=json:measures=ssimulacra2 p3.png blurred.png
    mv stdout eight
    for name in p3 blurred; do
        run 0 gpufilter -i $name.png -o $name.16.png --depth=16
    done
    run 0 gpufilter --compare=json:measures=ssimulacra2 p3.16.png blurred.16.png
    same stdout eight
    run 0 gpufilter --compare=json:measures=ssimulacra2 p3.ppm blurred.ppm
    ! cmp -s stdout eight || problem "the score ignores the profile"
    run 0 gpufilter --compare=json:measures=deltae2000 p3.png blurred.png
    mv stdout eight
    run 0 gpufilter --compare=json:measures=deltae2000,ssimulacra2 p3.16.png blurred.16.png
    grep -q "$(sed 's/,"equal.*//; s/^{//' eight)" stdout || problem "$(cat eight) became $(cat stdout)"
else
    skip "without Little CMS"
fi
