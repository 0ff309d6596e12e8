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

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/files/store"
)

// PlanOptions are the options of [MakePlan].
type PlanOptions struct {
	Plan                           // Sources, Labels, ByDay, Programs, After
	ShardBytes   int64             // a shard ends when its objects have as many bytes,
	ShardObjects int               // or are as many
	Progress     func(objects int) // called with the number of further objects; may be nil
	Warn         func(text string)
	Now          time.Time
	Stores       *store.Access
}

// objectID identifies the contents of an object in a plan.
type objectID [16]byte

// idOf hashes the URL and the tag: an object that was replaced has another id. 16 bytes of
// SHA-256 keep the map of millions small.
func idOf(url, tag string) (id objectID) {
	h := sha256.Sum256([]byte(url + "\x00" + tag))
	copy(id[:], h[:])
	return id
}

// MakePlan lists the objects of all sources and writes the plan of a job. An existing plan
// is an error, fs.ErrExist, as is one that another process creates meanwhile. Lists are
// written before the plan that names them.
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
	// This comes before any list is written, since an earlier job may be missing.
	planned, err := objectsOf(j, opt)
	if err != nil {
		return nil, err
	}
	m := &planMaker{job: j, plan: &p, opt: &opt}
	for i := range p.Sources {
		if err := m.list(i, planned); err != nil {
			return nil, err
		}
	}
	if err := m.end(); err != nil {
		return nil, err
	}
	if p.Objects == 0 {
		return nil, p.nothing()
	}
	err = j.create(planName, &p)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("another process has just planned this job: %w", err)
	}
	return &p, err
}

// Same reports whether the plan of a job is that of other options. What the sources held
// when it was made does not matter, nor do After and the sizes of shards.
func (p *Plan) Same(o *Plan) bool {
	same := func(a, b Source) bool {
		return a.Name == b.Name && strings.TrimSuffix(a.URL, "/") == strings.TrimSuffix(b.URL, "/")
	}
	return slices.EqualFunc(p.Sources, o.Sources, same) && p.Labels == o.Labels && p.ByDay == o.ByDay && p.Programs == o.Programs
}

// nothing says that there is nothing to merge.
func (p *Plan) nothing() error {
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

// objectsOf returns the objects of earlier jobs and of those before them. A job named by the
// options must have a plan; one that is only named by an earlier plan may be gone, which is
// a warning.
func objectsOf(j *Job, opt PlanOptions) (map[objectID]bool, error) {
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
			objects, err := getLines[Object](earlier, lists, shard.List)
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
	job   *Job
	plan  *Plan
	opt   *PlanOptions
	shard []Object
	bytes int64
}

// list adds the objects of a source, but for those that are planned already. Objects come in
// the order of their keys. Hidden files, and objects of the job itself or of earlier jobs,
// are counted in Plan.Skipped.
func (m *planMaker) list(source int, planned map[objectID]bool) error {
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
		why, hidden := inputs.IsHidden(object.Path)
		switch {
		case strings.HasSuffix(o.Key, "/"): // some tools mark folders so
			continue
		case hidden:
		case strings.HasPrefix(s.URL(o.Key), j.URL("")+"/"):
			why = "of the job itself"
		case planned[idOf(s.URL(o.Key), o.Tag)]:
			why = "in an earlier job"
		default:
			p.Sources[source].Objects++
			if err := m.add(object); err != nil {
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

// add adds an object to the current shard, or to a new one where it would become too large.
// One object that is larger than a shard is a shard alone.
func (m *planMaker) add(o Object) error {
	if len(m.shard) > 0 && (m.bytes+o.Size > m.opt.ShardBytes || len(m.shard) >= m.opt.ShardObjects) {
		if err := m.end(); err != nil {
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

// end writes the list of the shard. An empty shard is none.
func (m *planMaker) end() error {
	if len(m.shard) == 0 {
		return nil
	}
	sum, err := putLines(m.job, lists, m.shard)
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
