# shellcheck shell=sh
# Many pictures: the forms of -i and -o, skipped files, failures, and the log.
mkdir -p many/sub/deep
for each in a b c; do cp in.ppm "many/$each.ppm"; done
cp in.png many/sub/d.png
cp in.jpg many/sub/deep/e.JPG
cp in.ppm many/.hidden.ppm
echo 'no picture' >many/notes.txt
gpufilter -i in.ppm -o expected.ppm invert
head -c 3000 in.ppm >cut.ppm

# listed FOLDER: the files in it, one line.
listed()
{
    (cd "$1" && find . -type f | sed 's,^\./,,' | sort | tr '\n' ' ')
}

# holds FOLDER 'NAME NAME '
holds()
{
    [ "$(listed "$1")" = "$2" ] || problem "$1 holds $(listed "$1"), not $2"
}

begin "a folder into a folder that is not there yet"
run 0 gpufilter -i many -o out1 invert
stderr_like '3 files done in '
holds out1 'a.ppm b.ppm c.ppm '
same out1/b.ppm expected.ppm

begin "--recursive keeps the folders, and does not search where the results go"
run 0 gpufilter -i many --recursive -o many/out invert
holds many/out 'a.ppm b.ppm c.ppm sub/d.png sub/deep/e.JPG '
run 0 gpufilter -i many -r -o many/out invert
holds many/out 'a.ppm b.ppm c.ppm sub/d.png sub/deep/e.JPG '
rm -r many/out

begin "files, patterns and folders together, --format and the extension"
run 0 gpufilter -i in.png -i 'many/[ab]*.ppm' -i many/sub -o out2/ --format=jpg
holds out2 'a.jpg b.jpg d.jpg in.jpg '
for pattern in '*.png' '?n.png' '[i]n.png'; do
    rm -rf out2
    run 0 gpufilter -i "$pattern" -o out2/ --format=jpg
    holds out2 'in.jpg '
done

begin "the fields of a template"
run 0 gpufilter -i many/b.ppm -i many/sub/d.png -o 'out3/{dir}/{n:3}_{stem}_{w}x{h}.{ext}' resize=50%
holds out3 'many/001_b_39x28.ppm many/sub/002_d_39x28.png '
run 0 gpufilter -i in.ppm -o 'out3/{{x}}.ppm'
[ -f 'out3/{x}.ppm' ] || problem "no {x}.ppm but $(listed out3)"
run 2 gpufilter -i in.ppm -o 'out3/{stme}.png'
stderr_like ".*'{stme}' is none of"
run 0 gpufilter -i ./../"$(basename "$PWD")"/in.ppm -o 'out3/{dir}/up.ppm'
[ -f "out3/$(basename "$PWD")/up.ppm" ] || problem "dots in {dir}: $(listed out3)"

begin "a name of dots does not lead out of the output's folder"
mkdir -p dots out3d
cp in.ppm 'dots/...ppm'
echo 'dots/...ppm' >dots.list
run 0 gpufilter -i 'dots/...ppm' -o 'out3d/sub/{stem}/victim.ppm'
run 0 gpufilter -i @dots.list -o 'out3d/sub/{stem}/victim.png'
holds out3d 'sub/__/victim.png sub/__/victim.ppm '
cp in.ppm dots/.ppm
run 0 gpufilter -i dots/.ppm -o 'out3d/{stem}.{ext}'
[ -f out3d/.ppm.ppm ] || problem "$(listed out3d)"

begin "lists: names as they are, a line or a NUL each, from a file or standard input"
cp in.ppm 'two words.ppm'
cp in.ppm "new
line*.ppm"
printf 'in.ppm\ntwo words.ppm\n\nin.png' >list
run 0 gpufilter -i @list -o out4
holds out4 'in.png in.ppm two words.ppm '
printf '\357\273\277in.ppm\r\ntwo words.ppm\r\n' >marked
run 0 gpufilter -i @marked -o marked_out
holds marked_out 'in.ppm two words.ppm '
printf '\377\376i\0n\0.\0p\0p\0m\0\n\0' >wide
run 2 gpufilter -i @wide -o out6
stderr_is "gpufilter: wide: it is UTF-16; only UTF-8 is read"
cp in.ppm "$(printf '\357\273\277x.ppm')" # a name may begin so
ls *x.ppm >marked
run 0 gpufilter -i @marked -o marked_name
holds marked_name "$(ls *x.ppm) "
printf 'in.ppm\0new\nline*.ppm\0' >list0
gpufilter -0 -i @- -o out5 <list0 2>stderr || problem "-0 failed: $(cat stderr)"
[ "$(find out5 -type f | wc -l)" -eq 3 ] || problem "-0: $(listed out5)" # a line break counts
run 4 gpufilter -i @list0 -o out6
stderr_like 'list0: holds NUL bytes: -0'
: >empty
run 4 gpufilter -i @empty -o out6
stderr_like 'empty: the list names no file'
mkdir bare
run 4 gpufilter -i @/dev/zero -o out6
stderr_is "gpufilter: /dev/zero: more than 1 MB in a line is no list"
run 4 gpufilter -i bare -o out6
stderr_like 'bare: holds no'
run 75 gpufilter -i 'bare/*.png' -o out6
stderr_like 'bare/\*.png: no such file'
absent out6

begin "a folder whose name has a dot ends in a slash, and the messages say so"
mkdir -p single/one single/there.v1
cp in.ppm single/one
for format in '' --format=png; do
    for input in many single/one; do
        run 2 gpufilter -i "$input" -o single/results.v1 $format
        stderr_like 'single/results.v1: the extension says no format; a folder ends in / or is there$'
    done
