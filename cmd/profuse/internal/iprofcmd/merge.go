package iprofcmd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/family"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/iprof"
)

const formatIprof = "iprof"

// merge is one run of "profuse merge" of iprof profiles.
type merge struct {
	iprofWriting
	normalize      cli.Choice
	dropUnresolved bool
	dropUnknown    bool
}

const (
	normalizeNone  = "none"
	normalizeTotal = "total"
)

func (o *merge) Declare(f *cli.Flags) {
	f.Group("iprof profiles")
	o.normalize = cli.Choice{Value: normalizeNone, Allowed: []string{normalizeNone, normalizeTotal}}
	f.Var(&o.normalize, "normalize", "`HOW` none adds counts as they are; total scales each input to the largest one first, "+
		"so that long runs do not outweigh short ones")
	f.BoolVar(&o.dropUnresolved, "drop-unresolved", false, "leave out entries whose methods or types their file does not name")
	f.BoolVar(&o.dropUnknown, "drop-unknown", false, "leave out sections that are not known")
	o.iprofWriting.declare(f)
}

func (o *merge) Results() []family.Result {
	return []family.Result{{Name: formatIprof, Family: formats.Iprof, Text: true}}
}

func (o *merge) Refuses() []string { return nil }

func (o *merge) Check(*merging.Run) error { return nil }

func (o *merge) Merge(ctx context.Context, env *cli.Env, r *merging.Run, ins []inputs.Input, report *merging.Report) error {
	if err := r.CheckName(); err != nil {
		return err
	}
	writing, err := o.options()
	if err != nil {
		return err
	}
	weights, err := iprofWeights(r)
	if err != nil {
		return err
	}
	out, err := openIprofOutput(env, r.Output, ins)
	if err != nil {
		return err
	}
	defer out.Discard()
	m := &iprofMerge{
		report: report, weights: weights, workers: merging.NumWorkers(r.Workers),
		opt: iprof.MergeOptions{DropUnresolved: o.dropUnresolved, DropUnknown: o.dropUnknown},
	}
	if o.normalize.Value == normalizeTotal {
		if err := m.measure(ctx, ins); err != nil {
			return err
		}
	}
	merged, err := m.merge(ctx, ins)
	report.Progress.Stop()
	if err != nil {
		return err
	}
	if err := report.Judge(env.Stderr); err != nil {
		return err
	}
	if merged.Entries() == 0 && !r.Empty && !report.NeedsNoInput() {
		return fmt.Errorf("no input has any counts; nothing is written (--allow-empty writes an empty profile)")
	}
	writing.Warn = func(w iprof.Warning) { report.AddError("iprof", 0, w.File, "", w.Err) }
	if err = iprof.Write(out, merged, writing); err == nil {
		err = out.Commit()
	}
	if err != nil {
		return fmt.Errorf("%s is not written: %w", console.OutputName(r.Output), err)
	}
	if r.Quiet {
		return nil
	}
	version := merged.Version
	if writing.Version != (iprof.Version{}) {
		version = writing.Version
	}
	report.PrintWarnings(env.Stderr)
	report.PrintLoss(env.Stderr)
	fmt.Fprintf(env.Stderr, "merged %s: %s → %s (version %s%s)\n", report.InputsLine(), iprofContents(merged),
		console.OutputName(r.Output), version, m.scaled())
	return nil
}

// iprofWeights are the weights of the inputs.
func iprofWeights(r *merging.Run) ([]iprof.Weight, error) {
	weights := make([]iprof.Weight, len(r.Weights))
	for i, text := range r.Weights {
		n, err := strconv.ParseUint(text, 10, 64)
		weights[i] = iprof.WeightOf(n, 1)
		if err != nil {
			weights[i], err = iprof.ParseWeight(text)
		}
		if err != nil {
			return nil, err
		}
	}
	return weights, nil
}

