package order_test

import (
	"cmp"
	"debug/elf"
	"debug/macho"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile/order"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// source has functions wherever compilers put them with -ffunction-sections:
// most in sections of their own name, and one in each section that GCC or LLVM may choose instead.
const source = `
__attribute__((noinline)) int a(int x) { return x + 1; }
__attribute__((noinline)) static int b(int x) { return x * 3; }
__attribute__((noinline)) int c(int x) { return x - 4; }
__attribute__((noinline)) int d(int x) { return x ^ 5; }
__attribute__((noinline, section(".text.startup.e"))) int e(int x) { return b(x) | 6; }
__attribute__((noinline, section(".text.hot.f"))) int f(int x) { return x & 7; }
__attribute__((noinline, section(".text.unlikely.a"))) int a_cold(int x) __asm__("a.cold");
int a_cold(int x) { return x / 8; }
__attribute__((noinline, cold)) int g(int x) { return x * 9; }
__attribute__((noinline, section(".text.exit.h"))) int h(int x) { return x + 10; }
__attribute__((noinline, section(".text.unknown.i"))) int i(int x) { return x - 11; }
int start(void) { return a(b(c(d(e(f(a_cold(g(h(i(1)))))))))); }
`

// wanted is an order that neither source nor any linker has by itself.
var wanted = []string{"e", "g", "c", "i", "f", "a.cold", "b", "h", "start", "a"}

// gccSource has functions that GCC puts into sections for hot, cold and start-up code, and one whose cold part it splits off.
const gccSource = `
void rare(int x) __attribute__((cold));
void rare(int x) { static volatile int n; n += x; }
__attribute__((noinline)) int f(int x) {
	if (__builtin_expect(x == 12345, 0)) { rare(1); rare(2); rare(x); }
	return x * 3;
}
__attribute__((noinline)) int c(int x) { return x - 4; }
__attribute__((noinline, hot)) int h(int x) { return x + 5; }
__attribute__((constructor)) void ini(void) { rare(3); }
int main(int k, char **v) { rare(k); return f(c(h(k))); }
`

// TestLinkers links programs in the order that was written, with the real linkers. The compiler decides in which
// sections the functions are.
func TestLinkers(t *testing.T) {
	for _, c := range []struct {
		linker order.Linker
		tools  []string
		// args makes the command line from the order; further files go into the folder.
		args func(t *testing.T, dir, exe string) []string
	}{
		{"lld", []string{"ld.lld-22", "ld.lld"}, func(*testing.T, string, string) []string {
			return []string{"--symbol-ordering-file=order", "--fatal-warnings"}
		}},
		{"gold", []string{"ld.gold"}, func(*testing.T, string, string) []string {
			return []string{"--section-ordering-file=order"}
		}},
		{"gnu-ld", []string{"ld.bfd"}, func(t *testing.T, dir, exe string) []string {
			writeFile(t, filepath.Join(dir, "script"), linkerScript(t, exe))
			return []string{"-T", "script"}
		}},
	} {
		for _, p := range []struct {
			compilers     []string
			source, entry string
			order         []string
			flags         []string
		}{
			{[]string{"clang-22", "clang"}, source, "start", wanted, []string{"-O1", "-target", "x86_64-linux-gnu"}},
			{[]string{"clang-22", "clang"}, gccSource, "main", []string{"main", "h", "rare", "c", "f", "ini"}, []string{"-O2", "-target", "x86_64-linux-gnu"}},
			{[]string{"gcc-12", "gcc"}, gccSource, "main", []string{"main", "h", "rare", "c", "f", "ini", "f.cold"}, []string{"-O2", "-fno-pie"}},
		} {
			t.Run(string(c.linker)+"/"+p.compilers[0]+"/"+p.entry, func(t *testing.T) {
				ld, cc := oracle.Tool(t, c.tools...), oracle.Tool(t, p.compilers...)
				dir := t.TempDir()
				compileSource(t, cc, dir, p.source, p.flags...)
				writeOrder(t, dir, c.linker, append(slices.Clone(p.order), "no_such_function"))
				if c.linker == "lld" { // it warns of what does not exist
					writeOrder(t, dir, c.linker, p.order)
				}
				run(t, dir, ld, append(c.args(t, dir, ld), "-e", p.entry, "-o", "program", "program.o")...)
				got := elfOrder(t, filepath.Join(dir, "program"))
				if !containsRun(got, p.order) {
					t.Errorf("the program has %v, want %v in a row", got, p.order)
				}
			})
		}
	}
}

func TestLD64(t *testing.T) {
	cc := oracle.Tool(t, "clang-22", "clang")
	ld := oracle.Tool(t, "ld64.lld-22", "ld64.lld")
	dir := t.TempDir()
	// Mach-O has no section per function, and no need of them.
	var lines []string
	for line := range strings.Lines(source) {
		for _, s := range []string{`, section(".text.startup.e")`, `, section(".text.hot.f")`, `, section(".text.unlikely.a")`, `, section(".text.exit.h")`, `, section(".text.unknown.i")`} {
			line = strings.ReplaceAll(line, s, "")
		}
		lines = append(lines, strings.ReplaceAll(line, `"a.cold"`, `"_a.cold"`))
	}
	compileSource(t, cc, dir, strings.Join(lines, ""), "-O1", "-target", "x86_64-apple-macos13")
	wantOrder := make([]string, len(wanted))
	for i, s := range wanted {
		wantOrder[i] = "_" + s
	}
	writeOrder(t, dir, "ld64", append(wantOrder, "_no_such_function"))
	run(t, dir, ld, "-arch", "x86_64", "-platform_version", "macos", "13", "13", "-dylib", "-undefined", "dynamic_lookup",
		"-order_file", "order", "-o", "program", "program.o")
	f := oracle.Must(macho.Open(filepath.Join(dir, "program")))(t)
	defer f.Close()
	text := f.Section("__text")
	got := inOrder(f.Symtab.Syms, func(s macho.Symbol) (string, uint64, bool) {
		name := s.Name
		if strings.Contains(name, ".") && name[0] != '_' { // debug/macho takes it away
			name = "_" + name
		}
		return name, s.Value, s.Value >= text.Addr && s.Value < text.Addr+text.Size
	})
	if !containsRun(got, wantOrder) {
		t.Errorf("the library has %v, want %v in a row", got, wantOrder)
	}
}

// TestMoldHasNoOrder notices when mold learns it.
func TestMoldHasNoOrder(t *testing.T) {
	mold, err := exec.LookPath("mold")
	if err != nil {
		t.Skip("mold is not installed, and nothing is compared with it")
	}
	help, _, _ := oracle.Run(t, mold, "--help")
	for _, option := range []string{"--symbol-ordering-file", "--section-ordering-file", "--function-order"} {
		if strings.Contains(help, option) {
			t.Errorf("this mold has %s: package layout could write an order for it", option)
		}
	}
}

func compileSource(t *testing.T, cc, dir, text string, flags ...string) {
	t.Helper()
	writeFile(t, filepath.Join(dir, "program.c"), text)
	run(t, dir, cc, append(flags, "-ffunction-sections", "-fno-asynchronous-unwind-tables", "-c", "program.c")...)
}

// linkerScript puts the order into the linker's own script, as a user has to do before GNU ld 2.43.
func linkerScript(t *testing.T, ld string) string {
	t.Helper()
	out, _, _ := oracle.Run(t, ld, "--verbose")
	_, script, ok := strings.Cut(out, "==================================================\n")
	script, _, ok2 := strings.Cut(script, "==================================================")
	head, tail, ok3 := strings.Cut(script, "*(.text.unlikely ")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("not the script that was expected:\n%s", out)
	}
	return head + "INCLUDE order\n    *(.text.unlikely " + tail
}

