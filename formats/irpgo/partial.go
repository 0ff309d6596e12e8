package irpgo

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// A partial holds all that a Merger knows: more than 255 values of a site, each form of a
// record by itself, the indexes of the inputs. An indexed profile has lost them, so that a
// sum of indexed profiles differs from the sum of their inputs.
//
//	magic, 8 bytes
//	uleb inputs, uleb variant
//	uleb n, n × (uleb format, uleb version, uleb variant)            of the inputs, see partialFormats
//	strings of binary ids, names of virtual tables
//	uleb n, n × (u64 reference, string)                              symbols
//	string: an indexed profile with the heap profile, empty without one
//	uleb n, n × uleb fields    of the heap profile's sites, see siteFields
//	uleb stream size, uleb n, n × trace
//	uleb n, n × record
//	SHA-256 of all before
//
//	string   uleb length, bytes
//	strings  uleb n, n × string
//	trace    uleb index, position, rank, weight, raw, n, n × u64 reference
//	record   string name, u64 hash, uleb index and number of its first appearance,
//	         string bitmap, uleb n, n × uleb counter, version 2: device, 3 × (uleb n, n × site)
//	device   string bits, uleb n, n × uleb uniform counter, n × uleb counter     see deviceSum
//	site     uleb 2·n+merged, n × (u64 value, uleb count)
//
// Records are in the order of names, and records of one name in the order of appearance, so
// that equal sums have equal bytes.
const partialMagic = "\xffprofuse"

// partialVersion follows the magic, one byte. A sum without uniform counters and bits has version 1.
const partialVersion = 2

// partialFormats are the formats of inputs by their numbers in a partial.
var partialFormats = []Format{formatRawMemProf, "", FormatRaw, FormatIndexed, FormatText, FormatPartial}

// NumInputs returns how many indexes a Merger needs for the profile that data begins
// with, see [Merger.AddAt]: 1 but for partials.
func NumInputs(data []byte) int {
	if !isPartial(data) || len(data) <= len(partialMagic) {
		return 1
	}
	c := cursor.New(partialSection, 0, data[len(partialMagic)+1:], binary.LittleEndian)
	return int(max(1, min(c.ULEB("number of inputs"), math.MaxInt32)))
}

func isPartial(data []byte) bool { return bytes.HasPrefix(data, []byte(partialMagic)) }

// WritePartial writes the sums of m without loss: the sum of partials is the sum of all their inputs, however the
// inputs are grouped. inputs describes the inputs as for [Merged.ChooseVersion]. Nothing may be added to m
// afterwards; it may be finished. Only exact merging has partials.
//
// A partial is added like any other profile. The index of [Merger.AddAt] is added to the
// indexes of its inputs: it is 0 if the inputs were indexed as parts of one whole, and the
// number of inputs before ([NumInputs]) if each partial was made by itself.
func (m *Merger) WritePartial(w io.Writer, inputs []*Info) error {
	if m.opt.LLVMCompat {
		return errors.ErrUnsupported
	}
	sum := sha256.New()
	p := &partialWriter{w: io.MultiWriter(w, sum)}
	p.b = append(append(p.b, partialMagic...), 1)
	if m.sums.devices != nil {
		p.b[len(partialMagic)] = partialVersion
	}
	p.numbers(uint64(m.next), uint64(m.variant))
	p.infos(inputs)
	p.strings(slices.Sorted(maps.Keys(m.binaryIDs)))
	p.strings(slices.Sorted(maps.Keys(m.vtables)))
	symbols := m.symbols.index()
	p.number(len(symbols))
	for _, ref := range slices.Sorted(maps.Keys(symbols)) {
		p.b = binary.LittleEndian.AppendUint64(p.b, ref)
		p.string(symbols[ref])
	}
	if err := p.heap(m.memprof); err != nil {
		return err
	}
	p.traces(m.sampler.(*ranking))
	p.records(&m.sums)
	p.flush(0)
	if p.err == nil {
		_, p.err = w.Write(sum.Sum(nil))
	}
	return p.err
}

// Exceeds reports whether m holds more than an indexed profile can hold, so that adding to
// the indexed profile would give another sum: more than 255 values at a site, or temporal
// traces, whose sample depends on their positions.
func (m *Merger) Exceeds() bool {
	large := func(t siteSum) bool { return len(t.values) > maxValuesPerSite }
	_, stream := m.sampler.sample()
	return stream > 0 || slices.ContainsFunc(m.sums.sites, large)
}

