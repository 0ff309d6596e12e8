package symbolize

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// machOArchs are the architectures of macOS.
var machOArchs = []string{"x86_64", "arm64"}

// machOProgram is the script that compiles and links the program for macOS.
func machOProgram(arch string) string {
	return compile("clang++-22", "--target="+arch+"-apple-macos13 -g -O2") + fmt.Sprintf(
		"ld64.lld-22 -arch %s -platform_version macos 13 13 -e __start -o out main.o shapes.o plain.o src/libSystem.tbd\n", arch)
}

// TestMachOObjects compares object files, whose debug information is within.
func TestMachOObjects(t *testing.T) {
	for _, arch := range machOArchs {
		for _, compiler := range []string{"clang++-19", "clang++-22"} {
			for _, version := range []int{2, 4, 5} {
				for _, level := range []string{"-O0", "-O2"} {
					if compiler == "clang++-19" && (version != 4 || level != "-O2") {
						continue // what differs between compilers, TestCompilers shows
					}
					t.Run(fmt.Sprintf("%s/%s/dwarf%d%s", arch, compiler, version, level), func(t *testing.T) {
						if compiler != "clang++-22" || version != 5 || level != "-O2" {
							oracle.Slow(t)
						}
						t.Parallel()
						flags := fmt.Sprintf("--target=%s-apple-macos13 -gdwarf-%d %s", arch, version, level)
						file := build(t, compile(compiler, flags)+"cp main.o out", compiler)
						c := compareMachO(t, file)
						if c.withLine == 0 || level == "-O2" && c.inlined == 0 {
							t.Errorf("compared nothing: %+v", c)
						}
					})
				}
			}
		}
	}
}

// compareMachO compares every address of the code.
func compareMachO(t *testing.T, file string, args ...string) census {
	t.Helper()
	return compareWithSymbols(t, file, "__TEXT,__text", 1, args...)
}

// TestMachOPrograms compares linked programs: without debug information, with a .dSYM bundle beside them, with one
// that belongs to another program, and the bundle itself.
func TestMachOPrograms(t *testing.T) {
	for _, arch := range machOArchs {
		t.Run(arch, func(t *testing.T) {
			if arch != "arm64" {
				oracle.Slow(t)
			}
			t.Parallel()
			file := build(t, machOProgram(arch), "clang++-22", "ld64.lld-22", "dsymutil-22")
			if c := compareMachO(t, file); c.known == 0 || c.withLine != 0 {
				t.Errorf("without debug information: %+v", c)
			}
			bundle := file + ".dSYM"
			_, stderr, code := oracle.Run(t, oracle.Tool(t, "dsymutil-22"), file, "-o", bundle)
			if code != 0 {
				t.Fatal(stderr)
			}
			if c := compareMachO(t, file); c.inlined == 0 {
				t.Errorf("with a bundle: %+v", c)
			}
			f := open(t, file, Options{})
			inside := filepath.Join(bundle, object.BundleFolder, "out")
			if got, err := f.DebugFile(); got != inside || err != nil {
				t.Errorf("DebugFile = %q, %v; want %q", got, err, inside)
			}
			addrs := every(t, f, "__text", 1)
			b := open(t, bundle, Options{})
			if b.Name != inside {
				t.Errorf("the bundle opened as %q", b.Name)
			}
			compareFrames(t, addrs, batchFrames(t, b, addrs), batchFrames(t, f, addrs))

			if none := open(t, file, Options{NoDebugFiles: true}); len(batchFrames(t, none, addrs[:1])[0]) != 0 {
				t.Error("NoDebugFiles took debug information from the bundle")
			}
			checkMachOFacts(t, f, arch)

			// A program linked anew has another id.
			other := build(t, machOProgram(arch)+"printf x >>src/shapes.cpp; ld64.lld-22 -arch "+arch+
				" -platform_version macos 13 13 -e __start -o out main.o plain.o shapes.o src/libSystem.tbd\n", "ld64.lld-22")
			if err := os.CopyFS(other+".dSYM", os.DirFS(bundle)); err != nil {
				t.Fatal(err)
			}
			if c := compareMachO(t, other); c.withLine != 0 {
				t.Errorf("took the bundle of another program: %+v", c)
			}
		})
	}
}

