package llvmmipdata

import (
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/clopt"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/withcolor"
)

// options holds the command line. Fields named after their option are not
// explained again.
type options struct {
	color   withcolor.Mode
	profile string

	mapFile string   // create: the map, or the binary that it is in
	raw     []string // merge: the raw profiles
	strict  bool     // merge
	yaml    string   // yaml2mip: the YAML

	output       string
	regex        string
	debug        string
	arch         string
	lines, paths bool // covered
}

func defaults() options {
	return options{output: "-", regex: ".*", arch: "arm64", yaml: "-"}
}

func (o *options) parser(env Env) *clopt.Parser {
	return &clopt.Parser{
		Prog:     env.Prog,
		Top:      o.global(),
		Commands: o.commands(),
		Errors:   env.Stderr,
	}
}

// global holds the options of the top level, which every command takes too.
func (o *options) global() *clopt.Command {
	c := clopt.NewCommand("")
	c.BoolFunc("color", o.color.Set)
	c.Version("version")
	generic(c)
	return c
}

// generic adds what LLVM gives every command. The two that would print the
// option values do nothing, since no tool of LLVM's carries them out.
func generic(c *clopt.Command) {
	for _, name := range []string{"help", "help-list", "help-hidden", "help-list-hidden"} {
		c.Help(name)
	}
	c.Alias("h", "help")
	ignore := func(bool) {}
	c.BoolFunc("print-options", ignore)
	c.BoolFunc("print-all-options", ignore)
}

func (o *options) commands() []*clopt.Command {
	create := o.command("create")
	create.Positional(&o.mapFile, true)
	o.addArch(create) // the original has no binaries here to choose from

	merge := o.command("merge")
	merge.RequiredPositionals(&o.raw)
	merge.Bool(&o.strict, "strict")

	order := o.command("order")
	o.addRegex(order)

	show := o.command("show")
	o.addOutput(show)
	o.addRegex(show)
	o.addDebug(show)

	covered := o.command("covered")
	o.addOutput(covered)
	o.addRegex(covered)
	o.addDebug(covered)
	covered.Bool(&o.lines, "lines")
	covered.Bool(&o.paths, "paths")

	mip2yaml := o.command("mip2yaml")
	o.addOutput(mip2yaml)
	o.addDebug(mip2yaml)

	yaml2mip := o.command("yaml2mip")
	yaml2mip.Positional(&o.yaml, false)

	info := o.command("info")
	o.addOutput(info)

	return []*clopt.Command{create, merge, order, show, covered, mip2yaml, yaml2mip, info}
}

// command returns a command with the options that all have.
func (o *options) command(name string) *clopt.Command {
	c := clopt.NewCommand(name)
	c.String(&o.profile, "profile").Require()
	c.Alias("p", "profile")
	generic(c)
	return c
}

func (o *options) addOutput(c *clopt.Command) {
	c.String(&o.output, "output")
	c.Alias("o", "output")
}

func (o *options) addRegex(c *clopt.Command) {
	c.String(&o.regex, "regex")
	c.Alias("r", "regex")
}

// addDebug adds --debug and what goes with it. Its short form is in the manual
// only: the original does not know it.
func (o *options) addDebug(c *clopt.Command) {
	c.String(&o.debug, "debug")
	c.Alias("d", "debug")
	o.addArch(c)
}

func (o *options) addArch(c *clopt.Command) { c.String(&o.arch, "arch") }
