# What people of other programs type first (guesses.tsv): each guess is answered, and what the answer proposes runs.
gpufilter -i in.ppm -o big.png resize=400:320
for name in logo other mask blurred; do cp big.png $name.png; done
printf 'LUT_1D_SIZE 2\n0 0 0\n1 1 1\n' | tee look.cube >map.cube

begin "guesses are answered"
tab=$(printf '\t')
grep -v '^#' "$here/cli/guesses.tsv" >guesses
while IFS=$tab read -r _ guess words; do
    status=2
    case $words in "= "*) status=0 words=${words#= } ;; esac
    case $guess in
    "-o "*) set -- "-o" "${guess#-o }" ;;
    -*' '*) set -- -o out.png "${guess%% *}" "${guess#* }" ;;
    *) set -- -o out.png "$guess" ;;
    esac
    run $status gpufilter -i big.png "$@"
    [ "$(wc -l <stderr)" -le 1 ] || grep -q 'pad changes' stderr || problem "$guess: more than a line"
    grep -qF -- "$words" stderr || [ -z "$words" ] || problem "$guess: '$words' is not in '$(cat stderr)'"
    [ $status -eq 0 ] || absent out.png
    rm -f out.png
    sed -n "s/.*\(mean\|is\|by\|about\|are\|does\) '\([a-z][^']*\)'?*$/\2/p" stderr >>proposals
done <guesses

begin "what is proposed runs"
grep -vx pad proposals | sort -u >chains # pad needs a size
[ "$(wc -l <chains)" -gt 70 ] || problem "too few chains are proposed"
while IFS= read -r chain; do
    run 0 gpufilter -i big.png -o out.png "$chain"
done <chains

begin "a number in another program's unit is told once a run, and not where it has its name"
run 0 gpufilter -i big.png -o a.png median=3,median=3 -o b.png median=3
[ "$(grep -c "^gpufilter: warning: median: 3 is the radius: the window is 7 x 7" stderr)" -eq 1 ] || problem "$(cat stderr)"
run 0 gpufilter -i big.png -o out.png median=radius=3
silent
run 0 gpufilter -q -i big.png -o out.png median=3,hue=0.1,contrast=10
silent
run 0 gpufilter -i big.png -o out.png median=1,contrast=1.2,hue=30,crop=160:90,resize=320:200
silent
