// Package runtime holds the part of MIP instrumentation that runs in the
// instrumented program: C source, compiled by the program's own compiler, that
// writes the raw profile when the program ends. Package driver compiles and links
// it. A build without the driver writes [Source] to a file and compiles that with
//
//	cc -Os -fPIC -c runtime.c
//
// Every linked image with instrumented code, program or library, needs one copy.
package runtime

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed src
var files embed.FS

// source is one translation unit, since its parts share static functions.
var source = sync.OnceValue(func() (all []byte) {
	for _, name := range []string{"system", "fixed", "runtime", "callgraph", "arm"} {
		part, err := files.ReadFile("src/" + name + ".c")
		if err != nil {
			panic(err) // it is embedded
		}
		all = append(all, part...)
	}
	return all
})

// Options select the runtime's abilities. An ability that is not selected takes no space in the program.
type Options struct {
	NoDump   bool // write profiles only when the program calls a function that does
	Coverage bool // no object that is linked counts calls
	Signals  bool // PROFUSE_MIP_DUMP_ON_SIGNAL is obeyed
	// Buffer is the size in bytes of the table of call edges, which programs instrumented with
	// mip.ReturnAddress need; an edge takes 12 bytes. It excludes Coverage.
	Buffer int
	// File, if not "", selects the small runtime, which needs Coverage and excludes
	// Signals. It writes to this file, directly. ProcessID may be part of the name once.
	File string
}

// Args returns the options as arguments of the compiler that compiles the runtime.
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
	if o.File != "" {
		name := strings.Replace(o.File, ProcessID, "0000000", 1)
		args = append(args, "-DPROFUSE_MIP_FILE="+quote(name))
		if at := strings.Index(o.File, ProcessID); at >= 0 {
			args = append(args, fmt.Sprintf("-DPROFUSE_MIP_PID=%d", at))
		}
	}
	return args
}

// ProcessID stands for 7 digits of the process id in [Options].File.
const ProcessID = "\x00"

func quote(s string) string {
	b := []byte{'"'}
	for i := range len(s) {
		b = fmt.Appendf(b, "\\%03o", s[i])
	}
	return string(append(b, '"'))
}

// Source returns the runtime, a file of GNU C99 for ELF systems and macOS.
func Source() []byte { return bytes.Clone(source()) }
