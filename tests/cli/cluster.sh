# The forms of samples/cluster, by the schemas of those that read them.
begin "the Job of Kubernetes has the schema's form"
if ! command -v kubernetes-validate >/dev/null; then
    skip "no kubernetes-validate here"
else
    for each in 1.29 1.31 1.33; do
        run 0 kubernetes-validate -k $each --strict "$here/../samples/cluster/kubernetes-job.yaml"
    done
fi

begin "the job definition of AWS Batch has the form of the API"
if ! python3 -c 'import botocore' 2>/dev/null; then
    skip "python3 has no botocore here"
else
    run 0 python3 - "$here/../samples/cluster/aws-batch.json" <<END
import json, sys
import botocore.session, botocore.validate
shape = botocore.session.get_session().get_service_model("batch").operation_model("RegisterJobDefinition").input_shape
sys.exit(botocore.validate.ParamValidator().validate(json.load(open(sys.argv[1])), shape).generate_report() or 0)
END
fi

begin "the Dockerfile is well formed"
if ! command -v hadolint >/dev/null; then
    skip "no hadolint here"
else
    run 0 hadolint "$here/../samples/cluster/Dockerfile"
fi

begin "slurm.sh queues a task again five times, and counts neither preemptions nor starts after the failure of a node"
mkdir stubs
cat >stubs/srun <<'END_OF_SRUN'
#!/bin/sh
exit "$(cat status)"
END_OF_SRUN
cat >stubs/scontrol <<'END_OF_SCONTROL'
#!/bin/sh
case $1 in
show) cat preempted ;;
*) echo "$*" >>queued ;;
esac
END_OF_SCONTROL
chmod +x stubs/srun stubs/scontrol
# task STATUS: the task ends with this status.
task()
{
    echo "$1" >status
    run "$1" env PATH="$PWD/stubs:$PATH" SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=2 SLURM_RESTART_COUNT=9 "$here/../samples/cluster/slurm.sh" 8
}
for status in 75 143 3; do
    : >queued
    echo '   PreemptEligibleTime=Unknown PreemptTime=None' >preempted
    for try in 1 2 3 4 5; do task $status; done
    [ "$(grep -cx 'requeue 7_2' queued)" -eq 5 ] || problem "$status: $(cat queued)"
    echo '   PreemptEligibleTime=2026-11-28T10:00:00 PreemptTime=2026-11-28T10:00:01' >preempted
    for try in 1 2 3; do task 143; done
    echo '   PreemptEligibleTime=Unknown PreemptTime=None' >preempted
    task $status
    [ "$(grep -c . queued)" -eq 5 ] || problem "$status: $(cat queued)"
    task $status
    [ "$(grep -c . queued)" -eq 6 ] || problem "$status: $(cat queued)"
    task 4
    absent gpufilter-7_2.tries
done

begin "parallel.sh ends with a status of the program, not with the number of failed parts"
if ! command -v parallel >/dev/null || ! parallel --version 2>/dev/null | grep -q GNU; then
    skip "no GNU parallel here"
else
    cat >stubs/part <<'END_OF_PART'
#!/bin/sh
part=${1#--shard=}
status=$(echo "$2" | cut -d ' ' -f "${part%/*}")
[ "$status" -lt 1000 ] || kill -9 $$
exit "$status"
END_OF_PART
    chmod +x stubs/part
    # What the parts end with, and the status of all.
    while read -r status all; do
        run "$status" env GPUFILTER="$PWD/stubs/part" "$here/../samples/cluster/parallel.sh" 3 "$all"
    done <<'END_OF_CASES'
0 0 0 0
4 0 4 4
75 4 75 0
75 0 0 1000
75 143 0 4
75 255 0 0
2 2 2 2
3 3 4 0
END_OF_CASES
fi
