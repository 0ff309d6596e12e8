package guid

import "strconv"

// LinkUnit returns the hash of the name of a MIP link unit: the low half of [Of]. Raw files, maps
// and profiles of a program share it, in all builds of the program.
func LinkUnit(name string) uint32 { return uint32(Of(name)) }

// CFG returns the control flow graph signature of a function in MIP: 0 for at most one block,
// otherwise the low half of [Of] the printed graph. successors holds the successor indices of
// each non-empty block in layout order, the entry block first.
//
// LLVM uses the order of its own successor lists, which assembly does not contain. Producers
// outside LLVM list the branch target first, then the fall-through block, jump tables in table
// order, each successor once. So only signatures of the same producer are comparable.
func CFG(successors [][]int) uint32 {
	if len(successors) <= 1 {
		return 0
	}
	var b []byte
	for _, succ := range successors {
		b = append(b, '{')
		for _, s := range succ {
			b = append(strconv.AppendInt(b, int64(s), 10), ';')
		}
		b = append(b, '}')
	}
	return uint32(Of(string(b)))
}
