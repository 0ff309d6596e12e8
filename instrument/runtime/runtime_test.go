package runtime

import (
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

func TestHash(t *testing.T) {
	if len(Hash()) != 64 {
		t.Errorf("hash %q", Hash())
	}
	Source()[0] = 'x'
	if Source()[0] == 'x' {
		t.Error("Source gives away its own bytes")
	}
}
