package memprof

// Summary counts the contexts of a profile by their temperature (memprof::MemProfSummary).
type Summary struct {
	NumContexts     uint64
	NumColdContexts uint64
	NumHotContexts  uint64
	// The largest TotalSize, in bytes, of the contexts of each temperature.
	MaxColdTotalSize uint64
	MaxWarmTotalSize uint64
	MaxHotTotalSize  uint64
}

// fields returns the fields in the order of the file.
func (s *Summary) fields() [numSummaryFields]*uint64 {
	return [...]*uint64{
		&s.NumContexts, &s.NumColdContexts, &s.NumHotContexts,
		&s.MaxColdTotalSize, &s.MaxWarmTotalSize, &s.MaxHotTotalSize,
	}
}

func (s *Summary) addContext(m *MIB, t Thresholds) {
	s.NumContexts++
	switch t.Classify(m) {
	case cold:
		s.NumColdContexts++
		s.MaxColdTotalSize = max(s.MaxColdTotalSize, m.TotalSize)
	case hot:
		s.NumHotContexts++
		s.MaxHotTotalSize = max(s.MaxHotTotalSize, m.TotalSize)
	default:
		s.MaxWarmTotalSize = max(s.MaxWarmTotalSize, m.TotalSize)
	}
}

// Summary returns the summary that the file stores (version 4), or computes it with the
// default thresholds. Like compilers, it counts stacks that differ in inline flags only as
// one context, with the MIB of the first.
func (p *Profile) Summary() Summary {
	if p.summary != nil {
		return *p.summary
	}
	return p.countContexts(p.Stacks.contexts())
}

// writtenSummary returns LLVM's summary in version 4, for which inline flags make different contexts.
func (p *Profile) writtenSummary() Summary { return p.countContexts(nil) }

// countContexts summarizes the contexts, given by stack; without contexts each stack is one.
func (p *Profile) countContexts(contexts []StackIndex) (s Summary) {
	seen := make([]bool, p.Stacks.numNodes()+1)
	for _, rec := range p.Records {
		for _, site := range rec.AllocSites {
			c := site.Stack
			if contexts != nil {
				c = contexts[c]
			}
			if !seen[c] {
				seen[c] = true
				s.addContext(&p.MIBs[site.MIB], DefaultThresholds)
			}
		}
	}
	return s
}

// contexts returns for every stack the first stack that equals it apart from inline flags.
func (s *Stacks) contexts() []StackIndex {
	flagless := Stacks{}                                  // the stacks without inline flags
	first := make([]StackIndex, len(s.nodes.list)+1)      // by index in flagless
	toFlagless := make([]StackIndex, len(s.nodes.list)+1) // by index in s
	out := make([]StackIndex, len(s.nodes.list)+1)
	frames := make([]frameIndex, len(s.Frames))
	for i, f := range s.Frames {
		f.Inline = false
		frames[i] = flagless.addFrame(f)
	}
	for i, n := range s.nodes.list {
		at := StackIndex(i + 1)
		p := flagless.push(toFlagless[n.caller()], frames[n.frame()])
		toFlagless[at] = p
		if first[p] == 0 {
			first[p] = at
		}
		out[at] = first[p]
	}
	return out
}
