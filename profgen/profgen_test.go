package profgen_test

import (
	"bufio"
	"bytes"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/profgen"
	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestMain(m *testing.M) { oracle.Main(m) }

func fixture(t testing.TB, name string) string {
	return filepath.Join(oracle.Root(t), "testdata", "profgen", name)
}

func open(t testing.TB, name string) *profgen.Program {
	t.Helper()
	f := oracle.Must(symbolize.Open(fixture(t, name), symbolize.Options{NoDebugFiles: true}))(t)
	t.Cleanup(func() { f.Close() })
	return oracle.Must(profgen.Open(f, profgen.Options{}))(t)
}

func counts(t testing.TB, name string, base uint64) *profgen.Counts {
	t.Helper()
	name = fixture(t, name)
	return oracle.Must(profgen.ReadUnsymbolized(name, oracle.ReadFile(t, name), base))(t)
}

// TestLines: profiles of real programs have the bytes that llvm-profgen 22 writes.
func TestLines(t *testing.T) {
	for _, name := range []string{"clang", "gcc", "flow", "aarch64"} {
		program := open(t, name)
		p := oracle.Must(program.Lines(counts(t, name+".unsym", program.Base), profgen.LineOptions{}))(t)
		for suffix, format := range map[string]sampleprof.Format{".prof": sampleprof.FormatText, ".afdo": sampleprof.FormatExtended} {
			p.Symbols = nil
			if format == sampleprof.FormatExtended {
				p.Symbols = program.Names()
			}
			var b bytes.Buffer
			oracle.NoError(t, p.Write(&b, sampleprof.WriteOptions{Format: format}))
			if want := oracle.ReadFile(t, fixture(t, name+suffix)); !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%s%s differs from llvm-profgen's:\n%s", name, suffix, b.Bytes())
			}
		}
	}
}

// TestFacts: the numbers that llvm-profgen warns about.
func TestFacts(t *testing.T) {
	for name, want := range map[string]struct {
		facts   profgen.Facts
		invalid int
		faults  profgen.Faults
	}{
		"clang":   {profgen.Facts{Functions: 11, Entries: 11}, 0, profgen.Faults{Runs: 6200}},
		"aarch64": {profgen.Facts{Functions: 11, Entries: 11}, 1, profgen.Faults{Runs: 1724, OffBoundary: 1531, NoFunction: 41, LeaveRange: 473, CrossesJumps: 876}},
	} {
		p := open(t, name)
		if invalid := p.Decode(); p.Facts != want.facts || invalid != want.invalid {
			t.Errorf("%s: %+v, %d stretches that do not decode; want %+v, %d", name, p.Facts, invalid, want.facts, want.invalid)
		}
		if f := p.Faults(counts(t, name+".unsym", p.Base)); f != want.faults {
			t.Errorf("%s: faults %+v, want %+v", name, f, want.faults)
		}
	}
}

// TestStacks: the sums of samples equal the sums that llvm-profgen 22 makes from the text of perf script.
func TestStacks(t *testing.T) {
	p := open(t, "clang")
	s := p.NewStacks()
	lines := bufio.NewScanner(bytes.NewReader(oracle.ReadFile(t, fixture(t, "short.script"))))
	for lines.Scan() {
		var stack []profgen.Span
		for _, word := range strings.Fields(lines.Text()) {
			ends := strings.Split(word, "/")
			if len(ends) < 3 || !strings.HasPrefix(word, "0x") {
				continue
			}
			from := oracle.Must(strconv.ParseUint(ends[0], 0, 64))(t)
			stack = append(stack, profgen.Span{From: from, To: oracle.Must(strconv.ParseUint(ends[1], 0, 64))(t)})
		}
		s.Add(stack, 1)
	}
	c, faults := s.Counts()
	var b bytes.Buffer
	oracle.NoError(t, c.WriteUnsymbolized(&b, p.Base))
	if want := oracle.ReadFile(t, fixture(t, "short.unsym")); !bytes.Equal(b.Bytes(), want) {
		t.Errorf("got\n%swant\n%s", b.Bytes(), want)
	}
	if want := (profgen.Faults{Runs: 930}); faults != want {
		t.Errorf("faults %+v, want %+v", faults, want)
	}
}

