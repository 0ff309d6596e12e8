package instrument_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
	"github.com/profuse-pgo/profuse/test/oracle"
)

var trapsProgram = program{sources: []string{"traps.c"}}

// TestTraps runs what does not look like ordinary code with everything that changes how compilers print it.
func TestTraps(t *testing.T) {
	tests := map[string][][]string{
		"clang-22": {
			{"-O0"},
			{"-O2"},
			{"-O2", "-fcf-protection=full"},
			{"-O2", "-fpatchable-function-entry=3,1"},
			{"-O2", "-g"},
			{"-Os", "-fno-verbose-asm"},
			{"-O2", "-ffunction-sections", "-fdata-sections"},
			{"-O2", "-fno-pic"},
			{"-O2", "-fno-asynchronous-unwind-tables"},
			{"-O2", "-fno-jump-tables"},
			{"-O2", "-fstack-protector-all"},
			{"-O2", "-fsplit-machine-functions"},
		},
		"gcc": {
			{"-O0"},
			{"-O2"},
			{"-O2", "-fcf-protection=full"},
			{"-O2", "-fpatchable-function-entry=3,1"},
			{"-O2", "-g3"},
			{"-Os", "-fno-verbose-asm"},
			{"-O2", "-ffunction-sections", "-fdata-sections"},
			{"-O2", "-fverbose-asm"},
			{"-O2", "-freorder-blocks-and-partition"},
			{"-O2", "-fno-pie"},
			{"-O3", "-fno-reorder-functions"},
		},
	}
	for cc, variants := range tests {
		for _, flags := range variants {
			t.Run(fmt.Sprint(cc, flags), func(t *testing.T) {
				switch {
				case slices.Equal(flags, []string{"-O2"}):
				case len(flags) == 1:
					oracle.Slow(t)
				default:
					oracle.Exhaustive(t)
				}
				t.Parallel()
				p := trapsProgram.with(flags...)
				if slices.Contains(flags, "-fno-pic") || slices.Contains(flags, "-fno-pie") {
					p.ldflags = []string{"-no-pie"}
				}
				native(t, cc).sameOutput(t, p, counts)
				native(t, cc).sameOutput(t, p, coverage|withBB)
				native(t, cc).inferredEqualsProbed(t, p, optionsFor(coverage|withBB))
			})
		}
	}
}

// instrumented compiles a file of testdata, instruments it and returns the text and the report by name.
func (tc toolchain) instrumented(t *testing.T, source string, opt instrument.Options, flags ...string) (string, map[string]instrument.FunctionReport) {
	t.Helper()
	text, r := tc.rewrite(t, tc.assembly(t, source, flags...), opt)
	out := map[string]instrument.FunctionReport{}
	for _, f := range r {
		out[f.Name] = f
	}
	return string(text), out
}

// before returns the instructions of a function that precede its first probe.
func before(t *testing.T, text, function string) (ins []string) {
	t.Helper()
	_, body, ok := strings.Cut(text, "\n"+function+":")
	if !ok {
		t.Fatalf("no function %s", function)
	}
	for _, line := range strings.Split(body, "\n")[1:] {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case regexp.MustCompile(`Lmip_[rw]`).MatchString(line):
			return ins
		case line == "" || line[0] == '.' || strings.HasSuffix(line, ":"):
		default:
			ins = append(ins, line)
		}
	}
	t.Fatalf("%s has no probe", function)
	return nil
}

