package irpgo

// Fork returns an empty Merger for another worker. Its options are those of
// m; the temporal traces of all forks go into one sample. Only exact merging
// may be forked.
func (m *Merger) Fork() *Merger { return newMerger(m.opt, m.sampler, m.catalogs, m.names) }

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
		m.mergeContext(o)
	} else {
		m.sums.mergeFork(&o.sums, func(e *entry) { m.warn("", e.name, CodeCounterOverflow) })
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
	k := o.sums.finish(func(string, Code) {})
	var s keyRecords
	for i := range k.len() {
		for _, r := range recordOrder(k.records(i, &s), releaseOf(22)) {
			m.addRecord(r, k.ref(i), 1, uint64(m.next)<<32, "")
		}
	}
	m.next++
	m.sampler.add(o.sampler.traces, o.sampler.stream)
}

// mergeFork folds the accumulator of a fork in.
func (a *accumulator) mergeFork(o *accumulator, overflowed func(*entry)) {
	if len(a.entries) == 0 {
		*a = *o
		return
	}
	together := a.alone != nil && a.alone == o.alone
	if together {
		a.base = min(a.base, o.base)
	} else {
		a.own()
		o.own()
	}
	for i := range o.entries {
		from := &o.entries[i]
		at := i
		if !together {
			var fits bool
			if at, fits = a.find(from.name, from.ref, from.hash, &from.form); !fits {
				e := *from
				e.next = 0
				at = a.add(e)
				a.replace(&a.entries[at], o, from)
				continue
			}
		}
		if a.join(&a.entries[at], o, from) {
			overflowed(from)
		}
	}
	a.limit = min(maxCount, a.limit+min(o.limit, maxCount-a.limit))
}

// replace gives e the numbers of an entry of another accumulator.
func (a *accumulator) replace(e *entry, o *accumulator, from *entry) {
	copy(a.countsOf(e), o.countsOf(from))
	copy(a.bitmapOf(e), o.bitmapOf(from))
	copy(a.sitesOf(e), o.sitesOf(from))
}

// join adds an entry of another accumulator to e, which has its form, and
// reports whether a number is at its limit.
func (a *accumulator) join(e *entry, o *accumulator, from *entry) (overflow bool) {
	own, other := a.countsOf(e), o.countsOf(from)
	if e.pseudo {
		verdict := max(own[0], other[0])
		if from.seq < e.seq { // the other numbers of the first record stand
			a.replace(e, o, from)
			e.seq = from.seq
		}
		own[0] = verdict
		return false
	}
	if a.alone == nil {
		e.seq = min(e.seq, from.seq)
	}
	for i, c := range other {
		overflow = addCount(&own[i], c, 1) || overflow
	}
	orBytes(a.bitmapOf(e), o.bitmapOf(from))
	sites, others := a.sitesOf(e), o.sitesOf(from)
	for i := range sites {
		overflow = a.joinSite(&sites[i], &others[i]) || overflow
	}
	return overflow
}
