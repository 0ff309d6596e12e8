package report

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestSplitName(t *testing.T) {
	for _, test := range []struct {
		name string
		want string // parts, separated by |
	}{
		{"main", "main"},
		{"f(int)", "f(int)"},
		{"foo::bar(int)", "foo|bar(int)"},
		{"::f()", "f()"},
		{"std::vector<int, std::allocator<int>>::push_back(int&&)", "std|vector<int, std::allocator<int>>|push_back(int&&)"},
		{"void std::sort<int*>(int*, int*)", "std|sort<int*>(int*, int*)"},
		{"unsigned long f<a::b>(a::b)", "f<a::b>(a::b)"},
		{"std::vector<a::b> const& ns::get<a::b>()", "ns|get<a::b>()"},
		{"decltype(auto) ns::f<int>(int)", "ns|f<int>(int)"},
		{"decltype(ns::g(fp)) ns::f<int>(int)", "ns|f<int>(int)"},
		{"auto ns::f<int>(int)::'lambda'(int)::operator()(int) const", "ns|f<int>(int)|'lambda'(int)|operator()(int) const"},
		{"main::'lambda'(int)::operator()(int) const", "main|'lambda'(int)|operator()(int) const"},
		{"main::{lambda(int)#1}::operator()(int) const", "main|{lambda(int)#1}|operator()(int) const"},
		{"(anonymous namespace)::f()", "(anonymous namespace)|f()"},
		{"a::(anonymous namespace)::B::f(c::d) const", "a|(anonymous namespace)|B|f(c::d) const"},
		{"void (anonymous namespace)::f<int>()", "(anonymous namespace)|f<int>()"},
		{"A::operator<(A const&) const", "A|operator<(A const&) const"},
		{"A::operator<<(b::c)", "A|operator<<(b::c)"},
		{"a::operator< <b::c>(b::c)", "a|operator< <b::c>(b::c)"},
		{"bool a::operator==<b::c>(b::c)", "a|operator==<b::c>(b::c)"},
		{"A::operator->() const", "A|operator->() const"},
		{"A::operator->*(b::c)", "A|operator->*(b::c)"},
		{"A::operator<=>(b::c)", "A|operator<=>(b::c)"},
		{"A::operator()(b::c)", "A|operator()(b::c)"},
		{"A::operator[](b::c)", "A|operator[](b::c)"},
		{"A::operator std::string() const", "A|operator std::string() const"},
		{"A::operator int<int>() const", "A|operator int<int>() const"},
		{"operator new(unsigned long)", "operator new(unsigned long)"},
		{"operator delete[](void*, unsigned long)", "operator delete[](void*, unsigned long)"},
		{`a::operator"" _s(char const*)`, `a|operator"" _s(char const*)`},
		{"a::operators::f()", "a|operators|f()"},
		{"A<(b)1>::f()", "A<(b)1>|f()"},
		{"A<&(b::operator<(c::d))>::f()", "A<&(b::operator<(c::d))>|f()"},
		{"std::function<void (a::b)>::operator()(a::b) const", "std|function<void (a::b)>|operator()(a::b) const"},
		{"foo::bar() (.llvm.123)", "foo|bar() (.llvm.123)"},
		{"foo() (.isra.0) (.cold)", "foo() (.isra.0) (.cold)"},
		{"f[abi:cxx11](a::b)", "f[abi:cxx11](a::b)"},
		{"non-virtual thunk to a::B::f()", "a|B|non-virtual thunk to f()"},
		{"vtable for a::B", "a|vtable for B"},
		{"invocation function for block in a::foo()", "a|invocation function for block in foo()"},
		{"core::fmt::write", "core|fmt|write"},
		{"std::mem::align_of::<f64>", "std|mem|align_of::<f64>"},
		{"demo::run::{closure#0}", "demo|run|{closure#0}"},
		{"demo::run::{{closure}}", "demo|run|{{closure}}"},
		{"core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core|ptr|drop_in_place<alloc::vec::Vec<u8>>"},
		{"<demo::Shape as core::fmt::Debug>::fmt", "demo|Shape|<as core::fmt::Debug>|fmt"},
		{"<alloc::vec::Vec<T> as core::ops::Drop>::drop", "alloc|vec|Vec<T>|<as core::ops::Drop>|drop"},
		{"<&mut demo::Shape as core::fmt::Debug>::fmt", "demo|<&mut demo::Shape>|<as core::fmt::Debug>|fmt"},
		{"<T as core::convert::Into<U>>::into", "core|convert|Into<U>|<for T>|into"},
		{"<fn() -> u8 as core::ops::FnOnce<()>>::call_once", "core|ops|FnOnce<()>|<for fn() -> u8>|call_once"},
		{"<str>::len", "<str>|len"},
		{"foo::bar::<impl core::fmt::Display for foo::Bar>::fmt", "foo|bar|<impl core::fmt::Display for foo::Bar>|fmt"},
		{"<demo::Bar>::new::<u8>", "demo|Bar|new::<u8>"},
		// What no compiler makes is cut somewhere, not lost.
		{"", ""},
		{"a::", "a|"},
		{"a>b::c", "a>b|c"},
		{"f(", "f("},
		{"operator", "operator"},
	} {
		if got := strings.Join(splitName(test.name), "|"); got != test.want {
			t.Errorf("%q is %s, want %s", test.name, got, test.want)
		}
	}
}

