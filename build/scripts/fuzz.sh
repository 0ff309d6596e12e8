#!/usr/bin/env bash
# Runs every fuzz target of the module, one after the other.
#
#   build/scripts/fuzz.sh DURATION    per target, as for go test -fuzztime
set -euo pipefail

duration=${1:?usage: build/scripts/fuzz.sh DURATION}
cd "$(dirname "$0")/../.."

found=0
for package in $(go list ./...); do
  for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
    found=$((found + 1))
    echo "== $package $target"
    # Sometimes the fuzzer reports its own deadline as a failure. It reports and
    # keeps a failing input separately.
    said=$(go test -run '^$' -fuzz "^$target\$" -fuzzminimizetime 10x -fuzztime "$duration" "$package" 2>&1 | tee /dev/stderr) ||
      [[ $said == *"context deadline exceeded"* && $said != *"Failing input"* && $said != *panic* ]]
  done
done
((found)) || { echo "no fuzz targets found" >&2; exit 1; }
