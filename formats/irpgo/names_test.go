package irpgo

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

func TestNameRef(t *testing.T) {
	// MD5("main") = fad58de7366495db4650cfefac2fcd61
	if got := NameRef("main"); got != 0xdb956436e78dd5fa {
		t.Errorf("NameRef(main) = %#x", got)
	}
}

func TestNamesRoundTrip(t *testing.T) {
	names := []string{"main", "a.c;f", "_ZN1A1bEv", strings.Repeat("long", 10000)}
	for _, compress := range []bool{false, true} {
		// Two chunks with zeros between them, as linkers leave them.
		blob := appendNames(nil, names[:2], compress)
		blob = append(blob, 0, 0, 0)
		blob = appendNames(blob, names[2:], !compress)
		blob = append(blob, 0)
		var got []string
		if err := decodeNames("names", 0, blob, func(n string) { got = append(got, n) }); err != nil || !slices.Equal(got, names) {
			t.Errorf("compressed %v: %d names, %v", compress, len(got), err)
		}
	}
}

func TestNamesDamage(t *testing.T) {
	packed := appendNames(nil, []string{"some", "names", "to", "compress"}, true)
	for name, tc := range map[string]struct {
		blob  string
		class error
	}{
		"empty name":           {"\x03\x00a\x01\x01", profile.ErrCorrupt},
		"empty blob of a name": {"\x00\x00\x01\x00", profile.ErrCorrupt},
		"stored past the end":  {"\x09\x00abc", profile.ErrTruncated},
		"packed past the end":  {"\x09\x20abc", profile.ErrTruncated},
		"size never ends":      {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", profile.ErrCorrupt},
		"size cut off":         {"\x80", profile.ErrTruncated},
		"not zlib":             {"\x05\x03abc", profile.ErrCorrupt},
		"a bomb announced":     {"\xff\xff\xff\xff\x7f" + string(packed[1:]), profile.ErrCorrupt},
		"larger than said":     {"\x02" + string(packed[1:]), profile.ErrCorrupt},
		"smaller than said":    {"\x7f" + string(packed[1:]), profile.ErrCorrupt},
		"stream cut":           {string(packed[:1]) + "\x05" + string(packed[2:7]), profile.ErrCorrupt},
	} {
		err := decodeNames("names", 40, []byte(tc.blob), func(string) {})
		var fe *profile.FormatError
		if !errors.As(err, &fe) || profile.ClassOf(fe) != tc.class || fe.Section != "names" || fe.Offset < 40 {
			t.Errorf("%s: %v, want %v", name, err, tc.class)
		}
	}
}

func TestSplitName(t *testing.T) {
	for name, want := range map[string][2]string{
		"main":                        {"", "main"},
		"dir/a.c;f":                   {"dir/a.c", "f"},
		"dir/a.c:f":                   {"dir/a.c", "f"},
		"a.m;-[Box draw:at:]":         {"a.m", "-[Box draw:at:]"},
		"-[Box draw:at:]":             {"", "-[Box draw:at:]"},
		"m.1f2e-cgu.0;_ZN3abcE":       {"m.1f2e-cgu.0", "_ZN3abcE"},
		"<unknown>;f":                 {"<unknown>", "f"},
		"std::plain":                  {"", "std::plain"},
		"a.cpp:_ZN12_GLOBAL__N_11fEv": {"a.cpp", "_ZN12_GLOBAL__N_11fEv"},
		"a;b;c":                       {"a", "b;c"},
	} {
		if file, symbol := SplitName(name); file != want[0] || symbol != want[1] {
			t.Errorf("SplitName(%q) = %q, %q; want %q", name, file, symbol, want)
		}
	}
}

func TestVariantNames(t *testing.T) {
	for v, want := range map[Variant]string{
		0:                                 "front-end",
		FrontEnd:                          "front-end",
		IRLevel:                           "ir",
		IRLevel | ContextSens | EntryOnly: "ir+cs+function-entry-only",
	} {
		if got := v.String(); got != want {
			t.Errorf("%#x prints %q, want %q", uint64(v), got, want)
		}
	}
}
