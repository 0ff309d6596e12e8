package symbolize

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestCompilers compares every version of DWARF from every compiler.
func TestCompilers(t *testing.T) {
	for _, compiler := range []string{"clang++-14", "clang++-16", "clang++-19", "clang++-22", "g++"} {
		for version := 2; version <= 5; version++ {
			for _, level := range []string{"-O0", "-O2"} {
				// Without optimization little depends on the version.
				if level == "-O0" && version < 5 {
					continue
				}
				t.Run(fmt.Sprintf("%s/dwarf%d%s", compiler, version, level), func(t *testing.T) {
					if level == "-O0" || (compiler != "clang++-22" || version != 5) && (compiler != "g++" || version != 4) {
						oracle.Slow(t)
					}
					t.Parallel()
					file := build(t, program(compiler, fmt.Sprintf("-gdwarf-%d %s", version, level), "-static"), compiler)
					c := compareELF(t, file, 1)
					if c.withLine == 0 || level == "-O2" && c.inlined == 0 {
						t.Errorf("compared nothing: %+v", c)
					}
				})
			}
		}
	}
}

// TestVariants compares what else decides how DWARF looks.
func TestVariants(t *testing.T) {
	const clang, gcc = "clang++-22", "g++"
	lld := "-static -fuse-ld=lld-22 "
	fast := []string{"pie", "m32-gcc", "zstd", "dwz-dwarf5", "rust"}
	for _, v := range []struct {
		name, script string
		tools        []string
	}{
		{"pie", program(clang, "-g -O2 -fPIE", "-pie"), nil},
		{"shared", program(clang, "-g -O2 -fPIC", "-shared"), nil},
		{"m32", program(clang, "-g -O2 -m32", "-static"), nil},
		{"m32-gcc", program(gcc, "-g -O2 -m32", "-static"), []string{gcc}},
		{"lld", program(clang, "-g -O2", lld), nil},

		{"line-tables-only", program(clang, "-gline-tables-only -O2", "-static"), nil},
		{"g1-gcc", program(gcc, "-g1 -O2", "-static"), []string{gcc}},
		{"for-profiling", program(clang, "-g -O2 -fdebug-info-for-profiling", "-static"), nil},
		{"aranges", program(clang, "-g -O2 -gdwarf-aranges", "-static"), nil},
		{"types-dwarf5", program(clang, "-g -O2 -fdebug-types-section", "-static"), nil},
		{"types-dwarf4", program(clang, "-gdwarf-4 -O2 -fdebug-types-section", "-static"), nil},
		{"types-gcc", program(gcc, "-gdwarf-4 -O2 -fdebug-types-section", "-static"), []string{gcc}},
		{"64-bit-dwarf5", program(clang, "-gdwarf-5 -gdwarf64 -O2", "-static"), nil},
		{"64-bit-dwarf4", program(clang, "-gdwarf-4 -gdwarf64 -O2", "-static"), nil},

		{"zlib", program(clang, "-g -O2 -gz=zlib", "-static"), nil},
		{"zstd", program(clang, "-g -O2", lld+"-Wl,--compress-debug-sections=zstd"), nil},
		{"zlib-m32", program(clang, "-g -O2 -m32 -gz=zlib", "-static"), nil},

		{"lto", program(clang, "-g -O2 -flto", lld), nil},
		{"lto-dwarf4", program(clang, "-gdwarf-4 -O2 -flto", lld), nil},
		{"thin-lto", program(clang, "-g -O2 -flto=thin", lld), nil},
		{"lto-gcc", program(gcc, "-g -O2 -flto", "-static -fno-lto-odr-type-merging"), []string{gcc}},
		{"dropped-lld", program(clang, "-g -O2 -ffunction-sections", lld+"-Wl,--gc-sections"), nil},
		{"dropped-lld-dwarf4", program(clang, "-gdwarf-4 -O2 -ffunction-sections", lld+"-Wl,--gc-sections"), nil},
		{"dropped-bfd-dwarf4", program(clang, "-gdwarf-4 -O2 -ffunction-sections", "-static -Wl,--gc-sections"), nil},
		{"dropped-bfd", program(clang, "-g -O2 -ffunction-sections", "-static -Wl,--gc-sections"), nil},
		{"folded", program(clang, "-g -O2 -ffunction-sections", lld+"-Wl,--icf=all"), nil},
		{"folded-O0", program(clang, "-g -O0 -ffunction-sections", lld+"-Wl,--icf=all"), nil},
		{"block-sections", program(clang, "-g -O2 -fbasic-block-sections=all", lld), nil},
		{"dwz", program(clang, "-gdwarf-4 -O2", "-static") + "dwz out", []string{"dwz"}},
		{"dwz-dwarf5", program(gcc, "-gdwarf-5 -O2", "-static") + "dwz out", []string{"dwz", gcc}},

		{"relative-paths", program(clang, "-g -O2 -fdebug-compilation-dir=.", "-static"), nil},
		{"relative-paths-dwarf4", program(clang, "-gdwarf-4 -O2 -fdebug-compilation-dir=some/where", "-static"), nil},
		{"no-compilation-dir", program(clang, "-g -O2 -fdebug-compilation-dir=", "-static"), nil},
		{"mapped-paths", program(clang, "-g -O2 -fdebug-prefix-map=src=/mapped/../src/", "-static"), nil},

		{"assembly", compile(clang, "-g -O2") + clang + " -g -c src/code.s\n" +
			clang + " -nostdlib -static main.o shapes.o plain.o code.o -o out", nil},
		{"assembly-without", compile(clang, "-g -O2") + clang + " -c src/code.s\n" +
			clang + " -nostdlib -static main.o shapes.o plain.o code.o -o out", nil},
		{"rust", "rustc -g -O " + rustFlags + " src/program.rs -o out", []string{"rustc"}},
		{"rust-debug", "rustc -g " + rustFlags + " src/program.rs -o out", []string{"rustc"}},
		{"rust-lines", "rustc -C debuginfo=line-tables-only -O " + rustFlags + " src/program.rs -o out", []string{"rustc"}},
	} {
		t.Run(v.name, func(t *testing.T) {
			if !slices.Contains(fast, v.name) {
				oracle.Slow(t)
			}
			t.Parallel()
			c := compareELF(t, build(t, v.script, append(v.tools, clang, "ld.lld-22")...), 1)
			if c.withLine == 0 {
				t.Errorf("compared nothing: %+v", c)
			}
		})
	}
}

