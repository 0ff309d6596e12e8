package covmap

import (
	"bufio"
	"io"
	"math"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmjson"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// JSONOptions modify [WriteJSON].
type JSONOptions struct {
	SkipExpansions, SkipFunctions bool
	SummaryOnly                   bool // writes the names and the summaries of files, and the totals
	// Files are the files to write; nil means all. Like llvm-cov, all functions are written.
	Files []string
}

// jsonVersion is what LLVM 22 writes.
const jsonVersion = "3.1.0"

// WriteJSON writes the document that llvm-cov 22 writes (export -format=text): one line with all keys sorted. It
// is written as it is made, so that memory does not grow with its size.
func WriteJSON(w io.Writer, c *Coverage, opt JSONOptions) error {
	out := bufio.NewWriterSize(w, 64<<10)
	out.WriteString(`{"data":[{"files":[`)
	names := c.filesOr(opt.Files)
	totals := make([]coverage.Summary, len(names))
	err := inOrder(len(names), func(i int, p *producer[byte], dst []byte) []byte {
		f := c.File(names[i])
		totals[i] = f.Total
		s := c.summarizer()
		defer c.spare.put(s)
		j := jsonText{dst, p, &s.decoder}
		j.comma(i)
		j.file(f, opt)
		return j.b
	}, writeTo(out))
	if err != nil {
		return err
	}
	out.WriteString("]")
	if !opt.SummaryOnly && !opt.SkipFunctions {
		out.WriteString(`,"functions":[`)
		const each = 64
		err := inOrder((len(c.Functions)+each-1)/each, func(i int, p *producer[byte], dst []byte) []byte {
			s := c.summarizer()
			defer c.spare.put(s)
			j := jsonText{dst, p, &s.decoder}
			for k := i * each; k < min((i+1)*each, len(c.Functions)); k++ {
				j.comma(k)
				j.function(c.Functions[k])
			}
			return j.b
		}, writeTo(out))
		if err != nil {
			return err
		}
		out.WriteString("]")
	}
	var sum coverage.Summary
	for _, t := range totals {
		sum.Add(t)
	}
	j := jsonText{}
	j.text(`,"totals":`)
	j.summary(sum)
	j.text(`}],"type":"llvm.coverage.json.export","version":"` + jsonVersion + `"}`)
	out.Write(j.b)
	return out.Flush()
}

// jsonText appends JSON, and passes it on when it is long.
type jsonText struct {
	b       []byte
	p       *producer[byte] // nil if it is never long
	decoder *decoder        // nil if there are no functions
}

func (j *jsonText) pass() { j.b = j.p.pass(j.b) }

func (j *jsonText) text(s string) { j.b = append(j.b, s...) }

func (j *jsonText) comma(i int) {
	if i > 0 {
		j.b = append(j.b, ',')
	}
}

// number appends a count, which llvm-cov cuts to a signed number.
func (j *jsonText) number(n uint64) { j.b = strconv.AppendUint(j.b, min(n, math.MaxInt64), 10) }

func (j *jsonText) bool(b bool) { j.b = strconv.AppendBool(j.b, b) }

func (j *jsonText) string(s string) { j.b = llvmjson.AppendString(j.b, s) }

func (j *jsonText) strings(list []string) {
	j.text("[")
	for i, s := range list {
		j.comma(i)
		j.string(s)
	}
	j.text("]")
}

func (j *jsonText) numbers(list ...uint64) {
	for i, n := range list {
		j.comma(i)
		j.number(n)
	}
}

func (j *jsonText) extent(start, end Position) {
	j.numbers(uint64(start.Line), uint64(start.Column), uint64(end.Line), uint64(end.Column))
	j.text(",")
}

func (j *jsonText) file(f *File, opt JSONOptions) {
	j.text("{")
	if !opt.SummaryOnly {
		j.text(`"branches":[`)
		for i, b := range f.Branches {
			j.comma(i)
			j.branch(b)
			j.pass()
		}
		j.text("],")
		if !opt.SkipExpansions {
			j.text(`"expansions":[`)
			j.expansions(f)
			j.text("],")
		}
	}
	j.text(`"filename":`)
	j.string(f.Name)
	if !opt.SummaryOnly {
		j.text(`,"mcdc_records":[`)
		for i, m := range f.MCDC {
			j.comma(i)
			j.mcdc(m)
		}
		j.text(`],"segments":[`)
		for i := range f.Segments {
			j.comma(i)
			j.segment(&f.Segments[i])
			j.pass()
		}
		j.text("]")
	}
	j.text(`,"summary":`)
	j.summary(f.Total)
	j.text("}")
}

// expansions appends the expansions of a file, each with all regions of its function
// (renderFileExpansions in LLVM's CoverageExporterJson.cpp).
func (j *jsonText) expansions(f *File) {
	var regions, names jsonText // of a function
	var walk expansionWalk
	n := 0
	for _, fn := range f.Functions {
		if !fn.ownIn(f.Name) {
			continue
		}
		code := j.decoder.load(fn)
		walk.begin(code)
		regions.b = regions.b[:0]
		own := code.ownRegions()
		for i := range own {
			r := &own[i]
			if r.Kind != Expansion {
				continue
			}
			if len(regions.b) == 0 {
				regions.regions(code.regions)
				names.b = names.b[:0]
				names.strings(fn.Files)
			}
			j.comma(n)
			n++
			j.expansion(r, &walk, names.b, regions.b)
		}
	}
}

func (j *jsonText) expansion(r *CountedRegion, walk *expansionWalk, names, regions []byte) {
	j.text(`{"branches":[`)
	i := 0
	walk.branches(r, func(b *CountedBranch, _ []Position) {
		if !b.folded() {
			j.comma(i)
			j.branch(b)
			i++
		}
	})
	j.text(`],"filenames":`)
	j.b = append(j.b, names...)
	j.text(`,"source_region":`)
	j.region(r)
	j.text(`,"target_regions":`)
	j.b = append(j.b, regions...)
	j.text("}")
	j.pass()
}

// function appends a function, as renderFunctions does: with the regions of all its files.
func (j *jsonText) function(f *Function) {
	code := j.decoder.load(f)
	j.text(`{"branches":[`)
	n := 0
	for i := range code.branches {
		if b := &code.branches[i]; !b.folded() {
			j.comma(n)
			j.branch(b)
			n++
		}
	}
	j.text(`],"count":`)
	j.number(f.Count)
	j.text(`,"filenames":`)
	j.strings(f.Files)
	j.text(`,"mcdc_records":[`)
	for i := range f.MCDC {
		j.comma(i)
		j.mcdc(&f.MCDC[i])
	}
	j.text(`],"name":`)
	j.string(f.Name)
	j.text(`,"regions":`)
	j.regions(code.regions)
	j.text("}")
}

func (j *jsonText) regions(list []CountedRegion) {
	j.text("[")
	for i := range list {
		j.comma(i)
		j.region(&list[i])
	}
	j.text("]")
}

// region appends a region as renderRegion does: lines and columns, the count, the file, the file
// that it expands to, and the kind as the number that LLVM gives it.
func (j *jsonText) region(r *CountedRegion) {
	j.text("[")
	j.extent(r.Start, r.End)
	j.numbers(r.Count, uint64(r.File), uint64(r.Expanded), uint64(r.Kind))
	j.text("]")
}

// branch appends a branch as renderBranch does. The number of the expanded file is always 0.
func (j *jsonText) branch(b *CountedBranch) {
	j.text("[")
	j.extent(b.Start, b.End)
	j.numbers(b.True, b.False, uint64(b.File), 0, uint64(b.Kind))
	j.text("]")
}

// segment appends a segment as renderSegment does.
func (j *jsonText) segment(s *Segment) {
	j.text("[")
	j.numbers(uint64(s.Line), uint64(s.Column), s.Count)
	for _, b := range [...]bool{s.HasCount, s.Entry, s.Gap} {
		j.text(",")
		j.bool(b)
	}
	j.text("]")
}

// mcdc appends a decision as renderMCDCRecord does, with its test vectors.
func (j *jsonText) mcdc(m *MCDC) {
	j.text("[")
	j.extent(m.Start, m.End)
	var results [2]uint64
	for i := range m.Vectors {
		if m.Vectors[i].Result {
			results[1]++
		} else {
			results[0]++
		}
	}
	j.numbers(results[1], results[0], uint64(m.File), 0, uint64(Decision))
	j.text(",[")
	for i, c := range m.Conditions {
		j.comma(i)
		j.bool(c.Covered)
	}
	j.text("],[")
	n := 0
	vector := func(v *TestVector, executed bool) {
		j.comma(n)
		n++
		j.text(`{"conditions":[`)
		for k, v := range v.Conditions {
			j.comma(k)
			if v == NotEvaluated {
				j.text("null")
			} else {
				j.bool(v == True)
			}
		}
		j.text(`],"executed":`)
		j.bool(executed)
		j.text(`,"result":`)
		j.bool(v.Result)
		j.text("}")
	}
	for i := range m.Vectors {
		vector(&m.Vectors[i], true)
	}
	for v := range m.NotExecuted() {
		vector(&v, false)
	}
	j.text("]]")
}

// summary appends totals as renderSummary does. Percentages have 17 digits, since LLVM's JSON prints
// floating point so.
func (j *jsonText) summary(s coverage.Summary) {
	ratio := func(key string, r coverage.Ratio, missed bool) {
		j.text(key + `:{"count":`)
		j.number(uint64(r.Total))
		j.text(`,"covered":`)
		j.number(uint64(r.Covered))
		if missed {
			j.text(`,"notcovered":`)
			j.b = strconv.AppendInt(j.b, int64(r.Total-r.Covered), 10)
		}
		j.text(`,"percent":`)
		percent := 0.0
		if r.Total > 0 {
			percent = float64(r.Covered) / float64(r.Total) * 100
		}
		j.b = strconv.AppendFloat(j.b, percent, 'g', 17, 64)
		j.text("}")
	}
	ratio(`{"branches"`, s.Branches, true)
	ratio(`,"functions"`, s.Functions, false)
	ratio(`,"instantiations"`, s.Instantiations, false)
	ratio(`,"lines"`, s.Lines, false)
	ratio(`,"mcdc"`, s.MCDC, true)
	ratio(`,"regions"`, s.Regions, true)
	j.text("}")
}