// iprofContents sums up a profile.
func iprofContents(p *iprof.Profile) string {
	s := fmt.Sprintf("%s, %s, %s", cli.Quantity(uint64(len(p.Types)), "type", "types"),
		cli.Quantity(uint64(len(p.Methods)), "method", "methods"), cli.Quantity(uint64(p.Entries()), "entry", "entries"))
	if n := p.Section(iprof.CallCounts).Total(); n > 0 {
		s += ", " + cli.Quantity(uint64(n), "call", "calls")
	}
	if n := p.Section(iprof.Samples).Total(); n > 0 {
		s += ", " + cli.Quantity(uint64(n), "sample", "samples")
	}
	return s
}

// An iprofMerge merges iprof inputs.
type iprofMerge struct {
	opt     iprof.MergeOptions
	weights []iprof.Weight // by input
	workers int
	report  *merging.Report

	mu     sync.Mutex
	totals map[contentsHash]iprof.Totals  // of inputs that are to be normalized
	scale  map[contentsHash]iprof.Weights // to multiply them with
}

// contentsHash identifies the contents of a file between its two readings.
type contentsHash [sha256.Size]byte

// isIprof reports whether data is an iprof profile, or JSON that its name says
// is one.
func isIprof(name string, data []byte) bool {
	f, _ := formats.Detect(data)
	return f.Family() == formats.Iprof || isNamedIprof(name, data)
}

