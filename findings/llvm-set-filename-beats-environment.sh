#!/bin/bash
# Tool: profile runtime of clang 22.1.8
# Guess: LLVM_PROFILE_FILE is the word of the user who runs the program, so it wins over
#   __llvm_profile_set_filename in the program.
# Seen: The call wins, and the file of the environment exists all the same, with 0 bytes: the file
#   that the user asked for is there, and has nothing in it.
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
void __llvm_profile_set_filename(const char *);
int main(void) { __llvm_profile_set_filename("call.profraw"); return 0; }
END
"$bin/clang" -fprofile-instr-generate program.c -o program
LLVM_PROFILE_FILE=environment.profraw ./program
for file in *.profraw; do [ -s $file ] && echo "$file: data" || echo "$file: empty"; done >files
expect 'the files of a run' 'call.profraw: data
environment.profraw: empty' "$(cat files)"
