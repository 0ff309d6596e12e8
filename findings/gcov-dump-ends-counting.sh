#!/bin/bash
# Tool: libgcov of gcc 12.2.0
# Guess: A program that calls __gcov_dump and goes on has the counts of the whole run after its
#   exit, as exit writes again.
# Seen: What runs after __gcov_dump is lost without a message, unless the program calls
#   __gcov_reset too: work ran 11 times and has 1. (LLVM does the opposite: it counts what came
#   before twice.)
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

# gcc 12.2.0: the installed one if it is that version, else Debian's packages, unpacked here.
gcc=gcc-12 gcov=gcov-12
if [ "$(gcc-12 -dumpfullversion 2>/dev/null)" != 12.2.0 ]; then
	for package in gcc-12=12.2.0-14+deb12u1 cpp-12=12.2.0-14+deb12u1 libgcc-12-dev=12.2.0-14+deb12u1 libisl23=0.25-1.1 libmpc3=1.3.1-1 libmpfr6=4.2.0-1; do
		apt-get -qq download "$package"
		dpkg -x "${package%%=*}"_*.deb root
	done
	gcc=$folder/root/usr/bin/gcc-12 gcov=$folder/root/usr/bin/gcov-12
	export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu
fi

cat >program.c <<'END'
void __gcov_dump(void);
__attribute__((noinline)) void work(void) { __asm__ volatile(""); }
int main(void) {
	work();
	__gcov_dump();
	for (int i = 0; i < 10; i++)
		work();
	return 0;
}
END
$gcc --coverage -c program.c
$gcc --coverage program.o -o program
./program 2>messages
expect 'the messages of the program' '' "$(cat messages)"
expect 'the count of work, which ran 11 times' 1 "$($gcov -t program.gcda | awk '/void work/ { sub(":", "", $1); print $1 }')"
