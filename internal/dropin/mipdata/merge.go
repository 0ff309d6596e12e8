package mipdata

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

// merge runs the merge command. It replaces the profile once all raw profiles are read, even
// if none could be merged. Warnings come in the order of the inputs.
func (t *tool) merge() error {
	lock, lockErr := t.lock()
	defer lock.Release()
	base, err := t.readProfile()
	if err != nil {
		return err
	}
	if lockErr != nil { // the profile is readable but cannot be replaced
		t.cannotOpen(t.opt.profile)
		return lockErr
	}
	var warnings warnings
	merger, err := mip.NewMerger(base, mip.MergeOptions{Warn: warnings.addWarning})
	if err != nil {
		return t.refuse(err)
	}
	// The warnings of NewMerger name no file.
	t.reportShared(warnings.takeWarnings(""))

	all, err := mergeAll(merger, t.opt.raw, t.Inputs())
	if err != nil {
		t.msg.Error(err.Error())
		return errInvalid
	}
	merged := 0
	for _, raw := range all {
		for _, w := range warnings.takeWarnings(raw.name) {
			t.warn(w)
		}
		switch {
		case raw.err == nil:
			merged++
		case t.opt.strict:
			return t.reject(raw)
		default:
			t.skip(raw)
		}
	}
	if err := t.writeProfile(merger.Profile()); err != nil {
		return err
	}
	t.msg.Remark(fmt.Sprintf("Merged %d raw profiles into %s", merged, t.opt.profile))
	return nil
}

// reject prints the errors of a raw profile and returns the error that ends the run.
func (t *tool) reject(raw rawResult) error {
	if isSystem(raw.err) {
		t.cannotOpen(raw.name)
		return errInvalid
	}
	return t.refuse(raw.err)
}

// skip prints the original's messages about an unusable raw profile, and a warning that the
// profile is skipped.
func (t *tool) skip(raw rawResult) {
	if isSystem(raw.err) || llvmerr.MIPMessages(raw.err) != nil {
		t.reject(raw)
	}
	t.msg.Warning(raw.name + ": skipped: " + reason(raw.err))
}

// reportShared warns in one line about functions that share a raw record: the original's
// compiler makes one record for all functions of the same name.
func (t *tool) reportShared(shared []profile.Warning) {
	switch n := len(shared); {
	case n == 1:
		t.msg.Warning(fmt.Sprintf("%s: %s shares its raw record with another function; both are counted when one is called",
			t.opt.profile, shared[0].Function))
	case n > 1:
		t.msg.Warning(fmt.Sprintf("%s: %d functions, %s the first, share their raw records with others; all are counted when one is called",
			t.opt.profile, n, shared[0].Function))
	}
}

// A rawResult is the result of merging one raw profile.
type rawResult struct {
	name   string
	member int   // position in its input
	err    error // nil if it was merged
}

// minPerWorker is the number of inputs that justifies another worker, which needs memory
// for sums over all functions.
const minPerWorker = 8

// mergeAll merges the raw profiles that the arguments name into m with several workers, and returns their
// results in order. An argument may be a folder, unlike in the original. After an error m is unusable.
func mergeAll(m *mip.Merger, args []string, opt inputs.Options) (all []rawResult, err error) {
	var ins []inputs.Input
	var results [][]rawResult // by argument, or by file of a folder
	var at []int              // index in results, by input
	opt.NoGlob = true         // the shell has expanded patterns
	for _, arg := range args {
		found, err := inputs.Expand([]string{arg}, opt)
		if err != nil {
			results = append(results, []rawResult{{name: arg, err: err}})
		}
		for _, in := range found {
			ins, at, results = append(ins, in), append(at, len(results)), append(results, nil)
		}
	}
	mergers := []*mip.Merger{m}
	for len(mergers) < min(runtime.GOMAXPROCS(0), len(ins)/minPerWorker) {
		mergers = append(mergers, m.Fork())
	}
	adders := make([]merge.Adder, len(mergers))
	for i, m := range mergers {
		adders[i] = func(p *merge.Profile) (*merge.Contribution, error) {
			err := checkKind(p.Name, p.Data, mip.FormatRaw)
			if err == nil {
				err = m.AddRaw(p.Name, p.Data, 1)
			}
			return nil, err
		}
	}
	var mu sync.Mutex
	err = merge.Run(context.Background(), ins, adders, merge.Options{Ended: func(a *merge.Account) {
		mu.Lock()
		defer mu.Unlock()
		results[at[a.Input]] = append(results[at[a.Input]], rawResult{a.File, a.Member, a.Err})
	}})
	for _, fork := range mergers[1:] {
		if err == nil {
			err = m.Merge(fork)
		}
	}
	// The members of an archive end in any order.
	for _, r := range results {
		slices.SortFunc(r, func(a, b rawResult) int { return cmp.Compare(a.member, b.member) })
		all = append(all, r...)
	}
	return all, err
}

// warnings collects the warnings of mergers, by file.
type warnings struct {
	mu     sync.Mutex
	byFile map[string][]profile.Warning
}

// addWarning may be called by several workers at once.
func (w *warnings) addWarning(warning profile.Warning) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byFile == nil {
		w.byFile = make(map[string][]profile.Warning)
	}
	w.byFile[warning.File] = append(w.byFile[warning.File], warning)
}

// takeWarnings returns the warnings about a file, once.
func (w *warnings) takeWarnings(file string) []profile.Warning {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := w.byFile[file]
	delete(w.byFile, file)
	return found
}
