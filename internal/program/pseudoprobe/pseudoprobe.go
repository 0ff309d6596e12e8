// Package pseudoprobe reads what clang -fpseudo-probe-for-profiling leaves in programs: the
// probes of functions, by which CSSPGO's profiles count, and the checksums of their control flow.
//
// The compiler numbers the blocks and calls of a function and marks each with a probe. Section
// .pseudo_probe_desc describes the functions as they were then; .pseudo_probe says which probes are left
// after optimization, where, and in which functions they are inlined.
package pseudoprobe

import (
	"encoding/binary"
	"iter"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// The names of the sections.
const (
	DescSection  = ".pseudo_probe_desc"
	ProbeSection = ".pseudo_probe"
)

// A Desc describes a function.
//
//	guid   8
//	hash   8
//	length uleb
//	name   length
type Desc struct {
	GUID uint64
	Hash uint64 // of the control flow: the checksum in profiles
	Name string
}

// Descs yields the functions that DescSection describes, up to the first error. The linker keeps one
// of several equal descriptions.
func Descs(data []byte) iter.Seq2[Desc, error] {
	return func(yield func(Desc, error) bool) {
		c := cursor.New(DescSection, 0, data, binary.LittleEndian)
		for c.Record = 0; c.Len() > 0; c.Record++ {
			d := Desc{GUID: c.U64("GUID"), Hash: c.U64("hash")}
			d.Name = string(c.Bytes(c.ULEB("length of the name"), "name"))
			if err := c.Err(); err != nil {
				yield(Desc{}, err)
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// A Kind is what an entry is about.
type Kind uint8

// The kinds of probes (PseudoProbeType), and inlined functions.
const (
	Block Kind = iota
	IndirectCall
	DirectCall
	Inlined
)

// An Entry is a probe that is left in a program, or a call that was inlined there.
type Entry struct {
	Function uint64 // GUID of the function whose probe it is
	Index    uint32 // of the probe; of the call, if inlined
	Kind     Kind
	Addr     uint64 // of the code after the probe, the call itself for calls; 0 if unknown
	Callee   uint64 // GUID of the inlined function
}

// Bits of the byte after the index of a probe.
const (
	kindBits         = 0x0f
	sentinel         = 2 << 4 // the address is the GUID of a part of a function
	hasDiscriminator = 4 << 4
	addressDelta     = 0x80
)

// maxDepth is how many functions may be inlined into each other, as in profiles.
const maxDepth = 1000

// Entries yields the probes in ProbeSection, up to the first error. start returns the address of
// a function by the GUID of its symbol; 0 if unknown.
//
//	function := guid 8, probes uleb, inlined uleb, probe*, ( call uleb, function )*
//	probe    := index uleb, bits 1, ( address 8 | difference to the last sleb ), [ discriminator uleb ]
func Entries(data []byte, start func(guid uint64) uint64) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		w := walk{c: cursor.New(ProbeSection, 0, data, binary.LittleEndian), start: start, yield: yield}
		for w.c.Record = 0; w.c.Len() > 0; w.c.Record++ {
			guid := w.c.U64("GUID")
			if !w.absolute {
				w.addr = start(guid)
			}
			if !w.function(guid, 0) {
				break
			}
		}
		if err := w.c.Err(); err != nil {
			yield(Entry{}, err)
		}
	}
}

type walk struct {
	c     *cursor.Cursor
	start func(guid uint64) uint64
	yield func(Entry, error) bool
	addr  uint64 // of the last probe; 0 if unknown
	// The compiler is LLVM 15 or older: the first probe of an object file has its address, and the others
	// follow on across functions. Later ones begin at the symbol of the function.
	absolute bool
}

// function reads a function after its GUID. It returns false after an error, or if the caller of
// [Entries] wants no more entries.
func (w *walk) function(guid uint64, depth int) bool {
	c := w.c
	if depth > maxDepth {
		c.Fail(c.At(c.Offset()).Field("depth of inlined functions").Got(depth).Wantf("at most %d", maxDepth).Unsupported())
		return false
	}
	probes := c.Count(c.ULEB("number of probes"), 3, "number of probes")
	inlined := c.Count(c.ULEB("number of inlined functions"), 11, "number of inlined functions")
	for range probes {
		if !w.probe(guid) {
			return false
		}
	}
	for range inlined {
		call := c.ULEB("call")
		callee := c.U64("GUID")
		if c.Err() != nil || !w.yield(Entry{Function: guid, Index: uint32(call), Kind: Inlined, Addr: w.addr, Callee: callee}, nil) {
			return false
		}
		if !w.function(callee, depth+1) {
			return false
		}
	}
	return c.Err() == nil
}

func (w *walk) probe(guid uint64) bool {
	c := w.c
	index := c.ULEB("index")
	bits := c.U8("bits")
	part := bits&sentinel != 0
	switch {
	case bits&addressDelta == 0:
		w.addr = c.U64("address")
		if part {
			w.addr = w.start(w.addr)
		} else {
			w.absolute = true
		}
	default:
		delta := c.SLEB("difference of addresses")
		if w.addr != 0 {
			w.addr += uint64(delta)
		}
	}
	if bits&hasDiscriminator != 0 {
		c.ULEB("discriminator")
	}
	if c.Err() != nil {
		return false
	}
	return part || w.yield(Entry{Function: guid, Index: uint32(index), Kind: Kind(bits & kindBits), Addr: w.addr}, nil)
}
