package runtime

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/oracle"
)

// TestSourceCompiles: without a warning, for C99 and later, and with nothing
// visible but what is meant to be.
func TestSourceCompiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runtime.c")
	if err := os.WriteFile(file, Source(), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, cc := range []string{"gcc", "clang-19", "clang-22", "aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc"} {
		t.Run(cc, func(t *testing.T) {
			cc := oracle.Tool(t, cc)
			for _, flags := range []string{"-std=gnu99 -O2", "-std=gnu17 -Os", "-O0 -D" + NoDump, "-O3 -ffreestanding", "-Os -D" + RuntimeBuffer + "=65536"} {
				object := filepath.Join(t.TempDir(), "runtime.o")
				args := append(strings.Fields(flags), "-Wall", "-Wextra", "-Werror", "-fPIC", "-c", file, "-o", object)
				if _, stderr, code := oracle.Run(t, cc, args...); code != 0 || stderr != "" {
					t.Errorf("%s: exit code %d\n%s", flags, code, stderr)
					continue
				}
				table, _, _ := oracle.Run(t, oracle.Tool(t, "readelf"), "-sW", object)
				for line := range strings.Lines(table) {
					f := strings.Fields(line)
					if len(f) == 8 && f[4] == "GLOBAL" && f[6] != "UND" && f[5] != "HIDDEN" {
						t.Errorf("%s: visible: %s", flags, line)
					}
				}
			}
		})
	}
}

// TestSize: what the runtime adds to a program that uses none of the functions
// it needs, in bytes of text and data.
func TestSize(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	runtime, program := write("runtime.c", Source()), write("m.c", []byte("int main(void) { return 0; }\n"))
	for cc, limit := range map[string]int{"gcc": 2950, "clang-19": 3050, "clang-22": 3050} {
		cc := oracle.Tool(t, cc)
		if !strings.HasPrefix(must(t, cc, "-dumpmachine"), "x86_64") {
			continue
		}
		object, plain, with := filepath.Join(dir, "runtime.o"), filepath.Join(dir, "plain"), filepath.Join(dir, "with")
		level := "-Os"
		if strings.Contains(cc, "clang") {
			level = "-Oz"
		}
		must(t, cc, level, "-fPIC", "-fno-asynchronous-unwind-tables", "-fvisibility=hidden", "-fno-stack-protector", "-fno-plt", "-c", runtime, "-o", object)
		must(t, cc, program, "-o", plain)
		must(t, cc, object, program, "-o", with)
		if got := size(t, with) - size(t, plain); got > limit {
			t.Errorf("%s: the runtime adds %d bytes, more than %d", cc, got, limit)
		} else {
			t.Logf("%s: %d bytes", cc, got)
		}
	}
}

func must(t *testing.T, exe string, args ...string) string {
	t.Helper()
	stdout, stderr, code := oracle.Run(t, exe, args...)
	if code != 0 {
		t.Fatalf("%s %v: exit code %d\n%s", exe, args, code, stderr)
	}
	return stdout
}

// size is the sum that size(1) prints as text and data.
func size(t *testing.T, file string) (n int) {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS {
			n += int(s.Size)
		}
	}
	return n
}

func TestHash(t *testing.T) {
	if len(Hash()) != 64 {
		t.Errorf("hash %q", Hash())
	}
	Source()[0] = 'x'
	if Source()[0] == 'x' {
		t.Error("Source gives away its own bytes")
	}
}
