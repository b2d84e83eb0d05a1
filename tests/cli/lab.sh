# --lab: the list, errors, and on a GPU every lab with little data.
begin "--lab lists every lab"
run 0 gpufilter --lab
silent
sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p' stdout | grep -v '^--' >labs
for lab in offset stride transpose matmul-at l2-window occupancy work-per-thread spill; do
    grep -qx "$lab" labs || problem "$lab is not in the list"
done
[ "$(awk 'length > 82' stdout | wc -l)" -eq 0 ] || problem "a line of --lab is too long"

begin "each lab's help names its parameters"
while read -r lab; do
    run 0 gpufilter --lab="$lab:help"
    silent
    stdout_has "^$lab: "
    stdout_has '^Guide: '
    stdout_has '^  runs  .*(1..1000; default 15)'
done <labs

begin "--lab takes its value as the next argument, too"
run 0 gpufilter --lab offset:help
stdout_has '^offset: '

begin "the manual and the completion name the labs"
run 0 gpufilter --lab
run 0 gpufilter --man=study
stdout_has "^.fBruns.fR"
run 0 gpufilter --completion=bash
stdout_has "\-\-lab) kind=words offers='all offset "

begin "a wrong name or parameter of a lab is reported, with and without a GPU"
run 2 gpufilter --lab=ofset
stderr_is "gpufilter: unknown lab 'ofset'; did you mean 'offset'?"
run 2 gpufilter --lab=offset:size=x
stderr_is "gpufilter: offset: size=x is not a number"
run 2 gpufilter --lab=offset:plot=curve.gif
stderr_is "gpufilter: offset: plot=curve.gif ends in neither .png nor .svg"
run 2 gpufilter --lab=all:html=
stderr_is "gpufilter: all: html= is not a name of a file"
run 2 gpufilter --lab=offset:plot=
stderr_is "gpufilter: offset: plot= is not a name of a file"
run 2 gpufilter --lab=offset --device=cpu
stderr_is "gpufilter: labs run on a GPU: not with --device=cpu"
run 2 gpufilter --lab=offset --device=cuda:0,1
stderr_is "gpufilter: labs run on one GPU at a time: --device=cuda:N"
[ ! -s stdout ] || problem "stdout is not empty"

begin "without a GPU the labs say why they cannot run"
run 0 gpufilter --devices
if grep -q '^cuda:0 ' stdout; then
    skip "there is a GPU"
else
    for lab in offset all; do
        run 3 gpufilter --lab=$lab
        stderr_like 'labs run on a GPU: .'
        [ ! -s stdout ] || problem "stdout is not empty"
    done
fi

begin "a GPU that is not there"
run 3 gpufilter --lab=offset --device=cuda:999
stderr_like '.*'

# Small parameters that still give parts of tiles and several blocks. Other labs run with their defaults.
small()
{
    case $1 in
    offset) echo size=1:most=9 ;;
    stride) echo size=1:most=9 ;;
    layout) echo size=1 ;;
    transpose) echo side=200 ;;
    matmul) echo side=100:size=1 ;;
    matmul-at) echo side=100 ;;
    banks) echo loads=200 ;;
    async-copy) echo size=1 ;;
    constant) echo loads=200 ;;
    texture) echo side=101 ;;
    l2-window) echo size=64:least=1:most=3:step=1 ;;
    transfer) echo size=17 ;;
    peer) echo size=1 ;;
    alloc) echo rounds=2 ;;
    occupancy | work-per-thread | latency) echo size=1 ;;
    concurrent) echo kernels=2 ;;
    integer) echo shift=0 ;;
    intrinsics | powers | flags) echo arguments=1024 ;;
    precision) echo size=1:arguments=1024 ;;
    divergence | spill) echo blocks=1 ;;
    dynamic-parallelism) echo most=64 ;;
    esac
}

begin "every lab's result is right"
run 0 gpufilter --devices
if ! grep -q '^cuda:0 ' stdout; then
    skip "there is no GPU"
else
    while read -r lab; do
        run 0 gpufilter --lab="$lab:runs=2$(small "$lab" | sed 's/^/:/')"
        silent
        stdout_has "^$lab: "
        stdout_has '^  guide '
        stdout_has '^  here  cuda:0 '
        grep -qE '^  (right|note) ' stdout || problem "$lab checks nothing and says nothing"
        ! grep -q '^  wrong ' stdout || problem "$lab: $(grep '^  wrong ' stdout)"
    done <labs
fi

begin "all labs as JSON"
run 0 gpufilter --devices
if ! grep -q '^cuda:0 ' stdout; then
    skip "there is no GPU"
else
    run 0 gpufilter --lab=all:runs=1:format=json
    silent
    sed -n 's/^  "lab": "\(.*\)",$/\1/p' stdout | cmp -s - labs || problem "not every lab is there"
    if command -v python3 >/dev/null; then
        mv stdout labs.json
        run 0 python3 -c 'import json; labs = json.load(open("labs.json"))
for lab in labs:
    for row in lab["rows"]:
        assert len(row["values"]) == len(lab["columns"]), lab["lab"]
        assert row["reason"] or any(v is not None for v in row["values"]), lab["lab"]'
        silent
    fi
fi

begin "a lab's JSON and its plot or data"
run 0 gpufilter --devices
if ! grep -q '^cuda:0 ' stdout; then
    skip "there is no GPU"
else
    run 0 gpufilter --lab=offset:runs=2:size=1:format=json:plot=curve.png
    stderr_like 'offset: '
    [ -s curve.png ] || [ -s curve.dat ] || problem "neither a plot nor its data"
    stdout_has '"lab": "offset"'
    if command -v python3 >/dev/null; then
        mv stdout lab.json
        run 0 python3 -c 'import json; r = json.load(open("lab.json"))
assert len(r["rows"]) == 33 and all(len(row["values"]) == len(r["columns"]) for row in r["rows"])
assert [row["x"] for row in r["rows"]] == list(range(33))'
        silent
    fi
fi
