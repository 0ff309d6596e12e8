#!/bin/bash
# Tool: Go 1.26.8, go tool covdata subtract
# Guess: With -covermode=count, 10 minus 3 is 7.
# Seen: It is 0: subtract clears each counter that is not 0 in the second folder, whatever the
#   counts are, also in profiles of counts.
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

# Go 1.26.8: the go command fetches this version as a Go module if it is another one.
export GOTOOLCHAIN=go1.26.8 GOFLAGS= GOWORK=off
expect 'the version of Go' go1.26.8 "$(go env GOVERSION)"

cat >go.mod <<'END'
module example
go 1.21
END

cat >main.go <<'END'
package main

import "os"

var sum int

func main() {
	for i := 0; i < len(os.Args); i++ {
		sum += i
	}
}
END
go build -cover -covermode=count -o program .
mkdir ten three out swapped
GOCOVERDIR=ten ./program 2 3 4 5 6 7 8 9 10
GOCOVERDIR=three ./program 2 3
count() { go tool covdata textfmt -i=$1 -o $1.txt && sed -n 's/.*:8.36,.* //p' $1.txt; }
expect 'the count of the first run' 10 "$(count ten)"
expect 'the count of the second run' 3 "$(count three)"

go tool covdata subtract -i=ten,three -o out
expect 'the count of ten minus three' 0 "$(count out)"
