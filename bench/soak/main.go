//go:build linux

// Command soak runs all commands of profuse on damaged profiles of every format and damaged programs of every kind, on files
// that change while they are read and on a full disk, and ends them at random moments, for a given time.
//
//	go run ./bench/soak -minutes N [-seed S] [-j N] [-only N] [-keep FOLDER]
//
// It prints the number of runs by format and outcome:
//
//	refused    exit code 1, 2 or 4
//	unchanged  success, with the output of the intact file
//	told       success with another output, and a word about it
//	silent     success with another output
//	whole      ended by a signal or a full disk, with the old or the new output in place
//
// These fail the soak, which keeps the input and the command line of each in FOLDER, by default bin/soak:
//
//	torn       a part of an output, or a file that no command knows for temporary
//	crash      a signal or a panic
//	hang       more than 10 seconds
//	memory     more than 1 GiB
//
// Run N of a seed is the same in every soak, except for the times of events: -only N repeats it.
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/profuse-pgo/profuse/bench/internal/trial"
)

// An outcome is how one run ended; the package comment explains them.
type outcome int

const (
	refused outcome = iota
	unchanged
	told
	silent
	whole
	torn // from here on failures
	crash
	hang
	memory
	numOutcomes
)

var outcomeNames = [numOutcomes]string{"refused", "unchanged", "told", "silent", "whole", "torn", "crash", "hang", "memory"}

// A soak is one run of the program.
type soak struct {
	profuse  string
	self     string // this program, which limits the size of files
	dir      string
	keep     string
	seed     uint64
	subjects []trial.Subject
	large    []trial.Subject // of some MiB, for events while they are read

	mu       sync.Mutex
	counts   map[string]*[numOutcomes]int // by format, and by schedule and command
	failures int
}

func main() {
	log.SetFlags(0)
	// The soak starts itself to limit the size of files, see runLimited.
	if len(os.Args) > 2 && os.Args[1] == limitFlag {
		log.Fatal(runLimited(os.Args[2], os.Args[3:]))
	}
	minutes := flag.Float64("minutes", 10, "soak for `N` minutes")
	seed := flag.Uint64("seed", 1, "choose all by this number")
	workers := flag.Int("j", runtime.GOMAXPROCS(0), "run `N` commands at the same time")
	only := flag.Int64("only", -1, "repeat run `N` alone")
	keep := flag.String("keep", "bin/soak", "keep what fails in `FOLDER`")
	flag.Parse()
	// Failures and an error of the soak itself both end with exit code 1.
	failures, err := run(*minutes, *seed, *workers, *only, *keep)
	if err != nil {
		log.Fatal(err)
	}
	if failures > 0 {
		os.Exit(1)
	}
}

// run makes the subjects and starts workers, which run until the time is over. Failures of commands are counted; the error is
// about the soak itself.
func run(minutes float64, seed uint64, workers int, only int64, keep string) (failures int, err error) {
	s := &soak{seed: seed, keep: keep, counts: make(map[string]*[numOutcomes]int)}
	if s.dir, err = os.MkdirTemp("", "soak"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(s.dir)
	if s.self, err = os.Executable(); err != nil {
		return 0, err
	}
	if s.profuse, err = trial.Build(s.dir); err != nil {
		return 0, err
	}
	if s.subjects, err = trial.Subjects(s.profuse); err != nil {
		return 0, err
	}
	programs, err := trial.Programs(s.profuse, s.dir)
	if err != nil {
		return 0, err
	}
	s.subjects = append(s.subjects, programs...)
	if s.large, err = trial.Large(s.profuse, s.dir); err != nil {
		return 0, err
	}
	start := time.Now()
	end := start.Add(time.Duration(minutes * float64(time.Minute)))
	var next atomic.Int64
	// One run, whose end is in the past.
	if only >= 0 {
		workers = 1
		next.Store(only)
		end = start
	}
	var wg sync.WaitGroup
	var first error
	for w := range workers {
		wg.Go(func() {
			for {
				err := s.try(w, next.Add(1)-1)
				if err != nil {
					s.mu.Lock()
					first = err
					s.mu.Unlock()
					return
				}
				if !time.Now().Before(end) {
					return
				}
			}
		})
	}
	wg.Wait()
	fmt.Printf("%d runs in %v, seed %d\n\n", next.Load(), time.Since(start).Round(time.Second), seed)
	s.print()
	return s.failures, first
}

// count adds an outcome to the counts of the format, the schedule and the command.
func (s *soak) count(o outcome, names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// From torn on outcomes are failures.
	if o >= torn {
		s.failures++
	}
	for _, name := range names {
		if s.counts[name] == nil {
			s.counts[name] = new([numOutcomes]int)
		}
		s.counts[name][o]++
	}
}

// print prints a row for each format, schedule and command, with the number of runs by outcome.
func (s *soak) print() {
	fmt.Printf("%-44s %9s", "", "runs")
	for _, o := range outcomeNames {
		fmt.Printf(" %9s", o)
	}
	fmt.Println()
	for _, name := range slices.Sorted(maps.Keys(s.counts)) {
		all := 0
		for _, n := range s.counts[name] {
			all += n
		}
		fmt.Printf("%-44s %9d", name, all)
		for _, n := range s.counts[name] {
			fmt.Printf(" %9d", n)
		}
		fmt.Println()
	}
}
