package sources

import (
	"errors"
	"fmt"

	"github.com/profuse-pgo/profuse/classfile"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
)

// Programs say where the programs are that profiles are of.
type Programs struct {
	Binaries cli.List // of raw heap profiles
	Classes  cli.List // of iprof profiles
}

// DeclareProfiledBinary declares the option that all commands have which read
// raw heap profiles.
func DeclareProfiledBinary(f *cli.Flags, list *cli.List) {
	f.Var(list, "profiled-binary", "`PATH` program or library that raw MemProf profiles are of, with debug information, "+
		"or a folder to find it in by build id; may be given again")
}

const ClassesUsage = "`PATH` a .jar, .jmod or .class file of the program, or a folder of them; may be given again"

// ReadClasses reads the classes of jars, folders and class files; nil if there
// are none. What cannot be read inside of them is printed.
func ReadClasses(env *cli.Env, paths []string) (*classfile.Index, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	x := classfile.NewIndex(classfile.Options{Warn: func(err error) {
		fmt.Fprintf(env.Stderr, "warning: %s\n", console.Printable(cli.Message(err)))
	}})
	for _, path := range paths {
		if err := x.Add(path); err != nil {
			return nil, err
		}
	}
	if x.Len() == 0 {
		return nil, errors.New("there are no classes in what --classes names")
	}
	return x, nil
}
