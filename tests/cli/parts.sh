# shellcheck shell=sh
# The parts of a list: by turns or by the bytes that the list states, without a look at the files of other parts.
mkdir in
for each in 1 2 3 4 5 6; do
    cp in.ppm in/$each.ppm
done

# part LIST K/N: the inputs of the part, by --dry-run
part()
{
    "$GPUFILTER" -i "@$1" -o 'out/{n}.ppm' --shard="$2" --dry-run invert | tr '\n' ' '
}

begin "lines without bytes go to the parts by turns, and keep their numbers"
printf 'in/%s.ppm\n' 1 2 3 4 5 >turns.txt
[ "$(part turns.txt 1/2)" = "in/1.ppm -> out/1.ppm in/3.ppm -> out/3.ppm in/5.ppm -> out/5.ppm " ] || problem "$(part turns.txt 1/2)"
[ "$(part turns.txt 2/2)" = "in/2.ppm -> out/2.ppm in/4.ppm -> out/4.ppm " ] || problem "$(part turns.txt 2/2)"
run 0 gpufilter -i @turns.txt -o out/ --shard=6/7 invert
stderr_like '0 files done'

begin "lines with bytes go to the part that has the fewest"
printf 'in/%s\n' "1.ppm	26000" "2.ppm	1000	etag" "3.ppm	26000" "4.ppm	1000	x y" "5.ppm	26000	" "6.ppm	1000" >weights.txt
[ "$(part weights.txt 1/2)" = "in/1.ppm -> out/1.ppm in/4.ppm -> out/4.ppm in/5.ppm -> out/5.ppm " ] || problem "$(part weights.txt 1/2)"
[ "$(part weights.txt 2/2)" = "in/2.ppm -> out/2.ppm in/3.ppm -> out/3.ppm in/6.ppm -> out/6.ppm " ] || problem "$(part weights.txt 2/2)"
all=$(for each in 1 2 3 4; do "$GPUFILTER" -i @weights.txt -o 'out/{n}.ppm' --shard=$each/4 --dry-run invert; done | sort | tr '\n' ' ')
[ "$all" = "$(part weights.txt 1/1)" ] || problem "four parts are $all"
run 0 gpufilter -q -i @weights.txt -o weighed/ invert
only weighed 1.ppm 2.ppm 3.ppm 4.ppm 5.ppm 6.ppm

begin "a name may hold a tab: with -0, or where no number follows"
cp in.ppm "in/a	b.ppm"
cp in.ppm "in/c	1"
printf 'in/a\tb.ppm\n' >tab.txt
run 0 gpufilter -q -i @tab.txt -o 'tab/{n}.ppm' invert
printf 'in/c\t1\0' >nul.txt
run 0 gpufilter -q -0 -i @nul.txt -o 'nul/{n}.ppm' invert

begin "a part looks at no file of another part, and keeps no name of it"
if ! command -v strace >/dev/null || ! strace -o /dev/null true 2>/dev/null; then
    skip "no strace here"
else
    for list in turns weights; do
        run 0 env ASAN_OPTIONS=detect_leaks=0 strace -f -e trace=%file -o trace "$GPUFILTER" -q -i @$list.txt -o looked/ --shard=1/6 invert
        grep -q 'in/1.ppm' trace || problem "the own file was not opened"
        grep 'in/[2-6].ppm' trace >others && problem "$list: $(head -n 3 others)"
    done
fi
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "missing/a_folder_with_a_long_name/%d.ppm\t1000\n", i }' >long.txt
run 75 gpufilter -q -i @long.txt -o looked/ --shard=1/100000 invert
[ "$(wc -l <stderr)" -eq 4 ] || problem "$(tail -n 3 stderr)"

begin "what parts cannot divide is refused"
mkdir folder
cp in.ppm folder
printf 'in/1.ppm\nfolder\n' >folder.txt
run 4 gpufilter -i @folder.txt -o x/ --shard=2/2 invert
stderr_like "folder.txt: 'folder' is a folder: in a list for parts its line ends in /, without bytes"
printf 'in/1.ppm\nfolder/\n' >folder.txt
[ "$(part folder.txt 2/2)" = "folder/in.ppm -> out/2.ppm " ] || problem "$(part folder.txt 2/2)"
run 2 gpufilter -i @turns.txt -o x.ppm --shard=2/5 invert
stderr_like 'x.ppm: one name for the outputs of all parts; '
