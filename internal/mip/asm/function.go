package asm

import (
	"bytes"
	"iter"
	"strings"

	"github.com/profuse-pgo/profuse/internal/symbols"
)

// Function is a function of the file, or the cold part of one that the compiler put into another section.
type Function struct {
	Name    string // linkage name, without quotes
	Label   int32  // the statement that defines it
	Section int32
	// Last is its last statement. Between Label and Last there may be statements
	// of other sections and functions.
	Last int32
	// End is the position for a label at its end.
	End          int
	Fragment     bool
	local, weak  bool // of its symbol
	Instructions int
	HasMacro     bool // uses macros or conditionals
	catches      bool // has landing pads
	TableWidth   int  // bytes of the narrowest jump table entry; 0 if all have 4 or more
	Skip         Reason
	BlocksSkip   Reason

	Entry   EntryPoint
	Blocks  []Block
	Assumed int       // calls that were assumed to return
	Formula [][]int32 // by block: its sources, see infer; nil for a block with a probe
}

// label names a position in the file.
type label struct {
	Stmt int32 // that defines it
	Uses labelUses
	// Block is the block that the label begins, -1 for none. It is set only in
	// functions whose blocks have been recovered.
	Block int32
}

// labelUses is the set of ways in which control may reach a label.
type labelUses byte

const (
	usedByBranch  labelUses = 1 << iota // of its own function
	usedByTable                         // by data: a jump table or an array of label addresses
	usedByAddress                       // an instruction takes its address
	usedByOther                         // a branch of another function, or inline assembly
	UsedAsPad                           // as a landing pad
)

// labels holds the labels outside inline assembly.
type labels struct {
	All    []label
	byName map[string]int32
}

// Find returns the label of that name, -1 if there is none.
func (l *labels) Find(name []byte) int32 {
	if id, ok := l.byName[string(name)]; ok {
		return id
	}
	return -1
}

// private reports whether the assembler keeps the symbol out of the symbol
// table. On Mach-O no function has such a name.
func (t Target) private(name []byte) bool {
	if t.Format == MachO {
		return name[0] == 'L' || name[0] == 'l'
	}
	return bytes.HasPrefix(name, []byte(".L"))
}

// recover finds the functions and labels of the file and assigns statements to functions.
func (f *File) recover() {
	r := recovery{File: f, text: string(f.Src), open: map[string]int32{}}
	r.collectTypes()
	r.current = make([]int32, len(f.Sections))
	for i := range r.current {
		r.current[i] = -1
	}
	f.Labels.byName = make(map[string]int32, len(f.Stmts)/8)
	for i := range f.Stmts {
		r.statement(int32(i))
	}
	for section := range r.current {
		r.close(int32(section), -1)
	}
}

type recovery struct {
	*File
	text    string // src; map keys are substrings of it, so they need no copy
	typed   map[string]bool
	global  map[string]bool
	weak    map[string]bool
	alt     map[string]bool // Mach-O: labels inside functions (.alt_entry)
	current []int32         // the open function of each section, -1 for none
	open    map[string]int32
}

// collectTypes reads the directives that say which labels are functions. They may
// stand anywhere in the text.
func (r *recovery) collectTypes() {
	r.typed, r.alt, r.global, r.weak = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range r.Stmts {
		s := &r.Stmts[i]
		if s.Kind != StmtDirective {
			continue
		}
		word, rest := SplitWord(r.File.Text(s))
		switch string(word) {
		case ".type":
			args := SplitArgs(rest)
			if len(args) == 1 { // the comma may be left out
				name, typ := SplitWord(rest)
				args = [][]byte{name, typ}
			}
			switch string(bytes.Trim(args[1], `@%#"`)) {
			case "function", "STT_FUNC", "gnu_indirect_function", "STT_GNU_IFUNC":
				r.typed[string(Unquote(args[0]))] = true
			}
		case ".globl", ".global", ".weak", ".weak_definition", ".private_extern":
			for _, name := range SplitArgs(rest) {
				r.global[string(Unquote(name))] = true
				if bytes.HasPrefix(word, []byte(".weak")) {
					r.weak[string(Unquote(name))] = true
				}
			}
		case ".alt_entry":
			r.alt[string(Unquote(rest))] = true
		}
	}
}

