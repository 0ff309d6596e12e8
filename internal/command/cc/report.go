package cc

import (
	"cmp"
	"fmt"
	"os"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
)

// A reporter appends the functions that are not instrumented, or not laid out, or with
// assumptions, to a file, one a line:
//
//	SOURCE TAB FUNCTION TAB REASON
//
// where FUNCTION is empty for whole files. Many processes append to one file.
type reporter struct {
	file string // "" for none
}

// instrumented reports the functions of a source that have no probes, or none in
// their blocks, or fewer because calls were assumed to return.
func (r *reporter) instrumented(source string, functions []instrument.FunctionReport) error {
	var lines []byte
	for _, f := range functions {
		switch {
		case f.Skipped != "":
			lines = appendLine(lines, source, f.Name, f.Skipped)
		case f.BlocksSkipped != "":
			lines = appendLine(lines, source, f.Name, "no block probes: "+f.BlocksSkipped)
		case f.Assumed > 0:
			lines = appendLine(lines, source, f.Name, asm.Reason(fmt.Sprintf("assumed that %d calls return", f.Assumed)))
		}
	}
	return r.append(lines)
}

// laidOut reports the functions of a source that a profile does not place, and the functions whose
// cold blocks stay in place.
func (r *reporter) laidOut(source string, functions []instrument.FunctionUse) error {
	var lines []byte
	for _, f := range functions {
		switch {
		case f.Left != "":
			lines = appendLine(lines, source, f.Name, f.Left)
		case f.NotSplit != "":
			lines = appendLine(lines, source, f.Name, "not split: "+f.NotSplit)
		}
	}
	return r.append(lines)
}

// passed reports a file that passes through unchanged.
func (r *reporter) passed(source string, reason asm.Reason) error {
	return r.append(appendLine(nil, source, "", reason))
}

func appendLine(lines []byte, source, function string, reason asm.Reason) []byte {
	return fmt.Appendf(lines, "%s\t%s\t%s\n", source, function, reason)
}

func (r *reporter) append(lines []byte) error {
	if r.file == "" || len(lines) == 0 {
		return nil
	}
	f, err := os.OpenFile(r.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(lines) // a single write keeps the lines of parallel builds apart
	return cmp.Or(err, f.Close())
}
