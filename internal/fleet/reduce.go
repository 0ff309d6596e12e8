package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"math/big"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/profile"
)

// A Reduce merges the partial sums of jobs.
type Reduce struct {
	Jobs     []*Job
	Families Families
	Options  *merging.Options // Output is a file, or a folder if it ends with a slash or exists as a folder
	Scratch  string           // folder for copies of partial sums

	Per    []string // labels; each value has its own result
	Only   []string // programs, by the beginnings of their names; nil for all
	Weigh  []Weight // a profile with several labels has the product of their weights
	Ages   []string // weights of days, the newest first; older days do not count. nil: all days have weight 1
	Days   int      // number of days that count, up to the newest; 0 for all
	Absent bool     // count shards that are not done as lost inputs
}

// A Weight is the weight of profiles with a label.
type Weight struct{ Label, Value, Weight string }

// A resultKey is what the parts of one result have in common. labels has the values of the labels in
// Reduce.Per, separated by zero bytes.
type resultKey struct{ family, program, kind, labels string }

// jobPart is a part of a job.
type jobPart struct {
	*Part
	job     *Job
	day     string // the label "day", or else planned
	planned string // day of the plan in UTC
	weight  string // "" if the part does not count
}

// Merge reads the results of all shards and writes a result for each family, program, kind and combination of
// the labels in Per, in this order. Parts of programs that Only does not name do not count, not as losses
// either. Losses of unknown programs count: an input that could not be read may be of any program.
func (r *Reduce) Merge(ctx context.Context, env *cli.Env) error {
	w := &merging.Whole{Command: "fleet reduce", Lost: make(map[uint64]string)}
	var loss Loss
	var all []jobPart
	for _, job := range r.Jobs {
		list, err := r.readJob(job, w, &loss)
		if err != nil {
			return err
		}
		all = append(all, list...)
	}
	if err := r.checkLabels(all, env.Stderr); err != nil {
		return err
	}
	late, err := r.weighParts(all)
	if err != nil {
		return err
	}
	for _, day := range slices.Sorted(maps.Keys(late)) {
		fmt.Fprintf(env.Stderr, "not counted: %s of %s, a day after the day of the plan: the clock that named it is wrong\n",
			cli.Quantity(late[day], "profile", "profiles"), console.Printable(day))
	}
	groups, err := r.groupParts(all, &loss)
	if err != nil {
		return err
	}
	w.Loss = loss.ofMerge()
	fetcher := store.NewFetcher(ctx, r.Scratch)
	defer fetcher.Close()
	if w.Results, err = r.results(groups, fetcher); err != nil {
		return err
	}
	return r.Options.MergeParts(ctx, env, w)
}

// groupParts returns the parts of each result, and adds the losses of the parts that count to loss.
func (r *Reduce) groupParts(all []jobPart, loss *Loss) (map[resultKey][]jobPart, error) {
	groups := make(map[resultKey][]jobPart)
	wanted := len(all) == 0
	for _, p := range all {
		wants := r.wants(&p.Key)
		if p.weight == "" || p.Program != "" && !wants {
			continue
		}
		loss.addMerge(p.Loss.ofMerge())
		wanted = wanted || wants
		if p.Name == "" || !wants {
			continue
		}
		var labels []string
		for _, name := range r.Per {
			labels = append(labels, p.Labels[name])
		}
		k := resultKey{p.Family, p.Program, p.Kind, strings.Join(labels, "\x00")}
		groups[k] = append(groups[k], p)
	}
	if !wanted {
		return nil, r.emptyError(all)
	}
	return groups, nil
}