func writeOrder(t *testing.T, dir string, l order.Linker, symbols []string) {
	t.Helper()
	var b strings.Builder
	if unwritten, err := order.Write(&b, l, symbols); err != nil || len(unwritten) > 0 {
		t.Fatalf("%v, left out %q", err, unwritten)
	}
	writeFile(t, filepath.Join(dir, "order"), b.String())
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	oracle.WriteFile(t, path, []byte(text))
}

func run(t *testing.T, dir, exe string, args ...string) {
	t.Helper()
	if out, diag, code := oracle.RunIn(t, dir, exe, args...); code != 0 {
		t.Fatalf("%s %q: exit code %d\n%s%s", filepath.Base(exe), args, code, out, diag)
	}
}

// elfOrder returns the functions of a program by address.
func elfOrder(t *testing.T, path string) []string {
	t.Helper()
	f := oracle.Must(elf.Open(path))(t)
	defer f.Close()
	syms := oracle.Must(f.Symbols())(t)
	return inOrder(syms, func(s elf.Symbol) (string, uint64, bool) {
		return s.Name, s.Value, elf.ST_TYPE(s.Info) == elf.STT_FUNC
	})
}

func inOrder[S any](symbols []S, get func(S) (name string, addr uint64, ok bool)) []string {
	symbols = slices.DeleteFunc(slices.Clone(symbols), func(s S) bool { _, _, ok := get(s); return !ok })
	slices.SortFunc(symbols, func(a, b S) int {
		nameA, addrA, _ := get(a)
		nameB, addrB, _ := get(b)
		return cmp.Or(cmp.Compare(addrA, addrB), cmp.Compare(nameA, nameB))
	})
	var names []string
	for _, s := range symbols {
		name, _, _ := get(s)
		names = append(names, name)
	}
	return names
}

func containsRun(list, run []string) bool {
	i := slices.Index(list, run[0])
	return i >= 0 && i+len(run) <= len(list) && slices.Equal(list[i:i+len(run)], run)
}
