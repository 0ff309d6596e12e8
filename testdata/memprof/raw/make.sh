#!/usr/bin/env bash
# Makes the raw profiles in this folder with clang 14, 16, 19 and 22, beside
# each its program without code, and what llvm-profdata makes of both:
#
#   NAME.memprofraw   what the program wrote
#   NAME.debug        headers, build id and debug information of the program
#   NAME.profdata     llvm-profdata's merge of them: 16 for raw version 2, 19
#                     for version 4, 22 for version 5
#
# They do without the standard library, which allocates a large block.
# Addresses do not change from run to run; timestamps do.
#
#   testdata/memprof/raw/make.sh [OUTPUT]
set -euo pipefail
cd "$(dirname "$0")"
out=$(realpath "${1:-.}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp src/* "$work"
cd "$work"

common='-fmemory-profile -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls
  -fdebug-info-for-profiling -fdebug-compilation-dir=/src -Wl,--build-id -pthread -nostdlib++ -fno-exceptions'

# fixture NAME LLVM FLAGS RUN...: makes one. What RUN leaves is of "program".
fixture() {
  local name=$1 llvm=$2 flags=$3
  shift 3
  rm -f program* profile.*
  # shellcheck disable=SC2086
  "clang++-$llvm" $common $flags main.cpp list.cpp -o program
  [[ $flags != *-gsplit-dwarf* ]] || llvm-dwp-22 ./*.dwo -o program.dwp
  MEMPROF_OPTIONS=log_path=profile setarch -R ./program "$@"
  keep "$name" program
  # It crashes when it adds up histograms.
  [[ $name != *-histogram-dumps ]] || return 0
  case $llvm in
  16) [[ $flags != *-no-pie* ]] || merge "$name" 16 --profiled-binary=program ;;
  19) merge "$name" 19 --profiled-binary=program --memprof-version=3 ;;
  22) merge "$name" 22 --profiled-binary=program ;;
  esac
}

# keep NAME PROGRAM: keeps the profile and the program without code.
keep() {
  mv profile.* "$out/$1.memprofraw"
  chmod 644 "$out/$1.memprofraw"
  llvm-objcopy-22 --only-keep-debug -R .symtab -R .strtab "$2" "$out/$1.debug"
  chmod 644 "$out/$1.debug"
}

merge() { "llvm-profdata-$2" merge "${@:3}" "$out/$1.memprofraw" -o "$out/$1.profdata"; }

fixture clang14-fixed 14 '-g -no-pie'
fixture clang14-pie 14 '-g -pie'
fixture clang16-fixed 16 '-g -no-pie'
fixture clang16-dumps 16 '-g -no-pie' twice
fixture clang16-pie-lld 16 '-g -pie -fuse-ld=lld'
fixture clang19-pie 19 '-g -pie'
fixture clang19-fixed-dwarf4 19 '-gdwarf-4 -no-pie'
fixture clang19-histogram-dumps 19 '-g -pie -mllvm -memprof-histogram -mllvm -memprof-use-callbacks=true' twice
fixture clang22-pie 22 '-g -pie'
fixture clang22-pie-lld 22 '-g -pie -fuse-ld=lld'
fixture clang22-fixed-gz 22 '-gdwarf-4 -no-pie -gz'
fixture clang22-lines-only 22 '-gmlt -pie'
fixture clang22-dumps 22 '-g -pie' twice
fixture clang22-histogram-dumps 22 '-g -pie -mllvm -memprof-histogram -mllvm -memprof-use-callbacks=true' twice
fixture clang22-histogram 22 '-g -pie -mllvm -memprof-histogram -mllvm -memprof-use-callbacks=true'

# Split DWARF, in one package file.
fixture clang22-split 22 '-g -pie -gsplit-dwarf'
cp program.dwp "$out/clang22-split.debug.dwp"

# A shared library with a part of the code: one profile, two programs.
rm -f program* profile.*
# shellcheck disable=SC2086
clang++-22 $common -g -fPIC -shared list.cpp -o liblist.so
# shellcheck disable=SC2086
clang++-22 $common -g -pie main.cpp ./liblist.so -o program
MEMPROF_OPTIONS=log_path=profile setarch -R ./program
cp profile.* copy
keep clang22-library program
mv copy profile.0
keep clang22-library-list liblist.so
rm "$out/clang22-library-list.memprofraw"
merge clang22-library 22 --profiled-binary=program
