package export

import (
	"encoding/hex"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/profile"
)

// json writes one document of docs/schema/profile.schema.json.
func (e *exporter) json() error { return e.records(false) }

// ndjson writes the records of json, one per line, each with its kind. A symbol precedes
// the first record that refers to it.
func (e *exporter) ndjson() error { return e.records(true) }

// records writes all tables that Options.Table selects, as a document or as lines. Symbols
// are numbered when they first occur; a document lists them at its end.
func (e *exporter) records(lines bool) error {
	r := recordWriter{e: e, lines: lines}
	r.j.w = e
	r.start()
	if r.wants(profile.FunctionSet) {
		r.array("functions")
		for f := range profile.ReusedFunctions(e.v) {
			r.element("function", func() { r.function(f) })
		}
		r.endArray()
	}
	r.array("stacks")
	for _, set := range e.v.Stacks() {
		if r.wants(set.Name) {
			r.stackSet(set)
		}
	}
	r.endArray()
	if r.wants(edgeSet) {
		r.array("edges")
		for edge := range profile.ReusedEdges(e.v) {
			r.introduce(&edge.Caller)
			if known(&edge.Target) {
				r.introduce(&edge.Target)
			}
			r.element("edge", func() { r.edge(edge) })
		}
		r.endArray()
	}
	if r.wants(traceSet) {
		r.array("traces")
		for t := range e.v.Traces() {
			for i := range t.Functions {
				r.introduce(&t.Functions[i])
			}
			r.element("trace", func() { r.trace(t) })
		}
		r.endArray()
	}
	r.finish()
	return nil
}

type recordWriter struct {
	e     *exporter
	j     jsonWriter
	lines bool // NDJSON: each object is a line
}

func (r *recordWriter) start() {
	if r.lines {
		r.element("header", r.header)
		r.element("summary", r.summary)
		return
	}
	r.j.open('{')
	r.header()
	r.j.line()
	r.j.key("summary").open('{')
	r.summary()
	r.j.close('}')
}

func (r *recordWriter) wants(table string) bool {
	return r.e.opt.Table == "" || r.e.opt.Table == table
}

// finish ends the file and records the losses of all of it.
func (r *recordWriter) finish() {
	e := r.e
	if !r.lines {
		r.array("symbols") // last, when all symbols have numbers
		for i := range e.symbols.table.Keys {
			r.element("symbol", func() { r.symbol(&e.symbols.table.Keys[i]) })
		}
		r.endArray()
		r.j.close('}')
		r.j.end()
	}
	e.loseOmitted()
	if t := e.opt.Table; t != "" {
		e.lose(0, "other tables than "+t, "only that was asked for")
	}
	e.loseCounted(r.j.bad, "names that are not UTF-8", "JSON is: replaced by U+FFFD")
	r.j.flush()
}

// array begins a member of the document that is an array; NDJSON has no arrays.
func (r *recordWriter) array(key string) {
	if !r.lines {
		r.j.line()
		r.j.key(key).open('[')
	}
}

func (r *recordWriter) endArray() {
	if !r.lines {
		r.j.close(']')
	}
}

// element writes an object of a kind on a line of its own: an element of an array, or a
// record of NDJSON, which says its kind.
func (r *recordWriter) element(kind string, members func()) {
	r.lineOfDocument()
	r.j.open('{')
	if r.lines {
		r.j.key("kind").string(kind)
	}
	members()
	r.j.close('}')
	if r.lines {
		r.j.end()
	}
}

// introduce writes the record of a symbol before its first use in NDJSON.
func (r *recordWriter) introduce(s *profile.Symbol) {
	if !r.lines {
		return
	}
	if n, fresh := r.e.symbols.number(s); fresh {
		r.element("symbol", func() {
			r.j.key("symbol").int(int64(n))
			r.symbol(s)
		})
	}
}

func (r *recordWriter) text(key, value string) {
	if value != "" {
		r.j.key(key).string(value)
	}
}

