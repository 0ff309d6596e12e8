package instrument

import "github.com/profuse-pgo/profuse/internal/mip/asm"

// FunctionReport says what [Rewrite] did with one function.
type FunctionReport struct {
	// Name is the linkage name as in the symbol table.
	Name string
	// Skipped is why the function has no probe at all; "" if it has one.
	Skipped asm.Reason
	// BlocksSkipped is why a function with an entry probe has no block probes under
	// block coverage; "" if it has them.
	BlocksSkipped asm.Reason
	// Instructions is the number of instructions before instrumentation.
	Instructions int
	// Blocks is the number of basic blocks, the entry included; 0 unless block coverage was asked for.
	Blocks int
	// Probes is the number of probes inserted, the entry's included.
	Probes int
	// Assumed is the number of calls in the function that were assumed to return.
	Assumed int
}
