package memprof

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmyaml"
)

// IsYAML reports whether data begins like MemProf YAML: as a document with one of its keys
// within the first 64 KiB, or without any key.
func IsYAML(data []byte) bool {
	data, ok := bytes.CutPrefix(data[:min(len(data), 1<<16)], []byte("---"))
	if !ok || bytes.Contains(data, []byte(keyRecords)) || bytes.Contains(data, []byte(keyDataAccess)) {
		return ok
	}
	for line := range bytes.Lines(data) {
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' && string(text) != "..." {
			return false
		}
	}
	return true
}

// ReadYAML reads MemProf YAML, as llvm-profdata 20 to 22 print it or as people write it.
// Functions may be given by name. ReadYAML joins the records of one function. name is
// for errors, which are *[profile.FormatError].
//
// As in LLVM, a document without data is an error (ErrEmpty).
func ReadYAML(name string, data []byte) (*Profile, error) {
	r := yamlReader{s: llvmyaml.NewScanner(data), p: &Profile{}, index: make(map[uint64]int)}
	r.document()
	r.s.Finish()
	err := r.s.Err()
	if err == nil {
		err = r.p.DataAccess.validate()
	}
	if err == nil && r.p.Empty() {
		err = flaw.In("YAML").Field("document").Got("without records").Want(keyRecords + " or " + keyDataAccess).Empty()
	}
	if err != nil {
		return nil, flaw.InFile(err, name)
	}
	return r.p, nil
}

type yamlReader struct {
	s      *llvmyaml.Scanner
	p      *Profile
	index  map[uint64]int // by GUID: index in Records
	frames []frameIndex   // scratch: a stack
}

var (
	documentKeys = []string{keyRecords, keyDataAccess}
	recordKeys   = []string{keyGUID, keyAllocSites, keyCallSites}
	allocKeys    = []string{keyCallstack, keyMIB}
	callKeys     = []string{keyFrames, keyCallees}
	frameKeys    = []string{keyFunction, keyLineOffset, keyColumn, keyInline}
	dataKeyNames = []string{keySampled, keyColdSymbols, keyColdHashes}
	sampleKeys   = []string{keyAccessCount, keySymbol, keyHash, keyLocations}
	locationKeys = []string{keyFileName, keyLine}
)

func (r *yamlReader) document() {
	r.s.Fields(documentKeys, func(key string) {
		if key == keyRecords {
			r.numbered(r.record)
			return
		}
		r.p.DataAccess = &DataAccess{}
		r.dataAccess(r.p.DataAccess)
	}, documentKeys...)
}

// numbered reads a sequence of records. Errors in a record have its number.
func (r *yamlReader) numbered(record func()) {
	n := 0
	r.s.Sequence(func() {
		r.s.Record = n
		n++
		record()
	})
	r.s.Record = -1
}

// record reads one record and adds it to the record of the same function, if there is one.
func (r *yamlReader) record() {
	var rec Record
	r.s.Fields(recordKeys, func(key string) {
		switch key {
		case keyGUID:
			rec.GUID = r.guid(keyGUID)
		case keyAllocSites:
			r.s.Sequence(func() { rec.AllocSites = append(rec.AllocSites, r.allocSite()) })
		case keyCallSites:
			r.s.Sequence(func() { rec.CallSites = append(rec.CallSites, r.callSite()) })
		}
	}, keyAllocSites, keyCallSites)
	if r.s.Err() != nil {
		return
	}
	if i, ok := r.index[rec.GUID]; ok {
		have := &r.p.Records[i]
		have.AllocSites = append(have.AllocSites, rec.AllocSites...)
		have.CallSites = append(have.CallSites, rec.CallSites...)
		return
	}
	r.index[rec.GUID] = len(r.p.Records)
	r.p.Records = append(r.p.Records, rec)
}

func (r *yamlReader) allocSite() AllocSite {
	var site AllocSite
	r.s.Fields(allocKeys, func(key string) {
		switch key {
		case keyCallstack:
			site.Stack = r.stack()
		case keyMIB:
			site.MIB = uint32(len(r.p.MIBs))
			r.p.MIBs = append(r.p.MIBs, r.mib())
		}
	})
	return site
}

func (r *yamlReader) callSite() CallSite {
	var site CallSite
	r.s.Fields(callKeys, func(key string) {
		switch key {
		case keyFrames:
			site.Stack = r.stack()
		case keyCallees:
			r.s.Sequence(func() { site.Callees = append(site.Callees, r.guid("callee")) })
		}
	}, keyCallees)
	return site
}

