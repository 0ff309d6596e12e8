package symbols

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/test/oracle"
)

var names = []struct {
	mangled, want string
	// llvm is what llvm-cxxfilt prints where that is not want.
	llvm string
}{
	{mangled: "main", want: "main"},
	{mangled: "_start", want: "_start"},
	{mangled: "_Z", want: "_Z"},
	{mangled: "_Zfoo", want: "_Zfoo"},
	{mangled: "_RZ", want: "_RZ"},
	{mangled: "_GLOBAL__sub_I_a.cpp", want: "_GLOBAL__sub_I_a.cpp"},
	{mangled: "?f@@YAXXZ", want: "?f@@YAXXZ"},
	{mangled: "$s4main3fooyyF", want: "$s4main3fooyyF"},

	{mangled: "_ZN3foo3barEv", want: "foo::bar()"},
	{mangled: "__ZN3foo3barEv", want: "foo::bar()"},
	{mangled: "_ZNSt6vectorIiSaIiEE9push_backEOi", want: "std::vector<int, std::allocator<int>>::push_back(int&&)"},
	{mangled: "_ZZ4mainENKUliE_clEi", want: "main::'lambda'(int)::operator()(int) const"},
	{mangled: "_ZNK1AcvT_IiEEv", want: "A::operator int<int>() const"},
	{mangled: "_ZTV3Foo", want: "vtable for Foo"},
	{mangled: "_ZN12_GLOBAL__N_11fEv", want: "(anonymous namespace)::f()"},
	{mangled: "___Z3foov_block_invoke_2", want: "invocation function for block in foo()"},
	{mangled: "_Z3foov.llvm.123", want: "foo() (.llvm.123)"},
	{mangled: "_Z3foov.isra.0.cold", want: "foo() (.isra.0) (.cold)", llvm: "foo() (.isra.0.cold)"},

	{mangled: "_RNvC6_123foo3bar", want: "123foo::bar"},
	{mangled: "_RINvNtC3std3mem8align_ofdE", want: "std::mem::align_of::<f64>"},
	{
		mangled: "_RNvCs5l0EXMQXRMU_21rustc_data_structures17obligation_forest.llvm.1",
		want:    "rustc_data_structures::obligation_forest (.llvm.1)",
	},
	{
		mangled: "_ZN4core3fmt5write17h0123456789abcdefE", want: "core::fmt::write",
		llvm: "core::fmt::write::h0123456789abcdef",
	},
	{
		mangled: "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
		want:    "<Test + 'static as foo::Bar<Test>>::bar",
		llvm:    "_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$::bar::h930b740aa94f1d3a",
	},
}

func TestDemangle(t *testing.T) {
	for _, c := range names {
		if got := Demangle(c.mangled); got != c.want {
			t.Errorf("Demangle(%q) = %q, want %q", c.mangled, got, c.want)
		}
	}
}

func TestDemangleAgainstLLVM(t *testing.T) {
	cxxfilt := oracle.Tool(t, "llvm-cxxfilt-22", "llvm-cxxfilt-19", "llvm-cxxfilt")
	for _, c := range names {
		out, stderr, code := oracle.Run(t, cxxfilt, c.mangled)
		if code != 0 {
			t.Fatalf("%s: %s", c.mangled, stderr)
		}
		want := c.want
		if c.llvm != "" {
			want = c.llvm
		}
		if got := strings.TrimSuffix(out, "\n"); got != want {
			t.Errorf("llvm-cxxfilt %s prints %q; the table says %q", c.mangled, got, want)
		}
	}
}

// TestHostileNames pins names that cost the demangler a panic, exponential time, which would not end, or exponential output.
func TestHostileNames(t *testing.T) {
	doubled := "_Z1f1AIiiE" // A<int, int>, A<A<int, int>, A<int, int>>, …
	for _, id := range "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		doubled += "S_IS" + string(id) + "_S" + string(id) + "_E"
	}
	for name, mangled := range map[string]string{
		"panic":           "_ZZN1XIfLj0EE2FnEvENKcvUlTyT_E_clIiEEDaS1_",
		"nested casts":    "_Z1fI" + strings.Repeat("XadL_ZN1acvT_I", 40) + "i" + strings.Repeat("EEvEE", 40) + "Evv",
		"doubled types":   doubled,
		"1 MiB":           "_Z1f" + strings.Repeat("P", 1<<20) + "i",
		"rust references": "_RINvC1a1f" + strings.Repeat("R", 1<<20) + "uE",
	} {
		if got := Demangle(mangled); got != mangled {
			t.Errorf("%s: demangled to %.60q…, %d bytes", name, got, len(got))
		}
	}
	// The longest and deepest that are tried must stay cheap too.
	deep := "_Z1f" + strings.Repeat("PF", 4000) + "v" + strings.Repeat("vE", 4000)
	if got := Demangle(deep); got == deep {
		t.Errorf("%d bytes of nested function types were left mangled", len(deep))
	}
}

