#!/bin/sh
#SBATCH --job-name=gpufilter
#SBATCH --array=1-4
#SBATCH --output=gpufilter-%A_%a.out
# sbatch samples/slurm-array.sh PICTURES RESULTS [CHAIN]
# Filters a folder on as many nodes as there are tasks; no task knows of the others. A task that was stopped and runs
# again goes on from its log. With GPUs: sbatch --gpus-per-task=1.
set -eu
pictures=${1:?the folder of pictures} results=${2:?the folder of results}
exec ${GPUFILTER:-gpufilter} -i "$pictures" --recursive -o "$results/" \
    --shard=$((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN + 1))/"$SLURM_ARRAY_TASK_COUNT" \
    --resume="${results%/}-$SLURM_ARRAY_TASK_ID.log" "${3:-blur,equalize}"
