package browser

import (
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile/report"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// A fixture is what a report is made of.
type fixture struct {
	name     string
	files    []string // in testdata
	binaries []string // in testdata, of raw MemProf profiles and of coverage
	text     string   // folder of sources in testdata
	serve    bool     // look at it from the server as well
}

// fixtures are real profiles of every family.
var fixtures = []fixture{
	{name: "irpgo-temporal", files: []string{"irpgo/llvm22/temporal-merged.profdata"}, serve: true},
	{name: "irpgo-values", files: []string{"irpgo/llvm22/dispatch-indexed.profdata"}, serve: true},
	{name: "irpgo-vtables", files: []string{"irpgo/llvm22/vtable.profdata"}},
	{name: "irpgo-coverage", files: []string{"irpgo/llvm22/block-coverage.profdata"}},
	{name: "irpgo-rust", files: []string{"irpgo/llvm22/rust-merged.profdata"}},
	{name: "irpgo-many", files: []string{"irpgo/llvm22/many-functions.profdata"}},
	{name: "irpgo-memprof", files: []string{"irpgo/llvm22/memprof-ir.profdata"}},
	{name: "memprof", files: []string{"memprof/raw/clang22-pie.memprofraw"}, binaries: []string{"memprof/raw/clang22-pie.debug"}, serve: true},
	{name: "memprof-histogram", files: []string{"memprof/raw/clang22-histogram.profdata"}},
	{name: "covmap-shapes", files: []string{"covmap/shapes-22.proftext"}, binaries: []string{"covmap/shapes-22.o"}, text: "covmap/src", serve: true},
	{name: "covmap-conditions", files: []string{"covmap/conditions-22.proftext"}, binaries: []string{"covmap/conditions-22.o"}, text: "covmap/src"},
	{name: "mip-all", files: []string{"mip/all.mip"}},
	{name: "mip-blocks", files: []string{"mip/blocks.mip"}},
	{name: "mip-counts", files: []string{"mip/counts.mip"}, serve: true},
	{name: "mip-function", files: []string{"mip/function.mip"}},
	{name: "iprof-app", files: []string{"iprof/app.iprof"}, serve: true},
	{name: "iprof-fib", files: []string{"iprof/fib.iprof"}},
	{name: "iprof-checks", files: []string{"iprof/checks.iprof"}},
	{name: "two-irpgo", files: []string{"irpgo/clang22/ir-run1.profraw", "irpgo/clang22/ir-run3.profraw"}, serve: true},
	{name: "two-iprof", files: []string{"iprof/small.iprof", "iprof/checks.iprof"}},
	{name: "three", files: []string{"irpgo/llvm22/temporal-merged.profdata", "mip/counts.mip", "iprof/app.iprof"}},
}

func fixtureNamed(t *testing.T, name string) fixture {
	t.Helper()
	for _, f := range fixtures {
		if f.name == name {
			return f
		}
	}
	t.Fatalf("no fixture %s", name)
	return fixture{}
}

func (f *fixture) sources(t *testing.T) []report.Source {
	t.Helper()
	testdata := filepath.Join(oracle.Root(t), "testdata")
	opt := formats.ViewOptions{Coverage: true, CoverageDetails: true}
	for _, b := range f.binaries {
		opt.Programs = append(opt.Programs, filepath.Join(testdata, filepath.FromSlash(b)))
	}
	var out []report.Source
	for _, file := range f.files {
		data := oracle.ReadFile(t, filepath.Join(testdata, filepath.FromSlash(file)))
		out = append(out, view(t, file, data, opt))
	}
	return out
}

func view(t *testing.T, name string, data []byte, opt formats.ViewOptions) report.Source {
	t.Helper()
	v, err := formats.View(name, data, opt)
	if err != nil {
		t.Fatal(err)
	}
	return report.Source{View: v}
}

// file writes the report and returns its address, file://….
func (f *fixture) file(t *testing.T) string {
	t.Helper()
	return writeReport(t, f.name, f.sources(t), f.options(t))
}

func (f *fixture) options(t *testing.T) (opt report.Options) {
	t.Helper()
	if f.text != "" {
		opt.SourceDirs = []string{filepath.Join(oracle.Root(t), "testdata", filepath.FromSlash(f.text))}
	}
	return opt
}

func writeReport(t *testing.T, name string, sources []report.Source, opt report.Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".html")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	oracle.NoError(t, report.Write(out, sources, opt))
	oracle.NoError(t, out.Close())
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func (f *fixture) served(t *testing.T) string {
	t.Helper()
	return serveReport(t, f.name, f.sources(t), f.options(t))
}

// serveReport serves it; the name is for files.
func serveReport(t *testing.T, _ string, sources []report.Source, opt report.Options) string {
	t.Helper()
	h, err := report.Handler(sources, opt)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL + "/"
}
