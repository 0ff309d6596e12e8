package mipdata

import (
	"fmt"

	"github.com/profuse-pgo/profuse/internal/dropin/clopt"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
)

// options holds the values of the options. Most fields have the name of their option.
type options struct {
	color   withcolor.Mode
	profile string

	mapFile string   // create: the map, or the binary that it is in
	raw     []string // merge: the raw profiles
	strict  bool     // merge
	yaml    string   // yaml2mip: the YAML

	// Of several commands.
	output       string
	regex        string
	debug        string
	arch         string
	lines, paths bool // covered
}

func defaults() options {
	return options{output: "-", regex: ".*", arch: "arm64", yaml: "-"}
}

// parser declares the options, each once for all commands that have it.
func (t *tool) parser() *clopt.Parser {
	o := &t.opt
	top := clopt.NewCommand("", helpTop, t.noCommand)
	create := clopt.NewCommand("create", helpCreate+helpGeneric, t.create)
	merge := clopt.NewCommand("merge", helpMerge+helpGeneric, t.merge)
	order := clopt.NewCommand("order", helpOrder+helpGeneric, t.order)
	show := clopt.NewCommand("show", helpShow+helpDebug+helpGeneric, t.show)
	covered := clopt.NewCommand("covered", helpCovered+helpDebug+helpCoveredDebug+helpGeneric, t.covered)
	mip2yaml := clopt.NewCommand("mip2yaml", helpMIP2YAML+helpDebug+helpGeneric, t.mip2yaml)
	yaml2mip := clopt.NewCommand("yaml2mip", helpYAML2MIP+helpGeneric, t.yaml2mip)
	info := clopt.NewCommand("info", helpInfo+helpGeneric, t.info)
	commands := clopt.For(create, merge, order, show, covered, mip2yaml, yaml2mip, info)

	clopt.For(top).BoolFunc("color", o.color.Set)
	clopt.For(top).Version(fmt.Sprintf("MIP Version %d\n", version))
	commands.String(&o.profile, "profile").Require().Alias("p")
	commands.Generic()
	clopt.For(top).Generic()

	create.Positional(&o.mapFile, true)
	merge.RequiredPositionals(&o.raw)
	yaml2mip.Positional(&o.yaml, false)
	clopt.For(merge).Bool(&o.strict, "strict")
	clopt.For(show, covered, mip2yaml, info).String(&o.output, "output").Alias("o")
	clopt.For(order, show, covered).String(&o.regex, "regex").Alias("r")
	// The original documents the short form but does not accept it.
	clopt.For(show, covered, mip2yaml).String(&o.debug, "debug").Alias("d")
	// In the original, create takes no binaries and has no --arch.
	clopt.For(create, show, covered, mip2yaml).String(&o.arch, "arch")
	clopt.For(covered).Bool(&o.lines, "lines")
	clopt.For(covered).Bool(&o.paths, "paths")

	return &clopt.Parser{Env: t.Env, Top: top, Commands: commands}
}
