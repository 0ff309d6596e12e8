#!/bin/bash
# Tool: gcov of gcc 12.2.0, with files of clang 22.1.8 --coverage
# Guess: gcov 12 reads files that clang --coverage wrote, perhaps with a warning about the version
#   (it prints one: version B11*, prefer B22*).
# Seen: After the warning, which sounds as if it went on, it finds "no functions" in the notes and
#   prints "No executable lines": no version of the notes that clang writes has lines for gcov 12.
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

echo 'int main(void) { return 0; }' >program.c
for version in default '408*' 'A93*' 'B11*'; do
	rm -f *.gcno *.gcda
	option=
	[ $version = default ] || option="-Xclang -coverage-version=$version"
	set -f
	"$bin/clang" --coverage $option -c program.c
	set +f
	"$bin/clang" --coverage program.o -o program
	./program
	status=0
	$gcov program.gcda >out 2>messages || status=$?
	expect "the output for clang's notes of version $version" 'No executable lines' "$(head -1 out)"
	expect 'the exit code' 3 $status
	expect 'the messages about functions' 1 "$(grep -c 'no functions found' messages)"
done