// isNamedIprof reports whether data is JSON that its name says is an iprof
// profile.
func isNamedIprof(name string, data []byte) bool {
	f, _ := formats.BySuffix(strings.TrimSuffix(name, console.Compression(name)))
	return f.Family() == formats.Iprof && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

// readIprof reads a profile. What is recognized as something else gets an
// error that says so.
func readIprof(name string, data []byte, warn func(iprof.Warning)) (*iprof.Profile, error) {
	if f, _ := formats.Detect(data); f.Family() != formats.Iprof && len(data) > 0 && f != formats.IRPGOText {
		return nil, sources.WrongFormat(name, data, "an iprof profile")
	}
	return iprof.Read(name, data, iprof.ReaderOptions{Warn: warn})
}

// measure finds out how much each input would bring.
func (m *iprofMerge) measure(ctx context.Context, ins []inputs.Input) error {
	for _, in := range ins {
		info, err := os.Stat(in.Name)
		if in.Name == inputs.Stdin || err == nil && !info.Mode().IsRegular() {
			return cli.Usagef("--normalize total reads inputs twice, and %s can be read only once", in.Name)
		}
	}
	m.totals = make(map[contentsHash]iprof.Totals)
	forks := make([]merging.Fork, m.workers)
	for i := range forks {
		forks[i] = iprofMeasure{m}
	}
	// What cannot be used is reported when it is merged.
	silent := merging.NewReport(new(cli.Progress))
	if err := merging.Unordered(ctx, ins, forks, silent); err != nil {
		return err
	}
	hashes := make([]contentsHash, 0, len(m.totals))
	totals := make([]iprof.Totals, 0, len(m.totals))
	for h, t := range m.totals {
		hashes, totals = append(hashes, h), append(totals, t)
	}
	m.scale = make(map[contentsHash]iprof.Weights, len(hashes))
	for i, w := range iprof.Normalize(totals) {
		m.scale[hashes[i]] = w
	}
	return nil
}

// iprofMeasure takes note of totals only.
type iprofMeasure struct{ *iprofMerge }

func (m iprofMeasure) Add(name string, data []byte, _ uint64) error {
	p, err := readIprof(name, data, nil)
	if err == nil {
		err = iprof.NewMerger(m.opt).Accepts(name, p)
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals[sha256.Sum256(data)] = p.Totals()
	return nil
}

// scaled says what inputs were scaled to.
func (m *iprofMerge) scaled() string {
	if m.totals == nil {
		return ""
	}
	var most iprof.Totals
	for _, t := range m.totals {
		most.Counters, most.Samples = max(most.Counters, t.Counters), max(most.Samples, t.Samples)
	}
	s := fmt.Sprintf("; each input scaled to %s", cli.Quantity(uint64(most.Counters), "count", "counts"))
	if most.Samples > 0 {
		s += " and " + cli.Quantity(uint64(most.Samples), "sample", "samples")
	}
	return s
}

// merge merges all inputs. The error is one that leaves no result.
func (m *iprofMerge) merge(ctx context.Context, ins []inputs.Input) (*iprof.Profile, error) {
	// The pool hands on a number for each input, which is its place in weights
	// here: weights may be fractions.
	ins = slices.Clone(ins)
	for i := range ins {
		ins[i].Weight = uint64(i) + 1
	}
	mergers := []*iprof.Merger{iprof.NewMerger(m.opt)}
	for len(mergers) < min(m.workers, len(ins)/merging.MinPerWorker) {
		mergers = append(mergers, mergers[0].Fork())
	}
	forks := make([]merging.Fork, len(mergers))
	for i := range forks {
		forks[i] = iprofFork{m, mergers[i]}
	}
	if err := merging.Unordered(ctx, ins, forks, m.report); err != nil {
		return nil, err
	}
	for _, f := range mergers[1:] {
		if err := mergers[0].Merge(f); err != nil {
			return nil, err
		}
	}
	p := mergers[0].Profile()
	m.warn(p, mergers[0].Added())
	return p, nil
}

// An iprofFork is what one worker merges into.
type iprofFork struct {
	*iprofMerge
	merger *iprof.Merger
}

func (m iprofFork) Add(name string, data []byte, place uint64) error {
	p, err := readIprof(name, data, func(w iprof.Warning) { m.report.AddError("iprof", int(place), w.File, "", w.Err) })
	if err != nil {
		return err
	}
	w := iprof.Uniform(m.weights[place-1])
	if m.scale != nil {
		scale, ok := m.scale[sha256.Sum256(data)]
		if err := m.merger.Accepts(name, p); err != nil {
			return err
		} else if !ok {
			return fmt.Errorf("%s: changed while it was merged", name)
		}
		w.Counters, w.Samples = w.Counters.Times(scale.Counters), w.Samples.Times(scale.Samples)
	}
	added, err := m.merger.AddScaled(name, p, w)
	if err != nil {
		return err
	}
	if added.Skipped > 0 {
		m.report.Add("iprof unresolved", int(place), fmt.Sprintf("%s: left out %s with methods or types that the file does not name",
			name, cli.Quantity(uint64(added.Skipped), "entry", "entries")), "")
	}
	if n := len(p.Unknown) + len(p.Extra); n > 0 {
		m.report.Add("iprof unknown", int(place), fmt.Sprintf("%s: left out %s", name,
			cli.Quantity(uint64(n), "unknown section or member", "unknown sections and members")), "")
	}
	return nil
}

// warn says what of the sum is not as it should be. It says the same however
// the inputs were dealt to workers.
func (m *iprofMerge) warn(p *iprof.Profile, added iprof.Added) {
	if added.Reshaped > 0 {
		m.report.Add("iprof branches", 0, "some conditionals have other branches in some inputs than in others: "+
			"the inputs are of different builds; such branches stand side by side", "")
	}
	if added.Saturated == 0 {
		return
	}
	n := uint64(0)
	for _, k := range iprof.Kinds() {
		for _, records := range p.Section(k).All() {
			for i := k.Arity() - 1; i < len(records); i += k.Arity() {
				if records[i] == math.MaxInt64 {
					n++
				}
			}
		}
	}
	m.report.Add("iprof overflow", 0, fmt.Sprintf("%s too large for 64 bits: %d is written; smaller weights may help",
		cli.Quantity(n, "count is", "counts are"), int64(math.MaxInt64)), "")
}
