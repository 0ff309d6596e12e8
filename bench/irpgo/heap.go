//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
)

// A heapProgram is a program for heap profiles. Its functions are in layers, and each calls random functions of the next layer.
type heapProgram struct {
	name                     string
	layers, functions, files int
}

var (
	// containers uses containers of the standard library and has much debug information.
	containers = heapProgram{"containers", 8, 50, 10}
	// functions has many small functions.
	functions = heapProgram{"functions", 12, 250, 10}
)

// chance is a random number generator with the same numbers in every release of Go.
type chance uint32

// n returns a number from 0 to n-1, by the linear congruential generator of the C standard's example of rand.
func (c *chance) n(n int) int {
	*c = (*c*1103515245 + 12345) % (1 << 31)
	return int(*c>>16) % n
}

func (p *heapProgram) header() string {
	var b strings.Builder
	b.WriteString("#pragma once\n#include <cstdlib>\n#include <cstring>\n")
	b.WriteString("struct R { unsigned s; unsigned n() { s = s * 1664525u + 1013904223u; return s >> 8; } };\n")
	for l := range p.layers {
		for i := range p.functions {
			fmt.Fprintf(&b, "long f_%d_%d(R &r);\n", l, i)
		}
	}
	if p.name == containers.name {
		b.WriteString("#include <map>\n#include <string>\n#include <vector>\n")
		return b.String()
	}
	// Inlined functions, whose frames come from debug information.
	const small = 200
	for k := range small {
		fmt.Fprintf(&b, "static inline __attribute__((always_inline)) long h%d(int n) { char *p = (char *)malloc(n + %d); memset(p, %d, n); long s = p[0]; free(p); return s; }\n", k, k%37+1, k%100)
	}
	for k := range small {
		fmt.Fprintf(&b, "static inline __attribute__((always_inline)) long g%d(R &r, int n) { return h%d(n) + (n & 1 ? h%d(n + 1) : 0); }\n", k, k, (k*7+3)%small)
	}
	return b.String()
}

func (p *heapProgram) function(c *chance, layer, i int) string {
	var b strings.Builder
	// Functions of the last layer call nobody and always allocate.
	last := layer == p.layers-1
	id := layer*p.functions + i
	if p.name == containers.name {
		// A type for each function instantiates containers of its own, with debug information of their own.
		fmt.Fprintf(&b, "namespace { struct T%d { int v[%d]; bool operator<(const T%d &o) const { return v[0] < o.v[0]; } }; }\n", id, id%7+1, id)
	}
	fmt.Fprintf(&b, "long f_%d_%d(R &r) { long s = 0;\n", layer, i)
	switch {
	case p.name != containers.name:
		if last || c.n(4) == 0 {
			fmt.Fprintf(&b, "  s += g%d(r, (r.n() & 31) + 1);\n", c.n(200))
		}
	case last || c.n(2) == 0:
		fmt.Fprintf(&b, "  std::map<T%d, std::vector<T%d>> m; std::string t;\n", id, id)
		fmt.Fprintf(&b, "  for (unsigned i = 0; i < r.n() %% 4 + 1; i++) { T%d x{}; x.v[0] = int(r.n() %% 16); m[x].push_back(x); t += \"text that is longer than what fits\"; }\n", id)
		b.WriteString("  s += long(m.size() + t.size());\n")
	}
	if !last {
		// Four callees for each function: the number of possible contexts grows fourfold with each layer.
		b.WriteString("  switch (r.n() % 4) {\n")
		for k := range 4 {
			fmt.Fprintf(&b, "  case %d: s += f_%d_%d(r); break;\n", k, layer+1, c.n(p.functions))
		}
		b.WriteString("  }\n")
	}
	b.WriteString("  return s; }\n")
	return b.String()
}

