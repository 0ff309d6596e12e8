package instrument

import (
	"errors"
	"fmt"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// Options say what to instrument and how. Target and Profile are required; for the other
// fields the zero value suits most uses.
type Options struct {
	Target asm.Target
	// Profile is what to record: mip.FunctionCoverage, or mip.FunctionTimestamp|mip.FunctionCallCount,
	// either with mip.BlockCoverage as well. mip.ReturnAddress adds samples of the callers to call
	// counts; the runtime has to be compiled for them, see package runtime.
	Profile mip.ProfileType
	// LinkUnit is the name of the program or library that the object becomes part of. All objects of one
	// link unit need the same name: its hash identifies the raw files, maps and profiles that belong
	// together. "" means "a.out".
	LinkUnit string
	// AllBlockProbes gives every block a probe, as the reference implementation does, even if the
	// coverage of the block follows from other blocks.
	AllBlockProbes bool
	// CallsReturn assumes that calls return, as LLVM's coverage does, except in functions
	// that catch exceptions. Fewer blocks need a probe; the coverage of the others is
	// wrong where a function threw, ended the program, or jumped far away.
	CallsReturn bool
	// EntriesOnly gives blocks no probes even in a profile of blocks: for text that no
	// compiler has printed.
	EntriesOnly bool
	// KeepAlignment keeps the alignment of blocks inside functions, which affects
	// only speed. Without it block probes on x86_64 drop the alignment.
	KeepAlignment bool
	// MinInstructions skips functions with fewer instructions.
	MinInstructions int
	// GroupCount and SelectedGroup restrict instrumentation to functions whose
	// name hashes to SelectedGroup modulo GroupCount, which spreads the cost over
	// several builds. GroupCount 0 means no groups.
	GroupCount, SelectedGroup int
	// Skip reports whether to skip the function of that linkage name, see
	// [ParseSpecialCaseList]. Nil skips none.
	Skip func(name string) bool
	// ShortProbes makes probes of coverage on x86_64 ELF a byte shorter: they store the
	// lower half of the stack pointer. What ran only while that was zero is not covered;
	// it is zero at one address in 4 GiB.
	ShortProbes bool
	// Atomic makes counts exact in programs with threads, at a multiple of the
	// cost. It does not affect coverage, which is always exact.
	Atomic bool
	// Threads is for programs whose threads run the same functions at the same time: a probe of function
	// coverage then stores only if the byte is not yet zero, so that the cores' caches can share the
	// line. That costs 9 more bytes for each function on x86_64 and 8 on AArch64; on ARM the option
	// changes nothing.
	Threads bool
}

const (
	coverage   = mip.FunctionCoverage
	callCounts = mip.FunctionTimestamp | mip.FunctionCallCount
)

// counts reports whether function probes count calls.
func (o *Options) counts() bool { return o.Profile&callCounts != 0 }

// blocks reports whether blocks get probes.
func (o *Options) blocks() bool { return o.Profile.Has(mip.BlockCoverage) }

// samples reports whether function probes sample return addresses.
func (o *Options) samples() bool { return o.Profile.Has(mip.ReturnAddress) }

// hitWidth returns the size in bytes of the words that probes of coverage write to.
func (o *Options) hitWidth() int {
	if o.ShortProbes {
		return 4
	}
	return 1
}

func (o *Options) check() error {
	mode := o.Profile &^ (mip.BlockCoverage | mip.ReturnAddress)
	switch {
	case mode != coverage && mode != callCounts:
		return fmt.Errorf("%w: profile type %v", ErrOptions, o.Profile)
	case o.samples() && mode != callCounts:
		return fmt.Errorf("%w: return addresses without call counts", ErrOptions)
	case o.GroupCount < 0 || o.SelectedGroup < 0 || o.SelectedGroup >= max(o.GroupCount, 1):
		return fmt.Errorf("%w: function group %d of %d", ErrOptions, o.SelectedGroup, o.GroupCount)
	case o.MinInstructions < 0:
		return fmt.Errorf("%w: at least %d instructions", ErrOptions, o.MinInstructions)
	}
	return nil
}

// ErrOptions is returned for options that contradict each other.
var ErrOptions = errors.New("invalid options")
