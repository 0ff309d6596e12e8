package irpgo

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// ParseRemapping reads a remapping file and returns what renames functions by it
// (LLVM's SymbolRemapper): profiles of a program whose functions were renamed keep
// their use. Functions that the file does not name keep their names.
//
// The file has a line for each name, "OLD NEW" with one space between. Blank lines
// and those that begin with "#" do not count; of two lines for one name the first
// does. Names are PGO names, of whatever language: mangled, and with the file
// prefix of local ones.
func ParseRemapping(file string, data []byte) (rename func(name string) string, err error) {
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
