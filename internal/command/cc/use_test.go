package cc_test

import (
	"bytes"
	"debug/elf"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// useProgram has functions of every fate, in an order that no profile would
// choose: what runs last comes first, and what never runs between.
const useProgram = `
#include <stdio.h>
#include <stdlib.h>
#define N __attribute__((noinline))
N int last(int x) { return x * 7; }
N int never(int x) { return printf("never %d\n", x); }
N int often(int x) { return x + 1; }
__attribute__((section("mine"), noinline)) int apart(int x) { return x - 1; }
int alias(int) __attribute__((alias("never")));
N static int local(int x) { return x ^ 5; }
#ifdef NEW
N int fresh(int x) { return x / 3 + NEW; }
N int first(int x) { if (x > 50) return never(x); if (x > 40) return x / 3; return local(x) + fresh(x) - fresh(x); }
#else
N int first(int x) { if (x > 50) return never(x); return local(x); }
#endif
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1, sum = first(n);
  for (int i = 0; i < 1000; i++) sum = often(sum);
  sum = apart(sum);
  if (argc > 2) sum += alias(sum);
  printf("%d\n", last(sum));
  return 0;
}
`

// writeProfile writes a merged profile of the image's runs.
func (b *bench) writeProfile(name string, p *mip.Profile) {
	b.t.Helper()
	data, err := oracle.Written(func(w io.Writer) error { return mip.WriteMIP(w, p, mip.WriteOptions{}) })
	if err != nil {
		b.t.Fatal(err)
	}
	b.write(name, string(data))
}

// makeProfile builds with probes, runs, and leaves app.mip.
func (b *bench) makeProfile(build []string, runs ...[]string) {
	b.t.Helper()
	b.build(append(slices.Clone(build), generate, "-o", "probed")...)
	var raws []string
	for i, args := range runs {
		raw := "run" + string(rune('0'+i)) + ".mipraw"
		raws = append(raws, raw)
		b.run([]string{"LLVM_MIP_PROFILE_FILENAME=" + raw}, append([]string{"probed"}, args...)...)
	}
	b.writeProfile("app.mip", b.profile("probed", raws...))
}

// place is where a function is in an image.
type place struct {
	addr, size uint64
	section    string
}

func (b *bench) places(image string) map[string]place {
	b.t.Helper()
	f := b.elf(image)
	symbols, err := f.Symbols()
	if err != nil {
		b.t.Fatal(err)
	}
	m := map[string]place{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && int(s.Section) < len(f.Sections) && s.Section != elf.SHN_UNDEF {
			m[s.Name] = place{s.Value, s.Size, f.Sections[s.Section].Name}
		}
	}
	return m
}

// wantOrder checks that functions follow each other in memory.
func wantOrder(t testing.TB, places map[string]place, names ...string) {
	t.Helper()
	for i, n := range names {
		p, ok := places[n]
		if !ok {
			t.Errorf("no function %s", n)
		}
		if i > 0 && p.addr <= places[names[i-1]].addr {
			t.Errorf("%s (%#x) is not after %s (%#x)", n, p.addr, names[i-1], places[names[i-1]].addr)
		}
	}
}

// linkers returns the arguments that choose each linker for the compiler.
func linkers(t *testing.T) map[string][]string {
	t.Helper()
	return map[string][]string{
		"bfd": {"-fuse-ld=bfd"}, "lld": {"-fuse-ld=lld", "-B" + lldTools(t)}, "gold": {"-fuse-ld=gold"}, "mold": {"-fuse-ld=mold"},
	}
}

// TestUsePlacesFunctions: each linker puts functions where the profile says.
func TestUsePlacesFunctions(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "u.c", useProgram)
		b.makeProfile([]string{cc, "-O1", "u.c"}, []string{"4"})
		for name, ld := range linkers(t) {
			if name == "gold" || name == "mold" {
				if !oracle.Everything() {
					continue
				}
				oracle.Tool(t, map[string]string{"gold": "ld.gold", "mold": "mold"}[name])
			}
			use := []string{cc, "-O1", "u.c", "-fmachine-profile-use=app.mip"}
			b.build(append(slices.Concat(use, ld), "-o", "used")...)
			if got, want := b.run(nil, "used", "4"), b.run(nil, "probed", "4"); got != want {
				t.Errorf("%s: printed %q, want %q", name, got, want)
			}
			if got, want := b.run(nil, "used", "60", "x"), b.run(nil, "probed", "60", "x"); got != want {
				t.Errorf("%s: printed %q, want %q", name, got, want)
			}
			p := b.places("used")
			switch name {
			case "bfd", "gold":
				wantOrder(t, p, "main", "first", "local", "often", "last")
			case "lld":
				// Hot functions have a section of their own.
				wantOrder(t, p, "main", "first", "local", "last")
				for fn, section := range map[string]string{"often": ".text.hot", "main": ".text.startup", "never": ".text.unlikely", "apart": "mine"} {
					if p[fn].section != section {
						t.Errorf("lld: %s is in %s, want %s", fn, p[fn].section, section)
					}
				}
			}
			if p["never"].addr > p["main"].addr && p["never"].addr < p["last"].addr {
				t.Errorf("%s: never is among what runs", name)
			}
			if p["alias"] != p["never"] {
				t.Errorf("%s: alias is at %v, never at %v", name, p["alias"], p["never"])
			}
			// Again, in two steps: the same.
			b.build(append(use, "-c", "-o", "u.o")...)
			b.build(slices.Concat([]string{cc, "-fmachine-profile-use=app.mip", "u.o", "-o", "again"}, ld)...)
			if len(b.read("used")) != len(b.read("again")) || !bytes.Equal(b.code("used"), b.code("again")) {
				t.Errorf("%s: two builds differ", name)
			}
		}
	})
}

