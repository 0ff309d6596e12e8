package irpgo

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"testing"
)

// TestRecordsStayValid: records are not overwritten while the walk goes on, and those that are reused are the same.
func TestRecordsStayValid(t *testing.T) {
	for _, file := range []string{"clang22/ir-run1.profraw", "llvm22/merged.profdata", "text/llvm22-vtable.proftext"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "irpgo", file))
		if err != nil {
			t.Fatal(err)
		}
		walk := func(records func(*Reader) iter.Seq2[*Record, error], each func(*Record)) {
			r, err := NewReader(file, data, ReaderOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for rec, err := range records(r) {
				if err != nil {
					t.Fatal(err)
				}
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
