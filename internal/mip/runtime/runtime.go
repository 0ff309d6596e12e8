// Package runtime holds the part of MIP instrumentation that runs in the
// instrumented program: C source, compiled by the program's own compiler, that
// writes the raw profile when the program ends. Package driver compiles and links
// it. A build without the driver writes [Source] to a file and compiles that with
//
//	cc -Os -fPIC -c runtime.c
//
// Every linked image with instrumented code, program or library, needs one
// copy.
package runtime

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
)

//go:embed src/runtime.c
var base []byte

//go:embed src/callgraph.c
var callGraph []byte

//go:embed src/arm.c
var armHelpers []byte

// source is one translation unit, since its parts share static functions.
var source = slices.Concat(base, callGraph, armHelpers)

// Options select the runtime's abilities. An ability that is not selected takes no
// space in the program.
type Options struct {
	NoDump   bool // write profiles only when the program calls a function that does
	Coverage bool // no object that is linked counts calls
	Signals  bool // PROFUSE_MIP_DUMP_ON_SIGNAL is obeyed
	// Buffer is the size in bytes of the table of call edges, which programs
	// instrumented with mip.ReturnAddress need; an edge takes 12 bytes. It
	// excludes Coverage.
	Buffer int
}

// Args returns the options as arguments of the compiler that compiles the
// runtime.
func (o Options) Args() (args []string) {
	for _, m := range []struct {
		on   bool
		name string
	}{{o.NoDump, "NO_DUMP"}, {o.Coverage, "COVERAGE"}, {o.Signals, "SIGNALS"}} {
		if m.on {
			args = append(args, "-DPROFUSE_MIP_"+m.name)
		}
	}
	if o.Buffer > 0 {
		args = append(args, fmt.Sprintf("-DPROFUSE_MIP_RUNTIME_BUFFER=%d", o.Buffer))
	}
	return args
}

// Source returns the runtime, a file of GNU C99 for ELF systems and macOS.
func Source() []byte { return bytes.Clone(source) }
