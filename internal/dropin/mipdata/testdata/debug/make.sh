#!/usr/bin/env bash
# Makes debug.elf, a program with debug info and a map, with LLVM 22.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clang++-22 -c -g -O1 -fno-exceptions -fno-asynchronous-unwind-tables -ffile-prefix-map="$PWD"=/src \
  -fdebug-compilation-dir=/src -o "$work/debug.o" debug.cpp
clang-22 -c -o "$work/map.o" map.s
ld.lld-22 --no-warnings -e entry --build-id=none -o "${1:-debug.elf}" "$work/debug.o" "$work/map.o"
chmod -x "${1:-debug.elf}"