func (r *yamlReader) stack() StackIndex {
	r.frames = r.frames[:0]
	r.s.Sequence(func() {
		var f Frame
		r.s.Fields(frameKeys, func(key string) {
			switch key {
			case keyFunction:
				f.GUID = r.guid(keyFunction)
			case keyLineOffset:
				f.LineOffset = uint32(r.s.Unsigned(keyLineOffset, 32))
			case keyColumn:
				f.Column = uint32(r.s.Unsigned(keyColumn, 32))
			case keyInline:
				f.Inline = r.s.Bool(keyInline)
			}
		})
		if r.s.Err() == nil {
			r.frames = append(r.frames, r.p.Stacks.addFrame(f))
		}
	})
	return r.p.Stacks.addStack(r.frames)
}

// mib reads a MIB. As in LLVM, values have 64 bits and are truncated to the size of their field.
func (r *yamlReader) mib() MIB {
	var m MIB
	r.s.Mapping(func(key string) {
		for f := allocCount; f <= accessHistogram; f++ {
			if fieldTraits[f].name == key {
				m.set(f, r.s.Unsigned(key, 64))
				return
			}
		}
		r.s.Fail(r.s.At(r.s.Line()).Field("key of " + keyMIB).Got(flaw.Quote(key)).
			Want("the name of a field, as AllocCount").Corrupt())
	})
	return m
}

// guid reads a function: its GUID in hexadecimal, or its name, which it adds to the profile's names.
func (r *yamlReader) guid(field string) uint64 {
	line := r.s.Line()
	text := r.s.Scalar()
	switch {
	case r.s.Err() != nil:
	case len(text) >= 2 && text[0] == '0' && text[1]|0x20 == 'x':
		id, err := strconv.ParseUint(text[2:], 16, 64)
		if err != nil {
			r.s.Fail(r.s.At(line).Field(field).Got(flaw.Quote(text)).Want("0x and at most 16 hexadecimal digits").Corrupt())
		}
		return id
	case strings.Trim(text, "0123456789") == "":
		r.s.Fail(r.s.At(line).Field(field).Got(flaw.Quote(text)).Want("a GUID in hexadecimal or a function's name").Corrupt())
	default:
		id, name := guidOf(text), guid.Canonical(text)
		if _, known := r.p.Names[id]; !known {
			if r.p.Names == nil {
				r.p.Names = make(map[uint64]string)
			}
			r.p.Names[id] = name
		}
		return id
	}
	return 0
}

func (r *yamlReader) dataAccess(d *DataAccess) {
	seen := make(dataKeys)
	cold := make(map[string]struct{})
	hashes := make(map[uint64]struct{})
	r.s.Fields(dataKeyNames, func(key string) {
		switch key {
		case keySampled:
			r.numbered(func() {
				line := r.s.Line()
				rec := r.sample()
				if r.s.Err() == nil && !seen.add(&rec) {
					r.s.Fail(r.s.At(line).Field("data-access record of").Got(rec.key().String() + " again").
						Want("one record each").Corrupt())
				}
				d.Records = append(d.Records, rec)
			})
		case keyColdSymbols:
			r.s.Sequence(func() {
				name := guid.Canonical(r.s.Scalar())
				if _, twice := cold[name]; !twice {
					cold[name] = struct{}{}
					d.ColdSymbols = append(d.ColdSymbols, name)
				}
			})
		case keyColdHashes:
			r.s.Sequence(func() {
				h := r.s.Unsigned("cold hash", 64)
				if _, twice := hashes[h]; !twice {
					hashes[h] = struct{}{}
					d.ColdHashes = append(d.ColdHashes, h)
				}
			})
		}
	}, dataKeyNames...)
}

// sample reads a data-access record. If it has both a symbol and a hash, the symbol counts.
func (r *yamlReader) sample() DataAccessRecord {
	var rec DataAccessRecord
	line := r.s.Line()
	named := false
	r.s.Fields(sampleKeys, func(key string) {
		switch key {
		case keySymbol:
			rec.Symbol = guid.Canonical(r.s.Scalar())
			named = named || rec.Symbol != ""
		case keyHash:
			rec.Hash = r.s.Unsigned(keyHash, 64)
			named = true
		case keyAccessCount:
			rec.AccessCount = r.s.Unsigned(keyAccessCount, 64)
		case keyLocations:
			r.s.Sequence(func() {
				var l SourceLocation
				r.s.Fields(locationKeys, func(key string) {
					if key == keyFileName {
						l.File = r.s.Scalar()
					} else {
						l.Line = uint32(r.s.Unsigned(keyLine, 32))
					}
				})
				rec.Locations = append(rec.Locations, l)
			})
		}
	}, keySymbol, keyHash, keyLocations)
	if !named {
		r.s.Fail(r.s.At(line).Field("data-access record").Got("without " + keySymbol + " and " + keyHash).
			Want("one of them").Corrupt())
	}
	if rec.Symbol != "" {
		rec.Hash = 0
	}
	return rec
}
