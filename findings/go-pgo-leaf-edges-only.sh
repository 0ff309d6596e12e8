#!/bin/bash
# Tool: Go 1.26.8, go tool preprofile (the first step of go build -pgo)
# Guess: Each pair of neighbours in a stack is a call, so a stack main > middle > leaf with 5
#   samples makes both calls hot.
# Seen: Only the last call of each stack counts: the edge middle > leaf gets 5, main > middle gets
#   nothing, so a function whose time is spent in what it calls is never a hot callee. A sample
#   with a single frame counts nowhere.
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
// Writes a CPU profile with two stacks, in the wire format of protocol buffers.
package main

import (
	"encoding/binary"
	"os"
)

func number(field int, value uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(field)<<3), value)
}

func message(field int, parts ...[]byte) []byte {
	var body []byte
	for _, part := range parts {
		body = append(body, part...)
	}
	head := binary.AppendUvarint(nil, uint64(field)<<3|2)
	return append(binary.AppendUvarint(head, uint64(len(body))), body...)
}

func main() {
	names := []string{"", "samples", "count", "main.leaf", "main.middle", "main.main"}
	out := message(1, number(1, 1), number(2, 2))
	out = append(out, message(2, number(1, 1), number(1, 2), number(1, 3), number(2, 5))...) // leaf, middle, main
	out = append(out, message(2, number(1, 3), number(2, 700))...)                            // main alone
	for id := uint64(1); id <= 3; id++ {
		out = append(out, message(4, number(1, id), message(4, number(1, id), number(2, 10*id+2)))...)
		out = append(out, message(5, number(1, id), number(2, id+2), number(3, id+2), number(5, 10*id))...)
	}
	for _, name := range names {
		out = append(out, message(6, []byte(name))...)
	}
	os.Stdout.Write(out)
}
END
go run . >cpu.pprof
expect 'the stacks of the profile' '5: 1 2 3
700: 3' "$(go tool pprof -raw cpu.pprof 2>/dev/null | sed -n 's/^ *\([0-9]*: [0-9 ]*[0-9]\) *$/\1/p')"
go tool preprofile -i cpu.pprof -o cpu.preprofile
expect 'the calls that the compiler sees' 'GO PREPROFILE V1
main.middle
main.leaf
2 5' "$(cat cpu.preprofile)"
