package formats_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/program/classfile"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

const memprofDir = "../testdata/memprof/raw/"

// viewedFiles calls check for each file of oracle.Families that has a view.
func viewedFiles(t *testing.T, check func(t *testing.T, file string, opt formats.ViewOptions)) {
	families := oracle.Families(t)
	for _, f := range formats.All() {
		if _, ok := families[string(f.Family())]; !ok {
			t.Errorf("no file of family %s is viewed", f.Family())
		}
	}
	for _, family := range families {
		var opt formats.ViewOptions
		switch family.Name {
		case string(formats.MIP): // its programs are maps, which views do not take
		case string(formats.Iprof):
			opt.Classes = classfile.NewIndex(classfile.Options{})
		default:
			opt.Programs = family.Programs
		}
		for _, file := range family.Views {
			t.Run(filepath.Base(file), func(t *testing.T) { check(t, file, opt) })
		}
	}
}

// TestViewFormats shows files of every family: each is of the family that was
// detected, says so, and has something to show.
func TestViewFormats(t *testing.T) {
	viewedFiles(t, func(t *testing.T, file string, opt formats.ViewOptions) {
		data := oracle.ReadFile(t, file)
		format, ok := formats.Detect(data)
		if named, hasName := formats.BySuffix(file); !ok || hasName && named != format {
			t.Errorf("detected as %v, named like %v", format, named)
		}
		v, err := formats.View(file, data, opt)
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		for f := range v.Functions() {
			if f.Name == "" && f.ID == 0 {
				t.Error("a function without name")
			}
			shown++
		}
		for _, set := range v.Stacks() {
			for s := range set.ReusedStacks {
				if len(s.Frames) == 0 || len(s.Values) != len(set.Values) {
					t.Errorf("stack %+v of %s", s, set.Name)
				}
				shown++
			}
		}
		// An indexed profile may hold a heap profile alone.
		families := []string{string(format.Family())}
		if format == formats.IRPGOIndexed {
			families = append(families, string(formats.MemProf))
		}
		if id := v.Identity(); shown == 0 || id.File != file || !slices.Contains(families, id.Family) {
			t.Errorf("%d functions and stacks, %+v", shown, id)
		}
	})
}

// TestViewDamaged: half a file of a binary format, or of JSON, is an error that names the file and has a class.
func TestViewDamaged(t *testing.T) {
	viewedFiles(t, func(t *testing.T, file string, opt formats.ViewOptions) {
		data := oracle.ReadFile(t, file)
		format, _ := formats.Detect(data)
		if format != formats.IprofProfile && format.Describe().IsText || format == formats.Binary {
			t.Skip("half a text is a text; a program's table of sections is at its end")
		}
		for _, n := range []int{len(data) / 2, len(data) - 1} {
			_, err := formats.View(file, data[:n], opt)
			var fe *profile.FormatError
			if !errors.As(err, &fe) || fe.File != file || profile.ClassOf(err) == profile.Unreadable {
				t.Errorf("cut at %d of %d: %#v", n, len(data), err)
			}
		}
	})
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
		{"raw MIP", oracle.ReadFile(t, "../testdata/mip/counts-1.mipraw"), formats.ViewOptions{}, profile.ErrMismatch},
		{"MemProf YAML that is not", []byte("---\nHeapProfileRecords: 7\n...\n"), formats.ViewOptions{}, profile.ErrCorrupt},
		{"a program that is no program", oracle.ReadFile(t, memprofDir+"clang22-pie.profdata"), formats.ViewOptions{Programs: []string{"../testdata/iprof/fib.iprof"}}, profile.ErrUnrecognized},
		{"a program that is not there", oracle.ReadFile(t, memprofDir+"clang22-pie.memprofraw"), formats.ViewOptions{Programs: []string{"none"}}, os.ErrNotExist},
	} {
		if v, err := formats.View("f", c.data, c.opt); !errors.Is(err, c.want) || v != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}
