#!/bin/bash
# Tool: profile runtime of clang 22.1.8
# Guess: A program that runs again with the same LLVM_PROFILE_FILE (without %m) replaces its
#   profile, whoever starts it.
# Seen: Only if a shell starts it. Started by another instrumented program, it does not truncate
#   the file but appends to it, because the parent hands on a mark in the environment
#   (__LLVM_PROFILE_RT_INIT_ONCE): each run of a test driver adds to the profiles of the programs
#   it starts, with profiles of earlier days. Nothing warns.
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

# counts RAW: the counters of all functions of a raw profile, in one line.
counts() {
	"$bin/llvm-profdata" merge -o merged.profdata "$1"
	"$bin/llvm-profdata" show --all-functions --counts merged.profdata |
		awk '/^  [a-z]/ { name = $1 } /Function count/ { print name, $3 }' | sort | paste -sd' ' -
}

cat >child.c <<'END'
int main(void) { return 0; }
END
cat >driver.c <<'END'
#include <stdlib.h>
int main(void) { return system("LLVM_PROFILE_FILE=started.profraw ./child"); }
END
for name in child driver; do "$bin/clang" -fprofile-instr-generate $name.c -o $name; done
for run in 1 2 3; do
	LLVM_PROFILE_FILE=direct.profraw ./child
	LLVM_PROFILE_FILE=driver.profraw ./driver
done
expect 'the profile of three runs from a shell' 'main: 1' "$(counts direct.profraw)"
expect 'the profile of three runs from an instrumented program' 'main: 3' "$(counts started.profraw)"
