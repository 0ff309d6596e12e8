//go:build linux

// Command damage flips single bits in profiles of every format and prints what profuse
// and llvm-profdata 22 make of each damaged file.
//
//	go run ./bench/damage [-markdown] [-flips N] [-seed S] [-format PART] [-list]
//
// The profiles are fixtures of the repository. For every flip the command runs "profuse
// merge", "profuse check" and "llvm-profdata merge" on the file:
//
//	refused    the command failed
//	told       it succeeded with a warning or a remark
//	unchanged  it said nothing, and the result is the same as for the intact file
//	silent     it said nothing, and the result differs
//	crashed    a signal ended it
//
// Row "check and merge" counts the outcomes of both commands together, row "... beside others" of check with four intact
// files beside the damaged one. With -markdown it prints the table of docs/reliability.md, with -list also the bits whose
// flip is silent.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/bench/internal/trial"
)

// An outcome is the result of a command on one damaged file.
type outcome int

const (
	refused outcome = iota
	told
	unchanged
	silent
	crashed
	numOutcomes
)

// A row counts the outcomes of one command.
type row struct {
	who   string
	n     [numOutcomes]int
	where []string // the bits whose flip is silent
}

// A bench runs the commands.
type bench struct {
	profuse, llvm string
	dir           string
}

func main() {
	log.SetFlags(0)
	markdown := flag.Bool("markdown", false, "print Markdown")
	list := flag.Bool("list", false, "list the bits whose flip is silent, as BYTE.BIT")
	flips := flag.Int("flips", 400, "flip `N` bits of each profile, each alone; 0 for every bit")
	seed := flag.Uint64("seed", 1, "choose the bits by this number")
	only := flag.String("format", "", "only formats whose name contains `PART`")
	flag.Parse()
	if err := measure(*markdown, *list, *flips, *seed, *only); err != nil {
		log.Fatal(err)
	}
}

// measure damages one profile of each format and prints a table. Without flips it tries every bit.
func measure(markdown, list bool, flips int, seed uint64, only string) error {
	dir, err := os.MkdirTemp("", "damage")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, llvm: trial.LLVM()}
	if b.profuse, err = trial.Build(dir); err != nil {
		return err
	}
	if b.llvm == "" {
		log.Print("llvm-profdata 22 is not installed: profuse alone")
	}
	subjects, err := trial.Subjects(b.profuse)
	if err != nil {
		return err
	}
	head, line := "%-32s %-16s %7s %8s %8s %10s %8s %8s\n", "%-32s %-16s %7d %8d %8d %10d %8d %8d\n"
	if markdown {
		head, line = "| %s | %s | %s | %s | %s | %s | %s | %s |\n", "| %s | %s | %d | %d | %d | %d | %d | %d |\n"
	}
	fmt.Printf(head, "profile", "command", "flips", "refused", "told", "unchanged", "silent", "crashed")
	if markdown {
		fmt.Println("|---|---|--:|--:|--:|--:|--:|--:|")
	}
	for i := range subjects {
		s := &subjects[i]
		if !strings.Contains(s.Format, only) {
			continue
		}
		rows, err := b.flip(s, flips, seed)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Format, err)
		}
		name := s.Format
		for _, r := range rows {
			all := 0
			for _, n := range r.n {
				all += n
			}
			fmt.Printf(line, name, r.who, all, r.n[refused], r.n[told], r.n[unchanged], r.n[silent], r.n[crashed])
			if list {
				fmt.Println(strings.Join(r.where, " "))
			}
			name = ""
		}
	}
	return nil
}

