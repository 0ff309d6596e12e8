//go:build linux

// Command irpgo does what profuse does with profiles of all families with profuse and
// with its peer, such as llvm-profdata and llvm-cov, in turns, and prints wall time, CPU
// time and peak memory of both, beside the time that reading the bytes takes.
//
//	go run ./bench/irpgo [-cases LETTERS] [-rounds N] [-llvm-profdata PROGRAM] [-llvm-cov PROGRAM] [-markdown]
//	go run ./bench/irpgo -base REVISION [-cases LETTERS] [-pairs N]
//
// With -markdown it prints the text of docs/performance.md. With -base it runs profuse of
// another revision and that of the working tree in turns, and fails if the latter takes
// more CPU time with confidence.
//
// The profiles are real: programs are generated, compiled with clang 22 and run
// with different inputs. Only the very large profile is written by package
// irpgo, and sample profiles by package sampleprof. All files stay in build/bench/irpgo. The outputs of the two tools are
// compared byte for byte.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
)

// A benchCase is one task for both tools.
type benchCase struct {
	letter string
	title  string
	make   func(dir string) (inputs []string, err error)
	// commands returns the command lines to compare. Those of the peer differ
	// in their number of threads.
	commands func(b *bench, inputs []string) []*command
	goal     goal
	limit    goal
}

// A goal is the intended ratio of the peer's time and memory to those of profuse; as the
// limit of a case, seconds and MiB. 0 means none.
type goal struct{ wall, cpu, memory float64 }

func (g goal) list() []float64 { return []float64{g.wall, g.cpu, g.memory} }

type bench struct {
	dir      string
	profuse  string
	llvm     string
	llvmCov  string
	rounds   int
	markdown bool
}

var cases = []benchCase{
	{"a", "merge 200 raw profiles of one program of 30,000 functions", makeLarge, (*bench).merging, goal{15, 10, 1}, goal{}},
	{"b", "merge 5,000 raw profiles of one program of 1,000 functions", makeMany, (*bench).mergingMany, goal{10, 10, 1}, goal{}},
	{"c", "merge 50 raw profiles of 50 programs of 6,000 functions", makeMixed, (*bench).merging, goal{3, 3, 1}, goal{}},
	{"d", "merge 20 indexed profiles of one program of 40,000 functions", makeIndexed, (*bench).merging, goal{3, 3, 1}, goal{}},
	{"e", "show an indexed profile of 500,000 functions", makeHuge, (*bench).showing, goal{2, 2, 1}, goal{}},
	{"f", "merge an indexed profile of 500,000 functions into another", makeHuge, (*bench).merging, goal{4, 4, 1}, goal{}},
	{"g", "export the coverage of 601 files as a tracefile", makeCovered, (*bench).tracefile, goal{3, 2, 1}, goal{}},
	{"h", "export the coverage of 601 files as JSON", makeCovered, (*bench).document, goal{8, 4, 1}, goal{}},
	{"i", "export 8,000 uses of one macro as a tracefile", makeMacros, (*bench).tracefile, goal{3, 2, 1}, goal{}},
	{"j", "merge a sample profile of 100,000 functions", makeSampled, (*bench).mergingSamples, goal{4, 6, 3}, goal{}},
	{"k", "merge 50 sample profiles of 16,000 functions", makeSampledMany, (*bench).mergingSamples, goal{6, 8, 20}, goal{}},
	{"l", "show a sample profile of 100,000 functions", makeSampled, (*bench).showingSamples, goal{4, 4, 1}, goal{}},
	{"m", "symbolize a raw heap profile of 18,000 contexts", makeHeap(&containers, 4_000), (*bench).symbolizingHeap, goal{3, 3, 2}, goal{}},
	{"n", "symbolize a raw heap profile of 85,000 contexts", makeHeap(&functions, 20_000), (*bench).symbolizingHeap, goal{3, 3, 2}, goal{}},
	{"o", "symbolize a raw heap profile of 427,000 contexts", makeHeap(&functions, 215_000), (*bench).symbolizingHeap, goal{3, 3, 2}, goal{}},
	{"p", "merge 20 heap profiles of 64,000 to 101,000 contexts", makeHeaps, (*bench).mergingHeaps, goal{3, 3, 2}, goal{}},
	{"q", "merge 1,000 raw MIP profiles of 10,000 functions", makeMIP, (*bench).mergingMIP, goal{wall: 0.5, cpu: 0.5}, goal{}},
	{"r", "show an iprof file of 100 MB", makeIprofLarge, (*bench).readingIprof, goal{5, 5, 5}, goal{cpu: 0.25}},
	{"s", "merge ten iprof files of 10 MB", makeIprof, (*bench).mergingIprof, goal{5, 5, 2}, goal{}},
	{"t", "prune an iprof file of 100 MB", makeIprofLarge, (*bench).pruningIprof, goal{5, 5, 5}, goal{}},
	{"u", "check an indexed profile of 500,000 functions", makeHuge, (*bench).checking, goal{}, goal{wall: 1}},
	{"v", "compare two indexed profiles of 500,000 functions", makeChanged, (*bench).comparing, goal{}, goal{wall: 2}},
	{"w", "list the hottest of 500,000 functions", makeHuge, (*bench).topping, goal{}, goal{wall: 1}},
	{"x", "export 500,000 functions for pprof", makeHuge, (*bench).pprof, goal{}, goal{wall: 2}},
	{"y", "report on 500,000 functions", makeHuge, (*bench).reporting, goal{}, goal{5, 5, 400}},
	{"z", "look up 100,000 addresses in a program with 100 MB of debug information", makeSymbols, (*bench).symbolizing, goal{3, 3, 1}, goal{}},
}

