package report

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// locatedView has a function with a line, which makes a page of coverage.
func locatedView() *madeView {
	return &madeView{
		identity: profile.Identity{File: "located.profdata"}, features: profile.Features{Calls: true},
		functions: []profile.Function{{Symbol: profile.Symbol{Name: "f", File: "f.c", StartLine: 1}, Calls: 1, Covered: true}},
	}
}

// A page that cannot be made is named, with its profile, and nothing is written.
func TestPageFails(t *testing.T) {
	missing := Options{SourceDirs: []string{filepath.Join(t.TempDir(), "nonesuch")}}
	sources := []Source{{View: locatedView()}}
	var out bytes.Buffer
	err := Write(&out, sources, missing)
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "page coverage of located.profdata: folder of sources: ") || out.Len() > 0 {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
	// Served, the other pages are there.
	h, err := Handler(sources, missing)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"/": 200, "/page/0/overview": 200, "/tab/0/functions": 200, "/page/0/coverage": 500, "/tab/0/coverage": 500, "/report.html": 500,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "localhost"
		h.ServeHTTP(w, r)
		if w.Code != want || want == 500 && !strings.Contains(w.Body.String(), "page coverage of located.profdata: ") {
			t.Errorf("%s: %d, want %d: %.200s", path, w.Code, want, w.Body)
		}
	}
}

// What the writer says is what Write says.
func TestWriterFails(t *testing.T) {
	r, w := io.Pipe()
	gone := errors.New("gone")
	r.CloseWithError(gone)
	if err := Write(w, []Source{{View: locatedView()}}, Options{}); !errors.Is(err, gone) {
		t.Error(err)
	}
}

// An interrupt ends the work at any page, that of a comparison too.
func TestProgressEndsComparison(t *testing.T) {
	stop := errors.New("stop")
	var pages []string
	err := Write(io.Discard, []Source{{View: locatedView()}, {View: locatedView()}}, Options{Progress: func(label, page string) error {
		pages = append(pages, page)
		if label == "Comparison" {
			return stop
		}
		return nil
	}})
	if !errors.Is(err, stop) || len(pages) != 2*len(pageFuncs)+1 || pages[len(pages)-1] != "comparison" {
		t.Errorf("%v after %q", err, pages)
	}
}

// An interrupt before any page ends the work, though other pages wait for that one.
func TestProgressEndsAnywhere(t *testing.T) {
	stop := errors.New("stop")
	for last := range pageFuncs {
		begun := 0
		var out bytes.Buffer
		err := Write(&out, []Source{{View: locatedView()}}, Options{Progress: func(string, string) error {
			if begun++; begun > last {
				return stop
			}
			return nil
		}})
		if !errors.Is(err, stop) || begun != last+1 || out.Len() > 0 {
			t.Errorf("stopped at page %d of %d: %v, %d bytes", begun, last+1, err, out.Len())
		}
	}
}

// Of too much coverage the files in which most ran stay, and the rest is counted.
func TestCoverageLimits(t *testing.T) {
	const extraFiles, extraFunctions, extraLines = 7, 5, 3
	most := coverageLimits{files: 30, functions: 200, lines: 100}
	v := &madeView{features: profile.Features{Calls: true}}
	add := func(file string, line int, ran bool) {
		v.functions = append(v.functions, profile.Function{Symbol: profile.Symbol{Name: "f", File: file, StartLine: int32(line)}, Covered: ran})
	}
	for i := range most.functions - extraFunctions {
		add("most.c", i+1, true)
	}
	for i := range most.files - 1 + extraFiles {
		add(fmt.Sprintf("%05d.c", i), 1, false)
	}
	lined := &linedView{madeView: v}
	for i := range most.lines + extraLines {
		lined.lines = append(lined.lines, profile.Line{File: "most.c", Number: uint32(i + 1), Count: 1})
	}
	lined.lines = append(lined.lines, profile.Line{File: "00000.c", Number: 1})
	c := collectCoverage(newSource(0, Source{View: lined}, Options{}), most)
	functions, lines := 0, 0
	for _, f := range c.files {
		functions += len(f.Functions)
		lines += len(f.Lines)
	}
	if len(c.files) != most.files || functions != most.functions || lines != 1 {
		t.Errorf("%d files, %d functions and %d lines are listed", len(c.files), functions, lines)
	}
	if left := most.files - 1 - extraFunctions; c.FilesOmitted != extraFiles || c.FunctionsOmitted != left || c.LinesOmitted != most.lines+extraLines {
		t.Errorf("%d files, %d functions and %d lines are left out", c.FilesOmitted, c.FunctionsOmitted, c.LinesOmitted)
	}
}

// Lists without an end in the profile have one on the page.
func TestLongLists(t *testing.T) {
	v := locatedView()
	for i := range maxStaticRows + 3 {
		v.identity.BuildIDs = append(v.identity.BuildIDs, []byte{0xab, byte(i)})
	}
	p, err := overviewPage(made(v))
	if err != nil {
		t.Fatal(err)
	}
	wantOnPage(t, "build ids", p, hex.EncodeToString(v.identity.BuildIDs[maxStaticRows-1])+", and 3 more<")

	deep := func(value uint64) *source {
		s := profile.Stack{Values: []uint64{value}}
		for _, symbol := range symbolsOf("f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9") {
			s.Frames = append(s.Frames, profile.Frame{Symbol: symbol})
		}
		other := profile.Stack{Values: []uint64{1}, Frames: s.Frames[:1]}
		return made(&madeView{sets: []madeSet{{
			StackSet: profile.StackSet{Name: "allocations", Values: []profile.ValueType{{Name: "bytes", Unit: profile.Bytes}}},
			stacks:   []profile.Stack{s, other},
		}}})
	}
	_, _, names := compared(t, deep(1), deep(9))
	if want := "f0 < f1 < f2 < f3 < f4 < f5 < f6 < f7 < 2 more"; !slices.Contains(names.Keys, want) {
		t.Errorf("no stack is called %q: %q", want, names.Keys)
	}
}
