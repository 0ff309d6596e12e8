package irpgo

import (
	"bytes"
	"fmt"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// What raw files that several runs or processes have written tell of that. All of it is sound.

// earlierTargets counts the targets of a profile that no function or virtual table has. Each run loads a
// position-independent program at another address, and in a pool (%m) the runtime adds up values that are addresses,
// so that only the targets of the last run name a function.
type earlierTargets struct {
	targets, unknown int
	// moved is the number of unknown targets that lie as far into a page of memory as another target of their site, as
	// the same function in another run does, and in the part of the address space that has the functions, but far away.
	moved               int
	calls, unknownCalls uint64
	// sites is the number of sites so far; lastAt[i] is the site that last had a target i bytes into a page, and
	// several[i] says whether it had two.
	sites   int
	lastAt  [pageSize]int
	several [pageSize]bool
}

// pageSize is the least distance between two addresses at which a program may be loaded, in bytes.
const pageSize = 1 << 12

// count counts the values of a site, which are addresses.
func (e *earlierTargets) count(m *addressMap, kind int, values []ValueData) {
	e.sites++
	for _, v := range values {
		at := v.Value % pageSize
		e.several[at] = e.lastAt[at] == e.sites
		e.lastAt[at] = e.sites
	}
	far := m.farFrom(kind)
	for _, v := range values {
		e.targets++
		e.calls = saturate.Add(e.calls, v.Count)
		if v.Value == 0 || m.valueAt(kind, v.Value) != 0 {
			continue
		}
		e.unknown++
		e.unknownCalls = saturate.Add(e.unknownCalls, v.Count)
		if e.several[v.Value%pageSize] && far.has(v.Value) {
			e.moved++
		}
	}
}

// farAddresses are the addresses that a program may have had in another run: far from its functions, or virtual
// tables, in this run, but in the same part of the address space, where the system loads programs, not libraries.
type farAddresses struct {
	low, high uint64 // addresses from low to high are not far
	part      uint64 // number of the part
	shift     int    // where the number of the part begins in an address
	none      bool
}

// farFrom returns the far addresses for values of a kind.
func (m *addressMap) farFrom(kind int) (f farAddresses) {
	switch {
	case kind == VTableTarget && len(m.vtables) > 0:
		f.low, f.high = m.vtables[0].start, m.vtables[len(m.vtables)-1].start
	case kind == IndirectCallTarget && len(m.callees) > 0:
		f.low, f.high = m.callees[0].addr, m.callees[len(m.callees)-1].addr
	default:
		return farAddresses{none: true}
	}
	if f.shift = 28; m.ptr == 8 {
		f.shift, f.none = 44, f.low>>32 == 0 // linked for this address
	}
	f.part = f.low >> f.shift
	f.high += outside
	f.low -= min(f.low, outside)
	return f
}

func (f *farAddresses) has(addr uint64) bool {
	return !f.none && addr>>f.shift == f.part && (addr < f.low || addr > f.high)
}

// earlierTargets counts the targets of a profile that has a catalog; nil if no address is far. Most profiles are of
// one run, for which this is all it costs.
func (n *numbers) earlierTargets() *earlierTargets {
	m := &n.catalog.raw.addrs
	far := [NumValueKinds]farAddresses{IndirectCallTarget: m.farFrom(IndirectCallTarget), MemOPSize: {none: true}, VTableTarget: m.farFrom(VTableTarget)}
	suspect := false
	for kind, values := range n.targets {
		for ; len(values.pairs) > 0 && !suspect && !far[kind].none; values.pairs = values.pairs[valueDataPair:] {
			suspect = far[kind].has(n.pair(values.pairs, true).Value)
		}
		if suspect {
			break
		}
	}
	if !suspect {
		return nil
	}
	e := new(earlierTargets)
	var site []ValueData
	for kind, values := range n.targets {
		for _, length := range values.lengths {
			site = site[:0]
			for range length {
				site = append(site, n.pair(values.pairs, true))
				values.pairs = values.pairs[valueDataPair:]
			}
			e.count(m, kind, site)
		}
	}
	return e
}

// targetData are the values of the sites of one kind in a record: see [valuesOfKind].
type targetData struct{ lengths, pairs []byte }

// targets yields the values that are addresses, by record and kind.
func (n *numbers) targets(yield func(kind int, values targetData) bool) {
	blobs := n.blobs
	for i := range n.catalog.extras {
		sites := &n.catalog.extras[i].sites
		if !sites.any() {
			continue
		}
		data := n.data[blobs[0]+valueDataHeader:]
		blobs = blobs[1:]
		for kind, count := range sites {
			if count == 0 {
				continue
			}
			var values targetData
			values.lengths, values.pairs, data = valuesOfKind(data, int(count))
			if kind != MemOPSize && !yield(kind, values) {
				return
			}
		}
	}
}

// remark warns of what sound profiles have; LLVM does not.
func (r *rawReader) remark(p flaw.Problem) {
	if !r.opt.Lenient {
		r.warn("", p.Remark())
	}
}

// remarkOnEarlierRuns warns if most of the unknown targets of the profile seem to be of earlier runs.
func (r *rawReader) remarkOnEarlierRuns(e *earlierTargets) {
	if e == nil || e.moved == 0 || 2*e.moved < e.unknown {
		return
	}
	r.remark(flaw.At("value data", r.cur.valueData).Field("address of a target").
		Gotf("of an earlier run in %d of %d cases, %s of the calls", e.unknown, e.targets, percent(e.unknownCalls, e.calls)).
		Want("of the run that wrote the file").
		Hint("in a pool (%m) a position-independent program loses the targets of earlier runs; separate files (%p), or linking with -no-pie, keep them"))
}

func percent(part, whole uint64) string {
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(max(whole, 1)))
}

// remarkOnFork warns if the current profile is of the process that wrote the profile before it in the file, or of a
// process forked from it: the functions are at the same addresses.
func (r *rawReader) remarkOnFork(before *rawProfile) {
	p := r.cur
	if p.layout.funcPtr < 0 || p.numRecords() == 0 || p.layout != before.layout || !bytes.Equal(p.records.data, before.records.data) {
		return
	}
	r.remark(flaw.At("header", p.start).Field("profile").Got("of the same program at the same addresses as the one before it").
		Want("of another program").
		Hint("if a forked process wrote it, or __llvm_profile_write_file was called again, the counts from before that are in both"))
}
