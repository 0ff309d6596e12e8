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

// guard compares profuse of the working tree with profuse of another revision, in pairs of runs. It fails if a case takes
// more CPU time, with a confidence of 95 %.
func (b *bench) guard(revision, chosen string, pairs int) error {
	// The interval of fewer than six pairs has no bounds, see measure.Interval.
	if pairs < 6 {
		return errors.New("-pairs: at least 6")
	}
	old, err := buildRevision(revision)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(old))
	fmt.Printf("CPU time of the working tree as a multiple of the time of %s: median of %d pairs, 95 %% confidence interval\n\n", revision, pairs)
	var slower []string
	for _, c := range cases {
		if !strings.Contains(chosen, c.letter) {
			continue
		}
		ratios, err := b.pairs(&c, old, pairs)
		if err != nil {
			return fmt.Errorf("case %s: %w", c.letter, err)
		}
		// The lower end of the interval decides, so that chance alone seldom fails the guard.
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

// pairs measures a case with both binaries and returns the ratios of the CPU times, n of them.
func (b *bench) pairs(c *benchCase, old string, n int) ([]float64, error) {
	inputs, err := c.make(b.dir)
	if err != nil {
		return nil, err
	}
	// The last of profuse's own commands has the default number of threads.
	var now *command
	for _, cmd := range c.commands(b, inputs) {
		if cmd.kind == ours {
			now = cmd
		}
	}
	costs, err := measure.Pairs(n, now.argv, append([]string{old}, now.argv[1:]...), now.stdin)
	if err != nil {
		return nil, err
	}
	ratios := make([]float64, n)
	for i := range ratios {
		ratios[i] = costs[0][i].CPU / costs[1][i].CPU
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
	// A worktree does not touch the files of the developer.
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
