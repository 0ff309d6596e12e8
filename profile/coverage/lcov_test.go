package coverage_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
	"github.com/profuse-pgo/profuse/test/alike"
	"github.com/profuse-pgo/profuse/test/fulldisk"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func tracefile(t *testing.T, v profile.View, opt coverage.WriteOptions) string {
	t.Helper()
	var b bytes.Buffer
	oracle.NoError(t, coverage.Write(&b, coverage.Collect(v, nil), "lcov", opt))
	return b.String()
}

const everythingTraced = `TN:
SF:src/lib/h.h
FN:2,inl
FNDA:1,inl
FNF:1
FNH:1
DA:3,18446744073709551615
LF:1
LH:1
end_of_record
TN:
SF:src/x.c
FN:3,b
FN:10,a
FNDA:1,b
FNDA:7,a
FNF:2
FNH:2
BRDA:4,0,0,18446744073709551615
BRDA:12,0,0,-
BRDA:12,0,1,-
BRDA:12,1,0,0
BRDA:12,1,1,7
BRF:5
BRH:2
DA:10,0
DA:12,6
LF:2
LH:1
end_of_record
`

// TestLCOV: instances of one function are one, branches of a line are numbered,
// and a branch that was never reached has no counts.
func TestLCOV(t *testing.T) {
	alike.Values(t, "(-want +got)", everythingTraced, tracefile(t, everything(), coverage.WriteOptions{}))
}

// TestLCOVNames: names are those asked for, overloads are told apart, also in the number of functions if they get one
// name, and no name or path begins a record of its own.
func TestLCOVNames(t *testing.T) {
	v := &madeView{functions: []profile.Function{
		{Symbol: profile.Symbol{Name: "f", Signature: "(I)V", File: "A.java", StartLine: 3}, Calls: 2, Covered: true},
		{Symbol: profile.Symbol{Name: "f", Signature: "(J)V", File: "A.java", StartLine: 2}},
		{Symbol: profile.Symbol{ID: 0xab, File: "A.java", StartLine: 9}},
		{Symbol: profile.Symbol{Name: "x\nend_of_record\r", File: "b\nSF:c", StartLine: 1}},
	}}
	want := `TN:
SF:A.java
FN:2,f(J)V
FN:3,f(I)V
FN:9,0x00000000000000ab
FNDA:0,f(J)V
FNDA:2,f(I)V
FNDA:0,0x00000000000000ab
FNF:3
FNH:1
end_of_record
TN:
SF:b\nSF:c
FN:1,x\nend_of_record\r
FNDA:0,x\nend_of_record\r
FNF:1
FNH:0
end_of_record
`
	alike.Values(t, "(-want +got)", want, tracefile(t, v, coverage.WriteOptions{}))
	named := tracefile(t, v, coverage.WriteOptions{Name: func(s *profile.Symbol) string { return s.Name + "\n" }})
	if !strings.HasPrefix(named, "TN:\nSF:A.java\nFN:2,f\\n\nFN:9,\\n\nFNDA:2,f\\n\nFNDA:0,\\n\nFNF:3\nFNH:1\n") {
		t.Errorf("one name for all:\n%s", named)
	}
}

func TestLCOVFailingWriter(t *testing.T) {
	if err := coverage.Write(&fulldisk.Writer{}, coverage.Collect(everything(), nil), "lcov", coverage.WriteOptions{}); !errors.Is(err, fulldisk.ErrFull) {
		t.Error(err)
	}
}

// TestLCOVReaders: lcov and genhtml take the tracefile and count the same.
func TestLCOVReaders(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		oracle.WriteFile(t, path, []byte(text))
	}
	// The tools know counts up to 2^53.
	text := strings.ReplaceAll(everythingTraced, "18446744073709551615", "9007199254740992")
	write("all.info", strings.ReplaceAll(text, "SF:", "SF:"+filepath.ToSlash(dir)+"/"))
	write("src/x.c", strings.Repeat("line\n", 20))
	write("src/lib/h.h", strings.Repeat("line\n", 5))
	info := filepath.Join(dir, "all.info")
	for tool, args := range map[string][]string{
		"lcov":    {"--summary", info, "--rc", "lcov_branch_coverage=1"},
		"genhtml": {"--branch-coverage", "-o", filepath.Join(dir, "html"), info},
	} {
		stdout, stderr, code := oracle.Run(t, oracle.Tool(t, tool), args...)
		for _, want := range []string{"(2 of 3 lines)", "(3 of 3 functions)", "(2 of 5 branches)"} {
			if code != 0 || !strings.Contains(stdout, want) {
				t.Errorf("%s: exit code %d, want %q in\n%s%s", tool, code, want, stdout, stderr)
			}
		}
	}
}

