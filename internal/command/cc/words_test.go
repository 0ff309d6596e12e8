package cc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestRustCommands: what is taken from a command line of rustc, however its options are spelled.
func TestRustCommands(t *testing.T) {
	for _, c := range []struct {
		line  string
		want  rustCommand
		words string // what is passed on, "" for all
	}{
		{
			"main.rs --crate-name app --crate-type bin -o out --target x86_64-unknown-linux-gnu",
			rustCommand{
				inputs: []string{"main.rs"}, crateName: "app", crateTypes: []string{"bin"}, output: "out", emitsLink: true,
				target: "x86_64-unknown-linux-gnu", machine: []string{"--target", "x86_64-unknown-linux-gnu"},
			},
			"",
		},
		{
			"--crate-type=lib,cdylib --crate-name=a lib.rs --out-dir=deps -C extra-filename=-77 --emit=dep-info,metadata,link=liba.rlib",
			rustCommand{
				inputs: []string{"lib.rs"}, crateName: "a", crateTypes: []string{"lib", "cdylib"}, outDir: "deps", output: "liba.rlib", emits: true, emitsLink: true,
			},
			"",
		},
		{
			"a.rs -Ccodegen-units=16 -C incremental=dir --codegen embed-bitcode=no -Copt-level=3 -Clinker=clang",
			rustCommand{inputs: []string{"a.rs"}, linker: "clang", emitsLink: true},
			"a.rs --codegen embed-bitcode=no -Copt-level=3",
		},
		{
			"a.rs -C target-cpu=native -Ctarget-feature=+avx2 --sysroot /opt/rust",
			rustCommand{
				inputs: []string{"a.rs"}, emitsLink: true,
				machine: []string{"-C", "target-cpu=native", "-Ctarget-feature=+avx2", "--sysroot", "/opt/rust"},
			},
			"",
		},
		{"a.rs --emit metadata", rustCommand{inputs: []string{"a.rs"}, emits: true}, ""},
		{"- --print cfg", rustCommand{inputs: []string{"-"}, queries: true, emitsLink: true}, ""},
		{"-vV", rustCommand{queries: true, emitsLink: true}, ""},
		{"a.rs b.rs -C lto=off -L deps -l static=z --cfg feature", rustCommand{inputs: []string{"a.rs", "b.rs"}, emitsLink: true}, ""},
		{"a.rs -C split-debuginfo=packed", rustCommand{inputs: []string{"a.rs"}, packed: true, emitsLink: true}, ""},
		{"a.rs -C lto=thin", rustCommand{inputs: []string{"a.rs"}, thin: true, emitsLink: true}, ""},
		{"a.rs -Clinker-plugin-lto -oprog", rustCommand{inputs: []string{"a.rs"}, output: "prog", bitcode: true, emitsLink: true}, "a.rs -Clinker-plugin-lto -o prog"},
		{"a.rs -C", rustCommand{inputs: []string{"a.rs"}, emitsLink: true}, ""}, // rustc says what is missing
	} {
		got := parseRustCommand(strings.Fields(c.line))
		if c.words == "" {
			c.words = c.line
		}
		c.want.words = strings.Fields(c.words)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.line, got, c.want)
		}
	}
	for line, want := range map[string]bool{
		"a.rs --crate-type proc-macro": true, "build.rs --crate-name build_script_build": true, "a.rs --crate-name app": false,
	} {
		if r := parseRustCommand(strings.Fields(line)); r.helper() != want {
			t.Errorf("%s: runs only while building: %t", line, !want)
		}
	}
}

