package order_test

import (
	"reflect"
	"testing"

	"github.com/profuse-pgo/profuse/profile/order"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		title      string
		program    []string
		underscore bool
		names      []string
		want       order.Match
	}{
		{
			title:   "as they are",
			program: []string{"main", "b", "a"},
			names:   []string{"a", "main", "a", "gone"},
			want: order.Match{
				Symbols: []string{"a", "main"}, Kept: 2, Missing: []string{"gone"}, Duplicates: []string{"a"},
			},
		},
		{
			title:   "ThinLTO's numbers change",
			program: []string{"f.llvm.777", "g", "h.llvm.9"},
			names:   []string{"f.llvm.123", "g.llvm.5", "h"},
			want: order.Match{Symbols: []string{"f.llvm.777", "g", "h.llvm.9"}, Renamed: []order.Renaming{
				{"f.llvm.123", []string{"f.llvm.777"}}, {"g.llvm.5", []string{"g"}}, {"h", []string{"h.llvm.9"}},
			}},
		},
		{
			title:   "Rust's hashes change",
			program: []string{"_ZN4main1f17h0123456789abcdefE", "_RNvCs2_4main1g"},
			names:   []string{"_RNvCs1b_4main1g", "_ZN4main1f17hfedcba9876543210E"},
			want: order.Match{Symbols: []string{"_RNvCs2_4main1g", "_ZN4main1f17h0123456789abcdefE"}, Renamed: []order.Renaming{
				{"_RNvCs1b_4main1g", []string{"_RNvCs2_4main1g"}},
				{"_ZN4main1f17hfedcba9876543210E", []string{"_ZN4main1f17h0123456789abcdefE"}},
			}},
		},
		{
			title:   "what is a symbol stands for nothing else",
			program: []string{"f", "f.part.0", "f.cold"},
			names:   []string{"f"},
			want:    order.Match{Symbols: []string{"f"}, Kept: 1},
		},
		{
			title:   "parts and clones, but not the cold one",
			program: []string{"f.part.0", "f.constprop.1.isra.0", "f.cold", "f.other", "ff.part.0"},
			names:   []string{"f"},
			want: order.Match{
				Symbols: []string{"f.constprop.1.isra.0", "f.part.0"},
				Renamed: []order.Renaming{{"f", []string{"f.constprop.1.isra.0", "f.part.0"}}},
			},
		},
		{
			title:   "a cold part that ran",
			program: []string{"f", "f.cold.3", "g"},
			names:   []string{"g", "f.cold", "g.cold"},
			want: order.Match{
				Symbols: []string{"g", "f.cold.3"}, Kept: 1,
				Renamed: []order.Renaming{{"f.cold", []string{"f.cold.3"}}}, Duplicates: []string{"g.cold"},
			},
		},
		{
			title:   "two names of one symbol",
			program: []string{"f"},
			names:   []string{"f.llvm.1", "f.llvm.2"},
			want: order.Match{
				Symbols: []string{"f"}, Renamed: []order.Renaming{{"f.llvm.1", []string{"f"}}}, Duplicates: []string{"f.llvm.2"},
			},
		},
		{
			title:   "functions that share a name",
			program: []string{"init", "main", "init"},
			names:   []string{"init", "main"},
			want:    order.Match{Symbols: []string{"init", "main"}, Kept: 2, Ambiguous: []string{"init"}},
		},
		{
			title:   "an ELF program's profile for Mach-O",
			program: []string{"_main", "__ZN1aEv.llvm.3"}, underscore: true,
			names: []string{"main", "_ZN1aEv"},
			want: order.Match{Symbols: []string{"_main", "__ZN1aEv.llvm.3"}, Renamed: []order.Renaming{
				{"main", []string{"_main"}}, {"_ZN1aEv", []string{"__ZN1aEv.llvm.3"}},
			}},
		},
		{
			title:   "a Mach-O program's profile for ELF",
			program: []string{"main", "_start", "_ZN1aEv"},
			names:   []string{"_main", "_start", "__ZN1aEv"},
			want: order.Match{Symbols: []string{"main", "_start", "_ZN1aEv"}, Kept: 1, Renamed: []order.Renaming{
				{"_main", []string{"main"}}, {"__ZN1aEv", []string{"_ZN1aEv"}},
			}},
		},
		{
			title:   "an ELF program's own underscores stay",
			program: []string{"exit"},
			names:   []string{"_exit", "main"},
			want:    order.Match{Missing: []string{"_exit", "main"}},
		},
		{
			title:   "dots and numbers of their own",
			program: []string{"f.1", ".cold", ".llvm.1", "v.2.llvm.8"},
			names:   []string{"f", "f.2", ".llvm.2", "v.2", "", "."},
			want: order.Match{
				Symbols: []string{"v.2.llvm.8"}, Renamed: []order.Renaming{{"v.2", []string{"v.2.llvm.8"}}},
				Missing: []string{"f", "f.2", ".llvm.2", "", "."},
			},
		},
	} {
		if got := order.MatchSymbols(c.names, c.program, order.SymbolOptions{Underscore: c.underscore}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.title, got, c.want)
		}
	}
}

func TestUnique(t *testing.T) {
	got := order.Unique([]string{"b", "a", "b", "c", "a.cold"})
	want := order.Match{Symbols: []string{"b", "a", "c", "a.cold"}, Kept: 4, Duplicates: []string{"b"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