// code returns the code of an image.
func (b *bench) code(image string) (code []byte) {
	b.t.Helper()
	for _, s := range b.elf(image).Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 {
			data, err := s.Data()
			if err != nil {
				b.t.Fatal(err)
			}
			code = append(code, data...)
		}
	}
	return code
}

// TestUseStaleProfile: functions that ran are placed although they have been renamed or changed since.
func TestUseStaleProfile(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "u.c", useProgram)
		b.makeProfile([]string{cc, "-O1", withBB, "u.c"}, []string{"4"})
		for change, sections := range map[string]map[string]string{
			"-DNEW=2":          {"first": ".text.startup.first", "fresh": ".text.fresh"},
			"-Doften=frequent": {"frequent": ".text.hot.often", "first": ".text.startup.first"},
		} {
			b.build(cc, "-O1", change, "-fmachine-profile-use=app.mip", "-c", "u.c", "-o", "u.o")
			p := b.places("u.o")
			for name, want := range sections {
				if p[name].section != want {
					t.Errorf("%s: %s is in %q, want %q", change, name, p[name].section, want)
				}
			}
		}
	})
}

// TestUseRenamed: functions that have another name in the profile are ordered like others.
func TestUseRenamed(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "u.c", useProgram)
		b.makeProfile([]string{cc, "-O1", withBB, "u.c"}, []string{"4"})
		for name, ld := range linkers(t) {
			if name == "bfd" || name == "lld" {
				b.build(append([]string{cc, "-O1", "-Dlocal=locale", "-fmachine-profile-use=app.mip", "u.c", "-o", "used"}, ld...)...)
				wantOrder(t, b.places("used"), "main", "first", "locale", "last")
			}
		}
	})
}

