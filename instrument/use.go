package instrument

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/mip"
)

// Placement is where in the program the code of a function goes.
type Placement byte

const (
	// Neutral: where the compiler put it.
	Neutral Placement = iota
	// Unlikely: section .text.unlikely.FUNCTION, for what never ran.
	Unlikely
	// Startup: section .text.startup.FUNCTION, for what ran, but seldom.
	Startup
	// Hot: section .text.hot.FUNCTION.
	Hot
)

var placements = [...]string{Neutral: "neutral", Unlikely: "unlikely", Startup: "startup", Hot: "hot"}

// String returns the name of the placement as in section names, "neutral" for
// [Neutral].
func (p Placement) String() string { return placements[p] }

// UseReason is why a function, or its blocks, stay where they are.
type UseReason byte

const (
	// UseNew: the profile does not know the function.
	UseNew UseReason = iota + 1
	// UseStale: the profile has only functions of that name with another
	// control flow graph.
	UseStale
	// UseSection: in a section that the source or an option has chosen.
	UseSection
	// UseShared: in a section with other functions, since it was compiled
	// without -ffunction-sections.
	UseShared
	// UseOpaque: defined or entered in inline assembly or macros.
	UseOpaque
	// UseFragment: the cold part of another function. The compiler has put it
	// with other cold code.
	UseFragment
	// UseFormat: Mach-O has no sections for the purpose; the linker's order
	// file places its functions.
	UseFormat
	// UseTarget: blocks are moved on x86_64 with ELF only.
	UseTarget
	// UseUnwind: has unwind information that cannot be computed anew.
	UseUnwind
	// UseDirective: has data or directives of unknown effect between its
	// instructions.
	UseDirective
	// UseBlocks: its blocks could not be recovered.
	UseBlocks
	// UseTable: its exception table has a form that is not understood.
	UseTable
)

var useReasons = [...]string{
	UseNew:       "not in the profile",
	UseStale:     "changed since the profile",
	UseSection:   "in a section of its own choice",
	UseShared:    "in a section with other functions",
	UseOpaque:    "in inline assembly or macros",
	UseFragment:  "cold part of another function",
	UseFormat:    "placed by the linker alone",
	UseTarget:    "blocks cannot be moved on this target",
	UseUnwind:    "unwind information of an unknown form",
	UseDirective: "data or directives between its instructions",
	UseBlocks:    "blocks not recovered",
	UseTable:     "exception table of an unknown form",
}

// String says the reason in a few words; "" for 0.
func (r UseReason) String() string {
	if int(r) < len(useReasons) {
		return useReasons[r]
	}
	return fmt.Sprintf("UseReason(%d)", byte(r))
}

// UseOptions adjust [Use].
type UseOptions struct {
	// Target is what the text is for; the zero value means [DetectTarget].
	Target Target
	// Split moves blocks that never ran out of functions that did. It needs a
	// profile with block coverage.
	Split bool
}

// UseReport says what [Use] did, function by function.
type UseReport struct {
	Target    Target
	Functions []FunctionUse // in the order of the text
}

// FunctionUse says what became of one function.
type FunctionUse struct {
	Name string // as in the symbol table
	// Placed is where the function was put; Neutral if it was left alone.
	Placed Placement
	// Left is why it was left alone, 0 if it was not.
	Left UseReason
	// Blocks is the number of its blocks, and Cold that of those that never
	// ran, in functions that ran; 0 without block coverage.
	Blocks, Cold int
	// Moved is the number of blocks that were moved, at most Cold.
	Moved int
	// NotSplit is why no block at all could be moved although some were cold.
	NotSplit UseReason
}

// Use appends to dst the assembly text src with its functions placed by what
// profiles say of them, and returns it with a report on every function. src is
// left alone.
//
// Only ELF has sections that say where code goes, and only functions in
// sections of their own can be put into others: compile with
// -ffunction-sections. Group, flags and everything else about the section
// stay; sections that the compiler did not name by itself are left alone. On
// error dst is returned as it was; the errors are those of [Rewrite].
func Use(dst, src []byte, e *Evidence, opt UseOptions) ([]byte, UseReport, error) {
	f, err := parseForUse(src, e, opt.Target)
	if err != nil {
		return dst, UseReport{}, err
	}
	u := &user{file: f, evidence: e, known: make([]*record, len(f.functions)), report: UseReport{
		Target: f.target, Functions: make([]FunctionUse, len(f.functions)),
	}}
	for id := range f.functions {
		u.choose(id)
	}
	u.place()
	if opt.Split {
		u.split()
	}
	return u.apply(dst), u.report, nil
}

// parseForUse recovers the functions, and their blocks where the profile has
// those.
func parseForUse(src []byte, e *Evidence, target Target) (*file, error) {
	if target == (Target{}) {
		var err error
		if target, err = DetectTarget(src); err != nil {
			return nil, err
		}
	}
	opt := Options{Target: target, Profile: mip.FunctionCoverage}
	if e.blocks && target.Arch != ARM {
		opt.Profile |= mip.BlockCoverage
	}
	return parse(src, &opt)
}

// user carries out [Use] for one file.
type user struct {
	*file
	evidence *Evidence
	known    []*record // per function, nil if nothing is known
	edits    []edit
	report   UseReport
	// entries are the statements that enter each section, and tied those that
	// enter one with SHF_LINK_ORDER.
	entries  [][]int32
	tied     []int32
	tailText []byte // goes to the end of the file
}

