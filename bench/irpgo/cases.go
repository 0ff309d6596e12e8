//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
)

// A benchCase is one task for profuse and its peers.
type benchCase struct {
	letter string
	title  string
	make   func(dir string) (inputs []string, err error)
	// commands returns the command lines to compare. Several lines of one peer differ in the number of threads.
	commands func(b *bench, inputs []string) []*command
	goal     goal
}

// A goal is the goal of a case; 0 means none.
type goal struct {
	wall, cpu, memory   float64 // least ratio of the peer's cost to profuse's cost
	seconds, cpuSeconds float64 // greatest time of profuse
	read                float64 // greatest ratio of profuse's wall time to the time for reading the inputs
}

// cases are all cases. Their letters are in docs/performance.md.
var cases = []benchCase{
	{"a", "merge 200 raw profiles of one program of 30,000 functions", makeLarge, (*bench).merging, goal{wall: 18, cpu: 10, memory: 1, read: 2}},
	{"b", "merge 5,000 raw profiles of one program of 1,000 functions", makeMany, (*bench).mergingMany, goal{wall: 12, cpu: 10, memory: 1, read: 1}},
	{"c", "merge 50 raw profiles of 50 programs of 6,000 functions", makeMixed, (*bench).merging, goal{wall: 4, cpu: 4, memory: 1}},
	{"d", "merge 20 indexed profiles of one program of 40,000 functions", makeIndexed, (*bench).merging, goal{wall: 5, cpu: 4, memory: 1, read: 4}},
	{"e", "show an indexed profile of 500,000 functions", makeHuge, (*bench).showing, goal{wall: 5, cpu: 4, memory: 1}},
	{"f", "merge an indexed profile of 500,000 functions into another", makeHuge, (*bench).merging, goal{wall: 6, cpu: 4, memory: 1}},
	{"A", "as (a), with files that are not in the page cache", makeLarge, (*bench).mergingCold, goal{memory: 1}},
	{"B", "as (a), with 64 workers", makeLarge, (*bench).mergingBy64, goal{memory: 1}},
	{"C", "merge 20,000 raw profiles of 20 KB of one program", makeTiny, (*bench).merging, goal{memory: 1}},
	{"D", "merge one indexed profile of 2 GB", makeGiant, (*bench).mergingOne, goal{memory: 1}},
	{"g", "export the coverage of 601 files as a tracefile", makeCovered, (*bench).tracefile, goal{wall: 3, cpu: 2, memory: 1}},
	{"h", "export the coverage of 601 files as JSON", makeCovered, (*bench).document, goal{wall: 8, cpu: 4, memory: 1}},
	{"i", "export 8,000 uses of one macro as a tracefile", makeMacros, (*bench).tracefile, goal{wall: 3, cpu: 2, memory: 1}},
	{"j", "merge a sample profile of 100,000 functions", makeSampled, (*bench).mergingSamples, goal{wall: 4, cpu: 6, memory: 3}},
	{"k", "merge 50 sample profiles of 16,000 functions", makeSampledMany, (*bench).mergingSamples, goal{wall: 6, cpu: 8, memory: 20}},
	{"l", "show a sample profile of 100,000 functions", makeSampled, (*bench).showingSamples, goal{wall: 4, cpu: 4, memory: 1}},
	{"m", "symbolize a raw heap profile of 18,000 contexts", makeHeap(&containers, 4_000), (*bench).symbolizingHeap, goal{wall: 3, memory: 2}},
	{"n", "symbolize a raw heap profile of 85,000 contexts", makeHeap(&functions, 20_000), (*bench).symbolizingHeap, goal{wall: 3, memory: 2}},
	{"o", "symbolize a raw heap profile of 427,000 contexts", makeHeap(&functions, 215_000), (*bench).symbolizingHeap, goal{wall: 3, memory: 2}},
	{"E", "merge 20 raw heap profiles of 16,000 contexts", makeHeaps(&containers, 3_500), (*bench).mergingHeaps, goal{wall: 3, memory: 2}},
	{"p", "merge 20 raw heap profiles of 85,000 contexts", makeHeaps(&functions, 19_000), (*bench).mergingHeaps, goal{wall: 3, memory: 2}},
	{"F", "merge 20 raw heap profiles of 416,000 contexts", makeHeaps(&functions, 208_000), (*bench).mergingHeaps, goal{wall: 3, memory: 2}},
	{"q", "merge 1,000 raw MIP profiles of 10,000 functions", makeMIP, (*bench).mergingMIP, goal{read: 2}},
	{"r", "read an iprof file of 100 MB", makeIprofLarge, (*bench).readingIprof, goal{cpuSeconds: 0.25}},
	{"s", "merge ten iprof files of 10 MB", makeIprof, (*bench).mergingIprof, goal{cpuSeconds: 0.25}},
	{"t", "prune an iprof file of 100 MB", makeIprofLarge, (*bench).pruningIprof, goal{cpuSeconds: 0.25}},
	{"u", "check an indexed profile of 500,000 functions", makeHuge, (*bench).checking, goal{seconds: 1}},
	{"v", "compare two indexed profiles of 500,000 functions", makeChanged, (*bench).comparing, goal{seconds: 2}},
	{"w", "list the hottest of 500,000 functions", makeHuge, (*bench).topping, goal{seconds: 1}},
	{"x", "export 500,000 functions for pprof", makeHuge, (*bench).pprof, goal{seconds: 2}},
	{"y", "report on 500,000 functions", makeHuge, (*bench).reporting, goal{seconds: 5}},
	{"z", "look up 100,000 addresses in a program with 100 MB of debug information", makeSymbols, (*bench).symbolizing, goal{wall: 3}},
}

