package mip

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmyaml"
	"github.com/profuse-pgo/profuse/profile"
)

// WriteYAML writes p as YAML, byte for byte as llvm-mipdata of generation B
// does. Names that are not UTF-8 have no YAML form and are refused.
func WriteYAML(w io.Writer, p *Profile, opt WriteOptions) error {
	if err := p.validate(); err != nil {
		return err
	}
	if p.Flip > 0 {
		return flaw.In("header").Field("Reserved").Gotf("%#x", p.noise().flip).Want("0: YAML cannot say that coverage has noise").Unsupported()
	}
	b := bufio.NewWriterSize(w, 1<<16)
	var y yamlPrinter
	y.header(p)
	for i := range p.Functions {
		f := &p.Functions[i]
		if !utf8.ValidString(f.Name) {
			return flaw.In("functions").InRecord(i).Field("function name").Got(strconv.QuoteToASCII(f.Name)).
				Want("UTF-8").Unsupported()
		}
		y.function(f)
		if opt.SourceInfo != nil && opt.SourceInfo[i] != (profile.Symbol{}) {
			y.sourceInfo(opt.SourceInfo[i])
		}
		b.Write(y.Buf) // a failure stays until Flush
		y.Buf = y.Buf[:0]
	}
	b.Write(append(y.Buf, "...\n"...))
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

type yamlPrinter struct{ llvmyaml.Printer }

func (y *yamlPrinter) hex(indent int, k string, v uint64) {
	y.Key(indent, k)
	y.Buf = fmt.Appendf(y.Buf, "0x%X\n", v)
}

func (y *yamlPrinter) header(p *Profile) {
	y.Text("---\n")
	y.Parent(0, keyHeader)
	y.Value(2, keyFileType, "[ .mip ]")
	y.Value(2, keyProfileType, "[ "+p.Type.String()+" ]")
	y.hex(2, keyModuleHash, uint64(p.ModuleHash))
	if len(p.Functions) == 0 {
		y.Value(0, keyProfiles, "[]")
		return
	}
	y.Parent(0, keyProfiles)
}

func (y *yamlPrinter) function(f *Function) {
	y.Item()
	y.Value(4, keyFunctionName, llvmyaml.Quote(f.Name))
	y.hex(4, keySignature, f.signature())
	y.hex(4, keyRawOffset, f.RawOffset)
	y.hex(4, keyAddress, uint64(f.Address))
	y.hex(4, keySize, uint64(f.Size))
	y.hex(4, keyCFG, uint64(f.CFG))
	y.Decimal(4, keyMergeCount, uint64(f.MergeCount))
	y.Decimal(4, keyCallCount, f.CallCount)
	y.Decimal(4, keyTimestampSum, f.TimestampSum)
	y.Parent(4, keyBlocks)
	y.block(Block{Covered: f.EntryCovered()})
	for _, b := range f.Blocks {
		y.block(b)
	}
	if len(f.CallEdges) == 0 {
		y.Value(4, keyCallEdges, "[]")
		return
	}
	y.Parent(4, keyCallEdges)
	for _, e := range f.CallEdges {
		y.Item()
		y.hex(8, keySource, uint64(uint32(e.Source)))
		y.Decimal(8, keyWeight, e.Weight)
	}
}

func (y *yamlPrinter) block(b Block) {
	y.Item()
	y.hex(8, keyOffset, uint64(b.Offset))
	y.Value(8, keyCovered, strconv.FormatBool(b.Covered))
}

func (y *yamlPrinter) sourceInfo(s profile.Symbol) {
	y.Parent(4, keySourceInfo)
	y.Value(6, keyFileName, llvmyaml.Quote(strings.ToValidUTF8(s.File, "\uFFFD")))
	y.Value(6, keyFunctionName, llvmyaml.Quote(strings.ToValidUTF8(s.Name, "\uFFFD")))
	y.Decimal(6, keyLine, uint64(uint32(s.StartLine)))
}
