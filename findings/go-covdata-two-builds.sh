#!/bin/bash
# Tool: Go 1.26.8, go tool covdata textfmt and go tool cover
# Guess: Counters of two builds of a package in one GOCOVERDIR are refused, or kept apart, or only
#   the newest build counts.
# Seen: textfmt mixes the blocks of both builds into one list per file, with exit code 0, and go
#   tool cover then refuses that file: "inconsistent NumStmt: changed from 1 to 2". covdata
#   percent reads the same folder without a word and counts the statements of both builds.
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

build() {
	printf 'package main\n\nvar sum int\n\nfunc main() {\n\tif sum == 0 {\n\t\t%s\n\t}\n}\n' "$1" >main.go
	go build -cover -covermode=count -o program .
	GOCOVERDIR=counts ./program
}
mkdir counts
build 'sum++    '
build 'sum++; sum'++
go tool covdata textfmt -i=counts -o counts.txt
expect 'the blocks of both builds' 'example/main.go:6.14,8.3 1 1
example/main.go:6.14,8.3 2 1' "$(grep ':6.14' counts.txt)"
expect 'the answer of go tool cover' 'cover: inconsistent NumStmt: changed from 1 to 2' "$(go tool cover -func=counts.txt 2>&1)"
expect 'the answer of covdata percent' 'example coverage: 100.0% of statements' "$(go tool covdata percent -i=counts | tr -s '\t ' ' ' | sed 's/^ //')"
