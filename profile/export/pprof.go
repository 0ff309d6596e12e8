package export

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"time"

	pprof "github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"

	"github.com/profuse-pgo/profuse/internal/slab"
	"github.com/profuse-pgo/profuse/profile"
)

// pprof writes a profile.proto. The library needs the whole profile in memory.
func (e *exporter) pprof() error {
	set, values, err := e.set()
	if err != nil {
		return err
	}
	b := pprofBuilder{e: e, locations: make(map[string]*pprof.Location)}
	b.p.DefaultSampleType = e.opt.Value
	for _, i := range values {
		b.p.SampleType = append(b.p.SampleType, &pprof.ValueType{Type: set.Values[i].Name, Unit: string(set.Values[i].Unit)})
	}
	if b.p.DefaultSampleType == "" {
		b.p.DefaultSampleType = b.p.SampleType[0].Type
	}
	b.mapping()
	for s := range set.ReusedStacks {
		b.sample(s, values)
	}
	id := e.v.Identity()
	b.p.Comments = append(b.p.Comments, id.String(), set.Name+": "+set.Description)
	if len(id.BuildIDs) > 1 { // the view does not say which one a function is from
		for _, build := range id.BuildIDs {
			b.p.Comments = append(b.p.Comments, "build id "+hex.EncodeToString(build))
		}
		e.lose(uint64(len(id.BuildIDs)), "build ids", "a mapping has one: they became comments")
	}
	if set.Partial {
		b.p.Comments = append(b.p.Comments, "stacks are partial: cumulative values of callers are not theirs")
	}
	e.loseLines()
	for _, l := range e.losses {
		b.p.Comments = append(b.p.Comments, "lost: "+l.String())
	}
	e.loseCounted(b.beyond, "values above 2^63-1", "values are signed: written as 2^63-1")
	e.loseCounted(b.zero, "stacks with values of 0 only", "pprof does not count them")
	e.loseCounted(b.negative, "frames with negative bytecode indexes", "lines are not negative: written as 0")
	if err := b.p.CheckValid(); err != nil {
		return fmt.Errorf("pprof: %w", err)
	}
	z := gzip.NewWriter(e)
	z.ModTime = time.Unix(0, 0) // none; the zero time.Time would be written as one of 2042
	return errors.Join(b.p.WriteUncompressed(z), z.Close())
}

// A pprofBuilder collects the profile. A location stands for the frames of one machine address.
type pprofBuilder struct {
	e         *exporter
	p         pprof.Profile
	functions []*pprof.Function // by number of the symbol; nil for one without
	room      pprofRoom
	locations map[string]*pprof.Location
	key       []byte
	numbers   []int // of the symbols of frames

	// How many values, stacks and frames lost something.
	beyond, zero, negative uint64
}

// pprofRoom is memory for the library's objects, which are many and small.
type pprofRoom struct {
	samples   slab.Slab[pprof.Sample]
	locations slab.Slab[pprof.Location]
	functions slab.Slab[pprof.Function]
	lines     slab.Slab[pprof.Line]
	values    slab.Slab[int64]
	stacks    slab.Slab[*pprof.Location]
}

// mapping adds the only mapping, which contains all locations, and marks it as fully symbolized.
func (b *pprofBuilder) mapping() {
	m := &pprof.Mapping{ID: 1, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
	if ids := b.e.v.Identity().BuildIDs; len(ids) == 1 {
		m.BuildID = hex.EncodeToString(ids[0])
	}
	b.p.Mapping = []*pprof.Mapping{m}
}

func (b *pprofBuilder) sample(s *profile.Stack, values []int) {
	sample := &b.room.samples.Make(1)[0]
	sample.Value = b.room.values.Make(len(values))
	any := false
	for i, at := range values {
		v := s.Values[at]
		if v > math.MaxInt64 {
			b.beyond++
		}
		sample.Value[i] = int64(min(v, math.MaxInt64))
		any = any || v != 0
	}
	if !any {
		b.zero++
		return
	}
	// A location is a machine address: the frames inlined there and the frame that they are inlined into.
	sample.Location = b.room.stacks.Make(len(s.Frames))[:0]
	for frames := s.Frames; len(frames) > 0; {
		n := 1
		for n < len(frames) && frames[n-1].Inlined {
			n++
		}
		sample.Location = append(sample.Location, b.location(frames[:n]))
		frames = frames[n:]
	}
	for _, l := range s.Labels {
		if sample.Label == nil {
			sample.Label = make(map[string][]string)
		}
		sample.Label[l.Key] = append(sample.Label[l.Key], l.Value)
	}
	b.p.Sample = append(b.p.Sample, sample)
}

// location returns the location of frames that are inlined into the last of them. Equal frames share a location.
func (b *pprofBuilder) location(frames []profile.Frame) *pprof.Location {
	key := b.key[:0]
	b.numbers = b.numbers[:0]
	for i := range frames {
		f := &frames[i]
		if f.BCI < 0 && b.e.features.Bytecodes {
			b.negative++
		}
		n, _ := b.e.symbols.number(&f.Symbol)
		b.numbers = append(b.numbers, n)
		for _, v := range []int32{int32(n), b.e.line(f), f.Column} {
			key = binary.LittleEndian.AppendUint32(key, uint32(v))
		}
	}
	b.key = key
	if l, ok := b.locations[string(key)]; ok {
		return l
	}
	l := &b.room.locations.Make(1)[0]
	*l = pprof.Location{ID: uint64(len(b.p.Location) + 1), Mapping: b.p.Mapping[0], Line: b.room.lines.Make(len(frames))}
	for i := range frames {
		f := &frames[i]
		l.Line[i] = pprof.Line{Function: b.function(b.numbers[i]), Line: int64(b.e.line(f)), Column: int64(f.Column)}
	}
	b.locations[string(key)] = l
	b.p.Location = append(b.p.Location, l)
	return l
}

func (b *pprofBuilder) function(n int) *pprof.Function {
	for len(b.functions) <= n {
		b.functions = append(b.functions, nil)
	}
	if f := b.functions[n]; f != nil {
		return f
	}
	s := &b.e.symbols.table.Keys[n]
	f := &b.room.functions.Make(1)[0]
	*f = pprof.Function{
		ID: uint64(len(b.p.Function) + 1), Name: b.e.symbols.nameOf(n), SystemName: s.String() + s.Signature,
		Filename: s.File, StartLine: int64(s.StartLine),
	}
	b.functions[n] = f
	b.p.Function = append(b.p.Function, f)
	return f
}