func (r *recordWriter) number(key string, v uint64) {
	r.j.key(key).uint(v)
}

func (r *recordWriter) list(key string, values []string) {
	if len(values) > 0 {
		r.j.key(key).strings(values)
	}
}

func (r *recordWriter) labels(labels []profile.Label) {
	if len(labels) == 0 {
		return
	}
	r.j.key("labels").open('{')
	for _, l := range labels {
		r.j.key(l.Key).string(l.Value)
	}
	r.j.close('}')
}

func (r *recordWriter) header() {
	j := &r.j
	head := schema.For("profile")
	j.key("schema").string(head.Schema)
	j.key("schema_version").int(int64(head.SchemaVersion))
	r.lineOfDocument()
	j.key("identity").open('{')
	id := r.e.v.Identity()
	r.text("file", id.File)
	format := schema.FileFormatOf(id.Family, id.Format, id.Version)
	r.text("family", format.Family)
	r.text("format", format.Format)
	if format.Version > 0 {
		r.number("version", uint64(format.Version))
	}
	r.text("format_version", format.FormatVersion)
	r.text("producer", id.Producer)
	r.text("readable_by", id.ReadableBy)
	r.list("variant", id.Variant)
	if len(id.BuildIDs) > 0 {
		j.key("build_ids").open('[')
		for _, b := range id.BuildIDs {
			j.string(hex.EncodeToString(b))
		}
		j.close(']')
	}
	r.list("omits", id.Omits)
	j.close('}')
	r.lineOfDocument()
	j.key("features").strings(r.e.features.Names())
}

// lineOfDocument begins a new line in a document and none in a record.
func (r *recordWriter) lineOfDocument() {
	if !r.lines {
		r.j.line()
	}
}

func (r *recordWriter) summary() {
	j := &r.j
	s := profile.Summarize(r.e.v, profile.DefaultCutoffs())
	r.number("functions", s.Functions)
	r.number("covered_functions", s.Covered)
	r.number("blocks", s.Blocks)
	r.number("covered_blocks", s.CoveredBlocks)
	r.number("max_calls", s.MaxCalls)
	of := "blocks"
	if s.OfCalls {
		of = "calls"
	}
	j.key("counts_of").string(of)
	j.key("counts").open('{')
	r.number("values", s.Counts.Values)
	r.number("max", s.Counts.Max)
	r.number("total", s.Counts.Total)
	j.key("cutoffs").open('[')
	for _, c := range s.Counts.Cutoffs {
		j.open('{')
		r.number("share", c.Share)
		r.number("min", c.Min)
		r.number("values", c.Values)
		j.close('}')
	}
	j.close(']')
	j.close('}')
}

// symbol writes the members of a symbol. Other records refer to it by its number, in a
// document its position in the array.
func (r *recordWriter) symbol(s *profile.Symbol) {
	r.text("name", s.Name)
	r.text("signature", s.Signature)
	r.text("file", s.File)
	if s.StartLine != 0 {
		r.j.key("start_line").int(int64(s.StartLine))
	}
	if s.ID != 0 {
		r.j.key("id").hex(s.ID)
	}
}

// function writes a function with its counts and blocks. It omits members that the
// features of the view do not include.
func (r *recordWriter) function(f *profile.Function) {
	j, features := &r.j, r.e.features
	r.symbol(&f.Symbol)
	if features.Hashes {
		j.key("hash").hex(f.Hash)
	}
	j.key("covered").bool(f.Covered)
	if features.Calls {
		r.number("calls", f.Calls)
	}
	if features.Runs {
		r.number("runs", f.Runs)
	}
	if f.FirstCall != 0 {
		j.key("first_call").float(f.FirstCall)
	}
	if features.Sizes {
		j.key("address").int(f.Address)
		r.number("size", f.Size)
	}
	if features.Blocks {
		r.blocks("counts", f.Blocks, func(b profile.Block) uint64 { return b.Count })
	}
	if features.Offsets {
		r.blocks("offsets", f.Blocks, func(b profile.Block) uint64 { return uint64(b.Offset) })
	}
	if features.BlockLines {
		r.blocks("lines", f.Blocks, func(b profile.Block) uint64 { return uint64(b.Line) })
	}
	r.labels(f.Labels)
}

