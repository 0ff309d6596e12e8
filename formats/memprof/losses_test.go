package memprof

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func textOf(lines []string) string { return strings.Join(lines, "\n") + "\n" }

func lostFolder(t testing.TB) string {
	return filepath.Join(oracle.Root(t), "testdata", "memprof", "lost")
}

// symbolizeLost symbolizes a profile of testdata/memprof/lost, and returns its contexts, its losses and the warnings as text.
func symbolizeLost(t *testing.T, raw *RawProfile, programs ...string) (contexts, losses, warnings []string) {
	t.Helper()
	for i, p := range programs {
		programs[i] = filepath.Join(lostFolder(t), p)
	}
	p, about, err := raw.Symbolize(openBinaries(t, programs...), SymbolizeOptions{KeepNames: true, Warn: func(w profile.Warning) {
		kind := "warning"
		if errors.Is(w.Err, flaw.ErrRemark) {
			kind = "remark"
		}
		warnings = append(warnings, kind+": "+w.Err.Error())
	}})
	oracle.NoError(t, err)
	for c := range p.Contexts() {
		text := fmt.Sprint(c.MIB.TotalSize)
		for f := range p.Stacks.Walk(c.Stack) {
			text += fmt.Sprintf(" %s+%d:%d", p.Names[f.GUID], f.LineOffset, f.Column)
		}
		contexts = append(contexts, text)
	}
	slices.Sort(contexts)
	for _, l := range about.Losses {
		losses = append(losses, fmt.Sprintf("%s %s %d %v places %v callers %v", l.Cause, filepath.Base(l.File), l.PCs, l.Functions, l.Places, l.Callers))
	}
	return contexts, losses, warnings
}

func readLost(t *testing.T, name string) *RawProfile {
	t.Helper()
	return readRaw(t, oracle.ReadFile(t, filepath.Join(lostFolder(t), name+".memprofraw")), RawOptions{})
}

// TestLosses: profiles of programs without full debug information keep what symbols and line tables
// know, and say what they lack. The profile of the program with full debug information is what the others should be.
func TestLosses(t *testing.T) {
	full := []string{
		"100 _ZL4parti+1:21 _Z3owni+0:53 main+1:13",
		"1000 _ZN4pool3getEi+1:21 main+2:13",
		"4000 _ZN4pool3getEi+1:21 _Z4stepiPFPciE+1:13 main+3:13",
	}
	lines := slices.Clone(full)
	lines[0] = "100 part+8:21 _Z3owni+0:53 main+1:13"
	linesOnly := func(program string) []string {
		return []string{"line_tables_only " + program + " 6 [] places {1 1 100} callers {0 0 0}"}
	}
	for _, c := range []struct {
		name             string
		contexts, losses []string
		warnings         int
	}{
		{"full", full, nil, 0},
		{"lines-profiling", full, nil, 0},
		{"lines", lines, linesOnly("lines.debug"), 1},
		{"lines-dwarf4", lines, linesOnly("lines-dwarf4.debug"), 1},
		{"lines-clang19", lines, linesOnly("lines-clang19.debug"), 1},
		// Version 2 has allocations of the system's libraries, too.
		{"lines-clang16", lines, append(linesOnly("lines-clang16.debug"), "not_given . 3 [] places {2 2 67} callers {0 0 0}"), 1},
		{
			"no-caller",
			[]string{full[0], full[1], "4000 _ZN4pool3getEi+1:21 main+3:13"},
			[]string{"no_function no-caller.debug 1 [_Z4stepiPFPciE] places {0 0 0} callers {1 1 4000}"},
			1,
		},
		{
			"no-place",
			[]string{"4000 _Z4stepiPFPciE+1:13"},
			[]string{"no_function no-place.debug 5 [_Z3owni _ZN4pool3getEi main] places {3 3 5100} callers {0 0 0}"},
			1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			contexts, losses, warnings := symbolizeLost(t, readLost(t, c.name), c.name+".debug")
			losses = slices.DeleteFunc(losses, func(l string) bool { return strings.HasSuffix(l, "places {0 0 0} callers {0 0 0}") })
			if !slices.Equal(contexts, c.contexts) {
				t.Errorf("contexts are\n%swant\n%s", textOf(contexts), textOf(c.contexts))
			}
			if !slices.Equal(losses, c.losses) {
				t.Errorf("losses are\n%swant\n%s", textOf(losses), textOf(c.losses))
			}
			if len(warnings) != c.warnings {
				t.Errorf("warnings are\n%swant %d", textOf(warnings), c.warnings)
			}
		})
	}
}

