#!/usr/bin/env bash
# Makes the raw heap profiles in this folder, which lack calls, beside each its program without code:
#
#   NAME.memprofraw   what the program wrote
#   NAME.debug        headers, build id, debug information and the symbols of the sources
#   NAME.profdata     llvm-profdata 22's merge of both
#
#   testdata/memprof/lost/make.sh [OUTPUT]
set -euo pipefail
cd "$(dirname "$0")"
out=$(realpath "${1:-.}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp src/* "$work"
cd "$work"

common='-fmemory-profile -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls
  -fdebug-compilation-dir=/src -Wno-unused-command-line-argument -Wl,--build-id -nostdlib++'

# fixture NAME LLVM PLACE STEP [LINK]: compiles place.cpp with the options PLACE, step.cpp with the options STEP.
fixture() {
  # shellcheck disable=SC2086
  "clang++-$2" $common $3 -c place.cpp
  # shellcheck disable=SC2086
  "clang++-$2" $common $4 -c step.cpp
  # shellcheck disable=SC2086
  "clang++-$2" $common ${5:-} place.o step.o -o program
  keep "$1" program
}

# keep NAME PROGRAM: runs the program, and keeps its profile and the program without code.
keep() {
  rm -f profile.*
  MEMPROF_OPTIONS=log_path=profile setarch -R "./$2"
  mv profile.* "$out/$1.memprofraw"
  strip_code "$2" "$out/$1.debug"
  if ! "llvm-profdata-22" merge --profiled-binary="$out/$1.debug" "$out/$1.memprofraw" -o "$out/$1.profdata"; then
    rm -f "$out/$1.profdata" # raw version 2
  fi
  chmod 644 "$out/$1".*
}

strip_code() {
  llvm-objcopy-22 --wildcard --strip-symbol='*' --keep-symbol=main --keep-symbol=_start --keep-symbol='_Z3owni' \
    --keep-symbol='_ZN4pool3geti' --keep-symbol='_ZN4pool3getEi' --keep-symbol='_Z4step*' --only-keep-debug "$1" "$2"
}

fixture full 22 -g -g
fixture lines 22 -gline-tables-only -gline-tables-only
fixture lines-dwarf4 22 '-gdwarf-4 -gline-tables-only' '-gdwarf-4 -gline-tables-only'
fixture lines-profiling 22 '-gline-tables-only -fdebug-info-for-profiling' '-gline-tables-only -fdebug-info-for-profiling'
fixture lines-clang19 19 -gline-tables-only -gline-tables-only
fixture lines-clang16 16 -gline-tables-only -gline-tables-only -no-pie
fixture no-caller 22 -g -g0
fixture no-place 22 -g0 -g
fixture no-frame-pointer 22 '-g -O2 -fomit-frame-pointer' '-g -O2 -fomit-frame-pointer'

# A library that the program closes, with its code, and a library of other code.
clang-22 $common -g -shared -fPIC -Wl,-z,noseparate-code library.c -o library.so
clang-22 $common -O0 -g -shared -fPIC -Wl,-z,noseparate-code library.c -o other.so
clang-22 $common -g closed.c -o program
keep closed program
cp library.so other.so "$out"