done
run 2 gpufilter -i in.ppm -o single/results
stderr_like 'single/results: the extension says no format: .* or --format; a folder ends in / or is there$'
run 2 gpufilter -i many -o single/all.png
stderr_like "'many/a.ppm' and 'many/b.ppm' would both be written to 'single/all.png'; a folder, which ends in / or is there, or "
run 0 gpufilter -i single/one -o single/results.v1/
run 0 gpufilter -i many -o single/there.v1
run 0 gpufilter -i in.ppm -o single/file.v1 --format=ppm
holds single 'file.v1 one/in.ppm results.v1/in.ppm there.v1/a.ppm there.v1/b.ppm there.v1/c.ppm '

begin "two inputs for one output are refused before anything is written"
run 2 gpufilter -i in.ppm -i in.png -o out6/x.png
stderr_like "'in.*' and 'in.*' would both be written to 'out6/x.png'"
mkdir -p other/a && cp in.ppm other/a/a.ppm
run 2 gpufilter -i many/a.ppm -i other/a/a.ppm -o out6/
stderr_like "'many/a.ppm' and 'other/a/a.ppm' would both be written to 'out6//*a.ppm'"
ln -s many/sub link
run 2 gpufilter -i many/sub/d.png -i link/d.png -o '{dir}/x.png'
stderr_like '.* would both be written to '
mkdir linked && ln -s b.ppm linked/a.ppm
run 2 gpufilter -i many -o linked
stderr_like "'many/a.ppm' and 'many/b.ppm' would both be written to 'linked/a.ppm'"
run 2 gpufilter -i many/a.ppm -i many/b.ppm -o 'many/{stem}{w}.ppm' -i many/b77.ppm --format=ppm resize=77:55
[ "$(wc -l <stderr)" -eq 1 ] || problem "not one line: $(cat stderr)"
absent out6
[ -z "$(find . -newer list0 -name 'x.png' -print)" ] || problem "something was written"

begin "an output over another input is refused, over its own without --in-place"
cp many/a.ppm a.ppm && cp many/b.ppm b.ppm
run 2 gpufilter -i a.ppm -i b.ppm -o '{n}.ppm' -i 1.ppm
stderr_like "the output of 'a.ppm' would be written over the input '1.ppm'"
printf 'a.ppm\nb.ppm\n' >both
mkdir own && cp a.ppm b.ppm own/
for names in '-i a.ppm -i b.ppm -o {stem}.ppm' '-i [ab].ppm -o ./' '-i @both -o {dir}/{stem}.ppm' '-i a.ppm -o {stem}.{ext}' \
    '-i own -o own' '-i own -o ./own/../own/' '-i own/a.ppm -o own/'; do
    set -f
    # shellcheck disable=SC2086 # several words
    run 2 gpufilter $names invert
    set +f
    stderr_like ".*a.ppm: its output would replace it: --in-place allows that, -o with another folder keeps it"
    same a.ppm many/a.ppm && same own/a.ppm many/a.ppm && same own/b.ppm many/b.ppm
done
run 0 gpufilter -i a.ppm -i b.ppm -o '{stem}.ppm' --in-place invert
same a.ppm expected.ppm
same b.ppm expected.ppm
run 0 gpufilter -i own -o own --in-place invert
same own/b.ppm expected.ppm
run 0 gpufilter -i own/a.ppm -o own/a.ppm
same own/a.ppm expected.ppm
run 2 gpufilter -i a.ppm -i b.ppm -o '{stem}.ppm' -o 'x/{stem}.ppm' --in-place invert
run 2 gpufilter -i a.ppm -i b.ppm -o '{stem}.ppm' --in-place --resume=log0 invert
stderr_like 'a.ppm: is its own output: --resume could filter it twice'
# A film of three frames, whose second would take its own name, and one frame of it.
mkdir frames && gpufilter -q -i a.ppm -i b.ppm -i many/a.ppm -o frames/2.png --fps=5 invert 2>&1 && cp frames/2.png film.png
run 4 gpufilter -i frames/2.png -o 'frames/{n}.png'
stderr_like 'frames/2.png: is the input itself: --in-place allows that'
run 2 gpufilter -i 'frames/2.png[0]' -o frames invert
same frames/2.png film.png

begin "a file for figures does not replace what the run reads"
mkdir figures && cp many/a.ppm many/b.ppm figures/ && echo figures/a.ppm >figures.list && echo invert >figures.chain
for option in --metrics --trace --profile=html; do
    separator='='
    [ "$option" != --profile=html ] || separator=:
    run 2 gpufilter -i figures -o out_f "$option$separator"figures/a.ppm invert
    stderr_like ".* would replace 'figures/a.ppm', which the run reads"
    run 2 gpufilter -i @figures.list -o out_f "$option$separator"figures.list invert
    run 2 gpufilter -i figures -o out_f --chain-file=figures.chain "$option$separator"figures.chain
    cp in.png figures.png
    for chain in overlay=figures.png invert:region=figures.png; do
        run 2 gpufilter -i figures -o out_f "$option$separator"./figures.png $chain
        stderr_like ".* would replace './figures.png', which the chain reads"
    done
    for output in "-o out_f/none/" "-o out_f/none/{stem}.ppm" "-o out_f/a.ppm -o out_f/none/"; do
        mkdir -p out_f/none
        # shellcheck disable=SC2086 # its words
        run 2 gpufilter -i figures $output "$option$separator"out_f/../out_f/none/b.ppm invert
        stderr_like "out_f/none/b.ppm: is an output and $(echo "$option" | sed 's,--profile=html,the page of --profile,')"
    done
    cp a.ppm there.ppm && ln -s there.ppm link.ppm
    run 2 gpufilter -i a.ppm -o link.ppm "$option$separator"./there.ppm invert
    stderr_like ".* and the output 'link.ppm' are the same file"
    same a.ppm there.ppm
    rm -r out_f link.ppm
