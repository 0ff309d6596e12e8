#!/usr/bin/env bash
# Makes the raw profiles, maps and the binary in this folder from src, with
# LLVM 22. Function, blocks, counts and all are the four types of profiles.
#
#   testdata/mip/make.sh [OUTPUT]
set -euo pipefail
cd "$(dirname "$0")"
out=$(realpath "${1:-.}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r src "$work"
cd "$work"

for kind in function blocks counts all; do
  clang-22 -c -o calc.o "src/calc.$kind.s"
  clang-22 -c -o table.o "src/table.$kind.s"
  clang-22 -O1 -c -o runtime.o src/runtime.c
  clang-22 -fuse-ld=lld -Wl,--build-id=sha1 -o program calc.o table.o runtime.o
  llvm-objcopy-22 --dump-section=__llvm_mipmap="$out/$kind.mipmap" program /dev/null
  LLVM_MIP_PROFILE_FILENAME="$out/$kind-1.mipraw" ./program 0 1 2
  LLVM_MIP_PROFILE_FILENAME="$out/$kind-2.mipraw" ./program 3
  if [[ $kind == all ]]; then
    llvm-objcopy-22 --strip-all --keep-section=__llvm_mipmap program "$out/$kind.elf"
  fi
done
