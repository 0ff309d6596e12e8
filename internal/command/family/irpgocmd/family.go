// Package irpgocmd implements the commands' operations on IRPGO profiles, and on
// the heap profiles that share the indexed format, and "profuse salvage".
package irpgocmd

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/family/memprofcmd"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/merge"
)

// Family returns the family of IRPGO and MemProf profiles, which share the indexed format.
func Family() family.Family {
	return family.Family{
		Kinds: []formats.Family{formats.IRPGO, formats.MemProf},
		Help: family.Help{
			Merge: `LLVM profiles go into one indexed profile, for clang -fprofile-use=OUTPUT or
rustc -C profile-use=OUTPUT. Heap profiles (MemProf, clang -fmemory-profile) go into
the same OUTPUT, for clang -fmemory-profile-use=OUTPUT, or without other profiles
into YAML. Raw ones need their programs (--program).`,
			Show: [][2]string{
				{"LLVM", "the hottest functions"},
				{"heap", "(MemProf) allocations, what compilers will treat as cold, and the largest contexts as trees, " +
					"from the allocating call to its callers; raw heap profiles need their program for that (--program)"},
			},
		},
		Show:  func() family.Shower { return new(show) },
		Check: func() family.Checker { return new(check) },
		Adder: func() merging.FamilyAdder { return new(adder) },

		Origin: originOf,
		Fit:    fitOf,
	}
}

// originOf returns the program and kind of instrumentation of a profile.
func originOf(name string, data []byte) (o family.Origin) {
	if memprof.IsRaw(data) {
		o.Kind = "heap"
		raw, err := memprof.ReadRaw(name, data, memprof.RawOptions{})
		if err != nil {
			return o
		}
		if o.Needs = hexIDs(raw.BuildIDs); len(o.Needs) > 0 {
			o.Program, o.BuildID = o.Needs[0], o.Needs[0]
		}
		return o
	}
	// The reader asks for correlation data if the program has the data records and names. The
	// header can be read with empty ones.
	correlated := false
	r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{Correlate: func([][]byte) (*irpgo.Correlation, error) {
		correlated = true
		return new(irpgo.Correlation), nil
	}})
	if err != nil {
		return o
	}
	ids := r.Info.BinaryIDs
	o.BuildID = joinIDs(ids)
	if correlated {
		o.Program, o.Kind, o.Needs = o.BuildID, "correlated", hexIDs(ids)
	} else {
		o.Program, o.Kind = programKey(ids, nameRefs(name, data)), r.Info.Variant.Kind().String()
	}
	return o
}

func hexIDs(ids [][]byte) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = hex.EncodeToString(id)
	}
	return out
}

func joinIDs(ids [][]byte) string { return strings.Join(hexIDs(ids), "+") }

type show struct {
	by       cli.Choice
	programs *sources.Programs
}

// Declare declares --by, which applies to heap profiles and to indexed profiles with a heap profile.
func (s *show) Declare(f *cli.Flags) {
	f.Group("heap profiles")
	s.by = cli.Choice{Value: memprofcmd.ByBytes, Allowed: append(memprofcmd.Rankings, memprofcmd.ByAll)}
	f.Var(&s.by, "by", "`WHAT` rank contexts by "+s.by.Words()+"; all prints every ranking; lifetime and density (of accesses) are averages")
}

// Open keeps the programs. Facts opens them: for profiles of other families they may be no programs.
func (s *show) Open(p *sources.Programs) error {
	s.programs = p
	return nil
}

// openHeaps opens the programs of heap profiles; nil if none are given.
func openHeaps(p *sources.Programs) (*memprof.Binaries, error) {
	if len(p.Paths) == 0 {
		return nil, nil
	}
	programs, err := p.Open()
	if err != nil {
		return nil, err
	}
	return memprof.NewBinaries(programs), nil
}

// Facts describes a heap profile, or a profile with counters and perhaps a heap profile.
func (s *show) Facts(name string, data []byte, f formats.Format, opt *family.ShowOptions) (family.Facts, error) {
	heaps, err := openHeaps(s.programs)
	if err != nil {
		return Unreadable(name, len(data), err), err
	}
	heap := memprofcmd.FactsOptions{Top: opt.Top, Choose: opt.Choose, Binaries: heaps, By: s.by.Value}
	if f.Family() == formats.MemProf {
		return memprofcmd.CollectFileFacts(name, data, f, heap)
	}
	return collectFacts(name, data, factsOptions{top: opt.Top, choose: opt.Choose, heap: heap})
}

type check struct {
	heaps *memprof.Binaries // nil if none are given
}

func (c *check) Open(_ *cli.Env, p *sources.Programs) (err error) {
	c.heaps, err = openHeaps(p)
	return err
}

func (c *check) Admit(string, []byte) error { return nil }

// Check checks a profile. The shapes are the CFG hashes of the functions.
func (c *check) Check(name string, data []byte, f formats.Format) family.Checked {
	if f.Family() == formats.MemProf {
		return memprofcmd.Check(name, data, f, c.heaps)
	}
	res := family.NewChecked(name, f)
	rep := irpgo.Check(name, data)
	if rep.Info != nil {
		res.Version = int(rep.Info.Version)
	}
	res.Records, res.Omitted = rep.Records, rep.Omitted
	res.Note(rep.Findings...)
	for _, err := range rep.Remarks {
		res.Remarks = append(res.Remarks, res.Finding(err))
	}
	res.Shapes = family.Shapes{Of: rep.Hashes, Name: rep.Name, What: "function hash"}
	if rep.Records > 0 {
		res.Shapes.Kind = rep.Info.Variant.Kind().String()
	}
	return res
}

// minIDDigits is the least number of leading digits that identify a binary id.
const minIDDigits = 8

// expectedIDs are the values of option --expect-binary-id, in hexadecimal.
type expectedIDs []string

// String returns "": the option has no default.
func (e *expectedIDs) String() string { return "" }

// Set adds an id or its leading digits.
func (e *expectedIDs) Set(s string) error {
	s = strings.ToLower(s)
	if len(s) < minIDDigits || strings.Trim(s, "0123456789abcdef") != "" {
		return errors.New("want a binary id in hexadecimal, or at least its first 8 digits")
	}
	*e = append(*e, s)
	return nil
}

// check returns an error ([merging.ErrOtherProgram]) about a profile that has none of the
// expected ids; a profile without ids has none.
func (e expectedIDs) check(name string, ids []string) error {
	if len(e) == 0 {
		return nil
	}
	if slices.ContainsFunc(ids, func(id string) bool {
		return slices.ContainsFunc(e, func(want string) bool { return strings.HasPrefix(id, want) })
	}) {
		return nil
	}
	wrong := flaw.File(name).Field("binary id").Got(strings.Join(ids, ", ")).Want(strings.Join(e, " or ")).
		Hint("it is of another program or build")
	if len(ids) == 0 {
		wrong = wrong.Got("missing").Hint("programs have one if they are linked with -Wl,--build-id")
	}
	return wrong.Because(merging.ErrOtherProgram)
}

// checkHeap is check for a raw heap profile or one in YAML. A raw profile has the build ids of the
// program and of its libraries, and any of them may be the expected one. YAML has no ids.
func (e expectedIDs) checkHeap(p *merge.Profile, format formats.Format) error {
	if len(e) == 0 || format != formats.MemProfRaw {
		return e.check(p.Name, nil)
	}
	return e.check(p.Name, originOf(p.Name, p.Data).Needs)
}
