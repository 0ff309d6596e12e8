#!/usr/bin/env bash
# Makes the profiles in this folder: a program is run one instruction at a time, so that the branches
# it takes are known, and llvm-profgen makes profiles of them. It needs clang, llvm-profgen,
# llvm-profdata and llvm-objdump of LLVM 22, clang and llvm-profdata of LLVM 14, and gcc.
set -euo pipefail
cd "$(dirname "$0")"
out=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp src/* "$work"
cd "$work"
gcc -O2 -w -o step step.c

# sample NAME STACKS FLAG...: builds the program and prints the samples of its run into NAME.perf.
source=work.cpp
sample() {
  local name=$1 stacks=$2
  shift 2
  "$([[ $source == *.c ]] && echo clang-22 || echo clang++-22)" -g -static -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
    -ffile-compilation-dir=. "$@" "$source" -o "$name"
  llvm-objdump-22 -d --no-leading-headers --no-print-imm-hex "$name" |
    awk '/^ *[0-9a-f]+:/ { split($0, a, "\t"); sub(/^ *[0-9a-f]+: */, "", a[1]); n = split(a[1], b, " "); at = $1; sub(/:/, "", at); print at, n }' >lengths
  ./step lengths 37 "$stacks" "./$name" 60 >"$name.perf"
}
profile() { llvm-profgen-22 --binary="$1" --perfscript="$1.perf" "${@:3}" --output="$2" >/dev/null 2>&1; }

sample lines 0 -O2 -fdebug-info-for-profiling
profile lines lines.afdo --format=extbinary
sample flow 0 -O2 -fdebug-info-for-profiling -mllvm -enable-fs-discriminator -mllvm -improved-fs-discriminator
profile flow flow.afdo --format=extbinary
sample probes 0 -O2 -fpseudo-probe-for-profiling
profile probes probes.afdo --format=extbinary
sample contexts 1 -O1 -fpseudo-probe-for-profiling -fno-optimize-sibling-calls
profile contexts contexts.afdo --format=extbinary --gen-cs-nested-profile=0
profile contexts inlined.afdo --format=extbinary --gen-cs-nested-profile
sample stacks 1 -O1 -fdebug-info-for-profiling -fno-optimize-sibling-calls
profile stacks stacks.afdo --format=extbinary --gen-cs-nested-profile=0

source=calls.c
sample calls 0 -O2 -fdebug-info-for-profiling
profile calls calls.afdo --format=extbinary
sample calls-probes 0 -O2 -fpseudo-probe-for-profiling
profile calls-probes calls-probes.afdo --format=extbinary

for f in lines flow probes contexts inlined stacks calls calls-probes; do
  cp "$f.afdo" "$out/$f.afdo"
  llvm-profdata-22 merge --sample --text -o "$out/$f.prof" "$f.afdo"
done
llvm-profdata-22 merge --sample --binary -o "$out/lines-binary.prof" lines.afdo
llvm-profdata-22 merge --sample --use-md5 --split-layout --compress-all-sections -o "$out/lines-md5.afdo" lines.afdo
llvm-profdata-14 merge --sample --compbinary -o "$out/lines-compact.prof" "$out/lines.prof"

# The same run, counted by instrumentation.
clang++-22 -O2 -fprofile-generate work.cpp -o instrumented
LLVM_PROFILE_FILE=work.profraw ./instrumented 60 >/dev/null
llvm-profdata-22 merge --text -o "$out/instrumented.proftext" work.profraw
