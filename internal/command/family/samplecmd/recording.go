package samplecmd

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/perfdata"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
)

// recordingFacts are the facts that "profuse show" prints about a recording of perf. The JSON names are a stable interface.
type recordingFacts struct {
	family.Head
	Pipe        bool     `json:"pipe"` // the form for pipes
	BigEndian   bool     `json:"big_endian"`
	Compressed  bool     `json:"compressed"` // has compressed records
	Host        string   `json:"host"`       // "" if unknown, as all of these
	Release     string   `json:"release"`    // of Linux
	Arch        string   `json:"arch"`
	CPU         string   `json:"cpu"`
	PerfVersion string   `json:"perf_version"`
	CommandLine []string `json:"command_line"`

	Events  []eventFacts `json:"events"`
	Records int          `json:"records"` // of all types; lines of a text
	Samples uint64       `json:"samples"`
	// Samples with branches, and with a call chain; and all their branches.
	BranchSamples uint64 `json:"branch_samples"`
	ChainSamples  uint64 `json:"chain_samples"`
	Branches      uint64 `json:"branches"`
	// Times of the first and the last sample, in nanoseconds of the clock of the recording; 0 if unknown.
	FirstTime uint64 `json:"first_time"`
	LastTime  uint64 `json:"last_time"`

	LostRecords uint64 `json:"lost_records"` // by the kernel, whose buffer was full
	LostSamples uint64 `json:"lost_samples"`
	// Samples of events that the recording does not describe, and samples of a text in another form.
	UnknownSamples uint64 `json:"unknown_samples"`
	TraceBytes     uint64 `json:"trace_bytes"` // of hardware tracing, which are not read

	// Programs are the files from which code was mapped, the most samples first.
	Programs []mappedFacts `json:"programs"`
	Unmapped uint64        `json:"unmapped_samples"` // in none of them
	family.Problems

	top int
}

type eventFacts struct {
	Name      string `json:"name"` // "" in a text
	Period    uint64 `json:"period"`
	Frequency bool   `json:"frequency"` // period is the number of samples per second
	Samples   uint64 `json:"samples"`
}

type mappedFacts struct {
	File     string `json:"file"`
	BuildID  string `json:"build_id"` // hexadecimal; "" if unknown
	Mappings int    `json:"mappings"` // of code
	Samples  uint64 `json:"samples"`  // whose address is in it
}

// A survey collects the programs of a recording while it is read.
type survey struct {
	programs []mappedFacts
	index    map[[2]string]int // by file and build id of the mapping
	spaces   perfdata.Spaces[int]
	unmapped uint64
	builds   map[string]build // of mappings, by file
	changed  []string         // files with mappings of several builds
	text     bool             // samples of a text are of no known process
}

// A build is the build id of the last mapping of a file.
type build struct {
	id      string
	changed bool // other mappings have another one
}

// read reads a recording.
func (s *survey) read(name string, data []byte, opt perfdata.Options) (*perfdata.Facts, error) {
	s.index, s.builds = make(map[[2]string]int), make(map[string]build)
	facts, err := perfdata.Read(name, data, &perfdata.Handler{
		Begin:   func(f *perfdata.Facts) error { s.text = f.Format == perfdata.FormatScript; return nil },
		Mapping: s.mapping, Sample: s.sample,
		Fork:    func(t *perfdata.Task) error { s.spaces.Fork(t); return nil },
		Exit:    func(t *perfdata.Task) error { s.spaces.Exit(t); return nil },
		Command: func(c *perfdata.Command) error { s.spaces.Exec(c); return nil },
	}, opt)
	s.name(facts)
	return facts, err
}

func (s *survey) mapping(m *perfdata.Mapping) error {
	if !m.Exec {
		return nil
	}
	key := [2]string{m.File, hex.EncodeToString(m.BuildID)}
	if key[1] != "" {
		b := s.builds[m.File]
		if b.id != "" && b.id != key[1] && !b.changed {
			b.changed = true
			s.changed = append(s.changed, m.File)
		}
		b.id = key[1]
		s.builds[m.File] = b
	}
	at, ok := s.index[key]
	if !ok {
		at = len(s.programs)
		s.index[key] = at
		s.programs = append(s.programs, mappedFacts{File: key[0], BuildID: key[1]})
	}
	s.programs[at].Mappings++
	if s.text {
		m.PID = perfdata.Kernel
	}
	s.spaces.Map(m, at)
	return nil
}

func (s *survey) sample(p *perfdata.Sample) error {
	if at, _, ok := s.spaces.Find(p.PID, p.IP); ok {
		s.programs[at].Samples += p.Count
	} else {
		s.unmapped += p.Count
	}
	return nil
}

const kernelFile = "[kernel.kallsyms]"

// name gives programs without a build id the one that the recording has for their file.
func (s *survey) name(facts *perfdata.Facts) {
	ids := make(map[string]string, len(facts.BuildIDs))
	for i := range facts.BuildIDs {
		ids[facts.BuildIDs[i].File] = hex.EncodeToString(facts.BuildIDs[i].ID)
	}
	for i := range s.programs {
		p := &s.programs[i]
		file := p.File
		if strings.HasPrefix(file, kernelFile) { // and the symbol that perf counts from, "_text"
			file = kernelFile
		}
		p.BuildID = cmp.Or(p.BuildID, ids[file])
	}
}

