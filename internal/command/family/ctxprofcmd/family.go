// Package ctxprofcmd implements the commands' operations on LLVM's contextual profiles.
package ctxprofcmd

import (
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/ctxprof"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/profile"
)

// Family returns the family of contextual profiles.
func Family() family.Family {
	return family.Family{
		Kinds: []formats.Family{formats.CtxProf},
		Help: family.Help{
			Merge: `Contextual profiles (ctxprof) go into one .ctxprof, for -use-ctx-profile=OUTPUT of
LLVM's thin link, or into YAML.`,
			Show: [][2]string{{
				"ctxprof", "(LLVM's contextual profiles) the roots, and the functions entered most often; --program PATH names functions, " +
					"where PATH is a program or a profile with names",
			}},
		},
		Show:  func() family.Shower { return new(show) },
		Check: func() family.Checker { return check{} },
		Adder: func() merging.FamilyAdder { return new(adder) },
	}
}

type show struct{ programs *sources.Programs }

func (*show) Declare(*cli.Flags) {}

// Open keeps the programs, which may also be profiles with names.
func (s *show) Open(p *sources.Programs) error {
	s.programs = p
	return nil
}

func (s *show) Facts(name string, data []byte, f formats.Format, opt *family.ShowOptions) (family.Facts, error) {
	return collectFacts(name, data, f, opt, &formats.ViewOptions{
		Programs: s.programs.Paths, Arch: s.programs.Arch, Inputs: s.programs.Inputs,
	})
}

type check struct{}

func (check) Open(*cli.Env, *sources.Programs) error { return nil }
func (check) Admit(string, []byte) error             { return nil }

// Check checks a profile. What LLVM 22 refuses is a finding. Records are contexts, and functions without context.
func (check) Check(name string, data []byte, f formats.Format) family.Checked {
	res := family.NewChecked(name, f)
	p, err := ctxprof.Read(name, data, func(err error) {
		if profile.ClassOf(err) == profile.ErrCorrupt {
			res.Note(err)
		} else {
			res.Remarks = append(res.Remarks, res.Finding(err))
		}
	})
	if err != nil {
		res.Note(err)
		return res
	}
	res.Version = p.Version
	res.Shapes = family.Shapes{
		Of: make(map[uint64]uint64), What: "number of counters", Name: func(id uint64) string { return nameOf(p, id) },
	}
	for id, counters := range p.Flatten() {
		res.Shapes.Of[id] = uint64(len(counters))
	}
	t := totalsOf(p)
	res.Records = t.Contexts + t.Unhandled + len(p.Flat)
	return res
}

// totals are sums over a profile.
type totals struct {
	Contexts  int // roots included
	Depth     int // of the deepest context; a root has depth 1
	Unhandled int // functions below roots, outside of contexts
}

func totalsOf(p *ctxprof.Profile) (t totals) {
	for i := range p.Roots {
		t.add(&p.Roots[i])
	}
	return t
}

func (t *totals) add(r *ctxprof.Root) {
	t.Unhandled += len(r.Unhandled)
	var walk func(x *ctxprof.Context, depth int)
	walk = func(x *ctxprof.Context, depth int) {
		t.Contexts++
		t.Depth = max(t.Depth, depth)
		for i := range x.Callees {
			walk(&x.Callees[i], depth+1)
		}
	}
	walk(&r.Context, 1)
}
