package irpgo

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// A partialTree merges inputs in a random tree of partials.
type partialTree struct {
	t      testing.TB
	rng    *rand.Rand
	inputs []mergeInput
	heaps  [][]byte // YAML, by input; nil for none
}

func (p *partialTree) merger() *Merger { return NewMerger(MergeOptions{KeepVTableNames: true}) }

// add adds inputs to a merger.
func (p *partialTree) add(m *Merger, inputs []int) {
	for _, i := range inputs {
		r, err := NewReader(strconv.Itoa(i), []byte(p.inputs[i].text), ReaderOptions{})
		if err != nil {
			p.t.Fatal(err)
		}
		if _, err := m.AddAt(i, uint64(i), r, p.inputs[i].weight); err != nil {
			p.t.Fatal(err)
		}
		if p.heaps != nil {
			heap, err := memprof.ReadYAML(strconv.Itoa(i), p.heaps[i])
			if err == nil {
				err = m.AddMemProf("", heap, p.inputs[i].weight)
			}
			if err != nil {
				p.t.Fatal(err)
			}
		}
	}
}

// partial returns the partial of inputs, through a tree of others.
func (p *partialTree) partial(inputs []int) []byte {
	m := p.merger()
	for len(inputs) > 0 {
		n := 1 + p.rng.IntN(len(inputs))
		if group := inputs[:n]; n < len(inputs)+p.rng.IntN(2) && p.rng.IntN(3) > 0 && n > 1 {
			p.sum(m, p.partial(group))
		} else {
			p.add(m, group)
		}
		inputs = inputs[n:]
	}
	return p.write(m)
}

func (p *partialTree) sum(m *Merger, data []byte) {
	r, err := NewReader("part", data, ReaderOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := m.AddAt(0, 0, r, 1); err != nil {
		p.t.Fatal(err)
	}
}

func (p *partialTree) write(m *Merger) []byte {
	var b bytes.Buffer
	if err := m.WritePartial(&b, nil); err != nil {
		p.t.Fatal(err)
	}
	return b.Bytes()
}

// result returns the bytes of an indexed profile.
func (p *partialTree) result(m *Merger) []byte {
	out, err := encodeIndexed(m.Finish().Profile(), IndexedOptions{MemProf: memprof.WriteOptions{Schema: memprof.FullSchema}})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// manyTargets returns a record whose sites have up to n values.
func manyTargets(rng *rand.Rand, name string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n7\n1\n%d\n1\n0\n2\n", name, rng.IntN(100))
	for range 2 {
		values := rng.Perm(3 * n)[:1+rng.IntN(n)]
		fmt.Fprintf(&b, "%d\n", len(values))
		for _, v := range values {
			fmt.Fprintf(&b, "target%d:%d\n", v, rng.IntN(20))
		}
	}
	return b.String()
}

// someTraces returns the header of n temporal traces, themselves a sample.
func someTraces(rng *rand.Rand, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, ":temporal_prof_traces\n%d\n%d\n", n, n+rng.IntN(20))
	for range n {
		fmt.Fprintf(&b, "%d\nf%d,f%d,many\n", 1+rng.IntN(5), rng.IntN(9), rng.IntN(9))
	}
	return b.String()
}

// someHeap returns a heap profile as YAML, whose contexts know different fields.
func someHeap(rng *rand.Rand) []byte {
	b := []byte("---\nHeapProfileRecords:\n")
	for _, function := range rng.Perm(5)[:1+rng.IntN(4)] {
		b = fmt.Appendf(b, "  - GUID: 0x%x\n    AllocSites:\n", 1+function)
		for range 1 + rng.IntN(4) {
			b = fmt.Appendf(b, "      - Callstack:\n          - { Function: 0x%x, LineOffset: %d, Column: 2, IsInlineFrame: false }\n"+
				"        MemInfoBlock: { AllocCount: %d", 1+function, rng.IntN(3), rng.IntN(9))
			for _, field := range []string{"TotalSize", "MinSize", "TotalLifetime", "AllocCpuId", "TotalLifetimeAccessDensity"} {
				if rng.IntN(8) > 0 {
					b = fmt.Appendf(b, ", %s: %d", field, 1+rng.IntN(99))
				}
			}
			b = append(b, " }\n"...)
		}
	}
	return b
}

// TestPartials: any tree of partials, in any order, gives the bytes of the flat merge,
// value sites above 255 values, records of several forms, a sample of temporal traces,
// heap profiles with different fields, and weights included.
func TestPartials(t *testing.T) {
	lossy := 0 // of trees of indexed profiles
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		p := &partialTree{t: t, rng: rng, inputs: relatedInputs(t, rng, 9, true)}
		for i := range p.inputs {
			p.inputs[i].text = someTraces(rng, 30) + p.inputs[i].text + manyTargets(rng, "many", 400)
			p.heaps = append(p.heaps, someHeap(rng))
		}
		all := make([]int, len(p.inputs))
		for i := range all {
			all[i] = i
		}
		flat, whole := p.merger(), p.merger()
		p.add(flat, all)
		if !flat.Exceeds() {
			t.Errorf("seed %d: does not exceed an indexed profile", seed)
		}
		want := p.result(flat)
		p.add(whole, all)
		wantPartial := p.write(whole)
		if got := p.result(whole); !bytes.Equal(got, want) { // finished afterwards
			t.Fatalf("seed %d: files differ at byte %d after the partial was written", seed, firstDifference(got, want))
		}
		halves := p.merger()
		for _, half := range [][]int{all[:4], all[4:]} {
			m := p.merger()
			p.add(m, half)
			addTo(t, halves, openReader(t, "half", p.result(m), ReaderOptions{}), 1)
		}
		if !bytes.Equal(p.result(halves), want) {
			lossy++
		}
		one, alone := p.merger(), p.merger()
		p.add(one, all[:1])
		p.sum(alone, p.partial(all[:1]))
		if got, want := p.result(alone), p.result(one); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: files of one input differ at byte %d", seed, firstDifference(got, want))
		}
		for range 8 {
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			part := p.partial(all)
			if !bytes.Equal(part, wantPartial) {
				t.Fatalf("seed %d: partials differ at byte %d", seed, firstDifference(part, wantPartial))
			}
			m := p.merger()
			p.sum(m, part)
			if got := p.result(m); !bytes.Equal(got, want) {
				t.Fatalf("seed %d: files differ at byte %d", seed, firstDifference(got, want))
			}
		}
	}
	if lossy < 25 {
		t.Errorf("indexed profiles of two halves suffice for %d of 30 sums: the test shows little", 30-lossy)
	}
}

