package memprof

import (
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// readArrays reads versions 3 and 4.
func (b *sectionDecoder) readArrays() error {
	off := b.r.offsets
	stacks, records, index := off[0], off[1], off[2]
	frames := uint64(b.r.parts)
	end := uint64(len(b.r.file))
	switch {
	case stacks < frames || stacks > end:
		return flaw.In("memprof").Field("offset of the stack array").Gotf("%#x", stacks).
			Wantf("%#x to %#x, within the section", frames, end).Corrupt()
	case (stacks-frames)%frameSize != 0:
		return flaw.In("memprof").Field("size of the frame array").Got(stacks-frames).
			Wantf("a multiple of %d", frameSize).Corrupt()
	case records < stacks || records > end:
		return flaw.In("memprof").Field("offset of the records").Gotf("%#x", records).
			Wantf("%#x to %#x, within the section", stacks, end).Corrupt()
	case (records-stacks)%4 != 0:
		return flaw.In("memprof").Field("size of the stack array").Got(records - stacks).Want("a multiple of 4").Corrupt()
	}
	c := b.r.cursor("memprof frames", int64(frames))
	n := int((stacks - frames) / frameSize)
	b.array.frames = make([]frameIndex, n)
	for i := range n {
		c.Record = i
		b.array.frames[i] = b.p.Stacks.addFrame(readFrame(c))
		if c.Err() != nil {
			return c.Err()
		}
	}
	b.array.base = int64(stacks)
	b.array.data = b.r.file[stacks:records]
	b.array.known = make([]StackIndex, len(b.array.data)/4)
	if err := b.readTable("record", records, index, b.readRecord); err != nil {
		return err
	}
	if b.r.Version < 4 || off[3] == 0 {
		return nil
	}
	if off[3] <= index || off[3] > end {
		return flaw.In("memprof").Field("offset of the data-access block").Gotf("%#x", off[3]).
			Wantf("more than %#x, within the section", index).Corrupt()
	}
	var err error
	b.p.DataAccess, err = readDataAccess(b.r.cursor("memprof data access", int64(off[3])))
	return err
}

// A stackArray is the array of call stacks. It caches the stack at each element, so decoding is linear.
type stackArray struct {
	data   []byte
	base   int64 // of data in the file
	frames []frameIndex
	known  []StackIndex // by element that holds a frame: the stack from there on; 0 if not known
	depth  []uint32     // by StackIndex; one more than there are nodes
	path   []uint32     // scratch: elements to be known
}

// stack returns the stack at index id, which was read at offset at.
func (a *stackArray) stack(c *cursor.Cursor, at int64, id uint32, s *Stacks) StackIndex {
	bad := func(element uint64, field string, found any, want string) StackIndex {
		c.Section = "memprof stacks"
		c.Fail(c.At(a.base + 4*int64(element)).Field(field).Got(found).Want(want).Corrupt())
		return 0
	}
	size := uint64(len(a.known))
	if uint64(id) >= size {
		c.Fail(c.At(at).Field("index of the stack").Got(id).
			Wantf("less than %d, the size of the stack array", size).Corrupt())
		return 0
	}
	left := le.Uint32(a.data[4*id:])
	a.path = a.path[:0]
	stack := StackIndex(0)
	for p := uint64(id) + 1; left > 0; left-- {
		if p >= size {
			return bad(p, "end of a stack", "after the array", fmt.Sprintf("before its %d elements end", size))
		}
		if e := le.Uint32(a.data[4*p:]); e >= stackJump {
			from := p
			p += 1<<32 - uint64(e)
			if p >= size {
				return bad(from, "jump", fmt.Sprintf("to element %d", p), fmt.Sprintf("less than %d, the size of the array", size))
			}
		}
		e := le.Uint32(a.data[4*p:])
		if uint64(e) >= uint64(len(a.frames)) {
			return bad(p, "index of a frame", e, fmt.Sprintf("less than %d, the number of frames", len(a.frames)))
		}
		if stack = a.known[p]; stack != 0 {
			if d := a.depth[stack]; d != left {
				return bad(p, "frames from here on", left, fmt.Sprintf("%d, as in another stack", d))
			}
			break
		}
		a.path = append(a.path, uint32(p))
		p++
	}
	for _, p := range slices.Backward(a.path) {
		stack = s.push(stack, a.frames[le.Uint32(a.data[4*p:])])
		a.known[p] = stack
		for len(a.depth) <= int(stack) {
			a.depth = append(a.depth, 0)
		}
		a.depth[stack] = a.depth[s.nodes.list[stack-1].caller()] + 1
	}
	s.markWhole(stack)
	return stack
}
