package perfdata

import "encoding/binary"

// decodeSample reads the body of a sample of an event into r.sample. On failure it returns the name of the field whose
// size is wrong.
func (r *reader) decodeSample(body []byte, event int) (bad string) {
	l, s := &r.layouts[event], &r.sample
	*s = Sample{PID: -1, TID: -1, Event: event, Count: 1, Branches: s.Branches[:0], Chain: s.Chain[:0]}
	if len(body) < l.fixed {
		return "sample"
	}
	if l.ip >= 0 {
		s.IP = r.u64(body[l.ip:])
	}
	if l.tid >= 0 {
		s.PID, s.TID = int32(r.u32(body[l.tid:])), int32(r.u32(body[l.tid+4:]))
	}
	if l.time >= 0 {
		s.Time = r.u64(body[l.time:])
	}
	if l.period >= 0 {
		s.Period = r.u64(body[l.period:])
	}
	rest, ok := body[l.fixed:], true
	if l.sampleType&sampleRead != 0 {
		if rest, ok = r.skipRead(rest, l); !ok {
			return "read values"
		}
	}
	if l.sampleType&sampleCallchain != 0 {
		n, words, ok := r.count(rest, 8)
		if !ok {
			return "call chain"
		}
		if cap(s.Chain) < n {
			s.Chain = make([]uint64, n, 2*n)
		}
		s.Chain = s.Chain[:n]
		for i := range s.Chain {
			s.Chain[i] = r.u64(words[8*i:])
			if s.Chain[i] == contextDeferred {
				s.Chain = s.Chain[:i]
				break
			}
		}
		rest = words[8*n:]
	}
	if l.sampleType&sampleRaw != 0 {
		if len(rest) < 4 || uint64(r.u32(rest)) > uint64(len(rest)-4) {
			return "raw data"
		}
		rest = rest[4+r.u32(rest):]
	}
	if l.sampleType&sampleBranches != 0 && !r.decodeBranches(rest, l) {
		return "branch stack"
	}
	return ""
}

// count reads a number of elements, which follow it.
func (r *reader) count(b []byte, each int) (n int, rest []byte, ok bool) {
	if len(b) < 8 {
		return 0, nil, false
	}
	all := r.u64(b)
	b = b[8:]
	return int(all), b, all <= uint64(len(b)/each)
}

// skipRead passes over READ.
func (r *reader) skipRead(b []byte, l *layout) (rest []byte, ok bool) {
	if len(b) < l.readFixed {
		return nil, false
	}
	if !l.readGroup {
		return b[l.readFixed:], true
	}
	n := r.u64(b)
	b = b[l.readFixed:]
	if n > uint64(len(b)/l.readEach) {
		return nil, false
	}
	return b[int(n)*l.readEach:], true
}

// decodeBranches reads the branch stack.
func (r *reader) decodeBranches(b []byte, l *layout) bool {
	n, b, ok := r.count(b, branchSize)
	if !ok {
		return false
	}
	if l.hwIndex {
		if len(b) < 8+n*branchSize {
			return false
		}
		b = b[8:]
	}
	s := &r.sample
	if cap(s.Branches) < n {
		s.Branches = make([]Branch, n, 2*n)
	}
	s.Branches = s.Branches[:n]
	if r.swapped {
		for i := range s.Branches {
			e := b[branchSize*i:]
			s.Branches[i] = Branch{r.u64(e), r.u64(e[8:]), swappedFlags(r.u64(e[16:]))}
		}
		return true
	}
	for i := range s.Branches {
		e := b[branchSize*i : branchSize*i+branchSize : branchSize*i+branchSize]
		s.Branches[i] = Branch{binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:]), binary.LittleEndian.Uint64(e[16:])}
	}
	return true
}

// The fields of the flags of a branch: their widths, from bit 0 on.
var branchFields = [...]int{1, 1, 1, 1, 16, 4, 2, 4, 3}

// swappedFlags gives the flags of a branch of a big-endian recording the bits that they have in others: the fields begin
// at the top there.
func swappedFlags(flags uint64) (out uint64) {
	at := 0
	for _, width := range branchFields {
		field := flags >> (64 - at - width) & (1<<width - 1)
		out |= field << at
		at += width
	}
	return out
}