func (r *recovery) statement(i int32) {
	s := &r.Stmts[i]
	fn := r.current[s.Section]
	if s.Kind == StmtLabel {
		name := Unquote(r.File.Text(s)) // never empty, see [ScanSymbol]
		isFunction := r.isFunction(s, name)
		if s.Opaque == Transparent {
			if isFunction {
				r.close(s.Section, i)
				fn = r.beginFunction(i, name)
			}
			if _, dup := r.Labels.byName[string(name)]; !dup {
				off := int(s.Pos)
				if r.Src[off] == '"' {
					off++
				}
				r.Labels.byName[r.text[off:off+len(name)]] = int32(len(r.Labels.All))
				r.Labels.All = append(r.Labels.All, label{Stmt: i, Block: -1})
			}
		} else if isFunction && (fn < 0 || r.Functions[fn].Name != string(name)) {
			r.defineFunction(i, name)
			r.Functions[len(r.Functions)-1].Skip = opaqueReason[s.Opaque]
		}
	}
	if s.Kind == StmtDirective && r.sizeDirective(s, i) || fn < 0 {
		return
	}
	f := &r.Functions[fn]
	switch s.Kind {
	case StmtDirective:
		if r.Target.Format == MachO && s.Opaque == Transparent && string(r.File.Text(s)) == ".cfi_endproc" {
			s.Fn, f.Last = fn, i
			r.close(s.Section, -1)
			return
		}
	case StmtInstruction:
		f.Instructions++
	case StmtLabel:
		if bytes.Contains(r.File.Text(s), []byte("xray_sled")) {
			f.Skip = SkipXRay
		}
	}
	if s.Opaque == macro {
		f.HasMacro = true
	}
	s.Fn, f.Last = fn, i
}

// opaqueReason is the reason to skip a function, by the opacity of its label.
var opaqueReason = [...]Reason{inlineAsm: SkipInlineAssembly, macro: SkipMacro}

func (r *recovery) isFunction(s *Stmt, name []byte) bool {
	if r.Target.Format == ELF {
		// .LNAME$local is LLVM's second name of a function that cannot be replaced.
		return r.typed[string(name)] && !(r.Target.private(name) && bytes.HasSuffix(name, []byte("$local")))
	}
	return r.Sections[s.Section].Code && !r.Target.private(name) && !IsDigit(name[0]) && !r.alt[string(name)]
}

func (r *recovery) defineFunction(i int32, name []byte) int32 {
	id := int32(len(r.Functions))
	s := &r.Stmts[i]
	f := Function{Name: string(name), Label: i, Section: s.Section, Last: i, End: -1}
	_, f.Fragment = symbols.CutCold(f.Name) // the cold part that gcc and LLVM split off a function
	f.local, f.weak = !r.global[f.Name], r.weak[f.Name]
	switch {
	case !r.Sections[s.Section].Code:
		f.Skip = SkipSection
	case strings.HasPrefix(strings.TrimPrefix(f.Name, "_"), "OUTLINED_FUNCTION_"):
		f.Skip = SkipOutlined
	}
	r.Functions = append(r.Functions, f)
	return id
}

func (r *recovery) beginFunction(i int32, name []byte) int32 {
	id := r.defineFunction(i, name)
	r.current[r.Stmts[i].Section] = id
	r.open[r.Functions[id].Name] = id
	return id
}

// close ends the open function of a section before statement next, or after the
// function's own last statement if next is negative.
func (r *recovery) close(section, next int32) {
	id := r.current[section]
	if id < 0 {
		return
	}
	r.current[section] = -1
	f := &r.Functions[id]
	delete(r.open, f.Name)
	if next < 0 || r.Stmts[next].Section != section {
		next = f.Last + 1
	}
	f.End = r.Tail
	if int(next) < len(r.Stmts) {
		f.End = int(r.Stmts[next].Pos)
	}
	if f.Instructions == 0 && f.Skip == "" {
		f.Skip = SkipEmpty
	}
}

// sizeDirective handles .size, which ends its function in whatever section it stands:
// gcc prints it after the cold part. It reports whether it ended a function.
func (r *recovery) sizeDirective(s *Stmt, i int32) bool {
	text := r.File.Text(s)
	if s.Opaque != Transparent || !bytes.HasPrefix(text, []byte(".size")) {
		return false
	}
	word, rest := SplitWord(text)
	if string(word) != ".size" {
		return false
	}
	name, _, _ := bytes.Cut(rest, []byte(","))
	id, ok := r.open[string(Unquote(bytes.TrimSpace(name)))]
	if ok {
		r.close(r.Functions[id].Section, i)
	}
	return ok
}

func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// Statements iterates over the statements of a function, in its own section and in
// others, without the label that defines it.
func (f *File) Statements(id int32) iter.Seq2[int32, *Stmt] {
	return func(yield func(int32, *Stmt) bool) {
		fn := &f.Functions[id]
		for i := fn.Label + 1; i <= fn.Last; i++ {
			if s := &f.Stmts[i]; s.Fn == id && !yield(i, s) {
				return
			}
		}
	}
}

// Probes returns the number of probes of the function.
func (fn *Function) Probes() int {
	if fn.Skip != "" {
		return 0
	}
	n := 1
	for b := 1; b < len(fn.Blocks); b++ {
		if fn.Probed(b) {
			n++
		}
	}
	return n
}

// Probed reports whether block b has a probe.
func (fn *Function) Probed(b int) bool {
	return b == 0 || fn.BlocksSkip == "" && (fn.Formula == nil || fn.Formula[b] == nil)
}

// ProbedBlocks returns the number of blocks with a byte in the raw record.
func (fn *Function) ProbedBlocks() int { return fn.Probes() - 1 }
