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

// Family returns the family of Machine IR Profiles, which includes programs and
// libraries with a map.
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
		Adder: func() merging.Adder { return new(adder) },

		Origin:    originOf,
		Program:   programOf,
		Randomize: mip.Randomize,
	}
}

// originOf returns the program of a profile by its module hash, and the type of its
// counts. Raw profiles need the map of the program.
func originOf(name string, data []byte) (o family.Origin) {
	r, err := mip.NewReader(name, data, nil)
	if err != nil {
		return o
	}
	about := r.Info
	o.Program, o.Kind = programKey(about), fmt.Sprintf("type-%x", uint32(about.Type))
	if about.Format == mip.FormatRaw {
		o.Needs = []string{o.Program}
	}
	return o
}

// programKey is the identity of a program in packs and in merges by program. Map, raw and merged
// profiles of a program have the same.
func programKey(about *mip.Info) string { return fmt.Sprintf("module-%08x", about.ModuleHash) }

// programOf returns what identifies a program or map.
func programOf(name string, data []byte) (o packing.Origin, err error) {
	m, err := parse(name, data, "", func(profile.Warning) {})
	if err == nil && m.merged() {
		err = formats.WrongFormat(name, data, "a program with a MIP map")
	}
	return packing.Origin{Program: programKey(&m.info), BuildID: hex.EncodeToString(m.binary.BuildID)}, err
}

// show is one run of "profuse show".
type show struct {
	// edges adds the calls of the selected functions, or of all.
	edges    bool
	programs *sources.Programs
}

// Declare declares --edges, for profiles with return addresses.
func (s *show) Declare(f *cli.Flags) {
	f.Group("MIP profiles")
	f.BoolVar(&s.edges, "edges", false, "list calls from and to the functions selected, or all, the most frequent first")
}

// Open only remembers the programs: which one a profile needs is known once it is read.
func (s *show) Open(p *sources.Programs) error {
	s.programs = p
	return nil
}

// Facts chooses all functions for --edges without --function: Facts.Edges follow from the choice.
func (s *show) Facts(name string, data []byte, _ formats.Format, opt *family.ShowOptions) (family.Facts, error) {
	if s.edges && opt.Choose == nil {
		all := *opt
		all.Choose = regexp.MustCompile("")
		opt = &all
	}
	return collectFacts(name, data, factsOptions{opt, s.edges, s.programs})
}

// check is one run of "profuse check".
type check struct{}

// A MIP profile needs no program to be checked, and no option of "profuse check" excludes it.
func (check) Open(*cli.Env, *sources.Programs) error { return nil }
func (check) Admit(string, []byte) error             { return nil }

// Check checks a profile, a map or the map in a program. Records are functions; of a raw profile
// only the header can be checked.
func (check) Check(name string, data []byte, f formats.Format) family.Checked {
	res := family.NewChecked(name, f)
	// Programs are recognized by their map alone; without one the file is of no known format.
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
		return res // only its map says what the counters mean
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

// shapesOf returns the places, sizes and blocks of the functions, which are the same in all
// profiles of a program, as hashes. Functions of one name are numbered in their order,
// which is the same in all, too.
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
