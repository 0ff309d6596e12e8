#!/bin/bash
# Tool: llvm-cov 22.1.8
# Guess: llvm-cov export -name=used takes the functions named, as llvm-cov show -name=used does,
#   or refuses the option.
# Seen: export takes the option and ignores it without a message: tracefile and JSON hold every
#   function, with exit code 0.
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
int used(int n) { return n; }
int other(int n) { return n; }
int main(void) { return used(0); }
END
"$bin/clang" -fprofile-instr-generate -fcoverage-mapping program.c -o program
LLVM_PROFILE_FILE=p.profraw ./program
"$bin/llvm-profdata" merge -o p.profdata p.profraw
expect 'what show -name=used shows' 'int used(int n) { return n; }' "$("$bin/llvm-cov" show -name=used -instr-profile=p.profdata ./program | grep -o 'int [a-z]*(.*' | sort -u)"
expect 'the functions of export -name=used' 'FNDA:1,used
FNDA:0,other
FNDA:1,main' "$("$bin/llvm-cov" export -name=used -format=lcov -instr-profile=p.profdata ./program 2>messages | grep FNDA)"
expect 'the messages of export -name=used' '' "$(cat messages)"
