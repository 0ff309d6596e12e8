#!/bin/bash
# Tool: llvm-profdata 22.1.8, sample profiles
# Guess: llvm-profdata reads the text that it writes, whatever the profile.
# Seen: A profile with MD5 names and inlined functions becomes text that llvm-profdata and clang refuse: a line
#   that begins with a number is a count for them, so " 3: 16434608426314478903:7", an inlined function, is an error.
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

printf 'foo:100:10\n 1: 50\n 3: bar:7\n  1: 7\n' >named.txt
merge() { "$bin/llvm-profdata" merge --sample "$@"; }
merge --extbinary --use-md5 named.txt -o hashed.md5
merge --text hashed.md5 -o numbers.txt
expect 'the text of the MD5 profile' '6699318081062747564:100:10
 1: 50
 3: 16434608426314478903:7
  1: 7' "$(cat numbers.txt)"
code=0
message=$(merge --text numbers.txt -o - 2>&1) || code=$?
expect 'reading the text again' "error: numbers.txt:3: Expected 'NUM[.NUM]: NUM[ mangled_name:NUM]*', found  3: 16434608426314478903:7, exit code 1" \
	"$message, exit code $code"
