package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// Status is what has been done of a job.
type Status struct {
	schema.Head
	Job     string  `json:"job"`
	Objects int     `json:"objects"`
	Bytes   int64   `json:"bytes"`
	Shards  int     `json:"shards"`
	Done    int     `json:"done"`
	Missing []int   `json:"missing"` // shards that are not done
	Parts   int     `json:"parts"`
	Size    int64   `json:"parts_size"` // bytes
	Seconds float64 `json:"seconds"`    // of all tasks
	Loss    Loss    `json:"loss"`
}

// Status reads what has been done. It reads the plan and the result of every shard, but no
// partial sums.
func (j *Job) Status() (*Status, error) {
	p, err := j.Plan()
	if err != nil {
		return nil, err
	}
	dones, err := j.dones(p)
	if err != nil {
		return nil, err
	}
	s := &Status{
		Head: schema.For("fleet-status"), Job: j.URL(""), Objects: p.Objects, Bytes: p.Bytes, Shards: len(p.Shards), Missing: []int{},
	}
	for i, d := range dones {
		if d == nil {
			s.Missing = append(s.Missing, i)
			continue
		}
		s.Done++
		s.Seconds += d.Seconds
		l := d.loss()
		s.Loss.addLoss(&l)
		for _, part := range d.Parts {
			if part.Name != "" {
				s.Parts++
				s.Size += part.Size
			}
		}
	}
	return s, nil
}

// WriteMetrics writes the status in the text format of OpenMetrics.
// All are gauges: a job that is planned again begins anew.
func (s *Status) WriteMetrics(w io.Writer) error {
	var b strings.Builder
	// lines are pairs of labels and a value.
	metric := func(name, kind, unit, help string, lines ...any) {
		fmt.Fprintf(&b, "# TYPE profuse_fleet_%s %s\n", name, kind)
		if unit != "" {
			fmt.Fprintf(&b, "# UNIT profuse_fleet_%s %s\n", name, unit)
		}
		fmt.Fprintf(&b, "# HELP profuse_fleet_%s %s\n", name, help)
		for i := 0; i < len(lines); i += 2 {
			fmt.Fprintf(&b, "profuse_fleet_%s%s %v\n", name, lines[i], lines[i+1])
		}
	}
	metric("objects", "gauge", "", "Objects in the plan.", "", s.Objects)
	metric("plan_bytes", "gauge", "bytes", "Size of the objects in the plan.", "", s.Bytes)
	metric("shards", "gauge", "", "Shards of the plan.", `{state="done"}`, s.Done, `{state="missing"}`, len(s.Missing))
	metric("inputs", "gauge", "", "Profiles in the shards that are done.", `{outcome="used"}`, s.Loss.Used, `{outcome="left_out"}`, s.Loss.Inputs-uint64(s.Loss.Used))
	metric("parts", "gauge", "", "Partial sums.", "", s.Parts)
	metric("parts_bytes", "gauge", "bytes", "Size of the partial sums.", "", s.Size)
	metric("task_seconds", "gauge", "seconds", "Time of the tasks whose shards are done.", "", s.Seconds)
	b.WriteString("# EOF\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Collected is what [Job.Collect] found.
type Collected struct {
	Objects int
	Bytes   int64
	Young   int // objects that nothing names, but that are too young
}

// Collect deletes what tasks have written that nothing names and that is older than age,
// or with remove false only counts it. A task that still runs may be about to name what
// it has written. Without a plan, everything in the job is named by nothing.
func (j *Job) Collect(age time.Duration, now time.Time, remove bool) (c Collected, err error) {
	named := make(map[string]bool)
	p, planErr := j.Plan()
	if planErr != nil && !errors.Is(planErr, fs.ErrNotExist) {
		return c, planErr
	}
	if planErr == nil {
		dones, err := j.dones(p)
		if err != nil {
			return c, err
		}
		for _, s := range p.Shards {
			named[lists+"/"+s.List] = true
		}
		for _, d := range dones {
			if d == nil {
				continue
			}
			named[left+"/"+d.Left], named[left+"/"+d.Lost] = true, true
			for _, part := range d.Parts {
				named[part.Name] = true
			}
		}
	}
	// Only the folders that tasks and plans write to; what else is in the job stays.
	for _, folder := range []string{lists, left, parts} {
		prefix := j.key(folder) + "/"
		for o, err := range j.store.List(j.ctx, prefix) {
			if err != nil {
				return c, err
			}
			if named[folder+"/"+strings.TrimPrefix(o.Key, prefix)] {
				continue
			}
			if now.Sub(o.Modified) < age {
				c.Young++
				continue
			}
			if remove {
				if err := j.store.Delete(j.ctx, o.Key); err != nil {
					return c, err
				}
			}
			c.Objects++
			c.Bytes += o.Size
		}
	}
	if c.Objects+c.Young == 0 {
		return c, planErr // nor is there anything that a plan has left
	}
	return c, nil
}

// Print prints the status for people.
func (s *Status) Print(w io.Writer) {
	fmt.Fprintf(w, "%s of %s done (%s, %s)\n", cli.Count(uint64(s.Done)), cli.Quantity(uint64(s.Shards), "shard", "shards"),
		cli.Quantity(uint64(s.Objects), "object", "objects"), cli.Size(uint64(s.Bytes)))
	if len(s.Missing) > 0 {
		var missing []string
		for _, i := range s.Missing {
			missing = append(missing, fmt.Sprint(i))
		}
		fmt.Fprintf(w, "not done: %s\n", shorten(missing))
	}
	if s.Done == 0 {
		return
	}
	fmt.Fprintf(w, "profiles: %s\n", merging.InputsLine(s.Loss.merge()))
	fmt.Fprintf(w, "%s, %s, in %.0f s of tasks\n", cli.Quantity(uint64(s.Parts), "partial sum", "partial sums"), cli.Size(uint64(s.Size)), s.Seconds)
}

// Wait waits until all shards are done, but not longer than limit. It looks every ten
// seconds, at one shard after the other. Neither the limit nor shards that failed are
// errors: the caller finds out what is done.
func (j *Job) Wait(limit time.Duration) error {
	if limit == 0 {
		return nil
	}
	p, err := j.Plan()
	if err != nil {
		return err
	}
	const pause = 10 * time.Second
	for i, until := 0, time.Now().Add(limit); i < len(p.Shards) && time.Now().Before(until); {
		yes, err := j.exists(doneName(i))
		switch {
		case err != nil:
			return err
		case yes:
			i++
			continue
		}
		select {
		case <-time.After(min(pause, limit)):
		case <-j.ctx.Done():
			return context.Cause(j.ctx)
		}
	}
	return nil
}
