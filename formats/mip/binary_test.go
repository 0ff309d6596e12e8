package mip

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestFindMapFixture(t *testing.T) {
	m, info, err := FindMap("all.elf", fixture(t, "all.elf"), "")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(m, fixture(t, "all.mipmap")) {
		t.Error("another map than the one dumped")
	}
	if info.Format != "ELF" || info.Arch != "x86_64" || info.Type != "PIE" || info.PointerSize != 8 ||
		len(info.BuildID) != 20 || !info.HasRawSection {
		t.Errorf("info %+v", info)
	}
	dumped, info, err := FindMap("all.mipmap", m, "")
	if err != nil || !bytes.Equal(dumped, m) || info.Format != "" || info.PointerSize != 8 {
		t.Errorf("dumped map: info %+v, error %v", info, err)
	}
}

// workshop builds programs of testdata/mip/src.
type workshop struct {
	t   *testing.T
	dir string
}

func newWorkshop(t *testing.T) workshop {
	return workshop{t, t.TempDir()}
}

func (w workshop) src(name string) string {
	return filepath.Join(oracle.Root(w.t), "testdata", "mip", "src", name)
}

// run runs a tool of LLVM in the workshop's folder.
func (w workshop) run(tool string, args ...string) string {
	w.t.Helper()
	stdout, stderr, code := oracle.RunIn(w.t, w.dir, oracle.Tool(w.t, tool+"-22"), args...)
	if code != 0 {
		w.t.Fatalf("%s %s: exit code %d\n%s", tool, strings.Join(args, " "), code, stderr)
	}
	return stdout
}

func (w workshop) bytes(name string) []byte {
	w.t.Helper()
	return oracle.ReadFile(w.t, filepath.Join(w.dir, name))
}

// checkMap compares the map found in a binary with what objcopy dumps and the
// addresses of its functions with the symbol table.
func (w workshop) checkMap(file, arch string, dumped []byte, symbols string) BinaryInfo {
	w.t.Helper()
	m, info, err := FindMap(file, w.bytes(file), arch)
	if err != nil {
		w.t.Fatal(err)
	}
	if !bytes.Equal(m, dumped) {
		w.t.Errorf("%s: map of %d bytes, dumped %d", file, len(m), len(dumped))
	}
	known := make(map[string]bool) // "address name"
	for line := range strings.Lines(symbols) {
		if f := strings.Fields(line); len(f) == 3 {
			known[strings.TrimLeft(f[0], "0")+" "+f[2]] = true
		}
	}
	p := read(w.t, m)
	if len(p.Functions) == 0 {
		w.t.Errorf("%s: no functions", file)
	}
	for _, f := range p.Functions {
		if at := strconv.FormatUint(info.RawSection+uint64(f.Address), 16); !known[at+" "+f.Name] {
			w.t.Errorf("%s: %s at %s is not in the symbol table", file, f.Name, at)
		}
	}
	return info
}

