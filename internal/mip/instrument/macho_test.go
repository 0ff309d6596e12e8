package instrument_test

import (
	"debug/macho"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/blocks"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestMachO assembles, links and reads back; nothing here runs the result.
func TestMachO(t *testing.T) {
	clang, lld := oracle.Tool(t, "clang-19"), oracle.Tool(t, "ld64.lld-19")
	for _, arch := range []string{"arm64", "x86_64"} {
		for _, level := range []string{"-O0", "-O2"} {
			t.Run(arch+level, func(t *testing.T) {
				if arch != "arm64" || level != "-O2" {
					oracle.Slow(t)
				}
				t.Parallel()
				m := machO{toolchain{cc: clang, flags: []string{"--target=" + arch + "-apple-macos13"}}, lld, arch}
				text := m.assembly(t, "bare.cpp", level, "-fcxx-exceptions", "-fexceptions")
				for _, profile := range modes {
					objects, report := m.instrumented(t, text, profile)
					checkImage(t, m.link(t, objects), report, profile)
					names := mapNames(readMap(t, m.link(t, objects, "-dead_strip")))
					if slices.Contains(names, "__Z6unusedi") || !slices.Contains(names, "_main") {
						t.Errorf("%v: after dead stripping the map has %v", profile, names)
					}
				}
			})
		}
	}
}

type machO struct {
	toolchain
	lld, arch string
}

// instrumented returns the objects of a program.
func (m machO) instrumented(t *testing.T, text []byte, profile mip.ProfileType) (objects []string, r []instrument.FunctionReport) {
	t.Helper()
	text, r = m.rewrite(t, text, instrument.Options{Profile: profile})
	const helper = "\t.globl\t___profuse_mip_first\n___profuse_mip_first:\n\tret\n"
	return m.assemble(t, [][]byte{text, []byte(helper)}), r
}

func (m machO) link(t *testing.T, objects []string, ldflags ...string) (exe string) {
	t.Helper()
	exe = filepath.Join(t.TempDir(), "a.out")
	args := []string{"-arch", m.arch, "-platform_version", "macos", "13.0", "13.0", "-undefined", "dynamic_lookup", "-o", exe}
	if m.arch == "x86_64" {
		args = append(args, "-U", "dyld_stub_binder")
	}
	must(t, "", m.lld, slices.Concat(args, objects, ldflags)...)
	return exe
}

func mapNames(p *mip.Profile) (names []string) {
	for _, f := range p.Functions {
		names = append(names, f.Name)
	}
	return names
}

// checkImage compares the map of a linked image with its symbol table and with the report.
func checkImage(t *testing.T, exe string, r []instrument.FunctionReport, profile mip.ProfileType) {
	t.Helper()
	img, err := macho.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	raw := img.Section(asm.RawSection)
	data, err := raw.Data()
	if err != nil {
		t.Fatal(err)
	}
	p := readMap(t, exe)
	if p.Type != profile {
		t.Errorf("profile type %v", p.Type)
	}
	if section := img.Section(blocks.Section); section != nil {
		data, err := section.Data()
		if err != nil {
			t.Fatal(err)
		}
		table, err := blocks.Read(exe, data)
		if err != nil {
			t.Fatal(err)
		}
		full, err := table.Expand(p)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range full.Functions {
			if got, want := len(f.Blocks), r[i].Blocks-1; got != want {
				t.Errorf("%s has %d blocks, want %d", f.Name, got, want)
			}
		}
	}
	end := uint64(32)
	for i, f := range p.Functions {
		rep := r[i]
		if rep.Name != f.Name || rep.Skipped != "" {
			t.Fatalf("record %d is for %s, reported is %+v", i, f.Name, rep)
		}
		if f.RawOffset < end || f.RawOffset >= uint64(len(data)) || data[f.RawOffset] != 0xff {
			t.Errorf("%s: raw record at %#x, after %#x", f.Name, f.RawOffset, end)
		}
		end = f.RawOffset + 1
		at := slices.IndexFunc(img.Symtab.Syms, func(s macho.Symbol) bool { return s.Name == f.Name })
		if at < 0 || int64(img.Symtab.Syms[at].Value) != int64(raw.Addr)+f.Address {
			t.Errorf("%s is at %#x in the map, not where the symbol is", f.Name, int64(raw.Addr)+f.Address)
		}
		for b, blk := range f.Blocks {
			if blk.Offset >= f.Size {
				t.Errorf("%s: block %d at %#x of %#x", f.Name, b, blk.Offset, f.Size)
			}
		}
	}
	if len(p.Functions) != len(r) || len(p.Functions) < 8 {
		t.Errorf("%d functions in the map, %d reported", len(p.Functions), len(r))
	}
}
