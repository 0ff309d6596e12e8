package irpgo

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/alike"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// mergeInput is one text profile and its weight.
type mergeInput struct {
	text   string
	weight uint64
}

// mergeTexts merges in order and returns the text output and the warnings as
// llvm-profdata prints them, "FUNCTION: MESSAGE".
func mergeTexts(t testing.TB, opt MergeOptions, inputs []mergeInput) (text string, warnings []string) {
	t.Helper()
	opt.Warn = func(w profile.Warning) { warnings = append(warnings, w.Function+": "+llvmerr.Message(w.Err)) }
	m := NewMerger(opt)
	for i, in := range inputs {
		r := openReader(t, fmt.Sprint("in", i), []byte(in.text), ReaderOptions{Lenient: opt.LLVMCompat})
		if _, err := m.Add(r, in.weight); err != nil {
			warnings = append(warnings, llvmerr.Message(err))
		}
	}
	var b bytes.Buffer
	oracle.NoError(t, WriteText(&b, m.Finish().Profile(), TextOptions{LLVMCompat: opt.LLVMCompat}))
	return b.String(), warnings
}

// llvmMerge runs the tool on the same inputs with one thread. Rejected inputs do not stop it.
func llvmMerge(t testing.TB, tool string, inputs []mergeInput, flags ...string) (text string, warnings []string) {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"merge", "--text", "-j", "1", "--failure-mode=warn", "-o", "-"}, flags...)
	for i, in := range inputs {
		name := filepath.Join(dir, fmt.Sprint("in", i))
		oracle.WriteFile(t, name, []byte(in.text))
		args = append(args, fmt.Sprintf("--weighted-input=%d,%s", in.weight, name))
	}
	text, stderr, _ := oracle.Run(t, tool, args...)
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(line, "warning: ")
		if strings.HasPrefix(line, "Make sure that all profile data") || strings.HasPrefix(line, "error: no profile") {
			continue
		}
		if i := strings.Index(line, dir); i == 0 {
			_, line, _ = strings.Cut(line, ": ")
		}
		warnings = append(warnings, line)
	}
	return text, warnings
}

func rec(name string, hash uint64, lines ...string) string {
	return fmt.Sprintf("%s\n%d\n%s\n\n", name, hash, strings.Join(lines, "\n"))
}

