#!/bin/bash
# Tool: grcov 0.8.12, with tracefiles of geninfo --checksum (lcov 1.16 and 2)
# Guess: grcov reads DA:LINE,COUNT,CHECKSUM as lcov does, with or without the checksum.
# Seen: It goes on reading digits through the comma and the checksum, whatever they are: a line that never ran has
#   a huge count, so a report of such a tracefile shows every line as covered. Nothing warns.
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

# grcov 0.8.12: the installed one if it is that version, else Debian's package, unpacked here.
grcov=grcov
if ! grcov --version 2>/dev/null | grep -q ' 0\.8\.12$'; then
	apt-get -qq download grcov=0.8.12-2+b1
	dpkg -x grcov_*.deb root
	grcov=root/usr/bin/grcov
fi

printf '%s\n' TN: SF:a.c DA:1,0,MQ2bqCqiBhOXBCkz DA:2,3,abcd LF:2 LH:1 end_of_record >in.info
"$grcov" in.info -t lcov >out.info 2>messages
expect 'the messages of grcov' '' "$(cat messages)"
expect 'the lines of the tracefile' 'DA:1,2552376760939520564
DA:2,2874562
LF:2
LH:2' "$(grep '^DA\|^L[FH]' out.info)"
