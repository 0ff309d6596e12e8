package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/inputs"
	"github.com/profuse-pgo/profuse/iprof"
	"github.com/profuse-pgo/profuse/profile"
)

// iprofMergeOptions are the options of "profuse merge" that iprof profiles
// have alone.
type iprofMergeOptions struct {
	iprofWriting
	normalize      cli.Choice
	dropUnresolved bool
	dropUnknown    bool
}

const (
	normalizeNone  = "none"
	normalizeTotal = "total"
)

func (o *iprofMergeOptions) declare(f *cli.Flags) {
	o.normalize = cli.Choice{Value: normalizeNone, Allowed: []string{normalizeNone, normalizeTotal}}
	f.Var(&o.normalize, "normalize", "`HOW` for iprof: none adds counts as they are; total scales each input to the largest one first, "+
		"so that long runs do not outweigh short ones")
	f.BoolVar(&o.dropUnresolved, "drop-unresolved", false, "for iprof: leave out entries whose methods or types their file does not name")
	f.BoolVar(&o.dropUnknown, "drop-unknown", false, "for iprof: leave out sections that are not known")
	o.iprofWriting.declare(f)
}

var (
	onlyForIprof = []string{"normalize", "drop-unresolved", "drop-unknown", "iprof-version", "indent", "lines"}
	notForIprof  = []string{
		"indexed-version", "sparse", "allow-mixed", "keep-vtable-names", "correlate",
		"function", "no-function", "remap", "arch",
	}
)

// refuse finds options among those given that are not for the profiles at hand.
func (c *mergeRun) refuse(names []string, family string) (err error) {
	c.flags.Visit(func(o *flag.Flag) {
		if slices.Contains(names, o.Name) {
			err = cli.Usagef("option --%s is not for %s profiles, which are merged here", o.Name, family)
		}
	})
	return err
}

func (c *mergeRun) checkIprof() (iprof.WriteOptions, error) {
	if err := c.refuse(notForIprof, "iprof"); err != nil {
		return iprof.WriteOptions{}, err
	}
	if f, ok := formats.BySuffix(c.output); ok && f.Family() != formats.Iprof {
		return iprof.WriteOptions{}, cli.Usagef("%s is the name of an %v, and iprof profiles are to be merged", c.output, f)
	}
	return c.iprof.options()
}

// runIprof merges iprof profiles.
func (c *mergeRun) runIprof(ctx context.Context, env *cli.Env, ins []inputs.Input, report *mergeReport) error {
	writing, err := c.checkIprof()
	if err != nil {
		return err
	}
	out, err := openIprofOutput(env, c.output, ins)
	if err != nil {
		return err
	}
	defer out.discard()
	m := &iprofMerge{
		report: report, weights: c.weights, workers: numWorkers(c.workers),
		opt: iprof.MergeOptions{DropUnresolved: c.iprof.dropUnresolved, DropUnknown: c.iprof.dropUnknown},
	}
	if c.iprof.normalize.Value == normalizeTotal {
		if err := m.measure(ctx, ins); err != nil {
			return err
		}
	}
	merged, err := m.merge(ctx, ins)
	report.progress.Stop()
	if err != nil {
		return err
	}
	if err := report.judge(env.Stderr); err != nil {
		return err
	}
	if merged.Entries() == 0 && !c.empty && !report.budget.everything {
		return fmt.Errorf("no input has any counts; nothing is written (--allow-empty writes an empty profile)")
	}
	writing.Warn = func(w iprof.Warning) { report.iprofWarning(0, w) }
	if err = iprof.Write(out, merged, writing); err == nil {
		err = out.commit()
	}
	if err != nil {
		return fmt.Errorf("%s is not written: %w", outputName(c.output), err)
	}
	if c.quiet {
		return nil
	}
	version := merged.Version
	if writing.Version != (iprof.Version{}) {
		version = writing.Version
	}
	report.printWarnings(env.Stderr)
	report.printLoss(env.Stderr)
	fmt.Fprintf(env.Stderr, "merged %s: %s → %s (version %s%s)\n", report.inputsLine(), iprofContents(merged),
		outputName(c.output), version, m.scaled())
	return nil
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
	report  *mergeReport

	mu     sync.Mutex
	totals map[contentsHash]iprof.Totals  // of inputs that are to be normalized
	scale  map[contentsHash]iprof.Weights // to multiply them with
}

