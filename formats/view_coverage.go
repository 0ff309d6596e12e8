package formats

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/program/covmap"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
	"github.com/profuse-pgo/profuse/symbolize"
)

// A coveredView is a view with the coverage of the profile.
type coveredView struct {
	profile.View
	coverage *coverage.Coverage
}

// Coverage returns the coverage for [coverage.Collect].
func (v *coveredView) Coverage() *coverage.Coverage { return v.coverage }

// Mappings keeps the coverage mappings of programs, so that the views of many profiles read each program once.
// After the first view of a set of programs, the coverage of a view of the same programs has only the source files
// in which something ran. The zero value is empty. It is not safe for concurrent use.
type Mappings struct {
	// Programs are the programs in folders and archives, for the caller to close after the last view; nil without any.
	Programs *symbolize.Programs

	read      map[string][]*covmap.Mapping // by path
	found     map[string]string            // paths in the folders, by build id; "" for none
	evaluated map[string]bool              // lists of programs
	oneView   bool                         // the mappings are for one view
}

// open returns the programs in folders and archives, which are read on demand, once for all views.
func (k *Mappings) open(folders []string, opt symbolize.Options) (_ *symbolize.Programs, err error) {
	if k.Programs != nil && slices.Equal(k.Programs.Folders, folders) {
		return k.Programs, nil
	}
	err = k.close()
	if err == nil {
		k.Programs, err = symbolize.OpenPrograms(folders, opt)
	}
	return k.Programs, err
}

func (k *Mappings) close() error {
	if k.Programs == nil {
		return nil
	}
	return k.Programs.Close()
}

// isFirst reports whether no view of the programs was made before.
func (k *Mappings) isFirst(programs []string) bool {
	list := strings.Join(programs, "\x00")
	first := !k.evaluated[list]
	k.evaluated[list] = true
	return first
}

// viewCoverage evaluates the profile on the coverage mappings of the programs.
func (o *ViewOptions) viewCoverage(p *irpgo.Profile, name string, info *irpgo.Info) (profile.View, error) {
	if o.Mappings == nil {
		o.Mappings = &Mappings{oneView: true}
		defer o.Mappings.close()
	}
	if o.Mappings.read == nil {
		o.Mappings.read, o.Mappings.found, o.Mappings.evaluated = make(map[string][]*covmap.Mapping), make(map[string]string), make(map[string]bool)
	}
	paths, err := o.choosePrograms(p, name, info)
	if err != nil {
		return nil, err
	}
	covered, err := o.evaluate(p, info, paths)
	if err != nil {
		return nil, err
	}
	return &coveredView{p.View(name, info), covered}, nil
}

func (o *ViewOptions) evaluate(p *irpgo.Profile, info *irpgo.Info, programs []string) (*coverage.Coverage, error) {
	var maps []*covmap.Mapping
	var skipped []error // about programs without a mapping, and unreadable programs of folders
	for _, path := range programs {
		m, err := o.mappings(path)
		switch {
		case err == nil:
			maps = append(maps, bestArch(m, p)...)
		case errors.Is(err, profile.ErrEmpty) || !slices.Contains(o.Programs, path):
			skipped = append(skipped, err)
		default:
			return nil, err
		}
	}
	if len(maps) == 0 && len(skipped) > 0 {
		return nil, skipped[0]
	}
	for _, err := range skipped {
		o.warn(err)
	}
	c, err := covmap.Evaluate(maps, p, covmap.EvaluateOptions{Info: info, RanOnly: !o.Mappings.isFirst(programs), Counted: o.counted(p)})
	if err != nil {
		return nil, err
	}
	all := c.Collect(o.CoverageDetails)
	all.LLVMJSON = func(w io.Writer) error {
		c, err := covmap.Evaluate(maps, p, covmap.EvaluateOptions{FirstWins: true, Info: info})
		if err != nil {
			return err
		}
		return covmap.WriteJSON(w, c, covmap.JSONOptions{})
	}
	return all, nil
}

// bestArch returns the mappings of one architecture of a universal file: the architecture that matches
// most functions that ran. It returns the mappings of other files as they are.
func bestArch(maps []*covmap.Mapping, p *irpgo.Profile) []*covmap.Mapping {
	if len(maps) == 0 || maps[0].Arch == "" {
		return maps
	}
	archs := make(map[string][]*covmap.Mapping)
	for _, m := range maps {
		archs[m.Arch] = append(archs[m.Arch], m)
	}
	uncovered := newUncovered(p)
	best, most := "", -1
	for _, m := range maps {
		if n := len(uncovered.match("", archs[m.Arch]).matched); n > most {
			best, most = m.Arch, n
		}
	}
	return archs[best]
}

// counted returns a function that passes the records of the parts of a profile, or of the profile
// itself, with the build id of the program that wrote them.
func (o *ViewOptions) counted(p *irpgo.Profile) func(wanted func(string) bool, add func(string, *irpgo.Record)) error {
	of := func(ids [][]byte) string {
		if len(ids) == 1 {
			return string(ids[0])
		}
		return ""
	}
	return func(wanted func(string) bool, add func(string, *irpgo.Record)) error {
		if o.Parts != nil {
			return o.Parts(func(name string, data []byte) {
				r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{})
				if err != nil {
					return
				}
				id := of(r.Info.BinaryIDs)
				for rec, err := range r.ReusedRecords() {
					if err == nil && wanted(rec.Name) {
						add(id, rec)
					}
				}
			})
		}
		for i := range p.Functions {
			if f := &p.Functions[i]; wanted(f.Name) {
				for _, r := range f.Records {
					add(of(p.BinaryIDs), r)
				}
			}
		}
		return nil
	}
}

// mappings returns the mappings of a program, which it keeps for further views.
func (o *ViewOptions) mappings(path string) (maps []*covmap.Mapping, err error) {
	if maps, ok := o.Mappings.read[path]; ok {
		return maps, nil
	}
	opt := o.Inputs
	opt.Recognize = nil // a program or an archive
	file := path
	if programs := o.Mappings.Programs; programs != nil && programs.Unpacked[path] != "" {
		file = programs.Unpacked[path]
	}
	err = object.ReadFile(inputs.File(file, opt), func(data []byte) (err error) {
		maps, err = covmap.Read(path, data, covmap.Options{Arch: o.Arch, CompilationDir: o.CompilationDir, LeaveOut: true})
		return err
	})
	if err == nil {
		o.Mappings.read[path] = maps
	}
	return maps, err
}
