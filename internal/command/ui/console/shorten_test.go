package console

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/profile"
)

func TestShortenName(t *testing.T) {
	const (
		insert = "void std::vector<std::map<int, std::string>>::_M_realloc_insert<std::map<int, std::string> const&>(__normal_iterator<int*>, int const&)"
		entry  = "alloc::collections::btree::map::BTreeMap<K,V,A>::entry [ledger.dccd12dc05365b78-cgu.1]"
	)
	tests := []struct {
		name  string
		width int
		want  string
	}{
		{"main", 4, "main"},
		{"main", 0, "main"},
		{insert, 200, insert},
		{insert, 110, "void std::vector<std::map<int, std::string>>::_M_realloc_insert<std::map<int, std::string> const&>(…)"},
		{insert, 50, "void std::vector<…>::_M_realloc_insert<…>(…)"},
		{insert, 30, "void std::vecto…c_insert<…>(…)"},
		{entry, 80, "alloc::collections::btree::map::BTreeMap<K,V,A>::entry [ledger.dccd…65b78-cgu.1]"},
		{entry, 62, "alloc::collections::btree::map::BTreeMap<K,V,A>::entry [le….1]"},
		{entry, 56, "alloc::collections::btree::map::BTreeMap<K,V,A>::entry"},
		{entry, 50, "alloc::collections::btree::map::BTreeMap<…>::entry"},
		{"feed(Sink&, unsigned int const*, unsigned int) [src/report.cpp]", 30, "feed(…) [src/report.cpp]"},
		{"feed(Sink&, unsigned int const*, unsigned int) [src/report.cpp]", 20, "feed(…) [src/r….cpp]"},
		{"<ledger::Flat as ledger::Rule>::fee", 30, "<ledger::Flat a…er::Rule>::fee"},
		{"btree::search::<impl btree::node::NodeRef<K,V>>::search_tree", 40, "btree::search::<…>::search_tree"},
		{"java.util.HashMap.<init>(Ljava/util/Map;)V", 30, "java.util.HashMap.<init>(…)V"},
		{"std::operator<(std::pair<int, int> const&, int)", 30, "std::operator<(…> const&, int)"},
		{"app.Zoo.feed:35 (receivers): app.Zoo$Cat 75.0 %, app.Zoo$Dog", 40, "app.Zoo.feed:35 (rec…75.0 %, app.Zoo$Dog"},
		{"a.b.C.eat:0<a.b.D.feed:35<a.b.E.main:21<a.b.F.start:2", 30, "a.b.C.eat:0<a.b…<a.b.F.start:2"},
		{"f(((((", 4, "f(…("},
		{"f<->->->", 5, "f<…->"},
	}
	for _, test := range tests {
		got := ShortenName(test.name, test.width)
		if got != test.want {
			t.Errorf("%q to %d: %q, want %q", test.name, test.width, got, test.want)
		}
		if n := utf8.RuneCountInString(got); test.width > 0 && n > test.width {
			t.Errorf("%q to %d: %q has %d columns", test.name, test.width, got, n)
		}
	}
}

// TestTableRule: on no terminal names are whole, and the line above them is not as long.
func TestTableRule(t *testing.T) {
	var out strings.Builder
	p := Printer{W: &out}
	name := strings.Repeat("n", 5000)
	p.Table([]string{"Count", "Name"}, [][]string{{"1", name}})
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 5 || utf8.RuneCountInString(lines[2]) != TableIndent+maxRule || !strings.HasSuffix(lines[3], name) {
		t.Errorf("%d lines, the second of %d columns", len(lines), utf8.RuneCountInString(lines[2]))
	}
}

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"f(int) [dir/ä.c]":  "f(int) [dir/ä.c]",
		"\x1b[2Jgone":       `\x1b[2Jgone`,
		"two\nlines":        `two\nlines`,
		"bad \xff \"byte\"": `bad \xff "byte"`,
	} {
		if got := Printable(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// TestStackNameOfManyFrames: a line does not show all of millions of frames.
func TestStackNameOfManyFrames(t *testing.T) {
	frames := make([]profile.Frame, maxStackFrames+2)
	for i := range frames {
		frames[i].Name = "f"
	}
	p := &Printer{}
	if got := p.StackName(frames); !strings.HasSuffix(got, " < f < 2 frames more") {
		t.Errorf("ends with %q", got[len(got)-30:])
	}
	if got := p.StackName(frames[1:]); strings.Contains(got, "more") || strings.Count(got, "f") != maxStackFrames+1 {
		t.Errorf("ends with %q", got[len(got)-30:])
	}
}
