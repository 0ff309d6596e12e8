#!/bin/bash
# Tool: llvm-profdata 22.1.8
# Guess: Counters saturate at 2^64-1, and the total count of a profile saturates as well (or is
#   exact).
# Seen: Counters saturate at 18446744073709551613 (2^64-3; the two values above it mark pseudo
#   counts), while the total count of show wraps: it is smaller than the largest counter in the
#   profile.
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

printf ':ir\nf\n1\n2\n18446744073709551613\n4611686018427387904\n' >large.proftext
"$bin/llvm-profdata" merge -o sum.profdata large.proftext large.proftext 2>messages
expect 'what show says of the sum' 'Maximum function count: 18446744073709551613
Maximum internal block count: 9223372036854775808
Total count: 9223372036854775805' "$("$bin/llvm-profdata" show sum.profdata | grep -E 'Maximum|Total count')"
