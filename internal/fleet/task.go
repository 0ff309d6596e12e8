package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// A Family is a family of formats, for tasks and reduces.
type Family struct {
	Name string
	// Origin returns the program and kind of a profile, and the programs or maps that reading it needs; nil
	// if profiles of the family have none of them.
	Origin  func(name string, data []byte) family.Origin
	Adder   merging.FamilyAdder
	Options merging.Options
}

// Families are all families.
type Families struct {
	List     []*Family
	FamilyOf func(name string, data []byte) int // returns the index of the family of a profile
}

func (f *Family) partFormat() merging.Result {
	all := f.Adder.Results()
	return all[slices.IndexFunc(all, func(r merging.Result) bool { return r.Exact != "" })]
}

// A Task merges shards of a job.
type Task struct {
	Job      *Job
	Stores   *store.Access
	Families Families
	Open     inputs.Options
	Scratch  string // folder for copies of the objects of a shard
	Workers  int    // see [merging.Options]
	// NoPrograms leaves out profiles whose program is missing, which is otherwise an error.
	NoPrograms bool
	Ended      func(ShardEnded)
	Warn       func(text string)
	Now        func() time.Time
}

// A ShardEnded is a line of the log of a task.
type ShardEnded struct {
	Event    string  `json:"event"` // "shard done", "shard already done"
	Shard    int     `json:"shard"`
	Objects  int     `json:"objects"`
	Bytes    int64   `json:"bytes"`
	Parts    int     `json:"parts"`
	Inputs   uint64  `json:"inputs"`
	LeftOut  uint64  `json:"left_out"`
	Seconds  float64 `json:"seconds"`
	Fetching float64 `json:"fetching_seconds"` // part of Seconds, to copy and group the objects
}

// Run merges a shard unless it is done. If several tasks merge the shard at the same time, the first result
// counts. After an error [Job.Collect] deletes what the task has written.
func (t *Task) Run(p *Plan, shard int) error {
	if d, err := t.Job.done(shard); err != nil {
		return err
	} else if d != nil {
		t.logEnd("shard already done", p, d, 0)
		return nil
	}
	started := t.Now()
	s := &shardMerge{Task: t, plan: p, shard: p.Shards[shard], fetcher: store.NewFetcher(t.Job.ctx, t.Scratch)}
	// The objects are copied once and read twice, to group and to merge the profiles.
	s.fetcher.Keep = true
	defer s.fetcher.Close()
	d := &Done{Schema: doneSchema, Version: jobVersion, Shard: shard, Parts: []Part{}}
	if err := s.groupObjects(); err != nil {
		return err
	}
	fetched := t.Now().Sub(started)
	if err := s.mergeGroups(d); err != nil {
		return err
	}
	d.Host, _ = os.Hostname() // only for people
	d.Ended = t.Now().UTC()
	d.Seconds = d.Ended.Sub(started).Seconds()
	switch err := t.Job.create(doneName(shard), d); {
	case errors.Is(err, fs.ErrExist): // another task was faster
		d, err = t.Job.done(shard)
		if err != nil || d == nil {
			return cmp.Or(err, fmt.Errorf("%s is gone", t.Job.URL(doneName(shard))))
		}
		t.logEnd("shard already done", p, d, fetched)
		return nil
	case err != nil:
		return err
	}
	t.logEnd("shard done", p, d, fetched)
	return nil
}

// logEnd logs the end of a shard. fetched is 0 if this task has not read the shard.
func (t *Task) logEnd(event string, p *Plan, d *Done, fetched time.Duration) {
	s, l := p.Shards[d.Shard], d.loss()
	t.Ended(ShardEnded{
		event, d.Shard, s.Objects, s.Bytes, len(d.Parts), l.Inputs, l.Inputs - uint64(l.Used), d.Seconds, fetched.Seconds(),
	})
}

// A shardMerge is the merge of one shard.
type shardMerge struct {
	*Task
	plan    *Plan
	shard   Shard
	fetcher *store.Fetcher

	ins    []inputs.Input // one for each object of the shard
	groups []*shardGroup  // in the order of their first profiles
	byKey  map[string]*shardGroup
}

// A shardGroup has the profiles of one key in a shard.
type shardGroup struct {
	Key
	merging.Group
	family int             // index in Families.List
	needs  map[string]bool // names of programs or maps for reading the profiles
}

