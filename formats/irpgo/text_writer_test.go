package irpgo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/fulldisk"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestWriteTextHeaders(t *testing.T) {
	const foo = "foo\n# Func Hash:\n1\n# Num Counters:\n1\n# Counter Values:\n5\n\n"
	for _, tt := range []struct {
		variant Variant
		want    string
	}{
		{0, ""},
		{FrontEnd, ""},
		{IRLevel, "# IR level Instrumentation Flag\n:ir\n"},
		{IRLevel | ContextSens, "# CSIR level Instrumentation Flag\n:csir\n"},
		{EntryFirst, "# Always instrument the function entry block\n:entry_first\n"},
		{LoopEntries, "# Always instrument the loop entry blocks\n:instrument_loop_entries\n"},
		{SingleByte, "# Instrument block coverage\n:single_byte_coverage\n"},
		{HasTemporal, ":temporal_prof_traces\n# Num Temporal Profile Traces:\n0\n# Temporal Profile Trace Stream Size:\n0\n\n"},
		{IRLevel | EntryFirst | LoopEntries | SingleByte, "# IR level Instrumentation Flag\n:ir\n" +
			"# Always instrument the function entry block\n:entry_first\n" +
			"# Always instrument the loop entry blocks\n:instrument_loop_entries\n" +
			"# Instrument block coverage\n:single_byte_coverage\n"},
	} {
		p := profileOf(tt.variant, &Record{Name: "foo", Hash: 1, Counts: []uint64{5}})
		if got := string(writeText(t, p, TextOptions{})); got != tt.want+foo {
			t.Errorf("%v: got\n%s\nwant\n%s", tt.variant, got, tt.want+foo)
		}
	}
}

func TestAppendTextRecord(t *testing.T) {
	var symtab Symtab
	rec := &Record{
		Name: "foo", Hash: 1<<64 - 3, Counts: []uint64{0, 1<<64 - 1}, Bitmap: []byte{0, 0x0a, 0xff},
		Values: valueSites{
			IndirectCallTarget: {{{Value: symtab.learn("bar"), Count: 7}, {Value: 0, Count: 6}, {Value: 12345, Count: 5}}, {}},
			MemOPSize:          {{{Value: 64, Count: 3}}},
			VTableTarget:       {{{Value: symtab.learn("_ZTV1A"), Count: 2}}},
		},
	}
	const want = "foo\n# Func Hash:\n18446744073709551613\n# Num Counters:\n2\n# Counter Values:\n0\n18446744073709551615\n" +
		"# Num Bitmap Bytes:\n$3\n# Bitmap Byte Values:\n0x0\n0xa\n0xff\n\n" +
		"# Num Value Kinds:\n3\n" +
		"# ValueKind = IPVK_IndirectCallTarget:\n0\n# NumValueSites:\n2\n" +
		"3\nbar:7\n** External Symbol **:6\n** External Symbol **:5\n0\n" +
		"# ValueKind = IPVK_MemOPSize:\n1\n# NumValueSites:\n1\n1\n64:3\n" +
		"# ValueKind = IPVK_VTableTarget:\n2\n# NumValueSites:\n1\n1\n_ZTV1A:2\n\n"
	if got := string(AppendTextRecord([]byte("before\n"), rec, &symtab)); got != "before\n"+want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := string(AppendTextRecord(nil, rec, nil)); strings.Count(got, externalSymbol) != 4 {
		t.Errorf("without symbols: got\n%s\nwant 4 external symbols", got)
	}
}

func TestWriteTextAgainstLLVM(t *testing.T) {
	llvm := oracle.LLVM(t, 22)
	for seed, n := range []int{1, 2, 50, 3000} {
		data := randomText(rand.New(rand.NewPCG(uint64(seed), 1)), n)
		p := collect(t, data)
		want, stderr, _ := mergeText(t, llvm, data)
		if stderr != "" {
			t.Fatal(stderr)
		}
		for _, compat := range []bool{false, true} {
			opt := TextOptions{LLVMCompat: compat, Warn: failOnWarning(t)}
			if got := writeText(t, p, opt); !bytes.Equal(got, want) {
				t.Errorf("%d functions, LLVMCompat %v: differs from llvm-profdata", n, compat)
			}
		}
		want, _, _ = mergeText(t, llvm, data, "--sparse")
		if got := writeText(t, p, TextOptions{LLVMCompat: true, Sparse: true}); !bytes.Equal(got, want) {
			t.Errorf("%d functions: sparse differs from llvm-profdata", n)
		}
		if n == 3000 && !bytes.Contains(want, []byte(externalSymbol)) {
			t.Error("the test does not cover external symbols")
		}
	}
}

