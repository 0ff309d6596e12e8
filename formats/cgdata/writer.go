package cgdata

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmyaml"
)

// Write writes an indexed file of version 4, or text: the bytes of llvm-cgdata 22. Names that YAML cannot have are refused.
func (d *Data) Write(w io.Writer, text bool) error {
	if text {
		return d.writeText(w)
	}
	for i := range d.Functions {
		f := &d.Functions[i]
		if strings.IndexByte(f.Name, 0) >= 0 || strings.IndexByte(f.Module, 0) >= 0 {
			return flaw.In(mapPart).InRecord(i).Field("name").Got(flaw.Quote(f.Name + " of " + f.Module)).Want("no zero byte").Unsupported()
		}
	}
	tree, functions := d.encodeTree(), []byte(nil)
	kinds := uint32(0)
	if tree != nil {
		kinds |= hasTree
	}
	if len(d.Functions) > 0 {
		kinds |= hasMap
		functions = d.encodeMap()
	}
	b := append(make([]byte, 0, headerSize+len(tree)+len(functions)), magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, kinds)
	b = binary.LittleEndian.AppendUint64(b, headerSize)
	b = binary.LittleEndian.AppendUint64(b, uint64(headerSize+len(tree)))
	_, err := w.Write(append(append(b, tree...), functions...))
	return err
}

// encodeTree returns the tree as in files; nil without one.
func (d *Data) encodeTree() []byte {
	if len(d.Tree) == 0 {
		return nil
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(d.Tree)))
	for i := range d.Tree {
		n := &d.Tree[i]
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
		b = binary.LittleEndian.AppendUint64(b, n.Hash)
		b = binary.LittleEndian.AppendUint32(b, n.Terminals)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(n.Successors)))
		for _, next := range n.Successors {
			b = binary.LittleEndian.AppendUint32(b, uint32(next))
		}
	}
	return b
}

// encodeMap returns the functions as in files.
func (d *Data) encodeMap() []byte {
	var names nameTable
	for _, name := range d.names {
		names.id(name)
	}
	for i := range d.Functions {
		names.id(d.Functions[i].Name)
		names.id(d.Functions[i].Module)
	}
	var text []byte
	for _, name := range names.list {
		text = append(append(text, name...), 0)
	}
	text = append(text, make([]byte, cursor.PadTo(uint64(len(text)), 4))...)
	le := binary.LittleEndian
	b := le.AppendUint32(nil, uint32(len(names.list)))
	b = append(le.AppendUint64(b, uint64(len(text))), text...)
	b = le.AppendUint32(b, uint32(len(d.Functions)))
	for i := range d.Functions {
		b = le.AppendUint64(b, d.Functions[i].Hash)
	}
	lists := uint64(len(b) + len(d.Functions)*functionSize + 8) // where the operand lists begin
	end := lists
	for i := range d.Functions {
		f := &d.Functions[i]
		b = le.AppendUint32(b, names.id(f.Name))
		b = le.AppendUint32(b, names.id(f.Module))
		b = le.AppendUint32(b, f.Instructions)
		b = le.AppendUint64(b, end-uint64(len(b)))
		end += uint64(4 + len(f.Operands)*operandSize)
	}
	b = le.AppendUint64(b, end-lists)
	for i := range d.Functions {
		b = le.AppendUint32(b, uint32(len(d.Functions[i].Operands)))
		for _, o := range d.Functions[i].Operands {
			b = le.AppendUint32(b, o.Instruction)
			b = le.AppendUint32(b, o.Index)
			b = le.AppendUint64(b, o.Hash)
		}
	}
	return b
}

// The keys of text, in the order in which they are written.
const (
	keyHash       = "Hash"
	keyTerminals  = "Terminals"
	keySuccessors = "SuccessorIds"

	keyFunction = "FunctionName"
	keyModule   = "ModuleName"
	keyCount    = "InstCount"
	keyOperands = "IndexOperandHashes"

	keyInstruction = "InstIndex"
	keyIndex       = "OpndIndex"
	keyOperandHash = "OpndHash"
)

func (d *Data) writeText(w io.Writer) error {
	var p llvmyaml.Printer
	if len(d.Tree) > 0 {
		p.Text("# Outlined stable hash tree\n" + treeLine + "\n")
	}
	if len(d.Functions) > 0 {
		p.Text("# Stable function map\n" + mapLine + "\n")
	}
	var err error
	flush := func() {
		if err == nil {
			_, err = w.Write(p.Buf)
		}
		p.Buf = p.Buf[:0]
	}
	const enough = 1 << 16 // bytes to write at once
	if len(d.Tree) > 0 {
		p.Text("---\n")
		for i := range d.Tree {
			n := &d.Tree[i]
			p.Parent(0, strconv.Itoa(i))
			p.Value(2, keyHash, fmt.Sprintf("0x%X", n.Hash))
			p.Decimal(2, keyTerminals, uint64(n.Terminals))
			p.Flow(2, keySuccessors, ids(n.Successors))
			if len(p.Buf) > enough {
				flush()
			}
		}
		p.Text("...\n")
	}
	if len(d.Functions) > 0 {
		p.Text("---\n")
		for i := range d.Functions {
			f := &d.Functions[i]
			if !utf8.ValidString(f.Name) || !utf8.ValidString(f.Module) {
				return flaw.In(mapPart).InRecord(i).Field("name").Got(flaw.Quote(f.Name + " of " + f.Module)).Want("UTF-8").Unsupported()
			}
			printFunction(&p, f)
			if len(p.Buf) > enough {
				flush()
			}
		}
		p.Text("...\n")
	}
	flush()
	return err
}

func ids(list []int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, id := range list {
			if !yield(uint64(id)) {
				return
			}
		}
	}
}

func printFunction(p *llvmyaml.Printer, f *Function) {
	p.Item()
	p.Decimal(2, keyHash, f.Hash)
	p.Value(2, keyFunction, llvmyaml.Quote(f.Name))
	p.Value(2, keyModule, llvmyaml.Quote(f.Module))
	p.Decimal(2, keyCount, uint64(f.Instructions))
	if len(f.Operands) == 0 {
		p.Value(2, keyOperands, "[]")
		return
	}
	p.Parent(2, keyOperands)
	for _, o := range f.Operands {
		p.Item()
		p.Decimal(6, keyInstruction, uint64(o.Instruction))
		p.Decimal(6, keyIndex, uint64(o.Index))
		p.Decimal(6, keyOperandHash, o.Hash)
	}
}
