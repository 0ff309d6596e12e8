package cc_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

var update = flag.Bool("update", false, "try all sets of flags, and write docs/mip-flags.md")

// flagSets are the flags that programs are built with, by subject.
var flagSets = []struct {
	subject string
	flags   []string
}{
	{"optimization", words(`-O0 / -O1 / -O2 / -O3 / -Os / -Oz / -Og / -Ofast / -O2 -fno-inline / -O2 -funroll-loops / -O2 -fwhole-program /
		-O2 -fno-builtin / -O2 -ffreestanding / -O3 -march=x86-64-v3 / -O2 -fno-jump-tables / -O2 -fno-omit-frame-pointer / -O2 -ftrapv /
		-O2 -fnon-call-exceptions / -O2 -fno-toplevel-reorder / -O2 -freorder-blocks-and-partition / -O2 -mllvm -enable-machine-outliner`)},
	{"position and linking", words(`-O2 -fPIE -pie / -O2 -fno-pie -no-pie / -O2 -static / -O2 -static-pie -fPIE / -O2 -fPIC -fno-plt / -O2 -fno-semantic-interposition /
		-O2 -fvisibility=hidden / -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections / -O2 -fuse-ld=lld / -O2 -fuse-ld=gold / -O2 -fuse-ld=mold /
		-O2 -fuse-ld=gold -ffunction-sections -Wl,--gc-sections / -O2 -ffunction-sections -fuse-ld=lld -Wl,--icf=all / -O2 -pthread / -O2 -Wl,-z,now,-z,relro /
		-O2 -Wl,-O2,--as-needed,--hash-style=gnu / -O2 -Wl,--build-id=sha1 / -O2 -s / -O2 -Wl,-z,separate-code`)},
	{"link-time optimization", words(`-O2 -flto / -O2 -flto=thin / -O2 -flto -fuse-ld=lld / -O2 -flto=thin -fuse-ld=lld / -O2 -flto -fuse-ld=gold / -O2 -flto -ffat-lto-objects -fuse-ld=lld /
		-O2 -flto=auto -flto-partition=one / -O2 -flto -fuse-ld=mold / -O2 -g -flto -fuse-ld=lld -gsplit-dwarf`)},
	{"code and data", words(`-O2 -mcmodel=small / -O2 -mcmodel=medium / -O2 -mcmodel=large / -O2 -mcmodel=medium -fno-pie -no-pie / -O2 -mcmodel=large -fno-pie -no-pie /
		-O2 -mcmodel=kernel -fno-pie -no-pie / -O2 -m32 / -O2 -mx32 / -O2 -masm=intel / -O2 -fno-integrated-as / -O2 -fverbose-asm / -O2 -falign-functions=64 / -O2 -falign-loops=32 /
		-O2 -ftls-model=local-exec / -O2 -mtls-dialect=gnu2 / -O2 -femulated-tls / -O2 -fno-asynchronous-unwind-tables / -O2 -fexceptions / -O2 -mstackrealign /
		-O2 -fsplit-stack / -O2 -fsplit-stack -fuse-ld=gold / -O2 -fbasic-block-sections=all / -O2 -fsplit-machine-functions / -O2 -fno-unique-section-names`)},
	{"debug information", words(`-O2 -g / -O2 -g3 / -O2 -gdwarf-4 / -O2 -gline-tables-only / -O2 -g -gz / -O2 -g -gsplit-dwarf / -O2 -g -gsplit-dwarf=single / -O2 -g -fdebug-types-section /
		-O0 -g -fstandalone-debug / -O2 -g -gstatement-frontiers -gvariable-location-views / -O2 -g -femit-struct-debug-baseonly`)},
	{"protection", words(`-O2 -fcf-protection=full / -O2 -fstack-protector-all / -O2 -fstack-clash-protection / -O2 -D_FORTIFY_SOURCE=2 / -O2 -mindirect-branch=thunk / -O2 -mretpoline /
		-O2 -mspeculative-load-hardening / -O2 -mharden-sls=all / -O2 -fzero-call-used-regs=all / -O2 -fsanitize=safe-stack / -O2 -fsanitize=undefined -fsanitize-trap=all /
		-O1 -fsanitize=address / -O1 -fsanitize=undefined / -O1 -fsanitize=thread / -O1 -fsanitize=leak / -O1 -fsanitize=memory /
		-O2 -flto -fvisibility=hidden -fuse-ld=lld -fsanitize=cfi / -O2 -ftrivial-auto-var-init=zero`)},
	{"other instrumentation", words(`-O2 -pg / -O2 -pg -mfentry / -O2 -finstrument-functions /
		-O2 -fpatchable-function-entry=4,2 / -O2 -fprofile-generate / -O2 -fprofile-instr-generate -fcoverage-mapping / -O2 --coverage / -O2 -fxray-instrument`)},
	{"output", words(`-O2 -pipe / -O2 -MD / -O2 -save-temps=obj / -O2 -fstack-usage / -O2 -ftime-report / -O2 -Wall -Wextra -Werror`)},
}

