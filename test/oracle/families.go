package oracle

import (
	"path/filepath"
	"testing"
)

// A Family has fixtures of one family of formats. Paths are below testdata until [Families] returns them.
type Family struct {
	Name     string   // as formats.Family has it
	Views    []string // one file of each format that has a view
	Merged   []string // profiles that merge with each other
	Suffix   string   // of the merged file
	Programs []string // what Views and Merged need
	// Part and Result are options of merges: of a merge whose result is an input of another merge,
	// and of other merges.
	Part, Result []string
}

var families = []Family{
	{
		Name:   "IRPGO",
		Views:  []string{"irpgo/clang22/ir-run1.profraw", "irpgo/llvm22/merged.profdata", "irpgo/text/values.proftext", "memprof/raw/clang22-pie.profdata"},
		Merged: []string{"irpgo/clang22/ir-run1.profraw", "irpgo/clang22/ir-run2.profraw", "irpgo/clang22/ir-run3.profraw"},
		Suffix: ".profdata",
		Part:   []string{"--format", "partial"},
	},
	{
		Name:     "MemProf",
		Views:    []string{"memprof/raw/clang22-pie.memprofraw", "memprof/temperatures.memprof.yaml"},
		Merged:   []string{"memprof/raw/clang22-pie.memprofraw", "memprof/raw/clang22-pie.memprofraw"},
		Suffix:   ".profdata",
		Programs: []string{"memprof/raw/clang22-pie.debug"},
		Part:     []string{"--format", "partial"},
		Result:   []string{"--memprof-full-schema"},
	},
	{
		Name:     "MIP",
		Views:    []string{"mip/counts.mipmap", "mip/counts.mip", "mip/all.elf"},
		Merged:   []string{"mip/all-1.mipraw", "mip/all-2.mipraw", "mip/all-1.mipraw"},
		Suffix:   ".mip",
		Programs: []string{"mip/all.mipmap"},
	},
	{
		Name:   "iprof",
		Views:  []string{"iprof/fib.iprof"},
		Merged: []string{"iprof/small.iprof", "iprof/fib.iprof", "iprof/even-odd.iprof", "iprof/app.iprof", "iprof/twin-x3.iprof", "iprof/small-0.4.iprof"},
		Suffix: ".iprof",
	},
	{
		Name:   "AutoFDO",
		Views:  []string{"sampleprof/lines.afdo", "sampleprof/calls.prof", "sampleprof/lines-binary.prof"},
		Merged: []string{"sampleprof/lines.afdo", "sampleprof/calls.afdo", "sampleprof/lines-md5.afdo", "sampleprof/lines-binary.prof", "sampleprof/calls.prof"},
		Suffix: ".afdo",
		Part:   []string{"--format", "partial"},
	},
	{
		Name:   "ctxprof",
		Views:  []string{"ctxprof/server.ctxprof", "ctxprof/other.ctxprof.yaml"},
		Merged: []string{"ctxprof/server.ctxprof", "ctxprof/other.ctxprof.yaml", "ctxprof/server-2.ctxprof"},
		Suffix: ".ctxprof",
	},
	{
		Name:   "cgdata",
		Views:  []string{"cgdata/both.cgdata", "cgdata/other.cgdata.txt", "cgdata/shapes1.o"},
		Merged: []string{"cgdata/both.cgdata", "cgdata/other.cgdata.txt"}, // an object counts once in a merge, and once in each shard of a fleet
		Suffix: ".cgdata",
		Part:   []string{"--format", "partial"},
	},
	{
		Name:   "gcov",
		Views:  []string{"gcov/flow-gcc12.gcno", "gcov/flow-gcc12.gcda"},
		Merged: []string{"gcov/values1-gcc12.gcda", "gcov/values2-gcc12.gcda", "gcov/values1-gcc12.gcda"},
		Suffix: ".gcda",
	},
}

// Families returns fixtures of every family, by name, for tests that treat all families alike.
func Families(t testing.TB) map[string]Family {
	t.Helper()
	all := make(map[string]Family)
	for _, f := range families {
		f.Views, f.Merged, f.Programs = Testdata(t, f.Views...), Testdata(t, f.Merged...), Testdata(t, f.Programs...)
		all[f.Name] = f
	}
	return all
}

// Testdata returns the paths of files of testdata, which names give with slashes.
func Testdata(t testing.TB, names ...string) (files []string) {
	t.Helper()
	for _, name := range names {
		files = append(files, filepath.Join(Root(t), "testdata", filepath.FromSlash(name)))
	}
	return files
}
