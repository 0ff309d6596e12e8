package mipcmd

import (
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/family"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/profile"
)

// Family is that of Machine IR Profiles, with the programs and libraries
// that have a map.
func Family() family.Family {
	return family.Family{
		Kinds: []formats.Family{formats.MIP},
		Show:  func() family.Shower { return show{} },
		Check: func() family.Checker { return check{} },
		Adder: func() merging.Adder { return new(adder) },
	}
}

// show is one run of "profuse show".
type show struct{}

func (show) Declare(*cli.Flags)           {}
func (show) Open(*sources.Programs) error { return nil }
func (show) Close()                       {}

func (show) Facts(name string, data []byte, _ formats.Format, opt *family.ShowOptions) (family.Facts, error) {
	return collectMIPFacts(name, data, mipFactsOptions{top: opt.Top, choose: opt.Choose, blocks: opt.Blocks})
}

// check is one run of "profuse check".
type check struct{}

func (check) Open(*cli.Env, *sources.Programs) error { return nil }
func (check) Close()                                 {}
func (check) Admit(string, []byte) error             { return nil }

func (check) Check(name string, data []byte, f formats.Format) family.Checked {
	res := family.NewChecked(name, f)
	if f == formats.Binary {
		var err error
		if data, _, err = mip.FindMap(name, data, mip.BinaryOptions{}); err != nil {
			res.Note(err)
			return res
		}
	}
	r, err := mip.NewReader(name, data, mip.ReaderOptions{Warn: func(w profile.Warning) { res.Note(w.Err) }})
	if err != nil {
		res.Note(err)
		return res
	}
	res.Version = uint32(r.Info().Version)
	if r.Info().FileType == mip.FileRaw {
		return res // without the map it is a header and counters
	}
	p, err := r.Profile()
	if err != nil {
		res.Note(err)
		return res
	}
	res.Records = len(p.Functions)
	if err := p.Validate(); err != nil {
		res.Note(err)
	}
	return res
}
