package memprof

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// obvious is a symbolized profile computed address by address, with maps of strings.
type obvious struct {
	contexts map[string]*MIB            // by call stack
	allocs   map[uint64]map[string]bool // stacks by function
	calls    map[uint64]map[string]bool // frames at the call by function
	dropped  int
}

// note adds a text to the texts of a function, and reports whether it is new.
func note(m map[uint64]map[string]bool, guid uint64, text string) (isNew bool) {
	if m[guid] == nil {
		m[guid] = make(map[string]bool)
	}
	isNew = !m[guid][text]
	m[guid][text] = true
	return isNew
}

func frameText(f Frame) string {
	return fmt.Sprintf("%#x:%d:%d:%t;", f.GUID, f.LineOffset, f.Column, f.Inline)
}

// symbolizeObviously computes what the profile must become. load returns the program of a segment and its bias.
func symbolizeObviously(t *testing.T, raw *RawProfile, load func(Segment) (*symbolize.File, uint64)) obvious {
	t.Helper()
	e := obvious{make(map[string]*MIB), make(map[uint64]map[string]bool), make(map[uint64]map[string]bool), 0}
	for _, c := range contextsOf(raw) {
		var chains [][]Frame
		for _, pc := range c.PCs {
			i := slices.IndexFunc(raw.Segments, func(s Segment) bool { return s.Start <= pc && pc < s.End })
			if i < 0 {
				continue
			}
			file, bias := load(raw.Segments[i])
			if file == nil {
				continue
			}
			frames := oracle.Must(file.Frames(pc - bias))(t)
			var chain []Frame
			for _, f := range frames {
				if f.Function != "" {
					chain = append(chain, Frame{guidOf(f.Function), f.Line - f.StartLine, f.Column, f.IsInlined})
				}
			}
			if len(chain) > 0 {
				chains = append(chains, chain)
			}
		}
		if len(chains) == 0 {
			e.dropped++
			continue
		}
		stack := ""
		for i, chain := range chains {
			whole := ""
			for _, f := range chain {
				whole += frameText(f)
			}
			stack += whole
			for j, f := range chain {
				if i > 0 || j > 0 {
					note(e.calls, f.GUID, whole)
				}
			}
		}
		for _, f := range chains[0] {
			note(e.allocs, f.GUID, stack)
			if !f.Inline {
				break
			}
		}
		mib := c.MIB
		mib.AccessHistogram = 0
		if have := e.contexts[stack]; have != nil {
			have.merge(&mib, 1)
		} else {
			e.contexts[stack] = &mib
		}
	}
	return e
}

// check compares a profile with what is obvious.
func (e obvious) check(t *testing.T, p *Profile, about *Coverage) {
	t.Helper()
	text := func(i StackIndex) string {
		var b strings.Builder
		for f := range p.Stacks.Walk(i) {
			b.WriteString(frameText(f))
		}
		return b.String()
	}
	got := obvious{make(map[string]*MIB), make(map[uint64]map[string]bool), make(map[uint64]map[string]bool), 0}
	for i := range p.Records {
		r := &p.Records[i]
		for _, a := range r.AllocSites {
			stack := text(a.Stack)
			if have := got.contexts[stack]; have != nil && have != &p.MIBs[a.MIB] {
				t.Errorf("two measurements of %s", stack)
			}
			got.contexts[stack] = &p.MIBs[a.MIB]
			if !note(got.allocs, r.GUID, stack) {
				t.Errorf("%#x allocates twice at %s", r.GUID, stack)
			}
		}
		for _, c := range r.CallSites {
			chain := text(c.Stack)
			if !note(got.calls, r.GUID, chain) {
				t.Errorf("%#x has the call site %s twice", r.GUID, chain)
			}
		}
	}
	if len(e.contexts) == 0 || len(e.calls) == 0 {
		t.Error("nothing is compared")
	}
	got.dropped = about.Dropped
	if d := cmp.Diff(e, got, cmp.AllowUnexported(obvious{})); d != "" {
		t.Errorf("contexts, functions that allocate, call sites, and dropped contexts (-want +got):\n%s", d)
	}
}

func openProgram(t *testing.T, path string) *symbolize.File {
	t.Helper()
	f := oracle.Must(symbolize.Open(path, symbolize.Options{}))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

// TestSymbolize compares every fixture with the obvious computation.
func TestSymbolize(t *testing.T) {
	for _, f := range rawFixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			raw := f.read(t, RawOptions{})
			file := openProgram(t, f.program)
			code := slices.DeleteFunc(slices.Clone(file.Segments), func(s symbolize.Segment) bool { return !s.Executable })[0]
			e := symbolizeObviously(t, raw, func(s Segment) (*symbolize.File, uint64) {
				switch {
				case f.version >= 3 && bytes.Equal(s.BuildID, file.BuildID):
					return file, s.Offset
				case f.version < 3 && s.Start == raw.Segments[0].Start: // the program is first
					return file, s.Start - code.Addr&^0xfff
				}
				return nil, 0
			})
			p, about := symbolizeRaw(t, raw, openBinaries(t, f.program), SymbolizeOptions{})
			if f.version == 1 {
				for _, m := range e.contexts {
					m.Fields |= 1<<totalAccessDensity | 1<<totalLifetimeAccessDensity
				}
				for i := range p.MIBs {
					m := &p.MIBs[i]
					if m.TotalAccessCount > 0 && (m.TotalAccessDensity == 0 || m.TotalLifetimeAccessDensity == 0) {
						t.Errorf("no density of %+v", m)
					}
					m.TotalAccessDensity, m.TotalLifetimeAccessDensity = 0, 0
				}
			}
			e.check(t, p, about)
			if err := p.validate(); err != nil {
				t.Error(err)
			}
			if about.Contexts != raw.NumContexts || about.PCs != about.Outside+about.Programs[0].PCs || about.Programs[0].File != f.program {
				t.Errorf("coverage %+v", about)
			}
		})
	}
}

