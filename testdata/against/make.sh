#!/usr/bin/env bash
# Makes the files in this folder. It needs clang, llvm-profdata and lld of LLVM 14, 19 and 22.
set -euo pipefail
cd "$(dirname "$0")"
out=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp src/drift.c "$work"
cd "$work"

# The profiles of the earlier version.
for kind in ir fe; do
  flag=-fprofile-generate
  [[ $kind = ir ]] || flag=-fprofile-instr-generate
  clang-22 -O1 $flag drift.c -o drift
  LLVM_PROFILE_FILE=drift.profraw ./drift
  llvm-profdata-22 merge --text -o "$out/$kind.proftext" drift.profraw
done
clang-14 -O1 -fprofile-generate drift.c -o drift
LLVM_PROFILE_FILE=drift.profraw ./drift
llvm-profdata-14 merge --text -o "$out/ir-14.proftext" drift.profraw
# ... with context-sensitive records.
llvm-profdata-22 merge -o ir.profdata "$out/ir.proftext"
clang-22 -O1 -fprofile-use=ir.profdata -fcs-profile-generate drift.c -o drift
LLVM_PROFILE_FILE=cs.profraw ./drift
llvm-profdata-22 merge --text -o "$out/cs.proftext" ir.profdata cs.profraw

# Builds of the later version.
later="-O1 -DLATER -fno-ident"
for v in 14 19 22; do
  clang-$v $later -fprofile-generate -c drift.c -o "$out/ir-$v.o"
done
clang-22 $later -fprofile-instr-generate -c drift.c -o "$out/fe.o"
clang-22 $later -fprofile-instr-generate -fcoverage-mapping -ffile-compilation-dir=. -fcoverage-compilation-dir=. -c drift.c -o "$out/fe-mapping.o"
clang-22 $later -fprofile-use=ir.profdata -fcs-profile-generate -w -c drift.c -o "$out/cs.o"
clang-22 $later -c drift.c -o "$out/plain.o"
for target in i386-linux-gnu mips-linux-gnu arm64-apple-macos x86_64-pc-windows-msvc; do
  clang-22 --target=$target $later -fprofile-generate -c drift.c -o "$out/ir-$target.o"
done
clang-14 --target=i386-linux-gnu $later -fprofile-generate -c drift.c -o "$out/ir-14-i386.o"
clang-22 $later -fPIC -fprofile-generate -c drift.c -o drift.o
ld.lld-22 -shared -s -o "$out/ir.so" drift.o
lld-link-22 /dll /nodefaultlib /noentry /force:unresolved /timestamp:0 /opt:noref /export:main "/out:$out/ir.dll" "$out/ir-x86_64-pc-windows-msvc.o" 2>/dev/null && rm "$out/ir.lib"
clang-22 --target=x86_64-apple-macos $later -fprofile-generate -c drift.c -o other.o
llvm-lipo-22 -create -output "$out/ir.fat" "$out/ir-arm64-apple-macos.o" other.o
llvm-ar-22 rcD "$out/ir.a" "$out/plain.o" "$out/ir-22.o"
