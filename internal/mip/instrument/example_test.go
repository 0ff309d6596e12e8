package instrument_test

import (
	"fmt"
	"log"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
)

// What a compiler prints with -S of a function that returns its argument.
const assembly = `	.text
	.globl	same
	.type	same,@function
same:
	movl	%edi, %eax
	retq
	.size	same, .-same
`

// Instrument the assembly text of one source file; the compiler assembles the result.
func Example() {
	opt := instrument.Options{Target: asm.Target{Arch: asm.X86_64, Format: asm.ELF}, Profile: mip.FunctionCoverage, LinkUnit: "app"}
	text, report, err := instrument.Rewrite(nil, []byte(assembly), opt)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range report {
		fmt.Printf("%s: %d instructions, %d probe\n", f.Name, f.Instructions, f.Probes)
	}
	_, _, err = instrument.Rewrite(nil, text, opt)
	fmt.Println("once more:", err)
	// Output:
	// same: 2 instructions, 1 probe
	// once more: already instrumented
}