// results returns the merges of all results, in the order of their keys. It makes the folder of the output.
func (r *Reduce) results(groups map[resultKey][]jobPart, fetcher *store.Fetcher) (all []merging.WholeResult, err error) {
	keys := slices.SortedFunc(maps.Keys(groups), func(a, b resultKey) int {
		return cmp.Or(cmp.Compare(a.family, b.family), cmp.Compare(a.program, b.program), cmp.Compare(a.kind, b.kind), cmp.Compare(a.labels, b.labels))
	})
	folder := r.isFolder()
	if len(keys) > 1 && !folder {
		return nil, r.oneFileError(keys)
	}
	if folder && !store.IsURL(r.Options.Output) {
		if err := os.MkdirAll(r.Options.Output, 0o777); err != nil {
			return nil, err
		}
	}
	for _, k := range keys {
		res, err := r.result(k, groups[k], fetcher)
		if err != nil {
			return nil, err
		}
		// Long keys are cut, and keys may differ in characters that names cannot have.
		if slices.ContainsFunc(all, func(o merging.WholeResult) bool { return o.Path == res.Path }) {
			return nil, fmt.Errorf("two programs would both be written to %s", res.Path)
		}
		all = append(all, *res)
	}
	return all, nil
}

// readJob returns the parts of a job, and adds its losses to w and loss. A shard that is not done is an error
// or, with Absent, a loss of all its objects.
func (r *Reduce) readJob(job *Job, w *merging.Whole, loss *Loss) (list []jobPart, err error) {
	plan, err := job.Plan()
	if err != nil {
		return nil, err
	}
	dones, err := job.allDone(plan)
	if err != nil {
		return nil, err
	}
	var missing []string
	for i, d := range dones {
		if d != nil {
			continue
		}
		missing = append(missing, fmt.Sprint(i))
		loss.addMerge(missingLoss(plan.Shards[i].Objects))
		// An account as in merges, so that the report lists the shard.
		account, err := json.Marshal(map[string]any{
			"input": plan.Shards[i].First, "file": job.URL(doneName(i)), "outcome": "left_out",
			"reason": map[string]any{"class": profile.Unreadable, "message": fmt.Sprintf("shard %d with %d objects is not done", i, plan.Shards[i].Objects)},
		})
		if err != nil {
			return nil, err
		}
		w.Left = append(w.Left, account)
	}
	if len(missing) > 0 && !r.Absent {
		return nil, fmt.Errorf("%s: %d of %d shards are not done: %s; run their tasks (or --missing-shards, which counts their objects as lost)",
			job.URL(""), len(missing), len(dones), shorten(missing))
	}
	for _, d := range dones {
		if d == nil {
			continue
		}
		for i := range d.Parts {
			p := &d.Parts[i]
			planned := plan.Created.UTC().Format(time.DateOnly)
			list = append(list, jobPart{Part: p, job: job, day: cmp.Or(p.Labels[dayLabel], planned), planned: planned})
		}
		if d.Left != "" {
			accounts, err := getLines[json.RawMessage](job, leftFolder, d.Left)
			if err != nil {
				return nil, err
			}
			w.Left = append(w.Left, accounts...)
		}
		if d.Lost != "" {
			functions, err := getLines[lostFunction](job, leftFolder, d.Lost)
			if err != nil {
				return nil, err
			}
			// The greatest of several names, whatever the order of the shards.
			for _, f := range functions {
				if _, ok := w.Lost[f.Ref]; ok || len(w.Lost) < maxLost {
					w.Lost[f.Ref] = max(w.Lost[f.Ref], f.Name)
				}
			}
		}
	}
	return list, nil
}

// maxLost limits the number of lost functions, as in package merge.
const maxLost = 1 << 20

// shorten joins the first words of a list.
func shorten(words []string) string {
	const most = 10
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}