// sources returns the files of the program. The last file has main.
func (p *heapProgram) sources() []string {
	texts := make([]strings.Builder, p.files+1)
	for i := range texts {
		fmt.Fprintf(&texts[i], "#include \"%s.h\"\n", p.name)
	}
	// One generator for all functions: the program is the same in each run of the benchmark.
	c := chance(7)
	for l := range p.layers {
		for i := range p.functions {
			texts[(l*p.functions+i)%p.files].WriteString(p.function(&c, l, i))
		}
	}
	main := &texts[p.files]
	main.WriteString("#include <cstdio>\nint main(int c, char **v) { R r{42}; long n = atol(v[1]), s = 0;\n")
	fmt.Fprintf(main, "  for (long i = 0; i < n; i++) switch (r.n() %% %d) {\n", p.functions)
	for i := range p.functions {
		fmt.Fprintf(main, "  case %d: s += f_0_%d(r); break;\n", i, i)
	}
	main.WriteString("  }\n  printf(\"%ld\\n\", s); }\n")
	out := make([]string, len(texts))
	for i := range texts {
		out[i] = texts[i].String()
	}
	return out
}

var heapCompiler = strings.Fields("clang++-22 -fuse-ld=lld -Wl,--build-id -Wno-unused-command-line-argument " +
	"-fmemory-profile -g -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer " +
	"-fno-optimize-sibling-calls -fdebug-info-for-profiling -fno-exceptions -std=c++17")

func (p *heapProgram) build(dir string) (string, error) {
	program := filepath.Join(dir, p.name)
	sources := []source{{p.name + ".h", p.header()}}
	for i, text := range p.sources() {
		sources = append(sources, source{fmt.Sprintf("%s-%d.cpp", p.name, i), text})
	}
	return program, build(program, sources, heapCompiler...)
}

// record runs the program, with a number of iterations, and returns the raw profile.
func (p *heapProgram) record(dir string, times int) (string, error) {
	program, err := p.build(dir)
	if err != nil {
		return "", err
	}
	raw := fmt.Sprintf("%s-%d.memprofraw", program, times)
	if measure.Exists(raw) {
		return raw, nil
	}
	cmd := exec.Command(program, strconv.Itoa(times))
	cmd.Env = append(os.Environ(), "MEMPROF_OPTIONS=log_path="+raw)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	// MEMPROF_OPTIONS has no way to name the file exactly.
	written, err := filepath.Glob(raw + ".*") // with the number of the process
	if err != nil || len(written) != 1 {
		return "", fmt.Errorf("%s wrote %q", program, written)
	}
	return raw, os.Rename(written[0], raw)
}

func makeHeap(p *heapProgram, times int) func(dir string) ([]string, error) {
	return func(dir string) ([]string, error) {
		dir, err := makeFolder(dir, "heap")
		if err != nil {
			return nil, err
		}
		raw, err := p.record(dir, times)
		return []string{raw, filepath.Join(dir, p.name)}, err
	}
}

// makeFolder makes a folder; its path is absolute, since programs run elsewhere.
func makeFolder(dir, name string) (string, error) {
	dir, err := filepath.Abs(filepath.Join(dir, name))
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	return dir, err
}

// makeHeaps returns a function that makes 20 raw heap profiles of one program, of slightly
// different numbers of contexts, and the program.
func makeHeaps(p *heapProgram, times int) func(dir string) ([]string, error) {
	return func(dir string) ([]string, error) {
		dir, err := makeFolder(dir, "heap")
		if err != nil {
			return nil, err
		}
		program, err := p.build(dir)
		if err != nil {
			return nil, err
		}
		out := make([]string, 20)
		err = parallel(len(out), func(i int) (err error) {
			out[i], err = p.record(dir, times+i*times/200)
			return err
		})
		return append(out, program), err
	}
}

// mergingHeaps makes an indexed profile of several raw ones. llvm-profdata reads and
// symbolizes all of them, but keeps the first alone, so that the outputs differ.
func (b *bench) mergingHeaps(inputs []string) []*command {
	commands := b.symbolizingHeap(inputs)
	for _, c := range commands {
		c.out = ""
	}
	return commands
}

// symbolizingHeap makes an indexed profile of raw heap profiles and their program.
func (b *bench) symbolizingHeap(inputs []string) []*command {
	last := len(inputs) - 1
	// "profuse merge" takes this option of llvm-profdata, too.
	commands := b.mergingWith("heap-%s.profdata", inputs[:last], nil, []string{"--profiled-binary=" + inputs[last]})
	commands[0].out = "" // of a newer version
	return commands
}