// TestStaysFirst: landing markers and sleds keep their place.
func TestStaysFirst(t *testing.T) {
	tests := []struct {
		cc, triple string
		flags      []string
		want       []string
	}{
		{"clang-22", "", []string{"-fcf-protection=full"}, []string{"endbr64"}},
		{"gcc", "", []string{"-fcf-protection=full"}, []string{"endbr64"}},
		{"clang-22", "", []string{"-fpatchable-function-entry=2"}, []string{"xchgw %ax, %ax"}},
		{"gcc", "", []string{"-fpatchable-function-entry=2"}, []string{"nop", "nop"}},
		{"gcc", "", []string{"-pg", "-mfentry", "-fcf-protection=full"}, []string{"endbr64", "1: call *__fentry__@GOTPCREL(%rip)"}},
		{"clang-22", "", []string{"-pg", "-mfentry"}, []string{"callq __fentry__"}},
		{"clang-22", "aarch64-linux-gnu", []string{"-mbranch-protection=bti"}, []string{"hint"}},
		{"clang-22", "aarch64-linux-gnu", []string{"-mbranch-protection=standard"}, []string{"hint"}},
		{"clang-22", "aarch64-linux-gnu", []string{"-mbranch-protection=bti", "-fpatchable-function-entry=1"}, []string{"hint", "nop"}},
	}
	for _, tt := range tests {
		tc := native(t, tt.cc)
		if tt.triple != "" {
			tc.flags = []string{"--target=" + tt.triple, "-I/usr/" + tt.triple + "/include"}
		}
		for _, profile := range modes {
			text, _ := tc.instrumented(t, "flow.c", instrument.Options{Profile: profile}, append([]string{"-O2"}, tt.flags...)...)
			if got := before(t, text, "catcher"); !slices.Equal(got, tt.want) {
				t.Errorf("%s %v: %q before the probe, want %q", tt.cc, tt.flags, got, tt.want)
			}
		}
	}
}

// TestLoopAtEntry: a probe inside a loop that begins with the function would count its rounds.
func TestLoopAtEntry(t *testing.T) {
	text, _ := native(t, "clang-22").instrumented(t, "flow.c", instrument.Options{Profile: counts}, "-O2")
	_, body, _ := strings.Cut(text, "\nspin:")
	probe, label := strings.Index(body, "\tincl"), regexp.MustCompile(`\n\.LBB`).FindStringIndex(body)[0]
	if probe < 0 || probe > label {
		t.Errorf("the probe is inside of the loop:\n%s", body[:400])
	}
}

// TestSkips: what is not instrumented is reported with its reason.
func TestSkips(t *testing.T) {
	clang, gcc := native(t, "clang-22"), native(t, "gcc")
	blocks := instrument.Options{Profile: coverage | withBB}
	function := instrument.Options{Profile: coverage}
	skipped := func(tc toolchain, source string, opt instrument.Options, flags ...string) map[string]string {
		_, r := tc.instrumented(t, source, opt, flags...)
		out := map[string]string{}
		for name, f := range r {
			out[name] = string(f.Skipped)
			if f.Skipped == "" {
				out[name] = string(f.BlocksSkipped)
			}
		}
		return out
	}
	check := func(what string, got map[string]string, name string, want asm.Reason) {
		t.Helper()
		if r, ok := got[name]; !ok || r != string(want) {
			t.Errorf("%s: %s is %q (present: %t), want %q", what, name, r, ok, want)
		}
	}
	check("module assembly of clang", skipped(clang, "traps.c", blocks), "raw_function", asm.SkipInlineAssembly)
	check("module assembly of gcc", skipped(gcc, "traps.c", blocks), "raw_function", asm.SkipInlineAssembly)
	check("XRay", skipped(clang, "traps.c", blocks, "-fxray-instrument", "-fxray-instruction-threshold=1"), "main", asm.SkipXRay)
	_, r := gcc.instrumented(t, "throw.cpp", function, "-O2")
	fragments := 0
	for name, f := range r {
		if strings.HasSuffix(name, ".cold") {
			fragments++
			if f.Skipped != asm.SkipFragment {
				t.Errorf("%s: %v", name, f.Skipped)
			}
		}
	}
	if fragments == 0 {
		t.Error("no cold parts")
	}
	opt := function
	opt.MinInstructions = 10
	check("small", skipped(clang, "traps.c", opt, "-O2"), "placed", asm.SkipMinInstructions)
	check("large", skipped(clang, "traps.c", opt, "-O2"), "main", "")
	list, err := instrument.ParseSpecialCaseList([]byte("[other]\nfun:main\n[mip]\n# no\nfun:pla*=block\nfun:bare=use\n"))
	oracle.NoError(t, err)
	opt = function
	opt.Skip = list
	check("listed", skipped(clang, "traps.c", opt), "placed", asm.SkipListed)
	check("listed in another section", skipped(clang, "traps.c", opt), "main", "")
	check("listed in another category", skipped(clang, "traps.c", opt), "bare", "")

	groups := map[string]int{}
	for i := range 3 {
		opt := function
		opt.GroupCount, opt.SelectedGroup = 3, i
		for name, r := range skipped(clang, "traps.c", opt) {
			if r == "" {
				groups[name]++
			}
		}
	}
	for name, n := range groups {
		if n != 1 {
			t.Errorf("%s is in %d groups", name, n)
		}
	}

	arm64 := toolchain{cc: clang.cc, flags: []string{"--target=aarch64-linux-gnu", "-I/usr/aarch64-linux-gnu/include"}}
	check("table of bytes", skipped(arm64, "bigswitch.c", blocks, "-O2"), "narrow", asm.SkipJumpTable)
	check("table of halfwords", skipped(arm64, "bigswitch.c", blocks, "-O2"), "wide", "")
	check("table of words", skipped(arm64, "bigswitch.c", blocks, "-O2", "-mllvm", "-aarch64-enable-compress-jump-tables=false"), "narrow", "")
	// Both have to assemble.
	arm64.flags = append(arm64.flags, "-c")
	text, _ := toolchain{cc: arm64.cc, flags: arm64.flags[:2]}.instrumented(t, "bigswitch.c", instrument.Options{Profile: coverage | withBB, AllBlockProbes: true}, "-O2")
	s := filepath.Join(t.TempDir(), "a.s")
	oracle.WriteFile(t, s, []byte(text))
	must(t, "", arm64.cc, append(arm64.flags, s, "-o", s+".o")...)
}