// groupObjects copies the objects of the shard and groups their profiles.
func (s *shardMerge) groupObjects() error {
	objects, err := getLines[Object](s.Job, listsFolder, s.shard.List)
	if err != nil {
		return err
	}
	labeler, err := newLabeler(s.plan)
	if err != nil {
		return err
	}
	stores := make([]store.Store, len(s.plan.Sources))
	for i, src := range s.plan.Sources {
		if stores[i], _, err = openSource(s.Stores, src.URL); err != nil {
			return err
		}
	}
	for i := range objects {
		o := &objects[i]
		if o.Source < 0 || o.Source >= len(s.plan.Sources) {
			return fmt.Errorf("%s: an object of source %d of %d", s.Job.URL(listsFolder+"/"+s.shard.List), o.Source, len(s.plan.Sources))
		}
		from := stores[o.Source]
		fetch := s.fetcher.Add(from, store.Object{Key: o.Key, Size: o.Size, Tag: o.Tag, Modified: o.Modified})
		s.ins = append(s.ins, inputs.Remote{Name: from.URL(o.Key), Path: o.Path, Fetch: fetch}.Input(s.Open))
	}
	s.byKey = make(map[string]*shardGroup)
	var r inputs.Reader
	defer r.Close()
	for i := range s.ins {
		if err := s.groupInput(&r, i, labeler.labels(&objects[i])); err != nil {
			return err
		}
	}
	return nil
}

// groupInput puts the profiles of an input into their groups. An input that cannot be read joins a group as
// well, whose merge accounts for it. An error of the bucket, which may go away, ends the task, unless the
// object is gone or was replaced.
func (s *shardMerge) groupInput(r *inputs.Reader, index int, labels map[string]string) error {
	member := 0
	err := s.ins[index].Each(r, func(d *inputs.Data) error {
		i := s.Families.FamilyOf(d.Name(), d.Bytes())
		f := s.Families.List[i]
		key, needs := Key{Family: f.Name, Labels: labels}, []string(nil)
		if f.Origin != nil {
			o := f.Origin(d.Name(), d.Bytes())
			key.Program, key.Kind, needs = o.Program, o.Kind, o.Needs
		}
		s.addMember(i, key, index, member, needs)
		member++
		return s.Job.ctx.Err()
	})
	if e := (*store.Error)(nil); errors.As(err, &e) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, store.ErrChanged) {
		return err
	}
	if s.Job.ctx.Err() != nil {
		return context.Cause(s.Job.ctx)
	}
	if err != nil {
		s.addMember(0, Key{Family: s.Families.List[0].Name, Labels: labels}, index, member, nil)
	}
	return nil
}

// addMember adds a member of the input with an index in the shard to the group of a key.
func (s *shardMerge) addMember(family int, key Key, index, member int, needs []string) {
	id := key.id()
	g := s.byKey[id]
	if g == nil {
		g = &shardGroup{Key: key, family: family, needs: make(map[string]bool)}
		g.Members = make(map[int]map[int]struct{})
		s.byKey[id] = g
		s.groups = append(s.groups, g)
	}
	position := s.shard.First + index
	if g.Members[position] == nil {
		g.Members[position] = make(map[int]struct{})
		g.Inputs = append(g.Inputs, position)
	}
	g.Members[position][member] = struct{}{}
	for _, n := range needs {
		g.needs[n] = true
	}
}

func (k *Key) id() string {
	words := []string{k.Family, k.Program, k.Kind}
	for _, name := range slices.Sorted(maps.Keys(k.Labels)) {
		words = append(words, name, k.Labels[name])
	}
	return strings.Join(words, "\x00")
}

// mergeGroups merges all groups, writes their partial sums and accounts, and names them in d.
func (s *shardMerge) mergeGroups(d *Done) error {
	var accounts []any
	lost := make(map[uint64]string)
	for _, g := range s.groups {
		part, err := s.mergeGroup(g, d)
		if err != nil {
			return err
		}
		for _, text := range part.Warnings {
			s.Warn(text)
		}
		for _, e := range part.Left() {
			accounts = append(accounts, e)
		}
		for ref, name := range part.Lost {
			lost[ref] = max(lost[ref], name)
		}
	}
	var err error
	if len(accounts) > 0 {
		if d.Left, err = putLines(s.Job, leftFolder, accounts); err != nil {
			return err
		}
	}
	if len(lost) == 0 {
		return nil
	}
	var functions []lostFunction
	for _, ref := range slices.Sorted(maps.Keys(lost)) {
		functions = append(functions, lostFunction{ref, lost[ref]})
	}
	d.Lost, err = putLines(s.Job, leftFolder, functions)
	return err
}

