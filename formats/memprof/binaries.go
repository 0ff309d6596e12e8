package memprof

import (
	"fmt"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/symbolize"
)

// Binaries are the programs and libraries that raw profiles were made by, with
// what was looked up in them: they are to be shared by all profiles of a merge.
// Their methods may be called by several goroutines at once.
type Binaries struct {
	programs *symbolize.Programs

	mu    sync.Mutex
	files []*program          // those given by name, in order
	byID  map[string]*program // nil where there is none
}

// NewBinaries looks for the programs of profiles among those given, which have
// to stay open as long as profiles are symbolized.
func NewBinaries(programs *symbolize.Programs) *Binaries {
	b := &Binaries{programs: programs, byID: make(map[string]*program)}
	for path, file := range programs.Named() {
		f := newProgram(path, file)
		b.files = append(b.files, f)
		// Of several with one build id the first with debug information counts.
		if id := string(file.BuildID); id != "" {
			if old := b.byID[id]; old == nil || !old.hasDebug() && f.hasDebug() {
				b.byID[id] = f
			}
		}
	}
	return b
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
	for _, dir := range b.programs.Folders() {
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
