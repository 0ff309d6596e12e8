package irpgocmd

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

// A job adds to a merging.Job the data for choosing the indexed version and for the notes about programs.
type job struct {
	*merging.Job
	mu       sync.Mutex
	sources  sourceKinds
	programs knownPrograms
}

// newJob sets the functions of a merging.Job that depend on the format.
func newJob(shared *merging.Job) *job {
	shared.Unused = func(file string, data []byte) {
		irpgo.NameRefs(file, data, func(ref uint64) bool { return shared.Accounts.MayBeLost(ref, "") })
	}
	shared.Cause = likelyCause
	shared.NumInputs = irpgo.NumInputs
	return &job{Job: shared, sources: make(sourceKinds)}
}

// A sourceKind holds the properties of profiles that decide the indexed version.
type sourceKind struct {
	format  irpgo.Format
	version uint32
	variant irpgo.Variant
}

// sourceKinds holds the index of the first profile of each kind in a sum.
type sourceKinds map[sourceKind]int

// add records the kind of a profile in the sum; for a partial sum, the kinds of the profiles in it. index is the
// profile's index in the order of the inputs.
func (s sourceKinds) add(index int, info *irpgo.Info) {
	infos := []*irpgo.Info{info}
	if info.Format == irpgo.FormatPartial {
		infos = info.Of
	}
	for _, in := range infos {
		k := sourceKind{in.Format, in.Version, in.Variant}
		if first, ok := s[k]; !ok || index < first {
			s[k] = index
		}
	}
}

// infos returns the kinds, by first appearance.
func (s sourceKinds) infos() []*irpgo.Info {
	kinds := slices.SortedFunc(maps.Keys(s), func(a, b sourceKind) int {
		return cmp.Or(cmp.Compare(s[a], s[b]),
			cmp.Compare(a.format, b.format), cmp.Compare(a.version, b.version), cmp.Compare(a.variant, b.variant))
	})
	infos := make([]*irpgo.Info, len(kinds))
	for i, k := range kinds {
		infos[i] = &irpgo.Info{Format: k.format, Version: k.version, Variant: k.variant}
	}
	return infos
}

// addKind is add for concurrent use.
func (j *job) addKind(index int, info *irpgo.Info) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sources.add(index, info)
}

// kinds returns the kinds of the merged profiles.
func (j *job) kinds() []*irpgo.Info { return j.sources.infos() }

// addRescued records a damaged function in the input's account. Unless it was clamped, it is
// lost if no other input has it.
func (j *job) addRescued(p *merge.Profile, r profile.Rescued) {
	p.Rescue(r)
	if !r.Clamped && r.Function != "" {
		j.Accounts.MayBeLost(r.NameRef, r.Function)
	}
}

// removeFound removes the functions of the result from the lost functions.
func (j *job) removeFound(p *irpgo.Profile) {
	j.Accounts.Found(len(p.Functions), func(yield func(ref uint64) bool) {
		for f := range functionsOf(p) {
			if !yield(irpgo.NameRef(f.Name)) {
				return
			}
		}
	})
}

// warnOfSum records a warning of the merger or a writer. About a sum that overflows it omits the
// name of the file: which file overflows it depends on how workers share the inputs.
func (j *job) warnOfSum(w profile.Warning) {
	// The number of sums that overflow also depends on the workers, so the text has none.
	if errors.Is(w.Err, flaw.ErrSaturated) {
		j.Warn("heap sum", 0, "a sum of the heap profile is too large for its field", "Such sums stay at the maximum. Smaller weights may help.")
		return
	}
	file := w.File
	if ie := (*llvmerr.Error)(nil); errors.As(w.Err, &ie) && ie.Code == llvmerr.CounterOverflow {
		file = ""
	}
	j.warnOf(0, w, file)
}

