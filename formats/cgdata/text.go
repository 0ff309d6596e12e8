package cgdata

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmyaml"
)

// text reads text: the lines of the parts, and a document for each part. LLVM reads only the parts whose lines precede all
// documents; here a line may also precede its document.
func (r *reader) text(data []byte) (*Data, error) {
	d := &Data{form: "text"}
	var parts []string // that have no document yet
	read := map[string]bool{}
	line, start, begin := 0, 0, -1 // of the document
	end := func(stop int) error {
		if begin < 0 {
			return nil
		}
		// Empty lines stand for what precedes the document, so that errors have the right line.
		text := slices.Concat(bytes.Repeat([]byte("\n"), begin), data[start:stop])
		begin = -1
		if len(parts) == 0 {
			return flaw.In("YAML").OnLine(line).Field("document").Got("one more").
				Wantf("%s or %s before it", treeLine, mapLine).Corrupt()
		}
		// The tree comes first.
		part := parts[0]
		if slices.Contains(parts, treeLine) {
			part = treeLine
		}
		parts = slices.DeleteFunc(parts, func(p string) bool { return p == part })
		s := llvmyaml.NewScanner(text)
		if part == treeLine {
			d.Tree = r.textTree(s)
		} else {
			d.Functions = textFunctions(s)
		}
		s.Finish()
		return s.Err()
	}
	for at := 0; at < len(data); {
		next := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		text := strings.TrimSpace(string(data[at:min(next, at+64)]))
		switch inside := begin >= 0; {
		case text == "---":
			if err := end(at); err != nil {
				return nil, err
			}
			start, begin = at, line
		case inside && text == "...":
			if err := end(next); err != nil {
				return nil, err
			}
		case inside, text == "", text[0] == '#':
		case text == treeLine || text == mapLine:
			if !read[text] {
				parts = append(parts, text)
			}
			read[text] = true
		default:
			return nil, flaw.In("text").OnLine(line+1).Field("line").Got(flaw.Quote(text)).Wantf("%s, %s or ---", treeLine, mapLine).Corrupt()
		}
		at = next
		line++
	}
	if err := end(len(data)); err != nil {
		return nil, err
	}
	if len(parts) > 0 {
		return nil, flaw.In("text").OnLine(line).Field("document of " + parts[0]).Got("missing").Want("YAML after ---").Truncated()
	}
	for i := range d.Functions {
		d.names = append(d.names, d.Functions[i].Name, d.Functions[i].Module)
	}
	sortFunctions(d.Functions)
	return d, nil
}

var (
	nodeKeys     = []string{keyHash, keyTerminals, keySuccessors}
	functionKeys = []string{keyHash, keyFunction, keyModule, keyCount, keyOperands}
	operandKeys  = []string{keyInstruction, keyIndex, keyOperandHash}
)

// textTree reads the document of a tree: a mapping of ids to nodes.
func (r *reader) textTree(s *llvmyaml.Scanner) []Node {
	line := s.Line()
	b := &treeBuilder{reader: r, at: func() flaw.Position { return s.At(line) }, index: make(map[uint32]int)}
	s.Mapping(func(key string) {
		id, err := strconv.ParseUint(key, 10, 32)
		if err != nil {
			s.Fail(s.At(s.Line()).Field("id of a node").Got(flaw.Quote(key)).Want("a number of 32 bits").Corrupt())
			return
		}
		var node rawNode
		s.Fields(nodeKeys, func(key string) {
			switch key {
			case keyHash:
				node.hash = s.Unsigned(key, 64)
			case keyTerminals:
				node.terminals = uint32(s.Unsigned(key, 32))
			case keySuccessors:
				s.Sequence(func() { node.successors = append(node.successors, uint32(s.Unsigned(key, 32))) })
			}
		})
		if s.Err() == nil {
			b.add(uint32(id), node)
		}
	})
	if s.Err() != nil {
		return nil
	}
	tree, err := b.build()
	if err != nil {
		s.Fail(err)
	}
	return tree
}

// textFunctions reads the document of functions.
func textFunctions(s *llvmyaml.Scanner) (list []Function) {
	s.Sequence(func() {
		s.Record = len(list)
		line := s.Line()
		var f Function
		s.Fields(functionKeys, func(key string) {
			switch key {
			case keyHash:
				f.Hash = s.Unsigned(key, 64)
			case keyFunction:
				f.Name = s.Scalar()
			case keyModule:
				f.Module = s.Scalar()
			case keyCount:
				f.Instructions = uint32(s.Unsigned(key, 32))
			case keyOperands:
				s.Sequence(func() { f.Operands = append(f.Operands, textOperand(s)) })
			}
		})
		slices.SortStableFunc(f.Operands, Operand.compare)
		for i := 1; i < len(f.Operands); i++ {
			if f.Operands[i].compare(f.Operands[i-1]) == 0 {
				s.Fail(s.At(line).Field("operand").Gotf("%d of instruction %d again", f.Operands[i].Index, f.Operands[i].Instruction).
					Want("each operand once").Corrupt())
			}
		}
		if s.Err() == nil {
			list = append(list, f)
		}
	})
	return list
}

func textOperand(s *llvmyaml.Scanner) (o Operand) {
	s.Fields(operandKeys, func(key string) {
		switch key {
		case keyInstruction:
			o.Instruction = uint32(s.Unsigned(key, 32))
		case keyIndex:
			o.Index = uint32(s.Unsigned(key, 32))
		case keyOperandHash:
			o.Hash = s.Unsigned(key, 64)
		}
	})
	return o
}
