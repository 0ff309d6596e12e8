#!/usr/bin/env bash
# Looks up the same addresses of a large C++ program with profuse and with
# llvm-symbolizer 22, compares the outputs, and prints time and memory. The
# program has more than 100 MB of debug information: a few files that use the
# standard library, linked many times under other names.
#
#   bench/symbolize.sh [ADDRESSES [RUNS]]
set -euo pipefail
cd "$(dirname "$0")/.."
count=${1:-100000} runs=${2:-3} copies=24
dir=build/bench/symbolize
mkdir -p "$dir"
go build -o "$dir/symbolize" ./bench/symbolize

make_unit() {
  cat <<END
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace {
struct A {
  int v[$1 + 1];
  std::string s;
  bool operator<(const A &o) const { return v[0] < o.v[0]; }
};
}
int work$1(int n) {
  std::map<A, std::vector<A>> m;
  std::unordered_map<std::string, A> u;
  for (int i = 0; i < n; i++) {
    A a{{i}, std::to_string(i)};
    m[a].push_back(a);
    u[a.s] = a;
  }
  std::vector<A> v;
  for (auto &[k, x] : m) v.insert(v.end(), x.begin(), x.end());
  std::sort(v.begin(), v.end(), [](const A &x, const A &y) { return x.s < y.s; });
  std::ostringstream o;
  o << std::regex_search(v.empty() ? "" : v[0].s, std::regex("a(b|c)*d{$1}"));
  std::function<int(int)> f = [&](int k) { return k + v.size() + u.size(); };
  return f(o.str().size());
}
END
}

program=$dir/program
if [[ ! -e $program ]]; then
  for u in 1 2 3 4 5 6; do
    make_unit $u >"$dir/u$u.cpp"
    clang++-22 -std=c++17 -O2 -g -c "$dir/u$u.cpp" -o "$dir/u$u.o" &
    [[ $((u % 2)) -eq 1 ]] || wait
  done
  wait
  for u in 1 2 3 4 5 6; do
    # What a copy defines itself gets another name; the rest is the library's.
    nm --defined-only --extern-only "$dir/u$u.o" | awk '{ print $3 }' >"$dir/names"
    for c in $(seq $copies); do
      sed "s/.*/& c${u}_${c}_&/" "$dir/names" >"$dir/renames"
      llvm-objcopy-22 --redefine-syms="$dir/renames" "$dir/u$u.o" "$dir/copy$u-$c.o"
    done
  done
  echo 'int main() { return 0; }' >"$dir/main.cpp"
  clang++-22 -fuse-ld=lld-22 -Wl,-z,now "$dir/main.cpp" "$dir"/copy*.o -o "$program"
  rm "$dir"/copy*.o "$dir"/u*.o
fi

size -A "$program" |
  awk '/^\.debug_/ { n += $2 } END { printf "%.0f MB of debug information, ", n / 1e6 }'
"$dir/symbolize" -sample "$count" "$program" >"$dir/addresses"
echo "$count addresses, $runs runs"

# run NAME COMMAND...: appends time and memory of one run.
run() {
  local name=$1
  shift
  /usr/bin/time -f '%e %U %S %M' -a -o "$dir/$name.time" "$@" <"$dir/addresses" >"$dir/$name.out"
}
rm -f "$dir"/*.time
for _ in $(seq "$runs"); do # in turns, so that the machine's load hits both
  run profuse "$dir/symbolize" "$program"
  run llvm-symbolizer llvm-symbolizer-22 --obj="$program" --functions=linkage --inlines --no-demangle
done
for name in profuse llvm-symbolizer; do
  sort -n "$dir/$name.time" | head -1 |
    awk -v name=$name '{ printf "%s %.2f s wall, %.2f s processor, %.0f MB\n", name, $1, $2 + $3, $4 / 1024 }'
done | tee "$dir/best"
awk '{ wall[NR] = $2; cpu[NR] = $5 }
     END { printf "%.1f times as fast, %.1f times less processor time\n", wall[2] / wall[1], cpu[2] / cpu[1] }' "$dir/best"
cmp "$dir/profuse.out" "$dir/llvm-symbolizer.out" && echo "same output"
