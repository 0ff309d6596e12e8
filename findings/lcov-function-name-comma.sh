#!/bin/bash
# Tool: lcov 1.16
# Guess: The name of a function is the rest of its record, so f(int, char) and f(int, long) of a demangled
#   tracefile (geninfo --demangle-cpp) stay two functions.
# Seen: A name ends at its first comma: both become one function "f(int" on the line of the last one, with the
#   sum of their calls, so an overload that never ran is covered. Nothing warns.
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

# lcov 1.16: the installed one if it is that version, else Debian's package, unpacked here.
lcov=lcov
if ! lcov --version 2>/dev/null | grep -q 'version 1\.16$'; then
	apt-get -qq download lcov=1.16-1
	dpkg -x lcov_*.deb root
	lcov=root/usr/bin/lcov
fi

printf '%s\n' TN: SF:/x/a.c 'FN:3,f(int, char)' 'FN:9,f(int, long)' 'FNDA:2,f(int, char)' 'FNDA:0,f(int, long)' DA:3,2 end_of_record >in.info
"$lcov" -a in.info -o out.info >out 2>messages
expect 'the messages of lcov' '' "$(cat messages)"
expect 'the functions of the merged tracefile' 'FN:9,f(int
FNDA:2,f(int
FNF:1
FNH:1' "$(grep '^FN' out.info)"