// llvmDiffers says why LLVM makes something else of a text fixture.
var llvmDiffers = map[string]string{
	"bitmap-300.proftext":    "LLVM counts the bytes of a bitmap in 8 bits and never gets to the end",
	"hash-all-ones.proftext": "LLVM loses the record, whose hash is a free slot in its hash map",
}

func TestWriteTextFixturesAgainstLLVM(t *testing.T) {
	llvm := oracle.LLVM(t, 22)
	files, err := filepath.Glob(filepath.Join(oracle.Root(t), "testdata", "irpgo", "text", "*.proftext"))
	if err != nil || len(files) == 0 {
		t.Skip("no text fixtures")
	}
	for i, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if i%4 != 0 {
				oracle.Slow(t)
			}
			data := oracle.ReadFile(t, file)
			m := NewMerger(MergeOptions{LLVMCompat: true})
			r, err := NewReader(textFile, data, ReaderOptions{})
			if err == nil {
				_, err = m.Add(r, 1)
			}
			var got []byte
			if err == nil {
				got = writeText(t, m.Finish().Profile(), TextOptions{LLVMCompat: true})
			}
			want, stderr, code := mergeText(t, llvm, data)
			same := code == 0 && err == nil && bytes.Equal(got, want) ||
				code == 1 && err != nil && strings.HasPrefix(stderr, "warning: "+textFile+": "+llvmerr.Message(err)+"\n")
			reason, differs := llvmDiffers[filepath.Base(file)]
			if same == differs {
				t.Errorf("got error %v and\n%s\nllvm-profdata exits with %d: %s\nand\n%s\nexpected difference: %q",
					err, got, code, stderr, want, reason)
			}
		})
	}
}

// Names of targets come from wherever the profile knows them, for LLVM only from the functions written.
func TestWriteTextTargets(t *testing.T) {
	var symtab Symtab
	p := profileOf(0,
		&Record{Name: "caller", Hash: 1, Counts: []uint64{1}, Values: valueSites{
			IndirectCallTarget: {{
				{Value: NameRef("caller"), Count: 9},
				{Value: NameRef("never"), Count: 8},
				{Value: symtab.learn("elsewhere"), Count: 7},
				{Value: symtab.learn("#hidden"), Count: 6},
				{Value: symtab.learn("a\nb"), Count: 5},
				{Value: symtab.learn(externalSymbol), Count: 4},
				{Value: 12345, Count: 3},
				{Value: 0, Count: 2},
				{Value: 12345, Count: 1},
			}},
			VTableTarget: {{{Value: NameRef("_ZTV1A"), Count: 1}}},
		}},
		&Record{Name: "never", Hash: 1, Counts: []uint64{0}},
	)
	p.Symbols = &symtab
	p.VTableNames = []string{"_ZTV1A"}
	for _, tt := range []struct {
		opt  TextOptions
		want string
		lost string
	}{
		{TextOptions{}, "caller never elsewhere ? ? ? ? ? ? _ZTV1A", "value targets is 4 of 8 without"},
		{TextOptions{Sparse: true}, "caller never elsewhere ? ? ? ? ? ? _ZTV1A", "value targets is 4 of 8 without"},
		{TextOptions{LLVMCompat: true}, "caller never ? ? ? ? ? ? ? _ZTV1A", "value targets is 5 of 8 without"},
		{TextOptions{LLVMCompat: true, Sparse: true}, "caller ? ? ? ? ? ? ? ? _ZTV1A", "value targets is 6 of 8 without"},
	} {
		var warnings []profile.Warning
		tt.opt.Warn = func(w profile.Warning) { warnings = append(warnings, w) }
		out := writeText(t, p, tt.opt)
		if len(warnings) != 1 || !strings.Contains(warnings[0].String(), tt.lost) || !errors.Is(warnings[0].Err, profile.ErrUnsupported) {
			t.Errorf("%+v: warnings %v, want one of %q", tt.opt, warnings, tt.lost)
		}
		recs, r, err := readRecords(out)
		must(t, err)
		var got []string
		for _, sites := range recs[0].Values {
			for _, site := range sites {
				for _, v := range site {
					got = append(got, cmp.Or(r.Symbols().Name(v.Value), "?"))
				}
			}
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%+v: targets are\n%s\nwant\n%s", tt.opt, got, tt.want)
		}
	}
}

