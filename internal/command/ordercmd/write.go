package ordercmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile/order"
)

// mold is a value of --format that check refuses with a reason.
const mold = "mold"

const linkersHelp = `
    lld     ld.lld --symbol-ordering-file=LIST
    ld64    ld64 or ld64.lld -order_file LIST
    gold    ld.gold --section-ordering-file=LIST
    gnu-ld  INCLUDE LIST in a linker script, at the beginning of .text { }

gold and GNU ld need a program compiled with -ffunction-sections. GCC then calls
the cold part of a function like the section of a cold function: --binary keeps
such parts behind the functions that ran. mold cannot order functions.

--binary adapts the names to another build of the program, such as one without
instrumentation: the suffixes that compilers append (.llvm.1234, .part.0), the
hashes in names of Rust and Mach-O's underscore may differ.`

type listWriter struct {
	output string
	format cli.Choice // an order.Linker or mold
	binary string     // the program to link
	arch   *string    // of binary
	quiet  bool
}

func (c *listWriter) declare(f *cli.Flags, arch *string) {
	c.arch = arch
	c.format.Value = "lld"
	for _, l := range order.Linkers() {
		c.format.Allowed = append(c.format.Allowed, string(l))
	}
	f.StringVar(&c.output, "o", "-", "`OUTPUT` file to write; \"-\" is standard output")
	f.Var(&c.format, "format", "`LINKER` linker to write for: "+c.format.Words())
	c.format.Allowed = append(c.format.Allowed, mold)
	f.StringVar(&c.binary, "binary", "", "`FILE` use the function names of this program, the one to link")
	f.BoolVar(&c.quiet, "q", false, "print no warnings or summary")
}

func (c *listWriter) check() error {
	if c.format.Value == mold {
		return cli.Usagef("mold has no option that orders functions (https://github.com/rui314/mold/issues/1231): link with lld or gold")
	}
	return nil
}

// write writes the names, which come from the profile at path, and prints a summary. It leaves out and reports
// names that the syntax of the linker does not allow. The output must not be the profile or the program.
func (c *listWriter) write(env *cli.Env, path string, names []string) error {
	match, cold, err := c.matchNames(env, names)
	if err != nil {
		return err
	}
	ins := []inputs.Input{inputs.File(path, inputs.Options{})}
	if c.binary != "" {
		ins = append(ins, inputs.File(c.binary, inputs.Options{}))
	}
	var unwritten []string
	err = console.Write(env, c.output, ins, false, func(w io.Writer) (err error) {
		unwritten, err = order.Write(w, order.Linker(c.format.Value), slices.Concat(match.Symbols, cold))
		return err
	})
	if err != nil {
		return err
	}
	if !c.quiet {
		c.report(env.Stderr, match, unwritten)
	}
	return nil
}

// matchNames finds the names in the program of --binary, and the cold parts of the functions. Without --binary it only
// removes duplicates.
func (c *listWriter) matchNames(env *cli.Env, names []string) (m order.Match, cold []string, err error) {
	if c.binary == "" {
		return order.Unique(names), nil, nil
	}
	p, err := openProgram(env, c.binary, *c.arch)
	if err != nil {
		return m, nil, err
	}
	defer p.Close()
	all, err := p.functionNames()
	if err != nil {
		return m, nil, err
	}
	m = order.MatchSymbols(names, all, p.symbolOptions())
	return m, c.coldParts(m.Symbols, all), nil
}

// coldParts returns the cold parts that GCC split off the ordered functions, by their names in the program. For a
// linker that orders sections they follow the order, because their sections are called as the sections of cold
// functions are: without a place of their own they would stand among the functions that ran.
func (c *listWriter) coldParts(ordered, all []string) (cold []string) {
	if l := c.format.Value; l != "gold" && l != "gnu-ld" {
		return nil
	}
	listed := make(map[string]bool, len(ordered))
	for _, s := range ordered {
		listed[s] = true
	}
	for _, s := range all {
		if name, ok := symbols.CutCold(s); ok && listed[name] && !listed[s] {
			listed[s] = true
			cold = append(cold, s)
		}
	}
	slices.Sort(cold)
	return cold
}

func (c *listWriter) report(w io.Writer, m order.Match, unwritten []string) {
	list := func(what string, names []string) {
		for i, n := range names {
			if i == console.MaxListed {
				fmt.Fprintf(w, "%s: … and %s more\n", what, cli.Count(len(names)-i))
				break
			}
			fmt.Fprintf(w, "%s: %s\n", what, console.Printable(n))
		}
	}
	var renamed []string
	for _, r := range m.Renamed {
		renamed = append(renamed, r.From+" → "+strings.Join(r.To, ", "))
	}
	list("missing", m.Missing)
	list("renamed", renamed)
	list("named twice", m.Duplicates)
	list("ambiguous", m.Ambiguous)
	list("not readable by "+c.format.Value, unwritten)
	summary := fmt.Sprintf("ordered %s", cli.Quantity(len(m.Symbols)-len(unwritten), "function", "functions"))
	if c.binary != "" {
		summary += fmt.Sprintf(" as in %s: %s kept, %s renamed, %s missing, %s named twice", c.binary, cli.Count(m.Kept),
			cli.Count(len(m.Renamed)), cli.Count(len(m.Missing)), cli.Count(len(m.Duplicates)))
	}
	fmt.Fprintln(w, summary)
}
