package sampleprof

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func source(t *testing.T, name string) []byte {
	t.Helper()
	return oracle.ReadFile(t, filepath.Join(oracle.Root(t), "testdata", "sampleprof", "src", name))
}

// compile compiles a source. It returns the program and the messages of the compiler.
func compile(t *testing.T, clang, name string, source []byte, flags ...string) (program, said string) {
	t.Helper()
	dir := t.TempDir() // the compiler hashes the path of the source as given
	oracle.WriteFile(t, filepath.Join(dir, name), source)
	_, said, code := oracle.RunIn(t, dir, clang, append(flags, name, "-o", "program")...)
	if code != 0 {
		t.Fatalf("%s %q: %s", clang, flags, said)
	}
	return filepath.Join(dir, "program"), said
}

func fit(t *testing.T, profile, program string) *Fit {
	t.Helper()
	f := oracle.Must(symbolize.Open(program, symbolize.Options{}))(t)
	defer f.Close()
	known := oracle.Must(readProgram(f))(t)
	return mustRead(t, fixtures(t)[profile]).fit(known)
}

// TestFitsItself: a profile fits the profiled program completely.
func TestFitsItself(t *testing.T) {
	clangxx, clang := oracle.Tool(t, "clang++-22"), oracle.Tool(t, "clang-22")
	base := []string{"-g", "-static", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-ffile-compilation-dir=."}
	for i, c := range []struct {
		profile, compiler, source string
		flags                     []string
	}{
		{"lines.afdo", clangxx, "work.cpp", []string{"-O2", "-fdebug-info-for-profiling"}},
		{"lines-md5.afdo", clangxx, "work.cpp", []string{"-O2", "-fdebug-info-for-profiling"}},
		{"flow.afdo", clangxx, "work.cpp", []string{"-O2", "-fdebug-info-for-profiling", "-mllvm", "-enable-fs-discriminator", "-mllvm", "-improved-fs-discriminator"}},
		{"probes.afdo", clangxx, "work.cpp", []string{"-O2", "-fpseudo-probe-for-profiling"}},
		{"contexts.afdo", clangxx, "work.cpp", []string{"-O1", "-fpseudo-probe-for-profiling", "-fno-optimize-sibling-calls"}},
		{"inlined.afdo", clangxx, "work.cpp", []string{"-O1", "-fpseudo-probe-for-profiling", "-fno-optimize-sibling-calls"}},
		{"stacks.afdo", clangxx, "work.cpp", []string{"-O1", "-fdebug-info-for-profiling", "-fno-optimize-sibling-calls"}},
		{"calls.afdo", clang, "calls.c", []string{"-O2", "-fdebug-info-for-profiling"}},
		{"calls-probes.afdo", clang, "calls.c", []string{"-O2", "-fpseudo-probe-for-profiling"}},
	} {
		if i%3 > 0 && !oracle.Everything() {
			continue
		}
		program, _ := compile(t, c.compiler, c.source, source(t, c.source), slices.Concat(base, c.flags)...)
		f := fit(t, c.profile, program)
		if f.Stale != 0 || f.Samples == 0 || f.Staleness.StaleCalls != 0 || f.Staleness.StaleFunctions != 0 || f.Checksums == f.Lines {
			t.Errorf("%s: %+v", c.profile, f)
		}
		for _, fn := range f.Functions {
			if fn.Name.Text == "" {
				t.Errorf("%s: a function of the program has no name: %+v", c.profile, fn)
			}
		}
	}
}

var (
	hashReport = regexp.MustCompile(`\((\d+)/(\d+)\) of functions' profile are invalid and \((\d+)/(\d+)\) of samples`)
	callReport = regexp.MustCompile(`\((\d+)/(\d+)\) of callsites' profile are invalid`)
	foundCalls = regexp.MustCompile(`\((\d+)/\d+\) of callsites and`)
	nameReport = regexp.MustCompile(`\((\d+)/\d+\) of functions' profile are matched`)
)

func numbers(t *testing.T, re *regexp.Regexp, said string) (all []uint64) {
	t.Helper()
	match := re.FindStringSubmatch(said)
	if match == nil {
		t.Fatalf("no %s in %s", re, said)
	}
	for _, text := range match[1:] {
		n, _ := strconv.ParseUint(text, 10, 64)
		all = append(all, n)
	}
	return all
}

func conditionOf(fn *FunctionFit) string {
	switch {
	case fn.NewName != "":
		return "renamed"
	case fn.Gone:
		return "gone"
	case fn.Changed:
		return "changed"
	}
	return "fits"
}

// condition describes in a word how a function fits.
func (f *Fit) condition(name string) FunctionFit {
	for _, fn := range f.Functions {
		if fn.Name.String() == name {
			return fn
		}
	}
	return FunctionFit{}
}

func laterCalls(t *testing.T, clang string) []byte {
	t.Helper()
	later, stderr, code := oracle.Run(t, clang, "-E", "-P", "-DLATER", filepath.Join(oracle.Root(t), "testdata", "sampleprof", "src", "calls.c"))
	if code != 0 {
		t.Fatal(stderr)
	}
	return []byte(later)
}

// TestStaleness compares the fit with the numbers that clang prints for a later source.
func TestStaleness(t *testing.T) {
	clang := oracle.Tool(t, "clang-22")
	dir := filepath.Join(oracle.Root(t), "testdata", "sampleprof")
	later := laterCalls(t, clang)
	for _, c := range []struct {
		profile string
		flags   []string
	}{
		{"calls-probes.afdo", []string{"-O2", "-g1", "-fpseudo-probe-for-profiling"}},
		{"calls.afdo", []string{"-O2", "-gline-tables-only", "-fdebug-info-for-profiling"}},
	} {
		_, said := compile(t, clang, "calls.c", later, append([]string{
			"-fprofile-sample-use=" + filepath.Join(dir, c.profile),
			"-mllvm", "-report-profile-staleness", "-mllvm", "-salvage-stale-profile", "-mllvm", "-salvage-unused-profile",
		}, c.flags...)...)
		program, _ := compile(t, clang, "calls.c", later, c.flags...)
		f := fit(t, c.profile, program)
		s := f.Staleness
		if f.Checksums {
			got := []uint64{uint64(s.StaleFunctions), uint64(s.Functions), s.StaleSamples, s.Samples}
			if want := numbers(t, hashReport, said); !slices.Equal(got, want) {
				t.Errorf("%s: checksums %d, clang %d", c.profile, got, want)
			}
			if got, want := []uint64{uint64(s.StaleCalls), uint64(s.Calls)}, numbers(t, callReport, said); !slices.Equal(got, want) {
				t.Errorf("%s: calls %d, clang %d", c.profile, got, want)
			}
			if fn := f.condition("summarize"); !fn.Changed || fn.Stale != fn.Samples || fn.Calls != 3 || fn.Aligned != 3 {
				t.Errorf("%s: %+v", c.profile, fn)
			}
		} else {
			// A missing call may be a call through a pointer if its line has code.
			want := numbers(t, callReport, said)
			if uint64(s.Calls) != want[1] || uint64(s.StaleCalls) > want[0] || s.StaleCalls < 5 {
				t.Errorf("%s: calls %d of %d, clang %d", c.profile, s.StaleCalls, s.Calls, want)
			}
			if fn := f.condition("shift"); !fn.Changed || fn.Locations != 4 || fn.StaleLines == 0 || fn.Stale == 0 || fn.Aligned != 2 {
				t.Errorf("%s: %+v", c.profile, fn)
			}
		}
		if want := numbers(t, foundCalls, said); uint64(s.RecoveredStales) != want[0] {
			t.Errorf("%s: %d calls found, clang %d", c.profile, s.RecoveredStales, want)
		}
		renamed := 0
		for _, fn := range f.Functions {
			if fn.NewName != "" {
				renamed++
			}
		}
		if want := numbers(t, nameReport, said); uint64(renamed) != want[0] {
			t.Errorf("%s: %d functions renamed, clang %d", c.profile, renamed, want)
		}
		if fn := f.condition("process"); fn.NewName != "handle" || fn.Stale != fn.Samples || fn.Calls != 5 || fn.Aligned != 5 {
			t.Errorf("%s: %+v", c.profile, fn)
		}
		if fn := f.condition("retire"); !fn.Gone {
			t.Errorf("%s: %+v", c.profile, fn)
		}
		if fn := f.condition("load"); fn.Changed || fn.Gone || fn.Stale != 0 {
			t.Errorf("%s: %+v", c.profile, fn)
		}
		stale := uint64(0)
		for _, fn := range f.Functions {
			stale += fn.Stale
		}
		if stale != f.Stale || f.Stale >= f.Samples {
			t.Errorf("%s: %d stale samples of functions, %d of %d in all", c.profile, stale, f.Stale, f.Samples)
		}
	}
}

// TestStalenessOfInlined compares with clang for functions that are inlined in profiles.
func TestStalenessOfInlined(t *testing.T) {
	clang := oracle.Tool(t, "clang++-22")
	dir := filepath.Join(oracle.Root(t), "testdata", "sampleprof")
	work := string(source(t, "work.cpp"))
	for i, change := range [][2]string{
		{"return a ^ b;", "return a > 7 ? a ^ b : b;"},                                                          // mix, which is inlined into total
		{"sum += i % 2 ? n : -i;", "sum += i % 2 ? n : i > 3 ? 2 : -i;"},                                        // not inlined
		{"for (T i = 0; i < upTo; i++)\n", "if (upTo > 1000)\n    return 0;\n  for (T i = 0; i < upTo; i++)\n"}, // total
	} {
		if i > 0 && !oracle.Everything() {
			break
		}
		later := strings.Replace(work, change[0], change[1], 1)
		if later == work {
			t.Fatalf("no %s in the source", change[0])
		}
		for _, profile := range []string{"probes.afdo", "inlined.afdo"} {
			flags := []string{"-O2", "-g1", "-fpseudo-probe-for-profiling"}
			_, said := compile(t, clang, "work.cpp", []byte(later), append([]string{
				"-fprofile-sample-use=" + filepath.Join(dir, profile), "-mllvm", "-report-profile-staleness",
			}, flags...)...)
			program, _ := compile(t, clang, "work.cpp", []byte(later), flags...)
			s := fit(t, profile, program).Staleness
			if profile == "inlined.afdo" { // clang leaves atol out, which the C library defines
				s.Functions--
				s.Samples -= 2
			}
			got := []uint64{uint64(s.StaleFunctions), uint64(s.Functions), s.StaleSamples, s.Samples}
			if want := numbers(t, hashReport, said); !slices.Equal(got, want) {
				t.Errorf("%s, %s: checksums %d, clang %d", change[1], profile, got, want)
			}
		}
	}
}

// TestDamagedProgram: a damaged program gives an error or fewer facts.
func TestDamagedProgram(t *testing.T) {
	clang := oracle.Tool(t, "clang-22")
	p := mustRead(t, fixtures(t)["calls-probes.afdo"])
	lines := mustRead(t, fixtures(t)["calls.afdo"])
	for _, flag := range []string{"-fpseudo-probe-for-profiling", "-fdebug-info-for-profiling"} {
		path, _ := compile(t, clang, "calls.c", source(t, "calls.c"), "-O2", "-g1", flag)
		data := oracle.ReadFile(t, path)
		rnd := rand.New(rand.NewPCG(7, 8))
		read := 0
		for range 3000 / oracle.Step(10) {
			damaged := slices.Clone(data)
			for range 1 + rnd.IntN(8) {
				damaged[rnd.IntN(len(damaged))] = byte(rnd.Uint32())
			}
			if rnd.IntN(4) == 0 {
				damaged = damaged[:rnd.IntN(len(damaged))]
			}
			f, err := symbolize.New("program", damaged, symbolize.Options{Workers: 1})
			if err != nil {
				continue
			}
			known, _ := readProgram(f)
			if known == nil {
				continue
			}
			read++
			for _, profile := range []*Profile{p, lines} {
				if fit := profile.fit(known); fit.Stale > fit.Samples {
					t.Errorf("%d of %d samples are stale", fit.Stale, fit.Samples)
				}
			}
		}
		if read < 50 {
			t.Errorf("%d damaged programs were read", read)
		}
	}
}

// TestStalenessOfReleases: programs of every release have the facts that Fit compares.
func TestStalenessOfReleases(t *testing.T) {
	later := laterCalls(t, oracle.Tool(t, "clang-22"))
	for _, release := range []int{14, 16, 19, 22} {
		if release != 14 && release != 22 && !oracle.Everything() {
			continue
		}
		clang := oracle.Tool(t, fmt.Sprintf("clang-%d", release))
		for profile, flags := range map[string][]string{
			"calls-probes.afdo": {"-O2", "-g1", "-fpseudo-probe-for-profiling"},
			"calls.afdo":        {"-O2", "-gline-tables-only", "-fdebug-info-for-profiling"},
		} {
			program, _ := compile(t, clang, "calls.c", later, flags...)
			f := fit(t, profile, program)
			if fn := f.condition("process"); fn.NewName != "handle" || fn.Aligned != 5 {
				t.Errorf("clang %d, %s: %+v", release, profile, fn)
			}
			if fn := f.condition("summarize"); !fn.Changed || fn.Aligned != 3 {
				t.Errorf("clang %d, %s: %+v", release, profile, fn)
			}
		}
		// Without probes and debug information, Fit compares only names.
		program, _ := compile(t, clang, "calls.c", later, "-O2")
		f := fit(t, "calls-probes.afdo", program)
		if f.Checksums || f.Lines || !f.condition("process").Gone || f.condition("summarize").Changed || !f.condition("retire").Gone {
			t.Errorf("clang %d: %+v", release, f)
		}
	}
}

// programOf returns the facts of a program with the given functions.
func programOf(functions map[string]programFunction) *programFacts {
	p := &programFacts{functions: make(map[uint64]*programFunction), probes: true, calls: true}
	for name, f := range functions {
		f.name, f.id = name, guid.Of(name)
		f.blocks = make(map[uint32]struct{})
		for i := range uint32(6) {
			f.blocks[i] = struct{}{}
		}
		p.functions[f.id] = &f
	}
	return p
}

// TestFit: the samples of inlined functions are lost with their caller; functions are found by all their names.
func TestFit(t *testing.T) {
	p := mustRead(t, []byte(`main:100:1
 1: 10
 2: inner:50
  1: 20
  2: deeper:30
   1: 30
   !CFGChecksum: 3
  !CFGChecksum: 2
 !CFGChecksum: 1
inner:7:1
 1: 7
 !CFGChecksum: 22
deeper:5:1
 1: 5
 !CFGChecksum: 3
_ZN3old4nameEv:4:1
 1: 4
 !CFGChecksum: 5
_ZN3app4core17h0123456789abcdefE:3:1
 1: 3
 !CFGChecksum: 6
f.llvm.123:2:1
 1: 2
 !CFGChecksum: 7
gone:1:1
 1: 1
 !CFGChecksum: 8
local:9:1
 1: 9
 !CFGChecksum: 9
`))
	program := programOf(map[string]programFunction{
		"main": {hashes: []uint64{1}}, "inner": {hashes: []uint64{22}}, "deeper": {hashes: []uint64{3, 4}},
		"_ZN3new4nameEi": {hashes: []uint64{55}}, "_ZN3app4core17hfedcba9876543210E": {hashes: []uint64{66}},
		"f": {hashes: []uint64{7}}, "local.__uniq.12": {hashes: []uint64{9}},
	})
	r := programReader{programFacts: program}
	r.alias()
	f := p.fit(program)
	var got []string
	for _, fn := range f.Functions {
		got = append(got, fmt.Sprint(fn.Name, " ", conditionOf(&fn), " ", fn.NewName, " ", fn.Stale, "/", fn.Samples))
	}
	want := []string{
		// 20 own samples and 30 of inlined functions; the copy that is not inlined fits.
		"inner changed  50/27",
		"_ZN3old4nameEv renamed _ZN3new4nameEi 4/4",
		"_ZN3app4core17h0123456789abcdefE renamed _ZN3app4core17hfedcba9876543210E 3/3",
		"gone gone  1/1",
		"deeper fits  0/35", "main fits  0/10", "local fits  0/9", "f.llvm.123 fits  0/2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if f.Samples != 91 || f.Stale != 58 || f.ProgramFunctions != 7 {
		t.Errorf("%+v", f)
	}
}

// TestFitOrder: the result does not depend on the order of maps.
func TestFitOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	name := func(i int) string { return "f" + strconv.Itoa(i) }
	functions := make(map[string]programFunction)
	for i := range 60 {
		f := programFunction{hashes: []uint64{uint64(rnd.IntN(4))}}
		for j := range 8 {
			f.addCall(Location{Line: uint32(j)}, guid.Of(name(rnd.IntN(70))))
		}
		functions[name(i)] = f
	}
	var first *Fit
	for range 8 {
		got := mustRead(t, randomText(5, 60, Kind{ProbeBased: true}, false)).fit(programOf(functions))
		if first == nil {
			first = got
		}
		if !reflect.DeepEqual(got, first) {
			t.Fatalf("%+v\n%+v", got, first)
		}
	}
}

