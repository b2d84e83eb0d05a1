#!/bin/sh
# Runs chains whose kernels ask for much shared memory on emulated devices that have less of it, and compares the results with the
# CPU's. Arguments: the program, built with the study.
set -eu
program=$1
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" --device=cpu -q -i "$here/../../samples/harbour.png" -o "$work/in.ppm" resize=150:90
"$program" --device=cpu -q -i "$work/in.ppm" -o "$work/in.pgm" grayscale
"$program" --device=cpu -q -i "$work/in.ppm" -o "$work/deep.ppm" --depth=16 resize=60:40
done=0
for chip in 75 86; do
    while read -r input chain; do
        result=$work/result.${input#*.} expected=$work/expected.${input#*.}
        GF_EMULATED_CHIP=$chip "$program" --device=cuda -q -i "$work/$input" -o "$result" "$chain"
        "$program" --device=cpu -q -i "$work/$input" -o "$expected" "$chain"
        cmp "$result" "$expected" || {
            echo "FAILED: $chain of $input on a device of compute capability $chip"
            exit 1
        }
        done=$((done + 1))
    done <<CHAINS
in.ppm boxblur=20
in.ppm blur=5
in.ppm blur=20
in.ppm unsharp=5:1.5
in.pgm boxblur=127
in.ppm median=15
in.ppm equalize=lightness
in.ppm gamma=1.3,equalize=channel
in.ppm saturation=1.5
in.ppm addnoise=0.1
in.ppm dilate=16:shape=ellipse
in.ppm dilate=100
in.ppm lensblur=15.5
in.ppm lensblur=20
in.pgm lensblur=60
in.ppm motionblur=60:30
in.ppm lensblur=100
deep.ppm lensblur=100
deep.ppm lensblur=70:border=wrap
deep.ppm motionblur=200:40
CHAINS
done
# A variant that was asked for is refused with a reason.
status=0
GF_EMULATED_CHIP=120 "$program" --device=cuda -q -i "$work/in.ppm" -o "$work/result.ppm" blur=5:variant=tensor 2>"$work/said" || status=$?
if [ "$status" -ne 3 ] || ! grep -q 'variant=tensor needs more shared memory' "$work/said"; then
    echo "FAILED: blur=5:variant=tensor on a device of compute capability 12.0 ended with $status"
    cat "$work/said"
    exit 1
fi
echo "$((done + 1)) passed"
