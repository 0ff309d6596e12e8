package sampleprof

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// fixtures returns the profiles of testdata/sampleprof by name.
func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	dir := filepath.Join(oracle.Root(t), "testdata", "sampleprof")
	entries := oracle.Must(os.ReadDir(dir))(t)
	files := make(map[string][]byte)
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == ".afdo" || ext == ".prof" {
			files[e.Name()] = oracle.ReadFile(t, filepath.Join(dir, e.Name()))
		}
	}
	files["partial.afdo"] = partialFixture(t, files["calls-probes.afdo"])
	return files
}

// TestFixtures: each binary file reads like the text that llvm-profdata made from it.
func TestFixtures(t *testing.T) {
	files := fixtures(t)
	tested := 0
	for name, data := range files {
		base, ok := strings.CutSuffix(name, ".afdo")
		want := files[base+".prof"]
		if !ok || want == nil {
			continue
		}
		tested++
		if got := mustWrite(t, mustRead(t, data), WriteOptions{Format: FormatText}); !bytes.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	if tested < 6 {
		t.Errorf("%d profiles tested", tested)
	}
	lines := mustRead(t, files["lines.afdo"])
	for name, format := range map[string]Format{
		"lines.afdo": FormatExtended, "lines-binary.prof": FormatBinary, "lines-compact.prof": FormatCompact,
		"lines-md5.afdo": FormatExtended, "lines.prof": FormatText,
	} {
		if got, ok := Detect(files[name]); !ok || got != format {
			t.Errorf("%s: %s", name, got)
		}
		p := mustRead(t, files[name])
		if len(p.Functions) != len(lines.Functions) || !reflect.DeepEqual(p.Summarize(), lines.Summarize()) {
			t.Errorf("%s: %d functions, %+v", name, len(p.Functions), p.Summarize())
		}
		if p.Summary != nil && !reflect.DeepEqual(p.Summary, p.Summarize()) {
			t.Errorf("%s: summary %+v, want %+v", name, p.Summary, p.Summarize())
		}
		for _, want := range lines.Functions {
			if f := p.toMap().find(want.Name.ID); f == nil || f.Total != want.Total || len(f.Body) != len(want.Body) {
				t.Errorf("%s: %s is %v", name, want.Name, f)
			}
		}
	}
}

// TestRoundTrip: a written profile reads back the same, in every encoding.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(60) {
		kind := kinds[seed%uint64(len(kinds))]
		p := mustRead(t, randomText(seed, int(seed%40)+1, kind, seed%2 == 0))
		p.addSymbols("b", "a", "b")
		want := mustWrite(t, p, WriteOptions{Format: FormatText})
		for _, opt := range []WriteOptions{
			{Format: FormatText},
			{Format: FormatText, Split: true},
			{VTables: true},
			{VTables: true, Compress: true},
			{VTables: true, Split: true},
			{Format: FormatBinary},
		} {
			var b bytes.Buffer
			err := p.Write(&b, opt)
			if opt.Format == FormatBinary && (kind.ContextSensitive || kind.ProbeBased) || opt.Format != FormatText && opt.Split && kind.ContextSensitive {
				if !errors.Is(err, profile.ErrUnsupported) {
					t.Errorf("%s, %+v: %v", kind, opt, err)
				}
				continue
			}
			oracle.NoError(t, err)
			q := mustRead(t, b.Bytes())
			if opt.Format == FormatBinary && seed%2 == 0 {
				continue // virtual tables are lost
			}
			if got := mustWrite(t, q, WriteOptions{Format: FormatText}); !bytes.Equal(got, want) {
				t.Fatalf("seed %d, %+v: %s\nwant %s", seed, opt, got, want)
			}
			if opt.Format == "" && !slices.Equal(q.Symbols, []string{"a", "b"}) {
				t.Errorf("symbols %q", q.Symbols)
			}
		}
	}
}

