# The options of a server, without one and, where there is a GPU, with one. The rest is in tests/server/test_server.c.
mkdir runtime
chmod 700 runtime
XDG_RUNTIME_DIR=$PWD/runtime
export XDG_RUNTIME_DIR
gpufilter --devices | grep -q '^cuda:0 ' && gpu=1 || gpu=

begin "no server: nothing is said of it"
for use in auto off; do
    run 0 gpufilter --server=$use -i in.png -o out.png blur
    silent
done
run 0 gpufilter --devices
! grep -q '^server' stdout || problem "--devices tells of a server"
run 0 gpufilter --serve=stop
stderr_is 'gpufilter: there is no server'
run 0 gpufilter --quiet --serve=stop
silent
[ -z "$(ls -A runtime)" ] || problem "a client left something: $(ls -A runtime)"

begin "what --serve and its options do not take"
run 2 gpufilter --serve=start
stderr_like '.*is none of stop'
run 2 gpufilter --server=yes -i in.png -o out2.png
stderr_like '.*is none of auto, start, off'
run 2 gpufilter --idle=0 --serve
stderr_like '.*is outside 1'
run 2 gpufilter --serve blur
stderr_like '.*takes no chain'
run 2 gpufilter --serve --device=cpu
stderr_like '.*with one GPU'

begin "without a GPU --serve says so, and --server=start does the picture silently"
if [ -n "$gpu" ]; then
    skip "there is a GPU"
else
    run 3 gpufilter --serve
    stderr_like 'no CUDA device: .'
    run 0 gpufilter --server=start -i in.png -o started.png blur
    silent
    run 0 gpufilter --server=off -i in.png -o alone.png blur
    same started.png alone.png
    ! gpufilter --devices | grep -q '^server' || problem "a server was started"
fi

begin "a folder that others can write to is not used"
chmod 777 runtime
run 0 gpufilter --server=auto -i in.png -o open.png blur
silent
chmod 700 runtime

begin "with a GPU a server does the pictures, with the same bytes"
if [ -z "$gpu" ]; then
    skip "there is no GPU"
else
    timeout 120 "$GPUFILTER" --serve --idle=60 </dev/null >served 2>&1 &
    server=$!
    is_served() { gpufilter --devices | grep -q '^server'; }
    until_true 30 is_served
    for file in in.ppm in.png in.jpg; do
        run 0 gpufilter --device=cuda --log=log -i $file -o "served.$file" blur,equalize
        silent
        run 0 gpufilter --device=cpu -i $file -o "cpu.$file" blur,equalize
        same "served.$file" "cpu.$file"
    done
    [ "$(grep -c 'by the server' log)" -eq 3 ] || problem "the server did not do all: $(cat log)"
    cat in.png | gpufilter --device=cuda -i - -o - blur,equalize >piped.png
    same piped.png cpu.in.png
    for measures in '' :measures=ssimulacra2; do
        run 0 gpufilter --server=off --device=cpu "--compare=in.jpg:json$measures" cpu.in.jpg
        mv stdout cpu.json
        # The server may do the last three.
        for own in --server=off --device=cpu --device-memory=500M --timeout=100 --device=auto --device=cuda; do
            run 0 gpufilter $own "--compare=in.jpg:json$measures" cpu.in.jpg
            same stdout cpu.json
        done
        run 0 gpufilter "--compare=in.ppm:json$measures" in.jpg # its coders read no PPM
        run 4 gpufilter "--compare=in.jpg:json$measures" log
    done
    run 4 gpufilter --device=cuda -i log -o bad.png blur
    stderr_like 'log: .'
    run 0 gpufilter --devices
    stdout_has '^server  process [0-9]* on cuda:0: 0 clients, 0 at work, 0 waiting, 10 done;$'
    run 0 gpufilter --serve=stop
    silent
    wait $server || problem "the server ended with $?"
fi
