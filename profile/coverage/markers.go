package coverage

import (
	"bytes"
	"slices"
)

// Exclude leaves out the lines, branches, regions, decisions and functions that markers
// in the source of the file exclude, in lcov's syntax:
//
//	LCOV_EXCL_LINE                       the line
//	LCOV_EXCL_START … LCOV_EXCL_STOP     these lines and the lines between
//	LCOV_EXCL_BR_LINE                    the branches of the line
//	LCOV_EXCL_BR_START … LCOV_EXCL_BR_STOP
//
// It also leaves out what is behind the end of the source, which is then not the source that was compiled, and counts
// these lines in File.Behind: readers of tracefiles and of SonarQube's format refuse them.
//
// GCOV_EXCL and GRCOV_EXCL mean the same as LCOV_EXCL; GRCOV_STOP_COVERAGE is not read. A START without STOP
// excludes the rest of the file. Lines for which more returns true are excluded like lines with LCOV_EXCL_LINE;
// more may be nil. Call [Coverage.Finish] afterwards. Exclude reports whether markers or more excluded anything.
func (f *File) Exclude(source []byte, more func(line []byte) bool) bool {
	f.cut(countLines(source))
	if more == nil && !bytes.Contains(source, []byte("_EXCL_")) {
		return false
	}
	var lines, branches []uint32 // excluded, ascending
	inLines, inBranches := false, false
	number := uint32(0)
	for line := range bytes.Lines(source) {
		number++
		has := func(what string) bool {
			_, after, ok := bytes.Cut(line, []byte("COV_EXCL_"+what))
			return ok && (len(after) == 0 || !isWord(after[0]))
		}
		inLines = inLines || has("START")
		inBranches = inBranches || has("BR_START")
		if inLines || has("LINE") || more != nil && more(line) {
			lines = append(lines, number)
		}
		if inBranches || has("BR_LINE") {
			branches = append(branches, number)
		}
		inLines = inLines && !has("STOP")
		inBranches = inBranches && !has("BR_STOP")
	}
	if len(lines)+len(branches) == 0 {
		return false
	}
	remain := func(excluded []uint32) func(uint32) bool {
		return func(n uint32) bool {
			_, found := slices.BinarySearch(excluded, n)
			return !found
		}
	}
	f.Functions = selected(f.Functions, func(fn *Function) bool { return remain(lines)(uint32(fn.StartLine)) })
	f.keepLines(remain(lines), remain(branches))
	return true
}

// cut leaves out what is behind the last line of the source.
func (f *File) cut(last int) {
	inside := func(n uint32) bool { return int64(n) <= int64(last) }
	n := len(f.Lines)
	if n > 0 && inside(f.Lines[n-1].Number) || n == 0 && !slices.ContainsFunc(f.Functions, func(fn Function) bool { return !inside(uint32(fn.StartLine)) }) {
		return
	}
	f.Functions = selected(f.Functions, func(fn *Function) bool { return inside(uint32(fn.StartLine)) })
	f.keepLines(inside, nil)
	f.Behind += n - len(f.Lines)
}

// countLines returns the number of lines of a text. Old sources end lines with carriage returns alone.
func countLines(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	ends := max(bytes.Count(text, []byte("\n")), bytes.Count(text, []byte("\r")))
	if last := text[len(text)-1]; last != '\n' && last != '\r' {
		ends++
	}
	return ends
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
