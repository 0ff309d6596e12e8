package irpgo

import (
	"fmt"
	"iter"
	"path/filepath"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestRecordsStayValid: records are not overwritten while the walk goes on, and those that are reused are the same.
func TestRecordsStayValid(t *testing.T) {
	for _, file := range []string{"clang22/ir-run1.profraw", "llvm22/merged.profdata", "text/llvm22-vtable.proftext"} {
		data := oracle.ReadFile(t, filepath.Join("..", "..", "testdata", "irpgo", file))
		walk := func(records func(*Reader) iter.Seq2[*Record, error], each func(*Record)) {
			r := openReader(t, file, data, ReaderOptions{})
			for rec, err := range records(r) {
				must(t, err)
				each(rec)
			}
		}
		var kept []*Record
		var was []string
		walk((*Reader).Records, func(rec *Record) { kept = append(kept, rec) })
		walk((*Reader).ReusedRecords, func(rec *Record) { was = append(was, fmt.Sprintf("%+v", *rec)) })
		if len(kept) < 10 || len(kept) != len(was) {
			t.Fatalf("%s: %d records, %d reused ones", file, len(kept), len(was))
		}
		for i, rec := range kept {
			if is := fmt.Sprintf("%+v", *rec); is != was[i] {
				t.Errorf("%s: record %d is %s, was %s", file, i, is, was[i])
			}
		}
	}
}
