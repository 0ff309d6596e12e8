package sources

import (
	"errors"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/program/classfile"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// Programs are the options that name the programs of profiles.
type Programs struct {
	Paths   cli.List       // programs, and folders to search for them
	Arch    string         // of programs with several architectures
	Classes cli.List       // of programs for the Java VM
	Workers int            // for symbolization; 0 for one per CPU
	Inputs  inputs.Options // how Open opens them

	Coverage        bool   // evaluate profiles on the coverage mappings of programs
	CoverageDetails bool   // with the details for pages
	CompilationDir  string // folder of relative paths in coverage mappings

	Mappings *formats.Mappings // shared by several views; nil to read them for each view

	open    *symbolize.Programs
	classes *classfile.Index
}

// Declare declares the options for programs of machine code.
func (p *Programs) Declare(f *cli.Flags) {
	f.Var(&p.Paths, "program", "`PATH` program or library that was profiled, with debug information, or a folder or archive (tar, zip) to search for it by build id; "+
		"repeatable")
	f.Alias("program", "profiled-binary", "correlate", "debug")
	p.DeclareArch(f)
}

// DeclareArch declares only --arch, for commands that take programs as arguments.
func (p *Programs) DeclareArch(f *cli.Flags) {
	f.StringVar(&p.Arch, "arch", "", "`ARCH` architecture that ran, if a program has several")
}

// DeclareCoverage sets Coverage and declares the options for coverage mappings.
func (p *Programs) DeclareCoverage(f *cli.Flags) {
	p.Coverage = true
	f.StringVar(&p.CompilationDir, "compilation-dir", "", "`DIR` folder that relative paths in coverage mappings are relative to")
}

// DeclareClasses declares --classes.
func (p *Programs) DeclareClasses(f *cli.Flags) {
	f.Var(&p.Classes, "classes", "`PATH` .jar, .jmod or .class file of the program, or a folder of them; repeatable")
}

// Open opens the programs, once. For coverage it leaves out files that no profile is of: static
// archives, whose mappings are read, and universal files without a chosen architecture.
func (p *Programs) Open() (*symbolize.Programs, error) {
	if p.open == nil {
		opt := symbolize.Options{Arch: p.Arch, Inputs: p.Inputs, Workers: p.Workers}
		if p.Coverage {
			opt.Skip = func(err error) bool {
				class := profile.ClassOf(err)
				return class == profile.ErrUnrecognized || class == profile.ErrMismatch
			}
		}
		open, err := symbolize.OpenPrograms(p.Paths, opt)
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

// ViewOptions reads the classes and returns the options for views of profiles.
func (p *Programs) ViewOptions(env *cli.Env) (opt formats.ViewOptions, err error) {
	opt.Programs, opt.Arch, opt.Inputs = p.Paths, p.Arch, Options(env)
	opt.Coverage, opt.CoverageDetails, opt.CompilationDir = p.Coverage, p.CoverageDetails, p.CompilationDir
	opt.Mappings = p.Mappings
	opt.Classes, err = p.ReadClasses(env)
	return opt, err
}

// ReadClasses reads the classes of jars, folders and class files, once; nil if none are given. It
// prints warnings about unreadable members.
func (p *Programs) ReadClasses(env *cli.Env) (*classfile.Index, error) {
	if len(p.Classes) == 0 || p.classes != nil {
		return p.classes, nil
	}
	x := classfile.NewIndex(classfile.Options{Warn: console.Warnings(env)})
	for _, path := range p.Classes {
		if err := x.Add(path); err != nil {
			return nil, err
		}
	}
	if x.Len() == 0 {
		return nil, errors.New("option --classes: no classes found")
	}
	p.classes = x
	return x, nil
}