// TestRefusals: text that must not be instrumented is refused.
func TestRefusals(t *testing.T) {
	clang, gcc := native(t, "clang-22"), native(t, "gcc")
	opt := instrument.Options{Target: clang.target(t), Profile: coverage}
	again, _ := clang.instrumented(t, "flow.c", opt)
	tests := []struct {
		name string
		text string
		want error
	}{
		{"instrumented", again, asm.ErrInstrumented},
		{"gcc LTO", string(gcc.assembly(t, "flow.c", "-flto")), asm.ErrNoMachineCode},
		{"clang LTO", string(clang.assembly(t, "flow.c", "-flto")), asm.ErrNoMachineCode},
	}
	if _, _, err := instrument.Rewrite(nil, nil, instrument.Options{Profile: coverage}); !errors.Is(err, asm.ErrUnsupportedTarget) {
		t.Errorf("no target: %v", err)
	}
	for _, tt := range tests {
		out, _, err := instrument.Rewrite([]byte("before"), []byte(tt.text), opt)
		if !errors.Is(err, tt.want) || string(out) != "before" {
			t.Errorf("%s: error %v, %d bytes", tt.name, err, len(out))
		}
	}
	for _, opt := range []instrument.Options{
		{},
		{Profile: coverage | counts},
		{Profile: coverage | mip.ReturnAddress},
		{Profile: withBB},
		{Profile: coverage, GroupCount: 2, SelectedGroup: 2},
		{Profile: coverage, SelectedGroup: 1},
		{Profile: coverage, MinInstructions: -1},
	} {
		if _, _, err := instrument.Rewrite(nil, []byte("\tmovq %rax, %rax\n"), opt); !errors.Is(err, instrument.ErrOptions) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}

// TestGarbageCollection: linkers keep records with their functions.
func TestGarbageCollection(t *testing.T) {
	tests := []struct {
		cc      string
		flags   []string
		ldflags []string
		gone    bool // of functions that nothing calls
	}{
		{"gcc", []string{"-ffunction-sections"}, []string{"-Wl,--gc-sections", "-Wl,-z,start-stop-gc"}, true},
		{"clang-22", []string{"-ffunction-sections"}, []string{"-Wl,--gc-sections", "-Wl,-z,start-stop-gc"}, true},
		{"gcc", nil, []string{"-Wl,--gc-sections", "-Wl,-z,start-stop-gc"}, false},
		{"gcc", []string{"-ffunction-sections"}, []string{"-Wl,--gc-sections"}, false},
		{"clang-19", []string{"-ffunction-sections"}, []string{"-Wl,--gc-sections", "-fuse-ld=lld-19"}, true},
		{"clang-19", nil, []string{"-fuse-ld=lld-19"}, false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.cc, tt.flags, tt.ldflags), func(t *testing.T) {
			t.Parallel()
			if strings.Contains(fmt.Sprint(tt.ldflags), "lld-19") {
				oracle.Tool(t, "ld.lld-19")
			}
			p := program{sources: []string{"gc.c"}, cflags: append([]string{"-O1"}, tt.flags...), ldflags: tt.ldflags}
			tc := native(t, tt.cc)
			b := tc.build(t, p, optionsFor(coverage|withBB))
			profile := tc.profile(t, b, []string{"1"})
			names := mapNames(profile)
			slices.Sort(names)
			want := []string{"dead", "live", "main"}
			if tt.gone {
				want = want[1:]
			}
			if !slices.Equal(names, want) {
				t.Errorf("the map has %v, want %v", names, want)
			}
			for _, f := range profile.Functions {
				if f.Covered() != (f.Name != "dead") {
					t.Errorf("%s: covered %t", f.Name, f.Covered())
				}
			}
		})
	}
}

