#!/bin/bash
# Tool: lcov 1.16, with tracefiles of lcov 2 (FN:line,end,name)
# Guess: lcov 1.16 reads the newer form FN:1,9,f with the line where a function ends, or says that
#   it does not know it.
# Seen: It takes the end line for the name: the function "9" is added, never called, beside f, and
#   a tracefile with one function that ran has 50.0% of 2 functions. Nothing warns.
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

printf '%s\n' TN: SF:/x/a.c FN:1,9,f FNDA:3,f FNF:1 FNH:1 DA:1,3 LF:1 LH:1 end_of_record >new.info
"$lcov" -a new.info -o out.info >out 2>messages
expect 'the messages of lcov' '' "$(cat messages)"
expect 'the functions of the merged tracefile' 'FN:1,9
FNDA:0,9
FNDA:3,f
FNF:2
FNH:1' "$(grep '^FN' out.info | LC_ALL=C sort)"
expect 'the rate of functions' '  functions..: 50.0% (1 of 2 functions)' "$(grep functions out)"
