package irpgo

import (
	"fmt"
	"io"
	"testing"

	"github.com/profuse-pgo/profuse/test/fulldisk"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestFullDisk: whenever a disk is full, the writers say so, and what is on it is the beginning of the file.
func TestFullDisk(t *testing.T) {
	for _, name := range []string{"llvm22-temporal", "values", "bitmaps"} {
		data := oracle.ReadFile(t, "../../testdata/irpgo/text/"+name+".proftext")
		p := readProfile(t, name, data, ReaderOptions{})
		writers := map[string]func(io.Writer) error{
			"text": func(w io.Writer) error { return WriteText(w, p, TextOptions{}) },
		}
		for _, version := range []uint32{4, 9, IndexedVersionMax} {
			writers[fmt.Sprint("indexed ", version)] = func(w io.Writer) error {
				return WriteIndexed(w, p, IndexedOptions{Version: version})
			}
		}
		for kind, write := range writers {
			fulldisk.Check(t, fmt.Sprintf("%s as %s", name, kind), write)
		}
	}
}
