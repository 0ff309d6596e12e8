package profdata

import (
	"errors"
	"fmt"
	"time"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/memlimit"
	"github.com/profuse-pgo/profuse/profile"
)

// addHeap merges a memory profile. As in LLVM, YAML that cannot be read counts as an empty
// profile; profuse adds a warning with the reason.
func (c *mergeContext) addHeap(in weightedFile, data []byte, kind heapKind) {
	if kind == rawHeap {
		c.addRawHeap(in, data)
		return
	}
	p, err := memprof.ReadYAML(in.name, data)
	switch {
	case clash(c.kind, irpgo.HasMemProf):
		c.complain(in.name, "Cannot merge MemProf profile with incompatible profile.")
		return
	case err != nil:
		if !errors.Is(err, profile.ErrEmpty) {
			c.warn(profile.Warning{File: in.name, Err: err})
		}
		c.kind |= irpgo.HasMemProf
		c.complain(in.name, "The profile is empty.")
		return
	}
	c.kind |= irpgo.HasMemProf
	if err := c.merger.AddMemProf(in.name, p, in.weight); err != nil {
		c.complain(in.name, heapWords(err))
	}
}

// addRawHeap merges a raw memory profile. It warns about data that LLVM skips silently. A
// profile that clashes with the kinds before is read into a separate merger, because an error in
// the profile ends the run, and a clash does not.
func (c *mergeContext) addRawHeap(in weightedFile, data []byte) {
	memlimit.HeapProfile(len(data))
	to := c.merger
	mixed := clash(c.kind, irpgo.HasMemProf)
	if mixed {
		to = irpgo.NewMerger(irpgo.MergeOptions{})
	}
	raw, programs, err := c.t.readRawHeap(in.name, data)
	if err == nil {
		_, err = to.AddRawMemProf(raw, programs, memprof.SymbolizeOptions{LLVMCompat: true, Warn: once(c.warn)}, in.weight)
	}
	switch {
	case err != nil: // ends the run with any --failure-mode
		c.fatal = &failure{whence: in.name, message: heapWords(err)}
	case mixed:
		c.complain(in.name, "Cannot merge MemProf profile with Clang generated profile.")
	default:
		c.kind |= irpgo.HasMemProf
	}
}

// randomHotness makes contexts hot and cold at random, as LLVM does with a
// single input, and prints the seed once for every thread.
func (t *tool) randomHotness(p *memprof.Profile) {
	if p != nil && t.opt.randomHotness {
		randomizeHotness(p, t.opt.randomHotnessSeed)
	}
}

// chooseSeed chooses the seed, by default the time in seconds, and prints it once for each of n threads.
func (t *tool) chooseSeed(n int) {
	if !t.opt.randomHotness {
		return
	}
	if t.opt.randomHotnessSeed == 0 {
		t.opt.randomHotnessSeed = uint32(time.Now().Unix())
	}
	for range n {
		t.msg.plain("random hotness seed = %d", t.opt.randomHotnessSeed)
	}
}

func (o *options) heapOptions() memprof.WriteOptions {
	w := memprof.WriteOptions{Version: o.memprofVersion, LLVMRelease: llvmRelease}
	if o.memprofFullSchema {
		w.Schema = memprof.FullSchema
	}
	return w
}

// textLosesHeap warns that the text profile lacks the memory profile that was merged.
func (t *tool) textLosesHeap(p *irpgo.Profile) {
	if p.MemProf != nil && !p.MemProf.Empty() {
		t.msg.warn("", "text has no place for memory profiles: it is left out")
	}
}

// sectionLoses warns of data that the version of the memprof section cannot
// hold. It does not mention histograms, which no version holds.
func (t *tool) sectionLoses(w profile.Warning) {
	var e *profile.FormatError
	if errors.As(w.Err, &e) && e.Section == "memprof" && e.Field != "access histograms" {
		t.msg.warn("", fmt.Sprintf("version %d of the memprof section cannot hold %s: left out", t.opt.memprofVersion, e.Field))
	}
}