// TestUnusualTracefiles: what tools write, and how it is written again.
func TestUnusualTracefiles(t *testing.T) {
	for _, c := range []struct{ what, in, want string }{
		{"checksums", "DA:1,0,MQ2bqCqiBhOXBCkz DA:2,3,abcd", "FNF:0 FNH:0 DA:1,0 DA:2,3 LF:2 LH:1"},
		{"names with commas", "FN:3,f(int,char) FN:9,f(int,long) FNDA:2,f(int,char) FNDA:0,f(int,long)", "FN:3,f(int,char) FN:9,f(int,long) FNDA:2,f(int,char) FNDA:0,f(int,long) FNF:2 FNH:1"},
		{"branches of exceptions and with expressions", "BRDA:2,e0,0,- BRDA:2,0,x>3,4 BRDA:2,0,1,2", "FNF:0 FNH:0 BRDA:2,0,0,- BRDA:2,1,0,4 BRDA:2,1,1,2 BRF:3 BRH:2"},
		{"counts below zero", "DA:1,-1", "FNF:0 FNH:0 DA:1,0 LF:1 LH:0"},
		{"exponents and fractions", "DA:1,1e3 DA:2,2.5", "FNF:0 FNH:0 DA:1,1000 DA:2,2 LF:2 LH:2"},
		{"a line twice", "DA:2,3 DA:2,4", "FNF:0 FNH:0 DA:2,7 LF:1 LH:1"},
		{"functions of lcov 2.2", "FNL:0,1,4 FNA:0,7,f", "FN:1,f FNDA:7,f FNF:1 FNH:1"},
		{"wrong totals", "DA:1,1 LF:9 LH:7", "FNF:0 FNH:0 DA:1,1 LF:1 LH:1"},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			text := strings.ReplaceAll("TN: SF:a.c "+c.in+" end_of_record ", " ", end)
			got, err := coverage.ReadLCOV("x.info", []byte(text))
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
				continue
			}
			var b bytes.Buffer
			oracle.NoError(t, coverage.Write(&b, got, "lcov", coverage.WriteOptions{}))
			want := strings.ReplaceAll("TN: SF:a.c "+c.want+" end_of_record ", " ", "\n")
			if b.String() != want {
				t.Errorf("%s: %q\nwant %q", c.what, b.String(), want)
			}
		}
	}
	if _, err := coverage.ReadLCOV("x.info", []byte("TN:\nSF:a.c\nDA:1,1\nend_of_record\nSF:b.c\nDA:1,0\n")); !errors.Is(err, profile.ErrTruncated) {
		t.Errorf("cut off: %v", err)
	}
}

// TestReadTests: sections keep the names of their tests; an error of the caller ends it.
func TestReadTests(t *testing.T) {
	const text = "TN:one\nSF:a.c\nDA:1,1\nend_of_record\nTN:two\nSF:a.c\nDA:1,2\nend_of_record\nSF:b.c\nDA:1,0\nend_of_record\nTN:\nSF:a.c\nDA:2,0\nend_of_record\n"
	var got []string
	err := coverage.ReadTests("x.info", []byte(text), func(test string, f *coverage.File) error {
		got = append(got, fmt.Sprint(test, " ", f.Path, f.Lines))
		return nil
	})
	want := []string{"one a.c[{1 1}]", "two a.c[{1 2}]", "two b.c[{1 0}]", " a.c[{2 0}]"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if err := coverage.ReadTests("x.info", []byte(text), func(string, *coverage.File) error { return fulldisk.ErrFull }); !errors.Is(err, fulldisk.ErrFull) {
		t.Errorf("%v", err)
	}
	marked := []byte("\xef\xbb\xbf" + text) // as shells of Windows write it
	if c, err := coverage.ReadLCOV("x.info", marked); !coverage.IsLCOV(marked) || err != nil || len(c.Files) != 2 {
		t.Errorf("with a byte order mark: %v, %v", c, err)
	}
	if _, err := coverage.ReadLCOV("x.info", []byte("TN:\nSF:\nDA:1,1\nend_of_record\n")); err == nil || !strings.Contains(err.Error(), "line 2: SF is empty") {
		t.Errorf("without a source file: %v", err)
	}
	c, err := coverage.ReadLCOV("x.info", []byte(text))
	if err != nil || len(c.Files) != 2 || c.Total.Lines != (coverage.Ratio{Total: 3, Covered: 1}) {
		t.Errorf("%v, %v", c, err)
	}
}
