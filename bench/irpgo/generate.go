//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
	"github.com/profuse-pgo/profuse/formats/irpgo"
)

// Programs are linked from units, so that different programs share functions, as the programs of one source tree do.
const (
	numUnits         = 80
	functionsPerUnit = 500
)

// unit returns the C source of one unit: n functions with loops, branches, switches, calls through a table and
// copies of varying length, and a table of all of them.
func unit(u, n int) string {
	var b strings.Builder
	b.WriteString("#include <string.h>\ntypedef int (*fn)(int, int);\n")
	verbs := strings.Fields("resolve update find insert erase parse emit lower merge visit")
	nouns := strings.Fields("overload_candidates type_cache basic_block symbol_table stack_frame token_stream call_graph")
	names := make([]string, n)
	for i := range names {
		k := i + u
		names[i] = fmt.Sprintf("%s_%s_%d", verbs[k%len(verbs)], nouns[k/7%len(nouns)], i)
	}
	for i, name := range names {
		fmt.Fprintf(&b, "__attribute__((noinline)) static int %s(int a, int b) {\n  int s = 0; char m[64];\n", name)
		fmt.Fprintf(&b, "  for (int i = 0; i < (a & 7); i++) { if ((b + i) %% %d == 0) s += i * %d; else if (s > %d) s -= b; else s ^= a; }\n", i%7+2, i, i)
		b.WriteString("  switch (a % 5) { case 0: s++; break; case 1: s += 2; break; case 2: s *= 3; break; }\n")
		// A copy of varying length has a value site for memory sizes (IPVK_MemOPSize).
		if i%10 == 0 {
			b.WriteString("  memset(m, s, a & 63); s += m[a & 31];\n")
		}
		if i%20 == 19 { // these call the earlier ones, which call nobody
			fmt.Fprintf(&b, "  static const fn near[] = {%s};\n  s += near[(unsigned)(a + b) %% 19](a, s);\n", strings.Join(names[i-19:i], ", "))
		}
		b.WriteString("  return s; }\n")
	}
	fmt.Fprintf(&b, "const fn table%d[] = {%s};\n", u, strings.Join(names, ", "))
	return b.String()
}

// mainUnit returns a main that calls the functions of the units as often as its argument says.
func mainUnit(units []int, functions int) string {
	var b strings.Builder
	b.WriteString("#include <stdlib.h>\ntypedef int (*fn)(int, int);\n")
	var tables []string
	for _, u := range units {
		fmt.Fprintf(&b, "extern const fn table%d[];\n", u)
		tables = append(tables, fmt.Sprintf("table%d", u))
	}
	fmt.Fprintf(&b, `int main(int c, char **v) {
  static const fn *const tables[] = {%s};
  unsigned s = 0, n = atoi(v[1]);
  for (unsigned i = 0; i < n; i++) {
    unsigned k = i * 2654435761u;
    s += tables[k %% %d][(k >> 8) %% %d](i, s);
  }
  return s == 42;
}
`, strings.Join(tables, ", "), len(units), functions)
	return b.String()
}

// A source is a file to compile, or a header of others.
type source struct{ name, text string }

// build compiles sources beside a program, unless their objects exist, and links them, unless
// the program exists. The compiler has the flags for both.
func build(program string, sources []source, compiler ...string) error {
	if measure.Exists(program) {
		return nil
	}
	fmt.Fprintf(os.Stderr, "building %s\n", program)
	link := append(slices.Clip(compiler), "-o", program)
	var compiled []string
	for _, s := range sources {
		path := filepath.Join(filepath.Dir(program), s.name)
		if err := os.WriteFile(path, []byte(s.text), 0o666); err != nil {
			return err
		}
		if filepath.Ext(path) != ".h" {
			compiled, link = append(compiled, path), append(link, path+".o")
		}
	}
	err := parallel(len(compiled), func(i int) error {
		object := compiled[i] + ".o"
		if measure.Exists(object) {
			return nil
		}
		return prepare(compiler[0], append(slices.Clip(compiler[1:]), "-c", compiled[i], "-o", object)...)
	})
	if err != nil {
		return err
	}
	return prepare(link[0], link[1:]...)
}