// The names that value data and traces of a text profile mention survive without records of their own.
func TestTextKeepsNamesWithoutRecords(t *testing.T) {
	const in = ":temporal_prof_traces\n1\n1\n1\nelsewhere,foo\n" + one + "2\n0\n1\n1\ncallee:3\n2\n1\n1\nvtable:2\n"
	out := writeText(t, collect(t, []byte(in)), TextOptions{Warn: failOnWarning(t)})
	if got, want := dumpText(t, out), dumpText(t, []byte(in)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWriteTextUnreadable(t *testing.T) {
	for _, tt := range []struct {
		what string
		rec  *Record
	}{
		{`function name is ""`, &Record{Name: "", Counts: []uint64{1}}},
		{`function name is "a\nb"`, &Record{Name: "a\nb", Counts: []uint64{1}}},
		{`function name is "a\x00b"`, &Record{Name: "a\x00b", Counts: []uint64{1}}},
		{`function name is "a\r"`, &Record{Name: "a\r", Counts: []uint64{1}}},
		{`function name is "#a"`, &Record{Name: "#a", Counts: []uint64{1}}},
		{`name of the first function is ":a"`, &Record{Name: ":a", Counts: []uint64{1}}},
		{"number of counters is 0", &Record{Name: "a"}},
	} {
		p := profileOf(IRLevel, tt.rec)
		var b bytes.Buffer
		err := WriteText(&b, p, TextOptions{})
		if !errors.Is(err, profile.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), tt.what) {
			t.Errorf("got %v, want an error with %q", err, tt.what)
		}
		if b.Len() > 0 {
			t.Errorf("%s: %d bytes were written", tt.what, b.Len())
		}
		var warnings []profile.Warning
		writeText(t, p, TextOptions{LLVMCompat: true, Warn: func(w profile.Warning) { warnings = append(warnings, w) }})
		if len(warnings) != 1 || !strings.Contains(warnings[0].String(), tt.what) {
			t.Errorf("LLVMCompat: warnings %v, want one with %q", warnings, tt.what)
		}
	}
	p := profileOf(IRLevel, &Record{Name: "!", Counts: []uint64{1}}, &Record{Name: ":a", Counts: []uint64{1}})
	writeText(t, p, TextOptions{Warn: failOnWarning(t)})
}

// A name may look like what could follow the record before it.
func TestWriteTextLookalikes(t *testing.T) {
	sized := valueSites{MemOPSize: {{{Value: 8, Count: 1}}}}
	p := profileOf(0,
		&Record{Name: "!", Hash: 1, Counts: []uint64{1}},
		&Record{Name: "$1", Hash: 1, Counts: []uint64{1}, Bitmap: []byte{1}},
		&Record{Name: "$2", Hash: 1, Counts: []uint64{1}},
		&Record{Name: "1", Hash: 1, Counts: []uint64{1}, Values: sized},
		&Record{Name: "1", Hash: 2, Counts: []uint64{1}},
		&Record{Name: "1", Hash: 3, Counts: []uint64{1}},
		&Record{Name: "4294967295", Hash: 1, Counts: []uint64{1}},
		&Record{Name: "4294967296", Hash: 1, Counts: []uint64{1}},
	)
	out := writeText(t, p, TextOptions{Warn: failOnWarning(t)})
	recs, _, err := readRecords(out)
	if err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	want := flatten(p)
	if !slices.EqualFunc(recs, want, equalRecords) {
		t.Errorf("read back %v, want %v", recs, want)
	}
	if got := bytes.Count(out, []byte(noValueData)); got != 4 {
		t.Errorf("%d of the records end explicitly, want the 4 before $1, 1, 1 and 4294967295", got)
	}
	var warned []string
	writeText(t, p, TextOptions{LLVMCompat: true, Warn: func(w profile.Warning) { warned = append(warned, w.Function) }})
	if want := []string{"$1", "1", "1", "4294967295"}; !slices.Equal(warned, want) {
		t.Errorf("LLVMCompat: warned of %q, want %q", warned, want)
	}
	t.Run("llvm", func(t *testing.T) {
		if _, stderr, code := mergeText(t, oracle.LLVM(t, 22), out); code != 0 || stderr != "" {
			t.Errorf("llvm-profdata exits with %d: %s", code, stderr)
		}
	})
}

// What LLVM would write for these is not taken for a text profile.
func TestWriteTextBeginning(t *testing.T) {
	for _, p := range []*Profile{
		profileOf(0),
		profileOf(0, &Record{Name: "\u03bb", Hash: 1, Counts: []uint64{1}}),
	} {
		recs, _, err := readRecords(writeText(t, p, TextOptions{}))
		if want := flatten(p); err != nil || !slices.EqualFunc(recs, want, equalRecords) {
			t.Errorf("read back %v, error %v; want %v", recs, err, want)
		}
	}
	if got := writeText(t, profileOf(0), TextOptions{LLVMCompat: true}); len(got) != 0 {
		t.Errorf("LLVMCompat: an empty profile is %q, want no bytes", got)
	}
}

func TestWriteTextTraces(t *testing.T) {
	var symtab Symtab
	p := profileOf(HasTemporal, &Record{Name: "foo", Hash: 1, Counts: []uint64{1}})
	p.Symbols = &symtab
	p.TraceStreamSize = 9
	p.Traces = []Trace{
		{Weight: 3, NameRefs: []uint64{NameRef("foo"), symtab.learn("bar"), NameRef("foo")}},
		{Weight: 1},
		{Weight: 1, NameRefs: []uint64{symtab.learn("#x"), symtab.learn("y")}},
		{Weight: 1, NameRefs: []uint64{symtab.learn("a,b"), symtab.learn(" c"), 12345, symtab.learn("d e")}},
	}
	var warnings []profile.Warning
	out := writeText(t, p, TextOptions{Warn: func(w profile.Warning) { warnings = append(warnings, w) }})
	const head = ":temporal_prof_traces\n# Num Temporal Profile Traces:\n4\n# Temporal Profile Trace Stream Size:\n9\n"
	const want = head + "# Weight:\n3\nfoo,bar,foo,\n# Weight:\n1\n,\n# Weight:\n1\n,#x,y,\n# Weight:\n1\n,,,d e,\n\n" +
		"foo\n# Func Hash:\n1\n# Num Counters:\n1\n# Counter Values:\n1\n\n"
	if string(out) != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0].String(), "functions in traces is 3 of 8 without") {
		t.Errorf("warnings %v, want one of 3 lost names", warnings)
	}
	const dump = "temporal; traces of 9: 3×[foo bar foo] 1×[] 1×[#x y] 1×[d e]; foo 1 [1]"
	if got := dumpText(t, out); got != dump {
		t.Errorf("read back %s\nwant      %s", got, dump)
	}
}

