package sources

import (
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/parallel"
	"github.com/profuse-pgo/profuse/profile"
)

// OpenView is OpenViews for one profile.
func OpenView(env *cli.Env, arg string, programs *Programs) (profile.View, error) {
	views, err := OpenViews(env, []string{arg}, programs, nil)
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

// OpenViews reads profiles of any format, one for each argument, and prints warnings. It returns the
// first error in the order of the arguments. look, if not nil, is called with the index of each
// argument and its file, while the file is read.
func OpenViews(env *cli.Env, args []string, programs *Programs, look func(i int, name string, data []byte)) ([]profile.View, error) {
	opt, err := programs.ViewOptions(env)
	if err != nil {
		return nil, err
	}
	views, errs, warnings := make([]profile.View, len(args)), make([]error, len(args)), make([][]profile.Warning, len(args))
	read := func(i int) {
		own := opt
		own.Warn = func(w profile.Warning) { warnings[i] = append(warnings[i], w) }
		var lookAt func(name string, data []byte)
		if look != nil {
			lookAt = func(name string, data []byte) { look(i, name, data) }
		}
		views[i], errs[i] = ReadView(env, args[i], own, lookAt)
	}
	if opt.Classes != nil || opt.Coverage {
		for i := range args { // one after the other, because they share the data of programs
			read(i)
		}
	} else {
		parallel.Each(len(args), read)
	}
	bytecode, warn := false, console.Warnings(env)
	for i := range args {
		for _, w := range warnings[i] {
			warn(w)
		}
		if errs[i] != nil {
			return nil, errs[i]
		}
		bytecode = bytecode || views[i].Features().Bytecodes
	}
	if opt.Classes != nil && !bytecode {
		return nil, cli.Usagef("option --classes needs a profile of Java bytecode; %s is not one", strings.Join(args, ", "))
	}
	return views, nil
}

// ReadView reads the view of the one profile that an argument names. look, if not nil, is called with
// the same bytes at the same time.
func ReadView(env *cli.Env, arg string, opt formats.ViewOptions, look func(name string, data []byte)) (profile.View, error) {
	var v profile.View
	err := ReadOne(env, arg, func(d *inputs.Data) (err error) {
		// The bytes are only valid within this function, so it waits for look.
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

// IsProgram reports whether a file, or the file in a .dSYM bundle, is a program or a part of one, by its first bytes.
func IsProgram(path string) bool {
	in, err := BinaryPath(path, inputs.Options{})
	return err == nil && PeekFormat(in, false).IsProgram()
}