// mergeRules is one case for each rule of merging: what stands in the text output and what is warned of. Every case
// is checked against llvm-profdata 22; where exact merging differs on purpose, exact says why.
var mergeRules = []struct {
	name   string
	inputs []mergeInput
	exact  string
}{
	{"counts add", []mergeInput{{rec("f", 1, "2", "1", "2"), 1}, {rec("f", 1, "2", "10", "20"), 1}}, ""},
	{"weights scale the first and the later", []mergeInput{{rec("f", 1, "1", "5"), 3}, {rec("f", 1, "1", "7"), 10}}, ""},
	{"other hash is another record", []mergeInput{{rec("f", 1, "1", "5"), 1}, {rec("f", 2, "2", "7", "8"), 1}}, ""},
	{"counters saturate at 2^64-3", []mergeInput{{rec("f", 1, "2", "1", "18446744073709551612"), 1}, {rec("f", 1, "2", "1", "2"), 1}}, ""},
	{"weight overflows", []mergeInput{{rec("f", 1, "1", "9223372036854775808"), 2}}, ""},
	{"scaling caps", []mergeInput{{rec("f", 1, "1", "6148914691236517205"), 3}}, ""},
	{"counter mismatch leaves the later out", []mergeInput{{rec("f", 1, "2", "1", "2"), 1}, {rec("f", 1, "3", "4", "5", "6"), 1}, {rec("f", 1, "2", "10", "20"), 1}}, ""},
	{"pseudo hot beats warm", []mergeInput{{rec("f", 1, "2", "18446744073709551614", "0"), 1}, {rec("f", 1, "2", "18446744073709551615", "0"), 1}}, ""},
	{"pseudo warm and warm", []mergeInput{{rec("f", 1, "1", "18446744073709551614"), 1}, {rec("f", 1, "1", "18446744073709551614"), 1}}, ""},
	{"pseudo meets counts", []mergeInput{{rec("f", 1, "1", "18446744073709551615"), 1}, {rec("f", 1, "1", "4"), 1}}, ""},
	{"counts meet pseudo", []mergeInput{{rec("f", 1, "1", "4"), 1}, {rec("f", 1, "1", "18446744073709551615"), 1}}, ""},
	{"pseudo is scaled", []mergeInput{{rec("f", 1, "1", "18446744073709551615"), 3}}, "a verdict has no weight"},
	{"bitmaps or", []mergeInput{{rec("f", 1, "1", "1", "$2", "0x1", "0x80"), 1}, {rec("f", 1, "1", "1", "$2", "0x10", "0x81"), 5}}, ""},
	{"bitmap size mismatch", []mergeInput{{rec("f", 1, "1", "1", "$1", "0x1"), 1}, {rec("f", 1, "1", "5", "$2", "0x10", "0x81", "1", "1", "1", "1", "8:4"), 1}}, ""},
	{"values merge", []mergeInput{{rec("f", 1, "1", "1", "1", "1", "1", "2", "8:10", "16:5"), 1}, {rec("f", 1, "1", "1", "1", "1", "1", "2", "16:9", "4:7"), 1}}, ""},
	{"values of equal count, one input", []mergeInput{{rec("f", 1, "1", "1", "1", "1", "1", "3", "9:5", "1:5", "7:6"), 1}}, ""},
	{"values of equal count, merged", []mergeInput{{rec("f", 1, "1", "1", "1", "1", "1", "3", "9:5", "1:5", "7:6"), 1}, {rec("f", 1, "1", "1", "1", "1", "1", "0"), 1}}, ""},
	{"new values are not weighted", []mergeInput{{rec("f", 1, "1", "1", "1", "1", "1", "1", "8:10"), 1}, {rec("f", 1, "1", "1", "1", "1", "1", "2", "8:1", "4:7"), 10}}, "the weight is applied"},
	{"value counts saturate", []mergeInput{{rec("f", 1, "1", "1", "1", "1", "1", "1", "8:18446744073709551615"), 1}, {rec("f", 1, "1", "1", "1", "1", "1", "1", "8:1"), 1}}, ""},
	{"site count mismatch spares other kinds", []mergeInput{
		{rec("f", 1, "1", "1", "2", "0", "1", "1", "g:3", "1", "1", "1", "8:10"), 1},
		{rec("f", 1, "1", "1", "2", "0", "2", "1", "g:3", "0", "1", "1", "1", "8:10"), 1},
	}, ""},
	{"a value twice at a site pairs up", []mergeInput{
		{rec("f", 1, "1", "1", "1", "0", "1", "2", "** External Symbol **:5", "** External Symbol **:3"), 1},
		{rec("f", 1, "1", "1", "1", "0", "1", "2", "** External Symbol **:2", "** External Symbol **:1"), 1},
	}, ""},
	{"a value twice, smaller first", []mergeInput{
		{rec("f", 1, "1", "1", "1", "0", "1", "2", "** External Symbol **:5", "** External Symbol **:3"), 1},
		{rec("f", 1, "1", "1", "1", "0", "1", "2", "** External Symbol **:1", "** External Symbol **:2"), 1},
	}, "equal values pair up by rank, whatever the order of the input"},
	{"same function twice in one input", []mergeInput{{rec("f", 1, "1", "1") + rec("f", 1, "1", "2"), 2}}, ""},
	{"levels add up", []mergeInput{{":ir\n" + rec("f", 1, "1", "1"), 1}, {":csir\n" + rec("f", 1<<60|1, "1", "2"), 1}}, ""},
	{"entry first or not", []mergeInput{{":ir\n" + rec("f", 1, "2", "39", "6"), 1}, {":ir\n:entry_first\n" + rec("f", 1, "2", "6", "39"), 1}}, "the counters are of other blocks"},
	{"loop entries or not", []mergeInput{{":ir\n:instrument_loop_entries\n" + rec("f", 1, "2", "39", "6"), 1}, {":ir\n" + rec("f", 1, "2", "6", "39"), 1}}, "the counters are of other blocks"},
	{"entry first adds up", []mergeInput{{":ir\n:entry_first\n" + rec("f", 1, "2", "6", "39"), 1}, {":ir\n:entry_first\n" + rec("f", 1, "2", "6", "39"), 1}}, ""},
	{"front end said, then IR", []mergeInput{{":fe\n" + rec("f", 1, "1", "1"), 1}, {":ir\n" + rec("g", 1, "1", "2"), 1}}, ""},
	{"front end unsaid, then IR", []mergeInput{{rec("f", 1, "1", "1"), 1}, {":ir\n" + rec("g", 1, "1", "2"), 1}}, "levels do not mix unless asked to"},
	{"front end said and unsaid", []mergeInput{{":fe\n" + rec("f", 1, "1", "1"), 1}, {rec("g", 1, "1", "2"), 1}}, "both are front-end profiles"},
	{"coverage adds up", []mergeInput{{":ir\n:single_byte_coverage\n" + rec("f", 1, "2", "1", "0"), 1}, {":ir\n:single_byte_coverage\n" + rec("f", 1, "2", "1", "1"), 1}}, ""},
}

