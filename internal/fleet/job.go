package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

// Limits in bytes of the files of a job, against damage.
const (
	maxPlan = 1 << 30
	maxList = 1 << 30
	maxDone = 1 << 28
)

// A Job is the folder, or prefix of a bucket, in which the processes of a merge meet.
type Job struct {
	ctx    context.Context
	store  store.Store
	prefix string
}

// OpenJob opens the job at a location. The folder need not exist, and a prefix need not have
// objects: only Plan looks.
func OpenJob(ctx context.Context, stores *store.Access, location string) (*Job, error) {
	s, prefix, err := stores.Open(location)
	if err != nil {
		return nil, err
	}
	return &Job{ctx, s, strings.TrimSuffix(prefix, "/")}, nil
}

// The names in a job.
const (
	planName = "plan.json"
	lists    = "lists"
	parts    = "parts"
	left     = "left"
	done     = "done"
)

// doneName returns the name of the result of a shard, numbered from 0 in the plan's order.
func doneName(shard int) string { return fmt.Sprintf("%s/%06d.json", done, shard) }

// key returns the key in the store of a name in the job.
func (j *Job) key(name string) string { return store.Join(j.prefix, name) }

// URL returns the URL of the job, or of a name in it.
func (j *Job) URL(name string) string {
	if name == "" {
		return j.store.URL(j.prefix)
	}
	return j.store.URL(j.key(name))
}

// exists reports whether the job has a file or object of this name.
func (j *Job) exists(name string) (bool, error) {
	_, err := j.store.Stat(j.ctx, j.key(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// create creates a file as JSON. It fails with fs.ErrExist if there is one. Of several
// processes that create the same name at once, one succeeds.
func (j *Job) create(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return store.Create(j.ctx, j.store, j.key(name), append(data, '\n'))
}

// read reads a file of JSON. More than limit bytes are an error, and so is an empty file.
func (j *Job) read(name string, limit int64, v any) error {
	data, err := store.ReadAll(j.ctx, j.store, j.key(name), limit)
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return fmt.Errorf("%s is empty: the process that created it was killed on a file system without links; delete it", j.URL(name))
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", j.URL(name), err)
	}
	return nil
}

// putLines writes values as lines of JSON, compressed, under the name of their contents,
// and returns that. Writing the same values twice gives the same name and does no harm.
func putLines[T any](j *Job, folder string, values []T) (sum string, err error) {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return "", err
	}
	enc := json.NewEncoder(z)
	enc.SetEscapeHTML(false)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	hash := sha256.Sum256(b.Bytes())
	sum = hex.EncodeToString(hash[:])
	return sum, store.Put(j.ctx, j.store, j.key(folder+"/"+sum), b.Bytes())
}

// getLines reads what putLines wrote. It verifies that the contents have the hash that is
// their name.
func getLines[T any](j *Job, folder, sum string) (values []T, err error) {
	name := folder + "/" + sum
	data, err := store.ReadAll(j.ctx, j.store, j.key(name), maxList)
	if err != nil {
		return nil, err
	}
	if hash := sha256.Sum256(data); hex.EncodeToString(hash[:]) != sum {
		return nil, fmt.Errorf("%s is damaged: its contents have another SHA-256", j.URL(name))
	}
	z, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(16*maxList))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	for dec := json.NewDecoder(z); ; {
		var v T
		if err := dec.Decode(&v); err == io.EOF {
			return values, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", j.URL(name), err)
		}
		values = append(values, v)
	}
}

// A Plan says what is merged. It is the file plan.json.
type Plan struct {
	Schema  string    `json:"schema"` // "profuse-fleet-plan"
	Version int       `json:"version"`
	Created time.Time `json:"created"`
	Sources []Source  `json:"sources"`
	// Labels is the pattern of the labels in the paths of objects; may be empty.
	Labels string `json:"labels,omitempty"`
	// ByDay gives objects the label "day" of their last change, in UTC.
	ByDay bool `json:"by_day,omitempty"`
	// Programs is where programs and maps lie, by build id; may be empty.
	Programs string `json:"programs,omitempty"`
	// After are jobs: what they and those before them have is left out.
	After   []string       `json:"after,omitempty"`
	Skipped map[string]int `json:"skipped"` // objects that are no inputs, by reason
	Objects int            `json:"objects"`
	// Bytes and Objects are sums over Shards, of objects as they are stored.
	Bytes  int64   `json:"bytes"`
	Shards []Shard `json:"shards"`
}

const (
	// The schema of the files and the labels that a plan gives by itself: the day of an
	// object and the name of its source.
	planSchema  = "profuse-fleet-plan"
	doneSchema  = "profuse-fleet-done"
	jobVersion  = 1
	dayLabel    = "day"
	sourceLabel = "source"
)

// A Source is a folder or prefix whose objects are merged.
type Source struct {
	Name    string `json:"name,omitempty"` // the label "source"; may be empty
	URL     string `json:"url"`
	Objects int    `json:"objects"` // of it in the plan
}

// openSource opens a source. A folder must exist: where it is not mounted its profiles
// are not lost.
func openSource(stores *store.Access, url string) (s store.Store, key string, err error) {
	if s, key, err = stores.Open(url); err != nil {
		return nil, "", err
	}
	if folder, ok := s.(*store.Folder); ok {
		if _, err := os.Stat(folder.Path(key)); errors.Is(err, fs.ErrNotExist) {
			return nil, "", fmt.Errorf("there is no folder %s: is its name right, and is it mounted?", folder.Path(key))
		}
	}
	return s, key, nil
}

