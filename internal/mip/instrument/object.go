package instrument

import (
	"fmt"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/blocks"
)

// Functions that a runtime has to provide, hidden in each linked image; see the package documentation.
const (
	firstCallHelper = "__profuse_mip_first"  // for call counts
	sampleHelper    = "__profuse_mip_sample" // for call counts with samples of return addresses
)

type recordSection byte

const (
	rawSection recordSection = iota
	hitSection
	mapSection
	blocksSection
)

func (s recordSection) name() string {
	return [...]string{asm.RawSection, asm.HitSection, asm.MapSection, blocks.Section}[s]
}

type objectWriter interface {
	// section switches to the section for the record of function id.
	section(s recordSection, id int)
	// header prints the header of a section. Linkers keep one of all objects' headers.
	header(s recordSection)
	// finish prints the directives that follow all records.
	finish()
}

func (e *emitter) objectWriter() objectWriter {
	if e.Target.Format == asm.MachO {
		return machOWriter{e}
	}
	return elfWriter{e}
}

// headerFields prints the fields of a header at label; rawStart is a symbol at
// the start of the raw section.
func (e *emitter) headerFields(s recordSection, label, rawStart string) {
	e.text.Line("\t.p2align\t", e.pointerAlignment())
	e.text.Line(label, ":")
	if s == blocksSection {
		e.text.Line("\t.long\t", hex32(blocks.Magic))
		e.text.Line("\t.short\t", strconv.Itoa(blocks.Version))
		e.text.Line("\t.short\t", strconv.Itoa(e.Target.PointerSize()))
		e.text.Line("\t.long\t", hex32(e.opt.moduleHash()))
		e.text.Line("\t.long\t0")
		e.headerOffset(rawStart, label)
		return
	}
	const kindRaw, kindMap, wide, narrow = 1, 4, 0x10, 0x20
	kind := uint32(wide)
	if e.Target.PointerSize() == 4 {
		kind = narrow
	}
	if s == mapSection {
		kind |= kindMap
	} else {
		kind |= kindRaw
	}
	e.text.Line("\t.long\t0x50494dfb")
	e.text.Line("\t.short\t8")
	e.text.Line("\t.short\t", hex32(kind))
	e.text.Line("\t.long\t", hex32(uint32(e.opt.Profile)))
	e.text.Line("\t.long\t", hex32(e.opt.moduleHash()))
	if s == mapSection {
		e.headerOffset(rawStart, label)
	} else {
		e.text.Line("\t.long\t0, 0")
	}
	e.text.Line("\t.long\t0")
	e.text.Line("\t.long\t0x20")
}

// headerOffset prints RawSectionOffset, 64 bits on every target.
func (e *emitter) headerOffset(rawStart, label string) {
	e.address(rawStart, label)
	if e.Target.PointerSize() == 4 {
		e.text.Line("\t.long\t0")
	}
}

func hex32(v uint32) string { return fmt.Sprintf("%#x", v) }