// TestUseRustHashes: the hashes in Rust's names change with the version of the crate.
func TestUseRustHashes(t *testing.T) {
	rustc := oracle.Tool(t, "rustc")
	oracle.Tool(t, "cc")
	for _, flags := range [][]string{nil, {"-Csymbol-mangling-version=v0"}} {
		b := newBench(t, "main.rs", `
#[inline(never)] fn last(x: u32) -> u32 { x * 7 }
#[inline(never)] fn never(x: u32) -> u32 { if x > 5 { println!("{}", x) }; x / 3 }
#[inline(never)] fn often<T: Into<u32>>(x: T) -> u32 { let n: u32 = x.into(); if n % 3 == 0 { n / 3 } else { n + 1 } }
fn main() {
    let mut sum = std::env::args().count() as u32;
    for i in 0..1000 { sum = often(sum) ^ often(i as u8); }
    if sum == 12345678 { sum = never(sum) }
    println!("{}", last(sum));
}
`)
		build := append([]string{rustc, "-Copt-level=1", "main.rs"}, flags...)
		b.makeProfile(append(slices.Clone(build), "-Cmetadata=one", withBB), []string{})
		b.build(append(slices.Clone(build), "-Cmetadata=two", "-fmachine-profile-use="+b.path("app.mip"), "-o", "used")...)
		seen := map[string]int{}
		for name, p := range b.places("used") {
			for _, function := range []string{"5often", "4last", "5never"} {
				if strings.Contains(name, "4main"+function) {
					seen[function+p.section]++
				}
			}
		}
		if want := map[string]int{"5often.text.hot": 2, "4last.text.startup": 1, "5never.text.unlikely": 1}; !maps.Equal(seen, want) {
			t.Errorf("%s: %v, want %v", flags, seen, want)
		}
	}
}

// TestUseReportsWhatItLeaves: new functions stay where they are, changed ones whole.
func TestUseReportsWhatItLeaves(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "u.c", useProgram)
		b.makeProfile([]string{cc, "-O1", withBB, "u.c"}, []string{"4"})
		b.succeeds(nil, b.self, "--report", b.path("report"), "--", cc, "-O1", "-DNEW=2", "-fmachine-profile-use=app.mip", "-c", "u.c", "-o", "u.o")
		want := map[string]bool{
			"u.c\tfirst\tnot split: changed since the profile": false, "u.c\tfresh\tnot in the profile": false,
			"u.c\tapart\tin a section that the source or an option names": false,
		}
		for line := range strings.Lines(string(b.read("report"))) {
			line = strings.TrimSpace(line)
			if _, ok := want[line]; !ok {
				t.Errorf("reported %q", line)
			}
			want[line] = true
		}
		for line, found := range want {
			if !found {
				t.Errorf("not reported: %q", line)
			}
		}
	})
}

// TestUseFails: what cannot be done is said.
func TestUseFails(t *testing.T) {
	cc := oracle.Tool(t, "gcc", "clang-19")
	b := newBench(t, "u.c", useProgram, "bad.mip", "nonsense")
	b.build(cc, generate, "u.c", "-o", "probed")
	b.writeProfile("empty.mip", b.profile("probed"))
	b.makeProfile([]string{cc, "-O1", "u.c"}, []string{"4"})
	for args, want := range map[string]string{
		"-fmachine-profile-use=none.mip":                           "-fmachine-profile-use: open none.mip",
		"-fmachine-profile-use=bad.mip":                            "bad.mip",
		"-fmachine-profile-use=empty.mip":                          "no function in it has run",
		"-fmachine-profile-use=app.mip -fmachine-profile-generate": "exclude each other",
	} {
		r := b.cc(append([]string{cc, "-c", "u.c", "-o", "u.o"}, strings.Fields(args)...)...)
		if r.code != 1 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v, want %q", args, r, want)
		}
		b.noTemporaries()
	}
	r := b.cc(cc, "-O1", "-fnon-call-exceptions", generate, withBB, "-c", "u.c", "-o", "u.o")
	if r.code != 0 || !strings.Contains(r.stderr, "warning: -fnon-call-exceptions") {
		t.Errorf("-fnon-call-exceptions: %+v", r)
	}
	b.build(cc, "-O1", "-fnon-call-exceptions", generate, withBB, "-fmachine-profile-all-block-probes", "-c", "u.c", "-o", "u.o")
}

