package symbolize

import (
	"container/list"

	"github.com/profuse-pgo/profuse/internal/program/dwarf"
	"github.com/profuse-pgo/profuse/internal/program/object"
)

// A Frame is a function at an address, inlined or not.
type Frame struct {
	Function string // the linkage (mangled) name, or the name of a function without one; "" if not known
	// File is the path of the source file as the compiler was given it, made
	// absolute with the folder of the compilation; empty if not known.
	File          string
	Line          uint32 // 1-based; 0 if the compiler could not say
	Column        uint32 // 1-based; 0 if the compiler did not say
	StartLine     uint32 // the line where the function is declared; 0 if not known
	Discriminator uint32 // distinguishes blocks of one line
	IsInlined     bool   // reports that the function is inlined into the function of the next frame
}

// Frames returns the functions at a link-time address, innermost first. Without
// debug information there are none; see [Options.SymbolTable].
//
// Frames may return both frames and an error, if it could read only a part of the
// unit: without its .dwo file, for example, file and line are still known.
//
// It reads the whole compilation unit and caches it for the next address.
func (f *File) Frames(addr uint64) ([]Frame, error) {
	d, symbols, err := f.lookup()
	if err != nil {
		return nil, err
	}
	var frames []Frame
	err = f.guard(func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		var unit *dwarf.Unit
		var err error
		if i := d.data.Unit(addr); i >= 0 {
			unit, err = f.units.get(d.data, i, f.opt.CacheSize)
		}
		var l looker
		frames = l.frames(nil, unit, symbols, addr)
		return err
	})
	return frames, err
}

// lookup returns the debug information and the symbol table, which is nil without [Options.SymbolTable].
func (f *File) lookup() (*debugInfo, *object.SymbolTable, error) {
	d, err := f.debugData()
	if err != nil {
		return nil, nil, err
	}
	if !f.opt.SymbolTable {
		return d, nil, nil
	}
	symbols, err := f.symbolTable()
	return d, symbols, err
}

// A looker looks addresses up and reuses its memory.
type looker struct{ found []dwarf.Frame }

func (l *looker) frames(dst []Frame, unit *dwarf.Unit, symbols *object.SymbolTable, addr uint64) []Frame {
	l.found = l.found[:0]
	if unit != nil {
		l.found = unit.Frames(l.found, addr)
	}
	if symbols != nil {
		if s, ok := symbols.Find(addr); ok {
			if len(l.found) == 0 {
				l.found = append(l.found, dwarf.Frame{File: s.File})
			}
			l.found[len(l.found)-1].Function = s.Name
		}
	}
	for _, x := range l.found {
		dst = append(dst, Frame(x))
	}
	return dst
}

// defaultCacheSize is the default of [Options.CacheSize], in bytes.
const defaultCacheSize = 64 << 20

// A unitCache keeps the units used most recently.
type unitCache struct {
	byIndex map[int]*list.Element
	recent  list.List // of *cachedUnit, most recent first
	size    int
}

type cachedUnit struct {
	index int
	unit  *dwarf.Unit // nil if it cannot be read
	err   error
	size  int
}

// get returns a unit and loads it if necessary. It keeps that unit even if its size exceeds the limit.
func (c *unitCache) get(d *dwarf.Data, index, limit int) (*dwarf.Unit, error) {
	if e := c.byIndex[index]; e != nil {
		c.recent.MoveToFront(e)
		u := e.Value.(*cachedUnit)
		return u.unit, u.err
	}
	if limit == 0 {
		limit = defaultCacheSize
	}
	u := &cachedUnit{index: index, size: 1 << 10}
	if u.unit, u.err = d.Load(index); u.unit != nil {
		u.size += u.unit.Size()
	}
	for c.recent.Len() > 0 && c.size+u.size > limit {
		old := c.recent.Remove(c.recent.Back()).(*cachedUnit)
		delete(c.byIndex, old.index)
		c.size -= old.size
	}
	if c.byIndex == nil {
		c.byIndex = make(map[int]*list.Element)
	}
	c.byIndex[index] = c.recent.PushFront(u)
	c.size += u.size
	return u.unit, u.err
}
