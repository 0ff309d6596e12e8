package ctxprof

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// vector returns a file of vectors.
func vector(t testing.TB, name string) []byte {
	t.Helper()
	return oracle.Must(base64.StdEncoding.DecodeString(vectorHead + vectors[name]))(t)
}

// read reads a profile without warnings.
func read(t testing.TB, data []byte) *Profile {
	t.Helper()
	return oracle.Must(Read("f", data, func(err error) { t.Errorf("warning: %v", err) }))(t)
}

func write(t testing.TB, p *Profile, yaml bool) []byte {
	t.Helper()
	var b bytes.Buffer
	oracle.NoError(t, p.Write(&b, yaml))
	return b.Bytes()
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return oracle.ReadFile(t, oracle.Testdata(t, "ctxprof/"+name)[0])
}

// TestVectors: what the tool wrote is written again, and goes through YAML.
func TestVectors(t *testing.T) {
	for name := range vectors {
		data := vector(t, name)
		p := read(t, data)
		if !bytes.Equal(write(t, p, false), data) {
			t.Errorf("%s: other bytes", name)
		}
		text := write(t, p, true)
		again := oracle.Must(Read("f", text, nil))(t)
		if !bytes.Equal(write(t, again, true), text) {
			t.Errorf("%s: other YAML:\n%s", name, text)
		}
	}
	text := fixture(t, "other.ctxprof.yaml")
	if got := write(t, read(t, text), true); !bytes.Equal(got, text) {
		t.Errorf("%s", got)
	}
}

// TestModel: the model of the vector with everything.
func TestModel(t *testing.T) {
	fn := func(guid uint64, counters ...uint64) Function { return Function{guid, counters} }
	want := &Profile{
		Version: 4,
		Roots: []Root{
			{Context: Context{Function: fn(1000, 1, 2, 3), Callees: []Context{
				{Function: fn(2000, 4, 5), Site: 1},
				{Function: fn(math.MaxUint64-2, 6, 7, 8), Site: 1},
				{Function: fn(3000, 40, 50), Site: 2, Callees: []Context{{Function: fn(4000, 1)}}},
			}}, Total: 7, Unhandled: []Function{fn(5000, 9, 300)}},
			{Context: Context{Function: fn(math.MaxUint64-3, 5, 9)}, Total: 45, Unhandled: []Function{}},
		},
		Flat: []Function{fn(777, 2)},
	}
	if diff := cmp.Diff(want, read(t, vector(t, "everything"))); diff != "" {
		t.Error(diff)
	}
}

// TestFlatten: the sums that opt of LLVM 22 prints.
func TestFlatten(t *testing.T) {
	want := map[uint64][]uint64{
		4395024877212874786: {1710, 211}, 6910751087267889936: {300, 500}, 7399155579282764986: {1150}, 13598193224579702649: {40},
	}
	if diff := cmp.Diff(want, read(t, vector(t, "flattening")).Flatten()); diff != "" {
		t.Error(diff)
	}
	p := &Profile{
		Roots: []Root{{Context: Context{Function: Function{1, []uint64{math.MaxUint64, 2}}}, Total: 2}},
		Flat:  []Function{{1, []uint64{5}}, {2, nil}},
	}
	want = map[uint64][]uint64{1: {math.MaxUint64, 4}, 2: nil}
	if diff := cmp.Diff(want, p.Flatten()); diff != "" {
		t.Error(diff)
	}
}