done
same in.png figures.png
run 2 gpufilter -i figures -o out_f --log=figures.png overlay=figures.png
stderr_like "the log would replace 'figures.png', which the chain reads"
same in.png figures.png
same figures/a.ppm many/a.ppm
[ "$(cat figures.list figures.chain)" = "figures/a.ppm
invert" ] || problem "a list or a chain was replaced"
absent out_f

begin "an output does not replace a file that the chain reads"
for output in "-o figures.png" "-o ./figures.png" "-o {stem}.png" "-o other.png -o figures.png" "-o .//"; do
    # shellcheck disable=SC2086 # its words
    run 2 gpufilter -i figures/a.ppm $output -i many/a.ppm overlay=figures.png
    run 2 gpufilter -i figures.png -i a.ppm $output overlay=figures.png
done
mkdir logos && cp in.png logos/a.png
run 2 gpufilter -i figures -o 'logos/{stem}.png' overlay=logos/a.png
stderr_like "logos/a.png: is an output and a file that the chain reads; --in-place allows that"
holds logos 'a.png '
run 2 gpufilter -i a.ppm -o logos/a.png invert:region=logos/a.png
stderr_like "the output would replace 'logos/a.png', which the chain reads"
same in.png logos/a.png
same in.png figures.png
gpufilter -q -i a.ppm -i b.ppm -o logo-film.png --fps=5
cp in.png logo-1.png
run 4 gpufilter -i logo-film.png -o 'logo-{n}.png' overlay=logo-1.png
stderr_like "logo-1.png: is an output and a file that the chain reads; --in-place allows that"
run 2 gpufilter -i a.ppm -i b.ppm -o 'logo-{n}.png' --sheet=1x1 overlay=logo-1.png
stderr_like "logo-1.png: is an output and a file that the chain reads; --in-place allows that"
same in.png logo-1.png
run 0 gpufilter -i a.ppm -o logos/a.png --in-place overlay=logos/a.png

begin "the log and the files for figures are different files"
echo kept >run.log
run 2 gpufilter -i a.ppm -o out_s.ppm --log=run.log --metrics=./run.log invert
stderr_like "--metrics and the log are the same file: './run.log'"
[ "$(cat run.log)" = kept ] || problem "$(cat run.log)"
run 2 gpufilter -i a.ppm -o out_s.ppm --metrics=m.txt --trace=figures/../m.txt invert
stderr_like "--metrics and --trace are the same file: 'm.txt'"
run 2 gpufilter -i a.ppm -o out_s.ppm --trace=m.txt --profile=html:./m.txt invert
absent m.txt
absent out_s.ppm

begin "bad files do not stop the others; what is said is in order"
mkdir mixed
cp cut.ppm mixed/1.ppm; cp in.ppm mixed/2.ppm; echo junk >mixed/3.png; cp in.png mixed/4.png; : >mixed/5.jpg
run 75 gpufilter -i mixed -i mixed/6.png -o out7 --log=log7 invert
holds out7 '2.ppm 4.png '
[ "$(sed 's/: .*mixed/ mixed/; s/:.*//; s/.*mixed/mixed/' stderr | head -n 4 | tr '\n' ' ')" = \
    'mixed/1.ppm mixed/3.png mixed/5.jpg mixed/6.png ' ] || problem "order: $(cat stderr)"
[ "$(tail -n 1 stderr)" = 'gpufilter: 4 of 6 files failed, 2 done' ] || problem "summary: $(tail -n 1 stderr)"

begin "a folder tells what it leaves out, and a link to a picture that is away fails"
mkdir -p others/sub
printf 'P5\n1 1\n255\n\100' >others/a.pgm
printf BM >others/b.psd
printf '%%PDF' >others/c.pdf
cp others/a.pgm others/noextension
cp others/a.pgm others/sub/d.pgm
ln -s sub others/sublink
ln -s nowhere others/away
mkfifo others/pipe.pgm
run 0 gpufilter -i others -o out7o invert
stderr_like '1 file done in .*; 5 files were not taken for pictures (-v names them)$'
run 0 gpufilter -v -r -i others -o out7o invert
[ "$(sed -n 's/^gpufilter: \(.*\): not taken for a picture$/\1/p' stderr | tr '\n' ' ')" = \
    'others/away others/b.psd others/c.pdf others/noextension others/pipe.pgm others/sublink ' ] || problem "$(cat stderr)"
holds out7o 'a.pgm sub/d.pgm '
run 0 gpufilter -q -i others -o out7o invert
silent
rm others/away others/pipe.pgm others/noextension others/c.pdf others/sublink
ln -s /nowhere/e.pgm others/e.pgm
for input in 'others/*.pgm' others; do
    run 75 gpufilter -i "$input" -o out7o invert
    grep -q '^gpufilter: others/e.pgm: No such file or directory$' stderr || problem "$(cat stderr)"
done
[ "$(tail -n 1 stderr)" = \
    'gpufilter: 1 of 2 files failed, 1 done; 1 file was not taken for a picture (-v names it)' ] || problem "$(cat stderr)"
rm others/*.pgm
run 4 gpufilter -i others -o out7o invert
stderr_like 'others: holds no picture of a known format, but 1 other file (--recursive'

begin "the log: a line of JSON for each"
if ! command -v python3 >/dev/null; then
    skip "no python3 here"
else
    run 0 python3 - log7 <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert sorted(line["index"] for line in lines) == [1, 2, 3, 4, 5, 6], lines
by = {line["input"]: line for line in lines}
assert {name for name, line in by.items() if line["status"] == "ok"} == {"mixed/2.ppm", "mixed/4.png"}
good = by["mixed/2.ppm"]
assert good["output"] == "out7/2.ppm" and good["bytes_in"] == 44428 and good["bytes_out"] == 12718, good
assert (good["width"], good["height"]) == (77, 55) and good["device"] and good["message"] == ""
assert good["decoder"] in ("cpu", "gpu") and good["encoder"] in ("cpu", "gpu")
assert set(good["ms"]) == {"total", "decode", "upload", "filter", "download", "encode"}
assert good["ms"]["total"] > 0 and good["ms"]["decode"] > 0
assert "truncated" in by["mixed/1.ppm"]["message"] and by["mixed/1.ppm"]["status"] == "failed"
END
fi

begin "names that are no UTF-8 go through the log and back"
mkdir bytes
cp in.ppm "$(printf 'bytes/\377"\\\t\n.ppm')"
cp in.ppm "$(printf 'bytes/\303\244.ppm')"
run 0 gpufilter -i bytes -o out8 --log=log8 invert
rm -f out8/*
run 0 gpufilter -i bytes -o out8 --resume=log8 invert
[ "$(find out8 -type f -print0 | tr -dc '\0' | wc -c)" -eq 2 ] || problem "what is gone was not done again"
touch -d @1 out8/*
run 0 gpufilter -i bytes -o out8 --resume=log8 invert
[ -z "$(find out8 -type f -newermt @2)" ] || problem "what is done was done again"

begin "--resume: what is done is left, what failed, is gone, was cut or had another chain is not"
run 0 gpufilter -i many -o out9 --log=log9 invert
cp log9 log9.first
touch -d @1 out9/*
rm out9/a.ppm
printf x >>out9/b.ppm && touch -d @1 out9/b.ppm
run 0 gpufilter -i many -o out9 --resume=log9 invert
same out9/a.ppm expected.ppm
same out9/b.ppm expected.ppm
[ -n "$(find out9/c.ppm ! -newermt @2)" ] || problem "c.ppm was done again"
[ "$(wc -l <log9)" -eq 5 ] || problem "the log has $(wc -l <log9) lines"
touch -d @1 out9/*
run 0 gpufilter -i many -o out9 --resume=log9 blur
[ "$(find out9 -type f -newermt @2 | wc -l)" -eq 3 ] || problem "another chain: not all were done again"
run 0 gpufilter -i mixed/2.ppm -o out9/2.ppm --resume=never_written invert
[ "$(wc -l <never_written)" -eq 1 ] || problem "a new log was not begun"
run 2 gpufilter -i in.ppm -o x.ppm --log=l1 --resume=l2
stderr_like '--log and --resume name different files'

begin "--resume: what was made of another input, or with another table, mask or text, is made again"
mkdir stale
printf 'P5\n1 1\n255\n\100' >stale/a.pgm
printf 'P5\n1 1\n255\n\300' >stale/b.pgm
printf 'LUT_1D_SIZE 2\n0 0 0\n1 1 1\n' >stale.cube
printf 'P5\n1 1\n255\n\377' >stale_mask.pgm
stale_chain=lut=stale.cube,mask=stale_mask.pgm
# resumed DONE SKIPPED: a run that goes on with the log
resumed()
{
    run 0 gpufilter -i stale -o stale_out --resume=stale.log $stale_chain
    case "$(cat stderr)" in
    *"$1 done, $2 skipped"* | *"$1 done in"*) ;;
    *) problem "not $1 done, $2 skipped: $(cat stderr)" ;;
    esac
}
resumed '2 files' 0
resumed '0 files' 2
printf 'LUT_1D_SIZE 2\n1 1 1\n0 0 0\n' >stale.cube
resumed '2 files' 0
printf 'P5\n1 1\n255\n\277' >inverted.pgm
same stale_out/a.pgm inverted.pgm
printf 'P5\n1 1\n255\n\376' >stale_mask.pgm
resumed '2 files' 0
printf 'P5\n1 1\n255\n\200' >stale/b.pgm
touch -d '1 hour ago' stale/b.pgm
resumed '1 file' 1
touch -d '2 hours ago' stale/a.pgm
resumed '1 file' 1
resumed '0 files' 2
rm stale/a.pgm
run 0 gpufilter -i stale/a.pgm -i stale/b.pgm -o stale_out --resume=stale.log $stale_chain
stderr_like '0 files done, 2 skipped'
if gpufilter -i in.png -o texted.png text=a 2>/dev/null; then
    echo one >stale.txt
    run 0 gpufilter -i in.png -o texted.png --resume=text.log text:file=stale.txt
    cp texted.png texted_one.png
    echo two >stale.txt
    run 0 gpufilter -i in.png -o texted.png --resume=text.log text:file=stale.txt
    cmp -s texted.png texted_one.png && problem "the text is the old one"
    printf 'a\nb' >first.txt && printf c >second.txt
    chain=text:file=first.txt,text:file=second.txt:gravity=southeast
    run 0 gpufilter -i in.png -o texted.png --resume=text.log $chain
    printf a >first.txt && printf '\nbc' >second.txt
    run 0 gpufilter -i in.png -o texted.png --resume=text.log $chain
    run 0 gpufilter -i in.png -o texted_new.png $chain
    same texted.png texted_new.png
fi

begin "--resume: a pipe is read again, and a picture of a file has the file's time"
cat stale/b.pgm | gpufilter -q -i - -o piped.pgm --resume=piped.log
cat inverted.pgm | gpufilter -q -i - -o piped.pgm --resume=piped.log
same piped.pgm inverted.pgm
cp stale/b.pgm older.pgm
touch -d '1 hour ago' older.pgm
gpufilter -q -i - -o piped.pgm --resume=piped.log <older.pgm
same piped.pgm older.pgm
cp stale/b.pgm paged.pgm
run 0 gpufilter -i 'paged.pgm[0]' -o paged_out.pgm --resume=paged.log
cp inverted.pgm paged.pgm
run 0 gpufilter -i 'paged.pgm[0]' -o paged_out.pgm --resume=paged.log
same paged_out.pgm inverted.pgm
touch -d '1 hour ago' paged.pgm
printf old >paged_out.pgm
run 0 gpufilter -i 'paged.pgm[0]' -o paged_out.pgm --update
[ "$(cat paged_out.pgm)" = old ] || problem "--update: what is up to date was written"
run 2 gpufilter -i 'paged.pgm[0]' -o paged.pgm --resume=paged.log
stderr_like 'paged.pgm\[0\]: is its own output'

begin "--resume: of a log without identities what is no older than its input is done"
run 0 gpufilter -i many/sub -i stale -r -o out9i --log=log9i invert
sed -i 's/,"identity":"[^"]*"//' log9i
touch -d '1 hour' stale/b.pgm
run 0 gpufilter -i many/sub -i stale -r -o out9i --resume=log9i invert
stderr_like '1 file done, 2 skipped'

begin "--resume: what one codec wrote is the other's, too"
run 0 gpufilter -i many -o out9c --log=log9c invert
touch -d @1 out9c/*
run 0 gpufilter -i many -o out9c --resume=log9c invert
[ -z "$(find out9c -type f -newermt @2)" ] || problem "what is done was done again"
run 0 gpufilter -i many -o out9c --resume=log9c --codec=cpu invert
[ -z "$(find out9c -type f -newermt @2)" ] || problem "--codec=cpu does again what auto wrote"

begin "--memory: no more workers than it has room for"
run 0 gpufilter --verbose --device=cpu --threads=8 --memory=4M -i many -o out9m invert
grep -q ' files on the CPU by 2 workers: ' stderr || problem "4M: $(head -1 stderr)"
grep -q 'a.ppm: .* 4 threads' stderr || problem "4M: they do not share the threads: $(tail -1 stderr)"
run 0 gpufilter --verbose --device=cpu --threads=8 --memory=1M -i many -o out9m invert
grep -q ' files on the CPU by 1 worker: ' stderr || problem "1M: $(head -1 stderr)"

begin "--codec=gpu needs no GPU to make names of sizes"
run 0 gpufilter --dry-run --codec=gpu -i many -o 'out9n/{stem}_{w}x{h}.jpg' invert
stdout_has '_77x55.jpg'

begin "a torn last line of the log is passed over and ended"
head -c $(($(wc -c <log9.first) - 20)) log9.first >log9.torn
run 0 gpufilter -i many -o out9 --resume=log9.torn invert
[ "$(grep -c '^{.*}$' log9.torn)" -ge 3 ] || problem "$(cat log9.torn)"
[ "$(tail -n 1 log9.torn | tail -c 2)" = '}' ] || problem "the last line is torn"
touch -d @1 out9/*
run 0 gpufilter -i many -o out9 --resume=log9.torn invert
[ -z "$(find out9 -type f -newermt @2)" ] || problem "what is done was done again"

begin "a log that cannot be written"
run 75 gpufilter -i many -o out10 --log=nowhere/log invert
stderr_like 'nowhere/log: No such file or directory'
absent out10
if [ -e /dev/full ]; then
    run 75 gpufilter -i many -o out10 --log=/dev/full invert
    grep -q '^gpufilter: /dev/full: No space left on device$' stderr || problem "$(cat stderr)"
    for inputs in "-i cut.ppm" "-i cut.ppm -i in.ppm --threads=1"; do
        # shellcheck disable=SC2086 # several words
        run 75 gpufilter $inputs -o out10/ --log=/dev/full invert
        [ "$(tr '\n' ' ' <stderr | sed 's/ after row [0-9]* of [0-9]*//')" = \
            'gpufilter: cut.ppm: truncated gpufilter: /dev/full: No space left on device ' ] || problem "$(cat stderr)"
    done
fi

begin "a log at the limit of its size ends with a whole line, and the error is the true one"
mkdir limited
for i in 1 2 3 4 5 6 7 8 9; do printf 'P5\n3 2\n255\nabcdef' >limited/$i.pgm; done
(
    ulimit -f 2
    run 75 gpufilter --device=cpu --threads=1 -i limited -o limited_out --log=log.limited invert
    stderr_like 'log.limited: File too large'
    [ -z "$problems" ] || printf '%s\n' "$problems" >complaints
)
[ ! -e complaints ] || problem "$(cat complaints)"
[ "$(wc -l <log.limited)" -ge 1 ] && [ "$(tail -c 1 log.limited | wc -l)" -eq 1 ] || problem "a torn line: $(tail -n 1 log.limited)"
rm -f complaints

begin "a log with a long line of escapes is read in no time"
{ printf '{"input":"' && head -c 160000 /dev/zero | sed 's/\x00/\\u0041/g' && echo '"}' && cat log9.first; } >log9.long
touch -d @1 out9/*
run 0 timeout 60 "$GPUFILTER" -i many -o out9 --resume=log9.long invert
[ -z "$(find out9 -type f -newermt @2)" ] || problem "what is done was done again"

begin "what has no end is no log"
run 4 gpufilter -i many -o out9z --resume=/dev/zero invert
stderr_is "gpufilter: /dev/zero: more than 1 MB in a line is no log"
absent out9z

begin "--skip-existing, --update, --no-clobber"
mkdir out11
printf old >out11/b.ppm
run 0 gpufilter -i many -o out11 --skip-existing invert
stderr_like '2 files done, 1 skipped, in '
[ "$(cat out11/b.ppm)" = old ] || problem "--skip-existing: b.ppm was written"
same out11/c.ppm expected.ppm
run 75 gpufilter -i many -o out11 --no-clobber invert
[ "$(grep -c 'is there already (--no-clobber)$' stderr)" -eq 3 ] || problem "$(cat stderr)"
[ "$(cat out11/b.ppm)" = old ] || problem "--no-clobber: b.ppm was written"
touch -d @1 out11/b.ppm
printf newer >out11/a.ppm
run 0 gpufilter -i many -o out11 --update invert
same out11/b.ppm expected.ppm
[ "$(cat out11/a.ppm)" = newer ] || problem "--update: a.ppm was written"
run 75 gpufilter -i in.ppm -o out11/c.ppm --no-clobber
stderr_is 'gpufilter: out11/c.ppm: is there already (--no-clobber)'
run 0 gpufilter -i in.ppm -o out11/new.ppm --no-clobber --sync
gpufilter -i in.ppm -o plain.ppm && same out11/new.ppm plain.ppm
run 0 gpufilter -i in.ppm -o out11/new.ppm --sync invert
same out11/new.ppm expected.ppm

begin "a number that may be another picture's in the next run is no name to skip by, and --resume looks at its input"
mkdir -p grows
printf 'P5\n1 1\n255\n\100' >grows/b.pgm
for option in --skip-existing --update; do
    for input in grows 'grows/*' @grows.list; do
        echo grows/b.pgm >grows.list
        run 2 gpufilter -i "$input" -o 'grown/{n}.pgm' $option
        stderr_like "grown/{n}.pgm: {n} may be the number of another picture in the next run: with $option "
    done
done
absent grown
run 0 gpufilter -i grows -o 'grown/{n}.pgm' --resume=grows.log
printf 'P5\n1 1\n255\n\200' >grows/a.pgm
run 0 gpufilter -i grows -o 'grown/{n}.pgm' --resume=grows.log
same grown/1.pgm grows/a.pgm
same grown/2.pgm grows/b.pgm
rm grows/a.pgm
run 0 gpufilter -i grows -o 'grown/{n}.pgm' --resume=grows.log
same grown/1.pgm grows/b.pgm

begin "--fail-fast"
run 4 gpufilter -i cut.ppm -i many -o out12 --fail-fast --threads=1 invert
[ "$(tail -n 1 stderr)" = "gpufilter: 1 of 4 files failed, 0 done, 3 not begun (--fail-fast); 1 file was not taken for a picture (-v names it)" ] ||
    problem "$(cat stderr)"
absent out12/a.ppm

begin "--dry-run writes nothing and says everything"
run 0 gpufilter -i many -o out11 -n --update --log=log13 invert
stdout_has '^many/a.ppm -> out11/a.ppm (skipped: is up to date)$'
run 0 gpufilter -i many -i mixed/2.ppm -o 'out13/{stem}.png' --dry-run invert
[ "$(cat stdout)" = 'many/a.ppm -> out13/a.png
many/b.ppm -> out13/b.png
many/c.ppm -> out13/c.png
mixed/2.ppm -> out13/2.png' ] || problem "$(cat stdout)"
absent out13 log13

begin "--dry-run finds what can be known: missing inputs, crops that do not fit"
run 75 gpufilter -n -i many/a.ppm -i gone.ppm -i gray16.pgm -o out13d crop=50:50
[ "$(cat stdout)" = 'many/a.ppm -> out13d/a.ppm
gone.ppm -> out13d/gone.ppm (fails: gone.ppm: No such file or directory)
gray16.pgm -> out13d/gray16.pgm (fails: crop: w=50 at x=0 is outside the picture'"'"'s 40 columns)' ] || problem "$(cat stdout)"
stderr_is 'gpufilter: 2 of 3 files would fail'
run 75 gpufilter -n -i gone.ppm -o out13d.ppm
stderr_is 'gpufilter: gone.ppm: No such file or directory'
run 4 gpufilter -n -i in.ppm -o out13d.ppm crop=99:99
stderr_like 'in.ppm: crop: w=99 at'
if [ -e /dev/full ]; then
    run 75 sh -c '"$GPUFILTER" -n -i many -i gray16.pgm -o out13d crop=50:50 >/dev/full'
    [ "$(tr '\n' ' ' <stderr)" = 'gpufilter: 1 of 4 files would fail gpufilter: standard output: No space left on device ' ] ||
        problem "$(cat stderr)"
fi
run 0 gpufilter -n -i - -i in.png -o out13d --format=png <in.ppm
absent out13d

begin "a filter that does not fit a picture of many names the picture"
run 4 gpufilter -i gray16.pgm -i in.ppm -o out13e crop=50:50
grep -q "^gpufilter: gray16.pgm: crop: w=50 at x=0 is outside the picture's 40 columns$" stderr || problem "$(cat stderr)"
grep -q '^gpufilter: 1 of 2 files failed, 1 done$' stderr || problem "$(cat stderr)"

begin "mistakes of all pictures are found before the first"
run 2 gpufilter -i many -o 'out14/{stem}.xyz' invert
stderr_like '.*the extension says no format'
run 2 gpufilter -i many -o out14 inverted
stderr_like "unknown filter 'inverted'"
absent out14

begin "the shards together are the whole, whatever K and N"
for shards in 1 2 3 5; do
    rm -rf out15
    for shard in $(seq $shards); do
        run 0 gpufilter -i many -r -o out15 --shard="$shard/$shards" --log=log15.$shards invert
    done
    holds out15 'a.ppm b.ppm c.ppm sub/d.png sub/deep/e.JPG '
    [ "$(sed 's/.*"input":"\([^"]*\).*/\1/' log15.$shards | sort | uniq -d | wc -l)" -eq 0 ] || problem "done twice"
    [ "$(wc -l <log15.$shards)" -eq 5 ] || problem "$shards shards: $(wc -l <log15.$shards) pictures"
done
run 2 gpufilter -i many -o out15 --shard=0/3
stderr_like '--shard=0/3: K is outside 1..3; with an index that counts from 0: --shard=\$((INDEX + 1))/3'
run 2 gpufilter -i many -o out15 --shard=4/3
run 2 gpufilter -i many -o out15 --shard=1
stderr_like '--shard=1 is not K/N'

begin "--memory holds for all workers together, and for what they keep"
if ! has_time; then
    skip "no GNU time here"
else
    mkdir large
    gpufilter -i in.ppm -o large/0.ppm resize=4000:3000:kernel=nearest
    for each in 1 2 3 4 5 6 7 8 9; do ln large/0.ppm large/$each.ppm; done
    # equalize keeps the whole picture, 36 MB; four pictures at once would exceed the limit.
    run 0 /usr/bin/time -q -f %M -o peak "$GPUFILTER" --device=cpu -i large -o large_out --threads=4 --memory=80M equalize
    [ "$(tail -n 1 peak)" -lt 90000 ] || problem "it took $(tail -n 1 peak) kB"
    rm -r large large_out
fi

begin "the same pictures for any number of workers and whatever memory"
run 0 gpufilter -i many -r -o out16 blur,equalize,rotate=90
for more in --threads=1 --threads=7 --memory=1M; do
    rm -rf out17
    run 0 gpufilter -i many -r -o out17 $more blur,equalize,rotate=90
    diff -r out16 out17 >/dev/null || problem "$more: other pictures"
done

begin "a log that is an input or an output is refused before a byte is written"
printf 'P5\n3 2\n255\nabcdef' >one.pgm
cp one.pgm two.pgm
cp one.pgm before.pgm
run 2 gpufilter -i one.pgm -i two.pgm -o logged --log=one.pgm invert
stderr_is 'gpufilter: one.pgm: is an input and the log'
run 2 gpufilter -i one.pgm -i two.pgm -o logged --resume=two.pgm invert
same one.pgm before.pgm
same two.pgm before.pgm
mkdir logged
run 2 gpufilter -i one.pgm -i two.pgm -o logged --log=logged/two.pgm invert
stderr_is 'gpufilter: logged/two.pgm: is an output and the log'
only logged ''

begin "a list with the line ends of another system"
printf 'one.pgm\r\ntwo.pgm\r\n' >list
run 0 gpufilter -i @list -o listed invert
only listed one.pgm two.pgm

begin "a line break in a file's name does not break lines"
mkdir broken
cp one.pgm "broken/a
wb.pgm"
run 0 gpufilter -v -i broken -i one.pgm -o unbroken --device=cpu invert
grep -q '^gpufilter: broken/a?wb.pgm -> unbroken/a?wb.pgm: 3x2' stderr || problem "$(cat stderr)"
[ "$(grep -cv '^gpufilter: \(estimate\|declared\|calibrated\): ' stderr)" -eq 4 ] || problem "$(cat stderr)"

# unprintable FILE: bytes that are no printable ASCII and no line break.
unprintable()
{
    tr -d '\n -~' <"$1" | wc -c
}

begin "escape sequences, line breaks and C1 controls in names do not reach the terminal"
mkdir hostile
hostile=$(printf 'h\033[31m\n\302\233Jx\205\342\200\256.pgm')
cp one.pgm "hostile/$hostile"
printf 'P5\n3 2\n' >"hostile/cut$hostile"
for options in "-n" "-v --device=cpu" "-v --device=cpu --log=log.hostile" "-n --skip-existing"; do
    gpufilter $options -i hostile -o hostile_out >stdout 2>stderr
    [ "$(unprintable stdout)" -eq 0 ] && [ "$(unprintable stderr)" -eq 0 ] || problem "$options: $(cat -v stdout stderr)"
done
run 4 gpufilter -n -i hostile -o hostile_out
[ "$(wc -l <stdout)" -eq 2 ] || problem "-n: $(cat -v stdout)"
stdout_has '^hostile/h?\[31m??Jx??.pgm -> hostile_out/h?\[31m??Jx??.pgm$'
grep -q '"input":"hostile/h\\u001b\[31m\\u000a'"$(printf '\302\233')"'Jx\\udc85' log.hostile || problem "log: $(cat -v log.hostile)"
run 0 gpufilter -v --device=cpu -i "hostile/$hostile" -o "hostile_out/$hostile"
[ "$(unprintable stderr)" -eq 0 ] && [ "$(grep -cv '^gpufilter: \(estimate\|declared\|calibrated\): ' stderr)" -eq 4 ] || problem "-v: $(cat -v stderr)"
run 4 gpufilter -i "hostile/cut$hostile" -o out.png
stderr_like 'hostile/cuth?'
[ "$(unprintable stderr)" -eq 0 ] || problem "an error: $(cat -v stderr)"
run 2 gpufilter -i one.pgm -o out.png "$(printf '\033]0;x\007')"
[ "$(unprintable stderr)" -eq 0 ] || problem "a chain: $(cat -v stderr)"

begin "a reader of several pictures that goes away ends the run without a word"
gpufilter -i one.pgm -o large.pgm resize=w=600:h=600
for each in 1 2 3 4 5 6; do cp large.pgm "gone$each.pgm"; done
run 0 bash -c '"$GPUFILTER" -i "gone*.pgm" -o - invert 2>messages | head -c 1 >/dev/null; echo "${PIPESTATUS[0]}"'
[ "$(cat stdout)" = 141 ] || problem "exit status $(cat stdout)"
[ ! -s messages ] || problem "$(cat messages)"

begin "more threads than files may be open at once"
mkdir few
for each in $(seq 60); do cp one.pgm "few/$each.pgm"; done
run 0 sh -c 'ulimit -n 16 && exec "$GPUFILTER" -i few -o fewer --threads=200 --device=cpu -q invert'
silent
[ "$(find fewer -name '*.pgm' | wc -l)" -eq 60 ] || problem "only $(find fewer -name '*.pgm' | wc -l)"

begin "what is there is left also where the only input's output has a number"
printf old >1.pgm
run 0 gpufilter -i one.pgm -o '{n}.pgm' --skip-existing invert
[ "$(cat 1.pgm)" = old ] || problem "it was written"
touch -d tomorrow 1.pgm
run 0 gpufilter -i one.pgm -o '{n}.pgm' --update invert
[ "$(cat 1.pgm)" = old ] || problem "it was written"
cat one.pgm one.pgm >two_in_one.pgm
run 0 gpufilter -i two_in_one.pgm -o 'n{n}.pgm' --skip-existing invert
stderr_like 'warning: two_in_one.pgm: another picture follows picture 1: left out (to have it: '
run 0 gpufilter -i two_in_one.pgm -o 'n{n}.pgm' invert
[ -e n1.pgm ] && [ -e n2.pgm ] || problem "not both were written"

begin "a folder in the folder that cannot be read fails alone"
mkdir -p tree/open tree/shut
cp one.pgm tree/open
chmod 0 tree/shut
if [ -r tree/shut ]; then
    skip "everything may be read here"
else
    run 75 gpufilter -r -i tree -o felled --log=felled.log invert
    grep -q '^gpufilter: tree/shut: Permission denied$' stderr || problem "$(cat stderr)"
    grep -q '"input":"tree/shut","output":"","status":"failed"' felled.log || problem "$(cat felled.log)"
    [ -e felled/open/one.pgm ] || problem "the rest was not done"
fi
chmod 755 tree/shut

begin "a timeline is not written over an input"
run 2 gpufilter -i one.pgm -o traced.pgm --trace=one.pgm invert
stderr_is 'gpufilter: --trace and --input are the same file'
same one.pgm before.pgm

begin "--profile and --trace of a batch: stages summed, pictures a second, what bounds it"
run 0 gpufilter --device=cpu --threads=2 --profile --trace=trace.json -i many -o out_profile blur,equalize
stdout_has '^decode  *[0-9]'
stdout_has '^blur  *[0-9]'
stdout_has '^equalize  *[0-9]'
stdout_has '^pictures   3 in [0-9.]* ms: [0-9.]* pictures/s;'
stdout_has '^bound by   '
if command -v python3 >/dev/null; then
    run 0 gpufilter --device=cpu --profile=json -i many -o out_profile blur
    mv stdout profile.json
    run 0 python3 - profile.json trace.json <<'END'
import json, sys
profile, trace = (json.load(open(name)) for name in sys.argv[1:])
assert profile["pictures"] == 3 and profile["pictures_per_s"] > 0
stages = {stage["name"]: stage for stage in profile["stages"]}
assert stages["decode"]["bytes"] == 3 * 77 * 55 * 3, stages
assert stages["blur"]["busy_ms"] > 0 and profile["bound_by"] in stages
decodes = [event for event in trace["traceEvents"] if event["name"] == "decode" and event["ph"] == "X"]
assert sum(event["args"]["bytes"] for event in decodes) == 3 * 77 * 55 * 3, decodes
END
fi

begin "a warning that is about many pictures stands once, with their number, and -v names them"
mkdir clear
for n in 1 2 3; do run 0 gpufilter -q -i in.ppm -o clear/$n.png round=10; done
run 0 gpufilter -i clear -o 'laid/{stem}.jpg'
[ "$(grep -c 'no alpha channel' stderr)" -eq 2 ] || problem "$(cat stderr)"
grep -q '^gpufilter: warning: laid/1.jpg: its format has no alpha channel' stderr || problem "$(cat stderr)"
grep -q '^gpufilter: warning: 2 more pictures (-v names them): its format has no alpha channel' stderr || problem "$(cat stderr)"
run 0 gpufilter -v -i clear -o 'laid/{stem}.jpg'
[ "$(grep -c 'warning: laid/[123].jpg: its format has no alpha channel' stderr)" -eq 3 ] || problem "$(cat stderr)"
