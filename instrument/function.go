package instrument

import (
	"bytes"
	"strings"
)

// function is a function of the file, or the cold part of one that the
// compiler put into another section.
type function struct {
	name    string // linkage name, without quotes
	label   int32  // the statement that defines it
	section int32
	// last is its last statement; those between in other sections or of other
	// functions are not part of it.
	last int32
	// end is where the label goes that ends it.
	end          int
	fragment     bool
	local, weak  bool // its symbol is
	instructions int
	hasMacro     bool // uses macros or conditionals
	tableWidth   int  // bytes of the narrowest jump table entries below 4, 0 for none
	skip         SkipReason
	blocksSkip   SkipReason

	entry   entryPoint
	blocks  []block
	formula [][]int32 // per block, see infer; nil for one with a probe
}

// label is a name for a place in the file.
type label struct {
	stmt int32 // that defines it
	uses labelUses
	// block is the block it begins, -1 for none; only in functions whose
	// blocks have been recovered.
	block int32
}

// labelUses is the set of ways in which control may reach a label.
type labelUses byte

const (
	usedByBranch  labelUses = 1 << iota // of its own function
	usedByTable                         // in data: a jump table or an array of label addresses
	usedByAddress                       // an instruction takes its address, or data that is not a table
	usedByOther                         // a branch of another function, or inline assembly
	usedAsPad                           // it is a landing pad
)

// labels is the table of the labels outside of inline assembly.
type labels struct {
	all    []label
	byName map[string]int32
}

// find returns the label of that name, -1 if there is none.
func (l *labels) find(name []byte) int32 {
	if id, ok := l.byName[string(name)]; ok {
		return id
	}
	return -1
}

// private reports whether the assembler keeps the symbol out of the symbol
// table; functions never have such names on Mach-O.
func (t Target) private(name []byte) bool {
	if t.Format == MachO {
		return name[0] == 'L' || name[0] == 'l'
	}
	return bytes.HasPrefix(name, []byte(".L"))
}

// recover finds the functions and labels of the file. Statements get the
// functions they belong to.
func (f *file) recover() {
	r := recovery{file: f, text: string(f.src), open: map[string]int32{}}
	r.collectTypes()
	r.current = make([]int32, len(f.sections))
	for i := range r.current {
		r.current[i] = -1
	}
	f.labels.byName = make(map[string]int32, len(f.stmts)/8)
	for i := range f.stmts {
		r.statement(int32(i))
	}
	for section := range r.current {
		r.close(int32(section), -1)
	}
}

type recovery struct {
	*file
	text    string // src, to take keys of maps from without copying each
	typed   map[string]bool
	global  map[string]bool
	weak    map[string]bool
	alt     map[string]bool // Mach-O: labels inside functions in spite of their names
	current []int32         // the open function of each section, -1 for none
	open    map[string]int32
}

// collectTypes reads what says which labels are functions; it may stand
// anywhere.
func (r *recovery) collectTypes() {
	r.typed, r.alt, r.global, r.weak = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range r.stmts {
		s := &r.stmts[i]
		if s.kind != stmtDirective {
			continue
		}
		word, rest := splitWord(r.file.text(s))
		switch string(word) {
		case ".type":
			args := splitArgs(rest)
			if len(args) == 1 { // the comma may be left out
				name, typ := splitWord(rest)
				args = [][]byte{name, typ}
			}
			switch string(bytes.Trim(args[1], `@%#"`)) {
			case "function", "STT_FUNC", "gnu_indirect_function", "STT_GNU_IFUNC":
				r.typed[string(unquote(args[0]))] = true
			}
		case ".globl", ".global", ".weak", ".weak_definition", ".private_extern":
			for _, name := range splitArgs(rest) {
				r.global[string(unquote(name))] = true
				if bytes.HasPrefix(word, []byte(".weak")) {
					r.weak[string(unquote(name))] = true
				}
			}
		case ".alt_entry":
			r.alt[string(unquote(rest))] = true
		}
	}
}

