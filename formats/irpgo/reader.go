package irpgo

import (
	"bytes"
	"iter"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// Format is one of the encodings of an instrumentation profile, in a word.
type Format string

const (
	FormatRaw     Format = "raw"     // .profraw, as an instrumented process writes it
	FormatIndexed Format = "indexed" // .profdata, as a compiler reads it
	FormatText    Format = "text"    // .proftext
	FormatPartial Format = "partial" // .profpart, of [Merger.WritePartial]
)

// Info is what a profile says of itself before its records.
type Info struct {
	Format      Format
	Version     uint32    // of the format; 0 for text
	VersionWord uint64    // raw: the whole word with the variant bits
	Variant     Variant   // of the first header when a raw file holds several
	PointerSize int       // raw: 4 or 8 bytes; 0 otherwise
	BigEndian   bool      // raw only: indexed profiles are always little-endian
	Profiles    int       // raw: number of profiles concatenated, known after reading
	LastWord    uint64    // raw: VersionWord of the last of them, known after reading
	Kinds       []Variant // raw: the kinds of the profiles concatenated, each once, known after reading
	BinaryIDs   [][]byte
	VTableNames []string // of virtual tables, known after reading
	Summary     *Summary // indexed, from version 4
	CSSummary   *Summary // indexed: of the context-sensitive records, if the variant has them
	Of          []*Info  // partial: the formats, versions and variants of what it is the sum of
	// NameRefs yields what the function of this name yields of the file, without reading it again. A [Merger] sets
	// it, and it ends when that adds the next profile; nil if the Merger did not need the names.
	NameRefs iter.Seq[uint64]
}

// sources returns the infos, and for each partial the infos of its inputs.
func sources(infos []*Info) []*Info {
	var list []*Info
	for _, in := range infos {
		if in.Format == FormatPartial {
			list = append(list, in.Of...)
		} else {
			list = append(list, in)
		}
	}
	return list
}

// ReaderOptions adjust reading. The zero value is right for most uses.
type ReaderOptions struct {
	// Warn receives what is suspicious but readable; nil drops it.
	Warn func(profile.Warning)
	// Lenient accepts what llvm-profdata 22 accepts: records whose name is not in the file (they get the empty
	// name), unknown variant bits, value kinds that the header does not announce, hash tables that no lookup would
	// find its way through, raw profiles without function data (nothing is read).
	Lenient bool
	// Correlate returns what completes a raw profile that was written without data records and names, by the ids of
	// the binaries that it names, often none; nil if nothing does. With Lenient it is asked for every raw profile,
	// and what it returns must be needed.
	Correlate func(binaryIDs [][]byte) (*Correlation, error)
	// Rescue leaves out the damaged functions of a raw or indexed profile, also functions with absurd counters:
	// above 2^56 in a raw profile, which is of one run. If more than one in twenty functions is damaged, at least
	// two, reading fails all the same. Without Rescue the first damaged function ends the reading, and absurd
	// counters are only warned of, as LLVM does. Text is never rescued.
	Rescue bool
	// Clamp replaces absurd counters under Rescue and keeps their functions. A counter less
	// than 2^32 below 2^64 becomes 0: lost updates of several threads leave such small negative
	// numbers. Other absurd counters become the greatest sound counter of the function.
	Clamp bool
	// Rescued receives each damaged function under Rescue; nil drops them.
	Rescued func(profile.Rescued)

	rescueAll bool // however many there are
}

// decoder is one format's reader. records yields a reused record, stops after an error, and may be called again;
// warnings are given on the first walk only.
type decoder interface {
	info() *Info
	records(yield func(*Record, error) bool)
	symbols() *Symtab
	vtableNames() []string
	traces() ([]Trace, uint64)
	// nameRef is the reference of the current record's name, 0 if it is not certain.
	nameRef() uint64
	// uniformCounters returns what is beside the current record's counters; nil but for programs for GPUs.
	uniformCounters() *deviceSum
}

// decoded is what decoders know beside the records.
type decoded struct {
	about     Info
	traceList []Trace
	stream    uint64 // how many traces traceList was chosen from
	ref       uint64 // see nameRef
	device    *deviceSum
}

func (d *decoded) info() *Info                 { return &d.about }
func (d *decoded) vtableNames() []string       { return d.about.VTableNames }
func (d *decoded) traces() ([]Trace, uint64)   { return d.traceList, d.stream }
func (d *decoded) nameRef() uint64             { return d.ref }
func (d *decoded) uniformCounters() *deviceSum { return d.device }

// Reader reads one profile of any format and version.
type Reader struct {
	Name string // as given to [NewReader]
	Info *Info  // what the profile says of itself; do not change it
	dec  decoder
}

// Detect says which format data begins with. A text is a profile if LLVM may read it: if it begins with a directive,
// with a name and a hash, or holds nothing but comments.
func Detect(data []byte) (Format, bool) {
	f := detectLeniently(data)
	if f == FormatText && !beginsAsText(data) {
		f = ""
	}
	return f, f != ""
}

// detectLeniently detects as LLVM does, for whom any text is a profile until it has read it. It returns "" for no profile.
func detectLeniently(data []byte) Format {
	switch {
	case len(data) == 0:
		return ""
	case hasIndexedMagic(data):
		return FormatIndexed
	case hasRawMagic(data):
		return FormatRaw
	case isPartial(data):
		return FormatPartial
	case looksLikeText(data):
		return FormatText
	}
	return ""
}

// looksLikeText: the first eight bytes are printable ASCII or white space.
func looksLikeText(data []byte) bool {
	for _, b := range data[:min(8, len(data))] {
		if (b < 0x20 || b > 0x7e) && !bytes.ContainsRune([]byte("\t\n\v\f\r"), rune(b)) {
			return false
		}
	}
	return true
}

// NewReader begins to read a profile held in data, which must stay unchanged while the reader is used. name is used
// in errors and warnings. Headers and sections are checked here, names and records when they are read.
func NewReader(name string, data []byte, opt ReaderOptions) (*Reader, error) {
	if len(data) == 0 {
		return nil, flaw.File(name).Field("size").Got("0 bytes").Want("a profile").
			Because(&llvmerr.Error{Code: llvmerr.EmptyRawProfile})
	}
	f := detectLeniently(data)
	if f == FormatPartial && opt.Lenient {
		f = ""
	}
	var dec decoder
	var err error
	switch f {
	case FormatIndexed:
		dec, err = newIndexedReader(name, data, opt)
	case FormatRaw:
		dec, err = newRawReader(name, data, opt)
	case FormatText:
		dec, err = newTextReader(name, data, opt)
	case FormatPartial:
		dec, err = newPartialReader(name, data, opt)
	default:
		err = flaw.At("header", 0).Field("magic").Gotf("% x", data[:min(8, len(data))]).
			Want("a raw, indexed or text profile").Because(&llvmerr.Error{Code: llvmerr.UnrecognizedFormat})
	}
	if err != nil {
		return nil, flaw.InFile(err, name)
	}
	return &Reader{Name: name, Info: dec.info(), dec: dec}, nil
}

// Records iterates over the records in file order. The iteration ends after the
// first error, a [profile.FormatError].
func (r *Reader) Records() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for rec, err := range r.ReusedRecords() {
			if rec != nil {
				rec = rec.clone()
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// ReusedRecords yields the records that Records yields, in less time. The next step
// overwrites the record and all it refers to except strings.
func (r *Reader) ReusedRecords() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		r.dec.records(func(rec *Record, err error) bool {
			if err != nil {
				yield(nil, flaw.InFile(err, r.Name))
				return false
			}
			return yield(rec, nil)
		})
	}
}

// readable reads all records, to see whether they can be read.
func (r *Reader) readable() error {
	for _, err := range r.ReusedRecords() {
		if err != nil {
			return err
		}
	}
	return nil
}

// Symbols returns the names in the profile's names section or its records, and the names of
// virtual tables. For text profiles it is complete only after the records were read.
func (r *Reader) Symbols() *Symtab { return r.dec.symbols() }

// Traces returns the temporal profile traces, a sample, and the number of traces that it was chosen from. Call it
// after the records were read. Traces of raw profiles have weight 1.
func (r *Reader) Traces() ([]Trace, uint64) { return r.dec.traces() }

// Read reads a whole profile into memory: its records merged as by [Merger] with weight 1.
func Read(name string, data []byte, opt ReaderOptions) (*Profile, error) {
	r, err := NewReader(name, data, opt)
	if err != nil {
		return nil, err
	}
	m := NewMerger(MergeOptions{Warn: opt.Warn})
	if _, err := m.Add(r, 1); err != nil {
		return nil, err
	}
	return m.Finish().Profile(), nil
}

// malformed is the cause of most errors that [llvmerr.Malformed] stands for.
func malformed(detail string) *llvmerr.Error {
	return &llvmerr.Error{Code: llvmerr.Malformed, Detail: detail}
}