// flip flips bits of a profile and counts the outcomes of each command.
func (b *bench) flip(s *trial.Subject, flips int, seed uint64) ([]*row, error) {
	bits := make([]int, flips)
	// The bits depend only on the seed and the size of the file.
	rng := rand.New(rand.NewPCG(seed, uint64(len(s.Data))))
	for i := range bits {
		bits[i] = rng.IntN(8 * len(s.Data))
	}
	if flips == 0 {
		bits = make([]int, 8*len(s.Data))
		for i := range bits {
			bits[i] = i
		}
	}
	merge, both, peer := &row{who: "merge"}, &row{who: "check and merge"}, &row{who: "llvm-profdata"}
	rest := &row{who: "... beside others"}
	rows := []*row{merge, both, rest}
	if s.Peer != nil && b.llvm != "" {
		rows = append(rows, peer)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failure error
	// Each worker has a folder, because the commands write files.
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		t := &trials{bench: b, subject: s, dir: filepath.Join(b.dir, fmt.Sprint(w))}
		wg.Go(func() {
			err := t.start()
			for i := w; i < len(bits) && err == nil; i += workers {
				var results [4]outcome
				if results, err = t.try(bits[i]); err != nil {
					break
				}
				mu.Lock()
				for j, r := range []*row{merge, both, peer, rest} {
					if r.n[results[j]]++; results[j] == silent {
						r.where = append(r.where, fmt.Sprintf("%d.%d", bits[i]/8, bits[i]%8))
					}
				}
				mu.Unlock()
			}
			if err != nil {
				mu.Lock()
				failure = err
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return rows, failure
}

// trials runs the commands on one profile, in a folder of its own.
type trials struct {
	*bench
	subject                   *trial.Subject
	dir                       string
	in, out                   string
	merge, check, llvm        []string // command lines
	checkRest                 []string // check with intact profiles beside it
	merged, checked, theirs   trial.Result
	checkedRest               trial.Result
	mergedFile, theirsOutFile []byte
	err                       error // the first of a run
}

// start runs the commands on the intact profile.
func (t *trials) start() error {
	if err := os.MkdirAll(t.dir, 0o777); err != nil {
		return err
	}
	t.in, t.out = filepath.Join(t.dir, "in"+t.subject.Ext), filepath.Join(t.dir, "out"+t.subject.Out)
	t.merge = append(append([]string{t.profuse, "merge", "-j", "1", "-o", t.out}, t.subject.With...), t.in)
	t.check = []string{t.profuse, "check", t.in}
	t.checkRest = slices.Clone(t.check)
	// With four intact files beside it, check compares the file with the rest.
	for i := range 4 {
		name := filepath.Join(t.dir, fmt.Sprintf("other%d%s", i, t.subject.Ext))
		if err := os.WriteFile(name, t.subject.Data, 0o666); err != nil {
			return err
		}
		t.checkRest = append(t.checkRest, name)
	}
	t.llvm = append([]string{t.bench.llvm}, t.subject.Peer...)
	if n := len(t.llvm) - 1; t.llvm[n] == "-o" {
		t.llvm = append(t.llvm, t.out)
	}
	t.llvm = append(t.llvm, t.in)
	t.merged, t.mergedFile = t.run(t.subject.Data, t.merge)
	t.checked, _ = t.run(t.subject.Data, t.check)
	t.checkedRest, _ = t.run(t.subject.Data, t.checkRest)
	if t.err == nil && (t.merged.Code != 0 || t.checked.Code != 0) {
		return fmt.Errorf("the intact file is refused: %s%s", t.merged.Stderr, t.checked.Stdout)
	}
	if t.hasPeer() {
		t.theirs, t.theirsOutFile = t.run(t.subject.Data, t.llvm)
	}
	return t.err
}

func (t *trials) hasPeer() bool { return t.subject.Peer != nil && t.bench.llvm != "" }

// run runs a command on a file. It returns what the command wrote to its output file, or to its standard output. After an
// error it does nothing.
func (t *trials) run(data []byte, argv []string) (r trial.Result, written []byte) {
	if t.err != nil {
		return r, nil
	}
	if t.err = os.WriteFile(t.in, data, 0o666); t.err != nil {
		return r, nil
	}
	os.Remove(t.out) // the output of the previous flip
	if r, t.err = trial.Run(argv...); t.err != nil {
		return r, nil
	}
	written, t.err = os.ReadFile(t.out)
	if os.IsNotExist(t.err) {
		written, t.err = r.Stdout, nil
	}
	return r, written
}

// try flips a bit and returns the outcomes of the merge, of check and merge, and of llvm-profdata.
func (t *trials) try(bit int) (results [4]outcome, err error) {
	data := bytes.Clone(t.subject.Data)
	data[bit/8] ^= 1 << (bit % 8)
	merged, out := t.run(data, t.merge)
	results[0] = outcomeOf(&merged, &t.merged, out, t.mergedFile)
	checked, _ := t.run(data, t.check)
	switch {
	case checked.Crashed() || results[0] == crashed:
		results[1] = crashed
	case checked.Code != 0 || results[0] == refused:
		results[1] = refused
	case results[0] == told || remarks(&checked) != remarks(&t.checked):
		results[1] = told
	default:
		results[1] = results[0]
	}
	// Only if nothing else finds the damage is the file compared with others.
	results[3] = results[1]
	if results[1] == silent || results[1] == unchanged {
		rest, _ := t.run(data, t.checkRest)
		if rest.Crashed() {
			results[3] = crashed
		} else if remarks(&rest) != remarks(&t.checkedRest) {
			results[3] = told
		}
	}
	if t.hasPeer() {
		theirs, out := t.run(data, t.llvm)
		results[2] = outcomeOf(&theirs, &t.theirs, out, t.theirsOutFile)
	}
	return results, t.err
}

func remarks(r *trial.Result) int { return bytes.Count(r.Stdout, []byte("remark:")) }

// outcomeOf compares the results of a damaged and the intact file.
func outcomeOf(r, intact *trial.Result, out, want []byte) outcome {
	switch {
	case r.Crashed() || r.Hung:
		return crashed
	case r.Code != 0:
		return refused
	case r.Told(intact):
		return told
	case bytes.Equal(out, want):
		return unchanged
	}
	return silent
}
