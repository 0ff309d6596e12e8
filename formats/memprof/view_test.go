package memprof

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// functionsOn names the functions on a stack, the innermost first.
func functionsOn(s *profile.Stack) string {
	var parts []string
	for i := range s.Frames {
		f := &s.Frames[i]
		parts = append(parts, f.Symbol.String())
	}
	return strings.Join(parts, " ")
}

// TestView: of an indexed profile, hashes and what compilers need are known, with the program names and lines.
func TestView(t *testing.T) {
	f := rawFixtureNamed(t, "clang22-pie")
	raw, _ := symbolizeRaw(t, f.read(t, RawOptions{}), openBinaries(t, f.program), SymbolizeOptions{KeepNames: true})
	file := oracle.ReadFile(t, strings.TrimSuffix(f.file, ".memprofraw")+".profdata")
	indexed, named := readSection(t, file), readSection(t, file)
	must(t, openBinaries(t, f.program).NameFunctions(named))
	for id, name := range named.Names {
		if raw.Names[id] != name || raw.Sources[id] != named.Sources[id] {
			t.Errorf("%s at %v, the raw profile has %s at %v", name, named.Sources[id], raw.Names[id], raw.Sources[id])
		}
	}
	if len(named.Names) != len(raw.Names) {
		t.Errorf("%d functions have names, want %d", len(named.Names), len(raw.Names))
	}
	hotCold := []string{"alloc_space", "alloc_objects", "lifetime", "lifetime_access_density"}
	for _, c := range []struct {
		name   string
		p      *Profile
		lines  profile.Features
		values []string
		top    string
	}{
		{"raw", raw, profile.Features{Lines: true}, []string{
			"alloc_space", "alloc_objects", "access_count", "lifetime", "lifetime_access_density",
			"min_size", "max_size", "min_lifetime", "max_lifetime", "min_access_count", "max_access_count",
		}, "_ZL4pushP4Node _Z4makei main"},
		{"indexed", indexed, profile.Features{LineOffsets: true}, hotCold, "0x508774264880ab6d 0x09cbfdc6fdfe8cfc 0xdb956436e78dd5fa"},
		{"named", named, profile.Features{Lines: true}, hotCold, "_ZL4pushP4Node _Z4makei main"},
	} {
		v := c.p.View("", ViewOptions{})
		if v.Features() != c.lines || v.Identity().Family != "MemProf" {
			t.Errorf("%s: features %v, %+v", c.name, v.Features().Names(), v.Identity())
		}
		set := v.Stacks()[0]
		var values []string
		for _, vt := range set.Values {
			values = append(values, vt.Name)
		}
		if !slices.Equal(values, c.values) {
			t.Errorf("%s: values %v, want %v", c.name, values, c.values)
		}
		stacks, found := 0, false
		for s := range set.ReusedStacks {
			stacks++
			if len(s.Values) != len(values) || len(s.Labels) != 1 || s.Labels[0] != (profile.Label{Key: profile.LabelTemperature, Value: "notcold"}) {
				t.Fatalf("%s: %+v", c.name, s)
			}
			if functionsOn(s) != c.top {
				continue
			}
			found = true
			leaf := s.Frames[0]
			line := int32(1)
			if c.lines.Lines {
				line = 4
			}
			if leaf.Line != line || leaf.Column != 13 || !leaf.Inlined {
				t.Errorf("%s: frame %+v", c.name, leaf)
			}
		}
		if stacks != 10 || !found {
			t.Errorf("%s: %d stacks, want 10 and %s among them", c.name, stacks, c.top)
		}
		functions := make(map[uint64]bool)
		for fn := range v.Functions() {
			functions[fn.ID] = true
		}
		if len(functions) != len(c.p.Records) {
			t.Errorf("%s: %d functions, want %d", c.name, len(functions), len(c.p.Records))
		}
	}
	// Names that others know.
	names := maps.Clone(raw.Names)
	v := indexed.View("", ViewOptions{Name: func(id uint64) string { return names[id] }})
	for s := range v.Stacks()[0].ReusedStacks {
		if strings.Contains(functionsOn(s), "0x") {
			t.Errorf("a function has no name: %s", functionsOn(s))
		}
	}
}

// TestViewOmits: what a view does not show it names.
func TestViewOmits(t *testing.T) {
	p := &Profile{
		Records:    []Record{{GUID: 1, CallSites: []CallSite{{Callees: []uint64{2}}}}},
		MIBs:       []MIB{{Histogram: []uint64{1}}},
		DataAccess: &DataAccess{ColdSymbols: []string{"x"}},
	}
	want := []string{"the data-access profile", "callees of call sites", "access histograms"}
	if got := p.View("", ViewOptions{}).Identity().Omits; !slices.Equal(got, want) {
		t.Errorf("omits %q, want %q", got, want)
	}
}

// TestCheckRaw: real raw profiles are sound, and what cannot be is found.
func TestCheckRaw(t *testing.T) {
	for _, f := range rawFixtures(t) {
		if found := f.read(t, RawOptions{}).Check(); len(found) > 0 {
			t.Errorf("%s: %v", f.name, found)
		}
	}
	d := dumpBuild{version: 5, segments: []Segment{{Start: 0x1000, End: 0x2000}}}
	m := mibBuild{id: 1}
	for f, v := range map[field]uint64{totalSize: 10, minSize: 9, maxSize: 8} {
		m.fields[f-1] = v
	}
	d.mibs, d.stacks = []mibBuild{m}, []stackBuild{{1, []uint64{0x1100}}}
	raw := readRaw(t, rawBuild{dumps: []dumpBuild{d}}.bytes(), RawOptions{})
	found := raw.Check()
	if len(found) != 2 || !strings.Contains(found[0].Error(), "MIBs (record 0): AllocCount is 0, want at least 1") ||
		!strings.Contains(found[1].Error(), "MinSize is 9, want at most 8") {
		t.Errorf("findings %v", found)
	}
}
