#!/usr/bin/env bash
# Merges ten iprof files of about 10 MB, runs of one program, with profuse and with
# a straightforward Python script, and prints CPU time, wall time and memory of
# both: medians over the rounds. The results are compared by merging each with
# nothing, which brings them into canonical form.
#
#   bench/iprof-merge.sh [ROUNDS]
#
# Files are kept under build/bench/iprof. Needs python3 and GNU time.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5}
dir=$PWD/build/bench/iprof
mkdir -p "$dir"
[[ -f $dir/run-10.iprof ]] || go test ./iprof -run '^TestWriteFiles$' -files "$dir" >&2
inputs=("$dir"/run-{1,2,3,4,5,6,7,8,9,10}.iprof)
go test -c -o build/bench/iprof.test ./iprof

CGO_ENABLED=0 go build -trimpath -o build/bench/profuse ./cmd/profuse

measure() { # NAME COMMAND...
  local name=$1
  shift
  command time -a -o "$dir/$name.times" -f '%e %U %S %M' "$@" >/dev/null
}
rm -f "$dir"/*.times
for ((r = 0; r < rounds; r++)); do
  measure profuse build/bench/profuse merge -q -o "$dir/profuse.iprof" "${inputs[@]}"
  measure profuse-j1 build/bench/profuse merge -q -j 1 -o "$dir/profuse-j1.iprof" "${inputs[@]}"
  measure python python3 bench/iprof-merge.py "$dir/python.iprof" "${inputs[@]}"
done
cmp "$dir/profuse.iprof" "$dir/profuse-j1.iprof"
build/bench/iprof.test -test.run '^TestSameMerged$' -files "$dir" >/dev/null

median() { # NAME EXPRESSION
  awk "{ print $2 }" "$dir/$1.times" | sort -g | sed -n "$(((rounds + 1) / 2))p"
}
size=$(cat "${inputs[@]}" | wc -c)
printf '%d files, %.1f MB\n' "${#inputs[@]}" "$(awk "BEGIN { print $size / 1e6 }")"
printf '%-10s %10s %10s %12s\n' '' 'wall s' 'CPU s' 'memory MB'
for name in profuse profuse-j1 python; do
  printf '%-10s %10.2f %10.2f %12.0f\n' "$name" "$(median $name '$1')" "$(median $name '$2 + $3')" "$(median $name '$4 / 1024')"
done
awk "BEGIN { printf \"python / profuse: %.1f in CPU time, %.1f by the clock\n\",
  $(median python '$2 + $3') / $(median profuse '$2 + $3'), $(median python '$1') / $(median profuse '$1') }"
