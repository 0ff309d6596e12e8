package memprof

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// A placement maps a segment of a program's code to addresses of the process.
type placement struct {
	start, end uint64 // addresses in the process: start ≤ PC < end
	delta      uint64 // add to a PC for the link-time address, modulo 2^64
	program    *program
	segment    *Segment
}

// placements are sorted by address.
type placements []placement

// find returns the placement that an address of the process is in, or nil.
func (p placements) find(pc uint64) *placement {
	i, ok := slices.BinarySearchFunc(p, pc, func(p placement, pc uint64) int { return cmp.Compare(p.start, pc) })
	if !ok {
		i--
	}
	if i < 0 || pc >= p[i].end {
		return nil
	}
	return &p[i]
}

// placePrograms maps the programs to the segments of the process.
//
// Since raw version 3 it matches build ids. Before, it matches the file offset and the
// size of segments, which finds programs given by name only, and only if no other
// segment of the process has the same offset and size.
func (p *RawProfile) placePrograms(b *Binaries) (placements, error) {
	if p.Version < 3 {
		return p.placeByOffset(b)
	}
	var out placements
	for i := range p.Segments {
		s := &p.Segments[i]
		prog, err := b.findProgram(s.BuildID)
		if err != nil {
			return nil, err
		}
		if prog == nil {
			continue
		}
		addr, err := p.linkedAt(s, prog)
		if err != nil {
			return nil, err
		}
		out = append(out, placement{s.Start, s.End, addr - s.Start, prog, s})
	}
	if len(out) == 0 {
		return nil, p.noProgram(b)
	}
	return out.sort(), nil
}

func (p placements) sort() placements {
	slices.SortFunc(p, func(a, b placement) int { return cmp.Compare(a.start, b.start) })
	return p
}

// linkedAt returns the link-time address of a segment's start in the program.
func (p *RawProfile) linkedAt(s *Segment, prog *program) (uint64, error) {
	code := prog.executable()
	if len(code) == 1 {
		return code[0].Addr, nil // as LLVM does
	}
	for _, c := range code {
		if c.Addr == s.Start-s.Offset {
			return c.Addr, nil
		}
	}
	return 0, flaw.In("segments").InFile(p.Name).Field("address of a segment of "+prog.path).
		Gotf("%#x", s.Start-s.Offset).Want("the address of one of its segments of code").Mismatch()
}

// noProgram returns the error if no program matches a segment of the process.
func (p *RawProfile) noProgram(b *Binaries) error {
	if len(b.files)+len(b.programs.Folders) == 0 {
		return p.missingProgram()
	}
	text := "No matching executable segments found in binary"
	if len(b.files) > 0 {
		text += " " + b.files[0].path
	}
	return flaw.In("segments").InFile(p.Name).Field("build id of the program").Got(p.mainID()).
		Want(b.describe()).Because(&llvmerr.HeapError{Text: text, Class: profile.ErrMismatch})
}

func (p *RawProfile) missingProgram() error {
	var text strings.Builder
	text.WriteString("\nPath to profiled binary is empty, expected binary with one of the following build ids:\n")
	for _, id := range p.BuildIDs {
		text.WriteString("\n BuildId: " + cmp.Or(hex.EncodeToString(id), "<None>"))
	}
	return flaw.In("segments").InFile(p.Name).Field("program").Got("not given").
		Want("the one with build id " + p.mainID()).Because(&llvmerr.HeapError{Text: text.String(), Class: profile.ErrMismatch})
}

// mainID returns the build id of the main program, whose segment is the first.
func (p *RawProfile) mainID() string {
	if len(p.Segments) == 0 {
		return "not known: there are no segments"
	}
	if p.Version < 3 {
		return fmt.Sprintf("not known in version %d", p.Version)
	}
	return idString(p.Segments[0].BuildID)
}

func (p *RawProfile) collectBuildIDs() {
	seen := make(map[string]bool)
	for _, s := range p.Segments {
		if !seen[string(s.BuildID)] {
			seen[string(s.BuildID)] = true
			p.BuildIDs = append(p.BuildIDs, s.BuildID)
		}
	}
}

