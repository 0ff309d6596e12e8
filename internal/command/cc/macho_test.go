package cc_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// machOFiles are a program with addresses in constant data, which the linker of macOS
// puts into __DATA_CONST and lists as fixups.
var machOFiles = []string{
	"a.c", `extern int last(int), never(int), first(int);
int (*const table[])(int) = {first, last, never};
const char *const words[] = {"one", "two"};
static volatile int sink;
int unused(int x) { return sink += x; }
int main(int argc, char **argv) {
  int n = table[argc - 1](argc);
  if (argc > 100) n = never(n);
  sink = words[argc & 1][0];
  return last(n);
}
`,
	"b.c", `__attribute__((noinline)) int last(int x) { return x * 7; }
__attribute__((noinline)) int never(int x) {
  switch (x) { case 1: return 6; case 2: return 99; case 3: return 70; case 4: return 12; case 5: return 14; }
  return x * 5;
}
__attribute__((noinline)) int first(int x) { return x > 3 ? x + 3 : x - 1; }
`,
}

// machOSystem makes a folder in place of Apple's SDK.
func (b *bench) machOSystem() {
	testdata := filepath.Join(oracle.Root(b.t), "internal", "mip", "runtime", "testdata")
	for _, header := range strings.Fields("errno fcntl signal stdlib string unistd sched stdio sys/stat sys/mman") {
		b.write("sdk/usr/include/"+header+".h", "#include \""+filepath.Join(testdata, "darwin.h")+"\"\n")
	}
	tbd := oracle.ReadFile(b.t, filepath.Join(testdata, "libSystem.tbd"))
	b.write("sdk/usr/lib/libSystem.tbd", string(tbd))
}

// TestMachOImages: programs and libraries for macOS link with the runtime, with fixups
// of both kinds and dead stripping. LLVM's tools find the functions and raw records
// where the map says. A layout by the profile orders the functions. Nothing runs.
func TestMachOImages(t *testing.T) {
	clang, lld := oracle.Tool(t, "clang-22"), oracle.Tool(t, "ld64.lld-22")
	oracle.Tool(t, "llvm-nm-22")
	for i, c := range []struct{ arch, fixups string }{
		{"arm64", "-fixup_chains"}, {"arm64", "-no_fixup_chains"}, {"x86_64", "-fixup_chains"}, {"x86_64", "-no_fixup_chains"},
	} {
		t.Run(c.arch+c.fixups, func(t *testing.T) {
			switch i {
			case 0:
			case 3:
				oracle.Slow(t)
			default:
				oracle.Exhaustive(t)
			}
			t.Parallel()
			b := newBench(t, machOFiles...)
			b.machOSystem()
			command := []string{
				clang, "--target=" + c.arch + "-apple-macos13", "-mlinker-version=820", "-isysroot", "sdk", "-O1", "--ld-path=" + lld,
				"-Wl,-dead_strip", "-Wl," + c.fixups, "b.c",
			}
			all := []string{"_first", "_last", "_main", "_never"}
			b.build(append(command, "a.c", "-o", "prog", generate, withBB)...)
			p := b.checkMachO("prog", all...)
			b.build(append(command, "-dynamiclib", "-o", "libb.dylib", generate, withBB)...)
			b.checkMachO("libb.dylib", "_first", "_last", "_never")
			b.build(append(command, "a.c", "-o", "covered", generate, covers, "-fmachine-profile-signals")...)
			b.checkMachO("covered", all...)

			// As if the program had run and called all functions but never.
			raw := b.section("prog", "__llvm_mipraw")
			for i, name := range []string{"_main", "_first", "_last"} {
				f := p.Functions[slices.IndexFunc(p.Functions, func(f mip.Function) bool { return f.Name == name })]
				binary.LittleEndian.PutUint32(raw[f.RawOffset:], 1)
				binary.LittleEndian.PutUint32(raw[f.RawOffset+4:], uint32(i+1))
			}
			b.write("raw", string(raw))
			p = b.profile("prog", "raw")
			b.wantCalls(p, map[string]uint64{"_main": 1, "_first": 1, "_last": 1, "_never": 0})
			b.writeProfile("app.mip", p)
			b.build(append(command, "a.c", "-o", "used", "-fmachine-profile-use=app.mip")...)
			at := map[string]place{}
			for name, address := range b.machOSymbols("used") {
				at[name] = place{addr: address}
			}
			wantOrder(t, at, "_main", "_first", "_last", "_never")
		})
	}
}

