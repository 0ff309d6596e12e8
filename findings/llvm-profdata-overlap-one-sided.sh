#!/bin/bash
# Tool: llvm-profdata 22.1.8, overlap
# Guess: Overlap says what is missing on each side, so it tells of functions of the base profile
#   that the test profile lacks.
# Seen: Functions of the base profile only are never mentioned: a test profile that lost a
#   function has 1 function of 1 in overlap, and only the sums of counts differ; the other order
#   names the function as "only in test_profile".
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

printf ':ir\nf\n1\n1\n5\n\ng\n2\n1\n10\n' >both.proftext
printf ':ir\nf\n1\n1\n5\n' >lost.proftext
overlap() { "$bin/llvm-profdata" overlap $1 $2 | grep -E '# of functions'; }
expect 'the overlap when the test profile lacks a function' '  # of functions overlap: 1' "$(overlap both.proftext lost.proftext)"
expect 'the overlap when the base profile lacks it' '  # of functions overlap: 1
  # of functions only in test_profile: 1' "$(overlap lost.proftext both.proftext)"