// unitSources returns the sources of a program of the units.
func unitSources(main string, units []int) []source {
	sources := []source{{main, mainUnit(units, functionsPerUnit)}}
	for _, u := range units {
		sources = append(sources, source{fmt.Sprintf("unit%d.c", u), unit(u, functionsPerUnit)})
	}
	return sources
}

// profiles returns the profiles of n runs of a program that is linked from the units.
func profiles(dir, name string, units []int, n int) ([]string, error) {
	return runs(dir, name, unitSources(name+"-main.c", units), n)
}

// runs builds a program, runs it n times with different inputs and returns the paths of the profiles.
func runs(dir, name string, sources []source, n int) ([]string, error) {
	program := filepath.Join(dir, name)
	if err := build(program, sources, "clang-22", "-O1", "-w", "-fprofile-generate", "-fuse-ld=lld"); err != nil {
		return nil, err
	}
	return recordRuns(program, "LLVM_PROFILE_FILE", n, func(i int) string { return fmt.Sprintf("%s-%d.profraw", program, i) })
}

// recordRuns runs a program n times unless the profiles of the runs exist. A variable of the environment names the profile.
func recordRuns(program, variable string, n int, profile func(i int) string) ([]string, error) {
	out := make([]string, n)
	return out, parallel(n, func(i int) error {
		if out[i] = profile(i); measure.Exists(out[i]) {
			return nil
		}
		// The argument is the number of calls, 400 to 80,000: 200 different ones are enough.
		cmd := exec.Command(program, fmt.Sprint((i%200+1)*400))
		cmd.Env = append(os.Environ(), variable+"="+out[i])
		return cmd.Run()
	})
}

// span returns the numbers of n units from a first one on; after the last unit comes the first.
func span(from, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = (from + i) % numUnits
	}
	return out
}

// makeLarge makes the profiles of the main case: 60 units of 500 functions.
func makeLarge(dir string) ([]string, error) { return profiles(dir, "large", span(0, 60), 200) }

// makeMany makes profiles of a small program of two units.
func makeMany(dir string) ([]string, error) { return profiles(dir, "small", span(0, 2), 5000) }