// mainCases are the default of -base: they leave out cases that are like others.
const mainCases = "abcdefghjklnpqrstuvwxy"

// merging merges the inputs with each tool, with as many threads as there are CPUs and with one.
func (b *bench) merging(inputs []string) []*command {
	// Without the drop-in with one thread.
	one := b.mergingBy(1, inputs)
	one[0].kind = other
	return append(b.mergingBy(runtime.NumCPU(), inputs), one[:2]...)
}

func (b *bench) mergingBy64(inputs []string) []*command { return b.mergingBy(64, inputs) }

// mergingOne merges a single input, which threads cannot share.
func (b *bench) mergingOne(inputs []string) []*command { return b.mergingBy(1, inputs) }

// mergingCold merges files that are not in the page cache.
func (b *bench) mergingCold(inputs []string) []*command {
	commands := b.mergingBy(runtime.NumCPU(), inputs)
	for _, c := range commands {
		c.before = func() error { return measure.DropFromCache(inputs...) }
	}
	return commands
}

// mergingBy merges with n threads. profuse writes the indexed version of llvm-profdata 22, so that the files have the same
// bytes.
func (b *bench) mergingBy(n int, inputs []string) []*command {
	threads := fmt.Sprintf(" -j %d", n)
	commands := b.mergingWith("out-%s-j"+strconv.Itoa(n)+".profdata", inputs, []string{"--indexed-version", "13"}, strings.Fields(threads))
	for _, c := range commands {
		c.name += threads
	}
	return commands
}

// mergingWith merges with profuse and options of its own, with llvm-profdata, and with the drop-in. All get the common options.
// out is the pattern of the outputs' names.
func (b *bench) mergingWith(out string, inputs, own, common []string) []*command {
	cmd := func(kind commandKind, name string, argv ...string) *command {
		out := filepath.Join(b.dir, fmt.Sprintf(out, name))
		return &command{name: name, kind: kind, argv: slices.Concat(argv, common, []string{"-o", out}, inputs), out: out}
	}
	return []*command{
		cmd(ours, "profuse", append([]string{b.profuse, "merge", "-q"}, own...)...),
		cmd(peer, "llvm", b.llvm, "merge"),
		cmd(replacing, "drop-in", b.profuse, "llvm-profdata", "merge"),
	}
}

// mergingMany adds a merge of a few of the inputs, which should take as much memory.
func (b *bench) mergingMany(inputs []string) []*command {
	few := inputs[:len(inputs)/100]
	return append(b.merging(inputs), &command{
		name: fmt.Sprintf("profuse, %d of them", len(few)), kind: other,
		argv: append([]string{b.profuse, "merge", "-q", "-o", filepath.Join(b.dir, "few.profdata")}, few...),
	})
}

// showing prints a profile as a whole with its ten hottest functions, and each function.
func (b *bench) showing(inputs []string) []*command {
	cmd := func(kind commandKind, name string, argv ...string) *command {
		return &command{name: name, kind: kind, argv: append(argv, inputs[0]), stdout: true}
	}
	return []*command{
		cmd(ours, "profuse", b.profuse, "show"),
		cmd(peer, "llvm", b.llvm, "show", "--topn=10"),
		cmd(replacing, "drop-in", b.profuse, "llvm-profdata", "show", "--topn=10"),
		cmd(other, "llvm, all", b.llvm, "show", "--all-functions", "--counts"),
		cmd(other, "drop-in, all", b.profuse, "llvm-profdata", "show", "--all-functions", "--counts"),
	}
}
