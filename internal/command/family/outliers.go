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

// Shapes are the control flow of a file's functions, as numbers. All inputs of one build have the same shapes.
type Shapes struct {
	Of   map[uint64]uint64      // shape by id of the function
	Name func(id uint64) string // name of a function; valid as long as the bytes of the file
	What string                 // what a shape is, for remarks: "function hash"
	// Kind is the kind of the file; "" if it has none. Files of two kinds cannot be added up.
	Kind string
}

// A Comparison compares each input with the others. If most inputs agree about a function's shape,
// an input with another shape comes from another build, or is damaged. Inputs with less than
// fewCommon functions in common are not compared, nor are functions in less than fewOthers other
// inputs. Counts are not compared, because runs may differ by any factor.
type Comparison struct {
	kinds     []kindOfInput
	what      string           // a shape is, for remarks
	first     *firstInput      // until there is a second input
	files     []comparedFile   // the inputs
	index     map[uint64]int32 // of functions, by id
	functions []commonShape
	dissents  []dissent
	names     map[int32]string // of functions in dissents, by index
	full      bool             // the limits are exceeded: nothing is compared
}

// A kindOfInput is a kind and the first input of this kind.
type kindOfInput struct{ kind, file string }

// A firstInput is the first input, as long as it is the only one.
type firstInput struct {
	file   string
	shapes Shapes
}

type comparedFile struct {
	name      string
	functions int
	sample    []int32 // indexes of functions that stand for all functions of the file
}

// A commonShape is the first known shape of a function.
type commonShape struct {
	id      uint64
	shape   uint64
	fileSum int64 // sum of the indexes of the files with the function
	all     int32 // number of files with the function
	agree   int32 // number of files with the function and this shape
	first   int32 // index of the first file with this shape
}

// A dissent is another shape of a function than its commonShape.
type dissent struct {
	shape          uint64
	function, file int32 // indexes
}

const (
	fewOthers = 3
	fewCommon = 8
	// most is the share of inputs that must agree about a shape.
	most = 2. / 3
	// fewOdd is the share of functions up to which an input with other shapes is of the same build,
	// but damaged. One function may always differ.
	fewOdd = 0.1

	// sampleSize is the least number of functions that stand for a file.
	sampleSize = 64

	// The limits of a comparison, for its memory.
	maxCompared, maxDissents = 1 << 21, 1 << 20
	maxNames                 = 1 << 12
)

// Add adds an input.
func (c *Comparison) Add(file string, s Shapes) {
	if s.Kind != "" && !slices.ContainsFunc(c.kinds, func(k kindOfInput) bool { return k.kind == s.Kind }) {
		c.kinds = append(c.kinds, kindOfInput{s.Kind, file})
	}
	switch {
	case len(s.Of) == 0 || c.full:
		return
	case c.first == nil && c.index == nil:
		c.first = &firstInput{file, s}
		return
	case c.index == nil:
		c.index, c.names = make(map[uint64]int32, len(s.Of)), make(map[int32]string)
		c.Add(c.first.file, c.first.shapes) // has no dissents, so its Name is not called
		if c.full {
			return
		}
		c.first = nil
	}
	c.what = s.What
	fileIndex := int32(len(c.files))
	// Ids are hashes, so the ids with certain bits are a random sample.
	mask := max(uint64(1)<<bits.Len(uint(len(s.Of)/sampleSize))>>1, 1) - 1
	var sample []int32
	before := len(c.dissents)
	for id, shape := range s.Of {
		i, ok := c.index[id]
		if !ok {
			i = int32(len(c.functions))
			c.index[id] = i
			c.functions = append(c.functions, commonShape{id: id, shape: shape, first: fileIndex})
		}
		if id>>32&mask == 0 {
			sample = append(sample, i)
		}
		f := &c.functions[i]
		f.all++
		f.fileSum += int64(fileIndex)
		if f.shape == shape {
			f.agree++
		} else {
			c.dissents = append(c.dissents, dissent{shape, i, fileIndex})
		}
	}
	added := c.dissents[before:]
	slices.SortFunc(added, c.compareIDs) // the order of a map must not decide which names are kept
	for _, d := range added {
		if _, ok := c.names[d.function]; !ok && len(c.names) < maxNames {
			c.names[d.function] = s.Name(c.functions[d.function].id)
		}
	}
	c.files = append(c.files, comparedFile{file, len(s.Of), sample})
	if len(c.functions) > maxCompared || len(c.dissents) > maxDissents {
		*c = Comparison{kinds: c.kinds, full: true}
	}
}

// compareIDs orders dissents by the ids of their functions.
func (c *Comparison) compareIDs(a, b dissent) int {
	return cmp.Compare(c.functions[a.function].id, c.functions[b.function].id)
}

// numCommon estimates how many functions of a file are in enough other files.
func (c *Comparison) numCommon(f *comparedFile) float64 {
	n := 0
	for _, i := range f.sample {
		if c.functions[i].all > fewOthers {
			n++
		}
	}
	return float64(n) / float64(max(len(f.sample), 1)) * float64(f.functions)
}