// makeTiny makes many small files: profiles of a program of 140 functions, each of them copied a hundred times.
func makeTiny(dir string) (out []string, err error) {
	const copies = 100
	raw, err := runs(dir, "tiny", []source{{"tiny.c", unit(0, 140) + mainUnit([]int{0}, 140)}}, 200)
	if err != nil {
		return nil, err
	}
	// Copies, because links would be one file in the page cache.
	folder := filepath.Join(dir, "tiny.copies")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	for i := range copies * len(raw) {
		name := filepath.Join(folder, fmt.Sprintf("%d.profraw", i))
		if out = append(out, name); measure.Exists(name) {
			continue
		}
		data, err := os.ReadFile(raw[i%len(raw)])
		if err == nil {
			err = measure.WriteFile(name, func(w *bufio.Writer) error { _, err := w.Write(data); return err })
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// makeMixed makes profiles of programs that share eleven of their twelve units with the next program, so that a merge knows
// most functions of a file already.
func makeMixed(dir string) (out []string, err error) {
	for i := range 50 {
		raw, err := profiles(dir, fmt.Sprintf("mixed%d", i), span(i, 12), 1)
		if err != nil {
			return nil, err
		}
		out = append(out, raw...)
	}
	return out, nil
}

// makeIndexed merges each raw profile on its own, by LLVM's tool.
func makeIndexed(dir string) ([]string, error) {
	raw, err := profiles(dir, "whole", span(0, numUnits), 20)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(raw))
	return out, parallel(len(raw), func(i int) error {
		out[i] = strings.TrimSuffix(raw[i], ".profraw") + ".profdata"
		if measure.Exists(out[i]) {
			return nil
		}
		return prepare("llvm-profdata-22", "merge", "-o", out[i], raw[i])
	})
}

func makeHuge(dir string) ([]string, error) { return makeApart(dir, "huge") }

// makeGiant makes a profile of 2 GB.
func makeGiant(dir string) ([]string, error) { return makeApart(dir, "giant") }

// writeHuge writes a profile of 500,000 functions as C++ names them, some with values.
func writeHuge(name string) error {
	rng := rand.New(rand.NewPCG(1, 2))
	p := &irpgo.Profile{Variant: irpgo.IRLevel}
	names := make([]string, 500_000)
	for i := range names {
		// Names of one namespace begin alike, as in real programs, which helps zlib.
		names[i] = fmt.Sprintf("_ZN8project%d11component%02d14Handler%07d7processERKNS_7RequestE", i/50_000, i/1000%50, i)
	}
	for i, name := range names {
		r := &irpgo.Record{Name: name, Hash: rng.Uint64() >> 4, Counts: make([]uint64, 1+rng.IntN(12))}
		if rng.IntN(3) > 0 { // the others never ran
			for j := range r.Counts {
				// Each number of bits, from 1 to 40, is as frequent as the others.
				r.Counts[j] = rng.Uint64() >> (24 + rng.IntN(40))
			}
		}
		if i%10 == 0 {
			for range 1 + rng.IntN(3) {
				var site []irpgo.ValueData
				for range rng.IntN(4) {
					site = append(site, irpgo.ValueData{Value: irpgo.NameRef(names[rng.IntN(len(names))]), Count: uint64(rng.IntN(1 << 20))})
				}
				r.Values[irpgo.IndirectCallTarget] = append(r.Values[irpgo.IndirectCallTarget], site)
			}
		}
		p.Functions = append(p.Functions, irpgo.Function{Name: name, Records: []*irpgo.Record{r}})
	}
	return measure.WriteFile(name, func(w *bufio.Writer) error { return irpgo.WriteIndexed(w, p, irpgo.IndexedOptions{}) })
}

// writeGiant writes a profile of 200,000 functions of 1,230 counters, which repeat.
func writeGiant(name string) error {
	rng := rand.New(rand.NewPCG(3, 4))
	// Functions are windows into one list: 200,000 lists of their own would be 2 GB of memory.
	counts := make([]uint64, 1<<20)
	for i := range counts {
		counts[i] = rng.Uint64() >> (24 + rng.IntN(40))
	}
	p := &irpgo.Profile{Variant: irpgo.IRLevel}
	for i := range 200_000 {
		name := fmt.Sprintf("_ZN8project%d9Generated7run%06dEv", i/50_000, i)
		from := rng.IntN(len(counts) - 1230)
		r := &irpgo.Record{Name: name, Hash: rng.Uint64() >> 4, Counts: counts[from : from+1230]}
		p.Functions = append(p.Functions, irpgo.Function{Name: name, Records: []*irpgo.Record{r}})
	}
	return measure.WriteFile(name, func(w *bufio.Writer) error { return irpgo.WriteIndexed(w, p, irpgo.IndexedOptions{}) })
}

// makeApart returns a profile by one of the [writers].
func makeApart(dir, writer string) ([]string, error) {
	out := filepath.Join(dir, writer+".profdata")
	if measure.Exists(out) {
		return []string{out}, nil
	}
	return []string{out}, prepareApart(writer, out)
}

// writeFlag asks this program to run one of the [writers].
const writeFlag = "-write"

// prepareApart writes files by one of the [writers].
func prepareApart(writer string, files ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return prepare(self, append([]string{writeFlag, writer}, files...)...)
}

func prepare(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// parallel calls do for 0 to n-1, on as many goroutines as there are CPUs.
func parallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	slots := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
