# Which device runs, and the message if it is not there.
begin "a CUDA device that is not there"
run 3 gpufilter --device=cuda:999 -i in.png -o out.png blur
stderr_like '.*'
absent out.png

begin "auto finds one"
run 0 gpufilter --device=auto -i in.png -o auto.ppm blur,equalize
silent
run 0 gpufilter --device=cpu -i in.png -o cpu.ppm blur,equalize
same auto.ppm cpu.ppm

begin "--explain estimates a GPU where the run that it explains does"
run 0 gpufilter -v --device=cpu -i in.png -o auto.ppm blur
grep -c 'estimate: CPU .*, GPU ' stderr >ran
run 0 gpufilter --explain --device=cpu -i in.png blur
grep -c '^estimate  *CPU .*, GPU ' stdout >explained
same ran explained

begin "several devices, some of which are not there"
mkdir several && cp in.ppm several/1.ppm && cp in.ppm several/2.ppm
run 3 gpufilter --device=cuda:998,999 -i several -o out_several blur
stderr_like '.*'
absent out_several

begin "no GPU: --device=cuda says why, and so does --devices"
run 0 gpufilter --devices
if grep -q '^cuda:0 ' stdout; then
    skip "there is a GPU"
else
    stdout_has '^cuda    none: .'
    run 3 gpufilter --device=cuda -i in.png -o out.png blur
    stderr_like '.*'
    absent out.png
    run 3 gpufilter --device=cuda --selftest=small invert
    stderr_like 'no CUDA device: .'
fi

begin "--devices says what there is, and measures it when asked"
run 0 gpufilter --devices=measure
silent
stdout_has '^cpu     [1-9][0-9]* processor.*; vectors: .'
if grep -q '^cuda:0 ' stdout; then
    stdout_has '^        driver .*; runs the cubin for sm_\|compiles PTX for compute_[0-9]* to sm_'
    stdout_has '^        device memory .*; PCIe.* at [0-9A-Fa-f:.]*, .*NUMA node'
    stdout_has '^        measured: upload [0-9.]* GB/s, download [0-9.]* GB/s, a copy in memory [1-9]'
    stdout_has '^        clock \|^        clocks and power are not told'
fi
[ "$(tail -n 1 stdout | grep -c '^        measured: a copy in memory [0-9]* GB/s, read and written$')" -eq 1 ] ||
    problem "the CPU's copy is not measured: $(tail -n 1 stdout)"
run 0 gpufilter --devices=json
silent
stdout_has '^  "cpu": {"processors": [1-9][0-9]*, "vectors": "[a-zA-Z0-9-]'
stdout_has '^  "cuda": null,$\|^  "gpus": \[\],$'
if command -v python3 >/dev/null; then
    mv stdout devices.json
    run 0 python3 -c 'import json; d = json.load(open("devices.json"))
assert (d["cuda"] is None) == bool(d["gpus"]) and list(d) == ["version", "cuda", "gpus", "cpu", "server"]
assert all(g["device"].startswith("cuda:") and g["memory_bytes"] > 0 for g in d["gpus"])'
    silent
fi
run 2 gpufilter --devices=measured
stderr_is "gpufilter: --devices=measured is none of measure, json; did you mean 'measure'?"

begin "maps that shrink parts of a picture more than others have the same bytes on both devices"
run 0 gpufilter --device=cpu -i in.png -o tall.ppm resize=900:610,addnoise=0.05
if gpufilter -q --device=cuda -i tall.ppm -o cuda.ppm invert 2>/dev/null; then
    for chain in perspective=keystone 'perspective=15 30/85 0/70 100/0 60' lens=0.5 lens=-0.6:0.2; do
        run 0 gpufilter -q --device=cpu -i tall.ppm -o cpu.ppm "$chain"
        run 0 gpufilter -q --device=cuda -i tall.ppm -o cuda.ppm "$chain"
        same cuda.ppm cpu.ppm
    done
else
    skip "there is no GPU"
fi
