package clopt

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// bag is where a parser with one option of every kind leaves what it read.
type bag struct {
	on     bool
	text   string
	texts  []string
	small  uint32
	smalls []uint32
	large  uint64
	real   float64
	choice int
	flag   int
	first  string
	rest   []string
}

func (b *bag) parser(out, errs *bytes.Buffer) *Parser {
	command := func(name string) *Command {
		return NewCommand(name, "PROG "+name+" helps\n", nil)
	}
	run, pick, need, must, list, top := command("run"), command("pick"), command("need"), command("must"), command("list"), command("")
	r := For(run)
	r.Bool(&b.on, "on")
	r.Strings(&b.texts, "texts")
	r.Uint32(&b.small, "small").Alias("s")
	r.Uint32s(&b.smalls, "smalls").Alias("S")
	r.Uint64(&b.large, "large", "ulong")
	r.Float(&b.real, "real")
	AddChoice(r, &b.choice, "choice", Choice[int]{"one", 1}, Choice[int]{"two", 2})
	AddSwitches(r, &b.flag, "Kind of thing:", Choice[int]{"red", 1}, Choice[int]{"blue", 2})
	r.Generic()
	run.Positionals(&b.rest)
	For(run, list).String(&b.text, "text").Alias("t")
	For(run, list).BoolFunc("x", func(bool) {}) // may be grouped

	pick.Positional(&b.first, false)
	need.Positional(&b.first, true)
	need.Positional(&b.text, true)
	For(must).String(&b.text, "text").Require().Alias("t")
	must.RequiredPositionals(&b.rest)
	list.Positional(&b.first, true)
	list.Positionals(&b.rest)

	For(top).Bool(&b.on, "global")
	For(top).Version("1.0\n")
	env := Env{Prog: "/opt/bin/prog", Stdout: out, Stderr: errs}
	return &Parser{Env: env, Top: top, Commands: For(run, pick, need, must, list)}
}

