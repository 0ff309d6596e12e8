package command

import (
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/cli"
	"github.com/profuse-pgo/profuse/internal/command/console"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/parallel"
	"github.com/profuse-pgo/profuse/profile"
)

// openView is openViews for one profile.
func openView(env *cli.Env, arg string, programs *sources.Programs) (profile.View, error) {
	views, err := openViews(env, []string{arg}, programs, nil)
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

// openViews reads the profiles of any format that the arguments name, one each, and prints
// warnings. look, if not nil, is called with the number of each argument and its file, while the
// file is read. The first error in the order of the arguments is returned.
func openViews(env *cli.Env, args []string, programs *sources.Programs, look func(i int, name string, data []byte)) ([]profile.View, error) {
	opt, err := programs.ViewOptions(env)
	if err != nil {
		return nil, err
	}
	views, errs, warnings := make([]profile.View, len(args)), make([]error, len(args)), make([][]profile.Warning, len(args))
	read := func(i int) {
		// Readers run at the same time, so each collects its own warnings.
		own := opt
		own.Warn = func(w profile.Warning) { warnings[i] = append(warnings[i], w) }
		var lookAt func(name string, data []byte)
		if look != nil {
			lookAt = func(name string, data []byte) { look(i, name, data) }
		}
		views[i], errs[i] = readView(env, args[i], own, lookAt)
	}
	if opt.Classes != nil || opt.Coverage {
		for i := range args { // one after the other, since they share what is read of programs
			read(i)
		}
	} else {
		parallel.Each(len(args), read)
	}
	// Warnings come in the order of the arguments, in whatever order the profiles were read.
	bytecode, warn := false, console.Warnings(env)
	for i := range args {
		for _, w := range warnings[i] {
			warn(w)
		}
		if errs[i] != nil {
			return nil, errs[i]
		}
		bytecode = bytecode || views[i].Features().Has(profile.HasBytecodes)
	}
	// The option would have no effect without a word.
	if opt.Classes != nil && !bytecode {
		return nil, cli.Usagef("option --classes needs a profile of Java bytecode; %s is not one", strings.Join(args, ", "))
	}
	return views, nil
}

// readView reads the view of the one profile that an argument names. look, if not nil, gets the
// same bytes at the same time, and both end before readView returns.
func readView(env *cli.Env, arg string, opt formats.ViewOptions, look func(name string, data []byte)) (profile.View, error) {
	var v profile.View
	err := sources.ReadOne(env, arg, func(d *inputs.Data) (err error) {
		// The bytes are valid only within this function, so it waits for look.
		var looking sync.WaitGroup
		if look != nil {
			looking.Go(func() { look(d.Name(), d.Bytes()) })
		}
		v, err = formats.View(d.Name(), d.Bytes(), opt)
		looking.Wait()
		return err
	})
	return v, err
}
