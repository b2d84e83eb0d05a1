# samples/cluster/ray_data.py under a real Ray, with two actors on this machine.
begin "Ray Data does a list of archives once, though an actor dies, and bad pictures are results"
if ! python3 -c 'import ray.data' 2>/dev/null; then
    skip "python3 has no Ray Data here"
    return 0
fi
mkdir shards
for each in 1 2 3 4 5 6 7 8 9 10; do
    echo $each >number
    tar cf shards/$each.tar number in.ppm in.png
    echo shards/$each.tar
done >shards.txt
echo nothing >bad.png
tar cf shards/10.tar in.ppm bad.png
cp in.ppm shards/foreign.tar
printf '%s\n' shards/foreign.tar shards/missing.tar >>shards.txt

# The first process hangs, so that its actor can die.
cat >slow <<END
#!/bin/sh
if mkdir "$PWD/first" 2>/dev/null; then
    echo \$PPID \$\$ >"$PWD/hangs"
    exec sleep 300
fi
exec "$GPUFILTER" "\$@"
END
chmod +x slow
GPUFILTER=$PWD/slow python3 "$here/../samples/cluster/ray_data.py" shards.txt out 2 invert >results 2>said &
job=$!
until_true 60 [ -s hangs ]
read -r actor process <hangs
kill -9 "$actor"
has_ended() { ! grep -qs '^State:.[^Z]' "/proc/$process/status"; }
until_true 60 has_ended || problem "the process of the dead actor lives on"
wait $job
got=$?
[ "$got" -eq 75 ] || problem "exit status $got, not 75: $(tail -n 5 said)"
[ "$(grep -c '"status": 0, "done": 2, "failed": \[\]}' results)" -eq 9 ] || problem "$(cat results)"
for each in '"shards/10.tar", "status": 4, "done": 1, "failed": \["shards/10.tar/bad.png: not a picture' \
    '"shards/foreign.tar", "status": 4, "done": 0, "failed": \["gpufilter: shards/foreign.tar: damaged archive' \
    '"shards/missing.tar", "status": 75, "done": 0, "failed": \["gpufilter: shards/missing.tar: No such file'; do
    grep -q "^{\"input\": $each" results || problem "no $each in $(cat results)"
done
[ "$(wc -l <results)" -eq 12 ] || problem "$(cat results)"
for each in 1 2 3 4 5 6 7 8 9 10; do
    gpufilter -q -i shards/$each.tar -o alone.tar invert 2>/dev/null
    same out/$each.tar alone.tar
done
