package irpgo

import (
	"errors"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/oracle"
	"github.com/profuse-pgo/profuse/profile"
)

// TestCheckFixtures: what the real tools wrote has no findings, but for known
// ones; what they refuse has.
func TestCheckFixtures(t *testing.T) {
	for _, f := range oracle.Fixtures(t) {
		rep := Check(f.Path, f.Bytes(t))
		for _, err := range rep.Findings {
			var fe *profile.FormatError
			if !errors.As(err, &fe) || fe.File != f.Path {
				t.Errorf("%s: finding without a place: %v", f.Path, err)
			}
		}
		// LLVM 19 and before sum a front-end record whose hash has bit 60 set
		// up as context-sensitive and then drop that summary.
		lost := f.Format == "indexed" && len(rep.Findings) > 0 && strings.Contains(rep.Findings[0].Error(), "summary") && !rep.Info.Variant.Has(IRLevel)
		if f.Format == "indexed" && len(f.ReadableBy) > 0 && len(rep.Findings) > 0 && !lost {
			t.Errorf("%s: %v", f.Path, rep.Findings)
		}
		if len(f.ReadableBy) == 0 && len(rep.Findings) == 0 && f.Variant != "huge" && !strings.HasPrefix(f.Path, "text/") {
			t.Errorf("%s, which no tool reads, has no findings", f.Path)
		}
	}
}

// TestCheckSummary: a summary that does not fit its records is found.
func TestCheckSummary(t *testing.T) {
	b := newRawBuild(10, 8, le, IRLevel)
	file := mergeBytes(t, 13, b.build())
	if rep := Check("f", file); len(rep.Findings) != 0 || rep.Records != 4 {
		t.Fatalf("%+v", rep)
	}
	const totalCount = 9*8 + 16 + 5*8 // header, counts of the summary, fields before
	file[totalCount]++
	rep := Check("f", file)
	if len(rep.Findings) != 1 || !strings.Contains(rep.Findings[0].Error(), "f: summary: total count is ") {
		t.Errorf("findings: %v", rep.Findings)
	}
}
