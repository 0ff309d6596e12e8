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

// OpenJob opens the job at a location, which need not exist.
func OpenJob(ctx context.Context, stores *store.Access, location string) (*Job, error) {
	s, prefix, err := stores.Open(location)
	if err != nil {
		return nil, err
	}
	return &Job{ctx, s, strings.TrimSuffix(prefix, "/")}, nil
}

// Names in a job.
const (
	planName    = "plan.json"
	listsFolder = "lists"
	partsFolder = "parts"
	leftFolder  = "left"
	doneFolder  = "done"
)

func doneName(shard int) string { return fmt.Sprintf("%s/%06d.json", doneFolder, shard) }

func (j *Job) key(name string) string { return store.Join(j.prefix, name) }

// URL returns the URL of the job, or of a name in it.
func (j *Job) URL(name string) string {
	if name == "" {
		return j.store.URL(j.prefix)
	}
	return j.store.URL(j.key(name))
}

func (j *Job) exists(name string) (bool, error) {
	_, err := j.store.Stat(j.ctx, j.key(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// create creates a file of JSON. It fails with fs.ErrExist if the file exists; if several processes create
// it at once, one succeeds.
func (j *Job) create(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return store.Create(j.ctx, j.store, j.key(name), append(data, '\n'))
}

// readJSON reads a file of JSON. More than limit bytes are an error, and so is an empty file.
func (j *Job) readJSON(name string, limit int64, v any) error {
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

// putLines writes values as compressed lines of JSON and returns the name in the folder, the SHA-256 of the contents.
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

// getLines reads and verifies what putLines wrote.
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
	// Labels is the pattern of labels in the paths of objects; may be empty.
	Labels string `json:"labels,omitempty"`
	// ByDay gives each object the label "day", the day of its last change in UTC.
	ByDay bool `json:"by_day,omitempty"`
	// Programs is the URL of programs by build id, and of MIP maps; may be empty.
	Programs string `json:"programs,omitempty"`
	// After names earlier jobs. Objects of these jobs and of the jobs before them are left out.
	After   []string       `json:"after,omitempty"`
	Skipped map[string]int `json:"skipped"` // objects that are no inputs, by reason
	Objects int            `json:"objects"` // of all shards
	Bytes   int64          `json:"bytes"`   // of all shards, as stored
	Shards  []Shard        `json:"shards"`
}

const (
	planSchema = "profuse-fleet-plan"
	doneSchema = "profuse-fleet-done"
	jobVersion = 1

	// Labels that do not come from the pattern.
	dayLabel    = "day"
	sourceLabel = "source"
)

// A Source is a folder or prefix whose objects are merged.
type Source struct {
	Name    string `json:"name,omitempty"` // the label "source"; may be empty
	URL     string `json:"url"`
	Objects int    `json:"objects"` // in the plan
}

// openSource opens a source. A folder must exist, because a folder that is not mounted would look empty.
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
	// First is the index of the first object in the whole plan. Reports number inputs in this way.
	First   int   `json:"first"`
	Objects int   `json:"objects"`
	Bytes   int64 `json:"bytes"`
}

// An Object is an input, a line of a list.
type Object struct {
	Source int    `json:"source"` // index in Plan.Sources
	Key    string `json:"key"`
	Path   string `json:"path"` // part of the key below the source, for the pattern of labels
	Size   int64  `json:"size"`
	// Tag changes with the contents, such as the ETag. An object counts as lost if its tag is another one when a task reads it.
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
	Seconds float64   `json:"seconds"` // to copy and merge the shard
	Parts   []Part    `json:"parts"`
	Left    string    `json:"left,omitempty"` // name in left of the accounts; "" if none
	Lost    string    `json:"lost,omitempty"` // name in left of the lost functions; "" if none
}

// A Part accounts for the profiles of one key in a shard, and names their partial sum.
type Part struct {
	Key
	Loss   Loss   `json:"loss"`
	Name   string `json:"name,omitempty"` // below the job; "" if no profile could be used
	SHA256 string `json:"sha256,omitempty"`
	Size   int64  `json:"size,omitempty"`
}

// A Key is what profiles of one partial sum have in common.
type Key struct {
	Family  string            `json:"family"`
	Program string            `json:"program"`        // build id, module hash or other name from the family; "" if unknown
	Kind    string            `json:"kind,omitempty"` // profiles of different kinds cannot be merged
	Labels  map[string]string `json:"labels,omitempty"`
}

// Loss is a [merge.Loss] without functions.
type Loss struct {
	Inputs uint64 `json:"inputs"`
	Used   int    `json:"used"`   // profiles in the sum
	Partly int    `json:"partly"` // profiles in the sum that have damaged functions
	// LeftOut counts the other profiles, by the class of the error.
	LeftOut map[profile.Class]int `json:"left_out"`
}

// addMerge adds the loss of a merge without the lost functions, which are in the list Done.Lost.
func (l *Loss) addMerge(o merge.Loss) {
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

// missingLoss is the loss of a shard that is not done. Each object counts as one input.
func missingLoss(objects int) merge.Loss {
	return merge.Loss{Inputs: uint64(objects), LeftOut: map[profile.Class]int{profile.Unreadable: objects}}
}

// ofMerge converts l to the loss of a merge.
func (l *Loss) ofMerge() merge.Loss {
	return merge.Loss{Inputs: l.Inputs, Used: l.Used, Partly: l.Partly, LeftOut: l.LeftOut, Lost: l.Inputs - uint64(l.Used)}
}

func (d *Done) loss() (l Loss) {
	for i := range d.Parts {
		l.addMerge(d.Parts[i].Loss.ofMerge())
	}
	return l
}

// A lostFunction is a function that no input in the sum has.
type lostFunction struct {
	Ref  uint64 `json:"ref,string"`
	Name string `json:"name,omitempty"`
}

// Plan reads the plan. A plan of another version of this format is an error.
func (j *Job) Plan() (*Plan, error) {
	p := new(Plan)
	if err := j.readJSON(planName, maxPlan, p); err != nil {
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

// done reads the result of a shard; nil if the shard is not done.
func (j *Job) done(shard int) (*Done, error) {
	d := new(Done)
	if err := j.readJSON(doneName(shard), maxDone, d); err != nil {
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

// maxReaders is how many done files are read at the same time.
const maxReaders = 64

// allDone reads the results of all shards, in the order of the shards; nil for a shard that is not done.
func (j *Job) allDone(p *Plan) ([]*Done, error) {
	all := make([]*Done, len(p.Shards))
	errs := make([]error, len(p.Shards))
	var group sync.WaitGroup
	slots := make(chan struct{}, maxReaders)
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