// contextIDs returns for every context how many blocks it allocated.
func contextIDs(p *Profile) map[uint64]uint32 {
	out := make(map[uint64]uint32)
	for i := range p.Records {
		for _, a := range p.Records[i].AllocSites {
			out[p.Stacks.contextID(a.Stack)] = p.MIBs[a.MIB].AllocCount
		}
	}
	return out
}

// TestSameProgramEveryWay: however a program is linked and whichever version it writes, its contexts are the same.
func TestSameProgramEveryWay(t *testing.T) {
	of := func(name string) map[uint64]uint32 {
		f := rawFixtureNamed(t, name)
		p, _ := symbolizeRaw(t, f.read(t, RawOptions{}), openBinaries(t, f.program), SymbolizeOptions{})
		return contextIDs(p)
	}
	for _, group := range [][]string{
		{"clang14-fixed", "clang14-pie"},
		{"clang16-fixed", "clang16-pie-lld"},
		{"clang19-pie", "clang19-fixed-dwarf4"},
		{"clang22-pie", "clang22-pie-lld", "clang22-fixed-gz", "clang22-lines-only", "clang22-split"},
	} {
		want := of(group[0])
		if len(want) < 8 {
			t.Errorf("%s has only %d contexts", group[0], len(want))
		}
		for _, name := range group[1:] {
			if got := of(name); !maps.Equal(got, want) {
				t.Errorf("%s has contexts %v, %s has %v", name, got, group[0], want)
			}
		}
	}
}

// TestVersion1 compares estimated densities with measured ones, of contexts whose blocks are alike.
func TestVersion1(t *testing.T) {
	old := rawFixtureNamed(t, "clang14-pie")
	p, _ := symbolizeRaw(t, old.read(t, RawOptions{}), openBinaries(t, old.program), SymbolizeOptions{})
	for i := range p.MIBs {
		m := &p.MIBs[i]
		if m.Fields.has(dataTypeID) || m.DataTypeID != 0 || m.Fields.has(maxLifetimeAccessDensity) {
			t.Errorf("fields %b", m.Fields)
		}
		n := float64(m.AllocCount)
		density := float64(m.TotalAccessCount) / float64(m.TotalSize) * 100
		if d := float64(m.TotalAccessDensity); d > n*density || d < n*(density-1) {
			t.Errorf("density %v of %v blocks, want about %v", d, n, n*density)
		}
	}
}

// TestLibrary: with the library given, its functions are known, called from functions of the program.
func TestLibrary(t *testing.T) {
	f := rawFixtureNamed(t, "clang22-library")
	library := strings.TrimSuffix(f.program, ".debug") + "-list.debug"
	raw := f.read(t, RawOptions{})
	program, list := openProgram(t, f.program), openProgram(t, library)
	e := symbolizeObviously(t, raw, func(s Segment) (*symbolize.File, uint64) {
		switch string(s.BuildID) {
		case string(program.BuildID):
			return program, s.Offset
		case string(list.BuildID):
			return list, s.Offset
		}
		return nil, 0
	})
	p, about := symbolizeRaw(t, raw, openBinaries(t, f.program, library), SymbolizeOptions{KeepNames: true})
	e.check(t, p, about)
	// What is left are calls of the C library and the loader.
	missing := 0
	for _, m := range about.Missing {
		missing += m.PCs
	}
	if len(about.Programs) != 2 || missing == 0 || missing != about.Outside {
		t.Errorf("programs %+v, missing %+v", about.Programs, about.Missing)
	}
	if got := p.Names[guidOf("_Z4makei")]; got != "_Z4makei" {
		t.Errorf("name of make: %q", got)
	}
	without, _ := symbolizeRaw(t, raw, openBinaries(t, f.program), SymbolizeOptions{})
	if without.Names != nil {
		t.Error("names are kept unasked")
	}
	make := func(p *Profile) bool {
		return slices.ContainsFunc(p.Records, func(r Record) bool { return r.GUID == guidOf("_Z4makei") && len(r.AllocSites) > 0 })
	}
	if !make(p) || make(without) {
		t.Errorf("the library allocates: %t with it, %t without", make(p), make(without))
	}

	// With only the library the program's frames are missing.
	var warned error
	only, about := symbolizeRaw(t, raw, openBinaries(t, library), SymbolizeOptions{Warn: func(w profile.Warning) { warned = w.Err }})
	if !errors.Is(warned, profile.ErrMismatch) || !strings.Contains(warned.Error(), hex.EncodeToString(program.BuildID)) {
		t.Errorf("warned of %v, want the program's build id", warned)
	}
	if !make(only) || about.Programs[0].File != library || len(about.Missing) < 2 || !bytes.Equal(about.Missing[0].BuildID, program.BuildID) {
		t.Errorf("with the library alone: %+v", about)
	}
}