// A Shard is the work of one task.
type Shard struct {
	List string `json:"list"` // SHA-256, the name in lists
	// First is the number of the first object in the whole plan, from 0: reports number
	// inputs so.
	First   int   `json:"first"`
	Objects int   `json:"objects"`
	Bytes   int64 `json:"bytes"`
}

// An Object is an input, a line of a list.
type Object struct {
	Source int `json:"source"` // index in Plan.Sources
	// Key names the object in its bucket; Path is the part of it that patterns of labels
	// see.
	Key  string `json:"key"`
	Path string `json:"path"` // below the source
	Size int64  `json:"size"`
	// Tag is the ETag or what else changes with the contents. An object that has another one
	// when a task reads it counts as lost.
	Tag      string    `json:"tag"`
	Modified time.Time `json:"modified"`
}

// Done is the result of a shard.
type Done struct {
	Schema  string    `json:"schema"` // "profuse-fleet-done"
	Version int       `json:"version"`
	Shard   int       `json:"shard"`
	Ended   time.Time `json:"ended"`
	Host    string    `json:"host"`
	// Seconds is the time for copying and merging the shard.
	Seconds float64  `json:"seconds"`
	Parts   []PartOf `json:"parts"`
	Left    string   `json:"left,omitempty"` // SHA-256 of the accounts, the name in left; "" if none
	Lost    string   `json:"lost,omitempty"` // SHA-256 of the lost functions, likewise
}

// A PartOf accounts for the profiles in a shard that belong together, and names their
// partial sum.
type PartOf struct {
	Key
	Loss   Loss   `json:"loss"`
	Name   string `json:"name,omitempty"` // below the job; "" if no profile could be used
	SHA256 string `json:"sha256,omitempty"`
	Size   int64  `json:"size,omitempty"`
}

// A Key says which profiles belong together.
type Key struct {
	Family string `json:"family"`
	// Program is a build id, a module hash or what else the family tells of it; Kind tells
	// apart what cannot be merged though the program is the same.
	Program string            `json:"program"` // "" if unknown
	Kind    string            `json:"kind,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
}

// Loss is a [merge.Loss] without functions.
type Loss struct {
	Inputs uint64 `json:"inputs"`
	// Used counts the profiles in the sum, and Partly those of them that have damaged
	// functions. LeftOut has the others, by the class of the error.
	Used    int                   `json:"used"`
	Partly  int                   `json:"partly"`
	LeftOut map[profile.Class]int `json:"left_out"`
}

// add adds the loss of a merge, but for the functions that it lost: those are in the list
// Done.Lost.
func (l *Loss) add(o merge.Loss) {
	l.Inputs += o.Inputs
	l.Used += o.Used
	l.Partly += o.Partly
	if l.LeftOut == nil {
		l.LeftOut = make(map[profile.Class]int)
	}
	for class, n := range o.LeftOut {
		l.LeftOut[class] += n
	}
}

// addLoss adds a loss of this package.
func (l *Loss) addLoss(o *Loss) { l.add(o.merge()) }

// missingLoss is the loss of a shard that is not done: each object counts as one input.
func missingLoss(objects int) merge.Loss {
	return merge.Loss{Inputs: uint64(objects), LeftOut: map[profile.Class]int{profile.Unreadable: objects}}
}

// merge returns l as the loss of a merge.
func (l *Loss) merge() merge.Loss {
	return merge.Loss{Inputs: l.Inputs, Used: l.Used, Partly: l.Partly, LeftOut: l.LeftOut, Lost: l.Inputs - uint64(l.Used)}
}

// loss adds up what the parts lost.
func (d *Done) loss() (l Loss) {
	for i := range d.Parts {
		l.addLoss(&d.Parts[i].Loss)
	}
	return l
}

// A lostFunction is a function that only inputs left out have.
type lostFunction struct {
	Ref  uint64 `json:"ref,string"`
	Name string `json:"name,omitempty"`
}

// Plan reads the plan. A plan of another version of this format is an error.
func (j *Job) Plan() (*Plan, error) {
	p := new(Plan)
	if err := j.read(planName, maxPlan, p); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s has no plan: \"profuse fleet plan\" makes one (%w)", j.URL(""), err)
		}
		return nil, err
	}
	if p.Schema != planSchema || p.Version != jobVersion {
		return nil, fmt.Errorf("%s: schema %q, version %d; this program knows %q, version %d", j.URL(planName), p.Schema, p.Version, planSchema, jobVersion)
	}
	return p, nil
}

// done reads the result of a shard; nil if it is not done.
func (j *Job) done(shard int) (*Done, error) {
	d := new(Done)
	if err := j.read(doneName(shard), maxDone, d); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	if d.Schema != doneSchema || d.Version != jobVersion || d.Shard != shard {
		return nil, fmt.Errorf("%s: schema %q, version %d, shard %d; want %q, version %d, shard %d",
			j.URL(doneName(shard)), d.Schema, d.Version, d.Shard, doneSchema, jobVersion, shard)
	}
	return d, nil
}

// maxReading is how many done files are read at the same time.
const maxReading = 64

// dones reads the results of all shards; nil for those that are not done. The result has the
// order of the shards; the error is that of the first shard that has one.
func (j *Job) dones(p *Plan) ([]*Done, error) {
	all := make([]*Done, len(p.Shards))
	errs := make([]error, len(p.Shards))
	var group sync.WaitGroup
	slots := make(chan struct{}, maxReading)
	for i := range all {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			all[i], errs[i] = j.done(i)
		})
	}
	group.Wait()
	return all, cmp.Or(errs...)
}