func TestMergeRules(t *testing.T) {
	for _, tc := range mergeRules {
		t.Run(tc.name, func(t *testing.T) {
			tool := oracle.LLVM(t, 22)
			wantText, wantWarn := llvmMerge(t, tool, tc.inputs)
			gotText, gotWarn := mergeTexts(t, MergeOptions{LLVMCompat: true}, tc.inputs)
			alike.Values(t, "compatible merge (-llvm +profuse)", wantText, gotText)
			alike.Values(t, "warnings (-llvm +profuse)", wantWarn, gotWarn)
			gotText, gotWarn = mergeTexts(t, MergeOptions{}, tc.inputs)
			same := gotText == wantText && slices.Equal(gotWarn, wantWarn)
			if same != (tc.exact == "") {
				t.Errorf("exact merge equals LLVM's: %v, expected difference %q\n%s\n%v\n%v", same, tc.exact, cmp.Diff(wantText, gotText), wantWarn, gotWarn)
			}
		})
	}
}

// TestMergeRandomAgainstLLVM merges several random profiles of one program
// with random weights as llvm-profdata does on one thread.
func TestMergeRandomAgainstLLVM(t *testing.T) {
	tool := oracle.LLVM(t, 22)
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inputs := relatedInputs(t, rand.New(rand.NewPCG(seed, 9)), 6, true)
			wantText, wantWarn := llvmMerge(t, tool, inputs)
			gotText, gotWarn := mergeTexts(t, MergeOptions{LLVMCompat: true}, inputs)
			alike.Values(t, "text (-llvm +profuse)", wantText, gotText)
			alike.Values(t, "warnings (-llvm +profuse)", wantWarn, gotWarn)
		})
	}
}

// relatedInputs are n runs of one program: mostly the same functions and
// shapes, some missing, some with another shape under the same hash.
func relatedInputs(t testing.TB, rng *rand.Rand, n int, weighted bool) []mergeInput {
	base := randomProfile(rng, randomOptions{functions: 25, maxHashes: 3, values: 3, bitmaps: true, variant: IRLevel | ContextSens, hugeCounts: true})
	for _, f := range base.Functions {
		for _, r := range f.Records {
			// LLVM's text reader hands on the bitmap of an earlier record to
			// one that has none; see docs/differences.md.
			r.Bitmap = append(r.Bitmap, 1)
		}
	}
	names := make([]string, len(base.Functions))
	for i, f := range base.Functions {
		names[i] = f.Name
	}
	var out []mergeInput
	for range n {
		p := &Profile{Variant: base.Variant}
		for _, f := range base.Functions {
			if rng.IntN(5) == 0 {
				continue
			}
			g := Function{Name: f.Name}
			for _, r := range f.Records {
				c := *r.clone()
				for i := range c.Counts {
					if c.Pseudo() == 0 {
						c.Counts[i] = uint64(rng.IntN(1 << 10))
					}
				}
				for k := range c.Values {
					for i := range c.Values[k] {
						c.Values[k][i] = randomSite(rng, k, names)
					}
				}
				switch rng.IntN(25) {
				case 0:
					c.Counts = append(c.Counts, 1)
				case 1:
					c.Bitmap = append(c.Bitmap, 7)
				case 2:
					c.Values[1] = append(c.Values[1], []ValueData{{8, 3}})
				}
				g.Records = append(g.Records, &c)
			}
			p.Functions = append(p.Functions, g)
		}
		in := mergeInput{string(textOf(t, p)), 1}
		if weighted {
			in.weight = uint64(1 + rng.IntN(4))
		}
		out = append(out, in)
	}
	return out
}

// TestMergeGrouping: exact merging gives the same profile however the inputs
// are dealt to workers, mismatching records included.
func TestMergeGrouping(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 77))
		inputs := relatedInputs(t, rng, 7, true)
		want := mergeGrouped(t, inputs, make([]int, len(inputs)), 1)
		for range 8 {
			workers := 1 + rng.IntN(4)
			deal := make([]int, len(inputs))
			for i := range deal {
				deal[i] = rng.IntN(workers)
			}
			sameBytes(t, mergeGrouped(t, inputs, deal, workers), want, "seed %d, dealt %v", seed, deal)
		}
	}
}