// TestNoSymbols: without a symbol table the functions that the debug information lacks are lost, and the loss is said.
func TestNoSymbols(t *testing.T) {
	program := oracle.ReadFile(t, filepath.Join(lostFolder(t), "lines.debug"))
	const entrySize, symbolTable = 64, 2
	removed := 0
	for entry := program[le.Uint64(program[0x28:]):]; len(entry) >= entrySize; entry = entry[entrySize:] {
		if le.Uint32(entry[4:]) == symbolTable {
			le.PutUint32(entry[4:], 0)
			removed++
		}
	}
	if removed != 1 {
		t.Fatalf("removed %d symbol tables, want 1", removed)
	}
	path := filepath.Join(t.TempDir(), "program")
	oracle.WriteFile(t, path, program)
	p, about := symbolizeRaw(t, readLost(t, "lines"), openBinaries(t, path), SymbolizeOptions{})
	got := make(map[string]Loss)
	for _, l := range about.Losses {
		got[l.Cause] = l
	}
	whole, inlined := Share{2, 2, 5000}, Share{1, 1, 100}
	if l := got[causeNoFunction]; l.Places != whole || l.PCs != 5 || l.Functions != nil {
		t.Errorf("without a function: %+v, want places %v at 5 addresses", l, whole)
	}
	if l := got[causeLines]; l.Places != inlined || l.PCs != 1 {
		t.Errorf("line tables only: %+v, want places %v at 1 address", l, inlined)
	}
	if n := len(slices.Collect(p.Contexts())); n != 1 || about.Dropped != 2 || about.DroppedBytes != 5000 {
		t.Errorf("%d contexts, %d dropped with %d bytes; want 1, 2, 5000", n, about.Dropped, about.DroppedBytes)
	}
}

// TestLossesOfLLVM: what the drop-in makes of the profiles is what llvm-profdata made, losses included.
func TestLossesOfLLVM(t *testing.T) {
	files := oracle.Must(filepath.Glob(filepath.Join(lostFolder(t), "*.profdata")))(t)
	if len(files) != 9 {
		t.Fatalf("%d profiles, want 9", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".profdata")
		t.Run(name, func(t *testing.T) {
			raw := readRaw(t, oracle.ReadFile(t, filepath.Join(lostFolder(t), name+".memprofraw")), RawOptions{LLVMCompat: true})
			compareSection(t, raw, filepath.Join(lostFolder(t), name+".debug"), oracle.ReadFile(t, file), WriteOptions{LLVMRelease: 22})
		})
	}
}

// TestClosedLibrary: a library that was closed before the profile was written is lost, and found again if the user names it.
func TestClosedLibrary(t *testing.T) {
	raw := readLost(t, "closed")
	without := []string{"5000 main+3:8", "700 mine+0:35 main+4:8"}
	with := []string{"5000 inner+1:13 through+0:80 main+3:8", "700 mine+0:35 through+0:66 main+4:8"}
	const stray = "unloaded . 1 [] places {0 0 0} callers {0 0 0}" // the outermost address of some stack
	for _, c := range []struct {
		programs []string
		want     []string
		loss     string
		warning  string
	}{
		{
			[]string{"closed.debug"},
			without, "unloaded . 4 [] places {1 1 5000} callers {1 1 700}",
			"warning: x: stacks: program or library in memory when the profile was written is missing at ",
		},
		{[]string{"closed.debug", "library.so"}, with, stray, "remark: x: segments: segment of " + filepath.Join(lostFolder(t), "library.so") + " is missing, because "},
		{[]string{"library.so", "closed.debug", "other.so"}, with, stray, "remark: x: segments: segment of "},
		{
			[]string{"closed.debug", "other.so"},
			without, "unloaded . 4 [] places {1 1 5000} callers {1 1 700}",
			"warning: x: stacks: program or library in memory",
		},
	} {
		contexts, losses, warnings := symbolizeLost(t, raw, slices.Clone(c.programs)...)
		if !slices.Equal(contexts, c.want) {
			t.Errorf("%v: contexts are\n%swant\n%s", c.programs, textOf(contexts), textOf(c.want))
		}
		losses = slices.DeleteFunc(losses, func(l string) bool { return !strings.HasPrefix(l, causeUnloaded) })
		if got := strings.Join(losses, ""); got != c.loss {
			t.Errorf("%v: the loss is %q, want %q", c.programs, got, c.loss)
		}
		if len(warnings) != 1 || !strings.HasPrefix(warnings[0], c.warning) {
			t.Errorf("%v: warnings are\n%swant one: %s", c.programs, textOf(warnings), c.warning)
		}
	}
}

