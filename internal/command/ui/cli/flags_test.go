package cli

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
)

// testOptions are what the parser tests set.
type testOptions struct {
	output  string
	number  int
	quiet   bool
	choice  Choice
	several List
}

func newTestFlags() (*Flags, *testOptions) {
	f := NewFlags("test")
	o := &testOptions{choice: Choice{Value: "one", Allowed: []string{"one", "two", "three"}}}
	f.StringVar(&o.output, "o", "", "")
	f.IntVar(&o.number, "number", 0, "")
	f.BoolVar(&o.quiet, "quiet", false, "")
	f.Var(&o.choice, "choice", "")
	f.Var(&o.several, "several", "")
	f.addSynonyms()
	return f, o
}

func TestParse(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want testOptions
		rest []string
	}{
		{"nothing", nil, testOptions{}, nil},
		{"before", []string{"-o", "x", "a", "b"}, testOptions{output: "x"}, []string{"a", "b"}},
		{"between and after", []string{"a", "--quiet", "b", "-o", "x"}, testOptions{output: "x", quiet: true}, []string{"a", "b"}},
		{"glued", []string{"-o=x", "--number=7", "a"}, testOptions{output: "x", number: 7}, []string{"a"}},
		{"glued without an equals sign", []string{"-ox", "a"}, testOptions{output: "x"}, []string{"a"}},
		{"short and long", []string{"--output", "x", "-q", "a", "--output=y"}, testOptions{output: "y", quiet: true}, []string{"a"}},
		{"one dash or two", []string{"-number", "7", "--o", "x"}, testOptions{output: "x", number: 7}, nil},
		{"the last one counts", []string{"-o", "x", "-o", "y"}, testOptions{output: "y"}, nil},
		{"a list", []string{"-several", "x", "a", "-several=y"}, testOptions{several: List{"x", "y"}}, []string{"a"}},
		{"standard input", []string{"-", "-o", "-"}, testOptions{output: "-"}, []string{"-"}},
		{"end of options", []string{"-o", "x", "--", "-o", "--", "-"}, testOptions{output: "x"}, []string{"-o", "--", "-"}},
		{"value that looks like the end", []string{"-o", "--", "a", "--quiet"}, testOptions{output: "--", quiet: true}, []string{"a"}},
		{"value that looks like an option", []string{"-o", "-quiet"}, testOptions{output: "-quiet"}, nil},
		{"flag switched off", []string{"--quiet", "--quiet=false", "a"}, testOptions{}, []string{"a"}},
		{"flag takes no next word", []string{"--quiet", "false"}, testOptions{quiet: true}, []string{"false"}},
		{"choice", []string{"--choice", "two"}, testOptions{choice: Choice{Value: "two"}}, nil},
		{"empty argument", []string{"", "-o", ""}, testOptions{}, []string{""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, got := newTestFlags()
			rest, err := f.parse(test.args)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(rest, test.rest) {
				t.Errorf("arguments %q, want %q", rest, test.rest)
			}
			if test.want.choice.Value == "" {
				test.want.choice.Value = "one"
			}
			if got.output != test.want.output || got.number != test.want.number || got.quiet != test.want.quiet ||
				got.choice.Value != test.want.choice.Value || !slices.Equal(got.several, test.want.several) {
				t.Errorf("options %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"--nonsense"}, "unknown option --nonsense"},
		{[]string{"-zx"}, "unknown option -zx"},
		{[]string{"-qx"}, "unknown option -qx"},
		{[]string{"--sev"}, "unknown option --sev; did you mean --several?"},
		{[]string{"-nubmer", "7"}, "unknown option -nubmer; did you mean --number?"},
		{[]string{"--p"}, "unknown option --p"},
		{[]string{"a", "-o"}, "option -o needs a value"},
		{[]string{"--number", "many"}, `option --number: invalid value "many": want a number`},
		{[]string{"--quiet=perhaps"}, `option --quiet: invalid value "perhaps": want true or false`},
		{[]string{"--number=99999999999999999999"}, `option --number: invalid value "99999999999999999999": want a number`},
		{[]string{"--choice=four"}, `option --choice: invalid value "four": want one, two or three`},
		{[]string{"---o"}, "unknown option ---o; did you mean -o?"},
		{[]string{"--outptu", "x"}, "unknown option --outptu; did you mean --output?"},
		{[]string{"-="}, "unknown option -="},
	}
	for _, test := range tests {
		f, _ := newTestFlags()
		_, err := f.parse(test.args)
		var usage *UsageError
		if !errors.As(err, &usage) {
			t.Errorf("%q: %v, want a usage error", test.args, err)
		} else if usage.Error() != test.want {
			t.Errorf("%q: %q, want %q", test.args, usage, test.want)
		}
	}
	for _, arg := range []string{"-h", "-help", "--help", "--h"} {
		f, _ := newTestFlags()
		if _, err := f.parse([]string{"a", arg}); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: %v, want a request for help", arg, err)
		}
	}
}

// An old name of an option works and is shown nowhere.
func TestAlias(t *testing.T) {
	f, got := newTestFlags()
	f.Alias("several", "many", "parts")
	f.Alias("quiet", "mute")
	if _, err := f.parse([]string{"--many", "x", "--several=y", "-mute", "--parts", "z"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.several, List{"x", "y", "z"}) || !got.quiet {
		t.Errorf("options %+v", got)
	}
	given := make(map[string]bool)
	f.Given(func(name string) { given[name] = true })
	if len(given) != 2 || !given["several"] || !given["quiet"] {
		t.Errorf("given are %v", given)
	}
	var help strings.Builder
	f.help(&help)
	if text := help.String(); strings.Contains(text, "many") || strings.Contains(text, "mute") || !strings.Contains(text, "--several") {
		t.Errorf("the help is %s", text)
	}
	if _, err := f.parse([]string{"--man"}); err == nil || err.Error() != "unknown option --man" {
		t.Errorf("an old name is suggested: %v", err)
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]ByteSize{
		"1": 1, "1000": 1000, "2k": 2 << 10, "512M": 512 << 20, "20G": 20 << 30, "20GiB": 20 << 30, "1T": 1 << 40, "3MB": 3 << 20,
		"": 0, "0": 0, "-1": 0, "G": 0, "1X": 0, "1GG": 0, "9000000T": 0, "1.5G": 0,
	} {
		var got ByteSize
		if err := got.Set(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestGroups(t *testing.T) {
	f := NewFlags("test")
	var b bool
	f.BoolVar(&b, "z", false, "last")
	f.Group("MIP profiles")
	f.BoolVar(&b, "blocks", false, "list blocks")
	f.Group("heap profiles")
	f.Group("")
	f.BoolVar(&b, "a", false, "first")
	f.Group("MIP profiles")
	f.BoolVar(&b, "arcs", false, "list arcs")
	var help strings.Builder
	f.help(&help)
	const want = `
Options for all formats:
  -a        first
  -z        last

Options for MIP profiles:
  --arcs    list arcs
  --blocks  list blocks
`
	if help.String() != want {
		t.Errorf("the help is %s, want %s", &help, want)
	}
}