// choose finds what is known of a function.
func (u *user) choose(id int) {
	fn, r := &u.functions[id], &u.report.Functions[id]
	r.Name = fn.name
	switch {
	case fn.fragment:
		r.Left = UseFragment
		return
	case fn.skip == SkipInlineAssembly || fn.skip == SkipMacro || fn.hasMacro:
		r.Left = UseOpaque
		return
	case fn.skip == SkipSection:
		r.Left = UseSection
		return
	case fn.skip != 0:
		r.Left = UseNew
		return
	}
	u.known[id], r.Left = u.evidence.find(fn)
	if rec := u.known[id]; rec != nil && rec.coverage != nil && rec.placement != Unlikely {
		r.Blocks = len(fn.blocks)
		for _, covered := range rec.coverage {
			if !covered {
				r.Cold++
			}
		}
	}
}

// place gives functions the sections where they belong.
func (u *user) place() {
	u.findEntries()
	inSection := make([][]int, len(u.sections))
	for id := range u.functions {
		fn := &u.functions[id]
		inSection[fn.section] = append(inSection[fn.section], id)
	}
	for s, ids := range inSection {
		u.placeSection(int32(s), ids)
	}
}

// placeSection renames a section if all that is in it are functions of which
// something is known. Usually that is one; thunks share the section of what
// they lead to.
func (u *user) placeSection(s int32, ids []int) {
	sec := &u.sections[s]
	to := Neutral
	named, unknown := "", false
	var left UseReason
	for _, id := range ids {
		fn := &u.functions[id]
		if u.known[id] == nil {
			unknown = true
		} else {
			to = max(to, u.known[id].placement)
		}
		if isCompilerSection(sec, fn.name) {
			named = fn.name
		}
	}
	switch {
	case to == Neutral:
		return
	case u.target.Format != ELF:
		left = UseFormat
	case named == "" && len(ids) > 1:
		left = UseShared
	case named == "" && sec.name == ".text" && sec.key == sec.name:
		left = UseShared
	case named == "":
		left = UseSection
	case unknown && to == Unlikely:
		left = UseShared
	case u.isOpaqueSection(s):
		left = UseOpaque
	default:
		u.renameSection(s, ".text."+to.String()+"."+named)
	}
	for _, id := range ids {
		if u.known[id] == nil {
			continue
		}
		if u.report.Functions[id].Left = left; left == 0 {
			u.report.Functions[id].Placed = to
		}
	}
}

// isCompilerSection reports whether the section's name is what a compiler gives
// the section of a function with -ffunction-sections.
func isCompilerSection(s *section, function string) bool {
	if s.name == ".text" { // -fno-unique-section-names
		return s.key != s.name
	}
	for _, prefix := range []string{".text.", ".text.hot.", ".text.startup.", ".text.unlikely."} {
		if s.name == prefix+function {
			return true
		}
	}
	return false
}

// findEntries fills in entries and tied.
func (u *user) findEntries() {
	u.entries = make([][]int32, len(u.sections))
	for i := range u.stmts {
		st := &u.stmts[i]
		if st.kind != stmtDirective || !isSectionDirective(u.text(st)) {
			continue
		}
		u.entries[st.section] = append(u.entries[st.section], int32(i))
		_, operands := splitWord(u.text(st))
		if args := splitArgs(operands); len(args) > 3 && bytes.IndexByte(unquote(args[1]), 'o') >= 0 {
			u.tied = append(u.tied, int32(i))
		}
	}
}

// isOpaqueSection reports whether the section is entered in inline assembly or
// macros, which are not read.
func (u *user) isOpaqueSection(s int32) bool {
	return slices.ContainsFunc(u.entries[s], func(i int32) bool { return u.stmts[i].opaque != transparent })
}

func isSectionDirective(text []byte) bool {
	word, _ := splitWord(text)
	switch string(word) {
	case ".section", ".pushsection":
		return true
	}
	return false
}

// renameSection gives a section another name wherever it is entered, and where
// sections are tied to it by its name.
func (u *user) renameSection(s int32, name string) {
	old := u.sections[s].name
	rename := func(i int32, chosen func(arg int) bool) {
		st := &u.stmts[i]
		_, operands := splitWord(u.text(st))
		for k, arg := range splitArgs(operands) {
			if chosen(k) && string(unquote(arg)) == old {
				at := int(st.end) - len(operands) + cap(operands) - cap(arg)
				u.edits = append(u.edits, edit{at, at + len(arg), quoteLike(arg, name)})
			}
		}
	}
	for _, i := range u.entries[s] {
		rename(i, func(arg int) bool { return arg == 0 })
	}
	if old == ".text" {
		return // it can be another of that name
	}
	for _, i := range u.tied {
		if u.stmts[i].opaque == transparent {
			rename(i, func(arg int) bool { return arg > 2 })
		}
	}
}

// quoteLike puts a name into quotes if old has them or it needs them.
func quoteLike(old []byte, name string) string {
	if end, ok := scanSymbol([]byte(name), 0); len(old) > 0 && old[0] == '"' || !ok || end != len(name) {
		return `"` + name + `"`
	}
	return name
}

// edit replaces the bytes from pos to end of the file.
type edit struct {
	pos, end int
	text     string
}

// apply appends the edited file.
func (u *user) apply(dst []byte) []byte {
	slices.SortStableFunc(u.edits, func(a, b edit) int { return cmp.Compare(a.pos, b.pos) })
	dst = slices.Grow(dst, len(u.src)+len(u.tailText))
	done := 0
	for _, e := range u.edits {
		dst = append(dst, u.src[done:e.pos]...)
		dst = append(dst, e.text...)
		done = e.end
	}
	dst = append(dst, u.src[done:u.tail]...)
	if len(u.tailText) > 0 && len(dst) > 0 && dst[len(dst)-1] != '\n' {
		dst = append(dst, '\n')
	}
	dst = append(dst, u.tailText...)
	return append(dst, u.src[max(done, u.tail):]...)
}
