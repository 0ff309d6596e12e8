package sources

import (
	"errors"
	"fmt"

	"github.com/profuse-pgo/profuse/classfile"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/symbolize"
)

// Programs are the options that say what profiles are of. They are declared here
// alone, and mean the same in all commands that have them.
type Programs struct {
	Paths   cli.List // programs, and folders to find them in
	Arch    string   // of programs for several architectures
	Classes cli.List // of programs for the Java VM
	Workers int      // that look into programs; 0 for one per CPU

	open *symbolize.Programs
}

// Declare declares the options about programs of machine code.
func (p *Programs) Declare(f *cli.Flags) {
	f.Var(&p.Paths, "program", "`PATH` program or library that was profiled, with debug information, or a folder to find it in by build id; "+
		"may be given again")
	f.Alias("program", "profiled-binary", "correlate", "debug")
	p.DeclareArch(f)
}

// DeclareArch declares the option for commands that take programs as arguments.
func (p *Programs) DeclareArch(f *cli.Flags) {
	f.StringVar(&p.Arch, "arch", "", "`ARCH` of programs for several architectures, the one that ran")
}

// DeclareClasses declares the option about classes.
func (p *Programs) DeclareClasses(f *cli.Flags) {
	f.Var(&p.Classes, "classes", "`PATH` a .jar, .jmod or .class file of the program, or a folder of them; may be given again")
}

// Open opens the programs, once.
func (p *Programs) Open() (*symbolize.Programs, error) {
	if p.open == nil {
		open, err := symbolize.OpenPrograms(p.Paths, symbolize.Options{Arch: p.Arch, Workers: p.Workers})
		if err != nil {
			return nil, err
		}
		p.open = open
	}
	return p.open, nil
}

// Close closes the programs, if they are open.
func (p *Programs) Close() {
	if p.open != nil {
		p.open.Close()
		p.open = nil
	}
}

// ViewOptions reads the classes and returns what views of profiles take.
func (p *Programs) ViewOptions(env *cli.Env) (opt formats.ViewOptions, err error) {
	opt.Programs, opt.Arch = p.Paths, p.Arch
	opt.Classes, err = p.ReadClasses(env)
	return opt, err
}

// ReadClasses reads the classes of jars, folders and class files; nil if there
// are none. What cannot be read inside of them is printed.
func (p *Programs) ReadClasses(env *cli.Env) (*classfile.Index, error) {
	if len(p.Classes) == 0 {
		return nil, nil
	}
	x := classfile.NewIndex(classfile.Options{Warn: func(err error) {
		fmt.Fprintf(env.Stderr, "warning: %s\n", console.Printable(cli.Message(err)))
	}})
	for _, path := range p.Classes {
		if err := x.Add(path); err != nil {
			return nil, err
		}
	}
	if x.Len() == 0 {
		return nil, errors.New("there are no classes in what --classes names")
	}
	return x, nil
}
