#!/bin/sh
# Makes fixtures/ again: small programs, and beside each NAME.frames, what
# llvm-symbolizer 22 says of every address of its code, from one change to the
# next. They let the tests run where there is no compiler, and are seeds for
# fuzzing.
#
# Made with Debian's clang 22, gcc 12 and lld 22.
set -eu
cd "$(dirname "$0")"
out=$PWD/fixtures
rm -rf "$out"
mkdir "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r ./*.cpp ./*.c include "$work"
cd "$work"

common='-O2 -ffreestanding -fno-exceptions -fno-asynchronous-unwind-tables -fno-stack-protector'
link='-nostdlib -static -Wl,--build-id=none'
llvm="-fdebug-compilation-dir=/src $common"
gnu="-fdebug-prefix-map=$work=/src $common"

# Linked ELF: C++ with DWARF 5, C with DWARF 2 for 32 bits and with
# .debug_aranges, big-endian with compressed sections, split.
clang++-22 -g -fno-rtti $llvm -c main.cpp shapes.cpp
clang-22 -g $llvm -c plain.c
clang++-22 -fuse-ld=lld-22 $link main.o shapes.o plain.o -o "$out/cpp-dwarf5"
gcc -gdwarf-2 -m32 $gnu -c plain.c
gcc -m32 $link -Wl,-e,plain plain.o -o "$out/c-dwarf2-m32"
clang-22 --target=powerpc64-linux-gnu -gdwarf-4 $llvm -c plain.c
clang-22 --target=powerpc64-linux-gnu -fuse-ld=lld-22 $link -Wl,-e,plain -Wl,--compress-debug-sections=zstd plain.o -o "$out/c-dwarf4-ppc64-zstd"
clang-22 -g -gsplit-dwarf -fsplit-dwarf-inlining $llvm -c plain.c
clang-22 -fuse-ld=lld-22 $link -Wl,-e,plain plain.o -o "$out/c-split"
llvm-dwp-22 plain.dwo -o "$out/c-split.dwp"

# Mach-O: objects of two architectures, in one file.
for arch in x86_64 arm64; do
  clang-22 --target=$arch-apple-macos13 -g $llvm -c plain.c -o $arch.o
done
llvm-lipo-22 -create x86_64.o arm64.o -output "$out/c-universal"

cd "$out"
for file in *; do
  case $file in
  *.dwp) continue ;;
  *-universal) arch=arm64 section=__text whole=$work/arm64.o ;;
  *) arch='' section=.text whole=$file ;;
  esac
  llvm-objdump-22 --section-headers "$whole" |
    while read -r _ name size addr _; do
      [ "$name" = $section ] || continue
      i=0
      while [ $i -lt $((0x$size)) ]; do
        printf '0x%x\n' $((0x$addr + i))
        i=$((i + 1))
      done
    done |
    llvm-symbolizer-22 --obj="$file" ${arch:+--default-arch=$arch} --output-style=JSON \
      --functions=linkage --inlines --no-demangle |
    # One line for each run of addresses with equal frames.
    sed -E 's/.*"Address":"([^"]*)".*"Symbol":(.*)\}$/\1 \2/; s/"Start(Address|FileName)":"[^"]*",//g' |
    awk '{ symbol = substr($0, index($0, " ")) } symbol != last { print; last = symbol } END { print "end", NR }' \
      >"$file.frames"
done
