package cgdata

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Data is the codegen data of a file or of an object.
type Data struct {
	// Tree has the nodes of the prefix tree, each before its successors; the first one is the root. Without sequences
	// there are no nodes.
	Tree []Node
	// Functions are by ascending hash, then by module and name; of an object in the order of its parts.
	Functions []Function
	// Version is the version of an indexed file; 0 for text and objects, which have none.
	Version int

	form  string   // for views: "indexed", "text" or "object"
	names []string // of functions and modules, in the order of the file
	parts []int    // of an object: for each map in it, the number of functions up to its end
}

// A Node stands for the sequence of the hashes on the way from the root to it.
type Node struct {
	Hash       uint64 // of an instruction; 0 in the root
	Terminals  uint32 // how often the sequence was outlined; 0 if it is only the beginning of others
	Successors []int  // indexes in the tree, by descending hash
}

// A Function is like the other functions with its hash, but for the hashes of operands.
type Function struct {
	Hash         uint64
	Name, Module string
	Instructions uint32
	Operands     []Operand // by instruction and operand
}

// An Operand is an operand that may differ between functions.
type Operand struct {
	Instruction, Index uint32
	Hash               uint64
}

// Detect reports whether data begins as codegen data, and whether as text: with comments and the line of a part.
func Detect(data []byte) (text, ok bool) {
	if bytes.HasPrefix(data, []byte(magic)) {
		return false, true
	}
	for line := range bytes.Lines(data[:min(len(data), 1<<12)]) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			is := string(line) == treeLine || string(line) == mapLine
			return is, is
		}
	}
	return false, false
}

// Read reads an indexed file, or text. It passes what is wrong with a file that it can read to warn, which may be nil. name
// is for errors.
func Read(name string, data []byte, warn func(error)) (*Data, error) {
	if warn == nil {
		warn = func(error) {}
	}
	var d *Data
	var err error
	r := &reader{warn: func(err error) { warn(flaw.InFile(err, name)) }}
	switch text, ok := Detect(data); {
	case len(data) == 0:
		err = flaw.Field("size").Got("0 bytes").Want("codegen data").Empty()
	case text:
		d, err = r.text(data)
	case ok:
		d, err = r.indexed(data)
	default:
		err = flaw.At("header", 0).Field("magic").Got(flaw.Quote(data[:min(len(data), len(magic))])).Wantf("%q", magic).Unrecognized()
		if bytes.HasPrefix([]byte(magic), data) {
			err = flaw.At("header", 0).Field("magic").Gotf("%d bytes", len(data)).Wantf("%q", magic).Truncated()
		}
	}
	if err != nil {
		return nil, flaw.InFile(err, name)
	}
	return d, nil
}

// A reader reads the parts of codegen data.
type reader struct {
	warn func(error)
}

func (r *reader) indexed(data []byte) (*Data, error) {
	c := cursor.New("header", 0, data, binary.LittleEndian)
	c.Bytes(uint64(len(magic)), "magic")
	at := c.Offset()
	v := c.U32("version")
	if c.Err() == nil && (v < 1 || v > version) {
		return nil, c.At(at).Field("version").Got(v).WantVersions(fmt.Sprintf("1 to %d", version), uint64(v), version).Unsupported()
	}
	at = c.Offset()
	kinds := c.U32("kinds")
	if c.Err() == nil && kinds&^(hasTree|hasMap) != 0 {
		return nil, c.At(at).Field("kinds").Gotf("%#x", kinds).Want("1 (tree), 2 (map) or both").Unsupported()
	}
	treeAt := c.U64("offset of the tree")
	mapAt := uint64(len(data))
	if v > 1 {
		mapAt = c.U64("offset of the map")
	}
	switch {
	case c.Err() != nil:
		return nil, c.Err()
	case kinds&hasMap != 0 && v < 3:
		return nil, c.At(at).Field("kinds").Gotf("%#x in version %d", kinds, v).Want("a map of version 3 or later").Unsupported()
	case treeAt < uint64(c.Offset()) || mapAt < treeAt || mapAt > uint64(len(data)):
		return nil, c.At(at+4).Field("offsets of the parts").Gotf("%#x and %#x", treeAt, mapAt).
			Wantf("ascending, from %#x to the end of the file at %#x", c.Offset(), len(data)).Truncated()
	}
	d := &Data{Version: int(v), form: "indexed"}
	treeEnd := mapAt
	if kinds&hasMap == 0 {
		treeEnd = uint64(len(data))
	}
	if kinds&hasTree != 0 {
		t := cursor.New(treePart, int64(treeAt), data[treeAt:treeEnd], binary.LittleEndian)
		d.Tree = r.tree(t)
		if err := atEnd(t); err != nil {
			return nil, err
		}
	} else if treeAt != mapAt {
		return nil, c.At(at+4).Field("offset of the map").Gotf("%#x", mapAt).Wantf("%#x: there is no tree", treeAt).Corrupt()
	}
	m := cursor.New(mapPart, int64(mapAt), data[mapAt:], binary.LittleEndian)
	if kinds&hasMap != 0 {
		r.functions(m, d)
	} else if kinds&hasTree != 0 {
		return d, nil
	}
	if err := atEnd(m); err != nil {
		return nil, err
	}
	sortFunctions(d.Functions)
	return d, nil
}

