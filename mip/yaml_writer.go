package mip

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/internal/llvmyaml"
	"github.com/profuse-pgo/profuse/profile"
)

// YAMLOptions adjust [WriteYAML]. The zero value writes what "llvm-mipdata
// mip2yaml" writes.
type YAMLOptions struct {
	// SourceInfo, if not nil, returns the source of a function, which "mip2yaml
	// --debug" adds.
	SourceInfo func(*Function) (SourceInfo, bool)
}

// SourceInfo is the place where a function begins in its source.
type SourceInfo struct {
	File     string
	Function string // as debug info names it
	Line     uint32 // from 1; 0 if unknown
}

// WriteYAML writes p as YAML, byte for byte as llvm-mipdata of generation B
// does. Names that are not UTF-8 have no YAML form and are refused.
func WriteYAML(w io.Writer, p *Profile, opt YAMLOptions) error {
	if err := p.Validate(); err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	y := yamlPrinter{buf: make([]byte, 0, 1<<10)}
	y.header(p)
	for i := range p.Functions {
		f := &p.Functions[i]
		if !utf8.ValidString(f.Name) {
			return profile.In("functions").InRecord(i).Field("function name").Got(strconv.QuoteToASCII(f.Name)).
				Want("UTF-8").Unsupported()
		}
		y.function(f)
		if opt.SourceInfo != nil {
			if info, ok := opt.SourceInfo(f); ok {
				y.sourceInfo(info)
			}
		}
		b.Write(y.buf) // a failure stays until Flush
		y.buf = y.buf[:0]
	}
	b.Write(append(y.buf, "...\n"...))
	return b.Flush()
}

// The keys, in the order in which they are written.
const (
	keyHeader      = "Header"
	keyFileType    = "File Type"
	keyProfileType = "Profile Type"
	keyModuleHash  = "Module Hash"

	keyProfiles     = "Profiles"
	keyFunctionName = "Function Name"
	keySignature    = "Function Signature"
	keyRawOffset    = "Raw Profile Data Address"
	keyAddress      = "Encoded Function Address"
	keySize         = "Function Size"
	keyCFG          = "Control Flow Graph Signature"
	keyMergeCount   = "Raw Profile Count"
	keyCallCount    = "Function Call Count"
	keyTimestampSum = "Function Order Sum"
	keyBlocks       = "Basic Block Profiles"
	keyCallEdges    = "Call Edges"
	keySourceInfo   = "Source Info"

	keyOffset  = "Offset"
	keyCovered = "Covered"

	keySource = "Section Relative Source Address"
	keyWeight = "Weight"

	keyFileName = "File Name"
	keyLine     = "Line"
)

// yamlFileTypes are the names of the bits of FileType.
var yamlFileTypes = []struct {
	name string
	bit  uint16
}{
	{".mipraw", fileTypeBRaw},
	{".mipret", fileTypeBRet},
	{".mipmap", fileTypeBMap},
	{".mip", fileTypeBMIP},
	{"64 bit", fileType64},
	{"32 bit", fileType32},
}

// A yamlPrinter prints in the style of LLVM's yaml::Output.
type yamlPrinter struct {
	buf    []byte
	indent string // of the keys
	first  string // of the first key of a list item instead
}

// yamlValueColumn is the distance of a value from the start of its key, if the key is
// short enough.
const yamlValueColumn = 17

// key begins a line with a key that has a value beside it.
func (y *yamlPrinter) key(k string) {
	y.parent(k)
	y.buf = append(y.buf[:len(y.buf)-1], strings.Repeat(" ", max(1, yamlValueColumn-len(k)-1))...)
}

// parent prints a line with a key that has its value below it.
func (y *yamlPrinter) parent(k string) {
	indent := y.indent
	if y.first != "" {
		indent, y.first = y.first, ""
	}
	y.buf = append(y.buf, indent...)
	y.buf = append(y.buf, k...)
	y.buf = append(y.buf, ":\n"...)
}

func (y *yamlPrinter) text(k, v string) {
	y.key(k)
	y.buf = append(append(y.buf, v...), '\n')
}

func (y *yamlPrinter) hex(k string, v uint64) {
	y.key(k)
	y.buf = fmt.Appendf(y.buf, "0x%X\n", v)
}

func (y *yamlPrinter) decimal(k string, v uint64) {
	y.key(k)
	y.buf = append(strconv.AppendUint(y.buf, v, 10), '\n')
}

func (y *yamlPrinter) header(p *Profile) {
	y.buf = append(y.buf, "---\n"...)
	y.parent(keyHeader)
	y.indent = "  "
	y.text(keyFileType, "[ .mip ]")
	y.text(keyProfileType, "[ "+p.Type.String()+" ]")
	y.hex(keyModuleHash, uint64(p.ModuleHash))
	y.indent = ""
	if len(p.Functions) == 0 {
		y.text(keyProfiles, "[]")
		return
	}
	y.parent(keyProfiles)
}

func (y *yamlPrinter) function(f *Function) {
	y.indent, y.first = "    ", "  - "
	y.text(keyFunctionName, llvmyaml.Quote(f.Name))
	y.hex(keySignature, f.signature())
	y.hex(keyRawOffset, f.RawOffset)
	y.hex(keyAddress, uint64(f.Address))
	y.hex(keySize, uint64(f.Size))
	y.hex(keyCFG, uint64(f.CFG))
	y.decimal(keyMergeCount, uint64(f.MergeCount))
	y.decimal(keyCallCount, f.CallCount)
	y.decimal(keyTimestampSum, f.TimestampSum)
	y.parent(keyBlocks)
	y.block(Block{Covered: f.EntryCovered()})
	for _, b := range f.Blocks {
		y.block(b)
	}
	y.indent = "    "
	if len(f.CallEdges) == 0 {
		y.text(keyCallEdges, "[]")
		return
	}
	y.parent(keyCallEdges)
	for _, e := range f.CallEdges {
		y.indent, y.first = "        ", "      - "
		y.hex(keySource, uint64(uint32(e.Source)))
		y.decimal(keyWeight, e.Weight)
	}
	y.indent = "    "
}

func (y *yamlPrinter) block(b Block) {
	y.indent, y.first = "        ", "      - "
	y.hex(keyOffset, uint64(b.Offset))
	y.text(keyCovered, strconv.FormatBool(b.Covered))
}

func (y *yamlPrinter) sourceInfo(s SourceInfo) {
	y.parent(keySourceInfo)
	y.indent = "      "
	y.text(keyFileName, llvmyaml.Quote(strings.ToValidUTF8(s.File, "\uFFFD")))
	y.text(keyFunctionName, llvmyaml.Quote(strings.ToValidUTF8(s.Function, "\uFFFD")))
	y.decimal(keyLine, uint64(s.Line))
}
