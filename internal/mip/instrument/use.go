package instrument

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/split"
)

// placement says where in the program the code of a function goes.
type placement byte

const (
	// neutral: where the compiler put it.
	neutral placement = iota
	// unlikely: section .text.unlikely.FUNCTION, for functions that never ran.
	unlikely
	// startup: section .text.startup.FUNCTION, for functions that ran seldom.
	startup
	// hot: section .text.hot.FUNCTION, for functions that ran often.
	hot
)

// String returns the name of the placement as in section names, "" for neutral.
func (p placement) String() string {
	return [...]string{neutral: "", unlikely: "unlikely", startup: "startup", hot: "hot"}[p]
}

// UseOptions adjust [Use].
type UseOptions struct {
	// Target is as in [Options].
	Target asm.Target
	// Split moves blocks that never ran out of functions that did. It needs a
	// profile with block coverage.
	Split bool
	// CallsReturn is as in [Options], for the profile.
	CallsReturn bool
}

// FunctionUse says what [Use] did with one function.
type FunctionUse struct {
	Name string // as in the symbol table
	// Placed is "hot", "startup" or "unlikely", as in the name of the section that
	// the function was moved to; "" if it was left in place.
	Placed string
	// Left is why the function was left in place, "" if it was moved.
	Left asm.Reason
	// Blocks is the number of basic blocks in a function that ran, Cold the number of blocks that
	// never ran; both are 0 without block coverage.
	Blocks, Cold int
	// Moved is the number of blocks that were moved, at most Cold.
	Moved int
	// NotSplit is why no cold block could be moved; "" if some were moved or no
	// block is known to be cold.
	NotSplit asm.Reason
}

// Use appends to dst the assembly text src with its functions placed according to profiles, and returns
// it with a report on every function, in the order of the text. It does not change src.
//
// Use works only on ELF, where the name of a section says how hot its code is, and
// moves only functions in sections of their own: compile with -ffunction-sections.
// It changes only the name of the section, and no name that the source or an option has chosen. On
// error Use returns dst as it was; the errors are the errors of [Rewrite].
func Use(dst, src []byte, e *Evidence, opt UseOptions) ([]byte, []FunctionUse, error) {
	f, err := parseForUse(src, e, &opt)
	if err != nil {
		return dst, nil, err
	}
	u := &placer{File: f, evidence: e, known: make([]*record, len(f.Functions)), uses: make([]FunctionUse, len(f.Functions))}
	u.renamed = e.renamed(f)
	for id := range f.Functions {
		u.chooseEvidence(id)
	}
	u.placeFunctions()
	if opt.Split {
		u.splitFunctions()
	}
	return u.Apply(dst, u.edits, u.tailText), u.uses, nil
}

// parseForUse recovers the functions, and their blocks if the profile has block coverage.
func parseForUse(src []byte, e *Evidence, use *UseOptions) (*asm.File, error) {
	opt := Options{Target: use.Target, Profile: mip.FunctionCoverage, CallsReturn: use.CallsReturn}
	if e.blocks && use.Target.Arch != asm.ARM { // blocks of ARM cannot be moved
		opt.Profile |= mip.BlockCoverage
	}
	parsed, err := parse(src, &opt)
	if err != nil {
		return nil, err
	}
	return parsed.File, nil
}

func (u *placer) splitFunctions() {
	s := split.New(u.File)
	for id := range u.Functions {
		r := &u.uses[id]
		switch {
		case u.known[id] != nil && u.known[id].stale && u.known[id].placement != unlikely && u.known[id].coverage == nil:
			r.NotSplit = asm.UseStale
		case r.Cold == 0:
		case u.Target != asm.Target{Arch: asm.X86_64, Format: asm.ELF}:
			r.NotSplit = asm.UseTarget
		case r.Left != "" || r.Placed == "":
			r.NotSplit = cmp.Or(r.Left, asm.UseSection)
		default:
			r.Moved, r.NotSplit = s.Function(int32(id), u.known[id].coverage)
		}
	}
	var edits []asm.Edit
	edits, u.tailText = s.Finish()
	u.edits = append(u.edits, edits...)
}

type placer struct {
	*asm.File
	evidence *Evidence
	renamed  map[int]string // names in the profiles, of functions that have others there
	known    []*record      // per function, nil if nothing is known
	edits    []asm.Edit
	uses     []FunctionUse // per function
	// entries are the statements that enter each section. linkOrder are the statements that enter a
	// section with flag o (SHF_LINK_ORDER), which names another section.
	entries   [][]int32
	linkOrder []int32
	tailText  []byte // goes to the end of the file
}

// nameInProfiles returns the name by which linkers find the function in the order.
func (u *placer) nameInProfiles(id int) string { return cmp.Or(u.renamed[id], u.Functions[id].Name) }

// chooseEvidence finds the evidence about a function, or the reason to leave it in place.
func (u *placer) chooseEvidence(id int) {
	fn, r := &u.Functions[id], &u.uses[id]
	r.Name = fn.Name
	switch {
	case fn.Fragment:
		r.Left = asm.UseFragment
		return
	case fn.Skip == asm.SkipInlineAssembly || fn.Skip == asm.SkipMacro || fn.HasMacro:
		r.Left = asm.UseOpaque
		return
	case fn.Skip == asm.SkipSection:
		r.Left = asm.UseSection
		return
	case fn.Skip != "":
		r.Left = asm.UseNew
		return
	}
	u.known[id], r.Left = u.evidence.find(u.File, id, u.nameInProfiles(id))
	if rec := u.known[id]; rec != nil && rec.coverage != nil && rec.placement != unlikely {
		r.Blocks = len(fn.Blocks)
		for _, covered := range rec.coverage {
			if !covered {
				r.Cold++
			}
		}
	}
}

