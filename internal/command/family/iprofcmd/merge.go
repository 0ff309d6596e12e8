package iprofcmd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

// formatIprof is the only value of --format. --iprof-version chooses the version.
const formatIprof = "iprof"

type adder struct {
	writing
	normalize      cli.Choice
	dropUnresolved bool
	dropUnknown    bool

	options iprof.WriteOptions // from writing; set by Open
}

// The values of --normalize.
const (
	normalizeNone  = "none"
	normalizeTotal = "total"
)

func (o *adder) Declare(f *cli.Flags, watching bool) {
	f.Group("iprof profiles")
	o.normalize = cli.Choice{Value: normalizeNone, Allowed: []string{normalizeNone, normalizeTotal}}
	if !watching { // it needs all inputs at once
		f.Var(&o.normalize, "normalize", "`HOW` scale inputs before adding: none, or total to give each the same total count, "+
			"so that long runs do not outweigh short ones")
	}
	f.BoolVar(&o.dropUnresolved, "drop-unresolved", false, "drop entries whose methods or types their file does not name")
	f.BoolVar(&o.dropUnknown, "drop-unknown", false, "drop unknown sections")
	o.writing.declare(f)
}

// Results returns the only value of --format.
func (o *adder) Results() []merging.Result {
	return []merging.Result{{Name: formatIprof, Family: formats.Iprof, Text: true, Exact: ".iprof"}}
}

// Refuses returns the options that name programs: profiles have the names of their methods.
func (o *adder) Refuses() []string { return []string{"program", "arch"} }

func (o *adder) Check(*merging.Options) error { return nil }

// Open checks the name of the output and the options for writing.
func (o *adder) Open(r *merging.Options, _ func(string)) (err error) {
	if err = r.CheckName(); err == nil {
		o.options, err = o.writeOptions()
	}
	return err
}

// Add adds up the base, if any, and the inputs. The sum does not depend on their order.
func (o *adder) Add(ctx context.Context, j *merging.Job) (*merging.Sum, error) {
	s := &sum{job: j, opt: iprof.MergeOptions{DropUnresolved: o.dropUnresolved, DropUnknown: o.dropUnknown}}
	for _, text := range j.Weights {
		s.weights = append(s.weights, parseWeight(text))
	}
	ins := j.Inputs
	if j.Base != "" {
		ins = append(slices.Clone(ins), inputs.File(j.Base, j.Open))
	}
	if o.normalize.Value == normalizeTotal {
		if err := s.measureInputs(ctx, ins); err != nil {
			return nil, err
		}
	}
	merged, err := s.addInputs(ctx, ins)
	if err != nil {
		return nil, err
	}
	// Without --iprof-version the merger has chosen the version.
	version := merged.Version
	if o.options.Version != (iprof.Version{}) {
		version = o.options.Version
	}
	sum := &merging.Sum{
		Contents: func() string { return contents(merged, version) },
		Write: func(w io.Writer) (string, error) {
			opt := o.options
			opt.Warn = func(w profile.Warning) { j.WarnOf("iprof", 0, w) }
			return fmt.Sprintf("version %s%s", version, s.scaled()), console.WriteCompressed(w, j.Output, func(w io.Writer) error {
				return iprof.Write(w, merged, opt)
			})
		},
	}
	if entries(merged) == 0 {
		sum.Empty = "no input has any counts"
	}
	return sum, nil
}

// contents describes a profile in a file of a version, without the sets that the version cannot hold.
func contents(p *iprof.Profile, v iprof.Version) string {
	entries := 0
	for k := range iprof.NumKinds {
		if k != iprof.TypeChecks || v == p.Version || v == (iprof.Version{Major: 1, Minor: 1}) {
			entries += p.Sections[k].Len()
		}
	}
	s := fmt.Sprintf("%s, %s, %s", cli.Quantity(len(p.Types), "type", "types"),
		cli.Quantity(len(p.Methods), "method", "methods"), cli.Quantity(entries, "entry", "entries"))
	if n := p.Sections[iprof.CallCounts].Total(); n > 0 {
		s += ", " + cli.Quantity(n, "call", "calls")
	}
	if n := p.Sections[iprof.Samples].Total(); n > 0 {
		s += ", " + cli.Quantity(n, "sample", "samples")
	}
	return s
}

