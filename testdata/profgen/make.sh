#!/usr/bin/env bash
# Makes the programs in this folder, what llvm-profgen 22 reads of a run of each (short.script), the sums that it makes of that
# (.unsym), and the profiles that it makes of the sums (.prof, .afdo). A program is run one instruction at a time, so that its
# branches are known. It needs clang, ld.lld, llvm-profgen and llvm-objdump of LLVM 22, gcc, and gcc for AArch64.
set -euo pipefail
cd "$(dirname "$0")"
out=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp work.cpp ../sampleprof/src/step.c "$work"
cd "$work"
gcc -O2 -w -o step step.c

# program NAME COMPILER FLAG...
program() {
  "${@:2}" -g -nostdlib -ffreestanding -fno-exceptions -fno-rtti -fno-asynchronous-unwind-tables -fno-stack-protector \
    -ffile-prefix-map="$work"=. work.cpp -o "$1"
  cp "$1" "$out"
  chmod 644 "$out/$1"
}
profiles() {
  llvm-profgen-22 --binary="$1" --unsymbolized-profile="$out/$1.unsym" --format=text --output="$out/$1.prof"
  llvm-profgen-22 --binary="$1" --unsymbolized-profile="$out/$1.unsym" --populate-profile-symbol-list --output="$out/$1.afdo"
} 2>>"$work/warnings"
run() {
  llvm-objdump-22 -d --no-leading-headers --no-print-imm-hex "$1" |
    awk '/^ *[0-9a-f]+:/ { split($0, a, "\t"); sub(/^ *[0-9a-f]+: */, "", a[1]); n = split(a[1], b, " "); at = $1; sub(/:/, "", at); print at, n }' >lengths
  ./step lengths 37 0 "./$1" >all
  awk '{ print } / 0x[0-9a-f]*\/0x/ && ++n == 200 { exit }' all >"$1.script"
  llvm-profgen-22 --binary="$1" --perfscript="$1.script" --skip-symbolization --output="$out/$1.unsym" 2>>warnings
}

program clang clang++-22 -O2 -static -fuse-ld=lld -fdebug-info-for-profiling
program gcc g++ -O2 -gdwarf-4 -static -fno-pie -no-pie -freorder-blocks-and-partition
program flow clang++-22 -O3 -static -fuse-ld=lld -fdebug-info-for-profiling -mllvm -enable-fs-discriminator -fbasic-block-sections=all
for name in clang gcc flow; do
  run "$name"
  profiles "$name"
done
awk '{ print } / 0x[0-9a-f]*\/0x/ && ++n == 30 { exit }' clang.script >"$out/short.script"
llvm-profgen-22 --binary=clang --perfscript="$out/short.script" --skip-symbolization --output="$out/short.unsym" 2>>warnings

# Programs of AArch64 do not run here: each third run of eight instructions ran, and jumped to a function. retaa is no
# instruction for llvm-profgen.
program aarch64 aarch64-linux-gnu-g++ -O2 -static -mbranch-protection=standard -march=armv8.3-a -Wl,-z,max-page-size=4096
{
  llvm-objdump-22 -d aarch64 | awk '/^ *[0-9a-f]+:/ { sub(/:/, "", $1); print $1 }' >places
  base=$(llvm-readelf-22 -lW aarch64 | awk '$1 == "LOAD" && /R E/ { print $3; exit }')
  starts=$(llvm-objdump-22 -t aarch64 | awk '/ F .text/ { print $1 }')
  awk -v base="$base" -v starts="$starts" 'function hex(s, n, i) { n = 0; for (i = 1; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return n }
    BEGIN { sub(/0x/, "", base); b = hex(base); b -= b % 4096; n = split(starts, start, "\n") }
    { at[NR] = hex($1) - b }
    END { for (i = 1; i + 8 <= NR; i += 3) { ranges = ranges sprintf("%x-%x:%d\n", at[i], at[i + 7], i * 7 % 40); branches = branches sprintf("%x->%x:%d\n", at[i + 7], hex(start[i % n + 1]) - b, i); k++ }
      printf "%d\n%s%d\n%s", k, ranges, k, branches }' places
} >"$out/aarch64.unsym"
profiles aarch64
