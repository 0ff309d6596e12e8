#!/bin/bash
# Tool: llvm-profdata 22.1.8, sample profiles
# Guess: A profile with MD5 names survives the way through text: numbers in the text are the
#   hashes that they were.
# Seen: Text has no mark for hashes, so llvm-profdata takes each number for a name: --use-md5
#   hashes it again, and a merge with the named profile has the function twice. Everything exits
#   with 0.
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

printf 'foo:100:10\n 1: 50\n 2: 50\n' >named.txt
merge() { "$bin/llvm-profdata" merge --sample "$@"; }
heads() { grep -o '^[^ :]*' | sort | paste -sd' ' -; }
merge --extbinary --use-md5 named.txt -o first.md5
merge --text first.md5 -o numbers.txt
merge --extbinary --use-md5 numbers.txt -o second.md5
expect 'the name of foo as MD5' 6699318081062747564 "$(merge --text first.md5 -o - | heads)"
expect 'the name of foo after MD5, text and MD5' 14429306234298444764 "$(merge --text second.md5 -o - | heads)"
expect 'the functions of a merge with the named profile' '6699318081062747564 foo' "$(merge --text numbers.txt named.txt -o - | heads)"
