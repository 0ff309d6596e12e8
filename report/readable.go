package report

import (
	"maps"
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
	of map[string]string // by the symbol; nil until the first is asked for
}

// newReadableNames returns names that are demangled when they are first asked for.
func newReadableNames(src *source) *readableNames {
	r := &readableNames{src: src}
	r.functions = sync.OnceValue(r.readFunctions)
	return r
}

// symbol returns a name as people write it, cleaned. Several goroutines may call it.
func (r *readableNames) symbol(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.readEdges()
	}
	readable, ok := r.of[name]
	if !ok {
		readable = clean(symbols.Demangle(name))
		r.of[name] = readable
	}
	return readable
}

// readEdges takes over the names of the functions in edges, most of what symbol is asked for.
func (r *readableNames) readEdges() {
	r.of = make(map[string]string)
	if r.src.view == nil {
		return // the source is coverage alone
	}
	for _, s := range r.src.edges().symbols {
		// Empty until the function of that name is met; types and names of other programs stay so.
		r.of[s.String()] = ""
	}
	if len(r.of) == 0 {
		return
	}
	place := 0
	for f := range profile.ReusedFunctions(r.src.view) {
		if _, ok := r.of[f.Symbol.String()]; ok {
			r.of[f.Symbol.String()] = r.functions()[place]
		}
		place++
	}
	maps.DeleteFunc(r.of, func(_, readable string) bool { return readable == "" })
}

// readFunctions demangles the names of all functions, with a worker for each CPU.
func (r *readableNames) readFunctions() []string {
	// As many names go to a worker at a time.
	const some = 1024
	lists := make(chan []string)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for list := range lists {
				demangle(list)
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
func demangle(names []string) {
	var text strings.Builder
	ends := make([]int, len(names))
	for i, name := range names {
		// Names of C stay as they are, and share the memory of the profile.
		if readable := symbols.Demangle(name); readable != name {
			text.WriteString(readable)
		}
		ends[i] = text.Len()
	}
	start := 0
	for i := range names {
		if start < ends[i] {
			names[i] = text.String()[start:ends[i]]
		}
		names[i], start = clean(names[i]), ends[i]
	}
}
