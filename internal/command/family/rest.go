package family

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Shapes are what the inputs of one program have in common: of each function, by an id,
// its control flow, as a number.
type Shapes struct {
	Of map[uint64]uint64
	// Name returns the name of a function of the file, as long as its bytes are there.
	Name func(id uint64) string
	// What a shape is, for remarks, such as "function hash".
	What string
}

// A Rest compares each input with all others. Where most others agree, an input that alone
// has another shape is of an older program, or damaged. Inputs with less than fewCommon
// functions in common are not compared, and neither are functions of which fewer than
// fewOthers other inputs know.
//
// What runs count is not compared: a run with more work, or with other work, has counts
// that are any times those of others.
type Rest struct {
	what      string
	first     *firstInput // until there is another one
	files     []compared
	index     map[uint64]int32 // of functions, by id
	functions []commonShape
	dissents  []dissent
	names     map[int32]string // of functions in dissents
	full      bool
}

// A firstInput is the first one, which is compared with nothing as long as it is alone.
type firstInput struct {
	file   string
	shapes Shapes
}

// A compared is an input that was added.
type compared struct {
	name      string
	functions int
	sample    []int32 // indexes of functions that stand for all of its functions
}

// commonShape is the first shape of a function that was met.
type commonShape struct {
	id     uint64
	shape  uint64
	places int64 // sum of the indexes of the files with the function
	all    int32 // files with the function
	agree  int32 // ... and this shape
	first  int32 // index of the first of them
}

// A dissent is another shape of a function.
type dissent struct {
	shape          uint64
	function, file int32 // indexes
}

const (
	fewOthers = 3
	fewCommon = 8
	// most of the inputs have the shape that others are held against: two of three.
	most = 2. / 3
	// fewOdd is the share of functions up to which, or up to one, an input is of the same
	// program, but for these.
	fewOdd = 0.1

	// Beyond these a comparison takes too much memory, and ends.
	maxCompared, maxDissents = 1 << 21, 1 << 20
	maxNames                 = 1 << 12
)

// Add adds an input.
func (r *Rest) Add(file string, s Shapes) {
	switch {
	case len(s.Of) == 0 || r.full:
		return
	case r.first == nil && r.index == nil:
		r.first = &firstInput{file, s}
		return
	case r.index == nil:
		r.index, r.names = make(map[uint64]int32, len(s.Of)), make(map[int32]string)
		r.Add(r.first.file, r.first.shapes) // it dissents from nothing, so no name is asked for
		if r.full {
			return
		}
		r.first = nil
	}
	r.what = s.What
	at := int32(len(r.files))
	// Ids are hashes, so those with some bits are a sample.
	mask := uint64(1) << bits.Len(uint(len(s.Of)/sampleSize)) >> 1
	mask = max(mask, 1) - 1
	var sample []int32
	before := len(r.dissents)
	for id, shape := range s.Of {
		i, ok := r.index[id]
		if !ok {
			i = int32(len(r.functions))
			r.index[id] = i
			r.functions = append(r.functions, commonShape{id: id, shape: shape, first: at})
		}
		if id>>32&mask == 0 {
			sample = append(sample, i)
		}
		c := &r.functions[i]
		c.all++
		c.places += int64(at)
		if c.shape == shape {
			c.agree++
		} else {
			r.dissents = append(r.dissents, dissent{shape, i, at})
		}
	}
	added := r.dissents[before:]
	slices.SortFunc(added, r.compareIDs) // Of has no order, names and remarks have one
	for _, d := range added {
		if _, ok := r.names[d.function]; !ok && len(r.names) < maxNames {
			r.names[d.function] = s.Name(r.functions[d.function].id)
		}
	}
	r.files = append(r.files, compared{file, len(s.Of), sample})
	if len(r.functions) > maxCompared || len(r.dissents) > maxDissents {
		*r = Rest{full: true}
	}
}

// compareIDs orders dissents by the ids of their functions.
func (r *Rest) compareIDs(a, b dissent) int {
	return cmp.Compare(r.functions[a.function].id, r.functions[b.function].id)
}

// sampleSize is how many functions of an input, at least, stand for all.
const sampleSize = 64

// common returns how many functions of an input enough others have.
func (r *Rest) common(f *compared) float64 {
	n := 0
	for _, i := range f.sample {
		if r.functions[i].all > fewOthers {
			n++
		}
	}
	return float64(n) / float64(max(len(f.sample), 1)) * float64(f.functions)
}

