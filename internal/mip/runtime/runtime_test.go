package runtime

import (
	"debug/elf"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestSourceCompiles: without a warning, for C99 and later, and with nothing
// visible but what is meant to be.
func TestSourceCompiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runtime.c")
	oracle.WriteFile(t, file, Source())
	for _, cc := range []string{"gcc", "clang-19", "clang-22", "aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc"} {
		t.Run(cc, func(t *testing.T) {
			if cc != "gcc" {
				oracle.Slow(t)
			}
			t.Parallel()
			cc := oracle.Tool(t, cc)
			for _, c := range []struct {
				flags   string
				options Options
			}{
				{"-std=gnu99 -O2", Options{}},
				{"-std=gnu17 -Os", Options{Signals: true}},
				{"-std=gnu17 -Oz", Options{Coverage: true}},
				{"-O2", Options{Coverage: true, Signals: true}},
				{"-O0", Options{NoDump: true}},
				{"-O3 -ffreestanding", Options{}},
				{"-Os", Options{Buffer: 1 << 16}},
				{"-Oz", Options{Coverage: true, File: "x\"" + ProcessID}},
			} {
				object := filepath.Join(t.TempDir(), "runtime.o")
				flags := append(strings.Fields(c.flags), c.options.Args()...)
				args := append(flags, "-Wall", "-Wextra", "-Werror", "-fPIC", "-c", file, "-o", object)
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
		oracle.WriteFile(t, file, data)
		return file
	}
	runtime, program := write("runtime.c", Source()), write("m.c", []byte("int main(void) { return 0; }\n"))
	for _, c := range []struct {
		cc      string
		limit   int
		options Options
	}{
		{"gcc", 2270, Options{}},
		{"gcc", 2260, Options{Coverage: true}},
		{"gcc", 530, Options{Coverage: true, File: "default.mipraw"}},
		{"gcc", 570, Options{Coverage: true, File: "default-" + ProcessID + ".mipraw"}},
		{"gcc", 2950, Options{Signals: true}},
		{"clang-19", 2400, Options{}},
		{"clang-22", 2400, Options{}},
		{"clang-22", 2320, Options{Coverage: true}},
		{"clang-22", 530, Options{Coverage: true, File: "default.mipraw"}},
		{"clang-22", 3050, Options{Signals: true}},
	} {
		cc := oracle.Tool(t, c.cc)
		if !strings.HasPrefix(must(t, cc, "-dumpmachine"), "x86_64") {
			continue
		}
		object, plain, with := filepath.Join(dir, "runtime.o"), filepath.Join(dir, "plain"), filepath.Join(dir, "with")
		level := "-Os"
		if strings.Contains(cc, "clang") {
			level = "-Oz"
		}
		args := append(c.options.Args(), level, "-fPIC", "-fno-asynchronous-unwind-tables", "-fvisibility=hidden", "-fno-stack-protector", "-fno-plt", "-c", runtime, "-o", object)
		must(t, cc, args...)
		must(t, cc, program, "-o", plain)
		must(t, cc, object, program, "-o", with)
		if got := size(t, with) - size(t, plain); got > c.limit {
			t.Errorf("%s: %+v: the runtime adds %d bytes, more than %d", cc, c.options, got, c.limit)
		} else {
			t.Logf("%s: %+v: %d bytes", cc, c.options, got)
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

func TestSourceIsACopy(t *testing.T) {
	Source()[0] = 'x'
	if Source()[0] == 'x' {
		t.Error("Source gives away its own bytes")
	}
}