// collectRecording returns the facts of a recording up to its end or the first error, which it also returns.
func collectRecording(name string, data []byte, format formats.Format, opt *family.ShowOptions) (*recordingFacts, error) {
	f := &recordingFacts{Head: family.NewHead(name, len(data), format), Problems: family.NewProblems(), top: opt.Top}
	var s survey
	facts, err := s.read(name, data, perfdata.Options{Warn: f.Warn})
	f.Pipe, f.BigEndian, f.Compressed = facts.Format == perfdata.FormatPipe, facts.BigEndian, facts.Compressed
	f.Host, f.Release, f.Arch, f.CPU, f.PerfVersion = facts.Host, facts.Release, facts.Arch, facts.CPU, facts.PerfVersion
	f.CommandLine = append([]string{}, facts.CommandLine...)
	f.Events = []eventFacts{}
	for _, e := range facts.Events {
		f.Events = append(f.Events, eventFacts{e.Name, e.Period, e.Frequency, e.Samples})
	}
	f.Records, f.Samples, f.Branches = facts.Records, facts.Samples, facts.Branches
	f.BranchSamples, f.ChainSamples = facts.Branched, facts.Chained
	f.FirstTime, f.LastTime = facts.First, facts.Last
	f.LostRecords, f.LostSamples, f.TraceBytes = facts.LostRecords, facts.LostSamples, facts.TraceBytes
	f.UnknownSamples = facts.UnknownIDs + facts.Unreadable
	f.Programs, f.Unmapped = append([]mappedFacts{}, s.programs...), s.unmapped
	slices.SortStableFunc(f.Programs, func(a, b mappedFacts) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.File, b.File))
	})
	return f, f.End(err)
}

// Print prints the facts.
func (f *recordingFacts) Print(p *family.Printer) {
	p.Title(f.File)
	rows := [][2]string{{"Format", f.form()}}
	add := func(label, text string) {
		if text != "" {
			rows = append(rows, [2]string{label, console.Printable(text)})
		}
	}
	add("Host", joined(f.Host, prefixed("Linux ", f.Release), f.Arch, f.CPU))
	add("Recorded by", prefixed("perf ", f.PerfVersion))
	add("Command", strings.Join(f.CommandLine, " "))
	for i, e := range f.Events {
		label := "Events"
		if i > 0 {
			label = ""
		}
		if e.Name != "" || len(f.Events) > 1 {
			rows = append(rows, [2]string{label, console.Printable(e.text())})
		}
	}
	add("Samples", f.samplesText())
	if f.LastTime > f.FirstTime {
		d := time.Duration(min(f.LastTime-f.FirstTime, math.MaxInt64))
		add("Time", d.Round(max(d/1000, 1)).String()+" from the first sample to the last")
	}
	var lost []string
	if f.LostSamples > 0 {
		lost = append(lost, cli.Quantity(f.LostSamples, "sample", "samples"))
	}
	if f.LostRecords > 0 {
		lost = append(lost, cli.Quantity(f.LostRecords, "record", "records"))
	}
	if len(lost) > 0 {
		add("Lost", strings.Join(lost, ", ")+" by the kernel, whose buffer was full")
	}
	if f.UnknownSamples > 0 {
		add("Unknown", cli.Quantity(f.UnknownSamples, "sample", "samples")+" of no known event or form")
	}
	if f.TraceBytes > 0 {
		add("Tracing", cli.Quantity(f.TraceBytes, "byte", "bytes")+" of hardware tracing, which are not read")
	}
	p.List(append(rows, f.Rows(p.Term, "")...))
	f.printPrograms(p)
}

// form describes the form of the file.
func (f *recordingFacts) form() string {
	text := f.What
	for _, kind := range []struct {
		is   bool
		word string
	}{{f.Pipe, "from a pipe"}, {f.BigEndian, "big-endian"}, {f.Compressed, "compressed"}} {
		if kind.is {
			text += ", " + kind.word
		}
	}
	return text + ", " + cli.Quantity(f.Size, "byte", "bytes")
}

func (e *eventFacts) text() string {
	text := e.Name
	switch {
	case e.Frequency:
		text += fmt.Sprintf(", %s a second", cli.Quantity(e.Period, "sample", "samples"))
	case e.Period > 0:
		text += fmt.Sprintf(", a sample every %s", cli.Quantity(e.Period, "event", "events"))
	}
	return text + ": " + cli.Quantity(e.Samples, "sample", "samples")
}

func (f *recordingFacts) samplesText() string {
	if f.Samples == 0 {
		return "0"
	}
	part := func(n uint64) string {
		switch n {
		case 0:
			return "none"
		case f.Samples:
			return "all"
		}
		return cli.Count(n)
	}
	text := fmt.Sprintf("%s: %s with branches", cli.Count(f.Samples), part(f.BranchSamples))
	if f.BranchSamples > 0 {
		text += fmt.Sprintf(" (%s)", cli.Count(f.Branches))
	}
	return text + fmt.Sprintf(", %s with call chains", part(f.ChainSamples))
}

// printPrograms lists the programs with the most samples.
func (f *recordingFacts) printPrograms(p *family.Printer) {
	var rows [][]string
	var others int
	var inOthers uint64
	for _, program := range f.Programs {
		if len(rows) == f.top || program.Samples == 0 {
			others++
			inOthers += program.Samples
			continue
		}
		rows = append(rows, []string{cli.Count(program.Samples), cmp.Or(program.BuildID, "–"), console.Printable(program.File)})
	}
	if others > 0 {
		rows = append(rows, []string{cli.Count(inOthers), "", "in " + cli.Quantity(others, "other file", "other files")})
	}
	if f.Unmapped > 0 {
		rows = append(rows, []string{cli.Count(f.Unmapped), "", "in no mapped file"})
	}
	if len(rows) > 0 {
		p.Table([]string{"Samples", "Build id", "Programs"}, rows)
	}
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// joined joins the texts that are not empty.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), ", ")
}