// An Odd is an input that disagrees with the rest.
type Odd struct {
	File string
	Err  error
}

// odds is how one file disagrees.
type odds struct {
	differ int // functions of which most other files have another shape
	alone  int // ... and no other file this one
	more   int // files that agree with this one, which was the first
	first  dissent
	want   uint64
	// The functions that no other file has, and that all others have.
	own, missing []int32
}

// Odd returns the inputs that disagree with the rest, in their order, and a sentence about
// those of another build; "" if there are none.
func (r *Rest) Odd() (odd []Odd, builds string) {
	if len(r.files) <= fewOthers {
		return nil, ""
	}
	found := make([]odds, len(r.files))
	r.compareShapes(found)
	r.compareNames(found)
	var others []string
	differ, more := 0, 0
	for i := range found {
		f, name := &found[i], r.files[i].name
		at := flaw.File(name)
		common := r.common(&r.files[i])
		switch {
		case common < fewCommon:
		case f.differ == 0 && len(f.own) == 1 && len(f.missing) == 1 && r.functions[f.own[0]].shape == r.functions[f.missing[0]].shape:
			odd = append(odd, Odd{name, at.Field("function").Got("one that no other input has").
				Want("the one of the same " + r.what + " that all others have").Corrupt()})
		case f.differ == 0:
		case f.differ > f.alone || float64(f.differ) > max(1, fewOdd*common):
			others = append(others, name)
			more += f.more
			differ = max(differ, f.differ)
		default:
			field := r.what + " of a function"
			if name := r.names[f.first.function]; name != "" {
				field = r.what + " of " + name
			}
			if f.differ > 1 {
				field += fmt.Sprintf(" and of %d more", f.differ-1)
			}
			odd = append(odd, Odd{name, at.Field(field).Gotf("%#x", f.first.shape).
				Wantf("%#x, as most inputs have it: of another build, or damaged", f.want).Corrupt()})
		}
	}
	if len(others) > 0 {
		builds = fmt.Sprintf("%d of %d inputs are of another build or instrumentation than most: the %s of %d functions differs: %s",
			len(others)+more, len(r.files), r.what, differ, strings.Join(others[:min(len(others), 5)], ", "))
		if len(others) > 5 || more > 0 {
			builds += " …"
		}
	}
	return odd, builds
}

// compareShapes looks for the files with other shapes than most.
func (r *Rest) compareShapes(found []odds) {
	slices.SortFunc(r.dissents, func(a, b dissent) int {
		return cmp.Or(r.compareIDs(a, b), cmp.Compare(a.shape, b.shape), cmp.Compare(a.file, b.file))
	})
	for rest := r.dissents; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].function == rest[0].function {
			n++
		}
		r.compareFunction(rest[:n], found)
		rest = rest[n:]
	}
}

// compareFunction looks at one function, of which these files have other shapes than the
// first.
func (r *Rest) compareFunction(others []dissent, found []odds) {
	c := r.functions[others[0].function]
	if c.all <= fewOthers {
		return
	}
	count := map[uint64]int32{c.shape: c.agree}
	for _, d := range others {
		count[d.shape]++
	}
	usual, n := c.shape, c.agree
	for _, shape := range slices.Sorted(maps.Keys(count)) {
		if count[shape] > n {
			usual, n = shape, count[shape]
		}
	}
	if n < fewOthers || float64(n) < most*float64(c.all) {
		return
	}
	tell := func(d dissent) {
		f := &found[d.file]
		if f.differ++; f.differ == 1 {
			f.first, f.want = d, usual
		}
		if count[d.shape] == 1 {
			f.alone++
		}
	}
	for _, d := range others {
		if d.shape != usual {
			tell(d)
		}
	}
	if c.shape != usual { // only the first file is known of those that agree with it
		tell(dissent{c.shape, others[0].function, c.first})
		found[c.first].more = max(found[c.first].more, int(c.agree)-1)
	}
}

// compareNames looks for files with functions that no other file has, and without those
// that all others have.
func (r *Rest) compareNames(found []odds) {
	n := int64(len(r.files))
	for i, c := range r.functions {
		switch int64(c.all) {
		case 1:
			f := &found[c.places]
			f.own = append(f.own, int32(i))
		case n - 1:
			f := &found[n*(n-1)/2-c.places]
			f.missing = append(f.missing, int32(i))
		}
	}
}