func (b *bench) llvm(tool string, args ...string) string {
	b.t.Helper()
	r := b.exec(nil, append([]string{"llvm-" + tool + "-22"}, args...)...)
	if r.code != 0 {
		b.t.Fatal(tool, args, r)
	}
	return r.stdout
}

// checkMachO compares the map of an image, which has these functions, with what LLVM's tools print.
func (b *bench) checkMachO(image string, functions ...string) *mip.Profile {
	b.t.Helper()
	p, symbols := b.profile(image), b.machOSymbols(image)
	if _, kept := symbols["_unused"]; kept {
		b.t.Errorf("%s: has _unused", image)
	}
	headers := b.llvm("objdump", "--macho", "--private-headers", image)
	m := regexp.MustCompile(`sectname __llvm_mipraw\n +segname __DATA\n +addr (0x[0-9a-f]+)\n`).FindStringSubmatch(headers)
	if m == nil || !strings.Contains(headers, "segname __DATA_CONST\n") {
		b.t.Fatalf("%s: no records in __DATA, or no __DATA_CONST:\n%s", image, headers)
	}
	start, _ := strconv.ParseInt(m[1], 0, 64)
	raw := b.section(image, "__llvm_mipraw")
	var names []string
	for _, f := range p.Functions {
		names = append(names, f.Name)
		if got := uint64(start + f.Address); got != symbols[f.Name] {
			b.t.Errorf("%s: the map has %s at %#x, llvm-nm at %#x", image, f.Name, got, symbols[f.Name])
		}
		bytes := 1
		if p.Type.Has(mip.FunctionCallCount) {
			bytes = 8
		}
		if at := int(f.RawOffset); slices.ContainsFunc(raw[at:at+bytes+len(f.Blocks)], func(c byte) bool { return c != 0xff }) {
			b.t.Errorf("%s: %s: the raw record at %#x is not fresh", image, f.Name, at)
		}
	}
	if slices.Sort(names); !slices.Equal(names, functions) {
		b.t.Errorf("%s: the map has %v, want %v", image, names, functions)
	}
	// The dynamic linker changes nothing in the map and in the records.
	fixups := b.llvm("objdump", "--macho", "--dyld-info", image) + b.llvm("objdump", "--macho", "--rebase", "--bind", image)
	if !strings.Contains(fixups, "__DATA_CONST") || strings.Contains(fixups, "__llvm_mip") {
		b.t.Errorf("%s: fixups:\n%s", image, fixups)
	}
	return p
}

func (b *bench) machOSymbols(image string) map[string]uint64 {
	b.t.Helper()
	symbols := map[string]uint64{}
	for line := range strings.Lines(b.llvm("nm", "--defined-only", image)) {
		var address uint64
		var kind, name string
		if _, err := fmt.Sscanf(line, "%x %s %s", &address, &kind, &name); err == nil {
			symbols[name] = address
		}
	}
	return symbols
}

func (b *bench) section(image, name string) (data []byte) {
	b.t.Helper()
	const groups = 36 // columns of four groups of bytes
	for line := range strings.Lines(b.llvm("objdump", "-s", "--section="+name, image)) {
		_, text, found := strings.Cut(strings.TrimPrefix(line, " "), " ")
		if !found || !strings.HasPrefix(line, " ") {
			continue
		}
		row, err := hex.DecodeString(strings.ReplaceAll(text[:min(groups-1, len(text))], " ", ""))
		if err != nil {
			b.t.Fatal(line, err)
		}
		data = append(data, row...)
	}
	return data
}
