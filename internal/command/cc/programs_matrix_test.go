package cc_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// matrixOutput is what the program of testdata/matrix prints before it ends
// with matrixCode, however it is built.
const matrixOutput = `static
jumps 9 53 11 7 12 3 93 94 -5 55 94 2
calls 8 8.75 15 1 111 1 9 79
signals 12 1 0
threads 157735
~risky ~inner ~outer 1
~risky ~inner one ~outer -1
~risky int 2 ~inner ~outer int(2) -9
~risky base 3 ~inner ~outer logic(from base) -9
logic(empty) -9
logic(full) -9
~member constructor 2 ~member int(2) -9
1.5 3 2 16
~main late
~static
`

const matrixCode = 3

// matrixCalls are functions that no compiler inlines or copies, and how often they are called.
var matrixCalls = map[string]uint64{
	"control": 1, "landing": 2, "variadic": 2, "returns": 1, "on_signal": 3, "faults": 2, "tail_odd": 5, "tail_even": 6,
	"helper": 2, "_Z6nestedi": 4, "_Z5riskyi": 4,
}

type mipMode struct {
	name  string
	flags []string
}

// mipModes are the modes of instrumentation. richModes are those that have probes in blocks besides entry
// probes, of either kind, and all sections: what is not about a mode is tested in these.
var (
	mipModes = append([]mipMode{
		{"function", []string{generate, covers}},
		{"counts", []string{generate}},
		{"counts-blocks", []string{generate, withBB}},
	}, richModes...)
	richModes = []mipMode{
		{"blocks", []string{generate, covers, withBB}},
		{"edges", []string{generate, withBB, "-fmachine-profile-runtime-buffer=65536"}},
	}
)

// TestMatrix builds one program – exceptions, COMDAT, computed goto, setjmp, varargs, ifunc, signals,
// threads – at every level. At -O0 and -O2 it is built in every mode and linked in every way: as a PIE
// with both linkers and --gc-sections, as a program and a library, and not as a PIE.
func TestMatrix(t *testing.T) {
	releases(t, func(t *testing.T, cc, cxx string) {
		tools := lldTools(t)
		for _, level := range []string{"-O2", "-O0", "-O1", "-O3", "-Os"} {
			main, modes := level == "-O0" || level == "-O2", richModes
			if strings.Contains(cc, "clang-19") {
				if level != "-O2" {
					continue
				}
			} else if main && oracle.Everything() {
				modes = mipModes
			}
			for _, mode := range modes {
				build := func(t *testing.T, model string) matrixBuild {
					m := matrixBuild{bench: newBench(t), cc: cc, cxx: cxx, tools: tools, flags: append(slices.Clone(mode.flags), level)}
					m.compile(model)
					return m
				}
				rich := slices.ContainsFunc(richModes, func(r mipMode) bool { return r.name == mode.name })
				t.Run(level+"/"+mode.name, func(t *testing.T) {
					switch {
					case !main:
						oracle.Exhaustive(t)
					case level != "-O2" || mode.name != "edges":
						oracle.Slow(t)
					}
					m := build(t, "-fPIC")
					m.program("lld", "-pie", "-fuse-ld=lld", "-Wl,--gc-sections")
					// What is peculiar to a way of linking shows at the two main levels.
					if main {
						m.program("bfd", "-pie", "-fuse-ld=bfd", "-Wl,--gc-sections")
						m.library()
					}
				})
				if main && rich {
					t.Run(level+"/"+mode.name+"/nopie", func(t *testing.T) {
						oracle.Exhaustive(t)
						m := build(t, "-fno-pie")
						m.program("nopie", "-no-pie", "-Wl,--gc-sections")
					})
				}
			}
		}
	})
}

type matrixBuild struct {
	*bench
	cc, cxx, tools string
	flags          []string
}

func (m *matrixBuild) compile(model string) {
	m.t.Helper()
	dir := oracle.Must(filepath.Abs("testdata/matrix"))(m.t)
	flags := append(slices.Clone(m.flags), model, "-ffunction-sections", "-fexceptions", "-c")
	m.build(slices.Concat([]string{m.cc}, flags, []string{filepath.Join(dir, "matrix.c")})...)
	m.build(slices.Concat([]string{m.cxx}, flags, []string{filepath.Join(dir, "lib.cc"), filepath.Join(dir, "main.cc")})...)
}

func (m *matrixBuild) link(args ...string) {
	m.t.Helper()
	if m.tools != "" {
		args = append([]string{"-B" + m.tools}, args...)
	}
	m.build(slices.Concat([]string{m.cxx}, m.flags, []string{"-pthread"}, args)...)
}

func (m *matrixBuild) program(name string, flags ...string) {
	m.t.Helper()
	m.link(append(flags, "main.o", "lib.o", "matrix.o", "-o", name)...)
	m.run(name)
	p := m.profile(name, name+".raw")
	m.check(name, p)
	for _, f := range p.Functions {
		if f.Name == "dead_c" || f.Name == "_Z7dead_cci" {
			m.t.Errorf("%s has a record of %s, which is gone", name, f.Name)
		}
	}
}

func (m *matrixBuild) library() {
	m.t.Helper()
	m.link("-shared", "lib.o", "matrix.o", "-Wl,-z,text", "-o", "libmatrix.so")
	m.link("-fuse-ld=lld", "main.o", "libmatrix.so", "-Wl,-rpath,"+m.dir, "-o", "user")
	m.run("user", "LLVM_MIP_PROFILE_FILENAME=%h.raw")
	user := m.profile("user", fmt.Sprintf("%04x.raw", guid.LinkUnit("user")&0xffff))
	m.wantCalls(user, map[string]uint64{"main": 1})
	m.check("libmatrix.so", m.profile("libmatrix.so", fmt.Sprintf("%04x.raw", guid.LinkUnit("libmatrix.so")&0xffff)))
}

func (m *matrixBuild) run(name string, env ...string) {
	m.t.Helper()
	got := m.exec(append([]string{"LLVM_MIP_PROFILE_FILENAME=" + name + ".raw"}, env...), m.path(name))
	if want := (result{stdout: matrixOutput, code: matrixCode}); got != want {
		m.t.Errorf("%s: %+v\nwant %+v", name, got, want)
	}
}

// check compares with the calls that there are in the source.
func (m *matrixBuild) check(name string, p *mip.Profile) {
	m.t.Helper()
	counted := !p.Type.Has(mip.FunctionCoverage)
	got := calls(p)
	for f, want := range matrixCalls {
		if !counted {
			want = 1
		}
		if got[f] != want {
			m.t.Errorf("%s: %d calls of %s, want %d", name, got[f], f, want)
		}
	}
}
