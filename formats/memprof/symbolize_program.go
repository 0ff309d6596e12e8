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
	chains Stacks                 // of inlined frames
	addrs  [2]map[uint64]lookedUp // without and with LLVMCompat
	guids  map[string]uint64      // by linkage name
	names  map[uint64]string      // canonical names by GUID
	starts map[uint64]SourceLocation
}

// A lookedUp is what a program knows of an address.
type lookedUp struct {
	stack StackIndex // 0 for an address without frames or in MemProf's runtime
	state lookupState
}

type lookupState uint8

const (
	plain     lookupState = iota
	inRuntime             // MemProf's
	completed             // by the symbol and line tables
	poor                  // frames lack a name or the first line of a function
)

func newProgram(path string, f *symbolize.File) *program {
	return &program{
		path: path, file: f, addrs: [2]map[uint64]lookedUp{make(map[uint64]lookedUp), make(map[uint64]lookedUp)},
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

// lookup returns for each address its stack in p.chains and how it was found. With llvm it uses the debug information only, and
// returns an error about missing or damaged debug information together with what it could read.
func (p *program) lookup(addrs []uint64, llvm bool) ([]lookedUp, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.addrs[0]
	if llvm {
		known = p.addrs[1]
	}
	var missing []uint64
	for _, a := range addrs {
		if _, ok := known[a]; !ok {
			missing = append(missing, a)
		}
	}
	var problem error
	if len(missing) > 0 {
		found := make([]lookedUp, len(missing))
		if problem = p.find(missing, found, llvm); problem != nil && !llvm {
			return nil, problem
		}
		for i, a := range missing {
			known[a] = found[i]
		}
	}
	out := make([]lookedUp, len(addrs))
	for i, a := range addrs {
		out[i] = known[a]
	}
	return out, problem
}

// find fills found for the addresses.
func (p *program) find(addrs []uint64, found []lookedUp, llvm bool) error {
	var scratch []frameIndex
	var lacking []poorFrames
	err := p.file.Batch(addrs, func(i int, frames []symbolize.Frame) {
		if !llvm && isPoor(frames) {
			lacking = append(lacking, poorFrames{index: i, frames: slices.Clone(frames)})
			return
		}
		found[i].stack, scratch = p.addChain(frames, scratch)
		if len(frames) > 0 && isRuntimeFile(frames[0].File) {
			found[i].state = inRuntime
		}
	})
	if err != nil || len(lacking) == 0 {
		return err
	}
	if err := p.complete(addrs, lacking); err != nil {
		return err
	}
	for _, f := range lacking {
		to := &found[f.index]
		to.state = completed
		if lacksFirstLine(f.frames) {
			to.state = poor
		}
		to.stack, scratch = p.addChain(f.frames, scratch)
	}
	return nil
}

// symbol returns the name of the symbol at an address; "" if there is none.
func (p *program) symbol(addr uint64) string {
	s, _, _ := p.file.Symbol(addr)
	return s.Name
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