// A partialWriter writes a partial and keeps the first error.
type partialWriter struct {
	w   io.Writer
	b   []byte
	err error
}

// flush writes what there is if it is at least n bytes.
func (p *partialWriter) flush(n int) {
	if len(p.b) >= n {
		if p.err == nil {
			_, p.err = p.w.Write(p.b)
		}
		p.b = p.b[:0]
	}
}

func (p *partialWriter) numbers(list ...uint64) {
	for _, n := range list {
		p.b = cursor.AppendULEB(p.b, n)
	}
}

func (p *partialWriter) number(n int) { p.numbers(uint64(n)) }

func (p *partialWriter) string(s string) {
	p.number(len(s))
	p.b = append(p.b, s...)
	p.flush(1 << 16)
}

func (p *partialWriter) strings(list []string) {
	p.number(len(list))
	for _, s := range list {
		p.string(s)
	}
}

// infos writes what tells the inputs apart for [Merged.ChooseVersion].
func (p *partialWriter) infos(inputs []*Info) {
	var list [][3]uint64
	for _, in := range sources(inputs) {
		list = append(list, [3]uint64{uint64(slices.Index(partialFormats, in.Format)), uint64(in.Version), uint64(in.Variant)})
	}
	slices.SortFunc(list, func(a, b [3]uint64) int { return slices.Compare(a[:], b[:]) })
	list = slices.Compact(list)
	p.number(len(list))
	for _, in := range list {
		p.numbers(in[:]...)
	}
}

func (p *partialWriter) heap(m *memprof.Merger) error {
	var b bytes.Buffer
	var fields []uint64
	if m != nil {
		heap := &Profile{MemProf: m.Profile(), Variant: HasMemProf}
		opt := memprof.WriteOptions{Version: memprof.SectionVersionMax}
		opt.Schema, fields = siteFields(heap.MemProf)
		if err := WriteIndexed(&b, heap, IndexedOptions{MemProf: opt}); err != nil {
			return err
		}
	}
	p.string(b.String())
	p.number(len(fields))
	p.numbers(fields...)
	return nil
}

func (p *partialWriter) traces(s *ranking) {
	s.sample() // brings the traces into their order
	p.numbers(s.stream, uint64(len(s.traces)))
	for i := range s.traces {
		t := &s.traces[i]
		raw := uint64(0)
		if t.raw {
			raw = 1
		}
		p.numbers(uint64(t.index), uint64(t.position), t.rank, t.Weight, raw, uint64(len(t.NameRefs)))
		for _, ref := range t.NameRefs {
			p.b = binary.LittleEndian.AppendUint64(p.b, ref)
		}
		p.flush(1 << 16)
	}
}

func (p *partialWriter) records(a *accumulator) {
	order := a.byName()
	p.number(len(order))
	for _, x := range order {
		e, seq := a.entries.at(int(x.index)), a.seqs[x.index]
		p.string(e.name)
		p.b = binary.LittleEndian.AppendUint64(p.b, e.hash)
		p.numbers(seq>>32, seq&math.MaxUint32)
		p.string(string(a.bitmapOf(e)))
		p.number(int(e.counters))
		p.numbers(a.countsOf(e)...)
		if a.devices != nil {
			p.device(a.deviceOf(e))
		}
		sites := a.sitesOf(e)
		for _, n := range e.sites {
			p.number(int(n))
			for i := range sites[:n] {
				p.site(&sites[i])
			}
			sites = sites[n:]
		}
		p.flush(1 << 16)
	}
}

// device writes what is beside the counters of a record; d is nil for none.
func (p *partialWriter) device(d *deviceSum) {
	if d == nil {
		d = &deviceSum{}
	}
	p.string(string(d.bits))
	p.number(len(d.uniform))
	p.numbers(d.uniform...)
	p.numbers(d.total...)
}

func (p *partialWriter) site(t *siteSum) {
	head := 2 * uint64(len(t.values))
	if t.merged {
		head++
		sortSite(t.values)
		t.mayRepeat() // the values have moved
	}
	p.numbers(head)
	for _, v := range t.values {
		p.b = cursor.AppendULEB(binary.LittleEndian.AppendUint64(p.b, v.Value), v.Count)
	}
	p.flush(1 << 16)
}

