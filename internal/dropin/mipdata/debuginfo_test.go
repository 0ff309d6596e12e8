package mipdata

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// cover writes a profile of the map in a binary in which every function ran.
func cover(t *testing.T, profile, binary string, args ...string) *mip.Profile {
	t.Helper()
	run(t, append([]string{"create", "-p", profile, binary}, args...)...)
	p := readMIP(t, profile)
	for i := range p.Functions {
		p.Functions[i].MergeCount, p.Functions[i].CallCount = 1, 1
	}
	writeMIP(t, profile, p)
	return p
}

// compareCovered compares what covered says with llvm-symbolizer, whose code
// the original uses. rawSection is the address of the raw section.
func compareCovered(t *testing.T, profile string, p *mip.Profile, rawSection uint64, debug string, args ...string) {
	t.Helper()
	symbolizer := oracle.Tool(t, "llvm-symbolizer-22", "llvm-symbolizer")
	command := []string{"--obj=" + debug, "--inlines", "--functions=linkage", "--demangle"}
	if len(args) > 0 {
		command = append(command, "--default-arch="+args[1])
	}
	for _, f := range p.Functions {
		command = append(command, fmt.Sprintf("%#x", rawSection+uint64(f.Address)))
	}
	out, _, _ := oracle.Run(t, symbolizer, command...)
	var names, lines []string
	for _, block := range strings.Split(strings.TrimSpace(out), "\n\n") {
		frames := strings.Split(block, "\n")
		for i := 0; i+1 < len(frames); i += 2 {
			place := frames[i+1][:strings.LastIndexByte(frames[i+1], ':')] // without the column
			if strings.HasPrefix(place, "??") {
				continue // nothing is known
			}
			names = append(names, strings.Replace(frames[i], "??", unknown, 1))
			lines = append(lines, place)
		}
	}
	if len(names) == 0 {
		t.Fatalf("nothing to compare with: %s", out)
	}
	args = append([]string{"covered", "-p", profile, "--debug", debug}, args...)
	if got, _ := run(t, append(args, "--lines")...); got != strings.Join(lines, "\n")+"\n" {
		t.Errorf("lines:\n%swant:\n%s", got, strings.Join(lines, "\n"))
	}
	if debug != debugProgram { // llvm-symbolizer also has names from the symbol table
		return
	}
	if got, _ := run(t, args...); got != strings.Join(names, "\n")+"\n" {
		t.Errorf("names:\n%swant:\n%s", got, strings.Join(names, "\n"))
	}
}

// rawSectionOf returns the address of a program's raw section.
func rawSectionOf(t *testing.T, program string) uint64 {
	t.Helper()
	_, info, err := mip.FindMap(program, oracle.ReadFile(t, program), "")
	if err != nil {
		t.Fatal(err)
	}
	return info.RawSection
}

func TestDebugELF(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "p")
	p := cover(t, profile, debugProgram)
	compareCovered(t, profile, p, rawSectionOf(t, debugProgram), debugProgram)
}

// machOMap is put after the assembly of testdata/mip/src/table.c: the sections
// of an instrumented library.
const machOMap = `
	.section __DATA,__llvm_mipraw
lraw:
	.long 0x50494dfb
	.short 8, 0x11
	.long 1, 0x7ab1e
	.quad 0
	.long 0, 32
lraw1:
	.byte 0xff
lraw2:
	.byte 0xff
	.section __DATA,__llvm_mipmap
lmap:
	.long 0x50494dfb
	.short 8, 0x14
	.long 1, 0x7ab1e
	.quad lraw - lmap
	.long 0, 32
lmap1:
	.quad lraw1 - lmap1, _table - lmap1
	.long 16, 0, 0, 6
	.ascii "_table"
	.p2align 3
lmap2:
	.quad lraw2 - lmap2, _unused - lmap2
	.long 16, 0, 0, 7
	.ascii "_unused"
`

// TestDebugMachO reads debug info from .dSYM bundles: of one architecture, and of several.
func TestDebugMachO(t *testing.T) {
	clang := oracle.Tool(t, "clang-22", "clang")
	linker := oracle.Tool(t, "ld64.lld-22", "ld64.lld")
	lipo := oracle.Tool(t, "llvm-lipo-22", "llvm-lipo")
	dsymutil := oracle.Tool(t, "dsymutil-22", "dsymutil")
	dir := t.TempDir()
	command := func(exe string, args ...string) {
		t.Helper()
		if _, stderr, code := oracle.RunIn(t, dir, exe, args...); code != 0 {
			t.Fatalf("%s %s: %s", exe, strings.Join(args, " "), stderr)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	raw := make(map[string]uint64)
	src := filepath.Join(oracle.Root(t), "testdata", "mip", "src", "table.c")
	archs := []string{"x86_64", "arm64"}
	for _, arch := range archs {
		command(clang, "-target", arch+"-apple-macos13", "-g", "-O1", "-S", "-o", arch+".s", src)
		oracle.WriteFile(t, in(arch+".s"), append(oracle.ReadFile(t, in(arch+".s")), machOMap...))
		command(clang, "-target", arch+"-apple-macos13", "-c", "-o", arch+".o", arch+".s")
		command(linker, "-dylib", "-arch", arch, "-platform_version", "macos", "13", "13", "-o", arch, arch+".o")
		command(dsymutil, arch)
		raw[arch] = rawSectionOf(t, in(arch))
		profile := in(arch + ".mip")
		p := cover(t, profile, in(arch))
		compareCovered(t, profile, p, raw[arch], in(arch+".dSYM/Contents/Resources/DWARF/"+arch))
		if got, _ := run(t, "covered", "-p", profile, "--debug", in(arch+".dSYM"), "--paths"); !strings.Contains(got, "table.c") {
			t.Errorf("%s: with the bundle: %s", arch, got)
		}
	}
	command(lipo, "-create", "-output", "fat", "x86_64", "arm64")
	command(lipo, "-create", "-output", "fat-debug", "x86_64.dSYM/Contents/Resources/DWARF/x86_64", "arm64.dSYM/Contents/Resources/DWARF/arm64")
	for _, arch := range archs {
		profile := in("fat.mip")
		p := cover(t, profile, in("fat"), "--arch", arch)
		compareCovered(t, profile, p, raw[arch], in("fat-debug"), "--arch", arch)
	}
	// The default, by number, and one that is not there.
	cover(t, in("fat.mip"), in("fat"))
	want, _ := run(t, "covered", "-p", in("fat.mip"), "--debug", in("fat-debug"), "--lines")
	if got, _ := run(t, "covered", "-p", in("fat.mip"), "--debug", in("fat-debug"), "--lines", "--arch=0x0100000c"); got != want || got == "" {
		t.Errorf("by number:\n%swant:\n%s", got, want)
	}
	var stderr strings.Builder
	code := Main([]string{"show", "-p", in("fat.mip"), "--debug", in("fat-debug"), "--arch=armv7"}, Env{Stdout: &stderr, Stderr: &stderr})
	if code != 1 || !strings.HasSuffix(stderr.String(), "error: "+in("fat-debug")+" has unhandled type\nerror: Invalid argument\n") {
		t.Errorf("another architecture: exit code %d: %s", code, &stderr)
	}
}
