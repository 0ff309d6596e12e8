package instrument

import "bytes"

// returning are functions that always return to where they were called: those
// of the C library whose names it reserves and which neither call back nor can
// be cancelled, and the parts of language runtimes that must not throw.
var returning = map[string]bool{
	"memcpy": true, "memmove": true, "memset": true, "memcmp": true, "memchr": true, "memrchr": true, "bcmp": true,
	"strlen": true, "strnlen": true, "strcmp": true, "strncmp": true, "strchr": true, "strrchr": true, "strstr": true,
	"strcpy": true, "strncpy": true, "strcat": true, "strncat": true, "stpcpy": true, "stpncpy": true,
	"strspn": true, "strcspn": true, "strpbrk": true, "strcoll": true, "strtol": true, "strtoul": true, "strtod": true,
	"malloc": true, "calloc": true, "realloc": true, "free": true,
	"__errno_location": true, "__ctype_b_loc": true, "__ctype_tolower_loc": true, "__ctype_toupper_loc": true,
	"__cxa_begin_catch": true, "__cxa_free_exception": true,
	"_ZdlPv": true, "_ZdlPvm": true, "_ZdaPv": true, "_ZdaPvm": true, // operator delete
}

// call notes a call: the block leaves unless the callee returns for certain.
func (b *builder) call(blk *block, operand []byte) {
	name := bytes.TrimSuffix(operand, []byte("@PLT"))
	if end, ok := scanSymbol(name, 0); !ok || end != len(name) {
		blk.leave()
		return
	}
	name = unquote(name)
	if id := b.labels.find(name); id >= 0 {
		at := b.labels.all[id].stmt
		if fn := b.stmts[at].fn; fn >= 0 && b.functions[fn].label == at && b.functions[fn].local {
			blk.calls = append(blk.calls, fn)
			return
		}
	}
	if b.target.Format == MachO {
		name = bytes.TrimPrefix(name, []byte("_"))
	}
	if !returning[string(name)] {
		blk.leave()
	}
}

// resolveCalls decides which calls of functions local to the file return. A
// local function does if it has no loops, which might not end, and calls, if
// anything, functions that return: nobody can put another in its place.
func (f *file) resolveCalls() {
	returns := make([]bool, len(f.functions))
	candidates := make([]int32, 0, len(f.functions))
	for i := range f.functions {
		if f.functions[i].local && f.functions[i].straight() {
			candidates = append(candidates, int32(i))
		}
	}
	// Functions that call each other stay undecided, and so may not return.
	for changed := true; changed; {
		changed = false
		for n, i := range candidates {
			if i >= 0 && f.functions[i].allReturn(returns) {
				returns[i], candidates[n] = true, -1
				changed = true
			}
		}
	}
	for i := range f.functions {
		for b := range f.functions[i].blocks {
			blk := &f.functions[i].blocks[b]
			for _, callee := range blk.calls {
				if !returns[callee] {
					blk.leave()
				}
			}
		}
	}
}

// allReturn reports whether all calls of the function are to functions that
// return.
func (fn *function) allReturn(returns []bool) bool {
	for b := range fn.blocks {
		for _, callee := range fn.blocks[b].calls {
			if !returns[callee] {
				return false
			}
		}
	}
	return true
}

// straight reports whether control that enters the function returns from it,
// as far as calls do: its blocks stay, none is entered from outside, and there
// are no cycles.
func (fn *function) straight() bool {
	if len(fn.blocks) == 0 || fn.fragment || fn.hasMacro {
		return false
	}
	preds := make([]int32, len(fn.blocks))
	for b := range fn.blocks {
		if !fn.blocks[b].stays || fn.blocks[b].root {
			return false
		}
		for _, s := range fn.blocks[b].succs {
			preds[s]++
		}
	}
	// What a topological order does not reach is on a cycle or behind one.
	var work []int32
	for b, n := range preds {
		if n == 0 {
			work = append(work, int32(b))
		}
	}
	done := 0
	for ; len(work) > 0; done++ {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, s := range fn.blocks[b].succs {
			if preds[s]--; preds[s] == 0 {
				work = append(work, s)
			}
		}
	}
	return done == len(fn.blocks)
}