// A partialReader reads a partial that newPartialReader has checked whole.
type partialReader struct {
	decoded
	inputs int
	syms   Symtab
	heap   *Reader  // an indexed profile; nil without a heap profile
	fields []uint64 // see siteFields
	ranked []rankedTrace
	first  cursor.Cursor // at the first record
	n      int           // records
	record partialRecord // the current one
}

// partialSection is the section of a partial in errors.
const partialSection = "partial sum"

func newPartialReader(name string, data []byte, opt ReaderOptions) (decoder, error) {
	body := len(data) - sha256.Size
	if body <= len(partialMagic) {
		return nil, flaw.At(partialSection, 0).Field("size").Gotf("%d bytes", len(data)).Want("a whole partial sum").Truncated()
	}
	version := data[len(partialMagic)]
	if version == 0 || version > partialVersion {
		return nil, flaw.At(partialSection, int64(len(partialMagic))).Field("version").Got(version).Wantf("1 to %d", partialVersion).Unsupported()
	}
	if sum := sha256.Sum256(data[:body]); !bytes.Equal(sum[:], data[body:]) {
		return nil, flaw.At(partialSection, int64(body)).Field("SHA-256").Gotf("%x", data[body:]).
			Wantf("%x: the file is cut off or damaged", sum).Corrupt()
	}
	p := &partialReader{}
	p.about = Info{Format: FormatPartial, Version: uint32(version)}
	c := cursor.New(partialSection, 0, data[:body], binary.LittleEndian)
	c.Skip(uint64(len(partialMagic)+1), "magic")
	inputs := c.ULEB("number of inputs")
	if inputs > math.MaxInt32 {
		c.Fail(c.At(c.Offset()).Field("number of inputs").Got(inputs).Want("less than 2^31").Corrupt())
	}
	p.inputs = int(inputs)
	p.about.Variant = Variant(c.ULEB("variant"))
	for range c.Count(c.ULEB("number of formats"), 3, "number of formats") {
		in := &Info{}
		if f := c.ULEB("format"); f < uint64(len(partialFormats)) {
			in.Format = partialFormats[f]
		}
		in.Version, in.Variant = uint32(c.ULEB("version of a format")), Variant(c.ULEB("variant of a format"))
		p.about.Of = append(p.about.Of, in)
	}
	for _, id := range readStrings(c, "binary id") {
		p.about.BinaryIDs = append(p.about.BinaryIDs, []byte(id))
	}
	p.about.VTableNames = readStrings(c, "virtual table")
	for range c.Count(c.ULEB("number of symbols"), 9, "number of symbols") {
		ref := c.U64("reference of a symbol")
		p.syms.add(ref, readString(c, "symbol"))
	}
	heap := c.Bytes(c.ULEB("size of the heap profile"), "heap profile")
	for range c.Count(c.ULEB("number of sites"), 1, "number of sites") {
		p.fields = append(p.fields, c.ULEB("fields of a site"))
	}
	p.readTraces(c)
	p.n = c.Count(c.ULEB("number of records"), 16, "number of records")
	p.first = *c
	r := partialRecord{c: c, devices: version > 1}
	for i := 0; i < p.n && c.Err() == nil; i++ {
		r.read(i)
	}
	if c.Err() == nil && c.Len() > 0 {
		c.Fail(c.At(c.Offset()).Field("end").Gotf("%d bytes more", c.Len()).Want("none after the records").Corrupt())
	}
	if c.Err() != nil || len(heap) == 0 {
		return p, c.Err()
	}
	var err error
	if p.heap, err = NewReader(name, heap, opt); err == nil && p.heap.MemProf() == nil {
		err = flaw.In(partialSection).Field("heap profile").Got("none").Want("a memprof section").Corrupt()
	}
	return p, err
}

func (p *partialReader) symbols() *Symtab { return &p.syms }

func (p *partialReader) traces() ([]Trace, uint64) {
	var traces []Trace
	for i := range p.ranked {
		traces = append(traces, p.ranked[i].Trace)
	}
	return traces, p.stream
}

func (p *partialReader) records(yield func(*Record, error) bool) {
	c := p.first
	p.record = partialRecord{c: &c, devices: p.about.Version > 1}
	for i := range p.n {
		p.record.read(i)
		if p.device = p.record.device; !yield(&p.record.Record, nil) {
			return
		}
	}
}

func readString(c *cursor.Cursor, field string) string {
	return string(c.Bytes(c.ULEB("length of a "+field), field))
}

func readStrings(c *cursor.Cursor, field string) (list []string) {
	for range c.Count(c.ULEB("number of "+field+"s"), 1, "number of "+field+"s") {
		list = append(list, readString(c, field))
	}
	return list
}

