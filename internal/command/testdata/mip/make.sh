#!/usr/bin/env bash
# Makes shapes.elf, a program with debug info, with call counts and block
# coverage, and what it leaves when it runs, with LLVM 22. No probes are needed
# in some blocks: what ran in them follows from others.
#
# shapes.s is what this prints:
#
#   profuse cc -fmachine-profile-generate -fmachine-profile-block-coverage \
#     -fmachine-profile-link-unit-name=calc -- clang++-22 -g -O0 -fno-ident -fno-exceptions -fno-asynchronous-unwind-tables \
#     -ffile-prefix-map="$PWD"=/src -fdebug-compilation-dir=/src -S shapes.cpp
set -euo pipefail
cd "$(dirname "$0")"
out=$(realpath "${1:-.}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clang-22 -target x86_64-linux-gnu -c -o "$work/shapes.o" shapes.s
clang-22 -target x86_64-linux-gnu -Os -c -o "$work/runtime.o" ../../../../internal/mip/runtime/src/runtime.c
clang++-22 -target x86_64-linux-gnu -fuse-ld=lld -Wl,--no-warnings -Wl,--build-id=sha1 -Wl,--gc-sections \
  -o "$work/shapes.elf" "$work/shapes.o" "$work/runtime.o"
LLVM_MIP_PROFILE_FILENAME="$work/shapes-1.mipraw" "$work/shapes.elf" 1 2 3 >/dev/null
LLVM_MIP_PROFILE_FILENAME="$work/shapes-2.mipraw" "$work/shapes.elf" -5 >/dev/null
chmod -x "$work/shapes.elf"
cp "$work"/shapes.elf "$work"/shapes-?.mipraw "$out"
