#!/usr/bin/env bash
# Makes the objects, profiles and reports in this folder. It needs clang, llvm-profdata
# and llvm-cov of LLVM 14, 16, 19 and 22, and rustc.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp src/* "$work"
out=$PWD
cd "$work"

# make NAME RELEASE PROGRAM OBJECT: runs the program and keeps the object, the profile
# as text, and what llvm-cov 22 says of both.
keep() {
  local name=$1 release=$2 program=$3 object=$4
  LLVM_PROFILE_FILE=$name.profraw "$program"
  "llvm-profdata-$release" merge -o "$name.profdata" "$name.profraw"
  "llvm-profdata-$release" merge --text -o "$out/$name.proftext" "$name.profraw"
  cp "$object" "$out/$name.o"
  touch -d '2 minutes ago' "$object"
  llvm-cov-22 export -instr-profile="$name.profdata" -format=lcov "$object" >"$out/$name.lcov"
  llvm-cov-22 export -instr-profile="$name.profdata" "$object" >"$out/$name.json"
}

flags="-fprofile-instr-generate -fcoverage-mapping -ffile-compilation-dir=. -fcoverage-compilation-dir=."
for v in 14 16 19 22; do
  clang++-$v -O1 $flags -c shapes.cpp -o shapes.o
  clang++-$v $flags shapes.o -o shapes
  keep "shapes-$v" "$v" ./shapes shapes.o
done
for v in 19 22; do
  clang-$v -O1 $flags -fcoverage-mcdc -w -c conditions.c -o conditions.o
  clang-$v $flags conditions.o -o conditions
  keep "conditions-$v" "$v" ./conditions conditions.o
done
# The mapping of other object formats, with the profile of the same source.
for target in i686-linux-gnu mips-linux-gnu arm64-apple-macos x86_64-pc-windows-msvc; do
  clang-22 --target=$target $flags -w -c conditions.c -o "$out/conditions-$target.o"
done
