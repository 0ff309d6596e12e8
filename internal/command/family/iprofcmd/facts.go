package iprofcmd

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/program/classfile"
	"github.com/profuse-pgo/profuse/profile"
)

// fileFacts are the facts that "profuse show" prints about an iprof file. The JSON names are a stable interface.
type fileFacts struct {
	family.Head
	// Resolved is false for a recording with placeholders instead of types or methods.
	Resolved      bool     `json:"resolved"`
	Types         int      `json:"types"`
	TypesUsed     int      `json:"types_used"` // by counts, or signatures of used methods
	Methods       int      `json:"methods"`
	MethodsUsed   int      `json:"methods_used"`
	Sections      []string `json:"sections"` // keys in the order of the file
	UnknownFields int      `json:"unknown_members"`

	Sets     []setFacts     `json:"sets"` // that have entries
	Hottest  []methodFacts  `json:"hottest_methods"`
	Contexts []contextFacts `json:"hottest_contexts"`
	// Sites and Branches add up the counts of a bytecode in all contexts.
	Sites    []siteFacts   `json:"polymorphic_sites"`
	Branches []branchFacts `json:"hottest_branches"`
	Locks    []typeFacts   `json:"locks"`
	Selected []methodFacts `json:"method_records,omitzero"` // only with --function
	family.Problems

	selecting bool
}

// setFacts sum up a section.
type setFacts struct {
	Set       string `json:"set"` // the name of the set in exports and comparisons
	Key       string `json:"key"`
	Entries   int    `json:"entries"` // contexts with counts
	Total     int64  `json:"total"`
	Largest   int64  `json:"largest"`
	Methods   int    `json:"methods"`    // with entries; 0 for locks
	MaxFrames int    `json:"max_frames"` // length of the longest context
}

// methodFacts describe a method. Counts are sums over all contexts.
type methodFacts struct {
	Name         string  `json:"name"`
	Descriptor   string  `json:"descriptor"`
	Calls        int64   `json:"calls"`
	CallsInlined int64   `json:"calls_inlined"` // where the method was inlined: the context has a caller
	Branches     int64   `json:"branches"`
	Samples      int64   `json:"samples"`       // in the method itself
	SamplesBelow int64   `json:"samples_below"` // in it and its callees
	Share        float64 `json:"share"`         // of all samples, or of all calls if there are no samples
}

// contextFacts describe a context with many counts.
type contextFacts struct {
	Set     string   `json:"set"`
	Count   int64    `json:"count"`
	Share   float64  `json:"share"`   // of the set's counts
	Context []string `json:"context"` // METHOD:BCI of each frame, the innermost first
	context string   // for people
}

// siteFacts describe a virtual call or type check with several types.
type siteFacts struct {
	Set      string      `json:"set"` // receivers or type_checks
	Method   string      `json:"method"`
	Bytecode int         `json:"bytecode"`
	Count    int64       `json:"count"`
	Contexts int         `json:"contexts"` // number of contexts with counts
	Types    []typeFacts `json:"types"`    // the greatest counts first, then by name

	frame iprof.Frame
}

type typeFacts struct {
	Type  string `json:"type"`
	Count int64  `json:"count"`

	id iprof.TypeID
}

type branchFacts struct {
	Method   string     `json:"method"`
	Bytecode int        `json:"bytecode"`
	Count    int64      `json:"count"`
	Bias     float64    `json:"bias"` // share of the most frequent way, from 0 to 1
	Ways     []wayFacts `json:"ways"` // by index

	frame iprof.Frame
}

// wayFacts sum up the records of one index at a conditional.
type wayFacts struct {
	Index   int32   `json:"index"`
	Targets []int32 `json:"targets"` // without unknownBCI, by first appearance
	Count   int64   `json:"count"`
}

// collectFacts returns the facts of a file and the first error. Of a damaged file, the facts cover
// what checking could read. top limits each list.
func collectFacts(name string, data []byte, top int, choose *regexp.Regexp) (*fileFacts, error) {
	f := &fileFacts{
		Head: family.NewHead(name, len(data), formats.IprofProfile), Problems: family.NewProblems(),
		Sections: []string{}, Sets: []setFacts{},
		Hottest: []methodFacts{}, Contexts: []contextFacts{}, Sites: []siteFacts{},
		Branches: []branchFacts{}, Locks: []typeFacts{},
	}
	p, err := iprof.Read(name, data, iprof.ReaderOptions{Warn: f.Warn})
	if f.End(err) != nil {
		if p, _ = iprof.Check(name, data); p == nil {
			return f, err
		}
	}
	f.collectOverview(p)
	f.Hottest, f.selecting = listMethods(p, top, nil), choose != nil
	if choose != nil {
		f.Selected = listMethods(p, 0, choose)
	}
	f.collectContexts(p, top)
	f.collectSites(p, top)
	f.collectBranches(p, top)
	locks := monitors(p)
	f.Locks = nameTypes(p, locks[:min(top, len(locks))])
	return f, err
}

func nameTypes(p *iprof.Profile, types []typeFacts) []typeFacts {
	for i := range types {
		types[i].Type = p.TypeName(types[i].id)
	}
	return types
}

