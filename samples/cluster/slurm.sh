#!/bin/sh
#SBATCH --job-name=gpufilter
#SBATCH --output=gpufilter-%A_%a.out
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=TERM@60
# Each task of a Slurm array does one of N parts of a run. N stands before the arguments of gpufilter:
#   sbatch --array=1-8 samples/cluster/slurm.sh 8 -i @shards.txt -o 'out/{stem}.tar' --skip-existing resize=w=512
# A task that another try may mend, or whose time is over, is queued again; it goes on with what is not done.
parts=${1:?the number of parts}
shift
srun ${GPUFILTER:-gpufilter} --shard="$SLURM_ARRAY_TASK_ID/$parts" "$@"
status=$?
tries=${SLURM_RESTART_COUNT:-0}
case $status in
3 | 75 | 143) [ "$tries" -ge 5 ] || scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" ;;
esac
exit $status