const rustFlags = "-C panic=abort -C relocation-model=static" +
	" -C link-arg=-nostdlib -C link-arg=-nostartfiles -C link-arg=-static -C link-arg=-Wl,--unresolved-symbols=ignore-all"

// TestTargets compares other machines: 32-bit, big-endian, or with their own ideas about symbols.
func TestTargets(t *testing.T) {
	for _, arch := range []string{
		"aarch64", "arm", "riscv64", "riscv32", "powerpc64", "powerpc64le", "s390x", "mips", "mipsel", "loongarch64", "i386",
	} {
		t.Run(arch, func(t *testing.T) {
			if arch != "s390x" { // big-endian
				oracle.Slow(t)
			}
			t.Parallel()
			flags := "--target=" + arch + "-linux-gnu -g -O2"
			// Without hardware for it, floating point calls functions that are not there.
			link := "-static -fuse-ld=lld-22 -Wl,--unresolved-symbols=ignore-all"
			file := build(t, program("clang++-22", flags, link), "clang++-22", "ld.lld-22")
			c := compareELF(t, file, 1)
			if c.inlined == 0 {
				t.Errorf("compared nothing: %+v", c)
			}
			f := open(t, file, Options{})
			if f.Arch != arch {
				t.Errorf("Arch = %q, want %q", f.Arch, arch)
			}
		})
	}
}

// TestPrograms compares ordinary programs with a standard library: larger
// units, and in Go's case a compiler with its own ideas about DWARF.
func TestPrograms(t *testing.T) {
	oracle.Slow(t)
	const containers = `cat >big.cpp <<EOF
#include <algorithm>
#include <map>
#include <string>
#include <vector>
int main(int n, char **) {
  std::map<std::string, std::vector<int>> m;
  for (int i = 0; i < n; i++) m[std::to_string(i)].push_back(i);
  for (auto &[k, v] : m) std::sort(v.begin(), v.end());
  return m.size();
}
EOF
`
	const hello = `cat >hello.go <<EOF
package main

import "fmt"

func square(x int) int { return x * x }

func main() { fmt.Println(square(3)) }
EOF
`
	for _, p := range []struct {
		name, script string
		step         uint64
		tools        []string
	}{
		{"containers", containers + "clang++-22 -g -O2 big.cpp -o out", 1, []string{"clang++-22"}},
		{"containers-gcc", containers + "g++ -g -O2 big.cpp -o out", 1, []string{"g++"}},
		{"go", hello + "CGO_ENABLED=0 go build -o out hello.go", 31, []string{"go"}},
		{"rust", "echo 'fn main() { println!(\"{:?}\", std::env::args()); }' >m.rs\nrustc -g -O m.rs -o out", 31, []string{"rustc"}},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			c := compareELF(t, build(t, p.script, p.tools...), p.step)
			if c.inlined == 0 {
				t.Errorf("compared nothing: %+v", c)
			}
		})
	}
}

// TestLibrary compares a C library, most of which is known only by its symbols.
func TestLibrary(t *testing.T) {
	t.Parallel()
	file := build(t, "echo 'int main() { return 0; }' >m.c\nclang-22 -g -static m.c -o out", "clang-22")
	c := compareWithSymbols(t, file, ".text", 61)
	if c.known < 1000 {
		t.Errorf("compared hardly anything: %+v", c)
	}
}

