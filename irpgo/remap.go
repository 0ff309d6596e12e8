package irpgo

import (
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// A Remapping gives functions other names (LLVM's SymbolRemapper): profiles of
// a program whose functions were renamed keep their use.
type Remapping struct{ names map[string]string }

// ParseRemapping reads a remapping file: a line for each name, "OLD NEW" with
// one space between. Blank lines and those that begin with "#" do not count; of
// two lines for one name the first does. Names are PGO names, of whatever
// language: mangled, and with the file prefix of local ones.
func ParseRemapping(file string, data []byte) (*Remapping, error) {
	m := &Remapping{names: make(map[string]string)}
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
		if _, ok := m.names[from]; !ok {
			m.names[from] = to
		}
	}
	return m, nil
}

// Rename returns the new name of a function, which is the old one for those
// that the file does not name.
func (m *Remapping) Rename(name string) string {
	if to, ok := m.names[name]; ok {
		return to
	}
	return name
}