// checkLabels returns an error if an option has a label that no part has, which is probably misspelled, and
// warns of an unknown value, which may only be missing on that day.
func (r *Reduce) checkLabels(all []jobPart, stderr io.Writer) error {
	values := make(map[string]map[string]bool)
	for _, p := range all {
		for name, value := range p.Labels {
			if values[name] == nil {
				values[name] = make(map[string]bool)
			}
			values[name][value] = true
		}
	}
	known := func(names iter.Seq[string]) string { return cmp.Or(shorten(slices.Sorted(names)), "none") }
	for _, name := range r.Per {
		if values[name] == nil {
			return cli.Usagef("option --per: no profile has a label %q; there are: %s", name, known(maps.Keys(values)))
		}
	}
	for _, w := range r.Weigh {
		switch {
		case values[w.Label] == nil:
			return cli.Usagef("option --weight: no profile has a label %q; there are: %s", w.Label, known(maps.Keys(values)))
		case !values[w.Label][w.Value]:
			fmt.Fprintf(stderr, "no profile has the label %s=%s, and --weight for it does nothing; there are: %s\n", w.Label, w.Value, known(maps.Keys(values[w.Label])))
		}
	}
	return nil
}

func (r *Reduce) emptyError(all []jobPart) error {
	if r.Only == nil {
		return errors.New("no profile of the jobs is to be merged: see --days and --age-weights")
	}
	programs := make(map[string]bool)
	for _, p := range all {
		programs[p.name()] = true
	}
	delete(programs, "") // unknown
	return fmt.Errorf("no profile is of a program that --only names (%s); there are: %s", shorten(r.Only), shorten(slices.Sorted(maps.Keys(programs))))
}

func dayOf(text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		err = fmt.Errorf("label %s: %q is no day such as 2006-01-02", dayLabel, text)
	}
	return day, err
}

// ages returns the age of each part in days: 0 for the newest day, -1 for a day that had not begun anywhere
// when the part was planned, which a wrong clock named.
func (r *Reduce) ages(all []jobPart) ([]int, error) {
	const day = 24 * time.Hour
	days := make([]time.Time, len(all))
	var newest time.Time
	for i, p := range all {
		planned, err := dayOf(p.planned)
		if err == nil {
			days[i], err = dayOf(p.day)
		}
		if err != nil {
			return nil, err
		}
		// A day begins at different times around the world: it may be one ahead.
		if days[i].Sub(planned) > day {
			days[i] = time.Time{}
		} else if days[i].After(newest) {
			newest = days[i]
		}
	}
	ages := make([]int, len(all))
	for i := range ages {
		if ages[i] = -1; !days[i].IsZero() {
			ages[i] = int(newest.Sub(days[i]) / day)
		}
	}
	return ages, nil
}

// weighParts sets the weights of all parts. It returns how many profiles have a day after the day of their plan, by day.
func (r *Reduce) weighParts(all []jobPart) (late map[string]uint64, err error) {
	var ages []int
	if r.Days > 0 || r.Ages != nil {
		if ages, err = r.ages(all); err != nil {
			return nil, err
		}
	}
	late = make(map[string]uint64)
	for i := range all {
		p := &all[i]
		p.weight = "1"
		if ages != nil {
			age := ages[i]
			if age < 0 {
				late[p.day] += p.Loss.Inputs
			}
			if age < 0 || r.Days > 0 && age >= r.Days || r.Ages != nil && age >= len(r.Ages) {
				p.weight = ""
				continue
			}
			if r.Ages != nil {
				p.weight = r.Ages[age]
			}
		}
		for _, w := range r.Weigh {
			if p.Labels[w.Label] == w.Value {
				p.weight = product(p.weight, w.Weight)
			}
		}
	}
	return late, nil
}

