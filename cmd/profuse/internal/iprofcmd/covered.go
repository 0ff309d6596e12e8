package iprofcmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/profuse-pgo/profuse/classfile"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/covered"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/iprof"
)

func iprofCoveredCommand() *cli.Command {
	return &cli.Command{
		Name:  "covered",
		Args:  "[OPTION]... FILE",
		Short: "list the methods that ran, their sources, or all as lcov",
		Long: `Prints the methods that ran, or where they are in the sources, or writes an lcov
tracefile, from which genhtml and editors show coverage. Lines are not in the
profile: --classes names the program's classes, which have them if they were
compiled with debug information.

In the tracefile FN and FNDA are the methods that the profile names and their
calls, 1 for those that ran and whose calls were not counted. DA tells only of
lines that the profile knows of: where a method is entered, calls something that
was inlined, branches and arrives, calls or checks by type. The number is how
often the line ran at least; 0 is the first line of a method that was not seen
to run. What a compiler inlines before it places counters looks so, too.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &iprofCovered{Options: covered.Options{ByName: true}}
			c.programs.DeclareClasses(f)
			f.StringVar(&c.source, "source", "", "`DIR` folder of the sources, put before the files' names")
			c.Options.Declare(f, "method", "methods", "`REGEX` only methods whose name matches REGEX")
			return c.run
		},
	}
}

// iprofCovered is one run of "profuse iprof covered".
type iprofCovered struct {
	covered.Options
	programs sources.Programs
	source   string // folder
}

func (c *iprofCovered) run(_ context.Context, env *cli.Env, args []string) error {
	if err := c.Check(len(c.programs.Classes) > 0, "source lines are in the classes of the program: --classes PATH names them"); err != nil {
		return err
	}
	p, err := readIprofFile(env, args)
	if err != nil {
		return err
	}
	classes, err := c.programs.ReadClasses(env)
	if err != nil {
		return err
	}
	var opt iprof.ViewOptions
	if find := formats.IprofSource(classes); find != nil {
		opt.Source = func(ref iprof.MethodRef) (iprof.Source, bool) {
			s, ok := find(ref)
			s.File = filepath.ToSlash(filepath.Join(c.source, s.File))
			return s, ok
		}
	}
	if err := c.Write(env, p.View(p.name, opt), p.input); err != nil || c.Quiet {
		return err
	}
	if n := c.unprofiled(p.Profile, classes); c.LCOV && n > 0 {
		fmt.Fprintf(env.Stderr, "left out: %s of the classes that the profile does not name: they are not in the image, or were pruned\n",
			cli.Quantity(n, "method", "methods"))
	}
	return nil
}

// unprofiled counts the methods with code that the classes have and the table
// does not.
func (c *iprofCovered) unprofiled(p *iprof.Profile, classes *classfile.Index) (n uint64) {
	if classes == nil {
		return 0
	}
	known := make(map[string]bool, len(p.Methods))
	for i := range p.Methods {
		if ref, ok := p.Ref(p.Methods[i].ID); ok {
			known[ref.Qualified()+ref.Descriptor()] = true
		}
	}
	for class := range classes.Classes() {
		for i := range class.Methods {
			if m := &class.Methods[i]; m.CodeLength > 0 && !known[class.Name+"."+m.Name+m.Descriptor] {
				n++
			}
		}
	}
	return n
}
