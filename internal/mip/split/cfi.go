package split

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// cfiState is the call frame information in effect at an instruction on x86_64.
// States are immutable once an instruction refers to them.
type cfiState struct {
	register string    // of the CFA; "" means the initial one
	offset   int       // of the CFA from the register
	rules    []cfiRule // by register; the others hold their values at entry
}

// cfiRule is the directive for a register, such as .cfi_offset REGISTER, N. Its
// offset is relative to the CFA, so the directive means the same at any place.
type cfiRule struct {
	register, directive, operand string
}

// At the entry of functions on x86_64 the CFA is rsp+8.
const (
	initialCFARegister = "7" // rsp, in both syntaxes
	initialCFAOffset   = 8
)

// equal reports whether both states give the same information; no directive is needed between them then.
func (s *cfiState) equal(t *cfiState) bool {
	return s == t || s.register == t.register && s.offset == t.offset && slices.Equal(s.rules, t.rules)
}

// with returns the state with another rule for a register; an empty directive restores the register.
func (s cfiState) with(register, directive, operand string) cfiState {
	rules := slices.Clone(s.rules)
	i, found := slices.BinarySearchFunc(rules, register, func(r cfiRule, name string) int { return cmp.Compare(r.register, name) })
	if found {
		rules = slices.Delete(rules, i, i+1)
	}
	if directive != "" {
		rules = slices.Insert(rules, i, cfiRule{register, directive, operand})
	}
	s.rules = rules
	return s
}

// cfiTracker follows the directives of one function. remembered is the stack of .cfi_remember_state.
type cfiTracker struct {
	state      cfiState
	remembered []cfiState
	open       bool // between .cfi_startproc and .cfi_endproc
	procedures int
	// personality and lsda are the directives with the exception table.
	personality, lsda []byte
}

// directive applies a directive. changes is set if the directive changes the state; ok is false if
// the effect of the directive is unknown (.cfi_escape, .cfi_signal_frame …) or it begins a second
// procedure. Such functions are not split.
func (t *cfiTracker) directive(text []byte) (changes, ok bool) {
	word, rest := asm.SplitWord(text)
	args := asm.SplitArgs(rest)
	number := func(i int) int {
		if i >= len(args) {
			ok = false
			return 0
		}
		n, err := strconv.ParseInt(string(args[i]), 0, 32)
		ok = ok && err == nil
		return int(n)
	}
	register := string(args[0])
	changes, ok = true, t.open
	switch string(word) {
	case ".cfi_startproc":
		*t = cfiTracker{state: cfiState{offset: initialCFAOffset}, open: true, procedures: t.procedures + 1}
		return false, len(rest) == 0 && t.procedures == 1
	case ".cfi_endproc":
		t.open = false
		return false, true
	case ".cfi_personality":
		t.personality = text
		return false, true
	case ".cfi_lsda":
		t.lsda = text
		return false, true
	case ".cfi_def_cfa":
		t.state.register, t.state.offset = register, number(1)
	case ".cfi_def_cfa_register":
		t.state.register = register
	case ".cfi_def_cfa_offset":
		t.state.offset = number(0)
	case ".cfi_adjust_cfa_offset":
		t.state.offset += number(0)
	case ".cfi_offset":
		t.state = t.state.with(register, ".cfi_offset", strconv.Itoa(number(1)))
	case ".cfi_rel_offset":
		t.state = t.state.with(register, ".cfi_offset", strconv.Itoa(number(1)-t.state.offset))
	case ".cfi_register":
		if len(args) != 2 {
			return true, false
		}
		t.state = t.state.with(register, ".cfi_register", string(args[1]))
	case ".cfi_undefined", ".cfi_same_value":
		t.state = t.state.with(register, string(word), "")
	case ".cfi_restore":
		t.state = t.state.with(register, "", "")
	case ".cfi_remember_state":
		t.remembered = append(t.remembered, t.state)
	case ".cfi_restore_state":
		n := len(t.remembered)
		if n == 0 {
			return true, false
		}
		t.state, t.remembered = t.remembered[n-1], t.remembered[:n-1]
	default:
		return true, false
	}
	return changes, ok
}

func isCFI(text []byte) bool { return bytes.HasPrefix(text, []byte(".cfi_")) }

// printCFI prints the directives that change one state into another. It prints no
// .cfi_remember_state but each change in full.
func printCFI(t *asm.Text, from, to *cfiState) {
	switch {
	case from.register != to.register:
		t.Line("\t.cfi_def_cfa ", cmp.Or(to.register, initialCFARegister), ", ", strconv.Itoa(to.offset))
	case from.offset != to.offset:
		t.Line("\t.cfi_def_cfa_offset ", strconv.Itoa(to.offset))
	}
	for _, r := range from.rules {
		if !slices.ContainsFunc(to.rules, func(o cfiRule) bool { return o.register == r.register }) {
			t.Line("\t.cfi_restore ", r.register)
		}
	}
	for _, r := range to.rules {
		switch {
		case slices.Contains(from.rules, r):
		case r.operand == "":
			t.Line("\t", r.directive, " ", r.register)
		default:
			t.Line("\t", r.directive, " ", r.register, ", ", r.operand)
		}
	}
}