// TestGNUCompression: sections named .zdebug_ are of an older kind, which llvm-symbolizer 22 no longer reads. The
// same program without compression must have the same frames.
func TestGNUCompression(t *testing.T) {
	t.Parallel()
	file := build(t, program("g++", "-g -O2", "-static")+
		"objcopy --compress-debug-sections=zlib-gnu out zout", "g++", "objcopy")
	plain := open(t, file, Options{})
	compressed := open(t, filepath.Join(filepath.Dir(file), "zout"), Options{})
	if compressed.Section(".zdebug_info") == nil {
		t.Fatal("no section .zdebug_info")
	}
	addrs := every(t, plain, ".text", 1)
	c := compareFrames(t, addrs, batchFrames(t, compressed, addrs), batchFrames(t, plain, addrs))
	if c.inlined == 0 {
		t.Errorf("compared nothing: %+v", c)
	}
}

// TestELFFacts: what a file says of itself, against readelf.
func TestELFFacts(t *testing.T) {
	t.Parallel()
	file := build(t, program("clang++-22", "-g -O2 -fPIE", "-pie -Wl,--build-id=0x0123456789abcdef"), "clang++-22")
	fixed := build(t, program("clang++-22", "-g -O2", "-static -no-pie -Wl,--build-id=none"), "clang++-22")
	f, g := open(t, file, Options{}), open(t, fixed, Options{})
	if f.MachO || f.Arch != "x86_64" || f.PointerSize != 8 {
		t.Errorf("Mach-O %t, %s, pointers of %d bytes", f.MachO, f.Arch, f.PointerSize)
	}
	if got := hex.EncodeToString(f.BuildID); got != "0123456789abcdef" {
		t.Errorf("build id %q", got)
	}
	if g.BuildID != nil {
		t.Errorf("build id %x of a program without one", g.BuildID)
	}
	if !f.PositionIndependent || g.PositionIndependent {
		t.Errorf("position independent: %t and %t, want true and false", f.PositionIndependent, g.PositionIndependent)
	}
	if f.preferredBase() != 0 || g.preferredBase() != 0x400000 {
		t.Errorf("bases %#x and %#x, want 0 and 0x400000", f.preferredBase(), g.preferredBase())
	}

	stdout, _, _ := oracle.Run(t, oracle.Tool(t, "readelf"), "-lW", file)
	var want, got strings.Builder
	for line := range strings.Lines(stdout) {
		if fields := strings.Fields(line); len(fields) > 6 && fields[0] == "LOAD" {
			x := strings.Contains(strings.Join(fields[6:], " "), "E")
			fmt.Fprintln(&want, fields[1], fields[2], fields[4], fields[5], x)
		}
	}
	for _, s := range f.Segments {
		fmt.Fprintf(&got, "0x%06x 0x%016x 0x%06x 0x%06x %t\n", s.Offset, s.Addr, s.FileSize, s.MemSize, s.Executable)
	}
	if got.String() != want.String() {
		t.Errorf("segments\n%swant\n%s", &got, &want)
	}

	text := f.Section(".text")
	code, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	dumped := file + ".text"
	oracle.Run(t, oracle.Tool(t, "objcopy"), "-O", "binary", "-j", ".text", file, dumped)
	if want := oracle.ReadFile(t, dumped); !bytes.Equal(code, want) {
		t.Errorf(".text has %d bytes, want %d others", len(code), len(want))
	}
	if f.Section(".nothing") != nil {
		t.Error("found a section that is not there")
	}
	if s := f.Sections; len(s) < 10 || s[0].Name != "" {
		t.Errorf("%d sections, the first is %q", len(s), s[0].Name)
	}
}

// TestSymbols compares the symbol table with nm's.
func TestSymbols(t *testing.T) {
	t.Parallel()
	file := build(t, program("clang++-22", "-g -O2", "-static"), "clang++-22")
	f := open(t, file, Options{})
	stdout, _, _ := oracle.Run(t, oracle.Tool(t, "nm"), "-S", file)
	want := map[string]string{}
	for line := range strings.Lines(stdout) {
		if fields := strings.Fields(line); len(fields) == 4 {
			want[fields[3]] = fields[0] + " " + fields[1]
		}
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	found, last := 0, uint64(0)
	for s := range symbols {
		if s.Addr < last {
			t.Errorf("%s at %#x comes after %#x", s.Name, s.Addr, last)
		}
		last = s.Addr
		if w := want[s.Name]; w != "" {
			found++
			if got := fmt.Sprintf("%016x %016x", s.Addr, s.Size); got != w {
				t.Errorf("%s: %s, nm says %s", s.Name, got, w)
			}
		}
	}
	if found != len(want) || found == 0 {
		t.Errorf("found %d of %d symbols", found, len(want))
	}
	if s, ok, err := f.Symbol(f.Section(".text").Addr - 1); ok || err != nil {
		t.Errorf("before the code there is %+v, %v", s, err)
	}
}

// preferredBase returns the address that the file's first byte was linked to have: 0 for most PIEs and shared
// libraries, 0x400000 for most other ELF programs, 0x100000000 for Mach-O ones. The difference to where it was
// loaded is the difference of all addresses.
func (f *File) preferredBase() uint64 {
	base, lowest := uint64(0), uint64(math.MaxUint64)
	for _, s := range f.image.Segments {
		if s.FileSize > 0 && s.Addr < lowest {
			lowest = s.Addr
			base = s.Addr - s.Offset
		}
	}
	return base
}
