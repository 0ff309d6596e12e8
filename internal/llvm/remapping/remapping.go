// Package remapping reads the files by which functions get other names (LLVM's SymbolRemapper).
package remapping

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Parse reads a remapping file and returns a function that renames functions by the file, so that a profile stays
// useful after functions were renamed. Functions that the file does not name keep their names.
//
// The file has a line for each name, "OLD NEW" with one space between. Blank lines and lines that begin
// with "#" are skipped; if two lines have one name, the first counts. Names are PGO names of any
// language: mangled, and with the file prefix for local functions.
func Parse(file string, data []byte) (rename func(name string) string, err error) {
	names := make(map[string]string)
	number := 0
	for line := range strings.SplitSeq(string(data), "\n") {
		number++
		line = strings.TrimSuffix(line, "\r")
		if line == "" || line[0] == '#' {
			continue
		}
		from, to, _ := strings.Cut(line, " ")
		if from == "" || to == "" || strings.Contains(to, " ") {
			return nil, flaw.File(file).OnLine(number).Field("line of the remapping file").
				Got(strconv.Quote(line[:min(len(line), 80)])).Want("'old_symbol new_symbol'").Corrupt()
		}
		if _, ok := names[from]; !ok {
			names[from] = to
		}
	}
	return func(name string) string { return cmp.Or(names[name], name) }, nil
}
