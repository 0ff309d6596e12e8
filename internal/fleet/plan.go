package fleet

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/files/store"
)

// PlanOptions are the options of [MakePlan].
type PlanOptions struct {
	Plan                           // Sources, Labels, ByDay, Programs, After
	ShardBytes   int64             // size limit of a shard of several objects
	ShardObjects int               // limit on the objects of a shard
	Progress     func(objects int) // called with the number of further objects; may be nil
	Warn         func(text string)
	Now          time.Time
	Stores       *store.Access
}

// objectID identifies the contents of an object in a plan.
type objectID [16]byte

// idOf hashes the URL and the tag. An object that was replaced has another id.
func idOf(url, tag string) (id objectID) {
	h := sha256.Sum256([]byte(url + "\x00" + tag))
	copy(id[:], h[:])
	return id
}

// MakePlan lists the objects of all sources and writes the plan of a job. If the job has a plan, or another
// process creates one meanwhile, the error is fs.ErrExist.
func MakePlan(j *Job, opt PlanOptions) (*Plan, error) {
	if _, err := j.Plan(); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("%s: %w: a job has one plan; name another job", j.URL(planName), fs.ErrExist)
		}
		return nil, err
	}
	p := opt.Plan
	p.Schema, p.Version, p.Created, p.Skipped = planSchema, jobVersion, opt.Now.UTC(), make(map[string]int)
	if _, err := newLabeler(&p); err != nil {
		return nil, cli.Usagef("option --labels: %v", err)
	}
	// First, because an earlier job may be missing.
	planned, err := earlierObjects(j, opt)
	if err != nil {
		return nil, err
	}
	m := &planMaker{job: j, plan: &p, opt: &opt, planned: planned}
	for i := range p.Sources {
		if err := m.addSource(i); err != nil {
			return nil, err
		}
	}
	if err := m.endShard(); err != nil {
		return nil, err
	}
	if p.Objects == 0 {
		return nil, p.emptyError()
	}
	err = j.create(planName, &p)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("another process has just planned this job: %w", err)
	}
	return &p, err
}

// Same reports whether two plans have the same sources, labels and programs.
func (p *Plan) Same(o *Plan) bool {
	same := func(a, b Source) bool {
		return a.Name == b.Name && strings.TrimSuffix(a.URL, "/") == strings.TrimSuffix(b.URL, "/")
	}
	return slices.EqualFunc(p.Sources, o.Sources, same) && p.Labels == o.Labels && p.ByDay == o.ByDay && p.Programs == o.Programs
}

// emptyError is the error of a plan without objects.
func (p *Plan) emptyError() error {
	var sources, why []string
	for _, s := range p.Sources {
		sources = append(sources, store.Shown(s.URL))
	}
	for _, reason := range slices.Sorted(maps.Keys(p.Skipped)) {
		why = append(why, fmt.Sprintf("%d passed over: %s", p.Skipped[reason], reason))
	}
	if why == nil {
		why = append(why, "none at all; is the name right?")
	}
	return fmt.Errorf("no objects to merge in %s (%s)", strings.Join(sources, ", "), strings.Join(why, "; "))
}

// earlierObjects returns the objects of the jobs in opt.After and of all jobs before them. A job in opt.After
// must have a plan; if a job before them is gone, that is a warning.
func earlierObjects(j *Job, opt PlanOptions) (map[objectID]bool, error) {
	all := make(map[objectID]bool)
	seen := make(map[string]bool)
	after := slices.Clone(opt.After)
	for n := 0; n < len(after); n++ {
		earlier, err := OpenJob(j.ctx, opt.Stores, after[n])
		if err != nil {
			return nil, err
		}
		if seen[earlier.URL("")] {
			continue
		}
		seen[earlier.URL("")] = true
		p, err := earlier.Plan()
		if errors.Is(err, fs.ErrNotExist) && n >= len(opt.After) {
			opt.Warn(fmt.Sprintf("%s is gone, which a later job came after: what it had is not left out", earlier.URL("")))
			continue
		}
		if err != nil {
			return nil, err
		}
		after = append(after, p.After...)
		stores := make([]store.Store, len(p.Sources))
		for i, src := range p.Sources {
			if stores[i], _, err = opt.Stores.Open(src.URL); err != nil {
				return nil, err
			}
		}
		for _, shard := range p.Shards {
			objects, err := getLines[Object](earlier, listsFolder, shard.List)
			if err != nil {
				return nil, err
			}
			for _, o := range objects {
				if o.Source < 0 || o.Source >= len(stores) {
					return nil, fmt.Errorf("%s: an object of source %d of %d", earlier.URL(planName), o.Source, len(stores))
				}
				all[idOf(stores[o.Source].URL(o.Key), o.Tag)] = true
			}
		}
	}
	return all, nil
}

// A planMaker divides objects into shards.
type planMaker struct {
	job     *Job
	plan    *Plan
	opt     *PlanOptions
	planned map[objectID]bool // objects of earlier jobs
	shard   []Object          // the current shard
	bytes   int64             // of the current shard
}

// addSource adds the objects of a source, in the order of their keys. It counts hidden files, and objects of
// this job and of earlier jobs, in Plan.Skipped.
func (m *planMaker) addSource(source int) error {
	p, j := m.plan, m.job
	s, key, err := openSource(m.opt.Stores, p.Sources[source].URL)
	if err != nil {
		return err
	}
	if key != "" && !strings.HasSuffix(key, "/") {
		key += "/"
	}
	for o, err := range s.List(j.ctx, key) {
		if err != nil {
			return err
		}
		object := Object{source, o.Key, strings.TrimPrefix(o.Key, key), o.Size, o.Tag, o.Modified.UTC()}
		why, hidden := atomicfile.IsHidden(object.Path)
		switch {
		case strings.HasSuffix(o.Key, "/"): // the mark of some tools for a folder
			continue
		case hidden:
		case strings.HasPrefix(s.URL(o.Key), j.URL("")+"/"):
			why = "of the job itself"
		case m.planned[idOf(s.URL(o.Key), o.Tag)]:
			why = "in an earlier job"
		default:
			p.Sources[source].Objects++
			if err := m.addObject(object); err != nil {
				return err
			}
			continue
		}
		p.Skipped[why]++
	}
	if p.Sources[source].Objects == 0 && len(p.Sources) > 1 {
		m.opt.Warn("no objects to merge in " + store.Shown(p.Sources[source].URL))
	}
	return nil
}

// addObject adds an object to the current shard, or to a new shard if the current one would become too large.
func (m *planMaker) addObject(o Object) error {
	if len(m.shard) > 0 && (m.bytes+o.Size > m.opt.ShardBytes || len(m.shard) >= m.opt.ShardObjects) {
		if err := m.endShard(); err != nil {
			return err
		}
	}
	m.shard = append(m.shard, o)
	m.bytes += o.Size
	if m.opt.Progress != nil {
		m.opt.Progress(1)
	}
	return nil
}

// endShard writes the list of the current shard unless it is empty.
func (m *planMaker) endShard() error {
	if len(m.shard) == 0 {
		return nil
	}
	sum, err := putLines(m.job, listsFolder, m.shard)
	if err != nil {
		return err
	}
	p := m.plan
	p.Shards = append(p.Shards, Shard{sum, p.Objects, len(m.shard), m.bytes})
	p.Objects += len(m.shard)
	p.Bytes += m.bytes
	m.shard, m.bytes = m.shard[:0], 0
	return nil
}
