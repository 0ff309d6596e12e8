#!/usr/bin/env bash
# Merges raw heap profiles of three sizes with profuse and with llvm-profdata, in
# turns, and prints wall time, CPU time and peak memory of both: the best of all
# rounds. The results are compared byte for byte.
#
#   bench/memprof.sh [ROUNDS]
#
# The profiles, of about 18,000, 85,000 and 427,000 contexts, are of two generated
# programs: one uses the containers of the standard library and has much debug
# information, one has many small functions and runs shortly and ten times as
# long. Both are compiled with clang 22 and kept under build/bench. "drop-in" is
# profuse llvm-profdata, "profuse" is profuse merge. Needs clang-22, lld-22,
# llvm-profdata-22 and GNU time.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5}
dir=build/bench/memprof
mkdir -p "$dir"
flags='-fmemory-profile -g -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls
  -fdebug-info-for-profiling -fno-exceptions -std=c++17'

# Functions in layers, each of which calls some of the next by chance.
# generate KIND LAYERS FUNCTIONS FILES: writes $dir/KIND.h and $dir/KIND-*.cpp.
generate() {
  awk -v kind="$1" -v layers="$2" -v per="$3" -v files="$4" -v dir="$dir" '
    function chance(n) { seed = (seed * 1103515245 + 12345) % 2147483648; return int(seed / 65536) % n }
    BEGIN {
      seed = 7
      header = dir "/" kind ".h"
      print "#pragma once\n#include <cstdlib>\n#include <cstring>" > header
      if (kind == "containers") print "#include <map>\n#include <string>\n#include <vector>" > header
      print "struct R { unsigned s; unsigned n() { s = s * 1664525u + 1013904223u; return s >> 8; } };" > header
      for (l = 0; l < layers; l++) for (i = 0; i < per; i++) printf "long f_%d_%d(R &r);\n", l, i > header
      if (kind == "functions") {
        for (k = 0; k < 200; k++)
          printf "static inline __attribute__((always_inline)) long h%d(int n) { char *p = (char *)malloc(n + %d); memset(p, %d, n); long s = p[0]; free(p); return s; }\n", k, k % 37 + 1, k % 100 > header
        for (k = 0; k < 200; k++)
          printf "static inline __attribute__((always_inline)) long g%d(R &r, int n) { return h%d(n) + (n & 1 ? h%d(n + 1) : 0); }\n", k, k, (k * 7 + 3) % 200 > header
      }
      for (l = 0; l < layers; l++) for (i = 0; i < per; i++) {
        id = l * per + i
        file = dir "/" kind "-" id % files ".cpp"
        if (!(file in open)) { printf "#include \"%s.h\"\n", kind > file; open[file] = 1 }
        if (kind == "containers")
          printf "namespace { struct T%d { int v[%d]; bool operator<(const T%d &o) const { return v[0] < o.v[0]; } }; }\n", id, id % 7 + 1, id > file
        printf "long f_%d_%d(R &r) { long s = 0;\n", l, i > file
        if (kind == "functions") {
          if (l == layers - 1 || chance(4) == 0) printf "  s += g%d(r, (r.n() & 31) + 1);\n", chance(200) > file
        } else if (l == layers - 1 || chance(2) == 0) {
          printf "  std::map<T%d, std::vector<T%d>> m; std::string t;\n", id, id > file
          printf "  for (unsigned i = 0; i < r.n() %% 4 + 1; i++) { T%d x{}; x.v[0] = int(r.n() %% 16); m[x].push_back(x); t += \"text that is longer than what fits\"; }\n", id > file
          print "  s += long(m.size() + t.size());" > file
        }
        if (l < layers - 1) {
          print "  switch (r.n() % 4) {" > file
          for (c = 0; c < 4; c++) printf "  case %d: s += f_%d_%d(r); break;\n", c, l + 1, chance(per) > file
          print "  }" > file
        }
        print "  return s; }" > file
      }
      file = dir "/" kind "-main.cpp"
      printf "#include \"%s.h\"\n#include <cstdio>\nint main(int c, char **v) { R r{42}; long n = atol(v[1]), s = 0;\n", kind > file
      printf "  for (long i = 0; i < n; i++) switch (r.n() %% %d) {\n", per > file
      for (i = 0; i < per; i++) printf "  case %d: s += f_0_%d(r); break;\n", i, i > file
      print "  }\n  printf(\"%ld\\n\", s); }" > file
    }'
}

build() { # KIND LAYERS FUNCTIONS FILES
  local program=$dir/$1
  [[ ! -x $program ]] || return 0
  echo "building the program $1 (takes minutes)" >&2
  rm -f "$dir/$1"-*
  generate "$@"
  # shellcheck disable=SC2086
  printf '%s\n' "$dir/$1"-*.cpp | xargs -P "$(nproc)" -I{} clang++-22 $flags -c {} -o {}.o
  # shellcheck disable=SC2086
  clang++-22 $flags -fuse-ld=lld -Wl,--build-id "$dir/$1"-*.o -o "$program"
  rm "$dir/$1"-*.o
}

record() { # NAME PROGRAM ITERATIONS
  [[ ! -f $dir/$1.raw ]] || return 0
  rm -f "$dir/$1".raw.*
  MEMPROF_OPTIONS=log_path=$PWD/$dir/$1.raw "$dir/$2" "$3" >/dev/null
  mv "$dir/$1".raw.* "$dir/$1.raw"
}

build containers 8 50 10
build functions 12 250 10
record small containers 4000
record middle functions 20000
record large functions 215000
go build -trimpath -o build/bench/profuse ./cmd/profuse

measure() { # NAME COMMAND...
  local name=$1
  shift
  command time -a -o "$dir/$name.times" -f '%e %U %S %M' "$@"
}
best() { awk "{ print $2 }" "$dir/$1.times" | sort -g | head -1; } # NAME EXPRESSION

rm -f "$dir"/*.times
printf '%-8s %9s %9s   %-14s %8s %8s %8s\n' '' contexts 'raw MB' '' 'wall s' 'CPU s' 'peak MB'
for size in small middle large; do
  program=$dir/functions
  [[ $size != small ]] || program=$dir/containers
  for ((r = 0; r < rounds; r++)); do # in turns, so that the machine's load hits all
    measure "$size-llvm" llvm-profdata-22 merge --profiled-binary="$program" "$dir/$size.raw" -o "$dir/$size-llvm.profdata"
    measure "$size-drop-in" build/bench/profuse llvm-profdata merge --profiled-binary="$program" "$dir/$size.raw" -o "$dir/$size-drop-in.profdata"
    measure "$size-profuse" build/bench/profuse merge -q --profiled-binary "$program" "$dir/$size.raw" -o "$dir/$size-profuse.profdata"
  done
  cmp "$dir/$size-llvm.profdata" "$dir/$size-drop-in.profdata"
  contexts=$(build/bench/profuse show --json "$dir/$size.raw" | awk -F'[:,]' '/"recorded_contexts"/ { print $2 + 0 }')
  bytes=$(wc -c <"$dir/$size.raw")
  for name in llvm drop-in profuse; do
    printf '%-8s %9s %9.1f   %-14s %8.2f %8.2f %8.0f\n' "$size" "$contexts" "$(awk "BEGIN { print $bytes / 1e6 }")" "$name" \
      "$(best "$size-$name" '$1')" "$(best "$size-$name" '$2+$3')" "$(best "$size-$name" '$4/1024')"
  done
done
echo "llvm-profdata's profile and the drop-in command's are identical."
