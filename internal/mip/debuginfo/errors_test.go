package debuginfo_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/blocks"
	"github.com/profuse-pgo/profuse/internal/mip/debuginfo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// shapesFile is a program with debug information.
const shapesFile = "../../command/testdata/mip/shapes.elf"

// opened opens a program and reads the map in it.
func opened(t *testing.T, name string) (*debuginfo.Program, *mip.Profile) {
	t.Helper()
	data := oracle.ReadFile(t, name)
	functions, _, err := mip.FindMap(name, data, "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := mip.Read(name, functions, nil)
	if err != nil {
		t.Fatal(err)
	}
	program, err := openProgram(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.File().Close() })
	return program, p
}

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

// TestNothingToExpand: without block coverage there are no blocks to infer.
func TestNothingToExpand(t *testing.T) {
	program, p := opened(t, shapesFile)
	calls := p.Clone()
	calls.Type &^= mip.BlockCoverage
	if got, err := program.Expand(calls); err != nil || got != calls {
		t.Errorf("%v, another profile: %v", err, got != calls)
	}
}

// TestDamagedBlocks: a table of blocks that is damaged, cut short or of another
// program says so, with the program's name.
func TestDamagedBlocks(t *testing.T) {
	whole, err := os.ReadFile(shapesFile)
	if err != nil {
		t.Fatal(err)
	}
	program, p := opened(t, shapesFile)
	at := program.File().Section(blocks.Section).Offset
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
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		damaged, err := openProgram(file)
		if err != nil {
			t.Fatal(err)
		}
		full, err := damaged.Expand(p)
		var fe *profile.FormatError
		if full != nil || !errors.As(err, &fe) || profile.ClassOf(fe) != tc.class || fe.File != file || fe.Field != tc.field {
			t.Errorf("%s: %+v", tc.what, err)
		}
		if err := damaged.File().Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNoFrames: no frames have no source.
func TestNoFrames(t *testing.T) {
	if at := debuginfo.Innermost(nil); at != (mip.Place{}) {
		t.Errorf("%+v", at)
	}
}
