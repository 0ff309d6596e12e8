package cgdata

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmorder"
)

// A Merger adds up codegen data. The zero value is ready for use. Terminals of equal sequences add up; functions are
// collected by hash. The order of the data decides only the order of names in the file.
type Merger struct {
	// Partial keeps all functions, also functions that cannot be merged with the others of their hash: further data may bring
	// more. SkipTrim keeps functions that can be merged but need not, and operands that do not differ.
	Partial, SkipTrim bool
	// After [Merger.Data]: the number of functions that contradict others with their hash, and of functions that are not worth
	// merging; both are left out. Saturated says that a number of terminals would exceed 32 bits and is 2^32-1.
	Contradicting, Unprofitable int
	Saturated                   bool

	tree      hashTree
	functions []Function
	names     nameTable
	form      string // of the last data
}

// A nameTable numbers names in the order in which they come.
type nameTable struct {
	list []string
	ids  map[string]uint32
}

func (t *nameTable) id(name string) uint32 {
	id, ok := t.ids[name]
	if !ok {
		if t.ids == nil {
			t.ids = make(map[string]uint32)
		}
		id = uint32(len(t.list))
		t.list = append(t.list, name)
		t.ids[name] = id
	}
	return id
}

// Add adds data.
func (m *Merger) Add(d *Data) {
	m.form = d.form
	m.tree.add(d.Tree)
	if d.parts == nil {
		for _, name := range d.names {
			m.names.id(name)
		}
	}
	for _, f := range d.inOrder() {
		m.names.id(f.Name)
		m.names.id(f.Module)
		m.functions = append(m.functions, *f)
	}
}

// inOrder returns the functions in the order in which LLVM adds them: each part of an object in the order of its map of
// hashes.
func (d *Data) inOrder() []*Function {
	list := make([]*Function, 0, len(d.Functions))
	first := 0
	for _, end := range d.parts {
		var hashes llvmorder.Unordered
		groups := [][]*Function{nil} // by index in hashes, from 1
		for ; first < end; first++ {
			i, added := hashes.Insert(d.Functions[first].Hash)
			if added {
				groups = append(groups, nil)
			}
			groups[i] = append(groups[i], &d.Functions[first])
		}
		for i := range hashes.All() {
			list = append(list, groups[i]...)
		}
	}
	for ; first < len(d.Functions); first++ {
		list = append(list, &d.Functions[first])
	}
	return list
}

// Data returns the sum. Call it once.
func (m *Merger) Data() *Data {
	sortFunctions(m.functions)
	if !m.Partial {
		kept := m.functions[:0]
		for rest := m.functions; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].Hash == rest[0].Hash {
				n++
			}
			group := rest[:n]
			rest = rest[n:]
			switch {
			case !agree(group):
				m.Contradicting += n
			case m.SkipTrim:
				kept = append(kept, group...)
			default:
				trim(group)
				if !isProfitable(group) {
					m.Unprofitable += n
					break
				}
				kept = append(kept, group...)
			}
		}
		m.functions = kept
	}
	m.Saturated = m.tree.saturated
	return &Data{Tree: m.tree.list(), Functions: m.functions, form: m.form, names: m.names.list}
}

// sortFunctions sorts functions as LLVM writes them.
func sortFunctions(list []Function) {
	slices.SortStableFunc(list, func(a, b Function) int {
		return cmp.Or(cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Module, b.Module), cmp.Compare(a.Name, b.Name))
	})
}

// agree reports whether functions with one hash have the same instructions and operands, but for the hashes of operands.
func agree(group []Function) bool {
	for i := 1; i < len(group); i++ {
		same := func(a, b Operand) bool { return a.compare(b) == 0 }
		if group[i].Instructions != group[0].Instructions || !slices.EqualFunc(group[i].Operands, group[0].Operands, same) {
			return false
		}
	}
	return true
}

// trim removes the operands that are the same in all functions of a group, which agree.
func trim(group []Function) {
	operands := group[0].Operands
	differ := make([]bool, len(operands))
	for i := range group {
		for j, o := range group[i].Operands {
			differ[j] = differ[j] || o.Hash != operands[j].Hash
		}
	}
	for i := range group {
		var kept []Operand
		for j, o := range group[i].Operands {
			if differ[j] {
				kept = append(kept, o)
			}
		}
		group[i].Operands = kept
	}
}

// isProfitable reports whether one function with parameters is smaller than the functions of a group, with the coefficients
// that are LLVM's defaults: an instruction costs 1.2, a parameter 2 and a call 1.
func isProfitable(group []Function) bool {
	if len(group) < 2 || group[0].Instructions < 1 {
		return false
	}
	const instruction, parameter, call = 1.2, 2.0, 1.0
	cost := 0.0
	for i := range group {
		n := group[i].parameters()
		if n == 0 {
			return false
		}
		cost += float64(n)*parameter + call
	}
	return float64(group[0].Instructions)*float64(len(group)-1)*instruction > cost
}

// parameters returns the number of different hashes among the operands.
func (f *Function) parameters() int {
	hashes := make([]uint64, len(f.Operands))
	for i, o := range f.Operands {
		hashes[i] = o.Hash
	}
	slices.Sort(hashes)
	return len(slices.Compact(hashes))
}
