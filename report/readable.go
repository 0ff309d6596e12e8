package report

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
)

// readableNames are the demangled names of a profile. Demangling takes longer than all else
// that is done with names, so the pages share them.
type readableNames struct {
	src       *source
	functions func() []string // those of all functions, in the order of the view, cleaned

	mu sync.Mutex
	of map[string]string // by the symbol; "" for one not demangled yet
}

func newReadableNames(src *source) *readableNames {
	r := &readableNames{src: src, of: make(map[string]string)}
	r.functions = sync.OnceValue(r.readFunctions)
	return r
}

// symbol returns a name as people write it.
func (r *readableNames) symbol(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	readable := r.of[name]
	if readable == "" {
		readable = symbols.Demangle(name)
		r.of[name] = readable
	}
	return readable
}

// readFunctions demangles the names of all functions, with a worker for each CPU. It keeps
// those of the functions in edges for symbol, too.
func (r *readableNames) readFunctions() []string {
	r.mu.Lock()
	for _, s := range r.src.edges().symbols {
		if r.of[s.Name] == "" {
			r.of[s.Name] = ""
		}
	}
	r.mu.Unlock()
	const some = 1024
	lists := make(chan []string)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for list := range lists {
				r.demangle(list)
			}
		})
	}
	var done [][]string
	list := make([]string, 0, some)
	for f := range profile.ReusedFunctions(r.src.view) {
		if len(list) == some {
			done = append(done, list)
			lists <- list
			list = make([]string, 0, some)
		}
		list = append(list, f.Symbol.String())
	}
	done = append(done, list)
	lists <- list
	close(lists)
	workers.Wait()
	return slices.Concat(done...)
}

// demangle replaces names. It keeps those that change in one piece of memory.
func (r *readableNames) demangle(names []string) {
	var text strings.Builder
	ends := make([]int, len(names))
	for i, name := range names {
		if readable := symbols.Demangle(name); readable != name {
			text.WriteString(readable)
		}
		ends[i] = text.Len()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	start := 0
	for i, name := range names {
		if start < ends[i] {
			names[i] = text.String()[start:ends[i]]
		}
		if _, ok := r.of[name]; ok {
			r.of[name] = names[i]
		}
		names[i], start = clean(names[i]), ends[i]
	}
}
