package profgen

import (
	"bytes"
	"encoding/hex"
	"maps"
	"path"
	"slices"

	"github.com/profuse-pgo/profuse/formats/perfdata"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// An Account says what became of the samples of a recording.
type Account struct {
	Samples uint64
	// The addresses of the samples are in the program, in the kernel, in other files, or in no file that is known. The
	// text of perf script tells only about the program.
	Program, Kernel, Other, Unknown uint64
	Branchless                      uint64   // samples without branches, of which nothing follows
	Used                            uint64   // samples with a branch that begins or ends in the program
	OtherBuilds                     []string // sorted build ids of mapped files with the name of the program, which are no part of it
	Mapped                          bool     // a process had mapped the program
	Lost                            uint64   // records and samples that the kernel dropped
	Cut                             error    // where the recording was cut short; nil if it is whole
	Faults                          Faults
}

// ReadRecording reads a recording of perf, or the text of perf script, and returns the sums of the branches that the
// program took in any process. A mapped file is the program if it has its build id, or its name if one of the two has no
// build id. Each process may have mapped the program elsewhere.
func (p *Program) ReadRecording(name string, data []byte, warn func(profile.Warning)) (*Counts, *Account, error) {
	r := recording{
		program: p, file: path.Base(p.file.Name), stacks: p.NewStacks(), layouts: make(map[int32]*layout),
		ids: make(map[mappedFile]int), others: make(map[string]struct{}),
	}
	facts, err := perfdata.Read(name, data, &perfdata.Handler{
		Begin:   func(f *perfdata.Facts) error { r.facts = f; return nil },
		Sample:  r.addSample,
		Mapping: r.addMapping,
		Command: func(c *perfdata.Command) error {
			r.spaces.Exec(c)
			if c.Exec {
				delete(r.layouts, c.PID)
				r.last = nil
			}
			return nil
		},
		Fork: func(t *perfdata.Task) error {
			r.spaces.Fork(t)
			if t.PID != t.Parent {
				r.setLayout(t.PID, r.layouts[t.Parent])
			}
			return nil
		},
		Exit: func(t *perfdata.Task) error {
			r.spaces.Exit(t)
			if t.PID == t.TID {
				r.setLayout(t.PID, nil)
			}
			return nil
		},
	}, perfdata.Options{Warn: warn})
	if err != nil {
		return nil, nil, err
	}
	a := &r.account
	a.Lost, a.Cut = saturate.Add(facts.LostRecords, facts.LostSamples), facts.Cut
	a.OtherBuilds = slices.Sorted(maps.Keys(r.others))
	counts, faults := r.stacks.Counts()
	a.Faults = faults
	return counts, a, nil
}

// A recording is the state of reading one.
type recording struct {
	program *Program
	file    string // name of the program, without its folder
	facts   *perfdata.Facts
	ids     map[mappedFile]int // the last of the first indexed entries of facts.BuildIDs for the file, plus 1
	indexed int
	others  map[string]struct{} // build ids of files with the name of the program
	stacks  *Stacks
	account Account

	spaces  perfdata.Spaces[bool] // of each mapped file, whether it is the program
	layouts map[int32]*layout     // of processes that have mapped the program
	text    *layout               // of text, whose samples have no process: the latest
	last    *layout               // of process lastPID
	lastPID int32
	stack   []Span
}

// A mappedFile is a file in a process, or in all if the process id is below 0.
type mappedFile struct {
	pid  int32
	file string
}

// A layout is where a process has mapped the code of the program. Processes share layouts, which do not change.
type layout struct {
	start, end uint64 // of all mappings with code
	bias       uint64 // an address less the address as linked, modulo 2^64
}

// linked returns an address as the program was linked, and 0, where no instruction is, outside the program.
func (l *layout) linked(addr uint64) uint64 {
	if addr < l.start || addr >= l.end {
		return 0
	}
	return addr - l.bias
}

// modeKernel is the mode of samples of the kernel (PERF_RECORD_MISC_KERNEL).
const modeKernel = 1

// nowhere is the layout of processes without the program.
var nowhere layout

func (r *recording) addMapping(m *perfdata.Mapping) error {
	ours := r.isProgram(m)
	if r.spaces.Map(m, ours); !ours || !m.Exec {
		return nil
	}
	bias, ok := r.program.bias(m)
	if !ok {
		return nil
	}
	r.account.Mapped = true
	l := &layout{m.Addr, m.Addr + m.Len, bias}
	if old := r.layouts[m.PID]; old != nil && old.bias == bias {
		l.start, l.end = min(l.start, old.start), max(l.end, old.end)
	}
	r.setLayout(m.PID, l)
	r.text = l
	return nil
}

func (r *recording) setLayout(pid int32, l *layout) {
	if r.last = nil; l == nil {
		delete(r.layouts, pid)
		return
	}
	r.layouts[pid] = l
}

// isProgram reports whether a mapped file is the program.
func (r *recording) isProgram(m *perfdata.Mapping) bool {
	id, named := m.BuildID, path.Base(m.File) == r.file
	if id == nil {
		id = r.buildID(m)
	}
	if own := r.program.file.BuildID; len(own) > 0 && len(id) > 0 {
		// Headers of older recordings pad build ids to 20 bytes.
		if bytes.Equal(bytes.TrimRight(own, "\x00"), bytes.TrimRight(id, "\x00")) {
			return true
		}
		if named {
			r.others[hex.EncodeToString(id)] = struct{}{}
		}
		return false
	}
	return named
}

// buildID returns the build id that the recording has for a mapped file, beside its mappings; nil if there is none. A
// pipe may add more while it is read.
func (r *recording) buildID(m *perfdata.Mapping) []byte {
	all := r.facts.BuildIDs
	for ; r.indexed < len(all); r.indexed++ {
		b := &all[r.indexed]
		r.ids[mappedFile{max(b.PID, -1), b.File}] = r.indexed + 1
	}
	last := max(r.ids[mappedFile{m.PID, m.File}], r.ids[mappedFile{-1, m.File}])
	if last == 0 {
		return nil
	}
	return all[last-1].ID
}

// bias returns how far from its address as linked a process has mapped a part of the program.
func (p *Program) bias(m *perfdata.Mapping) (uint64, bool) {
	for _, s := range p.file.Segments {
		within := s.Offset % page // systems map whole pages
		if start := s.Offset - within; s.Executable && m.Offset >= start && m.Offset < s.Offset+s.FileSize {
			return m.Addr - (s.Addr - within + (m.Offset - start)), true
		}
	}
	return 0, false
}

func (r *recording) addSample(s *perfdata.Sample) error {
	a := &r.account
	a.Samples = saturate.Add(a.Samples, s.Count)
	l := r.layoutOf(s.PID)
	place := &a.Unknown
	if l.linked(s.IP) != 0 {
		place = &a.Program
	} else if ours, _, ok := r.spaces.Find(s.PID, s.IP); ours {
		place = &a.Program
	} else if s.Mode == modeKernel {
		place = &a.Kernel
	} else if ok {
		place = &a.Other
	}
	*place = saturate.Add(*place, s.Count)
	if len(s.Branches) == 0 {
		a.Branchless = saturate.Add(a.Branchless, s.Count)
		return nil
	}
	r.stack = r.stack[:0]
	touches := uint64(0)
	for _, b := range s.Branches {
		span := Span{l.linked(b.From), l.linked(b.To)}
		touches |= span.From | span.To
		r.stack = append(r.stack, span)
	}
	if touches != 0 {
		a.Used = saturate.Add(a.Used, s.Count)
		r.stacks.Add(r.stack, s.Count)
	}
	return nil
}

func (r *recording) layoutOf(pid int32) *layout {
	if pid < 0 {
		if r.text != nil {
			return r.text
		}
		return &nowhere
	}
	if r.last == nil || r.lastPID != pid {
		r.lastPID, r.last = pid, &nowhere
		if l := r.layouts[pid]; l != nil {
			r.last = l
		}
	}
	return r.last
}
