package debuginfo_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/blocks"
	"github.com/profuse-pgo/profuse/internal/mip/debuginfo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestOpenErrors: what is not the program that was profiled is refused.
func TestOpenErrors(t *testing.T) {
	for name, want := range map[string]error{
		"../../../testdata/none":                          fs.ErrNotExist,
		"../../../testdata/mip/counts.mip":                profile.ErrUnrecognized,
		"../../../testdata/symbolize/fixtures/cpp-dwarf5": profile.ErrMismatch,
	} {
		p, err := openProgram(name)
		if !errors.Is(err, want) || !strings.Contains(err.Error(), name) || p != nil {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

// TestDamagedBlocks: a table of blocks that is damaged, cut short or of another
// program says so, with the program's name.
func TestDamagedBlocks(t *testing.T) {
	whole, p := oracle.ReadFile(t, shapes(t)), emptyProfile(t, shapes(t))
	at := open(t, shapes(t)).File().Section(blocks.Section).Offset
	for _, tc := range []struct {
		what   string
		offset int64
		value  byte
		class  error
		field  string
	}{
		{"magic", at, 0xff, profile.ErrUnrecognized, "magic"},
		{"version", at + 4, 0xff, profile.ErrUnsupported, "version and address width"},
		{"module", at + 8, whole[at+8] ^ 1, profile.ErrMismatch, "ModuleHash"},
	} {
		data := append([]byte(nil), whole...)
		data[tc.offset] = tc.value
		file := filepath.Join(t.TempDir(), "app")
		oracle.WriteFile(t, file, data)
		full, err := open(t, file).Expand(p)
		var fe *profile.FormatError
		if full != nil || !errors.As(err, &fe) || profile.ClassOf(fe) != tc.class || fe.File != file || fe.Field != tc.field {
			t.Errorf("%s: %+v", tc.what, err)
		}
	}
}

// TestNoFrames: no frames have no source.
func TestNoFrames(t *testing.T) {
	if at := debuginfo.Innermost(nil); at != (mip.Source{}) {
		t.Errorf("%+v", at)
	}
}