// TestConcurrentSymbolizing: inputs share the lookups of programs, and each gets the same.
func TestConcurrentSymbolizing(t *testing.T) {
	f := rawFixtureNamed(t, "clang22-pie")
	b := openBinaries(t, f.program)
	raw := f.read(t, RawOptions{})
	first, _ := symbolizeRaw(t, raw, b, SymbolizeOptions{KeepNames: true})
	llvm, _ := symbolizeRaw(t, raw, b, SymbolizeOptions{LLVMCompat: true, KeepNames: true})
	looked := len(b.files[0].addrs)
	profiles := make([]*Profile, 8)
	var wg sync.WaitGroup
	for i := range profiles {
		wg.Go(func() {
			raw, err := ReadRaw(f.name, raw.data, RawOptions{LLVMCompat: i%2 == 0})
			if err == nil {
				profiles[i], _, err = raw.Symbolize(b, SymbolizeOptions{LLVMCompat: i%2 == 0, KeepNames: true})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, p := range profiles {
		want := first
		if i%2 == 0 {
			want = llvm
		}
		if p == nil || !maps.Equal(contextIDs(p), contextIDs(want)) || !maps.Equal(p.Names, want.Names) {
			t.Errorf("profile %d differs", i)
		}
	}
	if len(b.files[0].addrs) < looked || looked == 0 {
		t.Errorf("%d addresses are known, then %d", looked, len(b.files[0].addrs))
	}
}

// TestDeepInlining: endless inlined frames cannot make a small profile take all memory.
func TestDeepInlining(t *testing.T) {
	f := rawFixtureNamed(t, "clang22-pie")
	b := openBinaries(t, f.program)
	prog := b.files[0]
	chain := make([]frameIndex, 2000)
	for i := range chain {
		chain[i] = prog.chains.addFrame(Frame{GUID: uint64(i), Inline: i+1 < len(chain)})
	}
	deep := prog.chains.addStack(chain)
	d := dumpBuild{version: 5, segments: []Segment{{Start: 0x10000, End: 0x20000, BuildID: prog.file.BuildID}}}
	code := prog.executable()[0]
	for id := range uint64(40) {
		s := stackBuild{id: id}
		for k := range uint64(30) {
			s.pcs = append(s.pcs, 0x10000+(id*k)%256)
			prog.addrs[0][code.Addr+(id*k)%256] = lookedUp{stack: deep}
		}
		d.mibs = append(d.mibs, mibBuild{id: id})
		d.stacks = append(d.stacks, s)
	}
	raw := readRaw(t, rawBuild{[]dumpBuild{d}}.bytes(), RawOptions{})
	_, _, err := raw.Symbolize(b, SymbolizeOptions{})
	if !errors.Is(err, profile.ErrUnsupported) || !strings.Contains(err.Error(), "frames of the call stacks") {
		t.Errorf("error %v", err)
	}
}

// TestAddressesOfSegments: which addresses count as a program's.
func TestAddressesOfSegments(t *testing.T) {
	f := rawFixtureNamed(t, "clang22-pie")
	b := openBinaries(t, f.program)
	raw := f.read(t, RawOptions{})
	start, end := raw.Segments[0].Start, raw.Segments[0].End
	exact := oracle.Must(raw.placePrograms(b))(t)
	llvm := oracle.Must(raw.placeLLVM(b))(t)
	code := b.files[0].executable()[0].Addr
	for _, c := range []struct {
		pc          uint64
		exact, llvm uint64 // address in the program, 0 if in none
	}{
		{start - 1, 0, start - 1},
		{start, code, start},
		{start + 1, code + 1, code + 1},
		{end - 1, code + end - 1 - start, code + end - 1 - start},
		{end, 0, code + end - start},
		{end + 1, 0, end + 1},
	} {
		for i, p := range []placements{exact, llvm} {
			got := uint64(0)
			if at := p.find(c.pc); at != nil {
				got = c.pc + at.delta
			}
			if want := []uint64{c.exact, c.llvm}[i]; got != want {
				t.Errorf("%#x is at %#x, want %#x (LLVM: %t)", c.pc, got, want, i == 1)
			}
		}
	}
}

// contextID returns clang's id of a context, a hash of its frames (memprof::computeFullStackId).
func (s *Stacks) contextID(i StackIndex) uint64 {
	var buf []byte
	for frame := range s.Walk(i) {
		buf = le.AppendUint64(buf, frame.GUID)
		buf = le.AppendUint32(buf, frame.LineOffset)
		buf = le.AppendUint32(buf, frame.Column)
	}
	return hash64(buf)
}
