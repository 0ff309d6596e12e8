package report

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
)

// readableNames are the demangled names of a profile, cleaned. The pages share them, since demangling
// takes most of the time spent on names.
type readableNames struct {
	src       *source
	functions func() []string // names of all functions, in the order of the view
	edges     func() []string // names by symbol of the table of edges; empty for symbols without a function

	mu sync.Mutex
	of map[string]string // other names, by the symbol
}

// newReadableNames returns names that are demangled when they are first asked for.
func newReadableNames(src *source) *readableNames {
	r := &readableNames{src: src, of: make(map[string]string)}
	r.functions, r.edges = sync.OnceValue(r.readFunctions), sync.OnceValue(r.readEdges)
	return r
}

// symbol returns the name of a symbol as people write it. Several goroutines may call it.
func (r *readableNames) symbol(s *profile.Symbol) string {
	if r.src.view != nil { // not coverage alone
		if n := r.src.edges().symbols.Find(*s); n >= 0 && r.edges()[n] != "" {
			return r.edges()[n]
		}
	}
	name := s.String()
	r.mu.Lock()
	defer r.mu.Unlock()
	readable, ok := r.of[name]
	if !ok {
		readable = clean(symbols.Demangle(name))
		r.of[name] = readable
	}
	return readable
}

func (r *readableNames) readEdges() []string {
	table := &r.src.edges().symbols
	names := make([]string, len(table.Keys)) // types and functions of other programs have none
	if len(names) == 0 {
		return names
	}
	index := 0
	for f := range profile.ReusedFunctions(r.src.view) {
		if n := table.Find(f.Symbol); n >= 0 {
			names[n] = r.functions()[index]
		}
		index++
	}
	return names
}

// readFunctions demangles the names of all functions, with a worker for each CPU.
func (r *readableNames) readFunctions() []string {
	const some = 1024 // names that go to a worker at a time
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

func demangle(names []string) {
	var text strings.Builder
	size := 0
	for _, name := range names {
		size += len(name)
	}
	text.Grow(size) // readable names are about as long
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
