#!/bin/bash
# Tool: llvm-cov and clang 22.1.8
# Guess: A line after a call that leaves the function for good (longjmp here; exit and exceptions
#   alike) is shown as not executed.
# Seen: It has count 1: the source-based coverage of clang has no counter after a call, so a line
#   counts as executed when the lines before it were. gcov, which ends a block at each call, shows
#   0 for the same line.
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
if ! "$bin/clang" --version 2>/dev/null | grep -q 'version 22\.1\.8'; then
	version=1:22.1.8-1~deb12u1
	for package in clang-22 llvm-22 libllvm22 libclang-cpp22 libclang-common-22-dev libclang-rt-22-dev; do
		apt-get -qq download "$package=$version"
		dpkg -x "$package"_*.deb root
	done
	bin=$folder/root/usr/lib/llvm-22/bin
	export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu:$folder/root/usr/lib/llvm-22/lib
fi

cat >program.c <<'END'
#include <setjmp.h>
static jmp_buf start;
static void leave(void) { longjmp(start, 1); }
static int value;
static void work(void) {
	leave();
	value = 1;
}
int main(void) {
	if (!setjmp(start))
		work();
	return value;
}
END
"$bin/clang" -fprofile-instr-generate -fcoverage-mapping program.c -o program
LLVM_PROFILE_FILE=p.profraw ./program # exits with 0: line 7 did not run
"$bin/llvm-profdata" merge -o p.profdata p.profraw
expect 'the count of line 7, which never runs' 'DA:7,1' "$("$bin/llvm-cov" export -format=lcov -instr-profile=p.profdata ./program | grep '^DA:7,')"
