package memprof

import "github.com/zeebo/blake3"

func hash64(data []byte) uint64 {
	sum := blake3.Sum256(data)
	return le.Uint64(sum[:8])
}

// appendFrame appends a frame in the encoding of the frame table and array.
func appendFrame(dst []byte, f Frame) []byte {
	dst = le.AppendUint64(dst, f.GUID)
	dst = le.AppendUint32(dst, f.LineOffset)
	dst = le.AppendUint32(dst, f.Column)
	return append(dst, f.inline())
}

// inline returns 1 for an inlined frame, else 0, as in the formats.
func (f Frame) inline() uint8 {
	if f.Inline {
		return 1
	}
	return 0
}

// oldFrameIDs is the last LLVM release whose frame ids are a hash_combine; later releases use BLAKE3.
const oldFrameIDs = 19

// frameID returns the id of a frame (Frame::hash, later IndexedMemProfData::addFrame).
func frameID(f Frame, llvm int) uint64 {
	if llvm > oldFrameIDs {
		var buf [frameSize]byte
		return hash64(appendFrame(buf[:0], f))
	}
	id := uint64(0)
	for _, x := range [...]uint64{f.GUID, uint64(f.LineOffset), uint64(f.Column), uint64(f.inline())} {
		id ^= x + 0x9e3779b97f4a7c15 + id<<6 + id>>2
	}
	return id
}

func (s *Stacks) frameIDs(llvm int) []uint64 {
	ids := make([]uint64, len(s.Frames))
	for i, f := range s.Frames {
		ids[i] = frameID(f, llvm)
	}
	return ids
}

// stackID returns a hash of the ids of the frames (hashCallStack). buf is scratch space, returned for reuse.
func (s *Stacks) stackID(i StackIndex, frameIDs []uint64, buf []byte) (uint64, []byte) {
	buf = buf[:0]
	for f := range s.walk(i) {
		buf = le.AppendUint64(buf, frameIDs[f])
	}
	return hash64(buf), buf
}
