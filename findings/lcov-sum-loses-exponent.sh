#!/bin/bash
# Tool: lcov 1.16
# Guess: Sums of large counts are rounded or saturate; lcov reads what it wrote.
# Seen: Above 2^64 it writes 3.68934881474191e+19, and reads this back as 3: the next merge of a
#   line with 3.7e19 executions with itself is 6. (Programs with counters that went below 0 report
#   counts like 2^64-1, so such sums occur.)
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

printf '%s\n' TN: SF:/x/a.c DA:1,18446744073709551615 end_of_record >one.info
"$lcov" -q -a one.info -a one.info -o two.info 2>messages
"$lcov" -q -a two.info -a two.info -o four.info 2>>messages
expect 'the messages of lcov' '' "$(cat messages)"
expect 'the sum of two' DA:1,3.68934881474191e+19 "$(grep DA two.info)"
expect 'the sum of four' DA:1,6 "$(grep DA four.info)"
