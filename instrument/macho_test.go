package instrument_test

import (
	"debug/macho"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/instrument"
	"github.com/profuse-pgo/profuse/instrument/blocks"
	"github.com/profuse-pgo/profuse/internal/oracle"
	"github.com/profuse-pgo/profuse/mip"
)

// TestMachO assembles, links and reads back; nothing here runs the result.
func TestMachO(t *testing.T) {
	clang, lld := oracle.Tool(t, "clang-19"), oracle.Tool(t, "ld64.lld-19")
	for _, arch := range []string{"arm64", "x86_64"} {
		for _, level := range []string{"-O0", "-O2"} {
			for _, profile := range modes {
				t.Run(fmt.Sprint(arch, level, profile), func(t *testing.T) {
					t.Parallel()
					m := machO{clang: clang, lld: lld, arch: arch, level: level}
					exe, report := m.build(t, instrument.Options{Profile: profile})
					checkImage(t, exe, report, profile)
					dead, _ := m.build(t, instrument.Options{Profile: profile}, "-dead_strip")
					names := mapNames(readMap(t, dead))
					if slices.Contains(names, "__Z6unusedi") || !slices.Contains(names, "_main") {
						t.Errorf("after dead stripping the map has %v", names)
					}
				})
			}
		}
	}
}

type machO struct{ clang, lld, arch, level string }

func (m machO) build(t *testing.T, opt instrument.Options, ldflags ...string) (exe string, r instrument.Report) {
	t.Helper()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	target := "-target=" + m.arch + "-apple-macos13"
	target = strings.Replace(target, "-target=", "--target=", 1)
	must(t, dir, m.clang, target, m.level, "-fcxx-exceptions", "-fexceptions", "-S", testdata(t, "bare.cpp"), "-o", path("a.s"))
	text, err := os.ReadFile(path("a.s"))
	if err != nil {
		t.Fatal(err)
	}
	if opt.Target, err = instrument.ParseTriple(m.arch + "-apple-macos13"); err != nil {
		t.Fatal(err)
	}
	if detected, err := instrument.DetectTarget(text); err != nil || detected != opt.Target {
		t.Errorf("detected %v, %v", detected, err)
	}
	if text, r, err = instrument.Rewrite(nil, text, opt); err != nil {
		t.Fatal(err)
	}
	helper := "\t.globl\t___profuse_mip_first\n___profuse_mip_first:\n\tret\n"
	for name, text := range map[string][]byte{"a.s": text, "helper.s": []byte(helper)} {
		if err := os.WriteFile(path(name), text, 0o666); err != nil {
			t.Fatal(err)
		}
		must(t, dir, m.clang, target, "-c", path(name), "-o", path(name+".o"))
	}
	args := []string{
		"-arch", m.arch, "-platform_version", "macos", "13.0", "13.0", "-undefined", "dynamic_lookup",
		path("a.s.o"), path("helper.s.o"), "-o", path("a.out"),
	}
	if m.arch == "x86_64" {
		args = append(args, "-U", "dyld_stub_binder")
	}
	must(t, dir, m.lld, append(args, ldflags...)...)
	return path("a.out"), r
}

func mapNames(p *mip.Profile) (names []string) {
	for _, f := range p.Functions {
		names = append(names, f.Name)
	}
	return names
}

// checkImage compares the map of a linked image with its symbol table and with
// the report.
func checkImage(t *testing.T, exe string, r instrument.Report, profile mip.ProfileType) {
	t.Helper()
	img, err := macho.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	raw := img.Section(instrument.RawSection)
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
			if got, want := len(f.Blocks), r.Functions[i].Blocks-1; got != want {
				t.Errorf("%s has %d blocks, want %d", f.Name, got, want)
			}
		}
	}
	end := uint64(32)
	for i, f := range p.Functions {
		rep := r.Functions[i]
		if rep.Name != f.Name || rep.Skipped != 0 {
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
	if len(p.Functions) != len(r.Functions) || len(p.Functions) < 8 {
		t.Errorf("%d functions in the map, %d reported", len(p.Functions), len(r.Functions))
	}
}