// placeByOffset places programs in the segments of raw versions 1 and 2.
func (p *RawProfile) placeByOffset(b *Binaries) (placements, error) {
	if len(b.files) == 0 {
		if len(b.programs.Folders) == 0 {
			return nil, p.missingProgram()
		}
		return nil, flaw.In("segments").InFile(p.Name).Field("program").
			Gotf("to be looked for, but version %d has no build ids", p.Version).Want("given by name").Mismatch()
	}
	var out placements
	for _, prog := range b.files {
		for _, code := range prog.executable() {
			s, err := p.mappingOf(prog, code)
			if err != nil {
				return nil, err
			}
			if s != nil {
				addr := code.Addr - code.Addr%pageSize
				out = append(out, placement{s.Start, s.End, addr - s.Start, prog, s})
			}
		}
	}
	if len(out) == 0 {
		return nil, p.noProgram(b)
	}
	out.sort()
	for i := 1; i < len(out); i++ {
		if out[i].start == out[i-1].start {
			return nil, flaw.In("segments").InFile(p.Name).
				Field(fmt.Sprintf("programs that the segment at %#x may be of", out[i].start)).
				Got(out[i-1].program.path + " and " + out[i].program.path).Want("one").Mismatch()
		}
	}
	return out, nil
}

// pageSize is the page size of x86-64, the only target of raw versions 1 and 2.
const pageSize = 4096

// mappingOf returns the mapping of a program's segment of code; nil if the process did not
// map the segment. A separate debug file does not contain the file offset of the segment;
// for such a file mappingOf compares sizes only.
func (p *RawProfile) mappingOf(prog *program, code symbolize.Segment) (*Segment, error) {
	first := code.Addr - code.Addr%pageSize
	size := (code.Addr - first + code.MemSize + pageSize - 1) &^ (pageSize - 1)
	offset := code.Offset - code.Offset%pageSize
	var found []*Segment
	for i := range p.Segments {
		s := &p.Segments[i]
		if code.FileSize > 0 && s.Offset != offset || s.End-s.Start != size ||
			!prog.file.PositionIndependent && s.Start != first {
			continue
		}
		found = append(found, s)
	}
	switch {
	case len(found) == 0:
		return nil, nil
	case len(found) == 1 || prog.file.Section(".interp") != nil:
		return found[0], nil // the program is mapped below its libraries
	}
	return nil, flaw.In("segments").InFile(p.Name).Field("segments that may be of " + prog.path).
		Got(len(found)).Want("one").Mismatch()
}

// placeLLVM maps one program like llvm-profdata: it relocates addresses after the start of the
// program's segment up to its end, and looks all other addresses up in the program unchanged.
func (p *RawProfile) placeLLVM(b *Binaries) (placements, error) {
	fail := func(field, found, want, text string) error {
		return flaw.In("segments").InFile(p.Name).Field(field).Got(found).Want(want).
			Because(&llvmerr.HeapError{Text: text, Class: profile.ErrMismatch})
	}
	if len(b.files) == 0 {
		return nil, p.missingProgram()
	}
	if p.Version < 3 {
		return p.placeByOffset(b) // LLVM 22 does not read these
	}
	prog := b.files[0]
	id := prog.file.BuildID
	code := prog.executable()
	switch arch := prog.file.Arch; {
	case arch != "x86_64" && arch != "i386":
		return nil, fail("architecture of "+prog.path, arch, "x86_64", prog.path+"\nUnsupported target: "+arch)
	case len(code) != 1:
		return nil, fail("segments of code of "+prog.path, fmt.Sprint(len(code)), "1",
			prog.path+"\nExpect only one executable load segment in the binary")
	case len(id) == 0:
		return nil, fail("build id of "+prog.path, "missing", "one", "No build id found in binary "+prog.path)
	}
	var found *Segment
	for i := range p.Segments {
		s := &p.Segments[i]
		if string(s.BuildID) != string(id) {
			continue
		}
		if found != nil {
			return nil, fail("segments with build id "+idString(id), "more", "1", "We expect only one executable segment in the profiled binary")
		}
		found = s
	}
	if found == nil {
		return nil, p.noProgram(b)
	}
	first, after := found.Start+1, max(found.End, found.End+1)
	return placements{
		{0, first, 0, prog, nil},
		{first, after, code[0].Addr - found.Start, prog, found},
		{after, math.MaxUint64, 0, prog, nil},
	}, nil
}