// TestMergeWeights: weight 3 is the same as adding a profile three times.
func TestMergeWeights(t *testing.T) {
	for seed := range uint64(12) {
		text := randomText(seed, 20, kinds[seed%6], true)
		once, thrice := finished(t, [][]byte{text}, 3), NewMerger(MergeOptions{})
		for range 3 {
			p := mustRead(t, text)
			if added, err := thrice.AddProfile("", p, 1); err != nil || added.Functions != len(p.Functions) {
				t.Fatal(added, err)
			}
		}
		a, b := mustWrite(t, once.Profile(), WriteOptions{}), mustWrite(t, thrice.Finish().Profile(), WriteOptions{})
		if !bytes.Equal(a, b) {
			t.Errorf("seed %d: %d and %d bytes differ", seed, len(a), len(b))
		}
	}
}

// TestDivide: multiplying by a weight and dividing by it changes nothing. Halves round up.
func TestDivide(t *testing.T) {
	for seed := range uint64(12) {
		text := randomText(seed, 20, kinds[seed%6], true)
		var sums [2]*Profile
		for i, weight := range []uint64{1, 10} {
			sums[i] = finished(t, [][]byte{text}, weight).Profile()
			sums[i].Convert(ConvertOptions{Divisor: weight})
		}
		if a, b := mustWrite(t, sums[0], WriteOptions{}), mustWrite(t, sums[1], WriteOptions{}); !bytes.Equal(a, b) {
			t.Errorf("seed %d: %d and %d bytes differ", seed, len(a), len(b))
		}
	}
	p := mustRead(t, []byte("b:24:5\n 1: 18446744073709551615 x:4 y:5\n 2: c:14\n  1: 16\na:25:4\n 1: 0\n"))
	p.Convert(ConvertOptions{Divisor: 10})
	want := "a:3:0\n 1: 0\nb:2:1\n 1: 1844674407370955162 y:1 x:0\n 2: c:1\n  1: 2\n"
	if got := mustWrite(t, p, WriteOptions{Format: FormatText}); string(got) != want {
		t.Errorf("%s", got)
	}
	p.Convert(ConvertOptions{})
	if got := mustWrite(t, p, WriteOptions{Format: FormatText}); string(got) != want {
		t.Errorf("%s", got)
	}
}

// TestMergeKinds: other kinds are refused, counts saturate, and with LLVMCompat the first build stays.
func TestMergeKinds(t *testing.T) {
	var warned []string
	m := NewMerger(MergeOptions{LLVMCompat: true, Warn: func(w profile.Warning) { warned = append(warned, w.Function+": "+w.Err.Error()) }})
	add := func(text string, weight uint64) error {
		_, err := m.AddProfile("f", mustRead(t, []byte(text)), weight)
		return err
	}
	for _, text := range []string{"a:9:1\n 1: 9\n !CFGChecksum: 5\n", "a:9:1\n 1: 9\n !CFGChecksum: 6\nb:1:1\n !CFGChecksum: 1\n"} {
		oracle.NoError(t, add(text, 1))
	}
	oracle.NoError(t, add("b:2:1\n 1: 7\n !CFGChecksum: 1\n", math.MaxUint64))
	if err := add("a:1:1\n", 1); !errors.Is(err, profile.ErrMismatch) || !errors.Is(err, llvmerr.SampleProbes) {
		t.Error(err)
	}
	if want := []string{"a: Function hash mismatch", "b: Counter overflow"}; !slices.Equal(warned, want) {
		t.Errorf("%q", warned)
	}
	want := "b:18446744073709551615:18446744073709551615\n 1: 18446744073709551615\n !CFGChecksum: 1\na:9:1\n 1: 9\n !CFGChecksum: 5\n"
	if got := mustWrite(t, m.Finish().Profile(), WriteOptions{Format: FormatText}); string(got) != want {
		t.Errorf("%s", got)
	}
}

