package memprof

import (
	"fmt"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/symbolize"
)

// Binaries are the programs and libraries of the processes that wrote raw profiles, with a cache of
// lookups: all profiles of a merge should share them. They are safe for concurrent use.
type Binaries struct {
	programs *symbolize.Programs

	mu    sync.Mutex
	files []*program          // programs given by name, in order
	byID  map[string]*program // nil for an id without a program
}

// NewBinaries returns binaries that search the given programs, which must stay open as long
// as profiles are symbolized. nil means none.
func NewBinaries(programs *symbolize.Programs) *Binaries {
	if programs == nil {
		programs = &symbolize.Programs{}
	}
	b := &Binaries{programs: programs, byID: make(map[string]*program)}
	for i, file := range programs.Files {
		f := newProgram(programs.Names[i], file)
		b.files = append(b.files, f)
		// Of several programs with one build id, the first with debug information counts.
		if id := string(file.BuildID); id != "" {
			if old := b.byID[id]; old == nil || !old.hasDebug() && f.hasDebug() {
				b.byID[id] = f
			}
		}
	}
	return b
}

// findProgram returns the program with the build id, nil if there is none.
func (b *Binaries) findProgram(id []byte) (*program, error) {
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

// findInFolders returns the first file with the build id, preferably one with debug information.
func (b *Binaries) findInFolders(id []byte) (best *program, err error) {
	for file, err := range b.programs.Find(id) {
		if err != nil {
			return nil, err
		}
		f := newProgram(file.Name, file)
		if f.hasDebug() {
			return f, nil
		}
		if best == nil {
			best = f
		}
	}
	return best, nil
}

// describe names the first few programs, for errors.
func (b *Binaries) describe() string {
	const most = 4
	var out []string
	for _, f := range b.files {
		out = append(out, fmt.Sprintf("%s (%s)", idString(f.file.BuildID), f.path))
	}
	for _, dir := range b.programs.Folders {
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
