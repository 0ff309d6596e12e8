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
// GCOV_EXCL and GRCOV_EXCL mean the same as LCOV_EXCL; GRCOV_STOP_COVERAGE is not read. A START without STOP
// excludes the rest of the file. Lines for which more returns true are excluded like lines with LCOV_EXCL_LINE;
// more may be nil. Call [Coverage.Finish] afterwards. Exclude reports whether anything was excluded.
func (f *File) Exclude(source []byte, more func(line []byte) bool) bool {
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

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
