//go:build linux

// Command growth measures how the CPU time and the memory of profuse's commands grow with the profiles, from 1,000
// to 10,000,000 counters, fits a power of the size to both and draws them on logarithmic scales. A power of 1 is
// growth in proportion; n log n looks like one of about 1.07 at these sizes.
//
//	go run ./bench/growth [-o FILE.svg] [-to N] [-operations REGEX]
//
// It also prints a table. The profiles stay in bin/bench/growth: 4 GB with 10,000,000 counters.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"regexp"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
	"github.com/profuse-pgo/profuse/bench/internal/trial"
)

// An operation is a command on profiles of a given size.
type operation struct {
	name   string
	inputs inputs   // with n counters, samples, records or contexts in all
	args   []string // before the inputs
	output bool     // it writes a file
}

const perFile = 1000 // counters of one of many files

// operations read whole profiles. "Files of 1,000 counters" shows the cost of a file, not of a counter.
var operations = []operation{
	{"merge raw, 10 files", split("profraw", 10), []string{"merge", "-q"}, true},
	{"merge raw, files of 1,000 counters", many("profraw"), []string{"merge", "-q"}, true},
	{"merge indexed, 10 files", split("profdata", 10), []string{"merge", "-q"}, true},
	{"show", split("profdata", 1), []string{"show"}, false},
	{"check", split("profdata", 1), []string{"check"}, false},
	{"top", split("profdata", 1), []string{"top"}, false},
	{"compare", split("profdata", 2), []string{"compare"}, false},
	{"export to pprof", split("profdata", 1), []string{"export", "-q", "--to", "pprof"}, true},
	{"report", split("profdata", 1), []string{"report"}, true},
	{"order by heat", split("profdata", 1), []string{"order", "make", "--by", "heat"}, true},
	{"order by calls", split("profdata", 1), []string{"order", "make", "--by", "edges"}, true},
	{"merge sample, 10 files", split("afdo", 10), []string{"merge", "-q"}, true},
	{"merge iprof, 10 files", split("iprof", 10), []string{"merge", "-q"}, true},
	{"show heap", upTo(1_000_000, split("memprof.yaml", 1)), []string{"show"}, false},
}

// inputs makes profiles of n counters in a folder.
type inputs func(dir string, n int) ([]string, error)

// split returns the inputs of n counters in a fixed number of files.
func split(kind string, files int) inputs {
	return func(dir string, n int) ([]string, error) { return makeFiles(dir, kind, files, n/files) }
}

// many returns the inputs of n counters in files of perFile counters.
func many(kind string) inputs {
	return func(dir string, n int) ([]string, error) { return makeFiles(dir, kind, n/perFile, perFile) }
}

// upTo returns no inputs above a number of counters: a heap profile would be 4 GB of text.
func upTo(most int, of inputs) inputs {
	return func(dir string, n int) ([]string, error) {
		if n > most {
			return nil, nil
		}
		return of(dir, n)
	}
}

// A point is the cost of an operation at a size.
type point struct {
	n           int
	cpu, memory float64 // seconds, MiB
}

// A series is an operation with its points.
type series struct {
	name   string
	points []point
}

func main() {
	measure.Main()
	log.SetFlags(0)
	out := flag.String("o", "", "`FILE` to draw into, as SVG")
	to := flag.Int("to", 10_000_000, "greatest number of counters")
	chosen := flag.String("operations", "", "`REGEX` of the operations to measure (default all)")
	flag.Parse()
	re, err := regexp.Compile(*chosen)
	if err == nil {
		err = run(*out, *to, re)
	}
	if err != nil {
		log.Fatal("growth: ", err)
	}
}

// run measures each operation at sizes half a decade apart.
func run(out string, to int, chosen *regexp.Regexp) error {
	dir := filepath.Join("bin", "bench", "growth")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	profuse, err := trial.Build(dir)
	if err != nil {
		return err
	}
	var all []series
	fmt.Printf("%-36s %10s %9s %9s\n", "", "counters", "CPU s", "MiB")
	for _, op := range operations {
		if !chosen.MatchString(op.name) {
			continue
		}
		s := series{name: op.name}
		for i := range 9 {
			// 1,000, 3,162, 10,000 … 10,000,000.
			n := int(math.Round(math.Pow(10, 3+float64(i)/2)))
			if n > to {
				break
			}
			p, err := op.measure(dir, profuse, n)
			if err != nil {
				return err
			}
			if p.n == 0 {
				break
			}
			s.points = append(s.points, p)
			fmt.Printf("%-36s %10d %9.3f %9.0f\n", op.name, n, p.cpu, p.memory)
		}
		fmt.Printf("%-36s %10s %9s %9s\n", op.name, "exponent", power(s.exponent(cpuOf)), power(s.exponent(memoryOf)))
		all = append(all, s)
	}
	if out == "" {
		return nil
	}
	return os.WriteFile(out, []byte(draw(all)), 0o666)
}

// measure returns the least cost of a few runs, more of short ones.
func (op *operation) measure(dir, profuse string, n int) (p point, err error) {
	inputs, err := op.inputs(dir, n)
	if err != nil || inputs == nil {
		return p, err
	}
	argv := append([]string{profuse}, op.args...)
	if op.output {
		argv = append(argv, "-o", filepath.Join(dir, "out"))
	}
	p.n = n
	// Anything above the least is noise of the machine.
	for spent, runs := 0.0, 0; runs == 0 || spent < 3 && runs < 5; runs++ {
		s, err := measure.Run(append(argv, inputs...), "")
		if err != nil {
			return p, err
		}
		spent += s.CPU
		if runs == 0 {
			p.cpu, p.memory = s.CPU, s.Memory
		}
		p.cpu, p.memory = min(p.cpu, s.CPU), min(p.memory, s.Memory)
	}
	return p, nil
}

func cpuOf(p point) float64    { return p.cpu }
func memoryOf(p point) float64 { return p.memory }

// exponent fits a power of the size to the cost above the cost of the smallest size, by least squares of the logarithms. It
// uses only sizes with at least twice the cost of the smallest size, and returns NaN if there are fewer than three.
func (s *series) exponent(of func(point) float64) float64 {
	var n, x, y, xx, xy float64
	least := of(s.points[0])
	for _, p := range s.points {
		if v := of(p) - least; v >= least {
			a, b := math.Log(float64(p.n)), math.Log(v)
			n, x, y, xx, xy = n+1, x+a, y+b, xx+a*a, xy+a*b
		}
	}
	if n < 3 {
		return math.NaN()
	}
	return (n*xy - x*y) / (n*xx - x*x)
}

func power(e float64) string {
	if math.IsNaN(e) {
		return "–"
	}
	return fmt.Sprintf("%.2f", e)
}