// TestComdat: functions that several objects have are recorded once, in executables and in shared libraries.
func TestComdat(t *testing.T) {
	for _, cc := range []string{"clang-22", "gcc"} {
		for _, flags := range [][]string{{"-O0"}, {"-O2", "-fPIC"}} {
			t.Run(fmt.Sprint(cc, flags), func(t *testing.T) {
				if cc != "gcc" || flags[0] != "-O2" {
					oracle.Slow(t)
				}
				t.Parallel()
				p := program{sources: []string{"comdat1.cpp", "comdat2.cpp"}, cflags: flags}
				tc := native(t, cxx(cc))
				tc.sameOutput(t, p, counts|withBB)
				seen := map[string]int{}
				for _, f := range tc.profile(t, tc.build(t, p, optionsFor(counts|withBB)), []string{"1"}).Functions {
					seen[f.Name]++
					if strings.Contains(f.Name, "shared") && f.CallCount != 2 {
						t.Errorf("%s: %d calls", f.Name, f.CallCount)
					}
				}
				for name, n := range seen {
					if want := map[bool]int{true: 2, false: 1}[strings.Contains(name, "local")]; n != want {
						t.Errorf("%d records of %s, want %d", n, name, want)
					}
				}
				lib := p
				lib.ldflags = []string{"-shared", "-Wl,-z,text", "-Wl,-z,defs"}
				if slices.Contains(flags, "-fPIC") {
					tc.build(t, lib, optionsFor(counts|withBB))
				}
			})
		}
	}
}

// TestRegistersSurvive: gcc's interprocedural register allocation sees through calling conventions.
func TestRegistersSurvive(t *testing.T) {
	p := program{sources: []string{"registers.c"}}.with("-O2", "-fipa-ra")
	for _, profile := range modes {
		native(t, "gcc").sameOutput(t, p, profile)
	}
	oracle.Slow(t)
	flags := instrument.CompilerFlags(instrument.GCC, asm.Target{Arch: asm.AArch64, Format: asm.ELF}, counts|withBB)
	tools := crossTools(t, "aarch64-linux-gnu", "qemu-aarch64")
	tools["gcc"].sameOutput(t, p.with(flags...), counts|withBB)
	crossTools(t, "arm-linux-gnueabihf", "qemu-arm")["gcc"].sameOutput(t, p, coverage)
}

