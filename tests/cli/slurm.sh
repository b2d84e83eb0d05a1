# samples/slurm-array.sh under a real Slurm, whose controller, single node and key live in this folder.
begin "a job array on one node"
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
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$top/munge/socket
CredType=cred/munge
StateSaveLocation=$top/state
SlurmdSpoolDir=$top/spool
SlurmctldPidFile=$top/slurmctld.pid
SlurmdPidFile=$top/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=$node NodeAddr=127.0.0.1 CPUs=2 RealMemory=100 State=UNKNOWN
PartitionName=all Nodes=$node Default=YES State=UP
END
echo 'ConstrainCores=no' >cgroup.conf
export SLURM_CONF=$top/slurm.conf
munged --force --foreground --key-file=munge/key --socket="$top/munge/socket" --pid-file="$top/munge/pid" \
    --log-file="$top/munge/log" --seed-file="$top/munge/seed" >munged.out 2>&1 &
jobs=$!
sleep 0.5
slurmctld -D -c >slurmctld.out 2>&1 &
jobs="$jobs $!"
slurmd -D -c -N "$node" >slurmd.out 2>&1 &
jobs="$jobs $!"
tries=0
while ! sinfo -h -o %t 2>/dev/null | grep -q '^idle$' && [ $tries -lt 100 ]; do
    sleep 0.2
    tries=$((tries + 1))
done
for each in 1 2 3 4 5 6 7 8 9; do cp in.ppm "in/$each.ppm"; done
if ! sinfo -h -o %t 2>/dev/null | grep -q '^idle$'; then
    skip "slurmd does not start here: $(tail -n 1 slurmd.out | cut -c 1-100)"
else
    run 0 timeout 60 sbatch --wait --array=0-3 "$here/../samples/slurm-array.sh" "$top/in" "$top/out" invert
    gpufilter -i in.ppm -o expected.ppm invert
    for each in 1 2 3 4 5 6 7 8 9; do same "out/$each.ppm" expected.ppm; done
    [ "$(cat out-*.log | wc -l)" -eq 9 ] || problem "the logs have $(cat out-*.log | wc -l) lines: $(cat gpufilter-*.out)"
    [ "$(ls out-*.log | wc -l)" -eq 4 ] || problem "there are not four logs"
fi
# shellcheck disable=SC2086 # the three processes
kill $jobs
wait
unset SLURM_CONF

begin "GNU parallel"
if ! command -v parallel >/dev/null || ! parallel --version 2>/dev/null | grep -q GNU; then
    skip "no GNU parallel here"
else
    run 0 "$here/../samples/parallel.sh" "$PWD/from_parallel"
    [ "$(ls from_parallel)" = "$(cd "$here/../samples/gallery" && ls -- *.jpg)" ] || problem "$(ls from_parallel)"
fi