func (r *recovery) statement(i int32) {
	s := &r.stmts[i]
	fn := r.current[s.section]
	if s.kind == stmtLabel {
		name := unquote(r.file.text(s))
		if len(name) == 0 {
			return
		}
		isFunction := r.isFunction(s, name)
		if s.opaque == transparent {
			if isFunction {
				r.close(s.section, i)
				fn = r.begin(i, name)
			}
			if _, dup := r.labels.byName[string(name)]; !dup {
				off := int(s.pos)
				if r.src[off] == '"' {
					off++
				}
				r.labels.byName[r.text[off:off+len(name)]] = int32(len(r.labels.all))
				r.labels.all = append(r.labels.all, label{stmt: i, block: -1})
			}
		} else if isFunction && (fn < 0 || r.functions[fn].name != string(name)) {
			r.define(i, name)
			r.functions[len(r.functions)-1].skip = opaqueReason[s.opaque]
		}
	}
	if fn < 0 {
		if s.kind == stmtDirective {
			r.sizeDirective(s, i)
		}
		return
	}
	f := &r.functions[fn]
	switch s.kind {
	case stmtDirective:
		if r.sizeDirective(s, i) {
			return
		}
		if r.target.Format == MachO && s.opaque == transparent && string(r.file.text(s)) == ".cfi_endproc" {
			s.fn, f.last = fn, i
			r.close(s.section, -1)
			return
		}
	case stmtInstruction:
		f.instructions++
	case stmtLabel:
		if bytes.Contains(r.file.text(s), []byte("xray_sled")) {
			f.skip = SkipXRay
		}
	}
	if s.opaque == macro {
		f.hasMacro = true
	}
	s.fn, f.last = fn, i
}

var opaqueReason = [...]SkipReason{inlineAsm: SkipInlineAssembly, macro: SkipMacro}

// isFunction reports whether the label begins a function.
func (r *recovery) isFunction(s *stmt, name []byte) bool {
	if r.target.Format == ELF {
		return r.typed[string(name)]
	}
	return r.sections[s.section].code && !r.target.private(name) && !isDigit(name[0]) && !r.alt[string(name)]
}

// define appends a function that begins with statement i.
func (r *recovery) define(i int32, name []byte) int32 {
	id := int32(len(r.functions))
	s := &r.stmts[i]
	f := function{name: string(name), label: i, section: s.section, last: i, end: -1}
	f.fragment = isFragment(f.name)
	f.local, f.weak = !r.global[f.name], r.weak[f.name]
	switch {
	case !r.sections[s.section].code:
		f.skip = SkipSection
	case isOutlined(f.name):
		f.skip = SkipOutlined
	}
	r.functions = append(r.functions, f)
	return id
}

// begin opens the function that begins with statement i.
func (r *recovery) begin(i int32, name []byte) int32 {
	id := r.define(i, name)
	r.current[r.stmts[i].section] = id
	r.open[r.functions[id].name] = id
	return id
}

// close ends the open function of a section, before statement next, or after
// its own last one if next is negative.
func (r *recovery) close(section, next int32) {
	id := r.current[section]
	if id < 0 {
		return
	}
	r.current[section] = -1
	f := &r.functions[id]
	delete(r.open, f.name)
	if next < 0 || r.stmts[next].section != section {
		next = f.last + 1
	}
	f.end = r.tail
	if int(next) < len(r.stmts) {
		f.end = int(r.stmts[next].pos)
	}
	if f.instructions == 0 && f.skip == 0 {
		f.skip = SkipEmpty
	}
}

// sizeDirective handles .size, which ends a function wherever it stands: gcc
// prints it after the cold part, which lies in the middle of the function.
func (r *recovery) sizeDirective(s *stmt, i int32) bool {
	text := r.file.text(s)
	if s.opaque != transparent || !bytes.HasPrefix(text, []byte(".size")) {
		return false
	}
	word, rest := splitWord(text)
	if string(word) != ".size" {
		return false
	}
	name, _, _ := bytes.Cut(rest, []byte(","))
	id, ok := r.open[string(unquote(bytes.TrimSpace(name)))]
	if ok {
		r.close(r.functions[id].section, i)
	}
	return ok
}

// isFragment tells by its name the cold part that gcc and LLVM split off a
// function, FUNCTION.cold or FUNCTION.cold.N.
func isFragment(name string) bool {
	i := strings.LastIndex(name, ".cold")
	if i <= 0 {
		return false
	}
	rest := name[i+len(".cold"):]
	if rest == "" {
		return true
	}
	return len(rest) > 1 && rest[0] == '.' && strings.Trim(rest[1:], "0123456789") == ""
}

func isOutlined(name string) bool {
	return strings.HasPrefix(strings.TrimPrefix(name, "_"), "OUTLINED_FUNCTION_")
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