// TestArguments: the inputs and the output of a command line, and what language each input is of.
func TestArguments(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"-c a.c -o a.o", "a.c:;-o=a.o;"},
		{"-c a.c -oa.o", "a.c:;-o=a.o;"},
		{"-c a.c --output=a.o", "a.c:;-o=a.o;"},
		{"-c a.c --output a.o", "a.c:;-o=a.o;"},
		{"-x c++ a -x none b.c", "a:c++;b.c:;"},
		{"-xc++ a -xnone b.c", "a:c++;b.c:;"},
		{"--language=c a --language none b.c", "a:c;b.c:;"},
		{"-c -- -o.c", "-o.c:;"},
		{"- -xc -", "-:;-:c;"},
		{"a.c -I dir -include b.h -MF d.d -Xlinker -x -Xarch_x86_64 -O2", "a.c:;"},
		{"a.c -o", "a.c:;-o=;"}, // the compiler says what is missing
	} {
		got := ""
		for _, a := range parseArguments(strings.Fields(c.line)) {
			switch a.kind {
			case argInput:
				got += a.value + ":" + a.language + ";"
			case argOutput:
				got += "-o=" + a.value + ";"
			}
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

// TestInputKinds: what an input is, by the language that -x says or by its extension.
func TestInputKinds(t *testing.T) {
	for kind, names := range map[inputKind]string{
		inputSource:    "a.c a.C a.f90 a.ll x:c x:c++ x:f95 x.h:objective-c x:go x:ir",
		inputAssembler: "a.s a.S a.sx x:assembler x.c:assembler-with-cpp",
		inputHeader:    "a.h a.hpp x:c-header x.c:c++-header",
		inputForeign:   "a.cu a.hip a.cl x:cuda x.c:hip x:cl x:clcpp x:renderscript",
		inputLinker:    "a.o a.a libx.so.6 a -",
	} {
		for name := range strings.FieldsSeq(names) {
			file, language, _ := strings.Cut(name, ":")
			if got := inputKindOf(file, language); got != kind {
				t.Errorf("%s: kind %d, want %d", name, got, kind)
			}
		}
	}
	for arg, want := range map[string]bool{
		"-E": true, "-fsyntax-only": true, "--print-search-dirs": true, "-print-prog-name=ld": true, "--help=common": true, "-c": false, "-O2": false, "-MD": false,
	} {
		if compilesNothing(arg) != want {
			t.Errorf("%s compiles nothing: %t", arg, !want)
		}
	}
}

// TestCompilerWords: launchers belong to the compiler, and options choose what it compiles for.
func TestCompilerWords(t *testing.T) {
	for line, want := range map[string]string{
		"clang -c x.c": "clang", "ccache clang -c x.c": "ccache clang", "/usr/bin/distcc ccache gcc x.c": "/usr/bin/distcc ccache gcc", "ccache -s": "ccache", "ccache": "ccache",
	} {
		compiler, args := splitCommand(strings.Fields(line))
		if got := strings.Join(compiler, " "); got != want || len(compiler)+len(args) != len(strings.Fields(line)) {
			t.Errorf("%s: compiler %s, arguments %q", line, got, args)
		}
	}
	for _, c := range []struct{ triple, args, fails string }{
		{"x86_64-pc-linux-gnu", "-c x.c", ""},
		{"arm64-apple-macos13", "-arch arm64 x.c", ""},
		{"arm64-apple-macos13", "-arch arm64 -arch x86_64 x.c", "join the results with lipo"},
		{"x86_64-pc-linux-gnu", "-m32 x.c", "-m32; x86_64, AArch64 and ARMv7 can be instrumented"},
		{"x86_64-pc-linux-gnu", "-mabi=ilp32 x.c", "-mabi=ilp32; "},
		{"riscv64-linux-gnu", "x.c", "build for one of these"},
	} {
		compiler := compiler{facts: facts{Triple: c.triple}}
		_, err := compiler.target(parseArguments(strings.Fields(c.args)))
		if c.fails == "" && err != nil || c.fails != "" && (!errors.Is(err, asm.ErrUnsupportedTarget) || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s %s: error %v, want %q", c.triple, c.args, err, c.fails)
		}
	}
}

// TestLinkMessages: whether a link collects garbage, and what a message of the linker means.
func TestLinkMessages(t *testing.T) {
	job := func(args string, flags machineFlags) *gnuJob {
		flags.Generate, flags.Runtime = true, true
		return &gnuJob{driver: &driver{flags: flags}, args: parseArguments(strings.Fields(args)), target: asm.Target{Arch: asm.X86_64, Format: asm.ELF}}
	}
	for args, want := range map[string]bool{
		"x.o": false, "-Wl,--gc-sections x.o": true, "-Wl,-O1,-gc-sections": true, "-Xlinker --gc-sections": true, "-Wl,--gc-sections,--no-gc-sections": false,
		"-Wl,--gc-sections -Wl,-no-gc-sections": false, "-fuse-ld=gold -Wl,--gc-sections": false,
	} {
		if got := job(args, machineFlags{}).collectsGarbage(); got != want {
			t.Errorf("%s: collects garbage: %t", args, got)
		}
	}
	const discarded = ": relocation refers to .text.f, defined in a discarded section"
	for _, c := range []struct {
		args  string
		flags machineFlags
		line  string
		want  string
	}{
		{"", machineFlags{FunctionCoverage: true}, "undefined symbol: __profuse_mip_first", "an object counts calls"},
		{"", machineFlags{}, "undefined symbol: __profuse_mip_first", ""},
		{"", machineFlags{}, "undefined symbol: __profuse_mip_sample", "an object records call edges"},
		{"", machineFlags{RuntimeBuffer: 64}, "undefined symbol: __profuse_mip_sample", ""},
		{"-mcmodel=large", machineFlags{}, "relocation truncated to fit: R_X86_64_PC32", "-mcmodel=large: "},
		{"-mcmodel=large -mcmodel=small", machineFlags{}, "relocation truncated to fit: R_X86_64_PC32", ""},
		{"", machineFlags{}, "failed to match split-stack sequence at section 5", "-fsplit-stack: "},
		{"", machineFlags{}, "x.o:(" + asm.MapSection + "): invalid relocation for non-allocated section", "mold cannot link"},
		{"", machineFlags{}, "x.o(" + asm.MapSection + "+0x10)" + discarded, "gold cannot drop"},
		{"", machineFlags{}, "undefined symbol: f", ""},
	} {
		if got := job(c.args, c.flags).missingPart([]byte(c.line)); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s %s: %q, want %q", c.args, c.line, got, c.want)
		}
	}
}

// TestLinkerFiles: which files the linker's words name, and which parts of archives it loads.
func TestLinkerFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, file := range []string{"one/libx.so", "one/libx.a", "two/liby.a", "two/liby.so", "two/crt.o", "sys/lib/libz.a", "a.o", "b.a"} {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		oracle.WriteFile(t, file, []byte("INPUT()\n"))
	}
	for _, c := range []struct{ line, want string }{
		{"a.o -o out b.a", "a.o b.a"},
		{"--output out -u main -z now b.a", "main now b.a"}, // not files, which is harmless
		{"-Lone -lx", "one/libx.so"},
		{"-L one -Bstatic -lx -Bdynamic -lx", "one one/libx.a one/libx.so"},
		{"-Lone -L=/lib --sysroot=sys -lz -lnone", "sys/lib/libz.a"},
		{"-L$SYSROOT/lib -sysroot=sys --library=z", "sys/lib/libz.a"},
		{"--library-path=two --library=y -l:crt.o", "two/liby.so two/crt.o"},
		{"-library-path=two -static -library=y -call_shared", "two/liby.a"},
		{"-Ltwo --push-state -Bstatic -ly --pop-state -ly", "two/liby.a two/liby.so"},
		{"--whole-archive b.a --no-whole-archive a.o", "b.a! a.o"},
		{"-whole-archive b.a --push-state -no-whole-archive a.o -pop-state two/crt.o --pop-state", "b.a! a.o two/crt.o!"},
		{"--start-lib a.o --end-lib b.a", "a.o? b.a"},
	} {
		l := &ltoLink{words: strings.Fields(c.line), linker: lld}
		if err := l.readWords(); err != nil {
			t.Errorf("%s: %v", c.line, err)
		}
		var got []string
		for i, in := range l.inputs {
			if in != nil {
				got = append(got, in.path+[]string{"", "?", "!"}[l.loads[i]])
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.line, got, c.want)
		}
	}
}