func TestWriteTextLosses(t *testing.T) {
	p := profileOf(IRLevel|EntryOnly|HasMemProf, &Record{Name: "foo", Hash: 1, Counts: []uint64{1}})
	p.BinaryIDs = [][]byte{{1}, {2}}
	var got []string
	writeText(t, p, TextOptions{Warn: func(w profile.Warning) { got = append(got, w.String()) }})
	want := []string{"variant is function-entry-only", "memory profile is present", "number of binary ids is 2"}
	if len(got) != len(want) {
		t.Fatalf("warnings %q, want %q", got, want)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("warning %q, want %q", got[i], want[i])
		}
	}
}

func TestWriteTextError(t *testing.T) {
	p := collect(t, randomText(rand.New(rand.NewPCG(1, 2)), 1000))
	size := len(writeText(t, p, TextOptions{}))
	for _, n := range []int{0, textBufferSize, size - 1} {
		if err := WriteText(&fulldisk.Writer{Room: n}, p, TextOptions{}); !errors.Is(err, fulldisk.ErrFull) {
			t.Errorf("writer that takes %d of %d bytes: got %v, want its error", n, size, err)
		}
	}
	if err := WriteText(&fulldisk.Writer{Room: size}, p, TextOptions{}); err != nil {
		t.Error(err)
	}
}