// TestCommon: the result is in order, and as long as the result of a simple slow algorithm.
func TestCommon(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	list := func() []int {
		l := make([]int, rnd.IntN(9))
		for i := range l {
			l[i] = rnd.IntN(4)
		}
		return l
	}
	var longest func(a, b []int) int
	longest = func(a, b []int) int {
		switch {
		case len(a) == 0 || len(b) == 0:
			return 0
		case a[0] == b[0]:
			return 1 + longest(a[1:], b[1:])
		}
		return max(longest(a[1:], b), longest(a, b[1:]))
	}
	for range 2000 {
		a, b := list(), list()
		pairs := common(a, b, func(x, y int) bool { return x == y })
		if len(pairs) != longest(a, b) {
			t.Fatalf("%v, %v: %v", a, b, pairs)
		}
		last := [2]int{-1, -1}
		for _, p := range pairs {
			if a[p[0]] != b[p[1]] || p[0] <= last[0] || p[1] <= last[1] {
				t.Fatalf("%v, %v: %v", a, b, pairs)
			}
			last = p
		}
	}
}

// TestCallsOfCode finds calls of functions and jumps to other functions.
func TestCallsOfCode(t *testing.T) {
	for _, c := range []struct {
		arch string
		data []byte
		want string
	}{
		// f at 0x1000: call g, jmp g, jmp f (a loop), a call into the middle of g; g at 0x1014.
		{"x86_64", []byte{0xe8, 15, 0, 0, 0, 0xe9, 10, 0, 0, 0, 0xe9, 0xf1, 0xff, 0xff, 0xff, 0xe8, 1, 0, 0, 0, 0xe8, 0xe7, 0xff, 0xff, 0xff}, "1000>1014 1005>1014 1014>1000 "},
		{"i386", []byte{0xe8, 15, 0, 0, 0}, "1000>1014 "},
		// bl g, b g, b f (a loop), bl +8, nop; g: bl f.
		{"aarch64", []byte{5, 0, 0, 0x94, 4, 0, 0, 0x14, 0xfe, 0xff, 0xff, 0x17, 2, 0, 0, 0x94, 0x1f, 0x20, 3, 0xd5, 0xfb, 0xff, 0xff, 0x97}, "1000>1014 1004>1014 1014>1000 100c>1014 "},
		{"riscv64", []byte{0xe8, 15, 0, 0, 0}, ""},
	} {
		code := code{arch: c.arch, sections: []codeSection{{0x1000, c.data}}, starts: make(map[uint64][]uint64)}
		code.addStart(0x1000, 1)
		code.addStart(0x1014, 2)
		code.addStart(0x1014, 2)
		code.sort()
		var got string
		for at, target := range code.calls() {
			got += fmt.Sprintf("%x>%x ", at, target)
		}
		sorted := func(s string) []string { return slices.Sorted(strings.FieldsSeq(s)) }
		if !slices.Equal(sorted(got), sorted(c.want)) {
			t.Errorf("%s: %s, want %s", c.arch, got, c.want)
		}
		if c.want != "" && !slices.Equal(code.calleesAt(0x1000), []uint64{2}) || code.calleesAt(0x2000) != nil || code.calleesAt(0xfff) != nil {
			t.Errorf("%s: %d", c.arch, code.calleesAt(0x1000))
		}
	}
}

