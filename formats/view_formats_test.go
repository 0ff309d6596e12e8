package formats_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/program/classfile"
	"github.com/profuse-pgo/profuse/profile"
)

const memprofDir = "../testdata/memprof/raw/"

type viewedFile struct {
	file   string
	format formats.Format
	opt    formats.ViewOptions
}

// viewed are files of every family.
var viewed = []viewedFile{
	{"../testdata/irpgo/clang22/ir-run1.profraw", formats.IRPGORaw, formats.ViewOptions{}},
	{"../testdata/irpgo/llvm22/merged.profdata", formats.IRPGOIndexed, formats.ViewOptions{}},
	{"../testdata/irpgo/text/values.proftext", formats.IRPGOText, formats.ViewOptions{}},
	{memprofDir + "clang22-pie.memprofraw", formats.MemProfRaw, formats.ViewOptions{Programs: []string{memprofDir + "clang22-pie.debug"}}},
	{memprofDir + "clang22-pie.profdata", formats.IRPGOIndexed, formats.ViewOptions{Programs: []string{memprofDir + "clang22-pie.debug"}}},
	{"../testdata/mip/counts.mipmap", formats.MIPMap, formats.ViewOptions{}},
	{"../testdata/mip/counts.mip", formats.MIPProfile, formats.ViewOptions{}},
	{"../testdata/mip/all.elf", formats.Binary, formats.ViewOptions{}},
	{"../testdata/sampleprof/lines.afdo", formats.SampleExtended, formats.ViewOptions{}},
	{"../testdata/iprof/fib.iprof", formats.IprofProfile, formats.ViewOptions{Classes: classfile.NewIndex(classfile.Options{})}},
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestViewFormats shows files of every family: each is of the family that was
// detected, says so, and has something to show.
func TestViewFormats(t *testing.T) {
	for _, f := range formats.All() {
		if !slices.ContainsFunc(viewed, func(c viewedFile) bool { return c.format.Family() == f.Family() }) {
			t.Errorf("no file of family %s is viewed", f.Family())
		}
	}
	for _, c := range viewed {
		data := readFile(t, c.file)
		if f, ok := formats.Detect(data); f != c.format || !ok {
			t.Errorf("%s: detected as %v", c.file, f)
		}
		v, err := formats.View(c.file, data, c.opt)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		shown := 0
		for f := range v.Functions() {
			if f.Name == "" && f.ID == 0 {
				t.Errorf("%s: a function without name", c.file)
			}
			shown++
		}
		for _, set := range v.Stacks() {
			for s := range set.ReusedStacks {
				if len(s.Frames) == 0 || len(s.Values) != len(set.Values) {
					t.Errorf("%s: stack %+v of %s", c.file, s, set.Name)
				}
				shown++
			}
		}
		// An indexed profile may hold a heap profile alone.
		families := []string{string(c.format.Family())}
		if c.format == formats.IRPGOIndexed {
			families = append(families, string(formats.MemProf))
		}
		if id := v.Identity(); shown == 0 || id.File != c.file || !slices.Contains(families, id.Family) {
			t.Errorf("%s: %d functions and stacks, %+v", c.file, shown, id)
		}
	}
}

// TestViewDamaged: half a file of a binary format, or of JSON, is an error that
// names the file and has a class.
func TestViewDamaged(t *testing.T) {
	for _, c := range viewed {
		if c.format == formats.IRPGOText || c.format == formats.Binary {
			continue // half a text is a text; a program's table of sections is at its end
		}
		data := readFile(t, c.file)
		for _, n := range []int{len(data) / 2, len(data) - 1} {
			_, err := formats.View(c.file, data[:n], c.opt)
			var fe *profile.FormatError
			if !errors.As(err, &fe) || fe.File != c.file || profile.ClassOf(err) == profile.Unreadable {
				t.Errorf("%s cut at %d of %d: %#v", c.file, n, len(data), err)
			}
		}
	}
}

// TestViewRefused: what cannot be shown on its own, or is nothing, says so.
func TestViewRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		opt  formats.ViewOptions
		want error
	}{
		{"nothing", nil, formats.ViewOptions{}, profile.ErrEmpty},
		{"of another kind", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x00"), formats.ViewOptions{}, profile.ErrUnrecognized},
		{"raw MIP", readFile(t, "../testdata/mip/counts-1.mipraw"), formats.ViewOptions{}, profile.ErrMismatch},
		{"MemProf YAML that is not", []byte("---\nHeapProfileRecords: 7\n...\n"), formats.ViewOptions{}, profile.ErrCorrupt},
		{"a program that is no program", readFile(t, memprofDir+"clang22-pie.profdata"), formats.ViewOptions{Programs: []string{"../testdata/iprof/fib.iprof"}}, profile.ErrUnrecognized},
		{"a program that is not there", readFile(t, memprofDir+"clang22-pie.memprofraw"), formats.ViewOptions{Programs: []string{"none"}}, os.ErrNotExist},
	} {
		if v, err := formats.View("f", c.data, c.opt); !errors.Is(err, c.want) || v != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}