func words(list string) []string {
	return strings.Split(strings.Join(strings.Fields(list), " "), " / ")
}

// flagProgram has tables of jumps, indirect calls, thread-local variables and a block that never runs.
const flagProgram = `#include <stdio.h>
static __thread int last;
extern int work(int), twice(int);
static int (*const calls[])(int) = {work, twice};
__attribute__((noinline)) int work(int x) {
  last = x;
  switch (x) {
  case 0: return 5;
  case 1: return last + 3;
  case 2: puts("two"); return 9;
  case 3: return 77;
  case 4: return x * 3;
  case 5: fprintf(stderr, "never %d\n", last); return 1;
  }
  return x > 20 ? x : -1;
}
__attribute__((noinline)) int twice(int x) { return work(x) + work(x + 1); }
int main(int argc, char **argv) {
  int sum = argc > 5 ? work(5) : 0;
  for (int i = 0; i < 4; i++) sum += calls[i % 2](i);
  printf("%d %d %s\n", sum, work(100), argv[1] ? argv[1] : "");
  return 0;
}
`

// flagHooks are what -finstrument-functions calls.
const flagHooks = `
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *f, void *c) { (void)f, (void)c; }
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *f, void *c) { (void)f, (void)c; }
`

// TestFlagSets: programs that are built with sets of flags behave as without profuse cc, and have the right
// profile, or a sentence says why that is not possible. The table in docs/mip-flags.md has the results. Except
// with -update the test tries one set of nine, all those that are refused, and those of its own room.
func TestFlagSets(t *testing.T) {
	oracle.Slow(t)
	file := filepath.Join(oracle.Root(t), "docs", "mip-flags.md")
	documented, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	compilers := []string{"clang-22", "gcc"}
	var mu sync.Mutex
	results := map[string]string{} // by compiler and flags
	t.Run("sets", func(t *testing.T) {
		n := 0
		for _, group := range flagSets {
			for _, flags := range group.flags {
				n++
				row := rowOf(string(documented), flags)
				if !*update && row == "" {
					t.Errorf("docs/mip-flags.md lacks %s: run this test with -update", flags)
				}
				for i, cc := range compilers {
					if !*update && n%oracle.Step(40) != 0 && !strings.Contains(row, "refused") && !strings.Contains(row, "ignored") {
						continue
					}
					t.Run(strings.NewReplacer("/", "_", "=", "_").Replace(cc+" "+flags), func(t *testing.T) {
						t.Parallel()
						got := tryFlags(t, cc, flags)
						if cells := strings.Split(row, " | "); !*update && (len(cells) != len(compilers) || strings.Trim(cells[i], " |") != got) {
							t.Errorf("%q, but docs/mip-flags.md has %q", got, row)
						}
						mu.Lock()
						results[cc+" "+flags] = got
						mu.Unlock()
					})
				}
			}
		}
	})
	if *update && !t.Failed() {
		oracle.WriteFile(t, file, flagTable(compilers, results))
	}
}

