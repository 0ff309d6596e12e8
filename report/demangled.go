package report

import (
	"sync"

	"github.com/profuse-pgo/profuse/internal/symbols"
)

// demangledNames keeps the names that were demangled, which takes longer than
// anything else that is done with them. Pages that are made at the same time
// share it.
type demangledNames struct {
	mu    sync.Mutex
	names map[string]string
}

func newDemangledNames() *demangledNames { return &demangledNames{names: make(map[string]string)} }

// of returns a name as people write it.
func (d *demangledNames) of(name string) string {
	d.mu.Lock()
	readable, ok := d.names[name]
	d.mu.Unlock()
	if !ok {
		readable = symbols.Demangle(name)
		d.mu.Lock()
		d.names[name] = readable
		d.mu.Unlock()
	}
	return readable
}
