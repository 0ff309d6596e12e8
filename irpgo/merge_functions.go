package irpgo

import (
	"slices"
)

// accFunction is the accumulator of one name.
type accFunction struct {
	name    string
	ref     uint64 // NameRef(name)
	seq     uint64 // first appearance: input index and record index
	records []*accRecord
	one     [1]*accRecord // memory of records for most functions

	follower *accFunction // what came after it the last time
	other    *accFunction // another name of the same reference
}

// accRecord is the accumulator of one (name, hash).
type accRecord struct {
	Record
	seq uint64
	// rivals have the same name and hash but another shape. Which of them
	// stands is decided by first appearance, when the profile is built, so
	// that it does not depend on how inputs were grouped.
	rivals []*accRecord
}

func (f *accFunction) find(hash uint64) *accRecord {
	for _, r := range f.records {
		if r.Hash == hash {
			return r
		}
	}
	return nil
}

// accFunctions holds the accumulators by name. Profiles have many functions in
// common and mostly in one order, also those of different programs and of
// different formats, so a function is looked for after the one before it
// first.
type accFunctions struct {
	byRef map[uint64]*accFunction
	order []*accFunction // by time of arrival, as they lie in memory
	last  *accFunction
	start accFunction // comes before the first one

	// Accumulators are cut from blocks.
	functions []accFunction
	records   []accRecord
	counts    arena
}

const accBlock = 512 // accumulators

func newAccFunctions() accFunctions {
	return accFunctions{byRef: make(map[uint64]*accFunction)}
}

// get returns the accumulator of the name, which has the given reference
// unless that is 0. A new one has the given seq.
func (a *accFunctions) get(name string, ref, seq uint64) *accFunction {
	f := a.expected()
	if f == nil || f.name != name {
		if ref == 0 {
			ref = NameRef(name)
		}
		if f = a.find(name, ref); f == nil {
			f = a.add(name, ref, seq)
		}
	}
	a.follow(f)
	return f
}

// expected returns what came after the last function the last time, nil if
// nothing did.
func (a *accFunctions) expected() *accFunction {
	if a.last == nil {
		return a.start.follower
	}
	return a.last.follower
}

// follow makes f the last function.
func (a *accFunctions) follow(f *accFunction) {
	if a.last == nil {
		a.last = &a.start
	}
	a.last.follower = f
	a.last = f
}

func (a *accFunctions) find(name string, ref uint64) *accFunction {
	f := a.byRef[ref]
	for f != nil && f.name != name {
		f = f.other
	}
	return f
}

func (a *accFunctions) add(name string, ref, seq uint64) *accFunction {
	if len(a.functions) == 0 {
		a.functions = make([]accFunction, accBlock)
	}
	f := &a.functions[0]
	a.functions = a.functions[1:]
	f.name, f.ref, f.seq = name, ref, seq
	f.records = f.one[:0]
	a.put(f)
	return f
}

func (a *accFunctions) put(f *accFunction) {
	f.other = a.byRef[f.ref]
	a.byRef[f.ref] = f
	a.order = append(a.order, f)
}

// adopt takes over a function of other accumulators, unless there is one of
// that name; found tells, and which it is.
func (a *accFunctions) adopt(from *accFunction) (f *accFunction, found bool) {
	if f = a.expected(); f == nil || f.name != from.name {
		f = a.find(from.name, from.ref)
	}
	if found = f != nil; !found {
		f = from
		f.follower = nil
		a.put(f)
	}
	a.follow(f)
	return f, found
}

func (a *accFunctions) newRecord() *accRecord {
	if len(a.records) == 0 {
		a.records = make([]accRecord, accBlock)
	}
	r := &a.records[0]
	a.records = a.records[1:]
	return r
}

// guess returns the name of the function that is expected next, if it is that
// in key, and makes a string of key otherwise.
func (a *accFunctions) guess(key []byte) string {
	if f := a.expected(); f != nil && f.name == string(key) {
		return f.name
	}
	return string(key)
}

// knows returns a function that tells for names one after the other whether
// they are known to have a reference.
func (a *accFunctions) knows() func(key []byte, ref uint64) bool {
	last := a.last
	return func(key []byte, ref uint64) bool {
		var f *accFunction
		if last != nil {
			f = last.follower
		}
		if f == nil || f.ref != ref || f.name != string(key) {
			f = a.byRef[ref]
			for f != nil && f.name != string(key) {
				f = f.other
			}
		}
		if f == nil {
			return false
		}
		last = f
		return true
	}
}

// arena hands out counter slices from large blocks.
type arena struct{ free []uint64 }

const arenaBlock = 1 << 14 // counters, 128 KiB

func (a *arena) copy(src []uint64) []uint64 {
	n := len(src)
	if n > len(a.free) {
		if n > arenaBlock/4 {
			return slices.Clone(src)
		}
		a.free = make([]uint64, arenaBlock)
	}
	out := a.free[:n:n]
	a.free = a.free[n:]
	copy(out, src)
	return out
}
