package perfdata

import (
	"bytes"
	"encoding/hex"
	"math/bits"
	"strconv"
)

// A script, the text of "perf script", has these lines:
//
//	PERF_RECORD_MMAP2 23777/23777: [0x401000(0x78000) @ 0x1000 fe:00 10019070 0]: r-xp /home/u/t
//	PERF_RECORD_MMAP2 23777/23777: [0x401000(0x78000) @ 0x1000 <6b493fec8c738b29>]: r-xp /home/u/t
//	PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1ab5000) @ 0xffffffff81000000]: x [kernel.kallsyms]_text
//	          43c760 0x43c76a/0x43c760/P/-/-/1/  0x402afb/0x43c740/P/-/-/1/    address, branches
//
// A sample with a call chain has an empty line, a line with a tab for each entry of the chain, and a line of branches:
//
//	       43c760
//	       402afb
//	0x43c76a/0x43c760/P/-/-/1/  0x402afb/0x43c740/P/-/-/1/
//
// A decimal number alone on a line is how often the next sample was taken; perf does not print it.
const (
	mmapWord  = "PERF_RECORD_MMAP "
	mmap2Word = "PERF_RECORD_MMAP2 "
)

// A lineKind is what a line of a script is.
type lineKind int

const (
	lineOther    lineKind = iota
	lineEmpty             // nothing or blanks
	lineMapping           // PERF_RECORD_MMAP
	lineAddress           // an address
	lineBranches          // branches, after an address or alone
	lineCount             // a decimal number, without blanks
)

// kindOfLine looks at the beginning of a line.
func kindOfLine(line []byte) lineKind {
	if len(line) > 0 && line[0] == 'P' {
		if bytes.HasPrefix(line, []byte(mmapWord)) || bytes.HasPrefix(line, []byte(mmap2Word)) {
			return lineMapping
		}
		return lineOther
	}
	word, rest := nextWord(line)
	switch {
	case len(word) == 0:
		return lineEmpty
	case isBranchWord(word):
		return lineBranches
	case !isHex(word):
		return lineOther
	}
	next, _ := nextWord(rest)
	switch {
	case len(next) > 0 && isBranchWord(next):
		return lineBranches
	case len(next) > 0:
		return lineOther
	case line[0] >= '0' && line[0] <= '9' && isDecimal(word):
		return lineCount
	}
	return lineAddress
}

// nextWord splits a line behind its first word. Words are separated by blanks and tabs.
func nextWord(line []byte) (word, rest []byte) {
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
		i++
	}
	line = line[i:]
	for i = 0; i < len(line) && line[i] != ' ' && line[i] != '\t' && line[i] != '\r'; {
		i++
	}
	return line[:i], line[i:]
}

// isBranchWord reports whether a word begins as a branch does: "0x43c76a/0x".
func isBranchWord(word []byte) bool {
	if len(word) < len("0x0/0x0") || word[0] != '0' || word[1] != 'x' {
		return false
	}
	i := bytes.IndexByte(word, '/')
	return i > 2 && bytes.HasPrefix(word[i+1:], []byte("0x"))
}

