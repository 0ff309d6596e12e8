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

// Status is the progress of a job.
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

// Status reads the plan and the result of every shard.
func (j *Job) Status() (*Status, error) {
	p, err := j.Plan()
	if err != nil {
		return nil, err
	}
	dones, err := j.allDone(p)
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
		s.Loss.addMerge(l.ofMerge())
		for _, part := range d.Parts {
			if part.Name != "" {
				s.Parts++
				s.Size += part.Size
			}
		}
	}
	return s, nil
}

// WriteMetrics writes the status in the text format of OpenMetrics. All metrics are gauges.
func (s *Status) WriteMetrics(w io.Writer) error {
	var b strings.Builder
	// lines are pairs of labels and a value.
	gauge := func(name, unit, help string, lines ...any) {
		fmt.Fprintf(&b, "# TYPE profuse_fleet_%s gauge\n", name)
		if unit != "" {
			fmt.Fprintf(&b, "# UNIT profuse_fleet_%s %s\n", name, unit)
		}
		fmt.Fprintf(&b, "# HELP profuse_fleet_%s %s\n", name, help)
		for i := 0; i < len(lines); i += 2 {
			fmt.Fprintf(&b, "profuse_fleet_%s%s %v\n", name, lines[i], lines[i+1])
		}
	}
	gauge("objects", "", "Objects in the plan.", "", s.Objects)
	gauge("plan_bytes", "bytes", "Size of the objects in the plan.", "", s.Bytes)
	gauge("shards", "", "Shards of the plan.", `{state="done"}`, s.Done, `{state="missing"}`, len(s.Missing))
	gauge("inputs", "", "Profiles in the shards that are done.", `{outcome="used"}`, s.Loss.Used, `{outcome="left_out"}`, s.Loss.Inputs-uint64(s.Loss.Used))
	gauge("parts", "", "Partial sums.", "", s.Parts)
	gauge("parts_bytes", "bytes", "Size of the partial sums.", "", s.Size)
	gauge("task_seconds", "seconds", "Time of the tasks whose shards are done.", "", s.Seconds)
	b.WriteString("# EOF\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Collected is what [Job.Collect] found.
type Collected struct {
	Objects int
	Bytes   int64
	Young   int // objects that nothing names, but that are younger than the age
}

// Collect deletes the files of tasks and plans that nothing names and that are older than age; without remove
// it only counts them. A task may still name a younger file. Without a plan nothing is named.
func (j *Job) Collect(age time.Duration, now time.Time, remove bool) (c Collected, err error) {
	named := make(map[string]bool)
	p, planErr := j.Plan()
	if planErr != nil && !errors.Is(planErr, fs.ErrNotExist) {
		return c, planErr
	}
	if planErr == nil {
		dones, err := j.allDone(p)
		if err != nil {
			return c, err
		}
		for _, s := range p.Shards {
			named[listsFolder+"/"+s.List] = true
		}
		for _, d := range dones {
			if d == nil {
				continue
			}
			named[leftFolder+"/"+d.Left], named[leftFolder+"/"+d.Lost] = true, true
			for _, part := range d.Parts {
				named[part.Name] = true
			}
		}
	}
	for _, folder := range []string{listsFolder, leftFolder, partsFolder} {
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
		return c, planErr
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
	fmt.Fprintf(w, "profiles: %s\n", merging.InputsLine(s.Loss.ofMerge()))
	fmt.Fprintf(w, "%s, %s, in %.0f s of tasks\n", cli.Quantity(uint64(s.Parts), "partial sum", "partial sums"), cli.Size(uint64(s.Size)), s.Seconds)
}

// Wait waits until all shards are done, but not longer than limit, which is not an error. It looks every ten
// seconds, at one shard after the other.
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
