#!/bin/sh
#SBATCH --job-name=gpufilter
#SBATCH --output=gpufilter-%A_%a.out
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=TERM@60
# Each task of a Slurm array does one of N parts of a run. N stands before the arguments of gpufilter:
#   sbatch --array=1-8 samples/cluster/slurm.sh 8 -i @shards.txt -o 'out/{stem}.tar' --skip-existing resize=w=512
# A task that another try may mend, or whose time is over, is queued again, five times at most; it goes on with what is not
# done. A task that is preempted, or whose node fails, is queued again by Slurm itself, and that is no try.
parts=${1:?the number of parts}
shift
srun ${GPUFILTER:-gpufilter} --shard="$SLURM_ARRAY_TASK_ID/$parts" "$@"
status=$?
task=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
tries=gpufilter-$task.tries # has a line for each try that failed
case $status in
3 | 75 | 143)
    if ! scontrol show job "$task" | grep -q ' PreemptTime=[0-9]'; then
        tried=${SLURM_RESTART_COUNT:-0} # where the file cannot be written
        { echo "$status" >>"$tries"; } 2>/dev/null && tried=$(wc -l <"$tries")
        if [ "$tried" -le 5 ]; then
            scontrol requeue "$task"
        else
            rm "$tries"
        fi
    fi
    ;;
*) rm -f "$tries" ;;
esac
exit $status