func isDecimal(word []byte) bool {
	for _, c := range word {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(word) > 0
}

// hexDigits has the value of each hexadecimal digit, plus 1; 0 for other bytes.
var hexDigits = func() (t [256]uint8) {
	for i, c := range "0123456789abcdef" {
		t[c] = uint8(i + 1)
	}
	for i, c := range "ABCDEF" {
		t[c] = uint8(i + 11)
	}
	return t
}()

func isHex(word []byte) bool {
	_, n := leadingHex(word)
	return n > 0 && n == len(word)
}

// leadingHex reads the hexadecimal number with which b begins, of at most 16 digits and leading zeros. It returns its
// length; 0 if there is none.
func leadingHex(b []byte) (v uint64, n int) {
	for ; n < len(b); n++ {
		d := hexDigits[b[n]]
		if d == 0 {
			break
		}
		if v>>60 != 0 {
			return 0, 0
		}
		v = v<<4 | uint64(d-1)
	}
	return v, n
}

// parseBranch reads a branch, "0xFROM/0xTO/M/X/A/CYCLES/TYPE"; the fields after the addresses are optional.
func parseBranch(word []byte) (b Branch, ok bool) {
	if len(word) < 3 {
		return b, false
	}
	var n int
	if b.From, n = leadingHex(word[2:]); n == 0 {
		return b, false
	}
	word = word[2+n:]
	if len(word) < 4 || word[0] != '/' {
		return b, false
	}
	if b.To, n = leadingHex(word[3:]); n == 0 {
		return b, false
	}
	if word = word[3+n:]; len(word) > 0 && word[0] != '/' {
		return b, false
	}
	if bytes.HasPrefix(word, []byte("/P/-/-/")) { // the most usual
		b.Flags = 1 << flagPredicted
		word = word[7:]
	} else {
		for i, letters := range [...][2]byte{{'M', flagMispredicted}, {'X', flagTransaction}, {'A', flagAborted}} {
			if len(word) < 2 {
				return b, true
			}
			switch {
			case word[1] == letters[0]:
				b.Flags |= 1 << letters[1]
			case i == 0 && word[1] == 'P':
				b.Flags |= 1 << flagPredicted
			}
			if word = word[2:]; len(word) > 0 && word[0] != '/' {
				return b, true // a later release's field; the addresses are what matters
			}
		}
		word = bytes.TrimPrefix(word, []byte("/"))
	}
	var cycles uint64
	for len(word) > 0 && word[0] >= '0' && word[0] <= '9' {
		cycles = min(cycles*10+uint64(word[0]-'0'), 1<<16-1)
		word = word[1:]
	}
	b.Flags |= cycles << cyclesAt
	if len(word) > 1 && word[0] == '/' {
		b.Flags |= typeFlags(word[1:])
	}
	return b, true
}

// Places of the fields in the flags of a branch.
const (
	flagMispredicted, flagPredicted, flagTransaction, flagAborted = 0, 1, 2, 3

	cyclesAt, branchTypeAt, newTypeAt = 4, 20, 26
	extendedType                      = 15 // the further types have the type
)

// Types of branches, in perf's words. perf 6.1 prints nothing for the unknown type 0.
var (
	branchTypes = [...]string{
		"", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",
		"SERROR", "NO_TX",
	}
	newBranchTypes = [...]string{"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5"}
)

// typeFlags returns the type bits for perf's word at the beginning of text.
func typeFlags(text []byte) uint64 {
	word, _, _ := bytes.Cut(text, []byte("/"))
	for i := 1; i < len(branchTypes); i++ {
		if string(word) == branchTypes[i] {
			return uint64(i) << branchTypeAt
		}
	}
	for i, name := range newBranchTypes {
		if string(word) == name {
			return extendedType<<branchTypeAt | uint64(i)<<newTypeAt
		}
	}
	return 0
}

// typeName returns perf's word for the type of a branch.
func typeName(flags uint64) string {
	t := flags >> branchTypeAt & 15
	if t != extendedType {
		return branchTypes[t]
	}
	if n := flags >> newTypeAt & 15; n < uint64(len(newBranchTypes)) {
		return newBranchTypes[n]
	}
	return ""
}

// parseMapping reads a line of a mapping into m; false if it has another form.
func parseMapping(line []byte, m *Mapping) bool {
	*m = Mapping{}
	m.Old = bytes.HasPrefix(line, []byte(mmapWord))
	_, rest := nextWord(line)
	rest = rest[1:]
	ok := true
	take := func(until string) []byte {
		before, after, found := bytes.Cut(rest, []byte(until))
		ok = ok && found
		rest = after
		return before
	}
	number := func(text []byte, base, size int) uint64 {
		if base == 16 && string(text) != "0" { // C prints 0 without 0x
			var has bool
			text, has = bytes.CutPrefix(text, []byte("0x"))
			ok = ok && has
		}
		v, err := strconv.ParseUint(string(text), base, size)
		ok = ok && err == nil
		return v
	}
	process := func(text []byte) int32 {
		v, err := strconv.ParseInt(string(text), 10, 64)
		ok = ok && err == nil && bits.Len64(uint64(max(v, -v))) <= 32
		return int32(v)
	}
	m.PID, m.TID = process(take("/")), process(take(": ["))
	m.Addr, m.Len = number(take("("), 16, 64), number(take(") @ "), 16, 64)
	place := take("]: ")
	offset, file, _ := bytes.Cut(place, []byte(" "))
	m.Offset = number(offset, 16, 64)
	if id, found := bytes.CutPrefix(file, []byte("<")); found {
		id = bytes.TrimSuffix(id, []byte(">"))
		m.BuildID = make([]byte, len(id)/2)
		if _, err := hex.Decode(m.BuildID, id); err != nil || len(m.BuildID) > maxBuildID {
			return false
		}
	} else if fields := bytes.Fields(file); len(fields) == 3 {
		major, minor, _ := bytes.Cut(fields[0], []byte(":"))
		parse := func(text []byte, base int) uint64 {
			v, err := strconv.ParseUint(string(text), base, 64)
			ok = ok && err == nil
			return v
		}
		m.Major, m.Minor = uint32(parse(major, 16)), uint32(parse(minor, 16))
		m.Inode, m.Generation = parse(fields[1], 10), parse(fields[2], 10)
	}
	protection := take(" ")
	m.File = string(rest)
	m.Exec = bytes.IndexByte(protection, 'x') >= 0
	if !m.Old {
		for i, c := range []byte("rwx") {
			if bytes.IndexByte(protection, c) >= 0 {
				m.Prot |= 1 << i
			}
		}
		if bytes.IndexByte(protection, 's') >= 0 {
			m.Flags |= mapShared
		} else {
			m.Flags |= 2 // MAP_PRIVATE
		}
	}
	return ok
}
