#!/usr/bin/env bash
# Merges raw LLVM profiles of one program with profuse and with llvm-profdata,
# in turns, and prints median wall time, CPU time and peak memory of both, with
# the time to read the bytes beside them. The results are compared byte for byte.
#
#   bench/irpgo-merge.sh [FUNCTIONS [FILES [ROUNDS]]]
#
# The program is generated, compiled with clang 22 and run with different
# inputs; both are kept under build/bench. Needs clang-22, llvm-profdata-22 and
# GNU time.
set -euo pipefail
cd "$(dirname "$0")/.."
functions=${1:-22000} files=${2:-200} rounds=${3:-5}
dir=build/bench/irpgo-$functions
mkdir -p "$dir"

if [[ ! -x $dir/program ]]; then
  echo "building a program of $functions functions (takes minutes)" >&2
  awk -v n="$functions" 'BEGIN {
    print "#include <stdlib.h>\n#include <string.h>\ntypedef int (*fn)(int, int);"
    for (i = 0; i < n; i++) {
      printf "__attribute__((noinline)) static int f%d(int a, int b) { int s = 0; char m[64];\n", i
      printf "  for (int i = 0; i < (a & 7); i++) { if ((b + i) %% %d == 0) s += i * %d; else if (s > %d) s -= b; else s ^= a; }\n", i % 7 + 2, i, i
      print "  switch (a % 5) { case 0: s++; break; case 1: s += 2; break; case 2: s *= 3; break; }"
      if (i % 10 == 0) print "  memset(m, s, a & 63); s += m[a & 31];"
      print "  return s; }"
    }
    print "static fn const table[] = {"
    for (i = 0; i < n; i++) printf "f%d,%s", i, i % 20 == 19 ? "\n" : ""
    print "};\nint main(int c, char **v) { unsigned s = 0, n = atoi(v[1]);"
    printf "  for (unsigned i = 0; i < n; i++) s += table[(i * 2654435761u) %% %d](i, s);\n  return s == 42; }\n", n
  }' >"$dir/program.c"
  clang-22 -O1 -w -fprofile-generate "$dir/program.c" -o "$dir/program"
fi
for ((i = 1; i <= files; i++)); do
  raw=$dir/run-$i.profraw
  [[ -f $raw ]] || LLVM_PROFILE_FILE=$raw "$dir/program" $((i * 400)) 2>/dev/null
done
inputs=()
for ((i = 1; i <= files; i++)); do inputs+=("$dir/run-$i.profraw"); done
CGO_ENABLED=0 go build -trimpath -o build/bench/profuse ./cmd/profuse

measure() { # NAME COMMAND...
  local name=$1
  shift
  command time -a -o "$dir/$name.times" -f '%e %U %S %M' "$@" >/dev/null
}
rm -f "$dir"/*.times
for ((r = 0; r <= rounds; r++)); do
  measure profuse-j2 build/bench/profuse merge -q -j 2 --indexed-version 13 -o "$dir/profuse.profdata" "${inputs[@]}"
  measure llvm-j2 llvm-profdata-22 merge -j 2 -o "$dir/llvm.profdata" "${inputs[@]}"
  measure profuse-j1 build/bench/profuse merge -q -j 1 --indexed-version 13 -o "$dir/profuse1.profdata" "${inputs[@]}"
  measure llvm-j1 llvm-profdata-22 merge -j 1 -o "$dir/llvm1.profdata" "${inputs[@]}"
  measure read cat "${inputs[@]}"
done
cmp "$dir/profuse.profdata" "$dir/llvm1.profdata"
cmp "$dir/profuse1.profdata" "$dir/llvm1.profdata"

median() { # NAME EXPRESSION, over all rounds but the first
  tail -n "$rounds" "$dir/$1.times" | awk "{ print $2 }" | sort -g | sed -n "$(((rounds + 1) / 2))p"
}
bytes=$(cat "${inputs[@]}" | wc -c)
echo "$files raw profiles of $functions functions, $((bytes / 1000000)) MB; medians of $rounds rounds"
printf '%-14s %9s %9s %9s\n' '' 'wall s' 'CPU s' 'peak MB'
for name in profuse-j2 llvm-j2 profuse-j1 llvm-j1 read; do
  printf '%-14s %9.3f %9.3f %9.0f\n' "$name" "$(median $name '$1')" "$(median $name '$2+$3')" "$(median $name '$4/1024')"
done
for j in 2 1; do
  for what in 'wall $1' 'CPU $2+$3' 'memory $4'; do
    awk -v a="$(median llvm-j$j "${what#* }")" -v b="$(median profuse-j$j "${what#* }")" -v what="${what%% *}" -v j=$j \
      'BEGIN { printf "llvm / profuse, -j %d, %-6s %6.1f\n", j, what, b ? a / b : 0 }'
  done
done
