#!/bin/sh
# The tasks of {{.Job}}, and the reduce after them.
#
#   sh THIS-FILE
#
# Tasks that failed can be submitted again, one by one or as an array: what is done stays.
set -eu
array=$(sbatch --parsable --job-name={{.Name}} --array=0-{{sub .Tasks 1}}%{{.Parallelism}} --requeue \
  --cpus-per-task={{.CPU}} --mem={{.MemoryMiB}}M --time={{.Minutes}}{{if .Account}} --partition={{shell .Account}}{{end}} <<'TASK'
#!/bin/sh
# The index comes from SLURM_ARRAY_TASK_ID. An attempt that fails is repeated.
attempt=1
until {{shell .Program}} {{words task}}; do
  code=$?
  if [ "$code" = 2 ] || [ "$attempt" -ge {{.Attempts}} ]; then exit "$code"; fi
  attempt=$((attempt + 1))
  sleep 10
done
TASK
)
array=${array%%;*} # without the cluster
reduce=$(sbatch --parsable --job-name={{.Name}}-reduce --dependency=afterok:"$array" --kill-on-invalid-dep=yes \
  --cpus-per-task={{.CPU}} --mem={{.MemoryMiB}}M --time={{.Minutes}}{{if .Account}} --partition={{shell .Account}}{{end}} <<'REDUCE'
#!/bin/sh
exec {{shell .Program}} {{words reduce}}
REDUCE
)
echo "array $array, reduce ${reduce%%;*}"
