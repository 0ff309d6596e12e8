package cc_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

const (
	libRS = `#[inline(never)] pub fn counted(x: u64) -> u64 { x + 1 }
#[inline(never)] pub fn never(x: u64) -> u64 { x - 1 }
pub fn generic<T: std::fmt::Debug>(x: T) -> String { format!("{x:?}") }
#[inline(never)] pub fn fails(x: u64) -> u64 { if x > 2 { panic!("too much") } x }
`
	mainRS = `use util::*;
fn main() {
    let mut sum = 0;
    for i in 0..100 { sum = counted(sum + i); }
    if std::env::args().count() > 5 { sum = never(sum); }
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(|| fails(3)).is_err();
    println!("{sum} {} {caught} {}", generic(Some(1)), std::thread::spawn(|| fails(1)).join().unwrap());
}
`
)

// rustCalls sums up by the path of the function in the mangled name.
func rustCalls(got map[string]uint64, path string) (n uint64, found bool) {
	for name, c := range got {
		if strings.Contains(name, path) {
			n += c
			found = true
		}
	}
	return n, found
}

func (b *bench) checkRust(image, raw string) {
	b.t.Helper()
	got := calls(b.profile(image, raw))
	for path, want := range map[string]uint64{"4util7counted": 100, "4util5never": 0, "4util5fails": 2} {
		if n, ok := rustCalls(got, path); !ok || n != want {
			b.t.Errorf("%s: %d calls (in the profile: %v), want %d", path, n, ok, want)
		}
	}
}

// TestRustc: a library and a program that uses it, both instrumented.
func TestRustc(t *testing.T) {
	t.Parallel()
	rustc := oracle.Tool(t, "rustc")
	oracle.Tool(t, "cc")
	oracle.Tool(t, "ar")
	b := newBench(t, "util.rs", libRS, "main.rs", mainRS)
	const want = "5050 Some(1) true 1\n"
	builds := [][]string{{"-Copt-level=2", generate, withBB}}
	if oracle.Everything() {
		builds = append(builds,
			[]string{"-Copt-level=0", "-g", generate, withBB}, []string{"-Copt-level=3", "-Cdebuginfo=1", generate, withBB},
			[]string{"-Copt-level=s", generate, withBB}, []string{"-Copt-level=2", generate})
	}
	for _, flags := range builds {
		b.build(append([]string{rustc, "--edition=2021", "--crate-type=rlib", "util.rs"}, flags...)...)
		b.build(append([]string{rustc, "--edition=2021", "-L.", "--extern=util", "main.rs", "-o", "prog"}, flags...)...)
		if got := b.run(rawFile, "prog"); got != want {
			t.Errorf("%v: printed %q, want %q", flags, got, want)
		}
		b.checkRust("prog", "raw")
	}
	r := b.cc(rustc, generate, "-Csplit-debuginfo=packed", "main.rs")
	if r.code != 1 || r.stderr != "profuse cc: error: -C split-debuginfo=packed: rustc would pack the debug information of each crate twice; -C split-debuginfo=unpacked is possible\n" {
		t.Errorf("packed: %+v", r)
	}
	// A library for C.
	b.write("api.rs", "#[no_mangle] pub extern \"C\" fn api(x: i32) -> i32 { x * 2 }\n")
	b.write("use.c", "#include <stdio.h>\nint api(int);\nint main(void) { printf(\"%d\\n\", api(4)); return 0; }\n")
	cc := oracle.Tool(t, "gcc", "clang-19")
	for _, c := range []struct{ kind, file, image, flags string }{
		{"cdylib", "libapi.so", "libapi.so", ""}, {"staticlib", "libapi.a", "capi", "-lpthread -ldl -lm"},
	} {
		b.build(rustc, "--edition=2021", "--crate-type="+c.kind, "-O", generate, "api.rs")
		b.exec(nil, append([]string{cc, "-c", "use.c", "-o", "use.o"}, nil...)...)
		link := append([]string{cc, generate, "use.o", b.path(c.file), "-o", "capi"}, strings.Fields(c.flags)...)
		b.build(link...)
		if got := b.run(rawFile, "capi"); got != "8\n" {
			t.Errorf("%s: printed %q", c.kind, got)
		}
		b.wantCalls(b.profile(c.image, "raw"), map[string]uint64{"api": 1})
	}
}

// TestRustcLTO: the code that rustc or the linker makes of several crates is instrumented and laid out.
func TestRustcLTO(t *testing.T) {
	oracle.Slow(t)
	rustc := oracle.Tool(t, "rustc")
	oracle.Tool(t, "cc")
	oracle.Tool(t, "ar")
	const want = "5050 Some(1) true 1\n"
	for _, c := range [][2]string{
		{"", "-Clto"},
		{"-Clinker-plugin-lto", "-Clto=thin"},
		{"-Clinker-plugin-lto", "-Clinker-plugin-lto"}, // with the lld of rustc
	} {
		t.Run(strings.ReplaceAll(c[1], "=", "_"), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "util.rs", libRS, "main.rs", mainRS)
			build := func(program string, flags ...string) {
				t.Helper()
				b.build(slices.Concat([]string{rustc, "--edition=2021", "-Copt-level=1", "--crate-type=rlib", "util.rs"}, strings.Fields(c[0]), flags)...)
				b.build(slices.Concat([]string{rustc, "--edition=2021", "-Copt-level=1", "-L.", "--extern=util", "main.rs", c[1], "-o", program}, flags)...)
				if got := b.run(rawFile, program); got != want {
					t.Errorf("printed %q, want %q", got, want)
				}
			}
			build("probed", generate, withBB)
			b.checkRust("probed", "raw")
			b.writeProfile("app.mip", b.profile("probed", "raw"))
			build("used", "-fmachine-profile-use="+b.path("app.mip"))
			if left := b.files("*.s"); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// TestCargo: through RUSTC_WRAPPER, with a build script and tests.
func TestCargo(t *testing.T) {
	oracle.Slow(t)
	cargo := oracle.Tool(t, "cargo")
	oracle.Tool(t, "cc")
	b := newBench(t,
		"Cargo.toml", "[package]\nname = \"prog\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nutil = { path = \"util\" }\n",
		"src/main.rs", mainRS, "build.rs", "fn main() { println!(\"cargo:rerun-if-changed=build.rs\"); }\n",
		"util/Cargo.toml", "[package]\nname = \"util\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "util/src/lib.rs", libRS,
	)
	b.write("wrapper", "#!/bin/sh\nexec '"+b.self+"' -- \"$@\"\n")
	for _, profile := range []string{"debug", "release"} {
		args := []string{cargo, "build", "--offline", "--quiet"}
		if profile == "release" {
			args = append(args, "--release")
		}
		r := b.exec([]string{"RUSTC_WRAPPER=" + b.path("wrapper"), "RUSTFLAGS=" + generate, "CARGO_TARGET_DIR=" + b.path("target")}, args...)
		if r.code != 0 || r.stderr != "" {
			t.Fatalf("cargo: %+v", r)
		}
		b.noTemporaries()
		b.run(rawFile, "target/"+profile+"/prog")
		b.checkRust("target/"+profile+"/prog", "raw")
	}
	if _, err := os.Stat(b.path("default.mipraw")); err == nil {
		t.Error("the build script was instrumented")
	}
}