// TestFitIsBounded: matching many gone and new functions with many calls ends soon.
func TestFitIsBounded(t *testing.T) {
	const n = 300
	var text strings.Builder
	functions := make(map[string]programFunction)
	for i := range n {
		f := programFunction{hashes: []uint64{2}}
		fmt.Fprintf(&text, "old%d:%d:1\n", i, i)
		for j := range n {
			f.addCall(Location{Line: uint32(j)}, guid.Of(fmt.Sprintf("new%d", (i+j*7)%n)))
			fmt.Fprintf(&text, " %d: %d old%d:1\n", j, i, (j*i+1)%n)
		}
		text.WriteString(" !CFGChecksum: 1\n")
		functions[fmt.Sprintf("new%d", i)] = f
	}
	fmt.Fprintf(&text, "main:1:1\n 1: 1 old0:1\n 2: 1 old1:1\n !CFGChecksum: 1\n")
	main := programFunction{hashes: []uint64{1}}
	main.addCall(Location{Line: 1}, guid.Of("new1"))
	main.addCall(Location{Line: 2}, guid.Of("new0"))
	functions["main"] = main
	p := mustRead(t, []byte(text.String()))
	if fit := p.fit(programOf(functions)); len(fit.Functions) != n+1 {
		t.Errorf("%d functions", len(fit.Functions))
	}
}
