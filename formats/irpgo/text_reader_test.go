package irpgo

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestTextAccepted(t *testing.T) {
	for _, tt := range textAccepted {
		t.Run(tt.name, func(t *testing.T) {
			if got := dumpText(t, []byte(tt.in)); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestTextRejected(t *testing.T) {
	for _, tt := range textRejected {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := readRecords([]byte(tt.in))
			var fe *profile.FormatError
			if !errors.As(err, &fe) {
				t.Fatalf("got %v, want a *profile.FormatError", err)
			}
			if got := llvmerr.Message(err); got != tt.msg {
				t.Errorf("llvmerr.Message is %q, want %q", got, tt.msg)
			}
			if got := profile.ClassOf(err); got != tt.class {
				t.Errorf("class is %q, want %q", got, tt.class)
			}
			if fe.Line != tt.line || fe.File != textFile {
				t.Errorf("%q is in line %d, want line %d of %s", err, fe.Line, tt.line, textFile)
			}
		})
	}
}

func TestTextErrorText(t *testing.T) {
	_, _, err := readRecords([]byte(":ir\n" + one + "bar\n2\n1\n" + strings.Repeat("z", 100) + "\n"))
	want := textFile + `: text line 9 (record 1): counter is "` + strings.Repeat("z", 60) +
		`"…, want an unsigned number of at most 18446744073709551615, in decimal: corrupt profile`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %v", err, want)
	}
}

// TestTextTablesAgainstLLVM runs both tables through the real tool.
func TestTextTablesAgainstLLVM(t *testing.T) {
	llvm := oracle.LLVM(t, 22)
	for i, tt := range textAccepted {
		t.Run(tt.name, func(t *testing.T) {
			if i%4 != 0 {
				oracle.Slow(t)
			}
			if tt.name == "no traces" || tt.name == "trace without names" {
				t.Skip("merge drops empty traces and then also forgets the size of their stream")
			}
			want, stderr, code := mergeText(t, llvm, []byte(tt.in))
			if code != 0 || stderr != "" {
				t.Fatalf("llvm-profdata exits with %d: %s", code, stderr)
			}
			got := writeText(t, collect(t, []byte(tt.in)), TextOptions{LLVMCompat: true})
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	for i, tt := range textRejected {
		t.Run(tt.name, func(t *testing.T) {
			if i%4 != 0 {
				oracle.Slow(t)
			}
			_, stderr, code := mergeText(t, llvm, []byte(tt.in))
			want := "warning: " + textFile + ": " + tt.msg + "\nerror: no profile can be merged\n"
			if code != 1 || stderr != want {
				t.Errorf("llvm-profdata exits with %d:\n%swant\n%s", code, stderr, want)
			}
		})
	}
}

// TestTextDirectivesOfReleases shows that profuse reads what every release
// reads, whatever the release it came with.
func TestTextDirectivesOfReleases(t *testing.T) {
	since := []struct {
		release int // the first of those tried that reads it
		in      string
	}{
		{14, ":ir\n" + one},
		{14, ":fe\n" + one},
		{14, ":csir\n" + one},
		{14, ":entry_first\n" + one},
		{14, ":not_entry_first\n" + one},
		{19, ":single_byte_coverage\n" + one},
		{19, ":temporal_prof_traces\n1\n2\n3\nfoo\n" + one},
		{19, one + "$1\n1\n"},
		{19, one + "1\n2\n0\n"},
		{22, ":instrument_loop_entries\n" + one},
	}
	for _, release := range []int{14, 16, 19, 22} {
		t.Run(fmt.Sprint(release), func(t *testing.T) {
			llvm := oracle.LLVM(t, release)
			for _, tt := range since {
				if _, stderr, code := mergeText(t, llvm, []byte(tt.in)); (code == 0) != (release >= tt.release) {
					t.Errorf("%q: exit code %d: %s", tt.in, code, stderr)
				}
				if _, _, err := readRecords([]byte(tt.in)); err != nil {
					t.Errorf("%q: %v", tt.in, err)
				}
			}
		})
	}
}

// LLVM 22 counts bitmap bytes in 8 bits and never gets to the end.
func TestTextLongBitmap(t *testing.T) {
	want := make([]byte, 1000)
	in := one + "$1000\n"
	for i := range want {
		want[i] = byte(i)
		in += fmt.Sprintf("%#x\n", want[i])
	}
	recs, _, err := readRecords([]byte(in + "bar\n1\n1\n5\n"))
	if err != nil || len(recs) != 2 || !bytes.Equal(recs[0].Bitmap, want) {
		t.Errorf("got %d records, error %v; want 2 and a bitmap of 1000 bytes", len(recs), err)
	}
}

func TestTextZeroByteWarning(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int
	}{{one, 0}, {one + "\x00", 0}, {one + "\x00\x00\x00", 0}, {one + "\x00\x00x", 1}} {
		var got []profile.Warning
		_, err := NewReader(textFile, []byte(tt.in), ReaderOptions{Warn: func(w profile.Warning) { got = append(got, w) }})
		if err != nil || len(got) != tt.want {
			t.Errorf("%q: warnings %v, error %v; want %d warnings", tt.in, got, err, tt.want)
		}
		for _, w := range got {
			if !errors.Is(w.Err, profile.ErrCorrupt) || w.File != textFile {
				t.Errorf("%q: warning %v, want a corrupt %s", tt.in, w, textFile)
			}
		}
	}
}

func TestTextSymbols(t *testing.T) {
	in := ":temporal_prof_traces\n1\n1\n1\nfirst,rec\nrec\n1\n1\n1\n" +
		"2\n0\n1\n2\ncallee:2\nrec:1\n2\n1\n3\nvtable:4\ncallee:3\nvtable:2\nlast\n1\n1\n1\n"
	_, r, err := readRecords([]byte(in))
	oracle.NoError(t, err)
	if got, want := sortedNames(r.Symbols()), []string{"callee", "first", "last", "rec", "vtable"}; !slices.Equal(got, want) {
		t.Errorf("Symbols are %q, want %q", got, want)
	}
	if got, want := r.Info.VTableNames, []string{"vtable", "callee"}; !slices.Equal(got, want) {
		t.Errorf("VTableNames are %q, want %q", got, want)
	}
}

// Records may be walked more than once, also after a walk that was left early.
func TestTextWalks(t *testing.T) {
	in := one + "1\n0\n1\n1\ncallee:2\nfoo\n2\n1\n6\nbar\n3\n2\n7\n8\n$1\n9\n"
	r := openReader(t, textFile, []byte(in), ReaderOptions{})
	for range r.Records() {
		break
	}
	if got := sortedNames(r.Symbols()); !slices.Equal(got, []string{"callee", "foo"}) {
		t.Errorf("Symbols are %q after one record, want callee and foo", got)
	}
	var walks [2][]*Record
	for i := range walks {
		for rec, err := range r.Records() {
			oracle.NoError(t, err)
			walks[i] = append(walks[i], rec)
		}
	}
	if len(walks[0]) != 3 || !slices.EqualFunc(walks[0], walks[1], equalRecords) {
		t.Errorf("walks differ: %v and %v", walks[0], walks[1])
	}
	if got := sortedNames(r.Symbols()); !slices.Equal(got, []string{"bar", "callee", "foo"}) {
		t.Errorf("Symbols are %q, want bar, callee and foo", got)
	}
}

// An iteration ends after its error, and a second one finds it again.
func TestTextErrorEndsWalk(t *testing.T) {
	r := openReader(t, textFile, []byte(one+"bar\nx\n"+one), ReaderOptions{})
	for range 2 {
		var recs, errs int
		for _, err := range r.ReusedRecords() {
			if err != nil {
				errs++
			} else {
				recs++
			}
		}
		if recs != 1 || errs != 1 {
			t.Errorf("got %d records and %d errors, want one of each", recs, errs)
		}
	}
}

// Announced sizes alone must not make the reader allocate.
func TestTextHugeNumbers(t *testing.T) {
	for _, in := range []string{
		"foo\n1\n1000000000000\n5\n",
		"foo\n1\n18446744073709551615\n5\n",
		one + "$18446744073709551615\n1\n",
		one + "1\n0\n4294967295\n0\n",
		one + "1\n0\n1\n4294967295\nfoo:1\n",
		":temporal_prof_traces\n4294967295\n1\n1\nfoo\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := readRecords([]byte(in))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, profile.ErrTruncated) {
			t.Errorf("%q: got %v, want a truncated profile", in, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%q: %d bytes allocated, want at most 1 MiB", in, got)
		}
	}
}

// Reading allocates names, and nothing for lines and records once the slices have their size.
func TestTextAllocations(t *testing.T) {
	const records = 1000
	var b bytes.Buffer
	for i := range records {
		fmt.Fprintf(&b, "f%d\n%d\n3\n1\n2\n3\n$1\n7\n2\n0\n2\n1\nf1:2\n0\n1\n1\n1\n8:9\n", i, i)
	}
	data := b.Bytes()
	allocs := testing.AllocsPerRun(5, func() {
		r := openReader(t, textFile, data, ReaderOptions{})
		oracle.NoError(t, r.readable())
	})
	if limit := records * 1.1; allocs > limit {
		t.Errorf("%v allocations for %d records, want at most %v", allocs, records, limit)
	}
}

// smallText has every construct of the format.
const smallText = "# c\n:ir\n:entry_first\n:temporal_prof_traces\n1\n2\n3\nfoo,bar\n" +
	"foo\n0x2A\n2\n5\n6\n$2\n0x1\n7\n3\n0\n1\n2\nbar:9\n** External Symbol **:1\n1\n1\n1\n8:4\n2\n1\n1\nvt:3\n\n" +
	"bar\r\n7\n1\n0\n"

// Whatever happens to the bytes, there is a profile or a typed error.
func TestTextDamaged(t *testing.T) {
	if _, _, err := readRecords([]byte(smallText)); err != nil {
		t.Fatal(err)
	}
	for _, cut := range hostile.Cuts([]byte(smallText), 1) {
		_, _, err := readRecords(cut)
		hostile.Check(t, textFile, cut, err)
	}
	for _, flipped := range hostile.Flips([]byte(smallText), 1) {
		_, _, err := readRecords(flipped)
		hostile.Check(t, textFile, flipped, err)
	}
}

// LLVM and profuse agree on which damaged profiles are readable, and on what
// they say of the others. Where LLVM crashes there is nothing to agree on.
func TestTextDamagedAgainstLLVM(t *testing.T) {
	llvm := oracle.LLVM(t, 22)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 150 / oracle.Step(10) {
		data := []byte(smallText)
		i := rng.IntN(len(data))
		switch rng.IntN(3) {
		case 0:
			data = data[:i+1]
		case 1:
			data[i] ^= 1 << rng.IntN(8)
		case 2:
			data = slices.Delete(data, i, i+1)
		}
		_, _, err := readRecords(data)
		want := ""
		if err != nil {
			want = "warning: " + textFile + ": " + llvmerr.Message(err) + "\nerror: no profile can be merged\n"
		}
		if _, stderr, code := mergeText(t, llvm, data); code >= 0 && stderr != want {
			t.Errorf("%q: llvm-profdata says %q, want %q", data, stderr, want)
		}
	}
}

func BenchmarkTextReader(b *testing.B) {
	data := randomText(rand.New(rand.NewPCG(1, 2)), 50_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r := openReader(b, textFile, data, ReaderOptions{})
		oracle.NoError(b, r.readable())
	}
}

// textFile names the inputs of the tests.
const textFile = "in.proftext"

// readRecords returns copies of all records up to the first error.
func readRecords(data []byte) ([]*Record, *Reader, error) {
	r, err := NewReader(textFile, data, ReaderOptions{})
	if err != nil {
		return nil, nil, err
	}
	var recs []*Record
	for rec, err := range r.Records() {
		if err != nil {
			return recs, r, err
		}
		recs = append(recs, rec)
	}
	return recs, r, nil
}

// collect makes a profile of the records as they are. Unlike a [Merger] it
// keeps the order of values and empty traces.
func collect(t testing.TB, data []byte) *Profile {
	t.Helper()
	recs, r, err := readRecords(data)
	oracle.NoError(t, err)
	slices.SortStableFunc(recs, func(a, b *Record) int { return strings.Compare(a.Name, b.Name) })
	p := profileOf(r.Info.Variant, recs...)
	p.Symbols = r.Symbols()
	p.Traces, p.TraceStreamSize = r.Traces()
	return p
}

func equalRecords(a, b *Record) bool {
	for k := range a.Values {
		if !slices.EqualFunc(a.Values[k], b.Values[k], slices.Equal[[]ValueData]) {
			return false
		}
	}
	return a.Name == b.Name && a.Hash == b.Hash && slices.Equal(a.Counts, b.Counts) && bytes.Equal(a.Bitmap, b.Bitmap)
}

// dumpText reads a text profile and prints it in one line.
func dumpText(t *testing.T, data []byte) string {
	t.Helper()
	recs, r, err := readRecords(data)
	oracle.NoError(t, err)
	var b strings.Builder
	b.WriteString(r.Info.Variant.String())
	if r.Info.Variant.Has(HasTemporal) {
		traces, stream := r.Traces()
		fmt.Fprintf(&b, "; traces of %d:", stream)
		for _, trace := range traces {
			var names []string
			for _, ref := range trace.NameRefs {
				names = append(names, r.Symbols().Name(ref))
			}
			fmt.Fprintf(&b, " %d×%s", trace.Weight, names)
		}
	}
	for _, rec := range recs {
		fmt.Fprintf(&b, "; %s %d %d", rec.Name, rec.Hash, rec.Counts)
		if rec.Bitmap != nil {
			fmt.Fprintf(&b, " $%d", rec.Bitmap)
		}
		for k, sites := range rec.Values {
			if sites != nil {
				fmt.Fprintf(&b, " %d:", k)
			}
			for _, site := range sites {
				b.WriteString(dumpSite(k, site, r.Symbols()))
			}
		}
	}
	return b.String()
}

func dumpSite(k int, site []ValueData, symtab *Symtab) string {
	var values []string
	for _, v := range site {
		switch {
		case k == MemOPSize:
			values = append(values, fmt.Sprintf("%d:%d", v.Value, v.Count))
		case v.Value == 0:
			values = append(values, fmt.Sprintf("?:%d", v.Count))
		default:
			values = append(values, fmt.Sprintf("%s:%d", symtab.Name(v.Value), v.Count))
		}
	}
	return "{" + strings.Join(values, " ") + "}"
}

// mergeText returns what "llvm-profdata merge --text" makes of a profile, with
// the path of the input in the messages replaced by its name.
func mergeText(t testing.TB, llvm string, data []byte, args ...string) (out []byte, stderr string, code int) {
	t.Helper()
	dir := t.TempDir()
	in, to := filepath.Join(dir, textFile), filepath.Join(dir, "out")
	oracle.WriteFile(t, in, data)
	args = append([]string{"merge", "--text", "-o", to}, args...)
	_, stderr, code = oracle.Run(t, llvm, append(args, in)...)
	if code == 0 {
		var err error
		if out, err = os.ReadFile(to); err != nil {
			t.Fatal(err)
		}
	}
	return out, strings.ReplaceAll(stderr, in, textFile), code
}

// sortedNames returns all names in bytewise order.
func sortedNames(s *Symtab) []string {
	if s == nil {
		return nil
	}
	names := s.index()
	out := make([]string, 0, len(names))
	for _, n := range names {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
