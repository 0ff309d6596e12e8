package irpgo

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/oracle"
	"github.com/profuse-pgo/profuse/profile"
)

var (
	mutationTable  = flag.Bool("mutation-table", false, "print the table of docs/reliability.md, over larger files")
	mutationOracle = flag.Int("mutation-oracle", 0, "run `N` bit flips of each file through llvm-profdata, too")
)

// An outcome is what becomes of a damaged profile.
type outcome int

const (
	rejected outcome = iota // not read
	warned                  // read, with a warning or without some functions
	checked                 // read in silence; Check finds something
	harmless                // read as if nothing were wrong, and nothing is
	silent                  // read in silence as something else
	crashed                 // of the other tool
	numOutcomes
)

// mutationSeed is a profile to damage, and where in it is what.
type mutationSeed struct {
	name    string
	data    []byte
	want    map[string][]Record
	variant Variant
	where   func(off int) string
}

func newMutationSeed(t *testing.T, name string, data []byte) *mutationSeed {
	p, err := Read(name, data, ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &mutationSeed{name, data, contents(p), p.Variant, regions(t, data)}
}

// regions says of each byte of a profile whether it is part of a number that
// nothing else in the file speaks of.
func regions(t *testing.T, data []byte) func(off int) string {
	const counts, hashes, values = "counter", "hash", "value"
	marks := make([]string, len(data))
	mark := func(from, to int64, what string) {
		for i := from; i < to; i++ {
			marks[i] = what
		}
	}
	r, err := NewReader("seed", data, ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	switch d := r.dec.(type) {
	case *rawReader:
		p := d.cur
		mark(p.counters.off, p.counters.off+int64(len(p.counters.data)), counts)
		mark(p.bitmap.off, p.bitmap.off+int64(len(p.bitmap.data)), counts)
		mark(p.valueData, int64(len(data)), values)
		if p.version < 3 { // names are plain text, and records have no hash of them
			mark(p.names.off, p.names.off+int64(len(p.names.data)), "name")
		}
		for i := range p.numRecords() {
			at := p.records.off + int64(i*p.layout.size)
			mark(at+int64(p.layout.hash), at+int64(p.layout.hash)+8, hashes)
			if p.layout.funcPtr >= 0 {
				mark(at+int64(p.layout.funcPtr), at+int64(p.layout.funcPtr+p.ptr), values) // what targets are found by
			}
		}
	case *textReader:
		mark(0, int64(len(data)), "text")
	default:
		mark(0, int64(len(data)), "indexed")
	}
	return func(off int) string { return marks[off] }
}

// try reads a damaged profile as "profuse merge" does.
func (s *mutationSeed) try(data []byte) outcome {
	said := false
	p, err := Read(s.name, data, ReaderOptions{
		Rescue: RescueDrop, Rescued: func(profile.Rescued) { said = true }, Warn: func(profile.Warning) { said = true },
	})
	switch {
	case err != nil:
		return rejected
	case said:
		return warned
	case p.Variant == s.variant && sameContents(contents(p), s.want):
		return harmless
	}
	if rep := Check(s.name, data); len(rep.Findings)+len(rep.Remarks) > 0 {
		return checked
	}
	return silent
}

func sameContents(a, b map[string][]Record) bool {
	if len(a) != len(b) {
		return false
	}
	for name, as := range a {
		bs := b[name]
		if len(as) != len(bs) {
			return false
		}
		for i := range as {
			if !sameRecord(&as[i], &bs[i]) {
				return false
			}
		}
	}
	return true
}

func sameRecord(a, b *Record) bool {
	if a.Hash != b.Hash || len(a.Counts) != len(b.Counts) || !bytes.Equal(a.Bitmap, b.Bitmap) {
		return false
	}
	for i, c := range a.Counts {
		if b.Counts[i] != c {
			return false
		}
	}
	for k := range a.Values {
		if len(a.Values[k]) != len(b.Values[k]) {
			return false
		}
		for i := range a.Values[k] {
			if fmt.Sprint(a.Values[k][i]) != fmt.Sprint(b.Values[k][i]) {
				return false
			}
		}
	}
	return true
}

// mutationTally counts outcomes, of silent ones also where the damage is.
type mutationTally struct {
	n     [numOutcomes]int
	all   int
	where map[string]int
}

func (m *mutationTally) add(o outcome, where string) {
	m.n[o]++
	m.all++
	if o == silent {
		if m.where == nil {
			m.where = make(map[string]int)
		}
		m.where[where]++
	}
}

func (m *mutationTally) String() string {
	part := func(o outcome) string { return fmt.Sprintf("%.1f %%", 100*float64(m.n[o])/float64(max(m.all, 1))) }
	s := fmt.Sprintf("%d | %s | %s | %s | %s | %s", m.all, part(rejected), part(warned), part(checked), part(harmless), part(silent))
	var places []string
	for where, n := range m.where {
		if where == "" {
			where = "other"
		}
		places = append(places, fmt.Sprintf("%s %d", where, n))
	}
	sort.Strings(places)
	return s + " | " + strings.Join(places, ", ")
}

// cut, flips and splices run the mutations of a seed.
func (s *mutationSeed) cuts() (m mutationTally) {
	for n := range s.data {
		m.add(s.try(s.data[:n:n]), "cut")
	}
	return m
}

func (s *mutationSeed) flips() (m mutationTally) {
	data := bytes.Clone(s.data)
	step := oracle.Step(11)
	if *mutationTable {
		step = 1
	}
	for i := 0; i < 8*len(data); i += step {
		data[i/8] ^= 1 << (i % 8)
		m.add(s.try(data), s.where(i/8))
		data[i/8] ^= 1 << (i % 8)
	}
	return m
}

func (s *mutationSeed) splices(n int) (m mutationTally) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range n {
		i, j := rng.IntN(len(s.data)), rng.IntN(len(s.data))
		data := append(bytes.Clone(s.data[:i]), s.data[j:]...)
		m.add(s.try(data), "splice")
	}
	return m
}

// mutationSeeds are small profiles of every version that a real tool wrote,
// and built ones of those that none of today's writes.
func mutationSeeds(t *testing.T) []*mutationSeed {
	var seeds []*mutationSeed
	small := func(base string) bool {
		if *mutationTable {
			switch base {
			case "ir-run1.profraw", "merged.profdata", "generate-run1.profraw", "llvm22-ir.proftext":
				return true
			}
			return false
		}
		return base == "tool-a.profraw" || base == "tool-merged.profdata"
	}
	for _, f := range oracle.Fixtures(t) {
		if small(filepath.Base(f.Path)) {
			seeds = append(seeds, newMutationSeed(t, f.Path, f.Bytes(t)))
		}
	}
	for _, version := range []uint32{1, 2, 3, 4, 5, 7, 11} {
		b := newRawBuild(version, 8, le, IRLevel)
		b.funcs = rescueBuild(3).funcs
		b.ids = [][]byte{make([]byte, 20)}
		if version < 7 {
			b.ids = nil
		}
		if version == 1 {
			for i := range b.funcs {
				b.funcs[i].values = Values{}
			}
		}
		seeds = append(seeds, newMutationSeed(t, fmt.Sprintf("built, raw version %d", version), b.build()))
	}
	return seeds
}

// TestMutations damages profiles in every way there is of each kind. What is
// read in silence as something else differs in numbers only that nothing in
// the file could contradict: counters, hashes and profiled values. In an
// indexed profile the summary contradicts most.
func TestMutations(t *testing.T) {
	for _, s := range mutationSeeds(t) {
		flips, cuts, splices := s.flips(), s.cuts(), s.splices(2000/oracle.Step(5))
		if *mutationTable {
			fmt.Printf("| %s | flips | %v |\n| | cuts | %v |\n| | splices | %v |\n", s.name, &flips, &cuts, &splices)
		}
		format, _ := Detect(s.data)
		switch format {
		case FormatRaw:
			// The pointers of versions before 8 are addresses: of what is
			// left in them a part is not contradicted by anything.
			if n := flips.where[""]; n > flips.all/50 {
				t.Errorf("%s: %d of %d flips have a silent effect although something speaks against them", s.name, n, flips.all)
			}
		case FormatIndexed:
			if n := flips.n[silent]; n > flips.all/5 {
				t.Errorf("%s: %d of %d flips have a silent effect", s.name, n, flips.all)
			}
		}
		if format != FormatText {
			if n := cuts.n[silent] + cuts.n[checked]; n > 0 {
				t.Errorf("%s: cut short, it is read as something else in silence at %d places", s.name, n)
			}
			if n := splices.n[silent]; n > splices.all/50 {
				t.Errorf("%s: %d of %d splices have a silent effect", s.name, n, splices.all)
			}
		}
		if *mutationOracle > 0 {
			s.compare(t, *mutationOracle)
		}
	}
}

// compare runs n bit flips through llvm-profdata 22 and profuse.
func (s *mutationSeed) compare(t *testing.T, n int) {
	exe := oracle.LLVM(t, 22)
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	merge := func(data []byte) (text []byte, said string, o outcome) {
		if err := os.WriteFile(in, data, 0o666); err != nil {
			t.Fatal(err)
		}
		os.Remove(out)
		cmd := exec.Command(exe, "merge", "-text", in, "-o", out)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit) && (!exit.Exited() || exit.ExitCode() >= 128):
			return nil, "", crashed
		case err != nil:
			return nil, "", rejected
		}
		text, _ = os.ReadFile(out)
		return text, stderr.String(), harmless
	}
	want, said, o := merge(s.data)
	if o != harmless || said != "" {
		return // not of a version that it reads
	}
	rng := rand.New(rand.NewPCG(9, 9))
	var theirs, ours mutationTally
	data := bytes.Clone(s.data)
	for range n {
		i, bit := rng.IntN(len(data)), rng.IntN(8)
		data[i] ^= 1 << bit
		text, said, o := merge(data)
		switch {
		case o != harmless:
		case said != "":
			o = warned
		case !bytes.Equal(text, want):
			o = silent
		}
		theirs.add(o, s.where(i))
		ours.add(s.try(data), s.where(i))
		data[i] ^= 1 << bit
	}
	fmt.Printf("| %s | llvm-profdata 22, crashed %d | %v |\n| | profuse | %v |\n", s.name, theirs.n[crashed], &theirs, &ours)
}