// TestPartialFixtures: a partial of real profiles is summed as they are, with weights, and
// when it was made by itself.
func TestPartialFixtures(t *testing.T) {
	used := 0
	for _, f := range oracle.Fixtures(t) {
		name, data := f.Path, f.Bytes(t)
		r, err := NewReader(name, data, ReaderOptions{})
		if err != nil {
			continue
		}
		p := &partialTree{t: t}
		flat, leaf := p.merger(), p.merger()
		for k := range 2 {
			if _, err = flat.Add(r, 3); err != nil {
				break
			}
			if _, err = leaf.AddAt(k, uint64(k), r, 1); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			continue
		}
		part := openReader(t, name, p.write(leaf), ReaderOptions{})
		sum := p.merger()
		addTo(t, sum, part, 3)
		if got, want := p.result(sum), p.result(flat); !bytes.Equal(got, want) {
			t.Errorf("%s: files differ at byte %d of %d", name, firstDifference(got, want), len(want))
		}
		used++
	}
	if used < 100 {
		t.Errorf("only %d fixtures were used", used)
	}
}

// TestPartialDamage: a partial that is cut off or changed is refused whole.
func TestPartialDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	p := &partialTree{t: t, rng: rng, inputs: relatedInputs(t, rng, 3, true)}
	m := p.merger()
	p.add(m, []int{0, 1, 2})
	data := p.write(m)
	for range 300 {
		bad := bytes.Clone(data)
		if rng.IntN(2) == 0 {
			bad = bad[:rng.IntN(len(bad))]
		} else {
			bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
		}
		if _, err := NewReader("part", bad, ReaderOptions{}); err == nil || !strings.HasPrefix(err.Error(), "part: ") {
			t.Fatalf("%v", err)
		}
	}
}

// FuzzReadPartial: whatever follows the magic, there is an error, or a partial that is written as it was read.
func FuzzReadPartial(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	p := &partialTree{t: f, rng: rng, inputs: relatedInputs(f, rng, 3, true)}
	m := p.merger()
	p.add(m, []int{0, 1, 2})
	f.Add(p.write(m)[len(partialMagic):])
	f.Fuzz(func(t *testing.T, data []byte) {
		part, err := NewReader("fuzz", resealed(append([]byte(partialMagic), data...)), ReaderOptions{})
		if err != nil {
			return
		}
		m := NewMerger(MergeOptions{KeepVTableNames: true, KeepSymbols: true})
		if _, err := m.Add(part, 1); err != nil {
			return
		}
		p := &partialTree{t: t}
		once := p.write(m)
		m = NewMerger(MergeOptions{KeepVTableNames: true, KeepSymbols: true})
		p.sum(m, once)
		if twice := p.write(m); !bytes.Equal(twice, once) {
			t.Fatalf("written twice: differs at byte %d", firstDifference(twice, once))
		}
	})
}

// resealed returns a partial with the checksum of its bytes.
func resealed(data []byte) []byte {
	if len(data) < sha256.Size {
		return data
	}
	body := data[:len(data)-sha256.Size]
	sum := sha256.Sum256(body)
	return append(bytes.Clone(body), sum[:]...)
}

// TestPartialDamaged: what is damaged is told with its place, also where somebody has renewed the checksum.
func TestPartialDamaged(t *testing.T) {
	p := &partialTree{t: t, rng: rand.New(rand.NewPCG(1, 1)), inputs: relatedInputs(t, rand.New(rand.NewPCG(1, 1)), 2, true)}
	m := p.merger()
	p.add(m, []int{0, 1})
	whole := p.write(m)
	body := whole[:len(whole)-sha256.Size]
	head := len(partialMagic) + 1 // the number of inputs, of one byte, follows
	seal := func(parts ...[]byte) []byte {
		return resealed(append(bytes.Join(parts, nil), make([]byte, sha256.Size)...))
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"cut off", whole[:len(whole)-1], "SHA-256 is "},
		{"short", whole[:20], "size is 20 bytes, want a whole partial sum"},
		{"version", append(append([]byte(partialMagic), 99), body[head:]...), "version is 99"},
		{"inputs", seal(body[:head], []byte{0x80, 0x80, 0x80, 0x80, 0x08}, body[head+1:]), "number of inputs is 2147483648, want less than 2^31"},
		{"end", seal(body, []byte{0}), "end is 1 bytes more, want none after the records"},
	} {
		_, err := NewReader("part", c.data, ReaderOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := NewReader("part", seal(body), ReaderOptions{}); err != nil {
		t.Error(err)
	}
}