// TestPinned: the second link loads native members where the first one did, each archive at its
// own words, except those whose name is not unique.
func TestPinned(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "a.a")
	members := []member{{"n.o", []byte("1")}, {"n.o", []byte("2")}, {"o.o", []byte("3")}, {"p.o", []byte("4")}, {"bit.o", []byte("BC\xc0\xde")}}
	if err := writeArchive(archive, members); err != nil {
		t.Fatal(err)
	}
	in := &ltoInput{path: archive, members: map[string]bool{"bit.o": true}, pinned: map[string]bool{}}
	main := &ltoInput{path: "main.o", bitcode: true}
	l := &ltoLink{gnuJob: &gnuJob{driver: &driver{temp: dir}}, inputs: []*ltoInput{in, nil, main, in, main}, loads: make([]loading, 5)}
	groups := l.pinGroups([]string{archive + "(n.o)", archive + "(bit.o)", archive + "(o.o)", "main.o", "crt1.o", archive + "(p.o)"})
	got := ""
	for _, g := range groups {
		got += fmt.Sprint(g.after, g.names)
	}
	if want := "0 [n.o o.o]3 [p.o]"; got != want {
		t.Errorf("groups %s, want %s", got, want)
	}
	rest, err := l.divide(in, groups)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{groups[0].file: "o.o3", groups[1].file: "p.o4", rest: "n.o1n.o2"} {
		_, members, err := readArchive(file)
		got := ""
		for _, m := range members {
			got += m.name + string(m.data)
		}
		if got != want || err != nil {
			t.Errorf("%s: members %s, %v; want %s", file, got, err, want)
		}
	}
}
