package formats

import (
	"github.com/profuse-pgo/profuse/classfile"
	"github.com/profuse-pgo/profuse/iprof"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/profile"
)

// ViewOptions adjust [View]. The zero value is right for most uses.
type ViewOptions struct {
	// Arch chooses the program of a universal Mach-O file.
	Arch string
	// Classes are those of the program, to find the source lines of an iprof
	// profile's bytecode indexes in; nil does without lines.
	Classes *classfile.Index
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
	case Iprof:
		return viewIprof(name, data, opt)
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

func viewIprof(name string, data []byte, opt ViewOptions) (profile.View, error) {
	p, err := iprof.Read(name, data, iprof.ReaderOptions{Warn: func(w iprof.Warning) { opt.warn(profile.InFile(w.Err, w.File)) }})
	if err != nil {
		return nil, err
	}
	if p.Placeholder() {
		opt.warn(&profile.FormatError{
			File: name, Offset: -1, Record: -1, Field: "recording", Found: "not resolved: methods and types have numbers instead of names",
			Want: "another recording", Err: profile.ErrCorrupt,
		})
	}
	return p.View(name, iprof.ViewOptions{Source: IprofSource(opt.Classes)}), nil
}

// IprofSource returns what finds the methods of iprof profiles in classes; nil
// if there are none.
func IprofSource(classes *classfile.Index) func(iprof.MethodRef) (iprof.Source, bool) {
	if classes == nil {
		return nil
	}
	return func(ref iprof.MethodRef) (iprof.Source, bool) {
		m, ok := classes.Method(ref.Class, ref.Name, ref.Parameters, ref.Return)
		if !ok || m.Class.SourceFile == "" {
			return iprof.Source{}, false
		}
		first, _ := m.FirstLine()
		return iprof.Source{File: m.Class.SourcePath(), StartLine: first, Line: m.Line}, true
	}
}
