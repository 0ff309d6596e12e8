package driver

import (
	"reflect"
	"strings"
	"testing"
)

// TestRustCommands: what is taken from a command line of rustc, however its
// options are spelled.
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
				inputs: []string{"lib.rs"}, crateName: "a", crateTypes: []string{"lib", "cdylib"}, outDir: "deps", extra: "-77", output: "liba.rlib", emitsLink: true,
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
		{"a.rs --emit metadata", rustCommand{inputs: []string{"a.rs"}}, ""},
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

// TestArguments: the inputs and the output of a command line, and what language
// each input is of.
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
