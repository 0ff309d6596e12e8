//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
	"github.com/profuse-pgo/profuse/bench/internal/trial"
)

// tolerated is the ratio of CPU times up to which a revision is as fast as another.
const tolerated = 1.03

// guard compares profuse of the working tree with that of another revision, in pairs of
// runs, which changes of the machine's speed affect alike. It fails if a case takes more CPU
// time, with a confidence of 95 %.
func (b *bench) guard(revision, chosen string, pairs int) error {
	// The interval of fewer than six pairs has no bounds, see measure.Interval.
	if pairs < 6 {
		return errors.New("-pairs: at least 6")
	}
	old, err := buildRevision(revision)
	if err != nil {
		return err
	}
	// The binary is in a folder of its own.
	defer os.RemoveAll(filepath.Dir(old))
	fmt.Printf("CPU time of the working tree as a multiple of that of %s: median of %d pairs, 95 %% confidence interval\n\n", revision, pairs)
	var slower []string
	for _, c := range cases {
		if !strings.Contains(chosen, c.letter) {
			continue
		}
		ratios, err := b.pairs(&c, old, pairs)
		if err != nil {
			return fmt.Errorf("case %s: %w", c.letter, err)
		}
		// The verdict is about the lower end of the interval, so that chance alone seldom fails the guard.
		median, low, high := measure.Interval(ratios)
		verdict := ""
		if low > tolerated {
			verdict = "  slower"
			slower = append(slower, c.letter)
		}
		fmt.Printf("(%s) %-75s %.3f [%.3f %.3f]%s\n", c.letter, c.title, median, low, high, verdict)
	}
	if len(slower) > 0 {
		return fmt.Errorf("slower than %s by more than %.0f %%: %s", revision, 100*(tolerated-1), strings.Join(slower, ", "))
	}
	return nil
}

// pairs measures what profuse does in a case with both binaries and returns the ratios.
func (b *bench) pairs(c *benchCase, old string, n int) ([]float64, error) {
	inputs, err := c.make(b.dir)
	if err != nil {
		return nil, err
	}
	// What is compared is profuse's own command with the default number of threads, the last of the kind.
	var now *command
	for _, cmd := range c.commands(b, inputs) {
		if cmd.kind == ours {
			now = cmd
		}
	}
	before := *now
	before.argv = append([]string{old}, now.argv[1:]...)
	ratios := make([]float64, 0, n)
	for i := -1; i < n; i++ { // the first pair warms up
		both := [2]measure.Sample{}
		for k := range both {
			which := (k + i) & 1 // what runs first may have an advantage
			if both[which], err = measure.Run([]*command{now, &before}[which].argv, now.stdin); err != nil {
				return nil, err
			}
		}
		if i >= 0 {
			ratios = append(ratios, both[0].CPU/both[1].CPU)
		}
	}
	return ratios, nil
}

// buildRevision builds profuse of a revision, in a folder of its own, and returns its path.
func buildRevision(revision string) (string, error) {
	dir, err := os.MkdirTemp("", "profuse-base-")
	if err != nil {
		return "", err
	}
	tree, exe := filepath.Join(dir, "tree"), ""
	// A worktree leaves the files of the developer alone, changed ones included.
	err = prepare("git", "worktree", "add", "--detach", tree, revision)
	if err == nil {
		if exe, err = trial.BuildOf(tree, dir); err != nil {
			err = fmt.Errorf("%s: %w", revision, err)
		}
		err = errors.Join(err, prepare("git", "worktree", "remove", "--force", tree))
	}
	if err != nil {
		os.RemoveAll(dir)
	}
	return exe, err
}
