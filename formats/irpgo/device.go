package irpgo

// Profiles of programs for GPUs (AMDGPU, since LLVM 23). Beside each counter a raw profile has a uniform counter: how
// often the counted block ran with all lanes of the wave active. Indexed profiles keep one bit for each counter.

// A deviceSum is what the sums keep of the uniform counters of one record. Raw inputs give counters, indexed inputs
// give bits; how the inputs are grouped makes no difference.
type deviceSum struct {
	uniform, total []uint64 // of raw inputs: the uniform counters, and the counters beside them; nil for none
	bits           []byte   // of indexed inputs: the bits that all of them have; nil for none
}

// add adds the sums of another record with the same number of counters.
func (d *deviceSum) add(o *deviceSum, weight uint64) {
	if len(o.uniform) > 0 {
		if d.uniform == nil {
			d.uniform, d.total = make([]uint64, len(o.uniform)), make([]uint64, len(o.uniform))
		}
		addCounts(d.uniform, o.uniform, weight, false)
		addCounts(d.total, o.total, weight, false)
	}
	d.bits = andBits(d.bits, o.bits)
}

// andBits returns the bits that both have; nil stands for all bits. It may reuse the memory of a.
func andBits(a, b []byte) []byte {
	switch {
	case len(b) == 0:
		return a
	case a == nil:
		return append([]byte(nil), b...)
	}
	for i := range a {
		a[i] &= b[i]
	}
	return a
}

// uniformity returns the bits of [Record].Uniformity. d may be nil.
func (d *deviceSum) uniformity() []byte {
	if d == nil {
		return nil
	}
	if len(d.uniform) == 0 {
		return d.bits
	}
	bits := make([]byte, uniformitySize(len(d.uniform)))
	for i := range bits {
		bits[i] = 0xff
	}
	for i, n := range d.total {
		if d.uniform[i] < n-n/10 {
			bits[i/8] &^= 1 << (i % 8)
		}
	}
	return andBits(bits, d.bits)
}

// uniformitySize returns the bytes of the uniformity bits of n counters.
func uniformitySize(n int) int { return (n + 7) / 8 }

// deviceOf returns the sums of an entry; nil if no input had uniform counters or bits for it.
func (s *sums) deviceOf(e *entry) *deviceSum { return s.devices[e.counts] }

// addDevice adds the uniform counters or bits of a record to an entry.
func (s *sums) addDevice(e *entry, o *deviceSum, weight uint64) {
	if o == nil {
		return
	}
	if s.devices == nil {
		s.devices = make(map[position]*deviceSum)
	}
	d := s.devices[e.counts]
	if d == nil {
		d = &deviceSum{}
		s.devices[e.counts] = d
	}
	d.add(o, weight)
}
