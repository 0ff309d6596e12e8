// Package sampled recognizes LLVM's sample profiles (AutoFDO, CSSPGO), which this module
// does not read, so that they are not taken for damaged or unknown files.
package sampled

import (
	"bytes"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// magics are the first bytes of the binary formats: 0x5350524f463432 ("SPROF42") and the
// number of the format, as ULEB128.
var magics = []struct{ magic, name string }{
	{"\xff\xe5\xd0\xb1\xf4\xc9\x94\xa8\x53", "binary"},
	{"\x82\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53", "compact binary"},
	{"\x84\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53", "extensible binary"},
	{"adcg*704", "gcov"}, // other versions after "adcg" are gcc's own (.gcda)
}

// Format returns the format of the sample profile that data begins with: "text", or a
// binary one. It returns "" for anything else.
func Format(data []byte) string {
	for _, m := range magics {
		if bytes.HasPrefix(data, []byte(m.magic)) {
			return m.name
		}
	}
	if isText(data) {
		return "text"
	}
	return ""
}

// Unsupported returns the error about a sample profile in a format.
func Unsupported(file, format string) error {
	return flaw.File(file).Field("format").Gotf("sample profile (AutoFDO, CSSPGO; %s)", format).
		Want("another one: sample profiles are not supported yet").Unsupported()
}

// isText reports whether data begins with the head of a function, NAME:TOTAL:HEAD. The
// name of a function in an instrumentation profile may look alike, but a line with a
// number alone, its hash, follows.
func isText(data []byte) bool {
	head, rest := line(data)
	if !isHead(head) {
		return false
	}
	next, _ := line(rest)
	_, err := strconv.ParseUint(string(next), 0, 64)
	return err != nil
}

// line returns the first line with contents that are no comment, without the white space
// at its end, and what follows it.
func line(data []byte) (line, rest []byte) {
	for len(data) > 0 {
		line, data, _ = bytes.Cut(data, []byte("\n"))
		line = bytes.TrimRight(line, " \t\r")
		if text := bytes.TrimLeft(line, " \t"); len(text) > 0 && text[0] != '#' {
			return line, data
		}
	}
	return nil, nil
}

// isHead reports whether a line is NAME:TOTAL:HEAD, where NAME may be a context in
// brackets.
func isHead(line []byte) bool {
	for range 2 {
		i := bytes.LastIndexByte(line, ':')
		if i < 0 {
			return false
		}
		if _, err := strconv.ParseUint(string(line[i+1:]), 10, 64); err != nil {
			return false
		}
		line = line[:i]
	}
	return len(line) > 0 && line[0] != ' ' && line[0] != ':'
}
