package llvmmipdata

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/mip"
)

// merge is the merge command.
func (t *tool) merge() error {
	lock, lockErr := t.lock()
	defer lock.Release()
	base, err := t.readProfile()
	if err != nil {
		return err
	}
	if lockErr != nil { // it can be read, and not be replaced
		t.cannotOpen(t.opt.profile)
		return lockErr
	}
	var warnings warnings
	merger, err := mip.NewMerger(base, mip.MergeOptions{Warn: warnings.add})
	if err != nil {
		return t.refuse(err)
	}
	t.reportShared(warnings.take(""))

	merged := 0
	for _, raw := range mergeAll(merger, t.rawInputs(), t.opt.strict) {
		if raw.spoiled {
			t.msg.Error(fmt.Sprintf("%v; part of it is merged already, nothing is written", raw.err))
			return errInvalid
		}
		for _, w := range warnings.take(raw.name) {
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

// reject says what is wrong with a raw profile and returns the error that ends
// the run.
func (t *tool) reject(raw rawResult) error {
	if isSystem(raw.err) {
		t.cannotOpen(raw.name)
		return errInvalid
	}
	return t.refuse(raw.err)
}

// skip says that a raw profile is left out, after what the original says.
func (t *tool) skip(raw rawResult) {
	if isSystem(raw.err) || mip.LLVMMessages(raw.err) != nil {
		t.reject(raw)
	}
	t.msg.Warning(raw.name + ": skipped: " + reason(raw.err))
}

// reportShared warns of functions whose raw records are those of others, in
// one line: the original's compiler makes one for all functions of a name, and
// of those a program may have many.
func (t *tool) reportShared(shared []mip.Warning) {
	switch n := len(shared); {
	case n == 1:
		t.msg.Warning(fmt.Sprintf("%s: %s shares its raw record with another function; both are counted when one is called",
			t.opt.profile, shared[0].Function))
	case n > 1:
		t.msg.Warning(fmt.Sprintf("%s: %d functions, %s the first, share their raw records with others; all are counted when one is called",
			t.opt.profile, n, shared[0].Function))
	}
}

// A rawResult is what became of one raw profile.
type rawResult struct {
	name    string
	err     error // why it is not merged
	spoiled bool  // part of it is, because it changed while it was read
}

// A rawInput is a file or archive of raw profiles, or the reason why there is
// none.
type rawInput struct {
	in  inputs.Input
	err error
}

// rawInputs returns the raw profiles of the command line. The original takes
// every argument for a file; here it may be a folder, too.
func (t *tool) rawInputs() []rawInput {
	var list []rawInput
	for _, arg := range t.opt.raw {
		found, err := inputs.Expand([]string{arg}, inputs.Options{Stdin: t.Stdin, NoGlob: true})
		if err != nil {
			list = append(list, rawInput{inputs.File(arg), err})
			continue
		}
		for _, in := range found {
			list = append(list, rawInput{in: in})
		}
	}
	return list
}

// minPerWorker is the number of inputs for which another worker is worth its
// memory, that of the sums over all functions.
const minPerWorker = 8

// mergeAll merges the inputs into m with several workers, and returns what
// became of each, in order. If strict, it may stop anywhere after the first
// that is not merged.
func mergeAll(m *mip.Merger, list []rawInput, strict bool) []rawResult {
	results := make([][]rawResult, len(list))
	var next atomic.Int64
	var failed atomic.Bool
	work := func(m *mip.Merger) {
		var reader inputs.Reader
		defer reader.Close()
		for !strict || !failed.Load() {
			i := int(next.Add(1)) - 1
			if i >= len(list) {
				return
			}
			results[i] = mergeInput(m, list[i], &reader)
			if last := len(results[i]) - 1; last >= 0 && results[i][last].err != nil {
				failed.Store(true)
			}
		}
	}
	workers := []*mip.Merger{m}
	for len(workers) < min(runtime.GOMAXPROCS(0), len(list)/minPerWorker) {
		workers = append(workers, m.Fork())
	}
	var wg sync.WaitGroup
	for _, w := range workers[1:] {
		wg.Go(func() { work(w) })
	}
	work(m)
	wg.Wait()
	var all []rawResult
	for _, fork := range workers[1:] {
		if err := m.Merge(fork); err != nil {
			all = append(all, rawResult{err: err, spoiled: true})
		}
	}
	for _, r := range results {
		all = append(all, r...)
	}
	return all
}

// mergeInput merges the raw profiles of one input.
func mergeInput(m *mip.Merger, raw rawInput, reader *inputs.Reader) (results []rawResult) {
	if raw.err != nil {
		return []rawResult{{name: raw.in.Name, err: raw.err}}
	}
	mapped := false // the profile at hand may be in a file that others can change
	err := raw.in.Each(reader, func(d *inputs.Data) error {
		mapped = d.Name() == raw.in.Name
		err := checkKind(d.Name(), d.Bytes(), mip.FileRaw)
		if err == nil {
			_, err = m.AddRaw(d.Name(), d.Bytes(), 1)
		}
		if mapped = mapped && err == nil; err != nil {
			results = append(results, rawResult{name: d.Name(), err: err})
			return nil
		}
		results = append(results, rawResult{name: d.Name()})
		return nil
	})
	if err != nil {
		results = append(results, rawResult{name: raw.in.Name, err: err, spoiled: mapped})
	}
	return results
}

// warnings collects the warnings of mergers, by file.
type warnings struct {
	mu     sync.Mutex
	byFile map[string][]mip.Warning
}

func (w *warnings) add(warning mip.Warning) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byFile == nil {
		w.byFile = make(map[string][]mip.Warning)
	}
	w.byFile[warning.File] = append(w.byFile[warning.File], warning)
}

// take returns the warnings about a file, once.
func (w *warnings) take(file string) []mip.Warning {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := w.byFile[file]
	delete(w.byFile, file)
	return found
}
