package iprofcmd

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/iprof"
	"github.com/profuse-pgo/profuse/profile"
)

// iprofFacts is what "profuse show" tells of one iprof file. The JSON names are
// part of the interface.
type iprofFacts struct {
	File          string   `json:"file"`
	Size          int64    `json:"size"`    // bytes, decompressed
	Format        string   `json:"format"`  // as package formats calls it
	Version       string   `json:"version"` // "" if it could not be read
	Resolved      bool     `json:"resolved"`
	Types         int      `json:"types"`
	TypesUsed     int      `json:"types_used"` // by counts, or signatures of used methods
	Methods       int      `json:"methods"`
	MethodsUsed   int      `json:"methods_used"`
	Sections      []string `json:"sections"` // keys in the order of the file
	UnknownFields int      `json:"unknown_members"`

	Sets     []iprofSetFacts     `json:"sets"` // with entries only
	Hottest  []iprofMethodFacts  `json:"hottest_methods"`
	Contexts []iprofContextFacts `json:"hottest_contexts"`
	Sites    []iprofSiteFacts    `json:"polymorphic_sites"`
	Branches []iprofBranchFacts  `json:"hottest_branches"`
	Locks    []iprofTypeFacts    `json:"locks"`
	Selected []iprofMethodFacts  `json:"method_records,omitzero"` // with --function only
	Warnings []string            `json:"warnings"`
	Error    *console.Error      `json:"error"`

	selecting bool
}

// iprofSetFacts sums up a section, under the name that its stacks have in
// exports and comparisons.
type iprofSetFacts struct {
	Set       string `json:"set"`
	Key       string `json:"key"`
	Entries   int    `json:"entries"`
	Total     int64  `json:"total"`
	Largest   int64  `json:"largest"`
	Methods   int    `json:"methods"` // that entries are about; of locks 0
	MaxFrames int    `json:"max_frames"`
}

// iprofMethodFacts is a method. Counts are sums over all contexts.
type iprofMethodFacts struct {
	Name         string  `json:"name"`
	Descriptor   string  `json:"descriptor"`
	Calls        int64   `json:"calls"`
	CallsInlined int64   `json:"calls_inlined"`
	Branches     int64   `json:"branches"`
	Samples      int64   `json:"samples"`       // in the method itself
	SamplesBelow int64   `json:"samples_below"` // in it or what it called
	Share        float64 `json:"share"`         // of all samples, or of all calls where there are none
}

type iprofContextFacts struct {
	Set     string   `json:"set"`
	Count   int64    `json:"count"`
	Share   float64  `json:"share"` // of the set
	Context []string `json:"context"`
	context string
}

// iprofSiteFacts is a virtual call or type check with several types.
type iprofSiteFacts struct {
	Set      string           `json:"set"` // receivers or type_checks
	Method   string           `json:"method"`
	Bytecode int              `json:"bytecode"`
	Count    int64            `json:"count"`
	Contexts int              `json:"contexts"`
	Types    []iprofTypeFacts `json:"types"`
}

type iprofTypeFacts struct {
	Type  string `json:"type"`
	Count int64  `json:"count"`
}

// iprofBranchFacts is a conditional.
type iprofBranchFacts struct {
	Method   string          `json:"method"`
	Bytecode int             `json:"bytecode"`
	Count    int64           `json:"count"`
	Bias     float64         `json:"bias"` // share of the way taken most
	Ways     []iprofWayFacts `json:"ways"`
}

type iprofWayFacts struct {
	Index   int   `json:"index"`
	Targets []int `json:"targets"`
	Count   int64 `json:"count"`
}

// collectIprofFacts reads a file as far as it can be read. The error is what
// stopped it; the facts hold it too.
func collectIprofFacts(name string, data []byte, top int, choose *regexp.Regexp) (*iprofFacts, error) {
	f := &iprofFacts{
		File: name, Size: int64(len(data)), Format: "iprof profile", Sections: []string{}, Sets: []iprofSetFacts{},
		Hottest: []iprofMethodFacts{}, Contexts: []iprofContextFacts{}, Sites: []iprofSiteFacts{},
		Branches: []iprofBranchFacts{}, Locks: []iprofTypeFacts{}, Warnings: []string{},
	}
	p, err := iprof.Read(name, data, iprof.ReaderOptions{Warn: func(w profile.Warning) {
		f.Warnings = append(f.Warnings, console.DescribeError(w.Err).Message)
	}})
	if err != nil {
		f.Error = console.DescribeError(err)
		if p = iprof.Check(name, data).Profile; p == nil {
			return f, err
		}
	}
	f.overview(p)
	f.Hottest, f.selecting = f.methods(p, top, nil), choose != nil
	if choose != nil {
		f.Selected = f.methods(p, 0, choose)
	}
	f.contexts(p, top)
	f.sites(p, top)
	f.branches(p, top)
	locks := p.Monitors()
	for _, t := range locks[:min(top, len(locks))] {
		f.Locks = append(f.Locks, iprofTypeFacts{p.TypeName(t.Type), t.Count})
	}
	return f, err
}

