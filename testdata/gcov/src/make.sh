#!/bin/sh
# Makes the fixtures in the folder above. Give it the real tools: GCC 11 and 12, clang 14 and 22, gcc for s390x and qemu.
set -e
cd "$(dirname "$0")"
out=$(cd .. && pwd)
# Notes have the folder of the compiler, which should be the same on all machines.
mkdir /src
trap 'rm -rf /src' EXIT
cp flow.c pick.h shapes.cpp sums.f90 values.c /src
cd /src

# run NAME EMULATOR COMPILER OPTIONS… leaves NAME.gcno and NAME.gcda in the folder above.
run() {
  name=$1 emulator=$2
  shift 2
  "$@" --coverage -c -o a.o
  "$1" --coverage a.o -o a
  $emulator ./a
  mv a.gcda "$out/$name.gcda"
  [ ! -f a.gcno ] || mv a.gcno "$out/$name.gcno"
  rm -f a.* a
}
# lines NAME GCOV leaves the document of gcov.
lines() { (cd "$out" && "$2" -t --json-format -a -b "$1" >"$1.json"); }

run flow-gcc11 "" gcc-11 flow.c
run flow-gcc12 "" gcc-12 flow.c
run flow-gcc12-O2 "" gcc-12 -O2 flow.c
run shapes-gcc12-O2 "" g++-12 -O2 shapes.cpp
run sums-gcc12 "" gfortran-12 sums.f90
run flow-s390x "qemu-s390x -L /usr/s390x-linux-gnu" s390x-linux-gnu-gcc flow.c
run flow-clang14 "" clang-14 flow.c
run flow-clang22 "" clang-22 flow.c
lines flow-gcc11 gcov-11
for name in flow-gcc12 flow-gcc12-O2 shapes-gcc12-O2 sums-gcc12 flow-s390x; do lines $name gcov-12; done

# Counters of values: three runs of one program, and the sum of the first two.
for release in 11 12; do
  gcc-$release -O2 -fprofile-generate -fprofile-update=single values.c -o a
  for n in 1 2 3; do
    rm -f *.gcda
    ./a $n
    mkdir run$n
    mv *.gcda run$n/a.gcda
    cp run$n/a.gcda "$out/values$n-gcc$release.gcda"
  done
  gcov-tool-$release merge run1 run2 -o sum
  mv sum/a.gcda "$out/values12-gcc$release.gcda"
  rm -r run1 run2 run3 sum
done