// TestUseTwoProfiles: what any profile has run counts.
func TestUseTwoProfiles(t *testing.T) {
	cc := oracle.Tool(t, "gcc", "clang-19")
	b := newBench(t, "u.c", useProgram)
	b.makeProfile([]string{cc, "-O1", "u.c"}, []string{"60", "x"})
	b.writeProfile("other.mip", b.profile("probed", "run0.mipraw"))
	b.makeProfile([]string{cc, "-O1", "u.c"}, []string{"4"})
	b.build(cc, "-O1", "u.c", "-fmachine-profile-use=app.mip,other.mip", "-o", "used")
	wantOrder(t, b.places("used"), "main", "first", "local", "often", "last", "never")
}

// TestUseAArch64: functions are placed, blocks stay.
func TestUseAArch64(t *testing.T) {
	for _, cc := range [][]string{{"aarch64-linux-gnu-gcc"}, {"clang-19", "--target=aarch64-linux-gnu", "-fuse-ld=lld"}} {
		t.Run(cc[0], func(t *testing.T) {
			if cc[0] != "aarch64-linux-gnu-gcc" {
				oracle.Slow(t)
			}
			qemu := oracle.Tool(t, "qemu-aarch64")
			build := append(slices.Concat([]string{oracle.Tool(t, cc[0])}, cc[1:]), "-O2", "-static", "u.c")
			b := newBench(t, "u.c", useProgram)
			b.build(append(slices.Clone(build), generate, withBB, "-o", "probed")...)
			if r := b.exec(rawFile, qemu, b.path("probed"), "4"); r.code != 0 {
				t.Fatal(r)
			}
			b.writeProfile("app.mip", b.profile("probed", "raw"))
			b.build(append(slices.Clone(build), "-fmachine-profile-use=app.mip", "-o", "used")...)
			for _, args := range [][]string{{"4"}, {"60", "x"}} {
				want := b.exec(rawFile, append([]string{qemu, b.path("probed")}, args...)...)
				if got := b.exec(nil, append([]string{qemu, b.path("used")}, args...)...); got != want {
					t.Errorf("%v: %+v, want %+v", args, got, want)
				}
			}
			p := b.places("used")
			if cc[0] == "clang-19" {
				wantOrder(t, p, "main", "first", "local", "last")
			} else {
				wantOrder(t, p, "main", "first", "local", "often", "last")
			}
		})
	}
}

// TestUseRustc: the functions of a crate are placed, and it still unwinds.
func TestUseRustc(t *testing.T) {
	oracle.Slow(t)
	rustc := oracle.Tool(t, "rustc")
	oracle.Tool(t, "cc")
	oracle.Tool(t, "ar")
	b := newBench(t, "util.rs", libRS, "main.rs", mainRS)
	const want = "5050 Some(1) true 1\n"
	lib := []string{rustc, "--edition=2021", "--crate-type=rlib", "-Copt-level=2", "util.rs"}
	prog := []string{rustc, "--edition=2021", "-L.", "--extern=util", "-Copt-level=2", "main.rs", "-o"}
	b.build(append(slices.Clone(lib), generate, withBB)...)
	b.build(append(slices.Clone(prog), "probed", generate, withBB)...)
	b.writeProfile("app.mip", b.profiled("probed"))
	use := "-fmachine-profile-use=" + b.path("app.mip")
	b.build(append(slices.Clone(lib), use)...)
	b.build(append(slices.Clone(prog), "used", use)...)
	if got := b.run(nil, "used"); got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	sections := map[string]bool{}
	for name, p := range b.places("used") {
		for _, path := range []string{"4util7counted", "4util5never"} {
			if strings.Contains(name, path) {
				sections[path+" "+p.section] = true
			}
		}
	}
	// rustc links with lld, or with the system's linker in older releases.
	if len(sections) != 2 || sections["4util7counted .text.hot"] == sections["4util5never .text.hot"] {
		t.Errorf("functions are in %v", sections)
	}
}