func (p *partialReader) readTraces(c *cursor.Cursor) {
	p.stream = c.ULEB("stream of traces")
	for range c.Count(c.ULEB("number of traces"), 6, "number of traces") {
		t := rankedTrace{index: int(c.ULEB("input of a trace")), position: int(c.ULEB("number of a trace")), rank: c.ULEB("rank of a trace")}
		t.Weight, t.raw = c.ULEB("weight of a trace"), c.ULEB("origin of a trace") == 1
		for range c.Count(c.ULEB("length of a trace"), 8, "length of a trace") {
			t.NameRefs = append(t.NameRefs, c.U64("function of a trace"))
		}
		p.ranked = append(p.ranked, t)
	}
}

// A partialRecord reads the records of a partial, each in the memory of the one before.
type partialRecord struct {
	Record
	c       *cursor.Cursor
	devices bool // version 2
	device  *deviceSum
	seq     uint64
	merged  []bool // of each site: it is the sum of several records
	values  []ValueData
	sites   [NumValueKinds][][]ValueData
}

func (r *partialRecord) read(record int) {
	c := r.c
	c.Record = record
	r.Name = readString(c, "name")
	r.Hash = c.U64("hash")
	index, number := c.ULEB("input"), c.ULEB("number in the input")
	if index|number > math.MaxUint32 {
		c.Fail(c.At(c.Offset()).Field("first appearance").Gotf("record %d of input %d", number, index).Want("numbers below 2^32").Corrupt())
	}
	r.seq = index<<32 | number
	r.Bitmap = c.Bytes(c.ULEB("size of the bitmap"), "bitmap")
	if len(r.Bitmap) == 0 {
		r.Bitmap = nil
	}
	n := c.Count(c.ULEB("number of counters"), 1, "number of counters")
	r.Counts = slices.Grow(r.Counts[:0], n)
	for range n {
		r.Counts = append(r.Counts, c.ULEB("counter"))
	}
	if r.devices {
		r.readDevice()
	}
	r.merged, r.values, r.Values = r.merged[:0], r.values[:0], valueSites{}
	for k := range r.sites {
		r.sites[k] = r.sites[k][:0]
		for range c.Count(c.ULEB("number of value sites"), 1, "number of value sites") {
			r.site(k)
		}
		if len(r.sites[k]) > 0 {
			r.Values[k] = r.sites[k]
		}
	}
}

// readDevice reads what is beside the counters.
func (r *partialRecord) readDevice() {
	c, d := r.c, &deviceSum{}
	d.bits = c.Bytes(c.ULEB("size of the uniformity bits"), "uniformity bits")
	n := c.Count(c.ULEB("number of uniform counters"), 2, "number of uniform counters")
	for _, list := range []*[]uint64{&d.uniform, &d.total} {
		for range n {
			*list = append(*list, c.ULEB("uniform counter"))
		}
	}
	if len(d.bits) > 0 && len(d.bits) != uniformitySize(len(r.Counts)) || n > 0 && n != len(r.Counts) {
		c.Fail(c.At(c.Offset()).Field("uniform counters").Gotf("%d, and %d bytes of bits", n, len(d.bits)).
			Wantf("0 or %d, and a bit for each", len(r.Counts)).Corrupt())
	}
	if r.device = nil; len(d.bits) > 0 || n > 0 {
		r.device = d
	}
	r.Uniformity = r.device.uniformity()
}

// site reads one site of a kind.
func (r *partialRecord) site(kind int) {
	head := r.c.ULEB("number of values")
	from := len(r.values)
	for range r.c.Count(head/2, 9, "number of values") {
		r.values = append(r.values, ValueData{r.c.U64("value"), r.c.ULEB("count of a value")})
	}
	// If append moves the values, earlier sites keep their old memory.
	r.sites[kind] = append(r.sites[kind], r.values[from:len(r.values):len(r.values)])
	r.merged = append(r.merged, head&1 != 0)
}

// ranking returns the traces of a partial that is added with a weight. index is added to the indexes of its inputs.
func (p *partialReader) ranking(index int, weight uint64) *ranking {
	s := &ranking{traces: slices.Clone(p.ranked), stream: p.stream}
	for i := range s.traces {
		t := &s.traces[i]
		t.index += index
		if t.raw {
			t.Weight, _ = saturate.Mul(t.Weight, weight)
		}
	}
	return s
}