// mergeGrouped merges input i in worker deal[i] and joins the workers.
func mergeGrouped(t testing.TB, inputs []mergeInput, deal []int, workers int) []byte {
	t.Helper()
	root := NewMerger(MergeOptions{})
	forks := make([]*Merger, workers)
	for w := range forks {
		forks[w] = root.Fork()
	}
	for w := range forks {
		for i, in := range inputs {
			if deal[i] != w {
				continue
			}
			r := openReader(t, strconv.Itoa(i), []byte(in.text), ReaderOptions{})
			oracle.Must(forks[w].AddAt(i, uint64(i), r, in.weight))(t)
		}
	}
	for _, f := range forks {
		oracle.NoError(t, root.Merge(f))
	}
	return indexedBytes(t, root.Finish().Profile(), IndexedOptions{})
}

// TestMergeOrder: without temporal traces and mismatches the order of inputs does not matter either.
func TestMergeOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	opt := randomOptions{functions: 40, maxHashes: 1, values: 3, bitmaps: true, variant: IRLevel}
	base := randomProfile(rng, opt)
	var inputs []mergeInput
	for i := range 5 {
		for _, f := range base.Functions {
			for _, r := range f.Records {
				for j := range r.Counts {
					r.Counts[j] += uint64(i * j)
				}
			}
		}
		inputs = append(inputs, mergeInput{string(textOf(t, base)), uint64(i + 1)})
	}
	want := mergeGrouped(t, inputs, make([]int, 5), 1)
	for range 10 {
		rng.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
		sameBytes(t, mergeGrouped(t, inputs, make([]int, 5), 1), want, "shuffled")
	}
}

// TestMergeBrokenInput: a broken input leaves no trace in an exact merge, and
// what precedes the damage in a compatible one.
func TestMergeBrokenInput(t *testing.T) {
	good, bad := rec("f", 1, "1", "5"), rec("f", 1, "1", "7")+"g\n1\n2\n4\n"
	for _, compat := range []bool{false, true} {
		m := NewMerger(MergeOptions{LLVMCompat: compat})
		for i, text := range []string{good, bad} {
			r := openReader(t, "in", []byte(text), ReaderOptions{})
			if _, err := m.Add(r, 1); (err != nil) != (i == 1) {
				t.Fatalf("input %d: %v", i, err)
			}
		}
		p := m.Finish().Profile()
		want := uint64(5)
		if compat {
			want = 12
		}
		if len(p.Functions) != 1 || p.Functions[0].Records[0].Counts[0] != want {
			t.Errorf("compat %v: %+v", compat, p.Functions)
		}
	}
}

// TestTraceReservoir samples temporal traces as LLVM 22 does.
func TestTraceReservoir(t *testing.T) {
	tool := oracle.LLVM(t, 22)
	rng := rand.New(rand.NewPCG(11, 12))
	for _, tc := range []struct{ inputs, traces, reservoir, length int }{
		{3, 2, 100, 10000}, {5, 4, 6, 5}, {1, 150, 100, 10000}, {4, 60, 7, 3}, {30, 1, 4, 2}, {2, 3, 5, 1},
	} {
		var inputs []mergeInput
		for range tc.inputs {
			p := randomProfile(rng, randomOptions{functions: 30, maxHashes: 1, variant: IRLevel | HasTemporal, traces: tc.traces})
			inputs = append(inputs, mergeInput{string(textOf(t, p)), 1})
		}
		want, _ := llvmMerge(t, tool, inputs,
			fmt.Sprint("--temporal-profile-trace-reservoir-size=", tc.reservoir),
			fmt.Sprint("--temporal-profile-max-trace-length=", tc.length))
		got, _ := mergeTexts(t, MergeOptions{LLVMCompat: true, TraceReservoir: tc.reservoir, MaxTraceLength: tc.length}, inputs)
		alike.Values(t, fmt.Sprintf("%+v (-llvm +profuse)", tc), want, got)
	}
}

func TestMergeRename(t *testing.T) {
	rename := func(name string) string { return strings.Replace(name, "old", "new", 1) }
	p := finished(t, MergeOptions{Rename: rename}, [][]byte{[]byte(rec("old", 1, "1", "5")), []byte(rec("new", 1, "1", "7"))}).Profile()
	if len(p.Functions) != 1 || p.Functions[0].Name != "new" || p.Functions[0].Records[0].Counts[0] != 5+2*7 {
		t.Errorf("%+v", p.Functions)
	}
}
