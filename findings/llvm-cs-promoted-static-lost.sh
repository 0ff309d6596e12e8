#!/bin/bash
# Tool: clang and lld 22.1.8, ThinLTO with context-sensitive profiles (-fcs-profile-generate)
# Guess: A static function that ThinLTO exports to another module keeps the name "file.c;helper" in the
#   context-sensitive profile, as it does in the first one, so the final build uses its counts.
# Seen: Its name in the profile is helper.llvm.NUMBER, and the number comes from the contents of the module, which
#   differ in the build that uses the profile: the linker finds no counts for the function, and only
#   -Wl,-mllvm,-pgo-warn-missing-function says so. -funique-internal-linkage-names does not help.
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
if ! "$bin/clang" --version 2>/dev/null | grep -q 'version 22\.1\.8' || ! [ -x "$bin/ld.lld" ]; then
	version=1:22.1.8-1~deb12u1
	for package in clang-22 llvm-22 lld-22 libllvm22 libclang-cpp22 libclang-common-22-dev libclang-rt-22-dev; do
		apt-get -qq download "$package=$version"
		dpkg -x "$package"_*.deb root
	done
	bin=$folder/root/usr/lib/llvm-22/bin
	export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu:$folder/root/usr/lib/llvm-22/lib
fi

cat >one.c <<'END'
static __attribute__((noinline)) int helper(int x) { return x * x + 1; }
int twice(int x) { return helper(x) + helper(x + 1); }
END
cat >two.c <<'END'
int twice(int x);
int main(int c, char **v) { int s = 0; for (int i = 0; i < c + 20; i++) s += twice(i); return s == 0; }
END
# build PROGRAM OPTION...: compiles both files and links them.
build() {
	program=$1
	shift
	for file in one two; do "$bin/clang" -O2 -flto=thin "$@" -c $file.c -o $file.o; done
	"$bin/clang" -O2 -flto=thin "$@" one.o two.o -fuse-ld="$bin/ld.lld" -Wl,-mllvm,-pgo-warn-missing-function -o "$program"
}
build first -fprofile-generate
LLVM_PROFILE_FILE=first.profraw ./first
"$bin/llvm-profdata" merge first.profraw -o first.profdata
build second -fprofile-use=first.profdata -fcs-profile-generate
LLVM_PROFILE_FILE=second.profraw ./second
"$bin/llvm-profdata" merge first.profdata second.profraw -o both.profdata
names() { "$bin/llvm-profdata" show --all-functions "$@" both.profdata | sed -n 's/^  \([^ ]*helper[^ ]*\):$/\1/p'; }
expect 'the name in the first profile' 'one.c;helper' "$(names)"
expect 'the name in the context-sensitive profile' 'helper.llvm.NUMBER' "$(names --showcs | sed 's/[0-9][0-9]*$/NUMBER/')"
build final -fprofile-use=both.profdata 2>warnings
expect 'the warning of the linker' 'no profile data available for function helper.llvm.NUMBER' \
	"$(grep -o 'no profile data.*helper.llvm.[0-9]*' warnings | sed 's/[0-9][0-9]*$/NUMBER/')"
"$bin/llvm-nm" final | grep -q "$(names --showcs)" && same=yes || same=no
expect 'whether the program has the name in the profile' no $same
