#!/bin/bash
# Tool: llvm-cov 22.1.8, gcov, with files of gcc 12.2.0
# Guess: llvm-cov gcov reads what gcc 12 wrote (it writes files of that kind itself), or fails
#   with an exit code.
# Seen: It prints "Invalid .gcno File!", writes no .gcov file, and exits with 0, so a script of CI
#   goes on with no coverage at all.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# expect WHAT WANTED GOT: ends with exit 1 if the behaviour has changed.
expect() {
	[ "$2" = "$3" ] && return
	printf '%s has changed. Recorded:\n%s\nNow:\n%s\n' "$1" "$2" "$3"
	exit 1
}

# LLVM 22.1.8: the installed one if it is that version, else Debian's packages, unpacked here.
bin=/usr/lib/llvm-22/bin
if ! "$bin/llvm-profdata" --version 2>/dev/null | grep -q 'version 22\.1\.8'; then
	version=1:22.1.8-1~deb12u1
	for package in llvm-22 libllvm22; do
		apt-get -qq download "$package=$version"
		dpkg -x "$package"_*.deb root
	done
	bin=$folder/root/usr/lib/llvm-22/bin
	export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu:$folder/root/usr/lib/llvm-22/lib
fi
# gcc 12.2.0: the installed one if it is that version, else Debian's packages, unpacked here.
gcc=gcc-12 gcov=gcov-12
if [ "$(gcc-12 -dumpfullversion 2>/dev/null)" != 12.2.0 ]; then
	for package in gcc-12=12.2.0-14+deb12u1 cpp-12=12.2.0-14+deb12u1 libgcc-12-dev=12.2.0-14+deb12u1 libisl23=0.25-1.1 libmpc3=1.3.1-1 libmpfr6=4.2.0-1; do
		apt-get -qq download "$package"
		dpkg -x "${package%%=*}"_*.deb root
	done
	gcc=$folder/root/usr/bin/gcc-12 gcov=$folder/root/usr/bin/gcov-12
	export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu
fi

echo 'int main(void) { return 0; }' >program.c
$gcc --coverage -c program.c
$gcc --coverage program.o -o program
./program
status=0
"$bin/llvm-cov" gcov program.gcda >out 2>&1 || status=$?
expect 'the exit code of llvm-cov gcov' 0 $status
expect 'the output of llvm-cov gcov' 'Invalid .gcno File!' "$(cat out)"
expect 'the .gcov files' '' "$(ls | grep 'gcov$' || true)"
