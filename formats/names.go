package formats

import (
	"iter"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/symbolize"
)

// FunctionNames returns the linkage names of functions that a profile knows only by GUID, as far as o.Programs has them:
// the symbols and inlined functions of programs, and the functions of profiles of any format. GUIDs of local functions are
// of FILE;NAME, with the path of FILE that the compiler was given.
func (o *ViewOptions) FunctionNames(guids iter.Seq[uint64]) (map[uint64]string, error) {
	n := &namer{opt: o, unknown: make(map[uint64]bool), names: make(map[uint64]string), tried: make(map[localFunction]bool)}
	for id := range guids {
		n.unknown[id] = true
	}
	for _, path := range o.Programs {
		if err := n.addFile(path); err != nil {
			return nil, err
		}
	}
	return n.names, nil
}

// A namer looks for the names of functions.
type namer struct {
	opt     *ViewOptions
	unknown map[uint64]bool
	names   map[uint64]string
	tried   map[localFunction]bool // see tryLocal
}

// A localFunction is a function as debug information describes it.
type localFunction struct{ file, name string }

// try takes the name of a function without one.
func (n *namer) try(id uint64, name string) {
	if n.unknown[id] && name != "" {
		n.names[id] = name
		delete(n.unknown, id)
	}
}

// addFile takes the names of one program or profile.
func (n *namer) addFile(path string) error {
	in := inputs.File(path, n.opt.Inputs)
	known := false
	if in.Reopens() {
		in.Heads(true, func(head []byte) bool {
			f, ok := Detect(head)
			known = ok && !f.IsProgram()
			return false
		})
	}
	if known {
		return in.One(func(d *inputs.Data) error { return n.addProfile(d.Name(), d.Bytes()) })
	}
	programs, err := symbolize.OpenPrograms([]string{path}, symbolize.Options{Arch: n.opt.Arch, Inputs: n.opt.Inputs})
	if err != nil {
		return err
	}
	defer programs.Close()
	if len(programs.Folders) > 0 {
		return flaw.File(path).Field("program").Got("a folder").
			Want("a file: the profile has no build ids to search for").Mismatch()
	}
	return n.addProgram(programs)
}

// addProfile takes the names of the functions of a profile, which for most families has the GUIDs beside them.
func (n *namer) addProfile(name string, data []byte) error {
	v, err := View(name, data, ViewOptions{Inputs: n.opt.Inputs})
	if err != nil {
		return err
	}
	for f := range v.Functions() {
		n.try(f.ID, f.Name)
		n.try(guid.Of(f.Name), f.Name)
		n.try(guid.Of(f.File+";"+f.Name), f.Name)
	}
	return nil
}

// addProgram takes the names of a program: as for heap profiles, and then of its local functions.
func (n *namer) addProgram(programs *symbolize.Programs) error {
	wanted := &memprof.Profile{}
	for id := range n.unknown {
		wanted.Records = append(wanted.Records, memprof.Record{GUID: id})
	}
	if err := memprof.NewBinaries(programs).NameFunctions(wanted); err != nil {
		return err
	}
	for id, name := range wanted.Names {
		n.try(id, name)
	}
	for _, f := range programs.Files {
		if err := n.addLocals(f); err != nil {
			return err
		}
	}
	return nil
}

// Code is looked up every few bytes, so that inlined functions are found, up to a number of places.
const (
	namedStep   = 4
	namedPlaces = 4 << 20
	namedBatch  = 1 << 16
)

// addLocals takes the names of the local functions of a program. The symbol table has the last part of a source file's
// path, debug information the whole path; the compiler was given the end of it.
func (n *namer) addLocals(f *symbolize.File) error {
	symbols, err := f.Symbols()
	if err != nil {
		return err
	}
	addrs := make([]uint64, 0, namedBatch)
	look := func() {
		// Functions in units that cannot be read stay without a name.
		_ = f.Batch(addrs, func(_ int, frames []symbolize.Frame) {
			for i := range frames {
				n.tryLocal(frames[i].File, frames[i].Function)
			}
		})
		addrs = addrs[:0]
	}
	places := 0
	for s := range symbols {
		if len(n.unknown) == 0 {
			return nil
		}
		n.try(guid.Of(s.Name), s.Name) // with a suffix that canonical names lack
		n.try(guid.Of(s.File+";"+s.Name), s.Name)
		for at := uint64(0); at <= s.Size && places < namedPlaces; at += namedStep {
			places++
			if addrs = append(addrs, s.Addr+at); len(addrs) == namedBatch {
				look()
			}
		}
	}
	look()
	return nil
}

// tryLocal tries each end of the path of a file. Most code has the frames of the code before it, so each function is
// tried once.
func (n *namer) tryLocal(file, function string) {
	f := localFunction{file, function}
	if function == "" || n.tried[f] {
		return
	}
	n.tried[f] = true
	file = filepath.ToSlash(file)
	for rest := file; len(n.unknown) > 0; {
		n.try(guid.Of(rest+";"+function), function)
		_, after, more := strings.Cut(rest, "/")
		if !more {
			return
		}
		rest = after
	}
}
