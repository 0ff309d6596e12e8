package perfdata

import (
	"bytes"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// scriptHead is how much of a text is looked at to tell whether it is a script.
const scriptHead = 1 << 16

// isScript reports whether a text begins as a script does: with a mapping, or with a sample that has branches.
func isScript(data []byte) bool {
	head := data[:min(len(data), scriptHead)]
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		head = rest
		switch kindOfLine(line) {
		case lineMapping, lineBranches:
			return true
		case lineOther:
			return false
		}
	}
	return false
}

// A scriptReader reads the text of perf script.
type scriptReader struct {
	name  string
	data  []byte
	h     *Handler
	opt   Options
	facts Facts

	line    int // from 1
	sample  Sample
	mapping Mapping

	// Lines with an address that no branches have followed yet.
	pending []uint64
	chained bool   // they are a call chain
	count   uint64 // of the next sample
	warned  bool
}

func newScriptReader(name string, data []byte, h *Handler, opt Options) *scriptReader {
	return &scriptReader{
		name: name, data: data, h: h, opt: opt, count: 1,
		facts: Facts{Format: FormatScript, Events: []Event{{}}}, // which event, the text does not say
	}
}

func (s *scriptReader) read() error {
	if s.h.Begin != nil {
		if err := s.h.Begin(&s.facts); err != nil {
			return err
		}
	}
	for rest := s.data; len(rest) > 0; {
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		s.line++
		s.facts.Records++
		if err := s.readLine(line, kindOfLine(line)); err != nil {
			return err
		}
	}
	return s.endAddresses()
}

func (s *scriptReader) readLine(line []byte, kind lineKind) error {
	switch kind {
	case lineAddress:
		word, _ := nextWord(line)
		address, _ := leadingHex(word)
		if len(s.pending) == 0 && line[0] == '\t' {
			s.chained = true
		}
		s.pending = append(s.pending, address)
		return nil
	case lineBranches:
		return s.readBranches(line)
	}
	if err := s.endAddresses(); err != nil {
		return err
	}
	switch kind {
	case lineEmpty:
		s.chained = true
	case lineCount:
		n, err := strconv.ParseUint(string(bytes.TrimRight(line, " \t\r")), 10, 64)
		if err != nil {
			s.unreadable("number of samples", line)
			return nil
		}
		s.count = n
	case lineMapping:
		if !parseMapping(bytes.TrimSuffix(line, []byte("\r")), &s.mapping) {
			s.unreadable("mapping", line)
			return nil
		}
		s.facts.Mappings++
		if s.h.Mapping != nil {
			return s.h.Mapping(&s.mapping)
		}
	default:
		s.facts.Unreadable++
		s.unreadable("sample", line)
	}
	return nil
}

// unreadable warns of the first line that has another form.
func (s *scriptReader) unreadable(what string, line []byte) {
	if s.warned || s.opt.Warn == nil {
		return
	}
	s.warned = true
	s.opt.Warn(profile.Warning{File: s.name, Err: flaw.File(s.name).OnLine(s.line).Field(what).Got(flaw.Quote(line)).
		Want("what perf script -F ip,brstack --show-mmap-events prints").Corrupt()})
}

// endAddresses passes on samples that have no branches: a call chain, or an address on each line.
func (s *scriptReader) endAddresses() error {
	pending, chained := s.pending, s.chained
	s.pending, s.chained = s.pending[:0], false
	if len(pending) == 0 {
		return nil
	}
	if chained {
		return s.pass(pending[0], pending)
	}
	for _, address := range pending {
		if err := s.pass(address, nil); err != nil {
			return err
		}
	}
	return nil
}

// pass passes on a sample with the branches in s.sample.
func (s *scriptReader) pass(ip uint64, chain []uint64) error {
	p := &s.sample
	*p = Sample{PID: -1, TID: -1, IP: ip, Count: s.count, Branches: p.Branches, Chain: chain}
	s.count = 1
	f := &s.facts
	f.Samples += p.Count
	if len(p.Branches) > 0 {
		f.Branched += p.Count
		f.Branches += p.Count * uint64(len(p.Branches))
	}
	if len(chain) > 0 {
		f.Chained += p.Count
	}
	var err error
	if s.h.Sample != nil {
		err = s.h.Sample(p)
	}
	p.Branches = p.Branches[:0]
	return err
}

// readBranches reads the line of branches of a sample.
func (s *scriptReader) readBranches(line []byte) error {
	word, rest := nextWord(line)
	var ip uint64
	var chain []uint64
	if isBranchWord(word) {
		// The addresses before are the call chain of this sample.
		if rest = line; len(s.pending) > 0 {
			ip, chain = s.pending[0], s.pending
			s.pending, s.chained = s.pending[:0], false
		}
	} else {
		if err := s.endAddresses(); err != nil {
			return err
		}
		ip, _ = leadingHex(word)
	}
	branches := s.sample.Branches[:0]
	for {
		if word, rest = nextWord(rest); len(word) == 0 {
			break
		}
		b, ok := parseBranch(word)
		if !ok {
			s.facts.Unreadable++
			s.unreadable("branch", word)
			break
		}
		branches = append(branches, b)
	}
	s.sample.Branches = branches
	return s.pass(ip, chain)
}