// TestCallsInCode: all forms of x86-64 calls are known by the bytes before the address that follows.
func TestCallsInCode(t *testing.T) {
	for code, want := range map[string]bool{
		"e800000000":     true,  // call rel32
		"e800000070":     false, // to an address outside of the code
		"ffd0":           true,  // call *%rax
		"41ffd3":         true,  // call *%r11
		"ff10":           true,  // call *(%rax)
		"ff5010":         true,  // call *16(%rax)
		"ff1424":         true,  // call *(%rsp)
		"ff542408":       true,  // call *8(%rsp)
		"ff1500000000":   true,  // call *0(%rip)
		"ff9000010000":   true,  // call *256(%rax)
		"ff14c500000000": true,  // call *0(,%rax,8)
		"ff94c500010000": true,  // call *256(%rbp,%rax,8)
		"ffe0":           false, // jmp *%rax
		"4889c7":         false, // mov
		"ff1500":         false, // cut off
	} {
		b := oracle.Must(hex.DecodeString(code))(t)
		m := &machineCode{low: 0x1000, high: 0x2000, sections: []codeSection{{0x1000, append(b, 0x90)}}}
		if got := m.followsCall(0x1000 + uint64(len(b))); got != want {
			t.Errorf("%s: a call: %v, want %v", code, got, want)
		}
		for addr := uint64(0x0ff0); addr < 0x1020; addr++ {
			m.followsCall(addr)
		}
	}
}

// TestClosedLibraryIsNotGuessed: where several places fit, or a place by accident, the library is not placed.
func TestClosedLibraryIsNotGuessed(t *testing.T) {
	call := []byte{0xff, 0xd0}
	code := make([]byte, 0x4000)
	for i := range code {
		code[i] = 0x90
	}
	put := func(at ...int) {
		for _, i := range at {
			copy(code[i-2:], call)
		}
	}
	put(0x10, 0x1010, 0x20)
	m := &machineCode{low: 0x1000, high: 0x5000, sections: []codeSection{{0x1000, code}}}
	for _, c := range []struct {
		what     string
		after    []uint64 // addresses after calls
		segments placements
		bias     uint64
		ok       bool
	}{
		{"two places", []uint64{0x7f001010}, nil, 0, false},
		{"one place", []uint64{0x7f001020}, nil, 0x7f000000, true},
		{"two calls", []uint64{0x7f001010, 0x7f001020}, nil, 0x7f000000, true},
		{"a call that is none there", []uint64{0x7f001020, 0x7f001030}, nil, 0, false},
		{"occupied", []uint64{0x7f001020}, placements{{start: 0x7f004fff, end: 0x7f005000}}, 0, false},
		{"beside a segment", []uint64{0x7f001020}, placements{{start: 0x7f000000, end: 0x7f001000}, {start: 0x7f005000, end: 0x7f006000}}, 0x7f000000, true},
		{"at the end of memory", []uint64{0xfffffffffffff020}, nil, 0, false},
	} {
		stray := slices.Clone(c.after)
		for i := range stray {
			stray[i]--
		}
		bias, _, ok := m.placeOf(stray, c.segments)
		if ok != c.ok || bias != c.bias && ok {
			t.Errorf("%s: %#x, %v; want %#x, %v", c.what, bias, ok, c.bias, c.ok)
		}
	}
	// Code full of calls fits anywhere.
	for i := 0; i < len(code); i += 2 {
		copy(code[i:], call)
	}
	if _, _, ok := m.placeOf([]uint64{0x7f00101f}, nil); ok {
		t.Error("a library full of calls is placed by one address")
	}
}

// TestSharedBinaries: the lookups of one mode do not reach the other.
func TestSharedBinaries(t *testing.T) {
	raw := readLost(t, "lines")
	programs := oracle.Must(symbolize.OpenPrograms([]string{filepath.Join(lostFolder(t), "lines.debug")}, symbolize.Options{}))(t)
	defer programs.Close()
	b := NewBinaries(programs)
	for range 2 {
		for _, llvm := range []bool{false, true} {
			p, about := symbolizeRaw(t, raw, b, SymbolizeOptions{LLVMCompat: llvm})
			want := 3
			if llvm {
				want = 1
			}
			if n := len(slices.Collect(p.Contexts())); n != want || (len(about.Losses) > 0) == llvm {
				t.Errorf("LLVMCompat %v: %d contexts, %d losses; want %d contexts", llvm, n, len(about.Losses), want)
			}
		}
	}
}