func main() {
	measure.Main()
	log.SetFlags(0)
	chosen := flag.String("cases", "", "`LETTERS` of the cases to run (default all, with -base the main ones)")
	base := flag.String("base", "", "compare with profuse of `REVISION`")
	pairs := flag.Int("pairs", 15, "`N` pairs of runs to compare revisions by")
	b := &bench{}
	flag.IntVar(&b.rounds, "rounds", 5, "`N` rounds that count; one more comes before them")
	flag.StringVar(&b.llvm, "llvm-profdata", "llvm-profdata-22", "`PROGRAM` to compare with")
	flag.StringVar(&b.llvmCov, "llvm-cov", "llvm-cov-22", "`PROGRAM` to compare with")
	flag.StringVar(&b.dir, "dir", "build/bench/irpgo", "`FOLDER` for programs and profiles")
	flag.BoolVar(&b.markdown, "markdown", false, "print Markdown")
	samples := flag.Bool("write-samples", false, "write the sample profiles in the arguments and do nothing else")
	changed := flag.Bool("write-changed", false, "write a profile like another, both in the arguments, and do nothing else")
	huge := flag.String("write-huge", "", "write the very large profile to `FILE` and do nothing else")
	flag.Parse()
	if *samples {
		if err := writeSamples(flag.Args()); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *changed {
		if err := writeChanged(flag.Arg(0), flag.Arg(1)); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *huge != "" {
		if err := writeHuge(*huge); err != nil {
			log.Fatal(err)
		}
		return
	}
	if b.rounds < 1 {
		log.Fatal("irpgo: -rounds: at least 1")
	}
	err := b.build()
	switch {
	case err != nil:
	case *base != "":
		err = b.guard(*base, cmp.Or(*chosen, mainCases), *pairs)
	default:
		err = b.run(cmp.Or(*chosen, allCases))
	}
	if err != nil {
		log.Fatal("irpgo: ", err)
	}
}

const (
	allCases  = "abcdefghijklmnopqrstuvwxyz"
	mainCases = "abcdefghjklnpqrstuvwxy" // without those that others stand for, and without bench/symbolize
)

func (b *bench) build() error {
	if err := os.MkdirAll(b.dir, 0o777); err != nil {
		return err
	}
	b.profuse = filepath.Join(b.dir, "profuse")
	build := exec.Command("go", "build", "-trimpath", "-o", b.profuse, "./cmd/profuse")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

func (b *bench) run(chosen string) error {
	machine := fmt.Sprintf("%s, %d CPUs; medians of %d rounds, smallest and largest in brackets", cpuName(), runtime.NumCPU(), b.rounds)
	if !b.markdown {
		fmt.Println(machine)
	}
	var results []*result
	for _, c := range cases {
		if !strings.Contains(chosen, c.letter) {
			continue
		}
		r, err := b.one(&c)
		if err != nil {
			return fmt.Errorf("case %s: %w", c.letter, err)
		}
		if results = append(results, r); !b.markdown {
			fmt.Println()
			r.print(os.Stdout)
		}
	}
	if b.markdown {
		printMarkdown(os.Stdout, machine, results)
	}
	return nil
}

// one measures one case.
func (b *bench) one(c *benchCase) (*result, error) {
	inputs, err := c.make(b.dir)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	for _, name := range inputs {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		size += info.Size()
	}
	commands := c.commands(b, inputs)
	commands = append(commands, &command{name: "read (cat)", argv: append([]string{"cat"}, inputs...), kind: reading})
	for round := range b.rounds + 1 {
		for _, cmd := range commands {
			if err := cmd.run(round > 0); err != nil {
				return nil, err
			}
		}
		if round == 0 {
			if err := b.sameResults(commands); err != nil {
				return nil, err
			}
		}
	}
	return &result{c, size, commands}, nil
}

// merging merges the inputs with each tool, the peer with one thread and with
// as many threads as there are CPUs.
func (b *bench) merging(inputs []string) []*command {
	threads := fmt.Sprint(runtime.NumCPU())
	cmd := func(kind commandKind, name string, argv ...string) *command {
		out := filepath.Join(b.dir, fmt.Sprintf("out-%s.profdata", strings.ReplaceAll(name, " ", "")))
		argv = append(argv, "-o", out)
		return &command{name: name, kind: kind, argv: append(argv, inputs...), out: out}
	}
	own := []string{b.profuse, "merge", "-q", "--indexed-version", "13"}
	dropIn := []string{b.profuse, "llvm-profdata", "merge"}
	return []*command{
		cmd(ours, "profuse", own...),
		cmd(peer, "llvm -j "+threads, b.llvm, "merge", "-j", threads),
		cmd(other, "profuse -j 1", append(own, "-j", "1")...),
		cmd(peer, "llvm -j 1", b.llvm, "merge", "-j", "1"),
		cmd(other, "drop-in -j "+threads, append(dropIn, "-j", threads)...),
	}
}

// mergingMany adds merges of a few of the inputs, which should take as much
// memory.
func (b *bench) mergingMany(inputs []string) []*command {
	few := inputs[:len(inputs)/100]
	return append(b.merging(inputs), &command{
		name: fmt.Sprintf("profuse, %d of them", len(few)), kind: other,
		argv: append([]string{b.profuse, "merge", "-q", "-o", filepath.Join(b.dir, "few.profdata")}, few...),
	})
}

func (b *bench) showing(inputs []string) []*command {
	cmd := func(kind commandKind, name string, argv ...string) *command {
		return &command{name: name, kind: kind, argv: append(argv, inputs[0]), stdout: true}
	}
	return []*command{
		cmd(ours, "profuse", b.profuse, "show"),
		cmd(peer, "llvm", b.llvm, "show", "--topn=10"),
		cmd(other, "drop-in", b.profuse, "llvm-profdata", "show", "--topn=10"),
		cmd(other, "llvm, all", b.llvm, "show", "--all-functions", "--counts"),
		cmd(other, "drop-in, all", b.profuse, "llvm-profdata", "show", "--all-functions", "--counts"),
	}
}

// sameResults compares the outputs of the commands: all merged profiles with
// each other, shown text with that of the tool that prints the same words.
func (b *bench) sameResults(commands []*command) error {
	for _, c := range commands {
		if c.canonical {
			if err := prepare(b.profuse, "merge", "-q", "-o", c.out, c.out); err != nil {
				return err
			}
		}
	}
	var first *command
	for _, c := range commands {
		if c.out == "" {
			continue
		}
		if first == nil {
			first = c
			continue
		}
		if err := sameFiles(first.out, c.out); err != nil {
			return err
		}
	}
	shown := make(map[string]*command)
	for _, c := range commands {
		if c.stdout {
			shown[c.name] = c
		}
	}
	for _, pair := range [][2]string{{"llvm", "drop-in"}, {"llvm, all", "drop-in, all"}} {
		if a, b := shown[pair[0]], shown[pair[1]]; a != nil && b != nil && a.digest != b.digest {
			return fmt.Errorf("%s and %s print different things", a.name, b.name)
		}
	}
	return nil
}

func sameFiles(a, b string) error {
	x, err := os.ReadFile(a)
	if err != nil {
		return err
	}
	y, err := os.ReadFile(b)
	if err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return fmt.Errorf("%s and %s differ", a, b)
	}
	return nil
}

func cpuName() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	for line := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown CPU"
}