// warningHints say what the merge did with the functions of a warning.
var warningHints = map[llvmerr.Code]string{
	llvmerr.CountMismatch:          "The profiles come from different sources or options; the first input's counts of such functions are kept.",
	llvmerr.BitmapMismatch:         "The profiles come from different sources or options; the first input's bitmaps of such functions are kept.",
	llvmerr.ValueSiteCountMismatch: "The profiles come from different sources or options; the first input's values of such functions are kept.",
	llvmerr.CounterOverflow:        "Such counters stay at the maximum. Smaller weights may help.",
}

// warnOf records a warning about the profile at an index, with the hint for its kind.
func (j *job) warnOf(index int, w profile.Warning, file string) {
	kind, hint := string(profile.ClassOf(w.Err)), ""
	if ie := (*llvmerr.Error)(nil); errors.As(w.Err, &ie) {
		kind, hint = fmt.Sprint("code ", ie.Code), warningHints[ie.Code]
	}
	e := console.NewWarning(w)
	if errors.Is(w.Err, flaw.ErrRemark) {
		kind = "remark on " + e.Field
	}
	text := e.Text()
	if file != "" {
		text = file + ": " + text
	}
	j.Warn(kind, index, text, hint)
}

// likelyCause returns the usual cause of an error in words; "" if unknown.
func likelyCause(e *profile.FormatError, data []byte) string {
	switch {
	case errors.Is(e, errMixedKinds):
		return "it was built with other instrumentation options"
	case profile.ClassOf(e) == profile.ErrTruncated:
		if n := irpgo.MissingBytes(data); n > 0 {
			return fmt.Sprintf("its body is %s short: the writer was killed or its disk was full", cli.Quantity(n, "byte", "bytes"))
		}
	// Value data is the last part of a raw profile.
	case e.Section == "value data":
		return "the writer was killed in the value profile, or the file was changed"
	case e.Field == "data after the profile", e.Field == "magic of the next profile", e.Field == "offset of the next header":
		return "several processes wrote to it at once: LLVM_PROFILE_FILE needs %p or %m"
	case e.Field == "raw profile version", e.Field == "indexed profile version":
		return "a compiler newer than this tool wrote it, or a bit flipped"
	case profile.ClassOf(e) == profile.ErrCorrupt:
		if f, _ := irpgo.Detect(data); f == irpgo.FormatRaw || f == irpgo.FormatIndexed {
			return "its bytes were changed after it was written, or two processes wrote to it at once"
		}
	}
	return ""
}

// kindGate admits a profile unless its kind differs from the kind of the profiles merged before it. It
// decides in the order of the inputs, so that the result does not depend on the number of
// workers. Once one profile is merged, no profile waits.
type kindGate struct {
	mixed bool // admit all kinds

	mu      sync.Mutex
	settled sync.Cond
	low     int           // index of the first undecided profile
	beyond  map[int]int   // decided profiles from low up: by index, how many inputs each stands for
	have    irpgo.Variant // the kind of the merged profiles; 0 for none
}

func newKindGate(mixed bool) *kindGate {
	g := &kindGate{mixed: mixed, beyond: make(map[int]int)}
	g.settled.L = &g.mu
	return g
}

// admits reports whether the profile at an index, of a kind, may be merged; have is the kind of the sum so far. It
// waits for the decision about earlier profiles. The caller must then settle the profile.
func (g *kindGate) admits(index int, kind irpgo.Variant) (have irpgo.Variant, ok bool) {
	if g.mixed {
		return 0, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.have == 0 && g.low != index {
		g.settled.Wait()
	}
	return g.have, g.have == 0 || g.have == kind
}

// settle decides about the profile at an index: kind is the kind that later profiles must have, 0 if the
// profile has no say. inputs is the number of inputs that the profile stands for, 1 unless it is a partial sum.
func (g *kindGate) settle(index, inputs int, kind irpgo.Variant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.have = cmp.Or(g.have, kind)
	g.beyond[index] = inputs
	for n, ok := inputs, index == g.low; ok; n, ok = g.beyond[g.low] {
		delete(g.beyond, g.low)
		g.low += n
	}
	g.settled.Broadcast()
}
