#!/bin/sh
#SBATCH --array=0-7
#SBATCH --cpus-per-task=4
# The tar archives of a folder by the tasks of a Slurm array:
#   sbatch samples/slurm-archives.sh /data/train /data/small resize=w=512
# Slurm runs a copy of this file, so that the samples are looked for from the folder of submission.
set -eu
from=$1 to=$2
shift 2
exec sh "${SLURM_SUBMIT_DIR:-.}/samples/archives.sh" "$from" "$to" "$SLURM_ARRAY_TASK_ID" "$SLURM_ARRAY_TASK_COUNT" "$@"
