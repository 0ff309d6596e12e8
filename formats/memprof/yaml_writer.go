package memprof

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmyaml"
)

// WriteYAML writes p as MemProf YAML, byte for byte as llvm-profdata 22 prints an
// indexed profile with the same content. Records are in the order of p, data-access
// records in descending order of accesses, known-cold symbols and hashes in ascending
// order. MIBs have their known fields; names and histograms are not written.
func WriteYAML(w io.Writer, p *Profile) error {
	y := yamlPrinter{out: output{w: w}}
	y.Text("---\n")
	if p.Empty() {
		y.Text("{}\n")
	} else {
		y.records(p)
		y.dataAccess(p.DataAccess)
	}
	y.Text("...\n")
	return y.flush()
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

// yamlWrapColumn is the column after which flow collections continue in the next line.
const yamlWrapColumn = 80

type yamlPrinter struct {
	llvmyaml.Printer
	out output
}

func (y *yamlPrinter) flushIfLarge() {
	if len(y.Buf) >= outputPiece {
		y.flush()
	}
}

func (y *yamlPrinter) flush() error {
	y.out.buf = y.Buf
	err := y.out.flush()
	y.Buf = y.Buf[:0]
	return err
}

func (y *yamlPrinter) hex(v uint64) {
	y.Text("0x")
	y.Buf = strconv.AppendUint(y.Buf, v, 16)
}

// flow prints a sequence of numbers beside a key.
func (y *yamlPrinter) flow(indent int, k string, n int, element func(i int)) {
	line := len(y.Buf)
	y.Key(indent, k)
	margin := len(y.Buf) - line + len("[ ")
	y.Text("[ ")
	for i := range n {
		if i > 0 {
			y.Text(", ")
		}
		line = y.wrap(line, margin)
		element(i)
	}
	y.Text(" ]\n")
}

// wrap begins a new line if the current one, from buf[line], is full. It returns where the current line begins.
func (y *yamlPrinter) wrap(line, margin int) int {
	if len(y.Buf)-line <= yamlWrapColumn {
		return line
	}
	y.Text("\n")
	line = len(y.Buf)
	y.Text(strings.Repeat(" ", margin))
	return line
}

func (y *yamlPrinter) records(p *Profile) {
	if len(p.Records) == 0 {
		return
	}
	y.Parent(0, keyRecords)
	for i := range p.Records {
		r := &p.Records[i]
		y.Item()
		y.Key(4, keyGUID)
		y.hex(r.GUID)
		y.Text("\n")
		if len(r.AllocSites) > 0 {
			y.Parent(4, keyAllocSites)
		}
		for _, a := range r.AllocSites {
			y.Item()
			y.frames(p, keyCallstack, a.Stack)
			y.mib(&p.MIBs[a.MIB])
			y.flushIfLarge()
		}
		if len(r.CallSites) > 0 {
			y.Parent(4, keyCallSites)
		}
		for j := range r.CallSites {
			c := &r.CallSites[j]
			y.Item()
			y.frames(p, keyFrames, c.Stack)
			if len(c.Callees) > 0 {
				y.flow(8, keyCallees, len(c.Callees), func(i int) { y.hex(c.Callees[i]) })
			}
			y.flushIfLarge()
		}
	}
}

func (y *yamlPrinter) frames(p *Profile, k string, i StackIndex) {
	const indent = "          - "
	if i == 0 {
		y.Value(8, k, "[]")
		return
	}
	y.Parent(8, k)
	for frame := range p.Stacks.Walk(i) {
		line := len(y.Buf)
		y.Text(indent + "{ " + keyFunction + ": ")
		y.hex(frame.GUID)
		y.Text(", " + keyLineOffset + ": ")
		y.Buf = strconv.AppendUint(y.Buf, uint64(frame.LineOffset), 10)
		y.Text(", " + keyColumn + ": ")
		y.Buf = strconv.AppendUint(y.Buf, uint64(frame.Column), 10)
		y.Text(", ")
		y.wrap(line, len(indent)+len("{ "))
		y.Text(keyInline + ": ")
		y.Buf = strconv.AppendBool(y.Buf, frame.Inline)
		y.Text(" }\n")
	}
}

func (y *yamlPrinter) mib(m *MIB) {
	if m.Fields == 0 {
		y.Value(8, keyMIB, "{}")
		return
	}
	y.Parent(8, keyMIB)
	for f := allocCount; f <= accessHistogram; f++ {
		if m.Fields.has(f) {
			y.Decimal(10, f.String(), m.get(f))
		}
	}
}

func (y *yamlPrinter) dataAccess(d *DataAccess) {
	if d.empty() {
		return
	}
	y.Parent(0, keyDataAccess)
	if len(d.Records) > 0 {
		y.Parent(2, keySampled)
	}
	records := slices.Clone(d.Records)
	slices.SortStableFunc(records, func(a, b DataAccessRecord) int { return cmp.Compare(b.AccessCount, a.AccessCount) })
	for i := range records {
		r := &records[i]
		y.Item()
		if r.Symbol != "" {
			y.string(6, keySymbol, r.Symbol)
		} else {
			y.Decimal(6, keyHash, r.Hash)
		}
		y.Decimal(6, keyAccessCount, r.AccessCount)
		if len(r.Locations) > 0 {
			y.Parent(6, keyLocations)
		}
		for _, l := range r.Locations {
			y.Item()
			y.string(10, keyFileName, l.File)
			y.Decimal(10, keyLine, uint64(l.Line))
		}
		y.flushIfLarge()
	}
	if len(d.ColdSymbols) > 0 {
		y.Parent(2, keyColdSymbols)
		for _, s := range slices.Sorted(slices.Values(d.ColdSymbols)) {
			y.Text("    - ")
			y.quoted(s)
			y.flushIfLarge()
		}
	}
	if len(d.ColdHashes) > 0 {
		hashes := slices.SortedFunc(slices.Values(d.ColdHashes), cmp.Compare)
		y.flow(2, keyColdHashes, len(hashes), func(i int) {
			y.Buf = strconv.AppendUint(y.Buf, hashes[i], 10)
		})
	}
}

func (y *yamlPrinter) string(indent int, k, v string) {
	y.Key(indent, k)
	y.quoted(v)
}

// quoted prints a string and ends the line. As in LLVM, it truncates at the first byte that is not UTF-8.
func (y *yamlPrinter) quoted(v string) {
	for i, r := range v {
		if r == utf8.RuneError && !strings.HasPrefix(v[i:], string(utf8.RuneError)) {
			v = v[:i] + string(utf8.RuneError)
			break
		}
	}
	y.Text(llvmyaml.Quote(v))
	y.Text("\n")
}
