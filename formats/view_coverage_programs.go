package formats

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/program/covmap"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/symbolize"
)

// choosePrograms returns the paths of the programs whose mappings the coverage of a profile needs:
// programs that the user named, the first program in the folders for each binary id of the profile,
// and programs in the folders that match functions that ran: programs without a build id, or all
// programs if the format of the profile cannot hold binary ids.
func (o *ViewOptions) choosePrograms(p *irpgo.Profile, name string, info *irpgo.Info) (paths []string, err error) {
	paths, folders, err := splitFolders(o.Programs)
	if err != nil || len(folders) == 0 {
		return paths, err
	}
	in := strings.Join(folders, ", ")
	programs, err := o.Mappings.open(folders, symbolize.Options{Arch: o.Arch, Inputs: o.Inputs})
	if err != nil {
		return nil, err
	}
	for _, id := range p.BinaryIDs {
		path, ok := o.Mappings.found[string(id)]
		if !ok {
			if path, err = mappedProgram(programs, id); err != nil {
				return nil, err
			}
			o.Mappings.found[string(id)] = path
		}
		switch {
		case path == "":
			o.warn(flaw.In("binary ids").InFile(name).Field("program").Got(hex.EncodeToString(id)).
				Wantf("one in %s", in).Empty())
		case !slices.Contains(paths, path):
			paths = append(paths, path)
		}
	}
	if paths, err = o.addMatching(p, paths, programs, holdsIDs(info)); err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, flaw.In("binary ids").InFile(name).Field("programs found").Got(0).
			Wantf("one in %s with an id of the profile, or with its functions: name the program itself, or link with -Wl,--build-id", in).Empty()
	}
	return paths, nil
}

// splitFolders separates files, each once, from folders and archives. A .dSYM bundle stands for the file in it.
func splitFolders(programs []string) (files, folders []string, err error) {
	for _, path := range programs {
		if object.IsFolder(path) {
			folders = append(folders, path)
			continue
		}
		file, err := object.BundledFile(path)
		if err != nil {
			return nil, nil, err
		}
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files, folders, nil
}

// mappedProgram returns the path of the first program with the build id and a coverage mapping. Separate debug
// information lacks the mapping, or the names of the functions (objcopy --only-keep-debug). If no program has a mapping, it returns the first one, and "" if there is no program.
func mappedProgram(programs *symbolize.Programs, id []byte) (path string, err error) {
	for f, err := range programs.Find(id) {
		if err != nil {
			return "", err
		}
		if s := f.Section("__llvm_covmap"); s != nil && s.Size > 0 && !lacksNames(f) {
			return f.Name, nil
		}
		if path == "" {
			path = f.Name
		}
	}
	return path, nil
}

// lacksNames reports whether the section with the names of functions is there without contents.
func lacksNames(f *symbolize.File) bool {
	s := f.Section("__llvm_prf_names")
	if s == nil {
		return false
	}
	data, err := s.Data()
	return err == nil && len(data) == 0
}

// addMatching adds programs that contain functions that ran and that no chosen program maps, best
// match first. A program must match more functions than it contradicts. A program with a build id is
// none of them if the profile would have the id.
func (o *ViewOptions) addMatching(p *irpgo.Profile, paths []string, programs *symbolize.Programs, holdsIDs bool) ([]string, error) {
	uncovered := newUncovered(p)
	for _, path := range paths {
		maps, _ := o.mappings(path) // evaluating the program reports its error
		uncovered.removeMapped(maps)
	}
	if !slices.Contains(uncovered.ran, true) {
		return paths, nil
	}
	byID, err := programs.ByID()
	if err != nil {
		return nil, err
	}
	possible := byID[""]
	if !holdsIDs {
		possible = slices.Concat(slices.Collect(maps.Values(byID))...)
		slices.Sort(possible)
	}
	var candidates []*candidate
	for _, path := range possible {
		maps, err := o.mappings(path)
		if err != nil {
			continue // no mapping, or another kind of program
		}
		if c := uncovered.match(path, maps); len(c.matched) > c.contradicted {
			candidates = append(candidates, c)
		} else if o.Mappings.oneView {
			delete(o.Mappings.read, path) // a folder may have many programs that do not match
		}
	}
	return append(paths, uncovered.choose(candidates)...), nil
}

// holdsIDs reports whether the format of a profile can hold binary ids.
func holdsIDs(info *irpgo.Info) bool {
	switch info.Format {
	case irpgo.FormatText:
		return false
	case irpgo.FormatIndexed:
		return info.Version >= 9
	case irpgo.FormatRaw:
		return info.Version >= 7
	}
	return true
}

// uncovered tracks which functions of a profile ran without being mapped by a chosen program.
type uncovered struct {
	known map[string]bool     // names of the functions of the profile
	index map[functionKey]int // index in ran
	ran   []bool              // the function ran, and no chosen program maps it
}

// A functionKey identifies a function of one control flow.
type functionKey struct {
	name string
	hash uint64
}

func newUncovered(p *irpgo.Profile) *uncovered {
	u := &uncovered{known: make(map[string]bool), index: make(map[functionKey]int)}
	for i := range p.Functions {
		for _, r := range p.Functions[i].Records {
			u.known[r.Name] = true
			u.index[functionKey{r.Name, r.Hash}] = len(u.ran)
			u.ran = append(u.ran, slices.ContainsFunc(r.Counts, func(n uint64) bool { return n > 0 }))
		}
	}
	return u
}

// removeMapped removes the functions that the mappings contain.
func (u *uncovered) removeMapped(maps []*covmap.Mapping) {
	for _, m := range maps {
		for i := range m.Records {
			if n, ok := u.index[functionKey{m.Records[i].Name, m.Records[i].Hash}]; ok {
				u.ran[n] = false
			}
		}
	}
}

// A candidate is a program that may have written the profile.
type candidate struct {
	path         string
	matched      []int // uncovered functions that the program maps
	contradicted int   // functions of the program that the profile has only with other hashes
}

// match compares a program with the profile.
func (u *uncovered) match(path string, maps []*covmap.Mapping) *candidate {
	c := &candidate{path: path}
	for _, m := range maps {
		for i := range m.Records {
			r := &m.Records[i]
			switch n, ok := u.index[functionKey{r.Name, r.Hash}]; {
			case ok && u.ran[n]:
				c.matched = append(c.matched, n)
			case !ok && r.Hash != 0 && u.known[r.Name]:
				c.contradicted++
			}
		}
	}
	return c
}

// choose returns the paths of candidates in the order of a greedy set cover: the candidate that
// matches most uncovered functions comes next, as long as it matches more than it contradicts.
func (u *uncovered) choose(candidates []*candidate) (paths []string) {
	for len(candidates) > 0 {
		// A candidate's number of uncovered functions only falls: count the best candidate again
		// until it stays the best.
		best := slices.MaxFunc(candidates, func(a, b *candidate) int { return len(a.matched) - len(b.matched) })
		before := len(best.matched)
		best.matched = slices.DeleteFunc(best.matched, func(n int) bool { return !u.ran[n] })
		isBest := len(best.matched) == before
		if isBest {
			paths = append(paths, best.path)
			for _, n := range best.matched {
				u.ran[n] = false
			}
		}
		if isBest || len(best.matched) <= best.contradicted {
			candidates = slices.DeleteFunc(candidates, func(c *candidate) bool { return c == best })
		}
	}
	return paths
}
