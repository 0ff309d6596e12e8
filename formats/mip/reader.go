package mip

import (
	"iter"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// Info is the header of a file.
type Info struct {
	Format      Format
	Generation  string // "A" or "B", two forms of version 8; "" for YAML
	Version     int    // of the header, at most 8; 0 for YAML
	PointerSize int    // 4 or 8 bytes; 0 if the file does not say, as a .mip
	Type        ProfileType
	ModuleHash  uint32
	// RawSectionOffset of a map is the address of the raw section minus the address
	// of the map's header; 0 for other files and in generation A.
	RawSectionOffset int64
	// DocumentLayout reports that a .mip has the document's layout, see [WriteOptions].
	DocumentLayout bool
	layout         mipLayout
	// Flip and Files are as in [Profile]; Files is 0 for a raw profile.
	Flip  float64
	Files uint64
	// Functions is the number of records of a .mip; -1 for files without it.
	Functions int
}

func (i *Info) info() *Info { return i }

// A decoder is the reader of one format. records yields a reused function, stops after an
// error, and may be called again.
type decoder interface {
	info() *Info // by embedding it
	records(yield func(*Function, error) bool)
}

// Reader reads one MIP file of any type.
type Reader struct {
	Info *Info // the header; it must not be modified

	name string
	data []byte
	dec  decoder
}

// Detect returns the type of the MIP file that data begins with.
func Detect(data []byte) (Format, bool) {
	switch {
	case hasMagic(data) && len(data) >= fileTypeAt+2:
		t := fileTypes[generationOf(data)][le.Uint16(data[fileTypeAt:])&fileTypeKindBits]
		return t, t != ""
	case looksLikeYAML(data):
		return FormatYAML, true
	}
	return "", false
}

// NewReader returns a reader of the file held in data, which must not change while the reader is in use.
// name is for errors and warnings. NewReader checks the header and everything outside of the records.
// warn, if not nil, is called for data that is suspicious but readable.
func NewReader(name string, data []byte, warn func(profile.Warning)) (*Reader, error) {
	dec, err := newDecoder(data, func(err error) {
		if warn != nil {
			warn(profile.Warning{File: name, Err: err})
		}
	})
	if err != nil {
		return nil, flaw.InFile(err, name)
	}
	return &Reader{Info: dec.info(), name: name, data: data, dec: dec}, nil
}

func newDecoder(data []byte, warn func(error)) (decoder, error) {
	if looksLikeYAML(data) {
		return newYAMLReader(data, warn)
	}
	h, err := parseHeader(data)
	if err != nil {
		return nil, err
	}
	if odd := h.suspicious(); odd != nil {
		warn(odd)
	}
	switch h.fileType {
	case FormatMap:
		return newMapReader(h, data)
	case FormatProfile:
		return newMIPReader(h, data)
	}
	return &partReader{h.info(), h.typeWord}, nil
}

func (h *header) info() Info {
	return Info{
		Format: h.fileType, Generation: h.generation, Version: int(h.version), PointerSize: h.ptr,
		Type: h.typ, ModuleHash: h.moduleHash, RawSectionOffset: h.rawSection, Flip: h.noise.probability(), Files: h.noise.files, Functions: -1,
	}
}

// records iterates over the functions in file order. The function and its blocks, but not its name, are
// reused: copy what is kept beyond one step. The iteration ends after the first error, a
// [profile.FormatError]. A raw profile or samples of return addresses alone have no functions: merge them
// into a profile, see [Merger].
func (r *Reader) records() iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		r.dec.records(func(f *Function, err error) bool {
			if err != nil {
				yield(nil, flaw.InFile(err, r.name))
				return false
			}
			return yield(f, nil)
		})
	}
}

// Profile reads the whole file into memory. A map gives an empty profile.
func (r *Reader) Profile() (*Profile, error) {
	about := r.Info
	p := &Profile{Type: about.Type, ModuleHash: about.ModuleHash, Flip: about.Flip, Files: about.Files}
	if about.Functions > 0 {
		p.Functions = make([]Function, 0, about.Functions)
	}
	var blocks []Block
	for f, err := range r.records() {
		if err != nil {
			return nil, err
		}
		if n := len(f.Blocks); n > cap(blocks)-len(blocks) {
			blocks = make([]Block, 0, max(n, blockArena))
		}
		p.Functions = append(p.Functions, f.clone(&blocks))
	}
	return p, nil
}

// blockArena is the number of blocks allocated at a time.
const blockArena = 1 << 12

// Read reads a whole map, profile or YAML file into memory. A map gives an
// empty profile, ready to have raw profiles merged into it. warn is as in [NewReader].
func Read(name string, data []byte, warn func(profile.Warning)) (*Profile, error) {
	r, err := NewReader(name, data, warn)
	if err != nil {
		return nil, err
	}
	return r.Profile()
}
