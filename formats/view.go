package formats

import (
	"fmt"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/internal/mip/buildid"

	"github.com/profuse-pgo/profuse/formats/cgdata"
	"github.com/profuse-pgo/profuse/formats/ctxprof"
	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/program/classfile"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// ViewOptions adjust [View]. The zero value is right for most uses.
type ViewOptions struct {
	// Arch selects the program of a universal Mach-O file.
	Arch string
	// Classes are the classes of the program. They map the bytecode indexes of an iprof profile to
	// source lines; nil maps none.
	Classes *classfile.Index
	// Programs are paths of programs and libraries, and of folders in which programs are found by
	// build id. Raw MemProf profiles need their programs. Programs given by name also name the
	// functions of other heap profiles, and of contextual profiles, which also take names from profiles given here. The program of a MIP profile tells where functions and blocks
	// are in the sources and which blocks without probes ran; in a folder it is found only by the
	// build id in the file beside the .mip (its name with ".id" added).
	Programs []string
	// Coverage evaluates LLVM profiles of the front end on the coverage mappings in
	// Programs, for [coverage.Collect]: programs, libraries, objects and static archives
	// by name, and folders to find programs in by the binary ids of the profile.
	Coverage bool
	// CoverageDetails adds to the coverage what pages show of it: the uses of macros, the
	// instances of functions, and the test vectors of decisions.
	CoverageDetails bool
	// Inputs says how programs are opened, such as how large compressed ones may be. Its Recognize has no effect.
	Inputs inputs.Options
	// Parts, if not nil, passes the profiles that were added up to this profile to read. With them, a function name
	// that several programs use for different code gets the counts of each program. Parts may leave out profiles
	// that cannot be read, and may reuse data once read returns. A profile of one program needs no Parts.
	Parts func(read func(name string, data []byte)) error
	// Mappings, if not nil, keeps the coverage mappings of the programs for further views.
	Mappings *Mappings
	// CompilationDir stands in for the folder in which the compiler ran, if not empty:
	// relative file names in coverage mappings are joined to it.
	CompilationDir string
	// Warn receives warnings about suspicious but readable input; nil drops them.
	Warn func(profile.Warning)
}

// View reads a profile of any format from data, which it does not retain, and returns its
// format-neutral view. Raw MIP profiles have no view without the map of their program:
// merge them first. Raw MemProf profiles need their program, see [ViewOptions]. Recordings of perf have no view.
func View(name string, data []byte, opt ViewOptions) (profile.View, error) {
	f, ok := Detect(data)
	if !ok {
		return nil, WrongFormat(name, data, "a profile")
	}
	i := slices.IndexFunc(families, func(row familyRow) bool { return row.family == f.Family() })
	return families[i].view(name, data, f, opt)
}

// warn passes a warning to Warn.
func (o *ViewOptions) warn(err error) {
	if o.Warn != nil {
		o.Warn(profile.Warning{Err: err})
	}
}

// open opens the programs.
func (o *ViewOptions) open() (*symbolize.Programs, error) {
	return symbolize.OpenPrograms(o.Programs, symbolize.Options{Arch: o.Arch, Inputs: o.Inputs})
}

// viewIRPGO returns the view of a profile's counters, of their coverage, or of the heap profile in
// the file. If an indexed profile has counters and a heap profile, the view shows the counters.
func viewIRPGO(name string, data []byte, _ Format, opt ViewOptions) (profile.View, error) {
	r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{Warn: opt.Warn})
	if err != nil {
		return nil, err
	}
	// A raw file may hold several profiles of one program; a merger adds them up as merge does.
	m := irpgo.NewMerger(irpgo.MergeOptions{
		KeepVTableNames: true, Warn: opt.Warn,
		KeepSymbols: r.Info.Format != irpgo.FormatIndexed, // which has names for its functions alone
	})
	if _, err := m.Add(r, 1); err != nil {
		return nil, err
	}
	merged := m.Finish()
	p := merged.Head
	if p.MemProf.Empty() || hasFunctions(merged) {
		return ViewMerged(name, merged, r.Info, opt)
	}
	if err := opt.nameFunctions(p.MemProf); err != nil {
		return nil, err
	}
	id := profile.Identity{Format: "indexed", Version: fmt.Sprint(r.MemProf().Version)}
	id.Producer, id.ReadableBy = r.Info.Releases()
	return p.MemProf.View(name, memprof.ViewOptions{Identity: id}), nil
}

// ViewMerged returns the view of the counters of merged profiles, or of their coverage, without a
// file between the merge and the view. info describes the file that merged stands for, see
// [irpgo.Merged.Info]. merged must not be used afterwards.
func ViewMerged(name string, merged *irpgo.Merged, info *irpgo.Info, opt ViewOptions) (profile.View, error) {
	p := merged.Head
	// Counters at the level of IR have no coverage mapping.
	if opt.Coverage && len(opt.Programs) > 0 && !p.Variant.Has(irpgo.IRLevel) && hasFunctions(merged) {
		return opt.viewCoverage(merged.Profile(), name, info)
	}
	if !p.MemProf.Empty() {
		if err := opt.nameFunctions(p.MemProf); err != nil {
			return nil, err
		}
	}
	return merged.View(name, info), nil
}

func hasFunctions(m *irpgo.Merged) bool {
	functions, _, _ := m.Contents()
	return functions > 0
}

