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
