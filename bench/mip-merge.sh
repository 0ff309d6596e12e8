#!/usr/bin/env bash
# Merges 1,000 raw MIP files of a program of 100,000 functions with two workers,
# and reads the same files without merging: the difference is the cost of
# profuse itself.
#
#   bench/mip-merge.sh [RUNS]
set -euo pipefail
cd "$(dirname "$0")/.."
go test -run '^$' -bench MergeFiles -benchtime "${1:-5}x" ./mip |
  awk '/^BenchmarkMergeFiles/ {
         n = split($1, part, "/"); name = part[2]; gsub("_", " ", name)
         sub(/-[0-9]+$/, "", part[n])
         ms[name, part[n]] = $3 / 1e6; mbs[name, part[n]] = $5
         if (!(name in seen)) { seen[name]; order[++k] = name }
       }
       END {
         printf "%-62s %10s %10s %8s\n", "1,000 raw files of 100,000 functions", "read", "merge", "ratio"
         for (i = 1; i <= k; i++) {
           n = order[i]
           printf "%-62s %7.0f ms %7.0f ms %8.2f\n", n, ms[n, "read"], ms[n, "merge"], ms[n, "merge"] / ms[n, "read"]
         }
       }'
