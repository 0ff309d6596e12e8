#!/bin/sh
# The tasks of {{.Job}}, and the reduce after them, in AWS Batch.
#
#   JOB_QUEUE=my-queue sh THIS-FILE
#
# The image starts profuse. The job role must read and write the buckets.
set -eu
: "${JOB_QUEUE:?names the queue}"

# An array has two tasks at least; an index without a shard has nothing to do.
register() { # NAME CONTAINER
  aws batch register-job-definition --job-definition-name "$1" --type container \
    --retry-strategy '{"attempts": {{.Attempts}}}' --timeout '{"attemptDurationSeconds": {{mul .Minutes 60}}}' \
    --container-properties "$2" --query jobDefinitionArn --output text
}

task=$(register {{.Name}} "$(cat <<'JSON'
{
  "image": {{json .Image}},
  "command": {{json (task)}},
  "environment": [{"name": "TMPDIR", "value": "/scratch"}],
  "volumes": [{"name": "scratch", "host": {}}],
  "mountPoints": [{"sourceVolume": "scratch", "containerPath": "/scratch"}],
{{- if .Account}}
  "jobRoleArn": {{json .Account}},
{{- end}}
  "resourceRequirements": [{"type": "VCPU", "value": "{{.CPU}}"}, {"type": "MEMORY", "value": "{{.MemoryMiB}}"}]
}
JSON
)")
reduce=$(register {{.Name}}-reduce "$(cat <<'JSON'
{
  "image": {{json .Image}},
  "command": {{json (reduce)}},
  "environment": [{"name": "TMPDIR", "value": "/scratch"}],
  "volumes": [{"name": "scratch", "host": {}}],
  "mountPoints": [{"sourceVolume": "scratch", "containerPath": "/scratch"}],
{{- if .Account}}
  "jobRoleArn": {{json .Account}},
{{- end}}
  "resourceRequirements": [{"type": "VCPU", "value": "{{.CPU}}"}, {"type": "MEMORY", "value": "{{.MemoryMiB}}"}]
}
JSON
)")

array=$(aws batch submit-job --job-name {{.Name}} --job-queue "$JOB_QUEUE" --job-definition "$task" \
  --array-properties size={{max 2 .Tasks}} --query jobId --output text)
aws batch submit-job --job-name {{.Name}}-reduce --job-queue "$JOB_QUEUE" --job-definition "$reduce" \
  --depends-on "jobId=$array" --query jobId --output text
