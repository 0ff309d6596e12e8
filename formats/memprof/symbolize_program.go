package memprof

import (
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/symbolize"
)

// A program is a program or library with a cache of lookups.
type program struct {
	path string
	file *symbolize.File

	mu     sync.Mutex
	chains Stacks                // of inlined frames
	addrs  map[uint64]StackIndex // 0 for addresses without frames or in MemProf's runtime
	guids  map[string]uint64     // by linkage name
	names  map[uint64]string     // canonical names by GUID
	starts map[uint64]SourceLocation
}

func newProgram(path string, f *symbolize.File) *program {
	return &program{
		path: path, file: f, addrs: make(map[uint64]StackIndex),
		guids: make(map[string]uint64), names: make(map[uint64]string), starts: make(map[uint64]SourceLocation),
	}
}

func (p *program) hasDebug() bool {
	path, err := p.file.DebugFile()
	return err == nil && path != ""
}

func (p *program) executable() []symbolize.Segment {
	return slices.DeleteFunc(slices.Clone(p.file.Segments), func(s symbolize.Segment) bool { return !s.Executable })
}

// lookup returns for each address a stack of p.chains, 0 for an address without frames. With
// lenient it returns an error about missing or damaged debug information together with the
// stacks that it could read.
func (p *program) lookup(addrs []uint64, lenient bool) ([]StackIndex, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var missing []uint64
	for _, a := range addrs {
		if _, ok := p.addrs[a]; !ok {
			missing = append(missing, a)
		}
	}
	var problem error
	if len(missing) > 0 {
		found := make([]StackIndex, len(missing))
		var chain []frameIndex
		problem = p.file.Batch(missing, func(i int, frames []symbolize.Frame) {
			found[i], chain = p.addChain(frames, chain)
		})
		if problem != nil && !lenient {
			return nil, problem
		}
		for i, a := range missing {
			p.addrs[a] = found[i]
		}
	}
	out := make([]StackIndex, len(addrs))
	for i, a := range addrs {
		out[i] = p.addrs[a]
	}
	return out, problem
}

// addChain adds the frames to p.chains. It returns scratch for the next call.
func (p *program) addChain(frames []symbolize.Frame, scratch []frameIndex) (StackIndex, []frameIndex) {
	if len(frames) == 0 || frames[0].Function == "" || isRuntimeFile(frames[0].File) {
		return 0, scratch
	}
	scratch = scratch[:0]
	for _, f := range frames {
		guid := p.guid(f.Function)
		p.noteStart(guid, &f)
		scratch = append(scratch, p.chains.addFrame(Frame{
			GUID: guid, LineOffset: f.Line - f.StartLine, Column: f.Column, Inline: f.IsInlined,
		}))
	}
	return p.chains.addStack(scratch), scratch
}

// noteStart records the source line where a function begins; the first function of a name counts.
func (p *program) noteStart(guid uint64, f *symbolize.Frame) {
	if _, ok := p.starts[guid]; !ok && f.File != "" {
		p.starts[guid] = SourceLocation{f.File, f.StartLine}
	}
}

// badName is LLVM's name of a function without one.
const badName = "<invalid>"

func (p *program) guid(name string) uint64 {
	if name == "" {
		name = badName
	}
	g, ok := p.guids[name]
	if !ok {
		g = guidOf(name)
		p.guids[name] = g
		if _, ok := p.names[g]; !ok {
			p.names[g] = guid.Canonical(name)
		}
	}
	return g
}

// isRuntimeFile reports whether a source file belongs to the MemProf runtime's allocation functions.
func isRuntimeFile(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return slices.Contains([]string{"memprof_malloc_linux.cpp", "memprof_interceptors.cpp", "memprof_new_delete.cpp"}, name)
}

func (p *program) length(stack StackIndex) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range p.chains.walk(stack) {
		n++
	}
	return n
}

// export adds the frames of a stack of p.chains to a profile, and appends their indexes.
func (p *program) export(dst []frameIndex, stack StackIndex, out *Profile) []frameIndex {
	p.mu.Lock()
	defer p.mu.Unlock()
	for f := range p.chains.Walk(stack) {
		if out.Names != nil {
			out.Names[f.GUID] = p.names[f.GUID]
			if at, ok := p.starts[f.GUID]; ok {
				out.Sources[f.GUID] = at
			}
		}
		dst = append(dst, out.Stacks.addFrame(f))
	}
	return dst
}
