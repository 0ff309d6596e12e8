#!/bin/bash
# Tool: Go 1.26.8, go build -cover -covermode=count
# Guess: Counters saturate, as they do in go tool covdata merge, or have 64 bits.
# Seen: They have 32 bits and wrap: a block that ran 4294967301 times has count 5, and one that
#   ran 4294967296 times would be uncovered. Nothing warns.
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

var sum uint8

func main() {
	for i := 0; i < 1<<32+5; i++ {
		sum++
	}
}
END
go build -cover -covermode=count -o program .
mkdir counts
GOCOVERDIR=counts ./program
go tool covdata textfmt -i=counts -o counts.txt
expect 'the count of a block that ran 2^32+5 times' 'example/main.go:6.31,8.3 1 5' "$(grep ':6.31' counts.txt)"