// placeFunctions moves functions into the sections for their placements.
func (u *placer) placeFunctions() {
	u.findEntries()
	inSection := make([][]int, len(u.Sections))
	for id := range u.Functions {
		fn := &u.Functions[id]
		inSection[fn.Section] = append(inSection[fn.Section], id)
	}
	for s, ids := range inSection {
		u.placeSection(int32(s), ids)
	}
}

// placeSection renames a section if the profile knows all functions in it. Usually a section has one
// function; thunks share the section of the function they jump to.
func (u *placer) placeSection(s int32, ids []int) {
	sec := &u.Sections[s]
	to := neutral
	named, anyUnknown := "", false
	var left asm.Reason
	for _, id := range ids {
		fn := &u.Functions[id]
		if u.known[id] == nil {
			anyUnknown = true
		} else {
			to = max(to, u.known[id].placement)
		}
		if isCompilerSection(sec, fn.Name) {
			named = u.nameInProfiles(id)
		}
	}
	switch {
	case to == neutral:
		return
	case u.Target.Format != asm.ELF:
		left = asm.UseFormat
	case named == "" && len(ids) > 1:
		left = asm.UseShared
	case named == "" && sec.Name == ".text" && sec.Key == sec.Name:
		left = asm.UseShared
	case named == "":
		left = asm.UseSection
	case anyUnknown && to == unlikely:
		left = asm.UseShared
	case u.isOpaqueSection(s):
		left = asm.UseOpaque
	default:
		u.renameSection(s, ".text."+to.String()+"."+named)
	}
	for _, id := range ids {
		if u.known[id] == nil {
			continue
		}
		if u.uses[id].Left = left; left == "" {
			u.uses[id].Placed = to.String()
			u.keepName(id)
		}
	}
}

// keepName gives a renamed function that ran a label with its name in the profiles, for
// linkers that order symbols; others see the section's name. The label has no type and is
// local, so that debuggers prefer the function's own. It is left out if the file uses the name.
func (u *placer) keepName(id int) {
	old := u.renamed[id]
	if old == "" || u.known[id].placement == unlikely || asm.HasWord(u.Src, old) {
		return
	}
	label := &u.Stmts[u.Functions[id].Label]
	u.edits = append(u.edits, asm.Edit{Pos: int(label.Pos), End: int(label.Pos), Text: asm.QuoteLike(u.Text(label), old) + ": "})
}

// isCompilerSection reports whether the section has the name that compilers
// give a function's section with -ffunction-sections.
func isCompilerSection(s *asm.Section, function string) bool {
	if s.Name == ".text" { // -fno-unique-section-names
		return s.Key != s.Name
	}
	for _, prefix := range []string{".text.", ".text.hot.", ".text.startup.", ".text.unlikely."} {
		if s.Name == prefix+function {
			return true
		}
	}
	return false
}

func (u *placer) findEntries() {
	u.entries = make([][]int32, len(u.Sections))
	for i := range u.Stmts {
		st := &u.Stmts[i]
		if st.Kind != asm.StmtDirective || !asm.IsSectionDirective(u.Text(st)) {
			continue
		}
		u.entries[st.Section] = append(u.entries[st.Section], int32(i))
		_, operands := asm.SplitWord(u.Text(st))
		if args := asm.SplitArgs(operands); len(args) > 3 && bytes.IndexByte(asm.Unquote(args[1]), 'o') >= 0 {
			u.linkOrder = append(u.linkOrder, int32(i))
		}
	}
}

// isOpaqueSection reports whether inline assembly or a macro enters the section,
// which the package could not rename there.
func (u *placer) isOpaqueSection(s int32) bool {
	return slices.ContainsFunc(u.entries[s], func(i int32) bool { return u.Stmts[i].Opaque != asm.Transparent })
}

// renameSection renames a section wherever it is entered and wherever a section
// with SHF_LINK_ORDER names it.
func (u *placer) renameSection(s int32, name string) {
	old := u.Sections[s].Name
	rename := func(i int32, chosen func(arg int) bool) {
		st := &u.Stmts[i]
		_, operands := asm.SplitWord(u.Text(st))
		for k, arg := range asm.SplitArgs(operands) {
			if chosen(k) && string(asm.Unquote(arg)) == old {
				at := int(st.End) - len(operands) + cap(operands) - cap(arg)
				u.edits = append(u.edits, asm.Edit{Pos: at, End: at + len(arg), Text: asm.QuoteLike(arg, name)})
			}
		}
	}
	for _, i := range u.entries[s] {
		rename(i, func(arg int) bool { return arg == 0 })
	}
	if old == ".text" {
		return // the name may mean another section
	}
	for _, i := range u.linkOrder {
		if u.Stmts[i].Opaque == asm.Transparent {
			rename(i, func(arg int) bool { return arg > 2 })
		}
	}
}