func (f *iprofFacts) overview(p *iprof.Profile) {
	f.Version, f.Resolved = p.Version.String(), !p.Placeholder()
	f.Sections = append(f.Sections, p.Order...)
	f.UnknownFields = len(p.Unknown) + len(p.Extra)
	f.Types, f.Methods = len(p.Types), len(p.Methods)
	if used, _, err := iprof.Prune(p, iprof.PruneOptions{DropUnknown: true}); err == nil {
		f.TypesUsed, f.MethodsUsed = len(used.Types), len(used.Methods)
	}
	if !f.Resolved {
		f.Warnings = append(f.Warnings, "the recording was not resolved: nothing says which methods and types its counts are about; it has to be recorded again")
	}
	for _, k := range iprof.Kinds() {
		s := p.Summary(k)
		if s.Entries == 0 || k == iprof.Monitors && len(p.Section(k).Records(0)) == 0 {
			continue
		}
		f.Sets = append(f.Sets, iprofSetFacts{k.SetName(), k.Key(), s.Entries, s.Total, s.Largest, s.Methods, s.MaxFrames})
	}
}

// methods returns the n hottest methods, by samples if there are any, or all
// chosen ones.
func (f *iprofFacts) methods(p *iprof.Profile, n int, choose *regexp.Regexp) []iprofMethodFacts {
	by := iprof.Samples
	for _, k := range []iprof.Kind{iprof.Samples, iprof.CallCounts, iprof.Conditionals} {
		if by = k; p.Section(k).Total() > 0 {
			break
		}
	}
	total := max(p.Section(by).Total(), 1)
	list := []iprofMethodFacts{}
	counts := make(map[iprof.MethodID]*[iprof.NumKinds]iprof.MethodCount)
	var order []iprof.MethodID
	for _, k := range []iprof.Kind{by, iprof.CallCounts, iprof.Conditionals, iprof.VirtualInvokes, iprof.TypeChecks, iprof.Samples} {
		for _, c := range p.MethodCounts(k) {
			if counts[c.Method] == nil {
				counts[c.Method] = new([iprof.NumKinds]iprof.MethodCount)
				order = append(order, c.Method)
			}
			counts[c.Method][k] = c
		}
	}
	for _, id := range order {
		c := counts[id]
		m := iprofMethodFacts{
			Name: p.MethodName(id), Calls: c[iprof.CallCounts].Self, CallsInlined: c[iprof.CallCounts].Inlined, Branches: c[iprof.Conditionals].Self,
			Samples: c[iprof.Samples].Self, SamplesBelow: c[iprof.Samples].Total, Share: float64(c[by].Self) / float64(total),
		}
		if ref, ok := p.Ref(id); ok {
			m.Descriptor = ref.Descriptor()
		}
		switch {
		case choose != nil && !choose.MatchString(m.Name+m.Descriptor):
		case choose == nil && (len(list) >= n || c[by].Self == 0):
			return list // in descending order
		default:
			list = append(list, m)
		}
	}
	return list
}

func (f *iprofFacts) contexts(p *iprof.Profile, n int) {
	for _, k := range []iprof.Kind{iprof.Samples, iprof.CallCounts} {
		s := p.Section(k)
		if s.Total() == 0 {
			continue
		}
		for _, i := range s.Largest(n) {
			c := iprofContextFacts{
				Set: k.SetName(), Count: s.Count(i), Share: float64(s.Count(i)) / float64(s.Total()),
				context: shortContext(p, s.Context(i)), Context: []string{},
			}
			for _, frame := range s.Context(i) {
				c.Context = append(c.Context, p.MethodName(frame.Method)+":"+strconv.Itoa(int(frame.BCI)))
			}
			f.Contexts = append(f.Contexts, c)
		}
		return // one set is enough
	}
}

// shortContext prints the innermost frames of a context.
func shortContext(p *iprof.Profile, ctx iprof.Context) string {
	const limit = 6
	if len(ctx) <= limit+1 {
		return p.FormatContext(ctx)
	}
	return fmt.Sprintf("%s<… %d more", p.FormatContext(ctx[:limit]), len(ctx)-limit)
}

func (f *iprofFacts) sites(p *iprof.Profile, n int) {
	for _, k := range []iprof.Kind{iprof.VirtualInvokes, iprof.TypeChecks} {
		listed := 0
		for _, site := range p.TypeSites(k) {
			if listed == n {
				break
			}
			if !site.Polymorphic() {
				continue
			}
			listed++
			s := iprofSiteFacts{
				Set: k.SetName(), Method: p.MethodName(site.Method), Bytecode: int(site.BCI), Count: site.Total, Contexts: site.Entries,
				Types: []iprofTypeFacts{},
			}
			for _, t := range site.Types {
				s.Types = append(s.Types, iprofTypeFacts{p.TypeName(t.Type), t.Count})
			}
			f.Sites = append(f.Sites, s)
		}
	}
}

func (f *iprofFacts) branches(p *iprof.Profile, n int) {
	sites := p.BranchSites()
	for _, site := range sites[:min(n, len(sites))] {
		if site.Total == 0 {
			break
		}
		b := iprofBranchFacts{
			Method: p.MethodName(site.Method), Bytecode: int(site.BCI), Count: site.Total, Bias: site.Bias(), Ways: []iprofWayFacts{},
		}
		for _, w := range site.Ways {
			way := iprofWayFacts{Index: int(w.Index), Count: w.Count, Targets: []int{}}
			for _, t := range w.Targets {
				way.Targets = append(way.Targets, int(t))
			}
			b.Ways = append(b.Ways, way)
		}
		f.Branches = append(f.Branches, b)
	}
}