// TestFindMapELF links a program in several ways and compares with objcopy, nm and package debug/elf.
func TestFindMapELF(t *testing.T) {
	w := newWorkshop(t)
	for _, tt := range []struct {
		name  string
		flags []string
		typ   string
		id    bool
	}{
		{"pie", []string{"-pie", "-Wl,--build-id=sha1"}, "PIE", true},
		{"fixed", []string{"-no-pie", "-Wl,--build-id=0xabcd"}, "executable", true},
		{"noid", []string{"-pie", "-Wl,--build-id=none"}, "PIE", false},
		{"zlib", []string{"-pie", "-Wl,--compress-sections=__llvm_mipmap=zlib"}, "PIE", false},
		{"zstd", []string{"-pie", "-Wl,--compress-sections=__llvm_mipmap=zstd"}, "PIE", false},
		{"gc", []string{"-pie", "-Wl,--gc-sections"}, "PIE", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name != "pie" && tt.name != "zstd" {
				oracle.Slow(t)
			}
			w := workshop{t, w.dir}
			w.run("clang", append([]string{
				"-fuse-ld=lld", "-Wl,--no-warnings", "-o", tt.name,
				w.src("calc.all.s"), w.src("table.all.s"), w.src("runtime.c"),
			}, tt.flags...)...)
			w.run("llvm-objcopy", "--decompress-debug-sections", "--dump-section=__llvm_mipmap=dumped", tt.name, "copied")
			dumped := w.bytes("dumped")
			if strings.HasPrefix(tt.name, "z") {
				dumped = elfContents(t, w.bytes(tt.name))
			}
			info := w.checkMap(tt.name, "", dumped, w.run("llvm-nm", tt.name))
			if info.Type != tt.typ || info.PointerSize != 8 || tt.id != (info.BuildID != nil) && tt.id {
				t.Errorf("info %+v", info)
			}
			if tt.name == "fixed" && !bytes.Equal(info.BuildID, []byte{0xab, 0xcd}) {
				t.Errorf("build id %x", info.BuildID)
			}
		})
	}
	w.run("clang", "-c", "-o", "table.o", w.src("table.all.s"))
	if _, _, err := FindMap("table.o", w.bytes("table.o"), ""); !errors.Is(err, profile.ErrUnsupported) {
		t.Errorf("object file: %v", err)
	}
	w.run("llvm-objcopy", "--remove-section=__llvm_mipmap", "pie", "bare")
	if _, info, err := FindMap("bare", w.bytes("bare"), ""); !errors.Is(err, profile.ErrMismatch) || info.BuildID == nil {
		t.Errorf("without a map: info %+v, error %v", info, err)
	}
	w.run("llvm-objcopy", "--only-keep-debug", "pie", "debug")
	if m, _, err := FindMap("debug", w.bytes("debug"), ""); err == nil {
		if _, err := Read("debug", m, nil); err != nil {
			t.Errorf("debug file: %v", err)
		}
	}
}

// elfContents reads the map's section with package debug/elf, which inflates.
func elfContents(t *testing.T, data []byte) []byte {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section(mapSection)
	if s.Flags&elf.SHF_COMPRESSED == 0 {
		t.Fatal("the linker did not compress the section")
	}
	b, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFindMapMachO links libraries for two architectures and joins them.
func TestFindMapMachO(t *testing.T) {
	w := newWorkshop(t)
	dumped, symbols := make(map[string][]byte), make(map[string]string)
	var files []string
	for _, arch := range []string{"arm64", "x86_64"} {
		object, lib := "table-"+arch+".o", "libtable-"+arch+".dylib"
		files = append(files, lib)
		w.run("clang", "-target", arch+"-apple-macos13", "-c", "-o", object, w.src("table.macho-"+arch+".s"))
		w.run("ld64.lld", "-dylib", "-arch", arch, "-platform_version", "macos", "13", "13", "-o", lib, object)
		w.run("llvm-objcopy", "--dump-section=__DATA,__llvm_mipmap="+arch+".mipmap", lib, "copied")
		dumped[arch], symbols[arch] = w.bytes(arch+".mipmap"), w.run("llvm-nm", lib)
		info := w.checkMap(lib, "", dumped[arch], symbols[arch])
		if info.Format != "Mach-O" || info.Arch != arch || info.Type != "shared" || len(info.BuildID) != 16 {
			t.Errorf("info %+v", info)
		}
		if uuid := strings.ReplaceAll(w.run("llvm-objdump", "--macho", "--private-headers", lib), "-", ""); !strings.Contains(strings.ToLower(uuid), fmt.Sprintf("uuid %x", info.BuildID)) {
			t.Errorf("build id %x is not the UUID of %s", info.BuildID, lib)
		}
		if _, _, err := FindMap(object, w.bytes(object), ""); !errors.Is(err, profile.ErrUnsupported) {
			t.Errorf("object file: %v", err)
		}
	}
	for _, fat := range [][]string{{"fat"}, {"fat64", "-fat64"}} {
		w.run("llvm-lipo", append(append([]string{"-create", "-output", fat[0]}, fat[1:]...), files...)...)
		for arch := range dumped {
			w.checkMap(fat[0], arch, dumped[arch], symbols[arch])
		}
		for _, arch := range []string{"", "armv7"} {
			_, _, err := FindMap(fat[0], w.bytes(fat[0]), arch)
			if !errors.Is(err, profile.ErrMismatch) || !strings.Contains(err.Error(), "arm64, x86_64") && !strings.Contains(err.Error(), "x86_64, arm64") {
				t.Errorf("%s, architecture %q: %v", fat[0], arch, err)
			}
		}
	}
	w.run("llvm-lipo", "-create", "-output", "one", files[0])
	w.checkMap("one", "", dumped["arm64"], symbols["arm64"])
}