func (r *recordWriter) blocks(key string, blocks []profile.Block, of func(profile.Block) uint64) {
	r.j.key(key).open('[')
	for _, b := range blocks {
		r.j.uint(of(b))
	}
	r.j.close(']')
}

// stackSet writes a stack set with its stacks: an object that has them, or a record before theirs.
func (r *recordWriter) stackSet(set profile.StackSet) {
	if r.lines {
		r.element("stack_set", func() { r.describe(set) })
	} else {
		r.j.line()
		r.j.open('{')
		r.describe(set)
		r.j.key("stacks").open('[')
	}
	for s := range set.ReusedStacks {
		for i := range s.Frames {
			r.introduce(&s.Frames[i].Symbol)
		}
		r.element("stack", func() {
			if r.lines {
				r.j.key("set").string(set.Name)
			}
			r.stack(s)
		})
	}
	if !r.lines {
		r.j.close(']')
		r.j.close('}')
	}
}

var combineNames = map[profile.Combine]string{profile.Sum: "sum", profile.Min: "min", profile.Max: "max"}

func (r *recordWriter) describe(set profile.StackSet) {
	j := &r.j
	r.text("name", set.Name)
	r.text("description", set.Description)
	j.key("partial").bool(set.Partial)
	j.key("values").open('[')
	for _, v := range set.Values {
		j.open('{')
		r.text("name", v.Name)
		r.text("unit", string(v.Unit))
		r.text("combine", combineNames[v.Combine])
		j.close('}')
	}
	j.close(']')
}

func (r *recordWriter) stack(s *profile.Stack) {
	j, features := &r.j, r.e.features
	j.key("frames").open('[')
	for i := range s.Frames {
		f := &s.Frames[i]
		j.open('{')
		r.reference("symbol", &f.Symbol)
		if features.Lines && f.Line != 0 || features.LineOffsets {
			j.key("line").int(int64(f.Line))
		}
		if f.Column != 0 {
			j.key("column").int(int64(f.Column))
		}
		if features.Bytecodes {
			j.key("bci").int(int64(f.BCI))
		}
		if f.Inlined {
			j.key("inlined").bool(true)
		}
		j.close('}')
	}
	j.close(']')
	j.key("values").open('[')
	for _, v := range s.Values {
		j.uint(v)
	}
	j.close(']')
	r.labels(s.Labels)
}

func (r *recordWriter) reference(key string, s *profile.Symbol) {
	n, _ := r.e.symbols.number(s)
	r.j.key(key).int(int64(n))
}

func known(s *profile.Symbol) bool { return s.Name != "" || s.ID != 0 }

// edge writes an edge. "kind" is the kind of the record in NDJSON.
func (r *recordWriter) edge(edge *profile.Edge) {
	j := &r.j
	kind := "kind"
	if r.lines {
		kind = "edge_kind"
	}
	r.text(kind, edge.Kind.String())
	r.reference("caller", &edge.Caller)
	if r.e.features.Hashes {
		j.key("hash").hex(edge.Hash)
	}
	j.key("site").int(int64(edge.Site))
	if edge.Line != 0 {
		j.key("line").int(int64(edge.Line))
	}
	if edge.Kind == profile.MemOpSize {
		r.number("size", edge.Size)
	} else if known(&edge.Target) {
		r.reference("target", &edge.Target)
	}
	r.number("count", edge.Count)
}

func (r *recordWriter) trace(t *profile.Trace) {
	j := &r.j
	r.number("weight", t.Weight)
	j.key("mean").bool(t.Mean)
	j.key("functions").open('[')
	for i := range t.Functions {
		n, _ := r.e.symbols.number(&t.Functions[i])
		j.int(int64(n))
	}
	j.close(']')
}
