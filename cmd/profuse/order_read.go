package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/layout"
	"github.com/profuse-pgo/profuse/symbolize"
)

// isProgram reports whether the file is ELF or Mach-O.
func isProgram(path string) bool {
	in, err := sources.BinaryPath(path)
	return err == nil && sources.PeekFormat(in, false) == formats.Binary
}

// readImage returns the addresses of a program's functions.
func readImage(path, arch string) (*layout.Image, error) {
	in, err := sources.BinaryPath(path)
	if err != nil {
		return nil, err
	}
	f, err := symbolize.Open(in.Name, symbolize.Options{Arch: arch, NoDebugFiles: true})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	machO := f.IsMachO()
	var code []*symbolize.Section
	for _, s := range f.Sections() {
		if isCodeSection(s.Name) && s.Size > 0 && s.Addr != 0 {
			code = append(code, s)
		}
	}
	var functions []layout.Function
	var ends []uint64 // of the section of each
	for s := range all {
		for _, c := range code {
			if s.Addr < c.Addr || s.Addr >= c.Addr+c.Size {
				continue
			}
			end := c.Addr + c.Size
			functions = append(functions, layout.Function{Name: s.Name, Addr: s.Addr, Size: min(s.Size, end-s.Addr)})
			ends = append(ends, end)
			break
		}
	}
	if machO {
		measure(functions, ends)
	}
	image := layout.NewImage(functions, layout.SymbolOptions{Underscore: machO})
	if image.Functions() == 0 {
		return nil, fmt.Errorf("%s: has no function symbols; want the program before it was stripped", path)
	}
	return image, nil
}

// measure completes the functions of a Mach-O file: it adds the underscore to names, which
// package symbolize removes, and sets the sizes, each up to the next symbol.
func measure(functions []layout.Function, ends []uint64) {
	for i := len(functions) - 1; i >= 0; i-- {
		f := &functions[i]
		f.Name = "_" + f.Name
		switch {
		case i+1 == len(functions) || ends[i+1] != ends[i]:
			f.Size = ends[i] - f.Addr
		case functions[i+1].Addr == f.Addr:
			f.Size = functions[i+1].Size
		default:
			f.Size = functions[i+1].Addr - f.Addr
		}
	}
}

func isCodeSection(name string) bool {
	switch name {
	case ".text", "__text", ".init", ".fini":
		return true
	}
	return strings.HasPrefix(name, ".text.")
}

// readOrder reads a list of symbols, one on each line; # begins a comment.
func readOrder(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var names []string
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		line, _, _ := strings.Cut(s.Text(), "#")
		if line = strings.TrimSpace(line); line != "" {
			names = append(names, line)
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return names, nil
}

// readTraces reads the orders of first calls in a profile.
func readTraces(env *cli.Env, path string, programs *sources.Programs) (traces []layout.Trace, err error) {
	v, err := openView(env, path, programs)
	if err != nil {
		return nil, err
	}
	for t := range v.Traces() {
		trace := layout.Trace{Weight: float64(t.Weight)}
		for i := range t.Functions {
			if name := linkerName(&t.Functions[i]); name != "" {
				trace.Functions = append(trace.Functions, name)
			}
		}
		traces = append(traces, trace)
	}
	if len(traces) == 0 {
		return nil, fmt.Errorf("%s: has no order of first calls: IRPGO profiles have one as temporal traces "+
			"(clang -fprofile-generate -mllvm -pgo-temporal-instrumentation), a .mip with call counts", path)
	}
	return traces, nil
}
