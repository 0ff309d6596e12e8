package formats_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name string
		data string
		want formats.Format
	}{
		{"raw, 64 bit", "\x81rforpl\xff\x0a\x00\x00\x00", formats.IRPGORaw},
		{"raw, 32 bit, big-endian", "\xfflprofR\x81", formats.IRPGORaw},
		{"indexed", "\xfflprofi\x81\x0c\x00", formats.IRPGOIndexed},
		{"text", ":ir\nmain\n1\n1\n1\n", formats.IRPGOText},
		{"any text", "profuse\n", 0},
		{"MIP raw, 64 bit", "\xfbMIP\x08\x00\x11\x00", formats.MIPRaw},
		{"MIP raw, 32 bit", "\xfbMIP\x08\x00\x21\x00", formats.MIPRaw},
		{"MIP return addresses", "\xfbMIP\x08\x00\x12\x00", formats.MIPRet},
		{"MIP map", "\xfbMIP\x08\x00\x14\x00", formats.MIPMap},
		{"MIP profile", "\xfbMIP\x08\x00\x08\x00", formats.MIPProfile},
		{"MIP YAML", "---\nHeader:\n  File Type:       [ .mip ]\n", formats.MIPYAML},
		{"MemProf raw", "\x81rforpm\xff\x05\x00", formats.MemProfRaw},
		{"MemProf raw, of accesses to data", "\x81nibmbf\xff\x01\x00", formats.MemProfRaw},
		{"MemProf YAML", "---\nHeapProfileRecords:\n", formats.MemProfYAML},
		{"samples as gcov has them", "adcg*704\x00\x00\x00\x00\x00\x00\x00\x00", formats.SampleGCov},
		{"contextual", "CTXP\x01\x08\x00\x00", formats.CtxProfBinary},
		{"contextual, YAML", "\nContexts:\n  - Guid: 1\n", formats.CtxProfYAML},
		{"GCC's notes", "oncg*22B", formats.GCovNotes},
		{"GCC's counts, big-endian", "gcdaB13*", formats.GCovCounts},
		{"GCC's counts of 4.7", "adcg*704\x00\x00\x00\x00\x00\x00\x00\x01", formats.GCovCounts},
		{"codegen data", "\xffcgdata\x81\x04\x00", formats.CGDataIndexed},
		{"codegen data, text", "# Outlined stable hash tree\n:outlined_hash_tree\n---\n", formats.CGDataText},
		{"ELF object", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x3e\x00", formats.CGDataObject},
		{"ELF object, big-endian", "\x7fELF\x02\x02\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x15", formats.CGDataObject},
		{"Mach-O object", "\xcf\xfa\xed\xfe\x0c\x00\x00\x01\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00", formats.CGDataObject},
		{"Mach-O library", "\xcf\xfa\xed\xfe\x0c\x00\x00\x01\x00\x00\x00\x00\x06\x00\x00\x00\x02\x00\x00\x00", formats.Binary},
		{"COFF object", "\x64\x86\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00", formats.CGDataObject},
		{"static library", "!<arch>\n/               ", formats.CGDataObject},
		{"thin static library", "!<thin>\n/               ", formats.CGDataObject},
		{"Debian package", "!<arch>\ndebian-binary   ", 0},
		{"ELF", "\x7fELF\x02\x01\x01", formats.Binary},
		{"ELF program", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00", formats.Binary},
		{"Mach-O, 64 bit", "\xcf\xfa\xed\xfe", formats.Binary},
		{"Mach-O, universal", "\xca\xfe\xba\xbe\x00\x00\x00\x02", formats.Binary},
		{"iprof", `{"version":"1.0.0","types":[`, formats.IprofProfile},
		{"iprof, cut short", `{"vers`, formats.IprofProfile},
		{"iprof of old", `{ "methods" : [`, formats.IprofProfile},
		{"other JSON", `{"version":3,"sources":[]}`, 0},
		{"MIP of no type", "\xfbMIP\x08\x00\x40\x00", 0},
		{"magic alone", "\xfbMIP", 0},
		{"gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00", 0},
		{"nothing", "", 0},
	} {
		got, ok := formats.Detect([]byte(c.data))
		if got != c.want || ok != (c.want != 0) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, ok, c.want)
		}
	}
}

// Every fixture is what its name says, and the other way round.
func TestFixtures(t *testing.T) {
	seen := make(map[formats.Format]int)
	oracle.NoError(t, filepath.WalkDir(filepath.Join(oracle.Root(t), "testdata"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		want, named := formats.BySuffix(path)
		if filepath.Ext(path) == ".elf" {
			want, named = formats.Binary, true
		}
		if !named || strings.HasPrefix(filepath.Base(path), "bad-") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil || len(data) == 0 {
			return err
		}
		if got, ok := formats.Detect(data); !ok || got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
		seen[want]++
		return nil
	}))
	without := []formats.Format{formats.IRPGOPartial, formats.MIPRet, formats.MIPYAML}
	for _, f := range formats.All() {
		if _, named := suffixes[f]; named && seen[f] == 0 && !slices.Contains(without, f) {
			t.Errorf("no fixture is a %v", f)
		}
	}
}

// suffixes of files by their formats.
var suffixes = map[formats.Format][]string{
	formats.IRPGORaw: {".profraw"}, formats.IRPGOIndexed: {".profdata"}, formats.IRPGOText: {".proftext"}, formats.IRPGOPartial: {".profpart"},
	formats.MemProfRaw: {".memprofraw"}, formats.MemProfYAML: {".memprof.yaml", ".memprof.yml"},
	formats.MIPRaw: {".mipraw"}, formats.MIPRet: {".mipret"}, formats.MIPMap: {".mipmap"},
	formats.MIPProfile: {".mip"}, formats.MIPYAML: {".mip.yaml", ".mip.yml"}, formats.IprofProfile: {".iprof"}, formats.SampleExtended: {".afdo"},
	formats.CtxProfBinary: {".ctxprof", ".ctxprofdata"}, formats.CtxProfYAML: {".ctxprof.yaml", ".ctxprof.yml"}, formats.CGDataIndexed: {".cgdata"},
	formats.GCovNotes: {".gcno"}, formats.GCovCounts: {".gcda"},
}

func TestAll(t *testing.T) {
	var names []string
	for _, f := range formats.All() {
		names = append(names, f.String())
		if f.Describe().Read == "" {
			t.Errorf("%v: no version is read", f)
		}
		for _, s := range suffixes[f] {
			if got, ok := formats.BySuffix("a/b" + strings.ToUpper(s)); !ok || got != f {
				t.Errorf("%s: %v, want %v", s, got, f)
			}
			if _, ok := formats.BySuffix(s); ok {
				t.Errorf("a file named %s is taken for one with that suffix", s)
			}
		}
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(formats.All()) {
		t.Errorf("ambiguous: %q", names)
	}
	for _, none := range []formats.Format{0, -1, 99} {
		if none.String() != "unknown format" || none.Family() != "" {
			t.Errorf("%d: %v, %q", none, none, none.Family())
		}
	}
	// MIP's files are named the same in its package.
	for f, m := range map[formats.Format]mip.Format{
		formats.MIPRaw: mip.FormatRaw, formats.MIPRet: mip.FormatRet, formats.MIPMap: mip.FormatMap, formats.MIPProfile: mip.FormatProfile,
	} {
		if suffixes[f][0] != string(m) {
			t.Errorf("%v: suffix %s, package mip has %v", f, suffixes[f][0], m)
		}
	}
}