// TestFortran: names of flang 22 and gfortran 12. What is not a procedure of Fortran stays as it is.
func TestFortran(t *testing.T) {
	for name, want := range map[string]string{
		"_QMmPs":                   "m::s",
		"_QMmSsubPs3":              "m:sub::s3",
		"_QMmSsubSsub2Ps3":         "m:sub:sub2::s3",
		"_QFfooPinner2":            "foo::inner2",
		"_QFPinner":                "main program::inner",
		"_QMmod_1FsolvePstep_2":    "mod_1::solve::step_2",
		"_QMmFfB1Pg":               "m::f::g",
		"_QMmPs.llvm.123":          "m::s (.llvm.123)",
		"_QPf":                     "f",
		"_QQmain":                  "main program",
		"__moda_MOD_sub_one":       "moda::sub_one",
		"__moda.subm_MOD_s3":       "moda:subm::s3",
		"__moda_MOD_f.constprop.0": "moda::f (.constprop.0)",

		"_QMmEx": "_QMmEx", "_QMmPS": "_QMmPS", "_Q": "_Q", "_QP": "_QP", "_Qual": "_Qual", "__MOD_f": "__MOD_f", "__a_MOD_": "__a_MOD_",
		"foo_": "foo_", "inner.0": "inner.0", "__libc_start_main": "__libc_start_main",
	} {
		if got := Demangle(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if got := DemangleCXX(name); got != name {
			t.Errorf("%s: as C++ %q", name, got)
		}
	}
}

// TestGfortran compiles procedures of modules with gfortran, which names them as expected.
func TestGfortran(t *testing.T) {
	gfortran, nm := oracle.Tool(t, "gfortran"), oracle.Tool(t, "nm")
	dir := t.TempDir()
	oracle.WriteFile(t, filepath.Join(dir, "m.f90"), []byte("module modA\ninterface\nmodule subroutine s2(x)\ninteger :: x\nend subroutine\nend interface\n"+
		"contains\nsubroutine Sub_One(x)\ninteger :: x\nx = 1\nend subroutine\nend module\n"+
		"submodule (modA) subm\ncontains\nmodule subroutine s2(x)\ninteger :: x\ncall s3(x)\nend subroutine\n"+
		"subroutine s3(x)\ninteger :: x\nx = 2\nend subroutine\nend submodule\n"))
	if out, stderr, code := oracle.RunIn(t, dir, gfortran, "-c", "m.f90"); code != 0 {
		t.Fatal(out, stderr)
	}
	out, _, _ := oracle.RunIn(t, dir, nm, "m.o")
	var got []string
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 3 && f[1] == "T" {
			got = append(got, Demangle(f[2]))
		}
	}
	slices.Sort(got)
	if want := []string{"moda::s2", "moda::sub_one", "moda:subm::s3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzDemangle(f *testing.F) {
	for _, c := range names {
		f.Add(c.mangled)
	}
	f.Add("_ZZN1XIfLj0EE2FnEvENKcvUlTyT_E_clIiEEDaS1_")
	f.Add("_Z1fIXadL_ZN1acvT_IXadL_ZN1acvT_IiEEvEEEEvEEEvv")
	f.Add("_RNvNvNvINvB0_3fooB1_E3bar3baz3qux")
	f.Add("_QMmSsubFfB1Pg.llvm.1")
	f.Add("__moda.subm_MOD_s3.part.0")
	f.Fuzz(func(t *testing.T, name string) {
		got := Demangle(name)
		if got != name && len(got) >= 1<<maxDemangledLog2 {
			t.Errorf("%d bytes from %d", len(got), len(name))
		}
		if utf8.ValidString(name) && !utf8.ValidString(got) {
			t.Errorf("invalid UTF-8: %q", got)
		}
	})
}

func BenchmarkDemangle(b *testing.B) {
	for _, name := range []string{"main", "_ZNSt6vectorIiSaIiEE9push_backEOi", "_RINvNtC3std3mem8align_ofdE"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Demangle(name)
			}
		})
	}
}
