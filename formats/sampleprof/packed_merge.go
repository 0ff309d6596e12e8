package sampleprof

import (
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// A bodyMerger adds packed bodies up (FunctionSamples::merge).
type bodyMerger struct {
	weight  uint64
	ofBuild bool // inlined functions with different checksums stay apart
	result  result
	list    []packedTarget
}

// merge appends the sum of body a and weight times body b to dst. If the checksums contradict each
// other and ofBuild is not set, it appends a alone; ok is false. fresh says that a is empty.
func (m *bodyMerger) merge(dst, a, b []byte, fresh bool) (sum []byte, ok bool) {
	if fresh && m.weight == 1 {
		return append(dst, b...), true
	}
	x, y := unpacker{b: a}, unpacker{b: b}
	total, checksum, attributes := x.num(), x.num(), x.num()
	m.addCount(&total, y.num())
	// A checksum of 0 means unknown; the first known one counts.
	other, more := y.num(), y.num()
	switch {
	case fresh:
		checksum, attributes = other, more
	case checksum == 0:
		checksum = other
	case checksum != other && !m.ofBuild:
		return append(dst, a...), false
	}
	if m.ofBuild { // the result must not depend on the order
		attributes |= more
	}
	dst = cursor.AppendULEB(cursor.AppendULEB(cursor.AppendULEB(dst, total), checksum), attributes)
	dst = m.mergeLists(dst, &x, &y, true)
	dst = m.mergeCalls(dst, &x, &y)
	return m.mergeLists(dst, &x, &y, false), true
}

func (m *bodyMerger) addCount(sum *uint64, count uint64) {
	if addCount(sum, count, m.weight) {
		m.result |= overflowed
	}
}

// mergeLists adds up samples or, without counts, uses of virtual tables. It copies runs that only a has.
func (m *bodyMerger) mergeLists(dst []byte, a, b *unpacker, counts bool) []byte {
	pass := func(p packedLocation) {
		if counts {
			a.skip()
		}
		a.skipList(p)
	}
	run, at := a.i, a.i // begin of the run and of location x
	x := a.location()
	for y := b.location(); y.ok; y = b.location() {
		for x.ok && x.word < y.word {
			pass(x)
			at = a.i
			x = a.location()
		}
		dst = append(dst, a.b[run:at]...)
		run = at
		count := uint64(0)
		m.list = m.list[:0]
		same := x.ok && x.word == y.word
		if same {
			if counts {
				count = a.num()
			}
			m.list = a.list(m.list, x)
			run, at = a.i, a.i
			x = a.location()
		}
		if counts {
			m.addCount(&count, b.num())
		}
		known := len(m.list)
		m.list = b.list(m.list, y)
		m.addList(known)
		dst = appendPackedLocation(dst, y.word, len(m.list) > 0)
		if counts {
			dst = cursor.AppendULEB(dst, count)
		}
		dst = appendList(dst, m.list)
	}
	for x.ok {
		pass(x)
		x = a.location()
	}
	return append(dst, a.b[run:a.i]...) // with the end
}

// addList multiplies m.list[known:] by the weight and merges it into m.list[:known]. Both are sorted.
func (m *bodyMerger) addList(known int) {
	for i := known; i < len(m.list); i++ {
		t := m.list[i]
		count := t.count
		t.count = 0
		m.addCount(&t.count, count)
		m.list[i] = t
	}
	if known == 0 || known == len(m.list) {
		return
	}
	// The lists are short: sorting again is fast.
	slices.SortStableFunc(m.list, packedTarget.compare)
	n := 0
	for _, t := range m.list[1:] {
		if t.name != m.list[n].name {
			n++
			m.list[n] = t
		} else if addCount(&m.list[n].count, t.count, 1) {
			m.result |= overflowed
		}
	}
	m.list = m.list[:n+1]
}

// mergeCalls adds up callsites. It copies runs of callsites that only a has.
func (m *bodyMerger) mergeCalls(dst []byte, a, b *unpacker) []byte {
	run, at := a.i, a.i
	x := a.call()
	for y := b.call(); y.ok; y = b.call() {
		for x.ok && x.compare(&y, m.ofBuild) < 0 {
			at = a.i
			x = a.call()
		}
		dst = append(dst, a.b[run:at]...)
		run = at
		var begin int
		dst, begin = beginCall(dst, y.word, y.name)
		if x.ok && x.compare(&y, m.ofBuild) == 0 {
			dst, _ = m.merge(dst, x.body, y.body, false) // LLVM does not report mismatches here
			run, at = a.i, a.i
			x = a.call()
		} else {
			dst, _ = m.merge(dst, emptyBody, y.body, true)
		}
		endCall(dst, begin)
	}
	for x.ok {
		x = a.call()
	}
	return append(dst, a.b[run:a.i]...)
}