// mergeGroup merges a group into a partial sum, which it writes to the scratch folder first, because the name
// in the job is its hash. A group without a usable profile has a part without a file. A group without its
// program is lost.
func (s *shardMerge) mergeGroup(g *shardGroup, d *Done) (*merging.Part, error) {
	f := s.Families.List[g.family]
	format := f.partFormat()
	file, err := atomicfile.CreateScratch(s.Scratch)
	if err != nil {
		return nil, fmt.Errorf("no room for a partial sum: %w", err)
	}
	defer file.Remove()

	r := f.Options
	r.Open, r.Workers, r.Family, r.Format = s.Open, s.Workers, format.Family, format.Name
	r.Output = "part" + format.Exact
	programs, release, err := s.programs(g)
	if err != nil {
		return nil, err
	}
	defer release()
	r.Programs.Paths = programs
	if err := f.Adder.Check(&r); err != nil {
		return nil, err
	}
	// Positions are indexes in the plan.
	ins := make([]inputs.Input, len(g.Inputs))
	for i, position := range g.Inputs {
		ins[i] = s.ins[position-s.shard.First]
	}
	r.SetInputs(ins)
	var part *merging.Part
	if programs == nil && len(g.needs) > 0 {
		reason := flaw.In("program").Field("build id").Got("missing below --programs").Want(g.Program).Mismatch()
		part, err = r.LostPart(s.Job.ctx, ins, &g.Group, reason)
	} else {
		part, err = r.Part(s.Job.ctx, f.Adder, ins, &g.Group)
	}
	if err != nil {
		return nil, err
	}
	p := Part{Key: g.Key}
	p.Loss.addMerge(part.Loss)
	defer func() { d.Parts = append(d.Parts, p) }()
	if part.Sum.Empty != "" || part.Loss.Used == 0 {
		return part, nil
	}
	hash := sha256.New()
	size := new(countWriter)
	if _, err := part.Sum.Write(io.MultiWriter(file, hash, size)); err != nil {
		return nil, err
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	p.Name, p.SHA256, p.Size = partsFolder+"/"+sum+format.Exact, sum, int64(*size)
	// Another task may have written the same bytes.
	if yes, err := s.Job.exists(p.Name); err != nil || yes {
		return part, err
	}
	return part, store.PutFile(s.Job.ctx, s.Job.store, s.Job.key(p.Name), file.Name())
}

// countWriter counts bytes.
type countWriter int64

func (w *countWriter) Write(p []byte) (int, error) {
	*w += countWriter(len(p))
	return len(p), nil
}

// programs copies the programs that a group needs from Plan.Programs, where their names begin with the build id or
// the module hash. If there is none, it returns nil with NoPrograms, or else an error. release deletes the copies.
func (s *shardMerge) programs(g *shardGroup) (list cli.List, release func(), err error) {
	if len(g.needs) == 0 || s.plan.Programs == "" && s.NoPrograms {
		return nil, func() {}, nil
	}
	const noPrograms = "(or --missing-programs, which counts these profiles as lost)"
	if s.plan.Programs == "" {
		return nil, nil, fmt.Errorf("profiles of program %s cannot be read without it: plan another job with --programs URL, below which programs lie under their build ids, or maps under module-HASH %s",
			g.Program, noPrograms)
	}
	from, prefix, err := s.Stores.Open(s.plan.Programs)
	if err != nil {
		return nil, nil, err
	}
	fetcher := store.NewFetcher(s.Job.ctx, s.Scratch)
	fetcher.Keep = true
	for _, name := range slices.Sorted(maps.Keys(g.needs)) {
		for o, err := range from.List(s.Job.ctx, store.Join(prefix, name)) {
			if err == nil {
				var path string
				path, _, err = fetcher.Add(from, o)()
				list = append(list, path)
			}
			if err != nil {
				fetcher.Close()
				return nil, nil, err
			}
		}
	}
	if len(list) == 0 && !s.NoPrograms {
		fetcher.Close()
		return nil, nil, fmt.Errorf("profiles of program %s cannot be read without it, and nothing lies under %s: put the program with its debug information there, or its map, and run the task again %s",
			g.Program, from.URL(store.Join(prefix, g.Program)), noPrograms)
	}
	return list, fetcher.Close, nil
}
