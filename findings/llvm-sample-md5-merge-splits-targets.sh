#!/bin/bash
# Tool: llvm-profdata 22.1.8, sample profiles
# Guess: A merge of a profile with names and the same profile with MD5 names gives one of them
#   with doubled counts.
# Seen: Functions are joined under the name that came first, but targets of calls are not: bar is
#   listed twice on the line, once by name and once by hash, with half the count each, so a call
#   target above a threshold falls below it.
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

printf 'foo:100:10\n 1: 50\n 2: 50 bar:20\n' >named.txt
merge() { "$bin/llvm-profdata" merge --sample "$@"; }
merge --extbinary --use-md5 named.txt -o hashed.md5
expect 'the merge of names and hashes' 'foo:200:20
 1: 100
 2: 100 16434608426314478903:20 bar:20' "$(merge --text named.txt hashed.md5 -o -)"
expect 'the merge of hashes and names' '6699318081062747564:200:20
 1: 100
 2: 100 16434608426314478903:20 bar:20' "$(merge --text hashed.md5 named.txt -o -)"
