package instrument_test

import (
	"debug/macho"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
	"github.com/profuse-pgo/profuse/internal/mip/runtime"
	"github.com/profuse-pgo/profuse/test/oracle"
)

const machOProgram = `
static volatile int sink;
__attribute__((noinline)) int f(int n) { return sink += n; }
__attribute__((noinline)) int unused(int n) { return sink -= n; }
int main(int c, char **v) { for (int i = 0; i < c; i++) f(i); return sink; }
`

// TestMachORuntime compiles the runtime for macOS without a warning and links it with instrumented code.
// That nothing is undefined says that it needs no more of the system than libSystem.tbd has.
func TestMachORuntime(t *testing.T) {
	clang, lld := oracle.Tool(t, "clang-19"), oracle.Tool(t, "ld64.lld-19")
	testdata := filepath.Join(oracle.Root(t), "internal", "mip", "runtime", "testdata")
	declarations, tbd := filepath.Join(testdata, "darwin.h"), filepath.Join(testdata, "libSystem.tbd")
	for _, arch := range []string{"arm64", "x86_64"} {
		t.Run(arch, func(t *testing.T) {
			if arch != "arm64" {
				oracle.Slow(t)
			}
			t.Parallel()
			dir := t.TempDir()
			write := func(name, text string) string {
				file := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
					t.Fatal(err)
				}
				oracle.WriteFile(t, file, []byte(text))
				return file
			}
			for _, header := range strings.Fields("errno fcntl signal stdlib string unistd sched stdio sys/stat sys/mman") {
				write("include/"+header+".h", "#include \""+declarations+"\"\n")
			}
			target := "--target=" + arch + "-apple-macos13"
			tc := toolchain{cc: clang, flags: []string{target}}
			source := write("runtime.c", string(runtime.Source()))
			text := must(t, dir, clang, target, "-O1", "-S", write("m.c", machOProgram), "-o", "-")
			for _, profile := range []mip.ProfileType{coverage, counts, counts | mip.ReturnAddress, counts | mip.ReturnAddress | withBB} {
				flags := []string{
					target, "-nostdlibinc", "-isystem", filepath.Join(dir, "include"), "-Wall", "-Wextra", "-Werror",
					"-Oz", "-fPIC", "-fno-stack-protector", "-c", source, "-o", filepath.Join(dir, "runtime.o"),
				}
				opt := runtime.Options{Coverage: profile.Has(mip.FunctionCoverage), Signals: profile.Has(counts)}
				if profile.Has(mip.ReturnAddress) {
					opt.Buffer = 4096
				}
				flags = append(flags, opt.Args()...)
				must(t, dir, clang, flags...)
				out, report := tc.rewrite(t, []byte(text), instrument.Options{Profile: profile})
				must(t, dir, clang, target, "-c", write("m.s", string(out)), "-o", filepath.Join(dir, "m.o"))
				exe := filepath.Join(dir, "a.out")
				must(t, dir, lld, "-arch", arch, "-platform_version", "macos", "13.0", "13.0", "-dead_strip",
					filepath.Join(dir, "runtime.o"), filepath.Join(dir, "m.o"), tbd, "-o", exe)
				if len(report) != 3 {
					t.Fatalf("functions %v", report)
				}
				checkMachORecords(t, exe, profile)
			}
		})
	}
}

// checkMachORecords looks at the memory that the image starts with: a header,
// and records as the probes and the runtime expect them.
func checkMachORecords(t *testing.T, exe string, profile mip.ProfileType) {
	t.Helper()
	img, err := macho.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	raw, err := img.Section(asm.RawSection).Data()
	if err != nil {
		t.Fatal(err)
	}
	p := readMap(t, exe)
	if p.Type != profile || len(p.Functions) != 2 { // unused is stripped
		t.Errorf("profile type %v, %d functions", p.Type, len(p.Functions))
	}
	if binary.LittleEndian.Uint32(raw) != 0x50494dfb {
		t.Errorf("no header: % x", raw[:8])
	}
	want := map[bool][]uint32{false: {0xffffffff, 0xffffffff}, true: {0, 1, 0xffffffff, 0xffffffff}}[profile.Has(mip.ReturnAddress)]
	for _, f := range p.Functions {
		if !profile.Has(counts) {
			continue
		}
		at := int(f.RawOffset) + 8 - 4*len(want)
		for i, w := range want {
			if got := binary.LittleEndian.Uint32(raw[at+4*i:]); got != w {
				t.Errorf("%s: word %d before and of the record is %#x, want %#x", f.Name, i, got, w)
			}
		}
	}
}
