package mipcmd

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"io"
	"regexp"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/files/packing"
	"github.com/profuse-pgo/profuse/profile"
)

// Family returns the family of Machine IR Profiles, which includes programs with a map.
func Family() family.Family {
	return family.Family{
		Kinds: []formats.Family{formats.MIP},
		Help: family.Help{
			Merge: `Machine IR profiles (MIP) go into one .mip. They must be of one program, and one
input must list its functions: the program, its .mipmap or a merged profile.`,
			Show: [][2]string{{"MIP", "(Machine IR, also programs with a MIP map) coverage, and the functions called most often"}},
		},
		Show:  func() family.Shower { return new(show) },
		Check: func() family.Checker { return check{} },
		Adder: func() merging.FamilyAdder { return new(adder) },

		Origin:    originOf,
		Program:   programOf,
		Randomize: mip.Randomize,
	}
}

// originOf returns the origin of a profile: the module hash and the profile type. Raw profiles need
// the map of the program.
func originOf(name string, data []byte) (o family.Origin) {
	r, err := mip.NewReader(name, data, nil)
	if err != nil {
		return o
	}
	info := r.Info
	o.Program, o.Kind = programKey(info), fmt.Sprintf("type-%x", uint32(info.Type))
	if info.Format == mip.FormatRaw {
		o.Needs = []string{o.Program}
	}
	return o
}

// programKey identifies a program. Its map, raw and merged profiles have the same key.
func programKey(info *mip.Info) string { return fmt.Sprintf("module-%08x", info.ModuleHash) }

// programOf returns the origin of the profiles of a program or map.
func programOf(name string, data []byte) (o packing.Origin, err error) {
	m, err := parse(name, data, "", func(profile.Warning) {})
	if err == nil && m.merged() {
		err = formats.WrongFormat(name, data, "a program with a MIP map")
	}
	return packing.Origin{Program: programKey(&m.info), BuildID: hex.EncodeToString(m.binary.BuildID)}, err
}

type show struct {
	edges    bool // list the calls of the selected functions, or of all
	programs *sources.Programs
}

// Declare declares --edges.
func (s *show) Declare(f *cli.Flags) {
	f.Group("MIP profiles")
	f.BoolVar(&s.edges, "edges", false, "list calls from and to the functions selected, or all, the most frequent first")
}

// Open keeps the programs. Facts chooses the program of each profile.
func (s *show) Open(p *sources.Programs) error {
	s.programs = p
	return nil
}

// Facts returns the facts of a file. --edges without --function selects all functions.
func (s *show) Facts(name string, data []byte, _ formats.Format, opt *family.ShowOptions) (family.Facts, error) {
	if s.edges && opt.Choose == nil {
		all := *opt
		all.Choose = regexp.MustCompile("")
		opt = &all
	}
	return collectFacts(name, data, factsOptions{opt, s.edges, s.programs})
}

type check struct{}

// Checking a MIP profile needs no program.
func (check) Open(*cli.Env, *sources.Programs) error { return nil }
func (check) Admit(string, []byte) error             { return nil }

// Check checks a profile, a map or the map in a program. Records are functions. Without its map only
// the header of a raw profile can be checked.
func (check) Check(name string, data []byte, f formats.Format) family.Checked {
	res := family.NewChecked(name, f)
	// Only the map makes a program a file of a known format.
	if f == formats.Binary {
		var err error
		var found []byte
		if found, _, err = mip.FindMap(name, data, ""); err != nil {
			if isMapless(err) {
				res = family.NewChecked(name, 0)
				err = formats.WrongFormat(name, data, "a profile")
			}
			res.Note(err)
			return res
		}
		data = found
	}
	r, err := mip.NewReader(name, data, func(w profile.Warning) { res.Note(w.Err) })
	if err != nil {
		res.Note(err)
		return res
	}
	res.Version = r.Info.Version
	if r.Info.Format == mip.FormatRaw {
		return res
	}
	p, err := r.Profile()
	if err != nil {
		res.Note(err)
		return res
	}
	res.Records = len(p.Functions)
	for _, err := range plausibleRemarks(p) {
		res.Remarks = append(res.Remarks, res.Finding(err))
	}
	res.Shapes = shapesOf(p)
	return res
}

// shapesOf returns hashes of the addresses, sizes and blocks of functions, which are the same in all
// profiles of a program. The id of a function is a hash of its name and of the number of functions
// of this name before it.
func shapesOf(p *mip.Profile) family.Shapes {
	s := family.Shapes{Of: make(map[uint64]uint64, len(p.Functions)), What: "place, size or blocks"}
	names := make(map[uint64]string, len(p.Functions))
	same := make(map[uint64]uint32) // functions of a name so far
	for i := range p.Functions {
		f := &p.Functions[i]
		h := fnv.New64a()
		_, _ = io.WriteString(h, f.Name) // into memory
		before := same[h.Sum64()]
		same[h.Sum64()]++
		_, _ = h.Write(binary.LittleEndian.AppendUint32([]byte{0}, before))
		id := h.Sum64()
		h.Reset()
		b := binary.LittleEndian.AppendUint64(nil, f.RawOffset)
		b = binary.LittleEndian.AppendUint64(b, uint64(f.Address))
		b = binary.LittleEndian.AppendUint32(b, f.Size)
		b = binary.LittleEndian.AppendUint32(b, f.CFG)
		for j := range f.Blocks {
			b = binary.LittleEndian.AppendUint32(b, f.Blocks[j].Offset)
		}
		_, _ = h.Write(b)
		s.Of[id], names[id] = h.Sum64(), f.Name
	}
	s.Name = func(id uint64) string { return names[id] }
	return s
}
