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

// A mergeReport extends a job with the data for choosing the indexed version and
// for the notes about programs.
type mergeReport struct {
	*merging.Job
	mu       sync.Mutex
	sources  map[sourceKind]int
	programs knownPrograms
}

// newReport prepares a job for IRPGO profiles: functions of inputs that are left out may be lost,
// errors get their usual cause, and a partial sum takes the places of all its inputs.
func newReport(j *merging.Job) *mergeReport {
	j.Unused = func(file string, data []byte) {
		irpgo.NameRefs(file, data, func(ref uint64) bool { return j.Accounts.MayBeLost(ref, "") })
	}
	j.Cause = likelyCause
	j.NumInputs = irpgo.NumInputs
	return &mergeReport{Job: j, sources: make(map[sourceKind]int)}
}

// A sourceKind holds the properties of profiles that decide the indexed version; a
// merge has few of them. mergeReport.sources maps each to its first place.
type sourceKind struct {
	format  irpgo.Format
	version uint32
	variant irpgo.Variant
}

// merged records the kind of a profile that is in the result; of a partial sum, the kinds of the
// profiles in it.
func (m *mergeReport) merged(place int, in *irpgo.Info) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := in.Of
	if in.Format != irpgo.FormatPartial {
		of = []*irpgo.Info{in}
	}
	for _, in := range of {
		k := sourceKind{in.Format, in.Version, in.Variant}
		if at, ok := m.sources[k]; !ok || place < at {
			m.sources[k] = place
		}
	}
}

// infos returns the kinds of profiles that were merged, by first appearance.
func (m *mergeReport) infos() []*irpgo.Info {
	kinds := slices.SortedFunc(maps.Keys(m.sources), func(a, b sourceKind) int {
		return cmp.Or(cmp.Compare(m.sources[a], m.sources[b]),
			cmp.Compare(a.format, b.format), cmp.Compare(a.version, b.version), cmp.Compare(a.variant, b.variant))
	})
	infos := make([]*irpgo.Info, len(kinds))
	for i, k := range kinds {
		infos[i] = &irpgo.Info{Format: k.format, Version: k.version, Variant: k.variant}
	}
	return infos
}

// rescued records a damaged function in the input's account. A clamped one is in the result
// nevertheless; one that was left out is lost unless another input has it.
func (m *mergeReport) rescued(p *merge.Profile, r profile.Rescued) {
	p.Rescue(r)
	if !r.Clamped && r.Function != "" {
		m.Accounts.MayBeLost(r.NameRef, r.Function)
	}
}

// foundIn removes the functions of the result from the lost ones.
func (m *mergeReport) foundIn(p *irpgo.Profile) {
	m.Accounts.Found(len(p.Functions), func(yield func(ref uint64) bool) {
		for i := range p.Functions {
			if !yield(irpgo.NameRef(p.Functions[i].Name)) {
				return
			}
		}
	})
}

// mergeWarning records a warning of the merger or a writer. A sum that overflows is no fault of the
// file that happens to be added last, so its name is left out.
func (m *mergeReport) mergeWarning(w profile.Warning) {
	// Which input overflows a sum, and how often, depends on how the workers share the
	// inputs; whether one overflows does not.
	if errors.Is(w.Err, flaw.ErrSaturated) {
		m.Warn("heap sum", 0, "a sum of the heap profile is too large for its field", "Such sums stay at the maximum. Smaller weights may help.")
		return
	}
	file := w.File
	if ie := (*llvmerr.Error)(nil); errors.As(w.Err, &ie) && ie.Code == llvmerr.CounterOverflow {
		file = ""
	}
	m.warn(0, w, file)
}

// warningHints tell what became of the functions that a warning is about. The merge goes on.
var warningHints = map[llvmerr.Code]string{
	llvmerr.CountMismatch:          "The profiles come from different sources or options; the first input's counts of such functions are kept.",
	llvmerr.BitmapMismatch:         "The profiles come from different sources or options; the first input's bitmaps of such functions are kept.",
	llvmerr.ValueSiteCountMismatch: "The profiles come from different sources or options; the first input's values of such functions are kept.",
	llvmerr.CounterOverflow:        "Such counters stay at the maximum. Smaller weights may help.",
}

// warn records a warning about the input at a place. Warnings of one kind are counted together and
// printed with one hint.
func (m *mergeReport) warn(place int, w profile.Warning, file string) {
	kind, hint := string(profile.ClassOf(w.Err)), ""
	if ie := (*llvmerr.Error)(nil); errors.As(w.Err, &ie) {
		kind, hint = fmt.Sprint("code ", ie.Code), warningHints[ie.Code]
	}
	text := console.NewWarning(w).Text()
	if file != "" {
		text = file + ": " + text
	}
	m.Warn(kind, place, text, hint)
}

// likelyCause returns the usual cause of such an error in words, or "" if none is
// known.
func likelyCause(e *profile.FormatError, data []byte) string {
	switch {
	case errors.Is(e, errMixedKinds):
		return "it was built with other instrumentation options"
	case profile.ClassOf(e) == profile.ErrTruncated:
		if n := irpgo.MissingBytes(data); n > 0 {
			return fmt.Sprintf("its body is %s short: the writer was killed or its disk was full", cli.Quantity(n, "byte", "bytes"))
		}
	// Raw profiles end with the value data: a writer that is killed leaves a part of it.
	case e.Section == "value data":
		return "the writer was killed in the value profile, or the file was changed"
	case e.Field == "data after the profile", e.Field == "magic of the next profile", e.Field == "offset of the next header":
		return "several processes wrote to it at once: LLVM_PROFILE_FILE needs %p or %m"
	case e.Field == "raw profile version", e.Field == "indexed profile version":
		return "a compiler newer than this tool wrote it, or a bit flipped"
	case profile.ClassOf(e) == profile.ErrCorrupt && isBinaryProfile(data):
		return "its bytes were changed after it was written, or two processes wrote to it at once"
	}
	return ""
}

// isBinaryProfile reports whether data is an IRPGO profile other than text.
func isBinaryProfile(data []byte) bool {
	f, _ := irpgo.Detect(data)
	return f == irpgo.FormatRaw || f == irpgo.FormatIndexed
}