// TestNumbers: a name that is a number is a GUID, for functions, targets, callees and frames, in text and in binary
// files, so that merges in any order join it with the name. For lenient readers, as for LLVM, it is a name.
func TestNumbers(t *testing.T) {
	names := strings.NewReplacer("foo", "6699318081062747564", "bar", "16434608426314478903")
	for _, named := range []string{
		"foo:100:10\n 1: 50\n 2: 50 bar:20\n", "foo:100:10\n 1: 50\n 2: 50 bar:20\n 3: bar:7\n  1: 7\n", "[foo:1 @ bar]:9:1\n 1: 9 foo:2\n[foo]:5:1\n 2: 5\n",
	} {
		twice := text(t, merged(t, named, named))
		numbers := names.Replace(named)
		files := []string{numbers, string(mustWrite(t, mustRead(t, []byte(numbers)), WriteOptions{MD5: true}))}
		if lenient, err := Read("f", []byte(numbers), ReaderOptions{Lenient: true}); err == nil {
			files = append(files, string(mustWrite(t, lenient, WriteOptions{})))
			if lenient.Functions[0].Name.Text == "" {
				t.Errorf("lenient: a GUID")
			}
		} else if !strings.Contains(err.Error(), "line 4: sample") { // a callee that is a number
			t.Error(err)
		}
		for i, file := range files {
			for _, inputs := range [][]string{{named, file}, {file, named}} {
				if got := text(t, merged(t, inputs...)); got != twice {
					t.Errorf("%d: %q\nwant %q", i, got, twice)
				}
			}
			p := mustRead(t, []byte(file))
			if got := text(t, p); got != numbers {
				t.Errorf("%d: written as %q", i, got)
			}
			if findings := p.Check(); (len(findings) > 0) != (i != 1) {
				t.Errorf("%d: %v", i, findings)
			}
		}
	}
	// Zero, numbers above 2^64 and numbers with a leading zero are no GUIDs.
	for _, name := range []string{"0", "01", "18446744073709551616", "1a", "-1"} {
		if got := mustRead(t, []byte(name+":1:1\n 1: 1\n")).Functions[0].Name.Text; got != name {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// merged is the sum of files.
func merged(t *testing.T, files ...string) *Profile {
	t.Helper()
	m := NewMerger(MergeOptions{})
	for _, file := range files {
		if _, err := m.AddFile("f", []byte(file), ReaderOptions{}, 1); err != nil {
			t.Fatal(err)
		}
	}
	return m.Finish().Profile()
}

// TestTextErrors: an error names the number of the line.
func TestTextErrors(t *testing.T) {
	for text, want := range map[string]string{
		"f:1:1\n 1: 5 \n":                          `line 2: sample is " 1: 5 "`,
		"f:1:1\n 65536: 5\n":                       "line 2: sample",
		"f:1:1\n 1: 5 g\n":                         "line 2: sample",
		"f:1:1\n 1: g:x\n":                         "line 2: sample",
		"f:1:1\ng:1\n":                             `line 2: function is "g:1", want NAME:TOTAL:HEAD`,
		"f:1:18446744073709551616\n":               "magic", // no head at all
		"f:1:1\n !CFGChecksum: x\n":                "line 2: metadata",
		"f:1:1\n !Other: 1\n":                      "line 2: metadata",
		"f:1:1\n !CFGChecksum: 1\n 1: 2\n":         "no samples after the metadata",
		"f:1:1\n 1: vtables a:1 a:2 \n":            "each name once",
		"f:1:1\n[g:1 @ h]:1:1\n":                   "either contexts or names",
		"[f:x @ g]:1:1\n":                          "line 1: function",
		"f:1:1\n 1: 18446744073709551615\n 1: 1\n": "a sum of 2^64 and more",
		"f:1:1\n\x00":                              "a zero byte",
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := Read("p", []byte(text), ReaderOptions{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", text, err)
			}
		})
	}
	// Odd but allowed:
	text := "# a\n\nf(int, char):x:1:2\r\n  70000.1: 5 a b:c:3 d:4\n   # more\n 1: g h:7\n   2: 7\n !Flat\n"
	want := "f(int, char):x:1:2\n 70000.1: 5 d:4 a b:c:3\n 1: g h:7\n  2: 7\n"
	if got := mustWrite(t, mustRead(t, []byte(text)), WriteOptions{Format: FormatText}); string(got) != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func text(t testing.TB, p *Profile) string {
	return string(mustWrite(t, p, WriteOptions{Format: FormatText}))
}

// TestDamage: a damaged file is refused with a class of error, or can be written as text.
func TestDamage(t *testing.T) {
	for name, data := range fixtures(t) {
		try := func(b []byte) {
			for _, lenient := range []bool{false, true} {
				p, err := Read(name, b, ReaderOptions{Lenient: lenient})
				if hostile.CheckType(t, name, err) != nil {
					continue
				}
				format := WriteOptions{Format: FormatText}
				out := mustWrite(t, p, format)
				if len(p.Functions) > 0 && len(out) == 0 {
					t.Fatalf("%s: nothing written of %d functions", name, len(p.Functions))
				}
			}
		}
		for _, cut := range hostile.Cuts(data, 13) {
			try(cut)
		}
		for _, flipped := range hostile.Flips(data, 13) {
			try(flipped)
		}
	}
}

// FuzzRead: every profile that can be read can be written, and reads back the same.
func FuzzRead(f *testing.F) {
	for _, data := range fixtures(f) {
		f.Add(data)
	}
	for _, v := range gcovVariants {
		f.Add(v.build())
	}
	for _, data := range laterSeeds(f) {
		f.Add(data)
	}
	f.Add([]byte("[f:100000.1 @ g]:0:0\n 70000.1: 5 g:3\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		Read("", data, ReaderOptions{Lenient: true})
		p, err := Read("", data, ReaderOptions{})
		if err != nil {
			return
		}
		for _, f := range p.Functions { // what binary files of such profiles do not have
			f.walk(func(g *Function) bool {
				if !p.Kind.hasAttributes() {
					g.Attributes = 0
				}
				if !p.Kind.ProbeBased {
					g.Checksum = 0
				}
				return true
			})
		}
		opt := WriteOptions{VTables: true, Compress: len(data)%2 == 0}
		first := mustWrite(t, p, opt)
		q := mustRead(t, first)
		if a, b := text(t, p), text(t, q); a != b {
			t.Fatalf("%s\nis read as\n%s", a, b)
		}
		// The metadata are in hash-map order, which depends on the order of the functions.
		if second := mustWrite(t, q, opt); !bytes.Equal(second, mustWrite(t, mustRead(t, second), opt)) {
			t.Fatalf("%d bytes are written in another way when read again", len(second))
		}
	})
}

// TestDoubts: fixtures raise no doubts; most flips of a bit that change the contents are refused or reported.
func TestDoubts(t *testing.T) {
	for name, data := range fixtures(t) {
		if p := mustRead(t, data); len(p.odd) > 0 {
			t.Errorf("%s: %v", name, p.odd)
		}
	}
	files := fixtures(t)
	for name, most := range map[string]int{"lines.afdo": 25, "inlined.afdo": 36, "contexts.afdo": 33, "lines-binary.prof": 40} {
		data := files[name]
		want := text(t, mustRead(t, data))
		silent, unmerged := 0, 0
		for bit, b := range hostile.Flips(data, 1) {
			p, err := Read(name, b, ReaderOptions{})
			if err != nil || text(t, p) == want || len(p.Check()) > 0 {
				continue
			}
			silent++
			m := NewMerger(MergeOptions{Warn: func(w profile.Warning) { unmerged++ }})
			if _, err := m.AddFile(name, b, ReaderOptions{}, 1); err != nil || unmerged > 0 {
				t.Fatalf("%s, bit %d: merging doubts what check does not: %v", name, bit, err)
			}
		}
		if share := 100 * silent / (8 * len(data)); share > most {
			t.Errorf("%s: %d %% of the flips are silent, want at most %d %%", name, share, most)
		} else {
			t.Logf("%s: %d %%", name, share)
		}
	}
	data := files["lines.afdo"]
	sections := oracle.Must(Sections("", data))(t)
	b := slices.Clone(data)
	for _, s := range sections {
		if sectionType(s.Type) == offsetSection {
			b[s.Offset+s.Size-1]++
		}
	}
	var warned []string
	m := NewMerger(MergeOptions{Warn: func(w profile.Warning) { warned = append(warned, w.Err.Error()) }})
	if _, err := m.AddFile("f", b, ReaderOptions{}, 1); err != nil || len(warned) != 1 || !strings.Contains(warned[0], "function offsets") {
		t.Errorf("%v, %q", err, warned)
	}
}
