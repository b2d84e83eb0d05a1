# samples/cluster under a real Slurm, whose controller, four nodes and key live in this folder.
# The list has 100 archives of 50 pictures.
begin "Slurm does a list of archives once, though a node dies, a task is preempted, and another meets its time limit"
if ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null || ! command -v munged >/dev/null; then
    skip "no slurmctld, slurmd and munged here"
    return 0
elif [ "$(id -u)" -ne 0 ]; then
    skip "only root may start slurmd"
    return 0
fi
top=$PWD
node=$(hostname -s)
mkdir munge state spool
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
JobCompType=jobcomp/filetxt
JobCompLoc=$top/ends
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=sched_interval=2,bf_interval=2
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=n[1-4] NodeHostname=$node NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 4))] CPUs=1 RealMemory=100
PartitionName=all Nodes=n[1-4] Default=YES PriorityTier=1 State=UP
PartitionName=urgent Nodes=n[1-4] PriorityTier=2 State=UP
END
echo 'ConstrainCores=no' >cgroup.conf
export SLURM_CONF=$top/slurm.conf
munged --force --foreground --key-file=munge/key --socket="$top/munge/socket" --pid-file="$top/munge/pid" \
    --log-file="$top/munge/log" --seed-file="$top/munge/seed" >munged.out 2>&1 &
jobs=$!
until_true 20 [ -S munge/socket ]
slurmctld -D -c >slurmctld.out 2>&1 &
jobs="$jobs $!"
# A node is a process namespace, so that all its processes die with it.
for each in 1 2 3 4; do
    mkdir spool/n$each
    unshare --pid --fork --kill-child --mount-proc slurmd -D -c -N n$each >slurmd$each.out 2>&1 &
    jobs="$jobs $!"
    echo $! >n$each.is
done
nodes_are_up()
{
    [ "$(sinfo -h -N -p all -o %t 2>/dev/null | grep -c idle)" -eq 4 ]
}

queue_is_empty()
{
    [ -z "$(squeue -h 2>/dev/null)" ]
}

# Every tenth archive has a damaged picture. The last two are no archive, and one that is cut.
make_shards()
{
    mkdir in shards whole
    awk 'BEGIN {
        for (s = 1; s <= 100; s++) {
            system("mkdir in/" s)
            for (p = 1; p <= 50; p++) {
                file = "in/" s "/" p ".pgm"
                print "P2 6 4 255" >file
                damaged = p == 3 && s % 10 == 0
                for (i = 0; i < (damaged ? 7 : 24); i++)
                    print (i * s + p * 17) % 256 >file
                close(file)
            }
        }
    }'
    for each in $(seq 100); do
        tar cf shards/$each.tar -C in/$each .
        echo shards/$each.tar
    done >shards.txt
    cp in.ppm shards/foreign.tar
    head -c 3000 shards/1.tar >shards/cut.tar
    printf '%s\n' shards/foreign.tar shards/cut.tar >>shards.txt
}

# hang NUMBER: whoever reads this archive waits after its first bytes. Once somebody does, the file NUMBER.hangs is there.
hang()
{
    mv shards/$1.tar whole
    mkfifo shards/$1.tar
    {
        head -c 2000 whole/$1.tar
        echo >$1.hangs
        exec sleep 200
    } >shards/$1.tar &
    jobs="$jobs $!"
}

# mend NUMBER: the archive is whole.
mend()
{
    mv whole/$1.tar shards
}

# part K COMMAND...: whether the command is true of the output of part K
part()
{
    output=$(ls gpufilter-*_"$1".out 2>/dev/null)
    shift
    [ -n "$output" ] && "$@" "$output"
}

# node_of K: the node that does part K
node_of()
{
    squeue -h -r -t running -o '%K %N' | sed -n "s/^$1 //p"
}

# ended NUMBER STATE: whether Slurm's record says that a try of part NUMBER ended in this way
ended()
{
    grep -q "JobState=$2 .*ArrayTaskId=$1 " ends 2>/dev/null || problem "part $1 has no try that ended as $2: $(cat ends)"
}

make_shards
if ! until_true 20 nodes_are_up; then
    skip "slurmd does not start here: $(tail -n 1 slurmd1.out | cut -c 1-100)"
