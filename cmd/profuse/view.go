package main

import (
	"fmt"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/profile"
)

// openView reads the one profile that an argument names, of whatever format.
// Warnings are printed.
func openView(env *cli.Env, arg string, opt formats.ViewOptions) (profile.View, error) {
	in, err := sources.One(env, arg)
	if err != nil {
		return nil, err
	}
	opt.Warn = func(err error) { fmt.Fprintf(env.Stderr, "warning: %s\n", console.Printable(cli.Message(err))) }
	var v profile.View
	var r inputs.Reader
	defer r.Close()
	err = in.Each(&r, func(d *inputs.Data) (err error) {
		if v != nil {
			return cli.Usagef("%s holds several files, and one profile is wanted: merge them first", arg)
		}
		v, err = formats.View(d.Name(), d.Bytes(), opt)
		return err
	})
	if err == nil && v == nil {
		err = inputs.EmptyArchive(arg)
	}
	return v, err
}
