#!/usr/bin/env bash
# Makes the modules, profiles and reports in this folder. It needs clang and lld of LLVM 16, 19 and 22, llvm-cov and
# llvm-profdata 22, rustc, and node.
set -euo pipefail
cd "$(dirname "$0")"
out=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp program.c runtime.c run.mjs rust.rs "$work"
cd "$work"

flags="--target=wasm32 -fprofile-instr-generate -fcoverage-mapping -ffile-compilation-dir=. -fcoverage-compilation-dir=. -w"
for v in 16 19 22; do
  version=$((v < 19 ? 8 : 10))
  clang-$v --target=wasm32 -O0 -DVERSION=$version -c runtime.c -w
  clang-$v $flags -c program.c
  link() { wasm-ld-$v --no-entry --export=run --export=profile --export=profileEnd "$@"; }
  link program.o runtime.o --no-gc-sections -o all-$v.wasm
  link program.o runtime.o --no-gc-sections --strip-all -o stripped-$v.wasm
  node run.mjs all-$v.wasm program-$v.profraw
  cp program-$v.profraw all-$v.wasm stripped-$v.wasm "$out"
  cp program.o "$out/program-$v.o"
done
# The linker's default, --gc-sections, which before LLVM 19 leaves out the mapping; modules for dynamic linking, with
# one segment for all data, which wasm-ld 22 cannot make of instrumented programs.
wasm-ld-22 --no-entry --export=run program.o runtime.o -o "$out/used-22.wasm"
for v in 16 19; do
  clang-$v $flags --target=wasm32-emscripten -fPIC -c program.c
  clang-$v --target=wasm32-emscripten -fPIC -O0 -DVERSION=$((v < 19 ? 8 : 10)) -c runtime.c -w
  wasm-ld-$v --experimental-pic -pie --no-entry --no-gc-sections --import-memory --import-table --export=run program.o runtime.o -o "$out/pie-$v.wasm"
done
clang-16 $flags -c program.c
clang-16 --target=wasm32 -O0 -DVERSION=8 -c runtime.c -w
wasm-ld-16 --no-entry --export=run program.o runtime.o -o "$out/lost-16.wasm"
# IR-level profiles.
clang-22 --target=wasm32 -fprofile-generate -w -c program.c
clang-22 --target=wasm32 -O0 -DVERSION=10 -c runtime.c -w
wasm-ld-22 --no-entry --export=run --export=profile --export=profileEnd program.o runtime.o -o ir.wasm
node run.mjs ir.wasm "$out/ir-22.profraw"
# rustc, as with the crate minicov.
RUSTC_BOOTSTRAP=1 rustc --edition 2021 --crate-type cdylib --target wasm32-unknown-unknown --remap-path-prefix "$work=." \
  -C instrument-coverage -Z no-profiler-runtime -C panic=abort -C linker=wasm-ld-22 -C linker-flavor=wasm-ld \
  -C link-arg=runtime.o -C link-arg=--export=run -C link-arg=--export=profile -C link-arg=--export=profileEnd rust.rs -o rust.wasm
node run.mjs rust.wasm "$out/rust.profraw"
cp rust.wasm "$out"
# What LLVM says.
llvm-profdata-22 merge -o program-22.profdata "$out/program-22.profraw"
llvm-cov-22 export -format=lcov -instr-profile=program-22.profdata all-22.wasm >"$out/program-22.lcov"
llvm-profdata-22 merge -o rust.profdata "$out/rust.profraw"
llvm-cov-22 export -format=lcov -instr-profile=rust.profdata rust.wasm >"$out/rust.lcov"
chmod -x "$out"/*.wasm