func TestPathOf(t *testing.T) {
	for _, test := range []struct {
		symbol profile.Symbol
		java   bool
		want   string
		group  string
	}{
		{profile.Symbol{Name: "main"}, false, "(no file)|main", "(no file)"},
		{profile.Symbol{ID: 255}, false, "(no file)|0x00000000000000ff", "(no file)"},
		{profile.Symbol{Name: "f", File: "a.c"}, false, "a.c|f", "a.c"},
		{profile.Symbol{Name: "f", File: "lib/x/a.c"}, false, "lib/x/|a.c|f", "lib/x/a.c"},
		{profile.Symbol{Name: "f", File: `lib\a.c`}, false, "lib/|a.c|f", "lib/a.c"},
		{profile.Symbol{Name: "f", File: "/a.c"}, false, "/|a.c|f", "/a.c"},
		{profile.Symbol{Name: "_ZN3foo3barEv", File: "a.cpp"}, false, "foo|bar()", "foo"},
		{profile.Symbol{Name: "_ZN12_GLOBAL__N_11fEv"}, false, "(anonymous namespace)|f()", anonymous},
		{profile.Symbol{Name: "_ZN12_GLOBAL__N_11fEv", File: "d/a.cpp"}, false, "d/|a.cpp|(anonymous namespace)|f()", "d/a.cpp"},
		{profile.Symbol{Name: "_ZN4core3fmt5write17h0123456789abcdefE"}, false, "core|fmt|write", "core"},
		{profile.Symbol{Name: "java.util.HashMap.get", Signature: "(Ljava/lang/Object;)V"}, true, "java|util|HashMap|get(Ljava/lang/Object;)V", "java.util"},
		{profile.Symbol{Name: "java.util.HashMap$Node.<init>"}, true, "java|util|HashMap$Node|<init>", "java.util"},
		{profile.Symbol{Name: "Fib.main"}, true, "(no package)|Fib|main", "(no package)"},
		{profile.Symbol{Name: "method 12"}, true, "(no package)|method 12", "(no package)"},
		{profile.Symbol{Name: "[Ljava.lang.String;.clone"}, true, "java|lang|String[]|clone", "java.lang"},
		{profile.Symbol{Name: "-[NSString length]"}, false, "NSString|-length", "NSString"},
		{profile.Symbol{Name: "+[NSString(Extra) make:with:]"}, false, "NSString(Extra)|+make:with:", "NSString(Extra)"},
		{profile.Symbol{Name: "__18-[Foo bar:]_block_invoke"}, false, "Foo|__18-[Foo bar:]_block_invoke", "Foo"},
		{profile.Symbol{Name: "com.oracle.svm.core.Heap.collect"}, true, "com|oracle|svm|core|Heap|collect", "com.oracle.svm"},
	} {
		got := pathOf(&test.symbol, symbols.Demangle(test.symbol.String()), test.java)
		if joined := strings.Join(got, "|"); joined != test.want {
			t.Errorf("%+v is %s, want %s", test.symbol, joined, test.want)
		}
		if group := got.group(test.java); group != test.group {
			t.Errorf("%+v has group %s, want %s", test.symbol, group, test.group)
		}
	}
}

// TestSplitNameOfAnything: no name is too odd, paths are bounded, and nothing
// but return types and separators is lost.
func TestSplitNameOfAnything(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "::", "<", ">", "(", ")", "operator", " ", "->", "'", "{", "}", " as ", "impl ", "[", "]", "decltype", "&", "ü"}
	for range 20000 / oracle.Step(5) {
		var name strings.Builder
		for range random.IntN(200) {
			name.WriteString(pieces[random.IntN(len(pieces))])
		}
		p := splitName(name.String())
		if len(p) == 0 || len(p) > 2*maxPath {
			t.Fatalf("%q has %d parts", name.String(), len(p))
		}
		if !slices.Equal(p, splitName(name.String())) {
			t.Fatalf("%q is split in two ways", name.String())
		}
	}
	for _, long := range []string{strings.Repeat("a::", 20000), strings.Repeat("<", 60000), strings.Repeat("operator ", 8000), strings.Repeat("<a as ", 10000)} {
		if p := splitName(long); len(p) > 2*maxPath {
			t.Errorf("%q… has %d parts", long[:10], len(p))
		}
	}
}

func TestShortNames(t *testing.T) {
	for _, test := range []struct {
		symbol profile.Symbol
		java   bool
		want   string
	}{
		{profile.Symbol{Name: "java.util.HashMap.get", Signature: "(Ljava/lang/Object;)V"}, true, "HashMap.get"},
		{profile.Symbol{Name: "Fib.main"}, true, "Fib.main"},
		{profile.Symbol{Name: "main"}, false, "main"},
		{profile.Symbol{Name: "f", File: "lib/a.c"}, false, "f"},
		{profile.Symbol{Name: "_ZNSt6vectorIiSaIiEE9push_backEOi"}, false, "vector<int, std::allocator<int>>::push_back(int&&)"},
		{profile.Symbol{Name: "_ZN12_GLOBAL__N_11fEv", File: "d/a.cpp"}, false, "f()"},
		{profile.Symbol{Name: "_ZN4core3fmt5write17h0123456789abcdefE"}, false, "fmt::write"},
	} {
		p := pathOf(&test.symbol, symbols.Demangle(test.symbol.String()), test.java)
		if got := p.short(test.java); got != test.want {
			t.Errorf("%v is %s for short, want %s", p, got, test.want)
		}
	}
}
