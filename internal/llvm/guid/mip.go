package guid

import "strconv"

// LinkUnit returns the hash of the name of a MIP link unit, the low half of [Of]. It
// connects the raw files, maps and profiles of one program, and is the same for all
// builds of the program.
func LinkUnit(name string) uint32 { return uint32(Of(name)) }

// CFG returns the control flow graph signature of a function in MIP: 0 with at most one block,
// otherwise the low half of [Of] the printed graph. successors holds, for each non-empty block in
// layout order, the entry block first, the indices of its successors.
//
// LLVM uses the order of its own successor lists, which assembly does not contain.
// Producers outside LLVM list the branch target first, then the fall-through block, jump
// tables in table order, each successor once. So signatures are comparable only among
// profiles of one producer.
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
