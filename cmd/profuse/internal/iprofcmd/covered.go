package iprofcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/profuse-pgo/profuse/classfile"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/coverage"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
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
			c := &iprofCovered{}
			c.programs.DeclareClasses(f)
			f.StringVar(&c.source, "source", "", "`DIR` folder of the sources, put before the files' names")
			c.Options.Declare(f, "methods", "`REGEX` only methods whose name matches REGEX")
			return c.run
		},
	}
}

// iprofCovered is one run of "profuse iprof covered".
type iprofCovered struct {
	coverage.Options
	programs sources.Programs
	source   string // folder

	find func(iprof.MethodRef) (iprof.Source, bool)
}

// A coveredMethod is a method and what is known of it.
type coveredMethod struct {
	id     iprof.MethodID
	name   string // with its descriptor
	calls  uint64
	ran    bool
	source iprof.Source // without a file if not known
}

func (c *iprofCovered) run(_ context.Context, env *cli.Env, args []string) error {
	choose, err := c.Check(len(c.programs.Classes) > 0, "source lines are in the classes of the program: --classes PATH names them")
	if err != nil {
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
	c.find = formats.IprofSource(classes)
	methods := c.methods(p.Profile, choose)
	ran := uint64(0)
	for i := range methods {
		if methods[i].ran {
			ran++
		}
	}
	if !c.LCOV {
		methods = slices.DeleteFunc(methods, func(m coveredMethod) bool { return !m.ran })
	}
	unknown := uint64(0)
	if c.find != nil {
		for i := range methods {
			if methods[i].source.File == "" {
				unknown++
			}
		}
	}
	err = console.WriteText(env, c.Output, []inputs.Input{p.input}, func(w io.Writer) error {
		switch {
		case c.LCOV:
			return c.writeLCOV(w, p.Profile, methods)
		case c.Lines || c.Paths:
			places := make([]coverage.Place, len(methods))
			for i := range methods {
				m := &methods[i]
				places[i] = coverage.Place{File: m.source.File, Line: uint32(m.source.StartLine), Name: m.name}
			}
			c.WriteSources(w, places)
			return nil
		}
		unknown = 0
		for i := range methods {
			fmt.Fprintln(w, console.Printable(methods[i].name))
		}
		return nil
	})
	if err != nil || c.Quiet {
		return err
	}
	fmt.Fprintf(env.Stderr, "%s of %s ran\n", cli.Count(ran), cli.Quantity(uint64(len(p.Methods)), "method", "methods"))
	if unknown > 0 {
		fmt.Fprintf(env.Stderr, "left out: %s that the classes do not have, or have no source lines of\n", cli.Quantity(unknown, "method", "methods"))
	}
	if n := c.unprofiled(p.Profile, classes); c.LCOV && n > 0 {
		fmt.Fprintf(env.Stderr, "left out: %s of the classes that the profile does not name: they are not in the image, or were pruned\n",
			cli.Quantity(n, "method", "methods"))
	}
	return nil
}

// methods returns the chosen methods of the table, by name.
func (c *iprofCovered) methods(p *iprof.Profile, choose *regexp.Regexp) []coveredMethod {
	var out []coveredMethod
	view := p.View("", iprof.ViewOptions{Source: c.find})
	i := 0
	for f := range view.Functions() { // in the order of the table
		m := coveredMethod{id: p.Methods[i].ID, name: f.Name + f.Signature, calls: f.Calls, ran: f.Covered}
		i++
		if !choose.MatchString(m.name) {
			continue
		}
		if ref, ok := p.Ref(m.id); ok && c.find != nil {
			if s, ok := c.find(ref); ok && s.StartLine > 0 {
				m.source = s
				m.source.File = filepath.ToSlash(filepath.Join(c.source, s.File))
			}
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b coveredMethod) int { return cmp.Compare(a.name, b.name) })
	return out
}

func (c *iprofCovered) writeLCOV(w io.Writer, p *iprof.Profile, methods []coveredMethod) error {
	files := make(coverage.Files)
	index := make(map[iprof.MethodID]*coveredMethod)
	for i := range methods {
		m := &methods[i]
		if m.source.File == "" {
			continue
		}
		index[m.id] = m
		calls := m.calls
		if m.ran {
			calls = max(calls, 1)
		}
		files.Function(m.source.File, uint32(m.source.StartLine), m.name, calls)
		if line, ok := m.source.Line(0); ok {
			files.Block(m.source.File, uint32(line), calls)
		}
	}
	for at, n := range p.Executed() {
		m := index[at.Method]
		if m == nil {
			continue
		}
		if line, ok := m.source.Line(int(at.BCI)); ok {
			files.Block(m.source.File, uint32(line), uint64(n))
		}
	}
	return files.Write(w)
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
