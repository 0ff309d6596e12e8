package memprof

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/internal/llvmyaml"
)

// WriteYAML writes p as MemProf YAML, byte for byte as llvm-profdata 22 prints an
// indexed profile with the same content. Records are in the order of p, data-access
// records in descending order of accesses, known-cold symbols and hashes in ascending
// order. MIBs have their known fields; names and histograms are not written.
func WriteYAML(w io.Writer, p *Profile) error {
	y := yamlPrinter{out: output{w: w}}
	y.text("---\n")
	switch {
	case p.Empty():
		y.text("{}\n")
	default:
		y.records(p)
		y.dataAccess(p.DataAccess)
	}
	y.text("...\n")
	return y.out.flush()
}

// The keys of the documents.
const (
	keyRecords    = "HeapProfileRecords"
	keyDataAccess = "DataAccessProfiles"

	keyGUID       = "GUID"
	keyAllocSites = "AllocSites"
	keyCallSites  = "CallSites"
	keyCallstack  = "Callstack"
	keyMIB        = "MemInfoBlock"
	keyFrames     = "Frames"
	keyCallees    = "CalleeGuids"

	keyFunction   = "Function"
	keyLineOffset = "LineOffset"
	keyColumn     = "Column"
	keyInline     = "IsInlineFrame"

	keySampled     = "SampledRecords"
	keySymbol      = "Symbol"
	keyHash        = "Hash"
	keyAccessCount = "AccessCount"
	keyLocations   = "Locations"
	keyFileName    = "FileName"
	keyLine        = "Line"
	keyColdSymbols = "KnownColdSymbols"
	keyColdHashes  = "KnownColdStrHashes"
)

const (
	// yamlValueColumn is the distance of a value from the start of its key, if
	// the key is short enough.
	yamlValueColumn = 17
	// yamlWrapColumn is the column after which flow collections continue in the
	// next line.
	yamlWrapColumn = 80
)

// A yamlPrinter prints in the style of LLVM's yaml::Output.
type yamlPrinter struct {
	out   output
	first string // indentation with the dash of a list item, for its first key
}

func (y *yamlPrinter) text(s string) { y.out.buf = append(y.out.buf, s...) }

// key begins a line with a key that has a value beside it.
func (y *yamlPrinter) key(indent, k string) {
	y.indent(indent)
	y.text(k)
	y.text(":")
	y.text(strings.Repeat(" ", max(1, yamlValueColumn-len(k)-1)))
}

// parent prints a line with a key that has its value below it.
func (y *yamlPrinter) parent(indent, k string) {
	y.indent(indent)
	y.text(k)
	y.text(":\n")
}

func (y *yamlPrinter) indent(indent string) {
	if y.first != "" {
		indent, y.first = y.first, ""
	}
	y.text(indent)
}

func (y *yamlPrinter) decimal(indent, k string, v uint64) {
	y.key(indent, k)
	y.out.buf = append(strconv.AppendUint(y.out.buf, v, 10), '\n')
}

func (y *yamlPrinter) hex(v uint64) {
	y.text("0x")
	y.out.buf = strconv.AppendUint(y.out.buf, v, 16)
}

// flow prints a sequence of numbers beside a key.
func (y *yamlPrinter) flow(indent, k string, n int, element func(i int)) {
	line := len(y.out.buf)
	y.key(indent, k)
	margin := len(y.out.buf) - line + len("[ ")
	y.text("[ ")
	for i := range n {
		if i > 0 {
			y.text(", ")
		}
		line = y.wrap(line, margin)
		element(i)
	}
	y.text(" ]\n")
}

// wrap begins a new line if the current one, which begins at buf[line], is
// full. It returns where the current line begins.
func (y *yamlPrinter) wrap(line, margin int) int {
	if len(y.out.buf)-line <= yamlWrapColumn {
		return line
	}
	y.text("\n")
	line = len(y.out.buf)
	y.text(strings.Repeat(" ", margin))
	return line
}