// atEnd returns the failure of a cursor, or an error about what follows the part.
func atEnd(c *cursor.Cursor) error {
	if c.Err() == nil && c.Len() > 0 {
		c.Fail(c.At(c.Offset()).Field("end of the part").Gotf("%d bytes before its end", c.Len()).Want("none").Corrupt())
	}
	return c.Err()
}

// tree reads one tree.
func (r *reader) tree(c *cursor.Cursor) []Node {
	start := c.Offset()
	n := c.Count(uint64(c.U32("number of nodes")), nodeSize, "number of nodes")
	b := &treeBuilder{reader: r, at: func() flaw.Position { return c.At(start) }, index: make(map[uint32]int, n)}
	for i := 0; i < n && c.Err() == nil; i++ {
		c.Record = i
		id := c.U32("id")
		node := rawNode{hash: c.U64("hash"), terminals: c.U32("terminals")}
		count := c.Count(uint64(c.U32("number of successors")), idSize, "number of successors")
		for range count {
			node.successors = append(node.successors, c.U32("id of a successor"))
		}
		if c.Err() == nil {
			b.add(id, node)
		}
	}
	c.Record = -1
	if c.Err() != nil {
		return nil
	}
	tree, err := b.build()
	if err != nil {
		c.Fail(err)
	}
	return tree
}

// functions reads one map and appends its functions.
func (r *reader) functions(c *cursor.Cursor, d *Data) {
	first := uint32(len(d.names))
	names := r.names(c)
	d.names = append(d.names, names...)
	at := c.Offset()
	n := c.Count(uint64(c.U32("number of functions")), hashSize+functionSize, "number of functions")
	hashes := c.Bytes(uint64(n)*hashSize, "hashes of the functions")
	places := cursor.New(c.Section, c.Offset(), c.Bytes(uint64(n)*functionSize, "functions"), c.Order())
	if c.Err() != nil {
		return
	}
	listsAt := c.Offset()
	lists := cursor.New(c.Section, listsAt+8, c.Bytes(c.U64("bytes of the operand lists"), "operand lists"), c.Order())
	if c.Err() != nil {
		return
	}
	from := len(d.Functions)
	for i := range n {
		places.Record, lists.Record = i, i
		f := Function{Hash: binary.LittleEndian.Uint64(hashes[i*hashSize:])}
		for _, to := range []*string{&f.Name, &f.Module} {
			at := places.Offset()
			id := places.U32("number of a name")
			if id >= uint32(len(names)) {
				c.Fail(places.At(at).Field("number of a name").Got(id).Wantf("less than %d", len(names)).Corrupt())
				return
			}
			*to = d.names[first+id]
		}
		f.Instructions = places.U32("number of instructions")
		at := places.Offset()
		// LLVM writes the lists one after the other. Overlapping ones could stand for more operands than there are bytes.
		if to := uint64(at) + places.U64("offset of the operands"); to != uint64(lists.Offset()) {
			c.Fail(places.At(at).Field("offset of the operands").Gotf("to %#x", to).Wantf("to %#x, where the list before ends", lists.Offset()).Corrupt())
			return
		}
		f.Operands = operands(lists)
		if lists.Err() != nil {
			c.Fail(lists.Err())
			return
		}
		d.Functions = append(d.Functions, f)
	}
	lists.Record = -1
	if err := atEnd(lists); err != nil {
		c.Fail(err)
		return
	}
	if added := d.Functions[from:]; !slices.IsSortedFunc(added, func(a, b Function) int { return cmp.Compare(a.Hash, b.Hash) }) {
		c.Fail(c.At(at).Field("hashes of the functions").Got("not sorted").Want("ascending").Corrupt())
	}
}

// operands reads one list of operands.
func operands(c *cursor.Cursor) []Operand {
	at := c.Offset()
	n := c.Count(uint64(c.U32("number of operands")), operandSize, "number of operands")
	if n == 0 {
		return nil
	}
	list := make([]Operand, n)
	for i := range list {
		list[i] = Operand{c.U32("instruction"), c.U32("operand"), c.U64("hash of an operand")}
		if c.Err() == nil && i > 0 && list[i-1].compare(list[i]) >= 0 {
			c.Fail(c.At(at).Field("operands").Got("not sorted, or twice").Want("ascending").Corrupt())
		}
	}
	return list
}

// compare orders operands by instruction and index.
func (o Operand) compare(p Operand) int {
	return cmp.Or(cmp.Compare(o.Instruction, p.Instruction), cmp.Compare(o.Index, p.Index))
}

// names reads the names of functions and modules.
func (r *reader) names(c *cursor.Cursor) []string {
	n := c.Count(uint64(c.U32("number of names")), 1, "number of names")
	at := c.Offset() + 8
	text := string(c.Bytes(c.U64("bytes of the names"), "names"))
	if c.Err() != nil {
		return nil
	}
	if n > len(text) {
		c.Fail(c.At(at).Field("number of names").Got(n).Wantf("at most %d in the bytes of the names", len(text)).Corrupt())
		return nil
	}
	names := make([]string, n)
	rest := text
	for i := range names {
		name, after, ok := strings.Cut(rest, "\x00")
		if !ok {
			c.Fail(c.At(at).InRecord(i).Field("name").Got("without an end").Want("a zero byte after it").Truncated())
			return nil
		}
		names[i], rest = name, after
	}
	if len(rest) >= 4 || strings.Trim(rest, "\x00") != "" {
		c.Fail(c.At(at).Field("padding of the names").Gotf("%x", rest[:min(len(rest), 8)]).Want("up to 3 zero bytes").Corrupt())
	}
	return names
}
