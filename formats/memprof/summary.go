package memprof

// summary counts the contexts of a profile by their temperature
// (memprof::MemProfSummary).
type summary struct {
	NumContexts     uint64
	NumColdContexts uint64
	NumHotContexts  uint64
	// The largest TotalSize, in bytes, of the contexts of each temperature.
	MaxColdTotalSize uint64
	MaxWarmTotalSize uint64
	MaxHotTotalSize  uint64
}

// fields returns the fields in the order of the file.
func (s *summary) fields() [numSummaryFields]*uint64 {
	return [...]*uint64{
		&s.NumContexts, &s.NumColdContexts, &s.NumHotContexts,
		&s.MaxColdTotalSize, &s.MaxWarmTotalSize, &s.MaxHotTotalSize,
	}
}

func (s *summary) add(m *MIB, t Thresholds) {
	s.NumContexts++
	switch t.Classify(m) {
	case Cold:
		s.NumColdContexts++
		s.MaxColdTotalSize = max(s.MaxColdTotalSize, m.TotalSize)
	case Hot:
		s.NumHotContexts++
		s.MaxHotTotalSize = max(s.MaxHotTotalSize, m.TotalSize)
	default:
		s.MaxWarmTotalSize = max(s.MaxWarmTotalSize, m.TotalSize)
	}
}

// summarize computes the summary. Like compilers it treats stacks that differ in inline
// flags only as one context; the first of them counts.
func (p *Profile) summarize(t Thresholds) summary { return p.count(t, p.Stacks.contexts()) }

// written counts contexts as the writer of version 4 does, to which marks of
// inlining make a difference.
func (p *Profile) written() summary { return p.count(DefaultThresholds, nil) }

// count summarizes the contexts, given by stack, or the stacks themselves.
func (p *Profile) count(t Thresholds, contexts []StackIndex) (s summary) {
	seen := make([]bool, p.Stacks.numNodes()+1)
	for _, rec := range p.Records {
		for _, site := range rec.AllocSites {
			c := site.Stack
			if contexts != nil {
				c = contexts[c]
			}
			if !seen[c] {
				seen[c] = true
				s.add(&p.MIBs[site.MIB], t)
			}
		}
	}
	return s
}

// contexts returns for every stack the first stack that equals it apart from inline
// flags.
func (s *Stacks) contexts() []StackIndex {
	flagless := Stacks{}                                  // the stacks without inline flags
	first := make([]StackIndex, len(s.nodes.list)+1)      // by index in flagless
	toFlagless := make([]StackIndex, len(s.nodes.list)+1) // by index in s
	out := make([]StackIndex, len(s.nodes.list)+1)
	frames := make([]FrameIndex, len(s.frames))
	for i, f := range s.frames {
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