// checkMachOFacts compares what a file says of itself with llvm-objdump.
func checkMachOFacts(t *testing.T, f *File, arch string) {
	t.Helper()
	if !f.MachO || f.Arch != arch || f.PointerSize != 8 || !f.PositionIndependent {
		t.Errorf("Mach-O %t, %s, pointers of %d bytes, position independent %t", f.MachO, f.Arch, f.PointerSize, f.PositionIndependent)
	}
	if f.preferredBase() != 0x100000000 {
		t.Errorf("PreferredBase = %#x", f.preferredBase())
	}
	stdout, _, _ := oracle.Run(t, oracle.Tool(t, "llvm-objdump-22"), "--macho", "--private-headers", f.Name)
	var uuid, segment string
	want := map[string]string{}
	for line := range strings.Lines(stdout) {
		switch fields := strings.Fields(line); {
		case len(fields) != 2:
		case fields[0] == "uuid":
			uuid = strings.ToLower(strings.ReplaceAll(fields[1], "-", ""))
		case fields[0] == "segname":
			segment = fields[1]
		case fields[0] == "vmaddr" || fields[0] == "fileoff":
			want[segment] += fields[1] + " "
		}
	}
	if got := hex.EncodeToString(f.BuildID); got != uuid || got == "" {
		t.Errorf("build id %s, want %s", got, uuid)
	}
	for _, s := range f.Segments {
		if got := fmt.Sprintf("0x%016x %d ", s.Addr, s.Offset); got != want[s.Name] {
			t.Errorf("segment %s: %s, want %s", s.Name, got, want[s.Name])
		}
		if s.Executable != (s.Name == "__TEXT") {
			t.Errorf("segment %s: executable is %t", s.Name, s.Executable)
		}
	}
	if s := f.Section("__TEXT,__text"); s == nil || s.Segment != "__TEXT" || s.Addr < f.preferredBase() {
		t.Errorf("section __text is %+v", s)
	}
	if f.Section("__DATA,__text") != nil {
		t.Error("found __text in __DATA")
	}
}

// TestUniversal compares both slices of a universal file.
func TestUniversal(t *testing.T) {
	for _, lipo := range []string{"-create", "-fat64 -create"} {
		t.Run(lipo, func(t *testing.T) {
			if lipo != "-create" {
				oracle.Slow(t)
			}
			t.Parallel()
			script := ""
			for _, arch := range machOArchs {
				script += compile("clang++-22", "--target="+arch+"-apple-macos13 -g -O2") + "mv main.o " + arch + ".o\n"
			}
			file := build(t, script+"llvm-lipo-22 "+lipo+" x86_64.o arm64.o -output out", "clang++-22", "llvm-lipo-22")
			for _, arch := range machOArchs {
				f := open(t, file, Options{SymbolTable: true, Arch: arch})
				if f.Arch != arch {
					t.Errorf("Arch = %q, want %q", f.Arch, arch)
				}
				addrs := every(t, f, "__text", 1)
				c := compareFrames(t, addrs, batchFrames(t, f, addrs), llvmFrames(t, file, addrs, "--default-arch="+arch))
				if c.inlined == 0 {
					t.Errorf("compared nothing: %+v", c)
				}
				text := f.Section("__text")
				data, err := text.Data()
				if err != nil || !slices.Equal(data, oracle.ReadFile(t, file)[text.Offset:][:len(data)]) {
					t.Errorf("%s: the code is not at the section's offset, error %v", arch, err)
				}
			}
			for arch, want := range map[string]string{
				"":     "architecture is not chosen, want one of x86_64, arm64",
				"i386": "architecture is i386, want one of x86_64, arm64",
			} {
				_, err := Open(file, Options{Arch: arch})
				if !errors.Is(err, profile.ErrMismatch) || !strings.Contains(err.Error(), want) {
					t.Errorf("architecture %q: error %v, want %q", arch, err, want)
				}
			}
		})
	}
}

// TestBundles: a .dSYM bundle must have one file.
func TestBundles(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "x.dSYM")
	if err := os.MkdirAll(filepath.Join(bundle, object.BundleFolder), 0o777); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if n != 1 {
			_, err := Open(bundle, Options{})
			if !errors.Is(err, profile.ErrUnsupported) || !strings.Contains(err.Error(), []string{"is 0, want 1", "", "is 2: 0, 1, want 1"}[n]) {
				t.Errorf("a bundle with %d files: %v", n, err)
			}
		}
		oracle.WriteFile(t, filepath.Join(bundle, object.BundleFolder, fmt.Sprint(n)), nil)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "missing.dSYM"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing bundle: %v", err)
	}
}
