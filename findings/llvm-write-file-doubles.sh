#!/bin/bash
# Tool: profile runtime of clang 22.1.8
# Guess: A program that calls __llvm_profile_write_file and later exits leaves the counts of the
#   whole run: the second write replaces the first one.
# Seen: The write at exit appends the whole profile again to the same file, also without %m, so a
#   merge counts everything before the call twice: work ran 10 times and has 20. Nothing warns.
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

cat >program.c <<'END'
int __llvm_profile_write_file(void);
__attribute__((noinline)) void work(void) { __asm__ volatile(""); }
int main(int argc, char **argv) {
	for (int i = 0; i < 10; i++)
		work();
	if (argc > 1)
		__llvm_profile_write_file();
	return 0;
}
END
"$bin/clang" -fprofile-instr-generate program.c -o program
LLVM_PROFILE_FILE=once.profraw ./program
LLVM_PROFILE_FILE=twice.profraw ./program write 2>messages
expect 'the profile of a run that writes at exit only' 'main: 1 work: 10' "$(counts once.profraw)"
expect 'the profile of a run that also calls __llvm_profile_write_file' 'main: 2 work: 20' "$(counts twice.profraw)"
expect 'the message of that run' '' "$(cat messages)"
