package memprof

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/symbolize"
)

// BinaryOptions say how programs are opened. The zero value is right for most
// uses.
type BinaryOptions struct {
	// DebugDirs are the folders with separate debug files, by build id; nil
	// means /usr/lib/debug.
	DebugDirs []string
	// NoDebugFiles looks for debug information in the programs only.
	NoDebugFiles bool
	// DWP is the package file of split DWARF, instead of the program's name with
	// ".dwp" appended.
	DWP string
	// Arch chooses a slice of universal Mach-O files.
	Arch string
	// Workers is how many compilation units are read at a time; 0 means one per
	// processor.
	Workers int
}

// Binaries finds the programs and libraries that raw profiles were made by, and
// remembers what it has looked up in them: it is to be shared by all profiles
// of a merge. Its methods may be called by several goroutines at once.
type Binaries struct {
	opt     symbolize.Options
	folders []string
	inside  *symbolize.Folders

	mu    sync.Mutex
	files []*program          // those given by name, in order
	byID  map[string]*program // nil where the folders have none
}

// OpenBinaries opens programs and libraries, ELF or Mach-O, also separate files
// with their debug information (.debug, .dSYM), and takes note of folders, in
// which files are looked for by build id when they are needed:
// FOLDER/.build-id/xx/yyyy.debug, or anywhere below.
func OpenBinaries(paths []string, opt BinaryOptions) (*Binaries, error) {
	b := &Binaries{
		opt: symbolize.Options{
			DebugDirs: opt.DebugDirs, NoDebugFiles: opt.NoDebugFiles, DWP: opt.DWP,
			Arch: opt.Arch, Workers: opt.Workers,
		},
		byID: make(map[string]*program),
	}
	for _, path := range paths {
		if symbolize.IsFolder(path) {
			b.folders = append(b.folders, path)
			continue
		}
		f, err := b.open(path)
		if err != nil {
			b.Close()
			return nil, err
		}
		b.files = append(b.files, f)
		// Of several with one build id the first with debug information counts.
		if id := string(f.file.BuildID()); id != "" {
			if old := b.byID[id]; old == nil || !old.hasDebug() && f.hasDebug() {
				b.byID[id] = f
			}
		}
	}
	b.inside = symbolize.NewFolders(b.folders, opt.Arch)
	return b, nil
}

// Close closes the programs. Profiles that were symbolized stay usable.
func (b *Binaries) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, f := range b.files {
		errs = append(errs, f.file.Close())
	}
	for _, f := range b.byID {
		if f != nil && !slices.Contains(b.files, f) {
			errs = append(errs, f.file.Close())
		}
	}
	b.files, b.folders, b.byID, b.inside = nil, nil, make(map[string]*program), symbolize.NewFolders(nil, "")
	return errors.Join(errs...)
}

func (b *Binaries) open(path string) (*program, error) {
	f, err := symbolize.Open(path, b.opt)
	if err != nil {
		return nil, err
	}
	return newProgram(path, f), nil
}

// find returns the program with that build id, nil if there is none.
func (b *Binaries) find(id []byte) (*program, error) {
	if len(id) == 0 {
		return nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if f, ok := b.byID[string(id)]; ok {
		return f, nil
	}
	f, err := b.findInFolders(id)
	if err == nil {
		b.byID[string(id)] = f
	}
	return f, err
}

// findInFolders returns the first file with debug information, or else the
// first.
func (b *Binaries) findInFolders(id []byte) (*program, error) {
	var best *program
	for path, err := range b.inside.Find(id) {
		if err != nil {
			return nil, errors.Join(err, best.close())
		}
		f, err := b.open(path)
		switch {
		case err != nil: // it is not there, or has gone since
		case bytes.Equal(f.file.BuildID(), id) && f.hasDebug():
			best.close()
			return f, nil
		case bytes.Equal(f.file.BuildID(), id) && best == nil:
			best = f
		default:
			f.close()
		}
	}
	return best, nil
}

// describe names the programs for errors: at most a few.
func (b *Binaries) describe() string {
	const most = 4
	var out []string
	for _, f := range b.files {
		out = append(out, fmt.Sprintf("%s (%s)", idString(f.file.BuildID()), f.path))
	}
	for _, dir := range b.folders {
		out = append(out, "those in "+dir)
	}
	switch {
	case len(out) == 0:
		return "no program given"
	case len(out) > most:
		out = append(out[:most], fmt.Sprintf("%d more", len(out)-most))
	}
	return strings.Join(out, ", ")
}

func idString(id []byte) string {
	if len(id) == 0 {
		return "none"
	}
	return fmt.Sprintf("%x", id)
}