// nameFunctions adds names to a heap profile that identifies functions by hash.
func (o *ViewOptions) nameFunctions(p *memprof.Profile) error {
	if len(o.Programs) == 0 {
		return nil
	}
	programs, err := o.open()
	if err != nil {
		return err
	}
	defer programs.Close()
	return memprof.NewBinaries(programs).NameFunctions(p)
}

// viewMemProf returns the view of a heap profile in YAML, or of a raw one, whose addresses become
// functions and lines by its programs.
func viewMemProf(name string, data []byte, f Format, opt ViewOptions) (profile.View, error) {
	if f == MemProfYAML {
		p, err := memprof.ReadYAML(name, data)
		if err == nil {
			err = opt.nameFunctions(p)
		}
		if err != nil {
			return nil, err
		}
		return p.View(name, memprof.ViewOptions{Identity: profile.Identity{Format: "YAML"}}), nil
	}
	raw, err := memprof.ReadRaw(name, data, memprof.RawOptions{})
	if err != nil {
		return nil, err
	}
	programs, err := opt.open()
	if err != nil {
		return nil, err
	}
	defer programs.Close()
	p, about, err := raw.Symbolize(memprof.NewBinaries(programs), memprof.SymbolizeOptions{KeepNames: true, Warn: opt.Warn})
	if err != nil {
		return nil, err
	}
	id := profile.Identity{Format: "raw", Version: fmt.Sprint(raw.Version)}
	// Raw versions say which LLVM the runtime is of.
	id.Producer, _ = irpgo.RawMemProfInfo(raw.Version).Releases()
	for _, use := range about.Programs {
		if len(use.BuildID) > 0 {
			id.BuildIDs = append(id.BuildIDs, use.BuildID)
		}
	}
	if about.Dropped > 0 {
		id.Omits = append(id.Omits, fmt.Sprintf("%d of %d contexts, which have no call in a known function", about.Dropped, about.Contexts))
	}
	return p.View(name, memprof.ViewOptions{Identity: id}), nil
}

// viewMIP returns the view of a merged profile, or of the map of a program, in which nothing ran.
func viewMIP(name string, data []byte, f Format, opt ViewOptions) (profile.View, error) {
	var buildID []byte
	switch f {
	case MIPRaw, MIPRet:
		return nil, flaw.File(name).Field("format").Got(withArticle(f.String())).Want("a merged profile").
			Hint("merge it with its program, which knows what the bytes mean").Mismatch()
	case Binary, MIPMap:
		found, info, err := mip.FindMap(name, data, opt.Arch)
		if f == Binary && profile.ClassOf(err) == profile.ErrMismatch { // no map
			err = WrongFormat(name, data, "a profile")
		}
		if err != nil {
			return nil, err
		}
		data, buildID = found, info.BuildID
	}
	r, err := mip.NewReader(name, data, opt.Warn)
	if err != nil {
		return nil, err
	}
	p, err := r.Profile()
	if err != nil {
		return nil, err
	}
	// A .mip has no build id; a file beside it may have.
	if f == MIPProfile {
		if buildID, err = buildid.Find(name); err != nil {
			opt.warn(err)
		}
	}
	return opt.viewWithProgram(p, name, r.Info, buildID)
}

// viewIprof returns the view of an iprof profile; it warns of one that has numbers instead of names.
func viewIprof(name string, data []byte, _ Format, opt ViewOptions) (profile.View, error) {
	p, err := iprof.Read(name, data, iprof.ReaderOptions{Warn: opt.Warn})
	if err != nil {
		return nil, err
	}
	if p.Placeholder() {
		opt.warn(flaw.File(name).Field("recording").
			Got("not resolved: methods and types have numbers instead of names").Want("another recording").
			Corrupt())
	}
	return p.View(name, iprof.ViewOptions{Source: iprofSource(opt.Classes)}), nil
}

// viewSample returns the view of a sample profile, which needs no program. A recording has no view.
func viewSample(name string, data []byte, f Format, _ ViewOptions) (profile.View, error) {
	if f.IsRecording() || f == SampleSums {
		return nil, WrongFormat(name, data, "a sample profile")
	}
	p, err := sampleprof.Read(name, data, sampleprof.ReaderOptions{})
	if err != nil {
		return nil, err
	}
	return p.View(name), nil
}

// viewCtxProf returns the view of a contextual profile, whose functions get names from the programs.
func viewCtxProf(name string, data []byte, _ Format, opt ViewOptions) (profile.View, error) {
	p, err := ctxprof.Read(name, data, opt.warn)
	if err == nil {
		p.Names, err = opt.FunctionNames(maps.Keys(p.Flatten()))
	}
	if err != nil {
		return nil, err
	}
	return p.View(name), nil
}

// viewCGData returns the view of codegen data; of objects, of all that they have, as in a merge that loses nothing.
func viewCGData(name string, data []byte, f Format, opt ViewOptions) (profile.View, error) {
	if f != CGDataObject {
		d, err := cgdata.Read(name, data, opt.warn)
		if err != nil {
			return nil, err
		}
		return d.View(name), nil
	}
	m := cgdata.Merger{Partial: true}
	err := cgdata.ReadObjects(name, data, opt.Arch, func(o *cgdata.Object) error {
		m.Add(o.Data)
		return nil
	})
	if profile.ClassOf(err) == profile.ErrMismatch { // no codegen data
		err = WrongFormat(name, data, "a profile")
	}
	if err != nil {
		return nil, err
	}
	return m.Data().View(name), nil
}

// iprofSource returns a function that finds the sources of iprof methods in classes; nil if classes is nil.
func iprofSource(classes *classfile.Index) func(iprof.MethodRef) (iprof.Source, bool) {
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