// collectOverview collects the sizes of the tables and sets. Lossless pruning keeps the used types and methods.
func (f *fileFacts) collectOverview(p *iprof.Profile) {
	f.Resolved = !p.Placeholder()
	f.SetVersion(p.Version.String())
	f.Sections = append(f.Sections, p.Order...)
	f.UnknownFields = len(p.Unknown) + len(p.Extra)
	f.Types, f.Methods = len(p.Types), len(p.Methods)
	if used, err := iprof.Prune(p, iprof.PruneOptions{DropUnknown: true}); err == nil {
		f.TypesUsed, f.MethodsUsed = len(used.Types), len(used.Methods)
	}
	if !f.Resolved {
		f.WarnText(profile.ErrCorrupt, "the recording is not resolved: its methods and types have no names; record it again")
	}
	for k := range iprof.NumKinds {
		s := &p.Sections[k]
		if s.Len() == 0 || k == iprof.Monitors && len(s.Records(0)) == 0 {
			continue
		}
		set := setFacts{Set: k.String(), Key: k.Key(), Entries: s.Len(), Total: s.Total()}
		methods := make(map[iprof.MethodID]bool)
		for i := range s.Len() {
			ctx := s.Context(i)
			set.Largest, set.MaxFrames = max(set.Largest, s.Count(i)), max(set.MaxFrames, len(ctx))
			methods[ctx[0].Method] = true
		}
		if k != iprof.Monitors {
			set.Methods = len(methods)
		}
		f.Sets = append(f.Sets, set)
	}
}

// listMethods returns the n hottest methods or, if choose is not nil, all matching methods. Samples
// rank them or, without samples, calls or branches.
func listMethods(p *iprof.Profile, n int, choose *regexp.Regexp) []methodFacts {
	by := iprof.Samples
	for _, k := range []iprof.Kind{iprof.Samples, iprof.CallCounts, iprof.Conditionals} {
		if by = k; p.Sections[k].Total() > 0 {
			break
		}
	}
	total := max(p.Sections[by].Total(), 1)
	counts := make(map[iprof.MethodID]*[iprof.NumKinds]methodCount)
	var order []iprof.MethodID
	// The first kind decides which methods are listed in which order.
	kinds := []iprof.Kind{by, iprof.CallCounts, iprof.Conditionals, iprof.Samples}
	keep := func(c *methodCount) bool { return c.Self > 0 }
	if choose != nil {
		kinds = slices.Insert(kinds, 3, iprof.VirtualInvokes, iprof.TypeChecks)
		keep = func(c *methodCount) bool {
			return counts[c.Method] != nil || choose.MatchString(p.MethodName(c.Method)+descriptor(p, c.Method))
		}
	}
	for i, k := range kinds {
		if i > 0 && k == by {
			continue
		}
		for _, c := range methodCounts(p, k, keep) {
			if counts[c.Method] == nil {
				if choose == nil && len(order) == n {
					break
				}
				counts[c.Method] = new([iprof.NumKinds]methodCount)
				order = append(order, c.Method)
			}
			counts[c.Method][k] = c
		}
		if i == 0 && choose == nil {
			keep = func(c *methodCount) bool { return counts[c.Method] != nil }
		}
	}
	list := make([]methodFacts, len(order))
	for i, id := range order {
		c := counts[id]
		list[i] = methodFacts{
			Name: p.MethodName(id), Descriptor: descriptor(p, id), Calls: c[iprof.CallCounts].Self, CallsInlined: c[iprof.CallCounts].Inlined,
			Branches: c[iprof.Conditionals].Self, Samples: c[iprof.Samples].Self, SamplesBelow: c[iprof.Samples].Total,
			Share: float64(c[by].Self) / float64(total),
		}
	}
	return list
}

// descriptor returns the descriptor of a method, "" if it is unknown.
func descriptor(p *iprof.Profile, id iprof.MethodID) string {
	if ref, ok := p.Ref(id); ok {
		return classfile.Descriptor(ref.Parameters, ref.Return)
	}
	return ""
}

// collectContexts lists the n contexts with the greatest counts: of samples, which have whole contexts,
// or without samples of calls, whose contexts end where the compiler stopped inlining.
func (f *fileFacts) collectContexts(p *iprof.Profile, n int) {
	for _, k := range []iprof.Kind{iprof.Samples, iprof.CallCounts} {
		s := &p.Sections[k]
		if s.Total() == 0 {
			continue
		}
		for _, i := range s.Largest(n) {
			c := contextFacts{Set: k.String(), Count: s.Count(i), Share: float64(s.Count(i)) / float64(s.Total()), Context: []string{}}
			for _, frame := range s.Context(i) {
				c.Context = append(c.Context, p.MethodName(frame.Method)+":"+strconv.Itoa(int(frame.BCI)))
			}
			c.context = shortContext(c.Context)
			f.Contexts = append(f.Contexts, c)
		}
		return
	}
}

// shortContext prints the innermost frames of a context.
func shortContext(frames []string) string {
	const limit = 6
	if len(frames) <= limit+1 {
		return strings.Join(frames, "<")
	}
	return fmt.Sprintf("%s<… %d more", strings.Join(frames[:limit], "<"), len(frames)-limit)
}

// collectSites lists the n virtual calls and the n type checks with several types that have the greatest counts.
func (f *fileFacts) collectSites(p *iprof.Profile, n int) {
	for _, k := range []iprof.Kind{iprof.VirtualInvokes, iprof.TypeChecks} {
		sites := slices.DeleteFunc(typeSites(p, k), func(s siteFacts) bool { return len(s.Types) < 2 })
		for _, s := range sites[:min(n, len(sites))] {
			s.Method, s.Bytecode = p.MethodName(s.frame.Method), int(s.frame.BCI)
			nameTypes(p, s.Types)
			f.Sites = append(f.Sites, s)
		}
	}
}

// collectBranches lists the n conditionals with the greatest counts.
func (f *fileFacts) collectBranches(p *iprof.Profile, n int) {
	sites := branchSites(p)
	for _, site := range sites[:min(n, len(sites))] {
		if site.Count == 0 {
			break
		}
		site.Method, site.Bytecode = p.MethodName(site.frame.Method), int(site.frame.BCI)
		f.Branches = append(f.Branches, *site)
	}
}
