package mip

import "strconv"

// CFGSignature returns the control flow graph signature of a function: 0 with
// at most one block, otherwise the low half of the [Signature] of the graph in
// print. successors holds, for each non-empty block in layout order, the entry
// block first, the indices of its successors.
//
// LLVM uses the order of its own successor lists, which assembly does not contain.
// Producers outside LLVM list the branch target first, then the fall-through block, jump
// tables in table order, each successor once. So signatures are comparable only among
// profiles of one producer.
func CFGSignature(successors [][]int) uint32 {
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
	return uint32(Signature(string(b)))
}
