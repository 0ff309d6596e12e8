package formats

import (
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/coverage"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/covmap"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/object"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// A coveredView is the view of a profile whose coverage is known.
type coveredView struct {
	profile.View
	coverage *coverage.Coverage
}

// Coverage is what [coverage.Collect] asks for.
func (v *coveredView) Coverage() *coverage.Coverage { return v.coverage }

// Mappings keeps the coverage mappings of programs, so that the views of many profiles
// read each program once. The coverage of a view after the first one of the same programs
// has only the source files in which something ran. The zero value is empty. It is not for
// several goroutines at once.
type Mappings struct {
	read      map[string][]*covmap.Mapping // by path
	found     map[string]string            // paths in the folders, by build id; "" for none
	evaluated map[string]bool              // lists of programs
	searched  bool
	nameless  []string // programs in the folders that have no build id
}

// withoutID returns the paths of the programs in the folders that have no build id.
func (k *Mappings) withoutID(programs *symbolize.Programs) (paths []string, err error) {
	if !k.searched {
		if k.nameless, err = programs.WithoutID(); err != nil {
			return nil, err
		}
		k.searched = true
	}
	return k.nameless, nil
}

// known returns the paths of programs by their build ids, to which the caller may add.
func (k *Mappings) known() map[string]string {
	switch {
	case k == nil:
		return make(map[string]string)
	case k.found == nil:
		k.found = make(map[string]string)
	}
	return k.found
}

// first reports whether no view of the programs was made before.
func (k *Mappings) first(programs []string) bool {
	list := strings.Join(programs, "\x00")
	if k == nil || k.evaluated[list] {
		return k == nil
	}
	if k.evaluated == nil {
		k.evaluated = make(map[string]bool)
	}
	k.evaluated[list] = true
	return true
}

// viewCoverage evaluates the profile on the coverage mappings of the programs.
func (o *ViewOptions) viewCoverage(p *irpgo.Profile, name string, info *irpgo.Info) (profile.View, error) {
	paths, err := o.programsOf(p, name)
	if err != nil {
		return nil, err
	}
	covered, err := o.evaluate(p, info, paths)
	if err != nil {
		return nil, err
	}
	return &coveredView{p.View(name, irpgo.ViewOptions{Info: info}), covered}, nil
}

func (o *ViewOptions) evaluate(p *irpgo.Profile, info *irpgo.Info, programs []string) (*coverage.Coverage, error) {
	var maps []*covmap.Mapping
	var empty error // about the first program without a mapping
	for _, path := range programs {
		m, err := o.mappings(path)
		switch {
		case err == nil:
			maps = append(maps, m...)
		case !errors.Is(err, profile.ErrEmpty):
			return nil, err
		case empty == nil:
			empty = err
		default:
			o.warn(err)
		}
	}
	if len(maps) == 0 {
		return nil, empty
	}
	if empty != nil {
		o.warn(empty)
	}
	c, err := covmap.Evaluate(maps, p, covmap.EvaluateOptions{Info: info, RanOnly: !o.Mappings.first(programs), Counted: o.counted(p)})
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

// counted gives the counts of the parts of a profile, or of one that one program wrote.
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
				id := of(r.Info().BinaryIDs)
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

// mappings returns the mappings of a program.
func (o *ViewOptions) mappings(path string) ([]*covmap.Mapping, error) {
	k := o.Mappings
	if k == nil {
		return o.readMappings(path)
	}
	if maps, ok := k.read[path]; ok {
		return maps, nil
	}
	maps, err := o.readMappings(path)
	if err == nil {
		if k.read == nil {
			k.read = make(map[string][]*covmap.Mapping)
		}
		k.read[path] = maps
	}
	return maps, err
}

func (o *ViewOptions) readMappings(path string) (maps []*covmap.Mapping, err error) {
	opt := o.Inputs
	opt.Recognize = nil // a program or an archive
	err = object.ReadFile(inputs.File(path, opt), func(data []byte) (err error) {
		maps, err = covmap.Read(path, data, covmap.Options{Arch: o.Arch, CompilationDir: o.CompilationDir})
		return err
	})
	return maps, err
}

// programsOf returns the files of the programs: those given by name, of each binary id of
// the profile the first in the folders, and programs there without an id that fit the
// functions that ran.
func (o *ViewOptions) programsOf(p *irpgo.Profile, name string) (paths []string, err error) {
	var folders []string
	for _, path := range o.Programs {
		if info, err := os.Stat(path); err == nil && info.IsDir() && filepath.Ext(filepath.Clean(path)) != ".dSYM" {
			folders = append(folders, path)
			continue
		}
		file, err := object.BundledFile(path)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(paths, file) {
			paths = append(paths, file)
		}
	}
	if len(folders) == 0 {
		return paths, nil
	}
	in := strings.Join(folders, ", ")
	known := o.Mappings.known()
	programs, err := symbolize.OpenPrograms(folders, symbolize.Options{Arch: o.Arch, Inputs: o.Inputs}) // which are looked at when needed
	if err != nil {
		return nil, err
	}
	defer programs.Close()
	for _, id := range p.BinaryIDs {
		path, ok := known[string(id)]
		if !ok {
			if path, err = mappedProgram(programs, id); err != nil {
				return nil, err
			}
			known[string(id)] = path
		}
		switch {
		case path == "":
			o.warn(flaw.In("binary ids").InFile(name).Field("program").Got(hex.EncodeToString(id)).
				Wantf("one in %s", in).Empty())
		case !slices.Contains(paths, path):
			paths = append(paths, path)
		}
	}
	if paths, err = o.fitting(p, paths, programs); err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, flaw.In("binary ids").InFile(name).Field("programs found").Got(0).
			Wantf("one in %s with an id of the profile, or without an id but with its functions: name the program itself, or link with -Wl,--build-id", in).Empty()
	}
	return paths, nil
}

// fitting appends the programs without a build id that functions are of which ran and
// which none of the programs maps: the one that has most of them first. Of a program more
// functions must fit than not.
func (o *ViewOptions) fitting(p *irpgo.Profile, paths []string, programs *symbolize.Programs) ([]string, error) {
	read := o.mappings // keeps what it reads
	if o.Mappings == nil {
		o.Mappings = new(Mappings)
		read = o.readMappings // a folder may have many programs that do not fit
	}
	known := make(map[string]bool)     // names of functions
	index := make(map[functionKey]int) // of functions, in left
	var left []bool                    // the function ran, and in no program yet
	for i := range p.Functions {
		for _, r := range p.Functions[i].Records {
			known[r.Name] = true
			index[functionKey{r.Name, r.Hash}] = len(left)
			left = append(left, slices.ContainsFunc(r.Counts, func(n uint64) bool { return n > 0 }))
		}
	}
	for _, path := range paths {
		of, _ := o.mappings(path) // errors are those of the evaluation
		for _, m := range of {
			for i := range m.Records {
				if n, ok := index[functionKey{m.Records[i].Name, m.Records[i].Hash}]; ok {
					left[n] = false
				}
			}
		}
	}
	if !slices.Contains(left, true) {
		return paths, nil
	}
	nameless, err := o.Mappings.withoutID(programs)
	if err != nil {
		return nil, err
	}
	var candidates []*candidate
	for _, path := range nameless {
		of, err := read(path)
		if err != nil {
			continue // it has no mapping, or is none of these programs
		}
		c := &candidate{path: path}
		for _, m := range of {
			for i := range m.Records {
				r := &m.Records[i]
				switch n, ok := index[functionKey{r.Name, r.Hash}]; {
				case ok && left[n]:
					c.fit = append(c.fit, n)
				case !ok && r.Hash != 0 && known[r.Name]:
					c.other++
				}
			}
		}
		if len(c.fit) > c.other {
			candidates = append(candidates, c)
		}
	}
	for len(candidates) > 0 {
		// What a candidate has that is left never becomes more: count the best anew until it
		// stays the best.
		best := slices.MaxFunc(candidates, func(a, b *candidate) int { return len(a.fit) - len(b.fit) })
		before := len(best.fit)
		best.fit = slices.DeleteFunc(best.fit, func(n int) bool { return !left[n] })
		switch {
		case len(best.fit) == before:
			paths = append(paths, best.path)
			for _, n := range best.fit {
				left[n] = false
			}
			fallthrough
		case len(best.fit) <= best.other:
			candidates = slices.DeleteFunc(candidates, func(c *candidate) bool { return c == best })
		}
	}
	return paths, nil
}

// A functionKey identifies a function of one control flow.
type functionKey struct {
	name string
	hash uint64
}

// A candidate is a program that may be one of those that ran.
type candidate struct {
	path  string
	fit   []int // functions that it has, of those that are left
	other int   // functions that the profile knows with other hashes only
}

// mappedProgram returns the path of the first program with the build id that has a
// coverage mapping, which separate debug information lacks. If none has, it returns the
// first, and "" if there is no program.
func mappedProgram(programs *symbolize.Programs, id []byte) (path string, err error) {
	for f, err := range programs.Find(id) {
		if err != nil {
			return "", err
		}
		if s := f.Section("__llvm_covmap"); s != nil && s.Size > 0 {
			return f.Name, nil
		}
		if path == "" {
			path = f.Name
		}
	}
	return path, nil
}
