package covmap

import (
	"bytes"
	"encoding/binary"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/zlibtext"
)

// WebAssembly modules have the names of functions in a data segment, and before LLVM 20 also the mapping. Segments
// have names only in a section that linkers and other tools leave out (--strip-all), and modules for dynamic linking
// have one segment for all data. So profuse also searches the segments: records refer to lists of files and to
// names by hashes of 64 bits, which other data do not have by chance.

// eachSegment calls fn with the contents of each data segment.
func (r *objectReader) eachSegment(fn func(offset int64, data []byte)) error {
	for i := range r.im.Sections {
		if s := &r.im.Sections[i]; s.Loaded {
			data, err := r.im.Data(s)
			if err != nil {
				return err
			}
			fn(r.im.FileOffset(s), data)
		}
	}
	return nil
}

// findMapping finds the lists of files and the records of functions in the data segments; files is nil if there are none.
func (r *objectReader) findMapping() (files, functions *section, err error) {
	const (
		header       = 16 // bytes of the header of a list
		fixed        = 28 // bytes of a record before its mapping
		fileListsAt  = 20 // in a record: the hash of the list of files
		alignment    = 8  // of lists and records
		oldest       = 3  // version 4, the first one with records of their own
		hashedPerLen = 4  // lists in other data may overlap
	)
	order := r.im.Order
	lists := make(map[uint64][]byte) // with their headers
	left := hashedPerLen * r.im.Len()
	err = r.eachSegment(func(_ int64, data []byte) {
		for ; len(data) >= header; data = data[min(alignment, len(data)):] {
			size, version := uint64(order.Uint32(data[4:])), order.Uint32(data[12:])
			if order.Uint32(data) == 0 && order.Uint32(data[8:]) == 0 && oldest <= version && version < VersionMax &&
				0 < size && size <= uint64(min(left, len(data)-header)) {
				left -= int(size)
				list := data[:header+size]
				lists[irpgo.NameRef(string(list[header:]))] = list
			}
		}
	})
	if err != nil || len(lists) == 0 {
		return nil, nil, err
	}
	files, functions = &section{name: filesSection.usual}, &section{name: functionsSection.usual}
	err = r.eachSegment(func(_ int64, data []byte) {
		for len(data) >= fixed {
			n := uint64(alignment)
			hash, size := order.Uint64(data[fileListsAt:]), uint64(order.Uint32(data[8:]))
			if list, ok := lists[hash]; ok && size <= uint64(len(data)-fixed) {
				n = fixed + size
				functions.append(data[:n])
				if list != nil {
					files.append(list)
					lists[hash] = nil
				}
				n += cursor.PadTo(n, alignment)
			}
			data = data[min(n, uint64(len(data))):]
		}
	})
	if len(files.data) == 0 {
		return nil, nil, err
	}
	return files, functions, err
}

// append appends a part of the section, which begins at a multiple of 8 bytes.
func (s *section) append(part []byte) {
	s.data = append(s.data, make([]byte, cursor.PadTo(uint64(len(s.data)), 8))...)
	s.data = append(s.data, part...)
}

// A nameFinder finds lists of names: it tries every byte, and takes what has the name of a function of the mapping.
type nameFinder struct {
	wanted map[uint64]bool // hashes of names
	text   uint64          // bytes that compressed names may still have
	tries  int             // how often data may still look like compressed names
	found  *section
}

// nameSeparator is between the names of a list.
const nameSeparator = "\x01"

// maxTries bounds the time for data that look like compressed names, such as pictures.
const maxTries = 1 << 10

// findNames returns the names of the functions that have records in a __llvm_covfun section; nil if there are none.
func (r *objectReader) findNames(functions *section) (*section, error) {
	f := nameFinder{wanted: make(map[uint64]bool), text: zlibtext.MaxSize(r.im.Len()), tries: maxTries}
	// The error of a damaged record is returned when the records are read.
	_ = eachFunction(functions, r.im.Order, func(rec Record, _ uint64, _ flaw.Position) error {
		f.wanted[rec.Ref] = true
		return nil
	})
	err := r.eachSegment(f.search)
	return f.found, err
}

func (f *nameFinder) search(base int64, data []byte) {
	for at := 0; at < len(data); {
		n := f.list(data[at:])
		if n == 0 {
			at++
			continue
		}
		if f.found == nil {
			f.found = &section{name: "names of functions", at: base + int64(at)}
		}
		f.found.data = append(f.found.data, data[at:at+n]...)
		at += n
	}
}

// list returns how many bytes a list of names has with which data begins; 0 if there is none.
func (f *nameFinder) list(data []byte) int {
	size, n := binary.Uvarint(data)
	packed, m := binary.Uvarint(data[max(n, 0):])
	if n <= 0 || m <= 0 || size == 0 {
		return 0
	}
	n += m
	data = data[n:]
	if packed == 0 {
		if size > uint64(len(data)) || !f.known(data[:size]) {
			return 0
		}
		return n + int(size)
	}
	// LLVM compresses names even if that makes them a little larger.
	const zlibMethod, zlibCheck, growth = 0x78, 31, 64
	if packed > uint64(len(data)) || packed > size+size/16+growth || packed < 2 || data[0] != zlibMethod ||
		binary.BigEndian.Uint16(data)%zlibCheck != 0 || f.tries == 0 {
		return 0
	}
	f.tries--
	text, err := zlibtext.Inflate(data[:packed], size, f.text)
	f.text -= uint64(len(text))
	if err != nil || !f.known([]byte(text)) {
		return 0
	}
	return n + int(packed)
}

// known reports whether a text has names, and one of them is wanted.
func (f *nameFinder) known(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != nameSeparator[0] {
			return false
		}
	}
	for name := range bytes.SplitSeq(text, []byte(nameSeparator)) {
		if f.wanted[irpgo.NameRef(string(name))] {
			return true
		}
	}
	return false
}
