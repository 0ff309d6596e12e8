//go:build linux

// Command irpgo runs profuse and its peers, such as llvm-profdata and jq, in turns on profiles of all families, and prints
// wall time, CPU time and peak memory of both, and the time for reading the bytes.
//
//	go run ./bench/irpgo [-cases LETTERS] [-rounds N] [-seconds N] [-prepare] [-markdown] [-page FILE]
//	go run ./bench/irpgo -base REVISION [-cases LETTERS] [-pairs N]
//
// With -markdown it prints tables, with -page docs/performance.md it puts them there. With
// -base it runs profuse of another revision and of the working tree in turns, and fails if the working tree takes more
// CPU time with confidence.
//
// Most profiles are real: programs are generated, compiled with clang 22 and run with
// different inputs. Packages irpgo and sampleprof write very large profiles and sample profiles, a test of package iprof
// writes iprof files. All stay in bin/bench/irpgo. The outputs of both tools must have the same bytes.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
	"github.com/profuse-pgo/profuse/bench/internal/trial"
)

// A bench has the options, and the paths of profuse, built from the working tree, and of its peers.
type bench struct {
	dir      string
	profuse  string
	llvm     string
	llvmCov  string
	rounds   int
	seconds  int
	prepare  bool
	markdown bool
	page     string
}

// writers are tasks for a separate process, because the peak memory that the system reports for a process is at least
// the memory of its parent.
var writers = map[string]func(files []string) error{
	"changed": func(files []string) error { return writeChanged(files[0], files[1]) },
	"giant":   func(files []string) error { return writeGiant(files[0]) },
	"huge":    func(files []string) error { return writeHuge(files[0]) },
	"samples": writeSamples,

	"addresses": func(files []string) error { return writeAddresses(files[0], files[1]) },
	"symbols":   func(files []string) error { return symbolizeInput(files[0]) },
}

func main() {
	measure.Main()
	// See prepareApart.
	if len(os.Args) > 3 && os.Args[1] == writeFlag {
		if err := writers[os.Args[2]](os.Args[3:]); err != nil {
			log.Fatal(err)
		}
		return
	}
	log.SetFlags(0)
	chosen := flag.String("cases", "", "`LETTERS` of the cases to run (default all, with -base the main ones)")
	base := flag.String("base", "", "compare with profuse of `REVISION`")
	pairs := flag.Int("pairs", 15, "`N` pairs of runs to compare revisions by")
	b := &bench{}
	flag.IntVar(&b.rounds, "rounds", 5, "`N` rounds that count; one more comes before them")
	flag.IntVar(&b.seconds, "seconds", 25, "no further round of a case after `N` seconds")
	flag.StringVar(&b.llvm, "llvm-profdata", "llvm-profdata-22", "`PROGRAM` to compare with")
	flag.StringVar(&b.llvmCov, "llvm-cov", "llvm-cov-22", "`PROGRAM` to compare with")
	flag.StringVar(&b.dir, "dir", "bin/bench/irpgo", "`FOLDER` for programs and profiles")
	flag.BoolVar(&b.prepare, "prepare", false, "make the inputs and measure nothing")
	flag.BoolVar(&b.markdown, "markdown", false, "print Markdown")
	flag.StringVar(&b.page, "page", "", "put the tables into `FILE`, after each case")
	flag.Parse()
	if b.rounds < 1 {
		log.Fatal("irpgo: -rounds: at least 1")
	}
	err := os.MkdirAll(b.dir, 0o777)
	if err == nil {
		b.profuse, err = trial.Build(b.dir)
	}
	switch {
	case err != nil:
	case *base != "":
		err = b.guard(*base, cmp.Or(*chosen, mainCases), *pairs)
	default:
		err = b.run(*chosen)
	}
	if err != nil {
		log.Fatal("irpgo: ", err)
	}
}

// run measures the cases whose letters are chosen, or all. It updates the page after each case, so that an interrupted
// run keeps its results.
func (b *bench) run(chosen string) error {
	machine := fmt.Sprintf("%s, %d CPUs; medians of up to %d rounds, smallest and largest in brackets", cpuName(), runtime.NumCPU(), b.rounds)
	if !b.markdown {
		fmt.Println(machine)
	}
	var results []*result
	for _, c := range cases {
		if chosen != "" && !strings.Contains(chosen, c.letter) {
			continue
		}
		r, err := b.measure(&c)
		if err != nil {
			return fmt.Errorf("case %s: %w", c.letter, err)
		}
		if b.prepare {
			continue
		}
		if results = append(results, r); !b.markdown {
			fmt.Println()
			r.print(os.Stdout)
		}
		if b.page != "" {
			if err := update(b.page, machine, results); err != nil {
				return err
			}
		}
	}
	if b.markdown {
		printMarkdown(os.Stdout, machine, results)
	}
	return nil
}

func (b *bench) measure(c *benchCase) (*result, error) {
	inputs, err := c.make(b.dir)
	if err != nil || b.prepare {
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
	// The last command only reads the bytes, after the same preparation, for timesRead.
	commands = append(commands, &command{name: "read (cat)", argv: append([]string{"cat"}, inputs...), kind: reading, before: commands[0].before})
	start := time.Now()
	// Round 0 fills the page cache and compares the results; its costs do not count. Commands take turns within a
	// round, so that a slow minute of the machine affects all. At least one round counts.
	for round := range b.rounds + 1 {
		if round > 1 && time.Since(start) > time.Duration(b.seconds)*time.Second {
			break
		}
		for _, cmd := range commands {
			if err := cmd.run(round); err != nil {
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

// sameResults compares the outputs of the commands: all merged profiles, and the texts of llvm-profdata and its drop-in.
func (b *bench) sameResults(commands []*command) error {
	for _, c := range commands {
		if c.canonical {
			same := c.out + ".canonical"
			if err := prepare(b.profuse, "merge", "-q", "-o", same, c.out); err != nil {
				return err
			}
			c.out = same
		}
	}
	written := slices.DeleteFunc(slices.Clone(commands), func(c *command) bool { return c.out == "" })
	for _, c := range written[min(1, len(written)):] {
		if err := prepare("cmp", written[0].out, c.out); err != nil { // the files may be large
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

// cpuName returns the field "model name" of /proc/cpuinfo, which Linux has on x86.
func cpuName() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown CPU"
}