// TestNoSymbols: by default the program's symbol table gains nothing but the
// bounds of the section and the runtime.
func TestNoSymbols(t *testing.T) {
	for _, cc := range []string{"clang-22", "gcc"} {
		tc := native(t, cc)
		p := flowProgram.with("-O1")
		plain := symbolNames(t, tc.build(t, p, nil).exe)
		for _, profile := range []mip.ProfileType{coverage | withBB, counts | withBB} {
			known := append(symbolNames(t, tc.runtime(t, profile)), plain...)
			for _, name := range symbolNames(t, tc.build(t, p, optionsFor(profile)).exe) {
				if bare, _, _ := strings.Cut(name, "@"); !slices.Contains(known, name) && !slices.Contains(known, bare) {
					t.Errorf("%s: new symbol %q", cc, name)
				}
			}
		}
	}
}

// TestAtomicCounts: with threads, atomic counters lose no call.
func TestAtomicCounts(t *testing.T) {
	for _, cc := range []string{"clang-22", "gcc"} {
		tc := native(t, cc)
		p := program{sources: []string{"threads.c"}, cflags: []string{"-O2"}, ldflags: []string{"-pthread"}}
		b := tc.build(t, p, &instrument.Options{Profile: counts, Atomic: true})
		ranks := map[uint64]string{}
		for _, f := range tc.profile(t, b, []string{"20000"}).Functions {
			if f.Name == "called" && f.CallCount != 4*20000 {
				t.Errorf("%s: %d calls", cc, f.CallCount)
			}
			if other, dup := ranks[f.TimestampSum]; dup && f.Covered() {
				t.Errorf("%s: %s and %s have the same rank", cc, f.Name, other)
			}
			ranks[f.TimestampSum] = f.Name
		}
		if ranks[1] != "main" {
			t.Errorf("%s: the first function is %s", cc, ranks[1])
		}
	}
}

// TestThreads: coverage is the same where probes look before they store.
func TestThreads(t *testing.T) {
	tools := crossTools(t, "aarch64-linux-gnu", "qemu-aarch64")
	tools["gcc"], tools["clang-22"] = native(t, "gcc"), native(t, "clang-22")
	for name, tc := range tools {
		for _, flags := range [][]string{{"-O2"}, {"-O2", "-masm=intel"}} {
			if len(flags) > 1 && len(tc.emu) > 0 {
				continue
			}
			if name == "clang" && !oracle.Everything() {
				continue
			}
			for _, mode := range []mip.ProfileType{coverage, coverage | withBB} {
				plain, looking := optionsFor(mode), optionsFor(mode)
				looking.Threads = true
				p := flowProgram.with(flags...)
				for _, args := range [][]string{{"0"}, {"4"}} {
					want := tc.profile(t, tc.build(t, p, plain), args)
					got := tc.profile(t, tc.build(t, p, looking), args)
					if len(got.Functions) == 0 || len(got.Functions) != len(want.Functions) {
						t.Fatalf("%s: %d functions, %d without", name, len(got.Functions), len(want.Functions))
					}
					for i, f := range got.Functions {
						if w := &want.Functions[i]; f.Name != w.Name || f.Covered() != w.Covered() {
							t.Errorf("%s %v: %s covered: %t, want %t", name, args, f.Name, f.Covered(), w.Covered())
						}
					}
				}
				out, report := tc.rewrite(t, tc.assembly(t, "flow.c", flags...), *looking)
				looks := len(regexp.MustCompile(`(?m)^\t(cmpb\t\$0, |cmp\tbyte ptr \[rip |ldrb\tw17, \[x16, )[^\n]*\n\t(jne|cbz)\t`).FindAll(out, -1))
				if most := len(report); looks == 0 || looks > most || mode == coverage && looks != most {
					t.Errorf("%s: %d probes look, of %d functions", name, looks, most)
				}
			}
		}
	}
}
