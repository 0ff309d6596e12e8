#!/usr/bin/env bash
# Makes the profiles in this folder: of main.c on each machine, run by qemu-user, or by wine for Windows.
#
#   NAME.program      the program with coverage mapping, stripped
#   NAME.profraw      its profile, of front-end instrumentation with MC/DC
#   NAME-ir.profraw   the profile of the same program with IR instrumentation
#
# It needs clang 22, the cross compilers of Debian, which link, qemu-user and wine64.
#
#   testdata/machines/make.sh [OUTPUT] [NAME...]
set -euo pipefail
cd "$(dirname "$0")"
out=$(realpath "${1:-.}")
shift $(($# > 0))
names=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp src/* "$work"
cd "$work"

# machine NAME TARGET INCLUDE LINKER RUN...: RUN is the command that runs a program of the machine.
machine() {
  local name=$1 target=$2 include=$3 link=$4
  shift 4
  [[ ${#names[@]} -eq 0 || " ${names[*]} " == *" $name "* ]] || return 0
  local compile="clang-22 --target=$target -fdebug-compilation-dir=/src -ffile-prefix-map=$PWD=/src -isystem $include -Wall"
  $compile -O2 -c dump.c
  $compile -O1 -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc -c main.c
  # shellcheck disable=SC2086
  $link ${linkflags:-} main.o dump.o -s -o program
  LLVM_PROFILE_FILE=profraw "$@" ./program$exe
  mv profraw "$out/$name.profraw"
  mv program$exe "$out/$name.program"
  chmod 644 "$out/$name.program"
  $compile -O1 -fprofile-generate -c main.c
  # shellcheck disable=SC2086
  $link ${linkflags:-} main.o dump.o -s -o program
  LLVM_PROFILE_FILE=profraw "$@" ./program$exe
  mv profraw "$out/$name-ir.profraw"
}

qemu() { machine "$1" "$2" "/usr/${3%-gcc}/include" "$3" "qemu-$4" -L "/usr/${3%-gcc}"; }

exe=
linkflags='-Wl,-z,max-page-size=4096 -Wl,-z,noseparate-code'
qemu s390x s390x-linux-gnu s390x-linux-gnu-gcc s390x
qemu ppc32 powerpc-linux-gnu powerpc-linux-gnu-gcc ppc
qemu mips32 mips-linux-gnu mips-linux-gnu-gcc mips
qemu riscv64 riscv64-linux-gnu riscv64-linux-gnu-gcc riscv64
qemu aarch64 aarch64-linux-gnu aarch64-linux-gnu-gcc aarch64
qemu armhf armv7-linux-gnueabihf arm-linux-gnueabihf-gcc arm
machine i386 i386-linux-gnu /usr/include/x86_64-linux-gnu 'gcc -m32' qemu-i386
exe=.exe linkflags=
machine mingw x86_64-w64-windows-gnu /usr/x86_64-w64-mingw32/include 'clang-22 --target=x86_64-w64-windows-gnu --ld-path=/usr/bin/ld.lld-22' env WINEDEBUG=-all WINEPREFIX="$work/wine" /usr/lib/wine/wine64

# What the official tools say of each machine, which is the same of all.
for name in "${names[@]:-s390x}"; do
  llvm-profdata-22 merge -text "$out/$name.profraw" -o "$out/main.proftext"
  llvm-profdata-22 merge -text "$out/$name-ir.profraw" -o "$out/main-ir.proftext"
  llvm-profdata-22 merge "$out/$name.profraw" -o profdata
  llvm-cov-22 export -format=lcov -instr-profile profdata "$out/$name.program" >"$out/main.info"
done