func rowOf(document, flags string) string {
	_, row, _ := strings.Cut(document, "\n| `"+flags+"` | ")
	row, _, found := strings.Cut(row, "\n")
	if !found {
		return ""
	}
	return "| " + row
}

// tryFlags builds and runs the program with flags, and says what came of it.
func tryFlags(t *testing.T, cc, flags string) string {
	b := newBench(t, "m.c", flagProgram)
	if strings.Contains(flags, "-finstrument-functions") {
		b.write("m.c", flagProgram+flagHooks)
	}
	command := slices.Concat([]string{oracle.Tool(t, cc), "m.c", "-B" + lldTools(t)}, strings.Fields(flags))
	plain := b.exec(nil, append(command, "-o", "plain")...)
	if plain.code != 0 {
		return "–" // the compiler or the linker cannot do that
	}
	said := ""
	run := func(name string, with ...string) bool {
		t.Helper()
		r := b.cc(slices.Concat(command, with, []string{"-o", name})...)
		b.noTemporaries()
		if r.code != 0 {
			said = sentence(r.stderr, "error: ")
			if said == "" {
				said = sentence(r.stderr, "")
			}
			if said == "" {
				t.Errorf("no sentence: %s", r.stderr)
			}
			said = "refused: " + said
			return false
		}
		if said = sentence(r.stderr, "warning: "); said != "" {
			said = ", with a warning: " + said
		}
		// Not before: some kernels do not run 32-bit programs, which are refused.
		want := b.exec(nil, b.path("plain"))
		if got := b.exec(rawFile, b.path(name)); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		return true
	}
	if !run("probed", generate, withBB) {
		return said
	}
	sums := map[string]uint64{}
	p := b.profile("probed", "raw")
	for name, n := range calls(p) {
		stem, _, _ := strings.Cut(name, ".") // of clones
		sums[stem] += n
	}
	if sums["main"] != 1 || sums["work"] != 7 || sums["twice"] != 2 {
		t.Errorf("calls %v", sums)
	}
	b.writeProfile("app.mip", p)
	first := said
	if !run("used", "-fmachine-profile-use=app.mip") {
		return "`generate` works; `use`: " + said
	}
	return "works" + first
}

func sentence(stderr, mark string) string {
	_, line, _ := strings.Cut(stderr, "profuse cc: "+mark)
	line, _, _ = strings.Cut(line, "\n")
	return line
}

func flagTable(compilers []string, results map[string]string) []byte {
	var table strings.Builder
	worked, refused, tried := map[string]int{}, map[string]int{}, map[string]int{}
	for _, group := range flagSets {
		fmt.Fprintf(&table, "\n## %s%s\n\n| flags | clang 22 | gcc 12 |\n|---|---|---|\n", strings.ToUpper(group.subject[:1]), group.subject[1:])
		for _, flags := range group.flags {
			fmt.Fprintf(&table, "| `%s`", flags)
			for _, cc := range compilers {
				result := results[cc+" "+flags]
				fmt.Fprintf(&table, " | %s", result)
				switch {
				case result == "–":
					continue
				case strings.HasPrefix(result, "works"):
					worked[cc]++
				default:
					refused[cc]++
				}
				tried[cc]++
			}
			table.WriteString(" |\n")
		}
	}
	var text strings.Builder
	text.WriteString("# Flags of compilers with MIP\n\nA program in C, with each set of flags, plain, with `generate` and block coverage, and\n" +
		"with `use`: a set works if all three behave alike and the calls are counted right. A dash\n" +
		"is a set that the compiler does not have or that cannot be linked without profuse,\n" +
		"either. x86_64 Linux, with GNU ld unless the set names another linker. Made by\n`PROFUSE_SLOW_TESTS=1 go test ./internal/command/cc -run FlagSets -update`, and tested.\n\n" +
		"| | sets tried | work | refused with a sentence |\n|---|---|---|---|\n")
	for i, cc := range compilers {
		fmt.Fprintf(&text, "| %s | %d | %d | %d |\n", []string{"clang 22", "gcc 12"}[i], tried[cc], worked[cc], refused[cc])
	}
	return []byte(text.String() + table.String())
}
