#!/usr/bin/env bash
# Makes the recordings in this folder. It needs perf of Linux 6.1 with the right to record (root, or
# kernel.perf_event_paranoid 1), clang and llvm-objdump of LLVM 22, and gcc. The recordings with branches
# are made of the texts by
#   go test ./formats/perfdata -run TestFixtures -update
set -euo pipefail
cd "$(dirname "$0")"
out=$PWD
work=/opt/recordings # its name is in the recordings
mkdir -p "$work/made"
trap 'rm -rf "$work"' EXIT
cp ../sampleprof/src/* "$work"
cd "$work"
gcc -O2 -w -o step step.c

# build NAME FLAG...: builds the program.
build() { clang++-22 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -ffile-compilation-dir=. "${@:2}" work.cpp -o "$1"; }

# text NAME STACKS FLAG...: prints the first samples of a run one instruction at a time, as perf script does.
text() {
  build "$1" -static "${@:3}"
  llvm-objdump-22 -d --no-leading-headers --no-print-imm-hex "$1" |
    awk '/^ *[0-9a-f]+:/ { split($0, a, "\t"); sub(/^ *[0-9a-f]+: */, "", a[1]); n = split(a[1], b, " "); at = $1; sub(/:/, "", at); print at, n }' >lengths
  ./step lengths 37 "$2" "./$1" 60 >all
  awk -v stacks="$2" '{ print } / 0x[0-9a-f]*\/0x/ && ++n == 40 { exit }' all >"$out/$1.perfscript"
}
text branches 0 -O2
text hybrid 1 -O1 -fno-optimize-sibling-calls

build work -O2
record() { perf record -q -e cpu-clock:u -c 500000 "$@"; }
record -o "$work/made/clock.perf.data" -- ./work 4000 >/dev/null
record -g -o "$work/made/stacks.perf.data" -- ./work 4000 >/dev/null
record -z -o "$work/made/zstd.perf.data" -- ./work 4000 >/dev/null
record -o - -- sh -c './work 4000 >/dev/null' >"$work/made/pipe.perf.data"
record -z -o - -- sh -c './work 4000 >/dev/null' >"$work/made/pipe-zstd.perf.data"
record --buildid-mmap -e task-clock:u -o "$work/made/two.perf.data" -- ./work 4000 >/dev/null
record -o "$work/made/forks.perf.data" -- sh -c '(./work 2000 >/dev/null; ./work 2000 >/dev/null) & ./work 2000 >/dev/null; wait'
perf record -q -F 500 -o "$work/made/kernel.perf.data" -e cpu-clock -- ./work 4000 >/dev/null
cp "$work"/made/*.perf.data "$out"