func TestParse(t *testing.T) {
	const (
		forRun  = "prog: for the --"
		unknown = "prog: Unknown command line argument '%s'.  Try: '/opt/bin/prog --help'\n"
		near    = "prog: Did you mean '%s'?\n"
	)
	f := fmt.Sprintf
	for _, tc := range []struct {
		args    []string
		cmd     string
		outcome Outcome
		want    bag
		out     string
		errs    string
	}{
		{args: []string{"run"}, cmd: "run"},
		{
			args: []string{"run", "-on", "a", "--text", "x", "-", "-texts=1", "-texts", "2"}, cmd: "run",
			want: bag{on: true, text: "x", texts: []string{"1", "2"}, rest: []string{"a", "-"}},
		},
		{args: []string{"run", "-on=0", "-t", "-on", "-t=y=z"}, cmd: "run", want: bag{text: "y=z"}},
		{args: []string{"run", "-on=true", "-on", "-on=False"}, cmd: "run"},
		{args: []string{"run", "--", "-on", "--", "x"}, cmd: "run", want: bag{rest: []string{"-on", "--", "x"}}},
		{args: []string{"run", "-s", "0x10", "-small=010"}, cmd: "run", want: bag{small: 8}},
		{args: []string{"run", "-smalls=1,0b11", "-smalls", "7"}, cmd: "run", want: bag{smalls: []uint32{1, 3, 7}}},
		{args: []string{"run", "-large=18446744073709551615", "-real=1e3"}, cmd: "run", want: bag{large: 1<<64 - 1, real: 1000}},
		{args: []string{"run", "-choice", "two", "--blue", "-red"}, cmd: "run", want: bag{choice: 2, flag: 1}},
		{args: []string{"run", "-global", ""}, cmd: "run", want: bag{on: true, rest: []string{""}}},
		{args: []string{"run", "-text", ""}, cmd: "run"},

		{
			args: []string{"run", "-bogus", "-on=maybe", "x"}, cmd: "run", outcome: Failed, want: bag{rest: []string{"x"}},
			errs: f(unknown, "-bogus") + f(near, "--blue") + forRun + "on option: 'maybe' is invalid value for boolean argument! Try 0 or 1\n",
		},
		{args: []string{"run", "-lorge=1"}, cmd: "run", outcome: Failed, errs: f(unknown, "-lorge=1") + f(near, "--large=1")},
		{args: []string{"run", "-rad=1"}, cmd: "run", outcome: Failed, errs: f(unknown, "-rad=1") + f(near, "--real=1")},
		{
			args: []string{"run", "-sx"}, cmd: "run", outcome: Failed,
			errs: "prog: for the -s option: may not occur within a group!\n" + f(unknown, "-sx") + f(near, "-s"),
		},
		{args: []string{"run", "-t"}, cmd: "run", outcome: Failed, errs: "prog: for the -t option: requires a value!\n"},
		{args: []string{"run", "-s", "x"}, cmd: "run", outcome: Failed, errs: forRun + "small option: 'x' value invalid for uint argument!\n"},
		{
			args: []string{"run", "-smalls=1,,2"}, cmd: "run", outcome: Failed, want: bag{smalls: []uint32{1}},
			errs: forRun + "smalls option: '' value invalid for uint argument!\n",
		},
		{args: []string{"run", "-large=-1"}, cmd: "run", outcome: Failed, errs: forRun + "large option: '-1' value invalid for ulong argument!\n"},
		{
			args: []string{"run", "-real=x"}, cmd: "run", outcome: Failed,
			errs: forRun + "real option: 'x' value invalid for floating point argument!\n",
		},
		{args: []string{"run", "-choice=3"}, cmd: "run", outcome: Failed, errs: forRun + "choice option: Cannot find option named '3'!\n"},
		{args: []string{"run", "-red=1"}, cmd: "run", outcome: Failed, errs: "Kind of thing: option: does not allow a value! '1' specified.\n"},

		{
			args: []string{"run", "-bogus", "-help", "-bogus"}, cmd: "run", outcome: Answered,
			out: "prog run helps\n", errs: f(unknown, "-bogus") + f(near, "--blue"),
		},
		{args: []string{"run", "--help-list-hidden"}, cmd: "run", outcome: Answered, out: "prog run helps\n"},
		{args: []string{"run", "-hsx"}, cmd: "run", outcome: Answered, out: "prog run helps\n"},
		{args: []string{"run", "-h=1"}, cmd: "run", outcome: Failed, errs: "prog: for the -h option: does not allow a value! '1' specified.\n"},
		{args: []string{"run", "-print-options", "-print-all-options=0"}, cmd: "run"},
		{args: []string{"run", "-version"}, cmd: "run", outcome: Answered, out: "1.0\n"},
		{args: []string{"-version"}, outcome: Answered, out: "1.0\n"},

		// Letters behind one dash.
		{args: []string{"run", "-xs=3"}, cmd: "run", want: bag{small: 3}},
		{args: []string{"run", "-xh"}, cmd: "run", outcome: Answered, out: "prog run helps\n", errs: ""},
		{args: []string{"run", "-xx"}, cmd: "run"},
		{args: []string{"run", "-xq"}, cmd: "run", outcome: Failed, errs: f(unknown, "-xq") + f(near, "-s")},
		{args: []string{"run", "-S", "1,2"}, cmd: "run", want: bag{smalls: []uint32{1, 2}}},
		{args: []string{"-global"}, want: bag{on: true}},

		{
			args: []string{"ran", "x"}, outcome: Failed,
			errs: "prog: Unknown subcommand 'ran'.  Try: '/opt/bin/prog --help'\nprog: Did you mean 'run'?\n" + f(unknown, "x"),
		},
		{args: []string{"nonsense"}, outcome: Failed, errs: "prog: Unknown subcommand 'nonsense'.  Try: '/opt/bin/prog --help'\n"},
		{args: []string{"run", "-q"}, cmd: "run", outcome: Failed, errs: f(unknown, "-q") + f(near, "-s")},
		{args: []string{"pick", "-q"}, cmd: "pick", outcome: Failed, errs: f(unknown, "-q")},
		{args: []string{"run", "---"}, cmd: "run", outcome: Failed, errs: f(unknown, "---") + f(near, "-s")},
		{args: []string{""}, outcome: Failed, errs: "prog: Unknown subcommand ''.  Try: '/opt/bin/prog --help'\n"},
		{args: []string{"-global", "run"}, outcome: Failed, want: bag{on: true}, errs: f(unknown, "run")},
		{args: []string{"-"}, outcome: Failed, errs: f(unknown, "-")},

		{args: []string{"pick"}, cmd: "pick"},
		{args: []string{"pick", "a"}, cmd: "pick", want: bag{first: "a"}},
		{
			args: []string{"pick", "a", "b"}, cmd: "pick", outcome: Failed,
			errs: "prog: Too many positional arguments specified!\nCan specify at most 1 positional arguments: See: /opt/bin/prog --help\n",
		},
		{
			args: []string{"need", "a"}, cmd: "need", outcome: Failed,
			errs: "prog: Not enough positional command line arguments specified!\n" +
				"Must specify at least 2 positional arguments: See: /opt/bin/prog --help\n",
		},
		{args: []string{"need", "a", "b"}, cmd: "need", want: bag{first: "a", text: "b"}},
		{args: []string{"must", "-t", "x", "a", "b"}, cmd: "must", want: bag{text: "x", rest: []string{"a", "b"}}},
		{args: []string{"must", "a", "--text="}, cmd: "must", want: bag{rest: []string{"a"}}},
		{
			args: []string{"must"}, cmd: "must", outcome: Failed,
			errs: "prog: Not enough positional command line arguments specified!\n" +
				"Must specify at least 1 positional argument: See: /opt/bin/prog --help\n" +
				forRun + "text option: must be specified at least once!\n",
		},
		{
			args: []string{"list"}, cmd: "list", outcome: Failed,
			errs: "prog: Not enough positional command line arguments specified!\n" +
				"Must specify at least 1 positional argument: See: /opt/bin/prog --help\n",
		},
		{args: []string{"list", "a", "-t", "x"}, cmd: "list", want: bag{text: "x", first: "a"}},
		{args: []string{"list", "a", "b", "c"}, cmd: "list", want: bag{first: "a", rest: []string{"b", "c"}}},
	} {
		t.Run(fmt.Sprintf("%q", tc.args), func(t *testing.T) {
			var got bag
			var out, errs bytes.Buffer
			cmd, outcome := got.parser(&out, &errs).Parse(tc.args)
			if cmd.Name != tc.cmd || outcome != tc.outcome {
				t.Errorf("command %q, outcome %d; want %q, %d", cmd.Name, outcome, tc.cmd, tc.outcome)
			}
			if out.String() != tc.out {
				t.Errorf("printed:\n%swant:\n%s", out.String(), tc.out)
			}
			if errs.String() != tc.errs {
				t.Errorf("said:\n%swant:\n%s", errs.String(), tc.errs)
			}
			if a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", tc.want); a != b {
				t.Errorf("read %s\nwant %s", a, b)
			}
		})
	}
}