// An Outlier is an input that disagrees with the others.
type Outlier struct {
	File string
	Err  error
}

// A disagreement says how one file disagrees with the others.
type disagreement struct {
	differ int     // number of functions with another shape than in most files
	alone  int     // number of these functions whose shape no other file has
	more   int     // number of files with the same shape of such a function
	first  dissent // one of these functions
	want   uint64  // its shape in most files
	// The functions that no other file has, and that all other files have.
	own, missing []int32
}

// Outliers returns the first input of each further kind, then the inputs that disagree with the others, in their
// order, and a sentence about the inputs of other builds; "" if there are none.
func (c *Comparison) Outliers() (outliers []Outlier, builds string) {
	for i, k := range c.kinds {
		if first := c.kinds[0]; i > 0 {
			outliers = append(outliers, Outlier{k.file, flaw.File(k.file).Field("kind of profile").Got(k.kind).
				Wantf("%s like %s: merges keep the two apart", first.kind, first.file).Mismatch()})
		}
	}
	if len(c.files) <= fewOthers {
		return outliers, ""
	}
	found := make([]disagreement, len(c.files))
	c.compareShapes(found)
	c.compareNames(found)
	var others []string
	differ, more := 0, 0
	for i := range found {
		f, name := &found[i], c.files[i].name
		at := flaw.File(name)
		common := c.numCommon(&c.files[i])
		switch {
		case common < fewCommon:
		case f.differ == 0 && len(f.own) == 1 && len(f.missing) == 1 && c.functions[f.own[0]].shape == c.functions[f.missing[0]].shape:
			outliers = append(outliers, Outlier{name, at.Field("function").Got("one that no other input has").
				Want("the one of the same " + c.what + " that all others have").Corrupt()})
		case f.differ == 0:
		case f.differ > f.alone || float64(f.differ) > max(1, fewOdd*common):
			others = append(others, name)
			more += f.more
			differ = max(differ, f.differ)
		default:
			field := c.what + " of a function"
			if name := c.names[f.first.function]; name != "" {
				field = c.what + " of " + name
			}
			if f.differ > 1 {
				field += fmt.Sprintf(" and of %d more", f.differ-1)
			}
			outliers = append(outliers, Outlier{name, at.Field(field).Gotf("%#x", f.first.shape).
				Wantf("%#x, as most inputs have it: of another build, or damaged", f.want).Corrupt()})
		}
	}
	if len(others) > 0 {
		builds = fmt.Sprintf("%d of %d inputs are of another build or instrumentation than most: the %s of %d functions differs: %s",
			len(others)+more, len(c.files), c.what, differ, strings.Join(others[:min(len(others), 5)], ", "))
		if len(others) > 5 || more > 0 {
			builds += " …"
		}
	}
	return outliers, builds
}

// compareShapes finds the files with other shapes than most.
func (c *Comparison) compareShapes(found []disagreement) {
	slices.SortFunc(c.dissents, func(a, b dissent) int {
		return cmp.Or(c.compareIDs(a, b), cmp.Compare(a.shape, b.shape), cmp.Compare(a.file, b.file))
	})
	for rest := c.dissents; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].function == rest[0].function {
			n++
		}
		c.compareFunction(rest[:n], found)
		rest = rest[n:]
	}
}

// compareFunction finds the files with another shape of one function than most. dissents are the
// dissents about the function, at least one.
func (c *Comparison) compareFunction(dissents []dissent, found []disagreement) {
	f := c.functions[dissents[0].function]
	if f.all <= fewOthers {
		return
	}
	count := map[uint64]int32{f.shape: f.agree}
	for _, d := range dissents {
		count[d.shape]++
	}
	usual, n := f.shape, f.agree
	for _, shape := range slices.Sorted(maps.Keys(count)) {
		if count[shape] > n {
			usual, n = shape, count[shape]
		}
	}
	if n < fewOthers || float64(n) < most*float64(f.all) {
		return
	}
	addTo := func(d dissent) {
		file := &found[d.file]
		if file.differ++; file.differ == 1 {
			file.first, file.want = d, usual
		}
		if count[d.shape] == 1 {
			file.alone++
		}
	}
	for _, d := range dissents {
		if d.shape != usual {
			addTo(d)
		}
	}
	if f.shape != usual { // of the files with this shape only the first is known
		addTo(dissent{f.shape, dissents[0].function, f.first})
		found[f.first].more = max(found[f.first].more, int(f.agree)-1)
	}
}

// compareNames finds the functions that only one file has, or only one file lacks.
func (c *Comparison) compareNames(found []disagreement) {
	n := int64(len(c.files))
	for i, f := range c.functions {
		switch int64(f.all) {
		case 1:
			file := &found[f.fileSum]
			file.own = append(file.own, int32(i))
		case n - 1:
			file := &found[n*(n-1)/2-f.fileSum]
			file.missing = append(file.missing, int32(i))
		}
	}
}
