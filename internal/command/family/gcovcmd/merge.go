package gcovcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/gcov"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

// formatCounts is the only value of --format.
const formatCounts = "gcda"

type adder struct{}

func (*adder) Declare(*cli.Flags, bool) {}

// Results returns the only value of --format.
func (*adder) Results() []merging.Result {
	return []merging.Result{{Name: formatCounts, Family: formats.GCov, Exact: ".gcda"}}
}

// Refuses returns the options that name programs: a sum has no names.
func (*adder) Refuses() []string { return []string{"program", "arch"} }

func (*adder) Check(*merging.Options) error { return nil }

// Open makes the weights whole; Add divides the sum by r.Unit.
func (*adder) Open(r *merging.Options, _ func(string)) error {
	return cmp.Or(r.CheckName(), r.FixWeights(false))
}

// Split returns a group for each object, unless the output is one file. The objects of one path below the folders of
// the inputs are one object. Notes belong to no group.
func (*adder) Split(_ context.Context, r *merging.Options, ins []inputs.Input) ([]*merging.Group, error) {
	if r.Into != nil || r.Output == "-" || strings.EqualFold(filepath.Ext(r.Output), ".gcda") {
		return nil, nil
	}
	byPath := make(map[string]*merging.Group)
	var groups []*merging.Group
	for i, in := range ins {
		if !in.Reopens() {
			return nil, cli.Usagef("a folder as the output needs inputs that can be read twice, unlike %s", in.Name)
		}
		number := -1
		err := in.Each(nil, func(d *inputs.Data) error {
			number++
			if f, _ := formats.Detect(d.Bytes()); f == formats.GCovNotes {
				return nil
			}
			path := in.Below
			if _, member, ok := strings.Cut(d.Name(), "!"); ok {
				path = member
			}
			if !filepath.IsLocal(path) { // it must not lead out of the output
				path = filepath.Base(path)
			}
			g := byPath[path]
			if g == nil {
				g = &merging.Group{Name: path, Members: make(map[int]map[int]struct{})}
				byPath[path] = g
				groups = append(groups, g)
			}
			if g.Members[i] == nil {
				g.Members[i] = make(map[int]struct{})
				g.Inputs = append(g.Inputs, i)
			}
			g.Members[i][number] = struct{}{}
			return nil
		})
		// The merge of the group meets an error again, and counts it as a loss.
		if err != nil {
			g := &merging.Group{Name: in.Below, Inputs: []int{i}, Members: map[int]map[int]struct{}{i: {number + 1: {}}}}
			groups = append(groups, g)
		}
	}
	return groups, nil
}

// A sum adds up the inputs of one job.
type sum struct {
	job     *merging.Job
	objects []*object
	byKey   map[objectKey]*object
	notes   []formats.NotesFile // for coverage
}

// An object is an object file of the program.
type object struct {
	gcov.Merger
	path string // of the first counts
}

// An objectKey identifies an object for coverage, wherever its counts lie. The stamp is random, except in clang's files.
type objectKey struct {
	name            string
	stamp, checksum uint32
}

// Add adds up the base, if any, and the inputs.
func (a *adder) Add(ctx context.Context, j *merging.Job) (*merging.Sum, error) {
	s := &sum{job: j, byKey: make(map[objectKey]*object)}
	ins := j.Inputs
	if j.Base != "" { // its functions come first
		ins = append([]inputs.Input{inputs.File(j.Base, j.Open)}, slices.Clone(ins)...)
	}
	if err := j.Add(ctx, ins, []merge.Adder{s.add}, false); err != nil {
		return nil, err
	}
	counts := make([]formats.ObjectCounts, len(s.objects))
	cut, saturated := 0, false
	for i, o := range s.objects {
		counts[i] = formats.ObjectCounts{Path: o.path, Counts: o.Counts(j.Unit)}
		cut += o.Cut
		saturated = saturated || o.Saturated
	}
	if cut > 0 && j.Into == nil {
		j.Warn("gcov cut", 0, fmt.Sprintf("%s more than 32 values: the most frequent are written, and GCC does not trust such a list",
			cli.Quantity(cut, "list of values has", "lists of values have")), "")
	}
	if saturated {
		j.Warn("gcov overflow", 0, "some counts are too large for 64 bits: 2^63-1 is written; smaller weights may help", "")
	}
	sum := &merging.Sum{
		Contents: func() string { return contents(counts) },
		Write:    func(w io.Writer) (string, error) { return write(w, counts) },
		View: func(name string, opt formats.ViewOptions) (profile.View, error) {
			return formats.ViewCounts(name, counts, s.notes, opt)
		},
	}
	if len(counts)+len(s.notes) == 0 {
		sum.Empty = "no input has any counts"
	}
	return sum, nil
}

// write writes the counts of the only object.
func write(w io.Writer, counts []formats.ObjectCounts) (string, error) {
	if len(counts) == 0 {
		return "", errors.New("there are no counts, and an empty file would be none")
	}
	c := counts[0].Counts
	return "version " + c.Version.String(), c.Write(w)
}

func (s *sum) add(in *merge.Profile) (*merge.Contribution, error) {
	f, _ := formats.Detect(in.Data)
	switch {
	case f == formats.GCovNotes && s.job.Into != nil:
		s.addNotes(in)
		return &merge.Contribution{}, nil
	case f == formats.GCovNotes:
		return nil, flaw.File(in.Name).Field("format").Got(f.String()).Want("counts, which programs write as .gcda").Mismatch()
	case f.Family() != formats.GCov && len(in.Data) > 0:
		return nil, merging.WrongFormat(in.Name, in.Data, "GCC's counts")
	}
	c, err := gcov.ReadCounts(in.Name, in.Data)
	if err != nil {
		return nil, err
	}
	key := objectKey{}
	if s.job.Into != nil {
		key = objectKey{filepath.Base(in.Name), c.Stamp, c.Checksum}
	}
	o := s.byKey[key]
	if o == nil {
		o = &object{path: in.Name}
	}
	if err := o.Add(c, in.Weight); err != nil {
		return nil, flaw.InFile(err, in.Name)
	}
	if s.byKey[key] == nil {
		s.byKey[key] = o
		s.objects = append(s.objects, o)
	}
	added := &merge.Contribution{Functions: len(c.Functions)}
	for i := range c.Functions {
		for _, n := range c.Functions[i].Arcs() {
			added.Count = saturate.Add(added.Count, uint64(max(n, 0)))
		}
	}
	return added, nil
}

// addNotes keeps the path of notes; of notes in archives, which cannot be opened again, the contents.
func (s *sum) addNotes(in *merge.Profile) {
	f := formats.NotesFile{Path: in.Name}
	if info, err := os.Stat(in.Name); err != nil || info.Size() != int64(len(in.Data)) {
		f.Data = bytes.Clone(in.Data)
	}
	s.notes = append(s.notes, f)
}

// contents describes the sum in words.
func contents(counts []formats.ObjectCounts) string {
	functions, runs := 0, uint32(0)
	for i := range counts {
		functions += len(counts[i].Counts.Functions)
		runs = max(runs, counts[i].Counts.Runs)
	}
	text := cli.Quantity(functions, "function", "functions") + ", " + cli.Quantity(runs, "run", "runs")
	if len(counts) > 1 {
		text = cli.Quantity(len(counts), "object", "objects") + ", " + text
	}
	return text
}
