#!/bin/bash
# Tool: profile runtime of clang 22.1.8
# Guess: %b in LLVM_PROFILE_FILE is the build id of the image, and nothing where an image has none, as
#   %t is nothing without TMPDIR.
# Seen: A program without a build id drops the whole name, directory included, and writes
#   default.profraw into the working directory, where programs overwrite each other; a warning
#   and exit code 0.
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

echo 'int main(void) { return 0; }' >program.c
mkdir profiles
for id in sha1 none; do
	"$bin/clang" -fprofile-instr-generate "-Wl,--build-id=$id" program.c -o "$id"
	LLVM_PROFILE_FILE=profiles/%b.profraw "./$id" 2>"$id.err" || echo "exit code $?"
done
expect 'the number of named files' 1 "$(ls profiles | wc -l)"
expect 'the file of the program without a build id' default.profraw "$(ls -- *.profraw)"
expect 'the warning' 'LLVM Profile Warning: Unable to get binary ID for filename pattern profiles/%b.profraw. Using the default name.' "$(cat none.err)"
