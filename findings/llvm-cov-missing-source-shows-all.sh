#!/bin/bash
# Tool: llvm-cov 22.1.8
# Guess: A source file named on the command line that does not exist leaves nothing to show: an
#   error, or an empty report.
# Seen: The name is dropped with a warning, and with the last name the filter itself goes: llvm-
#   cov report missing.c reports all sources, with exit code 0. A typing error turns the coverage
#   of one file into the coverage of the project.
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

echo 'int helper(int n) { return n; } int unused(void) { return 1; }' >helper.c
echo 'int helper(int); int main(void) { return helper(0); }' >main.c
"$bin/clang" -fprofile-instr-generate -fcoverage-mapping main.c helper.c -o program
LLVM_PROFILE_FILE=p.profraw ./program
"$bin/llvm-profdata" merge -o p.profdata p.profraw
files() { "$bin/llvm-cov" export -format=lcov -instr-profile=p.profdata ./program "$@" 2>messages | sed -n 's,^SF:.*/,,p' | sort | paste -sd' ' -; }
expect 'the report for main.c' main.c "$(files main.c)"
expect 'the report for missing.c, which does not exist' 'helper.c main.c' "$(files missing.c)"
"$bin/llvm-cov" export -format=lcov -instr-profile=p.profdata ./program missing.c >/dev/null 2>messages
expect 'the message' "warning: missing.c: Source file doesn't exist, proceeded by ignoring it." "$(cat messages)"