func (y *yamlPrinter) records(p *Profile) {
	if len(p.Records) == 0 {
		return
	}
	y.parent("", keyRecords)
	for i := range p.Records {
		r := &p.Records[i]
		y.first = "  - "
		y.key("", keyGUID)
		y.hex(r.GUID)
		y.text("\n")
		if len(r.AllocSites) > 0 {
			y.parent("    ", keyAllocSites)
		}
		for _, a := range r.AllocSites {
			y.first = "      - "
			y.frames(p, keyCallstack, a.Stack)
			y.mib(&p.MIBs[a.MIB])
			y.out.full()
		}
		if len(r.CallSites) > 0 {
			y.parent("    ", keyCallSites)
		}
		for j := range r.CallSites {
			c := &r.CallSites[j]
			y.first = "      - "
			y.frames(p, keyFrames, c.Stack)
			if len(c.Callees) > 0 {
				y.flow("        ", keyCallees, len(c.Callees), func(i int) { y.hex(c.Callees[i]) })
			}
			y.out.full()
		}
	}
}

// frames prints a call stack.
func (y *yamlPrinter) frames(p *Profile, k string, i StackIndex) {
	const indent = "          - "
	if i == 0 {
		y.key("", k)
		y.text("[]\n")
		return
	}
	y.parent("", k)
	for f := range p.Stacks.Walk(i) {
		frame := p.Stacks.frames[f]
		line := len(y.out.buf)
		y.text(indent + "{ " + keyFunction + ": ")
		y.hex(frame.GUID)
		y.text(", " + keyLineOffset + ": ")
		y.out.buf = strconv.AppendUint(y.out.buf, uint64(frame.LineOffset), 10)
		y.text(", " + keyColumn + ": ")
		y.out.buf = strconv.AppendUint(y.out.buf, uint64(frame.Column), 10)
		y.text(", ")
		y.wrap(line, len(indent)+len("{ "))
		y.text(keyInline + ": ")
		y.out.buf = strconv.AppendBool(y.out.buf, frame.Inline)
		y.text(" }\n")
	}
}

func (y *yamlPrinter) mib(m *MIB) {
	if m.Fields == 0 {
		y.key("        ", keyMIB)
		y.text("{}\n")
		return
	}
	y.parent("        ", keyMIB)
	for f := allocCount; f <= accessHistogram; f++ {
		if m.Fields.Has(f) {
			y.decimal("          ", f.String(), m.get(f))
		}
	}
}

func (y *yamlPrinter) dataAccess(d *DataAccess) {
	if d.Empty() {
		return
	}
	y.parent("", keyDataAccess)
	if len(d.Records) > 0 {
		y.parent("  ", keySampled)
	}
	records := slices.Clone(d.Records)
	slices.SortStableFunc(records, func(a, b DataAccessRecord) int { return cmp.Compare(b.AccessCount, a.AccessCount) })
	for i := range records {
		r := &records[i]
		y.first = "    - "
		if r.Symbol != "" {
			y.string("", keySymbol, r.Symbol)
		} else {
			y.decimal("", keyHash, r.Hash)
		}
		y.decimal("      ", keyAccessCount, r.AccessCount)
		if len(r.Locations) > 0 {
			y.parent("      ", keyLocations)
		}
		for _, l := range r.Locations {
			y.first = "        - "
			y.string("", keyFileName, l.File)
			y.decimal("          ", keyLine, uint64(l.Line))
		}
		y.out.full()
	}
	if len(d.ColdSymbols) > 0 {
		y.parent("  ", keyColdSymbols)
		for _, s := range slices.Sorted(slices.Values(d.ColdSymbols)) {
			y.text("    - ")
			y.quoted(s)
			y.out.full()
		}
	}
	if len(d.ColdHashes) > 0 {
		hashes := slices.SortedFunc(slices.Values(d.ColdHashes), cmp.Compare)
		y.flow("  ", keyColdHashes, len(hashes), func(i int) {
			y.out.buf = strconv.AppendUint(y.out.buf, hashes[i], 10)
		})
	}
}

func (y *yamlPrinter) string(indent, k, v string) {
	y.key(indent, k)
	y.quoted(v)
}

// quoted prints a string at the end of a line. As in LLVM, it truncates the string at
// the first byte that is not UTF-8.
func (y *yamlPrinter) quoted(v string) {
	for i, r := range v {
		if r == utf8.RuneError && !strings.HasPrefix(v[i:], string(utf8.RuneError)) {
			v = v[:i] + string(utf8.RuneError)
			break
		}
	}
	y.text(llvmyaml.Quote(v))
	y.text("\n")
}
