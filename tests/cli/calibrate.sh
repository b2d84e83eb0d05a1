# What --device=auto decides by: --calibrate, and where --verbose and --explain say that a figure comes from.
begin "figures are declared at first"
run 0 gpufilter --explain -i in.png blur
stdout_has '^estimate   CPU [0-9.]* s'
stdout_has '^declared   process '
! grep -q '^calibrated' stdout || problem "a figure is calibrated before --calibrate"
run 0 gpufilter -v -i in.png -o out.ppm blur
grep -q 'estimate: CPU [0-9.]* s' stderr || problem "no estimate"
grep -q 'declared: .*png-decode 9 ns/pixel.*cpu.blur 1' stderr || problem "no declared figures"

begin "--dry-run --verbose tells the estimate and writes nothing"
rm -f out.ppm
run 0 gpufilter -v -n -i in.png -o out.ppm blur
grep -q 'estimate: CPU [0-9.]* s' stderr || problem "no estimate"
absent out.ppm

begin "--calibrate measures them, in less than 10 s unless something hangs, and keeps them"
mkdir temporary
run 0 env TMPDIR="$PWD/temporary" "$GPUFILTER" --calibrate
silent
stdout_has '^figure  *declared  *measured  *unit'
stdout_has '^file  *0.15  *[0-9.]* *ms  *.'
stdout_has '^heic-decode  *65 ~ *[0-9.]* *ns/pixel  *.'
stdout_has '^measured in [0-9.]* s'
stdout_has "^kept in $XDG_CACHE_HOME/gpufilter/figures-[0-9a-f]*\$"
stdout_has '^for gpu .*; cpu .*; [0-9]* processors; build [0-9a-f]*$'
[ "$(find "$XDG_CACHE_HOME" -type f | wc -l)" -eq 1 ] || problem "more than a file was left in the cache"
[ -z "$(ls -A temporary)" ] || problem "a temporary folder was left"
run 0 gpufilter --explain -i in.png blur
stdout_has '^calibrated '
run 0 gpufilter -v -i in.png -o out.ppm blur
grep -q 'calibrated: .*file [0-9.]* ms' stderr || problem "no calibrated figures"

begin "--calibrate that is interrupted leaves no pictures"
TMPDIR="$PWD/temporary" "$GPUFILTER" --calibrate >stdout 2>stderr &
job=$!
until_true 20 sh -c '[ -n "$(ls -A temporary)" ]' || problem "it has begun nothing"
kill -TERM $job
wait $job
got=$?
[ $got -eq 143 ] || problem "exit status $got, not 143"
[ -z "$(ls -A temporary)" ] || problem "left: $(ls -AR temporary)"

begin "a damaged cache counts as none, silently"
for file in "$XDG_CACHE_HOME"/gpufilter/*; do echo damaged >"$file"; done
run 0 gpufilter -q -i in.png -o out.ppm blur
silent
run 0 gpufilter --explain -i in.png blur
stdout_has '^declared   process '
! grep -q '^calibrated' stdout || problem "a damaged figure counts"

begin "a cache that cannot be is a warning of --calibrate alone"
echo >file
run 0 env XDG_CACHE_HOME="$PWD/file" "$GPUFILTER" -q -i in.png -o out.ppm blur
silent