// product multiplies weights, which are decimal numbers.
func product(a, b string) string {
	x, _ := new(big.Rat).SetString(a)
	y, _ := new(big.Rat).SetString(b) // see merging.IsWeight
	text := x.Mul(x, y).FloatString(len(a) + len(b))
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

func (r *Reduce) wants(k *Key) bool {
	return r.Only == nil || slices.ContainsFunc(r.Only, func(prefix string) bool { return strings.HasPrefix(k.name(), prefix) })
}

// name names the program and the kind in messages and names of files.
func (k *Key) name() string {
	if k.Kind == "" {
		return k.Program
	}
	return cmp.Or(k.Program, "unknown") + "." + k.Kind
}

// isFolder reports whether the output is a folder that exists, or a path or URL that ends with a slash.
func (r *Reduce) isFolder() bool {
	if store.IsPrefix(r.Options.Output) {
		return true
	}
	info, err := os.Stat(r.Options.Output)
	return !store.IsURL(r.Options.Output) && err == nil && info.IsDir()
}

// oneFileError is the error of several results for one file.
func (r *Reduce) oneFileError(keys []resultKey) error {
	var names []string
	for _, k := range keys {
		names = append(names, k.name())
	}
	return fmt.Errorf("there are %d profiles to write (%s), but %s is one file: end it with a slash to write all into a folder, or choose a program with --only",
		len(keys), shorten(names), store.Shown(r.Options.Output))
}

// maxName limits the length of the names of results.
const maxName = 150

// name returns the name of a result without its suffix, of letters, digits and a few signs. A long name is cut
// and ends with its hash.
func (k resultKey) name() string {
	words := []string{cmp.Or((&Key{Program: k.program, Kind: k.kind}).name(), "unknown")}
	if k.labels != "" {
		words = append(words, strings.Split(k.labels, "\x00")...)
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+-_.", r) {
			return r
		}
		return '_'
	}, strings.Join(words, "."))
	name = strings.TrimLeft(name, ".") // not a hidden file
	if len(name) > maxName {
		hash := sha256.Sum256([]byte(name))
		name = name[:maxName-17] + "-" + hex.EncodeToString(hash[:8])
	}
	return name
}

// result returns the merge of the parts of a key. The merge copies a part when it reads it.
func (r *Reduce) result(k resultKey, parts []jobPart, fetcher *store.Fetcher) (*merging.WholeResult, error) {
	i := slices.IndexFunc(r.Families.List, func(f *Family) bool { return f.Name == k.family })
	if i < 0 {
		return nil, fmt.Errorf("a part of %s: no family %q in this program", parts[0].job.URL(""), k.family)
	}
	f := r.Families.List[i]
	run := *r.Options
	run.Family = f.partFormat().Family
	res := &merging.WholeResult{Path: r.Options.Output, Adder: f.Adder, Options: &run}
	if r.isFolder() {
		res.Path = store.Below(r.Options.Output, k.name()+cmp.Or(f.partFormat().Whole, f.partFormat().Exact))
	}
	run.Output = res.Path
	var weights []string
	for i := range parts {
		p := &parts[i]
		fetch := verified(fetcher.Add(p.job.store, store.Object{Key: p.job.key(p.Name), Size: p.Size}), p)
		res.Inputs = append(res.Inputs, inputs.Remote{Name: p.job.URL(p.Name), Fetch: fetch}.Input(run.Open))
		res.Profiles += p.Loss.Used
		weights = append(weights, p.weight)
	}
	run.SetInputs(res.Inputs)
	copy(run.Weights, weights)
	weighted := slices.ContainsFunc(weights, func(w string) bool { return w != "1" })
	if weighted && slices.Contains(f.Adder.Refuses(), "weighted-input") {
		return nil, cli.Usagef("weights do not apply to %s profiles", f.Name)
	}
	return res, f.Adder.Check(&run)
}

// verified returns fetch with a check of the SHA-256. The error for a part that is gone or damaged says how to
// make the part again.
func verified(fetch func() (string, func(), error), p *jobPart) func() (string, func(), error) {
	return func() (string, func(), error) {
		const again = "delete the files in done that name it, and run their tasks again"
		path, release, err := fetch()
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %s", err, again)
		}
		if err != nil {
			return "", nil, err
		}
		sum, err := sumOf(path)
		if err == nil && sum != p.SHA256 {
			err = fmt.Errorf("%s is damaged: its SHA-256 is %s: delete it, %s", p.job.URL(p.Name), sum, again)
		}
		if err != nil {
			release()
			return "", nil, err
		}
		return path, release, nil
	}
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
