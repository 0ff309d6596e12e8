#!/bin/bash
# Tool: profile runtime of clang 22.1.8 (and gcc 12, for comparison)
# Guess: What runs in destructors of static objects is counted, for all of them.
# Seen: The destructor of a global object never counts, and that of a static object in a function
#   does: the runtime registers its write at exit after the constructors of the program, so it
#   comes before their destructors. Coverage says 0 for code that ran.
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

cat >program.cc <<'END'
#include <cstdio>
struct Global { ~Global() { std::puts("global"); } };
struct Local { ~Local() { std::puts("local"); } };
Global global;
int main() { static Local local; }
END
"$bin/clang++" -fprofile-instr-generate -fcoverage-mapping program.cc -o program
expect 'the order of the destructors' 'local global' "$(LLVM_PROFILE_FILE=p.profraw ./program | paste -sd' ' -)"
"$bin/llvm-profdata" merge -o p.profdata p.profraw
"$bin/llvm-cov" export -format=lcov -instr-profile=p.profdata ./program | sed -n 's/^FNDA://p' | sort >functions
expect 'the counts of the destructors (both ran once)' '0,_ZN6GlobalD2Ev
1,_ZN5LocalD2Ev
1,main' "$(cat functions)"
