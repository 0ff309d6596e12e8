package command

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// machines are the machines of testdata/machines, and how show names the layout of their raw profiles.
var machines = map[string]string{
	"s390x":   "64-bit, big-endian",
	"ppc32":   "32-bit, big-endian",
	"mips32":  "32-bit, big-endian",
	"i386":    "32-bit, little-endian",
	"armhf":   "32-bit, little-endian",
	"aarch64": "64-bit, little-endian",
	"riscv64": "64-bit, little-endian",
	"mingw":   "64-bit, little-endian",
}

// TestMachines: one program gives the same profile and the same coverage on all machines, and the profile has the counts that
// the source asks for. Where LLVM's tools are at hand, the drop-ins equal them byte for byte.
func TestMachines(t *testing.T) {
	dir := filepath.Join(oracle.Root(t), "testdata", "machines")
	for name, layout := range machines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, work := filepath.Join(dir, name+".program"), t.TempDir()
			raw := map[string]string{"main": filepath.Join(dir, name+".profraw"), "main-ir": filepath.Join(dir, name+"-ir.profraw")}
			for kind, file := range raw {
				want := filepath.Join(dir, kind+".proftext")
				indexed, text := filepath.Join(work, kind), filepath.Join(work, kind+".proftext")
				profuse(t, "merge", "-q", "-o", indexed, file)
				profuse(t, "merge", "-q", "--format", "text", "-o", text, indexed)
				wantSame(t, text, want)
				profuse(t, "llvm-profdata", "merge", "-text", "-o", text, file)
				wantSame(t, text, want)
				profuse(t, "check", file, indexed)
				if out := profuse(t, "show", file); !regexp.MustCompile(`(?m)^  Layout +` + layout + `$`).MatchString(out) {
					t.Errorf("the layout is not %s:\n%s", layout, out)
				}
			}
			trace := filepath.Join(work, "info")
			oracle.WriteFile(t, trace, []byte(profuse(t, "llvm-cov", "export", "-format=lcov", "-instr-profile", filepath.Join(work, "main"), program)))
			wantSame(t, trace, filepath.Join(dir, "main.info"))
			profuse(t, "coverage", "--program", program, "--to", "lcov", "-o", trace, raw["main"])
			got := parseLCOV(t, string(oracle.ReadFile(t, trace)), filepath.Base)
			for call, want := range map[string]uint64{
				"main.c main": 1, "main.c large": 1, "main.c main.c:classify": 23, "main.c main.c:decide": 7, "main.c main.c:walk": 1, "main.c main.c:twice": 13,
				"main.c main.c:minus": 7, "main.c never": 0,
			} {
				if n, ok := got.calls[call]; !ok || n != want {
					t.Errorf("%s: %d calls (%v), want %d", call, n, ok, want)
				}
			}
			if sum := "main.c 32"; got.lines[sum] != 100000 {
				t.Errorf("line %s: %d, want 100000", sum, got.lines[sum])
			}
			t.Run("LLVM", func(t *testing.T) { compareMachine(t, program, raw) })
		})
	}
}

// compareMachine compares the drop-ins with the tools of LLVM 22.
func compareMachine(t *testing.T, program string, raw map[string]string) {
	work, profdata, cov := t.TempDir(), oracle.LLVM(t, 22), oracle.Tool(t, "llvm-cov-22")
	ours, theirs := filepath.Join(work, "ours"), filepath.Join(work, "theirs")
	same := func(tool string, args ...string) {
		t.Helper()
		name := "llvm-profdata"
		if tool == cov {
			name = "llvm-cov"
		}
		want, stderr, code := oracle.Run(t, tool, args...)
		if code != 0 {
			t.Fatal(stderr)
		}
		if got := profuse(t, append([]string{name}, args...)...); got != want {
			t.Errorf("%s %q prints\n%swant\n%s", name, args, got, want)
		}
	}
	for _, file := range raw {
		profuse(t, "llvm-profdata", "merge", "-o", ours, file)
		if _, stderr, code := oracle.Run(t, profdata, "merge", "-o", theirs, file); code != 0 {
			t.Fatal(stderr)
		}
		wantSame(t, ours, theirs)
		same(profdata, "show", "--all-functions", "--counts", "--ic-targets", "--memop-sizes", file)
	}
	profuse(t, "llvm-profdata", "merge", "-o", ours, raw["main"])
	same(cov, "export", "-instr-profile", ours, program)
	same(cov, "report", "-instr-profile", ours, program)
}