// TestResponseFile: arguments may stand in files.
func TestResponseFile(t *testing.T) {
	t.Chdir(t.TempDir())
	oracle.WriteFile(t, "args", []byte("-on 'a b'"))
	var got bag
	var out, errs bytes.Buffer
	if cmd, outcome := got.parser(&out, &errs).Parse([]string{"run", "@args"}); outcome != Run || cmd.Name != "run" {
		t.Errorf("command %q, outcome %d: %s", cmd.Name, outcome, &errs)
	}
	if want := (bag{on: true, rest: []string{"a b"}}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("read %+v, want %+v", got, want)
	}
	oracle.WriteFile(t, "args", []byte("@args"))
	if _, outcome := got.parser(&out, &errs).Parse([]string{"run", "@args"}); outcome != Failed || !strings.Contains(errs.String(), "args") {
		t.Errorf("a file within itself: outcome %d: %s", outcome, &errs)
	}
}

// TestMistakes: a tool that names two options alike does not get far.
func TestMistakes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("two options have one name")
		}
	}()
	var on bool
	c := For(NewCommand("c", "", nil))
	c.Bool(&on, "on").Alias("o")
	c.Bool(&on, "o")
}

func TestParseUint(t *testing.T) {
	for _, tc := range []struct {
		s    string
		bits int
		want uint64
		ok   bool
	}{
		{"0", 32, 0, true},
		{"00", 32, 0, true},
		{"4294967295", 32, 1<<32 - 1, true},
		{"4294967296", 32, 0, false},
		{"0x1f", 32, 31, true},
		{"0X1F", 32, 31, true},
		{"0b101", 32, 5, true},
		{"0B1", 32, 1, true},
		{"017", 32, 15, true},
		{"0o17", 32, 15, true},
		{"0O17", 32, 0, false},
		{"08", 32, 0, false},
		{"", 32, 0, false},
		{"0x", 32, 0, false},
		{"0b", 32, 0, false},
		{"+1", 32, 0, false},
		{"-1", 32, 0, false},
		{" 1", 32, 0, false},
		{"1 ", 32, 0, false},
		{"1_0", 32, 0, false},
		{"0x+1", 32, 0, false},
		{"18446744073709551615", 64, 1<<64 - 1, true},
		{"18446744073709551616", 64, 0, false},
	} {
		if n, ok := parseUint(tc.s, tc.bits); ok != tc.ok || ok && n != tc.want {
			t.Errorf("%q in %d bits: %d, %v; want %d, %v", tc.s, tc.bits, n, ok, tc.want, tc.ok)
		}
	}
}

func TestParseFloat(t *testing.T) {
	for s, ok := range map[string]bool{
		"": true, "1": true, " 1": true, "1 ": false, ".5": true, "1e999": true, "inf": true, "-Infinity": true,
		"nan": true, "nan(1)": true, "0x10": true, "0x1p3": true, "1_0": false, "0x": false, "x": false,
	} {
		if f, got := parseFloat(s); got != ok {
			t.Errorf("%q: %v, %v; want %v", s, f, got, ok)
		}
	}
}

// TestNear: of equally near names the first in Command.Near is suggested, and
// names that it leaves out come last. The switches of a group stay together.
func TestNear(t *testing.T) {
	c := NewCommand("c", "", nil)
	var b bool
	for _, n := range []string{"ab", "ac", "ad", "ae"} {
		For(c).Bool(&b, n)
	}
	var n int
	AddSwitches(For(c), &n, "Switches", Choice[int]{"ay", 1}, Choice[int]{"az", 2})
	c.Near = []string{"ad", "gone", "az", "ac"}
	if got := c.spellings(); !slices.Equal(got, []string{"ad", "ay", "az", "ac", "ab", "ae"}) {
		t.Errorf("order %v", got)
	}
	if got := c.nearest("ax=1"); got != "ad=1" {
		t.Errorf("nearest to ax=1: %q", got)
	}
}
