#!/bin/bash
# Tool: profile runtime of clang 22.1.8
# Guess: A relative LLVM_PROFILE_FILE means the folder in which the program started, also if it changes its folder.
# Seen: The runtime empties the file in the first folder when the program starts, and writes the one of the same
#   name in the last folder when it ends: where the user looks there is a profile of 0 bytes.
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
#include <unistd.h>
int main(void) { return chdir("later"); }
END
"$bin/clang" -fprofile-instr-generate program.c -o program
mkdir later
LLVM_PROFILE_FILE=here.profraw ./program
for file in here.profraw later/here.profraw; do [ -s $file ] && echo "$file: data" || echo "$file: empty"; done >files
expect 'the files of a run' 'here.profraw: empty
later/here.profraw: data' "$(cat files)"