// The profile is not reordered by being written.
func TestWriteTextLeavesProfile(t *testing.T) {
	p := profileOf(0, &Record{Name: "foo", Hash: 2, Counts: []uint64{1}}, &Record{Name: "foo", Hash: 1, Counts: []uint64{1}})
	out := writeText(t, p, TextOptions{})
	if got, want := dumpText(t, out), "front-end; foo 1 [1]; foo 2 [1]"; got != want {
		t.Errorf("wrote %s, want %s", got, want)
	}
	if p.Functions[0].Records[0].Hash != 2 {
		t.Error("the records of the profile were sorted")
	}
}

func BenchmarkWriteText(b *testing.B) {
	p := collect(b, randomText(rand.New(rand.NewPCG(1, 2)), 50_000))
	b.SetBytes(int64(len(writeText(b, p, TextOptions{}))))
	b.ReportAllocs()
	for b.Loop() {
		must(b, WriteText(io.Discard, p, TextOptions{}))
	}
}

func failOnWarning(t testing.TB) func(profile.Warning) {
	return func(w profile.Warning) { t.Errorf("warning: %v", w) }
}

// profileOf makes a profile of records that are ordered by name.
func profileOf(v Variant, recs ...*Record) *Profile {
	p := &Profile{Variant: v}
	for _, rec := range recs {
		if n := len(p.Functions); n == 0 || p.Functions[n-1].Name != rec.Name {
			p.Functions = append(p.Functions, Function{Name: rec.Name})
		}
		f := &p.Functions[len(p.Functions)-1]
		f.Records = append(f.Records, rec)
	}
	return p
}

func flatten(p *Profile) []*Record {
	var recs []*Record
	for _, f := range p.Functions {
		recs = append(recs, f.Records...)
	}
	return recs
}

// writeText returns what WriteText writes.
func writeText(t testing.TB, p *Profile, opt TextOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, WriteText(&b, p, opt))
	return b.Bytes()
}

// randomText returns a text profile of n functions such that merging it alone
// changes nothing but the order: sites are sorted by count.
func randomText(rng *rand.Rand, n int) []byte {
	var b bytes.Buffer
	b.WriteString("# IR level Instrumentation Flag\n:ir\n")
	name := func(i int) string { return fmt.Sprintf("_ZN4some9namespace8function%dEPKc", i) }
	for _, i := range rng.Perm(n) {
		for hash := range 1 + uint64(rng.IntN(5))/4 {
			fmt.Fprintf(&b, "%s\n# Func Hash:\n%d\n", name(i), hash+rng.Uint64()>>4)
			counts := 1 + rng.IntN(30)
			fmt.Fprintf(&b, "# Num Counters:\n%d\n# Counter Values:\n", counts)
			scale := rng.IntN(65)
			for range counts {
				fmt.Fprintln(&b, rng.Uint64()>>scale>>rng.IntN(8)>>2)
			}
			if rng.IntN(10) == 0 {
				bytes := 1 + rng.IntN(20)
				fmt.Fprintf(&b, "# Num Bitmap Bytes:\n$%d\n# Bitmap Byte Values:\n", bytes)
				for range bytes {
					fmt.Fprintf(&b, "%#x\n", rng.IntN(256))
				}
				b.WriteString("\n")
			}
			randomValues(&b, rng, func() string { return name(rng.IntN(n)) })
			b.WriteString("\n")
		}
	}
	return b.Bytes()
}

func randomValues(b *bytes.Buffer, rng *rand.Rand, name func() string) {
	var kinds []int
	for k := range NumValueKinds {
		if rng.IntN(10) == 0 {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) == 0 {
		return
	}
	fmt.Fprintf(b, "# Num Value Kinds:\n%d\n", len(kinds))
	for _, k := range kinds {
		sites := 1 + rng.IntN(4)
		fmt.Fprintf(b, "# ValueKind = %v:\n%d\n# NumValueSites:\n%d\n", valueKindNames[k], k, sites)
		for range sites {
			values := rng.IntN(4)
			fmt.Fprintln(b, values)
			for i := range values {
				value := name()
				if k == int(MemOPSize) {
					value = fmt.Sprint(8*i + rng.IntN(8))
				} else if rng.IntN(4) == 0 {
					value = externalSymbol
				}
				fmt.Fprintf(b, "%s:%d\n", value, uint64(values-i)<<10+uint64(rng.IntN(1<<10)))
			}
		}
	}
}
