package driver

import (
	"bytes"
	"fmt"
	"os"

	"github.com/profuse-pgo/profuse/internal/mip/instrument"
)

// reporter appends the functions that are not instrumented, or not laid out, to
// a file, one a line:
//
//	SOURCE TAB FUNCTION TAB REASON
//
// where FUNCTION is empty for whole files. Many processes append to one file.
type reporter struct {
	file string // "" for none
}

// skipped reports the functions of a file that have no probes, or none in
// their blocks.
func (r *reporter) skipped(source string, rep *instrument.Report) error {
	var b bytes.Buffer
	for i := range rep.Functions {
		f := &rep.Functions[i]
		switch {
		case f.Skipped != "":
			fmt.Fprintf(&b, "%s\t%s\t%s\n", source, f.Name, f.Skipped)
		case f.BlocksSkipped != "":
			fmt.Fprintf(&b, "%s\t%s\tno block probes: %s\n", source, f.Name, f.BlocksSkipped)
		}
	}
	return r.append(b.Bytes())
}

// left reports the functions of a file that a profile does not place, and those
// whose cold blocks stay.
func (r *reporter) left(source string, rep *instrument.UseReport) error {
	var b bytes.Buffer
	for i := range rep.Functions {
		f := &rep.Functions[i]
		switch {
		case f.Left != "":
			fmt.Fprintf(&b, "%s\t%s\t%s\n", source, f.Name, f.Left)
		case f.NotSplit != "":
			fmt.Fprintf(&b, "%s\t%s\tnot split: %s\n", source, f.Name, f.NotSplit)
		}
	}
	return r.append(b.Bytes())
}

// passed reports a file that passes through unchanged.
func (r *reporter) passed(source, reason string) error {
	return r.append(fmt.Appendf(nil, "%s\t\t%s\n", source, reason))
}

func (r *reporter) append(lines []byte) error {
	if r.file == "" || len(lines) == 0 {
		return nil
	}
	f, err := os.OpenFile(r.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	// A single write keeps the lines of parallel builds apart.
	_, err = f.Write(lines)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
