package command

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/program/classfile"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// tracedLines are the lines of a tracefile, "FILE:LINE", and its functions, "FILE:LINE NAME", with their counts.
func tracedLines(t *testing.T, text string) (lines, functions map[string]uint64) {
	t.Helper()
	lines, functions = make(map[string]uint64), make(map[string]uint64)
	begins := make(map[string]string)
	file := ""
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		a, b, _ := strings.Cut(value, ",")
		switch key {
		case "SF":
			file = value
		case "FN":
			begins[b] = file + ":" + a
		case "DA", "FNDA":
			at, name, number := lines, file+":"+a, b
			if key == "FNDA" {
				at, name, number = functions, begins[b]+" "+b, a
			}
			n, err := strconv.ParseUint(number, 10, 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			at[name] = n
		}
	}
	return lines, functions
}

// What a view says of lines is what the tracefiles say, line by line.
func TestViewLinesAreThoseOfLCOV(t *testing.T) {
	root := oracle.Root(t)
	shapes := filepath.Join(root, "internal", "command", "testdata", "mip", "shapes")
	mipFile := filepath.Join(t.TempDir(), "shapes.mip")
	profuseOutput(t, "merge", "-o", mipFile, shapes+".elf", shapes+"-1.mipraw", shapes+"-2.mipraw")
	app := filepath.Join(root, "testdata", "iprof", "app.iprof")
	classes := filepath.Join(root, "testdata", "iprof", "app", "classes")
	index := classfile.NewIndex(classfile.Options{})
	if err := index.Add(classes); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file string
		opt        formats.ViewOptions
		lcov       []string
		lines      int // at least
	}{
		{
			"MIP", mipFile,
			formats.ViewOptions{Programs: []string{shapes + ".elf"}},
			[]string{"export", "-q", "--to", "lcov", "--program", shapes + ".elf", mipFile},
			15,
		},
		{
			"iprof", app,
			formats.ViewOptions{Classes: index},
			[]string{"export", "-q", "--to", "lcov", "--classes", classes, app},
			15,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantLines, wantFunctions := tracedLines(t, profuseOutput(t, c.lcov...))
			data := oracle.ReadFile(t, c.file)
			c.opt.Warn = func(w profile.Warning) { t.Error(w) }
			v, err := formats.View(c.file, data, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			lines, functions := make(map[string]uint64), make(map[string]uint64)
			for l := range v.(profile.LineView).Lines() {
				at := l.File + ":" + strconv.Itoa(int(l.Number))
				lines[at] = max(lines[at], l.Count)
			}
			for f := range v.Functions() {
				if f.StartLine > 0 {
					calls := f.Calls
					if f.Covered {
						calls = max(calls, 1)
					}
					functions[f.File+":"+strconv.Itoa(int(f.StartLine))+" "+f.Name+f.Signature] += calls
				}
			}
			if diff := cmp.Diff(wantLines, lines); diff != "" || len(lines) < c.lines {
				t.Errorf("%d lines; tracefile and view (-/+):\n%s", len(lines), diff)
			}
			if diff := cmp.Diff(wantFunctions, functions); diff != "" {
				t.Errorf("functions of the tracefile and the view (-/+):\n%s", diff)
			}
		})
	}
}
