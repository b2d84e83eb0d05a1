#!/bin/bash
# page.sh PROGRAM PAGE (make page): a run, a comparison, the labs and a batch on one page; the GPU's where there is one, else
# the CPU's without labs. With a Chromium also a picture of a part, samples/report.jpg, as wide as the README shows it.
set -eu
gpufilter=$(realpath "$1") page=$(realpath "$2") root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

device=cpu
"$gpufilter" --devices | grep -q '^cuda:0 ' && device=cuda:0
side=$([ $device = cpu ] && echo 3000 || echo 7680)
"$gpufilter" -q -i "$root/samples/harbour.png" -o harbour.jpg resize=w=$side
chain=bilateral=3:0.1,equalize,unsharp
mkdir pictures
for i in $(seq 1 "$([ $device = cpu ] && echo 120 || echo 1000)"); do
    [ "$i" -le 20 ] && "$gpufilter" -q -i "$root/samples/harbour.png" -o "pictures/$i.jpg" resize=w=$((800 + i * 50))
    [ "$i" -le 20 ] || ln "pictures/$((i % 20 + 1)).jpg" "pictures/$i.jpg"
done
"$gpufilter" -q -i harbour.jpg -o pictures/large.jpg
head -c 5000 harbour.jpg >pictures/torn.jpg

"$gpufilter" --device=$device --profile=html:run.html -i harbour.jpg -o filtered.jpg $chain
"$gpufilter" --device=$device --profile=json -i harbour.jpg -o filtered.jpg $chain >run.json
"$gpufilter" --device=$device --profile=compare:json -i harbour.jpg blur=2,equalize,transpose >compare.json
reports=(run.json compare.json)
# The first launch of each kernel is of the whole picture.
metrics=smsp__inst_executed.sum,smsp__inst_executed.sum.peak_sustained,smsp__cycles_elapsed.avg.per_second
if [ $device != cpu ] && command -v ncu >/dev/null &&
    ncu --csv --page raw --print-units base --clock-control none --kernel-name-base mangled --kernel-id :::1 --metrics $metrics --log-file counted.csv \
        "$gpufilter" --device=$device --profile=compare:json -i harbour.jpg blur=2,equalize,transpose >/dev/null; then
    reports+=(counted.csv)
fi
if [ $device != cpu ] && "$gpufilter" --device=$device --lab=all:format=json >labs.json; then
    reports+=(labs.json)
fi
# One picture is torn on purpose, so that this ends with status 1.
"$gpufilter" -q --device=$device --log=batch.log -i pictures -o out $chain || [ $? -eq 1 ]
"$gpufilter" --report="$page" "${reports[@]}" batch.log
echo "$page: $(stat -c %s "$page") bytes, of $device"

if command -v chromium >/dev/null && command -v python3 >/dev/null; then
    python3 "$root/tests/page.py" --shots . "$page" >tap || { cat tap; exit 1; }
    "$gpufilter" -q -i report-light-840.png -o "$root/samples/report.jpg" --quality=82 crop=840:770:0:482
fi