// contentsHash identifies the contents of a file between its two readings.
type contentsHash [sha256.Size]byte

// isIprof reports whether data is an iprof profile, or JSON that its name says
// is one.
func isIprof(name string, data []byte) bool {
	if f, _ := formats.Detect(data); f.Family() == formats.Iprof {
		return true
	}
	f, _ := formats.BySuffix(strings.TrimSuffix(name, compression(name)))
	return f.Family() == formats.Iprof && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

// readIprof reads a profile. What is recognized as something else gets an
// error that says so.
func readIprof(name string, data []byte, warn func(iprof.Warning)) (*iprof.Profile, error) {
	if f, _ := formats.Detect(data); f.Family() != formats.Iprof && len(data) > 0 && f != formats.IRPGOText {
		return nil, wrongFormat(name, data, "an iprof profile")
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
	forks := make([]mergeFork, m.workers)
	for i := range forks {
		forks[i] = iprofMeasure{m}
	}
	// What cannot be used is reported when it is merged.
	silent := newMergeReport(new(cli.Progress))
	if err := mergeUnordered(ctx, ins, forks, silent); err != nil {
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

func (m iprofMeasure) add(name string, data []byte, _ uint64) error {
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
	for len(mergers) < min(m.workers, len(ins)/minPerWorker) {
		mergers = append(mergers, mergers[0].Fork())
	}
	forks := make([]mergeFork, len(mergers))
	for i := range forks {
		forks[i] = iprofFork{m, mergers[i]}
	}
	if err := mergeUnordered(ctx, ins, forks, m.report); err != nil {
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

func (m iprofFork) add(name string, data []byte, place uint64) error {
	p, err := readIprof(name, data, func(w iprof.Warning) { m.report.iprofWarning(int(place), w) })
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
	added, err := m.merger.Add(name, p, w)
	if err != nil {
		return err
	}
	if added.Skipped > 0 {
		m.report.add("iprof unresolved", int(place), fmt.Sprintf("%s: left out %s with methods or types that the file does not name",
			name, cli.Quantity(uint64(added.Skipped), "entry", "entries")), "")
	}
	if n := len(p.Unknown) + len(p.Extra); n > 0 {
		m.report.add("iprof unknown", int(place), fmt.Sprintf("%s: left out %s", name,
			cli.Quantity(uint64(n), "unknown section or member", "unknown sections and members")), "")
	}
	return nil
}

// warn says what of the sum is not as it should be. It says the same however
// the inputs were dealt to workers.
func (m *iprofMerge) warn(p *iprof.Profile, added iprof.Added) {
	if added.Reshaped > 0 {
		m.report.add("iprof branches", 0, "some conditionals have other branches in some inputs than in others: "+
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
	m.report.add("iprof overflow", 0, fmt.Sprintf("%s too large for 64 bits: %d is written; smaller weights may help",
		cli.Quantity(n, "count is", "counts are"), int64(math.MaxInt64)), "")
}

// iprofWarning takes note of what the reader or the writer noticed.
func (m *mergeReport) iprofWarning(place int, w iprof.Warning) {
	text := describeError(w.Err).Message
	if w.File != "" {
		text = w.File + ": " + text
	}
	field := ""
	if fe := (*profile.FormatError)(nil); errors.As(w.Err, &fe) {
		field = fe.Field
	}
	m.add("iprof "+field, place, text, "")
}
