# samples/cluster under a real Slurm, whose controller, four nodes and key live in this folder.
begin "Slurm does a list of archives once, though one comes late and a node dies"
if ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null || ! command -v munged >/dev/null; then
    skip "no slurmctld, slurmd and munged here"
    return 0
elif [ "$(id -u)" -ne 0 ]; then
    skip "only root may start slurmd"
    return 0
fi
top=$PWD
node=$(hostname -s)
mkdir munge state spool in
chmod 700 munge
chmod 711 . # munged wants its socket's folders to be passed through
head -c 1024 /dev/urandom >munge/key
chmod 400 munge/key
port=$((20000 + $$ % 20000))
cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$top/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$top/state
SlurmdSpoolDir=$top/spool/%n
SlurmctldPidFile=$top/slurmctld.pid
SlurmdPidFile=$top/%n.pid
SlurmdTimeout=5
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=n[1-4] NodeHostname=$node NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 4))] CPUs=1 RealMemory=100
PartitionName=all Nodes=n[1-4] Default=YES State=UP
END
echo 'ConstrainCores=no' >cgroup.conf
export SLURM_CONF=$top/slurm.conf
munged --force --foreground --key-file=munge/key --socket="$top/munge/socket" --pid-file="$top/munge/pid" \
    --log-file="$top/munge/log" --seed-file="$top/munge/seed" >munged.out 2>&1 &
jobs=$!
sleep 0.5
slurmctld -D -c >slurmctld.out 2>&1 &
jobs="$jobs $!"
for each in 1 2 3 4; do
    mkdir spool/n$each
    slurmd -D -c -N n$each >slurmd$each.out 2>&1 &
    jobs="$jobs $!"
    echo $! >n$each.slurmd
done
# until_true SECONDS COMMAND...: whether the command becomes true
until_true()
{
    tries=$((5 * $1))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.2
    done
}

nodes_are_up()
{
    [ "$(sinfo -h -N -o %t 2>/dev/null | grep -c idle)" -eq 4 ]
}

late_is_missed()
{
    grep -q late gpufilter-*.out 2>/dev/null
}

queue_is_empty()
{
    [ -z "$(squeue -h 2>/dev/null)" ]
}

mkdir shards late
cp in.ppm in/a.ppm
for each in 1 2 3 4 5 6 7; do
    echo $each >in/number
    tar cf shards/$each.tar -C in .
done
echo nothing >in/bad.png
tar cf shards/8.tar -C in .
rm in/bad.png
tar cf late/late.tar -C in .
(echo shards/8.tar && echo shards/late.tar && ls shards/[1-7].tar) >shards.txt
if ! until_true 20 nodes_are_up; then
    skip "slurmd does not start here: $(tail -n 1 slurmd1.out | cut -c 1-100)"
else
    # The first try of the first task hangs, so that its node can die.
    cat >slow <<END
#!/bin/sh
if [ "\$SLURM_ARRAY_TASK_ID\$SLURM_RESTART_COUNT" = 1 ]; then
    echo \$SLURMD_NODENAME >hangs.on
    echo \$PPID >hangs
    exec sleep 100
fi
exec "$GPUFILTER" "\$@"
END
    chmod +x slow
    GPUFILTER=$top/slow run 0 sbatch --array=1-4 "$here/../samples/cluster/slurm.sh" 4 -i @shards.txt -o 'out/{stem}.tar' \
        --skip-existing --log=log.jsonl invert
    until_true 20 [ -s hangs ] || problem "$(cat gpufilter-*.out)"
    kill -9 "$(cat "$(cat hangs.on).slurmd")"
    until_true 20 late_is_missed || problem "$(cat gpufilter-*.out)"
    grep -q late gpufilter-*_2.out || problem "$(cat gpufilter-*_2.out)"
    cp late/late.tar shards
    until_true 90 queue_is_empty || problem "$(squeue)"
    for each in 1 2 3 4 5 6 7 8 late; do
        gpufilter -q -i shards/$each.tar -o alone.tar invert 2>/dev/null
        same out/$each.tar alone.tar
    done
    grep -q "Node failure" gpufilter-*_1.out || problem "$(cat gpufilter-*_1.out)"
    kill -9 "$(cat hangs)" # the process of the dead node that waits for the task
    grep -q 'shards/8.tar/./bad.png: not a picture' gpufilter-*_1.out || problem "$(cat gpufilter-*.out)"
fi
# shellcheck disable=SC2086 # the processes
kill $jobs 2>/dev/null
wait
unset SLURM_CONF

begin "GNU parallel"
if ! command -v parallel >/dev/null || ! parallel --version 2>/dev/null | grep -q GNU; then
    skip "no GNU parallel here"
else
    run 0 "$here/../samples/cluster/parallel.sh" 3 -q -i "$here/../samples/gallery" -o from_parallel/ --threads=1 blur
    [ "$(ls from_parallel)" = "$(cd "$here/../samples/gallery" && ls -- *.jpg)" ] || problem "$(ls from_parallel)"
    run 0 "$here/../samples/cluster/parallel.sh" 2 -q -i 'shards/[1-7].tar' -o 'parallel/{stem}.tar' invert
    for each in 1 2 3 4 5 6 7; do same parallel/$each.tar out/$each.tar; done
fi
