#!/bin/bash
# Tool: Go 1.26.8, go tool covdata intersect
# Guess: The intersection of counts 10 and 3 is the smaller one, 3, in either order.
# Seen: It is the count of the folder that comes first (10, or 3): only whether a block ran is
#   intersected, and the order of the folders decides the numbers.
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

go tool covdata intersect -i=ten,three -o out
go tool covdata intersect -i=three,ten -o swapped
expect 'the intersection of ten and three' 10 "$(count out)"
expect 'the intersection of three and ten' 3 "$(count swapped)"
