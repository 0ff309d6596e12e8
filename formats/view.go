package formats

import (
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/profile"
)

// ViewOptions adjust [View]. The zero value is right for most uses.
type ViewOptions struct {
	// Arch chooses the program of a universal Mach-O file.
	Arch string
	// Warn receives what is suspicious but readable; nil drops it.
	Warn func(error)
}

// View reads a profile of any format, which data holds, and shows it in terms
// of package profile. data is not needed afterwards. Raw MIP profiles cannot
// be shown without the map of their program: merge them first.
func View(name string, data []byte, opt ViewOptions) (profile.View, error) {
	f, _ := Detect(data)
	switch f.Family() {
	case MIP:
		return viewMIP(name, data, f, opt)
	default: // what is unknown gets IRPGO's error
		return viewIRPGO(name, data, opt)
	}
}

func (o *ViewOptions) warn(err error) {
	if o.Warn != nil {
		o.Warn(err)
	}
}

func viewIRPGO(name string, data []byte, opt ViewOptions) (profile.View, error) {
	r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{Warn: func(w irpgo.Warning) { opt.warn(w.Err) }})
	if err != nil {
		return nil, err
	}
	m := irpgo.NewMerger(irpgo.MergeOptions{
		KeepVTableNames: true, KeepSymbols: true, Warn: func(w irpgo.Warning) { opt.warn(w.Err) },
	})
	if _, err := m.Add(r, 1); err != nil {
		return nil, err
	}
	return m.Profile().View(name, r.Info()), nil
}

func viewMIP(name string, data []byte, f Format, opt ViewOptions) (profile.View, error) {
	var buildID []byte
	switch f {
	case MIPRaw, MIPRet:
		return nil, &profile.FormatError{
			File: name, Offset: -1, Record: -1, Field: "format", Found: f.String(),
			Want: "a merged profile, since only the program knows what the bytes mean", Err: profile.ErrMismatch,
		}
	case Binary, MIPMap:
		found, info, err := mip.FindMap(name, data, mip.BinaryOptions{Arch: opt.Arch})
		if err != nil {
			return nil, err
		}
		data, buildID = found, info.BuildID
	}
	r, err := mip.NewReader(name, data, mip.ReaderOptions{Warn: func(w mip.Warning) { opt.warn(w.Err) }})
	if err != nil {
		return nil, err
	}
	p, err := r.Profile()
	if err != nil {
		return nil, err
	}
	return p.View(name, r.Info(), buildID), nil
}
