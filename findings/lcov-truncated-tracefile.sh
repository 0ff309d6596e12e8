#!/bin/bash
# Tool: lcov 1.16 and grcov 0.8.12
# Guess: A tracefile that was cut off, so that its last section has no end_of_record, is an error, or the section
#   counts as far as it goes.
# Seen: Both tools drop the section without a word and exit with 0: the last source file is not in the result, and
#   the rate of covered lines is the rate of the others.
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

# grcov 0.8.12: the installed one if it is that version, else Debian's package, unpacked here.
grcov=grcov
if ! grcov --version 2>/dev/null | grep -q ' 0\.8\.12$'; then
	apt-get -qq download grcov=0.8.12-2+b1
	dpkg -x grcov_*.deb root
	grcov=root/usr/bin/grcov
fi

printf '%s\n' TN: SF:/x/a.c DA:1,1 end_of_record SF:/x/b.c DA:1,0 >in.info
"$lcov" -a in.info -o out.info >out 2>messages
expect 'the messages of lcov' '' "$(cat messages)"
expect 'the files that lcov keeps' SF:/x/a.c "$(grep '^SF' out.info)"
"$grcov" in.info -t lcov >out.info 2>messages
expect 'the messages of grcov' '' "$(cat messages)"
expect 'the files that grcov keeps' SF:/x/a.c "$(grep '^SF' out.info)"