// A sum adds up the profiles of one job, with a merger for each worker.
type sum struct {
	job     *merging.Job
	opt     iprof.MergeOptions
	weights []iprof.Weight // by input; the base follows the inputs and has the weight 1

	mu     sync.Mutex
	totals map[contentsHash]totals        // of the inputs, with --normalize total
	scale  map[contentsHash]iprof.Weights // factors of the inputs, with --normalize total
}

// contentsHash identifies the contents of a file between its two readings.
type contentsHash [sha256.Size]byte

// isIprof reports whether data is an iprof profile, or JSON in a file named as an iprof profile.
func isIprof(name string, data []byte) bool {
	f, _ := formats.Detect(data)
	return f.Family() == formats.Iprof || isNamedIprof(name, data)
}

// isNamedIprof reports whether data is JSON in a file named as an iprof profile.
func isNamedIprof(name string, data []byte) bool {
	f, _ := formats.BySuffix(strings.TrimSuffix(name, console.Compression(name)))
	return f.Family() == formats.Iprof && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

// parse reads a profile. The error about another known format names the format.
func parse(name string, data []byte, warn func(profile.Warning)) (*iprof.Profile, error) {
	if len(data) > 0 && !isIprof(name, data) {
		return nil, merging.WrongFormat(name, data, "an iprof profile")
	}
	return iprof.Read(name, data, iprof.ReaderOptions{Warn: warn})
}

// measureInputs reads all inputs, before they are merged, and computes the factors that make their totals equal.
func (m *sum) measureInputs(ctx context.Context, ins []inputs.Input) error {
	for _, in := range ins {
		if !in.Reopens() {
			return cli.Usagef("--normalize total reads each input twice; %s can be read only once", in.Name)
		}
	}
	m.totals = make(map[contentsHash]totals)
	adders := make([]merge.Adder, merging.NumWorkers(m.job.Workers))
	for i := range adders {
		adders[i] = m.measureProfile
	}
	// The merge reports unusable inputs later.
	if err := merge.Run(ctx, ins, adders, merge.Options{}); err != nil {
		return err
	}
	hashes := make([]contentsHash, 0, len(m.totals))
	all := make([]totals, 0, len(m.totals))
	for h, t := range m.totals {
		hashes, all = append(hashes, h), append(all, t)
	}
	m.scale = make(map[contentsHash]iprof.Weights, len(hashes))
	for i, w := range normalize(all) {
		m.scale[hashes[i]] = w
	}
	return nil
}

// measureProfile records the totals of a profile, unless the merger refuses the profile: the scale
// must not depend on it then.
func (m *sum) measureProfile(p *merge.Profile) (*merge.Contribution, error) {
	read, err := parse(p.Name, p.Data, nil)
	if err == nil {
		err = iprof.NewMerger(m.opt).Accepts(p.Name, read)
	}
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals[sha256.Sum256(p.Data)] = totalsOf(read)
	return nil, nil
}

// scaled returns the totals to which the inputs were scaled, in words.
func (m *sum) scaled() string {
	if m.totals == nil {
		return ""
	}
	var most totals
	for _, t := range m.totals {
		most.Counters, most.Samples = max(most.Counters, t.Counters), max(most.Samples, t.Samples)
	}
	s := fmt.Sprintf("; each input scaled to %s", cli.Quantity(most.Counters, "count", "counts"))
	if most.Samples > 0 {
		s += " and " + cli.Quantity(most.Samples, "sample", "samples")
	}
	return s
}

// addInputs adds up the inputs, with a merger for each worker.
func (m *sum) addInputs(ctx context.Context, ins []inputs.Input) (*iprof.Profile, error) {
	var mergers []*iprof.Merger
	adders := m.job.Adders(len(ins), func() merge.Adder {
		merger := iprof.NewMerger(m.opt)
		mergers = append(mergers, merger)
		return func(p *merge.Profile) (*merge.Contribution, error) { return nil, m.addProfile(merger, p) }
	})
	if err := m.job.Add(ctx, ins, adders, false); err != nil {
		return nil, err
	}
	for _, f := range mergers[1:] {
		if err := mergers[0].Merge(f); err != nil {
			return nil, err
		}
	}
	p := mergers[0].Profile()
	m.warnOfSum(p, mergers[0].Added)
	return p, nil
}

// addProfile adds a profile to the sum of a worker. It warns of parts that the sum cannot hold.
func (m *sum) addProfile(merger *iprof.Merger, p *merge.Profile) error {
	position := p.Input + 1 // 0 stands for the sum
	read, err := parse(p.Name, p.Data, func(w profile.Warning) { m.job.WarnOf("iprof", position, w) })
	if err != nil {
		return err
	}
	var w iprof.Weights
	if p.Input < len(m.weights) {
		w = iprof.Weights{Counters: m.weights[p.Input], Samples: m.weights[p.Input]}
	}
	if m.scale != nil {
		scale, ok := m.scale[sha256.Sum256(p.Data)]
		if err := merger.Accepts(p.Name, read); err != nil {
			return err
		} else if !ok {
			return fmt.Errorf("%s: changed during the merge", p.Name)
		}
		w.Counters, w.Samples = times(w.Counters, scale.Counters), times(w.Samples, scale.Samples)
	}
	added, err := merger.AddProfile(p.Name, read, w)
	if err != nil {
		return err
	}
	if added.Skipped > 0 {
		m.job.Warn("iprof unresolved", position, fmt.Sprintf("%s: left out %s with methods or types that the file does not name",
			p.Name, cli.Quantity(added.Skipped, "entry", "entries")), "")
	}
	if n := len(read.Unknown) + len(read.Extra); n > 0 {
		m.job.Warn("iprof unknown", position, fmt.Sprintf("%s: left out %s", p.Name,
			cli.Quantity(n, "unknown section or member", "unknown sections and members")), "")
	}
	return nil
}

// warnOfSum warns of defects of the sum. The warnings do not depend on how the workers share the inputs.
func (m *sum) warnOfSum(p *iprof.Profile, added iprof.Added) {
	if added.Reshaped > 0 {
		m.job.Warn("iprof branches", 0, "some conditionals have different branches in different inputs, "+
			"which come from different builds: all branches are kept", "")
	}
	if added.Saturated == 0 {
		return
	}
	n := uint64(0)
	for k := range iprof.NumKinds {
		for _, records := range p.Sections[k].All() {
			for i := k.Arity() - 1; i < len(records); i += k.Arity() {
				if records[i] == math.MaxInt64 {
					n++
				}
			}
		}
	}
	m.job.Warn("iprof overflow", 0, fmt.Sprintf("%s too large for 64 bits: %d is written; smaller weights may help",
		cli.Quantity(n, "count is", "counts are"), int64(math.MaxInt64)), "")
}

// versions are the values of --iprof-version.
const versions = "0.4.0, 1.0.0, 1.1.0 or auto"

type writing struct {
	version string
	indent  bool
	lines   bool
}

func (w *writing) declare(f *cli.Flags) {
	f.StringVar(&w.version, "iprof-version", "auto", "`V` version of the format to write: "+versions)
	f.BoolVar(&w.indent, "indent", false, "write one number per line, indented, for people")
	f.BoolVar(&w.lines, "entry-per-line", false, "write one entry per line, for version control")
	f.Alias("entry-per-line", "lines")
}

// writeOptions checks and converts the options. The zero Version means the profile's version.
func (w *writing) writeOptions() (opt iprof.WriteOptions, err error) {
	switch {
	case w.indent && w.lines:
		return opt, cli.Usagef("options --indent and --entry-per-line exclude each other")
	case w.indent:
		opt.Indent = "  "
	case w.lines:
		opt.Lines = true
	}
	if w.version == "auto" {
		return opt, nil
	}
	v := &opt.Version
	// Text that is not a version leaves a version that cannot be written, or that is printed differently.
	_, _ = fmt.Sscanf(w.version, "%d.%d.%d", &v.Major, &v.Minor, &v.Patch)
	if v.String() != w.version || !v.Writable() {
		return opt, cli.Usagef("option --iprof-version takes %s, not %q", versions, w.version)
	}
	return opt, nil
}