else
    # Each of the first four tasks has done some archives when it comes to one that hangs or is missing.
    for each in 17 18 19; do hang $each; done
    mv shards/20.tar whole
    run 0 sbatch --array=1-8 --time=1 --signal=TERM@20 "$here/../samples/cluster/slurm.sh" 8 -i @shards.txt -o 'out/{stem}.tar' \
        --skip-existing --log=log.jsonl invert
    for each in 17 18 19; do
        until_true 30 [ -e $each.hangs ] && until_true 30 [ -s out/$((each - 8)).tar.json ] ||
            problem "part $((each - 16)) does not read $each.tar: $(cat gpufilter-*.out)"
    done
    # What is done now has to stay as it is, but for one archive whose record is torn.
    head -c 100 out/1.tar.json >torn
    cp torn out/1.tar.json
    find out -name '*.tar' ! -name 1.tar -printf '%p %i %T@\n' | sort >made.first
    for each in 17 18 19; do mend $each; done
    kill -9 "$(cat "$(node_of 1).is")"
    run 0 sbatch --partition=urgent --nodelist="$(node_of 2)" --output=/dev/null --wrap=true
    until_true 20 part 4 grep -q 'shards/20.tar: ' || problem "$(cat gpufilter-*.out)"
    mend 20
    until_true 120 queue_is_empty || problem "$(squeue)"
    ended 1 NODE_FAIL
    ended 2 PREEMPTED
    part 3 grep -q 'Exited with exit code 143' || problem "part 3 got no SIGTERM: $(cat gpufilter-*_3.out)"
    part 4 grep -q 'Exited with exit code 75' || problem "part 4 was not tried again: $(cat gpufilter-*_4.out)"
    find out -name '*.tar' ! -name 1.tar -printf '%p %i %T@\n' | sort >made.last
    comm -23 made.first made.last >again
    [ -s made.first ] && [ ! -s again ] || problem "made twice: $(cat again)"

    # One run alone gives the same archives, and no others.
    run 75 gpufilter -q -i @shards.txt -i shards/never.tar -o 'alone/{stem}.tar' invert
    for each in 'foreign.tar: damaged archive' 'cut.tar: damaged archive' 'never.tar: No such file' '100.tar/./3.pgm: '; do
        grep -q "^gpufilter: shards/$each" stderr || problem "no $each in $(cat stderr)"
    done
    # shellcheck disable=SC2046 # a hundred names
    only out $(cd alone && ls)
    [ "$(ls out | wc -l)" -eq 200 ] || problem "$(ls out)"
    for each in $(seq 100); do same out/$each.tar alone/$each.tar; done
    for each in foreign cut 20 100.tar/./3.pgm; do
        grep -q "^gpufilter: shards/${each}[.:]" gpufilter-*.out || problem "no task names $each: $(cat gpufilter-*.out)"
    done

    # One account of all parts: each damaged picture once, and what cannot be an archive.
    sed -i '/foreign\|cut/d' shards.txt
    run 4 gpufilter --report=json:account.json out @shards.txt
    stderr_like '90 outputs done, 10 failed, 0 inputs missing, 0 records damaged'
    run 4 gpufilter --report=json:account.json log.jsonl
    # 4992 pictures, of which two are of the cut archive, and 90 archives; 10 pictures, their archives, and two others
    stderr_like '5082 outputs done, 22 failed, 0 inputs missing, 0 records damaged'
    printf 'shards/%s.tar\n' foreign cut never >>shards.txt
    run 75 gpufilter --report=json:account.json log.jsonl @shards.txt
    stderr_like '5082 outputs done, 22 failed, 1 inputs missing, 0 records damaged'
    cp torn out/7.tar.json
    run 75 gpufilter --report=json:account.json out @shards.txt
    stderr_like '89 outputs done, 10 failed, 4 inputs missing, 1 records damaged'
    for each in foreign cut never 7; do
        sed -n '/"missing"/,/]/p' account.json | grep -q "\"shards/$each.tar\"" || problem "no $each in $(cat account.json)"
    done
    run 0 gpufilter -q -i shards/7.tar -o 'out/{stem}.tar' --skip-existing invert
    same out/7.tar alone/7.tar
fi
# shellcheck disable=SC2086 # the processes
kill -9 $jobs 2>/dev/null
wait
unset SLURM_CONF

begin "GNU parallel"
if ! command -v parallel >/dev/null || ! parallel --version 2>/dev/null | grep -q GNU; then
    skip "no GNU parallel here"
else
    run 0 "$here/../samples/cluster/parallel.sh" 3 -q -i "$here/../samples/gallery" -o from_parallel/ --threads=1 blur
    [ "$(ls from_parallel)" = "$(cd "$here/../samples/gallery" && ls -- *.jpg)" ] || problem "$(ls from_parallel)"
    for each in 1 2 3 4 5; do
        tar cf parallel$each.tar in.ppm in.png
        gpufilter -q -i parallel$each.tar -o alone$each.tar invert
    done
    run 0 "$here/../samples/cluster/parallel.sh" 2 -q -i 'parallel[1-5].tar' -o 'parallel/{stem}.tar' invert
    for each in 1 2 3 4 5; do same parallel/parallel$each.tar alone$each.tar; done
fi
