package irpgo

// Fork returns an empty Merger for another worker. Its options are those of
// m; the temporal traces of all forks go into one sample. Only exact merging
// may be forked.
func (m *Merger) Fork() *Merger { return newMerger(m.opt, m.sampler, m.shapes, m.names) }

// Merge folds another Merger into m and leaves the other unusable. Under
// LLVMCompat it does what llvm-profdata does when it joins the results of two
// threads.
func (m *Merger) Merge(o *Merger) error {
	if o.variant != 0 || !o.empty() { // else a fork that got no input
		variant, err := m.mergeVariant(o.variant)
		if err != nil {
			return err
		}
		m.variant = variant
	}
	if m.opt.LLVMCompat {
		m.flush()
		o.flush()
		m.mergeContext(o)
	} else {
		m.mergeFork(o)
	}
	if err := m.mergeMemProf(o); err != nil {
		return err
	}
	for id := range o.binaryIDs {
		m.binaryIDs[id] = struct{}{}
	}
	for n := range o.vtables {
		m.vtables[n] = struct{}{}
	}
	for ref, n := range o.symbols.index() {
		m.symbols.add(ref, n)
	}
	return nil
}

// mergeContext is InstrProfWriter::mergeRecordsFromWriter.
func (m *Merger) mergeContext(o *Merger) {
	for _, f := range o.sorted() {
		records := make([]*Record, len(f.records))
		for i, r := range f.records {
			records[i] = &r.Record
		}
		for _, r := range recordOrder(records, releaseOf(22)) {
			m.addRecord(r, f.ref, 1, uint64(m.next)<<32|f.seq, "")
		}
	}
	m.next++
	m.sampler.add(o.sampler.traces, o.sampler.stream)
}

// mergeFork folds the accumulators of a fork in without copying them.
func (m *Merger) mergeFork(o *Merger) {
	for s, from := range o.sums {
		if to := m.sums[s]; to != nil {
			to.join(from, m)
		} else {
			m.sums[s] = from
		}
	}
	if len(m.functions.order) == 0 {
		m.functions = o.functions
		return
	}
	for _, from := range o.functions.order {
		to, found := m.functions.adopt(from)
		if !found {
			continue
		}
		to.seq = min(to.seq, from.seq)
		for _, r := range from.records {
			dst := to.find(r.Hash)
			if dst == nil {
				to.records = append(to.records, r)
				continue
			}
			for _, in := range append([]*accRecord{r}, r.rivals...) {
				if same := dst.rival(&in.Record); same != nil {
					if in.seq < same.seq {
						// Of pseudo counts the first record's values stand.
						same.Record, in.Record = in.Record, same.Record
						same.seq = in.seq
					}
					same.merge(&in.Record, 1, false, func(code Code) { m.warn("", in.Name, code) })
				} else {
					in.rivals = nil
					dst.rivals = append(dst.rivals, in)
				}
			}
		}
	}
}
