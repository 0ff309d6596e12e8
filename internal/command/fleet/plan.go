package fleet

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/store"
)

// PlanOptions are the options of [MakePlan].
type PlanOptions struct {
	Plan                           // Sources, Labels, ByDay, Programs, After
	ShardBytes   int64             // a shard ends when its objects have as many bytes,
	ShardObjects int               // or are as many
	Progress     func(objects int) // called with the number of further objects; may be nil
	Now          time.Time
	Stores       *store.Access
}

// objectID identifies the contents of an object in a plan.
type objectID [16]byte

func idOf(url, tag string) (id objectID) {
	h := sha256.Sum256([]byte(url + "\x00" + tag))
	copy(id[:], h[:])
	return id
}

// MakePlan lists the objects of all sources and writes the plan of a job.
func MakePlan(j *Job, opt PlanOptions) (*Plan, error) {
	if yes, err := j.exists(planName); err != nil || yes {
		if err == nil {
			err = fmt.Errorf("%s: %w: a job has one plan; name another job", j.URL(planName), fs.ErrExist)
		}
		return nil, err
	}
	p := opt.Plan
	p.Schema, p.Version, p.Created, p.Skipped = planSchema, jobVersion, opt.Now.UTC(), make(map[string]int)
	if _, err := newLabeler(&p); err != nil {
		return nil, err
	}
	planned, err := objectsOf(j, opt)
	if err != nil {
		return nil, err
	}
	m := &planMaker{job: j, plan: &p, opt: &opt}
	for i, src := range p.Sources {
		s, key, err := opt.Stores.Open(src.URL)
		if err != nil {
			return nil, err
		}
		if key != "" && !strings.HasSuffix(key, "/") {
			key += "/"
		}
		for o, err := range s.List(j.ctx, key) {
			if err != nil {
				return nil, err
			}
			object := Object{i, o.Key, strings.TrimPrefix(o.Key, key), o.Size, o.Tag, o.Modified.UTC()}
			if why, yes := inputs.IsHidden(object.Path); yes || strings.HasSuffix(o.Key, "/") {
				if yes {
					p.Skipped[why]++
				}
				continue
			}
			if strings.HasPrefix(s.URL(o.Key), j.URL("")+"/") {
				p.Skipped["of the job itself"]++
				continue
			}
			if planned[idOf(s.URL(o.Key), o.Tag)] {
				p.Skipped["in an earlier job"]++
				continue
			}
			if err := m.add(object); err != nil {
				return nil, err
			}
		}
	}
	if err := m.end(); err != nil {
		return nil, err
	}
	if p.Objects == 0 {
		return nil, fmt.Errorf("no objects in %s", sourceNames(p.Sources))
	}
	err = j.create(planName, &p)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("another process has just planned this job: %w", err)
	}
	return &p, err
}

func sourceNames(sources []Source) string {
	var names []string
	for _, s := range sources {
		names = append(names, s.URL)
	}
	return strings.Join(names, ", ")
}

// objectsOf returns the objects of earlier jobs.
func objectsOf(j *Job, opt PlanOptions) (map[objectID]bool, error) {
	all := make(map[objectID]bool)
	for _, location := range opt.After {
		earlier, err := OpenJob(j.ctx, opt.Stores, location)
		if err != nil {
			return nil, err
		}
		p, err := earlier.Plan()
		if err != nil {
			return nil, err
		}
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

// end writes the list of the shard.
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