// TestFlattenOracle compares the flat profile with the one that opt prints.
func TestFlattenOracle(t *testing.T) {
	opt := oracle.Tool(t, "opt-22")
	dir := t.TempDir()
	module := filepath.Join(dir, "m.ll")
	oracle.WriteFile(t, module, []byte("define i32 @entry() {\n  ret i32 0\n}\n"))
	for name, data := range map[string][]byte{"server": fixture(t, "server.ctxprof"), "random": write(t, random(rand.New(rand.NewPCG(8, 8)), 40, 20), false)} {
		file := filepath.Join(dir, name)
		oracle.WriteFile(t, file, data)
		_, out, code := oracle.Run(t, opt, "-use-ctx-profile="+file, "-passes=assign-guid,require<ctx-prof-analysis>,print<ctx-prof-analysis>",
			"-ctx-profile-printer-level=everything", module, "-disable-output")
		_, flat, found := strings.Cut(out, "Flat Profile:\n")
		if code != 0 || !found {
			t.Fatalf("exit code %d: %s", code, out)
		}
		var want strings.Builder
		sums := oracle.Must(Read("f", data, nil))(t).Flatten()
		for _, guid := range slices.Sorted(maps.Keys(sums)) {
			fmt.Fprintf(&want, "%d : ", guid)
			for _, n := range sums[guid] {
				fmt.Fprintf(&want, "%d ", n)
			}
			want.WriteString("\n")
		}
		if diff := cmp.Diff(strings.TrimSpace(flat), strings.TrimSpace(want.String())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// random returns a profile with about n contexts, which were all entered, and counts of at most the given bits.
func random(rng *rand.Rand, n, bits int) *Profile {
	counters := make(map[uint64]int) // of a function
	function := func() Function {
		guid := rng.Uint64()
		if rng.IntN(2) == 0 {
			guid = uint64(rng.IntN(30)) // common
		}
		if counters[guid] == 0 {
			counters[guid] = 1 + rng.IntN(1+rng.IntN(12))
		}
		f := Function{guid, make([]uint64, counters[guid])}
		for i := range f.Counters {
			f.Counters[i] = rng.Uint64() >> (64 - bits) >> rng.IntN(bits)
		}
		f.Counters[0] = max(f.Counters[0]>>8, 1)
		return f
	}
	functions := func(n int) (list []Function) {
		seen := make(map[uint64]bool)
		for range n {
			if f := function(); !seen[f.GUID] {
				seen[f.GUID] = true
				list = append(list, f)
			}
		}
		return list
	}
	var below func(x *Context, depth int)
	below = func(x *Context, depth int) {
		site := uint32(0)
		for range rng.IntN(5) {
			site += uint32(rng.IntN(3))
			for _, f := range functions(1 + rng.IntN(2)) {
				same := func(c Context) bool { return c.Site == site && c.GUID == f.GUID }
				if n--; n < 0 || slices.ContainsFunc(x.Callees, same) {
					continue
				}
				c := Context{Function: f, Site: site}
				if depth < 9 {
					below(&c, depth+1)
				}
				x.Callees = append(x.Callees, c)
			}
		}
	}
	p := &Profile{Flat: functions(rng.IntN(6))}
	for _, f := range functions(rng.IntN(5)) {
		r := Root{Context: Context{Function: f}, Unhandled: functions(rng.IntN(4))}
		r.Total = r.Counters[0] + uint64(rng.IntN(3))
		below(&r.Context, 0)
		p.Roots = append(p.Roots, r)
	}
	return p
}

// plainYAML writes a profile in its own order, as a person might.
func plainYAML(p *Profile) []byte {
	var b strings.Builder
	function := func(f *Function) {
		fmt.Fprintf(&b, "{Guid: %d, Counters: %s", f.GUID, strings.ReplaceAll(fmt.Sprint(f.Counters), " ", ", "))
	}
	list := func(key string, functions []Function) {
		fmt.Fprintf(&b, "%s: [", key)
		for i := range functions {
			function(&functions[i])
			b.WriteString("}, ")
		}
		b.WriteString("]")
	}
	var sites func(x *Context)
	sites = func(x *Context) {
		b.WriteString(", Callsites: [")
		for site, rest := uint32(0), x.Callees; len(rest) > 0; site++ {
			b.WriteString("[")
			for len(rest) > 0 && rest[0].Site == site {
				function(&rest[0].Function)
				sites(&rest[0])
				b.WriteString("}, ")
				rest = rest[1:]
			}
			b.WriteString("], ")
		}
		b.WriteString("]")
	}
	b.WriteString("Contexts: [")
	for i := range p.Roots {
		r := &p.Roots[i]
		function(&r.Function)
		fmt.Fprintf(&b, ", TotalRootEntryCount: %d, ", r.Total)
		list("Unhandled", r.Unhandled)
		sites(&r.Context)
		b.WriteString("}, ")
	}
	b.WriteString("]\n")
	list("FlatProfiles", p.Flat)
	return []byte(strings.ReplaceAll(b.String(), ", ]", "]"))
}

// TestOracle compares random profiles with llvm-ctxprof-util: the binary file that it makes of YAML, and the YAML that it
// makes of the file.
func TestOracle(t *testing.T) {
	tool := oracle.Tool(t, "llvm-ctxprof-util-22")
	dir := t.TempDir()
	in, bin, out := filepath.Join(dir, "in.yaml"), filepath.Join(dir, "bin"), filepath.Join(dir, "out.yaml")
	convert := func(how, from, to string, more ...string) []byte {
		if _, stderr, code := oracle.Run(t, tool, append([]string{how, "--input", from, "--output", to}, more...)...); code != 0 {
			t.Fatalf("%s: exit code %d: %s", how, code, stderr)
		}
		return oracle.ReadFile(t, to)
	}
	// 500 profiles, 20 in a file: starting the tool takes most of the time.
	for seed := range 25 / oracle.Step(6) {
		rng := rand.New(rand.NewPCG(22, uint64(seed)))
		p := &Profile{}
		for range 20 {
			one := random(rng, 60, 64)
			for _, r := range one.Roots {
				if !slices.ContainsFunc(p.Roots, func(have Root) bool { return have.GUID == r.GUID }) {
					p.Roots = append(p.Roots, r)
				}
			}
			for _, f := range one.Flat {
				if !slices.ContainsFunc(p.Flat, func(have Function) bool { return have.GUID == f.GUID }) {
					p.Flat = append(p.Flat, f)
				}
			}
		}
		text := plainYAML(p)
		oracle.WriteFile(t, in, text)
		want := convert("fromYAML", in, bin)
		p = read(t, text)
		if got := write(t, p, false); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: other bytes of\n%s", seed, text)
		}
		if got, want := write(t, read(t, want), true), convert("toYAML", bin, out); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: other YAML:\n%s", seed, cmp.Diff(string(want), string(got)))
		}
		if again := write(t, read(t, want), false); !bytes.Equal(again, want) {
			t.Fatalf("seed %d: other bytes after reading", seed)
		}
	}
	// Contexts that were never entered.
	oracle.WriteFile(t, in, []byte("Contexts:\n- Guid: 1\n  TotalRootEntryCount: 0\n  Counters: [0, 1]\n  Callsites:\n  - - Guid: 2\n      Counters: [0]\n"))
	p := oracle.Must(Read("f", oracle.ReadFile(t, in), nil))(t)
	if want := convert("fromYAML", in, bin, "--ctx-prof-include-empty"); !bytes.Equal(write(t, p, false), want) {
		t.Error("other bytes of contexts that were never entered")
	}
}

// TestDoubts: what LLVM refuses or passes over is read, with a warning.
func TestDoubts(t *testing.T) {
	twice := slices.Concat(vector(t, "everything"), vector(t, "flattening"), vector(t, "everything"))
	for _, c := range []struct {
		name, want string
		class      profile.Class
		data       []byte
	}{
		{"concatenated", "number of profiles is 3, want 1: LLVM reads only the first", profile.ErrMismatch, twice},
		{"roots twice", "occur twice at one place is 1, first root 1", profile.ErrCorrupt, []byte(
			"Contexts: [{Guid: 1, TotalRootEntryCount: 1, Counters: [1]}, {Guid: 1, TotalRootEntryCount: 1, Counters: [1]}]")},
		{"callees twice", "occur twice at one place is 1, first callee 2 of 1", profile.ErrCorrupt, []byte(
			"Contexts: [{Guid: 1, TotalRootEntryCount: 2, Counters: [2], Callsites: [[{Guid: 2, Counters: [1]}, {Guid: 2, Counters: [1]}]]}]")},
		{"unhandled twice", "first unhandled function 2", profile.ErrCorrupt, []byte(
			"Contexts: [{Guid: 1, TotalRootEntryCount: 2, Counters: [2], Unhandled: [{Guid: 2, Counters: [1]}, {Guid: 2, Counters: [1]}]}]")},
		{"flat twice", "first flat function 7", profile.ErrCorrupt, []byte("FlatProfiles: [{Guid: 7, Counters: [1]}, {Guid: 7, Counters: [1]}]")},
		{"without counters", "functions without counters is 1, first flat function 7", profile.ErrCorrupt, []byte("FlatProfiles: [{Guid: 7, Counters: []}]")},
		{"more than all", "collected more often than they were entered is 1, first root 1", profile.ErrMismatch, []byte(
			"Contexts: [{Guid: 1, TotalRootEntryCount: 1, Counters: [2]}]")},
		{"never entered", "contexts that were never entered is 2, first a context of 2", profile.ErrMismatch, []byte(
			"Contexts: [{Guid: 1, TotalRootEntryCount: 1, Counters: [1], Callsites: [[{Guid: 2, Counters: [0]}, {Guid: 3, Counters: [0]}]]}]")},
	} {
		var warnings []error
		if _, err := Read("f", c.data, func(err error) { warnings = append(warnings, err) }); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if len(warnings) != 1 || !strings.Contains(warnings[0].Error(), c.want) || profile.ClassOf(warnings[0]) != c.class {
			t.Errorf("%s: %v, want %q", c.name, warnings, c.want)
		}
	}
	sum := oracle.Must(Read("f", twice, nil))(t)
	var m Merger
	m.Add(read(t, vector(t, "everything")), 2)
	m.Add(read(t, vector(t, "flattening")), 1)
	if diff := cmp.Diff(write(t, m.Profile(1), true), write(t, sum, true)); diff != "" || sum.Version != version {
		t.Errorf("the sum of concatenated profiles: %s", diff)
	}
}

// TestRefused: what no tool writes.
func TestRefused(t *testing.T) {
	whole := vector(t, "everything")
	for _, c := range []struct {
		name, want string
		class      profile.Class
		data       []byte
	}{
		{"nothing", "size is 0 bytes", profile.ErrEmpty, nil},
		{"more bytes", `bitstream at 0x1ec: first bytes of a profile is "more", want "CTXP"`, profile.ErrCorrupt, append(bytes.Clone(whole), "more bytes"...)},
		{"half a magic number", "first bytes of a profile is 2 bytes", profile.ErrTruncated, append(bytes.Clone(whole), "CT"...)},
		{"another version", "Metadata at 0x104: version is 5, want 4", profile.ErrUnsupported, bitsOf(func(w *bitWriter) {
			w.block(metadataBlock, func() { w.record(versionRecord, 5) })
		})},
		{"an early version", "version is 3, want 4", profile.ErrUnsupported, bitsOf(func(w *bitWriter) {
			w.block(metadataBlock, func() { w.record(versionRecord, 3) })
		})},
		{"no block", "entry is record 1 of 1 operands, want block 8 (Metadata)", profile.ErrCorrupt, bitsOf(func(w *bitWriter) { w.record(1, 4) })},
		{"a key", `YAML line 1 (record 0): key is "Name"`, profile.ErrCorrupt, []byte("Contexts: [{Name: f, Guid: 1}]")},
		{"no entries", "key TotalRootEntryCount is missing", profile.ErrCorrupt, []byte("Contexts: [{Guid: 1, Counters: [1]}]")},
		{"far call site", "call site is 4294967296, want a number of 32 bits", profile.ErrCorrupt, bitsOf(func(w *bitWriter) {
			w.block(metadataBlock, func() {
				w.record(versionRecord, version)
				w.block(contextsBlock, func() {
					w.root(&Root{Context: Context{Function: Function{1, []uint64{1}}}})
					w.block(rootBlock, func() {
						w.record(guidRecord, 2)
						w.record(totalRecord, 2)
						w.record(countersRecord, 2)
						w.block(unhandledBlock, func() {})
						w.block(contextBlock, func() {
							w.record(guidRecord, 3)
							w.record(siteRecord, 1<<32)
						})
					})
				})
			})
		})},
	} {
		_, err := Read("f", c.data, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || profile.ClassOf(err) != c.class {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	p := &Profile{Roots: []Root{{Context: Context{Function: Function{1, []uint64{1}}, Callees: []Context{{Function: Function{2, []uint64{1}}, Site: 1 << 30}}}}}}
	if err := p.Write(&bytes.Buffer{}, true); profile.ClassOf(err) != profile.ErrUnsupported {
		t.Errorf("a billion call sites in YAML: %v", err)
	}
}

// bitsOf returns a bitstream after the magic number and names.
func bitsOf(contents func(*bitWriter)) []byte {
	w := &bitWriter{out: (&Profile{}).encode()}
	w.out = w.out[:252]
	contents(w)
	w.align()
	return w.out
}

// TestAbbreviations: records may be abbreviated, though LLVM does not do that here.
func TestAbbreviations(t *testing.T) {
	define := func(w *bitWriter, ops ...[3]uint64) { // literal, value or encoding, width
		w.fixed(defineAbbreviation, topWidth)
		w.vbr(uint64(len(ops)), abbrevVBR)
		for _, o := range ops {
			if w.fixed(o[0], 1); o[0] == 1 {
				w.vbr(o[1], literalVBR)
				continue
			}
			if w.fixed(o[1], 3); o[1] <= vbrEncoding {
				w.vbr(o[2], abbrevVBR)
			}
		}
	}
	w := &bitWriter{out: []byte(magic)}
	{
		w.block(blockInfoBlock, func() { // of the flat blocks: 4 is a GUID of VBR8, 5 an array of counters of 16 bits
			w.record(setBlock, flatBlock)
			define(w, [3]uint64{1, guidRecord}, [3]uint64{0, vbrEncoding, 8})
			define(w, [3]uint64{1, countersRecord}, [3]uint64{0, arrayEncoding}, [3]uint64{0, fixedEncoding, 16})
		})
		w.block(metadataBlock, func() {
			w.record(versionRecord, version)
			// A wider block, with an abbreviation of its own.
			w.fixed(enterBlock, topWidth)
			w.vbr(flatsBlock, blockVBR)
			w.vbr(4, widthVBR)
			w.align()
			at := len(w.out)
			w.fixed(0, wordBits)
			w.fixed(enterBlock, 4)
			w.vbr(flatBlock, blockVBR)
			w.vbr(3, widthVBR)
			w.align()
			inner := len(w.out)
			w.fixed(0, wordBits)
			w.fixed(4, 3)
			w.vbr(77777, 8)
			w.fixed(5, 3)
			w.vbr(3, recordVBR)
			for _, n := range []uint64{1, 65535, 300} {
				w.fixed(n, 16)
			}
			w.fixed(endBlock, 3)
			w.align()
			w.out[inner] = byte((len(w.out) - inner - 4) / 4)
			w.fixed(endBlock, 4)
			w.align()
			w.out[at] = byte((len(w.out) - at - 4) / 4)
		})
	}
	data := w.out
	want := &Profile{Version: version, Flat: []Function{{77777, []uint64{1, 65535, 300}}}}
	if diff := cmp.Diff(want, read(t, data)); diff != "" {
		t.Error(diff)
	}
	// llvm-ctxprof-util passes over the abbreviations in BLOCKINFO, and fails.
	file := filepath.Join(t.TempDir(), "f")
	oracle.WriteFile(t, file, data)
	out, stderr, code := oracle.Run(t, oracle.Tool(t, "llvm-bcanalyzer-22"), "--dump", file)
	if code != 0 || !strings.Contains(out, " abbrevid=4 op0=77777/>") || !strings.Contains(out, " abbrevid=5 op0=1 op1=65535 op2=300/>") {
		t.Errorf("llvm-bcanalyzer: exit code %d, %s%s", code, out, stderr)
	}
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]string{
		"CTXP": "binary", "\nContexts:\n": "yaml", "# x\n---\nFlatProfiles: []\n": "yaml", "Contexts: {}": "yaml",
		"": "", "CTX": "", "  Contexts:\n": "", "Contexts:a\n": "", "Context:\n": "", "{}": "",
	} {
		got := ""
		if yaml, ok := Detect([]byte(text)); yaml && ok {
			got = "yaml"
		} else if ok {
			got = "binary"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestMerge: a merge does not depend on the order, and counts by weights.
func TestMerge(t *testing.T) {
	a, b := read(t, fixture(t, "server.ctxprof")), read(t, fixture(t, "server-2.ctxprof"))
	sum := func(unit uint64, add func(m *Merger)) []byte {
		var m Merger
		add(&m)
		p := m.Profile(unit)
		if m.Left > 0 || m.Saturated {
			t.Errorf("%d contexts left, saturated: %t", m.Left, m.Saturated)
		}
		return write(t, p, false)
	}
	ab := sum(1, func(m *Merger) { m.Add(a, 3); m.Add(b, 1) })
	ba := sum(1, func(m *Merger) { m.Add(b, 1); m.Add(a, 1); m.Add(a, 2) })
	ten := sum(10, func(m *Merger) { m.Add(b, 10); m.Add(a, 30) })
	if !bytes.Equal(ab, ba) || !bytes.Equal(ab, ten) {
		t.Error("the sum depends on the order or on weights")
	}
	p := read(t, ab)
	for i, want := range []uint64{3*4 + 9, 3*16 + 32} {
		if r := p.Roots[i]; r.Total != want || r.Counters[0] != want {
			t.Errorf("root %d: %d, %d, want %d", i, r.Total, r.Counters[0], want)
		}
	}
}

// TestMergeBuilds: of contexts with different numbers of counters the most entered one stays, with all below it.
func TestMergeBuilds(t *testing.T) {
	const text = `Contexts: [{Guid: 1, TotalRootEntryCount: 9, Counters: [9], Callsites: [[{Guid: 2, Counters: %s, Callsites: [[{Guid: %d, Counters: [1]}]]}]]}]
FlatProfiles: [{Guid: 3, Counters: %[1]s}]`
	one := read(t, fmt.Appendf(nil, text, "[5, 1]", 4))
	other := read(t, fmt.Appendf(nil, text, "[3]", 5))
	for _, c := range []struct {
		weights [2]uint64
		size    int
		below   uint64
	}{{[2]uint64{1, 1}, 2, 4}, {[2]uint64{1, 2}, 1, 5}} {
		for range 2 {
			var m Merger
			m.Add(one, c.weights[0])
			m.Add(other, c.weights[1])
			p := m.Profile(1)
			callee := p.Roots[0].Callees[0]
			if m.Left != 3 || len(p.Flat) != 1 || len(p.Flat[0].Counters) != c.size || len(callee.Counters) != c.size || callee.Callees[0].GUID != c.below {
				t.Errorf("weights %v: %d left, %+v", c.weights, m.Left, p)
			}
			c.weights[0], c.weights[1] = c.weights[0]*3, c.weights[1]*3
		}
	}
	var m Merger
	m.Add(one, math.MaxUint64)
	if p := m.Profile(1); !m.Saturated || p.Roots[0].Total != math.MaxUint64 || p.Flat[0].Counters[1] != math.MaxUint64 {
		t.Errorf("saturated: %t, %+v", m.Saturated, p)
	}
}

// TestView: functions, contexts and calls of a real program.
func TestView(t *testing.T) {
	p := read(t, fixture(t, "server.ctxprof"))
	p.Names = map[uint64]string{11791883140647835408: "request"}
	v := p.View("server")
	if id := v.Identity(); id.String() != "ctxprof binary version 4, readable by LLVM 22" {
		t.Error(id.String())
	}
	calls := map[uint64]uint64{}
	for f := range v.Functions() {
		calls[f.ID] = f.Calls
		if f.Name == "request" != (f.ID == 11791883140647835408) || f.Calls != f.Blocks[0].Count || !f.Covered {
			t.Errorf("%+v", f)
		}
	}
	if calls[11791883140647835408] != 16 || calls[702466121698849339] != 10+24+4 || len(calls) != 9 {
		t.Errorf("calls %v", calls)
	}
	set := v.Stacks()[0]
	deepest, n := 0, 0
	for s := range set.Stacks() {
		deepest, n = max(deepest, len(s.Frames)), n+1
		if outer := s.Frames[len(s.Frames)-1].ID; outer != 11791883140647835408 && outer != 3915389061434755994 {
			t.Errorf("a stack of %d", outer)
		}
	}
	if deepest != 6 || n != 20 {
		t.Errorf("%d stacks, %d deep", n, deepest)
	}
	indirect := 0
	for e := range v.Edges() {
		if e.Kind == profile.IndirectCall {
			indirect++
			if e.Caller.Name != "request" || e.Count != 8 {
				t.Errorf("%+v", e)
			}
		}
	}
	if indirect != 2 {
		t.Errorf("%d indirect calls", indirect)
	}
	for range v.Functions() { // an iteration may end early
		break
	}
	for range set.ReusedStacks {
		break
	}
	for range p.All() {
		break
	}
	if id := read(t, fixture(t, "other.ctxprof.yaml")).View("").Identity(); id.Format != "YAML" || id.Version != "" {
		t.Errorf("%+v", id)
	}
}

// TestWriteFails: a full disk is an error.
func TestWriteFails(t *testing.T) {
	full := errors.New("full")
	p := read(t, fixture(t, "server.ctxprof"))
	for _, yaml := range []bool{false, true} {
		if err := p.Write(failing{full}, yaml); !errors.Is(err, full) {
			t.Errorf("YAML %t: %v", yaml, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