// TestReadRecording: so are the sums of the text itself, whose samples are all accounted for.
func TestReadRecording(t *testing.T) {
	p := open(t, "clang")
	data := oracle.ReadFile(t, fixture(t, "short.script"))
	c, account, err := p.ReadRecording("short.script", data, nil)
	oracle.NoError(t, err)
	var b bytes.Buffer
	oracle.NoError(t, c.WriteUnsymbolized(&b, p.Base))
	if want := oracle.ReadFile(t, fixture(t, "short.unsym")); !bytes.Equal(b.Bytes(), want) {
		t.Errorf("got\n%swant\n%s", b.Bytes(), want)
	}
	samples := uint64(bytes.Count(data, []byte("\n")) - 1) // without the line of the mapping
	want := profgen.Account{Samples: samples, Program: samples, Used: samples, Mapped: true, Faults: profgen.Faults{Runs: 930}}
	if !reflect.DeepEqual(*account, want) {
		t.Errorf("account %+v, want %+v", *account, want)
	}
}

// TestRecordingAgainstLLVM: the profile of a recording equals the profile that llvm-profgen makes of its text.
func TestRecordingAgainstLLVM(t *testing.T) {
	clang, llvm := oracle.Tool(t, "clang++-22"), oracle.Tool(t, "llvm-profgen-22")
	dir, root := t.TempDir(), oracle.Root(t)
	program := filepath.Join(dir, "branches")
	run := func(args ...string) {
		t.Helper()
		if _, stderr, code := oracle.Run(t, args[0], args[1:]...); code != 0 {
			t.Fatal(stderr)
		}
	}
	run(clang, "-g", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-ffile-compilation-dir=.", "-static", "-O2",
		filepath.Join(root, "testdata", "sampleprof", "src", "work.cpp"), "-o", program)
	text := filepath.Join(root, "testdata", "perf", "branches.perfscript")
	run(llvm, "--binary="+program, "--perfscript="+text, "--format=text", "--output="+filepath.Join(dir, "want"))
	want := oracle.ReadFile(t, filepath.Join(dir, "want"))
	f := oracle.Must(symbolize.Open(program, symbolize.Options{NoDebugFiles: true}))(t)
	defer f.Close()
	p := oracle.Must(profgen.Open(f, profgen.Options{}))(t)
	for _, name := range []string{text, filepath.Join(root, "testdata", "perf", "branches.perf.data")} {
		c, account, err := p.ReadRecording(name, oracle.ReadFile(t, name), nil)
		oracle.NoError(t, err)
		if account.Samples != 40 || account.Used != 40 {
			t.Errorf("%s: account %+v", name, *account)
		}
		var b bytes.Buffer
		oracle.NoError(t, oracle.Must(p.Lines(c, profgen.LineOptions{}))(t).Write(&b, sampleprof.WriteOptions{Format: sampleprof.FormatText}))
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s: got\n%swant\n%s", name, b.Bytes(), want)
		}
	}
}

// TestOptions: options change the profile in the ways they say.
func TestOptions(t *testing.T) {
	p := open(t, "clang")
	c := counts(t, "clang.unsym", p.Base)
	lines := func(opt profgen.LineOptions) *sampleprof.Profile { return oracle.Must(p.Lines(c, opt))(t) }
	plain, all := lines(profgen.LineOptions{}), lines(profgen.LineOptions{AllFunctions: true})
	if len(all.Functions) <= len(plain.Functions) {
		t.Errorf("%d functions with all, %d without", len(all.Functions), len(plain.Functions))
	}
	if trimmed := lines(profgen.LineOptions{TrimCold: true, AllFunctions: true}); len(trimmed.Functions) >= len(all.Functions) {
		t.Errorf("%d functions trimmed, %d before", len(trimmed.Functions), len(all.Functions))
	}
	for _, f := range lines(profgen.LineOptions{SumTotals: true}).Functions {
		sum := uint64(0)
		for _, s := range f.Body {
			sum += s.Count
		}
		for _, c := range f.Callsites {
			sum += c.Callee.Total
		}
		if f.Total != sum {
			t.Errorf("%s: total %d, sum of counts %d", f.Name, f.Total, sum)
		}
	}
	if d := profgen.Density(plain, profgen.HotShare); d < 1 || profgen.Density(plain, 0) != 0 {
		t.Errorf("density %f", d)
	}
}

// TestAddTo: a sum of counts is the counts of the sum, with weights.
func TestAddTo(t *testing.T) {
	c := counts(t, "clang.unsym", 0)
	sum := profgen.NewCounts()
	c.AddTo(sum, 2)
	c.AddTo(sum, 1)
	for s, n := range c.Ranges {
		if sum.Ranges[s] != 3*n {
			t.Fatalf("range %x ran %d times, want %d", s, sum.Ranges[s], 3*n)
		}
	}
	if len(sum.Branches) != len(c.Branches) {
		t.Errorf("%d branches, want %d", len(sum.Branches), len(c.Branches))
	}
}
